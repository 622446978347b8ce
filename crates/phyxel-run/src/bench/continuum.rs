//! Benchmarks of the continuum model.

use super::machine_limits::MachineLimits;
use super::{BenchError, Measurement, Row, time_repetitions};
use phyxel::model::ContinuumModel;
use phyxel::step::{StageTimes, step};
use phyxel::{StepError, World};
use phyxel_scene::{BuildOptions, LoadError, Scene};
use std::path::Path;
use std::time::Instant;

/// Steps of the warm-up.
const WARM_UP: usize = 5;
/// Explicit steps per frame: 15 to 20 in [MKN04].
const EXPLICIT_STEPS: usize = 18;

/// Heads with the numbers of phyxels and skin vertices of `[MKN04]` table 1.
pub(super) fn paper(_: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    // Spacings for 200 and 400 phyxels in an ellipsoid of the size of a head, and skin cells for 10k and 20k vertices.
    let heads = [("200", 0.0605, 0.0094, ["15 ms", "22 ms"]), ("400", 0.0470, 0.0066, ["35 ms", "60 ms"])];
    for (count, spacing, cell, published) in heads {
        for ((integration, steps, dt), published) in
            [("explicit", EXPLICIT_STEPS, 1e-4), ("implicit", 1, 0.01)].into_iter().zip(published)
        {
            let world = head(spacing, cell, integration)?;
            let figure = format!("{published} a frame (Pentium 4, 2.8 GHz)");
            let mut advanced = world.clone();
            let seconds = time_repetitions(&mut advanced, 1, (WARM_UP, 100), |world| time_steps(world, steps, dt))?;
            let (elements, hash) = (advanced.particles().len() as u64, advanced.state_hash());
            let what = if integration == "explicit" { "physics, 18 steps" } else { "physics, a step of 0.01 s" };
            let name = format!("continuum-{count}-{integration}");
            let measured = Measurement { name: &name, what, threads: 1, published: Some(&figure) };
            emit(measured.row((elements, "phyxel"), seconds, hash));
        }
        measure_skin(count, &head(spacing, cell, "explicit")?, emit)?;
    }
    Ok(())
}

fn measure_skin(count: &str, world: &World, emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let mut world = world.clone();
    step(&mut world, 1e-4, &mut StageTimes::default())?;
    let vertices = world.frame().bodies[0].skin.as_ref().map_or(0, |skin| skin.positions.len() as u64);
    let seconds = time_repetitions(&mut world, 1, (WARM_UP, 50), |world| {
        let start = Instant::now();
        world.frame();
        Ok(start.elapsed().as_secs_f64())
    })?;
    let name = format!("continuum-{count}-skin");
    let measured = Measurement { name: &name, what: "a frame with its skin", threads: 1, published: None };
    emit(measured.row((vertices, "vertex"), seconds, world.state_hash()));
    Ok(())
}

fn time_steps(world: &mut World, steps: usize, dt: f32) -> Result<f64, StepError> {
    let start = Instant::now();
    for _ in 0..steps {
        step(world, dt, &mut StageTimes::default())?;
    }
    Ok(start.elapsed().as_secs_f64())
}

fn build(text: &str) -> Result<World, BenchError> {
    let scene = Scene::read(text, "continuum.toml", Path::new(".")).map_err(LoadError::from)?;
    Ok(scene.build(&BuildOptions::default())?.world)
}

fn head(spacing: f64, cell: f64, integration: &str) -> Result<World, BenchError> {
    build(&format!(
        "version = 1\nduration = 1\n[materials.head]\ndensity = 1000.0\nyoung_modulus = 1e6\n\
         [[bodies]]\nname = \"head\"\nmodel = \"continuum\"\nmaterial = \"head\"\nspacing = {spacing}\n\
         spin = [0, 3, 1]\n\
         shape = {{ kind = \"ellipsoid\", radii = [0.19, 0.24, 0.22] }}\n\
         skin = {{ kind = \"mesh\", cell = {cell} }}\ncontinuum = {{ integration = \"{integration}\" }}\n"
    ))
}

/// Explicit steps of cubes of 10,000 and 1,000,000 phyxels, with the limits of the machine.
pub(super) fn scaling(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let limits: Vec<MachineLimits> = threads.iter().map(|&threads| MachineLimits::measure(threads, emit)).collect();
    for (spacing, steps) in [(0.0511, 200), (0.01108, 12)] {
        let world = build(&format!(
            "version = 1\nduration = 1\ngravity = [0, 0, 0]\n[materials.jelly]\nyoung_modulus = 1e5\ndamping = 0.0\n\
             [[bodies]]\nname = \"cube\"\nmodel = \"continuum\"\nmaterial = \"jelly\"\nspacing = {spacing}\n\
             sampler = \"ccp\"\nspin = [0, 1, 0.3]\nshape = {{ kind = \"box\", size = [1, 1, 1] }}\n\
             continuum = {{ integration = \"explicit\" }}\n"
        ))?;
        for (&threads, limits) in threads.iter().zip(&limits) {
            let mut world = world.clone();
            let dt = (0.5 * world.stable_step()) as f32;
            let seconds = time_repetitions(&mut world, threads, (WARM_UP, steps), |world| time_steps(world, 1, dt))?;
            let median = super::median_and_minimum(seconds.clone()).0;
            let note = roofline_note(&world.models().continuum, median, limits);
            let count = world.particles().len() as u64;
            let name = format!("continuum-scaling-{count}");
            let measured = Measurement { name: &name, what: "all, a step", threads, published: Some(&note) };
            emit(measured.row((count, "phyxel"), seconds, world.state_hash()));
        }
    }
    Ok(())
}

/// Time per pair, and fractions of the machine's limits.
fn roofline_note(model: &ContinuumModel, seconds: f64, limits: &MachineLimits) -> String {
    let work = model.work();
    format!(
        "{:.1} neighbours, {:.2} ns a pair; {:.0} % of the memory bandwidth, {:.0} % of the arithmetic rate",
        work.pairs as f64 / work.phyxels.max(1) as f64,
        1e9 * seconds / work.pairs.max(1) as f64,
        100.0 * work.bytes as f64 / seconds / limits.bandwidth,
        100.0 * work.operations as f64 / seconds / limits.arithmetic_rate,
    )
}
