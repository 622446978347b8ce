//! Bodies as a scene file describes them.

use crate::mesh::TriangleMesh;
use crate::sample::Sampler;
use crate::shape::{Placement, Shape};
use crate::tetra::Reading;
use glam::Vec3;
use phyxel::model::shape::ShapeMode;
use phyxel::model::{ContinuumSettings, CrystalSettings, ModelKind, SpringSettings, TetraSettings};
use phyxel::skin::Smooth;
use std::sync::Arc;

/// A body, or many of a kind.
#[derive(Clone, Debug)]
pub struct BodyDescription {
    /// Unique name; copies are numbered `name-1`, `name-2`, ...
    pub name: String,
    /// The model that moves it, with its settings.
    pub model: ModelDescription,
    /// Name of a material of the scene.
    pub material: String,
    /// Its form in its own frame; a fluid that an emitter pours in may have none, and tetrahedra from a file have their own.
    pub shape: Option<Shape>,
    /// Distance of its particles, m.
    pub spacing: f32,
    /// How its form is filled with particles.
    pub sampler: Sampler,
    /// Where its own frame is; the scale holds for form, held regions and skin, not for the spacing.
    pub place: Placement,
    /// How it is bent out of its rest shape at the start.
    pub deform: Vec<Deformation>,
    /// m/s.
    pub velocity: Vec3,
    /// Angular velocity about the origin of its own frame, rad/s.
    pub spin: Vec3,
    /// Temperature at the start, in the scene's scale.
    pub temperature: f32,
    /// Radius of the contact spheres, m; half the spacing if `None`, 0.3 of it for tetrahedra.
    pub radius: Option<f32>,
    /// How it is shown.
    pub skin: SkinDescription,
    /// Regions of its own frame whose particles do not move.
    pub held: Vec<Shape>,
    /// Whether its own particles collide with each other where they are not near at rest.
    pub self_contact: bool,
    /// How it is repeated; `None` for a single body.
    pub copies: Option<Copies>,
}

impl BodyDescription {
    /// Number of bodies it makes.
    pub fn count(&self) -> u64 {
        match &self.copies {
            None => 1,
            Some(Copies::Grid { counts, .. }) => counts.iter().map(|count| u64::from(*count)).product(),
            Some(Copies::Stack { count, .. } | Copies::Random { count, .. }) => u64::from(*count),
        }
    }

    /// Name of the body with a number, counted from 0.
    pub fn name_of(&self, number: u64) -> String {
        if self.copies.is_some() { format!("{}-{}", self.name, number + 1) } else { self.name.clone() }
    }

    /// Whether its tetrahedra melt into a body that another makes.
    pub fn melts_into(&self, other: &Self) -> bool {
        let ModelDescription::Tetra { settings, .. } = &self.model else { return false };
        settings.melts_into.as_ref().is_some_and(|name| other.makes(name))
    }

    /// Whether one of the bodies it makes has this name.
    pub fn makes(&self, name: &str) -> bool {
        if self.copies.is_none() {
            return self.name == name;
        }
        let number = name.strip_prefix(&self.name).and_then(|rest| rest.strip_prefix('-'));
        let plain = number.filter(|digits| !digits.starts_with('0') && digits.bytes().all(|it| it.is_ascii_digit()));
        plain.and_then(|digits| digits.parse().ok()).is_some_and(|number: u64| number >= 1 && number <= self.count())
    }
}

/// One of the 27 ways to bend a body: particles move along an axis by a product of their coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deformation {
    /// Axis along which particles move: 0, 1, 2 for x, y, z of the own frame.
    pub axis: usize,
    /// What they move by: x, y, z, xx, yy, zz, xy, yz, zx, each coordinate in half lengths of the body.
    pub by: usize,
    /// Largest way, in half lengths of the body's longest side.
    pub amount: f32,
}

impl Deformation {
    /// Names of the products, in the order of [`by`](Self::by).
    pub const PRODUCTS: [&str; 9] = ["x", "y", "z", "xx", "yy", "zz", "xy", "yz", "zx"];
}

/// How a body is repeated.
#[derive(Clone, Debug)]
pub enum Copies {
    /// In rows, columns and layers, the first at the body's place.
    Grid {
        /// Along x, y and z.
        counts: [u32; 3],
        /// Distances along x, y and z, m.
        step: Vec3,
        /// Largest random offset along each axis, m.
        jitter: f32,
    },
    /// One after the other, the first at the body's place.
    Stack {
        /// How many.
        count: u32,
        /// From one to the next, m.
        step: Vec3,
        /// Largest random offset along each axis, m.
        jitter: f32,
    },
    /// At random, as far as possible without touching each other.
    Random {
        /// How many.
        count: u32,
        /// Where the centres of the copies may be; a shape around the body's place.
        region: Box<Shape>,
        /// Whether each copy is turned at random.
        turn: bool,
    },
}

/// A model with its settings, as a file writes them.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelDescription {
    /// Phyxels.
    Continuum(Box<ContinuumSettings>),
    /// Crystals without stored neighbours, and fluids.
    Crystal(Box<CrystalSettings>),
    /// Shape matching.
    Shape {
        /// Kinds of deformation the goal shape follows.
        mode: ShapeMode,
        /// Part of the deformation that the goal shape follows, 0 to 1.
        beta: f32,
        /// Groups of particles that are matched together.
        clusters: ClusterPlan,
        /// How far a group reaches into its neighbour, as a part of its own size, 0 to 1.
        overlap: f32,
        /// Time constant of the pull, s; `None` follows the material.
        tau: Option<f32>,
        /// Rate at which motion that is not rigid dies away, 1/s; `None` follows the material.
        damping_rate: Option<f32>,
        /// Whether the linear part of the goal keeps the volume.
        keep_volume: bool,
    },
    /// Springs that melt into molecules.
    Spring {
        /// Edges of the cells, m; the spacing along every axis if `None`.
        cell: Option<[f32; 3]>,
        /// Everything else; its cells are found when the shape is filled.
        settings: Box<SpringSettings>,
    },
    /// Tetrahedra.
    Tetra {
        /// Those of a file; `None` cuts the shape into them.
        mesh: Option<Arc<Reading>>,
        /// Everything else; its elements are found when the body is made.
        settings: Box<TetraSettings>,
    },
}

impl ModelDescription {
    /// The model these settings are for.
    pub fn kind(&self) -> ModelKind {
        match self {
            Self::Continuum(_) => ModelKind::Continuum,
            Self::Crystal(_) => ModelKind::Crystal,
            Self::Shape { .. } => ModelKind::Shape,
            Self::Spring { .. } => ModelKind::Spring,
            Self::Tetra { .. } => ModelKind::Tetra,
        }
    }
}

/// How the particles of a body are grouped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClusterPlan {
    /// So many along x, y and z.
    Counts([u32; 3]),
    /// So many along the longest side, near-cubical ones along the others.
    Longest(u32),
    /// Cubes of about this edge, m.
    Size(f32),
}

/// How a body is shown.
#[derive(Clone, Debug, Default)]
pub enum SkinDescription {
    /// Its particles.
    #[default]
    Particles,
    /// A surface it carries along.
    Mesh {
        /// A mesh in the body's own frame; `None` takes the surface of its shape.
        mesh: Option<Arc<TriangleMesh>>,
        /// Details of the surface of a shape that is no mesh, m; half the spacing if `None`.
        cell: Option<f32>,
    },
    /// A surface around its particles, made anew for every frame.
    Isosurface {
        /// Edge of the cells it is looked for in, m; half the spacing if `None`.
        cell: Option<f32>,
        /// Rounds of smoothing; a usual number if `None`.
        smoothing: Option<u32>,
    },
    /// The outer faces of its tetrahedra.
    Faces,
    /// A finer and smoother surface from these.
    Smooth(Smooth),
    /// Points with normals, spread over a surface that it carries along.
    Surfels {
        /// A mesh in the body's own frame; `None` takes the surface of its shape.
        mesh: Option<Arc<TriangleMesh>>,
        /// Distance of the points: there is one to each square of this edge. Half the spacing of the particles if `None`, m.
        spacing: Option<f32>,
    },
}
