//! Boxes around bodies and around parts of them: most bodies are far from most others.

use crate::Real;
use crate::parallel;
use crate::world::World;
use glam::Vec3;

/// Particles per block. Particles that follow each other are neighbours in most bodies.
pub(crate) const BLOCK: usize = 32;
/// Particles per task; a multiple of [`BLOCK`].
const GRAIN: usize = 1 << 14;

/// A box around the centres of [`BLOCK`] particles that follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Block {
    /// Smallest corner, m.
    pub min: Vec3,
    /// Largest corner, m.
    pub max: Vec3,
}

impl Block {
    /// Whether it shares a point with the box between two corners.
    pub fn overlaps(&self, min: Vec3, max: Vec3) -> bool {
        (self.min.cmple(max) & self.max.cmpge(min)).all()
    }
}

/// A box around the particles of a body, and its fastest particle.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BodyBounds {
    /// Smallest corner less the radius, m.
    pub min: Vec3,
    /// Largest corner plus the radius, m.
    pub max: Vec3,
    /// m/s.
    pub speed: Real,
    /// Smallest components of the particles' velocities, m/s.
    pub slowest: Vec3,
    /// Largest components of the particles' velocities, m/s.
    pub fastest: Vec3,
    /// Largest radius, m.
    pub radius: Real,
    /// Boxes around its blocks, in the order of particles.
    pub blocks: Vec<Block>,
}

impl BodyBounds {
    const NOTHING: Self = Self {
        min: Vec3::INFINITY,
        max: Vec3::NEG_INFINITY,
        speed: 0.0,
        slowest: Vec3::INFINITY,
        fastest: Vec3::NEG_INFINITY,
        radius: 0.0,
        blocks: Vec::new(),
    };

    fn united(mut self, mut other: Self) -> Self {
        self.blocks.append(&mut other.blocks);
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            speed: self.speed.max(other.speed),
            slowest: self.slowest.min(other.slowest),
            fastest: self.fastest.max(other.fastest),
            radius: self.radius.max(other.radius),
            blocks: self.blocks,
        }
    }

    /// Largest velocity of a particle of one body relative to one of the other, m/s.
    pub fn relative_speed(&self, other: &Self) -> Real {
        let corners = (self.fastest - other.slowest).abs().max((other.fastest - self.slowest).abs());
        corners.length().min(self.speed + other.speed)
    }

    /// Bound for how fast something with these velocities moves beside a particle, or moves at all if that is slower, m/s.
    pub fn fastest_beside(&self, velocities: [Vec3; 2]) -> Real {
        let beside = |velocity: Vec3| (self.fastest - velocity).abs().max((velocity - self.slowest).abs()).length();
        let speed = |velocity: Vec3| beside(velocity).min(velocity.length());
        velocities.into_iter().map(speed).fold(0.0, Real::max)
    }

    /// Whether two boxes, each widened, overlap.
    pub fn overlaps(&self, other: &Self, margin: Real) -> bool {
        let margin = Vec3::splat(margin);
        (self.min - margin).cmple(other.max).all() && other.min.cmple(self.max + margin).all()
    }
}

/// Boxes of all bodies; empty for removed ones.
pub(crate) fn measure_bodies(world: &World) -> Vec<BodyBounds> {
    let bodies = &world.bodies;
    parallel::map(bodies.len(), 16, |number| {
        let range = bodies[number].range();
        let parts =
            parallel::map_ranges(range.len(), GRAIN, |part| measure(world, range.start + part.start, part.len()));
        let all = parts.into_iter().reduce(BodyBounds::united).unwrap_or(BodyBounds::NOTHING);
        BodyBounds { speed: all.speed.sqrt(), ..all }
    })
}

/// Bounds of particles that follow each other, with the square of their speed.
fn measure(world: &World, first: usize, count: usize) -> BodyBounds {
    let particles = &world.particles;
    let mut bounds = BodyBounds { blocks: Vec::with_capacity(count.div_ceil(BLOCK)), ..BodyBounds::NOTHING };
    for start in (first..first + count).step_by(BLOCK) {
        let range = start..(start + BLOCK).min(first + count);
        let mut block = Block { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };
        let mut radius: Real = 0.0;
        for i in range {
            let (position, velocity) = (particles.position[i], particles.velocity[i]);
            block.min = block.min.min(position);
            block.max = block.max.max(position);
            radius = radius.max(particles.radius[i]);
            bounds.speed = bounds.speed.max(velocity.length_squared());
            bounds.slowest = bounds.slowest.min(velocity);
            bounds.fastest = bounds.fastest.max(velocity);
        }
        bounds.min = bounds.min.min(block.min - radius);
        bounds.max = bounds.max.max(block.max + radius);
        bounds.radius = bounds.radius.max(radius);
        bounds.blocks.push(block);
    }
    bounds
}
