//! The same experiments with lattices of springs, whose particles are at the corners of cells.

use crate::experiments::{ball_mean, keep_faces, largest, plain, profile, run_to, still_body, world};
use crate::forms;
use glam::Vec3;
use phyxel::World;
use phyxel::material::Heat;
use phyxel::model::ModelSettings;
use phyxel::model::spring::{Cell, SpringSettings};
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::Arc;

/// Adds a body of those cells of a grid that are chosen, held in place. The first cell begins at the origin.
fn add_cells(world: &mut World, counts: [u32; 3], spacing: f64, chosen: impl Fn(Vec3) -> bool, volume: f64) {
    let mut numbers: BTreeMap<[u32; 3], u32> = BTreeMap::new();
    let mut cells: Vec<Cell> = Vec::new();
    let place = |corner: [u32; 3]| Vec3::from_array(corner.map(|i| (f64::from(i) * spacing) as f32));
    for k in 0..counts.iter().product() {
        let [x, y, z] = [k % counts[0], k / counts[0] % counts[1], k / (counts[0] * counts[1])];
        if chosen(place([x, y, z]) + 0.5 * spacing as f32) {
            cells.push(std::array::from_fn(|c| {
                let next = numbers.len() as u32;
                let c = c as u32;
                *numbers.entry([x + (c & 1), y + (c >> 1 & 1), z + (c >> 2)]).or_insert(next)
            }));
        }
    }
    let mut samples = vec![Vec3::ZERO; numbers.len()];
    numbers.iter().for_each(|(&corner, &number)| samples[number as usize] = place(corner));
    let model = ModelSettings::Spring(SpringSettings { cells: Arc::new(cells), ..SpringSettings::default() });
    world.add_body(still_body(model, samples, spacing as f32, volume)).unwrap();
}

/// A slab whose faces are kept at 1: largest error at Fourier number 0.1.
pub fn slab_error(count: u32) -> f64 {
    let spacing = 1.0 / f64::from(count);
    let mut world = world(plain());
    add_cells(&mut world, [1, count, 1], spacing, |_| true, spacing * spacing);
    world.add_heating(keep_faces("low", Some(Vec3::NEG_Y), 1.0)).unwrap();
    world.add_heating(keep_faces("high", Some(Vec3::Y), 1.0)).unwrap();
    run_to(&mut world, 0.1, 1.0, spacing);
    largest(profile(&world).iter().map(|(x, t)| t - forms::slab(x.y.into(), 0.1)))
}

/// A plate that conducts four times as well along x as along y, its edges kept at 1: largest error.
pub fn plate_error(count: u32) -> f64 {
    let spacing = 1.0 / f64::from(count);
    let mut world = world(Heat { conductivity: Vec3::new(8.0, 2.0, 1.0), ..plain() });
    add_cells(&mut world, [count, count, 1], spacing, |_| true, spacing);
    for (name, facing) in [("left", Vec3::NEG_X), ("right", Vec3::X), ("low", Vec3::NEG_Y), ("high", Vec3::Y)] {
        world.add_heating(keep_faces(name, Some(facing), 1.0)).unwrap();
    }
    run_to(&mut world, 0.05, 1.0, 0.5 * spacing);
    largest(profile(&world).iter().map(|(x, t)| {
        let [along, across] = [forms::slab(x.x.into(), 0.2), forms::slab(x.y.into(), 0.05)];
        t - (1.0 - (1.0 - along) * (1.0 - across))
    }))
}

/// A ball whose surface is kept at 1: error of the mean temperature by mass at Fourier number 0.05.
pub fn ball_error(across: u32) -> f64 {
    let mut world = world(plain());
    let spacing = 2.0 / f64::from(across);
    add_cells(&mut world, [across; 3], spacing, |x| (x - 1.0).length() < 1.0, 4.0 / 3.0 * PI);
    world.add_heating(keep_faces("surface", None, 1.0)).unwrap();
    run_to(&mut world, 0.05, 1.0, spacing);
    world.frame().bodies[0].report.temperature.mean - ball_mean(0.05)
}
