//! Progress of a run, and its observers.

/// Progress of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Current frame, from the start of the scene.
    pub frame: u32,
    /// Last frame.
    pub frames: u32,
    /// First frame since the start or resumption; 0 unless the run was resumed.
    pub first_frame: u32,
    /// Simulated time, s.
    pub time: f64,
    /// Steps since then.
    pub steps: u64,
    /// Wall-clock time since then, s.
    pub wall_seconds: f64,
}

impl Progress {
    /// Steps per second of wall-clock time; 0 before the first.
    pub fn steps_per_second(&self) -> f64 {
        if self.wall_seconds > 0.0 { self.steps as f64 / self.wall_seconds } else { 0.0 }
    }

    /// Estimated wall-clock time to the end, from the mean time per frame so far, s.
    pub fn seconds_remaining(&self) -> Option<f64> {
        let done = self.frame.saturating_sub(self.first_frame);
        let remaining = self.frames.saturating_sub(self.frame);
        (done > 0).then(|| self.wall_seconds / f64::from(done) * f64::from(remaining))
    }
}

/// Observer of the progress of a run.
pub trait ProgressObserver: Send {
    /// Called before the first frame.
    fn begin(&mut self, _progress: &Progress) {}

    /// Called after each frame.
    fn update(&mut self, _progress: &Progress) {}

    /// Called at the end, also after a failure.
    fn end(&mut self, _progress: &Progress) {}
}

/// Observer that ignores everything.
impl ProgressObserver for () {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remaining_time_is_estimated_from_this_session_only() {
        let progress = Progress { frame: 60, frames: 100, first_frame: 50, time: 2.0, steps: 40, wall_seconds: 5.0 };
        assert_eq!(progress.seconds_remaining(), Some(20.0));
        assert_eq!(progress.steps_per_second(), 8.0);
        assert_eq!(Progress { frame: 50, ..progress }.seconds_remaining(), None);
    }
}
