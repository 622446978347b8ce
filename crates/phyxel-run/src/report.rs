//! `report.json`: what a run came to.

use crate::durable::replace_file;
use crate::error::FileError;
use crate::expect::Finding;
use phyxel::frame::{BodyReport, Totals};
use phyxel::{Settings, StageTimes};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::path::Path;

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It is under way, or was ended from outside without a chance to say so.
    Running,
    /// It reached its end.
    Done,
    /// It was stopped and can go on.
    Interrupted,
    /// It cannot go on.
    Failed,
}

/// Wall-clock seconds by stage of the step, in the order of the step.
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

    /// The times an earlier report tells, stage by stage; nothing where it tells none.
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

/// What a run came to. Units as in the scene file: SI.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Version of the program.
    pub phyxel: String,
    /// Name of the scene.
    pub scene: String,
    /// Its title.
    pub scene_title: String,
    /// How far the run came.
    pub status: Status,
    /// Why it cannot go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Seed of everything random.
    pub seed: u64,
    /// Threads used.
    pub threads: usize,
    /// Frames since the start.
    pub frames: u32,
    /// Steps since the start.
    pub steps: u64,
    /// Simulated time, s.
    pub simulated_seconds: f64,
    /// Wall-clock time of all sessions together, s.
    pub wall_seconds: f64,
    /// Hash of the state, the same for any number of threads and for a resumed run; after a failure, that of the
    /// last good step.
    pub state_hash: String,
    /// Wall-clock seconds by stage of the step.
    pub stages: StageSeconds,
    /// Settings of the world.
    pub settings: Settings,
    /// Sums over the world at the last frame.
    pub totals: Totals,
    /// Bodies at the last frame.
    pub bodies: Vec<BodyReport>,
    /// What the scene expects, and whether it came so.
    pub expectations: Vec<Finding>,
    /// What is odd but no error.
    pub warnings: Vec<String>,
}

impl Report {
    /// Writes it as JSON, in one move.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        replace_file(path, |writer| {
            serde_json::to_writer_pretty(&mut *writer, self)?;
            writer.write_all(b"\n")
        })
    }

    /// Expectations that did not come true.
    pub fn disappointments(&self) -> impl Iterator<Item = &Finding> {
        self.expectations.iter().filter(|finding| finding.passed == Some(false))
    }
}

/// Time spent on a run so far, in all sessions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    pub wall: f64,
    pub stages: StageSeconds,
}

impl Spent {
    /// What the report of an interrupted run tells; nothing if there is none.
    pub fn from_report(path: &Path) -> Self {
        let report = std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        report.map_or_else(Self::default, |report| Self {
            wall: report["wall_seconds"].as_f64().unwrap_or(0.0),
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
        std::fs::write(&path, r#"{ "wall_seconds": 2.5, "stages": { "check": 0.5, "unheard_of": 9.0 } }"#).unwrap();
        let spent = Spent::from_report(&path);
        assert_eq!(spent.wall, 2.5);
        let sum: f64 = spent.stages.0.iter().map(|(_, seconds)| seconds).sum();
        assert_eq!(sum, 0.5);
        assert_eq!(Spent::from_report(&folder.path().join("none")), Spent::default());
    }

    #[test]
    fn stages_are_told_in_the_order_of_the_step() {
        let mut stages = StageSeconds::default();
        stages.add(&StageTimes::default());
        let text = serde_json::to_string(&stages).unwrap();
        let order = ["apply_commands", "find_neighbours", "exert_forces", "check"].map(|name| text.find(name));
        assert!(order.is_sorted() && order[0].is_some(), "{text}");
    }
}
