use super::damage::{self, samples};
use super::*;
use crate::tetra::TetraFill;
use crate::{shape::Shape, tetra::fill};
use glam::Vec3;
use std::{error::Error, fs, io};

fn reason(source: TetraSource) -> String {
    read_bytes(source).map_or_else(|error| error.to_string(), |_| "it was taken".into())
}

#[test]
fn all_formats_give_the_same_two_tetrahedra() -> Result<(), ImportError> {
    for sample in samples() {
        let TetraImport { mesh, quality } = read_bytes(sample.source())?;
        let name = sample.name;
        assert_eq!((quality.nodes, quality.elements, quality.inverted), (5, 2, 1), "{name}");
        assert_eq!(quality.unused, 1, "{name}");
        assert_eq!(mesh.positions, [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE], "{name}");
        assert_eq!(mesh.elements, [[0, 1, 2, 3], [1, 2, 3, 4]], "{name}");
        // Coordinates are whole, so that volumes are exact to the rounding of doubles.
        assert!((quality.volume - 0.5).abs() < 1e-12, "{name}");
    }
    Ok(())
}

/// A ball as TetGen would write it, with every third element inverted.
fn written(ball: &TetraFill) -> (String, String) {
    let mut nodes = format!("{} 3 0 0\n", ball.mesh.positions.len());
    for (name, p) in ball.mesh.positions.iter().enumerate() {
        nodes += &format!("{name} {} {} {}\n", p.x, p.y, p.z);
    }
    let mut elements = format!("{} 4 0\n", ball.mesh.elements.len());
    for (label, [a, b, c, d]) in ball.mesh.elements.iter().enumerate() {
        let (c, d) = if label % 3 == 0 { (d, c) } else { (c, d) };
        elements += &format!("{label} {a} {b} {c} {d}\n");
    }
    (nodes, elements)
}

#[test]
fn inverted_elements_of_a_ball_are_reoriented() -> Result<(), ImportError> {
    let ball = fill(&Shape::Sphere { radius: 1.0 }, 0.4)?;
    let (nodes, elements) = written(&ball);
    let import = read_bytes(TetraSource::Tetgen { nodes: nodes.as_bytes(), elements: elements.as_bytes() })?;
    // Numbers are written with as many digits as they need, so that even the bits are the same.
    assert_eq!(import.mesh, ball.mesh);
    assert_eq!(import.quality.inverted, ball.mesh.elements.len().div_ceil(3));
    assert_eq!(TetraQuality { inverted: 0, ..import.quality }, ball.quality);
    Ok(())
}

#[test]
fn files_are_read_by_their_ending() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    for sample in samples() {
        let path = match sample.source() {
            TetraSource::Msh(bytes) => write(folder.path(), "a.msh", bytes)?,
            TetraSource::Vtk(bytes) => write(folder.path(), "a.VTK", bytes)?,
            TetraSource::Vtu(bytes) => write(folder.path(), "a.vtu", bytes)?,
            TetraSource::Tetgen { nodes, elements } => {
                write(folder.path(), "a.1.node", nodes)?;
                write(folder.path(), "a.1.ele", elements)?
            }
        };
        assert_eq!(read(&path)?.quality.elements, 2, "{}", sample.name);
    }
    Ok(())
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<std::path::PathBuf> {
    let path = folder.join(name);
    fs::write(&path, bytes)?;
    Ok(path)
}

#[test]
fn files_that_cannot_be_read_are_named() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let missing = read(&folder.path().join("none.msh"));
    assert!(matches!(&missing, Err(ImportError::Missing { path, .. }) if path.ends_with("none.msh")));
    let alone = write(folder.path(), "alone.ele", b"0 4 0\n")?;
    assert!(matches!(read(&alone), Err(ImportError::Missing { path, .. }) if path.ends_with("alone.node")));
    let unknown = read(Path::new("a.inp")).map(|_| ()).map_err(|error| error.to_string());
    assert_eq!(
        unknown,
        Err("`a.inp` does not end like a file of tetrahedra; known endings are .msh, .vtk, .vtu, .ele and .node".into())
    );
    let bad = write(folder.path(), "bad.msh", b"hello")?;
    let error = read(&bad).map(|_| ()).map_err(|error| error.to_string());
    assert!(error.is_err_and(|text| text.contains("bad.msh") && text.contains("$MeshFormat")));
    Ok(())
}

/// Reads TetGen text with nodes at the corners of a unit cube's corner, and these rows of elements.
fn with_elements(elements: &str) -> String {
    let nodes = "6 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 0\n6 1 1 1\n";
    reason(TetraSource::Tetgen { nodes: nodes.as_bytes(), elements: elements.as_bytes() })
}

#[test]
fn unsound_elements_are_refused_with_a_remedy() {
    assert_eq!(with_elements("1 4 0\n1 1 2 3 4\n"), "it was taken");
    for (elements, expected) in [
        ("1 4 0\n7 1 2 3 9\n", "element 7 uses node 9, but there is no such node; export nodes and elements together"),
        ("1 4 0\n7 0 1 2 3\n", "element 7 uses node 0, but"),
        ("1 4 0\n7 1 2 3 5\n", "element 7 is flat: its volume is 0.000e0 m3, its longest edge 1.414e0 m; mesh again"),
        ("1 4 0\n7 1 2 2 4\n", "element 7 is flat"),
        ("2 4 0\n7 1 2 3 4\n9 4 2 3 1\n", "elements 7 and 9 have the same corners; remove one of them"),
        ("0 4 0\n", "there are no tetrahedra in it; mesh the volume"),
        ("1 3 0\n1 1 2 3\n", "line 1 of the TetGen .ele text: elements have 3 corners; tetrahedra have 4"),
        ("2 4 0\n1 1 2 3 4\n", "the TetGen .ele data ends too early, within element 1 of 2"),
        ("1 4 0\n1 1 2 x 4\n", "line 2 of the TetGen .ele text: a corner of an element is `x`, which is not a number"),
        ("1 4 0\n# note\n1 1 2 3\n", "line 3 of the TetGen .ele text: a corner of an element is missing"),
        ("1 4 0\n1 1 2 -3 4\n", "line 2 of the TetGen .ele text: a corner of an element is `-3`"),
    ] {
        let reason = with_elements(elements);
        assert!(reason.starts_with(expected), "{reason}");
    }
}

#[test]
fn unsound_nodes_are_refused_with_a_remedy() {
    for (nodes, expected) in [
        ("2 3 0 0\n1 0 0 0\n1 1 0 0\n", "node 1 stands there twice; number nodes without repetition"),
        ("1 3 0 0\n4 0 1e99 0\n", "node 4 is at [0, inf, 0]; all coordinates must be finite"),
        ("1 3 0 0\n4 0 nan 0\n", "node 4 is at [0, NaN, 0]"),
        ("1 2 0 0\n4 0 0\n", "line 1 of the TetGen .node text: nodes have 2 dimensions; export a mesh in three"),
        ("", "the TetGen .node data ends too early, within the first line"),
    ] {
        let reason = reason(TetraSource::Tetgen { nodes: nodes.as_bytes(), elements: b"1 4 0\n1 1 2 3 4\n" });
        assert!(reason.starts_with(expected), "{reason}");
    }
}

#[test]
fn variants_of_gmsh_that_are_not_read_are_refused_with_a_remedy() {
    let head = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
    for (text, expected) in [
        ("$MeshFormat\n4.1 1 8\n".to_string(), "the Gmsh file is binary, which is not read; save it as text"),
        (
            "$MeshFormat\n4 0 8\n".into(),
            "the Gmsh file has version 4, which is not read; save it as version 4.1 or 2.2",
        ),
        (
            "$MeshFormat\n2.2 0 8\n$Nodes\n".into(),
            "line 3 of the Gmsh text: `$Nodes` is out of place; `$EndMeshFormat`",
        ),
        (
            format!("{head}$Elements\n1\n3 5 2 0 0 1 2 3 4 5 6 7 8\n"),
            "element 3 is of Gmsh type 5, which is no tetrahedron",
        ),
        (format!("{head}$Elements\n1\n3 2 2 0 0 1 2 3\n$EndElements\n"), "there are no tetrahedra in it"),
        (format!("{head}$Other\n1\n"), "the Gmsh data ends too early, within the section $Other"),
        (format!("{head}12\n"), "line 4 of the Gmsh text: `12` is out of place; a section such as `$Nodes`"),
        (
            format!("{head}$Nodes\n999999999999\n1 0 0 0\n"),
            "the Gmsh data ends too early, within node 1 of 999999999999",
        ),
    ] {
        let reason = reason(TetraSource::Msh(text.as_bytes()));
        assert!(reason.starts_with(expected), "{reason}");
    }
}

#[test]
fn variants_of_vtk_that_are_not_read_are_refused_with_a_remedy() {
    let head = "# vtk DataFile Version 3.0\n\nASCII\n";
    let grid = format!("{head}DATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n");
    for (text, expected) in [
        (
            "# vtk DataFile Version 3.0\nx\nHEX\n".to_string(),
            "line 3 of the VTK text: `HEX` is out of place; ASCII or BINARY",
        ),
        (
            format!("{head}DATASET POLYDATA\n"),
            "the VTK file has a dataset of kind `POLYDATA`, which is not read; save the",
        ),
        (
            format!("{grid}CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n12\n"),
            "element 0 is of VTK type 12, which is no tetrahedron",
        ),
        (
            format!("{grid}CELLS 1 5\n9 0 1 2 3\n"),
            "not a valid VTK file: cell 0 does not fit into the list of 5 numbers",
        ),
        (format!("{grid}CELLS 1 5\n4 0 1 2 3\n"), "not a valid VTK file: there are 1 cells, but 0 types of cells"),
        (format!("{grid}CELLS 1 5\n4 0 1 2 4\nCELL_TYPES 1\n10\n"), "element 0 uses node 4, but there is no such node"),
        (
            format!("{grid}CELLS 1 5\n4 0 1 2 -1\nCELL_TYPES 1\n10\n"),
            "not a valid VTK file: -1 is the number of a point",
        ),
        (format!("{grid}CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n-1\n"), "not a valid VTK file: -1 is the type of a cell"),
        (
            format!("{grid}CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n10\n"),
            "not a valid VTK file: cell 0 is a tetrahedron with 3",
        ),
        (
            format!("{head}DATASET UNSTRUCTURED_GRID\nPOINTS 4 quad\n"),
            "line 5 of the VTK text: `quad` is not a kind of",
        ),
        (
            format!("{head}DATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0\nx\n"),
            "line 7 of the VTK text: `x` in 1 points",
        ),
    ] {
        let reason = reason(TetraSource::Vtk(text.as_bytes()));
        assert!(reason.starts_with(expected), "{reason}");
    }
}

#[test]
fn variants_of_vtu_that_are_not_read_are_refused_with_a_remedy() {
    let remedy = "save it with data as text (ASCII), or inline as binary without compression";
    for (text, expected) in [
        (
            "<VTKFile><AppendedData encoding=\"raw\">_".to_string(),
            format!("the VTU file has appended data, which is not read; {remedy}"),
        ),
        (
            "<VTKFile compressor=\"vtkZLibDataCompressor\"/>".into(),
            format!("the VTU file is compressed, which is not read; {remedy}"),
        ),
        ("<html/>".into(), "not a valid VTU file: its first element is `html`, not `VTKFile`".into()),
        ("<VTKFile/>".into(), "not a valid VTU file: `VTKFile` has no `UnstructuredGrid` in it".into()),
        ("<VTKFile><UnstructuredGrid/></VTKFile>".into(), "there are no tetrahedra in it".into()),
        (
            damage::vtu(false).replace("\"6\"", "\"8\""),
            "not a valid VTU file: there are 18 coordinates, but the piece".into(),
        ),
        (
            damage::vtu(false).replace("connectivity", "other"),
            "not a valid VTU file: `Cells` has no array `connectivity`".into(),
        ),
        (
            damage::vtu(false).replace("1 1 1", "1 1 one"),
            "not a valid VTU file: `one` in `Points` is not a number".into(),
        ),
        (
            damage::vtu(true).replace("Float64", "Text"),
            "not a valid VTU file: `Text`, the type of `Points`, is not a".into(),
        ),
        (
            damage::vtu(true).replace("binary\">", "binary\">?"),
            "not a valid VTU file: the data of `Points` is not base64".into(),
        ),
    ] {
        let reason = reason(TetraSource::Vtu(text.as_bytes()));
        assert!(reason.starts_with(&expected), "{reason}");
    }
}
