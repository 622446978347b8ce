//! Body against body: spheres around particles.

use super::meetings::{WATCHED, dot, facing, find_meetings};
use super::pace;
use super::solver::Meeting;
use super::work::matter;
use crate::Real;
use crate::body::Body;
use crate::grid::{Dot, close_pairs, close_pairs_within};
use crate::material::{Friction, Material};
use crate::model::ModelKind;
use crate::parallel;
use crate::particles::Phase;
use crate::step::StepContext;
use crate::world::World;
use glam::Vec3;
use phyxel_laws::contact::{Surface, Touch};

/// Meetings of bodies per task.
const MEETINGS_GRAIN: usize = 8;
/// Particles of one body collide only if at rest they are farther apart than this many sums of radii.
const APART: Real = 1.5;

/// Of these, those are kept whose gap closes within the step or is below this part of the sum of radii.
const NEXT: Real = 0.05;

/// Notes all pairs of particles of different bodies (or far parts of one) that touch or are about to.
pub(crate) fn find_pairs(world: &mut World, dt: Real) {
    let mut meetings = find_meetings(&world.scratch.bounds, 0.0);
    // Tetrahedra meet as what they are.
    let is_solid = |body: &u32| world.bodies[*body as usize].model == ModelKind::Tetra;
    meetings.retain(|bodies| !bodies.iter().any(is_solid));
    let mut found = parallel::map(meetings.len(), MEETINGS_GRAIN, |k| {
        let [a, b] = facing(world, meetings[k]);
        close_pairs(&a, &b, WATCHED, |a, b| is_due(world, a, b, dt))
    });
    let folding = |body: &&Body| body.self_contact && body.model != ModelKind::Tetra;
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
    if are_molecular(world, i, j) || are_crystals(world, i, j) {
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

/// Whether two particles are of crystals or fluids.
fn are_crystals(world: &World, a: usize, b: usize) -> bool {
    [a, b].into_iter().all(|i| world.bodies[world.particles.body[i].0 as usize].model == ModelKind::Crystal)
}

/// What two particles that touch want of each other.
pub(super) fn describe(world: &World, (i, j): (u32, u32), context: &StepContext) -> Meeting<2> {
    let store = &world.particles;
    let [a, b] = [i as usize, j as usize];
    let between = store.position[a] - store.position[b];
    let distance = between.length();
    // Coincident points part along a direction that depends on nothing but their order.
    let normal = if distance > 1e-6 * store.radius[a] { between / distance } else { Vec3::Y };
    let before = world.scratch.velocity_before[a] - world.scratch.velocity_before[b];
    let touch = Touch::new(normal, distance - store.radius[a] - store.radius[b], before);
    let pace = pace(context, store.radius[a].min(store.radius[b]));
    Meeting::new(world, [i, j], [1.0, -1.0], touch, surface_between(world, [i, j]), pace)
}

/// How the matter of two particles rubs and bounces.
pub(super) fn surface_between(world: &World, particles: [u32; 2]) -> Surface {
    surface_of(particles.map(|i| matter(world, i)))
}

/// How two kinds of matter rub and bounce.
pub(crate) fn surface_of([a, b]: [&Material; 2]) -> Surface {
    let friction = Friction::between(a.friction, b.friction);
    Surface {
        static_friction: friction.r#static,
        kinetic_friction: friction.kinetic,
        restitution: (a.restitution * b.restitution).sqrt(),
        hold: 0.0,
        film: 0.0,
    }
}
