//! The frames of a finished run, once more.
//!
//! A run keeps no frames: they would fill disks. It keeps what it was made from, and the same scene gives the same
//! bits, so its frames are made again, and every one of them is compared with what `frames.jsonl` says of it.

use crate::error::{FileError, ReplayError, ResumeError, RunError};
use crate::folder::{Claim, RunFolder};
use crate::lines::FrameLine;
use crate::progress::{Advance, Progress};
use crate::record::RunRecord;
use crate::sink::Sink;
use crate::sink::sequence::{Export, ExportContext};
use phyxel::{World, parallel};
use phyxel_scene::{BuildOptions, Scene};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A finished or interrupted run whose frames can be seen again.
pub struct Replay {
    /// The scene it is of.
    pub scene: Scene,
    folder: RunFolder,
    world: World,
    frames: u32,
}

/// How a replay is made.
#[derive(Clone, Debug, Default)]
pub struct ReplayOptions {
    /// First frame that sinks are given.
    pub first: u32,
    /// Last frame that sinks are given; the last of the run if `None`.
    pub last: Option<u32>,
    /// Threads; all cores if `None`.
    pub threads: Option<usize>,
    /// Set it to end the replay after the frame at work.
    pub stop: Arc<AtomicBool>,
}

impl Replay {
    /// Reads what a run was made from and makes its world again. Writes nothing.
    pub fn open(folder: &Path, max_particles: Option<usize>) -> Result<Self, RunError> {
        let folder = RunFolder::new(folder);
        let record = folder.inspect(Claim::Resume).map_err(|error| match error {
            RunError::Resume(ResumeError::NoRun { folder }) => ReplayError::NoRun { folder }.into(),
            other => other,
        })?;
        let record = record.ok_or_else(|| ReplayError::NoRun { folder: folder.path().to_path_buf() })?;
        let scene = load_scene(&record, folder.path())?;
        let most = max_particles.unwrap_or(BuildOptions::default().max_particles);
        let options = BuildOptions { seed: Some(record.seed), max_particles: most };
        let world = scene.build(&options)?.world;
        let now = RunRecord::new(&scene.name, record.seed, &[], &[], &world);
        if now.world != record.world {
            return Err(ReplayError::OtherScene { folder: folder.path().to_path_buf(), scene: record.scene }.into());
        }
        let frames = count_frames(&folder.frames())?;
        Ok(Self { scene, folder, world, frames })
    }

    /// Number of the last frame.
    pub fn last_frame(&self) -> u32 {
        self.frames.saturating_sub(1)
    }

    /// Makes the folders of exports ready inside that of the run; what they held of frames goes.
    pub fn export_sinks(&self, exports: &[Export]) -> Result<Vec<Box<dyn Sink>>, RunError> {
        let folder = self.folder.path();
        let context = ExportContext { frame_rate: self.scene.frame_rate, title: self.scene.title.clone() };
        for export in exports {
            export.remove_from(folder, 0).map_err(RunError::Prepare)?;
            export.make_folder(folder)?;
        }
        Ok(exports.iter().map(|export| export.sink(folder, &context)).collect())
    }

    /// Gives frames to sinks, in order, and ends their work. False if it was stopped before the last one.
    pub fn play(
        self,
        mut sinks: Vec<Box<dyn Sink>>,
        options: &ReplayOptions,
        progress: &mut dyn Progress,
    ) -> Result<bool, RunError> {
        parallel::with_threads(options.threads, move || {
            let done = self.play_here(&mut sinks, options, progress)?;
            sinks.iter_mut().try_for_each(|sink| sink.finish())?;
            Ok(done)
        })
    }

    fn play_here(
        mut self,
        sinks: &mut [Box<dyn Sink>],
        options: &ReplayOptions,
        progress: &mut dyn Progress,
    ) -> Result<bool, RunError> {
        let path = self.folder.frames();
        let unreadable = |source| RunError::Prepare(FileError::new("read", &path, source));
        let mut lines = BufReader::new(File::open(&path).map_err(unreadable)?);
        let last = options.last.unwrap_or(u32::MAX).min(self.last_frame());
        let began = Instant::now();
        let advance = |world: &World| Advance {
            frame: world.frames(),
            frames: last,
            first_frame: 0,
            time: world.time(),
            steps: world.steps(),
            wall: began.elapsed().as_secs_f64(),
        };
        progress.begin(&advance(&self.world));
        let mut line = Vec::new();
        while !options.stop.load(Ordering::Relaxed) {
            let frame = self.world.frame();
            line.clear();
            lines.read_until(b'\n', &mut line).map_err(unreadable)?;
            if FrameLine::from(&frame).to_bytes() != line {
                return Err(ReplayError::Differs { path, frame: frame.index }.into());
            }
            if frame.index >= options.first {
                sinks.iter_mut().try_for_each(|sink| sink.frame(&frame))?;
            }
            progress.frame(&advance(&self.world));
            if frame.index >= last {
                progress.end(&advance(&self.world));
                return Ok(true);
            }
            self.world.advance_frame().map_err(|source| ReplayError::Step { frame: frame.index, source })?;
        }
        progress.end(&advance(&self.world));
        Ok(false)
    }
}

/// The scene of a run, from where it was or from the built-in ones.
fn load_scene(record: &RunRecord, folder: &Path) -> Result<Scene, RunError> {
    let name: PathBuf = record.source.clone().unwrap_or_else(|| PathBuf::from(&record.scene));
    let split = |setting: &String| {
        let (path, value) = setting.split_once('=').unwrap_or((setting, ""));
        (path.to_string(), value.to_string())
    };
    let overrides: Vec<(String, String)> = record.overrides.iter().map(split).collect();
    let lost = |source| ReplayError::LostScene { folder: folder.to_path_buf(), scene: name.clone(), source };
    Ok(Scene::load(&name.to_string_lossy(), &overrides).map_err(lost)?)
}

/// Number of whole lines.
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
