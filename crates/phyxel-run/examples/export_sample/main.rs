//! Runs three small scenes with every kind of export, and writes beside each what a reader has to find in the files.
//!
//! `cargo run --example export_sample -- FOLDER` makes `FOLDER/jelly`, `FOLDER/bodies` and
//! `FOLDER/solids`, each with an `expected.json`. The checks in `validation/clients` open the files with other people's programs and compare.

use glam::Vec3;
use phyxel::Frame;
use phyxel::frame::FrameBody;
use phyxel_render::RenderSettings;
use phyxel_run::{
    ExportFormat, OverwritePolicy, PICTURE_FOLDER, PictureOptions, PictureSink, Run, RunOptions, Sink, SinkError,
    VIDEO_FILE,
};
use phyxel_scene::Scene;
use serde_json::{Value, json};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Size of pictures and films, pixels.
const PICTURE: (u32, u32) = (320, 180);

/// Scenes beside the built-in one, by name.
const SCENES: [(&str, &str); 2] = [("bodies", include_str!("bodies.toml")), ("solids", include_str!("solids.toml"))];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).map(PathBuf::from).ok_or("give the folder to write to")?;
    export(&Scene::load("falling-jelly", &[])?, 30, &folder.join("jelly"))?;
    for (name, text) in SCENES {
        let scene = Scene::read(text, name, Path::new("."))?;
        export(&scene, scene.frames(), &folder.join(name))?;
    }
    Ok(())
}

fn export(scene: &Scene, frames: u32, folder: &Path) -> Result<(), Box<dyn Error>> {
    let witness = Witness::default();
    let (width, height) = PICTURE;
    let pictures = PictureSink::new(PictureOptions {
        settings: RenderSettings { width, height, ..RenderSettings::default() },
        folder: Some(folder.join(PICTURE_FOLDER)),
        video: Some(folder.join(VIDEO_FILE)),
        frame_rate: scene.frame_rate,
    })?;
    let options = RunOptions {
        folder: folder.to_path_buf(),
        overwrite: OverwritePolicy::Replace,
        frames: Some(frames),
        exports: ExportFormat::ALL.to_vec(),
        sinks: vec![Box::new(witness.clone()), Box::new(pictures)],
        ..RunOptions::default()
    };
    Run::prepare(scene, options)?.execute(&mut ())?;
    let seen = witness.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let expected = json!({
        "title": scene.title,
        "frame_rate": scene.frame_rate,
        "picture": [width, height],
        "looked_at": [0, frames / 2, frames],
        "frames": seen,
    });
    fs::write(folder.join("expected.json"), serde_json::to_vec_pretty(&expected)?)?;
    Ok(())
}

/// Notes what readers of the files will have to find, frame by frame.
#[derive(Clone, Default)]
struct Witness {
    seen: Arc<Mutex<Vec<Value>>>,
}

impl Sink for Witness {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let obstacles = frame.obstacles.iter().filter(|obstacle| obstacle.visible);
        let fact = json!({
            "frame": frame.index,
            "time": frame.time,
            "particles": points(&frame.particles.position, &frame.particles.velocity, &frame.particles.temperature),
            "mass": frame.particles.mass.iter().map(|mass| f64::from(*mass)).sum::<f64>(),
            "bodies": frame.bodies.iter().map(|body| body_fact(frame, body)).collect::<Vec<_>>(),
            "obstacles": obstacles.map(|o| json!({ "name": o.name, "at": o.pose.position.to_array() })).collect::<Vec<_>>(),
        });
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(fact);
        Ok(())
    }
}

fn body_fact(frame: &Frame, body: &FrameBody) -> Value {
    let run = body.particles.clone();
    let (kind, triangles, shown) = match &body.skin {
        Some(skin) => ("mesh", skin.triangles.len(), points(&skin.positions, &skin.velocities, &skin.temperatures)),
        None => {
            let columns = &frame.particles;
            let run = run.clone();
            let shown =
                points(&columns.position[run.clone()], &columns.velocity[run.clone()], &columns.temperature[run]);
            ("points", 0, shown)
        }
    };
    json!({
        "name": body.report.name,
        "material": body.material,
        "color": body.color,
        "roughness": body.finish.roughness(),
        "metalness": body.finish.metalness(),
        "particles": run.len(),
        "kind": kind,
        "triangles": triangles,
        "radius": frame.particles.radius[run.start],
        "shown": shown,
    })
}

/// Number and bounds of points, and one of them.
fn points(positions: &[Vec3], velocities: &[Vec3], temperatures: &[f32]) -> Value {
    let low = positions.iter().copied().reduce(Vec3::min).unwrap_or_default();
    let high = positions.iter().copied().reduce(Vec3::max).unwrap_or_default();
    let number = positions.len() / 3;
    json!({
        "count": positions.len(),
        "low": low.to_array(),
        "high": high.to_array(),
        "point": number,
        "at": positions.get(number).map(Vec3::to_array),
        "velocity": velocities.get(number).map(Vec3::to_array),
        "temperature": temperatures.get(number),
    })
}
