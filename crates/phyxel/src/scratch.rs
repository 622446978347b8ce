//! Workspace of a step. It may be dropped at any time and is never part of a checkpoint.

use crate::contact::{BodyBounds, SphereTriangleContact, VertexFaceContact, make_colliders};
use crate::emission::DrainState;
use crate::geometry::Collider;
use crate::heat::{NetworkCache, ObstacleHeatLink};
use crate::model::ContactReactions;
use crate::obstacle::Obstacle;
use glam::Vec3;

/// Workspace of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// Colliders of the obstacles; empty until prepared.
    pub colliders: Vec<Option<Collider>>,
    /// Colliders of the drains; empty until prepared.
    pub drain_colliders: Vec<Option<Collider>>,
    /// Bounding boxes of the bodies at the start of the step.
    pub bounds: Vec<BodyBounds>,
    /// True if `bounds` is up to date.
    pub bounds_are_current: bool,
    /// Pairs of bodies with overlapping bounds at the start of the step.
    pub body_pairs: Vec<[u32; 2]>,
    /// Contact impulses of implicit solutions in this step.
    pub reactions: ContactReactions,
    /// Pairs of particles that may touch within the step.
    pub sphere_pairs: Vec<(u32, u32)>,
    /// Vertices of boundary meshes inside other meshes.
    pub vertex_face_contacts: Vec<VertexFaceContact>,
    /// Particles of other models that touch faces of boundary meshes, or may do so within the step.
    pub sphere_triangle_contacts: Vec<SphereTriangleContact>,
    /// Heat links between obstacles and particles.
    pub obstacle_heat_links: Vec<ObstacleHeatLink>,
    /// Conduction inside bodies; rebuilt when the graph of a model or a heating changes.
    pub heat_network: NetworkCache,
    /// Positions at the start of the step, m.
    pub previous_position: Vec<Vec3>,
    /// Velocities at the start of the step, m/s.
    pub previous_velocity: Vec<Vec3>,
}

impl Scratch {
    /// Drops the colliders of the obstacles, after a change of these.
    pub fn invalidate_colliders(&mut self) {
        self.colliders.clear();
    }

    /// Builds the colliders of the drains, if missing.
    pub fn prepare_drain_colliders(&mut self, drains: &[DrainState]) {
        if self.drain_colliders.len() != drains.len() {
            self.drain_colliders = drains.iter().map(|state| Collider::new(&state.drain.geometry)).collect();
        }
    }

    /// Builds the colliders of the obstacles, if missing.
    pub fn prepare_colliders(&mut self, obstacles: &[Obstacle]) {
        if self.colliders.len() != obstacles.len() {
            self.colliders = make_colliders(obstacles);
        }
    }
}
