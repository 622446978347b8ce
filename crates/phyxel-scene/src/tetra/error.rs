//! What can be wrong with tetrahedra, their file, or the way they are asked for.

use super::Format;
use crate::shape::ShapeError;
use glam::Vec3;
use phyxel::Real;
use std::path::PathBuf;

/// Why there are no tetrahedra.
#[derive(Debug, thiserror::Error)]
pub enum TetraError {
    /// The spacing is not a length.
    #[error("the spacing of tetrahedra is {spacing} m; it must be a finite number greater than zero")]
    BadSpacing {
        /// The spacing asked for, m.
        spacing: Real,
    },
    /// A shape with numbers that make no sense.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The shape has no end.
    #[error(
        "the shape has no end, so it cannot be filled with tetrahedra; intersect it with something that has bounds, such as a box"
    )]
    Unbounded,
    /// A lattice that would need more memory than is sensible.
    #[error(
        "a spacing of {spacing} m would take a lattice of {nodes:.0} nodes, more than the limit of {limit}; \
         use a spacing of at least {enough:.3e} m"
    )]
    TooFine {
        /// The spacing asked for, m.
        spacing: Real,
        /// Number of nodes it would take.
        nodes: f64,
        /// Largest number of nodes allowed.
        limit: usize,
        /// A spacing that would do, m.
        enough: Real,
    },
    /// Nothing of the shape is left at this spacing.
    #[error(
        "at a spacing of {spacing} m nothing of the shape is left in tetrahedra; the largest spacing that works is {largest} m"
    )]
    TooCoarse {
        /// The spacing asked for, m.
        spacing: Real,
        /// The largest spacing found that leaves something, m.
        largest: Real,
    },
    /// Nothing of the shape is found at any spacing.
    #[error(
        "nothing of the shape is left in tetrahedra at a spacing of {spacing} m, nor at {least} m; \
         check that its parts overlap and that its triangles face outwards"
    )]
    Empty {
        /// The spacing asked for, m.
        spacing: Real,
        /// The finest spacing tried, m.
        least: Real,
    },
    /// A file whose content is wrong.
    #[error("file of tetrahedra `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        source: Box<TetraError>,
    },
    /// A file that is not there.
    #[error("there is no file of tetrahedra `{}`; check the path, and keep .node and .ele files together", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A file that cannot be read.
    #[error("file of tetrahedra `{}` cannot be read: {source}; check that you may read it", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file name that does not tell the format.
    #[error("`{}` does not end like a file of tetrahedra; known endings are .msh, .vtk, .vtu, .ele and .node", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// Text that is not in the format.
    #[error("line {line} of the {format} text: {what}")]
    Line {
        /// The format.
        format: Format,
        /// Line number, from 1.
        line: usize,
        /// What is expected there and what is found.
        what: String,
    },
    /// Content that is not in the format.
    #[error("not a valid {format} file: {what}")]
    Content {
        /// The format.
        format: Format,
        /// What is expected and what is found.
        what: String,
    },
    /// Data that ends too early.
    #[error("the {format} data ends too early, within {within}; the file may be cut off: fetch or export it again")]
    Truncated {
        /// The format.
        format: Format,
        /// What is being read when the data ends.
        within: String,
    },
    /// A variant of the format that is not read.
    #[error("the {format} file {what}, which is not read; {remedy}")]
    Unsupported {
        /// The format.
        format: Format,
        /// What it has.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// An element that is not a tetrahedron.
    #[error(
        "element {element} is of {format} type {kind}, which is no tetrahedron; mesh the volume with tetrahedra only"
    )]
    NotTetrahedron {
        /// The format.
        format: Format,
        /// Number of the element, as the file counts.
        element: u64,
        /// Number of the type in the format.
        kind: u64,
    },
    /// Nothing to work with.
    #[error("there are no tetrahedra in it; mesh the volume, not only the surface, and export that")]
    NoElements,
    /// Two nodes with the same number.
    #[error("node {node} stands there twice; number nodes without repetition, or export the mesh again")]
    RepeatedNode {
        /// Number of the node, as the file counts.
        node: u64,
    },
    /// A node that is nowhere.
    #[error("node {node} is at {value}; all coordinates must be finite and fit a 32-bit number")]
    NotFinite {
        /// Number of the node, as the file counts.
        node: u64,
        /// Its position.
        value: Vec3,
    },
    /// An element with a corner that does not exist.
    #[error("element {element} uses node {node}, but there is no such node; export nodes and elements together")]
    BadNode {
        /// Number of the element, as the file counts.
        element: u64,
        /// Number of the node.
        node: u64,
    },
    /// An element without volume.
    #[error(
        "element {element} is flat: its volume is {volume:.3e} m3, its longest edge {edge:.3e} m; mesh again with a better quality, or remove it"
    )]
    Flat {
        /// Number of the element, as the file counts.
        element: u64,
        /// Its volume, m3.
        volume: f64,
        /// Its longest edge, m.
        edge: f64,
    },
    /// Two elements with the same corners.
    #[error("elements {first} and {second} have the same corners; remove one of them, or export the mesh again")]
    Duplicate {
        /// Number of the first, as the file counts.
        first: u64,
        /// Number of the second.
        second: u64,
    },
    /// A mesh beyond any use.
    #[error("there are more than {limit} nodes or tetrahedra; mesh with larger elements")]
    TooLarge {
        /// Largest number allowed.
        limit: usize,
    },
}
