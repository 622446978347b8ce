//! Wavefront OBJ. Only `v` and `f` lines are read; all others are ignored.

use super::{MeshBuilder, MeshError, MeshFormat, TriangleMesh};
use glam::Vec3;

fn line_error(line: usize, what: String) -> MeshError {
    MeshError::Line { format: MeshFormat::Obj, line, what }
}

/// Reads the mesh. Polygons become triangle fans; groups and materials are merged.
pub(super) fn parse(bytes: &[u8]) -> Result<TriangleMesh, MeshError> {
    let text = String::from_utf8_lossy(bytes);
    let mut builder = MeshBuilder::default();
    let mut corners = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("v") => builder.add_vertex(parse_vertex(&mut words, number + 1)?)?,
            Some("f") => {
                corners.clear();
                for word in words.take_while(|word| !word.starts_with('#')) {
                    corners.push(parse_corner(word, builder.vertex_count(), number + 1)?);
                }
                if corners.len() < 3 {
                    return Err(line_error(
                        number + 1,
                        format!("a face has {} corners; it needs three", corners.len()),
                    ));
                }
                builder.add_polygon(&corners)?;
            }
            _ => {}
        }
    }
    Ok(builder.finish())
}

fn parse_vertex<'a>(words: &mut impl Iterator<Item = &'a str>, line: usize) -> Result<Vec3, MeshError> {
    let mut coordinates = [0.0f32; 3];
    for coordinate in &mut coordinates {
        let word = words.next().unwrap_or("");
        *coordinate = word
            .parse()
            .map_err(|_| line_error(line, format!("a vertex needs three numbers, but one of them is `{word}`")))?;
    }
    Ok(Vec3::from_array(coordinates))
}

/// Parses the zero-based vertex index of a corner `v`, `v/vt`, `v//vn` or `v/vt/vn`. Negative indices count
/// back from the latest vertex.
fn parse_corner(word: &str, vertices: usize, line: usize) -> Result<i64, MeshError> {
    let number = word.split('/').next().unwrap_or("");
    match number.parse::<i64>() {
        Ok(number) if number > 0 => Ok(number - 1),
        Ok(number) if number < 0 => Ok((vertices as i64).saturating_add(number)),
        _ => Err(line_error(line, format!("`{word}` is not a corner of a face; vertices are counted from 1"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{formats::fuzz, read_bytes};

    const PYRAMID: &str = "# a pyramid\no pyramid\nv 0 0 0\nv 1 0 0 1.0\nv 1 0 1\nv 0 0 1\nvt 0 0\nvn 0 1 0\n\
        v 0.5 1e0 0.5\nusemtl stone\nf 1 2 3 4 # base\nf 1/1 -1/1 2/1\nf 2//1 5//1 3//1\nf 3/1/1 5/1/1 4/1/1\nf 4 5 \
        1\n";

    #[test]
    fn a_pyramid_of_a_square_and_four_triangles_is_closed() -> Result<(), MeshError> {
        let mesh = read_bytes(MeshFormat::Obj, PYRAMID.as_bytes())?;
        assert_eq!((mesh.positions.len(), mesh.triangles.len(), mesh.open_edges()), (5, 6, 0));
        assert!((mesh.volume() - 1.0 / 3.0).abs() < 1e-6);
        Ok(())
    }

    #[test]
    fn damaged_text_never_panics() {
        fuzz::read_damaged(MeshFormat::Obj, PYRAMID.as_bytes());
    }

    #[test]
    fn errors_name_the_line() {
        let message = |text: &str| match read_bytes(MeshFormat::Obj, text.as_bytes()) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        };
        assert!(message("v 0 0 0\nv 1 x 0\n").contains("line 2 of the OBJ text"));
        assert!(message("v 0 0 0\nf 1 1 0\n").contains("`0` is not a corner"));
        assert!(message("v 0 0 0\nf 1 1\n").contains("a face has 2 corners"));
        assert!(message("v 0 0 0\nv 1 0 0\nv nan 0 0\nf 1 2 3\n").contains("vertex 2 is at"));
        assert!(message("v 0 0 0\nf -1 -2 -1\n").contains("uses vertex -1"));
        assert!(message("v 0 0 0\n").contains("no triangles"));
    }
}
