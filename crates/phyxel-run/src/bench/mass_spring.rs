//! Benchmarks of mass-spring lattices and pair forces.

use super::{BenchError, Measurement, Row, time_frame, time_repetitions};
use glam::Vec3;
use phyxel::step::{Stage, StageTimes, step};
use phyxel::{World, parallel};
use phyxel_scene::{BuildOptions, LoadError, Scene};
use std::path::Path;
use std::time::Instant;

/// Scene of all benchmarks here.
const SCENE: &str = "goop-to-glop";
/// Steps of the warm-up.
const WARM_UP: usize = 3;

/// All frames of the scene.
pub(super) fn goop(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let scene = Scene::load(SCENE, &[])?;
    let world = scene.build(&BuildOptions::default())?.world;
    for &threads in threads {
        let mut world = world.clone();
        let seconds = time_repetitions(&mut world, threads, (0, scene.frames() as usize), time_frame)?;
        let speed = scene.duration / seconds.iter().sum::<f64>();
        let figure = format!("{speed:.0} times faster than real time, {} steps in all", world.steps());
        let measured = Measurement { name: SCENE, what: "all, a frame", threads, published: Some(&figure) };
        emit(measured.row((world.particles().len() as u64, "particle"), seconds, world.state_hash()));
    }
    Ok(())
}

/// Steps of the scene with more particles: solid, half molten and molten.
pub(super) fn scaling(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    for (spacing, steps) in [("0.0253", 60), ("0.0115", 20)] {
        let finer = [("bodies.goop.spacing".to_string(), spacing.to_string())];
        let world = Scene::load(SCENE, &finer)?.build(&BuildOptions::default())?.world;
        for (state, molten) in [("solid", 0.0), ("half-molten", 0.5), ("molten", 1.0)] {
            let mut world = world.clone();
            heat_lower_part(&mut world, molten)?;
            let name = format!("goop-{state}-{}", world.particles().len());
            measure_steps(&name, &world, steps, threads, emit)?;
        }
    }
    Ok(())
}

/// Heats the lower fraction of the body above its melting point.
fn heat_lower_part(world: &mut World, fraction: f32) -> Result<(), BenchError> {
    let rest = &world.particles().rest;
    let extremum = |start, select: fn(f32, f32) -> f32| rest.iter().map(|x| x.y).fold(start, select);
    let (low, high) = (extremum(f32::INFINITY, f32::min), extremum(f32::NEG_INFINITY, f32::max));
    let height = low + fraction * (high - low);
    let samples = (0..rest.len() as u32).filter(|&i| fraction > 0.0 && rest[i as usize].y <= height).collect();
    let region = phyxel::commands::Region::Ids(samples);
    world.apply(phyxel::commands::Command::Warm { body: "goop".into(), region, temperature: 10.0 })?;
    Ok(())
}

fn measure_steps(
    name: &str,
    world: &World,
    steps: usize,
    threads: &[usize],
    emit: &mut dyn FnMut(Row),
) -> Result<(), BenchError> {
    for &threads in threads {
        let mut world = world.clone();
        let seconds = time_repetitions(&mut world, threads, (WARM_UP, steps), |world| {
            let start = Instant::now();
            step(world, 5e-5, &mut StageTimes::default())?;
            Ok(start.elapsed().as_secs_f64())
        })?;
        let measured = Measurement { name, what: "all, a step", threads, published: None };
        emit(measured.row((world.particles().len() as u64, "particle"), seconds, world.state_hash()));
    }
    Ok(())
}

/// Pair forces of the molecules of a drop: direct sum, Barnes-Hut tree, and cut-off.
pub(super) fn pair_forces(threads: &[usize], emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let all = threads.last().copied().unwrap_or(1);
    // Strengths with an equilibrium distance of 0.1 m.
    let pair_laws = [
        ("exponents = [2, 4], attraction = 1.0, repulsion = 1e-2", "1/d"),
        ("exponents = [8, 14], attraction = 1e-6, repulsion = 1e-12", "1/d7"),
    ];
    // The direct sum of the largest drop takes minutes, so that it has one law only.
    for (count, radius, laws) in
        [("1k", 0.575, &pair_laws[..]), ("10k", 1.285, &pair_laws[..]), ("100k", 2.84, &pair_laws[..1])]
    {
        for (strengths, law) in laws {
            let mut exact = Vec::new();
            for (summation, repetitions) in [
                ("summation = \"exact\"", 1),
                ("summation = \"tree\", opening_angle = 0.5", 3),
                ("cutoff = 2.5", 3),
                ("cutoff = 5.0", 3),
            ] {
                let world = drop_of(radius, strengths, summation)?;
                let (seconds, velocity_changes, hash) =
                    parallel::with_threads(Some(all), || measure_forces(world, repetitions))?;
                let error = if exact.is_empty() {
                    String::new()
                } else {
                    format!(", relative error {:.1e}", relative_error(&velocity_changes, &exact))
                };
                let elements = velocity_changes.len() as u64;
                let name = format!("pair-forces-{count}");
                let note = format!("attraction {law}, {summation}{error}");
                let measured =
                    Measurement { name: &name, what: "forces, a step", threads: all, published: Some(&note) };
                emit(measured.row((elements, "molecule"), seconds, hash));
                if exact.is_empty() {
                    exact = velocity_changes;
                }
            }
        }
    }
    Ok(())
}

/// World of a molten ball.
fn drop_of(radius: f64, strengths: &str, summation: &str) -> Result<World, BenchError> {
    let text = format!(
        "version = 1\nduration = 1\ngravity = [0, 0, 0]\n\
         [materials.melt]\nheat = {{ melting = 1 }}\nfluid = {{ viscosity = 0.0, bulk_modulus = 1e4 }}\n\
         [[bodies]]\nname = \"drop\"\nmodel = \"mass_spring\"\nmaterial = \"melt\"\nspacing = 0.1\ntemperature = 2\n\
         shape = {{ kind = \"sphere\", radius = {radius} }}\n\
         mass_spring = {{ molecules = {{ {strengths}, {summation} }} }}\n"
    );
    let scene = Scene::read(&text, "drop.toml", Path::new(".")).map_err(LoadError::from)?;
    Ok(scene.build(&BuildOptions::default())?.world)
}

/// Times neighbour search and forces in steps of a melt; also returns the velocity changes of the last step.
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
    let velocity_changes =
        world.particles().velocity.iter().zip(&before).map(|(after, before)| *after - *before).collect();
    Ok((seconds, velocity_changes, world.state_hash()))
}

/// Relative error in the root mean square.
fn relative_error(computed: &[Vec3], exact: &[Vec3]) -> f64 {
    let squared_error: f64 = computed.iter().zip(exact).map(|(a, b)| f64::from(a.distance_squared(*b))).sum();
    (squared_error / exact.iter().map(|b| f64::from(b.length_squared())).sum::<f64>()).sqrt()
}
