//! Crystals and fluids against closed forms and experiments.

mod chart;
#[path = "../common/mod.rs"]
mod common;
mod emitters;
mod fluid;
mod fracture;
mod heat;
mod phase_change;
mod refusals;
mod solid;
mod table;
mod viscosity;

use glam::Vec3;
use phyxel::body::NewBody;
use phyxel::material::Material;
use phyxel::model::{CrystalSettings, ModelSettings};
use phyxel::store::Phase;

/// Sites of a closest packing of this spacing in a box around the origin.
fn closest_packing(size: Vec3, spacing: f32) -> Vec<Vec3> {
    let step = spacing / 2.0f32.sqrt();
    let extent = (0.5 * size / step + 1e-3).floor().as_ivec3();
    let mut points = Vec::new();
    for z in -extent.z..=extent.z {
        for y in -extent.y..=extent.y {
            for x in (-extent.x..=extent.x).filter(|x| (x + y + z) % 2 == 0) {
                points.push(Vec3::new(x as f32, y as f32, z as f32) * step);
            }
        }
    }
    points
}

/// A box of crystal or fluid; each particle has the volume of its site in a closest packing.
fn packed_body(name: &str, size: Vec3, spacing: f32, settings: CrystalSettings) -> NewBody {
    let samples = closest_packing(size, spacing);
    let volume = samples.len() as f64 * f64::from(spacing).powi(3) / 2.0f64.sqrt();
    NewBody { volume, ..common::new_body(name, ModelSettings::Crystal(settings), samples, spacing) }
}

fn crystal_body(name: &str, size: Vec3, spacing: f32) -> NewBody {
    packed_body(name, size, spacing, CrystalSettings::default())
}

fn fluid_body(name: &str, size: Vec3, spacing: f32) -> NewBody {
    packed_body(name, size, spacing, CrystalSettings { phase: Phase::Fluid, ..CrystalSettings::default() })
}

/// Material without stiffness.
fn liquid() -> Material {
    common::elastic(0.0, 0.0)
}

/// Slope of the least-squares line through points.
fn fitted_slope(points: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut n, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (a, b) in points {
        (n, x, y, xx, xy) = (n + 1.0, x + a, y + b, xx + a * a, xy + a * b);
    }
    (n * xy - x * y) / (n * xx - x * x)
}
