//! Quadratic error function (QEF) of a set of tangent planes, and its minimiser.

use glam::{DMat3, DVec3, Vec3};

/// Relative eigenvalue below which a direction counts as undetermined.
const TRUNCATION: f64 = 0.05;

/// Eigenvalues and eigenvectors of a symmetric matrix, by cyclic Jacobi rotations.
fn jacobi_eigen(mut matrix: DMat3) -> ([f64; 3], DMat3) {
    let mut vectors = DMat3::IDENTITY;
    for _ in 0..12 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let off_diagonal = matrix.col(q)[p];
            if off_diagonal.abs() < 1e-15 {
                continue;
            }
            let theta = (matrix.col(q)[q] - matrix.col(p)[p]) / (2.0 * off_diagonal);
            let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
            let sine = tangent * cosine;
            let mut rotation = DMat3::IDENTITY;
            rotation.col_mut(p)[p] = cosine;
            rotation.col_mut(q)[q] = cosine;
            rotation.col_mut(q)[p] = sine;
            rotation.col_mut(p)[q] = -sine;
            matrix = rotation.transpose() * matrix * rotation;
            vectors *= rotation;
        }
    }
    ([matrix.x_axis.x, matrix.y_axis.y, matrix.z_axis.z], vectors)
}

/// Point with the least sum of squared distances to the planes through `points` with unit `normals`.
///
/// `[JLSW02]` sec. 2.3: truncated pseudo-inverse about the mean of `points`, which stays along directions that
/// the planes do not determine.
pub(super) fn minimize_qef(points: &[Vec3], normals: &[Vec3]) -> Vec3 {
    let count = points.len().max(1) as f64;
    let mean = points.iter().map(|point| point.as_dvec3()).sum::<DVec3>() / count;
    let mut matrix = DMat3::ZERO;
    let mut rhs = DVec3::ZERO;
    for (point, normal) in points.iter().zip(normals) {
        let normal = normal.as_dvec3();
        matrix += DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        rhs += normal * normal.dot(point.as_dvec3() - mean);
    }
    let (values, vectors) = jacobi_eigen(matrix);
    let largest = values.iter().fold(0.0, |a: f64, b| a.max(*b));
    let mut offset = DVec3::ZERO;
    for (axis, value) in values.iter().enumerate().filter(|(_, value)| **value > TRUNCATION * largest) {
        let vector = vectors.col(axis);
        offset += vector * (vector.dot(rhs) / value);
    }
    (mean + offset).as_vec3()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_planes_meet_in_their_corner() {
        let corner = Vec3::new(0.2, -0.3, 0.4);
        let normals = [Vec3::X, Vec3::new(0.0, 0.6, 0.8), Vec3::NEG_Z];
        let points = [corner + Vec3::Y, corner + Vec3::new(1.0, 0.8, -0.6), corner - Vec3::X];
        assert!(minimize_qef(&points, &normals).distance(corner) < 1e-6);
    }

    #[test]
    fn one_plane_keeps_the_mean() {
        let points = [Vec3::ZERO, Vec3::X, Vec3::Z];
        assert!(minimize_qef(&points, &[Vec3::Y; 3]).distance(Vec3::new(1.0, 0.0, 1.0) / 3.0) < 1e-6);
    }

    #[test]
    fn eigenvectors_diagonalise() {
        let matrix = DMat3::from_cols_array(&[2.0, -1.0, 0.3, -1.0, 3.0, 0.7, 0.3, 0.7, 1.0]);
        let (values, vectors) = jacobi_eigen(matrix);
        for (axis, value) in values.iter().enumerate() {
            assert!((matrix * vectors.col(axis)).distance(*value * vectors.col(axis)) < 1e-12);
        }
    }
}
