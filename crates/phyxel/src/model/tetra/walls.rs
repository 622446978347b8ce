//! Nodes at walls, for implicit steps.

use super::grip::Grip;
use crate::Real;
use crate::collider::Nearness;
use crate::contact::{FILM, NODE_RADIUS, Walls, held_momentum, pace};
use crate::material::Friction;
use crate::obstacle::Obstacle;
use crate::parallel;
use crate::particles::Particles;
use crate::step::StepContext;
use glam::{Mat3A, Vec3, Vec3A};
use phyxel_laws::contact::{Touch, pushed_velocity};
use std::ops::Range;

/// Nodes per task.
const GRAIN: usize = 1024;
/// How much farther than nodes go with the first velocities surfaces are looked for: enough for most of those that follow.
const AHEAD: Real = 1.5;

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
    Along(Vec3),
    Held,
}

impl Freedom {
    /// What is left of a vector.
    pub fn of(&self, x: Vec3) -> Vec3 {
        match self {
            Self::Free => x,
            Self::Along(normal) => x - *normal * x.dot(*normal),
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
                let normal = &Vec3A::from(*normal);
                let along = |x: Vec3A| x - *normal * x.dot(*normal);
                Mat3A::from_cols(along(block.x_axis), along(block.y_axis), along(block.z_axis))
            }
            Self::Held => Mat3A::ZERO,
        }
    }
}

/// What is around the nodes of bodies that are solved for together, where these are at the start of a step.
///
/// Velocities change from search to search, places do not: surfaces are looked for once, farther than nodes go at first.
pub(super) struct Surroundings<'a> {
    walls: &'a Walls<'a>,
    particles: &'a Particles,
    /// Particles of each body.
    ranges: &'a [Range<usize>],
    /// Velocities of all particles at the start of the step, m/s.
    before: &'a [Vec3],
    context: &'a StepContext,
    /// The largest radius of a node, m.
    radius: Real,
    /// How far from nodes surfaces were looked for, m.
    reach: Real,
    /// By node.
    near: Vec<Near<'a>>,
}

/// A surface near a node.
struct Near<'a> {
    /// Among all that are solved for, and among all particles.
    node: usize,
    particle: usize,
    at: Nearness,
    /// Its velocity, m/s.
    carried: Vec3,
    obstacle: &'a Obstacle,
}

impl<'a> Surroundings<'a> {
    /// Of bodies whose particles are these, with the velocities of all particles at the start of the step, m/s.
    pub fn new(
        walls: &'a Walls<'a>,
        particles: &'a Particles,
        (ranges, before): (&'a [Range<usize>], &'a [Vec3]),
        context: &'a StepContext,
    ) -> Self {
        let radii = ranges.iter().flat_map(|range| &particles.radius[range.clone()]);
        let radius = radii.copied().fold(0.0, Real::max);
        Self { walls, particles, ranges, before, context, radius, reach: Real::NEG_INFINITY, near: Vec::new() }
    }

    /// Which nodes would go into walls with these velocities, m/s, each with the wall that stops it most, by node. With `is_start` velocities are
    /// those at the start of the step, and nodes that lie on walls fall.
    pub fn find_walls(&mut self, velocities: &[Vec3], is_start: bool) -> Vec<(usize, Wall)> {
        let fastest = velocities.iter().map(|v| v.length_squared()).fold(0.0, Real::max).sqrt();
        let reach = self.radius + fastest * self.context.dt;
        if reach > self.reach {
            self.reach = AHEAD * reach;
            self.near = self.look();
        }
        let mut found: Vec<(usize, Wall)> = Vec::new();
        for of_node in self.near.chunk_by(|a, b| a.node == b.node) {
            let walls = of_node.iter().filter_map(|near| near.stops(self, velocities[near.node], is_start));
            // Of those that stop it as much, the first.
            let most = walls.reduce(|most, wall| if wall.0 > most.0 { wall } else { most });
            found.extend(most.map(|(_, wall)| (of_node[0].node, wall)));
        }
        found
    }

    /// Surfaces within reach of nodes.
    fn look(&self) -> Vec<Near<'a>> {
        let mut all = Vec::new();
        let mut first = 0;
        for range in self.ranges {
            let positions = &self.particles.position[range.clone()];
            let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
            let (min, max) = positions.iter().fold(start, |(min, max), &x| (min.min(x), max.max(x)));
            let walls = self.walls.near(min, max, self.reach);
            let found = parallel::map_ranges(positions.len(), GRAIN, |own| {
                let mut found = Vec::new();
                for i in own {
                    let (node, particle) = (first + i, range.start + i);
                    walls.visit(positions[i], self.reach, |at, carried, obstacle| {
                        found.push(Near { node, particle, at, carried, obstacle });
                    });
                }
                found
            });
            all.extend(found.into_iter().flatten());
            first += range.len();
        }
        all
    }
}

impl Near<'_> {
    /// The wall that it is for its node with this velocity, and how much it changes that, m/s; nothing if it does not stop it.
    fn stops(&self, around: &Surroundings, velocity: Vec3, is_start: bool) -> Option<(Real, Wall)> {
        let Self { particle, at, carried, obstacle, .. } = self;
        let (radius, context) = (around.particles.radius[*particle], around.context);
        let is_in_reach = at.distance <= radius + velocity.length() * context.dt;
        if !is_in_reach {
            return None;
        }
        let touch = Touch::new(at.normal, at.distance - NODE_RADIUS * radius, around.before[*particle] - *carried);
        let is_close = touch.gap <= FILM * radius;
        let fall = if is_start && is_close { context.gravity * context.dt } else { Vec3::ZERO };
        let own = (velocity + fall - *carried).dot(at.normal);
        let pace = pace(context, radius);
        let sticks = obstacle.stickiness > 0.0 && is_close;
        let pushed = pushed_velocity(if sticks { own.min(0.0) } else { own }, &touch, obstacle.restitution, &pace);
        let change = if sticks { (pushed - own).abs() } else { pushed - own };
        (sticks || change > 0.0).then(|| {
            let friction = obstacle.friction;
            let kept = if sticks { held_momentum(obstacle, radius, context.dt) } else { 0.0 };
            let grip = Grip::new(friction, touch.slide, &pace);
            (change, Wall { normal: at.normal, carried: *carried, speed: pushed, friction, kept, grip })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_block_is_left_what_acts_in_what_is_left_of_space() {
        let block = Mat3A::from_cols(Vec3A::new(3.0, 0.5, -0.2), Vec3A::new(0.5, 2.0, 0.4), Vec3A::new(-0.2, 0.4, 1.0));
        let freedom = Freedom::Along(Vec3::new(0.48, 0.6, 0.64));
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
