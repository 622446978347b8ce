//! The rotation in a matrix.

use crate::Real;
use crate::symmetric::eigen;
use glam::{DMat3, Mat3, Quat, Vec3};

/// The proper rotation `R` (determinant +1) nearest to a matrix, that is the one which maximises `tr(R^T A)`.
///
/// It is the largest eigenvector of Davenport's 4 x 4 matrix, as a quaternion, so a mirrored or flat matrix
/// has one too. Where the matrix leaves it open (a line, a point, a mirrored ball), the answer is the one
/// nearest to `previous`: a body does not flip because it was squeezed.
pub fn nearest_rotation(a: DMat3, previous: Quat) -> Quat {
    let scale = a.to_cols_array().iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if !(scale.is_finite() && scale > 0.0) {
        return previous;
    }
    let (values, vectors) = eigen(davenport(a * (1.0 / scale)));
    let largest = values.iter().copied().fold(f64::MIN, f64::max);
    let old = previous.as_dquat().to_array();
    // All directions that are as good as the best, to the precision of a matrix summed in f32.
    let as_good: Vec4Mask = std::array::from_fn(|k| values[k] >= largest - 1e-6);
    let mut q = [0.0; 4];
    for k in (0..4).filter(|&k| as_good[k]) {
        let along: f64 = (0..4).map(|i| vectors[i][k] * old[i]).sum();
        (0..4).for_each(|i| q[i] += along * vectors[i][k]);
    }
    let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length < 1e-6 {
        let best = (0..4).find(|&k| values[k] == largest).unwrap_or(0);
        q = std::array::from_fn(|i| vectors[i][best]);
    }
    glam::DQuat::from_array(q).normalize().as_quat().normalize()
}

type Vec4Mask = [bool; 4];

/// Squared size of the skew part of a matrix of norm 1 from which one more Newton step, which squares it, leaves
/// nothing that f32 can see.
const NEAR: Real = 1e-8;

/// As [`nearest_rotation`], and some ten times as quick where the previous rotation is not far.
///
/// With `M = R^T A`, the skew part of `M` vanishes at the best rotation, and `(tr(M) - M) omega = skew` is the Newton
/// step. Only the best rotation is a strict maximum, so what the method settles at is it. Matrices that leave a turn
/// nearly open, are mirrored or have turned far go the long way.
pub fn follow_rotation(a: Mat3, previous: Quat) -> Quat {
    let square = a.x_axis.length_squared() + a.y_axis.length_squared() + a.z_axis.length_squared();
    let scaled = a * (1.0 / square.sqrt());
    let mut turn = previous;
    for _ in 0..5 {
        let Some((omega, off)) = newton_step(scaled, Mat3::from_quat(turn)) else { break };
        // The last step is taken too: what is left then is rounding, and does not lag behind a turning body.
        let [x, y, z] = (0.5 * omega).to_array();
        turn = (turn * Quat::from_xyzw(x, y, z, 1.0)).normalize();
        if off <= NEAR {
            return turn;
        }
    }
    nearest_rotation(a.as_dmat3(), previous)
}

/// Newton step of a rotation, and the squared size of what it is to remove; `None` where it does not lead to a clear
/// maximum.
#[inline(always)]
fn newton_step(a: Mat3, turn: Mat3) -> Option<(Vec3, Real)> {
    let m = turn.transpose() * a;
    let skew = Vec3::new(m.y_axis.z - m.z_axis.y, m.z_axis.x - m.x_axis.z, m.x_axis.y - m.y_axis.x);
    let (xx, yy, zz) = (m.y_axis.y + m.z_axis.z, m.x_axis.x + m.z_axis.z, m.x_axis.x + m.y_axis.y);
    let xy = -0.5 * (m.x_axis.y + m.y_axis.x);
    let yz = -0.5 * (m.y_axis.z + m.z_axis.y);
    let xz = -0.5 * (m.z_axis.x + m.x_axis.z);
    // Rows of the matrix of cofactors, which is the inverse times the determinant.
    let x = Vec3::new(yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy);
    let y = Vec3::new(x.y, xx * zz - xz * xz, xy * xz - yz * xx);
    let z = Vec3::new(x.z, y.z, xx * yy - xy * xy);
    let determinant = xx * x.x + xy * x.y + xz * x.z;
    let is_maximum = xx > 0.0 && z.z > 0.0 && determinant > 1e-3;
    is_maximum.then(|| (Vec3::new(x.dot(skew), y.dot(skew), z.dot(skew)) / determinant, skew.length_squared()))
}

/// Davenport's matrix of a quaternion (x, y, z, w): `q^T K q = tr(R(q)^T A)`.
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
    use glam::{DQuat, DVec3};

    fn random_matrix(seed: u64) -> DMat3 {
        let mut state = seed.wrapping_mul(0x9E3779B97F4A7C15).wrapping_add(1);
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        DMat3::from_cols_array(&std::array::from_fn(|_| next()))
    }

    #[test]
    fn the_rotation_of_a_rotated_stretch_is_the_rotation() {
        for seed in 0..100 {
            let rotation = DQuat::from_scaled_axis(DVec3::new(0.7, -1.1, 0.4) * (seed as f64 * 0.03));
            let stretch = DMat3::from_diagonal(DVec3::new(1.0 + 0.01 * seed as f64, 0.5, 0.1));
            let found = nearest_rotation(DMat3::from_quat(rotation) * stretch, Quat::IDENTITY);
            // The quaternion is returned in f32, its length is 1 to 2e-7.
            assert!(found.as_dquat().dot(rotation).abs() > 1.0 - 2e-7);
        }
    }

    #[test]
    fn it_is_proper_and_makes_the_rest_symmetric_for_any_matrix() {
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
    fn following_finds_the_same_rotation_from_anywhere() {
        for seed in 0..2000 {
            let mut a = random_matrix(seed).as_mat3();
            if seed % 3 == 0 {
                // As of a crystal: hardly stretched.
                a = Mat3::from_axis_angle(Vec3::X, seed as f32) * (Mat3::IDENTITY + 0.2 * a);
            }
            let previous = Quat::from_scaled_axis(Vec3::new(0.3, -0.5, 0.2) * (seed % 13) as f32);
            let (followed, exact) = (follow_rotation(a, previous), nearest_rotation(a.as_dmat3(), previous));
            // Turns that are nearly open amplify the rounding of f32 most: by 1e3 at the bound of the quick way.
            assert!(followed.dot(exact).abs() > 1.0 - 1e-6, "seed {seed}: {followed} {exact}");
        }
        let previous = Quat::from_rotation_x(0.3);
        assert_eq!(follow_rotation(Mat3::ZERO, previous), previous);
        assert_eq!(follow_rotation(Mat3::NAN, previous), previous);
    }

    #[test]
    fn nothing_to_go_by_keeps_the_previous_rotation() {
        let previous = Quat::from_rotation_x(0.3);
        assert_eq!(nearest_rotation(DMat3::ZERO, previous), previous);
        assert_eq!(nearest_rotation(DMat3::NAN, previous), previous);
        let line = DMat3::from_diagonal(DVec3::new(1.0, 0.0, 0.0));
        // Rotation about the line itself is free, so the previous one stays.
        assert!(nearest_rotation(line, previous).dot(previous) > 1.0 - 1e-6);
        // A mirrored ball has a whole circle of best rotations: the one nearest to the previous is taken.
        let mirrored = DMat3::from_diagonal(DVec3::new(1.0, 1.0, -1.0));
        let previous = Quat::from_rotation_y(0.3);
        assert!(nearest_rotation(mirrored, previous).dot(previous) > 1.0 - 1e-6);
    }
}
