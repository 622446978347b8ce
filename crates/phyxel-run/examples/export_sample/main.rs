//! Runs three small scenes with all export formats, and writes the expected content of the files beside each.
//!
//! `cargo run --example export_sample -- FOLDER` creates `FOLDER/jelly`, `FOLDER/bodies` and `FOLDER/solids`, each with
//! an `expected.json`. The checks in `validation/clients` read the files with other programs and compare.

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

/// Size of pictures and videos, pixels.
const PICTURE: (u32, u32) = (320, 180);

/// Scenes besides the built-in one, by name.
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

fn export(scene: &Scene, last_frame: u32, folder: &Path) -> Result<(), Box<dyn Error>> {
    let content = ExpectedContent::default();
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
        frames: Some(last_frame),
        exports: ExportFormat::ALL.to_vec(),
        sinks: vec![Box::new(content.clone()), Box::new(pictures)],
        ..RunOptions::default()
    };
    Run::prepare(scene, options)?.execute(&mut ())?;
    let frames = content.frames.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let expected = json!({
        "title": scene.title,
        "frame_rate": scene.frame_rate,
        "picture": [width, height],
        "looked_at": [0, last_frame / 2, last_frame],
        "frames": frames,
    });
    fs::write(folder.join("expected.json"), serde_json::to_vec_pretty(&expected)?)?;
    Ok(())
}

/// Sink that records the expected content of the files, frame by frame.
#[derive(Clone, Default)]
struct ExpectedContent {
    frames: Arc<Mutex<Vec<Value>>>,
}

impl Sink for ExpectedContent {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let obstacles = frame.obstacles.iter().filter(|obstacle| obstacle.visible);
        let facts = json!({
            "frame": frame.index,
            "time": frame.time,
            "particles": points(&frame.particles.position, &frame.particles.velocity, &frame.particles.temperature),
            "mass": frame.particles.mass.iter().map(|mass| f64::from(*mass)).sum::<f64>(),
            "bodies": frame.bodies.iter().map(|body| body_facts(frame, body)).collect::<Vec<_>>(),
            "obstacles": obstacles
                .map(|obstacle| json!({ "name": obstacle.name, "at": obstacle.pose.position.to_array() }))
                .collect::<Vec<_>>(),
        });
        self.frames.lock().unwrap_or_else(PoisonError::into_inner).push(facts);
        Ok(())
    }
}

fn body_facts(frame: &Frame, body: &FrameBody) -> Value {
    let range = body.particles.clone();
    let (kind, triangles, shown) = match &body.skin {
        Some(skin) => ("mesh", skin.triangles.len(), points(&skin.positions, &skin.velocities, &skin.temperatures)),
        None => {
            let columns = &frame.particles;
            let range = range.clone();
            let shown =
                points(&columns.position[range.clone()], &columns.velocity[range.clone()], &columns.temperature[range]);
            ("points", 0, shown)
        }
    };
    json!({
        "name": body.report.name,
        "material": body.material,
        "color": body.color,
        "roughness": body.finish.roughness(),
        "metalness": body.finish.metalness(),
        "particles": range.len(),
        "kind": kind,
        "triangles": triangles,
        "radius": frame.particles.radius[range.start],
        "shown": shown,
    })
}

/// Number and bounds of points, and the values of one of them.
fn points(positions: &[Vec3], velocities: &[Vec3], temperatures: &[f32]) -> Value {
    let low = positions.iter().copied().reduce(Vec3::min).unwrap_or_default();
    let high = positions.iter().copied().reduce(Vec3::max).unwrap_or_default();
    let index = positions.len() / 3;
    json!({
        "count": positions.len(),
        "low": low.to_array(),
        "high": high.to_array(),
        "point": index,
        "at": positions.get(index).map(Vec3::to_array),
        "velocity": velocities.get(index).map(Vec3::to_array),
        "temperature": temperatures.get(index),
    })
}
