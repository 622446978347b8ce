//! Stanford PLY: text, or binary of either byte order, with properties in any order.

use super::{MeshBuilder, MeshError, MeshFormat, TriangleMesh};
use glam::Vec3;

fn content_error(what: String) -> MeshError {
    MeshError::Content { format: MeshFormat::Ply, what }
}

fn truncated(within: &str) -> MeshError {
    MeshError::Truncated { format: MeshFormat::Ply, within: within.into() }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum PlyType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl PlyType {
    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Decodes little-endian bytes, padded with zeros. Every type fits into a double.
    fn value(self, bytes: [u8; 8]) -> f64 {
        let [a, b, c, d, ..] = bytes;
        match self {
            Self::I8 => f64::from(a as i8),
            Self::U8 => f64::from(a),
            Self::I16 => f64::from(i16::from_le_bytes([a, b])),
            Self::U16 => f64::from(u16::from_le_bytes([a, b])),
            Self::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            Self::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
            Self::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            Self::F64 => f64::from_le_bytes(bytes),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum PlyEncoding {
    Text,
    LittleEndian,
    BigEndian,
}

#[derive(Debug)]
struct PlyProperty {
    name: String,
    /// Type of the length, for a list.
    length: Option<PlyType>,
    kind: PlyType,
}

#[derive(Debug)]
struct PlyElement {
    name: String,
    count: usize,
    properties: Vec<PlyProperty>,
}

impl PlyElement {
    /// Smallest size of a row, bytes.
    fn min_row_size(&self, encoding: PlyEncoding) -> usize {
        let size = |property: &PlyProperty| match encoding {
            PlyEncoding::Text => 2,
            _ => property.length.unwrap_or(property.kind).size(),
        };
        self.properties.iter().map(size).sum()
    }

    fn property_index(&self, names: &[&str]) -> Option<usize> {
        self.properties.iter().position(|property| names.contains(&property.name.as_str()))
    }
}

/// Values after the header, read in sequence.
struct PlyBody<'a> {
    bytes: &'a [u8],
    encoding: PlyEncoding,
}

impl PlyBody<'_> {
    fn next(&mut self, kind: PlyType, within: &str) -> Result<f64, MeshError> {
        if self.encoding == PlyEncoding::Text {
            return self.next_word(within);
        }
        let (value, rest) = self.bytes.split_at_checked(kind.size()).ok_or_else(|| truncated(within))?;
        self.bytes = rest;
        let mut bytes = [0; 8];
        bytes[..value.len()].copy_from_slice(value);
        if self.encoding == PlyEncoding::BigEndian {
            bytes[..value.len()].reverse();
        }
        Ok(kind.value(bytes))
    }

    fn next_word(&mut self, within: &str) -> Result<f64, MeshError> {
        let text = self.bytes.trim_ascii_start();
        let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.bytes = rest;
        if word.is_empty() {
            return Err(truncated(within));
        }
        let word = String::from_utf8_lossy(word);
        word.parse().map_err(|_| content_error(format!("`{word}` in {within} is not a number")))
    }

    fn next_length(&mut self, kind: PlyType, within: &str) -> Result<usize, MeshError> {
        let length = self.next(kind, within)?;
        if length >= 0.0 && length.fract() == 0.0 && length <= self.bytes.len() as f64 {
            return Ok(length as usize);
        }
        Err(content_error(format!("a list of length {length} in {within}")))
    }

    /// Reads a scalar or list property into `row`.
    fn read(&mut self, property: &PlyProperty, within: &str, row: &mut Vec<f64>) -> Result<(), MeshError> {
        row.clear();
        let count = match property.length {
            Some(kind) => self.next_length(kind, within)?,
            None => 1,
        };
        for _ in 0..count {
            row.push(self.next(property.kind, within)?);
        }
        Ok(())
    }
}

/// Splits a line off the front of the bytes.
fn take_line<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&bytes[..end]).unwrap_or("");
    *bytes = &bytes[end + 1..];
    Some(line.trim())
}

fn parse_header(bytes: &mut &[u8]) -> Result<(PlyEncoding, Vec<PlyElement>), MeshError> {
    if take_line(bytes) != Some("ply") {
        return Err(content_error("it does not start with the line `ply`".into()));
    }
    let mut encoding = None;
    let mut elements: Vec<PlyElement> = Vec::new();
    loop {
        let line = take_line(bytes).ok_or_else(|| truncated("the header"))?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let unknown = || content_error(format!("`{line}` in the header is not understood"));
        match words[..] {
            ["end_header"] => break,
            ["format", name, _] => {
                encoding = Some(match name {
                    "ascii" => PlyEncoding::Text,
                    "binary_little_endian" => PlyEncoding::LittleEndian,
                    "binary_big_endian" => PlyEncoding::BigEndian,
                    _ => return Err(unknown()),
                });
            }
            ["element", name, count] => {
                let count = count.parse().map_err(|_| unknown())?;
                elements.push(PlyElement { name: name.into(), count, properties: Vec::new() });
            }
            ["property", ref words @ ..] => {
                let property = parse_property(words).ok_or_else(unknown)?;
                elements.last_mut().ok_or_else(unknown)?.properties.push(property);
            }
            ["comment" | "obj_info", ..] | [] => {}
            _ => return Err(unknown()),
        }
    }
    let encoding = encoding.ok_or_else(|| content_error("the header has no line `format`".into()))?;
    Ok((encoding, elements))
}

fn parse_property(words: &[&str]) -> Option<PlyProperty> {
    let (length, kind, name) = match words {
        ["list", length, kind, name] => (Some(PlyType::of_name(length)?), kind, name),
        [kind, name] => (None, kind, name),
        _ => return None,
    };
    Some(PlyProperty { name: (*name).into(), length, kind: PlyType::of_name(kind)? })
}

/// Reads the mesh. Polygons become triangle fans.
pub(super) fn parse(bytes: &[u8]) -> Result<TriangleMesh, MeshError> {
    let mut rest = bytes;
    let (encoding, elements) = parse_header(&mut rest)?;
    let mut values = PlyBody { bytes: rest, encoding };
    let mut builder = MeshBuilder::default();
    for element in &elements {
        let min_row_size = element.min_row_size(encoding);
        // The last word of a text needs no separator behind it.
        if element.count.saturating_mul(min_row_size) > values.bytes.len() + 1 {
            return Err(truncated(&format!("the {} rows of `{}`", element.count, element.name)));
        }
        match element.name.as_str() {
            _ if min_row_size == 0 => {}
            "vertex" => read_vertices(element, &mut values, &mut builder)?,
            "face" => read_faces(element, &mut values, &mut builder)?,
            _ => skip_rows(element, &mut values)?,
        }
    }
    Ok(builder.finish())
}

fn read_vertices(element: &PlyElement, values: &mut PlyBody, builder: &mut MeshBuilder) -> Result<(), MeshError> {
    let mut columns = [0; 3];
    for (column, name) in columns.iter_mut().zip(["x", "y", "z"]) {
        let found = element.property_index(&[name]);
        *column = found.ok_or_else(|| content_error(format!("vertices have no property `{name}`")))?;
    }
    let mut row = Vec::new();
    for _ in 0..element.count {
        let mut position = Vec3::ZERO;
        for (index, property) in element.properties.iter().enumerate() {
            values.read(property, "the vertices", &mut row)?;
            for axis in (0..3).filter(|axis| columns[*axis] == index) {
                position[axis] = row.first().map_or(f32::NAN, |value| *value as f32);
            }
        }
        builder.add_vertex(position)?;
    }
    Ok(())
}

fn read_faces(element: &PlyElement, values: &mut PlyBody, builder: &mut MeshBuilder) -> Result<(), MeshError> {
    let names = ["vertex_indices", "vertex_index"];
    let column = element
        .property_index(&names)
        .ok_or_else(|| content_error("faces have no property `vertex_indices`".into()))?;
    let mut row = Vec::new();
    let mut corners = Vec::new();
    for _ in 0..element.count {
        for (index, property) in element.properties.iter().enumerate() {
            values.read(property, "the faces", &mut row)?;
            if index == column {
                corners.clear();
                // Fractions and infinities become indices that no vertex has.
                corners.extend(row.iter().map(|value| if value.fract() == 0.0 { *value as i64 } else { -1 }));
                builder.add_polygon(&corners)?;
            }
        }
    }
    Ok(())
}

fn skip_rows(element: &PlyElement, values: &mut PlyBody) -> Result<(), MeshError> {
    let mut row = Vec::new();
    for _ in 0..element.count {
        for property in &element.properties {
            values.read(property, &format!("`{}`", element.name), &mut row)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{fixtures, formats::fuzz, read_bytes};

    const HEADER: &str = "comment made for a test\nelement camera 1\nproperty uchar kind\n\
        property list uchar short values\nelement vertex 8\nproperty uchar red\nproperty double z\nproperty float x\n\
        property float y\nelement face 6\nproperty list uchar uint vertex_indices\nproperty short flag\nend_header\n";
    const QUADS: [[u32; 4]; 6] = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];

    fn text() -> Vec<u8> {
        let mut text = format!("ply\r\nformat ascii 1.0\n{HEADER}7 2 1 2\n");
        for p in fixtures::cube(Vec3::ZERO).positions {
            text += &format!("255 {} {} {}\n", p.z, p.x, p.y);
        }
        for [a, b, c, d] in QUADS {
            text += &format!("4 {a} {b} {c} {d} -1\n");
        }
        text.into_bytes()
    }

    fn binary(big: bool) -> Vec<u8> {
        let order = if big { "big" } else { "little" };
        let mut bytes = format!("ply\nformat binary_{order}_endian 1.0\n{HEADER}").into_bytes();
        let put = |bytes: &mut Vec<u8>, value: &[u8]| {
            let mut value = value.to_vec();
            if big {
                value.reverse();
            }
            bytes.extend(value);
        };
        bytes.extend([7, 1]);
        put(&mut bytes, &300i16.to_le_bytes());
        for p in fixtures::cube(Vec3::ZERO).positions {
            bytes.push(255);
            put(&mut bytes, &f64::from(p.z).to_le_bytes());
            put(&mut bytes, &p.x.to_le_bytes());
            put(&mut bytes, &p.y.to_le_bytes());
        }
        for quad in QUADS {
            bytes.push(4);
            quad.iter().for_each(|index| put(&mut bytes, &index.to_le_bytes()));
            put(&mut bytes, &(-1i16).to_le_bytes());
        }
        bytes
    }

    #[test]
    fn a_cube_is_the_same_in_all_three_encodings() -> Result<(), MeshError> {
        let cube = fixtures::cube(Vec3::ZERO);
        assert_eq!(read_bytes(MeshFormat::Ply, &text())?, cube);
        assert_eq!(read_bytes(MeshFormat::Ply, &binary(false))?, cube);
        assert_eq!(read_bytes(MeshFormat::Ply, &binary(true))?, cube);
        Ok(())
    }

    #[test]
    fn damaged_data_never_panics() {
        fuzz::read_damaged(MeshFormat::Ply, &text());
        fuzz::read_damaged(MeshFormat::Ply, &binary(false));
        fuzz::read_damaged(MeshFormat::Ply, &binary(true));
    }

    #[test]
    fn headers_that_promise_too_much_are_refused_before_reading() {
        for rows in ["1000000000000", "18446744073709551615"] {
            for element in ["vertex", "other"] {
                let text = format!(
                    "ply\nformat binary_little_endian 1.0\nelement {element} {rows}\n\
                    property float x\nproperty float y\nproperty float z\nend_header\n1234"
                );
                assert!(matches!(read_bytes(MeshFormat::Ply, text.as_bytes()), Err(MeshError::Truncated { .. })));
            }
        }
        let empty_rows = "ply\nformat ascii 1.0\nelement nothing 18446744073709551615\nend_header\n";
        assert!(matches!(read_bytes(MeshFormat::Ply, empty_rows.as_bytes()), Err(MeshError::NoTriangles)));
    }

    #[test]
    fn a_cut_off_file_says_where_it_ends() {
        let bytes = binary(false);
        let error = read_bytes(MeshFormat::Ply, &bytes[..bytes.len() - 3]).map_err(|error| error.to_string());
        assert!(error.is_err_and(|message| message.contains("ends too early, within the faces")));
    }
}
