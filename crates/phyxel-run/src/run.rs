//! A run that goes into a folder: checked before anything is written, resumable at any moment.

use crate::drive::{Drive, Ending, Heading, Outcome, Session, Store};
use crate::error::{FileError, ResumeError, RunError};
use crate::expect::Judge;
use crate::folder::{RunFolder, check_report_place};
use crate::lines::{FrameLine, FrameLines, read_kept};
use crate::options::{MemoryOptions, RunOptions};
use crate::progress::Progress;
use crate::record::RunRecord;
use crate::report::Spent;
use crate::sink::Sink;
use crate::sink::pictures;
use crate::sink::sequence::{Export, ExportContext};
use phyxel::{World, checkpoint, parallel};
use phyxel_scene::{BuildOptions, Scene};
use std::fs;
use std::io;
use std::path::Path;

/// A run that may start.
pub struct Run {
    world: World,
    heading: Heading,
    judge: Judge,
    scene_frames: u32,
    record: RunRecord,
    folder: RunFolder,
    context: ExportContext,
    /// For a resumed run, bytes of `frames.jsonl` that stay.
    kept: Option<u64>,
    options: RunOptions,
}

impl Run {
    /// Checks scene, folder and checkpoint, and makes the world. Writes nothing.
    pub fn prepare(scene: &Scene, options: RunOptions) -> Result<Self, RunError> {
        if let Some(path) = &options.report {
            check_report_place(path)?;
        }
        let folder = RunFolder::new(&options.folder);
        let there = folder.inspect(options.claim)?;
        let (world, heading) = build(scene, &options.build, options.threads)?;
        let record = RunRecord {
            source: options.source.clone(),
            ..RunRecord::new(&scene.name, heading.seed, &options.overrides, &options.exports, &world)
        };
        let run = Self {
            world,
            heading,
            judge: Judge::new(&scene.expectations, scene.frame_rate),
            scene_frames: scene.frames(),
            record,
            folder,
            context: ExportContext { frame_rate: scene.frame_rate, title: scene.title.clone() },
            kept: None,
            options,
        };
        match there {
            Some(record) => run.take_up(record),
            None => Ok(run),
        }
    }

    /// Gives frames to one more sink.
    pub fn add_sink(&mut self, sink: Box<dyn Sink>) {
        self.options.sinks.push(sink);
    }

    /// The folder its files go into.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Frames at its end.
    pub fn frames(&self) -> u32 {
        self.options.frames.unwrap_or(self.scene_frames)
    }

    /// Frame it starts from; 0 unless it was resumed.
    pub fn first_frame(&self) -> u32 {
        self.world.frames()
    }

    /// What is odd about the scene but no error.
    pub fn warnings(&self) -> &[String] {
        &self.heading.warnings
    }

    /// Simulates to the end, to a stop or to a failure, and keeps everything up to the last good frame.
    pub fn execute(self, progress: &mut dyn Progress) -> Result<Outcome, RunError> {
        let threads = self.options.threads;
        parallel::with_threads(threads, move || self.execute_here(progress))
    }

    fn execute_here(self, progress: &mut dyn Progress) -> Result<Outcome, RunError> {
        let done = self.kept.is_some() && self.world.frames() >= self.frames();
        let sinks = if done { Vec::new() } else { self.open_sinks()? };
        let target = self.frames();
        let spent = if self.kept.is_some() { Spent::from_report(&self.folder.report()) } else { Spent::default() };
        let options = self.options;
        let store = Store { folder: self.folder, further_report: options.report, interval: options.checkpoints };
        let drive = Drive {
            last: FrameLine::from(&self.world.frame()),
            session: Session::begin(&self.world),
            world: self.world,
            heading: self.heading,
            target,
            scene_frames: self.scene_frames,
            sinks: sinks.into_iter().chain(options.sinks).collect(),
            judge: self.judge,
            store: Some(store),
            stop: options.stop,
            spent,
        };
        if done { Ok(drive.outcome(Ending::AlreadyDone)) } else { drive.run(progress) }
    }

    /// Puts the world of the checkpoint in the place of the fresh one.
    fn take_up(mut self, there: RunRecord) -> Result<Self, RunError> {
        there.require_same(&self.record, self.folder.path())?;
        self.world = read_checkpoint(&self.folder)?;
        let last = self.world.frames();
        let (judge, mut last_line) = (&mut self.judge, Vec::new());
        let kept = read_kept(&self.folder.frames(), last, |line, value| {
            judge.look(value.clone());
            last_line = line.to_vec();
        })?;
        self.require_continuation(&last_line)?;
        self.kept = Some(kept);
        self.join_exports(&there.exports);
        Ok(self)
    }

    /// Refuses a checkpoint whose world is not the one of the frame it claims to be.
    fn require_continuation(&self, last_line: &[u8]) -> Result<(), ResumeError> {
        if FrameLine::from(&self.world.frame()).to_bytes() == last_line {
            return Ok(());
        }
        Err(ResumeError::OtherCheckpoint { path: self.folder.checkpoint(), frame: self.world.frames() })
    }

    /// Files that were made before are made again; new ones begin late, which is worth a warning.
    fn join_exports(&mut self, before: &[Export]) {
        let first = self.world.frames() + 1;
        for late in self.options.exports.iter().filter(|export| !before.contains(export)) {
            self.heading.warnings.push(format!("{late} files begin at frame {first}: the run started without them"));
        }
        let asked = std::mem::take(&mut self.options.exports);
        self.options.exports = before.to_vec();
        self.options.exports.extend(asked.into_iter().filter(|export| !before.contains(export)));
        self.record.exports.clone_from(&self.options.exports);
    }

    /// Makes the folder ready and opens what frames are written to.
    fn open_sinks(&self) -> Result<Vec<Box<dyn Sink>>, RunError> {
        let folder = self.folder.path();
        match self.kept {
            None => self.folder.prepare_new(&self.record)?,
            Some(_) => {
                self.record.write(&self.folder.record()).map_err(RunError::Prepare)?;
                pictures::remove_from(folder, self.world.frames() + 1).map_err(RunError::Prepare)?;
                for export in Export::ALL {
                    export.remove_from(folder, self.world.frames() + 1).map_err(RunError::Prepare)?;
                }
                self.options.exports.iter().try_for_each(|export| export.make_folder(folder))?;
            }
        }
        let lines = FrameLines::open(self.folder.frames(), self.kept.unwrap_or(0)).map_err(RunError::Prepare)?;
        let lines: Box<dyn Sink> = Box::new(lines);
        let exports = self.options.exports.iter().map(|export| export.sink(folder, &self.context));
        Ok(std::iter::once(lines).chain(exports).collect())
    }
}

/// Runs a scene without writing any file. Expectations are judged as in any run.
pub fn run_scene_in_memory(scene: &Scene, options: MemoryOptions) -> Result<Outcome, RunError> {
    let (world, heading) = build(scene, &options.build, options.threads)?;
    let drive = Drive {
        last: FrameLine::from(&world.frame()),
        session: Session::begin(&world),
        world,
        heading,
        target: options.frames.unwrap_or(scene.frames()),
        scene_frames: scene.frames(),
        sinks: options.sinks,
        judge: Judge::new(&scene.expectations, scene.frame_rate),
        store: None,
        stop: Default::default(),
        spent: Spent::default(),
    };
    parallel::with_threads(options.threads, move || drive.run(&mut ()))
}

fn build(scene: &Scene, options: &BuildOptions, threads: Option<usize>) -> Result<(World, Heading), RunError> {
    let built = parallel::with_threads(threads, || scene.build(options))?;
    let heading = Heading {
        scene: scene.name.clone(),
        title: scene.title.clone(),
        seed: options.seed.unwrap_or(scene.seed),
        warnings: built.warnings,
    };
    Ok((built.world, heading))
}

fn read_checkpoint(folder: &RunFolder) -> Result<World, RunError> {
    let path = folder.checkpoint();
    let bytes = fs::read(&path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => ResumeError::NoCheckpoint { folder: folder.path().to_path_buf() }.into(),
        _ => RunError::Prepare(FileError::new("read", &path, source)),
    })?;
    Ok(checkpoint::decode(&bytes).map_err(|source| ResumeError::Checkpoint { path, source })?)
}
