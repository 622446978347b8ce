//! Meshes of obstacles for export.

use glam::Vec3;
use phyxel::Frame;
use phyxel::body::Pose;

/// Meshes a plane as a quad, in the local frame of the obstacle. Its half width is four times the distance of the
/// farthest body from the origin of the plane, and at least a metre.
pub(crate) fn plane_quad(frame: &Frame, pose: &Pose, normal: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let bodies = frame.bodies.iter().filter(|body| !body.particles.is_empty());
    let corners = bodies.flat_map(|body| body.report.bounds);
    let farthest =
        corners.map(|corner| Vec3::from(corner.map(|x| x as f32)).distance(pose.position)).fold(0.0, f32::max);
    let half_width = (4.0 * farthest).max(1.0);
    let (u, v) = normal.any_orthonormal_pair();
    let positions = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(a, b)| half_width * (a * u + b * v));
    let counter_clockwise = u.cross(v).dot(normal) > 0.0;
    let triangles = if counter_clockwise { [[0, 1, 2], [0, 2, 3]] } else { [[0, 2, 1], [0, 3, 2]] };
    (positions.to_vec(), triangles.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_frames::two_bodies;

    #[test]
    fn a_plane_faces_its_normal_and_extends_beyond_the_bodies() {
        for normal in [Vec3::Y, Vec3::NEG_X, Vec3::new(0.6, 0.8, 0.0)] {
            let (positions, triangles) = plane_quad(&two_bodies(), &Pose::default(), normal);
            let [a, b, c] = triangles[0].map(|corner| positions[corner as usize]);
            assert!((b - a).cross(c - a).normalize().dot(normal) > 0.999);
            assert!(a.length() > 4.0);
        }
    }
}
