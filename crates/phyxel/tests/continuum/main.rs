//! Phyxels against theory.

#[path = "../common/mod.rs"]
mod common;

mod beams;
mod flow;
mod motion;
mod refusals;
mod surfels;
mod table;
mod warmth;

use common::{Random, body};
use glam::Vec3;
use phyxel::body::NewBody;
use phyxel::material::Material;
use phyxel::model::shape::ShapeSettings;
use phyxel::model::{ContinuumSettings, ModelSettings};

/// Elastic matter without damping.
fn elastic(young: f32, poisson: f32) -> Material {
    Material { young_modulus: young.into(), poisson_ratio: poisson, damping: 0.0, ..common::matter() }
}

/// A body of phyxels at these points.
fn cloud(samples: Vec<Vec3>, spacing: f32, settings: ContinuumSettings) -> NewBody {
    let volume = samples.len() as f64 * f64::from(spacing).powi(3);
    let model = ModelSettings::Continuum(settings);
    NewBody { model, volume, spacing, ..body("body", samples, ShapeSettings::default()) }
}

/// A block of so many phyxels along the axes, each up to `jitter` spacings from its place along every axis.
fn block(counts: [u32; 3], spacing: f32, jitter: f32, settings: ContinuumSettings) -> NewBody {
    let mut random = Random(5);
    let samples = common::block(counts, spacing).into_iter().map(|x| x + random.vector(jitter * spacing));
    cloud(samples.collect(), spacing, settings)
}
