//! Warnings about lost matter: fluids in free fall with no obstacle below.
//!
//! Rays along gravity are intersected with the obstacles by sphere tracing (Hart 1996): steps of the signed distance
//! cannot pass through a surface.

use crate::Real;
use crate::body::{Body, BodyId, Pose};
use crate::geometry::Collider;
use crate::model::ModelKind;
use crate::obstacle::{DistanceGrid, Geometry};
use crate::store::Phase;
use crate::world::World;
use glam::Vec3;

/// Maximum number of rays per body.
const MAX_RAYS: usize = 64;
/// Maximum number of steps along a ray.
const MAX_TRACE_STEPS: usize = 256;
/// Length of a ray, and depth below the extent of the world at which matter counts as lost, in sizes of the extent.
const MAX_TRACE_LENGTH: Real = 10.0;
/// Distance at which a ray hits, relative to the size of the extent.
const HIT_TOL: Real = 1e-4;

impl World {
    /// Grows the bounding box of everything ever added to the world by points, m.
    pub(crate) fn grow_extent(&mut self, points: impl IntoIterator<Item = Vec3>) {
        for point in points.into_iter().filter(|point| point.is_finite()) {
            let [low, high] = self.extent.unwrap_or([point; 2]);
            self.extent = Some([low.min(point), high.max(point)]);
        }
    }

    /// Warnings about fluids that no obstacle is going to stop, a sentence each.
    pub fn free_fall_warnings(&mut self) -> Vec<String> {
        let falling: Vec<String> = if self.settings.bounds.is_none() && self.settings.gravity != Vec3::ZERO {
            self.scratch.prepare_colliders(&self.obstacles);
            let fluids: Vec<BodyId> = self.fluids().collect();
            let falling = fluids.into_iter().filter(|&id| self.falls_freely(id));
            falling.map(|id| self.bodies[id.0 as usize].name.clone()).collect()
        } else {
            Vec::new()
        };
        let message = |name: String| {
            format!(
                "body \"{name}\": the fluid falls for ever, as no obstacle is below it; put one there, \
                 or give the scene bounds = {{ min, max }} outside of which particles are removed"
            )
        };
        falling.into_iter().map(message).collect()
    }

    /// Warnings about fluids that have fallen far below the extent of the world, a sentence each.
    pub fn lost_matter_warnings(&self) -> Vec<String> {
        let (Some([low, high]), Some(down)) = (self.extent, self.settings.gravity.try_normalize()) else {
            return Vec::new();
        };
        let size = low.distance(high);
        let centre = 0.5 * (low + high);
        let is_lost = |i: &usize| {
            self.particles.phase[*i] == Phase::Fluid
                && (self.particles.position[*i] - centre).dot(down) > (MAX_TRACE_LENGTH + 0.5) * size
        };
        let message = |id: BodyId| {
            let body: &Body = &self.bodies[id.0 as usize];
            let count = body.range().filter(is_lost).count();
            (count > 0).then(|| {
                format!(
                    "body \"{}\": {count} of its {} particles have fallen more than {:.3} m below everything else; \
                     give the scene bounds = {{ min, max }} outside of which particles are removed",
                    body.name,
                    body.len(),
                    MAX_TRACE_LENGTH * size
                )
            })
        };
        self.fluids().filter_map(message).collect()
    }

    /// Bodies of the model `fluid`.
    fn fluids(&self) -> impl Iterator<Item = BodyId> {
        let fluids = (0..).zip(&self.bodies).filter(|(_, body)| !body.removed && body.model == ModelKind::Fluid);
        fluids.map(|(index, _)| BodyId(index))
    }

    /// Returns true if no obstacle is below a body or its emitters.
    fn falls_freely(&self, id: BodyId) -> bool {
        let body = &self.bodies[id.0 as usize];
        let step = body.len().div_ceil(MAX_RAYS).max(1);
        let samples =
            body.range().step_by(step).filter(|&i| !self.particles.is_fixed(i)).map(|i| self.particles.position[i]);
        let mouths = self.emitters().filter(|emitter| emitter.body == body.name).map(|emitter| emitter.position);
        let mut starts = samples.chain(mouths).peekable();
        starts.peek().is_some() && !starts.any(|start| self.hits_obstacle_below(start))
    }

    /// Returns true if a ray along gravity hits an obstacle.
    fn hits_obstacle_below(&self, start: Vec3) -> bool {
        let (Some([low, high]), Some(down)) = (self.extent, self.settings.gravity.try_normalize()) else { return true };
        let size = low.distance(high).max(Real::MIN_POSITIVE);
        let active = self.obstacles.iter().zip(&self.scratch.colliders).filter(|(obstacle, _)| obstacle.active);
        let colliders: Vec<(Pose, &Collider)> =
            active.filter_map(|(obstacle, collider)| Some((obstacle.pose(self.time), collider.as_ref()?))).collect();
        let mut t = 0.0;
        for _ in 0..MAX_TRACE_STEPS {
            let point = start + t * down;
            let surface = |(pose, collider): &(Pose, &Collider)| {
                collider.signed_distance(pose.inverse_transform_point(point), Real::INFINITY)
            };
            let distances = colliders.iter().filter_map(surface).map(|surface| surface.distance);
            let distance = distances.fold(Real::INFINITY, Real::min);
            if distance < HIT_TOL * size {
                return true;
            }
            t += distance;
            if t > MAX_TRACE_LENGTH * size {
                return false;
            }
        }
        // Only a ray that grazes a surface takes so many steps.
        true
    }
}

impl Geometry {
    /// Radius of the bounding sphere around its origin, m; 0 for an unbounded shape.
    pub(crate) fn bounding_radius(&self) -> Real {
        match self {
            Self::HalfSpace { .. } => 0.0,
            Self::Box { size } => 0.5 * size.length(),
            Self::Sphere { radius } => *radius,
            Self::Capsule { radius, height } => radius + 0.5 * height,
            Self::Cylinder { radius, height } | Self::Cone { radius, height } => {
                (radius * radius + 0.25 * height * height).sqrt()
            }
            Self::Mesh { positions, .. } => positions.iter().map(|position| position.length()).fold(0.0, Real::max),
            Self::Grid(grid) => {
                let DistanceGrid { origin, cell, counts, .. } = &**grid;
                let far = *origin + Vec3::from_array(counts.map(|count| count as Real)) * *cell;
                origin.abs().max(far.abs()).length()
            }
        }
    }
}
