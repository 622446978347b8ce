//! Showing how far a run is: a bar on a terminal, a line every few seconds elsewhere.

use crate::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use phyxel_run::{Advance, Progress};
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

/// Time between two lines where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// The way of showing progress that fits where the error stream goes.
pub(crate) fn watcher(silent: bool) -> Box<dyn Progress> {
    match (silent, stderr().is_terminal()) {
        (true, _) => Box::new(()),
        (false, true) => Box::new(Bar::new()),
        (false, false) => Box::new(Lines { told: Instant::now() }),
    }
}

/// A bar that is drawn over and over.
struct Bar {
    bar: ProgressBar,
}

impl Bar {
    fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {msg}") {
            bar.set_style(style);
        }
        Self { bar }
    }
}

impl Progress for Bar {
    fn begin(&mut self, advance: &Advance) {
        self.bar.set_length(u64::from(advance.frames));
        self.bar.set_position(u64::from(advance.frame));
    }

    fn frame(&mut self, advance: &Advance) {
        self.bar.set_position(u64::from(advance.frame));
        self.bar.set_message(sentence(advance));
    }

    fn end(&mut self, _advance: &Advance) {
        self.bar.finish_and_clear();
    }
}

/// A line now and then.
struct Lines {
    told: Instant,
}

impl Progress for Lines {
    fn frame(&mut self, advance: &Advance) {
        if self.told.elapsed() >= BETWEEN_LINES {
            self.told = Instant::now();
            say::to_stderr(&sentence(advance));
        }
    }
}

fn sentence(advance: &Advance) -> String {
    let left = advance.seconds_left().map_or_else(|| "?".to_string(), clock);
    format!(
        "frame {}/{}, {:.2} s simulated in {}, {:.0} steps/s, {left} left",
        advance.frame,
        advance.frames,
        advance.time,
        clock(advance.wall),
        advance.steps_per_second(),
    )
}

/// Seconds as a clock shows them: `0:07`, `12:34`, `1:02:03`.
fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_read_as_people_write_them() {
        assert_eq!([7.2, 754.0, 3723.0].map(clock), ["0:07", "12:34", "1:02:03"]);
    }

    #[test]
    fn a_line_of_progress_says_all_there_is() {
        let advance = Advance { frame: 60, frames: 100, first_frame: 50, time: 2.0, steps: 40, wall: 5.0 };
        assert_eq!(sentence(&advance), "frame 60/100, 2.00 s simulated in 0:05, 8 steps/s, 0:20 left");
    }
}
