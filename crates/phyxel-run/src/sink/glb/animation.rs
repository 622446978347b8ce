//! Animation from the files of all frames: the first frame as the base mesh, the others as morph targets.

use super::PREFIX;
use super::document::{ARRAY_BUFFER, Document, FLOAT, bounds, vector_accessor, write_binary};
use super::frame_file::{FrameFile, MeshLayout};
use crate::atomic_file::{replace_file, temporary_path, write_file};
use crate::error::FileError;
use glam::Vec3;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Largest size of the animation, bytes: viewers hold several copies of it.
const MAX_BYTES: u64 = 256 << 20;
/// Largest number of frames: viewers keep targets in texture layers, of which at least 256 are guaranteed.
const MAX_FRAMES: usize = 257;
/// Largest index of targets of all bodies together, which limits the size of the JSON.
const MAX_TARGETS: usize = 20_000;

/// Path of the animation.
pub(super) fn animation_path(folder: &Path) -> PathBuf {
    folder.join("scene.glb")
}

/// Writes the animation if the frames in the folder allow it; otherwise removes it.
pub(super) fn write_animation(folder: &Path) -> Result<(), FileError> {
    let path = animation_path(folder);
    let animation = MorphAnimation::find(folder).map_err(|source| FileError::new("write", &path, source))?;
    let Some(animation) = animation else { return super::remove_animation(folder) };
    let buffer = temporary_path(&folder.join("scene.buffer"));
    let mut document = Document::default();
    let written = write_file(&buffer, |writer| animation.write_buffer(writer, &mut document)).and_then(|_| {
        let json = document.to_json(json!({ "frames": animation.files.len() }));
        replace_file(&path, |writer| {
            write_binary(writer, &json, document.buffer_length, |writer| {
                io::copy(&mut File::open(&buffer)?, writer).map(|_| ())
            })
        })
    });
    let _ = fs::remove_file(&buffer);
    written.map_err(|error| error.with_path(&path))
}

/// Frames with the same meshes.
struct MorphAnimation {
    files: Vec<PathBuf>,
    /// Times of the frames, s.
    times: Vec<f32>,
    meshes: Vec<MeshLayout>,
    materials: Vec<Value>,
}

/// Base mesh of a mesh.
struct BaseMesh {
    positions: Vec<Vec3>,
    normals: Option<Vec<Vec3>>,
}

impl MorphAnimation {
    /// Reads the frames in a folder. `None` unless they have the same bodies and triangles and stay below the limits.
    fn find(folder: &Path) -> io::Result<Option<Self>> {
        let files = frame_files(folder)?;
        if !(2..=MAX_FRAMES).contains(&files.len()) {
            return Ok(None);
        }
        let Some(first) = FrameFile::open(&files[0])? else { return Ok(None) };
        let Some(meshes) = first.meshes().filter(|meshes| !meshes.is_empty()) else { return Ok(None) };
        let size: usize = meshes.iter().map(|mesh| if mesh.has_normals { 24 } else { 12 } * mesh.vertices).sum();
        if size as u64 * files.len() as u64 > MAX_BYTES || meshes.len() * files.len() > MAX_TARGETS {
            return Ok(None);
        }
        let mut times = Vec::new();
        for path in &files {
            let Some(file) = FrameFile::open(path)? else { return Ok(None) };
            let is_same = file.meshes().as_ref() == Some(&meshes) && file.materials() == first.materials();
            match file.time() {
                Some(time) if is_same && times.last().is_none_or(|&last| last < time as f32) => times.push(time as f32),
                _ => return Ok(None),
            }
        }
        let materials = first.materials().as_array().cloned().unwrap_or_default();
        Ok(Some(Self { files, times, meshes, materials }))
    }

    /// Writes the binary buffer and describes it in the document.
    fn write_buffer(&self, writer: &mut dyn Write, document: &mut Document) -> io::Result<()> {
        document.set_materials(self.materials.clone());
        let (bases, mut primitives) = self.write_bases(writer, document)?;
        let size: usize = self.meshes.iter().map(|mesh| if mesh.has_normals { 24 } else { 12 } * mesh.vertices).sum();
        let mut targets = MorphTargets {
            view: document.buffer_view((size * (self.files.len() - 1)) as u64, Some(ARRAY_BUFFER), Some(12)),
            offset: 0,
        };
        for path in &self.files[1..] {
            let file = open(path)?;
            for (index, (base, primitive)) in bases.iter().zip(&mut primitives).enumerate() {
                let target = targets.write(writer, document, &file, index, base)?;
                if let Some(list) = primitive["targets"].as_array_mut() {
                    list.push(target);
                }
            }
        }
        self.write_weights(writer, document, primitives)
    }

    /// Writes the base meshes of the first frame.
    fn write_bases(&self, writer: &mut dyn Write, document: &mut Document) -> io::Result<(Vec<BaseMesh>, Vec<Value>)> {
        let file = open(&self.files[0])?;
        let (mut bases, mut primitives) = (Vec::new(), Vec::new());
        for (index, mesh) in self.meshes.iter().enumerate() {
            let positions = file.vectors(index, "POSITION")?;
            write_vectors(writer, &positions)?;
            let accessor = document.vectors(mesh.vertices, Some(bounds(&positions)));
            let attributes = json!({ "POSITION": accessor });
            let mut primitive =
                json!({ "attributes": attributes, "material": mesh.material, "mode": 0, "targets": [] });
            let mut normals = None;
            if mesh.has_normals {
                let values = file.vectors(index, "NORMAL")?;
                write_vectors(writer, &values)?;
                primitive["attributes"]["NORMAL"] = document.vectors(mesh.vertices, None).into();
                normals = Some(values);
            }
            if let Some((count, _)) = mesh.triangles {
                writer.write_all(&file.indices(index)?)?;
                primitive["indices"] = document.indices(count).into();
                primitive["mode"] = 4.into();
            }
            bases.push(BaseMesh { positions, normals });
            primitives.push(primitive);
        }
        Ok((bases, primitives))
    }

    /// Writes the weights of the targets: 1 in the frame of a target, 0 in all others, linear in between.
    fn write_weights(&self, writer: &mut dyn Write, document: &mut Document, primitives: Vec<Value>) -> io::Result<()> {
        let (frames, targets) = (self.times.len(), self.times.len() - 1);
        let view = document.buffer_view(4 * frames as u64, None, None);
        let (first, last) = (self.times[0], self.times[targets]);
        let input = document.accessor(json!({
            "bufferView": view, "componentType": FLOAT, "count": frames, "type": "SCALAR",
            "min": [first], "max": [last],
        }));
        self.times.iter().try_for_each(|time| writer.write_all(&time.to_le_bytes()))?;
        let count = frames * targets;
        let view = document.buffer_view(4 * count as u64, None, None);
        let output =
            document.accessor(json!({ "bufferView": view, "componentType": FLOAT, "count": count, "type": "SCALAR" }));
        for frame in 0..frames {
            for target in 1..frames {
                let weight = if frame == target { 1.0_f32 } else { 0.0 };
                writer.write_all(&weight.to_le_bytes())?;
            }
        }
        let names: Vec<String> = (1..frames).map(|frame| format!("frame {frame}")).collect();
        let channels: Vec<Value> = (self.meshes.iter().zip(primitives))
            .map(|(layout, primitive)| {
                let weights = vec![0; targets];
                let mesh = json!({ "primitives": [primitive], "weights": weights, "extras": { "targetNames": names } });
                let node = document.node(&layout.name, mesh);
                json!({ "sampler": 0, "target": { "node": node, "path": "weights" } })
            })
            .collect();
        let samplers = json!([{ "input": input, "output": output, "interpolation": "LINEAR" }]);
        document.animation(json!({ "name": "run", "channels": channels, "samplers": samplers }));
        Ok(())
    }
}

/// Buffer view shared by all morph targets.
struct MorphTargets {
    view: usize,
    offset: u64,
}

impl MorphTargets {
    /// Writes the displacements of a mesh from its base shape.
    fn write(
        &mut self,
        writer: &mut dyn Write,
        document: &mut Document,
        file: &FrameFile,
        mesh: usize,
        base: &BaseMesh,
    ) -> io::Result<Value> {
        let displacements = differences(&file.vectors(mesh, "POSITION")?, &base.positions);
        let mut target = json!({ "POSITION": self.add(writer, document, &displacements)? });
        if let Some(normals) = &base.normals {
            let normal_changes = differences(&file.vectors(mesh, "NORMAL")?, normals);
            target["NORMAL"] = self.add(writer, document, &normal_changes)?.into();
        }
        Ok(target)
    }

    fn add(&mut self, writer: &mut dyn Write, document: &mut Document, values: &[Vec3]) -> io::Result<usize> {
        write_vectors(writer, values)?;
        let accessor = vector_accessor(self.view, self.offset, values.len(), Some(bounds(values)));
        self.offset += 12 * values.len() as u64;
        Ok(document.accessor(accessor))
    }
}

fn differences(values: &[Vec3], base: &[Vec3]) -> Vec<Vec3> {
    values.iter().zip(base).map(|(value, base)| *value - *base).collect()
}

fn write_vectors(writer: &mut dyn Write, values: &[Vec3]) -> io::Result<()> {
    values.iter().try_for_each(|value| writer.write_all(value.to_array().map(f32::to_le_bytes).as_flattened()))
}

fn open(path: &Path) -> io::Result<FrameFile> {
    FrameFile::open(path)?.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

/// Lists the files of frames, in order.
fn frame_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let index = name.strip_suffix(".glb").and_then(|stem| stem.strip_prefix(PREFIX)?.strip_prefix('_'));
        if let Some(index) = index.and_then(|digits| digits.parse::<u32>().ok()) {
            files.push((index, path));
        }
    }
    files.sort();
    Ok(files.into_iter().map(|(_, path)| path).collect())
}
