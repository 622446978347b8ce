//! Export as binary PLY: particles with attributes, skins as meshes, surfels as points.

use crate::atomic_file::write_file;
use crate::error::SinkError;
use crate::sink::Sink;
use crate::sink::export::numbered_path;
use phyxel::Frame;
use phyxel::frame::{FrameBody, FrameSkin};
use std::io::{self, Write};
use std::path::PathBuf;

/// Writes `particles_00000.ply` for every frame, and `skin_00000.ply` for every frame with a skin.
#[derive(Clone, Debug)]
pub struct PlySequence {
    folder: PathBuf,
}

impl PlySequence {
    /// Writes into `folder`, which must exist.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }
}

impl Sink for PlySequence {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let particles = numbered_path(&self.folder, "particles", frame.index, "ply");
        write_file(&particles, |writer| write_particles(writer, frame))?;
        if frame.bodies.iter().any(|body| body.skin.is_some()) {
            let skin = numbered_path(&self.folder, "skin", frame.index, "ply");
            write_file(&skin, |writer| write_skins(writer, frame))?;
        }
        Ok(())
    }
}

/// Writes all particles of a frame: position, velocity, radius, temperature, strain, phase (0 solid, 1 fluid, 2 gas)
/// and index of the body, whose name is in the header. SI units.
pub fn write_particles(writer: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    let columns = &frame.particles;
    write_header(writer, frame)?;
    let count = frame.bodies.iter().map(|body| body.particles.len()).sum::<usize>();
    writeln!(writer, "element vertex {count}")?;
    for name in ["x", "y", "z", "vx", "vy", "vz", "radius", "temperature", "strain"] {
        writeln!(writer, "property float {name}")?;
    }
    writer.write_all(b"property uchar phase\nproperty uint body\nend_header\n")?;
    let mut record = Vec::new();
    for (index, body) in frame.bodies.iter().enumerate() {
        for i in body.particles.clone() {
            record.clear();
            push_floats(&mut record, columns.position[i].as_ref());
            push_floats(&mut record, columns.velocity[i].as_ref());
            push_floats(&mut record, &[columns.radius[i], columns.temperature[i], columns.strain[i]]);
            record.push(columns.phase[i] as u8);
            record.extend((index as u32).to_le_bytes());
            writer.write_all(&record)?;
        }
    }
    Ok(())
}

/// Writes all skins of a frame as one mesh, surfels as vertices without faces: position, normal, velocity, temperature,
/// strain, colour and index of the body per vertex. SI units.
pub fn write_skins(writer: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    let skins = || frame.bodies.iter().enumerate().filter_map(|(i, body)| Some((i, body, body.skin.as_ref()?)));
    write_header(writer, frame)?;
    writeln!(writer, "element vertex {}", skins().map(|(_, _, skin)| skin.positions.len()).sum::<usize>())?;
    // PLY has vertex normals only. They are omitted if a skin has sharp edges; programs compute their own.
    let is_smooth = skins().all(|(_, _, skin)| skin.crease.is_none());
    let normal: &[&str] = if is_smooth { &["nx", "ny", "nz"] } else { &[] };
    for name in ["x", "y", "z"].iter().chain(normal).chain(&["vx", "vy", "vz", "temperature", "strain"]) {
        writeln!(writer, "property float {name}")?;
    }
    for name in ["red", "green", "blue"] {
        writeln!(writer, "property uchar {name}")?;
    }
    writeln!(writer, "property uint body")?;
    writeln!(writer, "element face {}", skins().map(|(_, _, skin)| skin.triangles.len()).sum::<usize>())?;
    writer.write_all(b"property list uchar uint vertex_indices\nend_header\n")?;
    for (index, body, skin) in skins() {
        write_vertices(writer, (index as u32, body), skin, is_smooth)?;
    }
    let mut first = 0;
    for (_, _, skin) in skins() {
        for triangle in skin.triangles.iter() {
            let mut record = [3; 13];
            for (bytes, corner) in record[1..].chunks_exact_mut(4).zip(triangle) {
                bytes.copy_from_slice(&(first + corner).to_le_bytes());
            }
            writer.write_all(&record)?;
        }
        first += skin.positions.len() as u32;
    }
    Ok(())
}

fn write_vertices(
    writer: &mut dyn Write,
    (index, body): (u32, &FrameBody),
    skin: &FrameSkin,
    with_normals: bool,
) -> io::Result<()> {
    let color = body.color.map(|channel| (channel.clamp(0.0, 1.0) * 255.0).round() as u8);
    let mut record = Vec::new();
    for (i, position) in skin.positions.iter().enumerate() {
        record.clear();
        push_floats(&mut record, position.as_ref());
        if with_normals {
            push_floats(&mut record, skin.normals.get(i).copied().unwrap_or_default().as_ref());
        }
        push_floats(&mut record, skin.velocities.get(i).copied().unwrap_or_default().as_ref());
        let scalars = [&skin.temperatures, &skin.strains].map(|column| column.get(i).copied().unwrap_or_default());
        push_floats(&mut record, &scalars);
        record.extend(color);
        record.extend(index.to_le_bytes());
        writer.write_all(&record)?;
    }
    Ok(())
}

fn write_header(writer: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    writer.write_all(b"ply\nformat binary_little_endian 1.0\n")?;
    writeln!(writer, "comment phyxel frame {} time {}", frame.index, frame.time)?;
    for (index, body) in frame.bodies.iter().enumerate() {
        let name = body.report.name.replace(|c: char| c.is_control(), " ");
        writeln!(writer, "comment body {index} {name}")?;
    }
    Ok(())
}

fn push_floats(record: &mut Vec<u8>, values: &[f32]) {
    values.iter().for_each(|value| record.extend(value.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_frames::{surfels, two_bodies};
    use ply_rs_bw::parser::Parser;
    use ply_rs_bw::ply::{DefaultElement, Ply, Property};

    fn read(write: impl Fn(&mut dyn Write, &Frame) -> io::Result<()>, frame: &Frame) -> Ply<DefaultElement> {
        let mut bytes = Vec::new();
        write(&mut bytes, frame).unwrap();
        Parser::<DefaultElement>::new().read_ply(&mut bytes.as_slice()).unwrap()
    }

    #[test]
    fn particles_read_back_as_they_were() {
        let frame = two_bodies();
        let ply = read(write_particles, &frame);
        let vertices = &ply.payload["vertex"];
        assert_eq!(vertices.len(), 3);
        assert_eq!(vertices[2]["x"], Property::Float(2.0));
        assert_eq!(vertices[2]["vz"], Property::Float(-2.0));
        assert_eq!(vertices[2]["radius"], Property::Float(0.25));
        assert_eq!(vertices[2]["temperature"], Property::Float(20.0));
        assert_eq!(vertices[1]["strain"], Property::Float(0.1));
        assert_eq!(vertices[2]["phase"], Property::UChar(1));
        assert_eq!(vertices[2]["body"], Property::UInt(1));
    }

    #[test]
    fn skins_read_back_as_one_mesh() {
        let ply = read(write_skins, &two_bodies());
        let (vertices, faces) = (&ply.payload["vertex"], &ply.payload["face"]);
        assert_eq!((vertices.len(), faces.len()), (3, 1));
        assert_eq!(vertices[0]["nz"], Property::Float(1.0));
        assert_eq!(vertices[0]["vx"], Property::Float(0.5));
        assert_eq!(vertices[1]["temperature"], Property::Float(5.0));
        assert_eq!(vertices[2]["strain"], Property::Float(0.2));
        assert_eq!(vertices[0]["red"], Property::UChar(255));
        assert_eq!(faces[0]["vertex_indices"], Property::ListUInt(vec![0, 1, 2]));
    }

    #[test]
    fn skins_with_sharp_edges_have_no_vertex_normals() {
        let mut frame = two_bodies();
        if let Some(skin) = &mut frame.bodies[0].skin {
            skin.crease = Some(40.0);
        }
        let ply = read(write_skins, &frame);
        let vertex = &ply.payload["vertex"][1];
        assert!(!vertex.contains_key("nx") && vertex["temperature"] == Property::Float(5.0));
    }

    #[test]
    fn surfels_are_vertices_with_normals_and_without_faces() {
        let ply = read(write_skins, &surfels());
        assert_eq!((ply.payload["vertex"].len(), ply.payload["face"].len()), (3, 0));
        assert_eq!(ply.payload["vertex"][1]["nz"], Property::Float(1.0));
    }

    #[test]
    fn files_are_numbered_from_zero() {
        let folder = tempfile::tempdir().unwrap();
        let mut sink = PlySequence::new(folder.path());
        sink.write_frame(&two_bodies()).unwrap();
        assert!(folder.path().join("particles_00000.ply").is_file());
        assert!(folder.path().join("skin_00000.ply").is_file());
    }

    #[test]
    fn a_missing_folder_is_an_error_that_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let error = PlySequence::new(folder.path().join("missing")).write_frame(&two_bodies()).unwrap_err();
        assert!(error.to_string().contains("particles_00000.ply"), "{error}");
    }
}
