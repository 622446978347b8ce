//! Settings of a body of crystal or of its melt.

use crate::Real;
use crate::particles::Phase;
use serde::{Deserialize, Serialize};

/// Settings of one body of crystal, or of fluid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrystalSettings {
    /// What it is at the start: solid or fluid.
    pub phase: Phase,
    /// How far neighbours of a solid particle are matched, in particle distances: 1.9 for 42 of them, 1.5 for 18.
    pub support: Real,
    /// How fast a fluid particle takes on the velocity of its neighbours, 1/s (`[Mon89]`).
    pub smoothing: Real,
}

impl Default for CrystalSettings {
    fn default() -> Self {
        Self { phase: Phase::Solid, support: 1.9, smoothing: 10.0 }
    }
}
