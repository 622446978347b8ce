//! How far a run is, for those who wait.

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Advance {
    /// Frames since the start of the scene.
    pub frame: u32,
    /// Frames at the end.
    pub frames: u32,
    /// Frame at which the program took the run up; 0 unless it was resumed.
    pub first_frame: u32,
    /// Simulated time, s.
    pub time: f64,
    /// Steps since then.
    pub steps: u64,
    /// Wall-clock time since then, s.
    pub wall: f64,
}

impl Advance {
    /// Steps per second of wall-clock time; 0 before the first.
    pub fn steps_per_second(&self) -> f64 {
        if self.wall > 0.0 { self.steps as f64 / self.wall } else { 0.0 }
    }

    /// Wall-clock time to the end at the mean pace so far, s.
    pub fn seconds_left(&self) -> Option<f64> {
        let done = self.frame.saturating_sub(self.first_frame);
        let left = self.frames.saturating_sub(self.frame);
        (done > 0).then(|| self.wall / f64::from(done) * f64::from(left))
    }
}

/// Is told how far a run is.
pub trait Progress: Send {
    /// The run begins.
    fn begin(&mut self, _advance: &Advance) {}

    /// A frame is done.
    fn frame(&mut self, _advance: &Advance) {}

    /// The run is over, in whatever way.
    fn end(&mut self, _advance: &Advance) {}
}

/// Tells nobody.
impl Progress for () {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_counts_only_frames_of_this_session() {
        let advance = Advance { frame: 60, frames: 100, first_frame: 50, time: 2.0, steps: 40, wall: 5.0 };
        assert_eq!(advance.seconds_left(), Some(20.0));
        assert_eq!(advance.steps_per_second(), 8.0);
        assert_eq!(Advance { frame: 50, ..advance }.seconds_left(), None);
    }
}
