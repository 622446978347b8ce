//! Benchmarks of springs and molecules.

use super::{BenchError, Measured, Row, time_each, time_frame};
use glam::Vec3;
use phyxel::step::{Stage, StageTimes, step};
use phyxel::{World, parallel};
use phyxel_scene::{BuildOptions, LoadError, Scene};
use std::path::Path;
use std::time::Instant;

/// The scene that everything here is made from.
const SCENE: &str = "goop-to-glop";
/// Steps that are not counted.
const WARM_UP: usize = 3;

/// The scene as it is, all frames.
pub(super) fn goop(threads: &[usize], row: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let scene = Scene::load(SCENE, &[])?;
    let world = scene.build(&BuildOptions::default())?.world;
    for &threads in threads {
        let mut world = world.clone();
        let seconds = time_each(&mut world, threads, (0, scene.frames() as usize), time_frame)?;
        let speed = scene.duration / seconds.iter().sum::<f64>();
        let figure = format!("{speed:.0} times faster than real time, {} steps in all", world.steps());
        let measured = Measured { name: SCENE, what: "all, a frame", threads, published: Some(&figure) };
        row(measured.row((world.particles().len() as u64, "particle"), seconds, world.state_hash()));
    }
    Ok(())
}

/// The scene with more particles: steps while it is cold, half molten and molten.
pub(super) fn scaling(threads: &[usize], row: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    for (spacing, steps) in [("0.0253", 60), ("0.0115", 20)] {
        let finer = [("bodies.goop.spacing".to_string(), spacing.to_string())];
        let world = Scene::load(SCENE, &finer)?.build(&BuildOptions::default())?.world;
        for (state, hot) in [("solid", 0.0), ("half-molten", 0.5), ("molten", 1.0)] {
            let mut world = world.clone();
            warm(&mut world, hot)?;
            let name = format!("goop-{state}-{}", world.particles().len());
            measure_steps(&name, &world, steps, threads, row)?;
        }
    }
    Ok(())
}

/// Heats the lower part of the body beyond its melting point.
fn warm(world: &mut World, part: f32) -> Result<(), BenchError> {
    let rest = &world.particles().rest;
    let bound = |start, pick: fn(f32, f32) -> f32| rest.iter().map(|x| x.y).fold(start, pick);
    let (low, high) = (bound(f32::INFINITY, f32::min), bound(f32::NEG_INFINITY, f32::max));
    let below = low + part * (high - low);
    let samples = (0..rest.len() as u32).filter(|&i| part > 0.0 && rest[i as usize].y <= below).collect();
    let region = phyxel::commands::Region::Ids(samples);
    world.apply(phyxel::commands::Command::Warm { body: "goop".into(), region, temperature: 10.0 })?;
    Ok(())
}

fn measure_steps(
    name: &str,
    world: &World,
    steps: usize,
    threads: &[usize],
    row: &mut dyn FnMut(Row),
) -> Result<(), BenchError> {
    for &threads in threads {
        let mut world = world.clone();
        let seconds = time_each(&mut world, threads, (WARM_UP, steps), |world| {
            let start = Instant::now();
            step(world, 5e-5, &mut StageTimes::default())?;
            Ok(start.elapsed().as_secs_f64())
        })?;
        let measured = Measured { name, what: "all, a step", threads, published: None };
        row(measured.row((world.particles().len() as u64, "particle"), seconds, world.state_hash()));
    }
    Ok(())
}

/// Forces between the molecules of a drop: all of them one by one, by a tree, and within a cut-off.
pub(super) fn molecules(threads: &[usize], row: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let all = threads.last().copied().unwrap_or(1);
    // The same strengths for all, with which two molecules rest 0.1 m apart.
    let laws = [
        ("exponents = [2, 4], attraction = 1.0, repulsion = 1e-2", "1/d"),
        ("exponents = [8, 14], attraction = 1e-6, repulsion = 1e-12", "1/d7"),
    ];
    // The exact sum of the largest drop takes minutes: one law has to do.
    for (count, radius, laws) in [("1k", 0.575, &laws[..]), ("10k", 1.285, &laws[..]), ("100k", 2.84, &laws[..1])] {
        for (strengths, law) in laws {
            let mut exact = Vec::new();
            for (how, reps) in [
                ("summation = \"exact\"", 1),
                ("summation = \"tree\", opening = 0.5", 3),
                ("cutoff = 2.5", 3),
                ("cutoff = 5.0", 3),
            ] {
                let world = drop_of(radius, strengths, how)?;
                let (seconds, pulls, hash) = parallel::with_threads(Some(all), || measure_forces(world, reps))?;
                let off =
                    if exact.is_empty() { String::new() } else { format!(", off by {:.1e}", distance(&pulls, &exact)) };
                let elements = pulls.len() as u64;
                let name = format!("molecules-{count}");
                let note = format!("attraction {law}, {how}{off}");
                let measured = Measured { name: &name, what: "forces, a step", threads: all, published: Some(&note) };
                row(measured.row((elements, "molecule"), seconds, hash));
                if exact.is_empty() {
                    exact = pulls;
                }
            }
        }
    }
    Ok(())
}

/// A molten ball.
fn drop_of(radius: f64, strengths: &str, how: &str) -> Result<World, BenchError> {
    let text = format!(
        "version = 1\nduration = 1\ngravity = [0, 0, 0]\n\
         [materials.melt]\nheat = {{ melting = 1 }}\nfluid = {{ viscosity = 0.0, bulk_modulus = 1e4 }}\n\
         [[bodies]]\nname = \"drop\"\nmodel = \"spring\"\nmaterial = \"melt\"\nspacing = 0.1\ntemperature = 2\n\
         shape = {{ kind = \"sphere\", radius = {radius} }}\n\
         lattice = {{ molecules = {{ {strengths}, {how} }} }}\n"
    );
    let scene = Scene::read(&text, "drop.toml", Path::new(".")).map_err(LoadError::from)?;
    Ok(scene.build(&BuildOptions::default())?.world)
}

/// Seconds that neighbours and forces take in steps of a melt, and what the last one adds to the velocities.
fn measure_forces(mut world: World, repetitions: usize) -> Result<(Vec<f64>, Vec<Vec3>, String), BenchError> {
    let dt = 1e-6;
    // The first step melts.
    step(&mut world, dt, &mut StageTimes::default())?;
    let mut seconds = Vec::new();
    let mut before = Vec::new();
    for _ in 0..repetitions {
        before.clone_from(&world.particles().velocity);
        let mut times = StageTimes::default();
        step(&mut world, dt, &mut times)?;
        seconds.push(times.seconds(Stage::FindNeighbours) + times.seconds(Stage::ExertForces));
    }
    let pulls = world.particles().velocity.iter().zip(&before).map(|(after, before)| *after - *before).collect();
    Ok((seconds, pulls, world.state_hash()))
}

/// Root of the mean square difference over that of the second.
fn distance(found: &[Vec3], wanted: &[Vec3]) -> f64 {
    let off: f64 = found.iter().zip(wanted).map(|(a, b)| f64::from(a.distance_squared(*b))).sum();
    (off / wanted.iter().map(|b| f64::from(b.length_squared())).sum::<f64>()).sqrt()
}
