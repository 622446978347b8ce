//! Support functions and bounding boxes of shapes.

use super::Shape;
use glam::{Vec2, Vec3};
use phyxel::Real;
use phyxel_laws::geometry::Aabb;

/// Support function of a disc of radius `radius` around y.
fn disc_support(direction: Vec3, radius: Real) -> Real {
    radius * Vec2::new(direction.x, direction.z).length()
}

impl Shape {
    /// Bounding box of the shape, or `None` when it is unbounded.
    ///
    /// Tight for primitives and meshes in any orientation, and for their unions; otherwise conservative. A shape
    /// that is certainly empty gives a box without volume.
    pub fn bounds(&self) -> Option<Aabb> {
        let extreme = |sign: Real| Vec3::from_array(Vec3::AXES.map(|axis| self.support(sign * axis)));
        let (max, min) = (extreme(1.0), -extreme(-1.0));
        let empty = max == Vec3::NEG_INFINITY || max.cmplt(min).any();
        if empty {
            let at = if max.is_finite() { max } else { Vec3::ZERO };
            return Some(Aabb { min: at, max: at });
        }
        (min.is_finite() && max.is_finite()).then_some(Aabb { min, max })
    }

    /// Support function: an upper bound of `x . direction` over the points `x` of the shape, for a unit direction, m.
    ///
    /// Infinite where the shape is unbounded, minus infinity for an empty union.
    fn support(&self, direction: Vec3) -> Real {
        match self {
            Self::Box { size } => 0.5 * size.dot(direction.abs()),
            Self::Sphere { radius } => *radius,
            Self::Ellipsoid { radii } => (*radii * direction).length(),
            Self::Cylinder { radius, height } => disc_support(direction, *radius) + 0.5 * height * direction.y.abs(),
            Self::Cone { radius, top_radius, height } => {
                let axial = 0.5 * height * direction.y;
                (disc_support(direction, *radius) - axial).max(disc_support(direction, *top_radius) + axial)
            }
            Self::Capsule { radius, height } => radius + 0.5 * height * direction.y.abs(),
            Self::Torus { radius, tube } => disc_support(direction, *radius) + tube,
            Self::Plane { normal } => {
                let along = normal.normalize_or(Vec3::Y).dot(direction);
                // Bounded in the direction of the normal only; 1e-7 is the rounding of a unit vector.
                if along >= 1.0 - 1e-7 { 0.0 } else { Real::INFINITY }
            }
            Self::Mesh(solid) => solid.mesh().positions.iter().map(|p| p.dot(direction)).fold(Real::MIN, Real::max),
            Self::Union(parts) => max_support(parts, direction),
            Self::Intersection(parts) => {
                parts.iter().map(|part| part.support(direction)).fold(Real::INFINITY, Real::min)
            }
            Self::Difference { base, .. } => base.support(direction),
            Self::SmoothUnion { parts, blend } => {
                // Every blend of two parts adds up to a quarter of the blend.
                let seams = parts.len().saturating_sub(1) as Real;
                max_support(parts, direction) + 0.25 * blend.max(0.0) * seams
            }
            Self::Placed { shape, placement } => {
                placement.scale * shape.support(placement.inverse_direction(direction)) + placement.at.dot(direction)
            }
        }
    }
}

fn max_support(parts: &[Shape], direction: Vec3) -> Real {
    parts.iter().map(|part| part.support(direction)).fold(Real::NEG_INFINITY, Real::max)
}
