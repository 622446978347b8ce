//! The time step: one function whose order is the specification. Frames consist of such steps
//! ([`World::advance_frame`]).

mod stages;
mod substeps;

pub use stages::{Stage, StageTimes};
pub use substeps::FrameReport;

use crate::Real;
use crate::commands::apply_commands;
use crate::contact::{self, compute_bounds, find_body_pairs, find_mesh_contacts, find_sphere_contacts};
use crate::emission::{check_emitter_speeds, exchange_matter};
use crate::error::StepError;
use crate::heat::{apply_dissipation, conduct_heat};
use crate::model::{ContactReactions, Models, View, ViewMut};
use crate::parallel;
use crate::store::Particles;
use crate::world::World;
use glam::Vec3;
use phyxel_laws::contact::drag_force;
use stages::StageTimer;

/// Quantities that are constant during a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepContext {
    /// Time step, s.
    pub dt: Real,
    /// Time at the start of the step, s.
    pub time: f64,
    /// Gravity, m/s2.
    pub gravity: Vec3,
}

/// Advances the world by one step of `dt` seconds. The order below is the specification.
///
/// On error the world is in the state before the step, except for commands that were executed.
pub fn step(world: &mut World, dt: Real, times: &mut StageTimes) -> Result<(), StepError> {
    if !(dt.is_finite() && dt > 0.0) {
        world.scratch.bounds_are_current = false;
        return Err(StepError::InvalidTimeStep { dt });
    }
    let mut timer = StageTimer::start(times);
    let context = StepContext { dt, time: world.time, gravity: world.settings.gravity };
    apply_commands(world, &context)?;
    check_emitter_speeds(world, &context)?;
    // Commands may have changed gravity.
    let context = StepContext { gravity: world.settings.gravity, ..context };
    timer.record(Stage::ApplyCommands);
    find_neighbours(world, &context);
    timer.record(Stage::FindNeighbours);
    exert_forces(world, &context);
    timer.record(Stage::ExertForces);
    advance_velocities(world, &context);
    timer.record(Stage::AdvanceVelocities);
    contact::resolve_contacts(world, &context);
    timer.record(Stage::ResolveContacts);
    advance_positions(world, &context);
    timer.record(Stage::AdvancePositions);
    let dissipated = apply_dissipation(world);
    let warmed = conduct_heat(world, &context).inspect_err(|_| restore(world))? || dissipated;
    timer.record(Stage::ConductHeat);
    change_phase(world, &context, warmed);
    timer.record(Stage::ChangePhase);
    change_topology(world);
    timer.record(Stage::ChangeTopology);
    let checked = check(world, &context);
    timer.record(Stage::Check);
    checked?;
    exchange_matter(world, &context);
    timer.record(Stage::ExchangeMatter);
    world.time += f64::from(dt);
    world.steps += 1;
    Ok(())
}

/// Particles per task in loops over columns.
const GRAIN: usize = 1 << 13;

/// Computes bounding boxes, contact candidates between bodies (spheres, boundary meshes) and the neighbours within
/// bodies.
fn find_neighbours(world: &mut World, context: &StepContext) {
    if !std::mem::take(&mut world.scratch.bounds_are_current) {
        world.scratch.bounds = compute_bounds(world);
        find_body_pairs(&mut world.scratch, context.dt);
    }
    find_sphere_contacts(world, context.dt);
    find_mesh_contacts(world, context.dt);
    let World { models, bodies, materials, particles, .. } = world;
    models.each_mut().for_each(|model| model.find_neighbours(&View { bodies, materials, particles }));
}

/// Computes the forces except gravity: internal forces of the models and drags. Without any, the column stays empty.
fn exert_forces(world: &mut World, context: &StepContext) {
    let World { models, bodies, materials, particles, .. } = world;
    particles.force.clear();
    models.each_mut().for_each(|model| model.exert_forces(&mut ViewMut { bodies, materials, particles }, context));
    if world.drags.is_empty() {
        return;
    }
    particles.force.resize(particles.mass.len(), Vec3::ZERO);
    for drag in &world.drags {
        let Some(body) = world.bodies.iter().find(|body| !body.removed && body.name == drag.body) else { continue };
        let Some(i) = particles.find(body.range(), drag.particle) else { continue };
        let body_mass: Real = particles.mass[body.range()].iter().sum();
        let (x, v) = (particles.position[i], particles.velocity[i]);
        particles.force[i] +=
            drag_force(drag.target - x, v, particles.mass[i], body_mass, drag.tau, drag.max_force, context.dt);
    }
}

/// Integrates velocities by the scheme of each model. Saves those at the start of the step.
fn advance_velocities(world: &mut World, context: &StepContext) {
    let World { models, bodies, materials, particles, obstacles, scratch, .. } = world;
    scratch.prepare_colliders(obstacles);
    let previous = &mut scratch.previous_velocity;
    previous.resize(particles.velocity.len(), Vec3::ZERO);
    std::mem::swap(previous, &mut particles.velocity);
    let contacts = contact::ContactContext::new(obstacles, scratch, context);
    let mut reactions = ContactReactions::default();
    for model in models.each_mut() {
        let mut view = ViewMut { bodies, materials, particles };
        reactions.append(model.advance_velocities(&mut view, &scratch.previous_velocity, &contacts, context));
    }
    scratch.reactions = reactions;
}

/// Integrates positions, `x += dt v`. Saves those at the start of the step.
fn advance_positions(world: &mut World, context: &StepContext) {
    let particles = &mut world.particles;
    let previous = &mut world.scratch.previous_position;
    previous.resize(particles.position.len(), Vec3::ZERO);
    std::mem::swap(previous, &mut particles.position);
    let velocity = &particles.velocity;
    parallel::for_each_chunk(&mut particles.position, GRAIN, |first, positions| {
        let end = first + positions.len();
        let previous = &previous[first..end];
        for ((position, previous), velocity) in positions.iter_mut().zip(previous).zip(&velocity[first..end]) {
            *position = *previous + *velocity * context.dt;
        }
    });
}

/// Plastic flow and phase changes, then updates of temperature-dependent properties.
///
/// Temperature comes last: quantities derived from it belong to the end of the step, as in a world read from
/// a checkpoint.
fn change_phase(world: &mut World, context: &StepContext, warmed: bool) {
    let World { models, bodies, materials, particles, .. } = world;
    models.each_mut().for_each(|model| model.change_phase(&mut ViewMut { bodies, materials, particles }, context));
    if apply_dissipation(world) || warmed {
        let World { models, bodies, materials, particles, .. } = world;
        models.each_mut().for_each(|model| model.update_thermal_state(&View { bodies, materials, particles }));
    }
}

/// Fracture, welding and melting of meshes.
fn change_topology(world: &mut World) {
    Models::visit_detached(world, |model, world| model.change_topology(world));
}

/// Checks that positions and velocities are finite; otherwise restores the start of the step and reports the
/// particle.
fn check(world: &mut World, context: &StepContext) -> Result<(), StepError> {
    let particles = &world.particles;
    let Some(i) = first_non_finite(particles) else { return Ok(()) };
    let (quantity, value) = if particles.velocity[i].is_finite() {
        ("position", particles.position[i])
    } else {
        ("velocity", particles.velocity[i])
    };
    let body = &world.bodies[particles.body[i].0 as usize];
    let error = StepError::NotFinite {
        body: body.name.clone(),
        quantity,
        particle: i as u32 - body.particles.start,
        value: value.to_string(),
        time: context.time,
    };
    restore(world);
    Err(error)
}

/// First particle with a position or velocity that is not finite.
pub(crate) fn first_non_finite(particles: &Particles) -> Option<usize> {
    let is_bad = |i: usize| !particles.position[i].is_finite() || !particles.velocity[i].is_finite();
    let found = parallel::map_ranges(particles.len(), GRAIN, |mut range| range.find(|&i| is_bad(i)));
    found.into_iter().flatten().next()
}

/// Restores positions and velocities of the start of the step.
fn restore(world: &mut World) {
    world.particles.position.clone_from(&world.scratch.previous_position);
    world.particles.velocity.clone_from(&world.scratch.previous_velocity);
}
