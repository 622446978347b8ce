//! Crystals and fluids against theory.

mod change;
mod chart;
#[path = "../common/mod.rs"]
mod common;
mod exchange;
mod flow;
mod fluid;
mod fracture;
mod heat;
mod refusals;
mod solid;
mod table;

use common::body;
use glam::{DVec3, Vec3};
use phyxel::World;
use phyxel::body::NewBody;
use phyxel::material::Material;
use phyxel::model::shape::ShapeSettings;
use phyxel::model::{CrystalSettings, ModelSettings};
use phyxel::particles::Phase;

/// Sites of a closest packing with this distance whose middles are in a box around the origin.
fn packing(size: Vec3, distance: f32) -> Vec<Vec3> {
    let step = distance / 2.0f32.sqrt();
    let reach = (0.5 * size / step + 1e-3).floor().as_ivec3();
    let mut points = Vec::new();
    for z in -reach.z..=reach.z {
        for y in -reach.y..=reach.y {
            for x in (-reach.x..=reach.x).filter(|x| (x + y + z) % 2 == 0) {
                points.push(Vec3::new(x as f32, y as f32, z as f32) * step);
            }
        }
    }
    points
}

/// A body of crystal or fluid in a box; each particle has the volume that it has in closest packing.
fn packed(name: &str, size: Vec3, distance: f32, settings: CrystalSettings) -> NewBody {
    let samples = packing(size, distance);
    let volume = samples.len() as f64 * f64::from(distance).powi(3) / 2.0f64.sqrt();
    let model = ModelSettings::Crystal(settings);
    NewBody { model, volume, spacing: distance, ..body(name, samples, ShapeSettings::default()) }
}

fn crystal(name: &str, size: Vec3, distance: f32) -> NewBody {
    packed(name, size, distance, CrystalSettings::default())
}

fn fluid(name: &str, size: Vec3, distance: f32) -> NewBody {
    packed(name, size, distance, CrystalSettings { phase: Phase::Fluid, ..CrystalSettings::default() })
}

/// Matter of a Young's modulus, without damping.
fn elastic(young: f32) -> Material {
    Material { young_modulus: young.into(), poisson_ratio: 0.0, damping: 0.0, ..common::matter() }
}

/// Momentum and angular momentum of all particles.
fn momenta(world: &World) -> (DVec3, DVec3) {
    let particles = world.particles();
    let mut sums = (DVec3::ZERO, DVec3::ZERO);
    for ((x, v), m) in particles.position.iter().zip(&particles.velocity).zip(&particles.mass) {
        let momentum = v.as_dvec3() * f64::from(*m);
        sums.0 += momentum;
        sums.1 += x.as_dvec3().cross(momentum);
    }
    sums
}

/// Slope of a line through points, by least squares.
fn slope_of(points: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut n, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (a, b) in points {
        (n, x, y, xx, xy) = (n + 1.0, x + a, y + b, xx + a * a, xy + a * b);
    }
    (n * xy - x * y) / (n * xx - x * x)
}
