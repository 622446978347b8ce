//! Geometric primitives: bounding boxes and closest points.

mod aabb;
mod triangle;

pub use aabb::Aabb;
pub use triangle::{closest_point_on_triangle, project_on_triangle};
