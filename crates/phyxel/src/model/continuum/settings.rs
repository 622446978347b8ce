//! Settings of the continuum model.

use crate::Real;
use crate::model::ModelKind;
use serde::{Deserialize, Serialize};

/// Settings of one body of phyxels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContinuumSettings {
    /// Support radius, as a multiple of the mean distance of the ten nearest phyxels.
    pub support: Real,
    /// Hourglass stiffness against non-affine motion of neighbours, as a fraction of Young's modulus.
    pub hourglass: Real,
    /// Volume penalty, as a fraction of Young's modulus (`k_v` of `[MKN04]` eq. 7).
    pub volume_penalty: Real,
    /// Anisotropic stiffness matrix in Voigt notation, Pa: six stresses (xx, yy, zz, yz, xz, xy) from three
    /// normal strains and three engineering shear strains. The material's Young's modulus over its value at
    /// rest scales it.
    pub stiffness: Option<Box<[[Real; 6]; 6]>>,
    /// True if plastic flow is isochoric: only the deviatoric strain flows.
    pub deviatoric: bool,
    /// True if the reference configuration follows the motion (updated Lagrangian), so that the body may
    /// merge and split.
    pub flowing: bool,
    /// Time integration.
    pub integration: Integration,
}

impl Default for ContinuumSettings {
    fn default() -> Self {
        Self {
            support: 1.7,
            hourglass: 0.1,
            volume_penalty: 0.0,
            stiffness: None,
            deviatoric: false,
            flowing: false,
            integration: Integration::Auto,
        }
    }
}

/// Time integration of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Integration {
    /// Explicit if its stable step is not too short, else implicit.
    #[default]
    Auto,
    /// Symplectic (semi-implicit) Euler; the stiffness limits the step.
    Explicit,
    /// Linearly implicit backward Euler; stable for any step, damps motion faster than the step.
    Implicit,
}

impl Integration {
    /// Every scheme with its name in scene files.
    pub const ALL: [(&'static str, Self); 3] =
        [("auto", Self::Auto), ("explicit", Self::Explicit), ("implicit", Self::Implicit)];
}

impl ContinuumSettings {
    /// Kind of the model.
    pub(crate) fn kind(&self) -> ModelKind {
        ModelKind::Continuum
    }
}
