//! Main loop of a run: advance, write the frame, save, until the end, an interrupt or a failure.

use crate::error::{RunError, SinkError};
use crate::expect::ExpectationChecker;
use crate::folder::RunFolder;
use crate::frame_log::FrameLine;
use crate::options::CheckpointInterval;
use crate::progress::{Progress, ProgressObserver};
use crate::report::{Report, Status, TimeUsed};
use crate::sink::Sink;
use phyxel::{Frame, StepError, World, checkpoint, parallel};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// End of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The last frame was reached.
    Done,
    /// The last frame had been reached before; nothing was simulated or written.
    AlreadyDone,
    /// The run was interrupted and can be resumed.
    Interrupted,
    /// A step failed; everything up to the last valid frame is kept.
    Failed(StepError),
}

impl Ending {
    fn status(&self) -> Status {
        match self {
            Self::Done | Self::AlreadyDone => Status::Done,
            Self::Interrupted => Status::Interrupted,
            Self::Failed(_) => Status::Failed,
        }
    }

    fn error(&self) -> Option<String> {
        match self {
            Self::Failed(error) => Some(error.to_string()),
            _ => None,
        }
    }
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// End of the run.
    pub ending: Ending,
    /// Report, as in `report.json`.
    pub report: Report,
    /// Folder of its files; `None` for a run in memory.
    pub folder: Option<PathBuf>,
}

/// Constant entries of the report of a run.
#[derive(Clone, Debug)]
pub(crate) struct RunHeader {
    pub scene: String,
    pub title: String,
    pub seed: u64,
    pub warnings: Vec<String>,
}

/// Destination of checkpoints and reports.
pub(crate) struct RunOutput {
    pub folder: RunFolder,
    pub extra_report: Option<PathBuf>,
    pub checkpoint_interval: CheckpointInterval,
}

/// State of a run in progress.
pub(crate) struct Driver {
    pub world: World,
    pub header: RunHeader,
    /// Frame at which this run ends.
    pub last_frame: u32,
    /// Frame at which the scene ends.
    pub scene_frames: u32,
    pub sinks: Vec<Box<dyn Sink>>,
    pub checker: ExpectationChecker,
    pub output: Option<RunOutput>,
    pub stop: Arc<AtomicBool>,
    /// Wall-clock time of earlier sessions, and time by stage of all sessions.
    pub time_used: TimeUsed,
    /// Log entry of the current frame.
    pub current: FrameLine,
    pub session: Session,
}

/// Start of a run, or of its resumption, and time of the latest checkpoint.
pub(crate) struct Session {
    start: Instant,
    first_frame: u32,
    first_step: u64,
    checkpoint_time: Instant,
    checkpoint_frame: u32,
}

impl Session {
    /// Starts or resumes at the current frame of a world.
    pub fn begin(world: &World) -> Self {
        let now = Instant::now();
        let (first_frame, first_step) = (world.frames(), world.steps());
        Self { start: now, first_frame, first_step, checkpoint_time: now, checkpoint_frame: first_frame }
    }
}

impl Driver {
    /// Simulates to the end, an interrupt or a failure, and saves the state.
    pub fn run(mut self, progress: &mut dyn ProgressObserver) -> Result<Outcome, RunError> {
        progress.begin(&self.progress());
        let result = self.advance(progress).and_then(|ending| self.finish(&ending).map(|()| ending));
        progress.end(&self.progress());
        match result {
            Ok(ending) => Ok(self.outcome(ending)),
            Err(error) => {
                // The original error matters more than a failure to report it.
                let _ = self.write_report(&self.report(Status::Failed, Some(error.to_string())));
                Err(error)
            }
        }
    }

    /// Outcome of a run that ends here. Writes nothing.
    pub fn outcome(&self, ending: Ending) -> Outcome {
        let report = self.report(ending.status(), ending.error());
        let folder = self.output.as_ref().map(|output| output.folder.path().to_path_buf());
        Outcome { ending, report, folder }
    }

    fn advance(&mut self, progress: &mut dyn ProgressObserver) -> Result<Ending, RunError> {
        if self.world.frames() == 0 {
            self.emit_frame()?;
            self.save()?;
        }
        while self.world.frames() < self.last_frame {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(Ending::Interrupted);
            }
            match self.world.advance_frame() {
                Ok(report) => self.time_used.stages.add(&report.stages),
                Err(error) => return Ok(Ending::Failed(error)),
            }
            self.emit_frame()?;
            progress.update(&self.progress());
            if self.checkpoint_is_due() {
                self.save()?;
            }
        }
        Ok(Ending::Done)
    }

    /// Passes the current frame to the expectation checker and the sinks.
    fn emit_frame(&mut self) -> Result<(), SinkError> {
        let frame: Frame = self.world.frame();
        self.current = FrameLine::from(&frame);
        if !self.checker.is_empty() {
            self.checker.observe(serde_json::to_value(&self.current).unwrap_or_default());
        }
        self.sinks.iter_mut().try_for_each(|sink| sink.write_frame(&frame))
    }

    fn checkpoint_is_due(&self) -> bool {
        let frames = self.world.frames() - self.session.checkpoint_frame;
        let seconds = self.session.checkpoint_time.elapsed().as_secs_f64();
        self.output.as_ref().is_some_and(|output| output.checkpoint_interval.is_due(frames, seconds))
    }

    /// Writes a checkpoint and an interim report. Sinks are synced first: a checkpoint never refers to a lost frame.
    fn save(&mut self) -> Result<(), RunError> {
        self.sinks.iter_mut().try_for_each(|sink| sink.sync())?;
        self.write_checkpoint()?;
        self.write_report(&self.report(Status::Running, None))
    }

    fn finish(&mut self, ending: &Ending) -> Result<(), RunError> {
        self.sinks.iter_mut().try_for_each(|sink| sink.finish())?;
        // A failed step leaves the world between two frames; the previous checkpoint reproduces the failure.
        if !matches!(ending, Ending::Failed(_)) {
            self.write_checkpoint()?;
        }
        let report = self.report(ending.status(), ending.error());
        self.write_report(&report)?;
        match self.output.as_ref().and_then(|output| output.extra_report.as_ref()) {
            Some(path) => report.write(path).map_err(RunError::File),
            None => Ok(()),
        }
    }

    fn write_checkpoint(&mut self) -> Result<(), RunError> {
        let Some(output) = &self.output else { return Ok(()) };
        let bytes = checkpoint::encode(&self.world);
        crate::atomic_file::replace_file(&output.folder.checkpoint(), |writer| writer.write_all(&bytes))
            .map_err(RunError::File)?;
        self.session.checkpoint_frame = self.world.frames();
        self.session.checkpoint_time = Instant::now();
        Ok(())
    }

    fn write_report(&self, report: &Report) -> Result<(), RunError> {
        match &self.output {
            Some(output) => report.write(&output.folder.report()).map_err(RunError::File),
            None => Ok(()),
        }
    }

    fn report(&self, status: Status, error: Option<String>) -> Report {
        let header = self.header.clone();
        Report {
            phyxel: env!("CARGO_PKG_VERSION").to_string(),
            scene: header.scene,
            scene_title: header.title,
            status,
            error,
            seed: header.seed,
            threads: parallel::threads(),
            frames: self.current.frame,
            steps: self.current.steps,
            simulated_seconds: self.current.time,
            wall_seconds: self.time_used.wall_seconds + self.session.start.elapsed().as_secs_f64(),
            state_hash: self.world.state_hash(),
            stages: self.time_used.stages.clone(),
            settings: self.world.settings().clone(),
            totals: self.current.totals.clone(),
            bodies: self.current.bodies.clone(),
            expectations: self.checker.findings(self.current.frame >= self.scene_frames),
            warnings: header.warnings.into_iter().chain(self.world.lost_matter_warnings()).collect(),
        }
    }

    fn progress(&self) -> Progress {
        Progress {
            frame: self.world.frames(),
            frames: self.last_frame,
            first_frame: self.session.first_frame,
            time: self.world.time(),
            steps: self.world.steps() - self.session.first_step,
            wall_seconds: self.session.start.elapsed().as_secs_f64(),
        }
    }
}
