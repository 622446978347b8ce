//! Errors of meshes and mesh files.

use super::MeshFormat;
use glam::Vec3;
use std::path::PathBuf;

/// Reason why a mesh cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// Invalid content of a file.
    #[error("mesh file `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        source: Box<MeshError>,
    },
    /// Missing file.
    #[error("there is no mesh file `{}`; check the path, which is relative to the scene file", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// Unreadable file.
    #[error("mesh file `{}` cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// File name with an unknown extension.
    #[error("`{}` does not end like a mesh file; known endings are .obj, .ply, .stl, .glb and .gltf", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// Syntax error in a line of text.
    #[error("line {line} of the {format} text: {what}")]
    Line {
        /// The format.
        format: MeshFormat,
        /// Line number, from 1.
        line: usize,
        /// What is expected there and what is found.
        what: String,
    },
    /// Content that violates the format.
    #[error("not a valid {format} file: {what}")]
    Content {
        /// The format.
        format: MeshFormat,
        /// What is expected and what is found.
        what: String,
    },
    /// Truncated data.
    #[error("the {format} data ends too early, within {within}; the file may be cut off: fetch or export it again")]
    Truncated {
        /// The format.
        format: MeshFormat,
        /// What is being read when the data ends.
        within: String,
    },
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
    /// Unavailable resource of a glTF file.
    #[error("the glTF file needs `{uri}`, which {why}; keep it beside the file, or export as a single .glb")]
    Resource {
        /// URI in the file.
        uri: String,
        /// Why it is unavailable.
        why: String,
    },
}
