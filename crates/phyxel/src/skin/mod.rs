//! How a body is shown.

mod isosurface;
mod spread;

pub(crate) use isosurface::surround;
pub(crate) use spread::Matter;

pub use crate::surface::corner_normals;

use crate::Real;
use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Outer faces of tetrahedra that meet at more than this angle have a sharp edge between them, degrees.
pub const CREASE: Real = 40.0;

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
    /// A cloud of points with normals that a body of phyxels carries along.
    Surfels(Arc<Surfels>),
    /// The outer faces of a body of tetrahedra.
    Faces,
    /// A finer and smoother surface from these.
    Smooth(Smooth),
}

/// How outer faces of tetrahedra are made finer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Smooth {
    /// The rule for new vertices.
    pub scheme: SmoothScheme,
    /// How often each triangle becomes four, 1 to [`Smooth::MOST_LEVELS`].
    pub levels: u32,
}

impl Smooth {
    /// Most levels: 64 triangles for each face.
    pub const MOST_LEVELS: u32 = 3;
}

/// A rule for vertices of finer surfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SmoothScheme {
    /// Rounds off: vertices move inwards where the surface is curved.
    #[default]
    Loop,
    /// Leaves nodes on the surface.
    Butterfly,
}

impl SmoothScheme {
    /// As scene files write them.
    pub const ALL: [(&'static str, Self); 2] = [("loop", Self::Loop), ("butterfly", Self::Butterfly)];
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
            Self::Surfels(_) => "surfels",
            Self::Faces => "faces",
            Self::Smooth(_) => "smooth",
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

/// Points of a surface in the body's own frame at rest, each a small disc (`[MKN04]` section 5).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Surfels {
    /// Centres, m.
    pub positions: Vec<Vec3>,
    /// Half axes of each, across the normal; the first turned to the second goes counter-clockwise seen from outside, m.
    pub axes: Vec<[Vec3; 2]>,
}

impl Surfels {
    /// Round discs of one radius around points with unit normals, m.
    pub fn round(positions: Vec<Vec3>, normals: &[Vec3], radius: Real) -> Self {
        let axes = normals.iter().map(|normal| {
            let (a, b) = normal.any_orthonormal_pair();
            [radius * a, radius * b]
        });
        Self { positions, axes: axes.collect() }
    }
}

/// The unit normal of a disc with these half axes; up, where they span nothing.
pub(crate) fn disc_normal([a, b]: [Vec3; 2]) -> Vec3 {
    // Axes may be so short that their product would be lost.
    a.normalize_or_zero().cross(b.normalize_or_zero()).normalize_or(Vec3::Y)
}
