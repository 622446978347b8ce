//! Errors of tetrahedral meshes, their files and their generation.

use super::TetraFormat;
use crate::shape::ShapeError;
use glam::Vec3;
use phyxel::Real;
use std::path::PathBuf;

/// Reason why there is no tetrahedral mesh.
#[derive(Debug, thiserror::Error)]
pub enum TetraError {
    /// Invalid spacing.
    #[error("the spacing of tetrahedra is {spacing} m; it must be a finite number greater than zero")]
    BadSpacing {
        /// Requested spacing, m.
        spacing: Real,
    },
    /// Invalid shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// Unbounded shape.
    #[error(
        "the shape has no end, so it cannot be filled with tetrahedra; intersect it with something that has bounds, \
         such as a box"
    )]
    Unbounded,
    /// Lattice that would need too many nodes.
    #[error(
        "a spacing of {spacing} m would take a lattice of {nodes:.0} nodes, more than the limit of {limit}; \
         use a spacing of at least {enough:.3e} m"
    )]
    TooFine {
        /// Requested spacing, m.
        spacing: Real,
        /// Number of nodes required.
        nodes: f64,
        /// Largest number of nodes allowed.
        limit: usize,
        /// A sufficient spacing, m.
        enough: Real,
    },
    /// Nothing of the shape remains at this spacing.
    #[error(
        "at a spacing of {spacing} m nothing of the shape is left in tetrahedra; the largest spacing that works is \
         {largest} m"
    )]
    TooCoarse {
        /// Requested spacing, m.
        spacing: Real,
        /// Largest spacing found at which something remains, m.
        largest: Real,
    },
    /// Nothing of the shape remains at any spacing.
    #[error(
        "nothing of the shape is left in tetrahedra at a spacing of {spacing} m, nor at {finest} m; \
         check that its parts overlap and that its triangles face outwards"
    )]
    Empty {
        /// Requested spacing, m.
        spacing: Real,
        /// Finest spacing tried, m.
        finest: Real,
    },
    /// Invalid content of a file.
    #[error("file of tetrahedra `{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        source: Box<TetraError>,
    },
    /// Missing file.
    #[error("there is no file of tetrahedra `{}`; check the path, and keep .node and .ele files \
        together", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// Unreadable file.
    #[error("file of tetrahedra `{}` cannot be read: {source}; check that you may read it", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// File name with an unknown extension.
    #[error("`{}` does not end like a file of tetrahedra; known endings are .msh, .vtk, .vtu, .ele and \
        .node", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// Syntax error in a line of text.
    #[error("line {line} of the {format} text: {what}")]
    Line {
        /// The format.
        format: TetraFormat,
        /// Line number, from 1.
        line: usize,
        /// What is expected there and what is found.
        what: String,
    },
    /// Content that violates the format.
    #[error("not a valid {format} file: {what}")]
    Content {
        /// The format.
        format: TetraFormat,
        /// What is expected and what is found.
        what: String,
    },
    /// Truncated data.
    #[error("the {format} data ends too early, within {within}; the file may be cut off: fetch or export it again")]
    Truncated {
        /// The format.
        format: TetraFormat,
        /// What is being read when the data ends.
        within: String,
    },
    /// Unsupported variant of the format.
    #[error("the {format} file {what}, which is not read; {remedy}")]
    Unsupported {
        /// The format.
        format: TetraFormat,
        /// The unsupported feature.
        what: String,
        /// Remedy.
        remedy: &'static str,
    },
    /// Element that is not a tetrahedron.
    #[error(
        "element {element} is of {format} type {kind}, which is no tetrahedron; mesh the volume with tetrahedra only"
    )]
    NotTetrahedron {
        /// The format.
        format: TetraFormat,
        /// Number of the element, as the file counts.
        element: u64,
        /// Element type by the code of the format.
        kind: u64,
    },
    /// Mesh without tetrahedra.
    #[error("there are no tetrahedra in it; mesh the volume, not only the surface, and export that")]
    NoElements,
    /// Repeated node number.
    #[error("node {node} stands there twice; number nodes without repetition, or export the mesh again")]
    RepeatedNode {
        /// Number of the node, as the file counts.
        node: u64,
    },
    /// Node with a coordinate that is not finite.
    #[error("node {node} is at {value}; all coordinates must be finite and fit a 32-bit number")]
    NotFinite {
        /// Number of the node, as the file counts.
        node: u64,
        /// Its position.
        value: Vec3,
    },
    /// Element with an unknown node.
    #[error("element {element} uses node {node}, but there is no such node; export nodes and elements together")]
    BadNode {
        /// Number of the element, as the file counts.
        element: u64,
        /// Number of the node.
        node: u64,
    },
    /// Degenerate element without volume.
    #[error(
        "element {element} is flat: its volume is {volume:.3e} m3, its longest edge {edge:.3e} m; mesh again with a \
         better quality, or remove it"
    )]
    Flat {
        /// Number of the element, as the file counts.
        element: u64,
        /// Its volume, m3.
        volume: f64,
        /// Its longest edge, m.
        edge: f64,
    },
    /// Duplicate elements.
    #[error("elements {first} and {second} have the same corners; remove one of them, or export the mesh again")]
    Duplicate {
        /// Number of the first, as the file counts.
        first: u64,
        /// Number of the second.
        second: u64,
    },
    /// Mesh with too many elements.
    #[error("there are more than {limit} nodes or tetrahedra; mesh with larger elements")]
    TooLarge {
        /// Largest number allowed.
        limit: usize,
    },
}
