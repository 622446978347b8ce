//! How good the shape of an element is, and whether nodes may unite.

use super::EDGES;
use crate::Real;
use glam::{DVec3, Vec3};

/// Volume of an element with its sign, m3: below 0 where it is mirrored.
pub fn volume(corners: [Vec3; 4]) -> Real {
    signed_volume(corners.map(Vec3::as_dvec3)) as Real
}

/// The same with all digits.
pub(super) fn signed_volume([a, b, c, d]: [DVec3; 4]) -> f64 {
    (b - a).dot((c - a).cross(d - a)) / 6.0
}

/// The angles between faces at the six edges of an element, rad, in the order of [`EDGES`]; 0 to pi. A mirrored element has those
/// of its mirror image.
pub fn dihedral_angles(corners: [Vec3; 4]) -> [Real; 6] {
    let x = corners.map(Vec3::as_dvec3);
    EDGES.map(|(a, b)| {
        let mut rest = (0..4).filter(|&k| k != a && k != b);
        let (c, d) = (rest.next().unwrap_or(a), rest.next().unwrap_or(b));
        let along = x[b] - x[a];
        let (left, right) = (along.cross(x[c] - x[a]), along.cross(x[d] - x[a]));
        // Between the ways from the edge into its two faces: exact near 0 and pi, where a cosine is not.
        libm::atan2(left.cross(right).length(), left.dot(right)) as Real
    })
}

/// Mean ratio of an element, `12 (3 V)^(2/3)/sum of squared edges`: 1 for a regular one, 0 for a flat one, below 0 for a mirrored
/// one `[LJ94]`.
pub fn mean_ratio(corners: [Vec3; 4]) -> Real {
    let x = corners.map(Vec3::as_dvec3);
    let squares: f64 = EDGES.iter().map(|&(a, b)| x[a].distance_squared(x[b])).sum();
    let side = libm::cbrt(3.0 * signed_volume(x));
    if squares > 0.0 { (12.0 * side * side.abs() / squares) as Real } else { 0.0 }
}

/// Longest edge over shortest height, scaled to 1 for a regular element; endless for a flat one.
pub fn aspect_ratio(corners: [Vec3; 4]) -> Real {
    let x = corners.map(Vec3::as_dvec3);
    let longest = EDGES.iter().map(|&(a, b)| x[a].distance(x[b])).fold(0.0, f64::max);
    let face = |a: usize, b: usize, c: usize| 0.5 * (x[b] - x[a]).cross(x[c] - x[a]).length();
    let largest = face(0, 1, 2).max(face(0, 1, 3)).max(face(0, 2, 3)).max(face(1, 2, 3));
    let height = 3.0 * signed_volume(x).abs() / largest;
    // A regular element of edge 1 has the height sqrt(2/3).
    if height > 0.0 { ((2.0f64 / 3.0).sqrt() * longest / height) as Real } else { Real::INFINITY }
}

/// Whether two nodes may become one at a place, m: no element around them would be mirrored, or have less than the part `least`
/// of its volume at rest.
///
/// `elements` are those around either node: their nodes and their volumes at rest, m3. One that has both nodes would be flat.
pub fn allows_uniting(
    nodes: [u32; 2],
    place: Vec3,
    elements: impl IntoIterator<Item = ([u32; 4], Real)>,
    position: impl Fn(u32) -> Vec3,
    least: Real,
) -> bool {
    elements.into_iter().all(|(corners, rest)| {
        let moved = corners.map(|node| if nodes.contains(&node) { place } else { position(node) });
        let left = volume(moved);
        left > 0.0 && left >= least * rest
    })
}
