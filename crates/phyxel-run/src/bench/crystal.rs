//! Benchmarks of crystals and fluids.

use super::{BenchError, Measurement, Row, time_frame, time_repetitions};
use phyxel::step::{Stage, StageTimes, step};
use phyxel::{StepError, World};
use phyxel_scene::{BuildOptions, LoadError, Scene};
use std::path::Path;
use std::sync::Mutex;

/// Steps of the warm-up.
const WARM_UP: usize = 10;
/// Timed steps.
const STEPS: usize = 20;

fn build(text: &str) -> Result<World, BenchError> {
    let scene = Scene::read(text, "crystal.toml", Path::new(".")).map_err(LoadError::from)?;
    Ok(scene.build(&BuildOptions::default())?.world)
}

/// Layers of a closest packing that fill a cubic metre with 100,000 and 1,000,000 particles.
const LAYERS: [f64; 2] = [59.0, 125.0];

/// Spacing at which a closest packing has a number of layers per metre, m.
fn layer_spacing(layers: f64) -> f64 {
    std::f64::consts::SQRT_2 / layers
}

/// All frames of the three scenes of `[WHP06]`, beside the published times.
pub(super) fn paper(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    for (name, published) in [("dice", 19.0), ("goo-rod", 18.0), ("bunny-melt", 17.0)] {
        let scene = Scene::load(name, &[])?;
        let world = scene.build(&BuildOptions::default())?.world;
        for &threads in threads {
            let mut world = world.clone();
            let seconds = time_repetitions(&mut world, threads, (0, scene.frames() as usize), time_frame)?;
            let mean = seconds.iter().sum::<f64>() / seconds.len().max(1) as f64;
            let figure = format!(
                "{published} s a frame (Pentium 4), {:.0} times the mean of {mean:.4} s here at {} frames a second",
                published / mean,
                scene.frame_rate
            );
            let name = format!("crystal-paper-{name}");
            let measured = Measurement { name: &name, what: "all, a frame", threads, published: Some(&figure) };
            emit(measured.row((world.particles().len() as u64, "particle"), seconds, world.state_hash()));
        }
    }
    Ok(())
}

/// Dam break of a cubic metre of water in a tank of twice its width.
pub(super) fn fluid(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    for layers in LAYERS {
        let spacing = layer_spacing(layers);
        let world = build(&format!(
            "version = 1\nduration = 1\n[materials.water]\npreset = \"water\"\n\
             [[bodies]]\nname = \"water\"\nmodel = \"fluid\"\nmaterial = \"water\"\nspacing = {spacing}\n\
             shape = {{ kind = \"box\", size = [1, 1, 1] }}\nplace = {{ at = [0.5, 0.5, 0] }}\n\
             [[obstacles]]\nname = \"floor\"\nshape = {{ kind = \"plane\" }}\n\
             [[obstacles]]\nname = \"left\"\nshape = {{ kind = \"plane\", normal = [1, 0, 0] }}\n\
             [[obstacles]]\nname = \"right\"\nshape = {{ kind = \"plane\", normal = [-1, 0, 0], at = [2, 0, 0] }}\n\
             [[obstacles]]\nname = \"back\"\nshape = {{ kind = \"plane\", normal = [0, 0, 1], at = [0, 0, -0.5] }}\n\
             [[obstacles]]\nname = \"front\"\nshape = {{ kind = \"plane\", normal = [0, 0, -1], at = [0, 0, 0.5] }}\n"
        ))?;
        // A displacement of 0.4 spacings per step at the speed of free fall from its height.
        let dt = (0.4 * spacing / (2.0 * 9.81f64).sqrt()) as f32;
        measure("fluid-scaling", &world, dt, threads, emit)?;
    }
    Ok(())
}

/// Rotating and vibrating cube of crystal.
pub(super) fn solid(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    for layers in LAYERS {
        let spacing = layer_spacing(layers);
        let mut world = build(&format!(
            "version = 1\nduration = 1\ngravity = [0, 0, 0]\n[materials.ice]\nyoung_modulus = 1e5\n\
             [[bodies]]\nname = \"ice\"\nmodel = \"crystal\"\nmaterial = \"ice\"\nspacing = {spacing}\n\
             spin = [0, 1, 0.3]\n\
             shape = {{ kind = \"box\", size = [1, 1, 1] }}\n"
        ))?;
        let dt = (0.5 * world.stable_step()) as f32;
        measure("crystal-scaling", &world, dt, threads, emit)?;
    }
    Ok(())
}

fn measure(name: &str, world: &World, dt: f32, threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    for &threads in threads {
        let mut world = world.clone();
        // Pressure iterations and time of the neighbour search (s), by step.
        let samples = Mutex::new(Vec::new());
        let seconds = time_repetitions(&mut world, threads, (WARM_UP, STEPS), |world| {
            let mut times = StageTimes::default();
            let start = std::time::Instant::now();
            step(world, dt, &mut times)?;
            let seconds = start.elapsed().as_secs_f64();
            let iterations = world.models().crystal.pressure_iterations();
            if let Ok(mut samples) = samples.lock() {
                samples.push((iterations, times.seconds(Stage::FindNeighbours)));
            }
            Ok::<f64, StepError>(seconds)
        })?;
        let samples = samples.into_inner().unwrap_or_default().split_off(WARM_UP);
        let iterations =
            samples.iter().map(|(iterations, _)| f64::from(*iterations)).sum::<f64>() / samples.len().max(1) as f64;
        let count = world.particles().len() as u64;
        let name = format!("{name}-{count}");
        let median = super::median_and_minimum(seconds.clone()).0;
        let neighbours = world.models().crystal.mean_neighbours();
        let note = format!(
            "{neighbours:.1} neighbours, {:.2} ns for each in a step of {iterations:.1} pressure iterations",
            1e9 * median / (count as f64 * neighbours.max(1.0)),
        );
        let measured = Measurement { name: &name, what: "all, a step", threads, published: Some(&note) };
        emit(measured.row((count, "particle"), seconds, world.state_hash()));
        let search_times = samples.into_iter().map(|(_, seconds)| seconds).collect();
        let measured = Measurement { name: &name, what: "neighbours, a step", threads, published: None };
        emit(measured.row((count, "particle"), search_times, world.state_hash()));
    }
    Ok(())
}
