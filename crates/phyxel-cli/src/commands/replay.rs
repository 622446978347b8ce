//! `phyxel render` and `phyxel export`: replays of a finished run.

use crate::args::{RenderArgs, ReplayArgs};
use crate::failure::{Failure, INTERRUPTED};
use crate::{interrupt, output, progress};
use phyxel_run::{
    ExportFormat, PICTURE_FOLDER, PictureOptions, PictureSink, Replay, ReplayOptions, RunError, Sink, VIDEO_FILE,
};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Default size of pictures, pixels.
pub(crate) const DEFAULT_SIZE: (u32, u32) = (1280, 720);

/// Renders pictures or a video of a run.
pub(crate) fn render(run: &Path, args: &RenderArgs) -> Result<ExitCode, Failure> {
    let replay = Replay::open(run, args.replay.max_particles)?;
    let video = args.video.clone().or_else(|| (!args.pictures).then(|| run.join(VIDEO_FILE)));
    let folder = args.pictures.then(|| run.join(PICTURE_FOLDER));
    let sink = PictureSink::new(PictureOptions {
        settings: args.picture.render_settings(&replay.scene, DEFAULT_SIZE),
        folder: folder.clone(),
        video: video.clone(),
        frame_rate: replay.scene.frame_rate,
    })
    .map_err(RunError::Prepare)?;
    play(replay, vec![Box::new(sink)], &args.replay, video.into_iter().chain(folder).collect())
}

/// Exports a run to files for other programs.
pub(crate) fn export(run: &Path, formats: &[ExportFormat], args: &ReplayArgs) -> Result<ExitCode, Failure> {
    let replay = Replay::open(run, args.max_particles)?;
    let sinks = replay.export_sinks(formats)?;
    play(replay, sinks, args, formats.iter().map(|format| run.join(format.name())).collect())
}

fn play(
    replay: Replay,
    sinks: Vec<Box<dyn Sink>>,
    args: &ReplayArgs,
    files: Vec<PathBuf>,
) -> Result<ExitCode, Failure> {
    let silent = args.quiet || args.json;
    let (first, last) = args.frames.unwrap_or((0, None));
    let options = ReplayOptions { first, last, threads: args.threads, stop: interrupt::stop_flag(silent) };
    let is_complete = replay.play(sinks, &options, progress::observer(silent).as_mut())?;
    if args.json {
        output::print(&format!("{:#}", json!({ "files": files, "complete": is_complete })));
    } else if !args.quiet {
        files.iter().for_each(|file| output::print(&file.display().to_string()));
    }
    if is_complete {
        return Ok(ExitCode::SUCCESS);
    }
    let message = "interrupted: the files end with the last complete frame";
    Err(Failure::new(INTERRUPTED, anyhow::Error::msg(message)))
}
