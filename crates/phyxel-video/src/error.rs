//! Errors of writing videos and pictures.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Error of writing a video or a picture. The target file is then unchanged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VideoError {
    /// The encoder does not support this resolution.
    #[error(
        "\"{path}\" cannot have pictures of {width} x {height} pixels; choose sides from 16 up, \
         at most 3840 the longer and 2160 the shorter one"
    )]
    Size {
        /// The video.
        path: PathBuf,
        /// Pixels.
        width: u32,
        /// Pixels.
        height: u32,
    },
    /// The frame rate is out of range.
    #[error("\"{path}\" cannot have a frame rate of {rate} pictures per second; choose one from 0.01 to 1000")]
    FrameRate {
        /// The video.
        path: PathBuf,
        /// Pictures per second.
        rate: f64,
    },
    /// The bytes of a picture do not match the resolution.
    #[error(
        "picture {index} of \"{path}\" has {found} bytes instead of {expected}; give width x height x 3 bytes, red, \
         green and blue of each pixel"
    )]
    Picture {
        /// The file.
        path: PathBuf,
        /// Index of the picture, from 0.
        index: u32,
        /// Bytes of a picture of this resolution.
        expected: u64,
        /// Bytes of the given picture.
        found: u64,
    },
    /// A file could not be written.
    #[error("cannot {action} \"{path}\": {source}; {}", remedy(source))]
    File {
        /// Operation that failed: "create", "write" or "replace".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The encoder failed.
    #[error(
        "the H.264 encoder refused picture {index} of \"{path}\": {source}; try another size, or write single pictures"
    )]
    Encoder {
        /// The video.
        path: PathBuf,
        /// Index of the picture, from 0.
        index: u32,
        /// Error of the encoder.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A video needs pictures.
    #[error("\"{path}\" has no pictures, so there is no video; add at least one before finishing")]
    Empty {
        /// The video.
        path: PathBuf,
    },
    /// An earlier picture failed, so later ones cannot be decoded.
    #[error("\"{path}\" cannot go on after an earlier error; make the video again")]
    Failed {
        /// The video.
        path: PathBuf,
    },
}

impl VideoError {
    /// Creates the error of a failed `action` on `path`.
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
