//! Working memory of a step. May be dropped at any time; never part of a checkpoint.

use crate::collider::Collider;
use crate::contact::{BodyBounds, FaceTouch, Press, make_colliders};
use crate::drain::Outlet;
use crate::heat::{Layout, Shore};
use crate::obstacle::Obstacle;
use glam::Vec3;
use phyxel_laws::tetra::collide::Collider as Inside;

#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// Forms of the obstacles; empty until asked for.
    pub colliders: Vec<Option<Collider>>,
    /// Forms of the drains; empty until asked for.
    pub drains: Vec<Option<Collider>>,
    /// Boxes around the bodies at the start of the step.
    pub bounds: Vec<BodyBounds>,
    /// Whether nothing has moved or changed since the bodies were measured.
    pub measured: bool,
    /// Pairs of particles that may touch within the step.
    pub pairs: Vec<(u32, u32)>,
    /// Nodes of tetrahedra that are inside others.
    pub presses: Vec<Press>,
    /// Room of the search for these.
    pub inside: Inside,
    /// Particles of other models at faces of tetrahedra, or about to be.
    pub faces: Vec<FaceTouch>,
    /// Ways for heat from obstacles into particles.
    pub shores: Vec<Shore>,
    /// Ways for heat inside bodies, laid out; made anew when a model or a heating changes.
    pub heat: Layout,
    /// Positions at the start of the step, m.
    pub position_before: Vec<Vec3>,
    /// Velocities at the start of the step, m/s.
    pub velocity_before: Vec<Vec3>,
}

impl Scratch {
    /// Called when obstacles change.
    pub fn forget_obstacles(&mut self) {
        self.colliders.clear();
    }

    pub fn prepare_drains(&mut self, outlets: &[Outlet]) {
        if self.drains.len() != outlets.len() {
            self.drains = outlets.iter().map(|outlet| Collider::new(&outlet.drain.geometry)).collect();
        }
    }

    pub fn prepare_obstacles(&mut self, obstacles: &[Obstacle]) {
        if self.colliders.len() != obstacles.len() {
            self.colliders = make_colliders(obstacles);
        }
    }
}
