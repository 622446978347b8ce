//! `run.json`: what a run is of, so that it is resumed only by the same.

use crate::durable::replace_file;
use crate::error::{FileError, ResumeError};
use crate::sink::sequence::Export;
use phyxel::World;
use phyxel::checkpoint;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// Version of the folder's layout.
const FORMAT: u32 = 1;

/// What a run is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of the folder's layout.
    pub format: u32,
    /// Version of the program that started it.
    pub phyxel: String,
    /// Name of the scene.
    pub scene: String,
    /// Seed of everything random.
    pub seed: u64,
    /// Settings given beside the scene, as `path=value`.
    pub overrides: Vec<String>,
    /// Hash of the whole world before the first step: it covers text, meshes, seed and settings, but neither
    /// the duration nor comments, so a run can be made longer.
    pub world: String,
    /// Files made of each frame.
    pub exports: Vec<Export>,
    /// The scene file; `None` for a built-in scene.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<PathBuf>,
}

impl RunRecord {
    /// Of a world before its first step.
    pub(crate) fn new(
        scene: &str,
        seed: u64,
        overrides: &[(String, String)],
        exports: &[Export],
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
        let bad = |what: String| ResumeError::BadRecord { path: path.to_path_buf(), what };
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

    /// Refuses a run of anything else.
    pub(crate) fn require_same(&self, asked: &Self, folder: &Path) -> Result<(), ResumeError> {
        if self.world == asked.world && self.seed == asked.seed {
            return Ok(());
        }
        let (there, mut here) = (self.to_string(), asked.to_string());
        if there == here {
            here.push_str(" as it is now: the scene file has changed since");
        }
        Err(ResumeError::OtherScene { folder: folder.to_path_buf(), there, here })
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
            exports: vec![Export::Ply],
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
    fn a_run_of_another_scene_is_told_apart() {
        let folder = Path::new("runs/pile");
        assert!(record(3, "ab").require_same(&record(3, "ab"), folder).is_ok());
        let seeds = record(3, "ab").require_same(&record(4, "ab"), folder).unwrap_err().to_string();
        assert!(seeds.contains("seed 3") && seeds.contains("seed 4") && seeds.contains("gravity=[0,0,0]"), "{seeds}");
        let text = record(3, "ab").require_same(&record(3, "cd"), folder).unwrap_err().to_string();
        assert!(text.contains("has changed since"), "{text}");
    }

    #[test]
    fn what_is_not_a_record_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        fs::write(&path, b"{ \"format\": 99 }").unwrap();
        assert!(RunRecord::read(&path).unwrap_err().to_string().contains("run.json"));
    }
}
