//! Why elements do not make a net, and why a net stays as it is.

use std::fmt;

/// Why elements do not make a net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tangle {
    /// The number of a node is too large.
    Node {
        /// Which element.
        element: usize,
        /// The number.
        node: u32,
        /// How many nodes there are.
        nodes: usize,
    },
    /// An element has a node twice.
    Folded {
        /// Which element.
        element: usize,
        /// The node.
        node: u32,
    },
    /// Two elements lie on the same side of a face, or have all four nodes in common.
    Overlap {
        /// Nodes of the face, in order of their numbers.
        nodes: [u32; 3],
        /// The elements.
        elements: [usize; 2],
    },
    /// More than two elements have the same face.
    Crowd {
        /// Nodes of the face, in order of their numbers.
        nodes: [u32; 3],
        /// How many have it.
        count: usize,
    },
    /// Two nodes got the same number.
    Taken {
        /// The number.
        number: u32,
    },
    /// A node that holds corners got no number.
    Unnumbered {
        /// The node.
        node: u32,
    },
}

impl fmt::Display for Tangle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node { element, node, nodes } => {
                write!(f, "element {element} has node {node}, but there are {nodes} nodes; numbers begin at 0")
            }
            Self::Folded { element, node } => {
                write!(f, "element {element} has node {node} twice; leave out elements without volume")
            }
            Self::Overlap { nodes: [a, b, c], elements: [one, other] } => write!(
                f,
                "elements {one} and {other} lie on the same side of the face of nodes {a}, {b} and {c}, or are the same; turn \
                 all elements the same way, and leave out copies"
            ),
            Self::Crowd { nodes: [a, b, c], count } => write!(
                f,
                "{count} elements have the face of nodes {a}, {b} and {c}, which has two sides; give those that only touch nodes \
                 of their own"
            ),
            Self::Taken { number } => {
                write!(f, "two nodes got the number {number}; unite nodes by a join, not by their numbers")
            }
            Self::Unnumbered { node } => {
                write!(f, "node {node} holds corners and got no number; give one to every node")
            }
        }
    }
}

impl std::error::Error for Tangle {}

/// Why a net stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A node holds no corners.
    Nothing {
        /// The node.
        node: u32,
    },
    /// A node has another number of corners than groups were given for.
    Groups {
        /// The node.
        node: u32,
        /// How many corners it holds.
        corners: usize,
        /// How many groups were given.
        groups: usize,
    },
    /// An element would have a node twice.
    Folded {
        /// Which element.
        element: usize,
    },
    /// Two elements would lie on the same side of a face, or have all four nodes in common.
    Overlap {
        /// The elements.
        elements: [usize; 2],
    },
    /// More than two elements would have the same face.
    Crowd {
        /// One of them.
        element: usize,
    },
    /// An element would be mirrored, or too small.
    Shrunk {
        /// Which element.
        element: usize,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing { node } => write!(f, "node {node} holds no corners; it is gone, or was never there"),
            Self::Groups { node, corners, groups } => {
                write!(f, "node {node} holds {corners} corners, and groups of {groups} were given; give one for each")
            }
            Self::Folded { element } => write!(f, "element {element} would have a node twice; unite others"),
            Self::Overlap { elements: [one, other] } => {
                write!(f, "elements {one} and {other} would lie on the same side of a face; unite others")
            }
            Self::Crowd { element } => {
                write!(f, "a face of element {element} would have more than two sides; unite others")
            }
            Self::Shrunk { element } => write!(
                f,
                "element {element} would be mirrored or have too little of its volume at rest; unite others, or allow less volume"
            ),
        }
    }
}

impl std::error::Error for Refusal {}
