//! Phyxel and Rapier on the same tetrahedra in the same run, on one thread.
//!
//! Ratios mean more than milliseconds. Engines alternate, time is CPU time of this thread, and the median step counts:
//! the first steps, before the material is strained, cost less.

mod engines;
mod mesh;

use anyhow::Result;
use cpu_time::ThreadTime;
use engines::{Engine, Phyxel, Problem, Rapier, RapierSolver};
use glam::Vec3;
use mesh::Mesh;
use phyxel::parallel::with_threads;

/// Number of steps of the block.
const SPINNING_STEPS: usize = 20;
/// Number of steps of the beam, enough to come to rest.
const BENDING_STEPS: usize = 400;
/// Cells across the beam.
const CELLS_ACROSS: [u32; 2] = [4, 6];
/// Time step, s.
const STEP: f32 = 1.0 / 60.0;

fn main() -> Result<()> {
    with_threads(Some(1), || {
        compare_speed()?;
        println!();
        compare_bending()
    })
}

const NAMES: [&str; 4] =
    ["Phyxel, implicit", "Rapier, implicit, converged", "Rapier, implicit, default", "Rapier, constraints"];

/// Engines in the order of [`NAMES`].
fn engines(problem: &Problem) -> Result<[Box<dyn Engine>; 4]> {
    Ok([
        Box::new(Phyxel::new(problem)?),
        Box::new(Rapier::new(problem, RapierSolver::FemConverged)),
        Box::new(Rapier::new(problem, RapierSolver::Fem)),
        Box::new(Rapier::new(problem, RapierSolver::Constraints)),
    ])
}

/// CPU time of a step, ms.
fn time_step(engine: &mut dyn Engine) -> Result<f64> {
    let start = ThreadTime::now();
    engine.step()?;
    Ok(1e3 * start.elapsed().as_secs_f64())
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Compares the cost of a step for a freely rotating block.
fn compare_speed() -> Result<()> {
    let mesh = Mesh::five_per_cell([20; 3], 0.05);
    let spin = Vec3::new(0.0, 1.0, 0.3);
    let problem = Problem { mesh: &mesh, fixed: Vec::new(), young_modulus: 1e5, gravity: Vec3::ZERO, spin, dt: STEP };
    let mut engines = engines(&problem)?;
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

/// Cantilever under its own weight.
struct Cantilever;

impl Cantilever {
    const YOUNG: f64 = 1e6;
    const GRAVITY: f64 = 0.2;
    /// Edge of the cross-section and length, m.
    const EDGE: f64 = 0.2;
    const LENGTH: f64 = 4.0 * Self::EDGE;

    /// Deflection of the free end by Timoshenko's beam theory, m.
    fn expected_deflection() -> f64 {
        let load = f64::from(engines::DENSITY) * Self::GRAVITY * Self::EDGE.powi(2);
        let shear_modulus = 0.5 * Self::YOUNG / (1.0 + f64::from(engines::POISSON));
        let bending = load * Self::LENGTH.powi(4) / (8.0 * Self::YOUNG * Self::EDGE.powi(4) / 12.0);
        let shear = 0.5 * load * Self::LENGTH.powi(2) / (shear_modulus * Self::EDGE.powi(2) / 1.2);
        bending + shear
    }

    /// Result of each engine: relative deflection of the free end, and CPU time of a step, ms.
    fn bend(across: u32) -> Result<[(f64, f64); 4]> {
        let mesh = Mesh::cell_centred([4 * across, across, across], Self::EDGE as f32 / across as f32);
        let nodes_at = |x: f64| {
            let is_at = |node: &u32| (f64::from(mesh.nodes[*node as usize].x) - x).abs() < 1e-4;
            (0..mesh.nodes.len() as u32).filter(is_at).collect::<Vec<u32>>()
        };
        let problem = Problem {
            mesh: &mesh,
            fixed: nodes_at(-0.5 * Self::LENGTH),
            young_modulus: Self::YOUNG as f32,
            gravity: Vec3::NEG_Y * Self::GRAVITY as f32,
            spin: Vec3::ZERO,
            dt: STEP,
        };
        let end = nodes_at(0.5 * Self::LENGTH);
        let mut results = [(0.0, 0.0); 4];
        for (mut engine, result) in engines(&problem)?.into_iter().zip(&mut results) {
            let times: Result<Vec<f64>> = (0..BENDING_STEPS).map(|_| time_step(engine.as_mut())).collect();
            let positions = engine.positions();
            let drop = |node: &u32| f64::from(mesh.nodes[*node as usize].y - positions[*node as usize].y);
            let deflection = end.iter().map(drop).sum::<f64>() / end.len() as f64;
            *result = (deflection / Self::expected_deflection(), median(times?));
        }
        Ok(results)
    }
}

fn compare_bending() -> Result<()> {
    let results = [Cantilever::bend(CELLS_ACROSS[0])?, Cantilever::bend(CELLS_ACROSS[1])?];
    println!(
        "A cantilever of 4 x 1 x 1, E = 1e6 Pa, {BENDING_STEPS} steps after release: \
         deflection over Timoshenko's, and ms a step:"
    );
    println!("{:32}{:>14} across{:>14} across", "", CELLS_ACROSS[0], CELLS_ACROSS[1]);
    for (k, name) in NAMES.iter().enumerate() {
        let [(coarse, a), (fine, b)] = results.map(|results| results[k]);
        println!("{name:32}{coarse:>12.3}{a:>9.1}{fine:>12.3}{b:>9.1}");
    }
    Ok(())
}
