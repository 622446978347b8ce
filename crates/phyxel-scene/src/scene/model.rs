//! Models of bodies and their settings as a scene file describes them.

use crate::tetra::TetraImport;
use phyxel::model::shape_matching::MatchingMode;
use phyxel::model::{ContinuumSettings, CrystalSettings, MassSpringSettings, ModelKind, TetraSettings};
use phyxel::store::Phase;
use std::sync::Arc;

/// Model of a body as a scene file names it.
///
/// `crystal` and `fluid` are one model of the engine: the same particles, which start solid or liquid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelName {
    /// Point-based continuum: phyxels.
    Continuum,
    /// Lattice-matched solids.
    Crystal,
    /// Incompressible fluids by smoothed particles.
    Fluid,
    /// Shape matching.
    ShapeMatching,
    /// Mass-spring lattices that melt into molecules.
    MassSpring,
    /// Tetrahedral finite elements.
    Tetra,
}

impl ModelName {
    /// Every model, in the order of the documentation.
    pub const ALL: [Self; 6] =
        [Self::Continuum, Self::Crystal, Self::Fluid, Self::ShapeMatching, Self::MassSpring, Self::Tetra];

    /// Name in scene files: the value of `model`, and the table of its settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fluid => "fluid",
            other => other.kind().name(),
        }
    }

    /// Model of the engine.
    pub fn kind(self) -> ModelKind {
        match self {
            Self::Continuum => ModelKind::Continuum,
            Self::Crystal | Self::Fluid => ModelKind::Crystal,
            Self::ShapeMatching => ModelKind::ShapeMatching,
            Self::MassSpring => ModelKind::MassSpring,
            Self::Tetra => ModelKind::Tetra,
        }
    }
}

/// Model of a body with its settings.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelDescription {
    /// Point-based continuum.
    Continuum(Box<ContinuumSettings>),
    /// Crystals and fluids; the phase of the settings is that at the start.
    Crystal(Box<CrystalSettings>),
    /// Shape matching.
    ShapeMatching {
        /// Modes of deformation of the goal shape.
        mode: MatchingMode,
        /// Fraction of the deformation that the goal shape follows, 0 to 1.
        beta: f32,
        /// Clusters of particles that are matched together.
        clusters: ClusterPlan,
        /// Overlap of neighbouring clusters, as a fraction of their size, 0 to 1.
        overlap: f32,
        /// Time constant of the relaxation towards the goal, s; `None` follows the material.
        tau: Option<f32>,
        /// Damping rate of non-rigid motion, 1/s; `None` follows the material.
        damping_rate: Option<f32>,
        /// True if the linear part of the goal preserves the volume.
        keep_volume: bool,
    },
    /// Mass-spring lattice that melts into molecules.
    MassSpring {
        /// Edges of the cells, m; the spacing along every axis if `None`.
        cell: Option<[f32; 3]>,
        /// All other settings; the cells are generated when the shape is filled.
        settings: Box<MassSpringSettings>,
    },
    /// Tetrahedral finite elements.
    Tetra {
        /// Imported mesh; `None` meshes the shape.
        mesh: Option<Arc<TetraImport>>,
        /// All other settings; the elements are generated when the body is built.
        settings: Box<TetraSettings>,
    },
}

impl ModelDescription {
    /// Model as the scene file names it.
    pub fn name(&self) -> ModelName {
        match self {
            Self::Continuum(_) => ModelName::Continuum,
            Self::Crystal(settings) if settings.phase == Phase::Fluid => ModelName::Fluid,
            Self::Crystal(_) => ModelName::Crystal,
            Self::ShapeMatching { .. } => ModelName::ShapeMatching,
            Self::MassSpring { .. } => ModelName::MassSpring,
            Self::Tetra { .. } => ModelName::Tetra,
        }
    }

    /// Model of the engine.
    pub fn kind(&self) -> ModelKind {
        self.name().kind()
    }
}

/// Division of the particles of a body into clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClusterPlan {
    /// Counts along x, y and z.
    Counts([u32; 3]),
    /// Count along the longest side; nearly cubical clusters along the others.
    Longest(u32),
    /// Cubes of about this edge, m.
    Size(f32),
}
