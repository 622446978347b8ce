//! Errors of imported files.

use crate::mesh::MeshError;
use crate::tetra::TetraError;
use std::{fmt, path::PathBuf};

/// Kind of an imported file, by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Triangle mesh.
    Mesh,
    /// Tetrahedral mesh.
    Tetra,
}

impl FileKind {
    fn endings(self) -> &'static str {
        match self {
            Self::Mesh => ".obj, .ply, .stl, .glb and .gltf",
            Self::Tetra => ".msh, .vtk, .vtu, .ele and .node",
        }
    }

    fn path_remedy(self) -> &'static str {
        match self {
            Self::Mesh => "which is relative to the scene file",
            Self::Tetra => "and keep .node and .ele files together",
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mesh => "mesh file",
            Self::Tetra => "file of tetrahedra",
        })
    }
}

/// Reason why a mesh cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Invalid content of a file.
    #[error("{kind} `{}`: {source}", path.display())]
    File {
        /// Kind of the file.
        kind: FileKind,
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        source: Box<ImportError>,
    },
    /// Missing file.
    #[error("there is no {kind} `{}`; check the path, {}", path.display(), kind.path_remedy())]
    Missing {
        /// Kind of the file.
        kind: FileKind,
        /// The file.
        path: PathBuf,
    },
    /// Unreadable file.
    #[error("{kind} `{}` cannot be read: {source}; check that you may read it", path.display())]
    Unreadable {
        /// Kind of the file.
        kind: FileKind,
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// File name with an unknown extension.
    #[error("`{}` does not end like a {kind}; known endings are {}", path.display(), kind.endings())]
    UnknownFormat {
        /// Kind of the file.
        kind: FileKind,
        /// The file.
        path: PathBuf,
    },
    /// Syntax error in a line of text.
    #[error("line {line} of the {format} text: {what}")]
    Line {
        /// Name of the format.
        format: &'static str,
        /// Line number, from 1.
        line: usize,
        /// What is expected there and what is found.
        what: String,
    },
    /// Content that violates the format.
    #[error("not a valid {format} file: {what}")]
    Content {
        /// Name of the format.
        format: &'static str,
        /// What is expected and what is found.
        what: String,
    },
    /// Truncated data.
    #[error("the {format} data ends too early, within {within}; the file may be cut off: fetch or export it again")]
    Truncated {
        /// Name of the format.
        format: &'static str,
        /// What is being read when the data ends.
        within: String,
    },
    /// Unsupported variant of the format.
    #[error("the {format} file {what}, which is not read; {remedy}")]
    Unsupported {
        /// Name of the format.
        format: &'static str,
        /// The unsupported feature.
        what: String,
        /// Remedy.
        remedy: &'static str,
    },
    /// Unavailable resource of a glTF file.
    #[error("the glTF file needs `{uri}`, which {why}; keep it beside the file, or export as a single .glb")]
    Resource {
        /// URI in the file.
        uri: String,
        /// Why it is unavailable.
        why: String,
    },
    /// Element that is not a tetrahedron.
    #[error(
        "element {element} is of {format} type {kind}, which is no tetrahedron; mesh the volume with tetrahedra only"
    )]
    NotTetrahedron {
        /// Name of the format.
        format: &'static str,
        /// Number of the element, as the file counts.
        element: u64,
        /// Element type by the code of the format.
        kind: u64,
    },
    /// Unusable triangle mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Unusable tetrahedral mesh.
    #[error(transparent)]
    Tetra(#[from] TetraError),
}
