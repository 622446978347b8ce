//! The same experiments with mass-spring lattices, whose particles are at cell corners.

use crate::common::{BodyFixture, new_body};
use crate::experiments::{AddCells, ball_mean, fix_faces, plain, run_to, world};
use glam::Vec3;
use phyxel::World;
use phyxel::body::NewBody;
use phyxel::model::ModelSettings;
use phyxel::model::mass_spring::{Cell, MassSpringSettings};
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::Arc;

/// Adds a fixed body of the selected cells of a grid whose lowest corner is the origin.
fn add_cells(world: &mut World, counts: [u32; 3], spacing: f64, is_selected: impl Fn(Vec3) -> bool, volume: f64) {
    let mut indices: BTreeMap<[u32; 3], u32> = BTreeMap::new();
    let mut cells: Vec<Cell> = Vec::new();
    let position = |corner: [u32; 3]| Vec3::from_array(corner.map(|i| (f64::from(i) * spacing) as f32));
    for k in 0..counts.iter().product() {
        let [x, y, z] = [k % counts[0], k / counts[0] % counts[1], k / (counts[0] * counts[1])];
        if is_selected(position([x, y, z]) + 0.5 * spacing as f32) {
            cells.push(std::array::from_fn(|c| {
                let next = indices.len() as u32;
                let c = c as u32;
                *indices.entry([x + (c & 1), y + (c >> 1 & 1), z + (c >> 2)]).or_insert(next)
            }));
        }
    }
    let mut samples = vec![Vec3::ZERO; indices.len()];
    indices.iter().for_each(|(&corner, &index)| samples[index as usize] = position(corner));
    let model =
        ModelSettings::MassSpring(MassSpringSettings { cells: Arc::new(cells), ..MassSpringSettings::default() });
    let body = new_body("body", model, samples, spacing as f32).fixed_where(|_| true);
    world.add_body(NewBody { volume, ..body }).unwrap();
}

/// Cells of a mass-spring lattice.
pub const LATTICE: AddCells = |world, counts, spacing| {
    let volume = f64::from(counts.iter().product::<u32>()) * spacing.powi(3);
    add_cells(world, counts, spacing, |_| true, volume);
};

/// Ball with its surface at 1: error of the mean temperature by mass at Fourier number 0.05.
pub fn ball_error(across: u32) -> f64 {
    let mut world = world(plain());
    let spacing = 2.0 / f64::from(across);
    add_cells(&mut world, [across; 3], spacing, |x| (x - 1.0).length() < 1.0, 4.0 / 3.0 * PI);
    world.add_heating(fix_faces("surface", None, 1.0)).unwrap();
    run_to(&mut world, 0.05, 1.0, spacing);
    world.frame().bodies[0].report.temperature.mean - ball_mean(0.05)
}
