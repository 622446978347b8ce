//! Narrow phase: contact points of spheres, tetrahedra and obstacles.

pub(super) mod obstacles;
pub(super) mod sphere_sphere;
pub(super) mod sphere_triangle;
pub(super) mod vertex_face;
