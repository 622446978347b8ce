//! Gradients of signed distances.

use super::{Shape, primitive};
use glam::{Vec2, Vec3};
use phyxel::Real;

/// Part with the smallest `sign * distance`, and its distance.
fn extremal_part(parts: &[Shape], point: Vec3, sign: Real) -> Option<(&Shape, Real)> {
    let distances = parts.iter().map(|part| (part, part.distance(point)));
    distances.reduce(|best, other| if sign * other.1 < sign * best.1 { other } else { best })
}

/// Smooth minimum of two distances, and its gradient, the correspondingly weighted mean of theirs.
fn smooth_min_with_gradient(a: (Real, Vec3), b: (Real, Vec3), blend: Real) -> (Real, Vec3) {
    let (low, high) = if a.0 <= b.0 { (a, b) } else { (b, a) };
    let overlap = if blend > 0.0 { (blend - (high.0 - low.0)).max(0.0) / blend } else { 0.0 };
    (super::smooth_min(a.0, b.0, blend), low.1.lerp(high.1, 0.5 * overlap))
}

fn torus_gradient(point: Vec3, radius: Real) -> Vec3 {
    let flat = Vec2::new(point.x, point.z);
    let outward = flat.normalize_or(Vec2::X);
    let across = flat.length() - radius;
    Vec3::new(across * outward.x, point.y, across * outward.y).normalize_or(Vec3::Y)
}

impl Shape {
    /// Unit gradient of the distance: the outward normal on the surface.
    ///
    /// At edges and axes, where it is not unique, one of the one-sided gradients.
    pub fn gradient(&self, point: Vec3) -> Vec3 {
        self.distance_and_gradient(point).1
    }

    /// Signed distance, m, and its unit gradient, by one evaluation.
    pub(crate) fn distance_and_gradient(&self, point: Vec3) -> (Real, Vec3) {
        match self {
            Self::Box { size } => (self.distance(point), primitive::block_gradient(point, *size)),
            Self::Sphere { .. } => (self.distance(point), point.normalize_or(Vec3::Y)),
            Self::Ellipsoid { radii } => primitive::ellipsoid(point, *radii),
            Self::Capsule { height, .. } => {
                let half = 0.5 * height.abs();
                let away = point - Vec3::Y * point.y.clamp(-half, half);
                (self.distance(point), away.normalize_or(Vec3::X))
            }
            Self::Torus { radius, .. } => (self.distance(point), torus_gradient(point, *radius)),
            Self::Plane { normal } => (self.distance(point), normal.normalize_or(Vec3::Y)),
            Self::Cylinder { .. } | Self::Cone { .. } => (self.distance(point), self.difference_gradient(point)),
            Self::Mesh(solid) => solid.distance_and_gradient(point),
            Self::Union(parts) => match extremal_part(parts, point, 1.0) {
                Some((part, _)) => part.distance_and_gradient(point),
                None => (Real::INFINITY, Vec3::Y),
            },
            Self::Intersection(parts) => match extremal_part(parts, point, -1.0) {
                Some((part, _)) => part.distance_and_gradient(point),
                None => (Real::NEG_INFINITY, Vec3::Y),
            },
            Self::Difference { base, cuts } => {
                let (distance, gradient) = base.distance_and_gradient(point);
                match extremal_part(cuts, point, 1.0) {
                    Some((cut, depth)) if -depth > distance => (-depth, -cut.gradient(point)),
                    _ => (distance, gradient),
                }
            }
            Self::SmoothUnion { parts, blend } => {
                let values = parts.iter().map(|part| part.distance_and_gradient(point));
                let (distance, gradient) =
                    values.reduce(|a, b| smooth_min_with_gradient(a, b, *blend)).unwrap_or((Real::INFINITY, Vec3::Y));
                (distance, gradient.normalize_or(Vec3::Y))
            }
            Self::Placed { shape, placement } => {
                let (distance, gradient) = shape.distance_and_gradient(placement.inverse_point(point));
                (placement.scale * distance, placement.direction(gradient))
            }
        }
    }

    /// Gradient by central differences.
    ///
    /// The step is 2000 times the rounding of the coordinates: at that width the errors of rounding and of
    /// truncation are both far below a degree.
    pub(super) fn difference_gradient(&self, point: Vec3) -> Vec3 {
        let step = (2.5e-4 * point.abs().max_element()).max(1e-6);
        let along = |axis: Vec3| self.distance(point + step * axis) - self.distance(point - step * axis);
        Vec3::new(along(Vec3::X), along(Vec3::Y), along(Vec3::Z)).normalize_or(Vec3::Y)
    }
}
