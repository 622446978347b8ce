//! The loop: advance, show, keep, until the end, a stop or a failure.

use crate::error::{RunError, SinkError};
use crate::expect::Judge;
use crate::folder::RunFolder;
use crate::lines::FrameLine;
use crate::options::CheckpointInterval;
use crate::progress::{Advance, Progress};
use crate::report::{Report, Spent, Status};
use crate::sink::Sink;
use phyxel::{Frame, StepError, World, checkpoint, parallel};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// It reached its end.
    Done,
    /// It had reached its end before; nothing was simulated or written.
    AlreadyDone,
    /// It was stopped; it can be resumed.
    Interrupted,
    /// A step failed; everything up to the last good frame is there.
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

/// What a run came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// What is also in `report.json`.
    pub report: Report,
    /// Where its files are; `None` if it made none.
    pub folder: Option<PathBuf>,
}

/// What a report says of a run that never changes.
#[derive(Clone, Debug)]
pub(crate) struct Heading {
    pub scene: String,
    pub title: String,
    pub seed: u64,
    pub warnings: Vec<String>,
}

/// Where checkpoints and reports go.
pub(crate) struct Store {
    pub folder: RunFolder,
    pub further_report: Option<PathBuf>,
    pub interval: CheckpointInterval,
}

/// A run at work.
pub(crate) struct Drive {
    pub world: World,
    pub heading: Heading,
    /// Frame to stop at.
    pub target: u32,
    /// Frame at which the scene ends.
    pub scene_frames: u32,
    pub sinks: Vec<Box<dyn Sink>>,
    pub judge: Judge,
    pub store: Option<Store>,
    pub stop: Arc<AtomicBool>,
    /// Time spent in earlier sessions and, by stage, in this one.
    pub spent: Spent,
    /// The latest frame.
    pub last: FrameLine,
    pub session: Session,
}

/// When the program took the run up, and when the latest checkpoint was written.
pub(crate) struct Session {
    began: Instant,
    first_frame: u32,
    first_steps: u64,
    kept_at: Instant,
    kept_frame: u32,
}

impl Session {
    /// Begins now, at the present frame of a world.
    pub fn begin(world: &World) -> Self {
        let now = Instant::now();
        let (first_frame, first_steps) = (world.frames(), world.steps());
        Self { began: now, first_frame, first_steps, kept_at: now, kept_frame: first_frame }
    }
}

impl Drive {
    /// Runs to the end, a stop or a failure, and keeps what there is.
    pub fn run(mut self, progress: &mut dyn Progress) -> Result<Outcome, RunError> {
        progress.begin(&self.progress_so_far());
        let ended = self.advance(progress).and_then(|ending| self.close(&ending).map(|()| ending));
        progress.end(&self.progress_so_far());
        match ended {
            Ok(ending) => Ok(self.outcome(ending)),
            Err(error) => {
                // What went wrong is worth more than whether it could be noted down.
                let _ = self.write_report(&self.report(Status::Failed, Some(error.to_string())));
                Err(error)
            }
        }
    }

    /// The outcome of a run that ends here, without writing anything.
    pub fn outcome(&self, ending: Ending) -> Outcome {
        let report = self.report(ending.status(), ending.error());
        let folder = self.store.as_ref().map(|store| store.folder.path().to_path_buf());
        Outcome { ending, report, folder }
    }

    fn advance(&mut self, progress: &mut dyn Progress) -> Result<Ending, RunError> {
        if self.world.frames() == 0 {
            self.show()?;
            self.keep()?;
        }
        while self.world.frames() < self.target {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(Ending::Interrupted);
            }
            match self.world.advance_frame() {
                Ok(report) => self.spent.stages.add(&report.stages),
                Err(error) => return Ok(Ending::Failed(error)),
            }
            self.show()?;
            progress.frame(&self.progress_so_far());
            if self.checkpoint_is_due() {
                self.keep()?;
            }
        }
        Ok(Ending::Done)
    }

    /// Gives the present frame to everyone who looks on.
    fn show(&mut self) -> Result<(), SinkError> {
        let frame: Frame = self.world.frame();
        self.last = FrameLine::from(&frame);
        if !self.judge.is_idle() {
            self.judge.look(serde_json::to_value(&self.last).unwrap_or_default());
        }
        self.sinks.iter_mut().try_for_each(|sink| sink.frame(&frame))
    }

    fn checkpoint_is_due(&self) -> bool {
        let frames = self.world.frames() - self.session.kept_frame;
        let seconds = self.session.kept_at.elapsed().as_secs_f64();
        self.store.as_ref().is_some_and(|store| store.interval.is_due(frames, seconds))
    }

    /// Writes a checkpoint and a report of a run under way. Frames are safe on disk before the checkpoint names them.
    fn keep(&mut self) -> Result<(), RunError> {
        self.sinks.iter_mut().try_for_each(|sink| sink.secure())?;
        self.write_checkpoint()?;
        self.write_report(&self.report(Status::Running, None))
    }

    fn close(&mut self, ending: &Ending) -> Result<(), RunError> {
        self.sinks.iter_mut().try_for_each(|sink| sink.finish())?;
        // A failed step leaves the world between two frames; the checkpoint before it leads to the same failure.
        if !matches!(ending, Ending::Failed(_)) {
            self.write_checkpoint()?;
        }
        let report = self.report(ending.status(), ending.error());
        self.write_report(&report)?;
        match self.store.as_ref().and_then(|store| store.further_report.as_ref()) {
            Some(path) => report.write(path).map_err(RunError::File),
            None => Ok(()),
        }
    }

    fn write_checkpoint(&mut self) -> Result<(), RunError> {
        let Some(store) = &self.store else { return Ok(()) };
        let bytes = checkpoint::encode(&self.world);
        crate::durable::replace_file(&store.folder.checkpoint(), |writer| writer.write_all(&bytes))
            .map_err(RunError::File)?;
        self.session.kept_frame = self.world.frames();
        self.session.kept_at = Instant::now();
        Ok(())
    }

    fn write_report(&self, report: &Report) -> Result<(), RunError> {
        match &self.store {
            Some(store) => report.write(&store.folder.report()).map_err(RunError::File),
            None => Ok(()),
        }
    }

    fn report(&self, status: Status, error: Option<String>) -> Report {
        let heading = self.heading.clone();
        Report {
            phyxel: env!("CARGO_PKG_VERSION").to_string(),
            scene: heading.scene,
            scene_title: heading.title,
            status,
            error,
            seed: heading.seed,
            threads: parallel::threads(),
            frames: self.last.frame,
            steps: self.last.steps,
            simulated_seconds: self.last.time,
            wall_seconds: self.spent.wall + self.session.began.elapsed().as_secs_f64(),
            state_hash: self.world.state_hash(),
            stages: self.spent.stages.clone(),
            settings: self.world.settings().clone(),
            totals: self.last.totals.clone(),
            bodies: self.last.bodies.clone(),
            expectations: self.judge.findings(self.last.frame >= self.scene_frames),
            warnings: heading.warnings.into_iter().chain(self.world.lost_matter_warnings()).collect(),
        }
    }

    fn progress_so_far(&self) -> Advance {
        Advance {
            frame: self.world.frames(),
            frames: self.target,
            first_frame: self.session.first_frame,
            time: self.world.time(),
            steps: self.world.steps() - self.session.first_steps,
            wall: self.session.began.elapsed().as_secs_f64(),
        }
    }
}
