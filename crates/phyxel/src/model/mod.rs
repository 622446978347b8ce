//! Models: the internal dynamics of bodies.
//!
//! One value of each model serves all bodies of its kind, so that many small bodies cost as little as one large
//! one. A model changes only the particles of its own bodies. A model is a folder here, its type implements
//! `BodyModel`, and it has a line in `models!` below and a variant of [`ModelKind`].

mod body_model;
pub mod continuum;
pub mod crystal;
mod damping;
mod kind;
pub mod mass_spring;
pub mod shape_matching;
pub mod tetra;
mod view;

pub(crate) use body_model::{BodyModel, ContactReactions, CutPlane, Moved};
pub use continuum::{ContinuumModel, ContinuumSettings};
pub use crystal::{CrystalModel, CrystalSettings};
pub use kind::ModelKind;
pub(crate) use kind::{ContactGeometry, ModelTraits, OwnRepulsion};
pub use mass_spring::{MassSpringModel, MassSpringSettings};
pub use shape_matching::{ShapeMatchingModel, ShapeMatchingSettings};
pub use tetra::{TetraModel, TetraSettings};
pub(crate) use view::{View, ViewMut};

use crate::body::{Body, BodyId};
use crate::frame::TetraReport;
use crate::store::Particles;
use crate::world::World;
use serde::{Deserialize, Serialize};

/// Declares the settings of all models and the storage of their bodies.
macro_rules! models {
    ($($(#[$doc:meta])* $variant:ident($settings:ty), $field:ident: $model:ty;)*) => {
        /// Model settings of a body.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum ModelSettings {
            $($(#[$doc])* $variant($settings),)*
        }

        impl ModelSettings {
            /// Kind of the model.
            pub fn kind(&self) -> ModelKind {
                match self {
                    $(Self::$variant(settings) => settings.kind(),)*
                }
            }
        }

        /// All models, each with its bodies.
        #[derive(Clone, Debug, Default, Serialize, Deserialize)]
        pub struct Models {
            $($(#[$doc])* pub $field: $model,)*
        }

        impl Models {
            /// All models.
            pub(crate) fn each(&self) -> impl Iterator<Item = &dyn BodyModel> {
                let models: [&dyn BodyModel; _] = [$(&self.$field,)*];
                models.into_iter()
            }

            /// All models, mutably.
            pub(crate) fn each_mut(&mut self) -> impl Iterator<Item = &mut dyn BodyModel> {
                let models: [&mut dyn BodyModel; _] = [$(&mut self.$field,)*];
                models.into_iter()
            }

            /// Adds a body that is already in the world to the model of its settings.
            pub(crate) fn add_body(&mut self, id: BodyId, body: &Body, particles: &Particles, settings: ModelSettings) {
                match settings {
                    $(ModelSettings::$variant(settings) => self.$field.add_body(id, body, particles, settings),)*
                }
            }

            /// Calls `act` with each model, which is taken out of the world for the call.
            pub(crate) fn visit_detached(world: &mut World, mut act: impl FnMut(&mut dyn BodyModel, &mut World)) {
                $(
                    let mut model = std::mem::take(&mut world.models.$field);
                    act(&mut model, world);
                    world.models.$field = model;
                )*
            }
        }
    };
}

models! {
    /// Continuum mechanics by phyxels (meshless).
    Continuum(ContinuumSettings), continuum: ContinuumModel;
    /// Lattice-matched crystals and SPH fluids.
    Crystal(CrystalSettings), crystal: CrystalModel;
    /// Shape matching.
    ShapeMatching(ShapeMatchingSettings), shape_matching: ShapeMatchingModel;
    /// Mass-spring lattices that melt into molecular fluids.
    MassSpring(MassSpringSettings), mass_spring: MassSpringModel;
    /// Tetrahedral finite elements.
    Tetra(TetraSettings), tetra: TetraModel;
}

/// Summary of a body by its model, for reports.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodyState {
    /// Strain energy, J.
    pub elastic_energy: f64,
    /// Largest strain, without unit.
    pub strain_max: f64,
    /// Number of connected components.
    pub pieces: u32,
    /// Bonds broken since the start.
    pub broken: u64,
    /// Bonds formed since the start.
    pub merged: u64,
    /// Mean number of solver iterations per step; for implicit integration.
    pub solver_iterations: Option<f64>,
    /// Phyxels with degenerate (rank-deficient) neighbourhoods; for bodies of phyxels.
    pub degenerate: Option<u64>,
    /// Mesh quality; for bodies of tetrahedra.
    pub tetrahedra: Option<TetraReport>,
}
