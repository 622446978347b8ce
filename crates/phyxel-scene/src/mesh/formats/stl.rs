//! Stereolithography STL, text or binary. Normals are ignored; the order of the corners defines them.

use super::{MeshBuilder, MeshError, MeshFormat, TriangleMesh};
use glam::Vec3;

const HEADER_SIZE: usize = 84;
const FACET_SIZE: usize = 50;

/// Reads the mesh.
///
/// Many binary files start with `solid` as text does, so the length is tested first.
pub(super) fn parse(bytes: &[u8]) -> Result<TriangleMesh, MeshError> {
    let facet_count =
        bytes.get(80..HEADER_SIZE).map(|count| u32::from_le_bytes([count[0], count[1], count[2], count[3]]));
    let size = facet_count.map(|count| HEADER_SIZE as u64 + FACET_SIZE as u64 * u64::from(count));
    let is_text = bytes.trim_ascii_start().starts_with(b"solid");
    if size == Some(bytes.len() as u64) || !is_text {
        let facets = bytes.get(HEADER_SIZE..).unwrap_or(&[]);
        return parse_binary(facets, size.is_some_and(|size| size <= bytes.len() as u64), facet_count.unwrap_or(0));
    }
    parse_text(&String::from_utf8_lossy(bytes))
}

fn parse_binary(facets: &[u8], complete: bool, count: u32) -> Result<TriangleMesh, MeshError> {
    if !complete {
        return Err(MeshError::Truncated { format: MeshFormat::Stl, within: format!("its {count} facets") });
    }
    let mut builder = MeshBuilder::default();
    for facet in facets.chunks_exact(FACET_SIZE).take(count as usize) {
        // 12 bytes of normal, three times 12 bytes of corner, 2 bytes of attributes.
        for corner in facet[12..48].chunks_exact(12) {
            let number = |i: usize| f32::from_le_bytes([corner[i], corner[i + 1], corner[i + 2], corner[i + 3]]);
            builder.add_vertex(Vec3::new(number(0), number(4), number(8)))?;
        }
        close_loop(&mut builder, 3)?;
    }
    Ok(builder.finish())
}

/// Adds a polygon of the latest `corners` vertices.
fn close_loop(builder: &mut MeshBuilder, corners: usize) -> Result<(), MeshError> {
    let end = builder.vertex_count() as i64;
    let indices: Vec<i64> = (end - corners as i64..end).collect();
    builder.add_polygon(&indices)
}

fn parse_text(text: &str) -> Result<TriangleMesh, MeshError> {
    let mut builder = MeshBuilder::default();
    let mut corners = None;
    for (number, line) in text.lines().enumerate() {
        let line_error = |what: String| MeshError::Line { format: MeshFormat::Stl, line: number + 1, what };
        let mut words = line.split_whitespace();
        match (words.next().unwrap_or("").to_ascii_lowercase().as_str(), corners) {
            ("outer", None) => corners = Some(0),
            ("vertex", Some(count)) => {
                let mut position = Vec3::ZERO;
                for axis in 0..3 {
                    let word = words.next().unwrap_or("");
                    position[axis] = word.parse().map_err(|_| {
                        line_error(format!("a vertex needs three numbers, but one of them is `{word}`"))
                    })?;
                }
                builder.add_vertex(position)?;
                corners = Some(count + 1);
            }
            ("endloop", Some(count)) if count >= 3 => {
                close_loop(&mut builder, count)?;
                corners = None;
            }
            ("" | "solid" | "facet" | "endfacet" | "endsolid", None) => {}
            (word, _) => return Err(line_error(format!("`{word}` is out of place"))),
        }
    }
    if corners.is_some() {
        return Err(MeshError::Truncated { format: MeshFormat::Stl, within: "a facet".into() });
    }
    Ok(builder.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{fixtures, formats::fuzz, read_bytes};

    fn text() -> Vec<u8> {
        let cube = fixtures::cube(Vec3::ZERO);
        let mut text = String::from("solid cube\n");
        for triangle in 0..cube.triangles.len() {
            text += "  facet normal 0 0 0\n    outer loop\n";
            for p in cube.corners(triangle) {
                text += &format!("      vertex {:e} {} {}\n", p.x, p.y, p.z);
            }
            text += "    endloop\n  endfacet\n";
        }
        (text + "endsolid cube\n").into_bytes()
    }

    fn binary() -> Vec<u8> {
        let cube = fixtures::cube(Vec3::ZERO);
        let mut bytes = b"solid but binary".to_vec();
        bytes.resize(80, b' ');
        bytes.extend(12u32.to_le_bytes());
        for triangle in 0..cube.triangles.len() {
            bytes.extend([0; 12]);
            let numbers = cube.corners(triangle).map(|p| p.to_array()).concat();
            numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    #[test]
    fn a_cube_of_loose_facets_is_welded_to_a_closed_one() -> Result<(), MeshError> {
        for bytes in [text(), binary()] {
            let mesh = read_bytes(MeshFormat::Stl, &bytes)?;
            assert_eq!((mesh.positions.len(), mesh.triangles.len(), mesh.open_edges()), (8, 12, 0));
            assert!((mesh.volume() - 1.0).abs() < 1e-6);
        }
        Ok(())
    }

    #[test]
    fn damaged_data_never_panics() {
        fuzz::read_damaged(MeshFormat::Stl, &text());
        fuzz::read_damaged(MeshFormat::Stl, &binary());
    }

    #[test]
    fn a_count_larger_than_the_file_is_refused() {
        let mut bytes = binary();
        bytes[0..5].copy_from_slice(b"hello");
        bytes[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
        let error = read_bytes(MeshFormat::Stl, &bytes).map_err(|error| error.to_string());
        assert!(error.is_err_and(|message| message.contains("within its 4294967295 facets")));
    }

    #[test]
    fn text_out_of_order_names_its_line() {
        let error = read_bytes(MeshFormat::Stl, b"solid x\nvertex 1 2 3\n").map_err(|error| error.to_string());
        assert_eq!(error, Err("line 2 of the STL text: `vertex` is out of place".into()));
    }
}
