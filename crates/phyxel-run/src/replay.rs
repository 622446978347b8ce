//! Replay of a finished run.
//!
//! A run stores no frames, which would be too large, but the origin of its initial state. The simulation is
//! deterministic, so its frames are recomputed; each is compared with its line in the frame log.

use crate::error::{FileError, ReplayError, ResumeError, RunError};
use crate::folder::{OverwritePolicy, RunFolder};
use crate::frame_log::FrameLine;
use crate::progress::{Progress, ProgressObserver};
use crate::record::RunRecord;
use crate::sink::Sink;
use crate::sink::export::{ExportContext, ExportFormat};
use phyxel::{World, parallel};
use phyxel_scene::{BuildOptions, Scene};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Finished or interrupted run whose frames can be recomputed.
pub struct Replay {
    /// Scene of the run.
    pub scene: Scene,
    folder: RunFolder,
    world: World,
    frames: u32,
}

/// Options of a replay.
#[derive(Clone, Debug, Default)]
pub struct ReplayOptions {
    /// First frame passed to the sinks.
    pub first: u32,
    /// Last frame passed to the sinks; the last of the run if `None`.
    pub last: Option<u32>,
    /// Threads; all cores if `None`.
    pub threads: Option<usize>,
    /// Ends the replay after the current frame if set.
    pub stop: Arc<AtomicBool>,
}

impl Replay {
    /// Reads the record of a run and rebuilds its initial world. Writes nothing.
    pub fn open(folder: &Path, max_particles: Option<usize>) -> Result<Self, RunError> {
        let folder = RunFolder::new(folder);
        let record = folder.inspect(OverwritePolicy::Resume).map_err(|error| match error {
            RunError::Resume(ResumeError::NoRun { folder }) => ReplayError::NoRun { folder }.into(),
            other => other,
        })?;
        let record = record.ok_or_else(|| ReplayError::NoRun { folder: folder.path().to_path_buf() })?;
        let scene = load_scene(&record, folder.path())?;
        let max_particles = max_particles.unwrap_or(BuildOptions::default().max_particles);
        let options = BuildOptions { seed: Some(record.seed), max_particles };
        let world = scene.build(&options)?.world;
        let rebuilt = RunRecord::new(&scene.name, record.seed, &[], &[], &world);
        if rebuilt.world != record.world {
            return Err(ReplayError::SceneMismatch { folder: folder.path().to_path_buf(), scene: record.scene }.into());
        }
        let frames = count_frames(&folder.frames())?;
        Ok(Self { scene, folder, world, frames })
    }

    /// Number of the last frame.
    pub fn last_frame(&self) -> u32 {
        self.frames.saturating_sub(1)
    }

    /// Creates sinks in the export folders of the run, after removing files of earlier frames.
    pub fn export_sinks(&self, exports: &[ExportFormat]) -> Result<Vec<Box<dyn Sink>>, RunError> {
        let folder = self.folder.path();
        let context = ExportContext { frame_rate: self.scene.frame_rate, title: self.scene.title.clone() };
        for export in exports {
            export.remove_frames_from(folder, 0).map_err(RunError::Prepare)?;
            export.create_folder(folder)?;
        }
        Ok(exports.iter().map(|export| export.sink(folder, &context)).collect())
    }

    /// Passes the frames to sinks, in order, and finishes them. Returns false if interrupted before the last frame.
    pub fn play(
        self,
        mut sinks: Vec<Box<dyn Sink>>,
        options: &ReplayOptions,
        progress: &mut dyn ProgressObserver,
    ) -> Result<bool, RunError> {
        parallel::with_threads(options.threads, move || {
            let completed = self.play_in_pool(&mut sinks, options, progress)?;
            sinks.iter_mut().try_for_each(|sink| sink.finish())?;
            Ok(completed)
        })
    }

    fn play_in_pool(
        mut self,
        sinks: &mut [Box<dyn Sink>],
        options: &ReplayOptions,
        progress: &mut dyn ProgressObserver,
    ) -> Result<bool, RunError> {
        let path = self.folder.frames();
        let unreadable = |source| RunError::Prepare(FileError::new("read", &path, source));
        let mut lines = BufReader::new(File::open(&path).map_err(unreadable)?);
        let last = options.last.unwrap_or(u32::MAX).min(self.last_frame());
        let start = Instant::now();
        let progress_of = |world: &World| Progress {
            frame: world.frames(),
            frames: last,
            first_frame: 0,
            time: world.time(),
            steps: world.steps(),
            wall_seconds: start.elapsed().as_secs_f64(),
        };
        progress.begin(&progress_of(&self.world));
        let mut line = Vec::new();
        while !options.stop.load(Ordering::Relaxed) {
            let frame = self.world.frame();
            line.clear();
            lines.read_until(b'\n', &mut line).map_err(unreadable)?;
            if FrameLine::from(&frame).to_bytes() != line {
                return Err(ReplayError::FrameMismatch { path, frame: frame.index }.into());
            }
            if frame.index >= options.first {
                sinks.iter_mut().try_for_each(|sink| sink.write_frame(&frame))?;
            }
            progress.update(&progress_of(&self.world));
            if frame.index >= last {
                progress.end(&progress_of(&self.world));
                return Ok(true);
            }
            self.world.advance_frame().map_err(|source| ReplayError::Step { frame: frame.index, source })?;
        }
        progress.end(&progress_of(&self.world));
        Ok(false)
    }
}

/// Loads the scene of a run from its file, or the built-in one.
fn load_scene(record: &RunRecord, folder: &Path) -> Result<Scene, RunError> {
    let name: PathBuf = record.source.clone().unwrap_or_else(|| PathBuf::from(&record.scene));
    let split = |setting: &String| {
        let (path, value) = setting.split_once('=').unwrap_or((setting, ""));
        (path.to_string(), value.to_string())
    };
    let overrides: Vec<(String, String)> = record.overrides.iter().map(split).collect();
    let lost = |source| ReplayError::SceneUnavailable { folder: folder.to_path_buf(), scene: name.clone(), source };
    Ok(Scene::load(&name.to_string_lossy(), &overrides).map_err(lost)?)
}

/// Counts complete lines.
fn count_frames(path: &Path) -> Result<u32, RunError> {
    let unreadable = |source| RunError::Prepare(FileError::new("read", path, source));
    let mut reader = BufReader::new(File::open(path).map_err(unreadable)?);
    let (mut count, mut line) = (0, Vec::new());
    loop {
        line.clear();
        reader.read_until(b'\n', &mut line).map_err(unreadable)?;
        if line.last() != Some(&b'\n') {
            break;
        }
        count += 1;
    }
    if count == 0 {
        return Err(ReplayError::NoFrames { path: path.to_path_buf() }.into());
    }
    Ok(count)
}
