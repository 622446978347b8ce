//! The last words of a run, for people.

use phyxel_run::{Ending, Outcome, Report};
use std::fmt::Write;
use std::path::Path;

/// Where the files are and what came out.
pub(crate) fn of(outcome: &Outcome, film: Option<&Path>) -> String {
    let report = &outcome.report;
    let mut text = format!("{} ({}): {}\n", report.scene, report.scene_title, ending(&outcome.ending));
    if let Some(folder) = &outcome.folder {
        line(&mut text, "files", &folder.display().to_string());
    }
    if let Some(film) = film {
        line(&mut text, "film", &film.display().to_string());
    }
    let counts = report.totals.particles;
    line(&mut text, "frames", &format!("{}, {:.3} s simulated", report.frames, report.simulated_seconds));
    line(
        &mut text,
        "steps",
        &format!("{} in {:.1} s on {} threads", report.steps, report.wall_seconds, report.threads),
    );
    line(&mut text, "particles", &format!("{} solid, {} fluid, {} gas", counts.solid, counts.fluid, counts.gas));
    line(&mut text, "state", &report.state_hash);
    expectations(&mut text, report);
    text.truncate(text.trim_end().len());
    text
}

fn ending(ending: &Ending) -> &'static str {
    match ending {
        Ending::Done => "done",
        Ending::AlreadyDone => "was done already, nothing was changed",
        Ending::Interrupted => "interrupted",
        Ending::Failed(_) => "failed",
    }
}

fn expectations(text: &mut String, report: &Report) {
    if report.expectations.is_empty() {
        return;
    }
    let count = |passed| report.expectations.iter().filter(|finding| finding.passed == passed).count();
    let (met, missed, open) = (count(Some(true)), count(Some(false)), count(None));
    line(text, "expected", &format!("{met} came true, {missed} did not, {open} not judged"));
    for finding in report.disappointments() {
        let place = finding.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        line(text, "", &format!("{place}{}", finding.says));
    }
}

fn line(text: &mut String, label: &str, value: &str) {
    let _ = writeln!(text, "  {label:<10} {value}");
}
