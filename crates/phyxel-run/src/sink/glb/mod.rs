//! Export as binary glTF 2.0: a file per frame, and one animation by morph targets where possible.
//!
//! A morph target per frame needs the same triangles in all frames, and viewers load all targets at once. So each frame
//! is a file; `scene.glb` is assembled from them at the end of the range if triangles never changed and it is small.

mod animation;
mod document;
mod frame_file;

use crate::atomic_file::write_file;
use crate::error::{FileError, SinkError};
use crate::sink::Sink;
use crate::sink::appearance::Appearance;
use crate::sink::export::numbered_path;
use document::{Document, bounds, write_binary};
use glam::Vec3;
use phyxel::Frame;
use phyxel::frame::{FrameBody, FrameSkin};
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// Prefix of the numbered files.
pub(crate) const PREFIX: &str = "frame";

/// Writes `frame_00000.glb` for every frame, and `scene.glb` at the end if all frames fit into one file.
#[derive(Clone, Debug)]
pub struct GlbSequence {
    folder: PathBuf,
}

impl GlbSequence {
    /// Writes into `folder`, which must exist.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }
}

impl Sink for GlbSequence {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let path = numbered_path(&self.folder, PREFIX, frame.index, "glb");
        write_file(&path, |writer| write_frame(writer, frame))?;
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(animation::write_animation(&self.folder)?)
    }
}

/// Removes the animation, which is rebuilt at the end.
pub(crate) fn remove_animation(folder: &Path) -> Result<(), FileError> {
    let path = animation::animation_path(folder);
    match fs::remove_file(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(FileError::new("remove", path, source)),
        _ => Ok(()),
    }
}

/// Writes the bodies of a frame: skins as triangles, surfels and bodies without a skin as points. SI units.
pub fn write_frame(writer: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    let (mut document, mut buffer) = (Document::default(), Vec::new());
    for body in &frame.bodies {
        let mut mesh = match &body.skin {
            Some(skin) if skin.positions.is_empty() => continue,
            Some(skin) if skin.triangles.is_empty() && skin.axes.is_empty() => continue,
            Some(skin) => skin_mesh(&mut document, &mut buffer, skin),
            None if body.particles.is_empty() => continue,
            None => particle_mesh(&mut document, &mut buffer, frame, body),
        };
        let material = document.material(&Appearance::new(&body.material, body.color, body.finish));
        mesh["primitives"][0]["material"] = material.into();
        document.node(&body.report.name, mesh);
    }
    let json = document.to_json(json!({ "frame": frame.index, "time": frame.time }));
    write_binary(writer, &json, document.buffer_length, |writer| writer.write_all(&buffer))
}

fn skin_mesh(document: &mut Document, buffer: &mut Vec<u8>, skin: &FrameSkin) -> Value {
    let count = skin.positions.len();
    push_vectors(buffer, &skin.positions, count);
    let mut attributes = json!({ "POSITION": document.vectors(count, Some(bounds(&skin.positions))) });
    // glTF has vertex normals only. They are omitted for sharp edges; viewers then shade triangles flat.
    if skin.crease.is_none() {
        let normals: Vec<Vec3> =
            (0..count).map(|i| unit_normal(skin.normals.get(i).copied().unwrap_or_default())).collect();
        push_vectors(buffer, &normals, count);
        attributes["NORMAL"] = document.vectors(count, None).into();
    }
    push_vectors(buffer, &skin.velocities, count);
    push_scalars(buffer, &skin.temperatures, count);
    add_velocity(document, &mut attributes, count);
    attributes["_TEMPERATURE"] = document.scalars(count).into();
    if skin.triangles.is_empty() {
        return json!({ "primitives": [{ "attributes": attributes, "mode": 0 }] });
    }
    let start = buffer.len();
    skin.triangles.as_flattened().iter().for_each(|corner| buffer.extend(corner.to_le_bytes()));
    let hash = xxh3_64(&buffer[start..]);
    let indices = document.indices(skin.triangles.len());
    json!({
        "primitives": [{ "attributes": attributes, "indices": indices, "mode": 4 }],
        "extras": { "triangles": format!("{hash:016x}") },
    })
}

fn particle_mesh(document: &mut Document, buffer: &mut Vec<u8>, frame: &Frame, body: &FrameBody) -> Value {
    let (columns, range) = (&frame.particles, body.particles.clone());
    let count = range.len();
    push_vectors(buffer, &columns.position[range.clone()], count);
    push_vectors(buffer, &columns.velocity[range.clone()], count);
    push_scalars(buffer, &columns.temperature[range.clone()], count);
    push_scalars(buffer, &columns.radius[range.clone()], count);
    let mut attributes = json!({ "POSITION": document.vectors(count, Some(bounds(&columns.position[range]))) });
    add_velocity(document, &mut attributes, count);
    attributes["_TEMPERATURE"] = document.scalars(count).into();
    attributes["_RADIUS"] = document.scalars(count).into();
    json!({ "primitives": [{ "attributes": attributes, "mode": 0 }] })
}

/// Adds velocities as three scalars: Blender 5.0 confuses custom attributes if some are vectors and some are scalars.
fn add_velocity(document: &mut Document, attributes: &mut Value, count: usize) {
    for (name, accessor) in ["_VELOCITY_X", "_VELOCITY_Y", "_VELOCITY_Z"].iter().zip(document.coordinates(count)) {
        attributes[name] = accessor.into();
    }
}

/// Normalises; an arbitrary unit vector for a zero normal.
fn unit_normal(normal: Vec3) -> Vec3 {
    normal.try_normalize().unwrap_or(Vec3::Y)
}

fn push_vectors(buffer: &mut Vec<u8>, values: &[Vec3], count: usize) {
    for i in 0..count {
        let value = values.get(i).copied().unwrap_or_default();
        buffer.extend_from_slice(value.to_array().map(f32::to_le_bytes).as_flattened());
    }
}

fn push_scalars(buffer: &mut Vec<u8>, values: &[f32], count: usize) {
    (0..count).for_each(|i| buffer.extend(values.get(i).copied().unwrap_or_default().to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_frames::{surfels, two_bodies};
    use phyxel_scene::import::mesh::{MeshFormat, read_bytes};
    use std::sync::Arc;

    /// JSON and buffer of a file.
    fn chunks_of(file: &[u8]) -> (Value, &[u8]) {
        let length = u32::from_le_bytes(file[12..16].try_into().unwrap()) as usize;
        assert_eq!(u32::from_le_bytes(file[8..12].try_into().unwrap()) as usize, file.len());
        (serde_json::from_slice(&file[20..20 + length]).unwrap(), &file[28 + length..])
    }

    /// Values of an accessor.
    fn floats(file: &[u8], accessor: &Value) -> Vec<f32> {
        let (document, buffer) = chunks_of(file);
        let accessor = &document["accessors"][accessor.as_u64().unwrap() as usize];
        let view = &document["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let start = view["byteOffset"].as_u64().unwrap() + accessor["byteOffset"].as_u64().unwrap_or(0);
        let width = if accessor["type"] == "VEC3" { 3 } else { 1 };
        let bytes = &buffer[start as usize..][..4 * width * accessor["count"].as_u64().unwrap() as usize];
        bytes.chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
    }

    /// The test frame, displaced upwards by its index.
    fn displaced(index: u32) -> Frame {
        let mut frame = Frame { index, time: f64::from(index) * 0.5, ..two_bodies() };
        let up = Vec3::Y * index as f32;
        frame.particles.position.iter_mut().for_each(|position| *position += up);
        if let Some(skin) = &mut frame.bodies[0].skin {
            skin.positions.iter_mut().for_each(|position| *position += up);
        }
        frame
    }

    fn write_all(folder: &Path, frames: &[Frame]) {
        let mut sink = GlbSequence::new(folder);
        frames.iter().for_each(|frame| sink.write_frame(frame).unwrap());
        sink.finish().unwrap();
    }

    #[test]
    fn a_skin_reads_back_as_a_mesh() {
        let mut file = Vec::new();
        write_frame(&mut file, &two_bodies()).unwrap();
        let mesh = read_bytes(MeshFormat::Gltf, &file).unwrap();
        assert_eq!((mesh.positions.len(), mesh.triangles.len()), (3, 1));
        assert_eq!(mesh.positions[1], Vec3::X);
    }

    #[test]
    fn bodies_without_a_skin_are_points_with_attributes() {
        let mut file = Vec::new();
        write_frame(&mut file, &two_bodies()).unwrap();
        let (document, _) = chunks_of(&file);
        let primitive = &document["meshes"][1]["primitives"][0];
        assert_eq!((&document["nodes"][1]["name"], &primitive["mode"]), (&json!("drop"), &json!(0)));
        assert_eq!(floats(&file, &primitive["attributes"]["_VELOCITY_Z"])[0], -2.0);
        assert_eq!(floats(&file, &primitive["attributes"]["_TEMPERATURE"]), [20.0]);
        assert_eq!(document["materials"].as_array().unwrap().len(), 1);
        assert!(document["materials"][0]["extensions"]["KHR_materials_transmission"].is_object());
    }

    #[test]
    fn surfels_are_points_with_normals_in_frames_and_animations() {
        let (folder, later) = (tempfile::tempdir().unwrap(), Frame { index: 1, time: 0.5, ..surfels() });
        write_all(folder.path(), &[surfels(), later]);
        for name in ["frame_00000.glb", "scene.glb"] {
            let file = fs::read(folder.path().join(name)).unwrap();
            let primitive = &chunks_of(&file).0["meshes"][0]["primitives"][0];
            assert_eq!((&primitive["mode"], &primitive["indices"]), (&json!(0), &Value::Null), "{name}");
            assert_eq!(floats(&file, &primitive["attributes"]["NORMAL"])[..3], [0.0, 0.0, 1.0], "{name}");
        }
    }

    #[test]
    fn skins_with_sharp_edges_have_no_normals_in_frames_and_animations() {
        let folder = tempfile::tempdir().unwrap();
        let frames = [0, 1].map(|index| {
            let mut frame = displaced(index);
            if let Some(skin) = &mut frame.bodies[0].skin {
                skin.crease = Some(40.0);
            }
            frame
        });
        write_all(folder.path(), &frames);
        for name in ["frame_00001.glb", "scene.glb"] {
            let file = fs::read(folder.path().join(name)).unwrap();
            let primitive = &chunks_of(&file).0["meshes"][0]["primitives"][0];
            assert_eq!((&primitive["mode"], &primitive["attributes"]["NORMAL"]), (&json!(4), &Value::Null), "{name}");
        }
    }

    #[test]
    fn a_frame_without_bodies_is_a_valid_file() {
        let mut file = Vec::new();
        write_frame(&mut file, &Frame::default()).unwrap();
        let length = u32::from_le_bytes(file[12..16].try_into().unwrap()) as usize;
        assert_eq!(file.len(), 20 + length);
    }

    #[test]
    fn frames_with_the_same_triangles_become_one_animation() {
        let folder = tempfile::tempdir().unwrap();
        write_all(folder.path(), &[0, 1, 2].map(displaced));
        let file = fs::read(folder.path().join("scene.glb")).unwrap();
        let (document, _) = chunks_of(&file);
        let primitive = &document["meshes"][0]["primitives"][0];
        assert_eq!(floats(&file, &primitive["attributes"]["POSITION"])[3..6], [1.0, 0.0, 0.0]);
        assert_eq!(floats(&file, &primitive["targets"][1]["POSITION"])[..3], [0.0, 2.0, 0.0]);
        let sampler = &document["animations"][0]["samplers"][0];
        assert_eq!(floats(&file, &sampler["input"]), [0.0, 0.5, 1.0]);
        assert_eq!(floats(&file, &sampler["output"]), [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    }

    #[test]
    fn frames_with_different_triangles_become_no_animation() {
        let folder = tempfile::tempdir().unwrap();
        let mut flipped = displaced(1);
        if let Some(skin) = &mut flipped.bodies[0].skin {
            skin.triangles = Arc::new(vec![[0, 2, 1]]);
        }
        write_all(folder.path(), &[displaced(0), flipped]);
        assert!(!folder.path().join("scene.glb").exists());
    }
}
