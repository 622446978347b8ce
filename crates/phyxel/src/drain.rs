//! Drains, and the bounds of a world: where particles of crystals and fluids are taken away.

use crate::Real;
use crate::body::Pose;
use crate::collider::Collider;
use crate::error::WorldError;
use crate::frame::Amount;
use crate::obstacle::Geometry;
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// Takes particles of crystals and fluids away that are inside a form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drain {
    /// Unique name.
    pub name: String,
    /// Form in its own frame.
    pub geometry: Geometry,
    /// Where its own frame is in the world.
    pub pose: Pose,
    /// Names of the bodies it takes from; none means all of the model `crystal`.
    pub bodies: Vec<String>,
    /// Whether it works at the moment.
    pub active: bool,
}

impl Drain {
    /// Takes from all bodies.
    pub fn new(name: impl Into<String>, geometry: Geometry, pose: Pose) -> Self {
        Self { name: name.into(), geometry, pose, bodies: Vec::new(), active: true }
    }
}

/// A drain at work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outlet {
    pub drain: Drain,
    /// What it took so far.
    pub taken: Amount,
}

impl Outlet {
    /// Whether some of a ball (m) may be inside; a point is a ball of radius 0.
    pub fn reaches(&self, collider: &Collider, centre: Vec3, radius: Real) -> bool {
        collider.nearness(self.drain.pose.local_point(centre), radius).is_some()
    }
}

/// The room outside of which particles of crystals and fluids are taken away.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Smallest corner, m.
    pub min: Vec3,
    /// Largest corner, m.
    pub max: Vec3,
}

impl Bounds {
    /// The name under which reports count what left.
    pub const NAME: &'static str = "bounds";

    /// Whether a point is inside.
    pub fn holds(&self, point: Vec3) -> bool {
        point.cmpge(self.min).all() && point.cmple(self.max).all()
    }

    pub(crate) fn validate(&self) -> Result<(), WorldError> {
        let owner = || "the world".to_string();
        let Self { min, max } = *self;
        // Numbers that are none are not below others.
        WorldError::require(min.cmplt(max).all(), owner, "bounds", [min, max], "min below max along every axis")
    }
}
