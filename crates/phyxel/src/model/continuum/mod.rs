//! Phyxels: elastic, plastic and flowing matter sampled by points, each with a deformation of its own.
//!
//! After `[MKN04]`, with the corrections and choices of `docs/continuum.md`.

mod cloud;
mod field;
mod flow;
mod implicit;
mod settings;
mod skin;
mod state;
#[cfg(test)]
mod tests;
mod warmth;

pub use self::settings::{ContinuumSettings, Integration};
pub use self::state::Work;
pub use phyxel_laws::elastic::is_stable;

use self::cloud::{Cloud, mean_distances};
pub(crate) use self::cloud::{count_degenerate, volumes};
use self::field::Field;
use self::flow::Pressure;
use self::implicit::{Block, Start};
use self::skin::{Binding, Carried};
use crate::Real;
use crate::body::{Body, BodyId};
use crate::heat::{Ways, ways_at_rest};
use crate::material::Material;
use crate::model::slowest_swing;
use crate::parallel;
use crate::particles::{Flags, Particles};
use crate::step::StepContext;
use glam::Vec3;
use phyxel_laws::elastic::Hooke;
use phyxel_laws::phyxels::Matter;
use phyxel_laws::spring::stable_step;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Particles per task.
const GRAIN: usize = 1024;
/// Part of the limit of stability that a step may take.
const SAFETY: f64 = 0.8;
/// Largest damping of the fastest swing, as a part of critical damping; more would make steps short.
const MOST_DAMPING: f64 = 1.0;
/// Explicit steps shorter than this are too many, s: the body is stepped implicitly if it is free to choose.
const SHORTEST_EXPLICIT: f64 = 1e-4;

/// How the fastest motions of a body are looked for.
#[derive(Clone, Copy, Debug)]
struct Search {
    rounds: usize,
    /// What is found times this is surely fast enough.
    margin: f64,
}

/// For the first time, and again for a new reference shape.
const FIRST: Search = Search { rounds: 24, margin: 1.0 };
const AGAIN: Search = Search { rounds: 8, margin: 1.2 };

/// A body of phyxels.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Phyxels {
    id: BodyId,
    settings: ContinuumSettings,
    /// How far each feels its neighbours, m.
    supports: Vec<Real>,
    /// m3; none before the material is known.
    volumes: Vec<Real>,
    /// The reference shape, m; none while it is that at rest.
    reference: Option<Vec<Vec3>>,
    /// Skin in the reference shape; none while it is that at rest.
    skin: Option<Carried>,
    /// Plastic strain, six numbers; none if there is none.
    plastic: Vec<[Real; 6]>,
    /// How much stiffer than at rest it is at most, because it is stretched or stressed, as a root.
    stretch: Real,
    /// How fast it moves inside; none before it is measured.
    pace: Option<Pace>,
    /// Whether its steps are implicit, if it is free to choose and has chosen.
    implicit: Option<bool>,
    /// Implicit steps taken, and the rounds that they took.
    solves: u64,
    rounds: u64,
}

/// How fast a body moves inside, about its reference shape.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Pace {
    /// Square of the fastest swing, 1/s2.
    swing: f64,
    /// Fastest decay by damping, 1/s.
    braking: f64,
    /// Fastest decay by a viscosity of 1 Pa s, 1/(Pa s2).
    thinness: f64,
}

/// All bodies of phyxels.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ContinuumModel {
    bodies: Vec<Phyxels>,
    /// What follows from the description and the reference shapes.
    #[serde(skip)]
    derived: Option<Vec<Derived>>,
    /// Ways for heat of all bodies.
    #[serde(skip)]
    ways: Option<Arc<Ways>>,
}

/// What follows from the description of a body and its reference shape.
#[derive(Clone, Debug)]
struct Derived {
    range: Range<usize>,
    field: Field,
    pace: Pace,
    /// For steps that are implicit.
    guide: Option<Vec<Block>>,
    /// Of a body that may flow.
    pressure: Option<Pressure>,
    binding: Option<Binding>,
}

impl ContinuumModel {
    pub(crate) fn add_body(&mut self, id: BodyId, body: &Body, particles: &Particles, settings: ContinuumSettings) {
        let rest = &particles.rest[body.range()];
        let supports = mean_distances(rest, body.spacing).into_iter().map(|r| settings.support * r).collect();
        self.bodies.push(Phyxels {
            id,
            settings,
            supports,
            volumes: Vec::new(),
            reference: None,
            skin: None,
            plastic: Vec::new(),
            stretch: 1.0,
            pace: None,
            implicit: None,
            solves: 0,
            rounds: 0,
        });
        self.refresh();
    }

    pub(crate) fn remove_body(&mut self, id: BodyId) {
        self.bodies.retain(|body| body.id != id);
        self.refresh();
    }

    pub(crate) fn refresh(&mut self) {
        (self.derived, self.ways) = (None, None);
        self.bodies.iter_mut().for_each(|phyxels| (phyxels.pace, phyxels.implicit) = (None, None));
    }

    pub(crate) fn prepare(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        if self.derived.is_some() {
            return;
        }
        for phyxels in &mut self.bodies {
            let body = &bodies[phyxels.id.0 as usize];
            let density = materials[body.material.0 as usize].density;
            if phyxels.volumes.is_empty() {
                phyxels.volumes = particles.mass[body.range()].iter().map(|mass| mass / density).collect();
            }
        }
        let derived = self.derive(bodies, materials, particles);
        for (phyxels, derived) in self.bodies.iter_mut().zip(&derived) {
            (phyxels.pace, phyxels.implicit) = (Some(derived.pace), Some(derived.guide.is_some()));
        }
        self.derived = Some(derived);
        self.ways = Some(Arc::new(self.find_all_ways(bodies, materials, particles)));
    }

    fn derive(&self, bodies: &[Body], materials: &[Material], particles: &Particles) -> Vec<Derived> {
        let derive = |phyxels: &Phyxels| {
            let body = &bodies[phyxels.id.0 as usize];
            phyxels.derive(body, &materials[body.material.0 as usize], particles, FIRST)
        };
        self.bodies.iter().map(derive).collect()
    }

    fn find_all_ways(&self, bodies: &[Body], materials: &[Material], particles: &Particles) -> Ways {
        let mut all = Ways::default();
        for phyxels in &self.bodies {
            let body = &bodies[phyxels.id.0 as usize];
            let material = &materials[body.material.0 as usize];
            let everyone: Vec<u32> = body.particles.clone().collect();
            let mut ways = match &phyxels.reference {
                None => ways_at_rest(body, material, particles, &[&everyone]),
                Some(reference) => ways_of(body, material, particles, reference, &everyone),
            };
            all.links.append(&mut ways.links);
            all.faces.append(&mut ways.faces);
        }
        all
    }

    /// Ways for heat inside its bodies.
    pub(crate) fn ways(&self) -> Option<&Arc<Ways>> {
        self.ways.as_ref()
    }

    /// Longest stable step, s. Needs what [`prepare`](Self::prepare) makes.
    pub(crate) fn stable_step(&self) -> f64 {
        let Some(derived) = &self.derived else { return f64::INFINITY };
        let steps = self.bodies.iter().zip(derived).map(|(phyxels, derived)| derived.stable_step(phyxels));
        steps.fold(f64::INFINITY, f64::min)
    }

    /// Adds the forces of elasticity, damping and pressure, lets matter yield, and notes the heat that this makes.
    pub(crate) fn exert_forces(
        &mut self,
        bodies: &[Body],
        materials: &[Material],
        particles: &mut Particles,
        context: &StepContext,
    ) {
        let Some(derived) = &mut self.derived else { return };
        particles.force.resize(particles.mass.len(), Vec3::ZERO);
        for (phyxels, derived) in self.bodies.iter_mut().zip(derived) {
            let body = &bodies[phyxels.id.0 as usize];
            let material = &materials[body.material.0 as usize];
            let range = derived.range.clone();
            derived.field.place(&particles.position[range.clone()]);
            // Implicit steps brake with the velocities at their end.
            let brakes = derived.guide.is_none() && derived.field.is_damped();
            let velocities = brakes.then_some(&particles.velocity[range.clone()]);
            phyxels.stretch = derived.field.exert(velocities, &mut particles.force[range.clone()]);
            let part = f64::from(material.heat.from_work.damping) * f64::from(context.dt);
            if part > 0.0 && brakes {
                note_losses(&derived.field, range.clone(), particles, part);
            }
            if phyxels.is_flowing(material, &particles.enthalpy[range.clone()]) {
                derived.press(particles);
            }
            phyxels.yield_to_stress(&mut derived.field, range, material, particles, context.dt);
        }
    }

    /// `v += dt (g + f/m)`, or the solution for the end of the step.
    pub(crate) fn advance_velocities(
        &mut self,
        bodies: &[Body],
        materials: &[Material],
        particles: &mut Particles,
        before: &[Vec3],
        context: &StepContext,
    ) {
        let Some(derived) = &mut self.derived else { return };
        for (phyxels, derived) in self.bodies.iter_mut().zip(derived) {
            let material = &materials[bodies[phyxels.id.0 as usize].material.0 as usize];
            if derived.guide.is_some() {
                derived.advance_implicitly(phyxels, material, particles, before, context);
            } else {
                derived.advance_explicitly(particles, before, context);
            }
        }
    }
}

fn note_losses(field: &Field, range: Range<usize>, particles: &mut Particles, part: f64) {
    let made = &mut particles.make_heat()[range];
    made.iter_mut().zip(field.lost()).for_each(|(made, lost)| *made += part * f64::from(lost));
}

/// Ways of a body in a shape that is not that at rest.
fn ways_of(body: &Body, material: &Material, particles: &Particles, reference: &[Vec3], everyone: &[u32]) -> Ways {
    let mut shaped = Particles { rest: particles.rest.clone(), mass: particles.mass.clone(), ..Particles::default() };
    shaped.rest[body.range()].copy_from_slice(reference);
    ways_at_rest(body, material, &shaped, &[everyone])
}

impl Derived {
    fn stable_step(&self, phyxels: &Phyxels) -> f64 {
        let pressed = self.pressure.as_ref().map_or(0.0, |pressure| pressure.swing);
        if self.guide.is_some() {
            return if pressed > 0.0 { stable_step(pressed, 0.0, SAFETY) } else { f64::INFINITY };
        }
        let stretch = f64::from(phyxels.stretch);
        let thickest = self.field.states.iter().flat_map(|state| state.viscosity).fold(0.0, Real::max);
        let braking = self.pace.braking + f64::from(thickest) * self.pace.thinness;
        stable_step(self.pace.swing * stretch * stretch + pressed, braking, SAFETY)
    }

    fn advance_explicitly(&self, particles: &mut Particles, before: &[Vec3], context: &StepContext) {
        let Particles { velocity, force, mass, flags, .. } = particles;
        let start = self.range.start;
        parallel::for_each_chunk(&mut velocity[self.range.clone()], GRAIN, |first, velocities| {
            for (k, velocity) in velocities.iter_mut().enumerate() {
                let i = start + first + k;
                let pushed = context.gravity * context.dt + force[i] * (context.dt / mass[i]);
                *velocity = if flags[i].has(Flags::HELD) { Vec3::ZERO } else { before[i] + pushed };
            }
        });
    }

    fn advance_implicitly(
        &mut self,
        phyxels: &mut Phyxels,
        material: &Material,
        particles: &mut Particles,
        before: &[Vec3],
        context: &StepContext,
    ) {
        let range = self.range.clone();
        let first = range.start;
        let Some(guide) = &self.guide else { return };
        let start = Start {
            velocities: &before[range.clone()],
            forces: &particles.force[range.clone()],
            masses: &particles.mass[range.clone()],
            gravity: context.gravity,
            dt: context.dt,
        };
        let held = |i: usize| particles.flags[first + i].has(Flags::HELD);
        let (mut solution, rounds) = self.field.solve(&start, guide, held);
        solution.iter_mut().enumerate().filter(|(i, _)| held(*i)).for_each(|(_, velocity)| *velocity = Vec3::ZERO);
        phyxels.solves += 1;
        phyxels.rounds += u64::from(rounds);
        let part = f64::from(material.heat.from_work.damping) * f64::from(context.dt);
        if part > 0.0 && self.field.is_damped() {
            self.field.brake(&solution);
            note_losses(&self.field, range.clone(), particles, part);
        }
        particles.velocity[range].copy_from_slice(&solution);
    }
}

impl Phyxels {
    /// The fastest motions are looked for where they are not known.
    fn derive(&self, body: &Body, material: &Material, particles: &Particles, search: Search) -> Derived {
        let Search { rounds, margin } = search;
        let range = body.range();
        let rest = &particles.rest[range.clone()];
        let reference = self.reference.as_deref().unwrap_or(rest);
        let masses = &particles.mass[range.clone()];
        let young = material.stiffest();
        let matter = Matter {
            hooke: match &self.settings.stiffness {
                Some(stiffness) => Hooke::Anisotropic(**stiffness),
                None => Hooke::isotropic(young, material.poisson_ratio),
            },
            bulk: self.settings.volume * young,
            hourglass: self.settings.hourglass * young,
            damping: 0.0,
        };
        let volumes: Vec<Real> = if self.volumes.is_empty() {
            masses.iter().map(|mass| mass / material.density).collect()
        } else {
            self.volumes.clone()
        };
        let mut field = Field::new(Cloud::new(reference, &self.supports, &volumes), matter);
        // What is molten has no stiffness and makes no swing fast.
        field.states = self.find_states(&field.cloud, body, material, &particles.enthalpy[range.clone()]);
        let known = self.pace;
        let swing = known.map_or_else(|| margin * field.fastest_swing(masses, rounds), |pace| pace.swing);
        let asked = 2.0 * f64::from(material.damping) / slowest_swing(rest, young, material.density);
        let most = 2.0 * MOST_DAMPING / swing.sqrt().max(1e-30);
        // Stiffness times this is the damping: the slowest swing then has the damping that is asked for.
        field.matter.damping = (asked.min(most) * f64::from(young)) as Real;
        let braking =
            known.map_or_else(|| margin * field.fastest_decay(reference, masses, rounds), |pace| pace.braking);
        let explicit = stable_step(swing, braking, SAFETY);
        let implicit = match self.settings.integration {
            Integration::Auto => self.implicit.unwrap_or(explicit < SHORTEST_EXPLICIT),
            Integration::Explicit => false,
            Integration::Implicit => true,
        };
        let melts = material.heat.melting.is_some();
        let thinness = known.map_or_else(
            || if melts { margin * field.thinness(reference, masses, rounds) } else { 0.0 },
            |pace| pace.thinness,
        );
        let pace = Pace { swing, braking, thinness };
        field.notes = implicit || self.may_yield(material);
        let guide = implicit.then(|| field.find_blocks());
        let pressure = self.may_flow(material).then(|| Pressure::new(rest, &self.supports, masses, material));
        let binding = Binding::of_skin(&body.skin, self.skin.as_ref(), reference, &self.supports);
        Derived { range, field, pace, guide, pressure, binding }
    }
}
