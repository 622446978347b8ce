//! Benchmarks of phyxels.

use super::limits::Limits;
use super::{BenchError, Measured, Row, time_each};
use phyxel::model::ContinuumModel;
use phyxel::step::{StageTimes, step};
use phyxel::{StepError, World};
use phyxel_scene::{BuildOptions, LoadError, Scene};
use std::path::Path;
use std::time::Instant;

/// Steps that are not counted.
const WARM_UP: usize = 5;
/// Explicit steps of a frame: 15 to 20 in the source.
const EXPLICIT_STEPS: usize = 18;

/// A head of so many phyxels under a skin of so many vertices, as the source's table 1.
pub(super) fn source(_: &[usize], row: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    // Spacings for which an ellipsoid of a head's size has 200 and 400 phyxels, and cells of its skin for 10k and 20k vertices.
    let heads = [("200", 0.0605, 0.0094, ["15 ms", "22 ms"]), ("400", 0.0470, 0.0066, ["35 ms", "60 ms"])];
    for (count, spacing, cell, published) in heads {
        for ((word, steps, dt), published) in
            [("explicit", EXPLICIT_STEPS, 1e-4), ("implicit", 1, 0.01)].into_iter().zip(published)
        {
            let world = head(spacing, cell, word)?;
            let figure = format!("{published} a frame (Pentium 4, 2.8 GHz)");
            let mut moved = world.clone();
            let seconds = time_each(&mut moved, 1, (WARM_UP, 100), |world| frame_of(world, steps, dt))?;
            let (elements, hash) = (moved.particles().len() as u64, moved.state_hash());
            let what = if word == "explicit" { "physics, 18 steps" } else { "physics, a step of 0.01 s" };
            let name = format!("phyxels-{count}-{word}");
            let measured = Measured { name: &name, what, threads: 1, published: Some(&figure) };
            row(measured.row((elements, "phyxel"), seconds, hash));
        }
        measure_skin(count, &head(spacing, cell, "explicit")?, row)?;
    }
    Ok(())
}

fn measure_skin(count: &str, world: &World, row: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let mut world = world.clone();
    step(&mut world, 1e-4, &mut StageTimes::default())?;
    let vertices = world.frame().bodies[0].skin.as_ref().map_or(0, |skin| skin.positions.len() as u64);
    let seconds = time_each(&mut world, 1, (WARM_UP, 50), |world| {
        let start = Instant::now();
        world.frame();
        Ok(start.elapsed().as_secs_f64())
    })?;
    let name = format!("phyxels-{count}-skin");
    let measured = Measured { name: &name, what: "a frame with its skin", threads: 1, published: None };
    row(measured.row((vertices, "vertex"), seconds, world.state_hash()));
    Ok(())
}

fn frame_of(world: &mut World, steps: usize, dt: f32) -> Result<f64, StepError> {
    let start = Instant::now();
    for _ in 0..steps {
        step(world, dt, &mut StageTimes::default())?;
    }
    Ok(start.elapsed().as_secs_f64())
}

fn build(text: &str) -> Result<World, BenchError> {
    let scene = Scene::read(text, "phyxels.toml", Path::new(".")).map_err(LoadError::from)?;
    Ok(scene.build(&BuildOptions::default())?.world)
}

fn head(spacing: f64, cell: f64, integration: &str) -> Result<World, BenchError> {
    build(&format!(
        "version = 1\nduration = 1\n[materials.head]\ndensity = 1000.0\nyoung_modulus = 1e6\n\
         [[bodies]]\nname = \"head\"\nmodel = \"continuum\"\nmaterial = \"head\"\nspacing = {spacing}\nspin = [0, 3, 1]\n\
         shape = {{ kind = \"ellipsoid\", radii = [0.19, 0.24, 0.22] }}\n\
         skin = {{ kind = \"mesh\", cell = {cell} }}\ncontinuum = {{ integration = \"{integration}\" }}\n"
    ))
}

/// Explicit steps of cubes of 10,000 and 1,000,000 phyxels, with the limits of the machine.
pub(super) fn scaling(threads: &[usize], row: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let limits: Vec<Limits> = threads.iter().map(|&threads| Limits::measure(threads, row)).collect();
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
            let seconds = time_each(&mut world, threads, (WARM_UP, steps), |world| frame_of(world, 1, dt))?;
            let median = super::median_and_minimum(seconds.clone()).0;
            let note = world.continuum_model().map(|model| shares(model, median, limits)).unwrap_or_default();
            let count = world.particles().len() as u64;
            let name = format!("phyxels-scaling-{count}");
            let measured = Measured { name: &name, what: "all, a step", threads, published: Some(&note) };
            row(measured.row((count, "phyxel"), seconds, world.state_hash()));
        }
    }
    Ok(())
}

/// Time for a pair, and the parts of the limits that a step reaches.
fn shares(model: &ContinuumModel, seconds: f64, limits: &Limits) -> String {
    let work = model.work();
    format!(
        "{:.1} neighbours, {:.2} ns a pair; {:.0} % of what memory gives, {:.0} % of what arithmetic gives",
        work.pairs as f64 / work.phyxels.max(1) as f64,
        1e9 * seconds / work.pairs.max(1) as f64,
        100.0 * work.bytes as f64 / seconds / limits.bytes,
        100.0 * work.operations as f64 / seconds / limits.operations,
    )
}
