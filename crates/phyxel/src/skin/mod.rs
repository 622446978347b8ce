//! How a body is shown.

mod isosurface;
mod spread;

pub(crate) use isosurface::surround;
pub(crate) use spread::Matter;

use crate::Real;
use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What is shown of a body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Skin {
    /// Its particles, as spheres.
    #[default]
    Particles,
    /// A mesh that the body carries along.
    Mesh(Arc<SkinMesh>),
    /// A surface around its particles, made anew for every frame: it follows whatever flows, parts and merges.
    Isosurface(Isosurface),
}

/// How a surface is laid around particles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Isosurface {
    /// Edge of the cells that it is looked for in, m.
    pub cell: Real,
    /// Rounds of smoothing.
    pub smoothing: u32,
}

impl Isosurface {
    /// Rounds of smoothing that take away the lattice of the particles and leave the form.
    pub const SMOOTHING: u32 = 8;

    /// What suits particles this far apart, m.
    pub fn for_spacing(spacing: Real) -> Self {
        Self { cell: 0.5 * spacing, smoothing: Self::SMOOTHING }
    }
}

impl Skin {
    /// As scene files and reports write it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Particles => "particles",
            Self::Mesh(_) => "mesh",
            Self::Isosurface(_) => "isosurface",
        }
    }
}

/// A mesh in the body's own frame at rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkinMesh {
    /// m.
    pub positions: Vec<Vec3>,
    /// Counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}
