//! `phyxel scenes`.

use crate::failure::{BAD_INPUT, Failure};
use crate::output;
use phyxel_scene::{Scene, builtin};
use serde_json::json;
use std::process::ExitCode;

/// Lists the built-in scenes, or prints one.
pub(crate) fn show(name: Option<&str>, json: bool) -> Result<ExitCode, Failure> {
    match name {
        Some(name) => print(name)?,
        None => list(json)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print(name: &str) -> Result<(), Failure> {
    let known_names = || builtin::names().collect::<Vec<_>>().join(", ");
    let text = builtin::text(name).ok_or_else(|| {
        Failure::new(
            BAD_INPUT,
            anyhow::anyhow!("there is no built-in scene named \"{name}\"; known: {}", known_names()),
        )
    })?;
    output::print(text.trim_end());
    Ok(())
}

fn list(json: bool) -> Result<(), Failure> {
    let scenes: Result<Vec<Scene>, _> = builtin::names().map(|name| Scene::load(name, &[])).collect();
    let scenes = scenes?;
    if json {
        let entry = |scene: &Scene| {
            json!({
                "name": scene.name,
                "title": scene.title,
                "duration": scene.duration,
                "frames": scene.frames(),
                "poster_frame": scene.poster_frame(),
                "color": if scene.temperature_range().is_some() { "temperature" } else { "material" },
            })
        };
        output::print(&format!("{:#}", scenes.iter().map(entry).collect::<serde_json::Value>()));
        return Ok(());
    }
    let width = scenes.iter().map(|scene| scene.name.chars().count()).max().unwrap_or(0);
    let line = |scene: &Scene| format!("{:width$}  {} ({} s)", scene.name, scene.title, scene.duration);
    output::print(&scenes.iter().map(line).collect::<Vec<_>>().join("\n"));
    Ok(())
}
