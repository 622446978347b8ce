//! VTK's XML files of points and polygons, numbers as raw bytes after the text.

use glam::Vec3;
use std::io::{self, Write};

/// An array of numbers, laid out as they stand in the file.
#[derive(Clone, Debug)]
pub(super) struct Array {
    name: &'static str,
    kind: &'static str,
    components: usize,
    bytes: Vec<u8>,
}

impl Array {
    /// Vectors of three.
    pub fn vectors(name: &'static str, values: impl Iterator<Item = Vec3>) -> Self {
        Self {
            name,
            kind: "Float32",
            components: 3,
            bytes: lay_out(values.flat_map(|v| v.to_array()).map(f32::to_le_bytes)),
        }
    }

    /// Numbers.
    pub fn floats(name: &'static str, values: impl Iterator<Item = f32>) -> Self {
        Self { name, kind: "Float32", components: 1, bytes: lay_out(values.map(f32::to_le_bytes)) }
    }

    /// Small whole numbers.
    pub fn small(name: &'static str, values: impl Iterator<Item = u8>) -> Self {
        Self { name, kind: "UInt8", components: 1, bytes: values.collect() }
    }

    /// Whole numbers.
    pub fn integers(name: &'static str, values: impl Iterator<Item = usize>) -> Self {
        Self { name, kind: "Int32", components: 1, bytes: lay_out(values.map(|value| (value as i32).to_le_bytes())) }
    }

    /// Numbers of points.
    fn indices(name: &'static str, values: impl Iterator<Item = usize>) -> Self {
        Self { name, kind: "Int64", components: 1, bytes: lay_out(values.map(|value| (value as i64).to_le_bytes())) }
    }

    /// Bytes of the numbers and of their length before them.
    fn room(&self) -> u64 {
        8 + self.bytes.len() as u64
    }
}

fn lay_out<const N: usize>(values: impl Iterator<Item = [u8; N]>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(N * values.size_hint().0);
    values.for_each(|value| bytes.extend_from_slice(&value));
    bytes
}

/// A set of points with values, the triangles between them, and which of them stand alone.
#[derive(Debug)]
pub(super) struct PolyData<'a> {
    /// s.
    pub time: f64,
    /// Names of the bodies, by their numbers.
    pub names: Vec<&'a str>,
    /// Number of points.
    pub count: usize,
    pub points: Array,
    pub values: Vec<Array>,
    /// Numbers of the points that are things of their own.
    pub alone: Vec<usize>,
    pub triangles: Vec<[usize; 3]>,
}

impl PolyData<'_> {
    /// Writes the file.
    pub fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        writer.write_all(b"<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\"")?;
        writer.write_all(b" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n")?;
        self.write_fields(writer)?;
        let (count, alone, polygons) = (self.count, self.alone.len(), self.triangles.len());
        writeln!(writer, "<Piece NumberOfPoints=\"{count}\" NumberOfVerts=\"{alone}\" NumberOfPolys=\"{polygons}\">")?;
        let (points, single, triangles) =
            ([self.points.clone()], cells(&self.alone, 1), cells(self.triangles.as_flattened(), 3));
        let mut sections = vec![("PointData", &self.values[..]), ("Points", &points)];
        if alone > 0 {
            sections.push(("Verts", &single));
        }
        if polygons > 0 {
            sections.push(("Polys", &triangles));
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

    /// Time and names. Texts are written as the numbers of their bytes, each ended by a zero.
    fn write_fields(&self, writer: &mut dyn Write) -> io::Result<()> {
        let time = "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">";
        writeln!(writer, "<FieldData>\n{time}{}</DataArray>", self.time)?;
        let count = self.names.len();
        write!(writer, "<Array type=\"String\" Name=\"bodies\" NumberOfTuples=\"{count}\" format=\"ascii\">")?;
        for byte in self.names.iter().flat_map(|name| name.bytes().chain([0])) {
            write!(writer, "{byte} ")?;
        }
        writer.write_all(b"</Array>\n</FieldData>\n")
    }
}

/// Points of cells that have `corners` each, one after the other, and where those of each cell end.
fn cells(points: &[usize], corners: usize) -> [Array; 2] {
    [
        Array::indices("connectivity", points.iter().copied()),
        Array::indices("offsets", (1..=points.len() / corners).map(|cell| corners * cell)),
    ]
}

fn write_section(writer: &mut dyn Write, name: &str, arrays: &[Array], offset: &mut u64) -> io::Result<()> {
    writeln!(writer, "<{name}>")?;
    for array in arrays {
        let Array { name, kind, components, .. } = array;
        write!(writer, "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" ")?;
        writeln!(writer, "format=\"appended\" offset=\"{offset}\"/>")?;
        *offset += array.room();
    }
    writeln!(writer, "</{name}>")
}
