//! Narrow phase of particles against obstacles: signed distances, and sphere tracing along the path of
//! fast particles.

use super::vertex_face::VertexFaceContact;
use crate::Real;
use crate::body::{Body, Pose};
use crate::contact::broad_phase::bounds::{BLOCK_LEN, BodyBounds};
use crate::geometry::{Collider, SignedDistance};
use crate::model::{ContactGeometry, ModelTraits, OwnRepulsion};
use crate::numerics::Aabb;
use crate::obstacle::Obstacle;
use crate::parallel;
use crate::scratch::Scratch;
use crate::step::StepContext;
use crate::store::Phase;
use crate::world::World;
use glam::{Quat, Vec3};
use phyxel_laws::contact::ContactPoint;

/// Particles per task.
const GRAIN: usize = 1024;
/// Contact radius of tetrahedral nodes at obstacles, as a fraction of their radius.
pub(crate) const NODE_RADIUS: Real = 0.1;
/// Contact margin at obstacles: contacts are kept while the gap is below this fraction of the radius,
/// even if it opens.
const OBSTACLE_MARGIN: Real = 0.25;
/// Range of adhesion, as a fraction of the radius.
pub(crate) const ADHESION_RANGE: Real = 0.05;
/// Margin and range of adhesion of fluids, as a fraction of their contact radius: pressure keeps them off
/// walls by 0.4 spacings, 1.6 such radii.
const FLUID_MARGIN: Real = 1.0;
/// Largest number of sphere-tracing steps along the path of a fast particle.
const PATH_STEPS: usize = 48;

/// Contact of a particle with an obstacle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SphereObstacleContact {
    pub particle: u32,
    pub obstacle: u32,
    pub point: ContactPoint,
    /// Velocity of the obstacle at the contact, m/s.
    pub surface_velocity: Vec3,
    /// Range of adhesion, m.
    pub adhesion_range: Real,
}

impl SphereObstacleContact {
    /// Returns true if the gap is within the range of adhesion, where heat is conducted, too.
    pub fn is_within_adhesion_range(&self) -> bool {
        self.point.gap <= self.adhesion_range
    }
}

/// Kinematic obstacle: its poses at the start and the end of a step.
struct KinematicObstacle<'a> {
    index: u32,
    collider: &'a Collider,
    start: Pose,
    end: Pose,
    is_still: bool,
    /// True if its axes are the world's at the start.
    is_axis_aligned: bool,
    obstacle: &'a Obstacle,
}

/// Makes the distance queries of all obstacles.
pub(crate) fn make_colliders(obstacles: &[Obstacle]) -> Vec<Option<Collider>> {
    obstacles.iter().map(|obstacle| Collider::new(&obstacle.geometry)).collect()
}

impl KinematicObstacle<'_> {
    /// Velocity of the obstacle at a point, m/s.
    fn velocity_at(&self, point: Vec3, dt: Real) -> Vec3 {
        if self.is_still {
            Vec3::ZERO
        } else {
            (self.end.transform_point(self.start.inverse_transform_point(point)) - point) / dt
        }
    }

    /// Returns true if it may come within `cutoff` of a box during a step.
    fn is_near(&self, aabb: &Aabb, cutoff: Real, dt: Real) -> bool {
        let (centre, half) = (aabb.centre(), aabb.circumradius());
        let speed = self.velocity_at(centre, dt).length() + rotation_speed(self, half, dt);
        self.signed_distance(centre, half + cutoff + speed * dt).is_some()
    }

    /// Signed distance and normal in the world's frame, at the start of the step.
    fn signed_distance(&self, point: Vec3, cutoff: Real) -> Option<SignedDistance> {
        if self.is_axis_aligned {
            return self.collider.signed_distance(point - self.start.position, cutoff);
        }
        let found = self.collider.signed_distance(self.start.inverse_transform_point(point), cutoff)?;
        Some(SignedDistance { normal: self.start.transform_vector(found.normal), ..found })
    }
}

/// Contact geometry of a step for models that solve for contact: obstacles, and vertex-face contacts.
pub(crate) struct ContactContext<'a> {
    obstacles: Vec<KinematicObstacle<'a>>,
    pub vertex_face_contacts: &'a [VertexFaceContact],
    dt: Real,
}

/// Obstacles near a box.
pub(crate) struct NearObstacles<'a> {
    obstacles: Vec<&'a KinematicObstacle<'a>>,
    dt: Real,
}

impl<'a> ContactContext<'a> {
    pub fn new(obstacles: &'a [Obstacle], scratch: &'a Scratch, context: &StepContext) -> Self {
        let obstacles = kinematic_obstacles(obstacles, &scratch.colliders, context);
        Self { obstacles, vertex_face_contacts: &scratch.vertex_face_contacts, dt: context.dt }
    }

    /// Selects the obstacles within `cutoff` of a box.
    pub fn near(&'a self, aabb: &Aabb, cutoff: Real) -> NearObstacles<'a> {
        let (centre, half) = (aabb.centre(), aabb.circumradius());
        let obstacles =
            self.obstacles.iter().filter(|obstacle| obstacle.signed_distance(centre, half + cutoff).is_some());
        NearObstacles { obstacles: obstacles.collect(), dt: self.dt }
    }
}

impl<'a> NearObstacles<'a> {
    /// Calls `visitor` with the signed distance of each obstacle within `cutoff` of a point, its velocity
    /// there (m/s), and the obstacle.
    pub fn visit(&self, point: Vec3, cutoff: Real, mut visitor: impl FnMut(SignedDistance, Vec3, &'a Obstacle)) {
        for obstacle in &self.obstacles {
            if let Some(nearest) = obstacle.signed_distance(point, cutoff) {
                visitor(nearest, obstacle.velocity_at(point, self.dt), obstacle.obstacle);
            }
        }
    }
}

fn kinematic_obstacles<'a>(
    obstacles: &'a [Obstacle],
    colliders: &'a [Option<Collider>],
    context: &StepContext,
) -> Vec<KinematicObstacle<'a>> {
    let indexed = obstacles.iter().zip(colliders).enumerate();
    indexed
        .filter(|(_, (obstacle, _))| obstacle.active)
        .filter_map(|(index, (obstacle, collider))| {
            let (start, end) = (obstacle.pose(context.time), obstacle.pose(context.time + f64::from(context.dt)));
            let collider = collider.as_ref()?;
            Some(KinematicObstacle {
                index: index as u32,
                collider,
                start,
                end,
                is_still: start == end,
                is_axis_aligned: start.rotation == Quat::IDENTITY,
                obstacle,
            })
        })
        .collect()
}

/// Upper bound of the speed of moving obstacles relative to what they may touch within a step, or of
/// their own speed where that is less, m/s.
///
/// Particles that move along with an obstacle, or are far from it, need no shorter steps.
pub(crate) fn max_obstacle_speed(world: &World, time: f64, dt: Real) -> Real {
    let context = StepContext { dt, time, gravity: Vec3::ZERO };
    let obstacles = kinematic_obstacles(&world.obstacles, &world.scratch.colliders, &context);
    let mut max_speed: Real = 0.0;
    for obstacle in obstacles.iter().filter(|obstacle| !obstacle.is_still) {
        for (body, bounds) in world.bodies.iter().zip(&world.scratch.bounds) {
            let corners = [bounds.aabb.min, bounds.aabb.max];
            let speed = bounds.max_speed_beside(corners.map(|corner| obstacle.velocity_at(corner, dt)));
            if speed > max_speed && speed.is_finite() && may_touch(world, obstacle, (body, bounds), dt) {
                max_speed = speed;
            }
        }
    }
    max_speed
}

/// Returns true if any particle of a body may touch an obstacle within a step.
fn may_touch(world: &World, obstacle: &KinematicObstacle, (body, bounds): (&Body, &BodyBounds), dt: Real) -> bool {
    let (range, cutoff) = (body.range(), search_radius(bounds, bounds.max_speed * dt));
    let is_near = |aabb: &Aabb| obstacle.is_near(aabb, cutoff, dt);
    // Where the particles of a block are far apart, its box is a poor bound.
    bounds.blocks.iter().enumerate().filter(|(_, block)| is_near(block)).any(|(block, _)| {
        let start = range.start + block * BLOCK_LEN;
        world.particles.position[start..(start + BLOCK_LEN).min(range.end)]
            .iter()
            .any(|&x| is_near(&Aabb { min: x, max: x }))
    })
}

/// Finds the contacts of particles with obstacles, existing or possible within the step, in the order of
/// particles.
pub(crate) fn find_obstacle_contacts(world: &World, context: &StepContext) -> Vec<SphereObstacleContact> {
    let obstacles = kinematic_obstacles(&world.obstacles, &world.scratch.colliders, context);
    if obstacles.is_empty() {
        return Vec::new();
    }
    let found = parallel::map(world.bodies.len(), 4, |body| contacts_of_body(world, body, &obstacles, context));
    found.concat()
}

/// Finds the contacts of one body.
fn contacts_of_body(
    world: &World,
    body: usize,
    obstacles: &[KinematicObstacle],
    context: &StepContext,
) -> Vec<SphereObstacleContact> {
    let (range, bounds) = (world.bodies[body].range(), &world.scratch.bounds[body]);
    if range.is_empty() {
        return Vec::new();
    }
    let velocities = &world.particles.velocity[range.clone()];
    let squared_speeds = parallel::map_ranges(range.len(), 1 << 14, |chunk| {
        velocities[chunk].iter().map(|v| v.length_squared()).fold(0.0, Real::max)
    });
    let path = squared_speeds.into_iter().fold(0.0, Real::max).sqrt() * context.dt;
    let cutoff = search_radius(bounds, path);
    let is_near = |obstacle: &KinematicObstacle, aabb: &Aabb| obstacle.is_near(aabb, cutoff, context.dt);
    let near: Vec<&KinematicObstacle> = obstacles.iter().filter(|obstacle| is_near(obstacle, &bounds.aabb)).collect();
    let blocks = if near.is_empty() { 0 } else { bounds.blocks.len() };
    let found = parallel::map_ranges(blocks, GRAIN / BLOCK_LEN, |chunk| {
        let mut found = Vec::new();
        for k in chunk {
            let block = &bounds.blocks[k];
            let near: Vec<&KinematicObstacle> =
                near.iter().copied().filter(|obstacle| is_near(obstacle, block)).collect();
            let start = range.start + k * BLOCK_LEN;
            let indices = start..(start + BLOCK_LEN).min(range.end);
            let indices = if near.is_empty() { 0..0 } else { indices };
            found.extend(
                indices.flat_map(|i| near.iter().filter_map(move |obstacle| find_contact(world, obstacle, i, context))),
            );
        }
        found
    });
    found.concat()
}

/// Radius of the search for obstacles around a particle that moves by `path` during a step, m.
fn search_radius(bounds: &BodyBounds, path: Real) -> Real {
    bounds.max_radius * (1.0 + OBSTACLE_MARGIN.max(FLUID_MARGIN)) + path
}

/// Upper bound of the difference of an obstacle's velocity between two points at this distance, m/s.
fn rotation_speed(obstacle: &KinematicObstacle, distance: Real, dt: Real) -> Real {
    obstacle.start.rotation.angle_between(obstacle.end.rotation) * distance / dt
}

/// Finds the contact of a particle with an obstacle within this step, if there is one.
fn find_contact(
    world: &World,
    obstacle: &KinematicObstacle,
    i: usize,
    context: &StepContext,
) -> Option<SphereObstacleContact> {
    let particles = &world.particles;
    let x = particles.position[i];
    let ContactRange { radius, margin, adhesion_range } = ContactRange::of(world, i);
    let surface_velocity = obstacle.velocity_at(x, context.dt);
    let path = (particles.velocity[i] - surface_velocity) * context.dt;
    let length = path.length();
    if particles.is_fixed(i) || !length.is_finite() {
        return None;
    }
    let nearest = obstacle.signed_distance(x, radius + margin + length)?;
    let gap = nearest.distance - radius;
    let (normal, gap) =
        if gap > 0.0 && length > radius { sphere_trace(obstacle, x, path, radius)? } else { (nearest.normal, gap) };
    let approach = -path.dot(normal);
    if gap > approach.max(margin) {
        return None;
    }
    let point = ContactPoint::new(normal, gap, world.scratch.previous_velocity[i] - surface_velocity);
    Some(SphereObstacleContact {
        particle: i as u32,
        obstacle: obstacle.index,
        point,
        surface_velocity,
        adhesion_range,
    })
}

/// Distances at which a particle touches obstacles.
struct ContactRange {
    /// Contact radius, m.
    radius: Real,
    /// Gap below which a contact is kept even if it opens, m.
    margin: Real,
    /// Gap up to which adhesion acts and heat is conducted, m.
    adhesion_range: Real,
}

impl ContactRange {
    /// Ranges of a particle. Pressure keeps fluids off walls, so half of their radius is a safeguard;
    /// nodes of tetrahedra lie on the surface.
    fn of(world: &World, i: usize) -> Self {
        let radius = world.particles.radius[i];
        if is_fluid(world, i) {
            Self {
                radius: 0.5 * radius,
                margin: FLUID_MARGIN * 0.5 * radius,
                adhesion_range: FLUID_MARGIN * 0.5 * radius,
            }
        } else {
            let is_vertex = traits_of(world, i).geometry == ContactGeometry::Mesh;
            let contact_radius = if is_vertex { NODE_RADIUS * radius } else { radius };
            Self { radius: contact_radius, margin: OBSTACLE_MARGIN * radius, adhesion_range: ADHESION_RANGE * radius }
        }
    }
}

/// Properties of the model of a particle.
fn traits_of(world: &World, i: usize) -> &'static ModelTraits {
    world.bodies[world.particles.body[i].0 as usize].model.traits()
}

/// Returns true if a particle is of a fluid with a pressure solve.
pub(crate) fn is_fluid(world: &World, i: usize) -> bool {
    traits_of(world, i).own_repulsion == OwnRepulsion::Pressure && world.particles.phase[i] == Phase::Fluid
}

/// Finds where a sphere that moves along `path` first meets the obstacle, by sphere tracing: the normal
/// there, and the gap along it.
///
/// Steps of the free distance never skip an obstacle, however thin.
fn sphere_trace(obstacle: &KinematicObstacle, start: Vec3, path: Vec3, radius: Real) -> Option<(Vec3, Real)> {
    let length = path.length();
    let mut travelled = 0.0;
    let mut last = None;
    for _ in 0..PATH_STEPS {
        let point = start + path * (travelled / length);
        let nearest = obstacle.signed_distance(point, Real::INFINITY)?;
        let free = nearest.distance - radius;
        last = Some((nearest.normal, travelled));
        if free < 1e-3 * radius {
            break;
        }
        travelled += free;
        if travelled > length {
            return None;
        }
    }
    let (normal, travelled) = last?;
    let gap = -path.dot(normal) * (travelled / length);
    (path.dot(normal) < 0.0).then_some((normal, gap.max(0.0)))
}
