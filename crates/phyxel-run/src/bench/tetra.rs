//! Benchmarks of tetrahedra.

use super::{BenchError, Measured, Row, time_each};
use glam::Vec3;
use phyxel::body::{NewBody, Pose};
use phyxel::material::Material;
use phyxel::model::continuum::Integration;
use phyxel::model::{ModelSettings, TetraSettings};
use phyxel::skin::Skin;
use phyxel::step::{StageTimes, step};
use phyxel::{Settings, World};
use std::sync::Arc;
use std::time::Instant;

/// Cells along each edge of the block; each is cut into five.
const CELLS: u32 = 20;
/// Step of the implicit rows, s.
const LONG_STEP: f32 = 1.0 / 60.0;
/// The source's figure for a body of this size, collisions included.
const PUBLISHED: &str = "250 ms a frame with collisions (Core Duo, 2.13 GHz)";

/// Steps of a spinning block of 21 x 21 x 21 points and 40,000 tetrahedra.
pub(super) fn steps(threads: &[usize], row: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    for (way, what, damping) in [
        (Integration::Explicit, "an explicit step", 0.0),
        (Integration::Explicit, "an explicit step, damped", 0.05),
        (Integration::Implicit, "an implicit step of 1/60 s", 0.05),
    ] {
        let start = block(way, damping)?;
        for &threads in threads {
            let mut world = start.clone();
            let is_long = way == Integration::Implicit;
            let dt = if is_long { LONG_STEP } else { (0.5 * world.stable_step()) as f32 };
            let repetitions = if is_long { (3, 20) } else { (20, 300) };
            let seconds = time_each(&mut world, threads, repetitions, |world| {
                let start = Instant::now();
                step(world, dt, &mut StageTimes::default())?;
                Ok(start.elapsed().as_secs_f64())
            })?;
            let elements = world.tetra_model().map_or(0, |model| model.elements() as u64);
            let measured = Measured { name: "tetra-step", what, threads, published: Some(PUBLISHED) };
            row(measured.row((elements, "tetrahedron"), seconds, world.state_hash()));
        }
    }
    Ok(())
}

fn block(integration: Integration, damping: f32) -> Result<World, BenchError> {
    let side = CELLS + 1;
    let node = |x: u32, y: u32, z: u32| x + side * (y + side * z);
    let places = |count: u32| (0..count.pow(3)).map(move |k| [k % count, k / count % count, k / (count * count)]);
    let spacing = 1.0 / CELLS as f32;
    let samples = places(side).map(|place| Vec3::from_array(place.map(|k| k as f32 * spacing - 0.5))).collect();
    let elements = places(CELLS).flat_map(|[x, y, z]| {
        // Every other cell is mirrored, so that the diagonals of shared faces agree.
        let odd = (x + y + z) % 2;
        let at = |k: u32| node(x + ((k ^ odd) & 1), y + (k >> 1 & 1), z + (k >> 2));
        let five = [[0, 1, 2, 4], [3, 2, 1, 7], [5, 4, 7, 1], [6, 7, 4, 2], [1, 2, 4, 7]];
        five.map(|corners| {
            let [a, b, c, d] = corners.map(at);
            if odd == 0 { [a, b, c, d] } else { [a, b, d, c] }
        })
    });
    let settings = TetraSettings { elements: Arc::new(elements.collect()), integration, ..TetraSettings::default() };
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() })?;
    world.add_material(Material { young_modulus: 1e5.into(), damping, ..Material::default() })?;
    world.add_body(NewBody {
        name: "block".into(),
        material: Material::default().name,
        model: ModelSettings::Tetra(settings),
        samples,
        start: None,
        volume: 1.0,
        spacing,
        radius: None,
        pose: Pose::default(),
        velocity: Vec3::ZERO,
        spin: Vec3::new(0.0, 1.0, 0.3),
        temperature: 0.0,
        held: Vec::new(),
        self_contact: false,
        skin: Skin::Particles,
    })?;
    Ok(world)
}
