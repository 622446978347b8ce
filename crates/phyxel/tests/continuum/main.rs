//! Experiments with the continuum model against closed forms.

#[path = "../common/mod.rs"]
mod common;

mod beams;
mod flow;
mod motion;
mod refusals;
mod surfels;
mod thermal;

use common::Lcg;
use glam::Vec3;
use phyxel::body::NewBody;
use phyxel::model::continuum::Integration;
use phyxel::model::{ContinuumSettings, ModelSettings};

/// Body of phyxels at these points.
fn cloud(samples: Vec<Vec3>, spacing: f32, settings: ContinuumSettings) -> NewBody {
    common::new_body("body", ModelSettings::Continuum(settings), samples, spacing)
}

/// Block of phyxels by counts along the axes, each displaced by up to `jitter` spacings along every axis.
fn block(counts: [u32; 3], spacing: f32, jitter: f32, settings: ContinuumSettings) -> NewBody {
    let mut random = Lcg(5);
    let samples = common::block(counts, spacing).into_iter().map(|x| x + random.next_vector(jitter * spacing));
    cloud(samples.collect(), spacing, settings)
}

fn with_integration(integration: Integration) -> ContinuumSettings {
    ContinuumSettings { integration, ..ContinuumSettings::default() }
}
