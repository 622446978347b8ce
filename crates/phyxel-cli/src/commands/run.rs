//! `phyxel run` and `phyxel demo`.

use super::print_warnings;
use super::replay::DEFAULT_SIZE;
use crate::args::RunArgs;
use crate::failure::{EXPECTATION_FAILED, FAILED, Failure, INTERRUPTED};
use crate::run_folder::default_folder;
use crate::{interrupt, output, progress, summary};
use phyxel_run::{
    Ending, Outcome, OverwritePolicy, PICTURE_FOLDER, PictureOptions, PictureSink, Replay, ReplayOptions, Run,
    RunError, RunOptions, VIDEO_FILE,
};
use phyxel_scene::Scene;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Scene of `phyxel demo`.
pub(crate) const DEMO: &str = "goop-to-glop";

/// Size of the video of the demo, pixels: rendered within two minutes on two cores.
const DEMO_SIZE: (u32, u32) = (768, 432);

/// Simulates the demo and renders a video of it.
pub(crate) fn demo(args: &RunArgs) -> Result<ExitCode, Failure> {
    run_with(DEMO, args, DEMO_SIZE, args.video.is_none())
}

/// Simulates a scene into a folder.
pub(crate) fn run(scene_name: &str, args: &RunArgs) -> Result<ExitCode, Failure> {
    run_with(scene_name, args, DEFAULT_SIZE, false)
}

fn run_with(scene_name: &str, args: &RunArgs, size: (u32, u32), is_default_video: bool) -> Result<ExitCode, Failure> {
    let silent = args.quiet || args.json;
    let scene = Scene::load(scene_name, &args.scene.settings)?;
    let options = options(&scene, scene_name, args);
    let stop = Arc::clone(&options.stop);
    let mut run = Run::prepare(&scene, options)?;
    let folder = run.folder().to_path_buf();
    let video = if is_default_video { Some(folder.join(VIDEO_FILE)) } else { args.video.clone() };
    let pictures = PictureOptions {
        settings: args.picture.render_settings(&scene, size),
        folder: args.pictures.then(|| folder.join(PICTURE_FOLDER)),
        video,
        frame_rate: scene.frame_rate,
    };
    // A video cannot be appended to: that of a resumed run is rendered at its end, from the start.
    let is_resumed = args.resume;
    let concurrent = PictureOptions { video: pictures.video.clone().filter(|_| !is_resumed), ..pictures.clone() };
    if concurrent.video.is_some() || concurrent.folder.is_some() {
        run.add_sink(Box::new(PictureSink::new(concurrent).map_err(RunError::Prepare)?));
    }
    if !args.json {
        print_warnings(run.warnings());
    }
    if !silent {
        output::print_error(&format!("{}: frames {} to {}", scene.title, run.first_frame(), run.frames()));
    }
    let outcome = run.execute(progress::observer(silent).as_mut())?;
    let is_done = matches!(outcome.ending, Ending::Done | Ending::AlreadyDone);
    if let (true, true, Some(video)) = (is_resumed, is_done, &pictures.video) {
        let sink = PictureSink::new(PictureOptions { folder: None, ..pictures.clone() }).map_err(RunError::Prepare)?;
        if !silent {
            output::print_error(&format!("rendering {} from the start", video.display()));
        }
        let options = ReplayOptions { threads: args.threads, stop, ..ReplayOptions::default() };
        let replay = Replay::open(&folder, args.scene.max_particles)?;
        replay.play(vec![Box::new(sink)], &options, progress::observer(silent).as_mut())?;
    }
    print_outcome(&outcome, pictures.video.as_deref(), args);
    exit_code(outcome, args)
}

fn options(scene: &Scene, scene_name: &str, args: &RunArgs) -> RunOptions {
    let overwrite = match (args.resume, args.force) {
        (true, _) => OverwritePolicy::Resume,
        (false, true) => OverwritePolicy::Replace,
        (false, false) => OverwritePolicy::Refuse,
    };
    let folder = args.folder.clone().unwrap_or_else(|| default_folder(Path::new("runs"), &scene.name, overwrite));
    let mut exports = args.export.clone();
    exports.dedup();
    RunOptions {
        folder,
        overwrite,
        exports,
        extra_report: args.report.clone(),
        frames: args.frames,
        threads: args.threads,
        build: args.scene.build_options(),
        overrides: args.scene.settings.clone(),
        source: std::fs::canonicalize(scene_name).ok().filter(|path| path.is_file()),
        stop: interrupt::stop_flag(args.quiet || args.json),
        ..RunOptions::default()
    }
}

fn print_outcome(outcome: &Outcome, video: Option<&Path>, args: &RunArgs) {
    // A run that fails before its first picture has no video.
    let video = video.filter(|video| video.is_file());
    if args.json {
        let mut report = json!(outcome.report);
        report["folder"] = json!(outcome.folder);
        report["video"] = json!(video);
        output::print(&format!("{report:#}"));
    } else if !args.quiet {
        output::print(&summary::run_summary(outcome, video));
    }
}

fn exit_code(outcome: Outcome, args: &RunArgs) -> Result<ExitCode, Failure> {
    let folder = outcome.folder.unwrap_or_default();
    let state = format!("everything up to frame {} is kept in \"{}\"", outcome.report.frames, folder.display());
    match outcome.ending {
        Ending::Failed(error) => Err(Failure::new(FAILED, anyhow::anyhow!("{error}\n{state}"))),
        Ending::Interrupted => {
            let message =
                format!("interrupted: {state}; the same command with --resume -o \"{}\" resumes", folder.display());
            Err(Failure::new(INTERRUPTED, anyhow::Error::msg(message)))
        }
        Ending::Done | Ending::AlreadyDone => {
            let has_failed = args.expect && outcome.report.failed_expectations().next().is_some();
            Ok(ExitCode::from(if has_failed { EXPECTATION_FAILED } else { 0 }))
        }
    }
}
