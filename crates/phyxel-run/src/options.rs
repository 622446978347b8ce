//! Options of a run beside its scene.

use crate::folder::OverwritePolicy;
use crate::sink::Sink;
use crate::sink::export::ExportFormat;
use phyxel_scene::BuildOptions;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Interval of checkpoints, in addition to those at the start and at the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheckpointInterval {
    /// Number of frames.
    pub frames: Option<u32>,
    /// Wall-clock time, s.
    pub seconds: Option<f64>,
}

impl Default for CheckpointInterval {
    fn default() -> Self {
        Self { frames: None, seconds: Some(10.0) }
    }
}

impl CheckpointInterval {
    /// Returns true if a checkpoint is due, `frames` and `seconds` after the last one.
    pub(crate) fn is_due(&self, frames: u32, seconds: f64) -> bool {
        self.frames.is_some_and(|limit| frames >= limit) || self.seconds.is_some_and(|limit| seconds >= limit)
    }
}

/// Options of a run in a folder.
#[derive(Default)]
pub struct RunOptions {
    /// Folder of the run; created if missing.
    pub folder: PathBuf,
    /// Policy for an existing run.
    pub overwrite: OverwritePolicy,
    /// Export formats of each frame.
    pub exports: Vec<ExportFormat>,
    /// Additional sinks.
    pub sinks: Vec<Box<dyn Sink>>,
    /// Second path of the report.
    pub extra_report: Option<PathBuf>,
    /// Frames to simulate instead of the scene's duration.
    pub frames: Option<u32>,
    /// Threads; all cores if `None`.
    pub threads: Option<usize>,
    /// Limits and seed of the world.
    pub build: BuildOptions,
    /// Overrides of scene values, to rebuild the scene later.
    pub overrides: Vec<(String, String)>,
    /// Scene file, to rebuild the scene later; `None` for a built-in scene.
    pub source: Option<PathBuf>,
    /// Interval of checkpoints.
    pub checkpoints: CheckpointInterval,
    /// Ends the run after the current frame if set.
    pub stop: Arc<AtomicBool>,
}

impl fmt::Debug for RunOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RunOptions")
            .field("folder", &self.folder)
            .field("overwrite", &self.overwrite)
            .field("exports", &self.exports)
            .field("frames", &self.frames)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// Options of a run without files.
#[derive(Default)]
pub struct MemoryOptions {
    /// Frames to simulate instead of the scene's duration.
    pub frames: Option<u32>,
    /// Threads; all cores if `None`.
    pub threads: Option<usize>,
    /// Limits and seed of the world.
    pub build: BuildOptions,
    /// Sinks of the frames.
    pub sinks: Vec<Box<dyn Sink>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_due_by_frames_or_by_time() {
        let both = CheckpointInterval { frames: Some(5), seconds: Some(10.0) };
        assert!(!both.is_due(4, 9.9) && both.is_due(5, 0.0) && both.is_due(0, 10.0));
        assert!(!CheckpointInterval { frames: None, seconds: None }.is_due(u32::MAX, 1.0e9));
    }
}
