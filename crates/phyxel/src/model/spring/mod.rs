//! Springs: a lattice that conducts heat, softens, and melts into molecules that attract and repel each other.
//!
//! After `[TPF89]`, with the corrections and choices of `docs/spring.md`. Semi-implicit Euler; the model says how long a step
//! may be.

mod bonds;
mod conduct;
mod melt;
mod pair_table;
mod phase;
mod settings;
mod solid;
mod state;
mod tree;

pub use self::settings::{Cell, Gas, Molecules, SpringSettings, Summation};

use self::bonds::Bonds;
use self::melt::{Candidate, Kind, Member, Neighbours, Pairs};
use self::pair_table::PairTable;
use self::solid::Stiffness;
use self::tree::Tree;
use crate::Real;
use crate::body::{Body, BodyId};
use crate::heat::Ways;
use crate::material::{Heat, Material};
use crate::model::slowest_swing;
use crate::parallel;
use crate::particles::{Flags, Particles, Phase};
use crate::step::StepContext;
use glam::Vec3;
pub use phyxel_laws::spring::POISSON_RATIO;
use phyxel_laws::spring::{isotropic_springs, stable_step};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Particles per task.
const GRAIN: usize = 1024;
/// Part of the limit of stability that a step may take.
const SAFETY: f64 = 0.8;
/// Strain of a spring beyond which directions are no longer those at rest.
const DISTORTED: Real = 0.25;
/// Molecules may come closer by so many sizes in a step.
const CLOSER: f64 = 0.2;
/// Largest damping of the fastest swing of a lattice, as a part of critical damping; more would make steps short.
const MOST_DAMPING: f64 = 2.0;

/// A body of springs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SpringBody {
    id: BodyId,
    settings: SpringSettings,
    bonds: Bonds,
    swings: Swings,
    /// The ordered one as it was at first: damping goes by it.
    first_swing: f64,
    /// Whether springs are drawn so far that their directions are no longer those at rest.
    distorted: bool,
    broken: u64,
    merged: u64,
}

/// Squares of the fastest swings for a Young's modulus of 1 Pa, 1/s2. Springs that go make none faster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Swings {
    /// With springs in the directions they were made in.
    ordered: f64,
    /// With springs in any direction.
    wild: f64,
}

impl SpringBody {
    /// Square of the fastest swing at present, for a Young's modulus of 1 Pa, 1/s2.
    fn swing(&self) -> f64 {
        if self.distorted { self.swings.wild } else { self.swings.ordered }
    }
}

/// What molecules allow in the next step, by how they moved in the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Pace {
    /// Square of the fastest swing, 1/s2.
    swing: f64,
    /// Rate of the strongest viscous braking, 1/s.
    braking: f64,
    /// Fastest approach of two molecules, sizes per second.
    approach: f64,
}

/// Springs and molecules of all bodies that use them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SpringModel {
    bodies: Vec<SpringBody>,
    pace: Pace,
    #[serde(skip)]
    derived: Option<Box<Derived>>,
}

/// What follows from description and state and may be made anew at any time.
#[derive(Clone, Debug, Default)]
struct Derived {
    matter: Vec<Matter>,
    /// Ways for heat along springs, and faces of the solid; `None` after springs have gone or come.
    solid_ways: Option<Arc<Ways>>,
    /// All ways for heat.
    ways: Arc<Ways>,
    /// Particles with neighbours, at the start of the step.
    members: Vec<Member>,
    /// What each particle of the model is, when neighbours were last looked for.
    kinds: Vec<Kind>,
    neighbours: Neighbours,
}

/// What follows from a body and its material.
#[derive(Clone, Debug)]
struct Matter {
    range: Range<usize>,
    /// Edge of a cube that holds the mass of each particle, m.
    sizes: Vec<Real>,
    /// Damping force over change of elastic force, s.
    damping: Real,
    /// Square of the fastest swing of the springs, as stiff as they ever are, 1/s2.
    swing: f64,
    table: PairTable,
}

impl SpringModel {
    pub(crate) fn add_body(&mut self, id: BodyId, body: &Body, particles: &Particles, settings: SpringSettings) {
        let rest = &particles.rest[body.range()];
        let springs = isotropic_springs(cell_size(&settings, rest).unwrap_or([body.spacing; 3]));
        let bonds = match springs {
            Some(springs) => Bonds::of_cells(&settings.cells, &springs, settings.weights, rest),
            None => Bonds::of_springs(rest.len(), &[]),
        };
        let swings = solid::fastest_swings(&bonds, rest, &particles.mass[body.range()]);
        self.bodies.push(SpringBody {
            id,
            settings,
            bonds,
            swings,
            first_swing: swings.ordered,
            distorted: false,
            broken: 0,
            merged: 0,
        });
        self.refresh();
    }

    pub(crate) fn refresh(&mut self) {
        self.derived = None;
    }

    /// Bodies number their particles themselves, so only a body that goes has to be followed.
    pub(crate) fn remove_body(&mut self, id: BodyId) {
        self.bodies.retain(|body| body.id != id);
        self.refresh();
    }

    pub(crate) fn prepare(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        if self.derived.is_none() {
            self.derived = Some(Box::new(self.derive(bodies, materials, particles)));
        }
    }

    fn derive(&self, bodies: &[Body], materials: &[Material], particles: &Particles) -> Derived {
        let matter = self.bodies.iter().map(|spring| {
            let body = &bodies[spring.id.0 as usize];
            describe(spring, body, &materials[body.material.0 as usize], particles)
        });
        Derived { matter: matter.collect(), ..Derived::default() }
    }

    /// Longest stable step, s. Needs what [`prepare`](Self::prepare) makes.
    pub(crate) fn stable_step(&self) -> f64 {
        let Some(derived) = self.derived.as_deref() else { return f64::INFINITY };
        let springs = derived.matter.iter().map(|matter| (matter.swing, f64::from(matter.damping) * matter.swing));
        let springs = springs.fold((0.0, 0.0), |(swing, braking): (f64, f64), (s, b)| (swing.max(s), braking.max(b)));
        let stable = stable_step(springs.0 + self.pace.swing, springs.1 + self.pace.braking, SAFETY);
        if self.pace.approach > 0.0 { stable.min(CLOSER / self.pace.approach) } else { stable }
    }

    /// Looks for neighbours of molecules, if there are any and they have moved.
    pub(crate) fn find_neighbours(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        let Some(mut derived) = self.derived.take() else { return };
        let kinds = self.tell_kinds(&derived, bodies, materials, particles);
        if kinds.iter().all(|&kind| kind == Kind::Solid) {
            (derived.neighbours, derived.kinds) = Default::default();
        } else {
            let holds = derived.kinds == kinds && derived.neighbours.hold(|i| particles.position[i as usize]);
            if !holds {
                let candidates = gather_candidates(&derived.matter, &kinds, particles);
                derived.neighbours = Neighbours::find(&candidates, self.longest_reach());
                derived.kinds = kinds;
            }
        }
        self.derived = Some(derived);
    }

    /// Farthest that molecules of any body act on others, in sizes.
    fn longest_reach(&self) -> Real {
        self.bodies.iter().map(|body| body.settings.molecules.cutoff).fold(melt::REACH, Real::max)
    }

    /// What each particle of the model is to its neighbours, body after body.
    fn tell_kinds(
        &self,
        derived: &Derived,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
    ) -> Vec<Kind> {
        let mut kinds = Vec::new();
        for (spring, matter) in self.bodies.iter().zip(&derived.matter) {
            let heat = materials[bodies[spring.id.0 as usize].material.0 as usize].heat;
            kinds.extend(parallel::map(matter.range.len(), GRAIN, |k| {
                let i = matter.range.start + k;
                match particles.phase[i] {
                    Phase::Solid if is_soft(&heat, particles.enthalpy[i]) => Kind::Soft,
                    Phase::Solid => Kind::Solid,
                    Phase::Fluid | Phase::Gas => Kind::Molecule,
                }
            }));
        }
        kinds
    }

    /// Adds the forces of springs and molecules, and notes the heat that damping makes.
    pub(crate) fn exert_forces(
        &mut self,
        bodies: &[Body],
        materials: &[Material],
        particles: &mut Particles,
        context: &StepContext,
    ) {
        let Some(mut derived) = self.derived.take() else { return };
        particles.force.resize(particles.mass.len(), Vec3::ZERO);
        for (spring, matter) in self.bodies.iter_mut().zip(&mut derived.matter) {
            let body = &bodies[spring.id.0 as usize];
            let material = &materials[body.material.0 as usize];
            let enthalpy = &particles.enthalpy[matter.range.clone()];
            let stiffness = Stiffness::of(material, body.rest_temperature, enthalpy);
            let range = matter.range.clone();
            let drawn = solid::add_forces(&spring.bonds, range, matter.damping, &stiffness, particles);
            spring.distorted = drawn > DISTORTED;
            matter.swing = spring.swing() * f64::from(material.stiffest());
            if material.heat.from_work.damping > 0.0 {
                let part = f64::from(material.heat.from_work.damping) * f64::from(context.dt);
                solid::note_heat(&spring.bonds, matter.range.clone(), matter.damping, &stiffness, particles, part);
            }
        }
        self.exert_melt(&mut derived, bodies, materials, particles, context);
        self.derived = Some(derived);
    }

    /// Forces of molecules, the heat that viscosity makes, and what they allow for the next step.
    fn exert_melt(
        &mut self,
        derived: &mut Derived,
        bodies: &[Body],
        materials: &[Material],
        particles: &mut Particles,
        context: &StepContext,
    ) {
        self.pace = Pace::default();
        derived.members.clear();
        if derived.neighbours.members.is_empty() {
            return;
        }
        let members = self.gather_members(derived, bodies, materials, particles);
        let laws = self.laws(&derived.matter);
        let pairs = Pairs { neighbours: &derived.neighbours, members: &members, laws: &laws };
        let mut effects = pairs.effects();
        for (place, (table, summation)) in laws.iter().enumerate() {
            let opening = match summation {
                Summation::Cutoff => continue,
                Summation::Tree { opening } => Some(*opening),
                Summation::Exact => None,
            };
            let tree = Tree::new(&members, tree::molecules_of(&members, place as u32));
            tree.forces(table, opening).into_iter().for_each(|(k, force)| effects[k as usize].force += force);
        }
        let warming = |i: u32| {
            let body = &bodies[particles.body[i as usize].0 as usize];
            f64::from(materials[body.material.0 as usize].heat.from_work.damping) * f64::from(context.dt)
        };
        let warmth: Vec<f64> =
            derived.neighbours.members.iter().zip(&effects).map(|(&i, e)| warming(i) * f64::from(e.lost)).collect();
        if warmth.iter().any(|&heat| heat > 0.0) {
            let made = particles.make_heat();
            derived.neighbours.members.iter().zip(&warmth).for_each(|(&i, heat)| made[i as usize] += heat);
        }
        for ((&i, member), effect) in derived.neighbours.members.iter().zip(&members).zip(&effects) {
            particles.force[i as usize] += effect.force;
            let mass = f64::from(member.mass);
            self.pace.swing = self.pace.swing.max(2.0 * f64::from(effect.stiffness) / mass);
            self.pace.braking = self.pace.braking.max(2.0 * f64::from(effect.damping) / mass);
            self.pace.approach = self.pace.approach.max(effect.approach.into());
        }
        derived.members = members;
    }

    fn laws<'a>(&self, matter: &'a [Matter]) -> Vec<(&'a PairTable, Summation)> {
        let summation = self.bodies.iter().map(|body| body.settings.molecules.summation);
        matter.iter().map(|matter| &matter.table).zip(summation).collect()
    }

    fn gather_members(
        &self,
        derived: &Derived,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
    ) -> Vec<Member> {
        let place_of = |i: usize| derived.matter.partition_point(|matter| matter.range.end <= i);
        let offsets: Vec<usize> = derived
            .matter
            .iter()
            .scan(0, |next, matter| {
                let offset = *next;
                *next += matter.range.len();
                Some(offset)
            })
            .collect();
        parallel::map(derived.neighbours.members.len(), GRAIN, |k| {
            let i = derived.neighbours.members[k] as usize;
            let place = place_of(i);
            let matter = &derived.matter[place];
            let own = i - matter.range.start;
            let material = &materials[bodies[self.bodies[place].id.0 as usize].material.0 as usize];
            let temperature = material.heat.temperature(particles.enthalpy[i]);
            let factors = match particles.phase[i] {
                Phase::Gas => [0.0, self.bodies[place].settings.gas.repulsion.sqrt()],
                _ => [material.fluid.cohesion.at(temperature).sqrt(), 1.0],
            };
            Member {
                position: particles.position[i],
                velocity: particles.velocity[i],
                mass: particles.mass[i],
                size: matter.sizes[own],
                kind: derived.kinds[offsets[place] + own],
                body: place as u32,
                factors,
                viscosity: material.fluid.viscosity.at(temperature),
                conductivity: material.heat.mean_conductivity(),
            }
        })
    }

    /// Finds the ways for heat of this step: along springs, made anew only when springs have gone or come, and between
    /// molecules.
    pub(crate) fn find_ways(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        let Some(mut derived) = self.derived.take() else { return };
        let laws = self.laws(&derived.matter);
        let molecular = Pairs { neighbours: &derived.neighbours, members: &derived.members, laws: &laws }.links();
        let solid = match &derived.solid_ways {
            Some(ways) => ways.clone(),
            None => {
                let made = self.bodies.iter().zip(&derived.matter).map(|(spring, matter)| {
                    let heat = &materials[bodies[spring.id.0 as usize].material.0 as usize].heat;
                    conduct::solid_ways(spring, matter.range.clone(), heat, particles)
                });
                let ways = made.fold(Ways::default(), conduct::join);
                Arc::new(ways)
            }
        };
        derived.solid_ways = Some(solid.clone());
        derived.ways = if molecular.is_empty() {
            solid
        } else {
            let links = molecular.into_iter().chain(solid.links.iter().copied()).collect();
            Arc::new(Ways { links, faces: solid.faces.clone() })
        };
        self.derived = Some(derived);
    }

    /// Ways for heat inside its bodies.
    pub(crate) fn ways(&self) -> Option<&Arc<Ways>> {
        self.derived.as_deref().map(|derived| &derived.ways)
    }

    /// `v += dt (g + f/m)`, `[TPF89]` eq. 19. The air lifts and brakes gas.
    pub(crate) fn advance_velocities(&mut self, particles: &mut Particles, before: &[Vec3], context: &StepContext) {
        let Some(derived) = self.derived.as_deref() else { return };
        let Particles { velocity, force, mass, flags, phase, .. } = particles;
        for (spring, matter) in self.bodies.iter().zip(&derived.matter) {
            let gas = spring.settings.gas;
            let kept = libm::expf(-gas.drag * context.dt);
            let start = matter.range.start;
            parallel::for_each_chunk(&mut velocity[matter.range.clone()], GRAIN, |first, velocities| {
                for (k, velocity) in velocities.iter_mut().enumerate() {
                    let i = start + first + k;
                    let pushed = force[i] * (context.dt / mass[i]);
                    *velocity = if flags[i].has(Flags::HELD) {
                        Vec3::ZERO
                    } else if phase[i] == Phase::Gas {
                        (before[i] + pushed + context.gravity * ((1.0 - gas.lift) * context.dt)) * kept
                    } else {
                        before[i] + pushed + context.gravity * context.dt
                    };
                }
            });
        }
    }
}

/// Whether solid matter has begun to soften.
fn is_soft(heat: &Heat, enthalpy: f64) -> bool {
    heat.softness(heat.temperature(enthalpy), heat.molten(enthalpy)) > 0.0
}

/// Whether cells with these edges are too far from cubes to be isotropic.
pub fn is_too_flat(cell: [Real; 3]) -> bool {
    isotropic_springs(cell).is_none()
}

/// Edges of the cells of a body, m.
fn cell_size(settings: &SpringSettings, rest: &[Vec3]) -> Option<[Real; 3]> {
    let cell = settings.cells.first()?;
    let corner = |k: usize| rest[cell[k] as usize];
    Some([1, 2, 4].map(|k| corner(0).distance(corner(k))))
}

fn describe(spring: &SpringBody, body: &Body, material: &Material, particles: &Particles) -> Matter {
    let range = body.range();
    let masses = &particles.mass[range.clone()];
    let sizes: Vec<Real> = masses.iter().map(|mass| libm::cbrtf(mass / material.density)).collect();
    let young = material.stiffest();
    let first_swing = spring.first_swing * f64::from(young);
    let slowest = slowest_swing(&particles.rest[range.clone()], young, material.density);
    // Stiffness times this is the damping: the slowest swing then has the damping that is asked for.
    let asked = 2.0 * f64::from(material.damping) / slowest;
    let most = 2.0 * MOST_DAMPING / first_swing.sqrt().max(1e-30);
    let bulk = material.melt_modulus(POISSON_RATIO);
    Matter {
        table: PairTable::new(&spring.settings.molecules, bulk, body.spacing),
        range,
        sizes,
        damping: asked.min(most) as Real,
        swing: spring.swing() * f64::from(young),
    }
}

/// Particles that may have neighbours. Where the law of a body counts in a length of its own, all reach as far as the
/// longest of them: its forces must not end before their cut-off.
fn gather_candidates(matter: &[Matter], kinds: &[Kind], particles: &Particles) -> Vec<Candidate> {
    let lengths = matter.iter().filter_map(|matter| matter.table.own_length());
    let least = lengths.fold(0.0, Real::max);
    let largest = matter.iter().flat_map(|matter| &matter.sizes).copied().fold(least, Real::max);
    let reach = |size: Real| if least > 0.0 { largest } else { size };
    let owned = matter.iter().flat_map(|matter| matter.range.clone().zip(matter.sizes.iter().map(|&size| reach(size))));
    owned
        .zip(kinds)
        .map(|((i, size), &kind)| Candidate { particle: i as u32, position: particles.position[i], size, kind })
        .collect()
}
