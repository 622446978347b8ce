//! Solids: primitives, meshes and what can be made from them.
//!
//! A shape is a signed distance field: negative inside, positive outside, never changing faster than one
//! metre per metre. That bound is what samplers, volumes and surfaces use to leap over empty space.
//! A shape knows nothing of bodies, materials or files.

mod bounds;
mod contour;
mod error;
mod extent;
mod placement;
mod primitive;
mod qef;
mod scan;
mod sense;
mod volume;

pub use bounds::Bounds;
pub use error::ShapeError;
pub use placement::Placement;
pub(crate) use scan::{Grid, few_points_within, points_within};

use crate::mesh::{MeshSolid, TriangleMesh};
use glam::Vec3;
use phyxel::Real;
use std::sync::Arc;

/// A solid, centred on its own origin, y up. Lengths in metres.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A box.
    Box {
        /// Edge lengths along x, y and z, m.
        size: Vec3,
    },
    /// A ball.
    Sphere {
        /// Radius, m.
        radius: Real,
    },
    /// A ball stretched along the axes.
    Ellipsoid {
        /// Half the extent along x, y and z, m.
        radii: Vec3,
    },
    /// A cylinder along y.
    Cylinder {
        /// Radius, m.
        radius: Real,
        /// Extent along y, m.
        height: Real,
    },
    /// A cone along y, pointing up, or what is left of it when its top is cut off.
    Cone {
        /// Radius of the lower end, m.
        radius: Real,
        /// Radius of the upper end, m; zero for a tip.
        top_radius: Real,
        /// Extent along y, m.
        height: Real,
    },
    /// A cylinder along y with half balls on its ends.
    Capsule {
        /// Radius of the cylinder and of the half balls, m.
        radius: Real,
        /// Length of the straight part, m.
        height: Real,
    },
    /// A ring in the xz plane.
    Torus {
        /// Radius of the circle in the middle of the tube, m.
        radius: Real,
        /// Radius of the tube, m.
        tube: Real,
    },
    /// Everything below the plane through the origin; unbounded.
    Plane {
        /// Points out of the solid; any length but zero.
        normal: Vec3,
    },
    /// The inside of a triangle mesh.
    Mesh(Arc<MeshSolid>),
    /// What is in any of the parts.
    Union(Vec<Shape>),
    /// What is in all of the parts.
    Intersection(Vec<Shape>),
    /// What is in the base and in none of the cuts.
    Difference {
        /// The shape that is cut.
        base: Box<Shape>,
        /// The shapes that are taken away.
        cuts: Vec<Shape>,
    },
    /// What is in any of the parts, with rounded seams.
    SmoothUnion {
        /// The shapes that grow together, blended one after the other.
        parts: Vec<Shape>,
        /// Difference of distances over which two parts blend, m; the seam is filled by up to a quarter of it.
        blend: Real,
    },
    /// A shape that is moved, turned and scaled.
    Placed {
        /// The shape in its own frame.
        shape: Box<Shape>,
        /// Where it goes.
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

/// The smallest of the values of `parts`, infinite when there are none.
fn smallest(parts: &[Shape], point: Vec3) -> Real {
    parts.iter().map(|part| part.distance(point)).fold(Real::INFINITY, Real::min)
}

impl Shape {
    /// This shape, moved, turned and scaled.
    pub fn placed(self, placement: Placement) -> Self {
        Self::Placed { shape: Box::new(self), placement }
    }

    /// Signed distance to the surface, negative inside, m.
    ///
    /// Exact for primitives and meshes. For combined shapes its size is a lower bound of the distance, and
    /// its sign is right.
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
            Self::Union(parts) => smallest(parts, point),
            Self::Intersection(parts) => {
                parts.iter().map(|part| part.distance(point)).fold(Real::NEG_INFINITY, Real::max)
            }
            Self::Difference { base, cuts } => base.distance(point).max(-smallest(cuts, point)),
            Self::SmoothUnion { parts, blend } => {
                let distances = parts.iter().map(|part| part.distance(point));
                distances.reduce(|a, b| smooth_min(a, b, *blend)).unwrap_or(Real::INFINITY)
            }
            Self::Placed { shape, placement } => placement.scale * shape.distance(placement.inverse_point(point)),
        }
    }

    /// Whether `point` is inside or on the surface.
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

    /// A closed triangulation of the surface with details of about `cell`, m.
    ///
    /// Dual contouring: sharp edges and corners are kept, see [`ShapeError`] for what can go wrong. The
    /// surface of a mesh is the mesh itself.
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
            _ => contour::contour(self, cell),
        }
    }

    /// Whether the distance is continuous: no part is a mesh with holes, whose sign may change anywhere.
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

    /// Whether any part is a mesh, so that asking for the distance is expensive.
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
