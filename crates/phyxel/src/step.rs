//! The step: one function whose order is the specification, and the frame made of steps.

use crate::Real;
use crate::apply::apply_commands;
use crate::contact::{self, find_face_touches, find_pairs, find_presses, measure_bodies};
use crate::error::StepError;
use crate::exchange::{check_streams, exchange_matter};
use crate::heat::{conduct_heat, take_up_work};
use crate::parallel;
use crate::particles::Particles;
use crate::topology::change_topology;
use crate::world::World;
use glam::Vec3;
use phyxel_laws::contact::drag_force;
use std::time::Instant;

/// What is the same during a whole step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepContext {
    /// Time step, s.
    pub dt: Real,
    /// Time at the start of the step, s.
    pub time: f64,
    /// m/s2.
    pub gravity: Vec3,
}

/// A stage of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Stage {
    ApplyCommands,
    FindNeighbours,
    ExertForces,
    AdvanceVelocities,
    ResolveContacts,
    AdvancePositions,
    ConductHeat,
    ChangePhase,
    ChangeTopology,
    Check,
    ExchangeMatter,
}

impl Stage {
    /// Every stage, in order.
    pub const ALL: [Self; 11] = [
        Self::ApplyCommands,
        Self::FindNeighbours,
        Self::ExertForces,
        Self::AdvanceVelocities,
        Self::ResolveContacts,
        Self::AdvancePositions,
        Self::ConductHeat,
        Self::ChangePhase,
        Self::ChangeTopology,
        Self::Check,
        Self::ExchangeMatter,
    ];

    /// The name of the function that does it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ApplyCommands => "apply_commands",
            Self::FindNeighbours => "find_neighbours",
            Self::ExertForces => "exert_forces",
            Self::AdvanceVelocities => "advance_velocities",
            Self::ResolveContacts => "resolve_contacts",
            Self::AdvancePositions => "advance_positions",
            Self::ConductHeat => "conduct_heat",
            Self::ChangePhase => "change_phase",
            Self::ChangeTopology => "change_topology",
            Self::Check => "check",
            Self::ExchangeMatter => "exchange_matter",
        }
    }
}

/// Wall-clock seconds spent in each stage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageTimes([f64; Stage::ALL.len()]);

impl StageTimes {
    /// Seconds spent in a stage.
    pub fn seconds(&self, stage: Stage) -> f64 {
        self.0[stage as usize]
    }

    /// Stage names with seconds, in the order of the step.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        Stage::ALL.iter().map(|&stage| (stage.name(), self.seconds(stage)))
    }

    /// Adds the times of another step or frame.
    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine += theirs);
    }
}

/// What a frame took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameReport {
    /// Sub-steps.
    pub steps: u32,
    /// Time spent, by stage.
    pub stages: StageTimes,
}

/// Advances the world by one step of `dt` seconds. The order below is the specification.
///
/// On error the world is as it was before the step, apart from commands that were carried out.
pub fn step(world: &mut World, dt: Real, times: &mut StageTimes) -> Result<(), StepError> {
    if !(dt.is_finite() && dt > 0.0) {
        world.scratch.measured = false;
        return Err(StepError::BadStep { dt });
    }
    let mut clock = Clock { times, last: Instant::now() };
    let context = StepContext { dt, time: world.time, gravity: world.settings.gravity };
    apply_commands(world, &context)?;
    check_streams(world, &context)?;
    // Commands may have changed gravity.
    let context = StepContext { gravity: world.settings.gravity, ..context };
    clock.ends(Stage::ApplyCommands);
    find_neighbours(world, &context);
    clock.ends(Stage::FindNeighbours);
    exert_forces(world, &context);
    clock.ends(Stage::ExertForces);
    advance_velocities(world, &context);
    clock.ends(Stage::AdvanceVelocities);
    contact::resolve_contacts(world, &context);
    clock.ends(Stage::ResolveContacts);
    advance_positions(world, &context);
    clock.ends(Stage::AdvancePositions);
    let worked = take_up_work(world);
    let warmed = conduct_heat(world, &context).inspect_err(|_| go_back(world))? || worked;
    clock.ends(Stage::ConductHeat);
    change_phase(world, &context, warmed);
    clock.ends(Stage::ChangePhase);
    change_topology(world);
    clock.ends(Stage::ChangeTopology);
    let checked = check(world, &context);
    clock.ends(Stage::Check);
    checked?;
    exchange_matter(world, &context);
    clock.ends(Stage::ExchangeMatter);
    world.time += f64::from(dt);
    world.steps += 1;
    Ok(())
}

/// Puts the time since the last stage on that stage's account.
struct Clock<'a> {
    times: &'a mut StageTimes,
    last: Instant,
}

impl Clock<'_> {
    fn ends(&mut self, stage: Stage) {
        let now = Instant::now();
        self.times.0[stage as usize] += (now - self.last).as_secs_f64();
        self.last = now;
    }
}

/// Models keep a fifth of what is stable in reserve; a frame that needs more steps than allowed may use it up.
const UNSTABLE: f64 = 1.2;

/// Particles per task of simple loops.
const GRAIN: usize = 1 << 13;

/// Boxes around bodies, and what may touch: particles, nodes of tetrahedra, particles and faces of tetrahedra.
fn find_neighbours(world: &mut World, context: &StepContext) {
    if !std::mem::take(&mut world.scratch.measured) {
        world.scratch.bounds = measure_bodies(world);
    }
    find_pairs(world, context.dt);
    find_presses(world);
    find_face_touches(world, context.dt);
    for model in &mut world.models {
        model.find_neighbours(&world.bodies, &world.materials, &world.particles);
    }
}

/// Forces beside gravity: those of models and the pull of pointers. Without any, the column stays empty.
fn exert_forces(world: &mut World, context: &StepContext) {
    let particles = &mut world.particles;
    particles.force.clear();
    for model in &mut world.models {
        model.exert_forces(&world.bodies, &world.materials, particles, context);
    }
    if world.drags.is_empty() {
        return;
    }
    particles.force.resize(particles.mass.len(), Vec3::ZERO);
    for drag in &world.drags {
        let Some(body) = world.bodies.iter().find(|body| !body.removed && body.name == drag.body) else { continue };
        let Some(i) = particles.find(body.range(), drag.sample) else { continue };
        let heavy: Real = particles.mass[body.range()].iter().sum();
        let (x, v) = (particles.position[i], particles.velocity[i]);
        particles.force[i] += drag_force(drag.to - x, v, particles.mass[i], heavy, drag.tau, drag.limit, context.dt);
    }
}

/// Each model's own way from forces and gravity to velocities. Those at the start of the step are kept.
fn advance_velocities(world: &mut World, context: &StepContext) {
    let particles = &mut world.particles;
    world.scratch.prepare_obstacles(&world.obstacles);
    let before = &mut world.scratch.velocity_before;
    before.resize(particles.velocity.len(), Vec3::ZERO);
    std::mem::swap(before, &mut particles.velocity);
    let walls = contact::Walls::new(&world.obstacles, &world.scratch, context);
    for model in &mut world.models {
        let before = &world.scratch.velocity_before;
        model.advance_velocities(&world.bodies, &world.materials, particles, before, &walls, context);
    }
}

/// `x += dt v`. The positions at the start of the step are kept.
fn advance_positions(world: &mut World, context: &StepContext) {
    let particles = &mut world.particles;
    let before = &mut world.scratch.position_before;
    before.resize(particles.position.len(), Vec3::ZERO);
    std::mem::swap(before, &mut particles.position);
    let velocity = &particles.velocity;
    parallel::for_each_chunk(&mut particles.position, GRAIN, |first, positions| {
        let end = first + positions.len();
        for ((position, before), velocity) in positions.iter_mut().zip(&before[first..end]).zip(&velocity[first..end]) {
            *position = *before + *velocity * context.dt;
        }
    });
}

/// Permanent deformation, and what temperature changes in matter.
///
/// Temperature comes last: what models derive from it is that of the end of the step, as in a world read from a
/// checkpoint.
fn change_phase(world: &mut World, context: &StepContext, warmed: bool) {
    for model in &mut world.models {
        model.change_phase(&world.bodies, &world.materials, &mut world.particles, context);
    }
    if take_up_work(world) || warmed {
        for model in &mut world.models {
            model.follow_temperature(&world.bodies, &world.materials, &world.particles);
        }
    }
}

/// Finds values that stopped being numbers, names them, and goes back to the start of the step.
fn check(world: &mut World, context: &StepContext) -> Result<(), StepError> {
    let particles = &world.particles;
    let Some(i) = first_unsound(particles) else { return Ok(()) };
    let (quantity, value) = if particles.velocity[i].is_finite() {
        ("position", particles.position[i])
    } else {
        ("velocity", particles.velocity[i])
    };
    let body = &world.bodies[particles.body[i].0 as usize];
    let error = StepError::NotFinite {
        body: body.name.clone(),
        quantity,
        particle: i as u32 - body.particles.start,
        value: value.to_string(),
        time: context.time,
    };
    go_back(world);
    Err(error)
}

/// The first particle with a place or a velocity that is no number.
pub(crate) fn first_unsound(particles: &Particles) -> Option<usize> {
    let bad = |i: usize| !particles.position[i].is_finite() || !particles.velocity[i].is_finite();
    let found = parallel::map_ranges(particles.len(), GRAIN, |mut range| range.find(|&i| bad(i)));
    found.into_iter().flatten().next()
}

/// Puts particles where they were at the start of the step.
fn go_back(world: &mut World) {
    world.particles.position.clone_from(&world.scratch.position_before);
    world.particles.velocity.clone_from(&world.scratch.velocity_before);
}

impl World {
    /// Advances to the next frame, in as many steps as that takes.
    ///
    /// On error the world is at its last good step.
    pub fn advance_frame(&mut self) -> Result<FrameReport, StepError> {
        let end = f64::from(self.frame + 1) / self.settings.frame_rate;
        let mut report = FrameReport::default();
        loop {
            // Commands first: how long a step may be depends on what they change.
            let context = StepContext { dt: 0.0, time: self.time, gravity: self.settings.gravity };
            apply_commands(self, &context)?;
            let left = end - self.time;
            let count = self.steps_left(left, report.steps)?;
            step(self, (left / f64::from(count)) as Real, &mut report.stages)?;
            report.steps += 1;
            if count == 1 {
                // Frames lie at exact times, whatever the steps add up to.
                self.time = end;
                self.frame += 1;
                return Ok(report);
            }
        }
    }

    /// Longest step that is stable at present, s; infinite if any is.
    pub fn stable_step(&mut self) -> f64 {
        for model in &mut self.models {
            model.prepare(&self.bodies, &self.materials, &self.particles);
        }
        let models = self.models.iter().map(|model| model.stable_step()).fold(f64::INFINITY, f64::min);
        models.min(self.stable_stream())
    }

    /// Number of steps for the rest of a frame.
    fn steps_left(&mut self, left: f64, taken: u32) -> Result<u32, StepError> {
        let stable = self.stable_step().min(self.settings.max_step);
        let limit = self.settings.substeps.unwrap_or(self.settings.max_substeps);
        let most = limit.saturating_sub(taken).max(1);
        if left / stable > UNSTABLE * f64::from(most) && stable < self.settings.max_step {
            return Err(self.explain_stiffness(stable, taken));
        }
        if self.settings.substeps.is_some() {
            return Ok(most);
        }
        let wanted = (left / self.safe_step(left, stable) - 1e-6).ceil();
        Ok(if wanted < f64::from(most) { (wanted as u32).max(1) } else { most })
    }

    /// The limit on the number of steps does not allow one that is stable.
    fn explain_stiffness(&self, stable: f64, taken: u32) -> StepError {
        let frame = 1.0 / self.settings.frame_rate;
        let needed = (frame / stable).ceil().min(f64::from(u32::MAX)) as u32;
        let allowed = self.settings.substeps.unwrap_or(self.settings.max_substeps);
        StepError::TooStiff { time: self.time, stable, needed: needed.max(taken.saturating_add(1)), allowed }
    }

    /// Longest step that is stable and in which no two things come closer by more than the contact thickness, the
    /// radius of the smallest particle, s. (Fixed obstacles need no such bound: paths are followed to them.)
    fn safe_step(&mut self, left: f64, stable: f64) -> f64 {
        let horizon = left.min(stable) as Real;
        self.scratch.prepare_obstacles(&self.obstacles);
        self.scratch.bounds = measure_bodies(self);
        self.scratch.measured = true;
        let bounds = &self.scratch.bounds;
        let there = || bounds.iter().filter(|bounds| bounds.radius > 0.0);
        let thickness = there().map(|bounds| bounds.radius).fold(Real::INFINITY, Real::min);
        let approach = contact::fastest_approach(&self.bodies, bounds, horizon);
        let speed = approach.max(contact::fastest_obstacle(self, self.time, horizon));
        if speed > 0.0 { stable.min(f64::from(thickness) / f64::from(speed)) } else { stable }
    }
}
