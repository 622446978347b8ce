//! Errors of tetrahedral meshes and their generation.

use crate::shape::ShapeError;
use glam::Vec3;
use phyxel::Real;

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
