//! Obstacles as a scene file describes them.

use crate::shape::{Placement, Shape};
use phyxel::body::Pose;
use phyxel::material::Friction;

/// Obstacle.
#[derive(Clone, Debug)]
pub struct ObstacleDescription {
    /// Unique name.
    pub name: String,
    /// Shape in the local frame.
    pub shape: Shape,
    /// Placement of the local frame of a static obstacle, and the scale.
    pub place: Placement,
    /// Keyframes of the local frame; empty for a static obstacle.
    pub keyframes: Vec<PoseKeyframe>,
    /// Cell of the distance grid of a combined shape, m; a 64th of its longest side if `None`.
    pub cell: Option<f32>,
    /// Friction coefficients against every body.
    pub friction: Friction,
    /// Coefficient of restitution, 0 to 1.
    pub restitution: f32,
    /// Adhesion: largest tension per contact area, Pa.
    pub adhesion: f32,
    /// Temperature in the scene's scale; adiabatic if `None`.
    pub temperature: Option<f32>,
    /// Heat capacity, J/K; `None` keeps its temperature.
    pub heat_capacity: Option<f32>,
    /// True if it is present at the start.
    pub active: bool,
    /// Red, green, blue in 0..1; the default of the engine if `None`.
    pub color: Option<[f32; 3]>,
    /// True if it is drawn.
    pub visible: bool,
}

/// Keyframe of the motion of an obstacle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseKeyframe {
    /// Time, s.
    pub time: f64,
    /// Pose of the local frame.
    pub pose: Pose,
}
