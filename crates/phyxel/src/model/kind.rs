//! Kinds of models, and what the rest of the engine has to know of each.

use super::{continuum, crystal, mass_spring, shape_matching, tetra};
use serde::{Deserialize, Serialize};

/// Kind of the model of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// Continuum mechanics by phyxels (meshless).
    Continuum,
    /// Lattice-matched crystals.
    Crystal,
    /// Incompressible SPH fluids; the model of crystals computes both.
    Fluid,
    /// Shape matching.
    ShapeMatching,
    /// Mass-spring lattices that melt into molecular fluids.
    MassSpring,
    /// Tetrahedral finite elements.
    Tetra,
}

impl ModelKind {
    /// All kinds, in the order of the documentation.
    pub const ALL: [Self; 6] =
        [Self::Continuum, Self::Crystal, Self::Fluid, Self::ShapeMatching, Self::MassSpring, Self::Tetra];

    /// Name in scene files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Continuum => "continuum",
            Self::Crystal => "crystal",
            Self::Fluid => "fluid",
            Self::ShapeMatching => "shape_matching",
            Self::MassSpring => "mass_spring",
            Self::Tetra => "tetra",
        }
    }

    /// Properties of the model.
    pub(crate) fn traits(self) -> &'static ModelTraits {
        match self {
            Self::Continuum => &continuum::TRAITS,
            Self::Crystal | Self::Fluid => &crystal::TRAITS,
            Self::ShapeMatching => &shape_matching::TRAITS,
            Self::MassSpring => &mass_spring::TRAITS,
            Self::Tetra => &tetra::TRAITS,
        }
    }
}

/// Geometry that bodies touch others with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContactGeometry {
    /// A sphere around each particle.
    Spheres,
    /// A boundary mesh with the particles as vertices; the model finds its contacts.
    Mesh,
}

/// Repulsion between particles of one model that takes the place of contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnRepulsion {
    /// None: its particles touch.
    None,
    /// A pair potential, if one of two particles is molten.
    Molten,
    /// The pressure of all its particles.
    Pressure,
}

/// Properties of a model that contact, heat and commands depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModelTraits {
    pub geometry: ContactGeometry,
    pub own_repulsion: OwnRepulsion,
    /// True if solid particles lie on the surface of the body, not half a spacing inside.
    pub has_surface_particles: bool,
    /// True if emitters and drains add and remove its particles.
    pub exchanges_particles: bool,
    /// True if its bodies can be cut.
    pub can_be_cut: bool,
}

impl ModelTraits {
    /// Particles with contact spheres half a spacing inside the surface, of a body that stays whole.
    pub const SPHERES: Self = Self {
        geometry: ContactGeometry::Spheres,
        own_repulsion: OwnRepulsion::None,
        has_surface_particles: false,
        exchanges_particles: false,
        can_be_cut: false,
    };
}
