//! `phyxel run` and `phyxel demo`.

use super::replay::USUAL_SIZE;
use super::warn;
use crate::args::RunArgs;
use crate::failure::{DISAPPOINTED, FAILED, Failure, INTERRUPTED};
use crate::place::usual_folder;
use crate::{progress, say, stop, summary};
use phyxel_run::{
    Claim, Ending, FILM, Outcome, PICTURES, PictureOptions, PictureSink, Replay, ReplayOptions, Run, RunError,
    RunOptions,
};
use phyxel_scene::Scene;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// The scene of `phyxel demo`.
pub(crate) const DEMO: &str = "goop-to-glop";

/// Size of the demo's film, pixels: it is done within two minutes on two cores.
const DEMO_SIZE: (u32, u32) = (768, 432);

/// Simulates the demo and makes a film of it.
pub(crate) fn demo(args: &RunArgs) -> Result<ExitCode, Failure> {
    run_with(DEMO, args, DEMO_SIZE, args.video.is_none())
}

/// Simulates a scene into a folder.
pub(crate) fn run(scene_name: &str, args: &RunArgs) -> Result<ExitCode, Failure> {
    run_with(scene_name, args, USUAL_SIZE, false)
}

fn run_with(scene_name: &str, args: &RunArgs, size: (u32, u32), film_in_folder: bool) -> Result<ExitCode, Failure> {
    let silent = args.quiet || args.json;
    let scene = Scene::load(scene_name, &args.scene.settings)?;
    let options = options(&scene, scene_name, args);
    let stop = Arc::clone(&options.stop);
    let mut run = Run::prepare(&scene, options)?;
    let folder = run.folder().to_path_buf();
    let film = if film_in_folder { Some(folder.join(FILM)) } else { args.video.clone() };
    let pictures = PictureOptions {
        view: args.look.view(&scene, size),
        folder: args.pictures.then(|| folder.join(PICTURES)),
        film,
        frame_rate: scene.frame_rate,
    };
    // A film cannot be gone on with: that of a resumed run is made at its end, from the start.
    let is_resumed = args.resume;
    let during = PictureOptions { film: pictures.film.clone().filter(|_| !is_resumed), ..pictures.clone() };
    if during.film.is_some() || during.folder.is_some() {
        run.add_sink(Box::new(PictureSink::new(during).map_err(RunError::Prepare)?));
    }
    if !args.json {
        warn(run.warnings());
    }
    if !silent {
        say::to_stderr(&format!("{}: frames {} to {}", scene.title, run.first_frame(), run.frames()));
    }
    let outcome = run.execute(progress::watcher(silent).as_mut())?;
    let is_done = matches!(outcome.ending, Ending::Done | Ending::AlreadyDone);
    if let (true, true, Some(film)) = (is_resumed, is_done, &pictures.film) {
        let sink = PictureSink::new(PictureOptions { folder: None, ..pictures.clone() }).map_err(RunError::Prepare)?;
        if !silent {
            say::to_stderr(&format!("making {} from the start", film.display()));
        }
        let options = ReplayOptions { threads: args.threads, stop, ..ReplayOptions::default() };
        let replay = Replay::open(&folder, args.scene.max_particles)?;
        replay.play(vec![Box::new(sink)], &options, progress::watcher(silent).as_mut())?;
    }
    tell(&outcome, pictures.film.as_deref(), args);
    end(outcome, args)
}

fn options(scene: &Scene, scene_name: &str, args: &RunArgs) -> RunOptions {
    let claim = match (args.resume, args.force) {
        (true, _) => Claim::Resume,
        (false, true) => Claim::Replace,
        (false, false) => Claim::New,
    };
    let folder = args.folder.clone().unwrap_or_else(|| usual_folder(Path::new("runs"), &scene.name, claim));
    let mut exports = args.export.clone();
    exports.dedup();
    RunOptions {
        folder,
        claim,
        exports,
        report: args.report.clone(),
        frames: args.frames,
        threads: args.threads,
        build: args.scene.build_options(),
        overrides: args.scene.settings.clone(),
        source: std::fs::canonicalize(scene_name).ok().filter(|path| path.is_file()),
        stop: stop::on_interrupt(args.quiet || args.json),
        ..RunOptions::default()
    }
}

fn tell(outcome: &Outcome, film: Option<&Path>, args: &RunArgs) {
    // A run that fails before its first picture has no film.
    let film = film.filter(|film| film.is_file());
    if args.json {
        let mut report = json!(outcome.report);
        report["folder"] = json!(outcome.folder);
        report["video"] = json!(film);
        say::to_stdout(&format!("{report:#}"));
    } else if !args.quiet {
        say::to_stdout(&summary::of(outcome, film));
    }
}

fn end(outcome: Outcome, args: &RunArgs) -> Result<ExitCode, Failure> {
    let folder = outcome.folder.unwrap_or_default();
    let kept = format!("everything up to frame {} is kept in \"{}\"", outcome.report.frames, folder.display());
    match outcome.ending {
        Ending::Failed(error) => Err(Failure::new(FAILED, anyhow::anyhow!("{error}\n{kept}"))),
        Ending::Interrupted => {
            let message =
                format!("interrupted: {kept}; the same command with --resume -o \"{}\" goes on", folder.display());
            Err(Failure::new(INTERRUPTED, anyhow::Error::msg(message)))
        }
        Ending::Done | Ending::AlreadyDone => {
            let disappointed = args.expect && outcome.report.disappointments().next().is_some();
            Ok(ExitCode::from(if disappointed { DISAPPOINTED } else { 0 }))
        }
    }
}
