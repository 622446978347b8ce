//! Sweep and prune over bodies, and culling of the particles of a pair.

use super::bounds::{BLOCK_LEN, BodyBounds};
use crate::Real;
use crate::body::Body;
use crate::neighbours::QuerySphere;
use crate::world::World;
use glam::Vec3;

/// Contact margin: pairs are candidates while their gap is below this fraction of the sum of their radii.
///
/// Sub-steps keep the approach of two particles in a step below a radius, half the sum of radii. So a
/// pair that was farther apart overlaps by a quarter at most when it becomes a candidate, and is
/// separated in the right direction.
pub(in crate::contact) const CONTACT_MARGIN: Real = 0.25;

/// Upper bound of the approach speed of particles that may touch within `horizon` seconds, m/s.
pub(crate) fn max_approach_speed(bodies: &[Body], bounds: &[BodyBounds], horizon: Real) -> Real {
    let of_one_body = bodies.iter().zip(bounds).filter(|(body, _)| body.self_contact && !body.is_empty());
    let of_one_body = of_one_body.map(|(_, bounds)| bounds.max_relative_speed(bounds)).fold(0.0, Real::max);
    let pairs = sweep_and_prune(bounds, horizon);
    pairs.iter().map(|[a, b]| bounds[*a as usize].max_relative_speed(&bounds[*b as usize])).fold(of_one_body, Real::max)
}

/// Finds the pairs of bodies that may touch within `horizon` seconds, by sweep and prune along x.
pub(in crate::contact) fn sweep_and_prune(bounds: &[BodyBounds], horizon: Real) -> Vec<[u32; 2]> {
    let is_present = |i: &u32| bounds[*i as usize].max_radius > 0.0;
    let mut order: Vec<u32> = (0..bounds.len() as u32).filter(is_present).collect();
    order.sort_by(|&a, &b| bounds[a as usize].min.x.total_cmp(&bounds[b as usize].min.x));
    let speed = bounds.iter().map(|b| b.max_speed).fold(0.0, Real::max);
    let radius = bounds.iter().map(|b| b.max_radius).fold(0.0, Real::max);
    let max_margin = 2.0 * (speed * horizon + CONTACT_MARGIN * radius);
    let mut pairs = Vec::new();
    for (k, &a) in order.iter().enumerate() {
        let one = &bounds[a as usize];
        for &b in order[k + 1..].iter().take_while(|&&b| bounds[b as usize].min.x <= one.max.x + max_margin) {
            let other = &bounds[b as usize];
            let margin = one.max_relative_speed(other) * horizon + CONTACT_MARGIN * (one.max_radius + other.max_radius);
            if one.overlaps(other, margin) {
                pairs.push([a, b]);
            }
        }
    }
    pairs
}

/// Culls the particles of two bodies to those that may touch the other body, in index order.
///
/// They lie in the other's box and, along the axis between the centroids of both sets, beyond the first
/// particle of the other set.
pub(in crate::contact) fn cull_pair(world: &World, bodies: [u32; 2]) -> [Vec<QuerySphere>; 2] {
    let bounds = bodies.map(|body| &world.scratch.bounds[body as usize]);
    let cutoff = (1.0 + CONTACT_MARGIN) * (bounds[0].max_radius + bounds[1].max_radius);
    let mut sides = [0, 1].map(|side| {
        let other = bounds[1 - side];
        let widening = cutoff - other.max_radius;
        particles_in_box(world, bodies[side], other.min - widening, other.max + widening)
    });
    if sides.iter().any(Vec::is_empty) {
        return [Vec::new(), Vec::new()];
    }
    let centroid =
        |spheres: &[QuerySphere]| spheres.iter().map(|sphere| sphere.position).sum::<Vec3>() / spheres.len() as Real;
    let axis = (centroid(&sides[1]) - centroid(&sides[0])).normalize_or(Vec3::Y);
    let last = sides[0].iter().map(|sphere| sphere.position.dot(axis)).fold(Real::NEG_INFINITY, Real::max);
    let first = sides[1].iter().map(|sphere| sphere.position.dot(axis)).fold(Real::INFINITY, Real::min);
    sides[0].retain(|sphere| sphere.position.dot(axis) >= first - cutoff);
    sides[1].retain(|sphere| sphere.position.dot(axis) <= last + cutoff);
    sides
}

/// Finds the particles of a body whose centres lie in the box from `min` to `max`.
pub(in crate::contact) fn particles_in_box(world: &World, body: u32, min: Vec3, max: Vec3) -> Vec<QuerySphere> {
    let positions = &world.particles.position;
    let range = world.bodies[body as usize].range();
    let mut spheres = Vec::new();
    for (block, start) in world.scratch.bounds[body as usize].blocks.iter().zip(range.clone().step_by(BLOCK_LEN)) {
        if block.overlaps(min, max) {
            let indices = start..(start + BLOCK_LEN).min(range.end);
            let inside = indices.filter(|&i| (positions[i].cmpge(min) & positions[i].cmple(max)).all());
            spheres.extend(inside.map(|i| query_sphere(world, i)));
        }
    }
    spheres
}

/// Query sphere of a particle for the neighbour search.
pub(in crate::contact) fn query_sphere(world: &World, i: usize) -> QuerySphere {
    QuerySphere { position: world.particles.position[i], radius: world.particles.radius[i], index: i as u32 }
}
