//! Reading tetrahedra from files and from memory.

mod gmsh;
mod raw;
mod scalar;
mod scanner;
mod tetgen;
mod vtk;
mod vtu;

use super::{Quality, TetraError, TetraMesh};
use std::{fmt, fs, io, path::Path};

/// File formats of tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
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

impl Format {
    /// The format that the ending of a file name says.
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

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Msh => "Gmsh",
            Self::Vtk => "VTK",
            Self::Vtu => "VTU",
            Self::Node => "TetGen .node",
            Self::Ele => "TetGen .ele",
        })
    }
}

/// The bytes of a file of tetrahedra.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
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

/// Tetrahedra from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The tetrahedra, in the order of the file.
    pub mesh: TetraMesh,
    /// How good they are, and what had to be done to them.
    pub quality: Quality,
}

/// Reads a file of tetrahedra; the ending of its name says the format.
///
/// Of TetGen's two files either may be named; the other must be beside it. Elements of higher order become plain ones,
/// elements of lower dimension are passed over. Elements that are inside out are turned, and nodes that no element
/// uses are dropped. Lengths are taken as metres.
pub fn read(path: &Path) -> Result<Reading, TetraError> {
    let format = Format::of_path(path).ok_or_else(|| TetraError::UnknownFormat { path: path.into() })?;
    let reading = match format {
        Format::Msh => read_bytes(Source::Msh(&read_file(path)?)),
        Format::Vtk => read_bytes(Source::Vtk(&read_file(path)?)),
        Format::Vtu => read_bytes(Source::Vtu(&read_file(path)?)),
        Format::Node | Format::Ele => {
            let nodes = read_file(&path.with_extension("node"))?;
            let elements = read_file(&path.with_extension("ele"))?;
            read_bytes(Source::Tetgen { nodes: &nodes, elements: &elements })
        }
    };
    reading.map_err(|source| TetraError::File { path: path.into(), source: Box::new(source) })
}

/// Reads tetrahedra from the bytes of a file, as [`read`] does.
pub fn read_bytes(source: Source) -> Result<Reading, TetraError> {
    let raw = match source {
        Source::Msh(bytes) => gmsh::parse(bytes)?,
        Source::Vtk(bytes) => vtk::parse(bytes)?,
        Source::Vtu(bytes) => vtu::parse(bytes)?,
        Source::Tetgen { nodes, elements } => tetgen::parse(nodes, elements)?,
    };
    raw.finish()
}

fn read_file(path: &Path) -> Result<Vec<u8>, TetraError> {
    fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => TetraError::Missing { path: path.into() },
        _ => TetraError::Unreadable { path: path.into(), source },
    })
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
