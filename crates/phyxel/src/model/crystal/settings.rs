//! Settings of a body of crystal or of fluid.

use crate::Real;
use crate::particles::Phase;
use phyxel_laws::crystal::DockingLaw;
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
    /// How it melts and freezes, if its material has a melting point.
    pub change: Change,
    /// How readily sites of the lattice take neighbours; if `None`, as usual where the material has a strength, and at once
    /// where it has none.
    pub docking: Option<Docking>,
}

/// How readily sites of a lattice take neighbours (`[WHP06]` section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Docking {
    /// Largest rate at which an empty site takes a neighbour, 1/s.
    pub rate: Real,
    /// How fast the rate of a taken site rises and that of an empty one falls, 1/s2. At 0 it is a crack.
    pub change: Real,
}

impl Default for Docking {
    /// A neighbour is taken within 0.01 s, which is less than a frame; what stays empty for 0.1 s, a few frames, is a surface.
    fn default() -> Self {
        Self { rate: 100.0, change: 1000.0 }
    }
}

impl From<Docking> for DockingLaw {
    fn from(Docking { rate, change }: Docking) -> Self {
        Self { most: rate, change }
    }
}

/// How matter melts and freezes (`[WHP06]` eqs. 15 and 16).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Rate of melting for each degree above the melting point, 1/(s K).
    pub melting: Real,
    /// Rate of freezing for each degree below the freezing point and each solid neighbour beyond the fewest, 1/(s K).
    pub freezing: Real,
    /// Temperature at which it freezes, in the scene's scale; the melting point of the material if `None`.
    pub freezing_point: Option<Real>,
    /// Freezing needs more solid neighbours than this; below 0 it freezes by itself.
    pub fewest: Real,
    /// Difference in speed to the solid from which on freezing becomes rare, m/s.
    pub fastest: Real,
    /// Time within which forces of a solid come and go, s.
    pub fading: Real,
}

impl Default for Change {
    fn default() -> Self {
        Self { melting: 20.0, freezing: 5.0, freezing_point: None, fewest: 2.0, fastest: 0.5, fading: 0.02 }
    }
}

impl Default for CrystalSettings {
    fn default() -> Self {
        Self { phase: Phase::Solid, support: 1.9, smoothing: 10.0, change: Change::default(), docking: None }
    }
}
