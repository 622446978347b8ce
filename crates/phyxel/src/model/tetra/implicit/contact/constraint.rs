//! Contact constraints of the implicit solve: normal penalty and regularised Coulomb friction.
//!
//! With the relative velocity `v = sum_k w_k v_k - v_surface`, its normal component `v_n` and its
//! tangential part `v_t`, a constraint gives its node the impulse `k (v* - v_n) n + f(v_t)`: `v*` is the
//! target velocity, `k` the penalty [kg], and `f = -k v_t`, limited in length to the Coulomb limit while it
//! slips.

use super::friction::{FrictionState, FrictionTransition};
use super::obstacles::{DofConstraint, ObstacleBound};
use crate::Real;
use crate::contact::{VertexFaceContact, contact_params};
use crate::material::Friction;
use crate::model::tetra::implicit::linear::matrix::SystemMatrix;
use crate::step::StepContext;
use crate::store::{Flags, Particles};
use glam::{Mat3A, Vec3, Vec3A};
use phyxel_laws::contact::{ContactPoint, SurfaceProperties, normal_response};

/// Penalty relative to the effective mass of the nodes. The iteration count grows with about its square root.
const PENALTY: Real = 3.0;
/// Final penalty of obstacles relative to the effective mass of the node. The penetration under pressure is
/// smaller than the compression there by this factor.
const OBSTACLE_PENALTY: Real = 30.0;
/// Least final penalty of obstacles relative to the mass of the node. A sticking node slides under its
/// weight by 1/300 of free fall.
const OBSTACLE_MASS_PENALTY: Real = 300.0;
/// Steps in which a penetration is resolved (Baumgarte stabilisation). Under pressure the penetration is
/// `BAUMGARTE_STEPS / PENALTY` times the strain, in units of the spacing.
const BAUMGARTE_STEPS: Real = 2.0;

/// Kind of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::model::tetra) enum ConstraintKind {
    /// Node inside another body, by the index of its vertex-face contact.
    VertexFace(usize),
    /// Node at an obstacle.
    Obstacle,
    /// Tied nodes of two bodies. The solve runs in the subspace in which they move as one (see
    /// [`TieProjection`](super::tie_projection::TieProjection)), where a tie has no impulse and no
    /// stiffness; it only records the coupling of their bodies.
    Tie,
}

/// Penalty constraint on the velocity of a node relative to a face or an obstacle.
#[derive(Clone, Copy, Debug)]
pub(in crate::model::tetra) struct Constraint {
    pub kind: ConstraintKind,
    /// The node and those of the face, by index in the system; at an obstacle the node alone.
    pub nodes: [usize; 4],
    /// Weights of their velocities in the relative velocity; their sum is 0 except at obstacles.
    weights: [Real; 4],
    /// Velocity of the obstacle surface, m/s.
    surface_velocity: Vec3,
    normal: Vec3,
    /// Normal relative velocity to reach, m/s.
    target_velocity: Real,
    /// Impulse per missing velocity, now and in the final phase, kg.
    penalty: Real,
    final_penalty: Real,
    /// Largest attractive impulse, kg m/s.
    adhesion_impulse: Real,
    friction: Friction,
    pub friction_state: FrictionState,
    /// Linearised friction: stiffness in the tangent plane, kg, except along the direction of slip.
    tangential_penalty: Real,
    slip_direction: Vec3,
    /// True if the constraint is inactive: it would have to pull by more than its adhesion.
    pub is_open: bool,
}

impl Constraint {
    /// Creates a vertex-face constraint; `mass` is the effective mass of a node, kg. None if all
    /// four nodes are fixed.
    pub fn vertex_face(
        (index, contact): (usize, &VertexFaceContact),
        (particles, start_velocities): (&Particles, &[Vec3]),
        surface: SurfaceProperties,
        context: &StepContext,
        node_of: impl Fn(u32) -> usize,
        mass: impl Fn(usize) -> Real,
    ) -> Option<Self> {
        let ([a, b, c], [p, q, r]) = (contact.face, contact.barycentric);
        let (vertices, weights) = ([contact.vertex, a, b, c], [1.0, -p, -q, -r]);
        let nodes = vertices.map(&node_of);
        let inverse_mass = |k: usize| {
            let is_fixed = particles.flags[vertices[k] as usize].has(Flags::FIXED);
            if is_fixed { 0.0 } else { weights[k] * weights[k] / mass(nodes[k]) }
        };
        let inverse_mass: Real = (0..4).map(inverse_mass).sum();
        let velocity: Vec3 = (0..4).map(|k| start_velocities[vertices[k] as usize] * weights[k]).sum();
        let point = ContactPoint::new(contact.normal, -contact.depth, velocity);
        let params = contact_params(context, particles.radius[contact.vertex as usize]);
        let separation = (contact.depth / (BAUMGARTE_STEPS * context.dt)).min(params.max_separation_speed);
        let response = normal_response(Real::NEG_INFINITY, &point, surface.restitution, &params);
        let friction = Friction { r#static: surface.static_friction, kinetic: surface.kinetic_friction };
        (inverse_mass > 0.0).then(|| Self {
            kind: ConstraintKind::VertexFace(index),
            nodes,
            weights,
            surface_velocity: Vec3::ZERO,
            normal: contact.normal,
            target_velocity: response.max(separation),
            penalty: PENALTY / inverse_mass,
            final_penalty: PENALTY / inverse_mass,
            adhesion_impulse: 0.0,
            friction,
            friction_state: FrictionState::initial(friction, point.initial_tangential_speed, &params),
            tangential_penalty: 0.0,
            slip_direction: Vec3::ZERO,
            is_open: false,
        })
    }

    /// Creates an obstacle constraint of a node with this effective mass and this mass of its own, kg.
    pub fn obstacle(node: usize, bound: &ObstacleBound, [effective_mass, mass]: [Real; 2]) -> Self {
        Self {
            kind: ConstraintKind::Obstacle,
            nodes: [node; 4],
            weights: [1.0, 0.0, 0.0, 0.0],
            surface_velocity: bound.surface_velocity,
            normal: bound.normal,
            target_velocity: bound.min_velocity,
            penalty: PENALTY * effective_mass,
            final_penalty: (OBSTACLE_PENALTY * effective_mass).max(OBSTACLE_MASS_PENALTY * mass),
            adhesion_impulse: bound.adhesion_impulse,
            friction: bound.friction,
            friction_state: bound.friction_state,
            tangential_penalty: 0.0,
            slip_direction: Vec3::ZERO,
            is_open: false,
        }
    }

    /// Creates a tie between two nodes with these effective masses, kg.
    pub fn tie([a, b]: [usize; 2], [p, q]: [Real; 2]) -> Self {
        let penalty = PENALTY * p * q / (p + q);
        Self {
            kind: ConstraintKind::Tie,
            nodes: [a, b, b, b],
            weights: [1.0, -1.0, 0.0, 0.0],
            surface_velocity: Vec3::ZERO,
            normal: Vec3::X,
            target_velocity: 0.0,
            penalty,
            final_penalty: penalty,
            adhesion_impulse: Real::INFINITY,
            friction: Friction::NONE,
            friction_state: FrictionState::Stick,
            tangential_penalty: penalty,
            slip_direction: Vec3::ZERO,
            is_open: false,
        }
    }

    /// Returns the same constraint with its nodes renumbered.
    pub fn with_nodes(self, nodes: [usize; 4]) -> Self {
        Self { nodes, ..self }
    }

    /// Impulse on the node at these velocities, kg m/s.
    pub fn impulse(&self, velocities: &[Vec3]) -> Vec3 {
        if self.is_open {
            return Vec3::ZERO;
        }
        let relative = self.relative_velocity(velocities);
        let normal_velocity = relative.dot(self.normal);
        self.normal * (self.active_penalty() * (self.target_velocity - normal_velocity))
            + self.friction_impulse(relative - self.normal * normal_velocity)
    }

    /// Friction impulse on the node at this tangential velocity, kg m/s.
    fn friction_impulse(&self, tangential: Vec3) -> Vec3 {
        match self.friction_state {
            FrictionState::Stick => -self.penalty * tangential,
            FrictionState::Slip(limit) => {
                -tangential * self.penalty.min(limit / tangential.length().max(Real::MIN_POSITIVE))
            }
        }
    }

    /// Linearises friction about these velocities: by the Hessian of its potential, or, with `majorise`, by
    /// a quadratic that is nowhere below the potential.
    ///
    /// The Hessian of slip vanishes along the direction of slip and resists a change of that direction.
    pub fn linearise(&mut self, velocities: &[Vec3], majorise: bool) {
        let tangential = self.tangential_velocity(velocities);
        (self.tangential_penalty, self.slip_direction) = match self.friction_state {
            FrictionState::Slip(limit) if self.penalty * tangential.length() > limit => {
                (limit / tangential.length(), if majorise { Vec3::ZERO } else { tangential.normalize_or_zero() })
            }
            FrictionState::Slip(_) | FrictionState::Stick => (self.penalty, Vec3::ZERO),
        };
    }

    /// Velocity that the node lacks along the normal, m/s.
    pub fn violation(&self, velocities: &[Vec3]) -> Vec3 {
        self.normal * (self.target_velocity - self.relative_velocity(velocities).dot(self.normal)).max(0.0)
    }

    /// Velocity of the node relative to the face or the obstacle, m/s.
    fn relative_velocity(&self, velocities: &[Vec3]) -> Vec3 {
        self.weighted_sum(|k| velocities[self.nodes[k]]) - self.surface_velocity
    }

    fn weighted_sum(&self, value: impl Fn(usize) -> Vec3) -> Vec3 {
        (1..self.node_count()).fold(value(0) * self.weights[0], |sum, k| sum + value(k) * self.weights[k])
    }

    /// Number of its nodes.
    pub fn node_count(&self) -> usize {
        match self.kind {
            ConstraintKind::Obstacle => 1,
            ConstraintKind::Tie => 2,
            ConstraintKind::VertexFace(_) => 4,
        }
    }

    /// Derivative of the contact potential along `direction` at step length `t`, minus that at 0, J.
    pub fn directional_derivative(&self, (velocities, direction): (&[Vec3], &[Vec3]), t: Real) -> Real {
        let start = self.relative_velocity(velocities);
        let direction = self.weighted_sum(|k| direction[self.nodes[k]]);
        let impulse = |v: Vec3| {
            let normal_velocity = v.dot(self.normal);
            let normal_impulse = self.penalty * (self.target_velocity - normal_velocity);
            let friction =
                if self.is_open { Vec3::ZERO } else { self.friction_impulse(v - self.normal * normal_velocity) };
            self.normal * if normal_impulse > -self.adhesion_impulse { normal_impulse } else { 0.0 } + friction
        };
        (impulse(start) - impulse(start + direction * t)).dot(direction)
    }

    /// True if its activity agrees with these velocities; and the attractive impulse that it would need, kg m/s.
    fn status(&self, velocities: &[Vec3]) -> (bool, Real) {
        let attraction = self.penalty * (self.relative_velocity(velocities).dot(self.normal) - self.target_velocity);
        (self.is_open == (attraction > self.adhesion_impulse), attraction)
    }

    /// Returns true if it is open exactly when it would have to pull by more than its adhesion at these
    /// velocities.
    pub fn is_consistent(&self, velocities: &[Vec3]) -> bool {
        self.status(velocities).0
    }

    /// Opens or closes the constraint as these velocities require; returns the change of its impulse, kg m/s.
    pub fn update_normal(&mut self, velocities: &[Vec3]) -> Real {
        let (is_consistent, attraction) = self.status(velocities);
        self.is_open ^= !is_consistent;
        if is_consistent { 0.0 } else { attraction.abs() }
    }

    /// Tests its friction state at these velocities.
    pub fn test_friction(&self, velocities: &[Vec3]) -> FrictionTransition {
        let impulse = self.impulse(velocities);
        let normal = impulse.dot(self.normal);
        let tangential = (impulse - self.normal * normal).length();
        self.friction_state.test(self.friction, normal + self.adhesion_impulse, tangential)
    }

    /// Tangential part of the relative velocity, m/s.
    fn tangential_velocity(&self, velocities: &[Vec3]) -> Vec3 {
        let relative = self.relative_velocity(velocities);
        relative - self.normal * relative.dot(self.normal)
    }

    /// Constraint on the node in the limit of an infinite penalty.
    pub fn dof_constraint(&self) -> DofConstraint {
        match self.friction_state {
            _ if self.is_open => DofConstraint::Free,
            FrictionState::Slip(_) if self.tangential_penalty < self.penalty => DofConstraint::Tangential(self.normal),
            FrictionState::Slip(_) | FrictionState::Stick => DofConstraint::Fixed,
        }
    }

    /// Returns true if it can pull.
    pub fn is_adhesive(&self) -> bool {
        self.adhesion_impulse > 0.0
    }

    /// Raises the penalty to its final value.
    pub fn stiffen(&mut self) {
        self.penalty = self.final_penalty;
    }

    /// Applies the tangent operator to velocity changes: the resisting impulse, of which each node takes
    /// its weight, kg m/s.
    pub fn apply(&self, x: &[Vec3]) -> Vec3 {
        let relative = self.weighted_sum(|k| x[self.nodes[k]]);
        let normal = self.normal * relative.dot(self.normal);
        let tangential = relative - normal;
        normal * self.active_penalty()
            + (tangential - self.slip_direction * tangential.dot(self.slip_direction))
                * self.active_tangential_penalty()
    }

    /// Weights of the impulse at its nodes.
    pub fn weights(&self) -> [Real; 4] {
        self.weights
    }

    /// Block of the tangent operator that couples two of its nodes, kg.
    pub fn block(&self, row: usize, column: usize) -> Mat3A {
        let outer = |x: Vec3A| Mat3A::from_cols(x * x.x, x * x.y, x * x.z);
        let (normal, tangential) = (self.active_penalty(), self.active_tangential_penalty());
        let slip = Mat3A::from_diagonal(Vec3::splat(tangential)) - outer(self.slip_direction.into()) * tangential;
        let stiffness = outer(self.normal.into()) * (normal - tangential) + slip;
        stiffness * (self.weights[row] * self.weights[column])
    }

    fn active_penalty(&self) -> Real {
        if self.is_open { 0.0 } else { self.penalty }
    }

    fn active_tangential_penalty(&self) -> Real {
        if self.is_open { 0.0 } else { self.tangential_penalty }
    }
}

/// Effective mass of each node of a body: the mean diagonal of its block, kg, in the order of nodes.
pub(in crate::model::tetra) fn effective_masses(matrix: &SystemMatrix) -> Vec<Real> {
    let mut masses = vec![0.0; matrix.diagonal.len()];
    for (&node, block) in matrix.pattern.order.iter().zip(&matrix.diagonal) {
        masses[node as usize] = (block.x_axis.x + block.y_axis.y + block.z_axis.z) / 3.0;
    }
    masses
}
