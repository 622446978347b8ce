//! Gmsh `.msh` text, versions 2.2 and 4.1. Sections other than nodes and elements are ignored.

use super::raw::RawTetra;
use crate::import::ImportError;
use crate::import::scanner::{LineScanner, Scanner};

const FORMAT: &str = "Gmsh";

/// Types of tetrahedra of orders one to five; the corners come first.
const TETRAHEDRA: [u64; 5] = [4, 11, 29, 30, 31];
/// Types of points, lines and flat elements, which have no volume.
const LOWER_DIMENSIONAL: [u64; 17] = [1, 2, 3, 8, 9, 10, 15, 16, 20, 21, 22, 23, 24, 25, 26, 27, 28];

#[derive(Clone, Copy, PartialEq)]
enum MshVersion {
    Two,
    Four,
}

/// Reads the nodes and the tetrahedra.
pub(super) fn parse(bytes: &[u8]) -> Result<RawTetra, ImportError> {
    let mut scanner = Scanner::new(FORMAT, bytes);
    let first = scanner.line();
    if first.is_none_or(|line| line.text() != b"$MeshFormat") {
        let what = "it does not start with the line `$MeshFormat`".into();
        return Err(ImportError::Content { format: FORMAT, what });
    }
    let version = read_version(&mut scanner.expect_line("$MeshFormat")?)?;
    expect_end(&mut scanner, b"$EndMeshFormat")?;
    let mut raw = RawTetra::default();
    while let Some(line) = scanner.line() {
        match (line.text(), version) {
            (b"$Nodes", MshVersion::Two) => read_nodes_v2(&mut scanner, &mut raw)?,
            (b"$Nodes", MshVersion::Four) => read_nodes_v4(&mut scanner, &mut raw)?,
            (b"$Elements", MshVersion::Two) => read_elements_v2(&mut scanner, &mut raw)?,
            (b"$Elements", MshVersion::Four) => read_elements_v4(&mut scanner, &mut raw)?,
            ([b'$', name @ ..], _) => skip_section(&mut scanner, name)?,
            _ => return Err(line.unexpected("a section such as `$Nodes`")),
        }
    }
    Ok(raw)
}

fn read_version(line: &mut LineScanner) -> Result<MshVersion, ImportError> {
    let refuse = |what: String, remedy| Err(ImportError::Unsupported { format: FORMAT, what, remedy });
    let version: f64 = line.number("the version")?;
    let kind: u32 = line.number("the kind of file")?;
    if kind != 0 {
        return refuse("is binary".into(), "save it as text, with `Mesh.Binary = 0` or without `-bin`");
    }
    match version {
        v if (2.0..3.0).contains(&v) => Ok(MshVersion::Two),
        v if (4.1..4.2).contains(&v) => Ok(MshVersion::Four),
        v => {
            refuse(format!("has version {v}"), "save it as version 4.1 or 2.2, with `-format msh41` or `-format msh22`")
        }
    }
}

fn expect_end(scanner: &mut Scanner, mark: &'static [u8]) -> Result<(), ImportError> {
    let name = String::from_utf8_lossy(mark);
    let line = scanner.expect_line(&format!("the section before {name}"))?;
    if line.text() == mark { Ok(()) } else { Err(line.unexpected(&format!("`{name}`"))) }
}

fn skip_section(scanner: &mut Scanner, name: &[u8]) -> Result<(), ImportError> {
    while let Some(line) = scanner.line() {
        if line.text().strip_prefix(b"$End") == Some(name) {
            return Ok(());
        }
    }
    Err(scanner.truncated(&format!("the section ${}", String::from_utf8_lossy(name))))
}

fn read_nodes_v2(scanner: &mut Scanner, raw: &mut RawTetra) -> Result<(), ImportError> {
    let count: usize = scanner.expect_line("$Nodes")?.number("the number of nodes")?;
    for row in 0..count {
        let mut line = scanner.expect_line(&format!("node {row} of {count}"))?;
        let id = line.number("the number of a node")?;
        raw.add_node(id, line.node()?)?;
    }
    expect_end(scanner, b"$EndNodes")
}

fn read_elements_v2(scanner: &mut Scanner, raw: &mut RawTetra) -> Result<(), ImportError> {
    let count: usize = scanner.expect_line("$Elements")?.number("the number of elements")?;
    for row in 0..count {
        let mut line = scanner.expect_line(&format!("element {row} of {count}"))?;
        let id = line.number("the number of an element")?;
        let kind: u64 = line.number("the type of an element")?;
        let tags: u32 = line.number("the number of tags")?;
        if TETRAHEDRA.contains(&kind) {
            for _ in 0..tags {
                line.number::<i64>("a tag of an element")?;
            }
            raw.add_element(id, line.corners()?)?;
        } else if !LOWER_DIMENSIONAL.contains(&kind) {
            return Err(ImportError::NotTetrahedron { format: FORMAT, element: id, kind });
        }
    }
    expect_end(scanner, b"$EndElements")
}

/// Reads the header of a block: dimension and tag of its entity, a third number, and the number of rows.
fn read_block_header(scanner: &mut Scanner, within: &str, third: &str) -> Result<(u32, u64, usize), ImportError> {
    let mut line = scanner.expect_line(within)?;
    let dimension = line.number("the dimension of a block")?;
    line.number::<i64>("the tag of a block")?;
    Ok((dimension, line.number(third)?, line.number("the number of rows of a block")?))
}

fn read_nodes_v4(scanner: &mut Scanner, raw: &mut RawTetra) -> Result<(), ImportError> {
    let blocks: usize = scanner.expect_line("$Nodes")?.number("the number of blocks")?;
    for _ in 0..blocks {
        let (_, _, count) = read_block_header(scanner, "a block of $Nodes", "the flag for parameters of a block")?;
        let mut ids: Vec<u64> = Vec::new();
        for _ in 0..count {
            ids.push(scanner.expect_line("the numbers of nodes")?.number("the number of a node")?);
        }
        for id in ids {
            raw.add_node(id, scanner.expect_line("the positions of nodes")?.node()?)?;
        }
    }
    expect_end(scanner, b"$EndNodes")
}

fn read_elements_v4(scanner: &mut Scanner, raw: &mut RawTetra) -> Result<(), ImportError> {
    let blocks: usize = scanner.expect_line("$Elements")?.number("the number of blocks")?;
    for _ in 0..blocks {
        let (dimension, kind, count) =
            read_block_header(scanner, "a block of $Elements", "the type of elements of a block")?;
        for _ in 0..count {
            let mut line = scanner.expect_line("the elements of a block")?;
            let id = line.number("the number of an element")?;
            if TETRAHEDRA.contains(&kind) {
                raw.add_element(id, line.corners()?)?;
            } else if dimension == 3 {
                return Err(ImportError::NotTetrahedron { format: FORMAT, element: id, kind });
            }
        }
    }
    expect_end(scanner, b"$EndElements")
}
