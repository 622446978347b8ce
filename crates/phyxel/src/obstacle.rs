//! Obstacles: static or keyframed (kinematic) bodies of infinite mass.

use crate::Real;
use crate::body::Pose;
use crate::material::Friction;
use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Shape of an obstacle in its local frame. The y axis is the axis of revolution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Geometry {
    /// Half-space bounded by the plane through the origin.
    HalfSpace {
        /// Unit normal, out of the obstacle.
        normal: Vec3,
    },
    /// Box.
    Box {
        /// Edge lengths, m.
        size: Vec3,
    },
    /// Ball.
    Sphere {
        /// m.
        radius: Real,
    },
    /// Capsule: cylinder with hemispherical caps.
    Capsule {
        /// m.
        radius: Real,
        /// Length of the cylinder without the caps, m.
        height: Real,
    },
    /// Cylinder.
    Cylinder {
        /// m.
        radius: Real,
        /// m.
        height: Real,
    },
    /// Cone with the apex at +y.
    Cone {
        /// Radius of the base, m.
        radius: Real,
        /// m.
        height: Real,
    },
    /// Triangle mesh; the normals point outwards.
    Mesh {
        /// Vertices, m.
        positions: Arc<Vec<Vec3>>,
        /// Counter-clockwise seen from outside.
        triangles: Arc<Vec<[u32; 3]>>,
    },
    /// Signed distances on a grid, for constructive solid geometry (funnels, moulds).
    Grid(Arc<DistanceGrid>),
}

/// Signed distances at the corners of cubic cells, negative inside; trilinear in between.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DistanceGrid {
    /// Position of the first corner, m.
    pub origin: Vec3,
    /// Edge of a cell, m.
    pub cell: Real,
    /// Corners along each axis, at least two each.
    pub counts: [u32; 3],
    /// `counts` values, x fastest, m.
    pub values: Vec<Real>,
}

/// Pose of an obstacle at a time. Between keyframes the position is linear and the rotation spherically
/// linear (slerp).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Keyframe {
    /// s.
    pub time: f64,
    /// Pose of the local frame in the world.
    pub pose: Pose,
}

/// An obstacle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Obstacle {
    /// Unique name.
    pub name: String,
    /// Shape in the local frame.
    pub geometry: Geometry,
    /// Keyframes, in strictly increasing time; a single one for a static obstacle.
    pub keyframes: Vec<Keyframe>,
    /// Friction against all bodies.
    pub friction: Friction,
    /// Coefficient of restitution, 0 to 1.
    pub restitution: Real,
    /// Adhesion: maximum tensile contact stress, Pa.
    pub adhesion: Real,
    /// Temperature in the scene's scale; `None` exchanges no heat.
    pub temperature: Option<Real>,
    /// Heat capacity, J/K; `None` keeps the temperature constant.
    pub heat_capacity: Option<Real>,
    /// True while it exists for contact and heat.
    pub active: bool,
    /// Red, green, blue in 0..1.
    pub color: [Real; 3],
    /// True if it is rendered.
    pub visible: bool,
}

impl Obstacle {
    /// Static obstacle with default friction.
    pub fn new(name: impl Into<String>, geometry: Geometry, pose: Pose) -> Self {
        Self {
            name: name.into(),
            geometry,
            keyframes: vec![Keyframe { time: 0.0, pose }],
            friction: Friction::default(),
            restitution: 0.0,
            adhesion: 0.0,
            temperature: None,
            heat_capacity: None,
            active: true,
            color: [0.55, 0.57, 0.6],
            visible: true,
        }
    }

    /// Pose at a time (s).
    pub fn pose(&self, time: f64) -> Pose {
        let after = self.keyframes.partition_point(|keyframe| keyframe.time <= time);
        match (after.checked_sub(1).map(|i| &self.keyframes[i]), self.keyframes.get(after)) {
            (Some(a), Some(b)) => {
                let s = ((time - a.time) / (b.time - a.time)) as Real;
                Pose {
                    position: a.pose.position.lerp(b.pose.position, s),
                    rotation: a.pose.rotation.slerp(b.pose.rotation, s),
                }
            }
            (Some(keyframe), None) | (None, Some(keyframe)) => keyframe.pose,
            (None, None) => Pose::default(),
        }
    }
}
