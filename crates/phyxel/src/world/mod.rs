//! The world: the complete state of a simulation, and the functions that build it.

mod add_body;
mod lookup;
mod settings;

pub(crate) use lookup::unknown_name;
pub use settings::{MAX_CONTACT_ITERATIONS, Settings};

use crate::body::{Body, BodyId, MaterialId, ObstacleId};
use crate::commands::{Command, Drag};
use crate::emission::{DrainState, EmitterState};
use crate::error::WorldError;
use crate::frame::Amount;
use crate::heating::Heating;
use crate::material::Material;
use crate::model::{Models, View};
use crate::obstacle::Obstacle;
use crate::scratch::Scratch;
use crate::store::Particles;
use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Command with the time at which it is due, s.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Scheduled {
    pub at: f64,
    pub command: Command,
}

/// Complete state of a simulation.
///
/// Built by [`add_material`](World::add_material), [`add_body`](World::add_body) and
/// [`add_obstacle`](World::add_obstacle); advanced by [`advance_frame`](World::advance_frame) or
/// [`step`](crate::step::step); changed only by [`Command`]s; observed by
/// [`frame`](World::frame).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct World {
    pub(crate) settings: Settings,
    pub(crate) materials: Vec<Material>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) obstacles: Vec<Obstacle>,
    /// Temperature of each obstacle in double precision; used for those with a heat capacity.
    pub(crate) obstacle_temperature: Vec<f64>,
    pub(crate) heatings: Vec<Heating>,
    pub(crate) emitters: Vec<EmitterState>,
    pub(crate) drains: Vec<DrainState>,
    /// Particles removed outside the bounds.
    pub(crate) out_of_bounds: Amount,
    /// Bounding box of everything ever added: smallest and largest corner; `None` if empty.
    pub(crate) extent: Option<[Vec3; 2]>,
    pub(crate) particles: Particles,
    pub(crate) models: Models,
    pub(crate) drags: Vec<Drag>,
    pub(crate) pending: Vec<Command>,
    pub(crate) schedule: Vec<Scheduled>,
    /// Time since the start, s.
    pub(crate) time: f64,
    pub(crate) steps: u64,
    pub(crate) frame: u32,
    /// Heat of all bodies and obstacles at the time they were added, J.
    pub(crate) initial_heat: f64,
    /// Heat supplied since, J.
    pub(crate) heat_in: f64,
    #[serde(skip)]
    pub(crate) scratch: Scratch,
}

impl World {
    /// An empty world.
    pub fn new(settings: Settings) -> Result<Self, WorldError> {
        settings.validate()?;
        Ok(Self { settings, ..Self::default() })
    }

    /// Adds a material.
    pub fn add_material(&mut self, material: Material) -> Result<MaterialId, WorldError> {
        if self.materials.iter().any(|other| other.name == material.name) {
            return Err(WorldError::DuplicateName { kind: "materials", name: material.name });
        }
        material.validate()?;
        self.materials.push(material);
        Ok(MaterialId(self.materials.len() as u32 - 1))
    }

    /// Adds an obstacle.
    pub fn add_obstacle(&mut self, obstacle: Obstacle) -> Result<ObstacleId, WorldError> {
        if self.obstacles.iter().any(|other| other.name == obstacle.name) {
            return Err(WorldError::DuplicateName { kind: "obstacles", name: obstacle.name });
        }
        obstacle.validate()?;
        self.obstacle_temperature.push(obstacle.temperature.map_or(0.0, f64::from));
        let radius = Vec3::splat(obstacle.geometry.bounding_radius());
        let positions = obstacle.keyframes.iter().map(|keyframe| keyframe.pose.position);
        self.grow_extent(positions.flat_map(|x| [x - radius, x + radius]));
        self.obstacles.push(obstacle);
        self.initial_heat += self.heat_of_obstacle(self.obstacles.len() - 1);
        self.scratch.invalidate_colliders();
        Ok(ObstacleId(self.obstacles.len() as u32 - 1))
    }

    /// Adds a heating of existing bodies.
    pub fn add_heating(&mut self, heating: Heating) -> Result<(), WorldError> {
        if self.heatings.iter().any(|other| other.name == heating.name) {
            return Err(WorldError::DuplicateName { kind: "heatings", name: heating.name });
        }
        heating.bodies.iter().try_for_each(|body| self.body_named(body).map(|_| ()))?;
        heating.validate(&self.settings)?;
        self.heatings.push(heating);
        Ok(())
    }

    /// Queues a command for the next step.
    pub fn command(&mut self, command: Command) {
        self.pending.push(command);
    }

    /// Queues a command for the first step that starts at this time or later, s.
    pub fn schedule(&mut self, at: f64, command: Command) {
        let index = self.schedule.partition_point(|other| other.at <= at);
        self.schedule.insert(index, Scheduled { at, command });
    }

    /// Settings of the world.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// All particles.
    pub fn particles(&self) -> &Particles {
        &self.particles
    }

    /// All bodies ever added, including removed ones.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// All materials.
    pub fn materials(&self) -> &[Material] {
        &self.materials
    }

    /// All obstacles.
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// All heatings.
    pub fn heatings(&self) -> &[Heating] {
        &self.heatings
    }

    /// Time since the start, s.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Steps since the start.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Frames since the start.
    pub fn frames(&self) -> u32 {
        self.frame
    }

    /// Removes a body with its particles.
    pub(crate) fn remove_body(&mut self, id: BodyId) {
        self.initial_heat -= self.heat_of(self.bodies[id.0 as usize].range());
        self.bodies[id.0 as usize].removed = true;
        let owners = self.particles.body.clone();
        self.rearrange(|i| owners[i] != id, &[]);
        for model in self.models.each_mut() {
            model.remove_body(id);
            model.invalidate();
        }
    }

    /// Builds missing derived data of all models.
    pub(crate) fn prepare_models(&mut self) {
        let Self { models, bodies, materials, particles, .. } = self;
        models.each_mut().for_each(|model| model.prepare(&View { bodies, materials, particles }));
    }

    /// The material of a body.
    pub(crate) fn material_of(&self, id: BodyId) -> &Material {
        &self.materials[self.bodies[id.0 as usize].material.0 as usize]
    }

    /// Heat of a range of particles relative to temperature 0, J.
    pub(crate) fn heat_of(&self, range: Range<usize>) -> f64 {
        range.map(|i| f64::from(self.particles.mass[i]) * self.particles.enthalpy[i]).sum()
    }

    /// Heat of an obstacle relative to temperature 0, J; 0 without a heat capacity.
    pub(crate) fn heat_of_obstacle(&self, obstacle: usize) -> f64 {
        let capacity = self.obstacles[obstacle].heat_capacity;
        capacity.map_or(0.0, |capacity| f64::from(capacity) * self.obstacle_temperature[obstacle])
    }
}
