//! Benchmarks of tetrahedral finite elements.

use super::{BenchError, Measurement, Row, time_frame, time_repetitions};
use glam::{Quat, Vec3};
use phyxel::body::{NewBody, Pose};
use phyxel::material::Material;
use phyxel::model::continuum::Integration;
use phyxel::model::shape_matching::ShapeMatchingSettings;
use phyxel::model::{ModelSettings, TetraSettings};
use phyxel::step::{Stage, StageTimes, step};
use phyxel::{Settings, World, parallel};
use phyxel_scene::{BuildOptions, Scene};
use std::sync::Arc;
use std::time::Instant;

/// Cells along each edge of the block, each of five tetrahedra.
const CELLS: u32 = 20;
/// Time step of the implicit rows, s.
const IMPLICIT_STEP: f32 = 1.0 / 60.0;
/// Published time for a body of this size, with collisions.
const PUBLISHED: &str = "250 ms a frame with collisions (Core Duo, 2.13 GHz)";
/// Frames of `stamp` before the hand is in the plate, and while it is.
const STAMP_FRAMES: (usize, usize) = (10, 30);
/// Frame rate of `teddy-arm` with few node splits per frame, and the time after the last one, s.
const FRAME_RATE: &str = "1000";
const FRACTURE_END: f64 = 0.5;
/// Published time for a rebuilt surface.
const PUBLISHED_SURFACE: &str = "200 ms for 23,500 triangles (Core Duo, 2.13 GHz)";

/// Steps of a spinning block of 21 x 21 x 21 points and 40,000 tetrahedra.
pub(super) fn steps(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    for (integration, what, damping) in [
        (Integration::Explicit, "an explicit step", 0.0),
        (Integration::Explicit, "an explicit step, damped", 0.05),
        (Integration::Implicit, "an implicit step of 1/60 s", 0.05),
    ] {
        let start = block(integration, damping)?;
        for &threads in threads {
            let mut world = start.clone();
            let is_implicit = integration == Integration::Implicit;
            let dt = if is_implicit { IMPLICIT_STEP } else { (0.5 * world.stable_step()) as f32 };
            let repetitions = if is_implicit { (3, 20) } else { (20, 300) };
            let seconds = time_repetitions(&mut world, threads, repetitions, |world| {
                let start = Instant::now();
                step(world, dt, &mut StageTimes::default())?;
                Ok(start.elapsed().as_secs_f64())
            })?;
            let elements = world.models().tetra.elements() as u64;
            let measured = Measurement { name: "tetra-step", what, threads, published: Some(PUBLISHED) };
            emit(measured.row((elements, "tetrahedron"), seconds, world.state_hash()));
        }
    }
    Ok(())
}

/// World of a rotating block.
fn block(integration: Integration, damping: f32) -> Result<World, BenchError> {
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() })?;
    world.add_material(Material { young_modulus: 1e5.into(), damping, ..Material::default() })?;
    world.add_body(NewBody { spin: Vec3::new(0.0, 1.0, 0.3), ..cube("block", CELLS, integration) })?;
    Ok(world)
}

/// Cube with a number of cells along each edge.
fn cube(name: &str, cells: u32, integration: Integration) -> NewBody {
    let side = cells + 1;
    let node = |x: u32, y: u32, z: u32| x + side * (y + side * z);
    let grid_points = |count: u32| (0..count.pow(3)).map(move |k| [k % count, k / count % count, k / (count * count)]);
    let spacing = 1.0 / CELLS as f32;
    let half = 0.5 * cells as f32;
    let samples = grid_points(side).map(|point| Vec3::from_array(point.map(|k| (k as f32 - half) * spacing))).collect();
    let elements = grid_points(cells).flat_map(|[x, y, z]| {
        // Every other cell is mirrored, so that the diagonals of shared faces match.
        let odd = (x + y + z) % 2;
        let corner_node = |k: u32| node(x + ((k ^ odd) & 1), y + (k >> 1 & 1), z + (k >> 2));
        let five = [[0, 1, 2, 4], [3, 2, 1, 7], [5, 4, 7, 1], [6, 7, 4, 2], [1, 2, 4, 7]];
        five.map(|corners| {
            let [a, b, c, d] = corners.map(corner_node);
            if odd == 0 { [a, b, c, d] } else { [a, b, d, c] }
        })
    });
    let settings = TetraSettings { elements: Arc::new(elements.collect()), integration, ..TetraSettings::default() };
    let volume = (f64::from(cells) / f64::from(CELLS)).powi(3);
    NewBody { volume, ..NewBody::new(name, ModelSettings::Tetra(settings), samples, spacing) }
}

/// Contact search of a block of 40,000 tetrahedra with one of 5,000 that penetrates it by 0.3 cells, and with 20,000
/// particles that lie on it.
pub(super) fn contacts(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let mut start = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() })?;
    start.add_material(Material::default())?;
    start.add_body(cube("block", CELLS, Integration::Explicit))?;
    let pose = Pose { position: Vec3::new(0.01, 0.735, 0.02), rotation: Quat::from_rotation_y(0.3) };
    let mut with_particles = start.clone();
    start.add_body(NewBody { pose, ..cube("stamp", CELLS / 2, Integration::Explicit) })?;
    with_particles.add_body(sheet())?;
    for (start, what, published) in
        [(start, "neighbours, a step", Some(PUBLISHED)), (with_particles, "with 20,000 particles", None)]
    {
        measure_search(&start, threads, (what, published), emit)?;
    }
    Ok(())
}

/// Sheet of 160 x 125 particles, 6 mm apart, on the upper side of the block, whose faces have edges of 50 mm.
fn sheet() -> NewBody {
    let samples =
        (0..20_000).map(|k: u32| Vec3::new((k % 160) as f32 - 79.5, 0.5, (k / 160) as f32 - 62.0) * SHEET_SPACING);
    let model = ModelSettings::ShapeMatching(ShapeMatchingSettings::default());
    let pose = Pose { position: Vec3::Y * 0.5, ..Pose::default() };
    NewBody { pose, ..NewBody::new("sheet", model, samples.collect(), SHEET_SPACING) }
}

/// Spacing of the particles of the sheet, m.
const SHEET_SPACING: f32 = 0.006;

/// Times the contact search of a step.
fn measure_search(
    start: &World,
    threads: &[usize],
    (what, published): (&'static str, Option<&'static str>),
    emit: &mut dyn FnMut(Row),
) -> Result<(), BenchError> {
    for &threads in threads {
        let mut world = start.clone();
        // Displacements in so short a step are negligible.
        let seconds = time_repetitions(&mut world, threads, (3, 50), |world| {
            let mut times = StageTimes::default();
            step(world, 1e-7, &mut times)?;
            Ok(times.seconds(Stage::FindNeighbours))
        })?;
        let elements = world.models().tetra.elements() as u64;
        let measured = Measurement { name: "tetra-contact", what, threads, published };
        emit(measured.row((elements, "tetrahedron"), seconds, world.state_hash()));
    }
    Ok(())
}

/// Frames of `stamp` with surfaces, while the hand enters the plate and leaves it.
pub(super) fn stamp(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let start = Scene::load("stamp", &[])?.build(&BuildOptions::default())?.world;
    for &threads in threads {
        let mut world = start.clone();
        let seconds = time_repetitions(&mut world, threads, STAMP_FRAMES, |world| {
            let seconds = time_frame(world)?;
            let start = Instant::now();
            std::hint::black_box(world.frame());
            Ok(seconds + start.elapsed().as_secs_f64())
        })?;
        let elements = world.models().tetra.elements() as u64;
        let measured = Measurement { name: "tetra-stamp", what: "a frame", threads, published: Some(PUBLISHED) };
        emit(measured.row((elements, "tetrahedron"), seconds, world.state_hash()));
    }
    Ok(())
}

/// Spacing at which the bear of `teddy-arm` has more than 50,000 tetrahedra, m.
const FINE_SPACING: &str = "0.0184";

/// Builds the bear of `teddy-arm` with finer tetrahedra.
pub(super) fn fill(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let scene = Scene::load("teddy-arm", &[("bodies.teddy.spacing".to_string(), FINE_SPACING.to_string())])?;
    for &threads in threads {
        let mut seconds = Vec::new();
        let world = parallel::with_threads(Some(threads), || -> Result<World, BenchError> {
            let mut build = || -> Result<World, BenchError> {
                let start = Instant::now();
                let world = scene.build(&BuildOptions::default())?.world;
                seconds.push(start.elapsed().as_secs_f64());
                Ok(world)
            };
            build()?;
            build()?;
            build()
        })?;
        let elements = world.models().tetra.elements() as u64;
        let measured = Measurement { name: "tetra-fill", what: "shape to world", threads, published: None };
        emit(measured.row((elements, "tetrahedron"), seconds, world.state_hash()));
    }
    Ok(())
}

/// Frames of `teddy-arm` after a node split: 4,300 tetrahedra, surface of 24,000 triangles, as in `[Gis07]`.
pub(super) fn surfaces(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let scene = Scene::load("teddy-arm", &[("frame_rate".to_string(), FRAME_RATE.to_string())])?;
    let start = scene.build(&BuildOptions::default())?.world;
    for &threads in threads {
        let mut world = start.clone();
        let mut seconds: [Vec<f64>; 3] = Default::default();
        let mut triangles = 0;
        parallel::with_threads(Some(threads), || -> Result<(), BenchError> {
            while world.time() < FRACTURE_END {
                let before = world.particles().len();
                world.advance_frame()?;
                if world.particles().len() == before {
                    world.frame();
                    continue;
                }
                // The first frame updates the surface, the second reuses it, and the copy rebuilds it.
                let copy = world.clone();
                for (seconds, world) in seconds.iter_mut().zip([&world, &world, &copy]) {
                    let start = Instant::now();
                    let frame = world.frame();
                    seconds.push(start.elapsed().as_secs_f64());
                    triangles = frame.bodies[0].report.skin.triangles;
                }
            }
            Ok(())
        })?;
        let what = ["a frame after a split", "the same frame again", "the same, surface rebuilt"];
        for ((what, seconds), published) in what.into_iter().zip(seconds).zip([None, None, Some(PUBLISHED_SURFACE)]) {
            let measured = Measurement { name: "tetra-surface", what, threads, published };
            emit(measured.row((triangles, "triangle"), seconds, world.state_hash()));
        }
    }
    Ok(())
}
