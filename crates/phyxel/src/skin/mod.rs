//! Skins: the visible surfaces of bodies.

mod interpolation;
mod isosurface;

pub(crate) use interpolation::PointSamples;
pub(crate) use isosurface::reconstruct;

pub use crate::geometry::{SurfaceConnectivity, corner_normals};

use crate::Real;
use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Crease angle of the boundary faces of tetrahedra, degrees: edges between faces at a larger angle are sharp.
pub const CREASE_ANGLE: Real = 40.0;

/// Visible surface of a body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Skin {
    /// Its particles, as spheres.
    #[default]
    Particles,
    /// An embedded mesh that deforms with the body.
    Mesh(Arc<SkinMesh>),
    /// An isosurface around its particles, reconstructed for every frame; it supports flow, splitting and merging.
    Isosurface(Isosurface),
    /// Embedded surfels that deform with a body of phyxels.
    Surfels(Arc<Surfels>),
    /// The boundary faces of a body of tetrahedra.
    Faces,
    /// A subdivision surface of the boundary faces.
    Smooth(SmoothSurface),
}

/// Subdivision surface of the boundary faces of tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SmoothSurface {
    /// Subdivision scheme.
    pub scheme: SubdivisionRule,
    /// Subdivision levels, 1 to [`SmoothSurface::MAX_LEVELS`]; each splits a triangle into four.
    pub levels: u32,
}

impl SmoothSurface {
    /// Maximum number of levels: 64 triangles per face.
    pub const MAX_LEVELS: u32 = 3;
}

/// Subdivision scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SubdivisionRule {
    /// Loop subdivision: approximating, so vertices move inwards where the surface is curved.
    #[default]
    Loop,
    /// Butterfly subdivision: interpolating, so nodes stay on the surface.
    Butterfly,
}

impl SubdivisionRule {
    /// All schemes, with their names in scene files.
    pub const ALL: [(&'static str, Self); 2] = [("loop", Self::Loop), ("butterfly", Self::Butterfly)];
}

/// Surface reconstruction from particles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Isosurface {
    /// Cell size of the marching-cubes grid, m.
    pub cell: Real,
    /// Iterations of Taubin smoothing.
    pub smoothing: u32,
}

impl Isosurface {
    /// Iterations that remove the imprint of the particle lattice and preserve the shape.
    pub const DEFAULT_SMOOTHING: u32 = 8;

    /// Default settings for a particle spacing, m.
    pub fn for_spacing(spacing: Real) -> Self {
        Self { cell: 0.5 * spacing, smoothing: Self::DEFAULT_SMOOTHING }
    }
}

impl Skin {
    /// Name in scene files and reports.
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

/// Mesh in the rest frame of a body.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SkinMesh {
    /// Vertices, m.
    pub positions: Vec<Vec3>,
    /// Vertex indices, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// Surfels in the rest frame of a body: elliptical discs that sample a surface (`[MKN04]` section 5).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Surfels {
    /// Centres, m.
    pub positions: Vec<Vec3>,
    /// Semi-axes of each, perpendicular to the normal, m; the rotation from the first to the second is
    /// counter-clockwise seen from outside.
    pub axes: Vec<[Vec3; 2]>,
}

impl Surfels {
    /// Circular surfels of one radius (m) at points with unit normals.
    pub fn round(positions: Vec<Vec3>, normals: &[Vec3], radius: Real) -> Self {
        let axes = normals.iter().map(|normal| {
            let (a, b) = normal.any_orthonormal_pair();
            [radius * a, radius * b]
        });
        Self { positions, axes: axes.collect() }
    }
}

/// Unit normal of a surfel from its semi-axes; +y if they are degenerate.
pub(crate) fn disc_normal([a, b]: [Vec3; 2]) -> Vec3 {
    // Normalised first: the product of very short axes would underflow.
    a.normalize_or_zero().cross(b.normalize_or_zero()).normalize_or(Vec3::Y)
}
