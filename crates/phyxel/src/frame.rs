//! What a world shows of itself at one moment: everything a picture, a file or a report needs, and nothing
//! that leads back into the world.

use crate::Real;
use crate::body::Pose;
use crate::material::Finish;
use crate::model::ModelKind;
use crate::obstacle::Geometry;
use crate::particles::Phase;
use crate::surface::corner_normals;
use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A moment of a world.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Number of the frame; 0 is the start.
    pub index: u32,
    /// s.
    pub time: f64,
    /// Steps taken since the start.
    pub steps: u64,
    /// All particles.
    pub particles: FrameParticles,
    /// All bodies that are left, in the order of their birth.
    pub bodies: Vec<FrameBody>,
    /// All obstacles that are there.
    pub obstacles: Vec<FrameObstacle>,
    /// Sums over the world.
    pub totals: Totals,
}

/// Particles by column.
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
    /// Largest stretch or squeeze of the matter around it, without unit.
    pub strain: Vec<Real>,
    /// State of aggregation.
    pub phase: Vec<Phase>,
}

/// A body of a frame.
#[derive(Clone, Debug)]
pub struct FrameBody {
    /// What the report says of it, its name included.
    pub report: BodyReport,
    /// Name of its material.
    pub material: String,
    /// Red, green, blue in 0..1.
    pub color: [Real; 3],
    /// How light meets it.
    pub finish: Finish,
    /// Its run of the particle columns.
    pub particles: Range<usize>,
    /// Its skin, if it has one.
    pub skin: Option<FrameSkin>,
}

/// A surface of a frame: triangles between points, or a disc around each point.
#[derive(Clone, Debug)]
pub struct FrameSkin {
    /// m.
    pub positions: Vec<Vec3>,
    /// Unit vectors, outward.
    pub normals: Vec<Vec3>,
    /// m/s.
    pub velocities: Vec<Vec3>,
    /// In the scene's scale.
    pub temperatures: Vec<Real>,
    /// Largest stretch or squeeze of the matter below, without unit.
    pub strains: Vec<Real>,
    /// Counter-clockwise seen from outside; none for surfels.
    pub triangles: Arc<Vec<[u32; 3]>>,
    /// Of surfels, and of nothing else: two conjugate half diameters of the ellipse around each point. They need not be at
    /// right angles; the first turned to the second goes counter-clockwise seen from outside, m.
    pub axes: Vec<[Vec3; 2]>,
    /// Angle between faces from which on the edge between them is sharp, degrees; `None` where all is round.
    pub crease: Option<Real>,
    /// How the triangles hang together.
    pub topology: Topology,
}

impl FrameSkin {
    /// Where edges are sharp, the unit normals at the corners of each triangle, in its order; `None` where all is round and
    /// [`normals`](Self::normals) will do.
    pub fn corner_normals(&self) -> Option<Vec<[Vec3; 3]>> {
        self.crease.map(|angle| corner_normals(&self.positions, &self.triangles, angle))
    }
}

/// How a surface hangs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Whether every edge has exactly two triangles that run along it in opposite directions.
    pub closed: bool,
    /// Number of surfaces that do not hang together.
    pub pieces: u32,
    /// Number of handles, where the surface is closed and in one piece.
    pub genus: Option<i64>,
}

/// An obstacle of a frame.
#[derive(Clone, Debug)]
pub struct FrameObstacle {
    /// Unique name.
    pub name: String,
    /// Form in its own frame.
    pub geometry: Geometry,
    /// Place and orientation.
    pub pose: Pose,
    /// Red, green, blue in 0..1.
    pub color: [Real; 3],
    /// In the scene's scale; `None` for one that neither heats nor cools.
    pub temperature: Option<Real>,
    /// Whether it is drawn.
    pub visible: bool,
}

/// How many particles are in each state of aggregation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseCounts {
    /// Solid ones.
    pub solid: u64,
    /// Fluid ones.
    pub fluid: u64,
    /// Gaseous ones.
    pub gas: u64,
}

/// Energies, J.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Of motion.
    pub kinetic: f64,
    /// Stored in deformation.
    pub elastic: f64,
    /// Of height, counted from the origin.
    pub gravity: f64,
    /// Enthalpy of bodies and of obstacles that have a heat capacity, counted from temperature 0.
    pub heat: f64,
}

/// Matter that came or went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Amount {
    /// Particles.
    pub particles: u64,
    /// kg.
    pub mass: f64,
    /// Enthalpy, counted from temperature 0, J.
    pub heat: f64,
}

impl Amount {
    /// Adds so many particles of a mass (kg) and an enthalpy (J/kg) each.
    pub(crate) fn add(&mut self, particles: u64, mass: f64, enthalpy: f64) {
        let mass = particles as f64 * mass;
        *self =
            Self { particles: self.particles + particles, mass: self.mass + mass, heat: self.heat + mass * enthalpy };
    }
}

/// Matter that came or went since the start, all of it and by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exchanged {
    /// Particles.
    pub particles: u64,
    /// kg.
    pub mass: f64,
    /// Enthalpy, counted from temperature 0, J.
    pub heat: f64,
    /// By emitter, or by drain and `bounds`.
    pub by: BTreeMap<String, Amount>,
}

impl Exchanged {
    /// Adds up what names stand for.
    pub(crate) fn of<'a>(amounts: impl Iterator<Item = (&'a str, Amount)>) -> Self {
        let by: BTreeMap<String, Amount> = amounts.map(|(name, amount)| (name.to_string(), amount)).collect();
        let particles = by.values().map(|amount| amount.particles).sum();
        let (mass, heat) =
            by.values().fold((0.0, 0.0), |(mass, heat), amount| (mass + amount.mass, heat + amount.heat));
        Self { particles, mass, heat, by }
    }
}

/// Sums over the world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Particles by phase.
    pub particles: PhaseCounts,
    /// kg.
    pub mass: f64,
    /// kg m/s.
    pub momentum: [f64; 3],
    /// About the origin, kg m2/s.
    pub angular_momentum: [f64; 3],
    /// J.
    pub energy: Energy,
    /// Heat that came in over boundaries and from sources since the start, J.
    pub heat_in: f64,
    /// What emitters poured.
    pub emitted: Exchanged,
    /// What drains took and what left the bounds.
    pub removed: Exchanged,
    /// Heat at the start plus what came in, less what is there, relative to the larger.
    pub balance_error: f64,
}

/// Smallest, mean (by mass) and largest value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Smallest.
    pub min: f64,
    /// Mean by mass.
    pub mean: f64,
    /// Largest.
    pub max: f64,
}

/// What the report says of a body. Without particles, places, velocities and temperatures are no numbers (`null` in files).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyReport {
    /// Unique name.
    pub name: String,
    /// The model that moves it.
    pub model: ModelKind,
    /// Particles by phase.
    pub particles: PhaseCounts,
    /// Parts that hang together.
    pub pieces: u32,
    /// Centre of mass, m.
    pub centre: [f64; 3],
    /// Smallest and largest coordinates of its particles, m.
    pub bounds: [[f64; 3]; 2],
    /// Mean velocity by mass, m/s.
    pub velocity: [f64; 3],
    /// Temperature in the scene's scale.
    pub temperature: Span,
    /// Largest strain, without unit.
    pub strain_max: f64,
    /// Bonds broken since the start.
    pub broken: u64,
    /// Bonds made since the start.
    pub merged: u64,
    /// Rounds of the solver in a step, on the mean; for bodies that are stepped implicitly.
    pub solver_rounds: Option<f64>,
    /// Phyxels whose neighbours do not span space; for bodies of phyxels.
    pub degenerate: Option<u64>,
    /// Its tetrahedra; for bodies of them.
    pub tetrahedra: Option<TetraReport>,
    /// Its surface.
    pub skin: SkinReport,
}

/// What the report says of tetrahedra.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TetraReport {
    /// How many.
    pub count: u64,
    /// Smallest angle between two faces of one at rest, degrees; 70.5 in a regular one.
    pub least_angle: f64,
    /// Largest angle between two faces of one at rest, degrees.
    pub greatest_angle: f64,
    /// Those that are inside out at present.
    pub mirrored: u64,
    /// Part of them that the largest piece has.
    #[serde(default)]
    pub largest: f64,
}

/// What the report says of a surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkinReport {
    /// Kind of skin, as scene files write it.
    pub kind: String,
    /// Vertices.
    pub vertices: u64,
    /// Triangles.
    pub triangles: u64,
    /// Whether every edge has two faces; `None` without triangles.
    pub closed: Option<bool>,
    /// Number of surfaces that do not hang together; `None` without triangles.
    pub pieces: Option<u32>,
    /// Number of handles, for one closed piece.
    pub genus: Option<i64>,
    /// Enclosed volume, m3; `None` without triangles.
    pub volume: Option<f64>,
}
