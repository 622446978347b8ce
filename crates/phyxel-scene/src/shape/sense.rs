//! Distances together with the directions in which they grow.

use super::{Shape, primitive};
use glam::{Vec2, Vec3};
use phyxel::Real;

/// The part with the smallest `sign * distance` and its distance.
fn nearest(parts: &[Shape], point: Vec3, sign: Real) -> Option<(&Shape, Real)> {
    let distances = parts.iter().map(|part| (part, part.distance(point)));
    distances.reduce(|best, other| if sign * other.1 < sign * best.1 { other } else { best })
}

/// The smooth minimum of two distances, and the mean of their directions with the weights that belong to it.
fn blend_two(a: (Real, Vec3), b: (Real, Vec3), blend: Real) -> (Real, Vec3) {
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
    /// Unit vector in which the distance grows fastest: the outward normal on the surface.
    ///
    /// On edges and axes, where there is no single one, it is one of the possible directions.
    pub fn gradient(&self, point: Vec3) -> Vec3 {
        self.sense(point).1
    }

    /// The distance, m and its gradient, in one go.
    pub(crate) fn sense(&self, point: Vec3) -> (Real, Vec3) {
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
            Self::Cylinder { .. } | Self::Cone { .. } => (self.distance(point), self.slope(point)),
            Self::Mesh(solid) => solid.sense(point),
            Self::Union(parts) => match nearest(parts, point, 1.0) {
                Some((part, _)) => part.sense(point),
                None => (Real::INFINITY, Vec3::Y),
            },
            Self::Intersection(parts) => match nearest(parts, point, -1.0) {
                Some((part, _)) => part.sense(point),
                None => (Real::NEG_INFINITY, Vec3::Y),
            },
            Self::Difference { base, cuts } => {
                let (distance, gradient) = base.sense(point);
                match nearest(cuts, point, 1.0) {
                    Some((cut, depth)) if -depth > distance => (-depth, -cut.gradient(point)),
                    _ => (distance, gradient),
                }
            }
            Self::SmoothUnion { parts, blend } => {
                let senses = parts.iter().map(|part| part.sense(point));
                let (distance, gradient) =
                    senses.reduce(|a, b| blend_two(a, b, *blend)).unwrap_or((Real::INFINITY, Vec3::Y));
                (distance, gradient.normalize_or(Vec3::Y))
            }
            Self::Placed { shape, placement } => {
                let (distance, gradient) = shape.sense(placement.inverse_point(point));
                (placement.scale * distance, placement.direction(gradient))
            }
        }
    }

    /// The gradient by central differences.
    ///
    /// The step is 2000 times the rounding of the coordinates: at that width the errors of rounding
    /// and of curvature are both far below a degree.
    pub(super) fn slope(&self, point: Vec3) -> Vec3 {
        let step = (2.5e-4 * point.abs().max_element()).max(1e-6);
        let along = |axis: Vec3| self.distance(point + step * axis) - self.distance(point - step * axis);
        Vec3::new(along(Vec3::X), along(Vec3::Y), along(Vec3::Z)).normalize_or(Vec3::Y)
    }
}
