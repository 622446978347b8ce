//! Nodes at walls and inside of other bodies, for implicit steps: pushes and friction that are solved for with velocities.

use super::grip::{Grip, Verdict};
use super::matrix::Matrix;
use super::walls::{Freedom, Wall};
use crate::Real;
use crate::contact::{Press, pace};
use crate::material::Friction;
use crate::particles::{Flags, Particles};
use crate::step::StepContext;
use glam::{Mat3A, Vec3, Vec3A};
use phyxel_laws::contact::{Surface, Touch, pushed_velocity};

/// How much firmer a touch is than the matter at it. The search for velocities takes longer by about its root.
const FIRM: Real = 3.0;
/// How much firmer walls are at last than the matter at them. What is pressed at one is in it by so much less than it is pressed together there.
const HARD: Real = 30.0;
/// How much firmer walls are at last than the node at them is heavy. What sticks to one creeps by so much less in a step than it would fall.
const STILL: Real = 300.0;
/// Steps in which depth is worked off. Under pressure nodes then are in each other by so many times the strain, over [`FIRM`], in parts of a
/// spacing.
const STEPS: Real = 2.0;

/// What holds a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// A body that it is in, by this press.
    Press(usize),
    Wall,
    /// A node of another body that it moves as one with. Velocities are looked for among those that do so (see [`Couples`](super::couples::Couples)),
    /// in which this neither pushes nor resists; it tells who depends on whom.
    Tie,
}

/// A node that something does not let in.
///
/// It is firm: the push is in proportion to the velocity that is missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub by: By,
    /// The node and those of the face, among all that are solved for. At a wall it is the node alone.
    pub nodes: [usize; 4],
    /// Parts of their velocities in that of the node relative to the face; they add up to nothing.
    parts: [Real; 4],
    /// Velocity of a wall, m/s.
    carried: Vec3,
    normal: Vec3,
    /// The velocity of the node relative to the face along the normal that is wanted, m/s.
    speed: Real,
    /// Momentum for each m/s that is missing, so far and at last, kg.
    firm: Real,
    hard: Real,
    /// The most that it pulls with, kg m/s.
    kept: Real,
    friction: Friction,
    pub grip: Grip,
    /// How friction resists moves across the normal and across this way of sliding, kg.
    rough: Real,
    slide: Vec3,
    /// Whether it does not hold, because it would have to pull.
    pub is_open: bool,
}

impl Hold {
    /// A press, with `weight` the resistance of nodes to changes of their velocities, kg; nothing if none may move.
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
            by: By::Press(number),
            nodes,
            parts,
            carried: Vec3::ZERO,
            normal: press.normal,
            speed,
            firm: FIRM / gives,
            hard: FIRM / gives,
            kept: 0.0,
            friction,
            grip: Grip::new(friction, touch.slide, &pace),
            rough: 0.0,
            slide: Vec3::ZERO,
            is_open: false,
        })
    }

    /// A wall at a node that resists changes of its velocity with this weight, and alone with this mass, kg.
    pub fn at_wall(node: usize, wall: &Wall, [weight, mass]: [Real; 2]) -> Self {
        Self {
            by: By::Wall,
            nodes: [node; 4],
            parts: [1.0, 0.0, 0.0, 0.0],
            carried: wall.carried,
            normal: wall.normal,
            speed: wall.speed,
            firm: FIRM * weight,
            hard: (HARD * weight).max(STILL * mass),
            kept: wall.kept,
            friction: wall.friction,
            grip: wall.grip,
            rough: 0.0,
            slide: Vec3::ZERO,
            is_open: false,
        }
    }

    /// Between two nodes that are tied, with how they resist changes of their velocities, kg.
    pub fn tied([a, b]: [usize; 2], [p, q]: [Real; 2]) -> Self {
        let firm = FIRM * p * q / (p + q);
        Self {
            by: By::Tie,
            nodes: [a, b, b, b],
            parts: [1.0, -1.0, 0.0, 0.0],
            carried: Vec3::ZERO,
            normal: Vec3::X,
            speed: 0.0,
            firm,
            hard: firm,
            kept: Real::INFINITY,
            friction: Friction::NONE,
            grip: Grip::Sticks,
            rough: firm,
            slide: Vec3::ZERO,
            is_open: false,
        }
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
        let relative = self.relative_at(velocities);
        let along = relative.dot(self.normal);
        self.normal * (self.firm() * (self.speed - along)) + self.rub(relative - self.normal * along)
    }

    /// What friction gives a node that moves so beside what it touches, kg m/s.
    fn rub(&self, across: Vec3) -> Vec3 {
        match self.grip {
            Grip::Sticks => -self.firm * across,
            Grip::Slides(most) => -across * self.firm.min(most / across.length().max(Real::MIN_POSITIVE)),
        }
    }

    /// Sees how friction changes about these velocities: as its energy bends there, or, with care, so that its energy is nowhere above what is foreseen.
    /// (What slides does not resist to be faster or slower, but it does resist to turn round.)
    pub fn linearise(&mut self, velocities: &[Vec3], is_careful: bool) {
        let across = self.sliding(velocities);
        (self.rough, self.slide) = match self.grip {
            Grip::Slides(most) if self.firm * across.length() > most => {
                (most / across.length(), if is_careful { Vec3::ZERO } else { across.normalize_or_zero() })
            }
            Grip::Slides(_) | Grip::Sticks => (self.firm, Vec3::ZERO),
        };
    }

    /// What the node would have to be faster by, m/s.
    pub fn shortfall(&self, velocities: &[Vec3]) -> Vec3 {
        self.normal * (self.speed - self.relative_at(velocities).dot(self.normal)).max(0.0)
    }

    /// The node relative to the face or wall.
    fn relative_at(&self, velocities: &[Vec3]) -> Vec3 {
        self.relative(|k| velocities[self.nodes[k]]) - self.carried
    }

    fn relative(&self, of: impl Fn(usize) -> Vec3) -> Vec3 {
        (1..self.count()).fold(of(0) * self.parts[0], |sum, k| sum + of(k) * self.parts[k])
    }

    /// How many nodes it has.
    pub fn count(&self) -> usize {
        match self.by {
            By::Wall => 1,
            By::Tie => 2,
            By::Press(_) => 4,
        }
    }

    /// What energy rises by for each part of a way that is gone along these moves, beside that at its start, after a part of it, J.
    pub fn slope(&self, (velocities, moves): (&[Vec3], &[Vec3]), part: Real) -> Real {
        let (start, way) = (self.relative_at(velocities), self.relative(|k| moves[self.nodes[k]]));
        let push = |at: Vec3| {
            let along = at.dot(self.normal);
            let missing = self.firm * (self.speed - along);
            let across = if self.is_open { Vec3::ZERO } else { self.rub(at - self.normal * along) };
            self.normal * if missing > -self.kept { missing } else { 0.0 } + across
        };
        (push(start) - push(start + way * part)).dot(way)
    }

    /// Whether it holds what it should and nothing else at these velocities, and how hard it would have to pull, kg m/s.
    fn state(&self, velocities: &[Vec3]) -> (bool, Real) {
        let pull = self.firm * (self.relative_at(velocities).dot(self.normal) - self.speed);
        (self.is_open == (pull > self.kept), pull)
    }

    /// Whether it holds if its nodes come together at these velocities, and only then.
    pub fn is_right(&self, velocities: &[Vec3]) -> bool {
        self.state(velocities).0
    }

    /// Lets go if it would have to pull for these velocities, and holds if its nodes come together; how much momentum that changes, kg m/s.
    pub fn follow(&mut self, velocities: &[Vec3]) -> Real {
        let (is_right, pull) = self.state(velocities);
        self.is_open ^= !is_right;
        if is_right { 0.0 } else { pull.abs() }
    }

    /// What is to be said of friction after velocities were found.
    pub fn judge(&self, velocities: &[Vec3]) -> Verdict {
        let given = self.push(velocities);
        let along = given.dot(self.normal);
        let across = (given - self.normal * along).length();
        self.grip.judge(self.friction, along + self.kept, across)
    }

    /// The node relative to the face or wall, along it.
    fn sliding(&self, velocities: &[Vec3]) -> Vec3 {
        let relative = self.relative_at(velocities);
        relative - self.normal * relative.dot(self.normal)
    }

    /// How a wall lets its node move, if it is hard.
    pub fn freedom(&self) -> Freedom {
        match self.grip {
            _ if self.is_open => Freedom::Free,
            Grip::Slides(_) if self.rough < self.firm => Freedom::Along(self.normal),
            Grip::Slides(_) | Grip::Sticks => Freedom::Held,
        }
    }

    /// Whether it pulls at all.
    pub fn keeps(&self) -> bool {
        self.kept > 0.0
    }

    /// Lets a wall be as hard as it is at last.
    pub fn harden(&mut self) {
        self.firm = self.hard;
    }

    /// What it resists these moves with, of which each node feels its part, kg m/s.
    pub fn resistance(&self, moves: &[Vec3]) -> Vec3 {
        let relative = self.relative(|k| moves[self.nodes[k]]);
        let along = self.normal * relative.dot(self.normal);
        let across = relative - along;
        along * self.firm() + (across - self.slide * across.dot(self.slide)) * self.rough()
    }

    /// The parts of what it gives that its nodes feel.
    pub fn parts(&self) -> [Real; 4] {
        self.parts
    }

    /// What the node at a place resists moves of that at another with, kg.
    pub fn block(&self, row: usize, column: usize) -> Mat3A {
        let square = |x: Vec3A| Mat3A::from_cols(x * x.x, x * x.y, x * x.z);
        let (firm, rough) = (self.firm(), self.rough());
        let across = Mat3A::from_diagonal(Vec3::splat(rough)) - square(self.slide.into()) * rough;
        let both = square(self.normal.into()) * (firm - rough) + across;
        both * (self.parts[row] * self.parts[column])
    }

    fn firm(&self) -> Real {
        if self.is_open { 0.0 } else { self.firm }
    }

    fn rough(&self) -> Real {
        if self.is_open { 0.0 } else { self.rough }
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
