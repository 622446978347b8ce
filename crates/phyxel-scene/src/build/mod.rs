//! Construction of a world from a scene: sampled shapes, copies, obstacles, scheduled events.

mod body;
mod checks;
mod copies;
mod event;
mod flow;
mod heating;
mod obstacle;
#[cfg(test)]
mod tests;
mod tetra;

use crate::error::BuildError;
use crate::sample::{SequentialRng, estimate};
use crate::scene::{ModelDescription, Scene};
use body::BodyTemplate;
use phyxel::World;
use phyxel::model::ModelKind;
use phyxel::world::Settings;

/// Options of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildOptions {
    /// Largest number of particles of all bodies together.
    pub max_particles: usize,
    /// Seed of all random numbers, instead of the scene's.
    pub seed: Option<u64>,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self { max_particles: 10_000_000, seed: None }
    }
}

/// World built from a scene.
#[derive(Clone, Debug)]
pub struct Built {
    /// World at time 0, with its events scheduled.
    pub world: World,
    /// Warnings of probable mistakes, a sentence each.
    pub warnings: Vec<String>,
}

impl Scene {
    /// Builds the world of the scene.
    pub fn build(&self, options: &BuildOptions) -> Result<Built, BuildError> {
        let random = SequentialRng::new(options.seed.unwrap_or(self.seed));
        let mut warnings = Vec::new();
        self.check_size(options.max_particles)?;
        let mut world = World::new(self.settings())?;
        for material in &self.materials {
            world.add_material(material.clone())?;
        }
        for description in &self.obstacles {
            world.add_obstacle(obstacle::make(description, &mut warnings)?)?;
        }
        let templates = self.make_bodies(&mut world, &random, options.max_particles, &mut warnings)?;
        let context = event::EventContext { bodies: &self.bodies, templates: &templates };
        for description in &self.heatings {
            world.add_heating(heating::make(description, &context, &mut warnings))?;
        }
        for description in &self.emitters {
            world.add_emitter(flow::make_emitter(description, &self.bodies))?;
        }
        for description in &self.drains {
            world.add_drain(flow::make_drain(description, &context, &mut warnings)?)?;
        }
        for event in &self.events {
            let commands = event::commands(event, &context, &mut warnings);
            commands.into_iter().for_each(|command| world.schedule(event.at, command));
        }
        warnings.extend(checks::held_warnings(self, &templates));
        checks::warn(self, &mut world, &mut warnings);
        Ok(Built { world, warnings })
    }

    fn settings(&self) -> Settings {
        let default = Settings::default();
        Settings {
            gravity: self.gravity,
            frame_rate: self.frame_rate,
            substeps: self.step.substeps,
            max_step: self.step.max_step.unwrap_or(default.max_step),
            max_substeps: self.step.max_substeps.unwrap_or(default.max_substeps),
            contact_iterations: self.step.contact_iterations.unwrap_or(default.contact_iterations),
            contact_conductance: self.contact_conductance.unwrap_or(default.contact_conductance),
            absolute_zero: self.absolute_zero.unwrap_or(default.absolute_zero),
            bounds: self.bounds,
        }
    }

    /// Estimates the number of particles before any is created.
    fn check_size(&self, limit: usize) -> Result<(), BuildError> {
        let mut bodies = Vec::with_capacity(self.bodies.len());
        for body in &self.bodies {
            let mut one = 0;
            if let ModelDescription::Tetra { mesh: Some(file), .. } = &body.model {
                one = file.mesh.positions.len() as u64;
            } else if let Some(shape) = body::scaled_shape(body) {
                if shape.bounds().is_none() {
                    let source = crate::sample::SampleError::Unbounded;
                    return Err(BuildError::Sampling { body: body.name.clone(), source });
                }
                // Casting saturates, and no limit is that large.
                let count = match body.model.kind() {
                    ModelKind::Tetra => tetra::estimate(&shape, body.spacing),
                    _ => estimate(&shape, body.sampler, body.spacing),
                };
                one = count.ceil() as u64;
            }
            let emitters = self.emitters.iter().map(|it| &it.emitter).filter(|emitter| body.makes(&emitter.body));
            let poured = emitters.map(|emitter| flow::estimate(emitter, body, self.duration));
            let all = poured.fold(one.saturating_mul(body.count()), u64::saturating_add);
            bodies.push((body.name.clone(), all));
        }
        check_particle_count(bodies, limit)
    }

    fn make_bodies(
        &self,
        world: &mut World,
        random: &SequentialRng,
        limit: usize,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<BodyTemplate>, BuildError> {
        let mut templates = Vec::with_capacity(self.bodies.len());
        for (number, body) in self.bodies.iter().enumerate() {
            templates.push(body::make_template(body, &mut random.fork(2 * number as u64), limit, warnings)?);
        }
        let pairs = self.bodies.iter().zip(&templates);
        let counts = pairs.map(|(body, template)| (body.name.clone(), template.samples.len() as u64 * body.count()));
        check_particle_count(counts.collect(), limit)?;
        for (number, (body, template)) in self.bodies.iter().zip(&templates).enumerate() {
            let mut random = random.fork(2 * number as u64 + 1);
            let poses = copies::place_copies(body, template, &mut random, warnings)?;
            for (copy, pose) in poses.into_iter().enumerate() {
                world.add_body(body::instantiate(body, template, body.name_of(copy as u64), pose))?;
            }
        }
        Ok(templates)
    }
}

fn check_particle_count(bodies: Vec<(String, u64)>, limit: usize) -> Result<(), BuildError> {
    let total = bodies.iter().fold(0_u64, |total, (_, count)| total.saturating_add(*count));
    if total > limit as u64 {
        return Err(BuildError::TooManyParticles { total, limit: limit as u64, bodies });
    }
    Ok(())
}
