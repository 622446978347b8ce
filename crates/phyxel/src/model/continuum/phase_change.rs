//! Melting, freezing and flow: the reference configuration is updated to the present one (updated Lagrangian).

use super::derived::DerivedContinuum;
use super::stability::REPEATED_SEARCH;
use super::{ContinuumModel, GRAIN, PhyxelBody};
use crate::Real;
use crate::body::Body;
use crate::material::Material;
use crate::model::ViewMut;
use crate::parallel;
use crate::store::{Particles, Phase};
use glam::{Mat3, Quat, Vec3};
use phyxel_laws::linalg::rotation::nearest_rotation;
use phyxel_laws::material::hooke::VOIGT;
use phyxel_laws::simd::WIDTH;
use std::sync::Arc;

/// A phyxel further than this fraction of its support from its reference position triggers an update.
const MAX_DRIFT: Real = 0.15;
/// Below this volume ratio a deformation is meaningless; its stress is dropped.
const MIN_VOLUME_RATIO: Real = 0.2;

impl PhyxelBody {
    /// Returns true if its reference configuration may ever be updated.
    pub(super) fn may_flow(&self, material: &Material) -> bool {
        self.settings.flowing || material.heat.melting.is_some()
    }

    /// Returns true if its reference configuration follows the motion at present.
    pub(super) fn is_flowing(&self, material: &Material, enthalpy: &[f64]) -> bool {
        let melts = material.heat.melting.is_some();
        self.settings.flowing
            || (melts && enthalpy.iter().any(|&enthalpy| material.heat.liquid_fraction(enthalpy) > 0.0))
    }

    /// Updates the phases. Phyxels that freeze are free of stress as they are; returns true if there are such.
    fn update_phases(
        &mut self,
        derived: &mut DerivedContinuum,
        material: &Material,
        particles: &mut Particles,
    ) -> bool {
        if material.heat.melting.is_none() {
            return false;
        }
        let range = derived.range.clone();
        let mut frozen = Vec::new();
        for i in range.clone() {
            let is_molten = material.heat.liquid_fraction(particles.enthalpy[i]) >= 1.0;
            if !is_molten && particles.phase[i] == Phase::Fluid {
                frozen.push(i - range.start);
            }
            particles.phase[i] = if is_molten { Phase::Fluid } else { Phase::Solid };
        }
        if frozen.is_empty() {
            return false;
        }
        derived.phyxels.load_positions(&particles.position[range.clone()]);
        let gradients = derived.phyxels.deformation_gradients();
        if self.plastic.len() != range.len() {
            self.plastic = vec![[0.0; 6]; range.len()];
        }
        for i in frozen {
            let state = &mut derived.phyxels.states[i / WIDTH];
            let thermal = state.thermal_strain[i % WIDTH];
            let plastic = elastic_strain(gradients[i], [0.0; 6], thermal);
            self.plastic[i] = plastic;
            (0..6).for_each(|k| state.plastic[k][i % WIDTH] = plastic[k]);
        }
        true
    }

    /// Returns true if a phyxel has moved far from its reference position.
    fn has_drifted(&self, rest: &[Vec3], positions: &[Vec3]) -> bool {
        let reference = self.reference.as_deref().unwrap_or(rest);
        // Translation of the whole body does not count.
        let count = positions.len().max(1) as Real;
        let drift = reference.iter().zip(positions).map(|(a, b)| *b - *a).sum::<Vec3>() / count;
        let has_moved = |i: usize| (positions[i] - reference[i] - drift).length() > MAX_DRIFT * self.supports[i];
        (0..positions.len()).any(has_moved)
    }

    /// Makes the present configuration the reference and rotates the elastic strain with the body:
    /// `Ep = -R (E - Ep) R^T` with the polar rotation `R` of `J`.
    ///
    /// (Pushed forward as `J^-T (E - Ep) J^-1` it would grow under compression: energy from nowhere.)
    fn update_reference(
        &mut self,
        derived: &mut DerivedContinuum,
        body: &Body,
        material: &Material,
        particles: &Particles,
    ) {
        let range = derived.range.clone();
        let positions = &particles.position[range.clone()];
        derived.phyxels.load_positions(positions);
        let gradients = derived.phyxels.deformation_gradients();
        let states = &derived.phyxels.states;
        let plastic = parallel::map(range.len(), GRAIN, |i| {
            let plastic = self.plastic.get(i).copied().unwrap_or_default();
            let thermal = states.get(i / WIDTH).map_or(0.0, |state| state.thermal_strain[i % WIDTH]);
            let stiffness = states.get(i / WIDTH).map_or(1.0, |state| state.stiffness_fraction[i % WIDTH]);
            let volume = gradients[i].determinant();
            let is_valid = volume.is_finite() && volume > MIN_VOLUME_RATIO;
            if stiffness <= 0.0 || !is_valid {
                return [-thermal, -thermal, -thermal, 0.0, 0.0, 0.0];
            }
            let rotation = Mat3::from_quat(nearest_rotation(gradients[i].as_dmat3(), Quat::IDENTITY));
            let elastic = from_voigt(elastic_strain(gradients[i], plastic, thermal));
            let rotated = rotation * elastic * rotation.transpose();
            std::array::from_fn(|k| {
                let (r, c) = VOIGT[k];
                -rotated.col(c)[r] - if k < 3 { thermal } else { 0.0 }
            })
        });
        if let Some(embedding) = &derived.embedding {
            self.skin = Some(embedding.embed(positions, &particles.velocity[range.clone()], &gradients));
        }
        self.plastic = plastic;
        self.reference = Some(positions.to_vec());
        self.frequency_ratio = 1.0;
        self.stability = None;
        *derived = self.derive(body, material, particles, REPEATED_SEARCH);
        self.stability = Some(derived.stability);
    }
}

/// Elastic strain `(J^T J - I)/2` less plastic and thermal strain, in Voigt order.
pub(super) fn elastic_strain(j: Mat3, plastic: [Real; 6], thermal: Real) -> [Real; 6] {
    let square = j.transpose() * j;
    std::array::from_fn(|k| {
        let (r, c) = VOIGT[k];
        let one = if k < 3 { 1.0 } else { 0.0 };
        0.5 * (square.col(c)[r] - one) - plastic[k] - thermal * one
    })
}

fn from_voigt([xx, yy, zz, yz, xz, xy]: [Real; 6]) -> Mat3 {
    Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz))
}

impl ContinuumModel {
    /// Melts and freezes phyxels, and updates the reference configurations of bodies that flow.
    pub(super) fn change_phases(&mut self, view: &mut ViewMut) {
        let Some(derived) = &mut self.derived else { return };
        for (phyxels, derived) in self.bodies.iter_mut().zip(derived) {
            let body = view.body(phyxels.id);
            let material = view.material(phyxels.id);
            let froze = phyxels.update_phases(derived, material, view.particles);
            let range = derived.range.clone();
            let flows = phyxels.is_flowing(material, &view.particles.enthalpy[range.clone()]);
            let has_drifted =
                || phyxels.has_drifted(&view.particles.rest[range.clone()], &view.particles.position[range.clone()]);
            // What has frozen is stiff again: the stability limit must be estimated again.
            if froze || (flows && has_drifted()) {
                phyxels.update_reference(derived, body, material, view.particles);
                derived.conduction = Some(Arc::new(phyxels.find_conduction(&view.view())));
            }
        }
    }
}
