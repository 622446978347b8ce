//! Tetrahedra: elastic and plastic matter cut into elements between nodes, each element with a rotation of its own.
//!
//! After `[Gis07]`, with the corrections of [`phyxel_laws::tetra`] and the choices of `docs/tetra.md`. A particle of the store is a
//! node: corners of elements that are tied. What elements keep does not change when nodes part or unite; what is derived (which
//! corners a node has, surfaces, ways for heat) is made anew.

mod body;
mod breaking;
mod clusters;
mod conduct;
mod couples;
mod crumbs;
mod grip;
mod holds;
mod implicit;
mod matrix;
mod melting;
mod merging;
mod net;
mod outside;
mod pattern;
mod rigid;
mod settings;
mod skin;
mod state;
mod stops;
mod surface;
mod system;
mod ties;
mod together;
mod touches;
mod untying;
mod walls;
mod warmth;

pub(crate) use self::body::node_volumes;
pub(crate) use self::melting::Melted;
pub(crate) use self::merging::Stuff;
pub(crate) use self::outside::Solid;
pub use self::settings::TetraSettings;

use self::body::Tetras;
use self::breaking::{Loads, Parting};
use self::net::{Matters, Net};
use self::ties::Tie;
use self::together::{Together, find_groups};
use crate::Real;
use crate::body::{Body, BodyId};
use crate::contact::Walls;
use crate::heat::Ways;
use crate::material::Material;
use crate::model::continuum::Integration;
use crate::model::{Moved, slowest_swing};
use crate::parallel;
use crate::particles::{Flags, Particles};
use crate::step::StepContext;
use glam::Vec3;
use phyxel_laws::elastic::Hooke;
use phyxel_laws::spring::stable_step;
use phyxel_laws::stiffness::damped_part;
use phyxel_laws::tetra::{Matter, Note, State};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Particles per task.
const GRAIN: usize = 1024;
/// Part of the limit of stability that a step may take.
const SAFETY: f64 = 0.8;
/// Largest damping of the fastest swing that a material's damping may ask for in explicit steps, as a part of critical damping;
/// more would make steps short.
const MOST_DAMPING: f64 = 1.0;
/// Explicit steps shorter than this are too many, s: the body is stepped implicitly if it is free to choose.
const SHORTEST_EXPLICIT: f64 = 1e-4;

/// All bodies of tetrahedra.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TetraModel {
    bodies: Vec<Tetras>,
    /// Nodes of different bodies that stick to each other, rising; none is in two.
    ties: Vec<Tie>,
    /// Nodes whose ties have parted and that have not been apart since, rising.
    loose: Vec<u32>,
    /// What follows from the description and from which corners are tied.
    #[serde(skip)]
    derived: Option<Box<Derived>>,
    /// Ways for heat of all bodies.
    #[serde(skip)]
    ways: Option<Arc<Ways>>,
}

/// What follows from the description of all bodies.
#[derive(Clone, Debug)]
struct Derived {
    net: Net,
    /// By body.
    parts: Vec<Part>,
    /// Momentum that the nodes of presses were given in the last step, kg m/s; none if none was.
    pushes: Vec<Option<Vec3>>,
    /// Particles that obstacles have stopped in the solution of the last step, rising, and the momentum that each was given, kg m/s.
    stopped: Vec<(usize, Vec3)>,
    /// Ties that part at the end of the step.
    untied: Vec<Tie>,
}

/// What follows from the description of a body.
#[derive(Clone, Debug)]
struct Part {
    matter: Matter,
    /// No stress is larger than this times the strain, Pa.
    stiffest: Real,
    /// By pack; none where all elements are as the body.
    states: Vec<State>,
    /// By pack; none where nothing is noted.
    notes: Vec<Note>,
    /// Damping in proportion to mass, 1/s.
    drag: Real,
    /// Longest stable step, s; endless for one that is implicit.
    stable: f64,
    implicit: bool,
    /// Whether its matter breaks at all.
    breaks: bool,
    /// Nodes that part at the end of the step.
    partings: Vec<Parting>,
    /// Velocities that an implicit step was solved for, m/s.
    solved: Vec<Vec3>,
}

impl Part {
    fn damped(&self) -> bool {
        self.matter.damping > 0.0 && !self.implicit
    }
}

impl TetraModel {
    pub(crate) fn add_body(&mut self, id: BodyId, body: &Body, particles: &Particles, settings: TetraSettings) {
        self.bodies.push(Tetras::new(id, body, particles, settings));
        self.refresh();
    }

    pub(crate) fn remove_body(&mut self, id: BodyId) {
        self.bodies.retain(|body| body.id != id);
        self.refresh();
    }

    pub(crate) fn rearrange(&mut self, moved: &Moved) {
        // Nodes that elements have go only with their body.
        self.bodies.retain_mut(|tetras| tetras.rearrange(moved));
        self.rearrange_ties(moved);
        self.refresh();
    }

    pub(crate) fn refresh(&mut self) {
        (self.derived, self.ways) = (None, None);
    }

    pub(crate) fn prepare(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        if self.derived.is_some() {
            return;
        }
        let mut derived = self.derive(bodies, materials, particles);
        for (tetras, part) in self.bodies.iter_mut().zip(&mut derived.parts) {
            let body = &bodies[tetras.id.0 as usize];
            part.choose_pace(tetras, body.range(), &materials[body.material.0 as usize], particles);
            tetras.know_surface(body.range());
        }
        self.derived = Some(Box::new(derived));
        self.ways = Some(Arc::new(self.find_all_ways(bodies, materials)));
    }

    fn derive(&self, bodies: &[Body], materials: &[Material], particles: &Particles) -> Derived {
        let body_of = |tetras: &Tetras| &bodies[tetras.id.0 as usize];
        let ranges: Vec<Range<usize>> = self.bodies.iter().map(|tetras| body_of(tetras).range()).collect();
        let part = |tetras: &Tetras| {
            let body = body_of(tetras);
            tetras.derive(body, &materials[body.material.0 as usize], particles)
        };
        let parts: Vec<Part> = self.bodies.iter().map(part).collect();
        let keeps = self.bodies.iter().zip(&parts).map(|(tetras, part)| {
            let heat = &materials[body_of(tetras).material.0 as usize].heat;
            part.breaks || heat.from_work.damping > 0.0
        });
        Derived {
            net: Net::new(&self.bodies, &ranges, &keeps.collect::<Vec<bool>>()),
            parts,
            pushes: Vec::new(),
            stopped: Vec::new(),
            untied: Vec::new(),
        }
    }

    /// Ways for heat inside its bodies.
    pub(crate) fn ways(&self) -> Option<&Arc<Ways>> {
        self.ways.as_ref()
    }

    /// Longest stable step, s. Needs what [`prepare`](Self::prepare) makes.
    pub(crate) fn stable_step(&self) -> f64 {
        let parts = self.derived.iter().flat_map(|derived| &derived.parts);
        parts.map(|part| part.stable).fold(f64::INFINITY, f64::min)
    }

    /// Adds the forces of elasticity and damping, lets matter yield, and notes the heat that this makes.
    pub(crate) fn exert_forces(
        &mut self,
        bodies: &[Body],
        materials: &[Material],
        particles: &mut Particles,
        context: &StepContext,
    ) {
        let Some(derived) = &mut self.derived else { return };
        let Derived { net, parts, .. } = &mut **derived;
        particles.force.resize(particles.mass.len(), Vec3::ZERO);
        for (number, (tetras, part)) in self.bodies.iter_mut().zip(parts).enumerate() {
            let material = &materials[bodies[tetras.id.0 as usize].material.0 as usize];
            net.place(number, &particles.position);
            // Implicit steps brake with the velocities at their end.
            if part.damped() {
                net.set_in_motion(number, &particles.velocity[net.runs[number].particles.clone()]);
            }
            let matters = Matters { matter: &part.matter, states: &part.states, damped: part.damped() };
            net.exert(number, tetras, &matters, &mut part.notes);
            net.gather(number, &mut particles.force);
            if part.breaks {
                let (notes, stiffest) = (&part.notes, part.stiffest);
                let loads = Loads { body: number, net, tetras, material, particles, notes, stiffest };
                part.partings = loads.find_partings();
            }
            if part.damped() {
                let lost = |i: usize| part.notes.get(i / 8).map_or(0.0, |note| note.lost[i % 8]);
                tetras.note_losses(material, particles, context.dt, lost);
            }
            tetras.yield_to_stress(part, material, particles, context.dt);
        }
        let untied = self.find_untied(bodies, materials, particles);
        if let Some(derived) = &mut self.derived {
            derived.untied = untied;
        }
    }

    /// `v += dt (g + f/m)`, or the solution for the end of the step.
    pub(crate) fn advance_velocities(
        &mut self,
        (bodies, materials): (&[Body], &[Material]),
        particles: &mut Particles,
        before: &[Vec3],
        walls: &Walls,
        context: &StepContext,
    ) {
        let Some(derived) = &mut self.derived else { return };
        let explicit = self.bodies.iter_mut().zip(&derived.net.runs).zip(&derived.parts);
        for ((tetras, run), part) in explicit.filter(|(_, part)| !part.implicit) {
            tetras.is_rough = false;
            part.advance_explicitly(run.particles.clone(), particles, before, context);
        }
        derived.pushes.clear();
        derived.stopped.clear();
        for group in find_groups(derived, walls.presses, &self.ties) {
            let group = Together { numbers: &group, tetras: &mut self.bodies, ties: &self.ties, derived };
            group.advance((bodies, materials), (particles, before), walls, context);
        }
        derived.stopped.sort_unstable_by_key(|(particle, _)| *particle);
        self.join_velocities(particles);
    }

    /// Lets pieces of very stiff bodies take as a whole what contacts have given their nodes after the solution: moved by themselves, nodes
    /// would strain the elements around them beyond all that matter bears. What is tied moves as one again.
    pub(crate) fn follow_contacts(&mut self, particles: &mut Particles) {
        let Some(derived) = &self.derived else { return };
        for (number, part) in derived.parts.iter().enumerate().filter(|(_, part)| part.implicit) {
            derived.net.follow_contacts(number, &part.solved, particles);
        }
        self.join_velocities(particles);
    }

    /// Momentum that an obstacle has given a particle in the solution of an implicit step, friction included, kg m/s.
    pub(crate) fn stop_given(&self, particle: usize) -> Option<Vec3> {
        let stopped = &self.derived.as_ref()?.stopped;
        Some(stopped[stopped.binary_search_by_key(&particle, |(particle, _)| *particle).ok()?].1)
    }

    /// Momentum that the solution of an implicit step has given the node of a press, friction included, kg m/s.
    pub(crate) fn push_given(&self, press: usize) -> Option<Vec3> {
        *self.derived.as_ref()?.pushes.get(press)?
    }
}

impl Tetras {
    fn derive(&self, body: &Body, material: &Material, particles: &Particles) -> Part {
        let hooke = match &self.settings.stiffness {
            Some(stiffness) => Hooke::Anisotropic(**stiffness),
            None => Hooke::isotropic(material.stiffest(), material.poisson_ratio),
        };
        Part {
            stiffest: hooke.largest() as Real,
            matter: Matter { hooke, damping: 0.0 },
            states: self.find_states(body, material, &particles.enthalpy),
            notes: Vec::new(),
            drag: self.settings.mass_damping,
            stable: f64::INFINITY,
            implicit: false,
            breaks: self.may_break(material),
            partings: Vec::new(),
            solved: Vec::new(),
        }
    }
}

impl Part {
    /// Chooses damping and how steps are taken.
    fn choose_pace(&mut self, tetras: &mut Tetras, range: Range<usize>, material: &Material, particles: &Particles) {
        let swing = tetras.find_swiftness(&self.matter.hooke) / f64::from(material.density);
        let slowest = slowest_swing(&particles.rest[range], material.stiffest(), material.density);
        // Stress that is ahead by this time damps the slowest swing as the material asks.
        let asked = 2.0 * f64::from(material.damping) / slowest;
        let most = 2.0 * MOST_DAMPING / swing.sqrt().max(1e-30);
        let given = tetras.settings.stiffness_damping.map(f64::from);
        let ahead = given.unwrap_or(asked.min(most));
        let explicit = stable_step(swing, ahead * swing, SAFETY);
        self.implicit = match tetras.settings.integration {
            Integration::Auto => explicit < SHORTEST_EXPLICIT,
            Integration::Explicit => false,
            Integration::Implicit => true,
        };
        self.stable = if self.implicit { f64::INFINITY } else { explicit };
        self.matter.damping = if self.implicit { given.unwrap_or(asked) } else { ahead } as Real;
        let warms = self.damped() && material.heat.from_work.damping > 0.0;
        let noted = if warms || self.breaks || tetras.may_yield(material) { tetras.rest.len() } else { 0 };
        self.notes = vec![Note::default(); noted];
    }

    fn advance_explicitly(
        &self,
        range: Range<usize>,
        particles: &mut Particles,
        before: &[Vec3],
        context: &StepContext,
    ) {
        let Particles { velocity, force, mass, flags, .. } = particles;
        let kept = 1.0 - damped_part(self.drag.into(), context.dt.into()) as Real;
        parallel::for_each_chunk(&mut velocity[range.clone()], GRAIN, |first, velocities| {
            for (i, velocity) in (range.start + first..).zip(velocities) {
                let pushed = context.gravity * context.dt + force[i] * (context.dt / mass[i]);
                *velocity = if flags[i].has(Flags::HELD) { Vec3::ZERO } else { (before[i] + pushed) * kept };
            }
        });
    }
}
