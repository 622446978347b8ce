//! How far shapes reach.

use super::{Bounds, Shape};
use glam::{Vec2, Vec3};
use phyxel::Real;

/// How far a disc of radius `radius` around y reaches in a direction.
fn disc(direction: Vec3, radius: Real) -> Real {
    radius * Vec2::new(direction.x, direction.z).length()
}

impl Shape {
    /// The smallest known box around the shape, or `None` when the shape has no end.
    ///
    /// Exact for primitives and meshes however they are turned, and for their unions; otherwise it may be
    /// larger than needed. A shape that is certainly empty gives a box without volume.
    pub fn bounds(&self) -> Option<Bounds> {
        let reach = |sign: Real| Vec3::from_array(Vec3::AXES.map(|axis| self.reach(sign * axis)));
        let (max, min) = (reach(1.0), -reach(-1.0));
        let empty = max == Vec3::NEG_INFINITY || max.cmplt(min).any();
        if empty {
            let at = if max.is_finite() { max } else { Vec3::ZERO };
            return Some(Bounds { min: at, max: at });
        }
        (min.is_finite() && max.is_finite()).then_some(Bounds { min, max })
    }

    /// The largest `x . direction` over the points `x` of the shape (or more), for a unit direction, m.
    ///
    /// Infinite where the shape has no end, minus infinite for a union of nothing.
    fn reach(&self, direction: Vec3) -> Real {
        match self {
            Self::Box { size } => 0.5 * size.dot(direction.abs()),
            Self::Sphere { radius } => *radius,
            Self::Ellipsoid { radii } => (*radii * direction).length(),
            Self::Cylinder { radius, height } => disc(direction, *radius) + 0.5 * height * direction.y.abs(),
            Self::Cone { radius, top_radius, height } => {
                let lift = 0.5 * height * direction.y;
                (disc(direction, *radius) - lift).max(disc(direction, *top_radius) + lift)
            }
            Self::Capsule { radius, height } => radius + 0.5 * height * direction.y.abs(),
            Self::Torus { radius, tube } => disc(direction, *radius) + tube,
            Self::Plane { normal } => {
                let along = normal.normalize_or(Vec3::Y).dot(direction);
                // Only in the very direction of the normal is there an end; 1e-7 is the rounding of a unit vector.
                if along >= 1.0 - 1e-7 { 0.0 } else { Real::INFINITY }
            }
            Self::Mesh(solid) => solid.mesh().positions.iter().map(|p| p.dot(direction)).fold(Real::MIN, Real::max),
            Self::Union(parts) => largest_reach(parts, direction),
            Self::Intersection(parts) => parts.iter().map(|part| part.reach(direction)).fold(Real::INFINITY, Real::min),
            Self::Difference { base, .. } => base.reach(direction),
            Self::SmoothUnion { parts, blend } => {
                // Every blend of two parts fills the seam by up to a quarter of the blend.
                let seams = parts.len().saturating_sub(1) as Real;
                largest_reach(parts, direction) + 0.25 * blend.max(0.0) * seams
            }
            Self::Placed { shape, placement } => {
                placement.scale * shape.reach(placement.inverse_direction(direction)) + placement.at.dot(direction)
            }
        }
    }
}

fn largest_reach(parts: &[Shape], direction: Vec3) -> Real {
    parts.iter().map(|part| part.reach(direction)).fold(Real::NEG_INFINITY, Real::max)
}
