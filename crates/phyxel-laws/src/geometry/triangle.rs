//! Closest points on triangles.

use crate::Real;
use glam::{DVec3, Vec3};

/// Closest point of a triangle to `point`, `[Eri05]` sec. 5.1.5.
///
/// Denominators are kept off zero, so that a degenerate triangle gives one of its own points.
#[inline]
pub fn closest_point_on_triangle(point: Vec3, [a, b, c]: &[Vec3; 3]) -> Vec3 {
    let quotient = |numerator: Real, denominator: Real| numerator / denominator.max(Real::MIN_POSITIVE);
    let (ab, ac, ap) = (*b - *a, *c - *a, point - *a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return *a;
    }
    let bp = point - *b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return *b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return *a + ab * quotient(d1, d1 - d3);
    }
    let cp = point - *c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return *c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return *a + ac * quotient(d2, d2 - d6);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return *b + (*c - *b) * quotient(d4 - d3, (d4 - d3) + (d5 - d6));
    }
    let sum = va + vb + vc;
    *a + ab * quotient(vb, sum) + ac * quotient(vc, sum)
}

/// Barycentric coordinates of the closest point of a triangle to `point`, and the squared distance, m2.
///
/// Projection on the plane, in double precision, and on the edges where that is outside: the coordinates of a
/// point near the triangle are more accurate than those of [`closest_point_on_triangle`] would be.
pub fn project_on_triangle(point: DVec3, corners: [DVec3; 3]) -> ([Real; 3], f64) {
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a);
    let normal_squared = normal.length_squared();
    let weight = |from: DVec3, to: DVec3| (to - from).cross(point - from).dot(normal) / normal_squared;
    let projection = [weight(b, c), weight(c, a), weight(a, b)];
    // One but for rounding, which is large for needles.
    let sum = projection[0] + projection[1] + projection[2];
    let mut barycentric = projection.map(|weight| weight / sum);
    let is_within = projection.iter().all(|weight| *weight >= 0.0) && sum > 0.0 && sum.is_finite();
    if !is_within {
        // On the boundary, or the triangle has no area.
        let mut least = f64::INFINITY;
        for k in 0..3 {
            let (start, edge) = (corners[k], corners[(k + 1) % 3] - corners[k]);
            let t = ((point - start).dot(edge) / edge.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            let distance_squared = (start + t * edge).distance_squared(point);
            if distance_squared < least {
                least = distance_squared;
                barycentric = [0.0; 3];
                (barycentric[k], barycentric[(k + 1) % 3]) = (1.0 - t, t);
            }
        }
    }
    let closest = barycentric[0] * a + barycentric[1] * b + barycentric[2] * c;
    (barycentric.map(|weight| weight as Real), closest.distance_squared(point))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SequentialRng;

    #[test]
    fn no_point_of_a_triangle_is_closer_than_the_closest_point() {
        let mut random = SequentialRng::new(3);
        for _ in 0..200 {
            let triangle = [(); 3].map(|()| random.point());
            let point = random.point() * 2.0;
            let closest = closest_point_on_triangle(point, &triangle).distance(point);
            let mut sampled = Real::INFINITY;
            for i in 0..=60 {
                for j in 0..=60 - i {
                    let (u, v) = (i as Real / 60.0, j as Real / 60.0);
                    let on = triangle[0] * (1.0 - u - v) + triangle[1] * u + triangle[2] * v;
                    sampled = sampled.min(on.distance(point));
                }
            }
            // Samples are at most 2.8 / 60 apart.
            assert!(closest <= sampled + 1e-5 && closest >= sampled - 0.05);
            let (_, squared) = project_on_triangle(point.as_dvec3(), triangle.map(|corner| corner.as_dvec3()));
            assert!((squared.sqrt() as Real - closest).abs() < 1e-5, "both find the same distance");
        }
    }

    #[test]
    fn triangles_without_area_still_have_a_closest_point() {
        let point = Vec3::new(0.5, 1.0, 0.0);
        let line = closest_point_on_triangle(point, &[Vec3::ZERO, Vec3::X, Vec3::X * 0.25]);
        assert!(line.distance(Vec3::X * 0.5) < 1e-6, "{line}");
        assert_eq!(closest_point_on_triangle(point, &[Vec3::ONE; 3]), Vec3::ONE);
        let flat = [DVec3::ZERO, DVec3::X, DVec3::X * 0.25];
        assert_eq!(project_on_triangle(point.as_dvec3(), flat), ([0.5, 0.5, 0.0], 1.0));
    }
}
