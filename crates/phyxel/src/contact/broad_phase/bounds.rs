//! Two-level axis-aligned bounding boxes: of bodies, and of blocks of their particles.

use crate::Real;
use crate::parallel;
use crate::world::World;
use glam::Vec3;

/// Particles per block. Consecutive particles are neighbours in most bodies.
pub(crate) const BLOCK_LEN: usize = 32;
/// Particles per task; a multiple of [`BLOCK`].
const GRAIN: usize = 1 << 14;

/// Bounding box of the centres of [`BLOCK_LEN`] consecutive particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BlockBounds {
    /// Lower corner, m.
    pub min: Vec3,
    /// Upper corner, m.
    pub max: Vec3,
}

impl BlockBounds {
    /// Returns true if it intersects the box from `min` to `max`.
    pub fn overlaps(&self, min: Vec3, max: Vec3) -> bool {
        (self.min.cmple(max) & self.max.cmpge(min)).all()
    }
}

/// Bounding box of a body in space and in velocity space.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BodyBounds {
    /// Lower corner, radii included, m.
    pub min: Vec3,
    /// Upper corner, radii included, m.
    pub max: Vec3,
    /// Largest speed of a particle, m/s.
    pub max_speed: Real,
    /// Componentwise minimum of the velocities, m/s.
    pub min_velocity: Vec3,
    /// Componentwise maximum of the velocities, m/s.
    pub max_velocity: Vec3,
    /// Largest radius of a particle, m.
    pub max_radius: Real,
    /// Boxes of its blocks, in the order of particles.
    pub blocks: Vec<BlockBounds>,
}

impl BodyBounds {
    const EMPTY: Self = Self {
        min: Vec3::INFINITY,
        max: Vec3::NEG_INFINITY,
        max_speed: 0.0,
        min_velocity: Vec3::INFINITY,
        max_velocity: Vec3::NEG_INFINITY,
        max_radius: 0.0,
        blocks: Vec::new(),
    };

    fn union(mut self, mut other: Self) -> Self {
        self.blocks.append(&mut other.blocks);
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            max_speed: self.max_speed.max(other.max_speed),
            min_velocity: self.min_velocity.min(other.min_velocity),
            max_velocity: self.max_velocity.max(other.max_velocity),
            max_radius: self.max_radius.max(other.max_radius),
            blocks: self.blocks,
        }
    }

    /// Upper bound of the relative speed of a particle of each of two bodies, m/s.
    pub fn max_relative_speed(&self, other: &Self) -> Real {
        let largest =
            (self.max_velocity - other.min_velocity).abs().max((other.max_velocity - self.min_velocity).abs());
        largest.length().min(self.max_speed + other.max_speed)
    }

    /// Upper bound, over some velocities, of the speed relative to any particle, or of the speed itself
    /// where that is less, m/s.
    pub fn max_speed_beside(&self, velocities: [Vec3; 2]) -> Real {
        let beside =
            |velocity: Vec3| (self.max_velocity - velocity).abs().max((velocity - self.min_velocity).abs()).length();
        let speed = |velocity: Vec3| beside(velocity).min(velocity.length());
        velocities.into_iter().map(speed).fold(0.0, Real::max)
    }

    /// Returns true if the boxes intersect once one is widened by `margin`, m.
    pub fn overlaps(&self, other: &Self, margin: Real) -> bool {
        let margin = Vec3::splat(margin);
        (self.min - margin).cmple(other.max).all() && other.min.cmple(self.max + margin).all()
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
        let mut block = BlockBounds { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };
        let mut radius: Real = 0.0;
        for i in range {
            let (position, velocity) = (particles.position[i], particles.velocity[i]);
            block.min = block.min.min(position);
            block.max = block.max.max(position);
            radius = radius.max(particles.radius[i]);
            bounds.max_speed = bounds.max_speed.max(velocity.length_squared());
            bounds.min_velocity = bounds.min_velocity.min(velocity);
            bounds.max_velocity = bounds.max_velocity.max(velocity);
        }
        bounds.min = bounds.min.min(block.min - radius);
        bounds.max = bounds.max.max(block.max + radius);
        bounds.max_radius = bounds.max_radius.max(radius);
        bounds.blocks.push(block);
    }
    bounds
}
