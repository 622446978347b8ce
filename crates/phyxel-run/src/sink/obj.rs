//! Frames as Wavefront OBJ: a named object per body, a mesh where it has a skin and points where it has surfels or none.

use crate::durable::write_file;
use crate::error::SinkError;
use crate::sink::Sink;
use crate::sink::sequence::numbered;
use glam::Vec3;
use phyxel::Frame;
use phyxel::frame::FrameSkin;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;

/// Writes `frame_00000.obj` for every frame.
#[derive(Clone, Debug)]
pub struct ObjSequence {
    folder: PathBuf,
}

impl ObjSequence {
    /// Files go into `folder`, which must be there.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }
}

impl Sink for ObjSequence {
    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let path = numbered(&self.folder, "frame", frame.index, "obj");
        write_file(&path, |writer| write_frame(writer, frame))?;
        Ok(())
    }
}

/// Numbers given out so far; OBJ counts from 1 over the whole file.
#[derive(Default)]
struct Numbers {
    vertices: usize,
    normals: usize,
}

/// Writes the bodies of a frame. Lengths in m.
pub fn write_frame(writer: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    writeln!(writer, "# phyxel frame {} time {}", frame.index, frame.time)?;
    let mut numbers = Numbers::default();
    for body in &frame.bodies {
        writeln!(writer, "o {}", object_name(&body.report.name))?;
        match &body.skin {
            Some(skin) => write_skin(writer, skin, &mut numbers)?,
            None => write_points(writer, &frame.particles.position[body.particles.clone()], &mut numbers)?,
        }
    }
    Ok(())
}

fn write_skin(writer: &mut dyn Write, skin: &FrameSkin, numbers: &mut Numbers) -> io::Result<()> {
    for position in &skin.positions {
        writeln!(writer, "v {} {} {}", position.x, position.y, position.z)?;
    }
    let (normals, corners) = normals_of(skin);
    for normal in normals.iter() {
        writeln!(writer, "vn {} {} {}", normal.x, normal.y, normal.z)?;
    }
    for (t, triangle) in skin.triangles.iter().enumerate() {
        let [a, b, c] = triangle.map(|corner| corner as usize + 1 + numbers.vertices);
        match corners.get(t) {
            Some(corners) => {
                let [na, nb, nc] = corners.map(|corner| corner as usize + 1 + numbers.normals);
                writeln!(writer, "f {a}//{na} {b}//{nb} {c}//{nc}")?;
            }
            None => writeln!(writer, "f {a} {b} {c}")?,
        }
    }
    // Surfels. A point cannot name its normal; programs that read clouds take both lists side by side.
    for i in 0..skin.axes.len() {
        writeln!(writer, "p {}", numbers.vertices + i + 1)?;
    }
    numbers.vertices += skin.positions.len();
    numbers.normals += normals.len();
    Ok(())
}

/// Normals of a skin, and which of them the corners of each triangle have. Where edges are sharp, each normal comes once.
fn normals_of(skin: &FrameSkin) -> (Cow<'_, [Vec3]>, Cow<'_, [[u32; 3]]>) {
    let Some(sharp) = skin.corner_normals() else {
        let is_whole = skin.normals.len() == skin.positions.len();
        return if is_whole { (skin.normals[..].into(), skin.triangles[..].into()) } else { Default::default() };
    };
    let (mut normals, mut known) = (Vec::new(), HashMap::new());
    let mut number = |normal: Vec3| {
        *known.entry(normal.to_array().map(f32::to_bits)).or_insert_with(|| {
            normals.push(normal);
            normals.len() as u32 - 1
        })
    };
    let corners: Vec<[u32; 3]> = sharp.iter().map(|corners| corners.map(&mut number)).collect();
    (normals.into(), corners.into())
}

fn write_points(writer: &mut dyn Write, positions: &[Vec3], numbers: &mut Numbers) -> io::Result<()> {
    for position in positions {
        writeln!(writer, "v {} {} {}", position.x, position.y, position.z)?;
    }
    for i in 0..positions.len() {
        writeln!(writer, "p {}", numbers.vertices + i + 1)?;
    }
    numbers.vertices += positions.len();
    Ok(())
}

/// A name as OBJ can say it: one word.
fn object_name(name: &str) -> String {
    name.replace(|c: char| c.is_whitespace() || c.is_control(), "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{surfels, two_bodies};
    use std::sync::Arc;

    fn load(frame: &Frame) -> Vec<tobj::Model> {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, frame).unwrap();
        let options = tobj::LoadOptions::default();
        let (models, _) =
            tobj::load_obj_buf(&mut bytes.as_slice(), &options, |_| Err(tobj::LoadError::GenericFailure)).unwrap();
        models
    }

    #[test]
    fn a_skin_reads_back_as_a_mesh_with_normals() {
        let models = load(&two_bodies());
        assert_eq!(models[0].name, "soft_cube");
        assert_eq!(models[0].mesh.indices, [0, 1, 2]);
        assert_eq!(models[0].mesh.normals[..3], [0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_body_without_a_skin_is_written_as_points() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &two_bodies()).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.ends_with("o drop\nv 2 0 0\np 4\n"), "{text}");
    }

    #[test]
    fn surfels_are_written_as_points_with_normals() {
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &surfels()).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let normals = "vn 0 0 1\n".repeat(3);
        assert!(text.contains(&format!("v 0 1 0\n{normals}p 1\np 2\np 3\no drop\nv 2 0 0\np 4\n")), "{text}");
    }

    #[test]
    fn where_edges_are_sharp_each_normal_comes_once_and_corners_name_theirs() {
        let mut frame = two_bodies();
        if let Some(skin) = &mut frame.bodies[0].skin {
            // A square with a corner turned up: two triangles at a right angle.
            skin.positions.push(Vec3::new(1.0, 0.0, 1.0));
            skin.triangles = Arc::new(vec![[0, 1, 2], [0, 3, 1]]);
            skin.crease = Some(40.0);
        }
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &frame).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains("vn 0 0 1\nvn 0 1 0\nf 1//1 2//1 3//1\nf 1//2 4//2 2//2\n"), "{text}");
    }

    #[test]
    fn files_are_numbered_from_zero() {
        let folder = tempfile::tempdir().unwrap();
        ObjSequence::new(folder.path()).frame(&two_bodies()).unwrap();
        assert!(folder.path().join("frame_00000.obj").is_file());
    }
}
