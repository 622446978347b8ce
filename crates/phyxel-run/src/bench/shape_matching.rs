//! Benchmarks of shape matching.

use super::{BenchError, Measurement, Row, time_frame, time_repetitions};
use glam::{Quat, Vec3};
use phyxel::body::{NewBody, Pose};
use phyxel::material::Material;
use phyxel::model::ModelSettings;
use phyxel::model::shape_matching::{Clusters, MatchingMode, ShapeMatchingSettings};
use phyxel::skin::Skin;
use phyxel::step::{Stage, StageTimes, step};
use phyxel::{Settings, World};
use phyxel_scene::{BuildOptions, Scene};

/// Steps of the warm-up.
const WARM_UP: usize = 10;
/// Time step of the benchmarks of shape matching alone, s.
const STEP: f32 = 1.0 / 120.0;
/// Spacing of the points of blocks, m.
pub(super) const SPACING: f32 = 0.1;

/// The objects of `[MHTG05]` figure 8.
pub(super) fn paper(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let world = blocks(100, [5, 5, 4], [2, 2, 2], Skin::Particles)?;
    let figure = "50 frames/s (Pentium 4, 3.2 GHz), 20 ms a frame";
    measure_matching("shape-paper", &world, 400, threads, Some(figure), emit)
}

/// The scene of `[MHTG05]` figure 1.
pub(super) fn pile(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let figure = "0.12 ms an object and frame (Pentium 4, 3.2 GHz), 17.4 ms a frame";
    scene("shape-pile", 90, threads, figure, emit)
}

/// The scene of `[MHTG05]` figure 9.
pub(super) fn massive(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let figure = "0.008 to 0.096 ms an object and frame (Pentium 4, 3.2 GHz), 3 to 37 ms a frame";
    scene("shape-massive", 150, threads, figure, emit)
}

/// Shape matching of 1,000 to 1,000,000 points.
pub(super) fn scaling(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    for (objects, steps) in [(10, 4000), (100, 400), (1_000, 60), (10_000, 12)] {
        let world = blocks(objects, [5, 5, 4], [2, 2, 2], Skin::Particles)?;
        measure_matching(&format!("shape-scaling-{}", objects * 100), &world, steps, threads, None, emit)?;
    }
    Ok(())
}

/// Measures a built-in scene: shape matching alone, then whole frames.
fn scene(
    name: &str,
    frames: usize,
    threads: &[usize],
    figure: &str,
    emit: &mut dyn FnMut(Row),
) -> Result<(), BenchError> {
    let scene = Scene::load(name, &[])?;
    let world = scene.build(&BuildOptions::default())?.world;
    measure_matching(name, &world, 200, threads, Some(figure), emit)?;
    measure_frames(name, &world, frames, threads, emit)
}

/// World of separate rotating blocks.
pub(super) fn blocks(objects: u32, counts: [u32; 3], clusters: [u32; 3], skin: Skin) -> Result<World, BenchError> {
    let spacing = SPACING;
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() })?;
    world.add_material(Material::default())?;
    let [nx, ny, nz] = counts;
    let samples: Vec<Vec3> = (0..nx * ny * nz)
        .map(|i| Vec3::new((i % nx) as f32, (i / nx % ny) as f32, (i / (nx * ny)) as f32) * spacing)
        .collect();
    let side = f64::from(objects).cbrt().ceil() as u32;
    for i in 0..objects {
        let position = Vec3::new((i % side) as f32, (i / side % side) as f32, (i / (side * side)) as f32);
        let settings = ShapeMatchingSettings {
            mode: MatchingMode::Quadratic,
            clusters: Clusters::Counts(clusters),
            ..ShapeMatchingSettings::default()
        };
        let model = ModelSettings::ShapeMatching(settings);
        let pose = Pose { position: position * 1.5, rotation: Quat::from_rotation_y(i as f32) };
        let block = NewBody::new(format!("block-{i}"), model, samples.clone(), spacing);
        world.add_body(NewBody { pose, spin: Vec3::new(0.3, 1.0, 0.2), skin: skin.clone(), ..block })?;
    }
    Ok(world)
}

/// Times forces, shape matching and integration of a step, without neighbour search and contacts.
fn measure_matching(
    name: &str,
    world: &World,
    steps: usize,
    threads: &[usize],
    published: Option<&str>,
    emit: &mut dyn FnMut(Row),
) -> Result<(), BenchError> {
    for &threads in threads {
        let mut world = world.clone();
        let seconds = time_repetitions(&mut world, threads, (WARM_UP, steps), |world| {
            let mut times = StageTimes::default();
            step(world, STEP, &mut times)?;
            let stages = [Stage::ExertForces, Stage::AdvanceVelocities, Stage::AdvancePositions];
            Ok(stages.iter().map(|&stage| times.seconds(stage)).sum())
        })?;
        let elements = world.models().shape_matching.membership_count() as u64;
        let measured = Measurement { name, what: "shape matching, a step", threads, published };
        emit(measured.row((elements, "cluster member"), seconds, world.state_hash()));
    }
    Ok(())
}

/// Times whole frames, with contacts.
fn measure_frames(
    name: &str,
    world: &World,
    frames: usize,
    threads: &[usize],
    emit: &mut dyn FnMut(Row),
) -> Result<(), BenchError> {
    for &threads in threads {
        let mut world = world.clone();
        let seconds = time_repetitions(&mut world, threads, (0, frames), time_frame)?;
        let mean = seconds.iter().sum::<f64>() / seconds.len().max(1) as f64;
        let slowest = seconds.iter().copied().fold(0.0, f64::max);
        let speed = format!(
            "mean {:.0} frames/s, slowest frame {:.1} ms; collisions of [MHTG05] were not real time",
            1.0 / mean,
            slowest * 1e3
        );
        let elements = world.particles().len() as u64;
        let what = "all, with contacts, a frame";
        let measured = Measurement { name, what, threads, published: Some(&speed) };
        emit(measured.row((elements, "point"), seconds, world.state_hash()));
    }
    Ok(())
}
