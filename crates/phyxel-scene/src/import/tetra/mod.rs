//! Import of tetrahedral meshes.

mod gmsh;
mod raw;
mod tetgen;
mod vtk;
mod vtu;

use super::{FileKind, ImportError};
use crate::tetra::{TetraMesh, TetraQuality};
use std::path::Path;

/// File formats of tetrahedral meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TetraFormat {
    /// Gmsh `.msh`, versions 2.2 and 4.1, as text.
    Msh,
    /// Legacy VTK `.vtk` with an unstructured grid, as text or binary.
    Vtk,
    /// VTK XML `.vtu`, as text or inline base64, not compressed.
    Vtu,
    /// Nodes of TetGen, `.node`.
    Node,
    /// Elements of TetGen, `.ele`.
    Ele,
}

impl TetraFormat {
    /// Returns the format for the extension of a file name.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "msh" => Some(Self::Msh),
            "vtk" => Some(Self::Vtk),
            "vtu" => Some(Self::Vtu),
            "node" => Some(Self::Node),
            "ele" => Some(Self::Ele),
            _ => None,
        }
    }
}

/// Bytes of a file of tetrahedra.
#[derive(Clone, Copy, Debug)]
pub enum TetraSource<'a> {
    /// A Gmsh file.
    Msh(&'a [u8]),
    /// A legacy VTK file.
    Vtk(&'a [u8]),
    /// A VTU file.
    Vtu(&'a [u8]),
    /// The two files of TetGen.
    Tetgen {
        /// The `.node` file.
        nodes: &'a [u8],
        /// The `.ele` file.
        elements: &'a [u8],
    },
}

/// Imported tetrahedral mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct TetraImport {
    /// Mesh in the order of the file.
    pub mesh: TetraMesh,
    /// Quality of the mesh, and repairs made to it.
    pub quality: TetraQuality,
}

/// Reads a file of tetrahedra, by the extension of its name.
///
/// Of TetGen's two files either may be named; the other must be beside it. Elements of higher order become linear
/// ones, elements of lower dimension are ignored. Inverted elements are reoriented, and unused nodes are removed.
/// Lengths are taken as metres.
pub fn read(path: &Path) -> Result<TetraImport, ImportError> {
    let kind = FileKind::Tetra;
    let format = TetraFormat::of_path(path).ok_or_else(|| ImportError::UnknownFormat { kind, path: path.into() })?;
    let import = match format {
        TetraFormat::Msh => read_bytes(TetraSource::Msh(&kind.read(path)?)),
        TetraFormat::Vtk => read_bytes(TetraSource::Vtk(&kind.read(path)?)),
        TetraFormat::Vtu => read_bytes(TetraSource::Vtu(&kind.read(path)?)),
        TetraFormat::Node | TetraFormat::Ele => {
            let nodes = kind.read(&path.with_extension("node"))?;
            let elements = kind.read(&path.with_extension("ele"))?;
            read_bytes(TetraSource::Tetgen { nodes: &nodes, elements: &elements })
        }
    };
    import.map_err(|source| ImportError::File { kind, path: path.into(), source: Box::new(source) })
}

/// Reads tetrahedra from the bytes of a file, as [`read`] does.
pub fn read_bytes(source: TetraSource) -> Result<TetraImport, ImportError> {
    let raw = match source {
        TetraSource::Msh(bytes) => gmsh::parse(bytes)?,
        TetraSource::Vtk(bytes) => vtk::parse(bytes)?,
        TetraSource::Vtu(bytes) => vtu::parse(bytes)?,
        TetraSource::Tetgen { nodes, elements } => tetgen::parse(nodes, elements)?,
    };
    Ok(raw.finish()?)
}

#[cfg(test)]
mod damage;
#[cfg(test)]
mod tests;
