//! Signed distances and volumes of primitives, centred on the origin, y up. Lengths in metres.

use glam::{DVec3, Vec2, Vec3};
use phyxel::Real;
use std::f64::consts::PI;

/// Profile coordinates of a solid of revolution: distance from the y axis, and height.
fn to_profile(point: Vec3) -> Vec2 {
    Vec2::new(Vec2::new(point.x, point.z).length(), point.y)
}

/// Signed distance to a rectangle around the origin.
fn rectangle(point: Vec2, half: Vec2) -> Real {
    let excess = point.abs() - half;
    excess.max(Vec2::ZERO).length() + excess.max_element().min(0.0)
}

/// Signed distance to a box with edge lengths `size`.
pub fn block(point: Vec3, size: Vec3) -> Real {
    let excess = point.abs() - 0.5 * size;
    excess.max(Vec3::ZERO).length() + excess.max_element().min(0.0)
}

/// Unit gradient of the signed distance to a box with edge lengths `size`.
pub fn block_gradient(point: Vec3, size: Vec3) -> Vec3 {
    let excess = point.abs() - 0.5 * size;
    let sign = Vec3::ONE.copysign(point);
    let outside = excess.max(Vec3::ZERO);
    if outside != Vec3::ZERO {
        return outside.normalize_or(Vec3::Y) * sign;
    }
    let axis = excess.max_position();
    Vec3::AXES[axis] * sign
}

/// Signed distance to a cylinder along y.
pub fn cylinder(point: Vec3, radius: Real, height: Real) -> Real {
    let point = to_profile(point);
    rectangle(Vec2::new(point.x, point.y), Vec2::new(radius, 0.5 * height))
}

/// Signed distance to a cone along y, `bottom` and `top` being the radii of its two ends.
pub fn cone(point: Vec3, bottom: Real, top: Real, height: Real) -> Real {
    let half = 0.5 * height;
    let point = to_profile(point);
    let cap_radius = if point.y < 0.0 { bottom } else { top };
    let to_cap = Vec2::new(point.x - point.x.min(cap_radius), point.y.abs() - half);
    let rim = Vec2::new(top, half);
    let slant = Vec2::new(top - bottom, height);
    let along = ((rim - point).dot(slant) / slant.length_squared().max(Real::MIN_POSITIVE)).clamp(0.0, 1.0);
    let to_side = point - rim + along * slant;
    let inside = to_side.x < 0.0 && to_cap.y < 0.0;
    let distance = to_cap.length_squared().min(to_side.length_squared()).sqrt();
    if inside { -distance } else { distance }
}

/// Signed distance to a capsule along y with a straight part of length `height`.
pub fn capsule(point: Vec3, radius: Real, height: Real) -> Real {
    let half = 0.5 * height;
    (point - Vec3::Y * point.y.clamp(-half.abs(), half.abs())).length() - radius
}

/// Signed distance to a torus around y: a tube of radius `tube` along a circle of radius `radius`.
pub fn torus(point: Vec3, radius: Real, tube: Real) -> Real {
    (to_profile(point) - Vec2::new(radius, 0.0)).length() - tube
}

/// Signed distance to an ellipsoid, exact up to rounding, and the outward normal at the closest point.
///
/// The closest point is `x_i = r_i^2 y_i / (t + r_i^2)` with `t` the largest root of
/// `g(t) = sum (r_i y_i / (t + r_i^2))^2 - 1`. There `g` is convex and falling, so that Newton steps from
/// the left of the root converge monotonically. Points on a plane of symmetry are moved off it by a
/// billionth of the size, which changes the distance by no more than that.
pub fn ellipsoid(point: Vec3, radii: Vec3) -> (Real, Vec3) {
    let radii = radii.as_dvec3().max(DVec3::splat(1e-12));
    let signs = Vec3::ONE.copysign(point);
    let point = point.as_dvec3().abs().max(1e-9 * radii);
    let squares = radii * radii;
    // Where one term alone is one, the sum is at least one: none of these is right of the root.
    let mut root = (radii * (point - radii)).max_element();
    for _ in 0..64 {
        let inverse = 1.0 / (root + squares);
        let terms = (radii * point * inverse) * (radii * point * inverse);
        let step = (terms.element_sum() - 1.0) / (2.0 * (terms * inverse).element_sum());
        root += step.max(0.0);
        // A step this small moves the point by less than rounding.
        if step.is_nan() || step <= 1e-9 * (root + squares.min_element()) {
            break;
        }
    }
    let closest = squares * point / (root + squares);
    let inside = (point / radii).length_squared() < 1.0;
    let distance = point.distance(closest) as Real;
    let normal = (closest / squares).normalize_or_zero().as_vec3() * signs;
    (if inside { -distance } else { distance }, normal)
}

/// Volume of a cylinder, cone or truncated cone, m3.
pub fn cone_volume(bottom: Real, top: Real, height: Real) -> f64 {
    let (bottom, top) = (f64::from(bottom), f64::from(top));
    PI / 3.0 * f64::from(height) * (bottom * bottom + bottom * top + top * top)
}

/// Volume of an ellipsoid, m3.
pub fn ellipsoid_volume(radii: Vec3) -> f64 {
    4.0 / 3.0 * PI * radii.as_dvec3().element_product()
}

/// Volume of a capsule, m3.
pub fn capsule_volume(radius: Real, height: Real) -> f64 {
    ellipsoid_volume(Vec3::splat(radius)) + cone_volume(radius, radius, height)
}

/// Volume of a torus whose tube does not intersect its axis, m3.
pub fn torus_volume(radius: Real, tube: Real) -> f64 {
    2.0 * PI * PI * f64::from(radius) * f64::from(tube) * f64::from(tube)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points on a half circle of directions around y, for profiles of solids of revolution.
    fn probes() -> impl Iterator<Item = Vec3> {
        (0..400).map(|i| {
            let i = i as Real;
            Vec3::new(0.9 * (i * 0.37).sin(), 1.1 * (i * 0.73 + 1.0).sin(), 0.9 * (i * 1.31 + 2.0).sin())
        })
    }

    /// Distance to a profile in the plane (radius, height), given by finely spaced points on it.
    fn distance_to_profile(point: Vec3, profile: &[Vec2]) -> Real {
        profile.iter().map(|on| to_profile(point).distance(*on)).fold(Real::INFINITY, Real::min)
    }

    fn segment(from: Vec2, to: Vec2) -> Vec<Vec2> {
        (0..=2000).map(|i| from.lerp(to, i as Real / 2000.0)).collect()
    }

    fn arc(centre: Vec2, radius: Real, from: Real, to: Real) -> Vec<Vec2> {
        let angle = |i: usize| from + (to - from) * i as Real / 2000.0;
        (0..=2000).map(|i| centre + radius * Vec2::new(angle(i).cos(), angle(i).sin())).collect()
    }

    // Profile points are about 1e-3 apart, so a point at distance `d` sees one within `d + 5e-4`
    // and never one nearer than `d`.
    const SPACING: Real = 6e-4;

    fn assert_profile(distance: impl Fn(Vec3) -> Real, inside: impl Fn(Vec2) -> bool, profile: &[Vec2]) {
        for point in probes() {
            let expected = distance_to_profile(point, profile);
            let signed = if inside(to_profile(point)) { -expected } else { expected };
            let found = distance(point);
            assert!((found - signed).abs() < SPACING, "at {point}: {found} instead of {signed}");
        }
    }

    #[test]
    fn a_cylinder_has_the_distance_to_its_profile() {
        let (r, h) = (0.4, 1.2);
        let profile = [
            segment(Vec2::new(0.0, 0.6), Vec2::new(r, 0.6)),
            segment(Vec2::new(r, 0.6), Vec2::new(r, -0.6)),
            segment(Vec2::new(r, -0.6), Vec2::new(0.0, -0.6)),
        ];
        assert_profile(|p| cylinder(p, r, h), |q| q.x < r && q.y.abs() < 0.6, &profile.concat());
    }

    #[test]
    fn a_cone_has_the_distance_to_its_profile() {
        for (bottom, top) in [(0.6, 0.0), (0.6, 0.2), (0.1, 0.5)] {
            let profile = [
                segment(Vec2::new(0.0, 0.5), Vec2::new(top, 0.5)),
                segment(Vec2::new(top, 0.5), Vec2::new(bottom, -0.5)),
                segment(Vec2::new(bottom, -0.5), Vec2::new(0.0, -0.5)),
            ];
            let inside = |q: Vec2| q.y.abs() < 0.5 && q.x < bottom + (top - bottom) * (q.y + 0.5);
            assert_profile(|p| cone(p, bottom, top, 1.0), inside, &profile.concat());
        }
    }

    #[test]
    fn a_capsule_has_the_distance_to_its_profile() {
        let quarter = std::f32::consts::FRAC_PI_2;
        let (top, bottom) = (Vec2::new(0.0, 0.4), Vec2::new(0.0, -0.4));
        let profile = [
            arc(top, 0.3, 0.0, quarter),
            segment(Vec2::new(0.3, 0.4), Vec2::new(0.3, -0.4)),
            arc(bottom, 0.3, -quarter, 0.0),
        ];
        let inside = |q: Vec2| (q - Vec2::new(0.0, q.y.clamp(-0.4, 0.4))).length() < 0.3;
        assert_profile(|p| capsule(p, 0.3, 0.8), inside, &profile.concat());
    }

    #[test]
    fn a_torus_has_the_distance_to_its_profile() {
        let centre = Vec2::new(0.6, 0.0);
        let profile = arc(centre, 0.2, 0.0, std::f32::consts::TAU);
        assert_profile(|p| torus(p, 0.6, 0.2), |q| q.distance(centre) < 0.2, &profile);
    }

    #[test]
    fn a_spheroid_has_the_distance_to_its_profile() {
        let quarter = std::f32::consts::FRAC_PI_2;
        for radii in [Vec2::new(0.7, 0.3), Vec2::new(0.3, 0.8)] {
            let profile: Vec<Vec2> = arc(Vec2::ZERO, 1.0, -quarter, quarter).iter().map(|p| *p * radii).collect();
            let inside = |q: Vec2| (q / radii).length() < 1.0;
            assert_profile(|p| ellipsoid(p, Vec3::new(radii.x, radii.y, radii.x)).0, inside, &profile);
        }
    }

    #[test]
    fn an_ellipsoid_with_three_axes_has_the_distance_to_points_on_it() {
        let radii = Vec3::new(0.9, 0.5, 0.3);
        // 400 x 400 points, at most 0.007 apart.
        let surface: Vec<Vec3> = (0..160_000)
            .map(|i| {
                let (z, angle) = ((i / 400) as Real / 200.0 - 0.9975, (i % 400) as Real * 0.015_708);
                let ring = (1.0 - z * z).max(0.0).sqrt();
                Vec3::new(ring * angle.cos(), ring * angle.sin(), z) * radii
            })
            .collect();
        for point in probes().take(60) {
            let expected = surface.iter().map(|on| on.distance(point)).fold(Real::INFINITY, Real::min);
            assert!((ellipsoid(point, radii).0.abs() - expected).abs() < 0.02, "at {point}");
        }
        assert!((ellipsoid(Vec3::ZERO, radii).0 + 0.3).abs() < 1e-6);
        assert!((ellipsoid(Vec3::X * 2.0, radii).0 - 1.1).abs() < 1e-6);
    }

    #[test]
    fn a_round_ellipsoid_is_a_sphere() {
        for point in probes() {
            assert!((ellipsoid(point, Vec3::splat(0.5)).0 - (point.length() - 0.5)).abs() < 1e-6);
        }
    }

    #[test]
    fn a_box_measures_to_faces_edges_and_corners() {
        let size = Vec3::new(2.0, 4.0, 6.0);
        assert_eq!(block(Vec3::ZERO, size), -1.0);
        assert_eq!(block(Vec3::new(1.5, 0.0, 0.0), size), 0.5);
        assert_eq!(block(Vec3::new(4.0, 6.0, 0.0), size), 5.0);
        assert!((block(Vec3::new(2.0, 3.0, 4.0), size) - 3.0f32.sqrt()).abs() < 1e-6);
        assert_eq!(block_gradient(Vec3::new(0.9, 0.1, -0.2), size), Vec3::X);
        assert_eq!(block_gradient(Vec3::new(0.0, -2.5, 0.0), size), Vec3::NEG_Y);
    }
}
