//! Carrying out commands.

use crate::Real;
use crate::body::BodyId;
use crate::command::{Command, Drag, Region, Setting, Target};
use crate::error::{StepError, WorldError};
use crate::material::Heat;
use crate::model::ModelKind;
use crate::particles::{Flags, Particles};
use crate::step::StepContext;
use crate::topology::cut_tetrahedra;
use crate::world::World;
use glam::Vec3;
use std::ops::Range;

/// Carries out what is due: first scheduled commands in the order of their times, then queued ones.
pub(crate) fn apply_commands(world: &mut World, context: &StepContext) -> Result<(), StepError> {
    // A step may start a rounding error before the time it is meant to start at.
    let due = world.schedule.partition_point(|scheduled| scheduled.at <= context.time + 1e-9);
    let mut commands: Vec<Command> = world.schedule.drain(..due).map(|scheduled| scheduled.command).collect();
    commands.append(&mut world.pending);
    world.scratch.measured &= commands.is_empty();
    for command in commands {
        world.apply(command).map_err(|source| StepError::Command { time: context.time, source })?;
    }
    for model in &mut world.models {
        model.prepare(&world.bodies, &world.materials, &world.particles);
    }
    world.scratch.prepare_obstacles(&world.obstacles);
    Ok(())
}

impl World {
    /// Carries out a command now, between steps.
    pub fn apply(&mut self, command: Command) -> Result<(), WorldError> {
        match command {
            Command::Set { target, setting } => self.apply_setting(target, setting),
            Command::Push { body, region, velocity } => self.push(&body, &region, velocity),
            Command::Warm { body, region, temperature } => self.warm(&body, &region, temperature),
            Command::Hold { body, region, on } => self.hold(&body, &region, on),
            Command::Drag(drag) => self.drag(drag),
            Command::Release { body } => {
                self.body_named(&body)?;
                self.drags.retain(|drag| drag.body != body);
                Ok(())
            }
            Command::Cut { body, point, normal } => self.cut(&body, point, normal),
            Command::Add(body) => self.add_body(*body).map(|_| ()),
            Command::Emit(emitter) => self.emit(emitter),
            Command::Drain(drain) => self.drain(drain),
            Command::Remove { body } => {
                let id = self.body_named(&body)?;
                self.remove_body(id);
                Ok(())
            }
        }
    }

    /// Particles of a body that a region means.
    fn particles_in(&self, id: BodyId, region: &Region) -> Vec<usize> {
        region.particles(self.bodies[id.0 as usize].range(), &self.particles)
    }

    fn push(&mut self, body: &str, region: &Region, velocity: Vec3) -> Result<(), WorldError> {
        finite(velocity, || format!("push on body \"{body}\""), "velocity")?;
        let id = self.body_named(body)?;
        for i in self.particles_in(id, region) {
            if !self.particles.is_led(i) {
                self.particles.velocity[i] += velocity;
            }
        }
        Ok(())
    }

    fn warm(&mut self, body: &str, region: &Region, temperature: Real) -> Result<(), WorldError> {
        let owner = || format!("warming of body \"{body}\"");
        WorldError::require(temperature.is_finite(), owner, "temperature", temperature, "finite")?;
        let id = self.body_named(body)?;
        let heat = self.materials[self.bodies[id.0 as usize].material.0 as usize].heat;
        let enthalpy = heat.enthalpy(temperature);
        for i in self.particles_in(id, region) {
            let before = std::mem::replace(&mut self.particles.enthalpy[i], enthalpy);
            self.heat_in += f64::from(self.particles.mass[i]) * (enthalpy - before);
        }
        self.refresh_models();
        Ok(())
    }

    fn hold(&mut self, body: &str, region: &Region, on: bool) -> Result<(), WorldError> {
        let id = self.body_named(body)?;
        for i in self.particles_in(id, region) {
            self.particles.flags[i] = self.particles.flags[i].with(Flags::HELD, on);
            self.particles.velocity[i] = if on { Vec3::ZERO } else { self.particles.velocity[i] };
        }
        self.refresh_models();
        Ok(())
    }

    fn drag(&mut self, drag: Drag) -> Result<(), WorldError> {
        let id = self.body_named(&drag.body)?;
        let owner = || format!("drag of body \"{}\"", drag.body);
        let found = self.particles.find(self.bodies[id.0 as usize].range(), drag.sample);
        WorldError::require(found.is_some(), owner, "sample", drag.sample, "one of the body's samples")?;
        finite(drag.to, owner, "to")?;
        WorldError::require(drag.tau.is_finite() && drag.tau > 0.0, owner, "tau", drag.tau, "positive")?;
        WorldError::require(drag.limit >= 0.0, owner, "limit", drag.limit, "at least 0")?;
        self.drags.retain(|other| other.body != drag.body);
        self.drags.push(drag);
        Ok(())
    }

    fn cut(&mut self, body: &str, point: Vec3, normal: Vec3) -> Result<(), WorldError> {
        let owner = || format!("cut of body \"{body}\"");
        finite(point, owner, "point")?;
        WorldError::require(normal.is_finite() && normal != Vec3::ZERO, owner, "normal", normal, "a direction")?;
        let id = self.body_named(body)?;
        let model = self.bodies[id.0 as usize].model;
        let is_cut = matches!(model, ModelKind::Shape | ModelKind::Spring | ModelKind::Tetra);
        WorldError::require(is_cut, owner, "model", model.name(), "\"shape\", \"spring\" or \"tetra\"")?;
        if model == ModelKind::Tetra {
            cut_tetrahedra(self, id, [point, normal]);
        }
        self.models.iter_mut().for_each(|model| model.cut(id, point, normal, &self.bodies, &self.particles));
        Ok(())
    }

    fn apply_setting(&mut self, target: Target, setting: Setting) -> Result<(), WorldError> {
        let refused = |target: String| WorldError::NoSuchSetting { target, setting: setting.name() };
        match target {
            Target::World => match setting {
                Setting::Gravity(gravity) => {
                    finite(gravity, || "the world".into(), "gravity")?;
                    self.settings.gravity = gravity;
                    Ok(())
                }
                _ => Err(refused("the world".into())),
            },
            Target::Body(name) => self.set_body(&name, setting),
            Target::Obstacle(name) => self.set_obstacle(&name, setting),
            Target::Material(name) => self.set_material(&name, setting),
            Target::Heating(name) => self.set_heating(&name, setting),
            Target::Emitter(name) => self.set_emitter(&name, setting),
            Target::Drain(name) => self.set_drain(&name, setting),
        }
    }

    fn set_body(&mut self, name: &str, setting: Setting) -> Result<(), WorldError> {
        let id = self.body_named(name)?;
        let owner = || format!("body \"{name}\"");
        let range = self.bodies[id.0 as usize].range();
        match setting {
            Setting::Temperature(temperature) => return self.warm(name, &Region::All, temperature),
            Setting::Velocity(velocity) => {
                finite(velocity, owner, "velocity")?;
                for i in range {
                    let led = self.particles.is_led(i);
                    self.particles.velocity[i] = if led { self.particles.velocity[i] } else { velocity };
                }
                return Ok(());
            }
            Setting::Material(material) => {
                let material = self.material_named(&material)?;
                let before = self.materials[self.bodies[id.0 as usize].material.0 as usize].heat;
                self.bodies[id.0 as usize].material = material;
                self.keep_temperature(range, before, self.materials[material.0 as usize].heat);
            }
            setting => {
                check_model_setting(&setting, owner)?;
                if !self.models.iter_mut().any(|model| model.set(id, &setting)) {
                    return Err(WorldError::NoSuchSetting { target: owner(), setting: setting.name() });
                }
            }
        }
        self.refresh_models();
        Ok(())
    }

    fn set_obstacle(&mut self, name: &str, setting: Setting) -> Result<(), WorldError> {
        let id = self.obstacle_named(name)?;
        let mut obstacle = self.obstacles[id.0 as usize].clone();
        match setting {
            Setting::Temperature(temperature) => obstacle.temperature = Some(temperature),
            Setting::Friction(friction) => obstacle.friction = friction,
            Setting::Restitution(restitution) => obstacle.restitution = restitution,
            Setting::Stickiness(stickiness) => obstacle.stickiness = stickiness,
            Setting::Active(active) => obstacle.active = active,
            _ => {
                let target = format!("obstacle \"{name}\"");
                return Err(WorldError::NoSuchSetting { target, setting: setting.name() });
            }
        }
        obstacle.validate()?;
        let (place, before) = (id.0 as usize, self.heat_of_obstacle(id.0 as usize));
        if obstacle.temperature != self.obstacles[place].temperature {
            self.obstacle_warmth[place] = obstacle.temperature.map_or(0.0, f64::from);
        }
        self.obstacles[place] = obstacle;
        self.heat_in += self.heat_of_obstacle(place) - before;
        Ok(())
    }

    fn set_material(&mut self, name: &str, setting: Setting) -> Result<(), WorldError> {
        let id = self.material_named(name)?;
        let mut material = self.materials[id.0 as usize].clone();
        match setting {
            Setting::Friction(friction) => material.friction = friction,
            Setting::Restitution(restitution) => material.restitution = restitution,
            Setting::YoungModulus(curve) => material.young_modulus = curve,
            Setting::PoissonRatio(ratio) => material.poisson_ratio = ratio,
            Setting::Damping(damping) => material.damping = damping,
            Setting::Strength(strength) => material.strength = strength,
            Setting::Plasticity(plasticity) => material.plasticity = plasticity,
            Setting::Viscosity(viscosity) => material.fluid.viscosity = viscosity,
            Setting::Cohesion(cohesion) => material.fluid.cohesion = cohesion,
            Setting::Softening(softening) => material.heat.softening = softening,
            Setting::Melting(melting) => material.heat.melting = melting,
            Setting::Boiling(boiling) => material.heat.boiling = boiling,
            _ => {
                let target = format!("material \"{name}\"");
                return Err(WorldError::NoSuchSetting { target, setting: setting.name() });
            }
        }
        material.validate()?;
        let before = std::mem::replace(&mut self.materials[id.0 as usize], material).heat;
        let after = self.materials[id.0 as usize].heat;
        for body in 0..self.bodies.len() {
            if self.bodies[body].material == id {
                self.keep_temperature(self.bodies[body].range(), before, after);
            }
        }
        self.refresh_models();
        Ok(())
    }

    /// Lets particles whose enthalpy means something else from now on keep their temperature, and at a melting point
    /// that stays the part that has melted. The heat that takes is counted as come in.
    fn keep_temperature(&mut self, range: std::ops::Range<usize>, before: Heat, after: Heat) {
        if after.counts_like(&before) {
            return;
        }
        let held = self.heat_of(range.clone());
        for enthalpy in &mut self.particles.enthalpy[range.clone()] {
            *enthalpy = after.enthalpy_of_mix(before.temperature(*enthalpy), before.molten(*enthalpy));
        }
        self.heat_in += self.heat_of(range) - held;
    }

    fn set_heating(&mut self, name: &str, setting: Setting) -> Result<(), WorldError> {
        let place = self.heating_named(name)?;
        let mut heating = self.heatings[place].clone();
        match setting {
            Setting::Temperature(temperature) => heating.temperature = Some(temperature),
            Setting::Active(active) => heating.active = active,
            Setting::Flux(flux) => heating.flux = flux,
            Setting::Power(power) => heating.power = power,
            Setting::Exchange(exchange) => heating.exchange = exchange,
            Setting::Radiation(radiation) => heating.radiation = radiation,
            _ => {
                let target = format!("heating \"{name}\"");
                return Err(WorldError::NoSuchSetting { target, setting: setting.name() });
            }
        }
        heating.validate(&self.settings)?;
        self.heatings[place] = heating;
        Ok(())
    }

    fn refresh_models(&mut self) {
        self.models.iter_mut().for_each(|model| model.refresh());
    }
}

fn finite(value: Vec3, owner: impl FnOnce() -> String, field: &'static str) -> Result<(), WorldError> {
    WorldError::require(value.is_finite(), owner, field, value, "finite")
}

fn check_model_setting(setting: &Setting, owner: impl Fn() -> String) -> Result<(), WorldError> {
    let at_least_zero = |x: f32| x.is_finite() && x >= 0.0;
    match setting {
        Setting::Beta(beta) => WorldError::require((0.0..=1.0).contains(beta), owner, "beta", beta, "between 0 and 1"),
        Setting::Tau(tau) => WorldError::require(tau.is_none_or(at_least_zero), owner, "tau", tau, "at least 0"),
        Setting::DampingRate(rate) => {
            WorldError::require(rate.is_none_or(at_least_zero), owner, "damping_rate", rate, "at least 0")
        }
        _ => Ok(()),
    }
}

impl Region {
    /// Those of a body's particles that are meant.
    pub(crate) fn particles(&self, body: Range<usize>, particles: &Particles) -> Vec<usize> {
        let rest = &particles.rest;
        match self {
            Self::All => body.collect(),
            Self::Box { min, max } => {
                body.filter(|&i| rest[i].cmpge(*min).all() && rest[i].cmple(*max).all()).collect()
            }
            Self::Ball { centre, radius } => body.filter(|&i| rest[i].distance(*centre) <= *radius).collect(),
            Self::Samples(samples) => {
                samples.iter().filter_map(|&sample| particles.find(body.clone(), sample)).collect()
            }
        }
    }
}
