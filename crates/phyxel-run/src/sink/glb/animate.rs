//! One moving file of the files of all frames: the first frame as the mesh, the others as morph targets.

use super::PREFIX;
use super::document::{Document, FLOAT, VERTICES, bounds, vectors, write_binary};
use super::frame_file::{FrameFile, Shape};
use crate::durable::{replace_file, temporary_beside, write_file};
use crate::error::FileError;
use glam::Vec3;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Largest size of the moving file: viewers hold all of it, and more than once.
const MOST_BYTES: u64 = 256 << 20;
/// Most frames of the moving file: viewers keep targets in the layers of a texture, and every one has 256 of them.
const MOST_FRAMES: usize = 257;
/// Most targets of all bodies together: each has to be described.
const MOST_TARGETS: usize = 20_000;

/// The moving file.
pub(super) fn scene_of(folder: &Path) -> PathBuf {
    folder.join("scene.glb")
}

/// Writes the moving file if the frames in the folder allow it; else there is none.
pub(super) fn write_scene(folder: &Path) -> Result<(), FileError> {
    let path = scene_of(folder);
    let clip = Clip::find(folder).map_err(|source| FileError::new("write", &path, source))?;
    let Some(clip) = clip else { return super::remove_scene(folder) };
    let numbers = temporary_beside(&folder.join("scene.numbers"));
    let mut document = Document::default();
    let written = write_file(&numbers, |writer| clip.write_numbers(writer, &mut document)).and_then(|_| {
        let text = document.text(json!({ "frames": clip.files.len() }));
        replace_file(&path, |writer| {
            write_binary(writer, &text, document.bytes, |writer| {
                io::copy(&mut File::open(&numbers)?, writer).map(|_| ())
            })
        })
    });
    let _ = fs::remove_file(&numbers);
    written.map_err(|error| error.about(&path))
}

/// Frames that can be shapes of the same meshes.
struct Clip {
    files: Vec<PathBuf>,
    /// s.
    times: Vec<f32>,
    shapes: Vec<Shape>,
    materials: Vec<Value>,
}

/// The first shape of a mesh.
struct Base {
    positions: Vec<Vec3>,
    normals: Option<Vec<Vec3>>,
}

impl Clip {
    /// The frames in a folder, if there are not too many of them and they have the same bodies and triangles.
    fn find(folder: &Path) -> io::Result<Option<Self>> {
        let files = frames_in(folder)?;
        if !(2..=MOST_FRAMES).contains(&files.len()) {
            return Ok(None);
        }
        let Some(first) = FrameFile::open(&files[0])? else { return Ok(None) };
        let Some(shapes) = first.shapes().filter(|shapes| !shapes.is_empty()) else { return Ok(None) };
        let room: usize = shapes.iter().map(|shape| if shape.normals { 24 } else { 12 } * shape.count).sum();
        if room as u64 * files.len() as u64 > MOST_BYTES || shapes.len() * files.len() > MOST_TARGETS {
            return Ok(None);
        }
        let mut times = Vec::new();
        for path in &files {
            let Some(file) = FrameFile::open(path)? else { return Ok(None) };
            let same = file.shapes().as_ref() == Some(&shapes) && file.materials() == first.materials();
            match file.time() {
                Some(time) if same && times.last().is_none_or(|&last| last < time as f32) => times.push(time as f32),
                _ => return Ok(None),
            }
        }
        let materials = first.materials().as_array().cloned().unwrap_or_default();
        Ok(Some(Self { files, times, shapes, materials }))
    }

    /// Writes all numbers, and describes them.
    fn write_numbers(&self, writer: &mut dyn Write, document: &mut Document) -> io::Result<()> {
        document.set_materials(self.materials.clone());
        let (bases, mut primitives) = self.write_bases(writer, document)?;
        let room: usize = self.shapes.iter().map(|shape| if shape.normals { 24 } else { 12 } * shape.count).sum();
        let mut targets = Targets {
            view: document.view((room * (self.files.len() - 1)) as u64, Some(VERTICES), Some(12)),
            offset: 0,
        };
        for path in &self.files[1..] {
            let file = open(path)?;
            for (number, (base, primitive)) in bases.iter().zip(&mut primitives).enumerate() {
                let target = targets.write(writer, document, &file, number, base)?;
                if let Some(list) = primitive["targets"].as_array_mut() {
                    list.push(target);
                }
            }
        }
        self.write_motion(writer, document, primitives)
    }

    /// Writes the first frame.
    fn write_bases(&self, writer: &mut dyn Write, document: &mut Document) -> io::Result<(Vec<Base>, Vec<Value>)> {
        let file = open(&self.files[0])?;
        let (mut bases, mut primitives) = (Vec::new(), Vec::new());
        for (number, shape) in self.shapes.iter().enumerate() {
            let positions = file.vectors(number, "POSITION")?;
            write_vectors(writer, &positions)?;
            let at = document.vectors(shape.count, Some(bounds(&positions)));
            let mut primitive =
                json!({ "attributes": { "POSITION": at }, "material": shape.material, "mode": 0, "targets": [] });
            let mut normals = None;
            if shape.normals {
                let own = file.vectors(number, "NORMAL")?;
                write_vectors(writer, &own)?;
                primitive["attributes"]["NORMAL"] = document.vectors(shape.count, None).into();
                normals = Some(own);
            }
            if let Some((count, _)) = shape.triangles {
                writer.write_all(&file.corners(number)?)?;
                primitive["indices"] = document.corners(count).into();
                primitive["mode"] = 4.into();
            }
            bases.push(Base { positions, normals });
            primitives.push(primitive);
        }
        Ok((bases, primitives))
    }

    /// Writes when which target counts: in its own frame fully, in the neighbours not at all, in between in part.
    fn write_motion(&self, writer: &mut dyn Write, document: &mut Document, primitives: Vec<Value>) -> io::Result<()> {
        let (frames, targets) = (self.times.len(), self.times.len() - 1);
        let view = document.view(4 * frames as u64, None, None);
        let (first, last) = (self.times[0], self.times[targets]);
        let input = document.accessor(json!({
            "bufferView": view, "componentType": FLOAT, "count": frames, "type": "SCALAR", "min": [first], "max": [last],
        }));
        self.times.iter().try_for_each(|time| writer.write_all(&time.to_le_bytes()))?;
        let count = frames * targets;
        let view = document.view(4 * count as u64, None, None);
        let output =
            document.accessor(json!({ "bufferView": view, "componentType": FLOAT, "count": count, "type": "SCALAR" }));
        for frame in 0..frames {
            for target in 1..frames {
                let weight = if frame == target { 1.0_f32 } else { 0.0 };
                writer.write_all(&weight.to_le_bytes())?;
            }
        }
        let names: Vec<String> = (1..frames).map(|frame| format!("frame {frame}")).collect();
        let channels: Vec<Value> = (self.shapes.iter().zip(primitives))
            .map(|(shape, primitive)| {
                let weights = vec![0; targets];
                let mesh = json!({ "primitives": [primitive], "weights": weights, "extras": { "targetNames": names } });
                let node = document.node(&shape.name, mesh);
                json!({ "sampler": 0, "target": { "node": node, "path": "weights" } })
            })
            .collect();
        let samplers = json!([{ "input": input, "output": output, "interpolation": "LINEAR" }]);
        document.animation(json!({ "name": "run", "channels": channels, "samplers": samplers }));
        Ok(())
    }
}

/// The part of the file that all targets share.
struct Targets {
    view: usize,
    offset: u64,
}

impl Targets {
    /// Writes how a mesh differs from its first shape.
    fn write(
        &mut self,
        writer: &mut dyn Write,
        document: &mut Document,
        file: &FrameFile,
        mesh: usize,
        base: &Base,
    ) -> io::Result<Value> {
        let moved = differences(&file.vectors(mesh, "POSITION")?, &base.positions);
        let mut target = json!({ "POSITION": self.add(writer, document, &moved)? });
        if let Some(normals) = &base.normals {
            let turned = differences(&file.vectors(mesh, "NORMAL")?, normals);
            target["NORMAL"] = self.add(writer, document, &turned)?.into();
        }
        Ok(target)
    }

    fn add(&mut self, writer: &mut dyn Write, document: &mut Document, values: &[Vec3]) -> io::Result<usize> {
        write_vectors(writer, values)?;
        let accessor = vectors(self.view, self.offset, values.len(), Some(bounds(values)));
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

/// Files of frames, in order.
fn frames_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let number = name.strip_suffix(".glb").and_then(|stem| stem.strip_prefix(PREFIX)?.strip_prefix('_'));
        if let Some(number) = number.and_then(|digits| digits.parse::<u32>().ok()) {
            files.push((number, path));
        }
    }
    files.sort();
    Ok(files.into_iter().map(|(_, path)| path).collect())
}
