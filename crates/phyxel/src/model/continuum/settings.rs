//! Settings of a body of phyxels.

use crate::Real;
use serde::{Deserialize, Serialize};

/// Settings of one body of phyxels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContinuumSettings {
    /// How far a phyxel feels its neighbours, as a multiple of the mean distance of its ten nearest.
    pub support: Real,
    /// Stiffness against motion of neighbours that is not affine, as a part of Young's modulus.
    pub hourglass: Real,
    /// Stiffness against a change of volume beside that of the material, as a part of Young's modulus
    /// (`k_v` of `[MKN04]` eq. 7).
    pub volume: Real,
    /// Elastic law that is not the same in all directions, Pa: six stresses (xx, yy, zz, yz, xz, xy) from three
    /// stretches and three shears. The material's Young's modulus, as a part of its value at rest, scales it.
    pub stiffness: Option<Box<[[Real; 6]; 6]>>,
    /// Whether plastic flow keeps the volume: only the part of the strain without trace flows.
    pub deviatoric: bool,
    /// Whether the reference shape follows the present one, so that parts may merge and split.
    pub flowing: bool,
    /// How steps are taken.
    pub integration: Integration,
}

impl Default for ContinuumSettings {
    fn default() -> Self {
        Self {
            support: 1.7,
            hourglass: 0.1,
            volume: 0.0,
            stiffness: None,
            deviatoric: false,
            flowing: false,
            integration: Integration::Auto,
        }
    }
}

/// How the equations of motion of a body are stepped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Integration {
    /// Explicit where that takes a moderate number of steps, else implicit.
    #[default]
    Auto,
    /// Leapfrog; steps are as short as the stiffness asks for.
    Explicit,
    /// Backward Euler, linearised; steps of any length, motion faster than a step is damped.
    Implicit,
}

impl Integration {
    /// Every way with its word.
    pub const ALL: [(&'static str, Self); 3] =
        [("auto", Self::Auto), ("explicit", Self::Explicit), ("implicit", Self::Implicit)];
}
