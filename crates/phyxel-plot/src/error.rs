//! Errors of plotting.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Error of plotting a run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The folder does not exist.
    #[error("there is no folder \"{folder}\"; name the folder of a run, the one given to -o")]
    NoFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder contains no run.
    #[error("\"{folder}\" is not the folder of a run: it has no frames.jsonl; name the folder given to -o")]
    NotARun {
        /// The folder.
        folder: PathBuf,
    },
    /// A line of the frame log is invalid.
    #[error(
        "\"{path}\" line {line} is not the report of a frame: {source}; repair or remove the line, or run the \
         scene again"
    )]
    BadLine {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: u64,
        /// Reason.
        source: serde_json::Error,
    },
    /// The report is invalid.
    #[error(
        "\"{path}\" is not the report of a run: {source}; remove it to draw without stage times, or run the scene again"
    )]
    BadReport {
        /// The file.
        path: PathBuf,
        /// Reason.
        source: serde_json::Error,
    },
    /// A file or folder could not be read or written.
    #[error("cannot {action} \"{path}\": {source}; {}", remedy(action, source))]
    File {
        /// Failed operation: "read", "create", "write".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A plot could not be rasterized.
    #[error("cannot rasterize \"{path}\": {reason}; the .svg of the same name may still be opened by another program")]
    Rasterize {
        /// The file.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
}

impl PlotError {
    /// Error of `action` on `path`.
    pub(crate) fn file(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File { action, path: path.to_path_buf(), source }
    }
}

fn remedy(action: &str, source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::WriteZero => {
            "the disk is full: free some space, or choose another path"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem if action == "read" => {
            "it is not readable: change its permissions"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "it is not writable: choose another path, or change its permissions"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory | io::ErrorKind::AlreadyExists => {
            "a file is where a folder is needed, or the reverse: choose another path"
        }
        _ => "check the disk and the path",
    }
}
