//! Meshless continuum: elastic, plastic and flowing material sampled by points (phyxels) with moving least
//! squares.
//!
//! After `[MKN04]`, with the corrections and choices of `docs/continuum.md`.

mod assembly;
mod cloud;
mod conduction;
mod derived;
mod implicit;
mod phase_change;
mod pressure;
mod report;
mod settings;
mod skin;
mod stability;
#[cfg(test)]
mod tests;
mod thermal;

pub use self::report::StepWork;
pub use self::settings::{ContinuumSettings, Integration};
pub use phyxel_laws::material::hooke::is_positive_definite;

use self::assembly::PhyxelArrays;
use self::cloud::mean_distances;
pub(crate) use self::cloud::{count_degenerate, phyxel_volumes};
use self::derived::DerivedContinuum;
use self::implicit::StepStart;
use self::skin::EmbeddedSkin;
use self::stability::{INITIAL_SEARCH, StabilityEstimate};
use crate::Real;
use crate::body::{Body, BodyId};
use crate::commands::Setting;
use crate::contact::ContactContext;
use crate::frame::FrameSkin;
use crate::heat::ConductionBlock;
use crate::material::Material;
use crate::model::{BodyModel, BodyState, ContactReactions, ModelTraits, Moved, View, ViewMut};
use crate::parallel;
use crate::step::StepContext;
use crate::store::{Flags, Particles};
use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Particles per task.
const GRAIN: usize = 1024;

/// A body of phyxels.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PhyxelBody {
    id: BodyId,
    settings: ContinuumSettings,
    /// Support radius of each phyxel, m.
    supports: Vec<Real>,
    /// Volumes, m3; empty before the material is known.
    volumes: Vec<Real>,
    /// Reference configuration, m; `None` while it is the rest shape.
    reference: Option<Vec<Vec3>>,
    /// Skin in the reference configuration; `None` while that is the rest shape.
    skin: Option<EmbeddedSkin>,
    /// Plastic strain in Voigt order; empty if there is none.
    plastic: Vec<[Real; 6]>,
    /// Square root of the largest stiffness over that at rest, as stretch and stress raise it.
    frequency_ratio: Real,
    /// Stability limit about the reference configuration; `None` before it is estimated.
    stability: Option<StabilityEstimate>,
    /// The choice of automatic integration, once made: true if implicit.
    implicit: Option<bool>,
    /// Implicit steps taken, and their solver iterations in total.
    solves: u64,
    iterations: u64,
}

/// All bodies of phyxels.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ContinuumModel {
    bodies: Vec<PhyxelBody>,
    /// Data derived from the description and the reference configurations.
    #[serde(skip)]
    derived: Option<Vec<DerivedContinuum>>,
}

/// Properties of the model.
pub(super) const TRAITS: ModelTraits = ModelTraits::SPHERES;

impl ContinuumModel {
    pub(crate) fn add_body(&mut self, id: BodyId, body: &Body, particles: &Particles, settings: ContinuumSettings) {
        let rest = &particles.rest[body.range()];
        let supports = mean_distances(rest, body.spacing).into_iter().map(|r| settings.support * r).collect();
        self.bodies.push(PhyxelBody {
            id,
            settings,
            supports,
            volumes: Vec::new(),
            reference: None,
            skin: None,
            plastic: Vec::new(),
            frequency_ratio: 1.0,
            stability: None,
            implicit: None,
            solves: 0,
            iterations: 0,
        });
        self.invalidate();
    }

    fn derive(&self, view: &View) -> Vec<DerivedContinuum> {
        let derive = |phyxels: &PhyxelBody| {
            let body = view.body(phyxels.id);
            phyxels.derive(body, view.material(phyxels.id), view.particles, INITIAL_SEARCH)
        };
        self.bodies.iter().map(derive).collect()
    }
}

impl BodyModel for ContinuumModel {
    fn remove_body(&mut self, id: BodyId) {
        self.bodies.retain(|body| body.id != id);
        self.invalidate();
    }

    fn invalidate(&mut self) {
        self.derived = None;
        self.bodies.iter_mut().for_each(|phyxels| (phyxels.stability, phyxels.implicit) = (None, None));
    }

    fn prepare(&mut self, view: &View) {
        if self.derived.is_some() {
            return;
        }
        for phyxels in &mut self.bodies {
            let body = view.body(phyxels.id);
            let density = view.material(phyxels.id).density;
            if phyxels.volumes.is_empty() {
                phyxels.volumes = view.particles.mass[body.range()].iter().map(|mass| mass / density).collect();
            }
        }
        let mut derived = self.derive(view);
        for (phyxels, derived) in self.bodies.iter_mut().zip(&mut derived) {
            derived.conduction = Some(Arc::new(phyxels.find_conduction(view)));
            (phyxels.stability, phyxels.implicit) = (Some(derived.stability), Some(derived.preconditioner.is_some()));
        }
        self.derived = Some(derived);
    }

    /// Longest stable step, s; requires [`prepare`](Self::prepare).
    fn stable_step(&self) -> f64 {
        let Some(derived) = &self.derived else { return f64::INFINITY };
        let steps = self.bodies.iter().zip(derived).map(|(phyxels, derived)| derived.stable_step(phyxels));
        steps.fold(f64::INFINITY, f64::min)
    }

    /// Adds elastic, damping and pressure forces, updates plastic strains, and records the heat of both
    /// dissipations.
    fn exert_forces(&mut self, view: &mut ViewMut, context: &StepContext) {
        let Some(derived) = self.derived.as_mut().filter(|derived| !derived.is_empty()) else { return };
        view.particles.force.resize(view.particles.mass.len(), Vec3::ZERO);
        for (phyxels, derived) in self.bodies.iter_mut().zip(derived) {
            let material = view.material(phyxels.id);
            let range = derived.range.clone();
            derived.phyxels.load_positions(&view.particles.position[range.clone()]);
            // Implicit steps take the damping forces at their end.
            let is_damped = derived.preconditioner.is_none() && derived.phyxels.is_damped();
            let velocities = is_damped.then_some(&view.particles.velocity[range.clone()]);
            phyxels.frequency_ratio =
                derived.phyxels.internal_forces(velocities, &mut view.particles.force[range.clone()]);
            let heat_factor = f64::from(material.heat.from_work.damping) * f64::from(context.dt);
            if heat_factor > 0.0 && is_damped {
                record_damping_heat(&derived.phyxels, range.clone(), view.particles, heat_factor);
            }
            if phyxels.is_flowing(material, &view.particles.enthalpy[range.clone()]) {
                derived.add_pressure_forces(view.particles);
            }
            phyxels.update_plasticity(&mut derived.phyxels, range, material, view.particles, context.dt);
        }
    }

    /// Advances velocities: `v += dt (g + f/m)`, or backward Euler.
    fn advance_velocities(
        &mut self,
        view: &mut ViewMut,
        previous: &[Vec3],
        _contacts: &ContactContext,
        context: &StepContext,
    ) -> ContactReactions {
        let Some(derived) = &mut self.derived else { return ContactReactions::default() };
        for (phyxels, derived) in self.bodies.iter_mut().zip(derived) {
            let material = view.material(phyxels.id);
            if derived.preconditioner.is_some() {
                derived.advance_implicitly(phyxels, material, view.particles, previous, context);
            } else {
                derived.advance_explicitly(view.particles, previous, context);
            }
        }
        ContactReactions::default()
    }

    fn rearrange(&mut self, _moved: &Moved) {
        self.invalidate();
    }

    fn conduction(&self) -> Vec<ConductionBlock> {
        let block = |derived: &DerivedContinuum| {
            let graph = derived.conduction.clone()?;
            Some(ConductionBlock { first: derived.range.start, graph })
        };
        self.derived.iter().flatten().filter_map(block).collect()
    }

    fn change_phase(&mut self, view: &mut ViewMut, _context: &StepContext) {
        self.change_phases(view);
    }

    fn update_thermal_state(&mut self, view: &View) {
        self.update_material_states(view);
    }

    fn set(&mut self, id: BodyId, setting: &Setting) -> bool {
        self.change_setting(id, setting)
    }

    fn body_states(&self, view: &View, strains: &mut [Real]) -> Vec<(BodyId, BodyState)> {
        self.summarise(view, strains)
    }

    fn skins(&self, view: &View, _values: [&[Real]; 2]) -> Vec<(BodyId, FrameSkin)> {
        self.embedded_skins(view)
    }
}

/// Adds the dissipated power times `heat_factor` (the fraction that becomes heat times the step, s) to the
/// heat made.
fn record_damping_heat(phyxels: &PhyxelArrays, range: Range<usize>, particles: &mut Particles, heat_factor: f64) {
    let heats = &mut particles.heat_made_mut()[range];
    heats.iter_mut().zip(phyxels.dissipation()).for_each(|(heat, power)| *heat += heat_factor * f64::from(power));
}

impl DerivedContinuum {
    fn advance_explicitly(&self, particles: &mut Particles, before: &[Vec3], context: &StepContext) {
        let Particles { velocity, force, mass, flags, .. } = particles;
        let start = self.range.start;
        parallel::for_each_chunk(&mut velocity[self.range.clone()], GRAIN, |first, velocities| {
            for (k, velocity) in velocities.iter_mut().enumerate() {
                let i = start + first + k;
                let velocity_change = context.gravity * context.dt + force[i] * (context.dt / mass[i]);
                *velocity = if flags[i].has(Flags::FIXED) { Vec3::ZERO } else { before[i] + velocity_change };
            }
        });
    }

    fn advance_implicitly(
        &mut self,
        phyxels: &mut PhyxelBody,
        material: &Material,
        particles: &mut Particles,
        before: &[Vec3],
        context: &StepContext,
    ) {
        let range = self.range.clone();
        let first = range.start;
        let Some(preconditioner) = &self.preconditioner else { return };
        let start = StepStart {
            velocities: &before[range.clone()],
            forces: &particles.force[range.clone()],
            masses: &particles.mass[range.clone()],
            gravity: context.gravity,
            dt: context.dt,
        };
        let is_fixed = |i: usize| particles.flags[first + i].has(Flags::FIXED);
        let (mut solution, iterations) = self.phyxels.solve(&start, preconditioner, is_fixed);
        solution.iter_mut().enumerate().filter(|(i, _)| is_fixed(*i)).for_each(|(_, velocity)| *velocity = Vec3::ZERO);
        phyxels.solves += 1;
        phyxels.iterations += u64::from(iterations);
        let heat_factor = f64::from(material.heat.from_work.damping) * f64::from(context.dt);
        if heat_factor > 0.0 && self.phyxels.is_damped() {
            self.phyxels.compute_dissipation(&solution);
            record_damping_heat(&self.phyxels, range.clone(), particles, heat_factor);
        }
        particles.velocity[range].copy_from_slice(&solution);
    }
}
