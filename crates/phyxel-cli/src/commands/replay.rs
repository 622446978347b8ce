//! `phyxel render` and `phyxel export`: looking at a finished run again.

use crate::args::{RenderArgs, ReplayArgs};
use crate::failure::{Failure, INTERRUPTED};
use crate::{progress, say, stop};
use phyxel_run::{Export, FILM, PICTURES, PictureOptions, PictureSink, Replay, ReplayOptions, RunError, Sink};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Size of pictures when nobody says, pixels.
pub(crate) const USUAL_SIZE: (u32, u32) = (1280, 720);

/// Makes pictures or a film of a run.
pub(crate) fn render(run: &Path, args: &RenderArgs) -> Result<ExitCode, Failure> {
    let replay = Replay::open(run, args.replay.max_particles)?;
    let film = args.video.clone().or_else(|| (!args.pictures).then(|| run.join(FILM)));
    let folder = args.pictures.then(|| run.join(PICTURES));
    let sink = PictureSink::new(PictureOptions {
        view: args.look.view(&replay.scene, USUAL_SIZE),
        folder: folder.clone(),
        film: film.clone(),
        frame_rate: replay.scene.frame_rate,
    })
    .map_err(RunError::Prepare)?;
    play(replay, vec![Box::new(sink)], &args.replay, film.into_iter().chain(folder).collect())
}

/// Makes files for other programs of a run.
pub(crate) fn export(run: &Path, kinds: &[Export], args: &ReplayArgs) -> Result<ExitCode, Failure> {
    let replay = Replay::open(run, args.max_particles)?;
    let sinks = replay.export_sinks(kinds)?;
    play(replay, sinks, args, kinds.iter().map(|kind| run.join(kind.name())).collect())
}

fn play(
    replay: Replay,
    sinks: Vec<Box<dyn Sink>>,
    args: &ReplayArgs,
    files: Vec<PathBuf>,
) -> Result<ExitCode, Failure> {
    let silent = args.quiet || args.json;
    let (first, last) = args.frames.unwrap_or((0, None));
    let options = ReplayOptions { first, last, threads: args.threads, stop: stop::on_interrupt(silent) };
    let done = replay.play(sinks, &options, progress::watcher(silent).as_mut())?;
    if args.json {
        say::to_stdout(&format!("{:#}", json!({ "files": files, "complete": done })));
    } else if !args.quiet {
        files.iter().for_each(|file| say::to_stdout(&file.display().to_string()));
    }
    if done {
        return Ok(ExitCode::SUCCESS);
    }
    let message = "interrupted: the files end with the last frame that was done";
    Err(Failure::new(INTERRUPTED, anyhow::Error::msg(message)))
}
