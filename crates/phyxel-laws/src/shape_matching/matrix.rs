//! Small vectors and matrices with one cluster per lane.

// Plain loops: closures are not compiled for the instruction set of the kernel around them.

use crate::material::hooke::Matrix;
use crate::simd::{F32x8, SimdF32x8, SimdFloat};

/// Quadratic monomials of a vector: squares, then xy, yz, zx.
#[inline(always)]
pub(super) fn quadratic_monomials<L: SimdFloat>([x, y, z]: [L; 3]) -> [L; 6] {
    [x * x, y * y, z * z, x * y, y * z, z * x]
}

#[inline(always)]
pub(super) fn cross<L: SimdF32x8>(a: [L; 3], b: [L; 3]) -> [L; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline(always)]
pub(super) fn load3<L: SimdF32x8>(values: &[F32x8; 3]) -> [L; 3] {
    [L::load(&values[0]), L::load(&values[1]), L::load(&values[2])]
}

#[inline(always)]
pub(super) fn store3<L: SimdF32x8>(v: [L; 3], values: &mut [F32x8; 3]) {
    for i in 0..3 {
        v[i].store(&mut values[i]);
    }
}

#[inline(always)]
pub(super) fn sub3<L: SimdF32x8>(a: [L; 3], b: [L; 3]) -> [L; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `m += a b^T`.
#[inline(always)]
pub(super) fn add_outer<L: SimdF32x8, const N: usize>(m: &mut [[L; N]; 3], a: [L; 3], b: [L; N]) {
    for i in 0..3 {
        for j in 0..N {
            m[i][j] = m[i][j] + a[i] * b[j];
        }
    }
}

#[inline(always)]
pub(super) fn load9<L: SimdF32x8>(values: &Matrix<F32x8>) -> Matrix<L> {
    [load3(&values[0]), load3(&values[1]), load3(&values[2])]
}

#[inline(always)]
pub(super) fn store9<L: SimdF32x8>(m: Matrix<L>, values: &mut Matrix<F32x8>) {
    for i in 0..3 {
        for j in 0..3 {
            m[i][j].store(&mut values[i][j]);
        }
    }
}

/// Symmetric matrix from xx, yy, zz, xy, yz, zx.
#[inline(always)]
pub(super) fn symmetric<L: SimdF32x8>(m: &[F32x8; 6]) -> Matrix<L> {
    let [xx, yy, zz] = [L::load(&m[0]), L::load(&m[1]), L::load(&m[2])];
    let [xy, yz, zx] = [L::load(&m[3]), L::load(&m[4]), L::load(&m[5])];
    [[xx, xy, zx], [xy, yy, yz], [zx, yz, zz]]
}

#[inline(always)]
pub(super) fn transpose<L: SimdFloat>(m: Matrix<L>) -> Matrix<L> {
    [[m[0][0], m[1][0], m[2][0]], [m[0][1], m[1][1], m[2][1]], [m[0][2], m[1][2], m[2][2]]]
}

#[inline(always)]
pub(super) fn multiply<L: SimdFloat>(a: Matrix<L>, b: Matrix<L>) -> Matrix<L> {
    let mut product = a;
    for i in 0..3 {
        for j in 0..3 {
            product[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
        }
    }
    product
}

#[inline(always)]
pub(super) fn multiply_transposed<L: SimdFloat>(a: Matrix<L>, b: Matrix<L>) -> Matrix<L> {
    multiply(a, transpose(b))
}

#[inline(always)]
pub(super) fn scale<L: SimdFloat>(mut a: Matrix<L>, s: L) -> Matrix<L> {
    for i in 0..3 {
        for j in 0..3 {
            a[i][j] = a[i][j] * s;
        }
    }
    a
}

#[inline(always)]
pub(super) fn add<L: SimdFloat>(mut a: Matrix<L>, b: Matrix<L>) -> Matrix<L> {
    for i in 0..3 {
        for j in 0..3 {
            a[i][j] = a[i][j] + b[i][j];
        }
    }
    a
}

/// Square of [`norm`] but for round-off: its sums depend less on each other.
#[inline(always)]
pub(super) fn norm_squared<L: SimdFloat>(a: Matrix<L>) -> L {
    let mut rows = [L::zero(); 3];
    for i in 0..3 {
        rows[i] = a[i][0] * a[i][0] + a[i][1] * a[i][1] + a[i][2] * a[i][2];
    }
    rows[0] + rows[1] + rows[2]
}

/// Frobenius norm.
#[inline(always)]
pub(super) fn norm<L: SimdFloat>(a: Matrix<L>) -> L {
    let mut sum = L::zero();
    for row in a {
        sum = sum + row[0] * row[0] + row[1] * row[1] + row[2] * row[2];
    }
    sum.sqrt()
}

#[inline(always)]
pub(super) fn determinant<L: SimdFloat>(m: Matrix<L>) -> L {
    m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
}
