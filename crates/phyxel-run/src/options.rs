//! What a caller can say about a run beside its scene.

use crate::folder::Claim;
use crate::sink::Sink;
use crate::sink::sequence::Export;
use phyxel_scene::BuildOptions;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// When checkpoints are written, beside the one at the start and the one at the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheckpointInterval {
    /// After this many frames.
    pub frames: Option<u32>,
    /// After this much wall-clock time, s.
    pub seconds: Option<f64>,
}

impl Default for CheckpointInterval {
    fn default() -> Self {
        Self { frames: None, seconds: Some(10.0) }
    }
}

impl CheckpointInterval {
    /// Whether the next one is due, `frames` and `seconds` after the last.
    pub(crate) fn is_due(&self, frames: u32, seconds: f64) -> bool {
        self.frames.is_some_and(|limit| frames >= limit) || self.seconds.is_some_and(|limit| seconds >= limit)
    }
}

/// What a caller can say about a run that goes into a folder.
#[derive(Default)]
pub struct RunOptions {
    /// Folder of the run; made if it is not there.
    pub folder: PathBuf,
    /// What may happen to a run that is already there.
    pub claim: Claim,
    /// Files to make of each frame.
    pub exports: Vec<Export>,
    /// Further sinks.
    pub sinks: Vec<Box<dyn Sink>>,
    /// A second place for the report.
    pub report: Option<PathBuf>,
    /// Frames to simulate instead of the scene's duration.
    pub frames: Option<u32>,
    /// Threads; all cores if `None`.
    pub threads: Option<usize>,
    /// Limits and seed for making the world.
    pub build: BuildOptions,
    /// What was changed in the scene, to make it again.
    pub overrides: Vec<(String, String)>,
    /// The scene file, to make it again; `None` for a built-in scene.
    pub source: Option<PathBuf>,
    /// When checkpoints are written.
    pub checkpoints: CheckpointInterval,
    /// Set it to end the run after the frame at work.
    pub stop: Arc<AtomicBool>,
}

impl fmt::Debug for RunOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RunOptions")
            .field("folder", &self.folder)
            .field("claim", &self.claim)
            .field("exports", &self.exports)
            .field("frames", &self.frames)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// What a caller can say about a run without files.
#[derive(Default)]
pub struct MemoryOptions {
    /// Frames to simulate instead of the scene's duration.
    pub frames: Option<u32>,
    /// Threads; all cores if `None`.
    pub threads: Option<usize>,
    /// Limits and seed for making the world.
    pub build: BuildOptions,
    /// Where the frames go.
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
