//! Stanford PLY: text, or binary of either byte order, with properties in any order.

use super::{ImportError, MeshBuilder, TriangleMesh};
use crate::import::scalar::{Scalar, to_index};
use crate::import::scanner::{Encoding, Scanner};
use glam::Vec3;

const FORMAT: &str = "PLY";

fn content_error(what: String) -> ImportError {
    ImportError::Content { format: FORMAT, what }
}

#[derive(Debug)]
struct PlyProperty {
    name: String,
    /// Type of the length, for a list.
    length: Option<Scalar>,
    kind: Scalar,
}

#[derive(Debug)]
struct PlyElement {
    name: String,
    count: usize,
    properties: Vec<PlyProperty>,
}

impl PlyElement {
    /// Smallest size of a row, bytes.
    fn min_row_size(&self, encoding: Encoding) -> usize {
        self.properties.iter().map(|property| encoding.min_size(property.length.unwrap_or(property.kind))).sum()
    }

    fn property_index(&self, names: &[&str]) -> Option<usize> {
        self.properties.iter().position(|property| names.contains(&property.name.as_str()))
    }
}

/// Values after the header, read in sequence.
struct PlyBody<'a> {
    scanner: Scanner<'a>,
    encoding: Encoding,
}

impl PlyBody<'_> {
    fn next_length(&mut self, kind: Scalar, within: &str) -> Result<usize, ImportError> {
        let length = self.scanner.number(kind, self.encoding, within)?;
        let possible = to_index(length).filter(|length| *length <= self.scanner.len());
        possible.ok_or_else(|| content_error(format!("a list of length {length} in {within}")))
    }

    /// Reads a scalar or list property into `row`.
    fn read(&mut self, property: &PlyProperty, within: &str, row: &mut Vec<f64>) -> Result<(), ImportError> {
        row.clear();
        let count = match property.length {
            Some(kind) => self.next_length(kind, within)?,
            None => 1,
        };
        for _ in 0..count {
            row.push(self.scanner.number(property.kind, self.encoding, within)?);
        }
        Ok(())
    }
}

fn parse_header(scanner: &mut Scanner) -> Result<(Encoding, Vec<PlyElement>), ImportError> {
    if scanner.any_line().is_none_or(|line| line.text() != b"ply") {
        return Err(content_error("it does not start with the line `ply`".into()));
    }
    let mut encoding = None;
    let mut elements: Vec<PlyElement> = Vec::new();
    loop {
        let line = scanner.any_line().ok_or_else(|| scanner.truncated("the header"))?;
        let text = String::from_utf8_lossy(line.text());
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let unknown = || line.error(format!("`{text}` in the header is not understood"));
        match words[..] {
            ["end_header"] => break,
            _ if scanner.len() == 0 => return Err(scanner.truncated("the header")),
            ["format", name, _] => {
                encoding = Some(match name {
                    "ascii" => Encoding::Text,
                    "binary_little_endian" => Encoding::LittleEndian,
                    "binary_big_endian" => Encoding::BigEndian,
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
        ["list", length, kind, name] => (Some(Scalar::of_name(length)?), kind, name),
        [kind, name] => (None, kind, name),
        _ => return None,
    };
    Some(PlyProperty { name: (*name).into(), length, kind: Scalar::of_name(kind)? })
}

/// Reads the mesh. Polygons become triangle fans.
pub(super) fn parse(bytes: &[u8]) -> Result<TriangleMesh, ImportError> {
    let mut scanner = Scanner::new(FORMAT, bytes);
    let (encoding, elements) = parse_header(&mut scanner)?;
    let mut values = PlyBody { scanner, encoding };
    let mut builder = MeshBuilder::default();
    for element in &elements {
        let min_row_size = element.min_row_size(encoding);
        let rows = format!("the {} rows of `{}`", element.count, element.name);
        values.scanner.expect_size(element.count, min_row_size, &rows)?;
        match element.name.as_str() {
            _ if min_row_size == 0 => {}
            "vertex" => read_vertices(element, &mut values, &mut builder)?,
            "face" => read_faces(element, &mut values, &mut builder)?,
            _ => skip_rows(element, &mut values)?,
        }
    }
    Ok(builder.finish())
}

fn read_vertices(element: &PlyElement, values: &mut PlyBody, builder: &mut MeshBuilder) -> Result<(), ImportError> {
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

fn read_faces(element: &PlyElement, values: &mut PlyBody, builder: &mut MeshBuilder) -> Result<(), ImportError> {
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

fn skip_rows(element: &PlyElement, values: &mut PlyBody) -> Result<(), ImportError> {
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
    use crate::import::fuzz::read_damaged;
    use crate::import::mesh::{MeshFormat, read_bytes};
    use crate::mesh::{MeshError, fixtures};

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
    fn a_cube_is_the_same_in_all_three_encodings() -> Result<(), ImportError> {
        let cube = fixtures::cube(Vec3::ZERO);
        assert_eq!(read_bytes(MeshFormat::Ply, &text())?, cube);
        assert_eq!(read_bytes(MeshFormat::Ply, &binary(false))?, cube);
        assert_eq!(read_bytes(MeshFormat::Ply, &binary(true))?, cube);
        Ok(())
    }

    #[test]
    fn damaged_data_never_panics() {
        read_damaged(MeshFormat::Ply, &text());
        read_damaged(MeshFormat::Ply, &binary(false));
        read_damaged(MeshFormat::Ply, &binary(true));
    }

    #[test]
    fn headers_that_promise_too_much_are_refused_before_reading() {
        for rows in ["1000000000000", "18446744073709551615"] {
            for element in ["vertex", "other"] {
                let text = format!(
                    "ply\nformat binary_little_endian 1.0\nelement {element} {rows}\n\
                    property float x\nproperty float y\nproperty float z\nend_header\n1234"
                );
                assert!(matches!(read_bytes(MeshFormat::Ply, text.as_bytes()), Err(ImportError::Truncated { .. })));
            }
        }
        let empty_rows = "ply\nformat ascii 1.0\nelement nothing 18446744073709551615\nend_header\n";
        assert!(matches!(
            read_bytes(MeshFormat::Ply, empty_rows.as_bytes()),
            Err(ImportError::Mesh(MeshError::NoTriangles))
        ));
    }

    #[test]
    fn a_cut_off_file_says_where_it_ends() {
        let bytes = binary(false);
        let error = read_bytes(MeshFormat::Ply, &bytes[..bytes.len() - 3]).map_err(|error| error.to_string());
        assert!(error.is_err_and(|message| message.contains("ends too early, within the faces")));
    }
}
