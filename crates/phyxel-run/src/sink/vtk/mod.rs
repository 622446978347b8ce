//! Export to VTK and ParaView: particles and skins as poly data, with collections of their times.

mod polydata;
mod series;

use crate::atomic_file::write_file;
use crate::error::{FileError, SinkError};
use crate::sink::Sink;
use crate::sink::export::numbered_path;
use glam::Vec3;
use phyxel::Frame;
use phyxel::frame::FrameSkin;
use polydata::{DataArray, PolyData};
use series::Series;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Prefixes of the numbered files, and names of the collections.
pub(crate) const PREFIXES: [&str; 2] = ["particles", "skin"];

/// Writes `particles_00000.vtp` for every frame, `skin_00000.vtp` for every frame with a skin, and a collection of
/// each.
#[derive(Debug)]
pub struct VtkSequence {
    folder: PathBuf,
    collections: Option<[Series; 2]>,
}

impl VtkSequence {
    /// Writes into `folder`, which must exist.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), collections: None }
    }

    fn write_collections(&mut self) -> Result<(), SinkError> {
        let mut collections = self.collections.iter_mut().flatten();
        Ok(collections.try_for_each(Series::write)?)
    }
}

impl Sink for VtkSequence {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let folder = &self.folder;
        let collections =
            self.collections.get_or_insert_with(|| PREFIXES.map(|prefix| Series::open(folder, prefix, frame.index)));
        let [particles, skins] = PREFIXES.map(|prefix| numbered_path(folder, prefix, frame.index, "vtp"));
        write_file(&particles, |writer| write_particles(writer, frame))?;
        collections[0].add(frame.index, frame.time);
        if frame.bodies.iter().any(|body| body.skin.is_some()) {
            write_file(&skins, |writer| write_skins(writer, frame))?;
            collections[1].add(frame.index, frame.time);
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), SinkError> {
        self.write_collections()
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.write_collections()
    }
}

/// Removes frame `first` and later ones from the collections.
pub(crate) fn truncate_collections(folder: &Path, first: u32) -> Result<(), FileError> {
    PREFIXES.iter().try_for_each(|prefix| Series::open(folder, prefix, first).write())
}

/// Writes all particles of a frame with velocity, radius, mass, temperature, strain, phase (0 solid, 1 fluid, 2 gas)
/// and index of the body. SI units.
pub fn write_particles(writer: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    let columns = &frame.particles;
    let indices: Vec<usize> = particles(frame).map(|(_, index)| index).collect();
    let vectors = |name, column: &[Vec3]| DataArray::vectors(name, indices.iter().map(|&i| column[i]));
    let scalars = |name, column: &[f32]| DataArray::floats(name, indices.iter().map(|&i| column[i]));
    let point_data = vec![
        vectors("velocity", &columns.velocity),
        scalars("radius", &columns.radius),
        scalars("mass", &columns.mass),
        scalars("temperature", &columns.temperature),
        scalars("strain", &columns.strain),
        DataArray::bytes("phase", indices.iter().map(|&i| columns.phase[i] as u8)),
        DataArray::integers("body", particles(frame).map(|(body, _)| body)),
    ];
    let points = vectors("Points", &columns.position);
    let count = indices.len();
    let vertices = (0..count).collect();
    PolyData { time: frame.time, body_names: body_names(frame), count, points, point_data, vertices, triangles: vec![] }
        .write(writer)
}

/// Writes all skins of a frame as one surface, surfels as points of it, with normal, velocity, temperature, strain and
/// index of the body at each point. SI units.
pub fn write_skins(writer: &mut dyn Write, frame: &Frame) -> io::Result<()> {
    let vectors = |name, of: fn(&FrameSkin) -> &[Vec3]| {
        DataArray::vectors(name, skins(frame).flat_map(|(_, skin)| padded(of(skin), skin.positions.len())))
    };
    let scalars = |name, of: fn(&FrameSkin) -> &[f32]| {
        DataArray::floats(name, skins(frame).flat_map(|(_, skin)| padded(of(skin), skin.positions.len())))
    };
    let bodies = skins(frame).flat_map(|(body, skin)| std::iter::repeat_n(body, skin.positions.len()));
    // Poly data has point normals only. They are omitted if a skin has sharp edges; programs compute their own.
    let is_smooth = skins(frame).all(|(_, skin)| skin.crease.is_none());
    let mut point_data = if is_smooth { vec![vectors("Normals", |skin| &skin.normals)] } else { Vec::new() };
    point_data.extend([
        vectors("velocity", |skin| &skin.velocities),
        scalars("temperature", |skin| &skin.temperatures),
        scalars("strain", |skin| &skin.strains),
        DataArray::integers("body", bodies),
    ]);
    let points = vectors("Points", |skin| &skin.positions);
    let count = skins(frame).map(|(_, skin)| skin.positions.len()).sum();
    let (vertices, triangles) = cells(frame);
    PolyData { time: frame.time, body_names: body_names(frame), count, points, point_data, vertices, triangles }
        .write(writer)
}

/// Vertices (surfels) and triangles of all skins, with point indices over all skins.
fn cells(frame: &Frame) -> (Vec<usize>, Vec<[usize; 3]>) {
    let (mut first, mut vertices, mut triangles) = (0, Vec::new(), Vec::new());
    for (_, skin) in skins(frame) {
        vertices.extend(first..first + skin.axes.len());
        triangles.extend(skin.triangles.iter().map(|triangle| triangle.map(|corner| first + corner as usize)));
        first += skin.positions.len();
    }
    (vertices, triangles)
}

/// Pads values with zeros to exactly `count`.
fn padded<T: Copy + Default>(values: &[T], count: usize) -> impl Iterator<Item = T> {
    (0..count).map(|i| values.get(i).copied().unwrap_or_default())
}

fn body_names(frame: &Frame) -> Vec<&str> {
    frame.bodies.iter().map(|body| body.report.name.as_str()).collect()
}

/// Indices of body and particle of every particle.
fn particles(frame: &Frame) -> impl Iterator<Item = (usize, usize)> {
    frame.bodies.iter().enumerate().flat_map(|(index, body)| body.particles.clone().map(move |i| (index, i)))
}

/// Index and skin of every body with a skin.
fn skins(frame: &Frame) -> impl Iterator<Item = (usize, &FrameSkin)> {
    frame.bodies.iter().enumerate().filter_map(|(index, body)| Some((index, body.skin.as_ref()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_frames::{surfels, two_bodies};

    /// Bytes of an array, found by its name.
    fn array(file: &[u8], name: &str) -> Vec<u8> {
        let mark = b"<AppendedData encoding=\"raw\">\n_";
        let start = file.windows(mark.len()).position(|window| window == mark).unwrap() + mark.len();
        let text = String::from_utf8_lossy(&file[..start]).into_owned();
        let line = text.lines().find(|line| line.contains(&format!("Name=\"{name}\""))).unwrap();
        let offset = line.split_once("offset=\"").unwrap().1.split('"').next().unwrap();
        let position = start + offset.parse::<usize>().unwrap();
        let length = u64::from_le_bytes(file[position..position + 8].try_into().unwrap()) as usize;
        file[position + 8..position + 8 + length].to_vec()
    }

    fn floats(bytes: &[u8]) -> Vec<f32> {
        bytes.chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect()
    }

    #[test]
    fn arrays_of_particles_are_at_their_offsets() {
        let mut file = Vec::new();
        write_particles(&mut file, &two_bodies()).unwrap();
        assert_eq!(floats(&array(&file, "Points"))[6..], [2.0, 0.0, 0.0]);
        assert_eq!(floats(&array(&file, "radius")), [0.5, 0.5, 0.25]);
        assert_eq!(floats(&array(&file, "temperature"))[2], 20.0);
        assert_eq!(array(&file, "phase"), [0, 0, 1]);
        assert_eq!(array(&file, "body")[8..], 1_i32.to_le_bytes());
    }

    #[test]
    fn arrays_of_skins_are_at_their_offsets() {
        let mut file = Vec::new();
        write_skins(&mut file, &two_bodies()).unwrap();
        assert_eq!(floats(&array(&file, "Normals"))[..3], [0.0, 0.0, 1.0]);
        assert_eq!(floats(&array(&file, "strain")), [0.0, 0.1, 0.2]);
        assert_eq!(array(&file, "connectivity")[16..], 2_i64.to_le_bytes());
        assert_eq!(array(&file, "offsets"), 3_i64.to_le_bytes());
    }

    #[test]
    fn skins_with_sharp_edges_have_no_point_normals() {
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
    fn surfels_are_vertices_beside_triangles() {
        let mut frame = surfels();
        frame.bodies[1].skin = two_bodies().bodies[0].skin.clone();
        let mut file = Vec::new();
        write_skins(&mut file, &frame).unwrap();
        let text = String::from_utf8_lossy(&file).into_owned();
        assert!(text.contains("NumberOfPoints=\"6\" NumberOfVerts=\"3\" NumberOfPolys=\"1\""), "{text}");
        assert!(text.find("<Verts>") < text.find("<Polys>") && text.contains("<Verts>"), "{text}");
        // The first connectivity is that of the surfels.
        assert_eq!(array(&file, "connectivity")[16..], 2_i64.to_le_bytes());
        assert_eq!(array(&file, "offsets")[16..], 3_i64.to_le_bytes());
    }
}
