//! Skins of bodies as a scene file describes them.

use crate::mesh::TriangleMesh;
use phyxel::skin::SmoothSurface;
use std::sync::Arc;

/// Visible surface of a body.
#[derive(Clone, Debug, Default)]
pub enum SkinDescription {
    /// Its particles.
    #[default]
    Particles,
    /// Embedded triangle mesh.
    Mesh {
        /// Mesh in the local frame; `None` takes the surface of the shape.
        mesh: Option<Arc<TriangleMesh>>,
        /// Resolution of the surface of a shape that is no mesh, m; half the spacing if `None`.
        cell: Option<f32>,
    },
    /// Isosurface around the particles, extracted for every frame.
    Isosurface {
        /// Edge of the extraction cells, m; half the spacing if `None`.
        cell: Option<f32>,
        /// Smoothing iterations; the default of the engine if `None`.
        smoothing: Option<u32>,
    },
    /// Boundary faces of the tetrahedra.
    Faces,
    /// Subdivision surface of the boundary faces.
    Smooth(SmoothSurface),
    /// Surfels: oriented discs on an embedded surface.
    Surfels {
        /// Mesh in the local frame; `None` takes the surface of the shape.
        mesh: Option<Arc<TriangleMesh>>,
        /// Edge of the square per surfel, m; half the particle spacing if `None`.
        spacing: Option<f32>,
    },
}
