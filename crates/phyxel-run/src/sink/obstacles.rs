//! Obstacles as things to look at.

use glam::Vec3;
use phyxel::Frame;
use phyxel::body::Pose;

/// A plane has no end, a file has: a quad that reaches four times as far as the bodies are from the plane's origin, and
/// at least a metre. In the obstacle's own frame.
pub(crate) fn plane_quad(frame: &Frame, pose: &Pose, normal: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let there = frame.bodies.iter().filter(|body| !body.particles.is_empty());
    let corners = there.flat_map(|body| body.report.bounds);
    let far =
        corners.map(|corner| Vec3::from(corner.map(|part| part as f32)).distance(pose.position)).fold(0.0, f32::max);
    let reach = (4.0 * far).max(1.0);
    let (u, v) = normal.any_orthonormal_pair();
    let positions = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(a, b)| reach * (a * u + b * v));
    let counter_clockwise = u.cross(v).dot(normal) > 0.0;
    let triangles = if counter_clockwise { [[0, 1, 2], [0, 2, 3]] } else { [[0, 2, 1], [0, 3, 2]] };
    (positions.to_vec(), triangles.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::two_bodies;

    #[test]
    fn a_plane_faces_along_its_normal_and_reaches_past_the_bodies() {
        for normal in [Vec3::Y, Vec3::NEG_X, Vec3::new(0.6, 0.8, 0.0)] {
            let (positions, triangles) = plane_quad(&two_bodies(), &Pose::default(), normal);
            let [a, b, c] = triangles[0].map(|corner| positions[corner as usize]);
            assert!((b - a).cross(c - a).normalize().dot(normal) > 0.999);
            assert!(a.length() > 4.0);
        }
    }
}
