//! What can be wrong with tetrahedra that are asked for.

use crate::shape::ShapeError;
use phyxel::Real;

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
}
