//! TetGen `.node` and `.ele` files. Rows are numbered from 0 or from 1; attributes and markers are ignored.

use super::raw::RawTetra;
use crate::import::{ImportError, scanner::Scanner};

/// Reads the nodes of one file and the elements of the other.
pub(super) fn parse(nodes: &[u8], elements: &[u8]) -> Result<RawTetra, ImportError> {
    let mut raw = RawTetra::default();
    read_nodes(nodes, &mut raw)?;
    read_elements(elements, &mut raw)?;
    Ok(raw)
}

fn read_nodes(bytes: &[u8], raw: &mut RawTetra) -> Result<(), ImportError> {
    let mut scanner = Scanner::with_comments("TetGen .node", bytes);
    let mut first = scanner.expect_line("the first line")?;
    let count: usize = first.number("the number of nodes")?;
    let dimension: u32 = first.number("the dimension of nodes")?;
    if dimension != 3 {
        return Err(first.error(format!("nodes have {dimension} dimensions; export a mesh in three")));
    }
    for row in 0..count {
        let mut line = scanner.expect_line(&format!("node {row} of {count}"))?;
        let id = line.number("the number of a node")?;
        raw.add_node(id, line.node()?)?;
    }
    Ok(())
}

fn read_elements(bytes: &[u8], raw: &mut RawTetra) -> Result<(), ImportError> {
    let mut scanner = Scanner::with_comments("TetGen .ele", bytes);
    let mut first = scanner.expect_line("the first line")?;
    let count: usize = first.number("the number of elements")?;
    let corners: u32 = first.number("the number of corners")?;
    // Those of second order have their four corners first.
    if corners != 4 && corners != 10 {
        return Err(first.error(format!("elements have {corners} corners; tetrahedra have 4, or 10 of second order")));
    }
    for row in 0..count {
        let mut line = scanner.expect_line(&format!("element {row} of {count}"))?;
        let id = line.number("the number of an element")?;
        raw.add_element(id, line.corners()?)?;
    }
    Ok(())
}
