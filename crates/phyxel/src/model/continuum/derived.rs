//! Data derived from a body and its reference configuration: discretisation, damping and stability limit.

use super::PhyxelBody;
use super::assembly::PhyxelArrays;
use super::cloud::Cloud;
use super::implicit::DiagonalBlock;
use super::pressure::SphPressure;
use super::settings::Integration;
use super::skin::PhyxelEmbedding;
use super::stability::{LanczosParams, StabilityEstimate};
use crate::Real;
use crate::body::Body;
use crate::heat::ConductionGraph;
use crate::material::Material;
use crate::store::Particles;

use phyxel_laws::material::hooke::Hooke;
use phyxel_laws::meshless::PhyxelMaterial;
use std::ops::Range;
use std::sync::Arc;

/// Below this stable step (s) a body with automatic integration is stepped implicitly.
const MIN_EXPLICIT_STEP: f64 = 1e-4;

/// Data derived from the description of a body and its reference configuration.
#[derive(Clone, Debug)]
pub(super) struct DerivedContinuum {
    /// Particles of the body.
    pub range: Range<usize>,
    pub phyxels: PhyxelArrays,
    pub stability: StabilityEstimate,
    /// Diagonal blocks of the stiffness matrix; `None` for explicit steps.
    pub preconditioner: Option<Vec<DiagonalBlock>>,
    /// Pressure, for a body that may flow.
    pub pressure: Option<SphPressure>,
    /// Conduction graph; `None` before it is found.
    pub conduction: Option<Arc<ConductionGraph>>,
    /// Weights of an embedded skin.
    pub embedding: Option<PhyxelEmbedding>,
}

impl PhyxelBody {
    /// Builds the derived data; estimates the stability limit where it is not known.
    pub(super) fn derive(
        &self,
        body: &Body,
        material: &Material,
        particles: &Particles,
        lanczos: LanczosParams,
    ) -> DerivedContinuum {
        let range = body.range();
        let rest = &particles.rest[range.clone()];
        let reference = self.reference.as_deref().unwrap_or(rest);
        let masses = &particles.mass[range.clone()];
        let volumes: Vec<Real> = if self.volumes.is_empty() {
            masses.iter().map(|mass| mass / material.density).collect()
        } else {
            self.volumes.clone()
        };
        let mut phyxels = PhyxelArrays::new(Cloud::new(reference, &self.supports, &volumes), self.constants(material));
        // Molten phyxels have no stiffness and do not raise the largest eigenfrequency.
        phyxels.states = self.material_states(&phyxels.cloud, body, material, &particles.enthalpy[range.clone()]);
        let stability = self.estimate_stability(&mut phyxels, (rest, reference, masses), material, lanczos);
        let explicit_step = stability.explicit_step();
        let is_implicit = match self.settings.integration {
            Integration::Auto => self.implicit.unwrap_or(explicit_step < MIN_EXPLICIT_STEP),
            Integration::Explicit => false,
            Integration::Implicit => true,
        };
        phyxels.records_strain = is_implicit || self.may_yield(material);
        let preconditioner = is_implicit.then(|| phyxels.diagonal_blocks());
        let pressure = self.may_flow(material).then(|| SphPressure::new(rest, &self.supports, masses, material));
        let embedding = PhyxelEmbedding::of_skin(&body.skin, self.skin.as_ref(), reference, &self.supports);
        DerivedContinuum { range, phyxels, stability, preconditioner, pressure, conduction: None, embedding }
    }

    /// Material constants without damping.
    fn constants(&self, material: &Material) -> PhyxelMaterial {
        let young = material.max_young_modulus();
        PhyxelMaterial {
            hooke: match &self.settings.stiffness {
                Some(stiffness) => Hooke::Anisotropic(**stiffness),
                None => Hooke::isotropic(young, material.poisson_ratio),
            },
            volume_penalty: self.settings.volume_penalty * young,
            hourglass: self.settings.hourglass * young,
            damping: 0.0,
        }
    }
}
