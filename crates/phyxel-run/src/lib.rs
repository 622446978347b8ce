//! Simulation driver and output sinks.
//!
//! [`Run`] simulates a scene into a folder. It passes every frame to its [`Sink`]s, writes checkpoints, can be
//! interrupted and resumed with bitwise identical results, and evaluates the expectations of the scene.
//! [`run_scene_in_memory`] does the same without files. The crate prints nothing.

mod atomic_file;
pub mod bench;
mod driver;
pub mod error;
pub mod expect;
pub mod folder;
pub mod frame_log;
pub mod options;
pub mod progress;
pub mod record;
pub mod replay;
pub mod report;
mod run;
pub mod sink;
#[cfg(test)]
mod test_frames;

pub use driver::{Ending, Outcome};
pub use error::{FileError, FolderError, ReplayError, ResumeError, RunError, SinkError};
pub use expect::Finding;
pub use folder::{OverwritePolicy, RunFolder};
pub use options::{CheckpointInterval, MemoryOptions, RunOptions};
pub use progress::{Progress, ProgressObserver};
pub use replay::{Replay, ReplayOptions};
pub use report::{Report, Status};
pub use run::{Run, run_scene_in_memory};
pub use sink::export::{ExportContext, ExportFormat, UnknownFormat};
pub use sink::pictures::{PICTURE_FOLDER, PictureOptions, PictureSink, VIDEO_FILE};
pub use sink::{MemorySink, NullSink, Sink};
