//! Models of bodies and their settings as a scene file describes them.

use crate::import::tetra::TetraImport;
use phyxel::model::shape_matching::ShapeMatchingSettings;
use phyxel::model::{ContinuumSettings, CrystalSettings, MassSpringSettings, ModelKind, TetraSettings};
use phyxel::store::Phase;
use std::sync::Arc;

/// Model of a body with its settings.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelDescription {
    /// Point-based continuum.
    Continuum(Box<ContinuumSettings>),
    /// Crystals and fluids; the phase of the settings is that at the start.
    Crystal(Box<CrystalSettings>),
    /// Shape matching.
    ShapeMatching {
        /// Clusters of particles that are matched together.
        clusters: ClusterPlan,
        /// All other settings; the clusters are counted when the shape is filled.
        settings: Box<ShapeMatchingSettings>,
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
    /// Its kind.
    pub fn kind(&self) -> ModelKind {
        match self {
            Self::Continuum(_) => ModelKind::Continuum,
            Self::Crystal(settings) if settings.phase == Phase::Fluid => ModelKind::Fluid,
            Self::Crystal(_) => ModelKind::Crystal,
            Self::ShapeMatching { .. } => ModelKind::ShapeMatching,
            Self::MassSpring { .. } => ModelKind::MassSpring,
            Self::Tetra { .. } => ModelKind::Tetra,
        }
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

impl Default for ClusterPlan {
    fn default() -> Self {
        Self::Counts([1; 3])
    }
}
