//! Errors of building and editing a tetrahedral complex.

use std::fmt;

/// Elements that do not form a valid complex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidMesh {
    /// A node number is out of range.
    NodeOutOfRange {
        /// Element.
        element: usize,
        /// Number.
        node: u32,
        /// Number of nodes.
        nodes: usize,
    },
    /// An element has a node twice.
    RepeatedNode {
        /// Element.
        element: usize,
        /// Node.
        node: u32,
    },
    /// Two elements lie on the same side of a face, or have all four nodes in common.
    Overlap {
        /// Nodes of the face, in order of their numbers.
        nodes: [u32; 3],
        /// Elements.
        elements: [usize; 2],
    },
    /// More than two elements have the same face.
    NonManifold {
        /// Nodes of the face, in order of their numbers.
        nodes: [u32; 3],
        /// Number of elements with this face.
        count: usize,
    },
    /// Two nodes got the same number.
    DuplicateNumber {
        /// Number.
        number: u32,
    },
    /// A node with corners got no number.
    Unnumbered {
        /// Node.
        node: u32,
    },
}

impl fmt::Display for InvalidMesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NodeOutOfRange { element, node, nodes } => {
                write!(f, "element {element} has node {node}, but there are {nodes} nodes; numbers begin at 0")
            }
            Self::RepeatedNode { element, node } => {
                write!(f, "element {element} has node {node} twice; leave out elements without volume")
            }
            Self::Overlap { nodes: [a, b, c], elements: [one, other] } => write!(
                f,
                "elements {one} and {other} lie on the same side of the face of nodes {a}, {b} and {c}, or are the \
                 same; orient all elements alike, and leave out copies"
            ),
            Self::NonManifold { nodes: [a, b, c], count } => write!(
                f,
                "{count} elements have the face of nodes {a}, {b} and {c}, but a face has two sides; give those that \
                 only touch nodes of their own"
            ),
            Self::DuplicateNumber { number } => {
                write!(f, "two nodes got the number {number}; weld nodes by an edit, not by their numbers")
            }
            Self::Unnumbered { node } => {
                write!(f, "node {node} has corners and got no number; give one to every node")
            }
        }
    }
}

impl std::error::Error for InvalidMesh {}

/// Edit that would make a complex invalid; the complex is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditRejected {
    /// A node has no corners.
    NoCorners {
        /// Node.
        node: u32,
    },
    /// The number of groups is not that of the node's corners.
    GroupCount {
        /// Node.
        node: u32,
        /// Number of its corners.
        corners: usize,
        /// Number of groups given.
        groups: usize,
    },
    /// An element would have a node twice.
    RepeatedNode {
        /// Element.
        element: usize,
    },
    /// Two elements would lie on the same side of a face, or have all four nodes in common.
    Overlap {
        /// Elements.
        elements: [usize; 2],
    },
    /// More than two elements would have the same face.
    NonManifold {
        /// One of them.
        element: usize,
    },
    /// An element would be inverted or too small.
    VolumeTooSmall {
        /// Element.
        element: usize,
    },
}

impl fmt::Display for EditRejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCorners { node } => write!(f, "node {node} has no corners; it was removed, or never existed"),
            Self::GroupCount { node, corners, groups } => {
                write!(f, "node {node} has {corners} corners, and groups for {groups} were given; give one for each")
            }
            Self::RepeatedNode { element } => write!(f, "element {element} would have a node twice; weld others"),
            Self::Overlap { elements: [one, other] } => {
                write!(f, "elements {one} and {other} would lie on the same side of a face; weld others")
            }
            Self::NonManifold { element } => {
                write!(f, "a face of element {element} would have more than two sides; weld others")
            }
            Self::VolumeTooSmall { element } => write!(
                f,
                "element {element} would be inverted or have too small a fraction of its reference volume; weld \
                 others, or allow less volume"
            ),
        }
    }
}

impl std::error::Error for EditRejected {}
