//! Response of particles to obstacles, which are kinematic: nothing displaces them.

use super::friction_heat::{friction_heats_any, material_of};
use super::params::contact_params;
use crate::Real;
use crate::contact::narrow_phase::obstacles::{SphereObstacleContact, is_fluid};
use crate::material::Friction;
use crate::obstacle::Obstacle;
use crate::parallel;
use crate::step::StepContext;
use crate::world::World;
use glam::Vec3;
use phyxel_laws::contact::{ContactParams, SurfaceProperties, contact_response, friction_work};

/// Particles per task.
const GRAIN: usize = 1024;

/// Impulse of obstacles on a particle in the implicit solution, friction included, kg m/s; `None` if its
/// model had none.
fn solved_impulse(world: &World, i: usize) -> Option<Vec3> {
    world.scratch.reactions.at_obstacle(i)
}

/// Largest impulse of adhesion of an obstacle on a particle of this radius in a step, kg m/s.
pub(crate) fn max_adhesion_impulse(obstacle: &Obstacle, radius: Real, dt: Real) -> Real {
    obstacle.adhesion * std::f32::consts::PI * radius * radius * dt
}

/// Velocity of a particle after the response to one contact, m/s.
#[inline]
fn respond(
    world: &World,
    contact: &SphereObstacleContact,
    velocity: Vec3,
    iterations: u32,
    params: &ContactParams,
) -> Vec3 {
    let (particles, i) = (&world.particles, contact.particle as usize);
    let obstacle = &world.obstacles[contact.obstacle as usize];
    // Dry friction and restitution are properties of solids, and already part of an implicit solution.
    let is_frictionless = is_fluid(world, i) || solved_impulse(world, i).is_some();
    let (friction, restitution) =
        if is_frictionless { (Friction::NONE, 0.0) } else { (obstacle.friction, obstacle.restitution) };
    let surface = SurfaceProperties {
        static_friction: friction.r#static,
        kinetic_friction: friction.kinetic,
        restitution,
        adhesion_velocity: max_adhesion_impulse(obstacle, particles.radius[i], params.dt)
            / (particles.mass[i] * iterations as Real),
        adhesion_range: contact.adhesion_range,
    };
    contact.surface_velocity + contact_response(velocity - contact.surface_velocity, &contact.point, &surface, params)
}

/// Records the frictional heat of the response that follows; obstacles take none of it.
fn add_friction_heat(world: &mut World, groups: &[&[SphereObstacleContact]], iterations: u32, context: &StepContext) {
    if !friction_heats_any(world) {
        return;
    }
    // Each iteration records its share of the impulse of the implicit solution.
    let share = |impulse: Vec3| impulse / iterations as Real;
    let heats = parallel::map(groups.len(), GRAIN, |group| {
        let particle = groups[group][0].particle;
        let (i, fraction) = (particle as usize, material_of(world, particle).heat.from_work.friction);
        let params = contact_params(context, world.particles.radius[i]);
        let (mut velocity, mut work, mut solved) =
            (world.particles.velocity[i], 0.0, solved_impulse(world, i).map(share));
        for contact in groups[group] {
            let after = respond(world, contact, velocity, iterations, &params);
            let lost = (velocity - after) * world.particles.mass[i] - solved.take().unwrap_or(Vec3::ZERO);
            let start = world.scratch.previous_velocity[i] - contact.surface_velocity;
            work += friction_work(lost, contact.point.normal, start, after - contact.surface_velocity);
            velocity = after;
        }
        work * f64::from(fraction)
    });
    let made = world.particles.heat_made_mut();
    for (group, heat) in groups.iter().zip(heats) {
        made[group[0].particle as usize] += heat;
    }
}

/// Removes the velocities of particles into obstacles, with friction, restitution and adhesion.
///
/// Each group has the contacts of one particle. This is one of `iterations` calls, which share the limit
/// of adhesion.
pub(crate) fn resolve_obstacles(
    world: &mut World,
    groups: &[&[SphereObstacleContact]],
    iterations: u32,
    context: &StepContext,
) {
    add_friction_heat(world, groups, iterations, context);
    let particles = &world.particles;
    let changed = parallel::map(groups.len(), GRAIN, |group| {
        let i = groups[group][0].particle as usize;
        let params = contact_params(context, particles.radius[i]);
        let start = particles.velocity[i];
        groups[group].iter().fold(start, |velocity, contact| respond(world, contact, velocity, iterations, &params))
    });
    for (group, velocity) in groups.iter().zip(changed) {
        world.particles.velocity[group[0].particle as usize] = velocity;
    }
}
