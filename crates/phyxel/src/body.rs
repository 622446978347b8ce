//! A body: particles that belong together, of one material, moved by one model.

use crate::Real;
use crate::material::Material;
use crate::model::{ModelKind, ModelSettings};
use crate::particles::Phase;
use crate::skin::Skin;
use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Number of a body in its world. Numbers of removed bodies are not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BodyId(pub u32);

/// Number of a material in its world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MaterialId(pub u32);

/// Number of an obstacle in its world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObstacleId(pub u32);

/// A place and an orientation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// m.
    pub at: Vec3,
    /// Turn from the own frame to the world's.
    pub turn: Quat,
}

impl Default for Pose {
    fn default() -> Self {
        Self { at: Vec3::ZERO, turn: Quat::IDENTITY }
    }
}

impl Pose {
    /// From the own frame to the world's.
    pub fn point(&self, local: Vec3) -> Vec3 {
        self.at + self.turn * local
    }

    /// From the world's frame to the own one.
    pub fn local_point(&self, world: Vec3) -> Vec3 {
        self.turn.conjugate() * (world - self.at)
    }

    /// A direction from the own frame to the world's.
    pub fn direction(&self, local: Vec3) -> Vec3 {
        self.turn * local
    }
}

/// A particle that may join a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grain {
    /// kg.
    pub mass: Real,
    /// Radius of its contact sphere, m.
    pub radius: Real,
}

/// What a body is, apart from its particles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Body {
    /// Unique name.
    pub name: String,
    /// The model that moves it.
    pub model: ModelKind,
    /// What it is made of.
    pub material: MaterialId,
    /// Its particles: always one run of the store, which may be empty.
    pub particles: Range<u32>,
    /// Whether it has been taken out of the world. A body without particles may still get some from an emitter.
    pub removed: bool,
    /// Particles it ever had: the number of the next one that joins it.
    pub born: u32,
    /// What a particle is like that joins it.
    pub grain: Grain,
    /// Distance of its samples, m.
    pub spacing: Real,
    /// Temperature at which its rest shape has the size it was given: the one it came with.
    pub rest_temperature: Real,
    /// Whether its own particles collide with each other where they are not near at rest.
    pub self_contact: bool,
    /// How it is shown.
    pub skin: Skin,
}

impl Body {
    /// Its particles as indices of columns.
    pub fn range(&self) -> Range<usize> {
        self.particles.start as usize..self.particles.end as usize
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.particles.len()
    }

    /// Whether it has no particles, at the moment or for good.
    pub fn is_empty(&self) -> bool {
        self.particles.is_empty()
    }
}

/// Radius of nodes of tetrahedra, in spacings. What they touch is found by faces; this is how thick contact is there: how far nodes go in a step, and how fast
/// they are pushed out of others.
const NODE_RADIUS: Real = 0.3;

/// A body to be: samples in its own frame and what the world needs to know of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewBody {
    /// Unique name.
    pub name: String,
    /// Name of a material of the world.
    pub material: String,
    /// Model and its settings.
    pub model: ModelSettings,
    /// Sample positions in the body's own frame at rest, m; a fluid that an emitter pours in may have none.
    pub samples: Vec<Vec3>,
    /// Where the samples are at the start, in the own frame, if not at rest, m.
    pub start: Option<Vec<Vec3>>,
    /// Volume of the matter, m3; shared evenly by the samples.
    pub volume: f64,
    /// Distance of the samples, m.
    pub spacing: Real,
    /// Radius of the contact spheres, m; half the spacing if `None`, and less for tetrahedra, which have nodes on their surface.
    pub radius: Option<Real>,
    /// Where the own frame is in the world.
    pub pose: Pose,
    /// m/s.
    pub velocity: Vec3,
    /// Angular velocity about the origin of the own frame, rad/s.
    pub spin: Vec3,
    /// Temperature at the start, in the scene's scale.
    pub temperature: Real,
    /// Indices of samples that do not move.
    pub held: Vec<u32>,
    /// Whether its own particles collide with each other where they are not near at rest.
    pub self_contact: bool,
    /// How it is shown.
    pub skin: Skin,
}

impl NewBody {
    /// What particles are like that join it: as those it has, or as those of a closest packing.
    pub(crate) fn grain(&self, material: &Material) -> Grain {
        let packed = f64::from(self.spacing).powi(3) * std::f64::consts::FRAC_1_SQRT_2;
        let (volume, count) = if self.samples.is_empty() { (packed, 1) } else { (self.volume, self.samples.len()) };
        let mass = f64::from(material.density) * volume / count as f64;
        Grain { mass: mass as Real, radius: self.contact_radius() }
    }

    /// Radius of its contact spheres, m.
    pub(crate) fn contact_radius(&self) -> Real {
        let usual = if let ModelSettings::Tetra(_) = &self.model { NODE_RADIUS } else { 0.5 };
        self.radius.unwrap_or(usual * self.spacing)
    }

    /// Mass of each particle, kg: all the same, but for springs, where every cell gives an eighth to each of its corners, and
    /// for phyxels, which have the mass of the volume they stand for. A tetrahedron gives a quarter to each corner. Solid crystals have that of their place in a closest
    /// packing, which they fill: their density is that of the material, whatever part of its shape the packing fills.
    pub fn particle_masses(&self, material: &Material) -> Vec<Real> {
        let total = f64::from(material.density) * self.volume;
        let even = total / self.samples.len().max(1) as f64;
        match &self.model {
            ModelSettings::Crystal(settings) if settings.phase == Phase::Solid => {
                let place = f64::from(self.spacing).powi(3) / std::f64::consts::SQRT_2;
                vec![(f64::from(material.density) * place) as Real; self.samples.len()]
            }
            ModelSettings::Crystal(_) | ModelSettings::Shape(_) => vec![even as Real; self.samples.len()],
            ModelSettings::Continuum(_) => {
                let volumes = crate::model::continuum::volumes(&self.samples, self.spacing, self.volume);
                volumes.into_iter().map(|volume| (f64::from(material.density) * volume) as Real).collect()
            }
            ModelSettings::Spring(settings) => {
                let mut cells = vec![0u32; self.samples.len()];
                settings.cells.iter().flatten().for_each(|&corner| cells[corner as usize] += 1);
                let part = total / (8 * settings.cells.len().max(1)) as f64;
                cells.into_iter().map(|cells| (part * f64::from(cells)) as Real).collect()
            }
            ModelSettings::Tetra(settings) => {
                let volumes = crate::model::tetra::node_volumes(&settings.elements, &self.samples);
                volumes.into_iter().map(|volume| (f64::from(material.density) * volume) as Real).collect()
            }
        }
    }
}
