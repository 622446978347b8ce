//! Sphere-sphere contacts between the particles of two bodies, or of one body that folds.

use crate::Real;
use crate::body::Body;
use crate::contact::broad_phase::sweep_and_prune::{CONTACT_MARGIN, cull_pair, pairs_within, query_sphere};
use crate::contact::response::friction_heat::material_of;
use crate::contact::response::jacobi::ContactConstraint;
use crate::contact::response::params::contact_params;
use crate::material::{Friction, Material};
use crate::model::{ContactGeometry, OwnRepulsion};
use crate::neighbours::{QuerySphere, close_pairs, close_pairs_within};
use crate::parallel;
use crate::step::StepContext;
use crate::store::Phase;
use crate::world::World;
use glam::Vec3;
use phyxel_laws::contact::{ContactPoint, SurfaceProperties};

/// Pairs of bodies per task.
const BODY_PAIRS_GRAIN: usize = 8;
/// Particles of one body collide only if their rest distance exceeds this many sums of radii.
const MIN_REST_DISTANCE: Real = 1.5;

/// Candidates are kept if their gap may close within the step or is below this fraction of the sum of radii.
const CLOSE_GAP: Real = 0.05;

/// Finds all pairs of particles of different bodies, or of distant regions of one, that touch or may
/// touch within the step.
pub(crate) fn find_sphere_contacts(world: &mut World, dt: Real) {
    let has_spheres = |body: &Body| body.model.traits().geometry == ContactGeometry::Spheres;
    let are_spheres = |pair: &[u32; 2]| pair.iter().all(|&k| has_spheres(&world.bodies[k as usize]));
    let pairs: Vec<[u32; 2]> = pairs_within(&world.scratch, 0.0).filter(are_spheres).collect();
    let mut found = parallel::map(pairs.len(), BODY_PAIRS_GRAIN, |k| {
        let [a, b] = cull_pair(world, pairs[k]);
        close_pairs(&a, &b, CONTACT_MARGIN, |a, b| may_touch(world, a, b, dt))
    });
    let has_self_contact = |body: &&Body| body.self_contact && has_spheres(body);
    let within = world.bodies.iter().filter(has_self_contact).map(|body| {
        let spheres: Vec<QuerySphere> = body.range().map(|i| query_sphere(world, i)).collect();
        let rest = &world.particles.rest;
        close_pairs_within(&spheres, CONTACT_MARGIN, |a, b| {
            let rest_distance = rest[a.index as usize].distance(rest[b.index as usize]);
            rest_distance >= MIN_REST_DISTANCE * (a.radius + b.radius) && may_touch(world, a, b, dt)
        })
    });
    found.extend(within);
    world.scratch.sphere_pairs = found.concat();
}

/// Returns true if two particles touch or may touch within the step and have no other repulsion, as
/// molecules, crystals and fluids have.
fn may_touch(world: &World, a: &QuerySphere, b: &QuerySphere, dt: Real) -> bool {
    let [i, j] = [a.index as usize, b.index as usize];
    if have_own_repulsion(world, i, j) {
        return false;
    }
    let velocity = |sphere: &QuerySphere| world.particles.velocity[sphere.index as usize];
    let radii = a.radius + b.radius;
    let offset = a.position - b.position;
    let distance = offset.length();
    let approach_speed = -(velocity(a) - velocity(b)).dot(offset) / distance.max(1e-6 * radii);
    distance - radii < CLOSE_GAP * radii + approach_speed.max(0.0) * dt
}

/// Returns true if two particles of one model repel each other by a law of the model.
fn have_own_repulsion(world: &World, a: usize, b: usize) -> bool {
    let [repulsion, other] =
        [a, b].map(|i| world.bodies[world.particles.body[i].0 as usize].model.traits().own_repulsion);
    let is_solid = |i: usize| world.particles.phase[i] == Phase::Solid;
    repulsion == other
        && match repulsion {
            OwnRepulsion::None => false,
            OwnRepulsion::Molten => !(is_solid(a) && is_solid(b)),
            OwnRepulsion::Pressure => true,
        }
}

/// Contact constraint of a pair of particles.
pub(in crate::contact) fn make_constraint(
    world: &World,
    (i, j): (u32, u32),
    context: &StepContext,
) -> ContactConstraint<2> {
    let store = &world.particles;
    let [a, b] = [i as usize, j as usize];
    let offset = store.position[a] - store.position[b];
    let distance = offset.length();
    // Coincident points separate along a fixed direction, by their order.
    let normal = if distance > 1e-6 * store.radius[a] { offset / distance } else { Vec3::Y };
    let initial_velocity = world.scratch.previous_velocity[a] - world.scratch.previous_velocity[b];
    let point = ContactPoint::new(normal, distance - store.radius[a] - store.radius[b], initial_velocity);
    let params = contact_params(context, store.radius[a].min(store.radius[b]));
    ContactConstraint::new(world, [i, j], [1.0, -1.0], point, surface_between(world, [i, j]), params)
}

/// Friction and restitution between the materials of two particles.
pub(in crate::contact) fn surface_between(world: &World, particles: [u32; 2]) -> SurfaceProperties {
    combine_surfaces(particles.map(|i| material_of(world, i)))
}

/// Friction and restitution between two materials: geometric means, no adhesion.
pub(crate) fn combine_surfaces([a, b]: [&Material; 2]) -> SurfaceProperties {
    let friction = Friction::between(a.friction, b.friction);
    SurfaceProperties {
        static_friction: friction.r#static,
        kinetic_friction: friction.kinetic,
        restitution: (a.restitution * b.restitution).sqrt(),
        adhesion_velocity: 0.0,
        adhesion_range: 0.0,
    }
}
