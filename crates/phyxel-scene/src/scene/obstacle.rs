//! Obstacles as a scene file describes them.

use crate::shape::{Placement, Shape};
use phyxel::body::Pose;
use phyxel::material::Friction;

/// An obstacle.
#[derive(Clone, Debug)]
pub struct ObstacleDescription {
    /// Unique name.
    pub name: String,
    /// Its form in its own frame.
    pub shape: Shape,
    /// Where its own frame is, if it does not move, and its scale.
    pub place: Placement,
    /// Where its own frame is by time; empty for an obstacle that does not move.
    pub keys: Vec<PlaceKey>,
    /// Edge of the cells on which a combined shape is sampled, m; a 64th of its longest side if `None`.
    pub cell: Option<f32>,
    /// Friction against every body.
    pub friction: Friction,
    /// Part of the approach velocity that comes back after an impact, 0 to 1.
    pub restitution: f32,
    /// Largest pull per contact area before something lets go, Pa.
    pub stickiness: f32,
    /// Temperature in the scene's scale; `None` neither heats nor cools.
    pub temperature: Option<f32>,
    /// Heat it takes to warm it by a degree, J/K; `None` keeps its temperature.
    pub heat_capacity: Option<f32>,
    /// Whether it is there at the start.
    pub active: bool,
    /// Red, green, blue in 0..1; `None` leaves it to the engine.
    pub color: Option<[f32; 3]>,
    /// Whether it is drawn.
    pub visible: bool,
}

/// Where an obstacle is at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaceKey {
    /// s.
    pub time: f64,
    /// Place and orientation of its own frame.
    pub pose: Pose,
}
