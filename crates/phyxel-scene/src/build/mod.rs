//! Makes a world of a scene: fills shapes, places copies, sets up obstacles, schedules events.

mod body;
mod copies;
mod event;
mod flow;
mod heating;
mod inside;
mod obstacle;
mod overlap;
#[cfg(test)]
mod tests;
mod tetra;

use crate::error::BuildError;
use crate::sample::{Random, estimate};
use crate::scene::{Action, BodyDescription, Event, ModelDescription, Scene};
use body::Mould;
use phyxel::World;
use phyxel::material::Material;
use phyxel::model::ModelKind;
use phyxel::model::spring::POISSON_RATIO;
use phyxel::world::Settings;

/// Choices that are not the scene's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildOptions {
    /// Most particles of all bodies together.
    pub max_particles: usize,
    /// Start of everything random, instead of the scene's.
    pub seed: Option<u64>,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self { max_particles: 10_000_000, seed: None }
    }
}

/// A world, ready to go.
#[derive(Clone, Debug)]
pub struct Built {
    /// The world at time 0, its events scheduled.
    pub world: World,
    /// What is probably not meant, a sentence each.
    pub warnings: Vec<String>,
}

/// Most warnings of one kind.
const WARNINGS: usize = 10;

impl Scene {
    /// Makes a world of the scene.
    pub fn build(&self, options: &BuildOptions) -> Result<Built, BuildError> {
        let random = Random::new(options.seed.unwrap_or(self.seed));
        let mut warnings = Vec::new();
        self.check_size(options.max_particles)?;
        let mut world = World::new(self.settings())?;
        for material in &self.materials {
            world.add_material(material.clone())?;
        }
        for description in &self.obstacles {
            world.add_obstacle(obstacle::make(description, &mut warnings)?)?;
        }
        let moulds = self.make_bodies(&mut world, &random, options.max_particles, &mut warnings)?;
        let cast = event::Cast { bodies: &self.bodies, moulds: &moulds };
        for description in &self.heatings {
            world.add_heating(heating::make(description, &cast, &mut warnings))?;
        }
        for description in &self.emitters {
            world.add_emitter(flow::make_emitter(description, &self.bodies))?;
        }
        for description in &self.drains {
            world.add_drain(flow::make_drain(description, &cast, &mut warnings)?)?;
        }
        for event in &self.events {
            let commands = event::commands(event, &cast, &mut warnings);
            commands.into_iter().for_each(|command| world.schedule(event.at, command));
        }
        warnings.extend(self.bodies.iter().zip(&moulds).filter_map(|(body, mould)| self.warn_of_held(body, mould)));
        self.warn(&mut world, &mut warnings);
        Ok(Built { world, warnings })
    }

    fn settings(&self) -> Settings {
        let usual = Settings::default();
        Settings {
            gravity: self.gravity,
            frame_rate: self.frame_rate,
            substeps: self.step.substeps,
            max_step: self.step.max_step.unwrap_or(usual.max_step),
            max_substeps: self.step.max_substeps.unwrap_or(usual.max_substeps),
            contact_rounds: self.step.contact_rounds.unwrap_or(usual.contact_rounds),
            contact_conductance: self.contact_conductance.unwrap_or(usual.contact_conductance),
            absolute_zero: self.absolute_zero.unwrap_or(usual.absolute_zero),
            bounds: self.bounds,
        }
    }

    /// Counts particles before any is made.
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
            let pours = self.emitters.iter().map(|it| &it.emitter).filter(|emitter| body.makes(&emitter.body));
            let poured = pours.map(|emitter| flow::estimate(emitter, body, self.duration));
            let all = poured.fold(one.saturating_mul(body.count()), u64::saturating_add);
            bodies.push((body.name.clone(), all));
        }
        refuse_too_many(bodies, limit)
    }

    fn make_bodies(
        &self,
        world: &mut World,
        random: &Random,
        limit: usize,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Mould>, BuildError> {
        let mut moulds = Vec::with_capacity(self.bodies.len());
        for (number, body) in self.bodies.iter().enumerate() {
            moulds.push(body::mould(body, &mut random.fork(2 * number as u64), limit, warnings)?);
        }
        let made = self.bodies.iter().zip(&moulds);
        let counts = made.map(|(body, mould)| (body.name.clone(), mould.samples.len() as u64 * body.count()));
        refuse_too_many(counts.collect(), limit)?;
        for (number, (body, mould)) in self.bodies.iter().zip(&moulds).enumerate() {
            let mut random = random.fork(2 * number as u64 + 1);
            let poses = copies::place(body, mould, &mut random, warnings)?;
            for (copy, pose) in poses.into_iter().enumerate() {
                world.add_body(body::cast(body, mould, body.name_of(copy as u64), pose))?;
            }
        }
        Ok(moulds)
    }

    /// Springs know one Poisson's ratio only.
    fn warn_of_poisson_ratio(&self, body: &BodyDescription) -> Option<String> {
        let material = self.materials.iter().find(|material| material.name == body.material)?;
        let asked = material.poisson_ratio;
        let is_asked = asked != Material::default().poisson_ratio && asked != POISSON_RATIO;
        (body.model.kind() == ModelKind::Spring && is_asked).then(|| {
            format!(
                "body \"{}\": a lattice of springs has Poisson's ratio {POISSON_RATIO}, whatever its material \"{}\" says ({asked})",
                body.name, material.name
            )
        })
    }

    /// What is held altogether and never let go does not move.
    fn warn_of_held(&self, body: &BodyDescription, mould: &Mould) -> Option<String> {
        let lets_go =
            |event: &Event| matches!(&event.action, Action::Hold { body: name, on: false, .. } if *name == body.name);
        (mould.is_held() && !self.events.iter().any(lets_go)).then(|| {
            format!(
                "body \"{}\": all of its particles lie in its held regions and are never let go, so it does not move; make the regions smaller",
                body.name
            )
        })
    }

    /// Looks for what is probably not meant.
    fn warn(&self, world: &mut World, warnings: &mut Vec<String>) {
        if self.bodies.is_empty() {
            warnings.push("the scene has no bodies; add [[bodies]]".to_string());
        }
        warnings.extend(self.bodies.iter().filter_map(|body| self.warn_of_poisson_ratio(body)));
        warnings.extend(warn_of_long_steps(world));
        warnings.extend(shortened(overlap::find(world)));
        warnings.extend(shortened(inside::find(world, &self.obstacles)));
        warnings.extend(shortened(world.warnings()));
    }
}

/// Steps of a fixed number may be longer than the bodies bear.
fn warn_of_long_steps(world: &mut World) -> Option<String> {
    let (rate, substeps) = (world.settings().frame_rate, world.settings().substeps?);
    let (step, stable) = (1.0 / (rate * f64::from(substeps)), world.stable_step());
    (step > stable).then(|| {
        format!(
            "step.substeps = {substeps} makes steps of {step:.2e} s, but the longest stable one is {stable:.2e} s at the start; leave it out, or give {} or more",
            (1.0 / (rate * stable)).ceil()
        )
    })
}

fn refuse_too_many(bodies: Vec<(String, u64)>, limit: usize) -> Result<(), BuildError> {
    let total = bodies.iter().fold(0_u64, |total, (_, count)| total.saturating_add(*count));
    if total > limit as u64 {
        return Err(BuildError::TooManyParticles { total, limit: limit as u64, bodies });
    }
    Ok(())
}

/// The first warnings of many, and how many more there are.
fn shortened(mut warnings: Vec<String>) -> Vec<String> {
    if warnings.len() > WARNINGS {
        let more = warnings.len() - WARNINGS;
        warnings.truncate(WARNINGS);
        warnings.push(format!("and {more} more warnings of this kind"));
    }
    warnings
}
