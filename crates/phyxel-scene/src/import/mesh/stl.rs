//! Stereolithography STL, text or binary. Normals are ignored; the order of the corners defines them.

use super::{ImportError, MeshBuilder, TriangleMesh};
use crate::import::scalar::{decode_u32, decode_vec3};
use crate::import::scanner::{Scanner, quoted};
use crate::mesh::MeshError;

const FORMAT: &str = "STL";
const HEADER_SIZE: usize = 84;
const FACET_SIZE: usize = 50;

/// Reads the mesh.
///
/// Many binary files start with `solid` as text does, so the length is tested first.
pub(super) fn parse(bytes: &[u8]) -> Result<TriangleMesh, ImportError> {
    let facet_count = decode_u32(bytes, 80);
    let size = facet_count.map(|count| HEADER_SIZE as u64 + FACET_SIZE as u64 * u64::from(count));
    let is_text = bytes.trim_ascii_start().starts_with(b"solid");
    if size == Some(bytes.len() as u64) || !is_text {
        let facets = bytes.get(HEADER_SIZE..).unwrap_or(&[]);
        return parse_binary(facets, size.is_some_and(|size| size <= bytes.len() as u64), facet_count.unwrap_or(0));
    }
    parse_text(bytes)
}

fn parse_binary(facets: &[u8], complete: bool, count: u32) -> Result<TriangleMesh, ImportError> {
    if !complete {
        return Err(ImportError::Truncated { format: FORMAT, within: format!("its {count} facets") });
    }
    let mut builder = MeshBuilder::default();
    for facet in facets.chunks_exact(FACET_SIZE).take(count as usize) {
        // 12 bytes of normal, three times 12 bytes of corner, 2 bytes of attributes.
        facet[12..48].chunks_exact(12).try_for_each(|corner| builder.add_vertex(decode_vec3(corner)))?;
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

fn parse_text(bytes: &[u8]) -> Result<TriangleMesh, ImportError> {
    let mut scanner = Scanner::new(FORMAT, bytes);
    let mut builder = MeshBuilder::default();
    let mut corners = None;
    while let Some(mut line) = scanner.line() {
        let word = line.word();
        match (&word.to_ascii_lowercase()[..], corners) {
            (b"outer", None) => corners = Some(0),
            (b"vertex", Some(count)) => {
                builder.add_vertex(line.vertex()?)?;
                corners = Some(count + 1);
            }
            (b"endloop", Some(count)) if count >= 3 => {
                close_loop(&mut builder, count)?;
                corners = None;
            }
            (b"solid" | b"facet" | b"endfacet" | b"endsolid", None) => {}
            _ => return Err(line.error(format!("{} is out of place", quoted(word)))),
        }
    }
    if corners.is_some() {
        return Err(scanner.truncated("a facet"));
    }
    Ok(builder.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::fuzz::read_damaged;
    use crate::import::mesh::{MeshFormat, read_bytes};
    use crate::mesh::fixtures;
    use glam::Vec3;

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
    fn a_cube_of_loose_facets_is_welded_to_a_closed_one() -> Result<(), ImportError> {
        for bytes in [text(), binary()] {
            let mesh = read_bytes(MeshFormat::Stl, &bytes)?;
            assert_eq!((mesh.positions.len(), mesh.triangles.len(), mesh.open_edges()), (8, 12, 0));
            assert!((mesh.volume() - 1.0).abs() < 1e-6);
        }
        Ok(())
    }

    #[test]
    fn damaged_data_never_panics() {
        read_damaged(MeshFormat::Stl, &text());
        read_damaged(MeshFormat::Stl, &binary());
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
