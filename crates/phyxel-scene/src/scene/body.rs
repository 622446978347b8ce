//! Bodies as a scene file describes them.

use super::model::ModelDescription;
use super::skin::SkinDescription;
use crate::sample::Sampler;
use crate::shape::{Placement, Shape};
use glam::Vec3;

/// Body, or several copies of one.
#[derive(Clone, Debug)]
pub struct BodyDescription {
    /// Unique name; copies are numbered `name-1`, `name-2`, ...
    pub name: String,
    /// Model with its settings.
    pub model: ModelDescription,
    /// Name of a material of the scene.
    pub material: String,
    /// Shape in the local frame; fluids that are poured in may have none, and imported tetrahedra have their own.
    pub shape: Option<Shape>,
    /// Particle spacing, m.
    pub spacing: f32,
    /// Arrangement of the particles in the shape.
    pub sampler: Sampler,
    /// Placement of the local frame; the scale applies to shape, held regions and skin, not to the spacing.
    pub place: Placement,
    /// Initial deformation from the rest shape.
    pub deform: Vec<Deformation>,
    /// Initial velocity, m/s.
    pub velocity: Vec3,
    /// Initial angular velocity about the origin of the local frame, rad/s.
    pub spin: Vec3,
    /// Initial temperature, in the scene's scale.
    pub temperature: f32,
    /// Radius of the contact spheres, m; half the spacing if `None`, 0.3 of it for tetrahedra.
    pub radius: Option<f32>,
    /// Visible surface.
    pub skin: SkinDescription,
    /// Regions of the local frame whose particles are fixed.
    pub held: Vec<Shape>,
    /// True if its particles collide with each other where they are not neighbours at rest.
    pub self_contact: bool,
    /// Copies; `None` for a single body.
    pub copies: Option<Copies>,
}

impl BodyDescription {
    /// Number of bodies, copies included.
    pub fn count(&self) -> u64 {
        match &self.copies {
            None => 1,
            Some(Copies::Grid { counts, .. }) => counts.iter().map(|count| u64::from(*count)).product(),
            Some(Copies::Stack { count, .. } | Copies::Random { count, .. }) => u64::from(*count),
        }
    }

    /// Name of a copy, counted from 0.
    pub fn name_of(&self, number: u64) -> String {
        if self.copies.is_some() { format!("{}-{}", self.name, number + 1) } else { self.name.clone() }
    }

    /// Returns true if its tetrahedra melt into a body of another description.
    pub fn melts_into(&self, other: &Self) -> bool {
        let ModelDescription::Tetra { settings, .. } = &self.model else { return false };
        settings.melts_into.as_ref().is_some_and(|name| other.makes(name))
    }

    /// Returns true if one of its bodies has this name.
    pub fn makes(&self, name: &str) -> bool {
        if self.copies.is_none() {
            return self.name == name;
        }
        let number = name.strip_prefix(&self.name).and_then(|rest| rest.strip_prefix('-'));
        let plain = number.filter(|digits| !digits.starts_with('0') && digits.bytes().all(|it| it.is_ascii_digit()));
        plain.and_then(|digits| digits.parse().ok()).is_some_and(|number: u64| number >= 1 && number <= self.count())
    }
}

/// One of 27 polynomial deformation modes: displacement along an axis by a product of coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deformation {
    /// Axis of the displacement: 0, 1, 2 for x, y, z of the local frame.
    pub axis: usize,
    /// Index of the product: x, y, z, xx, yy, zz, xy, yz, zx, each coordinate in half lengths of the body.
    pub product: usize,
    /// Largest displacement, in half lengths of the body's longest side.
    pub amount: f32,
}

impl Deformation {
    /// Names of the products, in the order of [`product`](Self::product).
    pub const PRODUCTS: [&str; 9] = ["x", "y", "z", "xx", "yy", "zz", "xy", "yz", "zx"];
}

/// Arrangement of the copies of a body.
#[derive(Clone, Debug)]
pub enum Copies {
    /// Regular grid, the first copy at the body's placement.
    Grid {
        /// Counts along x, y and z.
        counts: [u32; 3],
        /// Distances along x, y and z, m.
        step: Vec3,
        /// Largest random offset along each axis, m.
        jitter: f32,
    },
    /// Stack, the first copy at the body's placement.
    Stack {
        /// Number of copies.
        count: u32,
        /// Offset from one copy to the next, m.
        step: Vec3,
        /// Largest random offset along each axis, m.
        jitter: f32,
    },
    /// Random positions, as far as possible without contact.
    Random {
        /// Number of copies.
        count: u32,
        /// Region of the centres of the copies, relative to the body's placement.
        region: Box<Shape>,
        /// True if each copy gets a random orientation.
        rotate: bool,
    },
}
