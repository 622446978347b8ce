//! Things that do not give way: fixed or moved by key frames, never pushed back.

use crate::Real;
use crate::body::Pose;
use crate::material::Friction;
use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The form of an obstacle, in its own frame; the y axis is the axis of round things.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Geometry {
    /// Everything below the plane through the origin; the unit normal points out of the obstacle.
    HalfSpace {
        /// Unit vector.
        normal: Vec3,
    },
    /// A box of this size, m.
    Box {
        /// Full lengths of the edges, m.
        size: Vec3,
    },
    /// A ball.
    Sphere {
        /// m.
        radius: Real,
    },
    /// A cylinder with round ends.
    Capsule {
        /// m.
        radius: Real,
        /// Length of the straight part, m.
        height: Real,
    },
    /// A cylinder.
    Cylinder {
        /// m.
        radius: Real,
        /// m.
        height: Real,
    },
    /// A cone, tip up.
    Cone {
        /// Of the base, m.
        radius: Real,
        /// m.
        height: Real,
    },
    /// A surface of triangles; inside is where the normals point away from.
    Mesh {
        /// m.
        positions: Arc<Vec<Vec3>>,
        /// Counter-clockwise seen from outside.
        triangles: Arc<Vec<[u32; 3]>>,
    },
    /// Signed distances on a grid, for forms made by addition and subtraction (funnels, moulds).
    Grid(Arc<DistanceGrid>),
}

/// Signed distances at the corners of cubical cells, negative inside; linear in between.
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

/// Where an obstacle is at a time; straight and even motion in between.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Key {
    /// s.
    pub time: f64,
    /// Place and orientation.
    pub pose: Pose,
}

/// An obstacle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Obstacle {
    /// Unique name.
    pub name: String,
    /// Form in its own frame.
    pub geometry: Geometry,
    /// Place, by time; one key for a fixed obstacle. Times rise strictly.
    pub keys: Vec<Key>,
    /// Friction against every body.
    pub friction: Friction,
    /// Part of the approach velocity that comes back after an impact, 0 to 1.
    pub restitution: Real,
    /// Largest pull per contact area before something lets go, Pa.
    pub stickiness: Real,
    /// Temperature in the scene's scale; `None` neither heats nor cools.
    pub temperature: Option<Real>,
    /// Heat it takes to warm it by a degree, J/K: its temperature then follows what flows. `None` keeps its temperature.
    pub heat_capacity: Option<Real>,
    /// Whether it is there at the moment.
    pub active: bool,
    /// Red, green, blue in 0..1.
    pub color: [Real; 3],
    /// Whether it is drawn.
    pub visible: bool,
}

impl Obstacle {
    /// A fixed obstacle with usual friction.
    pub fn new(name: impl Into<String>, geometry: Geometry, pose: Pose) -> Self {
        Self {
            name: name.into(),
            geometry,
            keys: vec![Key { time: 0.0, pose }],
            friction: Friction::default(),
            restitution: 0.0,
            stickiness: 0.0,
            temperature: None,
            heat_capacity: None,
            active: true,
            color: [0.55, 0.57, 0.6],
            visible: true,
        }
    }

    /// Place and orientation at a time.
    pub fn pose(&self, time: f64) -> Pose {
        let after = self.keys.partition_point(|key| key.time <= time);
        match (after.checked_sub(1).map(|i| &self.keys[i]), self.keys.get(after)) {
            (Some(a), Some(b)) => {
                let s = ((time - a.time) / (b.time - a.time)) as Real;
                Pose { at: a.pose.at.lerp(b.pose.at, s), turn: a.pose.turn.slerp(b.pose.turn, s) }
            }
            (Some(key), None) | (None, Some(key)) => key.pose,
            (None, None) => Pose::default(),
        }
    }
}
