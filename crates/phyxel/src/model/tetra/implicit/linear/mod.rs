//! The linear system of a Newton iteration: block-sparse matrices and their two-level preconditioner.

pub(super) mod coarse;
pub(super) mod matrix;
pub(super) mod pattern;
pub(super) mod preconditioner;
pub(super) mod product;
