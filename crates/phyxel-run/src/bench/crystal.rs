//! Benchmarks of crystals and fluids.

use super::{BenchError, Measured, Row, time_each, time_frame};
use phyxel::step::{Stage, StageTimes, step};
use phyxel::{StepError, World};
use phyxel_scene::{BuildOptions, LoadError, Scene};
use std::path::Path;
use std::sync::Mutex;

/// Steps that are not counted.
const WARM_UP: usize = 10;
/// Steps that are.
const COUNTED: usize = 20;

fn build(text: &str) -> Result<World, BenchError> {
    let scene = Scene::read(text, "crystal.toml", Path::new(".")).map_err(LoadError::from)?;
    Ok(scene.build(&BuildOptions::default())?.world)
}

/// Layers of a cubic metre of 100,000 and of 1,000,000 particles: odd numbers, which fill it.
const LAYERS: [f64; 2] = [59.0, 125.0];

/// Distance at which so many layers of a closest packing fill a metre, m.
fn spacing_of(layers: f64) -> f64 {
    std::f64::consts::SQRT_2 / layers
}

/// The source's three scenes, all of their frames: what a frame takes, beside what it took there.
pub(super) fn source(threads: &[usize], row: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    for (name, published) in [("dice", 19.0), ("goo-rod", 18.0), ("bunny-melt", 17.0)] {
        let scene = Scene::load(name, &[])?;
        let world = scene.build(&BuildOptions::default())?.world;
        for &threads in threads {
            let mut world = world.clone();
            let seconds = time_each(&mut world, threads, (0, scene.frames() as usize), time_frame)?;
            let mean = seconds.iter().sum::<f64>() / seconds.len().max(1) as f64;
            let figure = format!(
                "{published} s a frame (Pentium 4), {:.0} times the mean of {mean:.4} s here at {} frames a second",
                published / mean,
                scene.frame_rate
            );
            let name = format!("crystal-source-{name}");
            let measured = Measured { name: &name, what: "all, a frame", threads, published: Some(&figure) };
            row(measured.row((world.particles().len() as u64, "particle"), seconds, world.state_hash()));
        }
    }
    Ok(())
}

/// A cubic metre of water that collapses in a tank twice as wide.
pub(super) fn fluid(threads: &[usize], row: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    for layers in LAYERS {
        let spacing = spacing_of(layers);
        let world = build(&format!(
            "version = 1\nduration = 1\n[materials.water]\npreset = \"water\"\n\
             [[bodies]]\nname = \"water\"\nmodel = \"crystal\"\nmaterial = \"water\"\nspacing = {spacing}\n\
             crystal = {{ phase = \"fluid\" }}\nshape = {{ kind = \"box\", size = [1, 1, 1] }}\nplace = {{ at = [0.5, 0.5, 0] }}\n\
             [[obstacles]]\nname = \"floor\"\nshape = {{ kind = \"plane\" }}\n\
             [[obstacles]]\nname = \"left\"\nshape = {{ kind = \"plane\", normal = [1, 0, 0] }}\n\
             [[obstacles]]\nname = \"right\"\nshape = {{ kind = \"plane\", normal = [-1, 0, 0], at = [2, 0, 0] }}\n\
             [[obstacles]]\nname = \"back\"\nshape = {{ kind = \"plane\", normal = [0, 0, 1], at = [0, 0, -0.5] }}\n\
             [[obstacles]]\nname = \"front\"\nshape = {{ kind = \"plane\", normal = [0, 0, -1], at = [0, 0, 0.5] }}\n"
        ))?;
        // As fast as it falls from its height, it moves by 0.4 spacings.
        let dt = (0.4 * spacing / (2.0 * 9.81f64).sqrt()) as f32;
        measure("fluid-scaling", &world, dt, threads, row)?;
    }
    Ok(())
}

/// A cube of crystal that spins and swings.
pub(super) fn solid(threads: &[usize], row: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    for layers in LAYERS {
        let spacing = spacing_of(layers);
        let mut world = build(&format!(
            "version = 1\nduration = 1\ngravity = [0, 0, 0]\n[materials.ice]\nyoung_modulus = 1e5\n\
             [[bodies]]\nname = \"ice\"\nmodel = \"crystal\"\nmaterial = \"ice\"\nspacing = {spacing}\nspin = [0, 1, 0.3]\n\
             shape = {{ kind = \"box\", size = [1, 1, 1] }}\n"
        ))?;
        let dt = (0.5 * world.stable_step()) as f32;
        measure("crystal-scaling", &world, dt, threads, row)?;
    }
    Ok(())
}

fn measure(name: &str, world: &World, dt: f32, threads: &[usize], row: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    for &threads in threads {
        let mut world = world.clone();
        // Rounds of pressure and seconds of searching, by step.
        let noted = Mutex::new(Vec::new());
        let seconds = time_each(&mut world, threads, (WARM_UP, COUNTED), |world| {
            let mut times = StageTimes::default();
            let start = std::time::Instant::now();
            step(world, dt, &mut times)?;
            let seconds = start.elapsed().as_secs_f64();
            let rounds = world.crystal_model().map_or(0, |model| model.pressure_iterations());
            if let Ok(mut noted) = noted.lock() {
                noted.push((rounds, times.seconds(Stage::FindNeighbours)));
            }
            Ok::<f64, StepError>(seconds)
        })?;
        let noted = noted.into_inner().unwrap_or_default().split_off(WARM_UP);
        let rounds = noted.iter().map(|(rounds, _)| f64::from(*rounds)).sum::<f64>() / noted.len().max(1) as f64;
        let count = world.particles().len() as u64;
        let name = format!("{name}-{count}");
        let median = super::median_and_minimum(seconds.clone()).0;
        let neighbours = world.crystal_model().map_or(0.0, |model| model.mean_neighbours());
        let note = format!(
            "{neighbours:.1} neighbours, {:.2} ns for each in a step of {rounds:.1} rounds of pressure",
            1e9 * median / (count as f64 * neighbours.max(1.0)),
        );
        let measured = Measured { name: &name, what: "all, a step", threads, published: Some(&note) };
        row(measured.row((count, "particle"), seconds, world.state_hash()));
        let searching = noted.into_iter().map(|(_, seconds)| seconds).collect();
        let measured = Measured { name: &name, what: "neighbours, a step", threads, published: None };
        row(measured.row((count, "particle"), searching, world.state_hash()));
    }
    Ok(())
}
