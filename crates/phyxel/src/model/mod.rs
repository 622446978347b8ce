//! The models: what moves the particles of a body from inside.
//!
//! One value of [`Model`] looks after all bodies of its kind, so that many small bodies cost as little as
//! one large one. A model touches only the particles of its own bodies.

pub mod continuum;
pub mod crystal;
mod gradients;
pub mod shape;
pub mod spring;
pub mod tetra;

use crate::Real;
use crate::body::{Body, BodyId};
use crate::command::Setting;
use crate::contact::Walls;
use crate::frame::{FrameSkin, TetraReport};
use crate::heat::Ways;
use crate::material::Material;
use crate::particles::{Particle, Particles, Rearrangement};
use crate::step::StepContext;
pub use continuum::{ContinuumModel, ContinuumSettings};
pub use crystal::{CrystalModel, CrystalSettings};
use glam::{DMat3, DVec3, Vec3};
use phyxel_laws::stiffness::bar_time_constant;
use serde::{Deserialize, Serialize};
pub use shape::{ShapeModel, ShapeSettings};
pub use spring::{SpringModel, SpringSettings};
use std::ops::Range;
use std::sync::Arc;
pub use tetra::{TetraModel, TetraSettings};

/// Particles that moved within the store, left it or joined it.
pub(crate) struct Moved<'a> {
    pub order: &'a Rearrangement,
    /// Runs of all bodies before.
    pub was: &'a [Range<u32>],
    /// All bodies, as they are now.
    pub bodies: &'a [Body],
    /// Those that joined, in the order of the store.
    pub newborn: &'a [Particle],
}

/// Name of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelKind {
    /// Phyxels.
    Continuum,
    /// Crystals without stored neighbours, and fluids.
    Crystal,
    /// Shape matching.
    Shape,
    /// Springs that melt into molecules.
    Spring,
    /// Tetrahedra.
    Tetra,
}

impl ModelKind {
    /// Every model, in the order of the documentation.
    pub const ALL: [Self; 5] = [Self::Continuum, Self::Crystal, Self::Shape, Self::Spring, Self::Tetra];

    /// As scene files and reports write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Continuum => "continuum",
            Self::Crystal => "crystal",
            Self::Shape => "shape",
            Self::Spring => "spring",
            Self::Tetra => "tetra",
        }
    }
}

/// Settings of one body for the model that moves it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ModelSettings {
    /// Phyxels.
    Continuum(ContinuumSettings),
    /// Crystals without stored neighbours, and fluids.
    Crystal(CrystalSettings),
    /// Shape matching.
    Shape(ShapeSettings),
    /// Springs that melt into molecules.
    Spring(SpringSettings),
    /// Tetrahedra.
    Tetra(TetraSettings),
}

impl ModelSettings {
    /// The model these settings are for.
    pub fn kind(&self) -> ModelKind {
        match self {
            Self::Continuum(_) => ModelKind::Continuum,
            Self::Crystal(_) => ModelKind::Crystal,
            Self::Shape(_) => ModelKind::Shape,
            Self::Spring(_) => ModelKind::Spring,
            Self::Tetra(_) => ModelKind::Tetra,
        }
    }
}

/// What models tell of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodyState {
    /// Energy of deformation, J.
    pub elastic: f64,
    /// Largest strain, without unit.
    pub strain_max: f64,
    /// Parts that hang together.
    pub pieces: u32,
    /// Bonds broken since the start.
    pub broken: u64,
    /// Bonds made since the start.
    pub merged: u64,
    /// Rounds of the solver in a step, on the mean; for bodies that are stepped implicitly.
    pub solver_rounds: Option<f64>,
    /// Phyxels whose neighbours do not span space; for bodies of phyxels.
    pub degenerate: Option<u64>,
    /// How good its tetrahedra are; for bodies of them.
    pub tetrahedra: Option<TetraReport>,
}

/// A model with all its bodies.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Model {
    /// Phyxels.
    Continuum(ContinuumModel),
    /// Crystals without stored neighbours, and fluids.
    Crystal(CrystalModel),
    /// Shape matching.
    Shape(ShapeModel),
    /// Springs that melt into molecules.
    Spring(SpringModel),
    /// Tetrahedra.
    Tetra(TetraModel),
}

impl Model {
    /// A model without bodies.
    pub(crate) fn new(kind: ModelKind) -> Self {
        match kind {
            ModelKind::Continuum => Self::Continuum(ContinuumModel::default()),
            ModelKind::Crystal => Self::Crystal(CrystalModel::default()),
            ModelKind::Shape => Self::Shape(ShapeModel::default()),
            ModelKind::Spring => Self::Spring(SpringModel::default()),
            ModelKind::Tetra => Self::Tetra(TetraModel::default()),
        }
    }

    /// Its name.
    pub fn kind(&self) -> ModelKind {
        match self {
            Self::Continuum(_) => ModelKind::Continuum,
            Self::Crystal(_) => ModelKind::Crystal,
            Self::Shape(_) => ModelKind::Shape,
            Self::Spring(_) => ModelKind::Spring,
            Self::Tetra(_) => ModelKind::Tetra,
        }
    }

    /// Takes over a body that has just been added to the world.
    pub(crate) fn add_body(&mut self, id: BodyId, body: &Body, particles: &Particles, settings: ModelSettings) {
        match (self, settings) {
            (Self::Continuum(model), ModelSettings::Continuum(settings)) => {
                model.add_body(id, body, particles, settings);
            }
            (Self::Crystal(model), ModelSettings::Crystal(settings)) => model.add_body(id, body, particles, settings),
            (Self::Shape(shape), ModelSettings::Shape(settings)) => shape.add_body(id, body, particles, settings),
            (Self::Spring(spring), ModelSettings::Spring(settings)) => spring.add_body(id, body, particles, settings),
            (Self::Tetra(tetra), ModelSettings::Tetra(settings)) => tetra.add_body(id, body, particles, settings),
            // The world chooses the model by the kind of the settings.
            (Self::Continuum(_) | Self::Crystal(_) | Self::Shape(_) | Self::Spring(_) | Self::Tetra(_), _) => (),
        }
    }

    /// Forgets a body that leaves the world.
    pub(crate) fn remove_body(&mut self, id: BodyId) {
        match self {
            Self::Continuum(model) => model.remove_body(id),
            Self::Crystal(model) => model.remove_body(id),
            // Its clusters go with their particles.
            Self::Shape(_) => (),
            Self::Spring(spring) => spring.remove_body(id),
            Self::Tetra(tetra) => tetra.remove_body(id),
        }
    }

    /// Follows particles that moved within the store, left it or joined it.
    pub(crate) fn rearrange(&mut self, moved: &Moved) {
        match self {
            Self::Continuum(model) => model.refresh(),
            Self::Crystal(model) => model.rearrange(moved),
            Self::Shape(shape) => shape.rearrange(moved.order),
            Self::Spring(spring) => spring.refresh(),
            Self::Tetra(tetra) => tetra.rearrange(moved),
        }
    }

    /// Forgets what was derived from materials, settings and marks; [`prepare`](Self::prepare) makes it anew.
    pub(crate) fn refresh(&mut self) {
        match self {
            Self::Continuum(model) => model.refresh(),
            Self::Crystal(model) => model.refresh(),
            Self::Shape(shape) => shape.refresh(),
            Self::Spring(spring) => spring.refresh(),
            Self::Tetra(tetra) => tetra.refresh(),
        }
    }

    /// Makes what is derived from the description, if it is missing.
    pub(crate) fn prepare(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        match self {
            Self::Continuum(model) => model.prepare(bodies, materials, particles),
            Self::Crystal(model) => model.prepare(bodies, materials, particles),
            Self::Shape(shape) => shape.prepare(bodies, materials, particles),
            Self::Spring(spring) => spring.prepare(bodies, materials, particles),
            Self::Tetra(tetra) => tetra.prepare(bodies, materials, particles),
        }
    }

    /// Longest step that is stable, s.
    pub(crate) fn stable_step(&self) -> f64 {
        match self {
            Self::Continuum(model) => model.stable_step(),
            Self::Crystal(model) => model.stable_step(),
            Self::Shape(_) => f64::INFINITY,
            Self::Spring(spring) => spring.stable_step(),
            Self::Tetra(tetra) => tetra.stable_step(),
        }
    }

    /// Looks for neighbours inside its bodies.
    pub(crate) fn find_neighbours(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        match self {
            // Neighbours are those of the reference shape.
            Self::Continuum(_) => (),
            Self::Crystal(model) => model.find_neighbours(particles),
            Self::Shape(_) => (),
            Self::Spring(spring) => spring.find_neighbours(bodies, materials, particles),
            // Neighbours are those of elements.
            Self::Tetra(_) => (),
        }
    }

    /// Adds its forces to those of the step.
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
            // Shape matching pulls to goals instead of pushing with forces.
            Self::Shape(_) => (),
            Self::Spring(spring) => spring.exert_forces(bodies, materials, particles, context),
            Self::Tetra(tetra) => tetra.exert_forces(bodies, materials, particles, context),
        }
    }

    /// Writes the velocities of its particles at the end of the step, from those `before`, forces, gravity and the
    /// model's own pull.
    pub(crate) fn advance_velocities(
        &mut self,
        bodies: &[Body],
        materials: &[Material],
        particles: &mut Particles,
        before: &[Vec3],
        walls: &Walls,
        context: &StepContext,
    ) {
        match self {
            Self::Continuum(model) => model.advance_velocities(bodies, materials, particles, before, context),
            Self::Crystal(model) => model.advance_velocities(particles, before, walls, context),
            Self::Shape(shape) => shape.advance_velocities(particles, before, context),
            Self::Spring(spring) => spring.advance_velocities(particles, before, context),
            Self::Tetra(tetra) => tetra.advance_velocities((bodies, materials), particles, before, walls, context),
        }
    }

    /// Follows what contacts have made of the velocities of its particles.
    pub(crate) fn follow_contacts(&mut self, particles: &mut Particles) {
        if let Self::Tetra(tetra) = self {
            tetra.follow_contacts(particles);
        }
    }

    /// Finds ways for heat that change from step to step.
    pub(crate) fn find_ways(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        match self {
            Self::Continuum(_) => (),
            Self::Crystal(model) => model.find_ways(bodies, materials, particles),
            // Its ways stay as long as the description.
            Self::Shape(_) => (),
            Self::Spring(spring) => spring.find_ways(bodies, materials, particles),
            // Its ways stay as long as the description.
            Self::Tetra(_) => (),
        }
    }

    /// Ways for heat inside its bodies, and the faces that its particles expose; `None` before it is prepared. The
    /// model makes new ones when they change.
    pub(crate) fn ways(&self) -> Option<&Arc<Ways>> {
        match self {
            Self::Continuum(model) => model.ways(),
            Self::Crystal(model) => model.ways(),
            Self::Shape(shape) => shape.ways(),
            Self::Spring(spring) => spring.ways(),
            Self::Tetra(tetra) => tetra.ways(),
        }
    }

    /// Lets what depends on temperature follow it.
    pub(crate) fn follow_temperature(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        match self {
            Self::Continuum(model) => model.follow_temperature(bodies, materials, particles),
            // Its matter is the same at every temperature.
            Self::Crystal(_) => (),
            Self::Shape(shape) => shape.follow_temperature(bodies, materials, particles),
            // Springs look at temperatures when they exert forces.
            Self::Spring(_) => (),
            Self::Tetra(tetra) => tetra.follow_temperature(bodies, materials, particles),
        }
    }

    /// Permanent deformation and changes of phase, and the heat they make.
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
            Self::Shape(shape) => shape.flow(particles, context),
            Self::Spring(spring) => spring.change_phase(bodies, materials, particles, context),
            // It yields where its strain is known, when it exerts forces.
            Self::Tetra(_) => (),
        }
    }

    /// Changes a setting of a body; false if it has no such setting.
    pub(crate) fn set(&mut self, id: BodyId, setting: &Setting) -> bool {
        match self {
            Self::Continuum(model) => model.set(id, setting),
            // Its settings stay; those of its material may change.
            Self::Crystal(_) => false,
            Self::Shape(shape) => shape.set(id, setting),
            Self::Spring(spring) => spring.set(id, setting),
            Self::Tetra(tetra) => tetra.set(id, setting),
        }
    }

    /// Parts a body along a plane in its own frame at rest.
    pub(crate) fn cut(&mut self, id: BodyId, point: Vec3, normal: Vec3, bodies: &[Body], particles: &Particles) {
        match self {
            Self::Continuum(_) | Self::Crystal(_) | Self::Tetra(_) => (),
            Self::Shape(shape) => shape.cut(id, point, normal, particles),
            Self::Spring(spring) => spring.cut(id, point, normal, bodies, particles),
        }
    }

    /// State of each of its bodies; writes the strain of each of its particles.
    pub(crate) fn states(
        &self,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
        strain: &mut [Real],
    ) -> Vec<(BodyId, BodyState)> {
        match self {
            Self::Continuum(model) => model.states(bodies, materials, particles, strain),
            Self::Crystal(model) => model.states(bodies, materials, particles, strain),
            Self::Shape(shape) => shape.states(bodies, materials, particles, strain),
            Self::Spring(spring) => spring.states(bodies, materials, particles, strain),
            Self::Tetra(tetra) => tetra.states(bodies, materials, particles, strain),
        }
    }

    /// Skins of those of its bodies that carry one, given temperatures and strains of all particles. Where the model does not carry these
    /// too, they are left to be filled in.
    pub(crate) fn skins(
        &self,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
        values: [&[Real]; 2],
    ) -> Vec<(BodyId, FrameSkin)> {
        match self {
            Self::Continuum(model) => model.skins(bodies, materials, particles),
            // Its neighbours change: skins are found around particles, never carried.
            Self::Crystal(_) => Vec::new(),
            Self::Shape(shape) => shape.skins(bodies, materials, particles),
            // They melt: their skins are found around particles, never carried.
            Self::Spring(_) => Vec::new(),
            Self::Tetra(tetra) => tetra.skins(bodies, particles, values),
        }
    }
}

/// Angular frequency of the slowest stretching of a bar as long as the body, 1/s.
fn slowest_swing(rest: &[Vec3], young: Real, density: Real) -> f64 {
    let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (min, max) = rest.iter().fold(start, |(min, max), &x| (min.min(x), max.max(x)));
    let length = (max - min).max_element();
    1.0 / f64::from(bar_time_constant(length, young, density)).max(1e-30)
}

/// Which of some things hang together.
struct Parts {
    parent: Vec<u32>,
}

impl Parts {
    /// So many that are each on their own.
    fn new(count: usize) -> Self {
        Self { parent: (0..count as u32).collect() }
    }

    fn unite(&mut self, pair: [u32; 2]) {
        let [a, b] = pair.map(|i| self.root(i));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    fn root(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            self.parent[i as usize] = self.parent[self.parent[i as usize] as usize];
            i = self.parent[i as usize];
        }
        i
    }

    /// Number of parts.
    fn count(&self) -> u32 {
        (0..self.parent.len() as u32).filter(|&i| self.parent[i as usize] == i).count() as u32
    }
}

/// Angular velocity of weighted arms and velocities, rad/s; 0 about an axis without extent.
fn angular_velocity(points: impl Iterator<Item = (f64, DVec3, DVec3)> + Clone) -> DVec3 {
    let momentum: DVec3 = points.clone().map(|(w, arm, v)| w * arm.cross(v)).sum();
    let (ease, size) = turning_ease(points.map(|(w, arm, _)| (w, arm)));
    ease * momentum / size
}

/// What turns weighted arms by angular momentum: a matrix over a number.
fn turning_ease(arms: impl Iterator<Item = (f64, DVec3)>) -> (DMat3, f64) {
    let (mut inertia, mut trace) = (DMat3::ZERO, 0.0);
    for (w, arm) in arms {
        let square = arm.length_squared();
        inertia +=
            w * (DMat3::from_diagonal(DVec3::splat(square)) - DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z));
        trace += w * square;
    }
    // A little stiffness keeps a line from spinning about itself, as in the kernel of clusters of shapes.
    let scaled = inertia * (1.0 / trace.max(f64::MIN_POSITIVE)) + DMat3::from_diagonal(DVec3::splat(1e-6));
    if trace > 0.0 && scaled.determinant() > 1e-9 { (scaled.inverse(), trace) } else { (DMat3::ZERO, 1.0) }
}
