//! Where frames go. A sink takes one frame after the other and keeps none longer than it must.

pub mod bgeo;
pub mod glb;
mod look;
pub mod obj;
mod obstacles;
pub mod pictures;
pub mod ply;
pub mod sequence;
pub mod usd;
pub mod vtk;

use crate::error::SinkError;
use phyxel::Frame;
use std::sync::{Arc, Mutex, PoisonError};

/// Takes the frames of a run, in order.
///
/// A resumed run gives its sinks the frames after the checkpoint only.
pub trait Sink: Send {
    /// Takes a frame.
    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError>;

    /// Makes what was taken so far survive a crash; called before each checkpoint.
    fn secure(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    /// Ends the work. No frame comes after this, but the run may be resumed later.
    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Drops every frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct NullSink;

impl Sink for NullSink {
    fn frame(&mut self, _frame: &Frame) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Keeps every frame in memory. Clones share what they keep, so one can be given away and one be read.
#[derive(Clone, Debug, Default)]
pub struct MemorySink {
    frames: Arc<Mutex<Vec<Frame>>>,
}

impl MemorySink {
    /// Takes out the frames kept so far.
    pub fn take(&self) -> Vec<Frame> {
        std::mem::take(&mut *self.frames.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Sink for MemorySink {
    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner).push(frame.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_of_the_memory_sink_reads_what_the_other_took() {
        let reader = MemorySink::default();
        let mut writer = reader.clone();
        for index in 0..3 {
            writer.frame(&Frame { index, ..Frame::default() }).unwrap();
        }
        assert_eq!(reader.take().iter().map(|frame| frame.index).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(reader.take().is_empty());
    }
}
