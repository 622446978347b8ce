//! Sinks of crystal and fluid particles: drains and the bounds of the world.

use crate::Real;
use crate::body::Pose;
use crate::error::WorldError;
use crate::frame::Amount;
use crate::geometry::Collider;
use crate::obstacle::Geometry;
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// Region in which particles of crystals and fluids are removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drain {
    /// Unique name.
    pub name: String,
    /// Shape in the local frame.
    pub geometry: Geometry,
    /// Pose of the local frame in the world.
    pub pose: Pose,
    /// Names of the affected bodies; empty means all crystals and fluids.
    pub bodies: Vec<String>,
    /// True while it removes particles.
    pub active: bool,
}

impl Drain {
    /// An active drain for all bodies.
    pub fn new(name: impl Into<String>, geometry: Geometry, pose: Pose) -> Self {
        Self { name: name.into(), geometry, pose, bodies: Vec::new(), active: true }
    }
}

/// Drain with its total.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DrainState {
    pub drain: Drain,
    /// Removed since the start.
    pub removed: Amount,
}

impl DrainState {
    /// Returns true if a ball (m) may overlap the drain. Exact for a point, a ball of radius 0.
    pub fn may_overlap(&self, collider: &Collider, centre: Vec3, radius: Real) -> bool {
        collider.signed_distance(self.drain.pose.inverse_transform_point(centre), radius).is_some()
    }
}

/// Axis-aligned box outside of which particles of crystals and fluids are removed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Smallest corner, m.
    pub min: Vec3,
    /// Largest corner, m.
    pub max: Vec3,
}

impl Bounds {
    /// Name of the bounds among the drains of a report.
    pub const NAME: &'static str = "bounds";

    /// Returns true if a point is inside.
    pub fn contains(&self, point: Vec3) -> bool {
        point.cmpge(self.min).all() && point.cmple(self.max).all()
    }

    pub(crate) fn validate(&self) -> Result<(), WorldError> {
        let owner = || "the world".to_string();
        let Self { min, max } = *self;
        // False for NaN.
        WorldError::require(min.cmplt(max).all(), owner, "bounds", [min, max], "min below max along every axis")
    }
}
