//! The driver of a simulation and the sinks its frames go to.
//!
//! [`Run`] takes a scene to its end inside a folder: it shows every frame to its [`Sink`]s, keeps checkpoints,
//! can be stopped and resumed to the same bits, and reports whether the scene's expectations came true.
//! [`run_scene_in_memory`] does the same without files. The crate prints nothing.

pub mod bench;
mod drive;
mod durable;
pub mod error;
pub mod expect;
pub mod folder;
pub mod lines;
pub mod options;
pub mod progress;
pub mod record;
pub mod replay;
pub mod report;
mod run;
#[cfg(test)]
mod sample;
pub mod sink;

pub use drive::{Ending, Outcome};
pub use error::{FileError, FolderError, ReplayError, ResumeError, RunError, SinkError};
pub use expect::Finding;
pub use folder::{Claim, RunFolder};
pub use options::{CheckpointInterval, MemoryOptions, RunOptions};
pub use progress::{Advance, Progress};
pub use replay::{Replay, ReplayOptions};
pub use report::{Report, Status};
pub use run::{Run, run_scene_in_memory};
pub use sink::pictures::{FILM, PICTURES, PictureOptions, PictureSink};
pub use sink::sequence::{Export, ExportContext, UnknownExport};
pub use sink::{MemorySink, NullSink, Sink};
