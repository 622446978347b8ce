//! The world: everything a simulation is, with doors to build it.

use crate::Real;
use crate::body::{Body, BodyId, MaterialId, NewBody, ObstacleId};
use crate::command::{Command, Drag};
use crate::drain::{Bounds, Outlet};
use crate::emitter::Stream;
use crate::error::WorldError;
use crate::frame::Amount;
use crate::heating::Heating;
use crate::material::Material;
use crate::model::continuum::count_degenerate;
use crate::model::crystal::{are_alike, is_packed};
use crate::model::{Model, ModelKind, ModelSettings};
use crate::obstacle::Obstacle;
use crate::particles::{Flags, Particle, Particles, Phase};
use crate::scratch::Scratch;
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// The most rounds of the contact solver per step. Nothing is gained by more.
pub const MOST_CONTACT_ROUNDS: u32 = 1000;

/// Settings of the whole world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// m/s2; y is up.
    pub gravity: Vec3,
    /// Frames per second.
    pub frame_rate: f64,
    /// Sub-steps of every frame; `None` takes as few as are stable and safe.
    pub substeps: Option<u32>,
    /// Longest step, s.
    pub max_step: f64,
    /// Most sub-steps of a frame when they are chosen automatically.
    pub max_substeps: u32,
    /// Rounds of the contact solver per step, [`MOST_CONTACT_ROUNDS`] of them at most.
    pub contact_rounds: u32,
    /// How well heat passes from one body to another, or from an obstacle, where they touch, W/(m2 K).
    pub contact_conductance: Real,
    /// The temperature at which nothing radiates any more, in the scene's scale.
    pub absolute_zero: Real,
    /// The room outside of which particles of crystals and fluids are taken away; `None` has no end.
    pub bounds: Option<Bounds>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            gravity: Vec3::new(0.0, -9.81, 0.0),
            frame_rate: 30.0,
            substeps: None,
            max_step: 1.0 / 240.0,
            max_substeps: 1024,
            contact_rounds: 4,
            contact_conductance: 1000.0,
            absolute_zero: -273.15,
            bounds: None,
        }
    }
}

/// A command that waits for its time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Scheduled {
    pub at: f64,
    pub command: Command,
}

/// A world of matter and obstacles.
///
/// Built by [`add_material`](World::add_material), [`add_body`](World::add_body) and
/// [`add_obstacle`](World::add_obstacle); moved by [`advance_frame`](World::advance_frame) or
/// [`step`](crate::step::step); changed only by [`Command`]s; seen through [`frame`](World::frame).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct World {
    pub(crate) settings: Settings,
    pub(crate) materials: Vec<Material>,
    pub(crate) bodies: Vec<Body>,
    pub(crate) obstacles: Vec<Obstacle>,
    /// Temperature of each obstacle, in more digits than the obstacle has; counts for those with a heat capacity.
    pub(crate) obstacle_warmth: Vec<f64>,
    pub(crate) heatings: Vec<Heating>,
    pub(crate) streams: Vec<Stream>,
    pub(crate) outlets: Vec<Outlet>,
    /// What left the bounds.
    pub(crate) left: Amount,
    /// Smallest and largest corner of all that was ever added; empty without.
    pub(crate) extent: Option<[Vec3; 2]>,
    pub(crate) particles: Particles,
    pub(crate) models: Vec<Model>,
    pub(crate) drags: Vec<Drag>,
    pub(crate) pending: Vec<Command>,
    pub(crate) schedule: Vec<Scheduled>,
    /// s.
    pub(crate) time: f64,
    pub(crate) steps: u64,
    pub(crate) frame: u32,
    /// Heat of all bodies as they were when they came, J.
    pub(crate) heat_first: f64,
    /// Heat that came in since, J.
    pub(crate) heat_in: f64,
    #[serde(skip)]
    pub(crate) scratch: Scratch,
}

/// Most particles of a world: indices are 32 bits wide and some tables hold several per particle.
const PARTICLE_LIMIT: u64 = 1 << 28;

impl World {
    /// An empty world.
    pub fn new(settings: Settings) -> Result<Self, WorldError> {
        let owner = || "the world".to_string();
        let positive = |x: f64| x.is_finite() && x > 0.0;
        WorldError::require(settings.gravity.is_finite(), owner, "gravity", settings.gravity, "finite")?;
        WorldError::require(positive(settings.frame_rate), owner, "frame_rate", settings.frame_rate, "positive")?;
        WorldError::require(positive(settings.max_step), owner, "max_step", settings.max_step, "positive")?;
        let film = settings.contact_conductance;
        WorldError::require(film.is_finite() && film >= 0.0, owner, "contact_conductance", film, "at least 0")?;
        let zero = settings.absolute_zero;
        WorldError::require(zero.is_finite(), owner, "absolute_zero", zero, "finite")?;
        WorldError::require(settings.substeps != Some(0), owner, "substeps", 0, "at least 1")?;
        WorldError::require(settings.max_substeps > 0, owner, "max_substeps", 0, "at least 1")?;
        let rounds = settings.contact_rounds;
        WorldError::require(rounds <= MOST_CONTACT_ROUNDS, owner, "contact_rounds", rounds, "at most 1000")?;
        settings.bounds.map_or(Ok(()), |bounds| bounds.validate())?;
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
        self.obstacle_warmth.push(obstacle.temperature.map_or(0.0, f64::from));
        let reach = Vec3::splat(obstacle.geometry.reach());
        self.enclose(obstacle.keys.iter().flat_map(|key| [key.pose.at - reach, key.pose.at + reach]));
        self.obstacles.push(obstacle);
        self.heat_first += self.heat_of_obstacle(self.obstacles.len() - 1);
        self.scratch.forget_obstacles();
        Ok(ObstacleId(self.obstacles.len() as u32 - 1))
    }

    /// Adds a body.
    pub fn add_body(&mut self, body: NewBody) -> Result<BodyId, WorldError> {
        if self.bodies.iter().any(|other| !other.removed && other.name == body.name) {
            return Err(WorldError::DuplicateName { kind: "bodies", name: body.name });
        }
        let material = self.material_named(&body.material)?;
        body.validate()?;
        check_phyxels(&body, &self.materials[material.0 as usize])?;
        check_tetrahedra(&body, &self.materials[material.0 as usize])?;
        self.check_crystal(&body, &self.materials[material.0 as usize])?;
        let count = self.particles.len() as u64 + body.samples.len() as u64;
        if count > PARTICLE_LIMIT {
            return Err(WorldError::TooMany { count, limit: PARTICLE_LIMIT });
        }
        let id = BodyId(self.bodies.len() as u32);
        let newborn: Vec<Particle> = newborn_particles(&body, &self.materials[material.0 as usize], id).collect();
        self.check_bounds(&body, &newborn)?;
        let first = self.particles.len() as u32;
        self.enclose(newborn.iter().map(|particle| particle.position));
        self.particles.append(newborn);
        let grain = body.grain(&self.materials[material.0 as usize]);
        self.bodies.push(Body {
            name: body.name,
            model: body.model.kind(),
            material,
            particles: first..self.particles.len() as u32,
            removed: false,
            born: body.samples.len() as u32,
            grain,
            spacing: body.spacing,
            rest_temperature: body.temperature,
            self_contact: body.self_contact,
            skin: body.skin,
        });
        let index = self.model_index(body.model.kind());
        self.models[index].add_body(id, &self.bodies[id.0 as usize], &self.particles, body.model);
        self.heat_first += self.heat_of(self.bodies[id.0 as usize].range());
        Ok(id)
    }

    /// What is taken away outside the bounds must not start there.
    fn check_bounds(&self, body: &NewBody, newborn: &[Particle]) -> Result<(), WorldError> {
        let Some(bounds) = self.settings.bounds.filter(|_| body.model.kind() == ModelKind::Crystal) else {
            return Ok(());
        };
        let count = newborn.iter().filter(|particle| !bounds.holds(particle.position)).count();
        if count > 0 { Err(WorldError::OutOfBounds { body: body.name.clone(), count }) } else { Ok(()) }
    }

    /// A crystal needs a lattice and stiffness, and all crystals and fluids of a world one particle distance.
    fn check_crystal(&self, body: &NewBody, material: &Material) -> Result<(), WorldError> {
        let ModelSettings::Crystal(settings) = &body.model else { return Ok(()) };
        let owner = || format!("body \"{}\"", body.name);
        if settings.phase == Phase::Solid {
            let packed = is_packed(&body.samples, body.spacing);
            WorldError::require(packed, owner, "samples", "others", "a closest packing (sampler = \"ccp\")")?;
            let owner = || format!("material \"{}\" of the crystal \"{}\"", material.name, body.name);
            let young = material.stiffest();
            WorldError::require(young > 0.0, owner, "young_modulus", young, "positive")?;
            let ratio = material.poisson_ratio;
            WorldError::require(ratio >= 0.0, owner, "poisson_ratio", ratio, "at least 0, as crystals have no less")?;
        }
        let melts = material.heat.melting.is_some();
        let points = (settings.change.freezing_point, material.heat.melting);
        let ordered = !matches!(points, (Some(freezing), Some(melting)) if freezing > melting);
        let rule = "at or below the melting point of its material";
        WorldError::require(ordered, owner, "crystal.change.freezing_point", points.0, rule)?;
        let may_freeze = !melts || material.stiffest() > 0.0;
        let rule = "positive for matter with a melting point, as it may freeze";
        WorldError::require(may_freeze, owner, "young_modulus", material.stiffest(), rule)?;
        let there = self.bodies.iter().filter(|other| !other.removed && other.model == ModelKind::Crystal);
        match there.into_iter().find(|other| !are_alike(other.spacing, body.spacing)) {
            Some(other) => Err(WorldError::OtherSpacing {
                body: body.name.clone(),
                spacing: body.spacing,
                other: other.name.clone(),
                needed: other.spacing,
            }),
            None => Ok(()),
        }
    }

    /// Adds a heating of bodies that are there.
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
        let place = self.schedule.partition_point(|other| other.at <= at);
        self.schedule.insert(place, Scheduled { at, command });
    }

    /// Settings of the whole world.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// All particles.
    pub fn particles(&self) -> &Particles {
        &self.particles
    }

    /// All bodies ever added, removed ones among them.
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

    /// The model of phyxels, if a body uses it.
    pub fn continuum_model(&self) -> Option<&crate::model::ContinuumModel> {
        self.models.iter().find_map(|model| match model {
            Model::Continuum(continuum) => Some(continuum),
            Model::Crystal(_) | Model::Shape(_) | Model::Spring(_) | Model::Tetra(_) => None,
        })
    }

    /// The model of crystals and fluids, if a body uses it.
    pub fn crystal_model(&self) -> Option<&crate::model::CrystalModel> {
        self.models.iter().find_map(|model| match model {
            Model::Crystal(crystal) => Some(crystal),
            Model::Continuum(_) | Model::Shape(_) | Model::Spring(_) | Model::Tetra(_) => None,
        })
    }

    /// Pressure of the particles of a body of crystal or fluid in the last step, Pa; nothing for other bodies.
    pub fn pressures(&self, body: BodyId) -> Vec<Real> {
        let model = self.crystal_model();
        model.map_or(Vec::new(), |model| model.pressures(body, &self.bodies, &self.materials, &self.particles))
    }

    /// The shape-matching model, if a body uses it.
    pub fn shape_model(&self) -> Option<&crate::model::ShapeModel> {
        self.models.iter().find_map(|model| match model {
            Model::Shape(shape) => Some(shape),
            Model::Continuum(_) | Model::Crystal(_) | Model::Spring(_) | Model::Tetra(_) => None,
        })
    }

    /// The model of springs, if a body uses it.
    pub fn spring_model(&self) -> Option<&crate::model::SpringModel> {
        self.models.iter().find_map(|model| match model {
            Model::Spring(spring) => Some(spring),
            Model::Continuum(_) | Model::Crystal(_) | Model::Shape(_) | Model::Tetra(_) => None,
        })
    }

    /// The model of tetrahedra, if a body uses it.
    pub fn tetra_model(&self) -> Option<&crate::model::TetraModel> {
        self.models.iter().find_map(|model| match model {
            Model::Tetra(tetra) => Some(tetra),
            Model::Continuum(_) | Model::Crystal(_) | Model::Shape(_) | Model::Spring(_) => None,
        })
    }

    /// Number of the body with a name.
    pub fn body_named(&self, name: &str) -> Result<BodyId, WorldError> {
        let known = || self.bodies.iter().filter(|body| !body.removed).map(|body| body.name.as_str());
        let index = self.bodies.iter().position(|body| !body.removed && body.name == name);
        index.map(|i| BodyId(i as u32)).ok_or_else(|| unknown("body", name, known()))
    }

    /// Number of the material with a name.
    pub fn material_named(&self, name: &str) -> Result<MaterialId, WorldError> {
        let index = self.materials.iter().position(|material| material.name == name);
        let known = || self.materials.iter().map(|material| material.name.as_str());
        index.map(|i| MaterialId(i as u32)).ok_or_else(|| unknown("material", name, known()))
    }

    /// Number of the obstacle with a name.
    pub fn obstacle_named(&self, name: &str) -> Result<ObstacleId, WorldError> {
        let index = self.obstacles.iter().position(|obstacle| obstacle.name == name);
        let known = || self.obstacles.iter().map(|obstacle| obstacle.name.as_str());
        index.map(|i| ObstacleId(i as u32)).ok_or_else(|| unknown("obstacle", name, known()))
    }

    /// Number of the heating with a name.
    pub(crate) fn heating_named(&self, name: &str) -> Result<usize, WorldError> {
        let known = || self.heatings.iter().map(|heating| heating.name.as_str());
        self.heatings.iter().position(|heating| heating.name == name).ok_or_else(|| unknown("heating", name, known()))
    }

    /// Removes a body with its particles.
    pub(crate) fn remove_body(&mut self, id: BodyId) {
        self.heat_first -= self.heat_of(self.bodies[id.0 as usize].range());
        self.bodies[id.0 as usize].removed = true;
        let owners = self.particles.body.clone();
        self.rearrange(|i| owners[i] != id, &[]);
        for model in &mut self.models {
            model.remove_body(id);
            model.refresh();
        }
    }

    /// The material of a body.
    pub(crate) fn material_of(&self, id: BodyId) -> &Material {
        &self.materials[self.bodies[id.0 as usize].material.0 as usize]
    }

    /// Heat of some particles, counted from temperature 0, J.
    pub(crate) fn heat_of(&self, range: std::ops::Range<usize>) -> f64 {
        range.map(|i| f64::from(self.particles.mass[i]) * self.particles.enthalpy[i]).sum()
    }

    /// Heat of an obstacle, counted from temperature 0, J; nothing without a heat capacity.
    pub(crate) fn heat_of_obstacle(&self, obstacle: usize) -> f64 {
        let capacity = self.obstacles[obstacle].heat_capacity;
        capacity.map_or(0.0, |capacity| f64::from(capacity) * self.obstacle_warmth[obstacle])
    }

    /// The model of a kind, made if there is none yet.
    fn model_index(&mut self, kind: ModelKind) -> usize {
        self.models.iter().position(|model| model.kind() == kind).unwrap_or_else(|| {
            self.models.push(Model::new(kind));
            self.models.len() - 1
        })
    }
}

/// A body of phyxels needs stiffness, and neighbours on all sides.
fn check_phyxels(body: &NewBody, material: &Material) -> Result<(), WorldError> {
    let ModelSettings::Continuum(settings) = &body.model else { return Ok(()) };
    let owner = || format!("material \"{}\" of the body of phyxels \"{}\"", material.name, body.name);
    let young = material.stiffest();
    WorldError::require(young > 0.0, owner, "young_modulus", young, "positive")?;
    let (degenerate, tried) = count_degenerate(&body.samples, body.spacing, settings.support);
    if 2 * degenerate > tried {
        return Err(WorldError::TooCoarse { body: body.name.clone(), degenerate, tried, spacing: body.spacing });
    }
    Ok(())
}

/// Tetrahedra need stiffness.
fn check_tetrahedra(body: &NewBody, material: &Material) -> Result<(), WorldError> {
    let ModelSettings::Tetra(_) = &body.model else { return Ok(()) };
    let owner = || format!("material \"{}\" of the body of tetrahedra \"{}\"", material.name, body.name);
    let young = material.stiffest();
    WorldError::require(young > 0.0, owner, "young_modulus", young, "positive")
}

pub(crate) fn unknown<'a>(kind: &'static str, name: &str, known: impl Iterator<Item = &'a str>) -> WorldError {
    let names: Vec<&str> = known.take(20).collect();
    let known = if names.is_empty() { "none".to_string() } else { names.join(", ") };
    WorldError::Unknown { kind, name: name.to_string(), known }
}

fn newborn_particles<'a>(body: &'a NewBody, material: &Material, id: BodyId) -> impl Iterator<Item = Particle> + 'a {
    let masses = body.particle_masses(material);
    let enthalpy = material.heat.enthalpy(body.temperature);
    let radius = body.contact_radius();
    let mut held = vec![false; body.samples.len()];
    body.held.iter().for_each(|&sample| held[sample as usize] = true);
    let phase = if let ModelSettings::Crystal(settings) = &body.model { settings.phase } else { Phase::Solid };
    let start = body.start.as_ref().unwrap_or(&body.samples);
    let samples = (0..).zip(&body.samples);
    samples.zip(start).zip(held).zip(masses).map(move |((((sample, &rest), &start), held), mass)| {
        let arm = body.pose.direction(start);
        let moving = if held { Vec3::ZERO } else { body.velocity + body.spin.cross(arm) };
        Particle {
            position: body.pose.at + arm,
            velocity: moving,
            rest,
            mass,
            radius,
            enthalpy,
            phase,
            body: id,
            sample,
            flags: Flags::default().with(Flags::HELD, held),
        }
    })
}
