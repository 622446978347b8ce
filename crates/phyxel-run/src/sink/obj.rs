//! Export as Wavefront OBJ: a named object per body, as a mesh for a skin, else as points.

use crate::atomic_file::write_file;
use crate::error::SinkError;
use crate::sink::Sink;
use crate::sink::export::numbered_path;
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
    /// Writes into `folder`, which must exist.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }
}

impl Sink for ObjSequence {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let path = numbered_path(&self.folder, "frame", frame.index, "obj");
        write_file(&path, |writer| write_frame(writer, frame))?;
        Ok(())
    }
}

/// Numbers of vertices and normals so far: OBJ indices count from 1 over the whole file.
#[derive(Default)]
struct IndexOffsets {
    vertices: usize,
    normals: usize,
}

/// Writes the bodies of a frame. Lengths in m.
pub fn write_frame(writer: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    writeln!(writer, "# phyxel frame {} time {}", frame.index, frame.time)?;
    let mut offsets = IndexOffsets::default();
    for body in &frame.bodies {
        writeln!(writer, "o {}", object_name(&body.report.name))?;
        match &body.skin {
            Some(skin) => write_skin(writer, skin, &mut offsets)?,
            None => write_points(writer, &frame.particles.position[body.particles.clone()], &mut offsets)?,
        }
    }
    Ok(())
}

fn write_skin(writer: &mut dyn Write, skin: &FrameSkin, offsets: &mut IndexOffsets) -> io::Result<()> {
    for position in &skin.positions {
        writeln!(writer, "v {} {} {}", position.x, position.y, position.z)?;
    }
    let (normals, corners) = indexed_normals(skin);
    for normal in normals.iter() {
        writeln!(writer, "vn {} {} {}", normal.x, normal.y, normal.z)?;
    }
    for (t, triangle) in skin.triangles.iter().enumerate() {
        let [a, b, c] = triangle.map(|corner| corner as usize + 1 + offsets.vertices);
        match corners.get(t) {
            Some(corners) => {
                let [na, nb, nc] = corners.map(|corner| corner as usize + 1 + offsets.normals);
                writeln!(writer, "f {a}//{na} {b}//{nb} {c}//{nc}")?;
            }
            None => writeln!(writer, "f {a} {b} {c}")?,
        }
    }
    // Surfels. OBJ points have no normal index; readers of point clouds pair both lists.
    for i in 0..skin.axes.len() {
        writeln!(writer, "p {}", offsets.vertices + i + 1)?;
    }
    offsets.vertices += skin.positions.len();
    offsets.normals += normals.len();
    Ok(())
}

/// Normals of a skin and their indices at the corners of triangles. At sharp edges, equal normals are stored once.
fn indexed_normals(skin: &FrameSkin) -> (Cow<'_, [Vec3]>, Cow<'_, [[u32; 3]]>) {
    let Some(sharp) = skin.corner_normals() else {
        let is_complete = skin.normals.len() == skin.positions.len();
        return if is_complete { (skin.normals[..].into(), skin.triangles[..].into()) } else { Default::default() };
    };
    let (mut normals, mut indices) = (Vec::new(), HashMap::new());
    let mut index_of = |normal: Vec3| {
        *indices.entry(normal.to_array().map(f32::to_bits)).or_insert_with(|| {
            normals.push(normal);
            normals.len() as u32 - 1
        })
    };
    let corners: Vec<[u32; 3]> = sharp.iter().map(|corners| corners.map(&mut index_of)).collect();
    (normals.into(), corners.into())
}

fn write_points(writer: &mut dyn Write, positions: &[Vec3], offsets: &mut IndexOffsets) -> io::Result<()> {
    for position in positions {
        writeln!(writer, "v {} {} {}", position.x, position.y, position.z)?;
    }
    for i in 0..positions.len() {
        writeln!(writer, "p {}", offsets.vertices + i + 1)?;
    }
    offsets.vertices += positions.len();
    Ok(())
}

/// Replaces characters that OBJ does not allow in names.
fn object_name(name: &str) -> String {
    name.replace(|c: char| c.is_whitespace() || c.is_control(), "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_frames::{surfels, two_bodies};
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
    fn corners_at_sharp_edges_share_equal_normals() {
        let mut frame = two_bodies();
        if let Some(skin) = &mut frame.bodies[0].skin {
            // Two triangles at a right angle.
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
        ObjSequence::new(folder.path()).write_frame(&two_bodies()).unwrap();
        assert!(folder.path().join("frame_00000.obj").is_file());
    }
}
