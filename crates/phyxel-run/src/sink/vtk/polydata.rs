//! VTK poly data: XML with raw appended arrays.

use glam::Vec3;
use std::io::{self, Write};

/// Array of numbers, encoded as in the file.
#[derive(Clone, Debug)]
pub(super) struct DataArray {
    name: &'static str,
    value_type: &'static str,
    components: usize,
    bytes: Vec<u8>,
}

impl DataArray {
    /// Array of vectors.
    pub fn vectors(name: &'static str, values: impl Iterator<Item = Vec3>) -> Self {
        Self {
            name,
            value_type: "Float32",
            components: 3,
            bytes: to_bytes(values.flat_map(|v| v.to_array()).map(f32::to_le_bytes)),
        }
    }

    /// Array of floats.
    pub fn floats(name: &'static str, values: impl Iterator<Item = f32>) -> Self {
        Self { name, value_type: "Float32", components: 1, bytes: to_bytes(values.map(f32::to_le_bytes)) }
    }

    /// Array of bytes.
    pub fn bytes(name: &'static str, values: impl Iterator<Item = u8>) -> Self {
        Self { name, value_type: "UInt8", components: 1, bytes: values.collect() }
    }

    /// Array of 32-bit integers.
    pub fn integers(name: &'static str, values: impl Iterator<Item = usize>) -> Self {
        Self {
            name,
            value_type: "Int32",
            components: 1,
            bytes: to_bytes(values.map(|value| (value as i32).to_le_bytes())),
        }
    }

    /// Array of 64-bit point indices.
    fn indices(name: &'static str, values: impl Iterator<Item = usize>) -> Self {
        Self {
            name,
            value_type: "Int64",
            components: 1,
            bytes: to_bytes(values.map(|value| (value as i64).to_le_bytes())),
        }
    }

    /// Size in the appended data: length prefix and values, bytes.
    fn appended_size(&self) -> u64 {
        8 + self.bytes.len() as u64
    }
}

fn to_bytes<const N: usize>(values: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(N * values.size_hint().0);
    values.for_each(|value| bytes.extend_from_slice(&value));
    bytes
}

/// Points with data, vertices (cells of one point) and triangles.
#[derive(Debug)]
pub(super) struct PolyData<'a> {
    /// Simulated time, s.
    pub time: f64,
    /// Names of the bodies, by index.
    pub body_names: Vec<&'a str>,
    /// Number of points.
    pub count: usize,
    pub points: DataArray,
    pub point_data: Vec<DataArray>,
    /// Indices of the points that are vertices.
    pub vertices: Vec<usize>,
    pub triangles: Vec<[usize; 3]>,
}

impl PolyData<'_> {
    /// Writes the file.
    pub fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        writer.write_all(b"<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\"")?;
        writer.write_all(b" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n")?;
        self.write_fields(writer)?;
        let (count, vertices, polygons) = (self.count, self.vertices.len(), self.triangles.len());
        writeln!(
            writer,
            "<Piece NumberOfPoints=\"{count}\" NumberOfVerts=\"{vertices}\" NumberOfPolys=\"{polygons}\">"
        )?;
        let (points, vertex_cells, triangle_cells) =
            ([self.points.clone()], cells(&self.vertices, 1), cells(self.triangles.as_flattened(), 3));
        let mut sections = vec![("PointData", &self.point_data[..]), ("Points", &points)];
        if vertices > 0 {
            sections.push(("Verts", &vertex_cells));
        }
        if polygons > 0 {
            sections.push(("Polys", &triangle_cells));
        }
        let mut offset = 0;
        for &(name, arrays) in &sections {
            write_section(writer, name, arrays, &mut offset)?;
        }
        writer.write_all(b"</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_")?;
        for array in sections.into_iter().flat_map(|(_, arrays)| arrays) {
            writer.write_all(&(array.bytes.len() as u64).to_le_bytes())?;
            writer.write_all(&array.bytes)?;
        }
        writer.write_all(b"\n</AppendedData>\n</VTKFile>\n")
    }

    /// Writes field data: time and names. Strings are encoded as decimal bytes, terminated by 0.
    fn write_fields(&self, writer: &mut dyn Write) -> io::Result<()> {
        let time = "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">";
        writeln!(writer, "<FieldData>\n{time}{}</DataArray>", self.time)?;
        let count = self.body_names.len();
        write!(writer, "<Array type=\"String\" Name=\"bodies\" NumberOfTuples=\"{count}\" format=\"ascii\">")?;
        for byte in self.body_names.iter().flat_map(|name| name.bytes().chain([0])) {
            write!(writer, "{byte} ")?;
        }
        writer.write_all(b"</Array>\n</FieldData>\n")
    }
}

/// Connectivity and offsets of cells with `corners` points each.
fn cells(points: &[usize], corners: usize) -> [DataArray; 2] {
    [
        DataArray::indices("connectivity", points.iter().copied()),
        DataArray::indices("offsets", (1..=points.len() / corners).map(|cell| corners * cell)),
    ]
}

fn write_section(writer: &mut dyn Write, name: &str, arrays: &[DataArray], offset: &mut u64) -> io::Result<()> {
    writeln!(writer, "<{name}>")?;
    for array in arrays {
        let DataArray { name, value_type, components, .. } = array;
        write!(writer, "<DataArray type=\"{value_type}\" Name=\"{name}\" NumberOfComponents=\"{components}\" ")?;
        writeln!(writer, "format=\"appended\" offset=\"{offset}\"/>")?;
        *offset += array.appended_size();
    }
    writeln!(writer, "</{name}>")
}
