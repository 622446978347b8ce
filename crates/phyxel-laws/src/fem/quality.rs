//! Shape quality of elements, and the admissibility of welding two nodes.

use super::EDGES;
use crate::Real;
use glam::{DVec3, Vec3};

/// Signed volume of an element, m3: negative where it is inverted.
pub fn signed_volume(corners: [Vec3; 4]) -> Real {
    signed_volume_f64(corners.map(Vec3::as_dvec3)) as Real
}

/// [`signed_volume`] in f64.
pub(crate) fn signed_volume_f64([a, b, c, d]: [DVec3; 4]) -> f64 {
    (b - a).dot((c - a).cross(d - a)) / 6.0
}

/// Dihedral angles at the six edges of an element, rad, in the order of [`EDGES`]; 0 to pi. An inverted
/// element has those of its mirror image.
pub fn dihedral_angles(corners: [Vec3; 4]) -> [Real; 6] {
    let x = corners.map(Vec3::as_dvec3);
    EDGES.map(|(a, b)| {
        let mut others = (0..4).filter(|&k| k != a && k != b);
        let (c, d) = (others.next().unwrap_or(a), others.next().unwrap_or(b));
        let edge = x[b] - x[a];
        let (n_c, n_d) = (edge.cross(x[c] - x[a]), edge.cross(x[d] - x[a]));
        // Between the normals of the two faces: exact near 0 and pi, where the arccosine is not.
        libm::atan2(n_c.cross(n_d).length(), n_c.dot(n_d)) as Real
    })
}

/// Mean ratio of an element, `12 (3 V)^(2/3)/sum of squared edges`: 1 for a regular one, 0 for a flat one,
/// negative for an inverted one `[LJ94]`.
pub fn mean_ratio(corners: [Vec3; 4]) -> Real {
    let x = corners.map(Vec3::as_dvec3);
    let squares: f64 = EDGES.iter().map(|&(a, b)| x[a].distance_squared(x[b])).sum();
    let cube_root = libm::cbrt(3.0 * signed_volume_f64(x));
    if squares > 0.0 { (12.0 * cube_root * cube_root.abs() / squares) as Real } else { 0.0 }
}

/// Longest edge over shortest height, scaled to 1 for a regular element; infinite for a flat one.
pub fn aspect_ratio(corners: [Vec3; 4]) -> Real {
    let x = corners.map(Vec3::as_dvec3);
    let longest = EDGES.iter().map(|&(a, b)| x[a].distance(x[b])).fold(0.0, f64::max);
    let face = |a: usize, b: usize, c: usize| 0.5 * (x[b] - x[a]).cross(x[c] - x[a]).length();
    let largest = face(0, 1, 2).max(face(0, 1, 3)).max(face(0, 2, 3)).max(face(1, 2, 3));
    let height = 3.0 * signed_volume_f64(x).abs() / largest;
    // A regular element of edge 1 has the height sqrt(2/3).
    if height > 0.0 { ((2.0f64 / 3.0).sqrt() * longest / height) as Real } else { Real::INFINITY }
}

/// Returns true if two nodes may be welded at a position, m: no element around them would be inverted, or
/// have less than the fraction `min_fraction` of its reference volume.
///
/// `elements` are those around either node: their nodes and their reference volumes, m3. One that has both
/// nodes would be flat.
pub fn allows_weld(
    nodes: [u32; 2],
    target: Vec3,
    elements: impl IntoIterator<Item = ([u32; 4], Real)>,
    position: impl Fn(u32) -> Vec3,
    min_fraction: Real,
) -> bool {
    elements.into_iter().all(|(corners, reference)| {
        let moved = corners.map(|node| if nodes.contains(&node) { target } else { position(node) });
        let volume = signed_volume(moved);
        volume > 0.0 && volume >= min_fraction * reference
    })
}
