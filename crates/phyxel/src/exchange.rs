//! Particles that come and go: emitters pour, drains and the bounds of the world take away.

use crate::Real;
use crate::body::{BodyId, Pose};
use crate::collider::Collider;
use crate::command::Setting;
use crate::drain::{Bounds, Drain, Outlet};
use crate::emitter::{Emitter, MOST_LAYERS, Stream};
use crate::error::{StepError, WorldError};
use crate::frame::Exchanged;
use crate::model::crystal::FARTHEST;
use crate::model::{ModelKind, Moved};
use crate::parallel;
use crate::particles::{Flags, Join, Particle, Rearrangement};
use crate::step::StepContext;
use crate::world::{World, unknown};
use glam::Vec3;
use std::ops::Range;

/// Particles that are asked together whether a drain is near.
const BLOCK: usize = 32;

/// Refuses a step in which a stream would go too far.
pub(crate) fn check_streams(world: &World, context: &StepContext) -> Result<(), StepError> {
    for stream in world.streams.iter().filter(|stream| world.pours(stream)) {
        let body = &world.bodies[stream.body.0 as usize];
        let layers = stream.layers_in(context.dt.into(), body, world.material_of(stream.body));
        if layers > MOST_LAYERS {
            let (emitter, speed) = (stream.emitter.name.clone(), stream.emitter.speed);
            return Err(StepError::TooFast { emitter, speed, dt: context.dt, time: context.time });
        }
    }
    Ok(())
}

/// Lets particles in and out, at the end of the step.
pub(crate) fn exchange_matter(world: &mut World, context: &StepContext) {
    let newborn = pour(world, context.time + f64::from(context.dt));
    let taken = find_taken(world);
    if newborn.is_empty() && taken.iter().all(Option::is_none) {
        return;
    }
    for (i, taker) in taken.iter().enumerate() {
        let Some(taker) = taker else { continue };
        let (mass, enthalpy) = (f64::from(world.particles.mass[i]), world.particles.enthalpy[i]);
        let count = world.outlets.get_mut(*taker as usize).map_or(&mut world.left, |outlet| &mut outlet.taken);
        count.add(1, mass, enthalpy);
        world.heat_first -= mass * enthalpy;
    }
    world.heat_first += newborn.iter().map(|particle| f64::from(particle.mass) * particle.enthalpy).sum::<f64>();
    world.rearrange(|i| taken.get(i).is_none_or(Option::is_none), &newborn);
}

/// Follows all streams to a time (s). Particles that are born, body after body.
fn pour(world: &mut World, end: f64) -> Vec<Particle> {
    let mut newborn: Vec<Particle> = Vec::new();
    let mut streams = std::mem::take(&mut world.streams);
    for stream in &mut streams {
        if world.is_removed(stream.body) {
            continue;
        }
        let pouring = stream.advance(end, &world.bodies[stream.body.0 as usize], world.material_of(stream.body));
        let body = &mut world.bodies[stream.body.0 as usize];
        body.born += pouring.newborn.len() as u32;
        let run = body.range();
        // Some may have been taken away.
        let particles = &mut world.particles;
        let freed: Vec<usize> =
            pouring.freed.iter().filter_map(|&sample| particles.find(run.clone(), sample)).collect();
        freed.into_iter().for_each(|i| particles.flags[i] = particles.flags[i].with(Flags::GUIDED, false));
        newborn.extend(pouring.newborn);
    }
    world.streams = streams;
    // A stable sort: of one body, in the order of emitters.
    newborn.sort_by_key(|particle| particle.body);
    newborn
}

/// The number of the bounds among what takes particles away.
const BOUNDS: u32 = u32::MAX;

/// What takes each particle away: the number of a drain, or the bounds; empty where nothing can.
fn find_taken(world: &mut World) -> Vec<Option<u32>> {
    let bounds = world.settings.bounds;
    if world.outlets.is_empty() && bounds.is_none() {
        return Vec::new();
    }
    world.scratch.prepare_drains(&world.outlets);
    let mut taken = vec![None; world.particles.len()];
    for (number, body) in world.bodies.iter().enumerate().filter(|(_, body)| body.model == ModelKind::Crystal) {
        let works = |(_, (outlet, _)): &(u32, (&Outlet, &Option<Collider>))| {
            let drain = &outlet.drain;
            drain.active && (drain.bodies.is_empty() || drain.bodies.contains(&world.bodies[number].name))
        };
        let outlets = (0..).zip(world.outlets.iter().zip(&world.scratch.drains)).filter(works);
        let outlets: Vec<(u32, &Outlet, &Collider)> =
            outlets.filter_map(|(number, (outlet, collider))| Some((number, outlet, collider.as_ref()?))).collect();
        let run = body.range();
        let positions = &world.particles.position[run.clone()];
        let found = parallel::map_ranges(run.len(), BLOCK, |part| take(&outlets, bounds.as_ref(), &positions[part]));
        taken[run].copy_from_slice(&found.concat());
    }
    taken
}

/// What takes each of some particles that are near each other.
fn take(outlets: &[(u32, &Outlet, &Collider)], bounds: Option<&Bounds>, positions: &[Vec3]) -> Vec<Option<u32>> {
    let corners = positions.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
    let (centre, radius) = (0.5 * (corners.0 + corners.1), 0.5 * corners.0.distance(corners.1));
    let near: Vec<_> = outlets.iter().filter(|(_, outlet, form)| outlet.reaches(form, centre, radius)).collect();
    let taker = |x: &Vec3| {
        let drain = near.iter().find(|(_, outlet, form)| outlet.reaches(form, *x, 0.0)).map(|(number, _, _)| *number);
        drain.or_else(|| bounds.is_some_and(|bounds| !bounds.holds(*x)).then_some(BOUNDS))
    };
    positions.iter().map(taker).collect()
}

impl World {
    /// Adds an emitter.
    pub fn add_emitter(&mut self, emitter: Emitter) -> Result<(), WorldError> {
        if self.streams.iter().any(|other| other.emitter.name == emitter.name) {
            return Err(WorldError::DuplicateName { kind: "emitters", name: emitter.name });
        }
        self.emit(emitter)
    }

    /// Adds an emitter, or puts it in the place of the one of its name.
    pub(crate) fn emit(&mut self, emitter: Emitter) -> Result<(), WorldError> {
        let body = self.check_emitter(&emitter)?;
        self.enclose([emitter.at]);
        match self.streams.iter().position(|other| other.emitter.name == emitter.name) {
            Some(place) => {
                self.let_go(place);
                self.streams[place].restart(emitter, body, self.time);
            }
            None => self.streams.push(Stream::new(emitter, body, self.time)),
        }
        Ok(())
    }

    /// Adds a drain.
    pub fn add_drain(&mut self, drain: Drain) -> Result<(), WorldError> {
        if self.outlets.iter().any(|other| other.drain.name == drain.name) {
            return Err(WorldError::DuplicateName { kind: "drains", name: drain.name });
        }
        self.drain(drain)
    }

    /// Adds a drain, or puts it in the place of the one of its name.
    pub(crate) fn drain(&mut self, drain: Drain) -> Result<(), WorldError> {
        drain.validate()?;
        for name in &drain.bodies {
            let id = self.body_named(name)?;
            let model = self.bodies[id.0 as usize].model;
            let rule = "bodies of the model \"crystal\", as only their particles can be taken away one by one";
            let (owner, is_crystal) = (|| format!("drain \"{}\"", drain.name), model == ModelKind::Crystal);
            WorldError::require(is_crystal, owner, "bodies", format_args!("{name:?} ({})", model.name()), rule)?;
        }
        self.scratch.drains.clear();
        match self.outlets.iter_mut().find(|other| other.drain.name == drain.name) {
            Some(outlet) => outlet.drain = drain,
            None => self.outlets.push(Outlet { drain, taken: Default::default() }),
        }
        Ok(())
    }

    /// Whether an emitter can pour: into a fluid, and out of no obstacle. The body that it pours into.
    fn check_emitter(&mut self, emitter: &Emitter) -> Result<BodyId, WorldError> {
        let id = self.body_named(&emitter.body)?;
        let body = &self.bodies[id.0 as usize];
        let is_fluid = self.crystal_model().is_some_and(|model| model.is_fluid(id));
        let rule = "a fluid of the model \"crystal\" (crystal = { phase = \"fluid\" })";
        WorldError::require(is_fluid, || format!("emitter \"{}\"", emitter.name), "body", &emitter.body, rule)?;
        emitter.validate(body.spacing)?;
        let spacing = body.spacing;
        if let Some(bounds) = &self.settings.bounds {
            let owner = || format!("emitter \"{}\"", emitter.name);
            WorldError::require(bounds.holds(emitter.at), owner, "at", emitter.at, "within the world's bounds")?;
        }
        self.scratch.prepare_obstacles(&self.obstacles);
        let places = || [false, true].into_iter().flat_map(|shifted| emitter.layer(spacing, shifted, 0.0));
        for (obstacle, form) in self.obstacles.iter().zip(&self.scratch.colliders).filter(|(it, _)| it.active) {
            let Some(form) = form else { continue };
            let pose: Pose = obstacle.pose(self.time);
            let nearest = |x: Vec3| form.nearness(pose.local_point(x), 0.5 * spacing).map(|near| near.distance);
            let distance = places().chain([emitter.at]).filter_map(nearest).fold(Real::INFINITY, Real::min);
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
        let place = self.streams.iter().position(|stream| stream.emitter.name == name);
        let known = || self.streams.iter().map(|stream| stream.emitter.name.as_str());
        let place = place.ok_or_else(|| unknown("emitter", name, known()))?;
        let mut emitter = self.streams[place].emitter.clone();
        match setting {
            Setting::Active(active) => emitter.active = active,
            Setting::Speed(speed) => emitter.speed = speed,
            Setting::Temperature(temperature) => emitter.temperature = temperature,
            _ => {
                let target = format!("emitter \"{name}\"");
                return Err(WorldError::NoSuchSetting { target, setting: setting.name() });
            }
        }
        emitter.validate(self.bodies[self.streams[place].body.0 as usize].spacing)?;
        let velocity = emitter.velocity();
        self.streams[place].emitter = emitter;
        self.guided(place).into_iter().for_each(|i| self.particles.velocity[i] = velocity);
        Ok(())
    }

    pub(crate) fn set_drain(&mut self, name: &str, setting: Setting) -> Result<(), WorldError> {
        let known = || self.outlets.iter().map(|outlet| outlet.drain.name.as_str());
        let place = self.outlets.iter().position(|outlet| outlet.drain.name == name);
        let place = place.ok_or_else(|| unknown("drain", name, known()))?;
        match setting {
            Setting::Active(active) => self.outlets[place].drain.active = active,
            _ => {
                let target = format!("drain \"{name}\"");
                return Err(WorldError::NoSuchSetting { target, setting: setting.name() });
            }
        }
        Ok(())
    }

    /// Particles that an emitter guides.
    fn guided(&self, stream: usize) -> Vec<usize> {
        let stream = &self.streams[stream];
        let run = self.bodies[stream.body.0 as usize].range();
        stream.guided().filter_map(|sample| self.particles.find(run.clone(), sample)).collect()
    }

    /// Lets the particles go that an emitter guides.
    fn let_go(&mut self, stream: usize) {
        for i in self.guided(stream) {
            self.particles.flags[i] = self.particles.flags[i].with(Flags::GUIDED, false);
        }
    }

    /// Longest step in which no stream goes farther than particles may, s.
    pub(crate) fn stable_stream(&self) -> f64 {
        let longest = |stream: &Stream| {
            let spacing = f64::from(self.bodies[stream.body.0 as usize].spacing);
            FARTHEST * spacing / f64::from(stream.emitter.speed)
        };
        self.streams.iter().filter(|stream| self.pours(stream)).map(longest).fold(f64::INFINITY, f64::min)
    }

    fn is_removed(&self, body: BodyId) -> bool {
        self.bodies[body.0 as usize].removed
    }

    fn pours(&self, stream: &Stream) -> bool {
        !self.is_removed(stream.body) && stream.runs(self.time)
    }

    /// All emitters.
    pub fn emitters(&self) -> impl Iterator<Item = &Emitter> {
        self.streams.iter().map(|stream| &stream.emitter)
    }

    /// All drains.
    pub fn drains(&self) -> impl Iterator<Item = &Drain> {
        self.outlets.iter().map(|outlet| &outlet.drain)
    }

    /// What emitters poured so far.
    pub(crate) fn emitted(&self) -> Exchanged {
        Exchanged::of(self.streams.iter().map(|stream| (stream.emitter.name.as_str(), stream.poured)))
    }

    /// What drains took so far, and what left the bounds.
    pub(crate) fn removed(&self) -> Exchanged {
        let drains = self.outlets.iter().map(|outlet| (outlet.drain.name.as_str(), outlet.taken));
        Exchanged::of(drains.chain(self.settings.bounds.map(|_| (Bounds::NAME, self.left))))
    }

    /// Lets particles go for which `keep` is false and others, body after body, join the ends of their bodies. Everything
    /// that numbers particles follows.
    pub(crate) fn rearrange(&mut self, keep: impl Fn(usize) -> bool, newborn: &[Particle]) {
        let was: Vec<Range<u32>> = self.bodies.iter().map(|body| body.particles.clone()).collect();
        let joining = newborn.chunk_by(|a, b| a.body == b.body);
        let joins: Vec<Join> = joining
            .map(|group| Join { before: was[group[0].body.0 as usize].end as usize, count: group.len() })
            .collect();
        let order = Rearrangement::new(self.particles.len(), &keep, &joins);
        self.particles.rearrange(&order, newborn);
        let mut counts = vec![0u32; self.bodies.len()];
        self.particles.body.iter().for_each(|body| counts[body.0 as usize] += 1);
        let mut first = 0;
        for (body, count) in self.bodies.iter_mut().zip(counts) {
            body.particles = first..first + count;
            first += count;
        }
        let moved = Moved { order: &order, was: &was, bodies: &self.bodies, newborn };
        self.models.iter_mut().for_each(|model| model.rearrange(&moved));
        let (bodies, particles) = (&self.bodies, &self.particles);
        self.drags.retain(|drag| {
            let body = bodies.iter().find(|body| !body.removed && body.name == drag.body);
            body.is_some_and(|body| particles.find(body.range(), drag.sample).is_some())
        });
        self.scratch.presses.retain_mut(|press| press.rearrange(&order));
        self.scratch.measured = false;
    }
}
