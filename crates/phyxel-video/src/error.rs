//! What can go wrong with films and pictures.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A film or a picture could not be written. The target is then as it was before.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FilmError {
    /// The format cannot hold pictures of this size.
    #[error(
        "\"{path}\" cannot hold pictures of {width} x {height} pixels; choose sides from 16 up, at most 3840 the longer \
         and 2160 the shorter one"
    )]
    Size {
        /// The film.
        path: PathBuf,
        /// Pixels.
        width: u32,
        /// Pixels.
        height: u32,
    },
    /// The frame rate is not usable.
    #[error("\"{path}\" cannot have a frame rate of {rate} pictures per second; choose one from 0.01 to 1000")]
    FrameRate {
        /// The film.
        path: PathBuf,
        /// Pictures per second.
        rate: f64,
    },
    /// A picture does not have the size it should have.
    #[error(
        "picture {number} of \"{path}\" has {found} bytes instead of {expected}; give width x height x 3 bytes, red, \
         green and blue of each pixel"
    )]
    Picture {
        /// The file.
        path: PathBuf,
        /// Number of the picture, from 0.
        number: u32,
        /// Bytes needed.
        expected: u64,
        /// Bytes given.
        found: u64,
    },
    /// A file could not be written.
    #[error("cannot {action} \"{path}\": {source}; {}", remedy(source))]
    File {
        /// What was tried: "create", "write", "replace".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The encoder refused a picture.
    #[error(
        "the H.264 encoder refused picture {number} of \"{path}\": {source}; try another size, or write single pictures"
    )]
    Encoder {
        /// The film.
        path: PathBuf,
        /// Number of the picture, from 0.
        number: u32,
        /// What the encoder said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A film needs pictures.
    #[error("\"{path}\" got no picture, so there is no film; push at least one before finishing")]
    Empty {
        /// The film.
        path: PathBuf,
    },
    /// An earlier picture failed, so what follows cannot be right.
    #[error("\"{path}\" cannot go on after an earlier error; make the film again")]
    Broken {
        /// The film.
        path: PathBuf,
    },
}

impl FilmError {
    /// `action` on `path` failed.
    pub(crate) fn file(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File { action, path: path.to_path_buf(), source }
    }
}

fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::WriteZero => {
            "the disk is full: free some space, or choose another place"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "it is not writable: choose another place, or change its permissions"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory | io::ErrorKind::AlreadyExists => {
            "a file is where a folder is needed, or the reverse: choose another place"
        }
        io::ErrorKind::NotFound => "create the folder first, or choose another place",
        _ => "check the disk and the path",
    }
}
