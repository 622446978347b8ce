//! Which bodies are near each other, and which of their particles.

use super::bounds::{BLOCK, BodyBounds};
use crate::Real;
use crate::body::Body;
use crate::grid::Dot;
use crate::world::World;
use glam::Vec3;

/// Pairs are looked at while their gap is below this part of the sum of their radii.
///
/// Sub-steps keep what two particles come closer in a step below a radius, half a sum of radii. So a pair that was
/// farther apart overlaps by a quarter at most when it is first looked at, and is pushed the right way.
pub(super) const WATCHED: Real = 0.25;

/// Fastest that particles come closer to each other which may meet within `horizon` seconds, m/s.
pub(crate) fn fastest_approach(bodies: &[Body], bounds: &[BodyBounds], horizon: Real) -> Real {
    let own = bodies.iter().zip(bounds).filter(|(body, _)| body.self_contact && !body.is_empty());
    let own = own.map(|(_, bounds)| bounds.relative_speed(bounds)).fold(0.0, Real::max);
    let met = find_meetings(bounds, horizon);
    met.iter().map(|[a, b]| bounds[*a as usize].relative_speed(&bounds[*b as usize])).fold(own, Real::max)
}

/// Pairs of bodies that may touch within `horizon` seconds, found by sweeping along x.
pub(super) fn find_meetings(bounds: &[BodyBounds], horizon: Real) -> Vec<[u32; 2]> {
    let there = |i: &u32| bounds[*i as usize].radius > 0.0;
    let mut order: Vec<u32> = (0..bounds.len() as u32).filter(there).collect();
    order.sort_by(|&a, &b| bounds[a as usize].min.x.total_cmp(&bounds[b as usize].min.x));
    let speed = bounds.iter().map(|b| b.speed).fold(0.0, Real::max);
    let radius = bounds.iter().map(|b| b.radius).fold(0.0, Real::max);
    let widest = 2.0 * (speed * horizon + WATCHED * radius);
    let mut meetings = Vec::new();
    for (place, &a) in order.iter().enumerate() {
        let mine = &bounds[a as usize];
        for &b in order[place + 1..].iter().take_while(|&&b| bounds[b as usize].min.x <= mine.max.x + widest) {
            let other = &bounds[b as usize];
            let margin = mine.relative_speed(other) * horizon + WATCHED * (mine.radius + other.radius);
            if mine.overlaps(other, margin) {
                meetings.push([a, b]);
            }
        }
    }
    meetings
}

/// Particles of each of two bodies that may touch one of the other's, in index order.
///
/// They lie in the other's box and, in the direction from the one crowd to the other, beyond where the other begins.
pub(super) fn facing(world: &World, bodies: [u32; 2]) -> [Vec<Dot>; 2] {
    let bounds = bodies.map(|body| &world.scratch.bounds[body as usize]);
    let reach = (1.0 + WATCHED) * (bounds[0].radius + bounds[1].radius);
    let mut sides = [0, 1].map(|side| {
        let other = bounds[1 - side];
        let widening = reach - other.radius;
        inside(world, bodies[side], other.min - widening, other.max + widening)
    });
    if sides.iter().any(Vec::is_empty) {
        return [Vec::new(), Vec::new()];
    }
    let middle = |dots: &[Dot]| dots.iter().map(|dot| dot.position).sum::<Vec3>() / dots.len() as Real;
    let along = (middle(&sides[1]) - middle(&sides[0])).normalize_or(Vec3::Y);
    let last = sides[0].iter().map(|dot| dot.position.dot(along)).fold(Real::NEG_INFINITY, Real::max);
    let first = sides[1].iter().map(|dot| dot.position.dot(along)).fold(Real::INFINITY, Real::min);
    sides[0].retain(|dot| dot.position.dot(along) >= first - reach);
    sides[1].retain(|dot| dot.position.dot(along) <= last + reach);
    sides
}

/// Particles of a body in the box between two corners.
pub(super) fn inside(world: &World, body: u32, min: Vec3, max: Vec3) -> Vec<Dot> {
    let positions = &world.particles.position;
    let range = world.bodies[body as usize].range();
    let mut dots = Vec::new();
    for (block, start) in world.scratch.bounds[body as usize].blocks.iter().zip(range.clone().step_by(BLOCK)) {
        if block.overlaps(min, max) {
            let indices = start..(start + BLOCK).min(range.end);
            let there = indices.filter(|&i| (positions[i].cmpge(min) & positions[i].cmple(max)).all());
            dots.extend(there.map(|i| dot(world, i)));
        }
    }
    dots
}

/// A particle for the search of neighbours.
pub(super) fn dot(world: &World, i: usize) -> Dot {
    Dot { position: world.particles.position[i], radius: world.particles.radius[i], particle: i as u32 }
}
