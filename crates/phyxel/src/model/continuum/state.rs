//! What the model tells of its bodies.

use super::flow::elastic_strain;
use super::{ContinuumModel, Derived, GRAIN, Phyxels};
use crate::Real;
use crate::body::{Body, BodyId};
use crate::command::Setting;
use crate::frame::FrameSkin;
use crate::material::Material;
use crate::model::{BodyState, Parts};
use crate::parallel;
use crate::particles::Particles;
use crate::skin::Skin;
use glam::{Mat3, Vec3};
use phyxel_laws::lanes::WIDTH;
use phyxel_laws::phyxels::stress_of;
use phyxel_laws::plasticity::symmetric_norm;
use std::borrow::Cow;

/// What an explicit step takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Phyxels.
    pub phyxels: u64,
    /// Neighbours of all of them: each pair counts twice.
    pub pairs: u64,
    /// What has to come from memory and go there if all else is found in caches.
    pub bytes: u64,
    /// Multiplications and additions, also those with weights of nothing that fill up groups of eight.
    pub operations: u64,
}

/// A neighbour in a row: number, weight, way.
const PAIR_BYTES: u64 = 20;
/// What a phyxel keeps (44), its line (64), points (2 x 16), and columns of position, velocity, mass and force, read and
/// written as the stages of a step do (132).
const PHYXEL_BYTES: u64 = 272;
/// First visit: 3 differences and 9 products that are added up. Second: 3 differences, the spring (2), 9 products of the
/// matrix and 3 of the spring, added up.
const PAIR_OPERATIONS: u64 = 21 + 29;
/// Two products of matrices with the inverse, strain, stress, and what is around.
const PHYXEL_OPERATIONS: u64 = 230;

/// Neighbours nearer than this hang together, as a part of their support.
const TOGETHER: Real = 0.95;

impl ContinuumModel {
    /// What an explicit step of all bodies takes, without damping.
    pub fn work(&self) -> Work {
        let clouds = self.derived.iter().flatten().map(|derived| &derived.field.cloud);
        clouds.fold(Work::default(), |sum, cloud| {
            let (phyxels, lanes) = (cloud.len() as u64, cloud.lane_count());
            Work {
                phyxels: sum.phyxels + phyxels,
                pairs: sum.pairs + cloud.pair_count(),
                bytes: sum.bytes + lanes * PAIR_BYTES + phyxels * PHYXEL_BYTES,
                operations: sum.operations + lanes * PAIR_OPERATIONS + phyxels * PHYXEL_OPERATIONS,
            }
        })
    }

    pub(crate) fn set(&mut self, id: BodyId, setting: &Setting) -> bool {
        let Some(phyxels) = self.bodies.iter_mut().find(|phyxels| phyxels.id == id) else { return false };
        match *setting {
            Setting::Flowing(on) => phyxels.settings.flowing = on,
            Setting::Deviatoric(on) => phyxels.settings.deviatoric = on,
            Setting::Integration(way) => phyxels.settings.integration = way,
            _ => return false,
        }
        true
    }

    fn derived_now(&self, bodies: &[Body], materials: &[Material], particles: &Particles) -> Cow<'_, [Derived]> {
        match &self.derived {
            Some(derived) => Cow::Borrowed(derived),
            None => Cow::Owned(self.derive(bodies, materials, particles)),
        }
    }

    pub(crate) fn states(
        &self,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
        strains: &mut [Real],
    ) -> Vec<(BodyId, BodyState)> {
        let derived = self.derived_now(bodies, materials, particles);
        let told = self.bodies.iter().zip(derived.iter());
        told.map(|(phyxels, derived)| (phyxels.id, phyxels.state(derived, particles, strains))).collect()
    }

    pub(crate) fn skins(
        &self,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
    ) -> Vec<(BodyId, FrameSkin)> {
        if bodies.iter().all(|body| !matches!(body.skin, Skin::Mesh(_) | Skin::Surfels(_))) {
            return Vec::new();
        }
        let derived = self.derived_now(bodies, materials, particles);
        let shown = self.bodies.iter().zip(derived.iter()).filter_map(|(phyxels, derived)| {
            let binding = derived.binding.as_ref()?;
            let shapes = derived.shapes(particles);
            let (at, speed) = (&particles.position[derived.range.clone()], &particles.velocity[derived.range.clone()]);
            Some((phyxels.id, binding.show(at, speed, &shapes)))
        });
        shown.collect()
    }
}

impl Derived {
    /// Deformations at the present positions.
    fn shapes(&self, particles: &Particles) -> Vec<Mat3> {
        self.field.deformations_at(&particles.position[self.range.clone()])
    }
}

impl Phyxels {
    fn state(&self, derived: &Derived, particles: &Particles, strains: &mut [Real]) -> BodyState {
        let (field, range) = (&derived.field, derived.range.clone());
        let shapes = derived.shapes(particles);
        let positions = &particles.position[range.clone()];
        let found = parallel::map(range.len(), GRAIN, |i| {
            let state = field.states.get(i / WIDTH);
            let lane = i % WIDTH;
            let plastic = state.map_or([0.0; 6], |state| state.plastic.map(|e| e[lane]));
            let swelling = state.map_or(0.0, |state| state.swelling[lane]);
            let stiffness = state.map_or(1.0, |state| state.stiffness[lane]);
            let elastic = elastic_strain(shapes[i], plastic, swelling);
            let stress = stress_of(&field.matter.hooke, &elastic.map(|e| [e; WIDTH])).map(|s| s[0]);
            let part = |k: usize| if k < 3 { 0.5 } else { 1.0 };
            let mut energy: f64 = (0..6).map(|k| part(k) * f64::from(elastic[k]) * f64::from(stress[k])).sum();
            let size = (1.0 + 2.0 * swelling).powf(1.5);
            energy += 0.5 * f64::from(field.matter.bulk) * f64::from(shapes[i].determinant() - size).powi(2);
            let still = &field.cloud.packs[i / WIDTH];
            energy *= f64::from(still.volume[lane]);
            let left: f64 = field
                .cloud
                .neighbours(i)
                .map(|(j, weight, way)| {
                    let between = positions[j as usize] - positions[i];
                    f64::from(weight * (between - shapes[i] * way).length_squared())
                })
                .sum();
            energy += 0.5 * f64::from(field.matter.hourglass * still.ratio[lane]) * left;
            (symmetric_norm(&elastic), f64::from(stiffness) * energy)
        });
        strains[range.clone()].iter_mut().zip(&found).for_each(|(strain, (found, _))| *strain = *found);
        BodyState {
            elastic: found.iter().map(|(_, energy)| energy).sum(),
            strain_max: f64::from(found.iter().map(|(strain, _)| *strain).fold(0.0, Real::max)),
            pieces: self.count_pieces(derived, positions),
            solver_rounds: (self.solves > 0).then(|| self.rounds as f64 / self.solves as f64),
            degenerate: Some(field.cloud.degenerate.into()),
            ..BodyState::default()
        }
    }

    /// Parts that hang together by neighbours that are near now.
    fn count_pieces(&self, derived: &Derived, positions: &[Vec3]) -> u32 {
        let mut parts = Parts::new(positions.len());
        for i in 0..positions.len() {
            for (j, _, _) in derived.field.cloud.neighbours(i).filter(|(j, _, _)| *j as usize > i) {
                let near = TOGETHER * 0.5 * (self.supports[i] + self.supports[j as usize]);
                if self.reference.is_none() || positions[i].distance_squared(positions[j as usize]) < near * near {
                    parts.unite([i as u32, j]);
                }
            }
        }
        parts.count()
    }
}
