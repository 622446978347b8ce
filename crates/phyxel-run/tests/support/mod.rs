//! The scene and the observer of runs that tests share.
// Each test file uses only some of these.
#![allow(dead_code)]

use phyxel_run::{Progress, ProgressObserver};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A cube that falls on a floor. The tests of the program include it, too.
pub const CUBE: &str = include_str!("falling_cube.toml");

/// Interrupts a run after a frame, if one is given.
pub struct Stopper {
    pub after: Option<u32>,
    pub stop: Arc<AtomicBool>,
}

impl ProgressObserver for Stopper {
    fn update(&mut self, progress: &Progress) {
        if self.after.is_some_and(|frame| progress.frame >= frame) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}
