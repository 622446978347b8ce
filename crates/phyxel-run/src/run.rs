//! Run in a folder: validated existing anything is written, resumable after an interrupt at any time.

use crate::driver::{Driver, Ending, Outcome, RunHeader, RunOutput, Session};
use crate::error::{FileError, ResumeError, RunError};
use crate::expect::ExpectationChecker;
use crate::folder::{RunFolder, check_report_path};
use crate::frame_log::{FrameLine, FrameLog, read_lines_until};
use crate::options::{MemoryOptions, RunOptions};
use crate::progress::ProgressObserver;
use crate::record::RunRecord;
use crate::report::TimeUsed;
use crate::sink::Sink;
use crate::sink::export::{ExportContext, ExportFormat};
use crate::sink::pictures;
use phyxel::{World, checkpoint, parallel};
use phyxel_scene::{BuildOptions, Scene};
use std::fs;
use std::io;
use std::path::Path;

/// Prepared run.
pub struct Run {
    world: World,
    header: RunHeader,
    checker: ExpectationChecker,
    scene_frames: u32,
    record: RunRecord,
    folder: RunFolder,
    context: ExportContext,
    /// For a resumed run, length of the valid part of the frame log, bytes.
    kept_bytes: Option<u64>,
    options: RunOptions,
}

impl Run {
    /// Validates scene, folder and checkpoint, and builds the world. Writes nothing.
    pub fn prepare(scene: &Scene, options: RunOptions) -> Result<Self, RunError> {
        if let Some(path) = &options.extra_report {
            check_report_path(path)?;
        }
        let folder = RunFolder::new(&options.folder);
        let existing = folder.inspect(options.overwrite)?;
        let (world, header) = build(scene, &options.build, options.threads)?;
        let record = RunRecord {
            source: options.source.clone(),
            ..RunRecord::new(&scene.name, header.seed, &options.overrides, &options.exports, &world)
        };
        let run = Self {
            world,
            header,
            checker: ExpectationChecker::new(&scene.expectations, scene.frame_rate),
            scene_frames: scene.frames(),
            record,
            folder,
            context: ExportContext { frame_rate: scene.frame_rate, title: scene.title.clone() },
            kept_bytes: None,
            options,
        };
        match existing {
            Some(record) => run.resume(record),
            None => Ok(run),
        }
    }

    /// Adds a sink.
    pub fn add_sink(&mut self, sink: Box<dyn Sink>) {
        self.options.sinks.push(sink);
    }

    /// Path of the folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Number of the last frame.
    pub fn frames(&self) -> u32 {
        self.options.frames.unwrap_or(self.scene_frames)
    }

    /// First frame; 0 unless the run is resumed.
    pub fn first_frame(&self) -> u32 {
        self.world.frames()
    }

    /// Warnings about the scene.
    pub fn warnings(&self) -> &[String] {
        &self.header.warnings
    }

    /// Simulates to the end, an interrupt or a failure. Keeps everything up to the last valid frame.
    pub fn execute(self, progress: &mut dyn ProgressObserver) -> Result<Outcome, RunError> {
        let threads = self.options.threads;
        parallel::with_threads(threads, move || self.execute_in_pool(progress))
    }

    fn execute_in_pool(self, progress: &mut dyn ProgressObserver) -> Result<Outcome, RunError> {
        let is_done = self.kept_bytes.is_some() && self.world.frames() >= self.frames();
        let sinks = if is_done { Vec::new() } else { self.open_sinks()? };
        let last_frame = self.frames();
        let time_used =
            if self.kept_bytes.is_some() { TimeUsed::from_report(&self.folder.report()) } else { TimeUsed::default() };
        let options = self.options;
        let output = RunOutput {
            folder: self.folder,
            extra_report: options.extra_report,
            checkpoint_interval: options.checkpoints,
        };
        let driver = Driver {
            current: FrameLine::from(&self.world.frame()),
            session: Session::begin(&self.world),
            world: self.world,
            header: self.header,
            last_frame,
            scene_frames: self.scene_frames,
            sinks: sinks.into_iter().chain(options.sinks).collect(),
            checker: self.checker,
            output: Some(output),
            stop: options.stop,
            time_used,
        };
        if is_done { Ok(driver.outcome(Ending::AlreadyDone)) } else { driver.run(progress) }
    }

    /// Replaces the initial world by that of the checkpoint.
    fn resume(mut self, existing: RunRecord) -> Result<Self, RunError> {
        existing.check_same_run(&self.record, self.folder.path())?;
        self.world = read_checkpoint(&self.folder)?;
        let last = self.world.frames();
        let (checker, mut last_line) = (&mut self.checker, Vec::new());
        let kept_bytes = read_lines_until(&self.folder.frames(), last, |line, value| {
            checker.observe(value.clone());
            last_line = line.to_vec();
        })?;
        self.check_checkpoint(&last_line)?;
        self.kept_bytes = Some(kept_bytes);
        self.merge_exports(&existing.exports);
        Ok(self)
    }

    /// Checks that the world of the checkpoint has the same log line as the last kept frame.
    fn check_checkpoint(&self, last_line: &[u8]) -> Result<(), ResumeError> {
        if FrameLine::from(&self.world.frame()).to_bytes() == last_line {
            return Ok(());
        }
        Err(ResumeError::CheckpointMismatch { path: self.folder.checkpoint(), frame: self.world.frames() })
    }

    /// Continues the exports of the existing run and adds new ones, which start new, with a warning.
    fn merge_exports(&mut self, existing: &[ExportFormat]) {
        let first = self.world.frames() + 1;
        for new in self.options.exports.iter().filter(|export| !existing.contains(export)) {
            self.header.warnings.push(format!("{new} files begin at frame {first}: the run started without them"));
        }
        let requested = std::mem::take(&mut self.options.exports);
        self.options.exports = existing.to_vec();
        self.options.exports.extend(requested.into_iter().filter(|export| !existing.contains(export)));
        self.record.exports.clone_from(&self.options.exports);
    }

    /// Prepares the folder and creates the sinks of frame log and exports.
    fn open_sinks(&self) -> Result<Vec<Box<dyn Sink>>, RunError> {
        let folder = self.folder.path();
        match self.kept_bytes {
            None => self.folder.prepare_new(&self.record)?,
            Some(_) => {
                self.record.write(&self.folder.record()).map_err(RunError::Prepare)?;
                pictures::remove_pictures_from(folder, self.world.frames() + 1).map_err(RunError::Prepare)?;
                for export in ExportFormat::ALL {
                    export.remove_frames_from(folder, self.world.frames() + 1).map_err(RunError::Prepare)?;
                }
                self.options.exports.iter().try_for_each(|export| export.create_folder(folder))?;
            }
        }
        let lines = FrameLog::open(self.folder.frames(), self.kept_bytes.unwrap_or(0)).map_err(RunError::Prepare)?;
        let lines: Box<dyn Sink> = Box::new(lines);
        let exports = self.options.exports.iter().map(|export| export.sink(folder, &self.context));
        Ok(std::iter::once(lines).chain(exports).collect())
    }
}

/// Runs a scene without writing files. Expectations are evaluated as in any run.
pub fn run_scene_in_memory(scene: &Scene, options: MemoryOptions) -> Result<Outcome, RunError> {
    let (world, header) = build(scene, &options.build, options.threads)?;
    let driver = Driver {
        current: FrameLine::from(&world.frame()),
        session: Session::begin(&world),
        world,
        header,
        last_frame: options.frames.unwrap_or(scene.frames()),
        scene_frames: scene.frames(),
        sinks: options.sinks,
        checker: ExpectationChecker::new(&scene.expectations, scene.frame_rate),
        output: None,
        stop: Default::default(),
        time_used: TimeUsed::default(),
    };
    parallel::with_threads(options.threads, move || driver.run(&mut ()))
}

fn build(scene: &Scene, options: &BuildOptions, threads: Option<usize>) -> Result<(World, RunHeader), RunError> {
    let built = parallel::with_threads(threads, || scene.build(options))?;
    let header = RunHeader {
        scene: scene.name.clone(),
        title: scene.title.clone(),
        seed: options.seed.unwrap_or(scene.seed),
        warnings: built.warnings,
    };
    Ok((built.world, header))
}

fn read_checkpoint(folder: &RunFolder) -> Result<World, RunError> {
    let path = folder.checkpoint();
    let bytes = fs::read(&path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => ResumeError::NoCheckpoint { folder: folder.path().to_path_buf() }.into(),
        _ => RunError::Prepare(FileError::new("read", &path, source)),
    })?;
    Ok(checkpoint::decode(&bytes).map_err(|source| ResumeError::Checkpoint { path, source })?)
}
