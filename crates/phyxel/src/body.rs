//! A body: a contiguous range of particles of one material, moved by one model.

use crate::Real;
use crate::material::Material;
use crate::model::{ModelKind, ModelSettings};
use crate::skin::Skin;
use crate::store::Phase;
use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Index of a body in its world. Indices of removed bodies are not reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BodyId(pub u32);

/// Index of a material in its world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MaterialId(pub u32);

/// Index of an obstacle in its world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObstacleId(pub u32);

/// Rigid transformation from a local frame to the world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Origin of the local frame, m.
    pub position: Vec3,
    /// Rotation from the local frame to the world.
    pub rotation: Quat,
}

impl Default for Pose {
    fn default() -> Self {
        Self { position: Vec3::ZERO, rotation: Quat::IDENTITY }
    }
}

impl Pose {
    /// Transforms a point from the local frame to the world.
    pub fn transform_point(&self, local: Vec3) -> Vec3 {
        self.position + self.rotation * local
    }

    /// Transforms a point from the world to the local frame.
    pub fn inverse_transform_point(&self, world: Vec3) -> Vec3 {
        self.rotation.conjugate() * (world - self.position)
    }

    /// Rotates a vector from the local frame to the world.
    pub fn transform_vector(&self, local: Vec3) -> Vec3 {
        self.rotation * local
    }
}

/// Properties of particles that are added to a body after its creation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParticleTemplate {
    /// kg.
    pub mass: Real,
    /// Radius of the contact sphere, m.
    pub radius: Real,
}

/// Description of a body, apart from its particles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Body {
    /// Unique name.
    pub name: String,
    /// The model that moves it.
    pub model: ModelKind,
    /// Its material.
    pub material: MaterialId,
    /// Its particles: a contiguous range of the store, possibly empty.
    pub particles: Range<u32>,
    /// True once it is removed from the world. A body without particles may still receive some from an emitter.
    pub removed: bool,
    /// Id of the next particle that is added to it: the number of particles it ever had.
    pub next_id: u32,
    /// Mass and radius of particles that are added to it.
    pub template: ParticleTemplate,
    /// Distance of neighbouring samples, m.
    pub spacing: Real,
    /// Reference temperature of thermal expansion: the initial temperature.
    pub rest_temperature: Real,
    /// Self-collision of particles that are not neighbours at rest.
    pub self_contact: bool,
    /// Visible surface.
    pub skin: Skin,
}

impl Body {
    /// Its particles, as a range of column indices.
    pub fn range(&self) -> Range<usize> {
        self.particles.start as usize..self.particles.end as usize
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.particles.len()
    }

    /// Returns true if it has no particles at present.
    pub fn is_empty(&self) -> bool {
        self.particles.is_empty()
    }
}

/// Contact radius of nodes of tetrahedra, in spacings.
///
/// Their contacts are found by faces; the radius is the contact thickness, which bounds their displacement in
/// a step and the speed at which penetration is resolved.
const NODE_RADIUS: Real = 0.3;

/// Input from which the world creates a body: samples in the body frame, model, material and initial state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewBody {
    /// Unique name.
    pub name: String,
    /// Name of a material of the world.
    pub material: String,
    /// Model with its settings.
    pub model: ModelSettings,
    /// Rest positions in the body frame, m; may be empty for a fluid that is filled by an emitter.
    pub samples: Vec<Vec3>,
    /// Initial positions in the body frame, m; the rest positions if `None`.
    pub start: Option<Vec<Vec3>>,
    /// Volume, m3; shared equally by the samples.
    pub volume: f64,
    /// Distance of neighbouring samples, m.
    pub spacing: Real,
    /// Radius of the contact spheres, m. If `None`, half the spacing; for tetrahedra, which have nodes on their
    /// surface, 0.3 spacings.
    pub radius: Option<Real>,
    /// Pose of the body frame in the world.
    pub pose: Pose,
    /// Initial velocity, m/s.
    pub velocity: Vec3,
    /// Initial angular velocity about the origin of the body frame, rad/s.
    pub spin: Vec3,
    /// Initial temperature, in the scene's scale.
    pub temperature: Real,
    /// Indices of fixed samples.
    pub held: Vec<u32>,
    /// Self-collision of particles that are not neighbours at rest.
    pub self_contact: bool,
    /// Visible surface.
    pub skin: Skin,
}

impl NewBody {
    /// Body of the default material at rest at the origin, with a cube of the spacing for each sample.
    pub fn new(name: impl Into<String>, model: ModelSettings, samples: Vec<Vec3>, spacing: Real) -> Self {
        Self {
            name: name.into(),
            material: Material::default().name,
            model,
            volume: samples.len() as f64 * f64::from(spacing).powi(3),
            samples,
            start: None,
            spacing,
            radius: None,
            pose: Pose::default(),
            velocity: Vec3::ZERO,
            spin: Vec3::ZERO,
            temperature: 0.0,
            held: Vec::new(),
            self_contact: false,
            skin: Skin::Particles,
        }
    }

    /// Template of particles that are added later: the mean of its samples, or without samples a site of a
    /// closest packing.
    pub(crate) fn particle_template(&self, material: &Material) -> ParticleTemplate {
        let site = f64::from(self.spacing).powi(3) * std::f64::consts::FRAC_1_SQRT_2;
        let (volume, count) = if self.samples.is_empty() { (site, 1) } else { (self.volume, self.samples.len()) };
        let mass = f64::from(material.density) * volume / count as f64;
        ParticleTemplate { mass: mass as Real, radius: self.contact_radius() }
    }

    /// Radius of the contact spheres, m.
    pub(crate) fn contact_radius(&self) -> Real {
        let relative = if let ModelSettings::Tetra(_) = &self.model { NODE_RADIUS } else { 0.5 };
        self.radius.unwrap_or(relative * self.spacing)
    }

    /// Lumped mass of each particle, kg.
    ///
    /// - shape matching, fluids: uniform;
    /// - mass-spring lattice: an eighth of each adjacent cell;
    /// - tetrahedra: a quarter of each adjacent element;
    /// - phyxels: the volume that each represents;
    /// - solid crystals: the volume of a site of the closest packing, so that the density is that of the material,
    ///   whatever fraction of the shape the packing fills.
    pub fn particle_masses(&self, material: &Material) -> Vec<Real> {
        let total = f64::from(material.density) * self.volume;
        let mean = total / self.samples.len().max(1) as f64;
        match &self.model {
            ModelSettings::Crystal(settings) if settings.phase == Phase::Solid => {
                let site = f64::from(self.spacing).powi(3) / std::f64::consts::SQRT_2;
                vec![(f64::from(material.density) * site) as Real; self.samples.len()]
            }
            ModelSettings::Crystal(_) | ModelSettings::ShapeMatching(_) => vec![mean as Real; self.samples.len()],
            ModelSettings::Continuum(_) => {
                let volumes = crate::model::continuum::phyxel_volumes(&self.samples, self.spacing, self.volume);
                volumes.into_iter().map(|volume| (f64::from(material.density) * volume) as Real).collect()
            }
            ModelSettings::MassSpring(settings) => {
                let mut cells = vec![0u32; self.samples.len()];
                settings.cells.iter().flatten().for_each(|&corner| cells[corner as usize] += 1);
                let corner_mass = total / (8 * settings.cells.len().max(1)) as f64;
                cells.into_iter().map(|cells| (corner_mass * f64::from(cells)) as Real).collect()
            }
            ModelSettings::Tetra(settings) => {
                let volumes = crate::model::tetra::node_volumes(&settings.elements, &self.samples);
                volumes.into_iter().map(|volume| (f64::from(material.density) * volume) as Real).collect()
            }
        }
    }
}
