//! Nodes at walls, for implicit steps.

use super::grip::Grip;
use crate::Real;
use crate::contact::{FILM, NODE_RADIUS, Walls, held_momentum, pace};
use crate::material::Friction;
use crate::parallel;
use crate::particles::Particles;
use crate::step::StepContext;
use glam::{Mat3A, Vec3, Vec3A};
use phyxel_laws::contact::{Touch, pushed_velocity};
use std::ops::Range;

/// Nodes per task.
const GRAIN: usize = 1024;

/// A wall that a node would go into.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wall {
    /// Away from it.
    pub normal: Vec3,
    /// Its own velocity, m/s.
    pub carried: Vec3,
    /// The least velocity along the normal that it leaves the node, relative to it, m/s.
    pub speed: Real,
    pub friction: Friction,
    /// The most that it keeps the node with, kg m/s.
    pub kept: Real,
    pub grip: Grip,
}

/// How a node may move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Freedom {
    Free,
    /// Not along this normal.
    Along(Vec3A),
    Held,
}

impl Freedom {
    /// What is left of a vector.
    pub fn of(&self, x: Vec3) -> Vec3 {
        match self {
            Self::Free => x,
            Self::Along(normal) => x - Vec3::from(*normal) * x.dot((*normal).into()),
            Self::Held => Vec3::ZERO,
        }
    }

    /// What is left of a block between the pushes on this node and the moves of another.
    pub fn both(&self, block: &Mat3A, other: &Self) -> Mat3A {
        if (*self, *other) == (Self::Free, Self::Free) {
            return *block;
        }
        other.pushes(&self.pushes(block).transpose()).transpose()
    }

    fn pushes(&self, block: &Mat3A) -> Mat3A {
        match self {
            Self::Free => *block,
            Self::Along(normal) => {
                let along = |x: Vec3A| x - *normal * x.dot(*normal);
                Mat3A::from_cols(along(block.x_axis), along(block.y_axis), along(block.z_axis))
            }
            Self::Held => Mat3A::ZERO,
        }
    }
}

/// Which nodes of a body would go into walls with the second of these velocities, each with the wall that stops it most; the first are those
/// at the start of the step. With `is_start` both are, and nodes that lie on walls fall.
pub(super) fn find_walls(
    (walls, is_start): (&Walls, bool),
    particles: &Particles,
    range: Range<usize>,
    [before, velocities]: [&[Vec3]; 2],
    context: &StepContext,
) -> Vec<Option<Wall>> {
    let (positions, radii) = (&particles.position[range.clone()], &particles.radius[range]);
    let fastest = velocities.iter().map(|v| v.length_squared()).fold(0.0, Real::max).sqrt();
    let reach = radii.iter().copied().fold(0.0, Real::max) + fastest * context.dt;
    let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (min, max) = positions.iter().fold(start, |(min, max), &x| (min.min(x), max.max(x)));
    let near = walls.near(min, max, reach);
    parallel::map(positions.len(), GRAIN, |i| {
        let mut found: Option<(Real, Wall)> = None;
        let reach = radii[i] + velocities[i].length() * context.dt;
        near.visit(positions[i], reach, |at, carried, obstacle| {
            let touch = Touch::new(at.normal, at.distance - NODE_RADIUS * radii[i], before[i] - carried);
            let is_close = touch.gap <= FILM * radii[i];
            let fall = if is_start && is_close { context.gravity * context.dt } else { Vec3::ZERO };
            let own = (velocities[i] + fall - carried).dot(at.normal);
            let pace = pace(context, radii[i]);
            let sticks = obstacle.stickiness > 0.0 && is_close;
            let pushed = pushed_velocity(if sticks { own.min(0.0) } else { own }, &touch, obstacle.restitution, &pace);
            let change = if sticks { (pushed - own).abs() } else { pushed - own };
            if (sticks || change > 0.0) && found.is_none_or(|(most, _)| change > most) {
                let friction = obstacle.friction;
                let kept = if sticks { held_momentum(obstacle, radii[i], context.dt) } else { 0.0 };
                let grip = Grip::new(friction, touch.slide, &pace);
                found = Some((change, Wall { normal: at.normal, carried, speed: pushed, friction, kept, grip }));
            }
        });
        found.map(|(_, wall)| wall)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_block_is_left_what_acts_in_what_is_left_of_space() {
        let block = Mat3A::from_cols(Vec3A::new(3.0, 0.5, -0.2), Vec3A::new(0.5, 2.0, 0.4), Vec3A::new(-0.2, 0.4, 1.0));
        let freedom = Freedom::Along(Vec3A::new(0.48, 0.6, 0.64));
        let left = freedom.both(&block, &freedom);
        for x in [Vec3::X, Vec3::Y, Vec3::Z] {
            let expected = freedom.of((block * Vec3A::from(freedom.of(x))).into());
            // A few products of order 1 in f32.
            assert!((Vec3::from(left * Vec3A::from(x)) - expected).length() < 1e-6);
        }
        assert_eq!(Freedom::Held.both(&block, &Freedom::Free), Mat3A::ZERO);
        assert_eq!(Freedom::Free.both(&block, &Freedom::Held), Mat3A::ZERO);
    }
}
