//! Wavefront OBJ. Only `v` and `f` lines are read; all others are ignored.

use super::{ImportError, MeshBuilder, TriangleMesh};
use crate::import::scanner::{LineScanner, Scanner, quoted};

/// Reads the mesh. Polygons become triangle fans; groups and materials are merged.
pub(super) fn parse(bytes: &[u8]) -> Result<TriangleMesh, ImportError> {
    let mut scanner = Scanner::with_comments("OBJ", bytes);
    let mut builder = MeshBuilder::default();
    let mut corners = Vec::new();
    while let Some(mut line) = scanner.line() {
        match line.word() {
            b"v" => builder.add_vertex(line.vertex()?)?,
            b"f" => {
                corners.clear();
                while let word @ [_, ..] = line.word() {
                    corners.push(parse_corner(word, builder.vertex_count(), &line)?);
                }
                if corners.len() < 3 {
                    return Err(line.error(format!("a face has {} corners; it needs three", corners.len())));
                }
                builder.add_polygon(&corners)?;
            }
            _ => {}
        }
    }
    Ok(builder.finish())
}

/// Parses the zero-based vertex index of a corner `v`, `v/vt`, `v//vn` or `v/vt/vn`. Negative indices count
/// back from the latest vertex.
fn parse_corner(word: &[u8], vertices: usize, line: &LineScanner) -> Result<i64, ImportError> {
    let number = word.split(|byte| *byte == b'/').next().and_then(|number| std::str::from_utf8(number).ok());
    match number.and_then(|number| number.parse::<i64>().ok()) {
        Some(number) if number > 0 => Ok(number - 1),
        Some(number) if number < 0 => Ok((vertices as i64).saturating_add(number)),
        _ => Err(line.error(format!("{} is not a corner of a face; vertices are counted from 1", quoted(word)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::fuzz::read_damaged;
    use crate::import::mesh::{MeshFormat, read_bytes};

    const PYRAMID: &str = "# a pyramid\no pyramid\nv 0 0 0\nv 1 0 0 1.0\nv 1 0 1\nv 0 0 1\nvt 0 0\nvn 0 1 0\n\
        v 0.5 1e0 0.5\nusemtl stone\nf 1 2 3 4 # base\nf 1/1 -1/1 2/1\nf 2//1 5//1 3//1\nf 3/1/1 5/1/1 4/1/1\nf 4 5 \
        1\n";

    #[test]
    fn a_pyramid_of_a_square_and_four_triangles_is_closed() -> Result<(), ImportError> {
        let mesh = read_bytes(MeshFormat::Obj, PYRAMID.as_bytes())?;
        assert_eq!((mesh.positions.len(), mesh.triangles.len(), mesh.open_edges()), (5, 6, 0));
        assert!((mesh.volume() - 1.0 / 3.0).abs() < 1e-6);
        Ok(())
    }

    #[test]
    fn damaged_text_never_panics() {
        read_damaged(MeshFormat::Obj, PYRAMID.as_bytes());
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
