//! Nodes at walls, for implicit steps.

use crate::Real;
use crate::contact::{NODE_RADIUS, Walls, pace};
use crate::parallel;
use crate::particles::Particles;
use crate::step::StepContext;
use glam::Vec3;
use phyxel_laws::contact::{Touch, pushed_velocity};
use std::ops::Range;

/// Nodes per task.
const GRAIN: usize = 1024;

/// A node that would go into a wall: it may go along it, and across as the wall lets it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtWall {
    /// Away from the wall.
    normal: Vec3,
    /// The velocity that the wall leaves it across, m/s.
    speed: Real,
}

impl AtWall {
    /// What of a vector is along the wall.
    pub fn along(&self, x: Vec3) -> Vec3 {
        x - self.normal * x.dot(self.normal)
    }

    /// A velocity as the wall lets it be.
    pub fn stopped(&self, velocity: Vec3) -> Vec3 {
        self.along(velocity) + self.normal * self.speed
    }

    /// Whether the wall would have to pull for this change of momentum.
    pub fn pulls(&self, change: Vec3) -> bool {
        change.dot(self.normal) < 0.0
    }

    /// The velocity into the wall from which a push (a change of velocity) leads to this one, no farther from it than `most`.
    pub fn pressed(&self, velocity: Vec3, push: Vec3, most: Real) -> Vec3 {
        velocity - self.normal * push.dot(self.normal).clamp(0.0, most)
    }
}

/// Which nodes of a body would go into walls with these velocities, each with the wall that stops it most.
pub(super) fn find_walls(
    walls: &Walls,
    particles: &Particles,
    range: Range<usize>,
    velocities: &[Vec3],
    context: &StepContext,
) -> Vec<Option<AtWall>> {
    let (positions, radii) = (&particles.position[range.clone()], &particles.radius[range]);
    let fastest = velocities.iter().map(|v| v.length_squared()).fold(0.0, Real::max).sqrt();
    let reach = radii.iter().copied().fold(0.0, Real::max) + fastest * context.dt;
    let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (min, max) = positions.iter().fold(start, |(min, max), &x| (min.min(x), max.max(x)));
    let near = walls.near(min, max, reach);
    parallel::map(positions.len(), GRAIN, |i| {
        let mut found: Option<(Real, AtWall)> = None;
        let reach = radii[i] + velocities[i].length() * context.dt;
        near.visit(positions[i], reach, |at, carried, _| {
            let touch = Touch::new(at.normal, at.distance - NODE_RADIUS * radii[i], Vec3::ZERO);
            let own = (velocities[i] - carried).dot(at.normal);
            let pushed = pushed_velocity(own, &touch, 0.0, &pace(context, radii[i]));
            if pushed > own && found.is_none_or(|(most, _)| pushed - own > most) {
                found = Some((pushed - own, AtWall { normal: at.normal, speed: pushed + carried.dot(at.normal) }));
            }
        });
        found.map(|(_, wall)| wall)
    })
}
