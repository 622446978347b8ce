//! Settings of a tetrahedral body.

use crate::Real;
use crate::model::ModelKind;
use crate::model::continuum::Integration;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Settings of one tetrahedral body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TetraSettings {
    /// Samples at the four corners of each element, with positive volume: `(b-a) x (c-a) . (d-a) > 0`.
    pub elements: Arc<Vec<[u32; 4]>>,
    /// Stiffness matrix of an anisotropic material, Pa, in Voigt order (xx, yy, zz, yz, xz, xy): stresses
    /// from three normal and three engineering shear strains. The material's Young's modulus over its
    /// largest value scales it.
    pub stiffness: Option<Box<[[Real; 6]; 6]>>,
    /// Mass-proportional Rayleigh damping, 1/s: rate at which motion through space decays.
    pub mass_damping: Real,
    /// Stiffness-proportional Rayleigh damping, s. From the material's damping if `None`.
    pub stiffness_damping: Option<Real>,
    /// Constraint force at which corners split off, N, as in `[Gis07]`, instead of the material's strength.
    pub strength_force: Option<Real>,
    /// Name of a fluid of the same material that molten elements become; otherwise they stay elements
    /// that creep.
    pub melts_into: Option<String>,
    /// True if plastic flow preserves volume: only deviatoric strain flows.
    pub deviatoric: bool,
    /// Integration scheme.
    pub integration: Integration,
}

impl TetraSettings {
    /// Kind of the model.
    pub(crate) fn kind(&self) -> ModelKind {
        ModelKind::Tetra
    }
}
