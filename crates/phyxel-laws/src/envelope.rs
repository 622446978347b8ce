//! Symmetric systems of some hundred equations in which each unknown knows only of those not far from it.
//!
//! A row is kept from its first number that is not 0 to the diagonal, and so is that of the factor (its envelope).

use crate::Real;
use crate::lanes::{Level, at_every_level};
use std::ops::{AddAssign, Mul};

/// Part of the diagonal that is added to it: more than the rounding of what a system is made from. Unknowns of which less than half of it is left
/// are none.
const FIRM: f64 = 1e-6;

/// The lower factor of a symmetric, positive matrix, with the inverse of its diagonal.
#[derive(Clone, Debug, Default)]
pub struct Factor {
    /// First column of each row.
    first: Vec<usize>,
    rows: Vec<Vec<Real>>,
}

impl Factor {
    /// Of rows from their first columns to the diagonal. It is found in f64.
    pub fn new(level: Level, first: Vec<usize>, mut rows: Vec<Vec<f64>>) -> Self {
        factorize(level, &first, &mut rows);
        let rows = rows.into_iter().map(|row| row.into_iter().map(|x| x as Real).collect());
        Self { first, rows: rows.collect() }
    }

    /// Solves for unknowns, from the right side. Unknowns that are none are 0.
    pub fn solve(&self, level: Level, x: &mut [Real]) {
        solve(level, &self.first, &self.rows, x);
    }
}

at_every_level! {
    /// Rows of a matrix become those of its factor.
    factorize = factorize_rows [] [] (first: &[usize], rows: &mut [Vec<f64>])
}

at_every_level! {
    /// Solves with the rows of a factor.
    solve = solve_rows [] [] (first: &[usize], rows: &[Vec<Real>], x: &mut [Real])
}

// Plain loops, of which the compiler makes vectors of the level; lanes are not needed.
#[allow(clippy::extra_unused_type_parameters)]
#[inline(always)]
fn factorize_rows<L>(first: &[usize], rows: &mut [Vec<f64>]) {
    for i in 0..rows.len() {
        let (before, rest) = rows.split_at_mut(i);
        let own = &mut rest[0];
        for j in first[i]..i {
            let start = first[i].max(first[j]);
            let sum = dot(&own[start - first[i]..j - first[i]], &before[j][start - first[j]..j - first[j]]);
            let inverse = before[j][j - first[j]];
            own[j - first[i]] = (own[j - first[i]] - sum) * inverse;
        }
        let last = i - first[i];
        let firm = FIRM * own[last];
        let square = own[last] + firm - dot(&own[..last], &own[..last]);
        own[last] = if square > 0.5 * firm && square.is_finite() { 1.0 / square.sqrt() } else { 0.0 };
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
            let now = x[i] * inverse;
            x[i] = now;
            for (a, x) in row.iter().zip(&mut x[first[i]..]) {
                *x -= a * now;
            }
        }
    }
}

/// Sixteen sums side by side, which the compiler makes vectors of.
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
    fn a_factor_solves_for_unknowns_that_there_are_and_leaves_others_alone() {
        // A chain of springs: each row begins one column before the diagonal; the third unknown is none.
        let matrix = [[3.0, -1.0, 0.0, 0.0], [-1.0, 4.0, 0.0, -1.5], [0.0; 4], [0.0, -1.5, 0.0, 2.0]];
        let first = vec![0, 0, 1, 1];
        let rows: Vec<Vec<f64>> = (0..4).map(|i| matrix[i][first[i]..=i].to_vec()).collect();
        let factor = Factor::new(Level::detect(), first, rows);
        let right = [1.0, -2.0, 0.5, 3.0];
        let mut x = right.map(|x| x as Real);
        factor.solve(Level::detect(), &mut x);
        assert_eq!(x[2], 0.0);
        for i in [0, 1, 3] {
            let back: f64 = (0..4).map(|j| matrix[i][j] * f64::from(x[j])).sum();
            // The diagonal is larger by a millionth, and f32 has seven digits.
            assert!((back - right[i]).abs() < 1e-5, "{i}: {back}");
        }
    }

    #[test]
    fn every_level_gives_the_same_bits() {
        // A band of fifty columns, stiff on the diagonal.
        let first: Vec<usize> = (0..120usize).map(|i| i.saturating_sub(50)).collect();
        let number = |i: usize, j: usize| if i == j { 60.0 } else { ((7 * i + 13 * j) % 17) as f64 / 17.0 - 0.5 };
        let rows: Vec<Vec<f64>> = (0..120).map(|i| (first[i]..=i).map(|j| number(i, j)).collect()).collect();
        let solved = |level: Level| {
            let mut x: Vec<Real> = (0..120).map(|k| (k % 9) as Real - 4.0).collect();
            Factor::new(level, first.clone(), rows.clone()).solve(level, &mut x);
            x.into_iter().map(Real::to_bits).collect::<Vec<u32>>()
        };
        let all: Vec<Vec<u32>> = Level::available().into_iter().map(solved).collect();
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
