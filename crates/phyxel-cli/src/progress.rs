//! Progress display: a bar on a terminal, else a line every few seconds.

use crate::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use phyxel_run::{Progress, ProgressObserver};
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

/// Time between two lines where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// Selects the display for the error stream.
pub(crate) fn observer(silent: bool) -> Box<dyn ProgressObserver> {
    match (silent, stderr().is_terminal()) {
        (true, _) => Box::new(()),
        (false, true) => Box::new(BarDisplay::new()),
        (false, false) => Box::new(LineDisplay { printed: Instant::now() }),
    }
}

/// Progress bar.
struct BarDisplay {
    bar: ProgressBar,
}

impl BarDisplay {
    fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {msg}") {
            bar.set_style(style);
        }
        Self { bar }
    }
}

impl ProgressObserver for BarDisplay {
    fn begin(&mut self, progress: &Progress) {
        self.bar.set_length(u64::from(progress.frames));
        self.bar.set_position(u64::from(progress.frame));
    }

    fn update(&mut self, progress: &Progress) {
        self.bar.set_position(u64::from(progress.frame));
        self.bar.set_message(status_line(progress));
    }

    fn end(&mut self, _progress: &Progress) {
        self.bar.finish_and_clear();
    }
}

/// Periodic status lines.
struct LineDisplay {
    printed: Instant,
}

impl ProgressObserver for LineDisplay {
    fn update(&mut self, progress: &Progress) {
        if self.printed.elapsed() >= BETWEEN_LINES {
            self.printed = Instant::now();
            output::print_error(&status_line(progress));
        }
    }
}

fn status_line(progress: &Progress) -> String {
    let remaining = progress.seconds_remaining().map_or_else(|| "?".to_string(), format_duration);
    format!(
        "frame {}/{}, {:.2} s simulated in {}, {:.0} steps/s, {remaining} left",
        progress.frame,
        progress.frames,
        progress.time,
        format_duration(progress.wall_seconds),
        progress.steps_per_second(),
    )
}

/// Formats seconds as `0:07`, `12:34` or `1:02:03`.
fn format_duration(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_formatted_as_on_a_clock() {
        assert_eq!([7.2, 754.0, 3723.0].map(format_duration), ["0:07", "12:34", "1:02:03"]);
    }

    #[test]
    fn a_status_line_has_frames_times_and_speed() {
        let progress = Progress { frame: 60, frames: 100, first_frame: 50, time: 2.0, steps: 40, wall_seconds: 5.0 };
        assert_eq!(status_line(&progress), "frame 60/100, 2.00 s simulated in 0:05, 8 steps/s, 0:20 left");
    }
}
