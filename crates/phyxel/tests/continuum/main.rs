//! Experiments with the continuum model against closed forms.

#[path = "../common/mod.rs"]
mod common;

mod beams;
mod flow;
mod motion;
mod refusals;
mod surfels;
mod table;
mod thermal;

use common::{Lcg, body};
use glam::Vec3;
use phyxel::body::NewBody;
use phyxel::material::Material;
use phyxel::model::shape_matching::ShapeMatchingSettings;
use phyxel::model::{ContinuumSettings, ModelSettings};

/// Elastic material without damping.
fn elastic(young: f32, poisson: f32) -> Material {
    Material { young_modulus: young.into(), poisson_ratio: poisson, damping: 0.0, ..common::default_material() }
}

/// Body of phyxels at these points.
fn cloud(samples: Vec<Vec3>, spacing: f32, settings: ContinuumSettings) -> NewBody {
    let volume = samples.len() as f64 * f64::from(spacing).powi(3);
    let model = ModelSettings::Continuum(settings);
    NewBody { model, volume, spacing, ..body("body", samples, ShapeMatchingSettings::default()) }
}

/// Block of phyxels by counts along the axes, each displaced by up to `jitter` spacings along every axis.
fn block(counts: [u32; 3], spacing: f32, jitter: f32, settings: ContinuumSettings) -> NewBody {
    let mut random = Lcg(5);
    let samples = common::block(counts, spacing).into_iter().map(|x| x + random.next_vector(jitter * spacing));
    cloud(samples.collect(), spacing, settings)
}
