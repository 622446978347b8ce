//! Report of a run, `report.json`.

use crate::atomic_file::replace_file;
use crate::error::FileError;
use crate::expect::Finding;
use phyxel::frame::{BodyReport, Totals};
use phyxel::{Settings, StageTimes};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::path::Path;

/// Status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// In progress, or killed.
    Running,
    /// The last frame was reached.
    Done,
    /// Interrupted; the run can be resumed.
    Interrupted,
    /// A step failed, or files could not be written.
    Failed,
}

/// Wall-clock time by stage, in the order of the step, s.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageSeconds(pub Vec<(String, f64)>);

impl StageSeconds {
    /// Adds the times of a frame.
    pub fn add(&mut self, times: &StageTimes) {
        for (name, seconds) in times.iter() {
            match self.0.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum)) => *sum += seconds,
                None => self.0.push((name.to_string(), seconds)),
            }
        }
    }

    /// Reads the times of an earlier report; 0 for missing stages.
    fn from_report(report: &Value) -> Self {
        let mut stages = Self::default();
        stages.add(&StageTimes::default());
        for (name, seconds) in &mut stages.0 {
            *seconds = report["stages"][name.as_str()].as_f64().unwrap_or(0.0);
        }
        stages
    }
}

impl Serialize for StageSeconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, seconds)| (name, seconds)))
    }
}

/// Report of a run, in SI units.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Version of phyxel.
    pub phyxel: String,
    /// Name of the scene.
    pub scene: String,
    /// Title of the scene.
    pub scene_title: String,
    /// Status of the run.
    pub status: Status,
    /// Error, after a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Seed of everything random.
    pub seed: u64,
    /// Number of threads.
    pub threads: usize,
    /// Number of the last frame.
    pub frames: u32,
    /// Number of steps since the start.
    pub steps: u64,
    /// Simulated time, s.
    pub simulated_seconds: f64,
    /// Wall-clock time of all sessions together, s.
    pub wall_seconds: f64,
    /// Hash of the final state, independent of the number of threads and of interruptions; after a failure, that of
    /// the last valid step.
    pub state_hash: String,
    /// Wall-clock time by stage of the step, s.
    pub stages: StageSeconds,
    /// Settings of the world.
    pub settings: Settings,
    /// Totals of the world in the last frame.
    pub totals: Totals,
    /// Bodies in the last frame.
    pub bodies: Vec<BodyReport>,
    /// Results of the scene's expectations.
    pub expectations: Vec<Finding>,
    /// Warnings.
    pub warnings: Vec<String>,
}

impl Report {
    /// Writes the report as JSON, atomically.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        replace_file(path, |writer| {
            serde_json::to_writer_pretty(&mut *writer, self)?;
            writer.write_all(b"\n")
        })
    }

    /// Iterates over the expectations that were not met.
    pub fn failed_expectations(&self) -> impl Iterator<Item = &Finding> {
        self.expectations.iter().filter(|finding| finding.passed == Some(false))
    }
}

/// Wall-clock time of all sessions of a run so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TimeUsed {
    pub wall_seconds: f64,
    pub stages: StageSeconds,
}

impl TimeUsed {
    /// Reads the times of the report of an interrupted run; zero if there is none.
    pub fn from_report(path: &Path) -> Self {
        let report = std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        report.map_or_else(Self::default, |report| Self {
            wall_seconds: report["wall_seconds"].as_f64().unwrap_or(0.0),
            stages: StageSeconds::from_report(&report),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_an_earlier_session_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        std::fs::write(&path, r#"{ "wall_seconds": 2.5, "stages": { "check": 0.5, "unknown": 9.0 } }"#).unwrap();
        let time_used = TimeUsed::from_report(&path);
        assert_eq!(time_used.wall_seconds, 2.5);
        let sum: f64 = time_used.stages.0.iter().map(|(_, seconds)| seconds).sum();
        assert_eq!(sum, 0.5);
        assert_eq!(TimeUsed::from_report(&folder.path().join("none")), TimeUsed::default());
    }

    #[test]
    fn stages_are_written_in_the_order_of_the_step() {
        let mut stages = StageSeconds::default();
        stages.add(&StageTimes::default());
        let text = serde_json::to_string(&stages).unwrap();
        let order = ["apply_commands", "find_neighbours", "exert_forces", "check"].map(|name| text.find(name));
        assert!(order.is_sorted() && order[0].is_some(), "{text}");
    }
}
