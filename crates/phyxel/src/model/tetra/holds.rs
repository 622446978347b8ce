//! Nodes inside of other bodies, for implicit steps: pushes and friction between bodies that are solved for together.

use super::grip::{Grip, Verdict};
use super::matrix::Matrix;
use crate::Real;
use crate::contact::{Press, pace};
use crate::material::Friction;
use crate::particles::{Flags, Particles};
use crate::step::StepContext;
use glam::{Mat3A, Vec3, Vec3A};
use phyxel_laws::contact::{Surface, Touch, pushed_velocity};

/// How much firmer a touch is than the matter at it. The search for velocities takes longer by about its root.
const FIRM: Real = 3.0;
/// Steps in which depth is worked off. Under pressure nodes then are in each other by so many times the strain, over [`FIRM`], in parts of a
/// spacing.
const STEPS: Real = 2.0;

/// A node that others push out of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    /// The press that it is of.
    pub press: usize,
    /// The node and those of the face, among all that are solved for.
    pub nodes: [usize; 4],
    /// Parts of their velocities in that of the node relative to the face; they add up to nothing.
    parts: [Real; 4],
    normal: Vec3,
    /// The velocity of the node relative to the face along the normal that is wanted, m/s.
    speed: Real,
    /// Momentum for each m/s that is missing, kg.
    firm: Real,
    friction: Friction,
    pub grip: Grip,
    /// Whether it does not hold, because it would have to pull.
    pub is_open: bool,
}

impl Hold {
    /// With `weight` the resistance of nodes to changes of their velocities, kg; nothing if none may move.
    pub fn new(
        (number, press): (usize, &Press),
        (particles, before): (&Particles, &[Vec3]),
        surface: Surface,
        context: &StepContext,
        place: impl Fn(u32) -> usize,
        weight: impl Fn(usize) -> Real,
    ) -> Option<Self> {
        let ([a, b, c], [p, q, r]) = (press.face, press.parts);
        let (all, parts) = ([press.node, a, b, c], [1.0, -p, -q, -r]);
        let nodes = all.map(&place);
        let gives = |k: usize| {
            let is_held = particles.flags[all[k] as usize].has(Flags::HELD);
            if is_held { 0.0 } else { parts[k] * parts[k] / weight(nodes[k]) }
        };
        let gives: Real = (0..4).map(gives).sum();
        let velocity: Vec3 = (0..4).map(|k| before[all[k] as usize] * parts[k]).sum();
        let touch = Touch::new(press.normal, -press.depth, velocity);
        let pace = pace(context, particles.radius[press.node as usize]);
        let out = (press.depth / (STEPS * context.dt)).min(pace.push_limit);
        let speed = pushed_velocity(Real::NEG_INFINITY, &touch, surface.restitution, &pace).max(out);
        let friction = Friction { r#static: surface.static_friction, kinetic: surface.kinetic_friction };
        (gives > 0.0).then(|| Self {
            press: number,
            nodes,
            parts,
            normal: press.normal,
            speed,
            firm: FIRM / gives,
            friction,
            grip: Grip::new(friction, touch.slide, &pace),
            is_open: false,
        })
    }

    /// The same between nodes by other numbers.
    pub fn between(self, nodes: [usize; 4]) -> Self {
        Self { nodes, ..self }
    }

    /// Momentum that the node is given at these velocities, kg m/s.
    pub fn push(&self, velocities: &[Vec3]) -> Vec3 {
        if self.is_open {
            return Vec3::ZERO;
        }
        let relative = self.relative(|k| velocities[self.nodes[k]]);
        let along = relative.dot(self.normal);
        let friction = match self.grip {
            Grip::Sticks => -self.firm * (relative - self.normal * along),
            Grip::Slides(given) => given,
        };
        self.normal * (self.firm * (self.speed - along)) + friction
    }

    /// The node relative to the face.
    fn relative(&self, of: impl Fn(usize) -> Vec3) -> Vec3 {
        (1..4).fold(of(0) * self.parts[0], |sum, k| sum + of(k) * self.parts[k])
    }

    /// Momentum that its nodes are given at these velocities.
    pub fn pushes(&self, velocities: &[Vec3]) -> [Vec3; 4] {
        let push = self.push(velocities);
        self.parts.map(|part| push * part)
    }

    /// Lets go if it would have to pull for these velocities, and holds if its nodes come together; how much momentum that changes, kg m/s.
    pub fn follow(&mut self, velocities: &[Vec3]) -> Real {
        let relative = self.relative(|k| velocities[self.nodes[k]]).dot(self.normal);
        let is_new = self.is_open != (relative > self.speed);
        self.is_open ^= is_new;
        if is_new { self.firm * (relative - self.speed).abs() } else { 0.0 }
    }

    /// What is to be said of friction after these velocities were found; nothing while it does not hold.
    pub fn judge(&self, velocities: &[Vec3]) -> Option<Verdict> {
        let push = self.push(velocities);
        let along = push.dot(self.normal);
        let across = push - self.normal * along;
        (!self.is_open).then(|| self.grip.judge(self.friction, along, across, self.sliding(velocities)))
    }

    /// The node relative to the face, along the face.
    pub fn sliding(&self, velocities: &[Vec3]) -> Vec3 {
        let relative = self.relative(|k| velocities[self.nodes[k]]);
        relative - self.normal * relative.dot(self.normal)
    }

    /// What its nodes resist these moves with, kg m/s.
    pub fn resists(&self, moves: [Vec3; 4]) -> [Vec3; 4] {
        let relative = self.relative(|k| moves[k]);
        let along = self.normal * relative.dot(self.normal);
        let push = along * self.firm() + (relative - along) * self.rough();
        self.parts.map(|part| push * part)
    }

    /// What the node at a place resists moves of that at another with, kg.
    pub fn block(&self, row: usize, column: usize) -> Mat3A {
        let normal = Vec3A::from(self.normal);
        let square = Mat3A::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        let both = square * (self.firm() - self.rough()) + Mat3A::from_diagonal(Vec3::splat(self.rough()));
        both * (self.parts[row] * self.parts[column])
    }

    /// What each node resists its own moves with, kg.
    pub fn own(&self) -> [Mat3A; 4] {
        [0, 1, 2, 3].map(|k| self.block(k, k))
    }

    fn firm(&self) -> Real {
        if self.is_open { 0.0 } else { self.firm }
    }

    fn rough(&self) -> Real {
        if self.grip == Grip::Sticks { self.firm() } else { 0.0 }
    }
}

/// The mean resistance of each node of a body to changes of its velocity, kg, in the order of nodes.
pub(super) fn weights(matrix: &Matrix) -> Vec<Real> {
    let mut weights = vec![0.0; matrix.diagonal.len()];
    for (&node, block) in matrix.pattern.order.iter().zip(&matrix.diagonal) {
        weights[node as usize] = (block.x_axis.x + block.y_axis.y + block.z_axis.z) / 3.0;
    }
    weights
}
