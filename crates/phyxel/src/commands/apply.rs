//! Execution of commands.

use crate::Real;
use crate::body::BodyId;
use crate::commands::{Command, Drag, Region, Setting, Target};
use crate::error::{StepError, WorldError};
use crate::material::ThermalProperties;
use crate::model::{CutPlane, Models};
use crate::step::StepContext;
use crate::store::{Flags, Particles};
use crate::world::World;
use glam::Vec3;
use std::ops::Range;

/// Executes due commands: first scheduled ones in the order of their times, then queued ones.
pub(crate) fn apply_commands(world: &mut World, context: &StepContext) -> Result<(), StepError> {
    // A step may start earlier than intended by a rounding error.
    let due = world.schedule.partition_point(|scheduled| scheduled.at <= context.time + 1e-9);
    let mut commands: Vec<Command> = world.schedule.drain(..due).map(|scheduled| scheduled.command).collect();
    commands.append(&mut world.pending);
    world.scratch.bounds_are_current &= commands.is_empty();
    for command in commands {
        world.apply(command).map_err(|source| StepError::Command { time: context.time, source })?;
    }
    world.prepare_models();
    world.scratch.prepare_colliders(&world.obstacles);
    Ok(())
}

impl World {
    /// Executes a command immediately, between steps.
    pub fn apply(&mut self, command: Command) -> Result<(), WorldError> {
        match command {
            Command::Set { target, setting } => self.apply_setting(target, setting),
            Command::Push { body, region, velocity } => self.push(&body, &region, velocity),
            Command::Warm { body, region, temperature } => self.warm(&body, &region, temperature),
            Command::Hold { body, region, on } => self.hold(&body, &region, on),
            Command::Drag(drag) => self.start_drag(drag),
            Command::Release { body } => {
                self.body_named(&body)?;
                self.drags.retain(|drag| drag.body != body);
                Ok(())
            }
            Command::Cut { body, point, normal } => self.cut(&body, point, normal),
            Command::Add(body) => self.add_body(*body).map(|_| ()),
            Command::Emit(emitter) => self.start_emitter(emitter),
            Command::Drain(drain) => self.start_drain(drain),
            Command::Remove { body } => {
                let id = self.body_named(&body)?;
                self.remove_body(id);
                Ok(())
            }
        }
    }

    /// Indices of the particles of a body in a region.
    fn particles_in(&self, id: BodyId, region: &Region) -> Vec<usize> {
        region.particles(self.bodies[id.0 as usize].range(), &self.particles)
    }

    fn push(&mut self, body: &str, region: &Region, velocity: Vec3) -> Result<(), WorldError> {
        require_finite(velocity, || format!("push of body \"{body}\""), "velocity")?;
        let id = self.body_named(body)?;
        for i in self.particles_in(id, region) {
            if !self.particles.is_kinematic(i) {
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
        self.invalidate_models();
        Ok(())
    }

    fn hold(&mut self, body: &str, region: &Region, on: bool) -> Result<(), WorldError> {
        let id = self.body_named(body)?;
        for i in self.particles_in(id, region) {
            self.particles.flags[i] = self.particles.flags[i].with(Flags::FIXED, on);
            self.particles.velocity[i] = if on { Vec3::ZERO } else { self.particles.velocity[i] };
        }
        self.invalidate_models();
        Ok(())
    }

    fn start_drag(&mut self, drag: Drag) -> Result<(), WorldError> {
        let id = self.body_named(&drag.body)?;
        let owner = || format!("drag of body \"{}\"", drag.body);
        let found = self.particles.find(self.bodies[id.0 as usize].range(), drag.particle);
        WorldError::require(found.is_some(), owner, "particle", drag.particle, "one of the body's particles")?;
        require_finite(drag.target, owner, "to")?;
        WorldError::require(drag.tau.is_finite() && drag.tau > 0.0, owner, "tau", drag.tau, "positive")?;
        WorldError::require(drag.max_force >= 0.0, owner, "limit", drag.max_force, "at least 0")?;
        self.drags.retain(|other| other.body != drag.body);
        self.drags.push(drag);
        Ok(())
    }

    fn cut(&mut self, body: &str, point: Vec3, normal: Vec3) -> Result<(), WorldError> {
        let owner = || format!("cut of body \"{body}\"");
        require_finite(point, owner, "point")?;
        WorldError::require(normal.is_finite() && normal != Vec3::ZERO, owner, "normal", normal, "a direction")?;
        let id = self.body_named(body)?;
        let model = self.bodies[id.0 as usize].model;
        let rule = "\"shape_matching\", \"mass_spring\" or \"tetra\"";
        WorldError::require(model.traits().can_be_cut, owner, "model", model.name(), rule)?;
        Models::visit_detached(self, |model, world| model.cut(id, CutPlane { point, normal }, world));
        Ok(())
    }

    fn apply_setting(&mut self, target: Target, setting: Setting) -> Result<(), WorldError> {
        let refused = |target: String| WorldError::UnknownSetting { target, setting: setting.name() };
        match target {
            Target::World => match setting {
                Setting::Gravity(gravity) => {
                    require_finite(gravity, || "the world".into(), "gravity")?;
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
                require_finite(velocity, owner, "velocity")?;
                for i in range {
                    if !self.particles.is_kinematic(i) {
                        self.particles.velocity[i] = velocity;
                    }
                }
                return Ok(());
            }
            Setting::Material(material) => {
                let material = self.material_named(&material)?;
                let before = self.materials[self.bodies[id.0 as usize].material.0 as usize].heat;
                self.bodies[id.0 as usize].material = material;
                self.preserve_temperature(range, before, self.materials[material.0 as usize].heat);
            }
            setting => {
                check_model_setting(&setting, owner)?;
                if !self.models.each_mut().any(|model| model.set(id, &setting)) {
                    return Err(WorldError::UnknownSetting { target: owner(), setting: setting.name() });
                }
            }
        }
        self.invalidate_models();
        Ok(())
    }

    fn set_obstacle(&mut self, name: &str, setting: Setting) -> Result<(), WorldError> {
        let id = self.obstacle_named(name)?;
        let mut obstacle = self.obstacles[id.0 as usize].clone();
        match setting {
            Setting::Temperature(temperature) => obstacle.temperature = Some(temperature),
            Setting::Friction(friction) => obstacle.friction = friction,
            Setting::Restitution(restitution) => obstacle.restitution = restitution,
            Setting::Adhesion(adhesion) => obstacle.adhesion = adhesion,
            Setting::Active(active) => obstacle.active = active,
            _ => {
                let target = format!("obstacle \"{name}\"");
                return Err(WorldError::UnknownSetting { target, setting: setting.name() });
            }
        }
        obstacle.validate()?;
        let (index, heat_before) = (id.0 as usize, self.heat_of_obstacle(id.0 as usize));
        if obstacle.temperature != self.obstacles[index].temperature {
            self.obstacle_temperature[index] = obstacle.temperature.map_or(0.0, f64::from);
        }
        self.obstacles[index] = obstacle;
        self.heat_in += self.heat_of_obstacle(index) - heat_before;
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
                return Err(WorldError::UnknownSetting { target, setting: setting.name() });
            }
        }
        material.validate()?;
        let before = std::mem::replace(&mut self.materials[id.0 as usize], material).heat;
        let after = self.materials[id.0 as usize].heat;
        for body in 0..self.bodies.len() {
            if self.bodies[body].material == id {
                self.preserve_temperature(self.bodies[body].range(), before, after);
            }
        }
        self.invalidate_models();
        Ok(())
    }

    /// Preserves temperatures when the enthalpy curve of particles changes, and the liquid fraction if the
    /// melting point stays. The heat this takes counts as heat input.
    fn preserve_temperature(&mut self, range: Range<usize>, before: ThermalProperties, after: ThermalProperties) {
        if after.has_same_enthalpy_curve(&before) {
            return;
        }
        let heat_before = self.heat_of(range.clone());
        for enthalpy in &mut self.particles.enthalpy[range.clone()] {
            *enthalpy = after.mixture_enthalpy(before.temperature(*enthalpy), before.liquid_fraction(*enthalpy));
        }
        self.heat_in += self.heat_of(range) - heat_before;
    }

    fn set_heating(&mut self, name: &str, setting: Setting) -> Result<(), WorldError> {
        let index = self.heating_named(name)?;
        let mut heating = self.heatings[index].clone();
        match setting {
            Setting::Temperature(temperature) => heating.temperature = Some(temperature),
            Setting::Active(active) => heating.active = active,
            Setting::Flux(flux) => heating.flux = flux,
            Setting::Power(power) => heating.power = power,
            Setting::Exchange(exchange) => heating.exchange = exchange,
            Setting::Radiation(radiation) => heating.radiation = radiation,
            _ => {
                let target = format!("heating \"{name}\"");
                return Err(WorldError::UnknownSetting { target, setting: setting.name() });
            }
        }
        heating.validate(&self.settings)?;
        self.heatings[index] = heating;
        Ok(())
    }

    fn invalidate_models(&mut self) {
        self.models.each_mut().for_each(|model| model.invalidate());
    }
}

fn require_finite(value: Vec3, owner: impl FnOnce() -> String, field: &'static str) -> Result<(), WorldError> {
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
    /// Indices of the selected particles of a body.
    pub(crate) fn particles(&self, body: Range<usize>, particles: &Particles) -> Vec<usize> {
        let rest = &particles.rest;
        match self {
            Self::All => body.collect(),
            Self::Box { min, max } => {
                body.filter(|&i| rest[i].cmpge(*min).all() && rest[i].cmple(*max).all()).collect()
            }
            Self::Ball { centre, radius } => body.filter(|&i| rest[i].distance(*centre) <= *radius).collect(),
            Self::Ids(ids) => ids.iter().filter_map(|&id| particles.find(body.clone(), id)).collect(),
        }
    }
}
