//! Sweep and prune over bodies, and culling of the particles of a pair.

use super::bounds::{BLOCK_LEN, BodyBounds};
use crate::Real;
use crate::body::Body;
use crate::neighbours::QuerySphere;
use crate::numerics::Aabb;
use crate::scratch::Scratch;
use crate::world::World;
use glam::Vec3;

/// Contact margin: pairs are candidates while their gap is below this fraction of the sum of their radii.
///
/// Sub-steps keep the approach of two particles in a step below a radius, half the sum of radii. So a
/// pair that was farther apart overlaps by a quarter at most when it becomes a candidate, and is
/// separated in the right direction.
pub(crate) const CONTACT_MARGIN: Real = 0.25;

/// Upper bound of the approach speed of particles that may touch within `horizon` seconds, m/s.
pub(crate) fn max_approach_speed(bodies: &[Body], scratch: &Scratch, horizon: Real) -> Real {
    let bounds = &scratch.bounds;
    let of_one_body = bodies.iter().zip(bounds).filter(|(body, _)| body.self_contact && !body.is_empty());
    let of_one_body = of_one_body.map(|(_, bounds)| bounds.max_relative_speed(bounds)).fold(0.0, Real::max);
    let speed = |[a, b]: [u32; 2]| bounds[a as usize].max_relative_speed(&bounds[b as usize]);
    pairs_within(scratch, horizon).map(speed).fold(of_one_body, Real::max)
}

/// Computes the pairs of bodies that may touch within `horizon` seconds, for all searches of a step.
pub(crate) fn find_body_pairs(scratch: &mut Scratch, horizon: Real) {
    scratch.body_pairs = sweep_and_prune(&scratch.bounds, horizon);
}

/// Pairs of bodies that may touch within `horizon` seconds, at most that of the last
/// [`find_body_pairs`].
pub(crate) fn pairs_within(scratch: &Scratch, horizon: Real) -> impl Iterator<Item = [u32; 2]> {
    let bounds = &scratch.bounds;
    let overlap = move |[a, b]: &[u32; 2]| may_touch(&bounds[*a as usize], &bounds[*b as usize], horizon);
    scratch.body_pairs.iter().copied().filter(overlap)
}

/// Returns true if two bodies may touch within `horizon` seconds.
fn may_touch(a: &BodyBounds, b: &BodyBounds, horizon: Real) -> bool {
    let margin = a.max_relative_speed(b) * horizon + CONTACT_MARGIN * (a.max_radius + b.max_radius);
    a.overlaps(b, margin)
}

/// Finds the pairs of bodies that may touch within `horizon` seconds, by sweep and prune along x.
fn sweep_and_prune(bounds: &[BodyBounds], horizon: Real) -> Vec<[u32; 2]> {
    let is_present = |i: &u32| bounds[*i as usize].max_radius > 0.0;
    let mut order: Vec<u32> = (0..bounds.len() as u32).filter(is_present).collect();
    let min_x = |body: u32| bounds[body as usize].aabb.min.x;
    order.sort_by(|&a, &b| min_x(a).total_cmp(&min_x(b)));
    let speed = bounds.iter().map(|b| b.max_speed).fold(0.0, Real::max);
    let radius = bounds.iter().map(|b| b.max_radius).fold(0.0, Real::max);
    let max_margin = 2.0 * (speed * horizon + CONTACT_MARGIN * radius);
    let mut pairs = Vec::new();
    for (k, &a) in order.iter().enumerate() {
        let one = &bounds[a as usize];
        for &b in order[k + 1..].iter().take_while(|&&b| min_x(b) <= one.aabb.max.x + max_margin) {
            if may_touch(one, &bounds[b as usize], horizon) {
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
        particles_in_box(world, bodies[side], &other.aabb.inflated(cutoff - other.max_radius))
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

/// Finds the particles of a body whose centres lie in a box.
pub(crate) fn particles_in_box(world: &World, body: u32, aabb: &Aabb) -> Vec<QuerySphere> {
    let positions = &world.particles.position;
    let range = world.bodies[body as usize].range();
    let mut spheres = Vec::new();
    for (block, start) in world.scratch.bounds[body as usize].blocks.iter().zip(range.clone().step_by(BLOCK_LEN)) {
        if block.overlaps(aabb) {
            let indices = start..(start + BLOCK_LEN).min(range.end);
            let inside = indices.filter(|&i| aabb.contains(positions[i]));
            spheres.extend(inside.map(|i| query_sphere(world, i)));
        }
    }
    spheres
}

/// Query sphere of a particle for the neighbour search.
pub(in crate::contact) fn query_sphere(world: &World, i: usize) -> QuerySphere {
    QuerySphere { position: world.particles.position[i], radius: world.particles.radius[i], index: i as u32 }
}
