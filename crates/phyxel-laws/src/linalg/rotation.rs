//! Nearest rotation to a matrix: the orthogonal factor of its polar decomposition, made proper.

use crate::Real;
use crate::linalg::eigen::symmetric_eigen;
use glam::{DMat3, DVec3, Mat3, Quat, Vec3};

/// Proper rotation `R` (determinant +1) nearest to a matrix, that is the maximiser of `tr(R^T A)`.
///
/// As a quaternion it is the eigenvector of the largest eigenvalue of Davenport's 4 x 4 matrix, so inverted
/// and singular matrices have one too. Where it is not unique (rank below 2, or a reflected multiple of a
/// rotation), the result is the maximiser nearest to `previous`: a body does not flip because it was
/// squeezed.
pub fn nearest_rotation(a: DMat3, previous: Quat) -> Quat {
    let scale = a.to_cols_array().iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if !(scale.is_finite() && scale > 0.0) {
        return previous;
    }
    let (values, vectors) = symmetric_eigen(davenport(a * (1.0 / scale)));
    let largest = values.iter().copied().fold(f64::MIN, f64::max);
    let old = previous.as_dquat().to_array();
    // All maximisers, to the precision of a matrix summed in f32.
    let is_largest: [bool; 4] = std::array::from_fn(|k| values[k] >= largest - 1e-6);
    let mut q = [0.0; 4];
    for k in (0..4).filter(|&k| is_largest[k]) {
        let projection: f64 = (0..4).map(|i| vectors[i][k] * old[i]).sum();
        (0..4).for_each(|i| q[i] += projection * vectors[i][k]);
    }
    let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length < 1e-6 {
        let best = (0..4).find(|&k| values[k] == largest).unwrap_or(0);
        q = std::array::from_fn(|i| vectors[i][best]);
    }
    glam::DQuat::from_array(q).normalize().as_quat().normalize()
}

/// Rotation of best fit between two point clouds: of all rotations about the centroids, that with the least sum
/// of squared distances from the rotated points of `from` to those of `to`.
pub fn fit_rotation(from: &[Vec3], to: &[Vec3]) -> Quat {
    let count = from.len().max(1) as f64;
    let centroid = |points: &[Vec3]| points.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / count;
    let (from_centroid, to_centroid) = (centroid(from), centroid(to));
    let covariance = from.iter().zip(to).fold(DMat3::ZERO, |sum, (q, p)| {
        let (q, p) = (q.as_dvec3() - from_centroid, p.as_dvec3() - to_centroid);
        sum + DMat3::from_cols(p * q.x, p * q.y, p * q.z)
    });
    nearest_rotation(covariance, Quat::IDENTITY)
}

/// Squared norm of the axial vector of a matrix of norm 1 below which one more Newton step, which squares
/// the error, reaches the precision of f32.
const CONVERGED: Real = 1e-8;

/// [`nearest_rotation`] by Newton's method from the previous rotation, some ten times as fast where that is
/// close.
///
/// With `M = R^T A`, the skew part of `M` vanishes at the nearest rotation, and
/// `(tr(M) I - sym(M)) omega = skew` is the Newton step. The nearest rotation is the only strict maximum,
/// so it is what the iteration converges to. Falls back to the eigenproblem where the rotation is nearly
/// undetermined, the matrix is inverted, or the previous rotation is far.
pub fn nearest_rotation_warm(a: Mat3, previous: Quat) -> Quat {
    let square = a.x_axis.length_squared() + a.y_axis.length_squared() + a.z_axis.length_squared();
    let scaled = a * (1.0 / square.sqrt());
    let mut rotation = previous;
    for _ in 0..5 {
        let Some((omega, residual)) = newton_step(scaled, Mat3::from_quat(rotation)) else { break };
        // The last step is taken too: the error is then rounding, without lag behind a rotating body.
        let [x, y, z] = (0.5 * omega).to_array();
        rotation = (rotation * Quat::from_xyzw(x, y, z, 1.0)).normalize();
        if residual <= CONVERGED {
            return rotation;
        }
    }
    nearest_rotation(a.as_dmat3(), previous)
}

/// Newton step of a rotation and its squared residual (twice the skew part); `None` where the Hessian is
/// not clearly definite.
#[inline(always)]
fn newton_step(a: Mat3, rotation: Mat3) -> Option<(Vec3, Real)> {
    let m = rotation.transpose() * a;
    let skew = Vec3::new(m.y_axis.z - m.z_axis.y, m.z_axis.x - m.x_axis.z, m.x_axis.y - m.y_axis.x);
    let (xx, yy, zz) = (m.y_axis.y + m.z_axis.z, m.x_axis.x + m.z_axis.z, m.x_axis.x + m.y_axis.y);
    let xy = -0.5 * (m.x_axis.y + m.y_axis.x);
    let yz = -0.5 * (m.y_axis.z + m.z_axis.y);
    let xz = -0.5 * (m.z_axis.x + m.x_axis.z);
    // Rows of the cofactor matrix, which is the inverse times the determinant.
    let x = Vec3::new(yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
    let y = Vec3::new(x.y, xx * zz - xz * xz, xy * xz - yz * xx);
    let z = Vec3::new(x.z, y.z, xx * yy - xy * xy);
    let determinant = xx * x.x + xy * x.y + xz * x.z;
    let is_maximum = xx > 0.0 && z.z > 0.0 && determinant > 1e-3;
    is_maximum.then(|| (Vec3::new(x.dot(skew), y.dot(skew), z.dot(skew)) / determinant, skew.length_squared()))
}

/// Davenport's matrix `K`, with `q^T K q = tr(R(q)^T A)` for a quaternion (x, y, z, w).
fn davenport(a: DMat3) -> [[f64; 4]; 4] {
    let m = |row: usize, column: usize| a.col(column)[row];
    let trace = m(0, 0) + m(1, 1) + m(2, 2);
    let z = [m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1)];
    let mut k = [[0.0; 4]; 4];
    for i in 0..3 {
        for j in 0..3 {
            k[i][j] = m(i, j) + m(j, i);
        }
        k[i][i] -= trace;
        k[i][3] = z[i];
        k[3][i] = z[i];
    }
    k[3][3] = trace;
    k
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SequentialRng;
    use glam::DQuat;

    fn random_matrix(seed: u64) -> DMat3 {
        SequentialRng::new(seed).matrix().as_dmat3() * 0.5
    }

    #[test]
    fn the_nearest_rotation_to_a_rotated_stretch_is_the_rotation() {
        for seed in 0..100 {
            let rotation = DQuat::from_scaled_axis(DVec3::new(0.7, -1.1, 0.4) * (seed as f64 * 0.03));
            let stretch = DMat3::from_diagonal(DVec3::new(1.0 + 0.01 * seed as f64, 0.5, 0.1));
            let found = nearest_rotation(DMat3::from_quat(rotation) * stretch, Quat::IDENTITY);
            // The quaternion is returned in f32; its norm is 1 to 2e-7.
            assert!(found.as_dquat().dot(rotation).abs() > 1.0 - 2e-7);
        }
    }

    #[test]
    fn it_is_proper_and_its_stretch_is_symmetric_for_any_matrix() {
        for seed in 0..1000 {
            let mut a = random_matrix(seed);
            if seed % 5 == 0 {
                a.x_axis = a.y_axis;
            }
            let r = Mat3::from_quat(nearest_rotation(a, Quat::IDENTITY)).as_dmat3();
            assert!((r.determinant() - 1.0).abs() < 1e-5);
            let s = r.transpose() * a;
            let skew = DVec3::new(s.y_axis.z - s.z_axis.y, s.z_axis.x - s.x_axis.z, s.x_axis.y - s.y_axis.x);
            assert!(skew.length() < 1e-5, "seed {seed}: {skew}");
        }
    }

    #[test]
    fn the_warm_start_finds_the_same_rotation_from_anywhere() {
        for seed in 0..2000 {
            let mut a = random_matrix(seed).as_mat3();
            if seed % 3 == 0 {
                // As in a crystal: hardly strained.
                a = Mat3::from_axis_angle(Vec3::X, seed as f32) * (Mat3::IDENTITY + 0.2 * a);
            }
            let previous = Quat::from_scaled_axis(Vec3::new(0.3, -0.5, 0.2) * (seed % 13) as f32);
            let (warm, exact) = (nearest_rotation_warm(a, previous), nearest_rotation(a.as_dmat3(), previous));
            // Nearly undetermined rotations amplify the rounding of f32 most: by 1e3 at the limit of
            // Newton's method.
            assert!(warm.dot(exact).abs() > 1.0 - 1e-6, "seed {seed}: {warm} {exact}");
        }
        let previous = Quat::from_rotation_x(0.3);
        assert_eq!(nearest_rotation_warm(Mat3::ZERO, previous), previous);
        assert_eq!(nearest_rotation_warm(Mat3::NAN, previous), previous);
    }

    #[test]
    fn the_fit_of_a_moved_point_cloud_is_its_rotation() {
        let mut rng = SequentialRng::new(1);
        let from: Vec<Vec3> = (0..20).map(|_| rng.point()).collect();
        let (rotation, shift) = (rng.rotation(), rng.point());
        let to: Vec<Vec3> = from.iter().map(|&x| rotation * x + shift).collect();
        assert!(fit_rotation(&from, &to).dot(rotation).abs() > 1.0 - 1e-6);
        assert_eq!(fit_rotation(&[], &[]), Quat::IDENTITY);
    }

    #[test]
    fn where_undetermined_the_previous_rotation_is_kept() {
        let previous = Quat::from_rotation_x(0.3);
        assert_eq!(nearest_rotation(DMat3::ZERO, previous), previous);
        assert_eq!(nearest_rotation(DMat3::NAN, previous), previous);
        let line = DMat3::from_diagonal(DVec3::new(1.0, 0.0, 0.0));
        // The rotation about the line is undetermined, so the previous one stays.
        assert!(nearest_rotation(line, previous).dot(previous) > 1.0 - 1e-6);
        // A reflection has a whole circle of nearest rotations: the one nearest to the previous is taken.
        let reflected = DMat3::from_diagonal(DVec3::new(1.0, 1.0, -1.0));
        let previous = Quat::from_rotation_y(0.3);
        assert!(nearest_rotation(reflected, previous).dot(previous) > 1.0 - 1e-6);
    }
}
