//! Reports: state, skin and cost of the bodies; changes of their settings.

use super::phase_change::elastic_strain;
use super::{ContinuumModel, DerivedContinuum, GRAIN, PhyxelBody};
use crate::Real;
use crate::body::BodyId;
use crate::commands::Setting;
use crate::frame::FrameSkin;
use crate::model::BodyState;
use crate::model::View;
use crate::numerics::UnionFind;
use crate::parallel;
use crate::skin::Skin;
use crate::store::Particles;
use glam::{Mat3, Vec3};
use phyxel_laws::material::plasticity::spectral_norm_symmetric;
use phyxel_laws::meshless::second_piola_stress;
use phyxel_laws::simd::WIDTH;
use std::borrow::Cow;

/// Memory traffic and arithmetic of an explicit step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepWork {
    /// Phyxels.
    pub phyxels: u64,
    /// Neighbours of all of them: each pair counts twice.
    pub pairs: u64,
    /// Memory traffic with perfect caches, bytes.
    pub bytes: u64,
    /// Multiplications and additions, padding included.
    pub operations: u64,
}

/// A neighbour in a row: index, weight, weighted offset.
const PAIR_BYTES: u64 = 20;
/// Reference data of a phyxel (44), its payload (64), points (2 x 16), and the columns of position,
/// velocity, mass and force as the stages of a step read and write them (132).
const PHYXEL_BYTES: u64 = 272;
/// First pass: 3 differences and 9 multiply-adds. Second: 3 differences, the hourglass spring (2), 9
/// multiply-adds of the matrix and 3 of the spring.
const PAIR_OPERATIONS: u64 = 21 + 29;
/// Two matrix products with the inverse, strain, stress, and the rest.
const PHYXEL_OPERATIONS: u64 = 230;

/// Neighbours nearer than this fraction of their support are connected.
const CONNECTED: Real = 0.95;

impl ContinuumModel {
    /// Cost of an explicit step of all bodies without damping.
    pub fn work(&self) -> StepWork {
        let clouds = self.derived.iter().flatten().map(|derived| &derived.phyxels.cloud);
        clouds.fold(StepWork::default(), |sum, cloud| {
            let (phyxels, lanes) = (cloud.len() as u64, cloud.padded_pair_count());
            StepWork {
                phyxels: sum.phyxels + phyxels,
                pairs: sum.pairs + cloud.pair_count(),
                bytes: sum.bytes + lanes * PAIR_BYTES + phyxels * PHYXEL_BYTES,
                operations: sum.operations + lanes * PAIR_OPERATIONS + phyxels * PHYXEL_OPERATIONS,
            }
        })
    }

    pub(super) fn change_setting(&mut self, id: BodyId, setting: &Setting) -> bool {
        let Some(phyxels) = self.bodies.iter_mut().find(|phyxels| phyxels.id == id) else { return false };
        match *setting {
            Setting::Flowing(on) => phyxels.settings.flowing = on,
            Setting::Deviatoric(on) => phyxels.settings.deviatoric = on,
            Setting::Integration(scheme) => phyxels.settings.integration = scheme,
            _ => return false,
        }
        true
    }

    fn current_derived(&self, view: &View) -> Cow<'_, [DerivedContinuum]> {
        match &self.derived {
            Some(derived) => Cow::Borrowed(derived),
            None => Cow::Owned(self.derive(view)),
        }
    }

    pub(super) fn summarise(&self, view: &View, strains: &mut [Real]) -> Vec<(BodyId, BodyState)> {
        let derived = self.current_derived(view);
        let states = self.bodies.iter().zip(derived.iter());
        states.map(|(phyxels, derived)| (phyxels.id, phyxels.body_state(derived, view.particles, strains))).collect()
    }

    pub(super) fn embedded_skins(&self, view: &View) -> Vec<(BodyId, FrameSkin)> {
        if view.bodies.iter().all(|body| !matches!(body.skin, Skin::Mesh(_) | Skin::Surfels(_))) {
            return Vec::new();
        }
        let derived = self.current_derived(view);
        let skins = self.bodies.iter().zip(derived.iter()).filter_map(|(phyxels, derived)| {
            let embedding = derived.embedding.as_ref()?;
            let gradients = derived.deformation_gradients(view.particles);
            let (positions, velocities) =
                (&view.particles.position[derived.range.clone()], &view.particles.velocity[derived.range.clone()]);
            Some((phyxels.id, embedding.frame_skin(positions, velocities, &gradients)))
        });
        skins.collect()
    }
}

impl DerivedContinuum {
    /// Deformation gradients at the present positions.
    fn deformation_gradients(&self, particles: &Particles) -> Vec<Mat3> {
        self.phyxels.deformation_gradients_at(&particles.position[self.range.clone()])
    }
}

impl PhyxelBody {
    fn body_state(&self, derived: &DerivedContinuum, particles: &Particles, strains: &mut [Real]) -> BodyState {
        let (phyxels, range) = (&derived.phyxels, derived.range.clone());
        let gradients = derived.deformation_gradients(particles);
        let positions = &particles.position[range.clone()];
        let found = parallel::map(range.len(), GRAIN, |i| {
            let state = phyxels.states.get(i / WIDTH);
            let lane = i % WIDTH;
            let plastic = state.map_or([0.0; 6], |state| state.plastic.map(|e| e[lane]));
            let thermal = state.map_or(0.0, |state| state.thermal_strain[lane]);
            let stiffness = state.map_or(1.0, |state| state.stiffness_fraction[lane]);
            let elastic = elastic_strain(gradients[i], plastic, thermal);
            let stress = second_piola_stress(&phyxels.material.hooke, &elastic.map(|e| [e; WIDTH])).map(|s| s[0]);
            let weight = |k: usize| if k < 3 { 0.5 } else { 1.0 };
            let mut energy: f64 = (0..6).map(|k| weight(k) * f64::from(elastic[k]) * f64::from(stress[k])).sum();
            let volume = (1.0 + 2.0 * thermal).powf(1.5);
            energy += 0.5
                * f64::from(phyxels.material.volume_penalty)
                * f64::from(gradients[i].determinant() - volume).powi(2);
            let reference = &phyxels.cloud.references[i / WIDTH];
            energy *= f64::from(reference.volume[lane]);
            let non_affine: f64 = phyxels
                .cloud
                .neighbours(i)
                .map(|(j, weight, offset)| {
                    let x_ij = positions[j as usize] - positions[i];
                    f64::from(weight * (x_ij - gradients[i] * offset).length_squared())
                })
                .sum();
            energy += 0.5 * f64::from(phyxels.material.hourglass * reference.volume_over_trace[lane]) * non_affine;
            (spectral_norm_symmetric(&elastic), f64::from(stiffness) * energy)
        });
        strains[range.clone()].iter_mut().zip(&found).for_each(|(strain, (found, _))| *strain = *found);
        BodyState {
            elastic_energy: found.iter().map(|(_, energy)| energy).sum(),
            strain_max: f64::from(found.iter().map(|(strain, _)| *strain).fold(0.0, Real::max)),
            pieces: self.count_pieces(derived, positions),
            solver_iterations: (self.solves > 0).then(|| self.iterations as f64 / self.solves as f64),
            degenerate: Some(phyxels.cloud.degenerate.into()),
            ..BodyState::default()
        }
    }

    /// Number of connected components, by neighbours that are near now.
    fn count_pieces(&self, derived: &DerivedContinuum, positions: &[Vec3]) -> u32 {
        let mut pieces = UnionFind::new(positions.len());
        for i in 0..positions.len() {
            for (j, _, _) in derived.phyxels.cloud.neighbours(i).filter(|(j, _, _)| *j as usize > i) {
                let cutoff = CONNECTED * 0.5 * (self.supports[i] + self.supports[j as usize]);
                if self.reference.is_none() || positions[i].distance_squared(positions[j as usize]) < cutoff * cutoff {
                    pieces.union([i as u32, j]);
                }
            }
        }
        pieces.component_count()
    }
}
