//! Frames: the output of a world at one moment, for pictures, files and reports. Nothing in a frame refers
//! back to the world.

mod build;
mod report;

pub use report::{Amount, BodyReport, Energy, Exchanged, PhaseCounts, SkinReport, Span, TetraReport, Totals};

use crate::Real;
use crate::body::Pose;
use crate::geometry::corner_normals;
use crate::material::Finish;
use crate::obstacle::Geometry;
use crate::store::Phase;
use glam::Vec3;
use std::ops::Range;
use std::sync::Arc;

/// State of a world at one moment.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Index; 0 is the initial state.
    pub index: u32,
    /// Time, s.
    pub time: f64,
    /// Steps taken since the start.
    pub steps: u64,
    /// All particles.
    pub particles: FrameParticles,
    /// All bodies except removed ones, in the order of their creation.
    pub bodies: Vec<FrameBody>,
    /// All active obstacles.
    pub obstacles: Vec<FrameObstacle>,
    /// Totals of the world.
    pub totals: Totals,
}

/// Particles, as columns.
#[derive(Clone, Debug, Default)]
pub struct FrameParticles {
    /// m.
    pub position: Vec<Vec3>,
    /// m/s.
    pub velocity: Vec<Vec3>,
    /// m.
    pub radius: Vec<Real>,
    /// kg.
    pub mass: Vec<Real>,
    /// In the scene's scale.
    pub temperature: Vec<Real>,
    /// Largest absolute principal strain, without unit.
    pub strain: Vec<Real>,
    /// State of aggregation.
    pub phase: Vec<Phase>,
}

/// A body of a frame.
#[derive(Clone, Debug)]
pub struct FrameBody {
    /// Report, including its name.
    pub report: BodyReport,
    /// Name of its material.
    pub material: String,
    /// Red, green, blue in 0..1.
    pub color: [Real; 3],
    /// Optical appearance.
    pub finish: Finish,
    /// Its range of the particle columns.
    pub particles: Range<usize>,
    /// Its skin, if it has one.
    pub skin: Option<FrameSkin>,
}

/// Surface of a body in a frame: a triangle mesh, or surfels.
#[derive(Clone, Debug)]
pub struct FrameSkin {
    /// m.
    pub positions: Vec<Vec3>,
    /// Outward unit normals.
    pub normals: Vec<Vec3>,
    /// m/s.
    pub velocities: Vec<Vec3>,
    /// In the scene's scale.
    pub temperatures: Vec<Real>,
    /// Largest absolute principal strain of the material below, without unit.
    pub strains: Vec<Real>,
    /// Vertex indices, counter-clockwise seen from outside; none for surfels.
    pub triangles: Arc<Vec<[u32; 3]>>,
    /// Conjugate semi-diameters of the ellipse of each surfel, m; empty for meshes. They need not be
    /// orthogonal; the rotation from the first to the second is counter-clockwise seen from outside.
    pub axes: Vec<[Vec3; 2]>,
    /// Crease angle, degrees: edges between faces at a larger angle are sharp. `None` is smooth everywhere.
    pub crease: Option<Real>,
    /// Topology of the mesh.
    pub topology: Topology,
}

impl FrameSkin {
    /// Unit normals at the corners of each triangle for a surface with creases; `None` if it is smooth and
    /// [`normals`](Self::normals) suffice.
    pub fn corner_normals(&self) -> Option<Vec<[Vec3; 3]>> {
        self.crease.map(|angle| corner_normals(&self.positions, &self.triangles, angle))
    }
}

/// Topology of a triangle mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// True if every edge has exactly two triangles, with opposite orientation along it.
    pub closed: bool,
    /// Number of connected components.
    pub pieces: u32,
    /// Genus, if the surface is closed and connected.
    pub genus: Option<i64>,
}

/// An obstacle of a frame.
#[derive(Clone, Debug)]
pub struct FrameObstacle {
    /// Unique name.
    pub name: String,
    /// Shape in the local frame.
    pub geometry: Geometry,
    /// Pose of the local frame in the world.
    pub pose: Pose,
    /// Red, green, blue in 0..1.
    pub color: [Real; 3],
    /// In the scene's scale; `None` if it exchanges no heat.
    pub temperature: Option<Real>,
    /// True if it is rendered.
    pub visible: bool,
}
