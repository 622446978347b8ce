//! Small dense and banded linear algebra: symmetric eigenproblems, nearest rotations and skyline Cholesky
//! factorisation.

pub mod eigen;
pub mod rotation;
pub mod skyline;
