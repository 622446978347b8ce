//! Constructive solid geometry by signed distance fields: primitives, meshes and Boolean combinations.
//!
//! A shape is a signed distance field: negative inside, positive outside, with Lipschitz constant 1. Samplers,
//! volumes and surfaces use that bound to cull empty space. A shape knows nothing of bodies, materials or files.

mod dual_contouring;
mod error;
mod gradient;
mod octree_scan;
mod placement;
mod primitive;
mod support;
mod volume;

pub use error::ShapeError;
pub(crate) use octree_scan::{PointGrid, points_within, points_within_limit};
pub use phyxel_laws::geometry::Aabb;
pub use placement::Placement;

use crate::mesh::{MeshSolid, TriangleMesh};
use glam::Vec3;
use phyxel::Real;
use std::sync::Arc;

/// Solid, centred on its own origin, y up. Lengths in metres.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Box.
    Box {
        /// Edge lengths along x, y and z, m.
        size: Vec3,
    },
    /// Ball.
    Sphere {
        /// Radius, m.
        radius: Real,
    },
    /// Ellipsoid with axes along x, y and z.
    Ellipsoid {
        /// Semi-axes along x, y and z, m.
        radii: Vec3,
    },
    /// Cylinder along y.
    Cylinder {
        /// Radius, m.
        radius: Real,
        /// Extent along y, m.
        height: Real,
    },
    /// Cone along y, pointing up, or a truncated cone.
    Cone {
        /// Radius of the lower end, m.
        radius: Real,
        /// Radius of the upper end, m; zero for a tip.
        top_radius: Real,
        /// Extent along y, m.
        height: Real,
    },
    /// Capsule along y.
    Capsule {
        /// Radius of the cylinder and of its hemispherical caps, m.
        radius: Real,
        /// Length of the cylindrical part, m.
        height: Real,
    },
    /// Torus in the xz plane.
    Torus {
        /// Radius of the centre line of the tube (major radius), m.
        radius: Real,
        /// Radius of the tube (minor radius), m.
        tube: Real,
    },
    /// Half-space below the plane through the origin; unbounded.
    Plane {
        /// Outward normal; any length but zero.
        normal: Vec3,
    },
    /// Inside of a triangle mesh.
    Mesh(Arc<MeshSolid>),
    /// Union of the parts.
    Union(Vec<Shape>),
    /// Intersection of the parts.
    Intersection(Vec<Shape>),
    /// Base minus the cuts.
    Difference {
        /// Shape that is cut.
        base: Box<Shape>,
        /// Shapes that are subtracted.
        cuts: Vec<Shape>,
    },
    /// Union of the parts with rounded seams.
    SmoothUnion {
        /// Parts, blended one after the other.
        parts: Vec<Shape>,
        /// Difference of distances over which two parts blend, m; the seam is filled by up to a quarter of it.
        blend: Real,
    },
    /// Shape under a similarity transform.
    Placed {
        /// Shape in its own frame.
        shape: Box<Shape>,
        /// Transform to the outer frame.
        placement: Placement,
    },
}

/// Quadratic smooth minimum: `min` outside the blend, at most `blend / 4` less inside it.
fn smooth_min(a: Real, b: Real, blend: Real) -> Real {
    if blend <= 0.0 {
        return a.min(b);
    }
    let overlap = (blend - (a - b).abs()).max(0.0) / blend;
    a.min(b) - 0.25 * blend * overlap * overlap
}

/// Smallest distance to the parts, infinite when there are none.
fn min_distance(parts: &[Shape], point: Vec3) -> Real {
    parts.iter().map(|part| part.distance(point)).fold(Real::INFINITY, Real::min)
}

impl Shape {
    /// Returns this shape under a similarity transform.
    pub fn placed(self, placement: Placement) -> Self {
        Self::Placed { shape: Box::new(self), placement }
    }

    /// Signed distance to the surface, negative inside, m.
    ///
    /// Exact for primitives and meshes. For combined shapes its magnitude is a lower bound of the distance, and
    /// its sign is exact.
    pub fn distance(&self, point: Vec3) -> Real {
        match self {
            Self::Box { size } => primitive::block(point, *size),
            Self::Sphere { radius } => point.length() - radius,
            Self::Ellipsoid { radii } => primitive::ellipsoid(point, *radii).0,
            Self::Cylinder { radius, height } => primitive::cylinder(point, *radius, *height),
            Self::Cone { radius, top_radius, height } => primitive::cone(point, *radius, *top_radius, *height),
            Self::Capsule { radius, height } => primitive::capsule(point, *radius, *height),
            Self::Torus { radius, tube } => primitive::torus(point, *radius, *tube),
            Self::Plane { normal } => normal.normalize_or(Vec3::Y).dot(point),
            Self::Mesh(solid) => solid.distance(point),
            Self::Union(parts) => min_distance(parts, point),
            Self::Intersection(parts) => {
                parts.iter().map(|part| part.distance(point)).fold(Real::NEG_INFINITY, Real::max)
            }
            Self::Difference { base, cuts } => base.distance(point).max(-min_distance(cuts, point)),
            Self::SmoothUnion { parts, blend } => {
                let distances = parts.iter().map(|part| part.distance(point));
                distances.reduce(|a, b| smooth_min(a, b, *blend)).unwrap_or(Real::INFINITY)
            }
            Self::Placed { shape, placement } => placement.scale * shape.distance(placement.inverse_point(point)),
        }
    }

    /// Returns true if `point` is inside or on the surface.
    pub fn contains(&self, point: Vec3) -> bool {
        match self {
            Self::Mesh(solid) => solid.contains(point),
            Self::Union(parts) => parts.iter().any(|part| part.contains(point)),
            Self::Intersection(parts) => parts.iter().all(|part| part.contains(point)),
            Self::Difference { base, cuts } => {
                base.contains(point) && cuts.iter().all(|cut| cut.distance(point) >= 0.0)
            }
            Self::Placed { shape, placement } => shape.contains(placement.inverse_point(point)),
            _ => self.distance(point) <= 0.0,
        }
    }

    /// Extracts a closed triangulation of the surface with a resolution of about `cell`, m.
    ///
    /// Dual contouring: sharp edges and corners are preserved; for errors see [`ShapeError`]. The surface of a
    /// mesh is the mesh itself.
    pub fn surface(&self, cell: Real) -> Result<TriangleMesh, ShapeError> {
        match self {
            Self::Mesh(solid) => Ok(solid.mesh().clone()),
            Self::Placed { shape, placement } if matches!(**shape, Self::Mesh(_)) => {
                let mut mesh = shape.surface(cell)?;
                for position in &mut mesh.positions {
                    *position = placement.point(*position);
                }
                Ok(mesh)
            }
            _ => dual_contouring::contour(self, cell),
        }
    }

    /// Returns true if the distance is continuous: no part is a mesh with holes, whose sign may change anywhere.
    pub(crate) fn is_continuous(&self) -> bool {
        match self {
            Self::Mesh(solid) => solid.is_closed(),
            Self::Union(parts) | Self::Intersection(parts) | Self::SmoothUnion { parts, .. } => {
                parts.iter().all(Self::is_continuous)
            }
            Self::Difference { base, cuts } => base.is_continuous() && cuts.iter().all(Self::is_continuous),
            Self::Placed { shape, .. } => shape.is_continuous(),
            _ => true,
        }
    }

    /// Returns true if any part is a mesh, so that distance queries are expensive.
    pub(crate) fn has_mesh(&self) -> bool {
        match self {
            Self::Mesh(_) => true,
            Self::Union(parts) | Self::Intersection(parts) | Self::SmoothUnion { parts, .. } => {
                parts.iter().any(Self::has_mesh)
            }
            Self::Difference { base, cuts } => base.has_mesh() || cuts.iter().any(Self::has_mesh),
            Self::Placed { shape, .. } => shape.has_mesh(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
