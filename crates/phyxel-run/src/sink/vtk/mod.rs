//! Frames for ParaView and everything else that reads VTK: particles and skins as poly data, with lists of their times.

mod polydata;
mod series;

use crate::durable::write_file;
use crate::error::{FileError, SinkError};
use crate::sink::Sink;
use crate::sink::sequence::numbered;
use glam::Vec3;
use phyxel::Frame;
use phyxel::frame::FrameSkin;
use polydata::{Array, PolyData};
use series::Series;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What the files are called before their number, and the lists.
pub(crate) const PREFIXES: [&str; 2] = ["particles", "skin"];

/// Writes `particles_00000.vtp` for every frame, `skin_00000.vtp` for every frame with a skin, and a list of each.
#[derive(Debug)]
pub struct VtkSequence {
    folder: PathBuf,
    lists: Option<[Series; 2]>,
}

impl VtkSequence {
    /// Files go into `folder`, which must be there.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), lists: None }
    }

    fn write_lists(&mut self) -> Result<(), SinkError> {
        let mut lists = self.lists.iter_mut().flatten();
        Ok(lists.try_for_each(Series::write)?)
    }
}

impl Sink for VtkSequence {
    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let folder = &self.folder;
        let lists = self.lists.get_or_insert_with(|| PREFIXES.map(|prefix| Series::open(folder, prefix, frame.index)));
        let [particles, skins] = PREFIXES.map(|prefix| numbered(folder, prefix, frame.index, "vtp"));
        write_file(&particles, |writer| write_particles(writer, frame))?;
        lists[0].add(frame.index, frame.time);
        if frame.bodies.iter().any(|body| body.skin.is_some()) {
            write_file(&skins, |writer| write_skins(writer, frame))?;
            lists[1].add(frame.index, frame.time);
        }
        Ok(())
    }

    fn secure(&mut self) -> Result<(), SinkError> {
        self.write_lists()
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.write_lists()
    }
}

/// Takes the frames from `first` on out of the lists.
pub(crate) fn cut_lists(folder: &Path, first: u32) -> Result<(), FileError> {
    PREFIXES.iter().try_for_each(|prefix| Series::open(folder, prefix, first).write())
}

/// Writes all particles of a frame with velocity, radius, mass, temperature, strain, phase (0 solid, 1 fluid, 2 gas)
/// and number of the body. SI units.
pub fn write_particles(writer: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    let columns = &frame.particles;
    let places: Vec<usize> = particles(frame).map(|(_, place)| place).collect();
    let vectors = |name, column: &[Vec3]| Array::vectors(name, places.iter().map(|&i| column[i]));
    let scalars = |name, column: &[f32]| Array::floats(name, places.iter().map(|&i| column[i]));
    let values = vec![
        vectors("velocity", &columns.velocity),
        scalars("radius", &columns.radius),
        scalars("mass", &columns.mass),
        scalars("temperature", &columns.temperature),
        scalars("strain", &columns.strain),
        Array::small("phase", places.iter().map(|&i| columns.phase[i] as u8)),
        Array::integers("body", particles(frame).map(|(body, _)| body)),
    ];
    let points = vectors("Points", &columns.position);
    let count = places.len();
    let alone = (0..count).collect();
    PolyData { time: frame.time, names: names(frame), count, points, values, alone, triangles: vec![] }.write(writer)
}

/// Writes all skins of a frame as one surface, surfels as points of it, with normal, velocity, temperature, strain and number of the body at each
/// point. SI units.
pub fn write_skins(writer: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    let vectors = |name, of: fn(&FrameSkin) -> &[Vec3]| {
        Array::vectors(name, skins(frame).flat_map(|(_, skin)| padded(of(skin), skin.positions.len())))
    };
    let scalars = |name, of: fn(&FrameSkin) -> &[f32]| {
        Array::floats(name, skins(frame).flat_map(|(_, skin)| padded(of(skin), skin.positions.len())))
    };
    let bodies = skins(frame).flat_map(|(body, skin)| std::iter::repeat_n(body, skin.positions.len()));
    // Normals are those of points: where some skin has sharp edges there are none, and programs find their own.
    let is_round = skins(frame).all(|(_, skin)| skin.crease.is_none());
    let mut values = if is_round { vec![vectors("Normals", |skin| &skin.normals)] } else { Vec::new() };
    values.extend([
        vectors("velocity", |skin| &skin.velocities),
        scalars("temperature", |skin| &skin.temperatures),
        scalars("strain", |skin| &skin.strains),
        Array::integers("body", bodies),
    ]);
    let points = vectors("Points", |skin| &skin.positions);
    let count = skins(frame).map(|(_, skin)| skin.positions.len()).sum();
    let (alone, triangles) = cells(frame);
    PolyData { time: frame.time, names: names(frame), count, points, values, alone, triangles }.write(writer)
}

/// Surfels and triangles of all skins, their points counted over all skins.
fn cells(frame: &Frame) -> (Vec<usize>, Vec<[usize; 3]>) {
    let (mut first, mut alone, mut triangles) = (0, Vec::new(), Vec::new());
    for (_, skin) in skins(frame) {
        alone.extend(first..first + skin.axes.len());
        triangles.extend(skin.triangles.iter().map(|triangle| triangle.map(|corner| first + corner as usize)));
        first += skin.positions.len();
    }
    (alone, triangles)
}

/// Exactly `count` values, zeros where there are too few.
fn padded<T: Copy + Default>(values: &[T], count: usize) -> impl Iterator<Item = T> {
    (0..count).map(|i| values.get(i).copied().unwrap_or_default())
}

fn names(frame: &Frame) -> Vec<&str> {
    frame.bodies.iter().map(|body| body.report.name.as_str()).collect()
}

/// Number of the body and place in the columns of every particle.
fn particles(frame: &Frame) -> impl Iterator<Item = (usize, usize)> {
    frame.bodies.iter().enumerate().flat_map(|(body, own)| own.particles.clone().map(move |i| (body, i)))
}

/// Number of the body and skin of every body that has one.
fn skins(frame: &Frame) -> impl Iterator<Item = (usize, &FrameSkin)> {
    frame.bodies.iter().enumerate().filter_map(|(body, own)| Some((body, own.skin.as_ref()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{surfels, two_bodies};

    /// Bytes of an array, found by its name.
    fn array(file: &[u8], name: &str) -> Vec<u8> {
        let mark = b"<AppendedData encoding=\"raw\">\n_";
        let start = file.windows(mark.len()).position(|window| window == mark).unwrap() + mark.len();
        let text = String::from_utf8_lossy(&file[..start]).into_owned();
        let line = text.lines().find(|line| line.contains(&format!("Name=\"{name}\""))).unwrap();
        let offset = line.split_once("offset=\"").unwrap().1.split('"').next().unwrap();
        let place = start + offset.parse::<usize>().unwrap();
        let length = u64::from_le_bytes(file[place..place + 8].try_into().unwrap()) as usize;
        file[place + 8..place + 8 + length].to_vec()
    }

    fn floats(bytes: &[u8]) -> Vec<f32> {
        bytes.chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
    }

    #[test]
    fn particles_stand_where_the_text_says() {
        let mut file = Vec::new();
        write_particles(&mut file, &two_bodies()).unwrap();
        assert_eq!(floats(&array(&file, "Points"))[6..], [2.0, 0.0, 0.0]);
        assert_eq!(floats(&array(&file, "radius")), [0.5, 0.5, 0.25]);
        assert_eq!(floats(&array(&file, "temperature"))[2], 20.0);
        assert_eq!(array(&file, "phase"), [0, 0, 1]);
        assert_eq!(array(&file, "body")[8..], 1_i32.to_le_bytes());
    }

    #[test]
    fn skins_stand_where_the_text_says() {
        let mut file = Vec::new();
        write_skins(&mut file, &two_bodies()).unwrap();
        assert_eq!(floats(&array(&file, "Normals"))[..3], [0.0, 0.0, 1.0]);
        assert_eq!(floats(&array(&file, "strain")), [0.0, 0.1, 0.2]);
        assert_eq!(array(&file, "connectivity")[16..], 2_i64.to_le_bytes());
        assert_eq!(array(&file, "offsets"), 3_i64.to_le_bytes());
    }

    #[test]
    fn where_edges_are_sharp_there_are_no_normals() {
        let mut frame = two_bodies();
        if let Some(skin) = &mut frame.bodies[0].skin {
            skin.crease = Some(40.0);
        }
        let mut file = Vec::new();
        write_skins(&mut file, &frame).unwrap();
        assert!(!String::from_utf8_lossy(&file).contains("Normals"));
        assert_eq!(floats(&array(&file, "strain")), [0.0, 0.1, 0.2]);
    }

    #[test]
    fn surfels_stand_alone_beside_triangles() {
        let mut frame = surfels();
        frame.bodies[1].skin = two_bodies().bodies[0].skin.clone();
        let mut file = Vec::new();
        write_skins(&mut file, &frame).unwrap();
        let text = String::from_utf8_lossy(&file).into_owned();
        assert!(text.contains("NumberOfPoints=\"6\" NumberOfVerts=\"3\" NumberOfPolys=\"1\""), "{text}");
        assert!(text.find("<Verts>") < text.find("<Polys>") && text.contains("<Verts>"), "{text}");
        // The first list of points is that of the surfels.
        assert_eq!(array(&file, "connectivity")[16..], 2_i64.to_le_bytes());
        assert_eq!(array(&file, "offsets")[16..], 3_i64.to_le_bytes());
    }
}
