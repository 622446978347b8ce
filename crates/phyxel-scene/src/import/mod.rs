//! Import of meshes from files and from memory: triangles by [`mesh`], tetrahedra by [`tetra`].
//!
//! Nothing in a file is trusted: sizes are checked against the available bytes before memory is allocated.

mod base64;
mod error;
#[cfg(test)]
mod fuzz;
pub mod mesh;
mod scalar;
mod scanner;
pub mod tetra;

pub use error::{FileKind, ImportError};

use std::{fs, io, path::Path};

impl FileKind {
    /// Reads the bytes of a file.
    fn read(self, path: &Path) -> Result<Vec<u8>, ImportError> {
        fs::read(path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => ImportError::Missing { kind: self, path: path.into() },
            _ => ImportError::Unreadable { kind: self, path: path.into(), source },
        })
    }
}
