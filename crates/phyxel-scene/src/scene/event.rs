//! Things that happen at given times.

use crate::shape::Shape;
use glam::Vec3;
use phyxel::command::{Setting, Target};

/// Something that happens at a time.
#[derive(Clone, Debug)]
pub struct Event {
    /// s.
    pub at: f64,
    /// What happens.
    pub action: Action,
}

/// What happens. Names of bodies are those of the file: what happens to a body happens to all its copies.
#[derive(Clone, Debug)]
pub enum Action {
    /// Settings change.
    Set(Vec<(Target, Setting)>),
    /// A body gets faster.
    Push {
        /// Name of a body.
        body: String,
        /// Which particles, in the body's own frame at rest; `None` means all.
        region: Option<Shape>,
        /// Added to the velocity of every particle, m/s.
        velocity: Vec3,
    },
    /// Particles come to a temperature at once.
    Warm {
        /// Name of a body.
        body: String,
        /// Which particles, in the body's own frame at rest; `None` means all.
        region: Option<Shape>,
        /// In the scene's scale.
        temperature: f32,
    },
    /// Particles are held in place or let go.
    Hold {
        /// Name of a body.
        body: String,
        /// Which particles, in the body's own frame at rest; `None` means all.
        region: Option<Shape>,
        /// True holds, false lets go.
        on: bool,
    },
    /// A particle is pulled.
    Drag {
        /// Name of a body.
        body: String,
        /// The particle nearest to this point of the body's own frame at rest, m.
        point: Vec3,
        /// Where it is pulled to, m.
        to: Vec3,
        /// Time in which it would get there if nothing held it, s.
        tau: f32,
        /// Largest force, N.
        limit: f32,
    },
    /// The pull on a body ends.
    Release {
        /// Name of a body.
        body: String,
    },
    /// A body is parted along a plane.
    Cut {
        /// Name of a body.
        body: String,
        /// A point of the plane in the body's own frame at rest, m.
        point: Vec3,
        /// Across the plane, unit length.
        normal: Vec3,
    },
    /// A body goes.
    Remove {
        /// Name of a body.
        body: String,
    },
}
