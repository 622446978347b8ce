//! `phyxel check`.

use super::print_warnings;
use crate::args::CheckArgs;
use crate::failure::{BAD_INPUT, Failure};
use crate::output;
use phyxel_scene::{Built, Scene};
use serde_json::json;
use std::process::ExitCode;

/// Reads and builds a scene, and prints its size.
pub(crate) fn check(scene: &str, args: &CheckArgs) -> Result<ExitCode, Failure> {
    let scene = Scene::load(scene, &args.scene.settings)?;
    let built = scene.build(&args.scene.build_options()).map_err(|error| Failure::new(BAD_INPUT, error))?;
    if args.json {
        output::print(&format!("{:#}", as_json(&scene, &built)));
        return Ok(ExitCode::SUCCESS);
    }
    print_warnings(&built.warnings);
    if !args.quiet {
        output::print(&format!(
            "{}: {} bodies, {} particles, {} obstacles, {} s in {} frames",
            scene.title,
            built.world.bodies().len(),
            built.world.particles().len(),
            built.world.obstacles().len(),
            scene.duration,
            scene.frames(),
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(scene: &Scene, built: &Built) -> serde_json::Value {
    json!({
        "scene": scene.name,
        "scene_title": scene.title,
        "duration": scene.duration,
        "frames": scene.frames(),
        "bodies": built.world.bodies().len(),
        "particles": built.world.particles().len(),
        "obstacles": built.world.obstacles().len(),
        "expectations": scene.expectations.len(),
        "warnings": built.warnings,
    })
}
