//! Point-in-tetrahedron and segment-triangle tests, in f64 from f32 positions, whose differences are exact or
//! nearly so.

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
