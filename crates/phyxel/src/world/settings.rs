//! Settings of a world.

use crate::Real;
use crate::emission::Bounds;
use crate::error::WorldError;
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// Maximum number of iterations of the contact solver. More gain nothing.
pub const MAX_CONTACT_ITERATIONS: u32 = 1000;

/// Settings of the world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Gravity, m/s2; y is up.
    pub gravity: Vec3,
    /// Frames per second.
    pub frame_rate: f64,
    /// Fixed number of sub-steps per frame; `None` chooses the least that satisfies the stability and
    /// displacement limits.
    pub substeps: Option<u32>,
    /// Maximum time step, s.
    pub max_step: f64,
    /// Maximum number of sub-steps per frame when it is chosen automatically.
    pub max_substeps: u32,
    /// Iterations of the contact solver per step, at most [`MAX_CONTACT_ITERATIONS`].
    pub contact_iterations: u32,
    /// Thermal contact conductance between bodies, and between bodies and obstacles, W/(m2 K).
    pub contact_conductance: Real,
    /// Absolute zero in the scene's temperature scale.
    pub absolute_zero: Real,
    /// Box outside of which particles of crystals and fluids are removed; `None` is unbounded.
    pub bounds: Option<Bounds>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            gravity: Vec3::new(0.0, -9.81, 0.0),
            frame_rate: 30.0,
            substeps: None,
            max_step: 1.0 / 240.0,
            max_substeps: 1024,
            contact_iterations: 4,
            contact_conductance: 1000.0,
            absolute_zero: -273.15,
            bounds: None,
        }
    }
}

impl Settings {
    /// Validates the values.
    pub(crate) fn validate(&self) -> Result<(), WorldError> {
        let owner = || "the world".to_string();
        let positive = |x: f64| x.is_finite() && x > 0.0;
        WorldError::require(self.gravity.is_finite(), owner, "gravity", self.gravity, "finite")?;
        WorldError::require(positive(self.frame_rate), owner, "frame_rate", self.frame_rate, "positive")?;
        WorldError::require(positive(self.max_step), owner, "max_step", self.max_step, "positive")?;
        let conductance = self.contact_conductance;
        WorldError::require(
            conductance.is_finite() && conductance >= 0.0,
            owner,
            "contact_conductance",
            conductance,
            "at least 0",
        )?;
        let zero = self.absolute_zero;
        WorldError::require(zero.is_finite(), owner, "absolute_zero", zero, "finite")?;
        WorldError::require(self.substeps != Some(0), owner, "substeps", 0, "at least 1")?;
        WorldError::require(self.max_substeps > 0, owner, "max_substeps", 0, "at least 1")?;
        let iterations = self.contact_iterations;
        WorldError::require(
            iterations <= MAX_CONTACT_ITERATIONS,
            owner,
            "contact_iterations",
            iterations,
            "at most 1000",
        )?;
        self.bounds.map_or(Ok(()), |bounds| bounds.validate())
    }
}
