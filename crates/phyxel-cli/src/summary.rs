//! Summary of a run, as text.

use phyxel_run::{Ending, Outcome, Report};
use std::fmt::Write;
use std::path::Path;

/// Summary: files, size and expectations of a run.
pub(crate) fn run_summary(outcome: &Outcome, video: Option<&Path>) -> String {
    let report = &outcome.report;
    let mut text = format!("{} ({}): {}\n", report.scene, report.scene_title, ending(&outcome.ending));
    if let Some(folder) = &outcome.folder {
        add_line(&mut text, "files", &folder.display().to_string());
    }
    if let Some(video) = video {
        add_line(&mut text, "video", &video.display().to_string());
    }
    let counts = report.totals.particles;
    add_line(&mut text, "frames", &format!("{}, {:.3} s simulated", report.frames, report.simulated_seconds));
    add_line(
        &mut text,
        "steps",
        &format!("{} in {:.1} s on {} threads", report.steps, report.wall_seconds, report.threads),
    );
    add_line(&mut text, "particles", &format!("{} solid, {} fluid, {} gas", counts.solid, counts.fluid, counts.gas));
    add_line(&mut text, "state", &report.state_hash);
    add_expectations(&mut text, report);
    text.truncate(text.trim_end().len());
    text
}

fn ending(ending: &Ending) -> &'static str {
    match ending {
        Ending::Done => "done",
        Ending::AlreadyDone => "was already done, nothing was changed",
        Ending::Interrupted => "interrupted",
        Ending::Failed(_) => "failed",
    }
}

fn add_expectations(text: &mut String, report: &Report) {
    if report.expectations.is_empty() {
        return;
    }
    let count = |passed| report.expectations.iter().filter(|finding| finding.passed == passed).count();
    let (met, failed, open) = (count(Some(true)), count(Some(false)), count(None));
    add_line(text, "expected", &format!("{met} met, {failed} not met, {open} not evaluated"));
    for finding in report.failed_expectations() {
        let location = finding.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        add_line(text, "", &format!("{location}{}", finding.message));
    }
}

fn add_line(text: &mut String, label: &str, value: &str) {
    let _ = writeln!(text, "  {label:<10} {value}");
}
