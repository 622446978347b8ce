//! Models: the internal dynamics of bodies.
//!
//! One [`Model`] serves all bodies of its kind, so that many small bodies cost as little as one large one. A
//! model changes only the particles of its own bodies.

pub mod continuum;
pub mod crystal;
mod damping;
pub mod mass_spring;
pub mod shape_matching;
pub mod tetra;

use crate::Real;
use crate::body::{Body, BodyId};
use crate::commands::Setting;
use crate::contact::ContactContext;
use crate::frame::{FrameSkin, TetraReport};
use crate::heat::ConductionGraph;
use crate::material::Material;
use crate::step::StepContext;
use crate::store::{Particle, Particles, Rearrangement};
pub use continuum::{ContinuumModel, ContinuumSettings};
pub use crystal::{CrystalModel, CrystalSettings};
use glam::Vec3;
pub use mass_spring::{MassSpringModel, MassSpringSettings};
use serde::{Deserialize, Serialize};
pub use shape_matching::{ShapeMatchingModel, ShapeMatchingSettings};
use std::ops::Range;
use std::sync::Arc;
pub use tetra::{TetraModel, TetraSettings};

/// Rearrangement of the particle store, with the bodies it affects.
pub(crate) struct Moved<'a> {
    /// Map between old and new indices.
    pub order: &'a Rearrangement,
    /// Particle ranges of all bodies before it.
    pub old_ranges: &'a [Range<u32>],
    /// All bodies after it.
    pub bodies: &'a [Body],
    /// Inserted particles, in the order of the store.
    pub inserted: &'a [Particle],
}

/// Kind of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// Continuum mechanics by phyxels (meshless).
    Continuum,
    /// Lattice-matched crystals and SPH fluids.
    Crystal,
    /// Shape matching.
    ShapeMatching,
    /// Mass-spring lattices that melt into molecular fluids.
    MassSpring,
    /// Tetrahedral finite elements.
    Tetra,
}

impl ModelKind {
    /// All kinds, in the order of the documentation.
    pub const ALL: [Self; 5] = [Self::Continuum, Self::Crystal, Self::ShapeMatching, Self::MassSpring, Self::Tetra];

    /// Name in scene files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Continuum => "continuum",
            Self::Crystal => "crystal",
            Self::ShapeMatching => "shape_matching",
            Self::MassSpring => "mass_spring",
            Self::Tetra => "tetra",
        }
    }
}

/// Model settings of a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ModelSettings {
    /// Continuum mechanics by phyxels (meshless).
    Continuum(ContinuumSettings),
    /// Lattice-matched crystals and SPH fluids.
    Crystal(CrystalSettings),
    /// Shape matching.
    ShapeMatching(ShapeMatchingSettings),
    /// Mass-spring lattices that melt into molecular fluids.
    MassSpring(MassSpringSettings),
    /// Tetrahedral finite elements.
    Tetra(TetraSettings),
}

impl ModelSettings {
    /// Kind of the model.
    pub fn kind(&self) -> ModelKind {
        match self {
            Self::Continuum(_) => ModelKind::Continuum,
            Self::Crystal(_) => ModelKind::Crystal,
            Self::ShapeMatching(_) => ModelKind::ShapeMatching,
            Self::MassSpring(_) => ModelKind::MassSpring,
            Self::Tetra(_) => ModelKind::Tetra,
        }
    }
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

/// Model with all its bodies.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Model {
    /// Continuum mechanics by phyxels (meshless).
    Continuum(ContinuumModel),
    /// Lattice-matched crystals and SPH fluids.
    Crystal(CrystalModel),
    /// Shape matching.
    ShapeMatching(ShapeMatchingModel),
    /// Mass-spring lattices that melt into molecular fluids.
    MassSpring(MassSpringModel),
    /// Tetrahedral finite elements.
    Tetra(TetraModel),
}

impl Model {
    /// Model without bodies.
    pub(crate) fn new(kind: ModelKind) -> Self {
        match kind {
            ModelKind::Continuum => Self::Continuum(ContinuumModel::default()),
            ModelKind::Crystal => Self::Crystal(CrystalModel::default()),
            ModelKind::ShapeMatching => Self::ShapeMatching(ShapeMatchingModel::default()),
            ModelKind::MassSpring => Self::MassSpring(MassSpringModel::default()),
            ModelKind::Tetra => Self::Tetra(TetraModel::default()),
        }
    }

    /// Its kind.
    pub fn kind(&self) -> ModelKind {
        match self {
            Self::Continuum(_) => ModelKind::Continuum,
            Self::Crystal(_) => ModelKind::Crystal,
            Self::ShapeMatching(_) => ModelKind::ShapeMatching,
            Self::MassSpring(_) => ModelKind::MassSpring,
            Self::Tetra(_) => ModelKind::Tetra,
        }
    }

    /// Adds a body that is already in the world.
    pub(crate) fn add_body(&mut self, id: BodyId, body: &Body, particles: &Particles, settings: ModelSettings) {
        match (self, settings) {
            (Self::Continuum(model), ModelSettings::Continuum(settings)) => {
                model.add_body(id, body, particles, settings);
            }
            (Self::Crystal(model), ModelSettings::Crystal(settings)) => model.add_body(id, body, particles, settings),
            (Self::ShapeMatching(shape), ModelSettings::ShapeMatching(settings)) => {
                shape.add_body(id, body, particles, settings)
            }
            (Self::MassSpring(model), ModelSettings::MassSpring(settings)) => {
                model.add_body(id, body, particles, settings)
            }
            (Self::Tetra(tetra), ModelSettings::Tetra(settings)) => tetra.add_body(id, body, particles, settings),
            // The world selects the model by the kind of the settings.
            (
                Self::Continuum(_) | Self::Crystal(_) | Self::ShapeMatching(_) | Self::MassSpring(_) | Self::Tetra(_),
                _,
            ) => (),
        }
    }

    /// Removes a body.
    pub(crate) fn remove_body(&mut self, id: BodyId) {
        match self {
            Self::Continuum(model) => model.remove_body(id),
            Self::Crystal(model) => model.remove_body(id),
            // Its clusters are removed with their particles.
            Self::ShapeMatching(_) => (),
            Self::MassSpring(model) => model.remove_body(id),
            Self::Tetra(tetra) => tetra.remove_body(id),
        }
    }

    /// Applies a rearrangement of the particle store to its own columns.
    pub(crate) fn rearrange(&mut self, moved: &Moved) {
        match self {
            Self::Continuum(model) => model.invalidate(),
            Self::Crystal(model) => model.rearrange(moved),
            Self::ShapeMatching(shape) => shape.rearrange(moved.order),
            Self::MassSpring(model) => model.invalidate(),
            Self::Tetra(tetra) => tetra.rearrange(moved),
        }
    }

    /// Drops data derived from materials, settings and flags; [`prepare`](Self::prepare) rebuilds it.
    pub(crate) fn invalidate(&mut self) {
        match self {
            Self::Continuum(model) => model.invalidate(),
            Self::Crystal(model) => model.invalidate(),
            Self::ShapeMatching(shape) => shape.invalidate(),
            Self::MassSpring(model) => model.invalidate(),
            Self::Tetra(tetra) => tetra.invalidate(),
        }
    }

    /// Builds data derived from the description, if missing.
    pub(crate) fn prepare(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        match self {
            Self::Continuum(model) => model.prepare(bodies, materials, particles),
            Self::Crystal(model) => model.prepare(bodies, materials, particles),
            Self::ShapeMatching(shape) => shape.prepare(bodies, materials, particles),
            Self::MassSpring(model) => model.prepare(bodies, materials, particles),
            Self::Tetra(tetra) => tetra.prepare(bodies, materials, particles),
        }
    }

    /// Longest stable step, s.
    pub(crate) fn stable_step(&self) -> f64 {
        match self {
            Self::Continuum(model) => model.stable_step(),
            Self::Crystal(model) => model.stable_step(),
            Self::ShapeMatching(_) => f64::INFINITY,
            Self::MassSpring(model) => model.stable_step(),
            Self::Tetra(tetra) => tetra.stable_step(),
        }
    }

    /// Finds neighbours within its bodies.
    pub(crate) fn find_neighbours(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        match self {
            // Neighbours are those of the reference configuration.
            Self::Continuum(_) => (),
            Self::Crystal(model) => model.find_neighbours(particles),
            Self::ShapeMatching(_) => (),
            Self::MassSpring(model) => model.find_neighbours(bodies, materials, particles),
            // Neighbours are given by the elements.
            Self::Tetra(_) => (),
        }
    }

    /// Adds its internal forces to those of the step.
    pub(crate) fn exert_forces(
        &mut self,
        bodies: &[Body],
        materials: &[Material],
        particles: &mut Particles,
        context: &StepContext,
    ) {
        match self {
            Self::Continuum(model) => model.exert_forces(bodies, materials, particles, context),
            Self::Crystal(model) => model.exert_forces(particles, context),
            // Shape matching moves particles to goal positions and has no forces.
            Self::ShapeMatching(_) => (),
            Self::MassSpring(model) => model.exert_forces(bodies, materials, particles, context),
            Self::Tetra(tetra) => tetra.exert_forces(bodies, materials, particles, context),
        }
    }

    /// Integrates the velocities of its particles over the step, from the `previous` ones, forces, gravity
    /// and its own dynamics.
    pub(crate) fn advance_velocities(
        &mut self,
        bodies: &[Body],
        materials: &[Material],
        particles: &mut Particles,
        previous: &[Vec3],
        contacts: &ContactContext,
        context: &StepContext,
    ) {
        match self {
            Self::Continuum(model) => model.advance_velocities(bodies, materials, particles, previous, context),
            Self::Crystal(model) => model.advance_velocities(particles, previous, contacts, context),
            Self::ShapeMatching(shape) => shape.advance_velocities(particles, previous, context),
            Self::MassSpring(model) => model.advance_velocities(particles, previous, context),
            Self::Tetra(tetra) => tetra.advance_velocities((bodies, materials), particles, previous, contacts, context),
        }
    }

    /// Updates its state after contacts have changed velocities.
    pub(crate) fn update_after_contacts(&mut self, particles: &mut Particles) {
        if let Self::Tetra(tetra) = self {
            tetra.update_after_contacts(particles);
        }
    }

    /// Updates a conduction graph that changes from step to step.
    pub(crate) fn update_conduction(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        match self {
            Self::Continuum(_) => (),
            Self::Crystal(model) => model.update_conduction(bodies, materials, particles),
            // Its graph changes with the description only.
            Self::ShapeMatching(_) => (),
            Self::MassSpring(model) => model.update_conduction(bodies, materials, particles),
            // Its graph changes with the description only.
            Self::Tetra(_) => (),
        }
    }

    /// Conduction graph of its bodies, with exposed faces; `None` before it is prepared. A changed graph is a
    /// new `Arc`.
    pub(crate) fn conduction(&self) -> Option<&Arc<ConductionGraph>> {
        match self {
            Self::Continuum(model) => model.conduction(),
            Self::Crystal(model) => model.conduction(),
            Self::ShapeMatching(shape) => shape.conduction(),
            Self::MassSpring(model) => model.conduction(),
            Self::Tetra(tetra) => tetra.conduction(),
        }
    }

    /// Updates temperature-dependent properties.
    pub(crate) fn update_thermal_state(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        match self {
            Self::Continuum(model) => model.update_thermal_state(bodies, materials, particles),
            // It evaluates properties at the present temperature in every step.
            Self::Crystal(_) => (),
            Self::ShapeMatching(shape) => shape.update_thermal_state(bodies, materials, particles),
            // Springs evaluate the temperature with their forces.
            Self::MassSpring(_) => (),
            Self::Tetra(tetra) => tetra.update_thermal_state(bodies, materials, particles),
        }
    }

    /// Plastic flow and phase changes, with the heat they dissipate.
    pub(crate) fn change_phase(
        &mut self,
        bodies: &[Body],
        materials: &[Material],
        particles: &mut Particles,
        context: &StepContext,
    ) {
        match self {
            Self::Continuum(model) => model.change_phase(bodies, materials, particles),
            Self::Crystal(model) => model.change_phase(bodies, materials, particles, context),
            Self::ShapeMatching(shape) => shape.update_plasticity(particles, context),
            Self::MassSpring(model) => model.change_phase(bodies, materials, particles, context),
            // It yields with its forces, where the strain is known.
            Self::Tetra(_) => (),
        }
    }

    /// Changes a setting of a body. Returns false if it has no such setting.
    pub(crate) fn set(&mut self, id: BodyId, setting: &Setting) -> bool {
        match self {
            Self::Continuum(model) => model.set(id, setting),
            // Its settings are constant; those of its material may change.
            Self::Crystal(_) => false,
            Self::ShapeMatching(shape) => shape.set(id, setting),
            Self::MassSpring(model) => model.set(id, setting),
            Self::Tetra(tetra) => tetra.set(id, setting),
        }
    }

    /// Cuts a body along a plane in its rest frame.
    pub(crate) fn cut(&mut self, id: BodyId, point: Vec3, normal: Vec3, bodies: &[Body], particles: &Particles) {
        match self {
            Self::Continuum(_) | Self::Crystal(_) | Self::Tetra(_) => (),
            Self::ShapeMatching(shape) => shape.cut(id, point, normal, particles),
            Self::MassSpring(model) => model.cut(id, point, normal, bodies, particles),
        }
    }

    /// Summary of each of its bodies. Writes the strain of each of its particles.
    pub(crate) fn body_states(
        &self,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
        strain: &mut [Real],
    ) -> Vec<(BodyId, BodyState)> {
        match self {
            Self::Continuum(model) => model.body_states(bodies, materials, particles, strain),
            Self::Crystal(model) => model.body_states(bodies, materials, particles, strain),
            Self::ShapeMatching(shape) => shape.body_states(bodies, materials, particles, strain),
            Self::MassSpring(model) => model.body_states(bodies, materials, particles, strain),
            Self::Tetra(tetra) => tetra.body_states(bodies, materials, particles, strain),
        }
    }

    /// Skins of its bodies that carry one, given temperatures and strains of all particles. Skins without
    /// these attributes receive them by interpolation.
    pub(crate) fn skins(
        &self,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
        values: [&[Real]; 2],
    ) -> Vec<(BodyId, FrameSkin)> {
        match self {
            Self::Continuum(model) => model.skins(bodies, materials, particles),
            // Its neighbours change: skins are reconstructed from particles, not embedded.
            Self::Crystal(_) => Vec::new(),
            Self::ShapeMatching(shape) => shape.skins(bodies, materials, particles),
            // It melts: skins are reconstructed from particles, not embedded.
            Self::MassSpring(_) => Vec::new(),
            Self::Tetra(tetra) => tetra.skins(bodies, particles, values),
        }
    }
}
