//! Views of the world for models: bodies, materials and particles by their ids.

use crate::body::{Body, BodyId};
use crate::material::Material;
use crate::store::Particles;
use crate::world::World;
use std::ops::Range;

/// Bodies, materials and particles of the world.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub bodies: &'a [Body],
    pub materials: &'a [Material],
    pub particles: &'a Particles,
}

impl<'a> View<'a> {
    pub fn body(&self, id: BodyId) -> &'a Body {
        &self.bodies[id.0 as usize]
    }

    /// Particles of a body.
    pub fn range(&self, id: BodyId) -> Range<usize> {
        self.body(id).range()
    }

    /// Material of a body.
    pub fn material(&self, id: BodyId) -> &'a Material {
        &self.materials[self.body(id).material.0 as usize]
    }

    /// Body of a particle.
    pub fn body_of(&self, particle: u32) -> &'a Body {
        self.body(self.particles.body[particle as usize])
    }

    /// Material of a particle.
    pub fn material_of(&self, particle: u32) -> &'a Material {
        self.material(self.particles.body[particle as usize])
    }
}

/// Bodies and materials of the world, and its particles to be changed.
pub(crate) struct ViewMut<'a> {
    pub bodies: &'a [Body],
    pub materials: &'a [Material],
    pub particles: &'a mut Particles,
}

impl<'a> ViewMut<'a> {
    /// The same for reading.
    pub fn view(&self) -> View<'_> {
        View { bodies: self.bodies, materials: self.materials, particles: self.particles }
    }

    pub fn body(&self, id: BodyId) -> &'a Body {
        &self.bodies[id.0 as usize]
    }

    /// Material of a body.
    pub fn material(&self, id: BodyId) -> &'a Material {
        &self.materials[self.body(id).material.0 as usize]
    }
}

impl World {
    /// View for models.
    pub(crate) fn view(&self) -> View<'_> {
        View { bodies: &self.bodies, materials: &self.materials, particles: &self.particles }
    }
}
