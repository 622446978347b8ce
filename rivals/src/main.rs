//! Phyxel beside Rapier: the same tetrahedra in the same run, on one thread.
//!
//! Ratios are worth more than milliseconds. Engines take turns, time is that of the processor on this thread, and the step in the
//! middle of all counts: the first, before anything is strained, cost less.

mod engines;
mod mesh;

use anyhow::Result;
use cpu_time::ThreadTime;
use engines::{Engine, Phyxel, Rapier, Task, Way};
use glam::Vec3;
use mesh::Mesh;
use phyxel::parallel::with_threads;

/// Steps of the block.
const SPINNING_STEPS: usize = 20;
/// Steps of the beam, enough that it hangs still.
const BENDING_STEPS: usize = 400;
/// Cells across the beam.
const ACROSS: [u32; 2] = [4, 6];
/// Step, s.
const STEP: f32 = 1.0 / 60.0;

fn main() -> Result<()> {
    with_threads(Some(1), || {
        compare_speed()?;
        println!();
        compare_bending()
    })
}

const NAMES: [&str; 4] =
    ["Phyxel, implicit", "Rapier, implicit, solved", "Rapier, implicit, as it comes", "Rapier, constraint rows"];

/// In the order of their names.
fn engines(task: &Task) -> Result<[Box<dyn Engine>; 4]> {
    Ok([
        Box::new(Phyxel::new(task)?),
        Box::new(Rapier::new(task, Way::FemSolved)),
        Box::new(Rapier::new(task, Way::Fem)),
        Box::new(Rapier::new(task, Way::Rows)),
    ])
}

/// Time that a step takes, ms.
fn time_step(engine: &mut dyn Engine) -> Result<f64> {
    let start = ThreadTime::now();
    engine.step()?;
    Ok(1e3 * start.elapsed().as_secs_f64())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A block that spins freely.
fn compare_speed() -> Result<()> {
    let mesh = Mesh::in_fives([20; 3], 0.05);
    let spin = Vec3::new(0.0, 1.0, 0.3);
    let task = Task { mesh: &mesh, held: Vec::new(), young_modulus: 1e5, gravity: Vec3::ZERO, spin, dt: STEP };
    let mut engines = engines(&task)?;
    let mut times = [const { Vec::new() }; 4];
    for _ in 0..SPINNING_STEPS {
        for (engine, times) in engines.iter_mut().zip(&mut times) {
            times.push(time_step(engine.as_mut())?);
        }
    }
    let times = times.map(median);
    let (elements, nodes) = (mesh.elements.len(), mesh.nodes.len());
    println!("A free block of {elements} tetrahedra and {nodes} nodes, E = 1e5 Pa, a step of 1/60 s on one thread:");
    println!("{:32}{:>12}{:>16}", "", "ms a step", "over Phyxel's");
    for (name, time) in NAMES.iter().zip(times) {
        println!("{name:32}{time:>12.1}{:>16.1}", time / times[0]);
    }
    Ok(())
}

/// A beam that is held at one end and bends under its own weight.
struct Beam;

impl Beam {
    const YOUNG: f64 = 1e6;
    const GRAVITY: f64 = 0.2;
    /// Edge of the section and length, m.
    const EDGE: f64 = 0.2;
    const LENGTH: f64 = 4.0 * Self::EDGE;

    /// Timoshenko's deflection of the end, m.
    fn expected() -> f64 {
        let load = f64::from(engines::DENSITY) * Self::GRAVITY * Self::EDGE.powi(2);
        let shear_modulus = 0.5 * Self::YOUNG / (1.0 + f64::from(engines::POISSON));
        let bent = load * Self::LENGTH.powi(4) / (8.0 * Self::YOUNG * Self::EDGE.powi(4) / 12.0);
        let sheared = 0.5 * load * Self::LENGTH.powi(2) / (shear_modulus * Self::EDGE.powi(2) / 1.2);
        bent + sheared
    }

    /// What each engine finds: deflection of the end over the expected one, and time of a step, ms.
    fn bend(across: u32) -> Result<[(f64, f64); 4]> {
        let mesh = Mesh::around_middles([4 * across, across, across], Self::EDGE as f32 / across as f32);
        let nodes_at = |x: f64| {
            let is_there = |node: &u32| (f64::from(mesh.nodes[*node as usize].x) - x).abs() < 1e-4;
            (0..mesh.nodes.len() as u32).filter(is_there).collect::<Vec<u32>>()
        };
        let task = Task {
            mesh: &mesh,
            held: nodes_at(-0.5 * Self::LENGTH),
            young_modulus: Self::YOUNG as f32,
            gravity: Vec3::NEG_Y * Self::GRAVITY as f32,
            spin: Vec3::ZERO,
            dt: STEP,
        };
        let end = nodes_at(0.5 * Self::LENGTH);
        let mut found = [(0.0, 0.0); 4];
        for (mut engine, found) in engines(&task)?.into_iter().zip(&mut found) {
            let times: Result<Vec<f64>> = (0..BENDING_STEPS).map(|_| time_step(engine.as_mut())).collect();
            let positions = engine.positions();
            let fallen = |node: &u32| f64::from(mesh.nodes[*node as usize].y - positions[*node as usize].y);
            let deflection = end.iter().map(fallen).sum::<f64>() / end.len() as f64;
            *found = (deflection / Self::expected(), median(times?));
        }
        Ok(found)
    }
}

fn compare_bending() -> Result<()> {
    let found = [Beam::bend(ACROSS[0])?, Beam::bend(ACROSS[1])?];
    println!(
        "A beam of 4 x 1 x 1, E = 1e6 Pa, {BENDING_STEPS} steps after it is let go: deflection over Timoshenko's, and ms a step:"
    );
    println!("{:32}{:>14} across{:>14} across", "", ACROSS[0], ACROSS[1]);
    for (k, name) in NAMES.iter().enumerate() {
        let [(coarse, a), (fine, b)] = found.map(|found| found[k]);
        println!("{name:32}{coarse:>12.3}{a:>9.1}{fine:>12.3}{b:>9.1}");
    }
    Ok(())
}
