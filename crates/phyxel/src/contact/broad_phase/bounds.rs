//! Two-level axis-aligned bounding boxes: of bodies, and of blocks of their particles.

use crate::Real;
use crate::numerics::Aabb;
use crate::parallel;
use crate::world::World;
use glam::Vec3;

/// Particles per block. Consecutive particles are neighbours in most bodies.
pub(crate) const BLOCK_LEN: usize = 32;
/// Particles per task; a multiple of [`BLOCK`].
const GRAIN: usize = 1 << 14;

/// Bounding box of a body in space and in velocity space.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BodyBounds {
    /// Radii included, m.
    pub aabb: Aabb,
    /// Box of the velocities, m/s.
    pub velocities: Aabb,
    /// Largest speed of a particle, m/s.
    pub max_speed: Real,
    /// Largest radius of a particle, m.
    pub max_radius: Real,
    /// Boxes of the centres of [`BLOCK_LEN`] consecutive particles each, in their order.
    pub blocks: Vec<Aabb>,
}

impl BodyBounds {
    const EMPTY: Self =
        Self { aabb: Aabb::EMPTY, velocities: Aabb::EMPTY, max_speed: 0.0, max_radius: 0.0, blocks: Vec::new() };

    fn union(mut self, mut other: Self) -> Self {
        self.blocks.append(&mut other.blocks);
        Self {
            aabb: self.aabb.union(other.aabb),
            velocities: self.velocities.union(other.velocities),
            max_speed: self.max_speed.max(other.max_speed),
            max_radius: self.max_radius.max(other.max_radius),
            blocks: self.blocks,
        }
    }

    /// Upper bound of the relative speed of a particle of each of two bodies, m/s.
    pub fn max_relative_speed(&self, other: &Self) -> Real {
        let (a, b) = (self.velocities, other.velocities);
        let largest = (a.max - b.min).abs().max((b.max - a.min).abs());
        largest.length().min(self.max_speed + other.max_speed)
    }

    /// Upper bound, over some velocities, of the speed relative to any particle, or of the speed itself
    /// where that is less, m/s.
    pub fn max_speed_beside(&self, velocities: [Vec3; 2]) -> Real {
        let Aabb { min, max } = self.velocities;
        let beside = |velocity: Vec3| (max - velocity).abs().max((velocity - min).abs()).length();
        let speed = |velocity: Vec3| beside(velocity).min(velocity.length());
        velocities.into_iter().map(speed).fold(0.0, Real::max)
    }

    /// Returns true if the boxes intersect once one is widened by `margin`, m.
    pub fn overlaps(&self, other: &Self, margin: Real) -> bool {
        self.aabb.inflated(margin).overlaps(&other.aabb)
    }
}

/// Computes the bounds of all bodies; empty for removed ones.
pub(crate) fn compute_bounds(world: &World) -> Vec<BodyBounds> {
    let bodies = &world.bodies;
    parallel::map(bodies.len(), 16, |body| {
        let range = bodies[body].range();
        let chunks = parallel::map_ranges(range.len(), GRAIN, |chunk| {
            bounds_of_range(world, range.start + chunk.start, chunk.len())
        });
        let all = chunks.into_iter().reduce(BodyBounds::union).unwrap_or(BodyBounds::EMPTY);
        BodyBounds { max_speed: all.max_speed.sqrt(), ..all }
    })
}

/// Computes the bounds of consecutive particles, with the square of their speed as `max_speed`.
fn bounds_of_range(world: &World, first: usize, count: usize) -> BodyBounds {
    let particles = &world.particles;
    let mut bounds = BodyBounds { blocks: Vec::with_capacity(count.div_ceil(BLOCK_LEN)), ..BodyBounds::EMPTY };
    for start in (first..first + count).step_by(BLOCK_LEN) {
        let range = start..(start + BLOCK_LEN).min(first + count);
        let mut block = Aabb::EMPTY;
        let mut radius: Real = 0.0;
        for i in range {
            let velocity = particles.velocity[i];
            block = block.including(particles.position[i]);
            radius = radius.max(particles.radius[i]);
            bounds.max_speed = bounds.max_speed.max(velocity.length_squared());
            bounds.velocities = bounds.velocities.including(velocity);
        }
        bounds.aabb = bounds.aabb.union(block.inflated(radius));
        bounds.max_radius = bounds.max_radius.max(radius);
        bounds.blocks.push(block);
    }
    bounds
}
