//! Matter that falls for ever: nothing is below it and nothing takes it away.

use crate::Real;
use crate::body::{Body, BodyId, Pose};
use crate::collider::Collider;
use crate::model::ModelKind;
use crate::obstacle::{DistanceGrid, Geometry};
use crate::particles::Phase;
use crate::world::World;
use glam::Vec3;

/// Particles of a body from which it is looked down.
const LOOKS: usize = 64;
/// Steps of a look along gravity.
const STEPS: usize = 256;
/// How far a look goes, and how far below all there was matter is lost, in sizes of all there was.
const FAR: Real = 10.0;
/// A look has met an obstacle that is nearer than this part of the size.
const MET: Real = 1e-4;

impl World {
    /// Remembers that something is or was at these places, m.
    pub(crate) fn enclose(&mut self, places: impl IntoIterator<Item = Vec3>) {
        for place in places.into_iter().filter(|place| place.is_finite()) {
            let [low, high] = self.extent.unwrap_or([place; 2]);
            self.extent = Some([low.min(place), high.max(place)]);
        }
    }

    /// What is odd about the world as it stands: fluids that nothing is going to stop. A sentence each.
    pub fn warnings(&mut self) -> Vec<String> {
        let free: Vec<String> = if self.settings.bounds.is_none() && self.settings.gravity != Vec3::ZERO {
            self.scratch.prepare_obstacles(&self.obstacles);
            let fluids: Vec<BodyId> = self.fluids().collect();
            let falls = fluids.into_iter().filter(|&id| self.falls_freely(id));
            falls.map(|id| self.bodies[id.0 as usize].name.clone()).collect()
        } else {
            Vec::new()
        };
        let say = |name: String| {
            format!(
                "body \"{name}\": the fluid falls for ever, as no obstacle is below it; put one there, or give the scene bounds = {{ min, max }} outside of which particles are removed"
            )
        };
        free.into_iter().map(say).collect()
    }

    /// Fluids that have fallen far below everything there was, a sentence each.
    pub fn losses(&self) -> Vec<String> {
        let (Some([low, high]), Some(down)) = (self.extent, self.settings.gravity.try_normalize()) else {
            return Vec::new();
        };
        let size = low.distance(high);
        let middle = 0.5 * (low + high);
        let is_lost = |i: &usize| {
            self.particles.phase[*i] == Phase::Fluid
                && (self.particles.position[*i] - middle).dot(down) > (FAR + 0.5) * size
        };
        let say = |id: BodyId| {
            let body: &Body = &self.bodies[id.0 as usize];
            let count = body.range().filter(is_lost).count();
            (count > 0).then(|| {
                format!(
                    "body \"{}\": {count} of its {} particles have fallen more than {:.3} m below everything else; give the scene bounds = {{ min, max }} outside of which particles are removed",
                    body.name,
                    body.len(),
                    FAR * size
                )
            })
        };
        self.fluids().filter_map(say).collect()
    }

    /// Bodies of the model `crystal` that are fluid at the start.
    fn fluids(&self) -> impl Iterator<Item = BodyId> {
        let there = (0..).zip(&self.bodies).filter(|(_, body)| !body.removed && body.model == ModelKind::Crystal);
        let ids = there.map(|(number, _)| BodyId(number));
        ids.filter(|&id| self.crystal_model().is_some_and(|model| model.is_fluid(id)))
    }

    /// Whether none of a body, nor of what emitters pour into it, has an obstacle below.
    fn falls_freely(&self, id: BodyId) -> bool {
        let body = &self.bodies[id.0 as usize];
        let step = body.len().div_ceil(LOOKS).max(1);
        let own =
            body.range().step_by(step).filter(|&i| !self.particles.is_held(i)).map(|i| self.particles.position[i]);
        let mouths = self.emitters().filter(|emitter| emitter.body == body.name).map(|emitter| emitter.at);
        let mut starts = own.chain(mouths).peekable();
        starts.peek().is_some() && !starts.any(|start| self.has_ground(start))
    }

    /// Whether a way along gravity meets an obstacle. Steps of the distance still free never jump over one.
    fn has_ground(&self, start: Vec3) -> bool {
        let (Some([low, high]), Some(down)) = (self.extent, self.settings.gravity.try_normalize()) else { return true };
        let size = low.distance(high).max(Real::MIN_POSITIVE);
        let there = self.obstacles.iter().zip(&self.scratch.colliders).filter(|(obstacle, _)| obstacle.active);
        let forms: Vec<(Pose, &Collider)> =
            there.filter_map(|(obstacle, form)| Some((obstacle.pose(self.time), form.as_ref()?))).collect();
        let mut way = 0.0;
        for _ in 0..STEPS {
            let here = start + way * down;
            let near = |(pose, form): &(Pose, &Collider)| form.nearness(pose.local_point(here), Real::INFINITY);
            let free = forms.iter().filter_map(near).map(|near| near.distance).fold(Real::INFINITY, Real::min);
            if free < MET * size {
                return true;
            }
            way += free;
            if way > FAR * size {
                return false;
            }
        }
        // So many steps are taken only along something.
        true
    }
}

impl Geometry {
    /// Radius of a ball around its own origin that holds it, m; nothing for one without end.
    pub(crate) fn reach(&self) -> Real {
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
