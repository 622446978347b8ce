//! What can go wrong around a simulation: files, folders, checkpoints of other runs.

use phyxel::CheckpointError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A file or folder could not be read or written.
#[derive(Debug)]
pub struct FileError {
    /// What was tried: "create", "write", "read", ..
    pub action: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// Bytes of it that had been written, where known.
    pub bytes: Option<u64>,
    /// What the system said.
    pub source: io::Error,
}

impl FileError {
    /// `action` on `path` failed.
    pub fn new(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self { action, path: path.into(), bytes: None, source }
    }

    /// The same, after this many bytes.
    #[must_use]
    pub fn after_bytes(mut self, bytes: u64) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// The same, told of another path.
    #[must_use]
    pub(crate) fn about(mut self, path: &Path) -> Self {
        self.path = path.to_path_buf();
        self
    }

    fn remedy(&self) -> &'static str {
        match self.source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::WriteZero => {
                "the disk is full: free some space, then go on with --resume"
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                "it is not writable: choose another place, or change its permissions"
            }
            io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory | io::ErrorKind::AlreadyExists => {
                "a file is where a folder is needed, or the reverse: choose another place"
            }
            io::ErrorKind::NotFound if self.action != "read" => "create the folder first, or choose another place",
            io::ErrorKind::NotFound => "check the path",
            _ => "check the disk and the path, then go on with --resume",
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

/// A sink could not take a frame.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SinkError {
    /// A file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Anything a sink of another crate has to say.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

/// A folder cannot take this run. Nothing was written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FolderError {
    /// It holds a run already.
    #[error(
        "\"{folder}\" already holds a run of \"{scene}\"; go on with it by --resume, replace it by --force, \
         or choose another folder with -o"
    )]
    Taken {
        /// The folder.
        folder: PathBuf,
        /// Scene of the run that is there.
        scene: String,
    },
    /// It holds something that is not a run.
    #[error(
        "\"{folder}\" is not empty and not a run of phyxel (it holds \"{example}\"); choose a new or empty folder with -o"
    )]
    NotARun {
        /// The folder.
        folder: PathBuf,
        /// Name of something in it.
        example: String,
    },
    /// It is a file.
    #[error("\"{folder}\" is a file, not a folder; choose another place with -o")]
    NotAFolder {
        /// The path.
        folder: PathBuf,
    },
    /// The further report has nowhere to go.
    #[error("cannot write the report to \"{path}\": {reason}; give a file in a folder that exists to --report")]
    ReportPlace {
        /// The file asked for.
        path: PathBuf,
        /// What is wrong with it.
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
    /// The description of the run cannot be understood.
    #[error("\"{path}\" is not the description of a run ({what}); start again in another folder")]
    BadRecord {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        what: String,
    },
    /// The run is of another scene, or of the same with other settings.
    #[error(
        "\"{folder}\" holds a run of {there}, but this is {here}; resume with the scene, seed and settings it was \
         started with, or choose another folder with -o"
    )]
    OtherScene {
        /// The folder.
        folder: PathBuf,
        /// Scene, seed and settings of the run that is there.
        there: String,
        /// Scene, seed and settings asked for.
        here: String,
    },
    /// The checkpoint cannot be used.
    #[error("cannot resume from \"{path}\": {source}")]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: CheckpointError,
    },
    /// The checkpoint is whole, but not of the frames that are there.
    #[error(
        "\"{path}\" is not the checkpoint of this run: its frame {frame} differs from that of frames.jsonl; put the \
         right one back, or start again with --force"
    )]
    OtherCheckpoint {
        /// The file.
        path: PathBuf,
        /// Its frame.
        frame: u32,
    },
    /// Frames before the checkpoint are missing or damaged.
    #[error(
        "\"{path}\" should hold frames 0 to {needed} but line {line} is {what}; the run cannot go on seamlessly, \
         start again with --force"
    )]
    Frames {
        /// The file.
        path: PathBuf,
        /// Frame of the checkpoint.
        needed: u32,
        /// Line at fault, from 1.
        line: u64,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// The frames of a run cannot be seen again.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// There is no run.
    #[error("there is no run in \"{folder}\"; give the folder that `phyxel run` wrote to")]
    NoRun {
        /// The folder.
        folder: PathBuf,
    },
    /// It has no frame.
    #[error("\"{path}\" holds no frame; run the scene again")]
    NoFrames {
        /// The file.
        path: PathBuf,
    },
    /// Its scene cannot be read any more.
    #[error(
        "the frames of \"{folder}\" are made again from its scene \"{scene}\", which cannot be used: {source}; \
         put it back where it was"
    )]
    LostScene {
        /// The folder.
        folder: PathBuf,
        /// File or name of the scene.
        scene: PathBuf,
        /// What is wrong with it.
        source: phyxel_scene::LoadError,
    },
    /// Its scene has changed.
    #[error(
        "the frames of \"{folder}\" are made again from its scene \"{scene}\", which has changed since; put it back as \
         it was, or run it again"
    )]
    OtherScene {
        /// The folder.
        folder: PathBuf,
        /// Name of the scene.
        scene: String,
    },
    /// The frame is not what it was.
    #[error(
        "frame {frame} comes out differently from what \"{path}\" says of it: the run was made by another version of \
         the program, or the file has changed; run the scene again"
    )]
    Differs {
        /// The file.
        path: PathBuf,
        /// The frame.
        frame: u32,
    },
    /// A step failed.
    #[error("after frame {frame}: {source}")]
    Step {
        /// The last good frame.
        frame: u32,
        /// What went wrong.
        source: phyxel::StepError,
    },
}

/// A run could not be made or kept.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The scene does not make a world.
    #[error(transparent)]
    Scene(#[from] phyxel_scene::BuildError),
    /// The folder cannot take it.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// It cannot be resumed.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// Its frames cannot be seen again.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A file could not be read or written before the first frame.
    #[error(transparent)]
    Prepare(FileError),
    /// A checkpoint, a report or the list of frames could not be written.
    #[error(transparent)]
    File(FileError),
    /// A sink could not take a frame.
    #[error(transparent)]
    Sink(#[from] SinkError),
}

impl RunError {
    /// Whether the request was at fault and no result was written.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::File(_) | Self::Sink(_))
    }
}
