//! Particles for Houdini: the classic binary geometry file, version 5, numbers with the big end first.

use crate::durable::write_file;
use crate::error::SinkError;
use crate::sink::Sink;
use crate::sink::look::linear;
use crate::sink::sequence::numbered;
use phyxel::Frame;
use std::io::{self, Write};
use std::path::PathBuf;

/// What a value of a point is, by the numbers of the format.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Float = 0,
    Integer = 1,
    Vector = 5,
}

/// Values of a point beside its position: name, numbers, kind.
const VALUES: [(&str, u16, Kind); 7] = [
    ("v", 3, Kind::Vector),
    ("pscale", 1, Kind::Float),
    ("Cd", 3, Kind::Float),
    ("temperature", 1, Kind::Float),
    ("mass", 1, Kind::Float),
    ("id", 1, Kind::Integer),
    ("body", 1, Kind::Integer),
];

/// Writes `particles_00000.bgeo` for every frame.
#[derive(Clone, Debug)]
pub struct BgeoSequence {
    folder: PathBuf,
}

impl BgeoSequence {
    /// Files go into `folder`, which must be there.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }
}

impl Sink for BgeoSequence {
    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let path = numbered(&self.folder, "particles", frame.index, "bgeo");
        write_file(&path, |writer| write_particles(writer, frame))?;
        Ok(())
    }
}

/// Writes all particles of a frame: velocity, radius, linear colour, temperature, mass, their place in the frame's list
/// and the number of the body. SI units.
pub fn write_particles(writer: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    let count: usize = frame.bodies.iter().map(|body| body.particles.len()).sum();
    let values = VALUES.len() as i32;
    writer.write_all(b"BgeoV")?;
    // Version; points, primitives; groups of both; kinds of values of points, vertices, primitives and the whole.
    for number in [5, count as i32, 0, 0, 0, values, 0, 0, 0] {
        writer.write_all(&number.to_be_bytes())?;
    }
    for (name, numbers, kind) in VALUES {
        writer.write_all(&(name.len() as u16).to_be_bytes())?;
        writer.write_all(name.as_bytes())?;
        writer.write_all(&numbers.to_be_bytes())?;
        writer.write_all(&(kind as i32).to_be_bytes())?;
        writer.write_all(&vec![0; 4 * usize::from(numbers)])?;
    }
    write_points(writer, frame)?;
    // Nothing more, and the end.
    writer.write_all(&[0x00, 0xff])
}

fn write_points(writer: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    let columns = &frame.particles;
    let mut record: Vec<u8> = Vec::new();
    for (number, body) in frame.bodies.iter().enumerate() {
        let color = linear(body.color);
        for i in body.particles.clone() {
            record.clear();
            let mut push = |values: &[f32]| values.iter().for_each(|value| record.extend(value.to_be_bytes()));
            push(&columns.position[i].extend(1.0).to_array());
            push(&columns.velocity[i].to_array());
            push(&[columns.radius[i]]);
            push(&color);
            push(&[columns.temperature[i], columns.mass[i]]);
            record.extend((i as i32).to_be_bytes());
            record.extend((number as i32).to_be_bytes());
            writer.write_all(&record)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::two_bodies;

    #[test]
    fn the_last_particle_stands_before_the_end() {
        let mut file = Vec::new();
        write_particles(&mut file, &two_bodies()).unwrap();
        assert_eq!(file[..9], *b"BgeoV\0\0\0\x05");
        let numbers: usize = 4 + VALUES.iter().map(|value| usize::from(value.1)).sum::<usize>();
        let record = &file[file.len() - 2 - 4 * numbers..file.len() - 2];
        let float = |i: usize| f32::from_be_bytes(record[4 * i..4 * i + 4].try_into().unwrap());
        assert_eq!([0, 1, 2, 3].map(float), [2.0, 0.0, 0.0, 1.0]);
        assert_eq!([float(6), float(7), float(11), float(12)], [-2.0, 0.25, 20.0, 0.5]);
        assert_eq!(record[52..], [0, 0, 0, 2, 0, 0, 0, 1]);
    }

    #[test]
    fn files_are_numbered_from_zero() {
        let folder = tempfile::tempdir().unwrap();
        BgeoSequence::new(folder.path()).frame(&two_bodies()).unwrap();
        assert!(folder.path().join("particles_00000.bgeo").is_file());
    }
}
