//! Points in elements, edges through faces, and the nearest place on a face. All in f64 from f32 positions, whose differences are
//! exact or nearly so.

use crate::Real;
use glam::{DVec3, Vec3};

/// A point on the border of an element belongs to it: rounding in f64 leaves a part of 1e-16 over the volume of the element in
/// units of the cube of its edges, which is above 1e-4.
const SLACK: f64 = 1e-12;

/// A point less than this part of an element's height below the surface touches it: f32 positions are rounded to 6e-8, and bodies
/// are a dozen elements away from where positions begin.
pub(super) const TOUCH: f64 = 1e-6;

/// An edge meets a face also where it passes this part of the face or the edge beyond: between two faces it meets one at least.
const MARGIN: f64 = 1e-9;

/// An element that points are tried on.
pub(super) struct Shape {
    origin: DVec3,
    /// What a place weighs in with at the corners 1, 2 and 3.
    slopes: [DVec3; 3],
}

impl Shape {
    pub fn new(corners: [Vec3; 4]) -> Self {
        let [a, b, c, d] = corners.map(Vec3::as_dvec3);
        let [b, c, d] = [b - a, c - a, d - a];
        // Endless or no number for a flat element, in which nothing is.
        let scale = 1.0 / b.dot(c.cross(d));
        Self { origin: a, slopes: [c.cross(d) * scale, d.cross(b) * scale, b.cross(c) * scale] }
    }

    /// The parts of the four corners in a place; nothing outside.
    pub fn parts_inside(&self, place: Vec3) -> Option<[f64; 4]> {
        let way = place.as_dvec3() - self.origin;
        let [b, c, d] = self.slopes.map(|slope| slope.dot(way));
        let parts = [1.0 - (b + c + d), b, c, d];
        parts.iter().all(|part| *part >= -SLACK).then_some(parts)
    }
}

/// Where the way from one point to another leaves matter through a face: the part of the way, and the unit normal of the face.
pub(super) fn leaves_through(from: DVec3, to: DVec3, [a, b, c]: [DVec3; 3]) -> Option<(f64, DVec3)> {
    let (way, ab, ac) = (to - from, b - a, c - a);
    let normal = ab.cross(ac);
    let steep = way.dot(normal);
    if steep <= 1e-12 * way.length() * normal.length() {
        return None;
    }
    let start = from - a;
    let part = -start.dot(normal) / steep;
    let turned = start.cross(way);
    let [along_ab, along_ac] = [-ac.dot(turned) / steep, ab.dot(turned) / steep];
    let is_on_face = along_ab >= -MARGIN && along_ac >= -MARGIN && along_ab + along_ac <= 1.0 + MARGIN;
    (is_on_face && (-MARGIN..=1.0 + MARGIN).contains(&part)).then(|| (part, normal.normalize_or_zero()))
}

/// The place on a triangle that is nearest to a point, as parts of its corners, and the square of the distance, m2.
pub(super) fn nearest_on_triangle(point: DVec3, corners: [DVec3; 3]) -> ([Real; 3], f64) {
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a);
    let square = normal.length_squared();
    let part = |from: DVec3, to: DVec3| (to - from).cross(point - from).dot(normal) / square;
    let inner = [part(b, c), part(c, a), part(a, b)];
    // One but for rounding, which is large for needles.
    let sum = inner[0] + inner[1] + inner[2];
    let mut parts = inner.map(|part| part / sum);
    let is_within = inner.iter().all(|part| *part >= 0.0) && sum > 0.0 && sum.is_finite();
    if !is_within {
        // On the border, or the triangle has no area.
        let mut least = f64::INFINITY;
        for k in 0..3 {
            let (from, way) = (corners[k], corners[(k + 1) % 3] - corners[k]);
            let along = ((point - from).dot(way) / way.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            let off = (from + along * way).distance_squared(point);
            if off < least {
                least = off;
                parts = [0.0; 3];
                (parts[k], parts[(k + 1) % 3]) = (1.0 - along, along);
            }
        }
    }
    let place = parts[0] * a + parts[1] * b + parts[2] * c;
    (parts.map(|part| part as Real), place.distance_squared(point))
}
