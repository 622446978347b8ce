//! Geometric queries: signed distances to obstacles, and triangle surfaces.

mod signed_distance;
mod triangle_surface;

pub(crate) use signed_distance::{Collider, SignedDistance};
pub use triangle_surface::{SurfaceConnectivity, corner_normals};
pub(crate) use triangle_surface::{enclosed_volume, surface_topology, vertex_normals};
