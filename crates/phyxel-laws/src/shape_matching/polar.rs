//! Polar decomposition: the rotations nearest to 3 x 3 matrices, by Newton's method from those of the last
//! step.
//!
//! With `M = R^T A`, the skew part `a` of `M` vanishes where `tr(M)` is largest, and
//! `(tr(M) - M) omega = a` is the Newton step. Matrices that do not converge in a few steps (rotated far,
//! inverted, flat) are solved one by one.

use super::matrix::{multiply, norm, norm_squared, quadratic_monomials, scale, transpose};
use crate::linalg::rotation::nearest_rotation;
use crate::material::hooke::Matrix;
use crate::simd::{F32x8, PackVector, SimdF32x8, SimdFloat, WIDTH};
use glam::{DMat3, DVec3, Quat};

/// Rotations of the polar decompositions of eight matrices of any norm.
///
/// Matrices whose Hessian `tr(M) - M` has a determinant below `singular`, for `A` scaled to norm 1, are
/// solved one by one: a rotation about one axis is nearly undetermined.
#[inline(always)]
pub(super) fn polar_rotation<L: SimdF32x8>(a: Matrix<L>, rotation: &mut [F32x8; 4], singular: f32) -> Matrix<L> {
    let length = norm(a);
    let a = scale(a, L::splat(1.0).div(length.max(L::splat(f32::MIN_POSITIVE))));
    newton_rotation(a, std::slice::from_mut(rotation), &NewtonTolerances::new(L::splat(1.0), singular))
}

/// [`polar_rotation`] for matrices whose norm to the sixth power is within the range of f32, such as
/// deformation gradients of elements; for one pack or several.
///
/// Mostly one step is enough. After a rotation by an angle `t` its error is about `t^2 (t/3 + d)`, where
/// `d` is the distance of `M` from a multiple of the identity over its norm; and it changes the length of a
/// quaternion so little that a first-order normalisation without root is exact enough.
#[inline(always)]
pub(crate) fn polar_rotation_elements<B: PackVector>(
    a: Matrix<B>,
    rotations: &mut [[F32x8; 4]],
    singular: f32,
) -> Matrix<B> {
    let tolerances = NewtonTolerances::new(norm_squared(a), singular);
    let square = tolerances.norm_squared;
    let q = load_rotations::<B>(rotations);
    let NewtonStep { omega, residual, trace } = newton_step(a, rotation_matrix(q), &tolerances);
    let anisotropy = square - B::splat(1.0 / 3.0) * (trace * trace);
    let error = residual * residual * (residual + anisotropy.max(B::zero()));
    let tolerance = B::splat(NEGLIGIBLE_ERROR) * (square * square * square);
    if error.mask_lt(tolerance) != (1 << (WIDTH * B::PACKS)) - 1 {
        return newton_rotation(a, rotations, &tolerances);
    }
    let q = rotate_unnormalised(q, omega);
    let length_squared = q[0] * q[0] + q[1] * q[1] + (q[2] * q[2] + q[3] * q[3]);
    let inverse = B::splat(1.5) - B::splat(0.5) * length_squared;
    let q = [q[0] * inverse, q[1] * inverse, q[2] * inverse, q[3] * inverse];
    store_rotations(q, rotations);
    rotation_matrix(q)
}

/// Tolerances of Newton's method, scaled by the norm of the matrix.
#[derive(Clone, Copy)]
struct NewtonTolerances<L> {
    /// Squared Frobenius norm of the matrix.
    norm_squared: L,
    /// Determinant of the Hessian below which it counts as singular.
    singular: L,
    /// Squared norm of the skew part below which the step is the last.
    final_residual: L,
    /// Added to the diagonal of the Hessian.
    regularisation: L,
}

impl<L: SimdFloat> NewtonTolerances<L> {
    /// Tolerances for a matrix of this squared norm; `singular` is for norm 1.
    #[inline(always)]
    fn new(square: L, singular: f32) -> Self {
        let norm = square.sqrt();
        let (singular, regularisation) = (L::splat(singular) * (square * norm), L::splat(REGULARISATION) * norm);
        Self { norm_squared: square, singular, final_residual: L::splat(FINAL_RESIDUAL) * square, regularisation }
    }
}

/// Iterates Newton's method, and solves those that do not converge one by one.
#[inline(always)]
fn newton_rotation<B: PackVector>(
    a: Matrix<B>,
    rotations: &mut [[F32x8; 4]],
    tolerances: &NewtonTolerances<B>,
) -> Matrix<B> {
    let mut q = load_rotations::<B>(rotations);
    let mut active = B::splat(1.0);
    let mut unconverged = u32::MAX;
    // `black_box` keeps the loop from being unrolled: most need one or two iterations.
    for _ in 0..std::hint::black_box(5) {
        let NewtonStep { omega, residual, .. } = newton_step(a, rotation_matrix(q), tolerances);
        // The last step is taken too: the error is then round-off, without a lag behind a rotating body.
        q = rotate_quaternion(q, [active * omega[0], active * omega[1], active * omega[2]]);
        active = residual.select_gt(tolerances.final_residual, active, B::zero());
        unconverged = B::zero().mask_lt(active);
        if unconverged == 0 {
            break;
        }
    }
    if unconverged != 0 {
        q = resolve_bundle(a, q, unconverged, rotations);
    }
    store_rotations(q, rotations);
    rotation_matrix(q)
}

/// Loads quaternions x, y, z, w.
#[inline(always)]
pub(crate) fn load_rotations<B: PackVector>(rotations: &[[F32x8; 4]]) -> [B; 4] {
    let mut q = [B::zero(); 4];
    for i in 0..4 {
        q[i] = B::load_from(rotations, |rotation| &rotation[i]);
    }
    q
}

#[inline(always)]
fn store_rotations<B: PackVector>(q: [B; 4], rotations: &mut [[F32x8; 4]]) {
    for i in 0..4 {
        q[i].store_to(rotations, |rotation| &mut rotation[i]);
    }
}

/// Replaces the rotations whose bit is set by robust solutions, from those of the last step.
#[inline(always)]
fn resolve_bundle<B: PackVector>(a: Matrix<B>, q: [B; 4], unconverged: u32, previous: &[[F32x8; 4]]) -> [B; 4] {
    let mut found = [[[0.0; WIDTH]; 4]; 2];
    store_rotations(q, &mut found);
    let mut matrices = [[[[0.0; WIDTH]; 3]; 3]; 2];
    for i in 0..3 {
        for j in 0..3 {
            a[i][j].store_to(&mut matrices, |matrix| &mut matrix[i][j]);
        }
    }
    for k in 0..B::PACKS {
        resolve_lanes(&matrices[k], unconverged >> (WIDTH * k), &previous[k], &mut found[k]);
    }
    load_rotations(&found)
}

/// Determinant that counts as singular for clusters, for norm 1. They may be lines: only round-off counts.
pub(super) const SINGULAR_DETERMINANT: f32 = 1e-20;

/// Squared norm of the skew part, for norm 1, from which one more Newton step, which squares it, ends below the
/// precision of f32.
const FINAL_RESIDUAL: f32 = 1.0e-8;

/// Squared error of one step, as [`polar_rotation_elements`] estimates it: the skew part is about twice the
/// angle, and the error a third of the precision of f32.
const NEGLIGIBLE_ERROR: f32 = 4e-15;

/// Regularisation of the Hessian for norm 1: a line does not determine the rotation about itself, which
/// then stays.
const REGULARISATION: f32 = 1e-6;

/// Step of Newton's method.
struct NewtonStep<L> {
    /// Rotation vector in the rotated frame, rad.
    omega: [L; 3],
    /// Squared norm of the skew part of `M`.
    residual: L,
    /// Trace of `M`.
    trace: L,
}

/// Newton step for the rotation. Where the Hessian is not positive definite the step is zero and the
/// residual large.
#[inline(always)]
fn newton_step<L: SimdFloat>(a: Matrix<L>, r: Matrix<L>, tolerances: &NewtonTolerances<L>) -> NewtonStep<L> {
    let m = multiply(transpose(r), a);
    let skew = [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]];
    let trace = m[0][0] + m[1][1] + m[2][2];
    let NewtonTolerances { singular, regularisation, norm_squared, .. } = *tolerances;
    let half = L::splat(-0.5);
    let h = [trace - m[0][0] + regularisation, trace - m[1][1] + regularisation, trace - m[2][2] + regularisation];
    let o = [half * (m[0][1] + m[1][0]), half * (m[1][2] + m[2][1]), half * (m[2][0] + m[0][2])];
    let c = [h[1] * h[2] - o[1] * o[1], h[0] * h[2] - o[2] * o[2], h[0] * h[1] - o[0] * o[0]];
    let d = [o[2] * o[1] - o[0] * h[2], o[0] * o[2] - o[1] * h[0], o[0] * o[1] - o[2] * h[1]];
    let determinant = h[0] * c[0] + o[0] * d[0] + o[2] * d[2];
    let [one, zero] = [L::splat(1.0), L::zero()];
    let is_maximum = h[0].select_gt(zero, one, zero) * c[2].select_gt(zero, one, zero);
    let is_maximum = determinant.select_gt(singular, is_maximum, zero);
    let inverse = is_maximum.div(determinant.select_gt(singular, determinant, one));
    let omega = [
        inverse * (c[0] * skew[0] + d[0] * skew[1] + d[2] * skew[2]),
        inverse * (d[0] * skew[0] + c[1] * skew[1] + d[1] * skew[2]),
        inverse * (d[2] * skew[0] + d[1] * skew[1] + c[2] * skew[2]),
    ];
    let residual = skew[0] * skew[0] + skew[1] * skew[1] + skew[2] * skew[2];
    NewtonStep { omega, residual: is_maximum.select_gt(zero, residual, norm_squared), trace }
}

/// Finds the rotations of unconverged lanes one by one, from those of the last step.
#[cold]
#[inline(never)]
fn resolve_lanes(a: &Matrix<F32x8>, unconverged: u32, previous: &[F32x8; 4], rotation: &mut [F32x8; 4]) {
    for lane in (0..WIDTH).filter(|&lane| unconverged >> lane & 1 != 0) {
        let column = |j: usize| DVec3::new(a[0][j][lane].into(), a[1][j][lane].into(), a[2][j][lane].into());
        let matrix = DMat3::from_cols(column(0), column(1), column(2));
        let last = Quat::from_array(std::array::from_fn(|i| previous[i][lane]));
        let found = nearest_rotation(matrix, last).to_array();
        (0..4).for_each(|i| rotation[i][lane] = found[i]);
    }
}

/// Rotates a quaternion by a small rotation vector in its own frame.
#[inline(always)]
fn rotate_quaternion<L: SimdFloat>(q: [L; 4], omega: [L; 3]) -> [L; 4] {
    let new = rotate_unnormalised(q, omega);
    let length = (new[0] * new[0] + new[1] * new[1] + new[2] * new[2] + new[3] * new[3]).sqrt();
    let inverse = L::splat(1.0).div(length);
    [new[0] * inverse, new[1] * inverse, new[2] * inverse, new[3] * inverse]
}

/// [`rotate_quaternion`] without normalisation: longer than 1 by an eighth of the squared angle.
#[inline(always)]
fn rotate_unnormalised<L: SimdFloat>([x, y, z, w]: [L; 4], omega: [L; 3]) -> [L; 4] {
    let half = L::splat(0.5);
    let [a, b, c] = [half * omega[0], half * omega[1], half * omega[2]];
    [x + w * a + y * c - z * b, y + w * b + z * a - x * c, z + w * c + x * b - y * a, w - x * a - y * b - z * c]
}

/// Rotation matrix of a unit quaternion.
#[inline(always)]
pub(crate) fn rotation_matrix<L: SimdFloat>([x, y, z, w]: [L; 4]) -> Matrix<L> {
    let [one, two] = [L::splat(1.0), L::splat(2.0)];
    let [xx, yy, zz, xy, yz, zx] = quadratic_monomials([x, y, z]);
    let [wx, wy, wz] = [w * x, w * y, w * z];
    [
        [one - two * (yy + zz), two * (xy - wz), two * (zx + wy)],
        [two * (xy + wz), one - two * (xx + zz), two * (yz - wx)],
        [two * (zx - wy), two * (yz + wx), one - two * (xx + yy)],
    ]
}
