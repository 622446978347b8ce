//! Point-in-tetrahedron, segment-triangle and closest-point tests, in f64 from f32 positions, whose
//! differences are exact or nearly so.

use crate::Real;
use glam::{DVec3, Vec3};

/// Tolerance of barycentric coordinates, so that boundary points belong to an element: their rounding error
/// in f64 is 1e-16 over the element's volume in units of its cubed edges, which is above 1e-4.
const BARYCENTRIC_TOL: f64 = 1e-12;

/// Depth below the surface, as a fraction of the element's height, up to which a point only touches it: f32
/// positions are rounded to 6e-8, and bodies are within a dozen elements of the origin.
pub(super) const TOUCH_TOL: f64 = 1e-6;

/// Tolerance of segment-triangle tests as a fraction of face and edge, so that a segment between two faces
/// meets at least one.
const EDGE_TOL: f64 = 1e-9;

/// Map from positions to the barycentric coordinates of an element.
pub(super) struct BarycentricMap {
    origin: DVec3,
    /// Gradients of the coordinates of corners 1, 2 and 3, 1/m.
    gradients: [DVec3; 3],
}

impl BarycentricMap {
    pub fn new(corners: [Vec3; 4]) -> Self {
        let [a, b, c, d] = corners.map(Vec3::as_dvec3);
        let [b, c, d] = [b - a, c - a, d - a];
        // Infinite or NaN for a flat element, which contains nothing.
        let scale = 1.0 / b.dot(c.cross(d));
        Self { origin: a, gradients: [c.cross(d) * scale, d.cross(b) * scale, b.cross(c) * scale] }
    }

    /// Barycentric coordinates of a position; `None` outside.
    pub fn barycentric_inside(&self, position: Vec3) -> Option<[f64; 4]> {
        let offset = position.as_dvec3() - self.origin;
        let [b, c, d] = self.gradients.map(|gradient| gradient.dot(offset));
        let barycentric = [1.0 - (b + c + d), b, c, d];
        barycentric.iter().all(|weight| *weight >= -BARYCENTRIC_TOL).then_some(barycentric)
    }
}

/// Point where a segment leaves a body through a face: the fraction of the segment, and the unit normal of
/// the face.
pub(super) fn segment_exit(from: DVec3, to: DVec3, [a, b, c]: [DVec3; 3]) -> Option<(f64, DVec3)> {
    let (segment, ab, ac) = (to - from, b - a, c - a);
    let normal = ab.cross(ac);
    let slope = segment.dot(normal);
    if slope <= 1e-12 * segment.length() * normal.length() {
        return None;
    }
    let start = from - a;
    let t = -start.dot(normal) / slope;
    let q = start.cross(segment);
    let [u, v] = [-ac.dot(q) / slope, ab.dot(q) / slope];
    let is_on_face = u >= -EDGE_TOL && v >= -EDGE_TOL && u + v <= 1.0 + EDGE_TOL;
    (is_on_face && (-EDGE_TOL..=1.0 + EDGE_TOL).contains(&t)).then(|| (t, normal.normalize_or_zero()))
}

/// Closest point on a triangle: its barycentric coordinates and the squared distance, m2.
pub(super) fn closest_on_triangle(point: DVec3, corners: [DVec3; 3]) -> ([Real; 3], f64) {
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
