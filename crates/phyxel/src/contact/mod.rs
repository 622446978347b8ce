//! Contact: obstacles, friction, body against body. Changes velocities only.

mod bounds;
mod faces;
mod meetings;
mod obstacles;
mod pairs;
mod presses;
mod solver;
mod work;

pub(crate) use bounds::{BodyBounds, measure_bodies};
pub(crate) use faces::{FaceTouch, find_face_touches};
pub(crate) use meetings::fastest_approach;
pub(crate) use obstacles::{FILM, NODE_RADIUS, Walls, fastest_obstacle, held_momentum, is_fluid, make_colliders};
pub(crate) use pairs::{find_pairs, surface_of};
pub(crate) use presses::{Press, find_presses};

use crate::Real;
use crate::heat;
use crate::scratch::Scratch;
use crate::step::StepContext;
use crate::world::World;
use phyxel_laws::contact::Pace;
use solver::Solver;

/// Overlapping things are pushed apart at this many radii per second at most, so that a bad start does not
/// turn into an explosion.
const PUSH_RADII_PER_SECOND: Real = 20.0;

/// How a contact of a particle of this radius is paced.
pub(crate) fn pace(context: &StepContext, radius: Real) -> Pace {
    Pace {
        dt: context.dt,
        // What gravity adds in two steps is rest, not impact.
        resting: 2.0 * context.gravity.length() * context.dt,
        push_limit: PUSH_RADII_PER_SECOND * radius,
    }
}

/// Notes where particles are at obstacles that have a temperature.
fn note_shores(world: &mut World, touches: &[obstacles::ObstacleTouch]) {
    let at = touches.iter().filter(|touch| touch.is_close());
    let shores = at.filter_map(|touch| {
        let temperature = world.obstacles[touch.obstacle as usize].temperature?;
        Some(heat::shore(world, touch.particle, touch.touch.normal, touch.obstacle, temperature))
    });
    world.scratch.shores = shores.collect();
}

/// Changes velocities so that nothing moves into an obstacle or another body.
///
/// Every round computes all contacts from the same velocities and then changes them at once, so the result
/// does not depend on any order; pairs exchange momentum, obstacles come last and are not entered.
pub(crate) fn resolve_contacts(world: &mut World, context: &StepContext) {
    let touches = obstacles::find_touches(world, context);
    note_shores(world, &touches);
    let Scratch { pairs, presses, faces, .. } = &world.scratch;
    let is_alone = pairs.is_empty() && presses.is_empty() && faces.is_empty();
    if touches.is_empty() && is_alone {
        return;
    }
    let mut spheres = Solver::new(world, pairs.len(), |k| pairs::describe(world, pairs[k], context));
    let mut nodes = Solver::new(world, presses.len(), |k| presses::describe(world, k, context));
    let mut faces = Solver::new(world, faces.len(), |k| faces::describe(world, &faces[k], context)).by_mass();
    // What touches obstacles alone is done in one go; what also touches other bodies takes part in every round.
    let groups = touches.chunk_by(|a, b| a.particle == b.particle);
    let (coupled, alone): (Vec<_>, Vec<_>) = groups.partition(|group| {
        let particle = group[0].particle;
        spheres.touches(particle) || nodes.touches(particle) || faces.touches(particle)
    });
    obstacles::stop_at_obstacles(world, &alone, 1, context);
    let rounds = if is_alone { 0 } else { world.settings.contact_rounds.max(1) };
    for _ in 0..rounds {
        spheres.exchange_momentum(world);
        nodes.exchange_momentum(world);
        faces.exchange_momentum(world);
        obstacles::stop_at_obstacles(world, &coupled, rounds, context);
    }
    spheres.note_friction(world);
    nodes.note_friction(world);
    faces.note_friction(world);
    for model in &mut world.models {
        model.follow_contacts(&mut world.particles);
    }
}
