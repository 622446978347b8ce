//! What can be wrong with a mesh or its file.

use super::Format;
use glam::Vec3;
use std::path::PathBuf;

/// Why a mesh cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// A file whose content is wrong.
    #[error("mesh file `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        source: Box<MeshError>,
    },
    /// A file that is not there.
    #[error("there is no mesh file `{}`; check the path, which is relative to the scene file", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A file that cannot be read.
    #[error("mesh file `{}` cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file name that does not tell the format.
    #[error("`{}` does not end like a mesh file; known endings are .obj, .ply, .stl, .glb and .gltf", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// Text that is not in the format.
    #[error("line {line} of the {format} text: {what}")]
    Line {
        /// The format.
        format: Format,
        /// Line number, from 1.
        line: usize,
        /// What is expected there and what is found.
        what: String,
    },
    /// Content that is not in the format.
    #[error("not a valid {format} file: {what}")]
    Content {
        /// The format.
        format: Format,
        /// What is expected and what is found.
        what: String,
    },
    /// Data that ends too early.
    #[error("the {format} data ends too early, within {within}; the file may be cut off: fetch or export it again")]
    Truncated {
        /// The format.
        format: Format,
        /// What is being read when the data ends.
        within: String,
    },
    /// A mesh beyond any use.
    #[error("the mesh has more than {limit} triangles or vertices; simplify it")]
    TooLarge {
        /// Largest number allowed.
        limit: usize,
    },
    /// A mesh without triangles.
    #[error("the mesh has no triangles; export it with faces, not only points or lines")]
    NoTriangles,
    /// A triangle with a corner that does not exist.
    #[error("triangle {triangle} uses vertex {index}, but the mesh has {vertices} vertices, counted from 0")]
    BadIndex {
        /// Number of the triangle, from 0.
        triangle: usize,
        /// The index.
        index: i64,
        /// Number of vertices.
        vertices: usize,
    },
    /// A vertex that is nowhere.
    #[error("vertex {vertex} is at {value}; all coordinates must be finite")]
    NotFinite {
        /// Number of the vertex, from 0.
        vertex: usize,
        /// Its position.
        value: Vec3,
    },
    /// A glTF file that needs another file that is not at hand.
    #[error("the glTF file needs `{uri}`, which {why}; keep it beside the file, or export as a single .glb")]
    Resource {
        /// What the file names.
        uri: String,
        /// Why it cannot be had.
        why: String,
    },
}
