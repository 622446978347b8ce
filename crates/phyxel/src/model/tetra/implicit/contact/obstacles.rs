//! Contact of nodes with obstacles in the implicit solve.

use super::friction::FrictionState;
use crate::Real;
use crate::contact::{ADHESION_RANGE, ContactContext, NODE_RADIUS, contact_params, max_adhesion_impulse};
use crate::geometry::SignedDistance;
use crate::material::Friction;
use crate::numerics::Aabb;
use crate::obstacle::Obstacle;
use crate::parallel;
use crate::step::StepContext;
use crate::store::Particles;
use glam::{Mat3A, Vec3, Vec3A};
use phyxel_laws::contact::{ContactPoint, normal_response};
use std::ops::Range;

/// Nodes per task.
const GRAIN: usize = 1024;
/// Search radius relative to the distance that the first velocities need: covers most of the velocities
/// that follow.
const SEARCH_MARGIN: Real = 1.5;

/// Lower bound of an obstacle on the normal velocity of a node, with its friction and adhesion.
#[derive(Clone, Copy, Debug)]
pub(in crate::model::tetra) struct ObstacleBound {
    /// Outward normal of the obstacle.
    pub normal: Vec3,
    /// m/s.
    pub surface_velocity: Vec3,
    /// Least normal velocity of the node relative to the surface, m/s.
    pub min_velocity: Real,
    pub friction: Friction,
    /// Largest attractive impulse, kg m/s.
    pub adhesion_impulse: Real,
    pub friction_state: FrictionState,
}

/// Constraint on the motion of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::model::tetra) enum DofConstraint {
    Free,
    /// Free in the plane with this normal.
    Tangential(Vec3),
    Fixed,
}

impl DofConstraint {
    /// Projects a vector onto the free directions.
    pub fn project(&self, x: Vec3) -> Vec3 {
        match self {
            Self::Free => x,
            Self::Tangential(normal) => x - *normal * x.dot(*normal),
            Self::Fixed => Vec3::ZERO,
        }
    }

    /// Projects a matrix block onto the free directions of its row, this node, and of its column, the other.
    pub fn project_block(&self, block: &Mat3A, other: &Self) -> Mat3A {
        if (*self, *other) == (Self::Free, Self::Free) {
            return *block;
        }
        other.project_columns(&self.project_columns(block).transpose()).transpose()
    }

    fn project_columns(&self, block: &Mat3A) -> Mat3A {
        match self {
            Self::Free => *block,
            Self::Tangential(normal) => {
                let normal = &Vec3A::from(*normal);
                let tangential = |x: Vec3A| x - *normal * x.dot(*normal);
                Mat3A::from_cols(tangential(block.x_axis), tangential(block.y_axis), tangential(block.z_axis))
            }
            Self::Fixed => Mat3A::ZERO,
        }
    }
}

/// Cached distance queries of the nodes of an island at the start of a step.
///
/// Velocities change in every Newton iteration, positions do not: surfaces are searched once, with a margin.
pub(in crate::model::tetra) struct ObstacleQueries<'a> {
    obstacles: &'a ContactContext<'a>,
    particles: &'a Particles,
    /// Particles of each body.
    ranges: &'a [Range<usize>],
    /// Velocities of all particles at the start of the step, m/s.
    start_velocities: &'a [Vec3],
    context: &'a StepContext,
    /// Largest radius of a node, m.
    radius: Real,
    /// m.
    search_radius: Real,
    /// Ascending by node.
    hits: Vec<ObstacleHit<'a>>,
}

/// Surface within the search radius of a node.
struct ObstacleHit<'a> {
    /// Index in the island, and in the store.
    node: usize,
    particle: usize,
    surface: SignedDistance,
    /// m/s.
    surface_velocity: Vec3,
    obstacle: &'a Obstacle,
}

impl<'a> ObstacleQueries<'a> {
    /// Prepares queries for bodies with these ranges of particles; the velocities are those of all
    /// particles at the start of the step, m/s.
    pub fn new(
        obstacles: &'a ContactContext<'a>,
        particles: &'a Particles,
        (ranges, start_velocities): (&'a [Range<usize>], &'a [Vec3]),
        context: &'a StepContext,
    ) -> Self {
        let radii = ranges.iter().flat_map(|range| &particles.radius[range.clone()]);
        let radius = radii.copied().fold(0.0, Real::max);
        let (search_radius, hits) = (Real::NEG_INFINITY, Vec::new());
        Self { obstacles, particles, ranges, start_velocities, context, radius, search_radius, hits }
    }

    /// Finds the nodes that would enter an obstacle with these velocities, m/s, each with the bound that
    /// changes its velocity most, ascending by node. With `is_start` the velocities are those at the start
    /// of the step, and gravity acts on nodes that rest on obstacles.
    pub fn find_bounds(&mut self, velocities: &[Vec3], is_start: bool) -> Vec<(usize, ObstacleBound)> {
        let max_speed = velocities.iter().map(|v| v.length_squared()).fold(0.0, Real::max).sqrt();
        let radius = self.radius + max_speed * self.context.dt;
        if radius > self.search_radius {
            self.search_radius = SEARCH_MARGIN * radius;
            self.hits = self.query();
        }
        let mut found: Vec<(usize, ObstacleBound)> = Vec::new();
        for hits in self.hits.chunk_by(|a, b| a.node == b.node) {
            let bounds = hits.iter().filter_map(|hit| hit.bound(self, velocities[hit.node], is_start));
            // The first of equal ones.
            let strictest = bounds.reduce(|strictest, bound| if bound.0 > strictest.0 { bound } else { strictest });
            found.extend(strictest.map(|(_, bound)| (hits[0].node, bound)));
        }
        found
    }

    /// Finds the surfaces within the search radius of each node.
    fn query(&self) -> Vec<ObstacleHit<'a>> {
        let mut all = Vec::new();
        let mut first = 0;
        for range in self.ranges {
            let positions = &self.particles.position[range.clone()];
            let aabb = Aabb::from_points(positions.iter().copied());
            let obstacles = self.obstacles.near(&aabb, self.search_radius);
            let found = parallel::map_ranges(positions.len(), GRAIN, |chunk| {
                let mut found = Vec::new();
                for i in chunk {
                    let (node, particle) = (first + i, range.start + i);
                    obstacles.visit(positions[i], self.search_radius, |surface, surface_velocity, obstacle| {
                        found.push(ObstacleHit { node, particle, surface, surface_velocity, obstacle });
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

impl ObstacleHit<'_> {
    /// Bound on its node at this velocity, with the change of velocity that it causes, m/s; none if it
    /// causes none.
    fn bound(&self, queries: &ObstacleQueries, velocity: Vec3, is_start: bool) -> Option<(Real, ObstacleBound)> {
        let &Self { particle, ref surface, surface_velocity, obstacle, .. } = self;
        let (radius, context) = (queries.particles.radius[particle], queries.context);
        let is_within_reach = surface.distance <= radius + velocity.length() * context.dt;
        if !is_within_reach {
            return None;
        }
        let start_velocity = queries.start_velocities[particle] - surface_velocity;
        let point = ContactPoint::new(surface.normal, surface.distance - NODE_RADIUS * radius, start_velocity);
        let is_close = point.gap <= ADHESION_RANGE * radius;
        let fall = if is_start && is_close { context.gravity * context.dt } else { Vec3::ZERO };
        let normal_velocity = (velocity + fall - surface_velocity).dot(surface.normal);
        let params = contact_params(context, radius);
        let is_adhesive = obstacle.adhesion > 0.0 && is_close;
        let approach = if is_adhesive { normal_velocity.min(0.0) } else { normal_velocity };
        let min_velocity = normal_response(approach, &point, obstacle.restitution, &params);
        let change = min_velocity - normal_velocity;
        let change = if is_adhesive { change.abs() } else { change };
        (is_adhesive || change > 0.0).then(|| {
            let (normal, friction) = (surface.normal, obstacle.friction);
            let adhesion_impulse = if is_adhesive { max_adhesion_impulse(obstacle, radius, context.dt) } else { 0.0 };
            let friction_state = FrictionState::initial(friction, point.initial_tangential_speed, &params);
            (
                change,
                ObstacleBound { normal, surface_velocity, min_velocity, friction, adhesion_impulse, friction_state },
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_projected_block_acts_on_the_free_directions_only() {
        let block = Mat3A::from_cols(Vec3A::new(3.0, 0.5, -0.2), Vec3A::new(0.5, 2.0, 0.4), Vec3A::new(-0.2, 0.4, 1.0));
        let dof = DofConstraint::Tangential(Vec3::new(0.48, 0.6, 0.64));
        let projected = dof.project_block(&block, &dof);
        for x in [Vec3::X, Vec3::Y, Vec3::Z] {
            let expected = dof.project((block * Vec3A::from(dof.project(x))).into());
            // A few products of order 1 in f32.
            assert!((Vec3::from(projected * Vec3A::from(x)) - expected).length() < 1e-6);
        }
        assert_eq!(DofConstraint::Fixed.project_block(&block, &DofConstraint::Free), Mat3A::ZERO);
        assert_eq!(DofConstraint::Free.project_block(&block, &DofConstraint::Fixed), Mat3A::ZERO);
    }
}
