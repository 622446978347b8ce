//! Body against body: spheres around particles.

use super::pace;
use crate::Real;
use crate::grid::{Dot, close_pairs};
use crate::material::Friction;
use crate::parallel;
use crate::step::StepContext;
use crate::world::World;
use glam::Vec3;
use phyxel_laws::contact::{Pace, Surface, Touch, touched_velocity};

/// Pairs per task.
const GRAIN: usize = 1024;
/// Particles of one body collide only if at rest they are farther apart than this many sums of radii.
const APART: Real = 1.5;

/// Pairs are looked at while their gap is below this part of their radii, even if it is not closing.
const WATCHED: Real = 0.1;

/// Notes all pairs of particles of different bodies (or far parts of one) that may touch within the step.
pub(crate) fn find_pairs(world: &mut World, context: &StepContext) {
    let meetings = find_meetings(world, context);
    let dots = candidates(world, &meetings, context);
    let particles = &world.particles;
    world.scratch.pairs = close_pairs(&dots, |a, b| {
        let [i, j] = [a.particle as usize, b.particle as usize];
        let radii = a.radius + b.radius;
        if a.body == b.body {
            let apart = particles.rest[i].distance(particles.rest[j]);
            if apart < APART * radii {
                return false;
            }
        }
        let between = a.position - b.position;
        let distance = between.length();
        let closing = -(particles.velocity[i] - particles.velocity[j]).dot(between) / distance.max(1e-6 * radii);
        distance - radii < WATCHED * radii + closing.max(0.0) * context.dt
    });
}

/// Another body that is near.
#[derive(Clone, Copy, Debug)]
struct Meeting {
    other: u32,
    /// Farthest that the two can come closer within the step, m.
    approach: Real,
}

/// For each body the bodies that it may meet within the step, found by sweeping along x.
fn find_meetings(world: &World, context: &StepContext) -> Vec<Vec<Meeting>> {
    let bounds = &world.scratch.bounds;
    let there = |i: &u32| bounds[*i as usize].radius > 0.0;
    let mut order: Vec<u32> = (0..bounds.len() as u32).filter(there).collect();
    order.sort_by(|&a, &b| bounds[a as usize].min.x.total_cmp(&bounds[b as usize].min.x));
    let speed = bounds.iter().map(|b| b.speed).fold(0.0, Real::max) + context.gravity.length() * context.dt;
    let radius = bounds.iter().map(|b| b.radius).fold(0.0, Real::max);
    let widest = 2.0 * speed * context.dt + WATCHED * radius;
    let mut meetings = vec![Vec::new(); bounds.len()];
    for (place, &a) in order.iter().enumerate() {
        let mine = &bounds[a as usize];
        for &b in order[place + 1..].iter().take_while(|&&b| bounds[b as usize].min.x <= mine.max.x + widest) {
            let other = &bounds[b as usize];
            let approach = mine.relative_speed(other) * context.dt;
            if mine.overlaps(other, approach + WATCHED * (mine.radius + other.radius)) {
                meetings[a as usize].push(Meeting { other: b, approach });
                meetings[b as usize].push(Meeting { other: a, approach });
            }
        }
    }
    meetings
}

/// Particles near another body's box, or of a body that may touch itself.
fn candidates(world: &World, meetings: &[Vec<Meeting>], context: &StepContext) -> Vec<Dot> {
    let bounds = &world.scratch.bounds;
    let particles = &world.particles;
    let lists = parallel::map(world.bodies.len(), 4, |number| {
        let body = &world.bodies[number];
        let widest = bounds[number].radius;
        let boxes: Vec<(Vec3, Vec3)> = meetings[number]
            .iter()
            .map(|meeting| {
                let other = &bounds[meeting.other as usize];
                let reach = widest + meeting.approach + WATCHED * (widest + other.radius);
                (other.min - reach, other.max + reach)
            })
            .collect();
        let near = |i: usize| {
            let x = particles.position[i];
            boxes.iter().any(|(min, max)| (x.cmpge(*min) & x.cmple(*max)).all())
        };
        let own = if body.self_contact { bounds[number].relative_speed(&bounds[number]) * context.dt } else { 0.0 };
        let approach = meetings[number].iter().map(|meeting| meeting.approach).fold(own, Real::max);
        let range = if meetings[number].is_empty() && !body.self_contact { 0..0 } else { body.range() };
        let chosen = range.filter(|&i| body.self_contact || near(i));
        chosen
            .map(|i| Dot {
                position: particles.position[i],
                radius: particles.radius[i],
                reach: approach + 2.0 * WATCHED * bounds[number].radius,
                particle: i as u32,
                body: number as u32,
                group: if body.self_contact { 0 } else { number as u32 + 1 },
            })
            .collect::<Vec<_>>()
    });
    lists.into_iter().flatten().collect()
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
}

impl PairSolver {
    pub fn new(world: &World, pairs: &[(u32, u32)], context: &StepContext) -> Self {
        let mut touched: Vec<u32> = pairs.iter().flat_map(|&(i, j)| [i, j]).collect();
        touched.sort_unstable();
        touched.dedup();
        let mut place = vec![0u32; if pairs.is_empty() { 0 } else { world.particles.len() }];
        touched.iter().enumerate().for_each(|(k, &i)| place[i as usize] = k as u32);
        let pairs: Vec<Pair> = parallel::map(pairs.len(), GRAIN, |k| {
            let (i, j) = pairs[k];
            describe(world, [i, j], [place[i as usize], place[j as usize]], context)
        });
        let mut start = vec![0u32; touched.len() + 1];
        pairs.iter().flat_map(|pair| pair.places).for_each(|p| start[p as usize + 1] += 1);
        (0..touched.len()).for_each(|p| start[p + 1] += start[p]);
        let mut next = start.clone();
        let mut entries = vec![0; 2 * pairs.len()];
        for (k, pair) in pairs.iter().enumerate() {
            for side in 0..2 {
                let next = &mut next[pair.places[side] as usize];
                entries[*next as usize] = (2 * k + side) as u32;
                *next += 1;
            }
        }
        Self { pairs, touched, start, entries }
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
        let changes = parallel::map(self.touched.len(), GRAIN, |place| {
            let mut impulse = Vec3::ZERO;
            for &entry in around(place) {
                let pair = &self.pairs[entry as usize / 2];
                let share = 1.0 / busy[pair.places[0] as usize].max(busy[pair.places[1] as usize]).max(1.0);
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
