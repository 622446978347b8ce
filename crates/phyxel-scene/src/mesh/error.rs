//! Errors of triangle meshes.

use glam::Vec3;

/// Reason why a mesh cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// Mesh with too many elements.
    #[error("the mesh has more than {limit} triangles or vertices; simplify it")]
    TooLarge {
        /// Largest number allowed.
        limit: usize,
    },
    /// Mesh without triangles.
    #[error("the mesh has no triangles; export it with faces, not only points or lines")]
    NoTriangles,
    /// Vertex index out of range.
    #[error("triangle {triangle} uses vertex {index}, but the mesh has {vertices} vertices, counted from 0")]
    BadIndex {
        /// Index of the triangle.
        triangle: usize,
        /// The index.
        index: i64,
        /// Number of vertices.
        vertices: usize,
    },
    /// Vertex with a coordinate that is not finite.
    #[error("vertex {vertex} is at {value}; all coordinates must be finite")]
    NotFinite {
        /// Index of the vertex.
        vertex: usize,
        /// Its position.
        value: Vec3,
    },
}
