//! Skyline Cholesky factorisation `A + s diag(A) = L L^T` of symmetric matrices with some hundred rows.
//!
//! Each row is stored from its first nonzero to the diagonal. The factor has the same envelope.

use crate::Real;
use crate::simd::{SimdLevel, dispatch};
use std::ops::{AddAssign, Mul};

/// Relative shift `s` of the diagonal: larger than the rounding errors of an assembled matrix. A pivot
/// below half of the shift counts as zero.
const SHIFT: f64 = 1e-6;

/// Lower Cholesky factor `L` of a symmetric positive semidefinite matrix, stored with the inverse of its
/// diagonal.
#[derive(Clone, Debug, Default)]
pub struct SkylineCholesky {
    /// Column of the first stored entry of each row.
    first: Vec<usize>,
    rows: Vec<Vec<Real>>,
}

impl SkylineCholesky {
    /// Factorises in double precision the matrix whose row `i` holds columns `first[i]..=i`.
    pub fn new(level: SimdLevel, first: Vec<usize>, mut rows: Vec<Vec<f64>>) -> Self {
        factorize(level, &first, &mut rows);
        let rows = rows.into_iter().map(|row| row.into_iter().map(|x| x as Real).collect());
        Self { first, rows: rows.collect() }
    }

    /// Solves `L L^T x = b` in place; `x` holds `b` on entry. Unknowns with a zero pivot become 0.
    pub fn solve(&self, level: SimdLevel, x: &mut [Real]) {
        solve(level, &self.first, &self.rows, x);
    }
}

dispatch! {
    /// Overwrites the rows of a matrix by those of its factor.
    factorize = factorize_rows [] [] (first: &[usize], rows: &mut [Vec<f64>])
}

dispatch! {
    /// Forward and backward substitution with the rows of a factor.
    solve = solve_rows [] [] (first: &[usize], rows: &[Vec<Real>], x: &mut [Real])
}

// Plain loops, which the compiler vectorises for each instruction set; no explicit lanes.
#[allow(clippy::extra_unused_type_parameters)]
#[inline(always)]
fn factorize_rows<L>(first: &[usize], rows: &mut [Vec<f64>]) {
    for i in 0..rows.len() {
        let (above, rest) = rows.split_at_mut(i);
        let row = &mut rest[0];
        for j in first[i]..i {
            let start = first[i].max(first[j]);
            let sum = dot(&row[start - first[i]..j - first[i]], &above[j][start - first[j]..j - first[j]]);
            let inverse = above[j][j - first[j]];
            row[j - first[i]] = (row[j - first[i]] - sum) * inverse;
        }
        let last = i - first[i];
        let shift = SHIFT * row[last];
        let pivot = row[last] + shift - dot(&row[..last], &row[..last]);
        row[last] = if pivot > 0.5 * shift && pivot.is_finite() { 1.0 / pivot.sqrt() } else { 0.0 };
    }
}

#[allow(clippy::extra_unused_type_parameters)]
#[inline(always)]
fn solve_rows<L>(first: &[usize], rows: &[Vec<Real>], x: &mut [Real]) {
    for (i, row) in rows.iter().enumerate() {
        if let Some((inverse, row)) = row.split_last() {
            let first = first[i];
            x[i] = (x[i] - dot(row, &x[first..first + row.len()])) * inverse;
        }
    }
    for (i, row) in rows.iter().enumerate().rev() {
        if let Some((inverse, row)) = row.split_last() {
            let value = x[i] * inverse;
            x[i] = value;
            for (a, x) in row.iter().zip(&mut x[first[i]..]) {
                *x -= a * value;
            }
        }
    }
}

/// Dot product with sixteen partial sums, which the compiler vectorises; the order of additions is fixed.
#[inline(always)]
fn dot<T: Copy + Default + AddAssign + Mul<Output = T>>(a: &[T], b: &[T]) -> T {
    const SUMS: usize = 16;
    let mut sums = [T::default(); SUMS];
    let whole = a.len() - a.len() % SUMS;
    for (a, b) in a[..whole].chunks_exact(SUMS).zip(b[..whole].chunks_exact(SUMS)) {
        for k in 0..SUMS {
            sums[k] += a[k] * b[k];
        }
    }
    for k in whole..a.len() {
        sums[k - whole] += a[k] * b[k];
    }
    let mut width = SUMS;
    while width > 1 {
        width /= 2;
        for k in 0..width {
            let other = sums[k + width];
            sums[k] += other;
        }
    }
    sums[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_singular_pivot_gives_zero_and_leaves_other_unknowns_exact() {
        // A chain of springs: each row begins one column before the diagonal; the third pivot is zero.
        let matrix = [[3.0, -1.0, 0.0, 0.0], [-1.0, 4.0, 0.0, -1.5], [0.0; 4], [0.0, -1.5, 0.0, 2.0]];
        let first = vec![0, 0, 1, 1];
        let rows: Vec<Vec<f64>> = (0..4).map(|i| matrix[i][first[i]..=i].to_vec()).collect();
        let factor = SkylineCholesky::new(SimdLevel::detect(), first, rows);
        let rhs = [1.0, -2.0, 0.5, 3.0];
        let mut x = rhs.map(|x| x as Real);
        factor.solve(SimdLevel::detect(), &mut x);
        assert_eq!(x[2], 0.0);
        for i in [0, 1, 3] {
            let product: f64 = (0..4).map(|j| matrix[i][j] * f64::from(x[j])).sum();
            // The diagonal is larger by a millionth, and f32 has seven digits.
            assert!((product - rhs[i]).abs() < 1e-5, "{i}: {product}");
        }
    }

    #[test]
    fn every_level_gives_the_same_bits() {
        // A band of fifty columns, stiff on the diagonal.
        let first: Vec<usize> = (0..120usize).map(|i| i.saturating_sub(50)).collect();
        let entry = |i: usize, j: usize| if i == j { 60.0 } else { ((7 * i + 13 * j) % 17) as f64 / 17.0 - 0.5 };
        let rows: Vec<Vec<f64>> = (0..120).map(|i| (first[i]..=i).map(|j| entry(i, j)).collect()).collect();
        let solved = |level: SimdLevel| {
            let mut x: Vec<Real> = (0..120).map(|k| (k % 9) as Real - 4.0).collect();
            SkylineCholesky::new(level, first.clone(), rows.clone()).solve(level, &mut x);
            x.into_iter().map(Real::to_bits).collect::<Vec<u32>>()
        };
        let all: Vec<Vec<u32>> = SimdLevel::available().into_iter().map(solved).collect();
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
