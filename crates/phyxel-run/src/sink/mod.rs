//! Output sinks: consumers of frames. A sink receives frames one by one and stores none longer than necessary.

mod appearance;
pub mod bgeo;
pub mod export;
pub mod glb;
pub mod obj;
mod obstacles;
pub mod pictures;
pub mod ply;
pub mod usd;
pub mod vtk;

use crate::error::SinkError;
use phyxel::Frame;
use std::sync::{Arc, Mutex, PoisonError};

/// Consumer of the frames of a run, in order.
///
/// In a resumed run, sinks receive only the frames after the checkpoint.
pub trait Sink: Send {
    /// Writes a frame.
    fn write_frame(&mut self, frame: &Frame) -> Result<(), SinkError>;

    /// Syncs all frames so far to disk; called before each checkpoint.
    fn sync(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    /// Completes the output. No frame follows, but the run may be resumed later.
    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Sink that discards every frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullSink;

impl Sink for NullSink {
    fn write_frame(&mut self, _frame: &Frame) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Sink that stores frames in memory. Clones share the frames, so that one clone can be moved into a run.
#[derive(Clone, Debug, Default)]
pub struct MemorySink {
    frames: Arc<Mutex<Vec<Frame>>>,
}

impl MemorySink {
    /// Removes and returns the frames so far.
    pub fn take(&self) -> Vec<Frame> {
        std::mem::take(&mut *self.frames.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Sink for MemorySink {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner).push(frame.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_of_the_memory_sink_share_their_frames() {
        let reader = MemorySink::default();
        let mut writer = reader.clone();
        for index in 0..3 {
            writer.write_frame(&Frame { index, ..Frame::default() }).unwrap();
        }
        assert_eq!(reader.take().iter().map(|frame| frame.index).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(reader.take().is_empty());
    }
}
