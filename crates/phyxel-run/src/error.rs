//! Errors around a simulation: files, folders, checkpoints and sinks.

use phyxel::CheckpointError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A file or folder could not be read or written.
#[derive(Debug)]
pub struct FileError {
    /// Failed operation: "create", "write", "read", ..
    pub action: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// Bytes written before the error, if known.
    pub bytes: Option<u64>,
    /// Error of the operating system.
    pub source: io::Error,
}

impl FileError {
    /// Error of `action` on `path`.
    pub fn new(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self { action, path: path.into(), bytes: None, source }
    }

    /// Adds the number of bytes written before the error.
    #[must_use]
    pub fn after_bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// Replaces the path.
    #[must_use]
    pub(crate) fn with_path(mut self, path: &Path) -> Self {
        self.path = path.to_path_buf();
        self
    }

    fn remedy(&self) -> &'static str {
        match self.source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::WriteZero => {
                "the disk is full: free some space, then continue with --resume"
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "it is not writable: choose another path, or change its permissions"
            }
            io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory | io::ErrorKind::AlreadyExists => {
                "a file is where a folder is needed, or the reverse: choose another path"
            }
            io::ErrorKind::NotFound if self.action != "read" => "create the folder first, or choose another path",
            io::ErrorKind::NotFound => "check the path",
            _ => "check the disk and the path, then continue with --resume",
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cannot {} \"{}\"", self.action, self.path.display())?;
        if let Some(bytes) = self.bytes {
            write!(out, " after {bytes} bytes")?;
        }
        write!(out, ": {}; {}", self.source, self.remedy())
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// A sink failed to write a frame.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SinkError {
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Error of a sink of another crate.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

/// A run cannot be written to this folder. Nothing was written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FolderError {
    /// It already contains a run.
    #[error(
        "\"{folder}\" already contains a run of \"{scene}\"; resume it with --resume, replace it with --force, \
         or choose another folder with -o"
    )]
    ContainsRun {
        /// The folder.
        folder: PathBuf,
        /// Scene of the existing run.
        scene: String,
    },
    /// It contains files that are not those of a run.
    #[error(
        "\"{folder}\" is not empty and not a run of phyxel (it contains \"{example}\"); choose a new or empty folder \
         with -o"
    )]
    NotARun {
        /// The folder.
        folder: PathBuf,
        /// Name of one of them.
        example: String,
    },
    /// It is a file.
    #[error("\"{folder}\" is a file, not a folder; choose another path with -o")]
    NotAFolder {
        /// The path.
        folder: PathBuf,
    },
    /// The extra report cannot be written.
    #[error("cannot write the report to \"{path}\": {reason}; give a file in a folder that exists to --report")]
    ReportPath {
        /// Requested file.
        path: PathBuf,
        /// Reason.
        reason: &'static str,
    },
}

/// A run cannot be resumed. Nothing was written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// There is no run.
    #[error("there is no run to resume in \"{folder}\"; start one without --resume, or name its folder with -o")]
    NoRun {
        /// The folder.
        folder: PathBuf,
    },
    /// The run has no checkpoint.
    #[error("the run in \"{folder}\" has no checkpoint; start again with --force")]
    NoCheckpoint {
        /// The folder.
        folder: PathBuf,
    },
    /// The run record is invalid.
    #[error("\"{path}\" is not the description of a run ({reason}); start again in another folder")]
    BadRecord {
        /// The file.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// The run is of another scene, or of the same scene with other settings.
    #[error(
        "\"{folder}\" contains a run of {found}, but this is {requested}; resume with the scene, seed and settings \
         it was started with, or choose another folder with -o"
    )]
    SceneMismatch {
        /// The folder.
        folder: PathBuf,
        /// Scene, seed and settings of the existing run.
        found: String,
        /// Requested scene, seed and settings.
        requested: String,
    },
    /// The checkpoint is invalid.
    #[error("cannot resume from \"{path}\": {source}")]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// Reason.
        source: CheckpointError,
    },
    /// The checkpoint is valid, but does not belong to the frames of this run.
    #[error(
        "\"{path}\" is not the checkpoint of this run: its frame {frame} differs from that of frames.jsonl; put the \
         right one back, or start again with --force"
    )]
    CheckpointMismatch {
        /// The file.
        path: PathBuf,
        /// Frame of the checkpoint.
        frame: u32,
    },
    /// Frames before the checkpoint are missing or damaged.
    #[error(
        "\"{path}\" should contain frames 0 to {needed} but line {line} is {reason}; the run cannot be resumed, \
         start again with --force"
    )]
    Frames {
        /// The file.
        path: PathBuf,
        /// Frame of the checkpoint.
        needed: u32,
        /// Number of the faulty line, from 1.
        line: u64,
        /// Reason.
        reason: &'static str,
    },
}

/// The frames of a run cannot be reproduced.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// There is no run.
    #[error("there is no run in \"{folder}\"; give the folder that `phyxel run` wrote to")]
    NoRun {
        /// The folder.
        folder: PathBuf,
    },
    /// It has no frames.
    #[error("\"{path}\" contains no frame; run the scene again")]
    NoFrames {
        /// The file.
        path: PathBuf,
    },
    /// Its scene cannot be read.
    #[error(
        "the frames of \"{folder}\" are recomputed from its scene \"{scene}\", which cannot be read: {source}; \
         put it back where it was"
    )]
    SceneUnavailable {
        /// The folder.
        folder: PathBuf,
        /// File or name of the scene.
        scene: PathBuf,
        /// Reason.
        source: phyxel_scene::LoadError,
    },
    /// Its scene has changed.
    #[error(
        "the frames of \"{folder}\" are recomputed from its scene \"{scene}\", which has changed since; restore it, or \
         run it again"
    )]
    SceneMismatch {
        /// The folder.
        folder: PathBuf,
        /// Name of the scene.
        scene: String,
    },
    /// A recomputed frame differs from the frame log.
    #[error(
        "frame {frame} differs from its line in \"{path}\": the run was made by another version of the program, or the \
         file has changed; run the scene again"
    )]
    FrameMismatch {
        /// The file.
        path: PathBuf,
        /// The frame.
        frame: u32,
    },
    /// A step failed.
    #[error("after frame {frame}: {source}")]
    Step {
        /// The last valid frame.
        frame: u32,
        /// Error of the step.
        source: phyxel::StepError,
    },
}

/// A run failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The scene cannot be built.
    #[error(transparent)]
    Scene(#[from] phyxel_scene::BuildError),
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// It cannot be resumed.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// Its frames cannot be reproduced.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A file could not be read or written before the first frame.
    #[error(transparent)]
    Prepare(FileError),
    /// A checkpoint, a report or the frame log could not be written.
    #[error(transparent)]
    File(FileError),
    /// A sink failed to write a frame.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

impl RunError {
    /// Returns true if the request was invalid and no result was written.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::File(_) | Self::Sink(_))
    }
}
