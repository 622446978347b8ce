//! `phyxel run` and `phyxel demo`.

use super::warn;
use crate::args::RunArgs;
use crate::failure::{DISAPPOINTED, FAILED, Failure, INTERRUPTED};
use crate::place::usual_folder;
use crate::{progress, say, stop, summary};
use phyxel_run::{Claim, Ending, Outcome, Run, RunOptions};
use phyxel_scene::Scene;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// The scene of `phyxel demo`.
pub(crate) const DEMO: &str = "shape-pile";

/// Simulates a scene into a folder.
pub(crate) fn run(scene_name: &str, args: &RunArgs) -> Result<ExitCode, Failure> {
    let silent = args.quiet || args.json;
    let scene = Scene::load(scene_name, &args.scene.settings)?;
    let run = Run::prepare(&scene, options(&scene, args))?;
    if !args.json {
        warn(run.warnings());
    }
    if !silent {
        say::to_stderr(&format!("{}: frames {} to {}", scene.title, run.first_frame(), run.frames()));
    }
    let outcome = run.execute(progress::watcher(silent).as_mut())?;
    tell(&outcome, args);
    end(outcome, args)
}

fn options(scene: &Scene, args: &RunArgs) -> RunOptions {
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
        stop: stop::on_interrupt(args.quiet || args.json),
        ..RunOptions::default()
    }
}

fn tell(outcome: &Outcome, args: &RunArgs) {
    if args.json {
        let mut report = json!(outcome.report);
        report["folder"] = json!(outcome.folder);
        say::to_stdout(&format!("{report:#}"));
    } else if !args.quiet {
        say::to_stdout(&summary::of(outcome));
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
