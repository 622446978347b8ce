//! Export of particles to Houdini: classic binary geometry, version 5, big endian.

use crate::atomic_file::write_file;
use crate::error::SinkError;
use crate::sink::Sink;
use crate::sink::appearance::linear_rgb;
use crate::sink::export::numbered_path;
use phyxel::Frame;
use std::io::{self, Write};
use std::path::PathBuf;

/// Type of a point attribute, as encoded by the format.
#[derive(Clone, Copy, Debug)]
enum AttributeType {
    Float = 0,
    Integer = 1,
    Vector = 5,
}

/// Point attributes besides the position: name, number of components, type.
const ATTRIBUTES: [(&str, u16, AttributeType); 7] = [
    ("v", 3, AttributeType::Vector),
    ("pscale", 1, AttributeType::Float),
    ("Cd", 3, AttributeType::Float),
    ("temperature", 1, AttributeType::Float),
    ("mass", 1, AttributeType::Float),
    ("id", 1, AttributeType::Integer),
    ("body", 1, AttributeType::Integer),
];

/// Writes `particles_00000.bgeo` for every frame.
#[derive(Clone, Debug)]
pub struct BgeoSequence {
    folder: PathBuf,
}

impl BgeoSequence {
    /// Writes into `folder`, which must exist.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }
}

impl Sink for BgeoSequence {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let path = numbered_path(&self.folder, "particles", frame.index, "bgeo");
        write_file(&path, |writer| write_particles(writer, frame))?;
        Ok(())
    }
}

/// Writes all particles of a frame: velocity, radius, linear colour, temperature, mass, index in the frame and index of
/// the body. SI units.
pub fn write_particles(writer: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    let count: usize = frame.bodies.iter().map(|body| body.particles.len()).sum();
    let attributes = ATTRIBUTES.len() as i32;
    writer.write_all(b"BgeoV")?;
    // Version; points, primitives; groups of both; attributes of points, vertices, primitives and the detail.
    for value in [5, count as i32, 0, 0, 0, attributes, 0, 0, 0] {
        writer.write_all(&value.to_be_bytes())?;
    }
    for (name, components, attribute_type) in ATTRIBUTES {
        writer.write_all(&(name.len() as u16).to_be_bytes())?;
        writer.write_all(name.as_bytes())?;
        writer.write_all(&components.to_be_bytes())?;
        writer.write_all(&(attribute_type as i32).to_be_bytes())?;
        writer.write_all(&vec![0; 4 * usize::from(components)])?;
    }
    write_points(writer, frame)?;
    // No further attributes, end of file.
    writer.write_all(&[0x00, 0xff])
}

fn write_points(writer: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    let columns = &frame.particles;
    let mut record: Vec<u8> = Vec::new();
    for (index, body) in frame.bodies.iter().enumerate() {
        let color = linear_rgb(body.color);
        for i in body.particles.clone() {
            record.clear();
            let mut push = |values: &[f32]| values.iter().for_each(|value| record.extend(value.to_be_bytes()));
            push(&columns.position[i].extend(1.0).to_array());
            push(&columns.velocity[i].to_array());
            push(&[columns.radius[i]]);
            push(&color);
            push(&[columns.temperature[i], columns.mass[i]]);
            record.extend((i as i32).to_be_bytes());
            record.extend((index as i32).to_be_bytes());
            writer.write_all(&record)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_frames::two_bodies;

    #[test]
    fn the_last_particle_precedes_the_end_marker() {
        let mut file = Vec::new();
        write_particles(&mut file, &two_bodies()).unwrap();
        assert_eq!(file[..9], *b"BgeoV\0\0\0\x05");
        let components: usize = 4 + ATTRIBUTES.iter().map(|attribute| usize::from(attribute.1)).sum::<usize>();
        let record = &file[file.len() - 2 - 4 * components..file.len() - 2];
        let float = |i: usize| f32::from_be_bytes(record[4 * i..4 * i + 4].try_into().unwrap());
        assert_eq!([0, 1, 2, 3].map(float), [2.0, 0.0, 0.0, 1.0]);
        assert_eq!([float(6), float(7), float(11), float(12)], [-2.0, 0.25, 20.0, 0.5]);
        assert_eq!(record[52..], [0, 0, 0, 2, 0, 0, 0, 1]);
    }

    #[test]
    fn files_are_numbered_from_zero() {
        let folder = tempfile::tempdir().unwrap();
        BgeoSequence::new(folder.path()).write_frame(&two_bodies()).unwrap();
        assert!(folder.path().join("particles_00000.bgeo").is_file());
    }
}
