//! Body against body: spheres around particles.

use super::meetings::{WATCHED, dot, facing, find_meetings};
use super::pace;
use super::work::{friction_warms, matter, shared_heat};
use crate::Real;
use crate::body::Body;
use crate::grid::{Dot, close_pairs, close_pairs_within};
use crate::material::Friction;
use crate::model::ModelKind;
use crate::parallel;
use crate::particles::Phase;
use crate::step::StepContext;
use crate::world::World;
use glam::Vec3;
use phyxel_laws::contact::{Pace, Surface, Touch, friction_work, touched_velocity};

/// Pairs per task.
const GRAIN: usize = 1024;
/// Meetings of bodies per task.
const MEETINGS_GRAIN: usize = 8;
/// Particles of one body collide only if at rest they are farther apart than this many sums of radii.
const APART: Real = 1.5;

/// Of these, those are kept whose gap closes within the step or is below this part of the sum of radii.
const NEXT: Real = 0.05;

/// Notes all pairs of particles of different bodies (or far parts of one) that touch or are about to.
pub(crate) fn find_pairs(world: &mut World, dt: Real) {
    let meetings = find_meetings(&world.scratch.bounds, 0.0);
    let mut found = parallel::map(meetings.len(), MEETINGS_GRAIN, |k| {
        let [a, b] = facing(world, meetings[k]);
        close_pairs(&a, &b, WATCHED, |a, b| is_due(world, a, b, dt))
    });
    let folding = |body: &&Body| body.self_contact;
    let within = world.bodies.iter().filter(folding).map(|body| {
        let dots: Vec<Dot> = body.range().map(|i| dot(world, i)).collect();
        let rest = &world.particles.rest;
        close_pairs_within(&dots, WATCHED, |a, b| {
            let apart = rest[a.particle as usize].distance(rest[b.particle as usize]);
            apart >= APART * (a.radius + b.radius) && is_due(world, a, b, dt)
        })
    });
    found.extend(within);
    world.scratch.pairs = found.concat();
}

/// Whether two particles touch or may touch within the step. Molecules keep themselves apart, and so do crystals and fluids.
fn is_due(world: &World, a: &Dot, b: &Dot, dt: Real) -> bool {
    let [i, j] = [a.particle as usize, b.particle as usize];
    if are_molecular(world, i, j) || are_pressed(world, i, j) {
        return false;
    }
    let velocity = |dot: &Dot| world.particles.velocity[dot.particle as usize];
    let radii = a.radius + b.radius;
    let between = a.position - b.position;
    let distance = between.length();
    let closing = -(velocity(a) - velocity(b)).dot(between) / distance.max(1e-6 * radii);
    distance - radii < NEXT * radii + closing.max(0.0) * dt
}

/// Whether two particles of the spring model act on each other by the law of molecules: one of them is free.
fn are_molecular(world: &World, a: usize, b: usize) -> bool {
    let particles = &world.particles;
    let is_solid = |i: usize| particles.phase[i] == Phase::Solid;
    let springs = |i: usize| world.bodies[particles.body[i].0 as usize].model == ModelKind::Spring;
    !(is_solid(a) && is_solid(b)) && springs(a) && springs(b)
}

/// Whether two particles keep each other apart by pressure.
fn are_pressed(world: &World, a: usize, b: usize) -> bool {
    let crystal = |i: usize| world.bodies[world.particles.body[i].0 as usize].model == ModelKind::Crystal;
    crystal(a) && crystal(b)
}

/// A pair during a step.
#[derive(Clone, Copy)]
struct Pair {
    particles: [u32; 2],
    /// Places of the two among the touched particles.
    places: [u32; 2],
    touch: Touch,
    surface: Surface,
    pace: Pace,
    /// Inverse of the sum of inverse masses, kg.
    mass: Real,
}

/// Exchanges momentum between pairs, all at once per round.
pub(super) struct PairSolver {
    pairs: Vec<Pair>,
    /// Touched particles, rising.
    touched: Vec<u32>,
    /// First entry of each touched particle in `entries`.
    start: Vec<u32>,
    /// Pair and side (`2 pair + side`).
    entries: Vec<u32>,
    /// Momentum that the first of each pair was given, kg m/s; empty where friction warms nothing.
    exchanged: Vec<Vec3>,
}

impl PairSolver {
    pub fn new(world: &World, pairs: &[(u32, u32)], context: &StepContext) -> Self {
        let mut counts = vec![0u32; if pairs.is_empty() { 0 } else { world.particles.len() }];
        pairs.iter().flat_map(|&(i, j)| [i, j]).for_each(|i| counts[i as usize] += 1);
        let exchanged = if friction_warms(world) { vec![Vec3::ZERO; pairs.len()] } else { Vec::new() };
        let entries = vec![0; 2 * pairs.len()];
        let mut solver = Self { pairs: vec![], touched: vec![], start: vec![0], entries, exchanged };
        // From here on `counts` holds the place of each touched particle.
        let mut next = Vec::new();
        for (i, count) in counts.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
            let end = solver.start.last().copied().unwrap_or(0);
            next.push(end);
            solver.start.push(end + *count);
            *count = solver.touched.len() as u32;
            solver.touched.push(i as u32);
        }
        solver.pairs = parallel::map(pairs.len(), GRAIN, |k| {
            let (i, j) = pairs[k];
            describe(world, [i, j], [counts[i as usize], counts[j as usize]], context)
        });
        for (k, &(i, j)) in pairs.iter().enumerate() {
            for (side, i) in [i, j].into_iter().enumerate() {
                let next = &mut next[counts[i as usize] as usize];
                solver.entries[*next as usize] = (2 * k + side) as u32;
                *next += 1;
            }
        }
        solver
    }

    /// Whether a particle takes part in a pair.
    pub fn touches(&self, particle: u32) -> bool {
        self.touched.binary_search(&particle).is_ok()
    }

    /// One round: each active pair exchanges its share of the momentum it needs.
    ///
    /// A particle in several active pairs would overshoot if each did all; a pair takes the part that the busier
    /// of its two particles can give. The part is the same for both, so momentum is kept.
    pub fn exchange_momentum(&mut self, world: &mut World) {
        if self.pairs.is_empty() {
            return;
        }
        let velocity = &world.particles.velocity;
        let wanted = parallel::map(self.pairs.len(), GRAIN, |k| {
            let pair = &self.pairs[k];
            let relative = velocity[pair.particles[0] as usize] - velocity[pair.particles[1] as usize];
            (touched_velocity(relative, &pair.touch, &pair.surface, &pair.pace) - relative) * pair.mass
        });
        let around = |place: usize| &self.entries[self.start[place] as usize..self.start[place + 1] as usize];
        let busy = parallel::map(self.touched.len(), GRAIN, |place| {
            around(place).iter().filter(|&&entry| wanted[entry as usize / 2] != Vec3::ZERO).count() as Real
        });
        let share_of = |pair: &Pair| 1.0 / busy[pair.places[0] as usize].max(busy[pair.places[1] as usize]).max(1.0);
        for ((exchanged, wanted), pair) in self.exchanged.iter_mut().zip(&wanted).zip(&self.pairs) {
            *exchanged += *wanted * share_of(pair);
        }
        let changes = parallel::map(self.touched.len(), GRAIN, |place| {
            let mut impulse = Vec3::ZERO;
            for &entry in around(place) {
                let pair = &self.pairs[entry as usize / 2];
                let share = share_of(pair);
                let sign = if entry % 2 == 0 { share } else { -share };
                impulse += wanted[entry as usize / 2] * sign;
            }
            impulse
        });
        for (&i, impulse) in self.touched.iter().zip(changes) {
            if !world.particles.is_held(i as usize) {
                world.particles.velocity[i as usize] += impulse / world.particles.mass[i as usize];
            }
        }
    }
}

impl PairSolver {
    /// Notes the heat that friction made in all rounds.
    pub fn note_friction(&self, world: &mut World) {
        if self.exchanged.is_empty() {
            return;
        }
        let heats = parallel::map(self.pairs.len(), GRAIN, |k| {
            let Pair { particles: [a, b], touch, .. } = &self.pairs[k];
            let relative = |velocity: &[Vec3]| velocity[*a as usize] - velocity[*b as usize];
            let (start, end) = (relative(&world.scratch.velocity_before), relative(&world.particles.velocity));
            let work = friction_work(-self.exchanged[k], touch.normal, start, end);
            shared_heat([matter(world, *a), matter(world, *b)], work)
        });
        let made = world.particles.make_heat();
        for (pair, heats) in self.pairs.iter().zip(heats) {
            for (&i, heat) in pair.particles.iter().zip(heats) {
                made[i as usize] += heat;
            }
        }
    }
}

fn describe(world: &World, particles: [u32; 2], places: [u32; 2], context: &StepContext) -> Pair {
    let [i, j] = particles.map(|i| i as usize);
    let store = &world.particles;
    let between = store.position[i] - store.position[j];
    let distance = between.length();
    // Coincident points part along a direction that depends on nothing but their order.
    let normal = if distance > 1e-6 * store.radius[i] { between / distance } else { Vec3::Y };
    let before = world.scratch.velocity_before[i] - world.scratch.velocity_before[j];
    let touch = Touch::new(normal, distance - store.radius[i] - store.radius[j], before);
    let material = |i: usize| {
        let body = &world.bodies[store.body[i].0 as usize];
        &world.materials[body.material.0 as usize]
    };
    let (a, b) = (material(i), material(j));
    let friction = Friction::between(a.friction, b.friction);
    let inverse = |i: usize| if store.is_held(i) { 0.0 } else { 1.0 / store.mass[i] };
    let sum = inverse(i) + inverse(j);
    Pair {
        particles,
        places,
        touch,
        surface: Surface {
            static_friction: friction.r#static,
            kinetic_friction: friction.kinetic,
            restitution: (a.restitution * b.restitution).sqrt(),
            hold: 0.0,
            film: 0.0,
        },
        pace: pace(context, store.radius[i].min(store.radius[j])),
        mass: if sum > 0.0 { 1.0 / sum } else { 0.0 },
    }
}
