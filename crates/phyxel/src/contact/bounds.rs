//! Boxes around bodies: most bodies are far from most others.

use crate::Real;
use crate::parallel;
use crate::world::World;
use glam::Vec3;

/// A box around the particles of a body, and its fastest particle.
#[derive(Clone, Copy, Debug, PartialEq)]
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
}

impl BodyBounds {
    const NOTHING: Self = Self {
        min: Vec3::INFINITY,
        max: Vec3::NEG_INFINITY,
        speed: 0.0,
        slowest: Vec3::INFINITY,
        fastest: Vec3::NEG_INFINITY,
        radius: 0.0,
    };

    fn united(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            speed: self.speed.max(other.speed),
            slowest: self.slowest.min(other.slowest),
            fastest: self.fastest.max(other.fastest),
            radius: self.radius.max(other.radius),
        }
    }

    /// Largest velocity of a particle of one body relative to one of the other, m/s.
    pub fn relative_speed(&self, other: &Self) -> Real {
        let corners = (self.fastest - other.slowest).abs().max((other.fastest - self.slowest).abs());
        corners.length().min(self.speed + other.speed)
    }

    /// Whether two boxes, each widened, overlap.
    pub fn overlaps(&self, other: &Self, margin: Real) -> bool {
        let margin = Vec3::splat(margin);
        (self.min - margin).cmple(other.max).all() && other.min.cmple(self.max + margin).all()
    }
}

/// Boxes of all bodies; empty for removed ones.
pub(crate) fn measure_bodies(world: &World) -> Vec<BodyBounds> {
    let particles = &world.particles;
    let measure = |range: std::ops::Range<usize>| {
        let mut bounds = BodyBounds::NOTHING;
        for i in range {
            let radius = particles.radius[i];
            let one = BodyBounds {
                min: particles.position[i] - radius,
                max: particles.position[i] + radius,
                speed: particles.velocity[i].length_squared(),
                slowest: particles.velocity[i],
                fastest: particles.velocity[i],
                radius,
            };
            bounds = bounds.united(one);
        }
        bounds
    };
    let bodies = &world.bodies;
    parallel::map(bodies.len(), 16, |number| {
        let range = bodies[number].range();
        let parts = parallel::map_ranges(range.len(), 1 << 14, |part| {
            measure(range.start + part.start..range.start + part.end)
        });
        let all = parts.into_iter().fold(BodyBounds::NOTHING, BodyBounds::united);
        BodyBounds { speed: all.speed.sqrt(), ..all }
    })
}
