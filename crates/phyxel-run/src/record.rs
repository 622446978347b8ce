//! Run record `run.json`: origin of a run, by which a resumed run is checked.

use crate::atomic_file::replace_file;
use crate::error::{FileError, ResumeError};
use crate::sink::export::ExportFormat;
use phyxel::World;
use phyxel::checkpoint;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Version of the layout of a run folder.
const FORMAT: u32 = 1;

/// Origin of a run: scene, seed, overrides and initial state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of the layout of the folder.
    pub format: u32,
    /// Version of the program that started it.
    pub phyxel: String,
    /// Name of the scene.
    pub scene: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Overrides of scene values, as `path=value`.
    pub overrides: Vec<String>,
    /// Hash of the initial world. It covers scene values, meshes, seed and overrides, but not the duration, so that a
    /// run can be extended.
    pub world: String,
    /// Export formats of each frame.
    pub exports: Vec<ExportFormat>,
    /// Scene file; `None` for a built-in scene.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<PathBuf>,
}

impl RunRecord {
    /// Record of a run that starts from `world`.
    pub(crate) fn new(
        scene: &str,
        seed: u64,
        overrides: &[(String, String)],
        exports: &[ExportFormat],
        world: &World,
    ) -> Self {
        Self {
            format: FORMAT,
            phyxel: env!("CARGO_PKG_VERSION").to_string(),
            scene: scene.to_string(),
            seed,
            overrides: overrides.iter().map(|(path, value)| format!("{path}={value}")).collect(),
            world: format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&checkpoint::encode(world))),
            exports: exports.to_vec(),
            source: None,
        }
    }

    /// Reads `run.json`.
    pub(crate) fn read(path: &Path) -> Result<Self, ResumeError> {
        let bad = |reason: String| ResumeError::BadRecord { path: path.to_path_buf(), reason };
        let text = fs::read(path).map_err(|error| bad(error.to_string()))?;
        let record: Self = serde_json::from_slice(&text).map_err(|error| bad(error.to_string()))?;
        if record.format != FORMAT {
            return Err(bad(format!("it has format {}, this program knows format {FORMAT}", record.format)));
        }
        Ok(record)
    }

    /// Writes `run.json`.
    pub(crate) fn write(&self, path: &Path) -> Result<(), FileError> {
        replace_file(path, |writer| {
            serde_json::to_writer_pretty(&mut *writer, self)?;
            writer.write_all(b"\n")
        })
    }

    /// Checks that the requested run has the same scene, seed and settings.
    pub(crate) fn check_same_run(&self, requested: &Self, folder: &Path) -> Result<(), ResumeError> {
        if self.world == requested.world && self.seed == requested.seed {
            return Ok(());
        }
        let (found, mut described) = (self.to_string(), requested.to_string());
        if found == described {
            described.push_str(" as it is now: the scene file has changed since");
        }
        Err(ResumeError::SceneMismatch { folder: folder.to_path_buf(), found, requested: described })
    }
}

impl fmt::Display for RunRecord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "\"{}\" (seed {}", self.scene, self.seed)?;
        for setting in &self.overrides {
            write!(out, ", {setting}")?;
        }
        write!(out, ", phyxel {})", self.phyxel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(seed: u64, world: &str) -> RunRecord {
        RunRecord {
            format: FORMAT,
            phyxel: "0.1.0".into(),
            scene: "pile".into(),
            seed,
            overrides: vec!["gravity=[0,0,0]".into()],
            world: world.into(),
            exports: vec![ExportFormat::Ply],
            source: Some("scenes/pile.toml".into()),
        }
    }

    #[test]
    fn a_record_reads_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        record(3, "ab").write(&path).unwrap();
        assert_eq!(RunRecord::read(&path).unwrap(), record(3, "ab"));
    }

    #[test]
    fn a_run_of_another_scene_is_refused() {
        let folder = Path::new("runs/pile");
        assert!(record(3, "ab").check_same_run(&record(3, "ab"), folder).is_ok());
        let seeds = record(3, "ab").check_same_run(&record(4, "ab"), folder).unwrap_err().to_string();
        assert!(seeds.contains("seed 3") && seeds.contains("seed 4") && seeds.contains("gravity=[0,0,0]"), "{seeds}");
        let text = record(3, "ab").check_same_run(&record(3, "cd"), folder).unwrap_err().to_string();
        assert!(text.contains("has changed since"), "{text}");
    }

    #[test]
    fn an_invalid_record_is_refused_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        fs::write(&path, b"{ \"format\": 99 }").unwrap();
        assert!(RunRecord::read(&path).unwrap_err().to_string().contains("run.json"));
    }
}
