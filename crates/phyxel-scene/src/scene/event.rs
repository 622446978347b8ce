//! Events: changes of settings, and actions on bodies, at given times.

use crate::shape::Shape;
use glam::Vec3;
use phyxel::commands::{Setting, Target};

/// Event at a time.
#[derive(Clone, Debug)]
pub struct Event {
    /// Time, s.
    pub at: f64,
    /// Effect.
    pub action: Action,
}

/// Effect of an event. Names of bodies are those of the file: an action on a body applies to all its copies.
#[derive(Clone, Debug)]
pub enum Action {
    /// Changes settings.
    Set(Vec<(Target, Setting)>),
    /// Adds to the velocity of a body.
    Push {
        /// Name of a body.
        body: String,
        /// Region of the particles in the local frame at rest; `None` means all.
        region: Option<Shape>,
        /// Velocity change of every particle, m/s.
        velocity: Vec3,
    },
    /// Sets the temperature of particles.
    Warm {
        /// Name of a body.
        body: String,
        /// Region of the particles in the local frame at rest; `None` means all.
        region: Option<Shape>,
        /// Temperature in the scene's scale.
        temperature: f32,
    },
    /// Fixes or releases particles.
    Hold {
        /// Name of a body.
        body: String,
        /// Region of the particles in the local frame at rest; `None` means all.
        region: Option<Shape>,
        /// True fixes, false releases.
        on: bool,
    },
    /// Drags a particle by a spring-like force.
    Drag {
        /// Name of a body.
        body: String,
        /// Point of the local frame at rest, m; the nearest particle is dragged.
        point: Vec3,
        /// Target position, m.
        to: Vec3,
        /// Time constant of the approach, s.
        tau: f32,
        /// Largest force, N.
        limit: f32,
    },
    /// Ends the drag of a body.
    Release {
        /// Name of a body.
        body: String,
    },
    /// Cuts a body along a plane.
    Cut {
        /// Name of a body.
        body: String,
        /// Point of the plane in the local frame at rest, m.
        point: Vec3,
        /// Unit normal of the plane.
        normal: Vec3,
    },
    /// Removes a body.
    Remove {
        /// Name of a body.
        body: String,
    },
}
