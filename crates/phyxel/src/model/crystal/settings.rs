//! Settings of a body of crystal or fluid.

use crate::Real;
use crate::model::ModelKind;
use crate::store::Phase;
use phyxel_laws::lattice::DockingLaw;
use serde::{Deserialize, Serialize};

/// Settings of one body of crystal or fluid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrystalSettings {
    /// Phase at the start: solid or fluid.
    pub phase: Phase,
    /// Support of lattice matching, in particle spacings: 1.9 for 42 neighbours, 1.5 for 18.
    pub support: Real,
    /// Rate at which the velocity of a fluid particle relaxes to that of its neighbours, 1/s (`[Mon89]`).
    pub smoothing: Real,
    /// Melting and freezing, if the material has a melting point.
    pub change: PhaseChangeSettings,
    /// Docking of neighbours. `None`: the default where the material has a strength, off where it has none.
    pub docking: Option<Docking>,
}

/// Docking of neighbours to lattice sites (`[WHP06]` section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Docking {
    /// Largest rate at which a vacant site docks a neighbour, 1/s.
    pub rate: Real,
    /// Rise of the rate of an occupied site and fall of that of a vacant one, 1/s2. A site with rate 0 is a
    /// crack.
    pub decay: Real,
}

impl Default for Docking {
    /// A neighbour is docked within 0.01 s, less than a frame. A site that is vacant for 0.1 s, a few frames,
    /// is a surface.
    fn default() -> Self {
        Self { rate: 100.0, decay: 1000.0 }
    }
}

impl From<Docking> for DockingLaw {
    fn from(Docking { rate, decay }: Docking) -> Self {
        Self { max_rate: rate, decay }
    }
}

/// Melting and freezing (`[WHP06]` eqs. 15 and 16).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseChangeSettings {
    /// Rate of melting per degree above the melting point, 1/(s K).
    pub melting: Real,
    /// Rate of freezing per degree below the freezing point and per solid neighbour beyond `min_neighbours`,
    /// 1/(s K).
    pub freezing: Real,
    /// Freezing point, in the scene's temperature scale; the melting point of the material if `None`.
    pub freezing_point: Option<Real>,
    /// Freezing needs more solid neighbours than this; below 0, freezing is spontaneous.
    pub min_neighbours: Real,
    /// Speed relative to the solid above which the rate of freezing falls, m/s.
    pub max_speed: Real,
    /// Time within which lattice forces fade in and out, s.
    pub fade_time: Real,
}

impl Default for PhaseChangeSettings {
    fn default() -> Self {
        Self {
            melting: 20.0,
            freezing: 5.0,
            freezing_point: None,
            min_neighbours: 2.0,
            max_speed: 0.5,
            fade_time: 0.02,
        }
    }
}

impl Default for CrystalSettings {
    fn default() -> Self {
        Self {
            phase: Phase::Solid,
            support: 1.9,
            smoothing: 10.0,
            change: PhaseChangeSettings::default(),
            docking: None,
        }
    }
}

impl CrystalSettings {
    /// Kind of the model: a body that starts as a solid is a crystal, others are fluids.
    pub(crate) fn kind(&self) -> ModelKind {
        match self.phase {
            Phase::Solid => ModelKind::Crystal,
            Phase::Fluid | Phase::Gas => ModelKind::Fluid,
        }
    }
}
