//! Exchange of particles with the outside: emission at emitters, removal by drains and the bounds of the world.

use super::emitter::MAX_LAYERS_PER_STEP;
use super::{Bounds, Drain, DrainState, Emitter, EmitterState};
use crate::Real;
use crate::body::{BodyId, Pose};
use crate::commands::Setting;
use crate::error::{StepError, WorldError};
use crate::frame::Exchanged;
use crate::geometry::Collider;
use crate::model::ModelKind;
use crate::model::crystal::CFL;
use crate::numerics::Aabb;
use crate::parallel;
use crate::step::StepContext;
use crate::store::{Flags, Particle};
use crate::world::{World, unknown_name};
use glam::Vec3;

/// Particles per block of the drain test; a block is culled by its bounding sphere.
const BLOCK: usize = 32;

/// Refuses a step in which a stream would move too far.
pub(crate) fn check_emitter_speeds(world: &World, context: &StepContext) -> Result<(), StepError> {
    for state in world.emitters.iter().filter(|state| world.is_emitting(state)) {
        let body = &world.bodies[state.body.0 as usize];
        let layers = state.layers_in(context.dt.into(), body, world.material_of(state.body));
        if layers > MAX_LAYERS_PER_STEP {
            let (emitter, speed) = (state.emitter.name.clone(), state.emitter.speed);
            return Err(StepError::EmitterTooFast { emitter, speed, dt: context.dt, time: context.time });
        }
    }
    Ok(())
}

/// Emits and removes particles, at the end of the step.
pub(crate) fn exchange_matter(world: &mut World, context: &StepContext) {
    let emitted = emit_particles(world, context.time + f64::from(context.dt));
    let sinks = find_removed(world);
    if emitted.is_empty() && sinks.iter().all(Option::is_none) {
        return;
    }
    for (i, sink) in sinks.iter().enumerate() {
        let Some(sink) = sink else { continue };
        let (mass, enthalpy) = (f64::from(world.particles.mass[i]), world.particles.enthalpy[i]);
        let total = world.drains.get_mut(*sink as usize).map_or(&mut world.out_of_bounds, |state| &mut state.removed);
        total.add(1, mass, enthalpy);
        world.initial_heat -= mass * enthalpy;
    }
    world.initial_heat += emitted.iter().map(|particle| f64::from(particle.mass) * particle.enthalpy).sum::<f64>();
    world.rearrange(|i| sinks.get(i).is_none_or(Option::is_none), &emitted);
}

/// Advances all streams to a time (s). Returns the emitted particles, sorted by body.
fn emit_particles(world: &mut World, end: f64) -> Vec<Particle> {
    let mut emitted: Vec<Particle> = Vec::new();
    let mut states = std::mem::take(&mut world.emitters);
    for state in &mut states {
        if world.is_removed(state.body) {
            continue;
        }
        let emission = state.advance(end, &world.bodies[state.body.0 as usize], world.material_of(state.body));
        let body = &mut world.bodies[state.body.0 as usize];
        body.next_id += emission.particles.len() as u32;
        let range = body.range();
        // Some may have been removed by a drain.
        let particles = &mut world.particles;
        let released: Vec<usize> =
            emission.released.iter().filter_map(|&id| particles.find(range.clone(), id)).collect();
        released.into_iter().for_each(|i| particles.flags[i] = particles.flags[i].with(Flags::DRIVEN, false));
        emitted.extend(emission.particles);
    }
    world.emitters = states;
    // The sort is stable: within a body, the order of emitters.
    emitted.sort_by_key(|particle| particle.body);
    emitted
}

/// Sink index of the bounds of the world.
const OUT_OF_BOUNDS: u32 = u32::MAX;

/// Sink of each particle: the index of a drain, or the bounds; empty if the world has none.
fn find_removed(world: &mut World) -> Vec<Option<u32>> {
    let bounds = world.settings.bounds;
    if world.drains.is_empty() && bounds.is_none() {
        return Vec::new();
    }
    world.scratch.prepare_drain_colliders(&world.drains);
    let mut sinks = vec![None; world.particles.len()];
    for body in world.bodies.iter().filter(|body| body.model.traits().exchanges_particles) {
        let is_open = |(_, (state, _)): &(u32, (&DrainState, &Option<Collider>))| {
            let drain = &state.drain;
            drain.active && (drain.bodies.is_empty() || drain.bodies.contains(&body.name))
        };
        let drains = (0..).zip(world.drains.iter().zip(&world.scratch.drain_colliders)).filter(is_open);
        let drains: Vec<(u32, &DrainState, &Collider)> =
            drains.filter_map(|(index, (state, collider))| Some((index, state, collider.as_ref()?))).collect();
        let range = body.range();
        let positions = &world.particles.position[range.clone()];
        let found =
            parallel::map_ranges(range.len(), BLOCK, |block| find_sinks(&drains, bounds.as_ref(), &positions[block]));
        sinks[range].copy_from_slice(&found.concat());
    }
    sinks
}

/// Sink of each particle of a block.
fn find_sinks(
    drains: &[(u32, &DrainState, &Collider)],
    bounds: Option<&Bounds>,
    positions: &[Vec3],
) -> Vec<Option<u32>> {
    let aabb = Aabb::from_points(positions.iter().copied());
    let (centre, radius) = (aabb.centre(), aabb.circumradius());
    let near: Vec<_> =
        drains.iter().filter(|(_, state, collider)| state.may_overlap(collider, centre, radius)).collect();
    let sink = |x: &Vec3| {
        let drain =
            near.iter().find(|(_, state, collider)| state.may_overlap(collider, *x, 0.0)).map(|(index, _, _)| *index);
        drain.or_else(|| bounds.is_some_and(|bounds| !bounds.contains(*x)).then_some(OUT_OF_BOUNDS))
    };
    positions.iter().map(sink).collect()
}

impl World {
    /// Adds an emitter.
    pub fn add_emitter(&mut self, emitter: Emitter) -> Result<(), WorldError> {
        if self.emitters.iter().any(|other| other.emitter.name == emitter.name) {
            return Err(WorldError::DuplicateName { kind: "emitters", name: emitter.name });
        }
        self.start_emitter(emitter)
    }

    /// Adds an emitter, or replaces the one of the same name.
    pub(crate) fn start_emitter(&mut self, emitter: Emitter) -> Result<(), WorldError> {
        let body = self.check_emitter(&emitter)?;
        self.grow_extent([emitter.position]);
        match self.emitters.iter().position(|other| other.emitter.name == emitter.name) {
            Some(index) => {
                self.release_driven(index);
                self.emitters[index].restart(emitter, body, self.time);
            }
            None => self.emitters.push(EmitterState::new(emitter, body, self.time)),
        }
        Ok(())
    }

    /// Adds a drain.
    pub fn add_drain(&mut self, drain: Drain) -> Result<(), WorldError> {
        if self.drains.iter().any(|other| other.drain.name == drain.name) {
            return Err(WorldError::DuplicateName { kind: "drains", name: drain.name });
        }
        self.start_drain(drain)
    }

    /// Adds a drain, or replaces the one of the same name.
    pub(crate) fn start_drain(&mut self, drain: Drain) -> Result<(), WorldError> {
        drain.validate()?;
        for name in &drain.bodies {
            let id = self.body_named(name)?;
            let model = self.bodies[id.0 as usize].model;
            let rule =
                "bodies of the models \"crystal\" and \"fluid\", as only their particles can be removed one by one";
            let owner = || format!("drain \"{}\"", drain.name);
            let can_drain = model.traits().exchanges_particles;
            WorldError::require(can_drain, owner, "bodies", format_args!("{name:?} ({})", model.name()), rule)?;
        }
        self.scratch.drain_colliders.clear();
        match self.drains.iter_mut().find(|other| other.drain.name == drain.name) {
            Some(state) => state.drain = drain,
            None => self.drains.push(DrainState { drain, removed: Default::default() }),
        }
        Ok(())
    }

    /// Validates an emitter: it must fill a fluid, and its mouth must be clear of obstacles. Returns its body.
    fn check_emitter(&mut self, emitter: &Emitter) -> Result<BodyId, WorldError> {
        let id = self.body_named(&emitter.body)?;
        let body = &self.bodies[id.0 as usize];
        let is_fluid = body.model == ModelKind::Fluid;
        let rule = "a body of the model \"fluid\"";
        WorldError::require(is_fluid, || format!("emitter \"{}\"", emitter.name), "body", &emitter.body, rule)?;
        emitter.validate(body.spacing)?;
        let spacing = body.spacing;
        if let Some(bounds) = &self.settings.bounds {
            let owner = || format!("emitter \"{}\"", emitter.name);
            let is_inside = bounds.contains(emitter.position);
            WorldError::require(is_inside, owner, "at", emitter.position, "within the world's bounds")?;
        }
        self.scratch.prepare_colliders(&self.obstacles);
        let positions =
            || [false, true].into_iter().flat_map(|mirrored| emitter.layer_positions(spacing, mirrored, 0.0));
        for (obstacle, collider) in self.obstacles.iter().zip(&self.scratch.colliders).filter(|(it, _)| it.active) {
            let Some(collider) = collider else { continue };
            let pose: Pose = obstacle.pose(self.time);
            let distance_to = |x: Vec3| {
                let found = collider.signed_distance(pose.inverse_transform_point(x), 0.5 * spacing);
                found.map(|surface| surface.distance)
            };
            let distance =
                positions().chain([emitter.position]).filter_map(distance_to).fold(Real::INFINITY, Real::min);
            if distance < 0.5 * spacing {
                return Err(WorldError::BlockedMouth {
                    emitter: emitter.name.clone(),
                    obstacle: obstacle.name.clone(),
                    distance,
                    needed: 0.5 * spacing,
                });
            }
        }
        Ok(id)
    }

    pub(crate) fn set_emitter(&mut self, name: &str, setting: Setting) -> Result<(), WorldError> {
        let index = self.emitters.iter().position(|state| state.emitter.name == name);
        let known = || self.emitters.iter().map(|state| state.emitter.name.as_str());
        let index = index.ok_or_else(|| unknown_name("emitter", name, known()))?;
        let mut emitter = self.emitters[index].emitter.clone();
        match setting {
            Setting::Active(active) => emitter.active = active,
            Setting::Speed(speed) => emitter.speed = speed,
            Setting::Temperature(temperature) => emitter.temperature = temperature,
            _ => {
                let target = format!("emitter \"{name}\"");
                return Err(WorldError::UnknownSetting { target, setting: setting.name() });
            }
        }
        emitter.validate(self.bodies[self.emitters[index].body.0 as usize].spacing)?;
        let velocity = emitter.velocity();
        self.emitters[index].emitter = emitter;
        self.driven_particles(index).into_iter().for_each(|i| self.particles.velocity[i] = velocity);
        Ok(())
    }

    pub(crate) fn set_drain(&mut self, name: &str, setting: Setting) -> Result<(), WorldError> {
        let known = || self.drains.iter().map(|state| state.drain.name.as_str());
        let index = self.drains.iter().position(|state| state.drain.name == name);
        let index = index.ok_or_else(|| unknown_name("drain", name, known()))?;
        match setting {
            Setting::Active(active) => self.drains[index].drain.active = active,
            _ => {
                let target = format!("drain \"{name}\"");
                return Err(WorldError::UnknownSetting { target, setting: setting.name() });
            }
        }
        Ok(())
    }

    /// Indices of the particles driven by an emitter.
    fn driven_particles(&self, emitter: usize) -> Vec<usize> {
        let state = &self.emitters[emitter];
        let range = self.bodies[state.body.0 as usize].range();
        state.driven_ids().filter_map(|id| self.particles.find(range.clone(), id)).collect()
    }

    /// Releases the particles driven by an emitter.
    fn release_driven(&mut self, emitter: usize) {
        for i in self.driven_particles(emitter) {
            self.particles.flags[i] = self.particles.flags[i].with(Flags::DRIVEN, false);
        }
    }

    /// Longest step at which all streams satisfy the CFL condition of fluids, s.
    pub(crate) fn max_emitter_step(&self) -> f64 {
        let max_step = |state: &EmitterState| {
            let spacing = f64::from(self.bodies[state.body.0 as usize].spacing);
            CFL * spacing / f64::from(state.emitter.speed)
        };
        self.emitters.iter().filter(|state| self.is_emitting(state)).map(max_step).fold(f64::INFINITY, f64::min)
    }

    fn is_removed(&self, body: BodyId) -> bool {
        self.bodies[body.0 as usize].removed
    }

    fn is_emitting(&self, state: &EmitterState) -> bool {
        !self.is_removed(state.body) && state.is_emitting(self.time)
    }

    /// All emitters.
    pub fn emitters(&self) -> impl Iterator<Item = &Emitter> {
        self.emitters.iter().map(|state| &state.emitter)
    }

    /// All drains.
    pub fn drains(&self) -> impl Iterator<Item = &Drain> {
        self.drains.iter().map(|state| &state.drain)
    }

    /// Particles emitted since the start, by emitter.
    pub(crate) fn emitted(&self) -> Exchanged {
        Exchanged::from_amounts(self.emitters.iter().map(|state| (state.emitter.name.as_str(), state.emitted)))
    }

    /// Particles removed since the start, by drain and by the bounds.
    pub(crate) fn removed(&self) -> Exchanged {
        let drains = self.drains.iter().map(|state| (state.drain.name.as_str(), state.removed));
        Exchanged::from_amounts(drains.chain(self.settings.bounds.map(|_| (Bounds::NAME, self.out_of_bounds))))
    }
}
