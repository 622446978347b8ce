//! What can go wrong between a run and its plots.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The plots of a run could not be drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlotError {
    /// There is no such folder.
    #[error("there is no folder \"{folder}\"; name the folder of a run, the one given to -o")]
    NoFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder holds no run.
    #[error("\"{folder}\" is not the folder of a run: it has no frames.jsonl; name the folder given to -o")]
    NotARun {
        /// The folder.
        folder: PathBuf,
    },
    /// A line cannot be understood.
    #[error(
        "\"{path}\" line {line} is not the report of a frame: {source}; repair or remove the line, or run the scene again"
    )]
    BadLine {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: u64,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The report cannot be understood.
    #[error(
        "\"{path}\" is not the report of a run: {source}; remove it to draw without stage times, or run the scene again"
    )]
    BadReport {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A file or folder could not be read or written.
    #[error("cannot {action} \"{path}\": {source}; {}", remedy(action, source))]
    File {
        /// What was tried: "read", "create", "write".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A drawing could not be turned into pixels.
    #[error("cannot paint \"{path}\": {what}; the .svg of the same name may still be drawn by another program")]
    Rasterize {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        what: String,
    },
}

impl PlotError {
    /// `action` on `path` failed.
    pub(crate) fn file(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File { action, path: path.to_path_buf(), source }
    }
}

fn remedy(action: &str, source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::WriteZero => {
            "the disk is full: free some space, or choose another place"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem if action == "read" => {
            "it is not readable: change its permissions"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "it is not writable: choose another place, or change its permissions"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory | io::ErrorKind::AlreadyExists => {
            "a file is where a folder is needed, or the reverse: choose another place"
        }
        _ => "check the disk and the path",
    }
}
