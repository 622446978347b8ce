//! Particles against obstacles.

use super::bounds::{BLOCK, BodyBounds};
use super::pace;
use super::presses::Press;
use super::work::{friction_warms, matter};
use crate::Real;
use crate::body::{Body, Pose};
use crate::collider::{Collider, Nearness};
use crate::material::Friction;
use crate::model::ModelKind;
use crate::obstacle::Obstacle;
use crate::parallel;
use crate::particles::Phase;
use crate::scratch::Scratch;
use crate::step::StepContext;
use crate::world::World;
use glam::{Quat, Vec3};
use phyxel_laws::contact::{Pace, Surface, Touch, friction_work, touched_velocity};

/// Particles per task.
const GRAIN: usize = 1024;
/// Radius with which nodes of tetrahedra touch obstacles, as a part of theirs.
pub(crate) const NODE_RADIUS: Real = 0.1;
/// A touch is looked at while the gap is below this part of the radius, even if it is not closing.
const WATCHED: Real = 0.25;
/// Thickness of the film in which things stick, as a part of the radius.
pub(crate) const FILM: Real = 0.05;
/// The same two for fluids, as a part of the radius of their guard: pressure keeps them off walls by 0.4 spacings, 1.6 such radii.
const WETTED: Real = 1.0;
/// Most steps along the path of a fast particle.
const PATH_STEPS: usize = 48;

/// A particle at an obstacle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObstacleTouch {
    pub particle: u32,
    pub obstacle: u32,
    pub touch: Touch,
    /// Velocity of the obstacle there, m/s.
    carried: Vec3,
    /// Thickness of the film in which things stick, m.
    film: Real,
}

impl ObstacleTouch {
    /// Whether heat can pass: the gap is within the film in which things stick.
    pub fn is_close(&self) -> bool {
        self.touch.gap <= self.film
    }
}

/// An obstacle during a step.
struct Moving<'a> {
    number: u32,
    collider: &'a Collider,
    start: Pose,
    end: Pose,
    still: bool,
    /// Whether its own axes are the world's.
    upright: bool,
    obstacle: &'a Obstacle,
}

/// Forms of all obstacles, ready for questions.
pub(crate) fn make_colliders(obstacles: &[Obstacle]) -> Vec<Option<Collider>> {
    obstacles.iter().map(|obstacle| Collider::new(&obstacle.geometry)).collect()
}

impl Moving<'_> {
    /// Velocity of the obstacle's matter at a point, m/s.
    fn velocity_at(&self, point: Vec3, dt: Real) -> Vec3 {
        if self.still { Vec3::ZERO } else { (self.end.point(self.start.local_point(point)) - point) / dt }
    }

    /// Whether it may come within reach of the box between two corners during a step.
    fn is_near(&self, min: Vec3, max: Vec3, reach: Real, dt: Real) -> bool {
        let (centre, half) = (0.5 * (min + max), 0.5 * (max - min).length());
        let speed = self.velocity_at(centre, dt).length() + turn_speed(self, half, dt);
        self.nearness(centre, half + reach + speed * dt).is_some()
    }

    /// Nearness in the world's frame, at the start of the step.
    fn nearness(&self, point: Vec3, reach: Real) -> Option<Nearness> {
        if self.upright {
            return self.collider.nearness(point - self.start.at, reach);
        }
        let found = self.collider.nearness(self.start.local_point(point), reach)?;
        Some(Nearness { normal: self.start.direction(found.normal), ..found })
    }
}

/// What is in the way of models that press on it: obstacles, and nodes of tetrahedra that are inside others.
pub(crate) struct Walls<'a> {
    obstacles: Vec<Moving<'a>>,
    pub presses: &'a [Press],
    dt: Real,
}

/// Those near a box.
pub(crate) struct NearWalls<'a> {
    obstacles: Vec<&'a Moving<'a>>,
    dt: Real,
}

impl<'a> Walls<'a> {
    pub fn new(obstacles: &'a [Obstacle], scratch: &'a Scratch, context: &StepContext) -> Self {
        let obstacles = moving_obstacles(obstacles, &scratch.colliders, context);
        Self { obstacles, presses: &scratch.presses, dt: context.dt }
    }

    /// Obstacles within reach of the box between two corners.
    pub fn near(&'a self, min: Vec3, max: Vec3, reach: Real) -> NearWalls<'a> {
        let (centre, half) = (0.5 * (min + max), 0.5 * (max - min).length());
        let obstacles = self.obstacles.iter().filter(|obstacle| obstacle.nearness(centre, half + reach).is_some());
        NearWalls { obstacles: obstacles.collect(), dt: self.dt }
    }
}

impl<'a> NearWalls<'a> {
    /// Calls `look` with each surface within reach of a point, its velocity (m/s) and the obstacle that it is of.
    pub fn visit(&self, point: Vec3, reach: Real, mut look: impl FnMut(Nearness, Vec3, &'a Obstacle)) {
        for obstacle in &self.obstacles {
            if let Some(near) = obstacle.nearness(point, reach) {
                look(near, obstacle.velocity_at(point, self.dt), obstacle.obstacle);
            }
        }
    }
}

fn moving_obstacles<'a>(
    obstacles: &'a [Obstacle],
    colliders: &'a [Option<Collider>],
    context: &StepContext,
) -> Vec<Moving<'a>> {
    let numbered = obstacles.iter().zip(colliders).enumerate();
    numbered
        .filter(|(_, (obstacle, _))| obstacle.active)
        .filter_map(|(number, (obstacle, collider))| {
            let (start, end) = (obstacle.pose(context.time), obstacle.pose(context.time + f64::from(context.dt)));
            let collider = collider.as_ref()?;
            Some(Moving {
                number: number as u32,
                collider,
                start,
                end,
                still: start == end,
                upright: start.turn == Quat::IDENTITY,
                obstacle,
            })
        })
        .collect()
}

/// The fastest that a moving obstacle comes closer to what it may touch within a step, or moves at all if that is slower, m/s.
///
/// What moves along with it, or is far from it, needs no shorter steps.
pub(crate) fn fastest_obstacle(world: &World, time: f64, dt: Real) -> Real {
    let context = StepContext { dt, time, gravity: Vec3::ZERO };
    let obstacles = moving_obstacles(&world.obstacles, &world.scratch.colliders, &context);
    let mut fastest: Real = 0.0;
    for obstacle in obstacles.iter().filter(|obstacle| !obstacle.still) {
        for (body, bounds) in world.bodies.iter().zip(&world.scratch.bounds) {
            let speed = bounds.fastest_beside([bounds.min, bounds.max].map(|corner| obstacle.velocity_at(corner, dt)));
            if speed > fastest && speed.is_finite() && may_touch(world, obstacle, (body, bounds), dt) {
                fastest = speed;
            }
        }
    }
    fastest
}

/// Whether any particle of a body may touch an obstacle within a step.
fn may_touch(world: &World, obstacle: &Moving, (body, bounds): (&Body, &BodyBounds), dt: Real) -> bool {
    let (range, reach) = (body.range(), reach_of(bounds, bounds.speed * dt));
    let is_near = |min: Vec3, max: Vec3| obstacle.is_near(min, max, reach, dt);
    // Particles of a block may lie far apart, and then its box says little.
    bounds.blocks.iter().enumerate().filter(|(_, block)| is_near(block.min, block.max)).any(|(number, _)| {
        let start = range.start + number * BLOCK;
        world.particles.position[start..(start + BLOCK).min(range.end)].iter().any(|&x| is_near(x, x))
    })
}

/// All particles that are at an obstacle or reach one within the step, in the order of particles.
pub(crate) fn find_touches(world: &World, context: &StepContext) -> Vec<ObstacleTouch> {
    let obstacles = moving_obstacles(&world.obstacles, &world.scratch.colliders, context);
    if obstacles.is_empty() {
        return Vec::new();
    }
    let found = parallel::map(world.bodies.len(), 4, |body| touches_of_body(world, body, &obstacles, context));
    found.concat()
}

fn touches_of_body(world: &World, body: usize, obstacles: &[Moving], context: &StepContext) -> Vec<ObstacleTouch> {
    let (range, bounds) = (world.bodies[body].range(), &world.scratch.bounds[body]);
    if range.is_empty() {
        return Vec::new();
    }
    let velocities = &world.particles.velocity[range.clone()];
    let fastest = parallel::map_ranges(range.len(), 1 << 14, |part| {
        velocities[part].iter().map(|v| v.length_squared()).fold(0.0, Real::max)
    });
    let path = fastest.into_iter().fold(0.0, Real::max).sqrt() * context.dt;
    let reach = reach_of(bounds, path);
    let is_near = |obstacle: &Moving, min: Vec3, max: Vec3| obstacle.is_near(min, max, reach, context.dt);
    let near: Vec<&Moving> = obstacles.iter().filter(|obstacle| is_near(obstacle, bounds.min, bounds.max)).collect();
    let blocks = if near.is_empty() { 0 } else { bounds.blocks.len() };
    let found = parallel::map_ranges(blocks, GRAIN / BLOCK, |part| {
        let mut found = Vec::new();
        for number in part {
            let block = &bounds.blocks[number];
            let near: Vec<&Moving> =
                near.iter().copied().filter(|obstacle| is_near(obstacle, block.min, block.max)).collect();
            let start = range.start + number * BLOCK;
            let indices = start..(start + BLOCK).min(range.end);
            let indices = if near.is_empty() { 0..0 } else { indices };
            found.extend(
                indices.flat_map(|i| near.iter().filter_map(move |obstacle| touch(world, obstacle, i, context))),
            );
        }
        found
    });
    found.concat()
}

/// How far from a particle of a body an obstacle counts, if the particle goes so far during a step, m.
fn reach_of(bounds: &BodyBounds, path: Real) -> Real {
    bounds.radius * (1.0 + WATCHED.max(WETTED)) + path
}

/// Upper bound for the difference of an obstacle's velocity between two points this far apart, m/s.
fn turn_speed(obstacle: &Moving, distance: Real, dt: Real) -> Real {
    obstacle.start.turn.angle_between(obstacle.end.turn) * distance / dt
}

/// The touch of a particle and an obstacle within this step, if there is one.
fn touch(world: &World, obstacle: &Moving, i: usize, context: &StepContext) -> Option<ObstacleTouch> {
    let particles = &world.particles;
    let x = particles.position[i];
    let Guard { radius, watched, film } = Guard::of(world, i);
    let carried = obstacle.velocity_at(x, context.dt);
    let path = (particles.velocity[i] - carried) * context.dt;
    let length = path.length();
    if particles.is_held(i) || !length.is_finite() {
        return None;
    }
    let near = obstacle.nearness(x, radius + watched + length)?;
    let gap = near.distance - radius;
    let (normal, gap) =
        if gap > 0.0 && length > radius { first_on_path(obstacle, x, path, radius)? } else { (near.normal, gap) };
    let closing = -path.dot(normal);
    if gap > closing.max(watched) {
        return None;
    }
    let touch = Touch::new(normal, gap, world.scratch.velocity_before[i] - carried);
    Some(ObstacleTouch { particle: i as u32, obstacle: obstacle.number, touch, carried, film })
}

/// How near a particle is to obstacles when it touches them.
struct Guard {
    /// Radius with which it does, m.
    radius: Real,
    /// Gap below which a touch is looked at even if it is not closing, m.
    watched: Real,
    /// Gap in which it sticks and heat passes, m.
    film: Real,
}

impl Guard {
    /// Fluids keep off walls by pressure; half of their radius is a guard. Nodes of tetrahedra lie on the surface.
    fn of(world: &World, i: usize) -> Self {
        let radius = world.particles.radius[i];
        if is_fluid(world, i) {
            Self { radius: 0.5 * radius, watched: WETTED * 0.5 * radius, film: WETTED * 0.5 * radius }
        } else {
            let is_node = world.bodies[world.particles.body[i].0 as usize].model == ModelKind::Tetra;
            let touching = if is_node { NODE_RADIUS * radius } else { radius };
            Self { radius: touching, watched: WATCHED * radius, film: FILM * radius }
        }
    }
}

/// Whether a particle is one of a fluid that has a pressure.
pub(crate) fn is_fluid(world: &World, i: usize) -> bool {
    let is_crystal = world.bodies[world.particles.body[i].0 as usize].model == ModelKind::Crystal;
    is_crystal && world.particles.phase[i] == Phase::Fluid
}

/// Momentum that the model of a particle was given by an obstacle already, kg m/s.
fn stop_given(world: &World, i: usize) -> Option<Vec3> {
    world.tetra_model()?.stop_given(i)
}

/// Where a ball that moves along `path` first meets the obstacle: the normal there and the way to go along it.
///
/// Steps of the distance still free never jump over anything, however thin.
fn first_on_path(obstacle: &Moving, start: Vec3, path: Vec3, radius: Real) -> Option<(Vec3, Real)> {
    let length = path.length();
    let mut travelled = 0.0;
    let mut last = None;
    for _ in 0..PATH_STEPS {
        let point = start + path * (travelled / length);
        let near = obstacle.nearness(point, Real::INFINITY)?;
        let free = near.distance - radius;
        last = Some((near.normal, travelled));
        if free < 1e-3 * radius {
            break;
        }
        travelled += free;
        if travelled > length {
            return None;
        }
    }
    let (normal, travelled) = last?;
    let way = -path.dot(normal) * (travelled / length);
    (path.dot(normal) < 0.0).then_some((normal, way.max(0.0)))
}

/// The most that an obstacle keeps a particle of this radius with in a step, kg m/s.
pub(crate) fn held_momentum(obstacle: &Obstacle, radius: Real, dt: Real) -> Real {
    obstacle.stickiness * std::f32::consts::PI * radius * radius * dt
}

/// Velocity of a particle after one touch.
#[inline]
fn stopped(world: &World, touch: &ObstacleTouch, velocity: Vec3, rounds: u32, pace: &Pace) -> Vec3 {
    let (particles, i) = (&world.particles, touch.particle as usize);
    let obstacle = &world.obstacles[touch.obstacle as usize];
    // Dry friction and rebound are of solids, and done already where the model has stopped a particle.
    let is_slick = is_fluid(world, i) || stop_given(world, i).is_some();
    let (friction, restitution) =
        if is_slick { (Friction::NONE, 0.0) } else { (obstacle.friction, obstacle.restitution) };
    let surface = Surface {
        static_friction: friction.r#static,
        kinetic_friction: friction.kinetic,
        restitution,
        hold: held_momentum(obstacle, particles.radius[i], pace.dt) / (particles.mass[i] * rounds as Real),
        film: touch.film,
    };
    touch.carried + touched_velocity(velocity - touch.carried, &touch.touch, &surface, pace)
}

/// Notes the heat that friction is about to make; obstacles take none of it.
fn note_friction(world: &mut World, groups: &[&[ObstacleTouch]], rounds: u32, context: &StepContext) {
    if !friction_warms(world) {
        return;
    }
    // Of what was given already, each round notes its share.
    let share = |given: Vec3| given / rounds as Real;
    let heats = parallel::map(groups.len(), GRAIN, |group| {
        let particle = groups[group][0].particle;
        let (i, part) = (particle as usize, matter(world, particle).heat.from_work.friction);
        let pace = pace(context, world.particles.radius[i]);
        let (mut velocity, mut work, mut given) = (world.particles.velocity[i], 0.0, stop_given(world, i).map(share));
        for touch in groups[group] {
            let after = stopped(world, touch, velocity, rounds, &pace);
            let taken = (velocity - after) * world.particles.mass[i] - given.take().unwrap_or(Vec3::ZERO);
            let start = world.scratch.velocity_before[i] - touch.carried;
            work += friction_work(taken, touch.touch.normal, start, after - touch.carried);
            velocity = after;
        }
        work * f64::from(part)
    });
    let made = world.particles.make_heat();
    for (group, heat) in groups.iter().zip(heats) {
        made[group[0].particle as usize] += heat;
    }
}

/// Takes particles' velocities into obstacles away, with friction, restitution and stickiness.
///
/// Each group holds the touches of one particle; it is one of `rounds` calls, which share what sticking can hold.
pub(crate) fn stop_at_obstacles(world: &mut World, groups: &[&[ObstacleTouch]], rounds: u32, context: &StepContext) {
    note_friction(world, groups, rounds, context);
    let particles = &world.particles;
    let changed = parallel::map(groups.len(), GRAIN, |group| {
        let i = groups[group][0].particle as usize;
        let pace = pace(context, particles.radius[i]);
        let start = particles.velocity[i];
        groups[group].iter().fold(start, |velocity, touch| stopped(world, touch, velocity, rounds, &pace))
    });
    for (group, velocity) in groups.iter().zip(changed) {
        world.particles.velocity[group[0].particle as usize] = velocity;
    }
}
