//! Eigenvalues of symmetric matrices: cyclic Jacobi rotations, Sturm bisection, and the pseudo-inverse.

/// Returns the eigenvalues and eigenvectors of a symmetric matrix; eigenvector `k` is column `k` of the
/// second array.
///
/// Cyclic Jacobi rotations in double precision: quadratic convergence, exact to round-off. The order is not
/// sorted.
pub fn symmetric_eigen<const N: usize>(mut a: [[f64; N]; N]) -> ([f64; N], [[f64; N]; N]) {
    let mut v = [[0.0; N]; N];
    (0..N).for_each(|i| v[i][i] = 1.0);
    for _sweep in 0..30 {
        let off: f64 = (0..N).flat_map(|i| (i + 1..N).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        let diagonal: f64 = (0..N).map(|i| a[i][i] * a[i][i]).sum();
        if off <= 1e-32 * diagonal || off == 0.0 {
            break;
        }
        for p in 0..N {
            for q in p + 1..N {
                rotate(&mut a, &mut v, p, q);
            }
        }
    }
    (std::array::from_fn(|i| a[i][i]), v)
}

/// Applies one Jacobi rotation, which zeroes `a[p][q]`.
fn rotate<const N: usize>(a: &mut [[f64; N]; N], v: &mut [[f64; N]; N], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = if theta.is_finite() { theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt()) } else { 0.0 };
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for row in a.iter_mut() {
        let (x, y) = (row[p], row[q]);
        (row[p], row[q]) = (c * x - s * y, s * x + c * y);
    }
    for k in 0..N {
        let (x, y) = (a[p][k], a[q][k]);
        (a[p][k], a[q][k]) = (c * x - s * y, s * x + c * y);
    }
    for row in v.iter_mut() {
        let (x, y) = (row[p], row[q]);
        (row[p], row[q]) = (c * x - s * y, s * x + c * y);
    }
}

/// Moore-Penrose inverse of a symmetric positive semidefinite matrix, with its null space.
#[derive(Clone, Copy, Debug)]
pub struct PseudoInverse<const N: usize> {
    /// Inverse on the range, zero on the null space.
    pub inverse: [[f64; N]; N],
    /// Orthogonal projector onto the null space.
    pub null_projector: [[f64; N]; N],
    /// Numerical rank.
    pub rank: usize,
}

/// Inverts a symmetric positive semidefinite matrix; eigenvalues up to `cut_off` times the largest count as
/// zero.
pub fn pseudo_inverse<const N: usize>(a: [[f64; N]; N], cut_off: f64) -> PseudoInverse<N> {
    let (values, vectors) = symmetric_eigen(a);
    let largest = values.iter().copied().fold(0.0, f64::max);
    let mut result = PseudoInverse { inverse: [[0.0; N]; N], null_projector: [[0.0; N]; N], rank: 0 };
    for k in 0..N {
        let in_range = values[k] > cut_off * largest && values[k] > 0.0;
        result.rank += usize::from(in_range);
        for i in 0..N {
            for j in 0..N {
                let product = vectors[i][k] * vectors[j][k];
                if in_range {
                    result.inverse[i][j] += product / values[k];
                } else {
                    result.null_projector[i][j] += product;
                }
            }
        }
    }
    result
}

/// Returns the largest eigenvalue of a symmetric tridiagonal matrix; 0 for an empty one.
///
/// Bisection between Gershgorin bounds with the signs of the Sturm sequence.
pub fn max_tridiagonal_eigenvalue(diagonal: &[f64], off_diagonal: &[f64]) -> f64 {
    let off = |k: usize| off_diagonal.get(k).copied().unwrap_or(0.0);
    let radius = |k: usize| {
        let before = if k > 0 { off(k - 1) } else { 0.0 };
        before.abs() + if k + 1 < diagonal.len() { off(k).abs() } else { 0.0 }
    };
    let bound =
        |sign: f64| (0..diagonal.len()).map(|k| sign * diagonal[k] + radius(k)).fold(f64::NEG_INFINITY, f64::max);
    if diagonal.is_empty() || !(bound(1.0).is_finite() && bound(-1.0).is_finite()) {
        return 0.0;
    }
    let (mut low, mut high) = (-bound(-1.0), bound(1.0));
    // True if an eigenvalue is above `x`: a pivot of `T - x I` is positive.
    let is_above = |x: f64| {
        let mut pivot = 1.0;
        (0..diagonal.len()).any(|k| {
            let correction = if k > 0 { off(k - 1) * off(k - 1) / pivot } else { 0.0 };
            pivot = diagonal[k] - x - correction;
            if pivot == 0.0 {
                pivot = -1e-300;
            }
            pivot > 0.0
        })
    };
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if is_above(middle) { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SequentialRng;

    fn random_symmetric<const N: usize>(seed: u64, rank: usize) -> [[f64; N]; N] {
        let mut rng = SequentialRng::new(seed);
        let mut a = [[0.0; N]; N];
        for _ in 0..rank {
            let v: [f64; N] = std::array::from_fn(|_| f64::from(rng.uniform()) - 0.5);
            for i in 0..N {
                for j in 0..N {
                    a[i][j] += v[i] * v[j];
                }
            }
        }
        a
    }

    #[test]
    fn the_largest_eigenvalue_of_a_tridiagonal_matrix_is_found() {
        // Second differences: 2 - 2 cos(k pi/(n + 1)).
        let n = 20;
        let found = max_tridiagonal_eigenvalue(&vec![2.0; n], &vec![-1.0; n - 1]);
        let exact = 2.0 - 2.0 * (n as f64 * std::f64::consts::PI / (n as f64 + 1.0)).cos();
        assert!((found - exact).abs() < 1e-12, "{found} {exact}");
        assert_eq!(max_tridiagonal_eigenvalue(&[], &[]), 0.0);
        assert!((max_tridiagonal_eigenvalue(&[-3.0], &[5.0]) + 3.0).abs() < 1e-12);
        let full = [[1.0, 0.5, 0.0, 0.0], [0.5, -2.0, 3.0, 0.0], [0.0, 3.0, 0.1, 0.2], [0.0, 0.0, 0.2, 4.0]];
        let exact = symmetric_eigen(full).0.into_iter().fold(f64::NEG_INFINITY, f64::max);
        assert!((max_tridiagonal_eigenvalue(&[1.0, -2.0, 0.1, 4.0], &[0.5, 3.0, 0.2]) - exact).abs() < 1e-12);
    }

    #[test]
    fn eigenvectors_rebuild_the_matrix() {
        for seed in 0..50 {
            let a = random_symmetric::<9>(seed, 9);
            let (values, v) = symmetric_eigen(a);
            for i in 0..9 {
                for j in 0..9 {
                    let rebuilt: f64 = (0..9).map(|k| v[i][k] * values[k] * v[j][k]).sum();
                    // Round-off of sums of nine terms of order one.
                    assert!((rebuilt - a[i][j]).abs() < 1e-13);
                }
            }
        }
    }

    #[test]
    fn the_pseudo_inverse_of_a_rank_deficient_matrix_inverts_its_range() {
        for rank in 1..=9 {
            let a = random_symmetric::<9>(rank as u64, rank);
            let inverse = pseudo_inverse(a, 1e-9);
            assert_eq!(inverse.rank, rank);
            let product = |x: &[[f64; 9]; 9], y: &[[f64; 9]; 9]| -> [[f64; 9]; 9] {
                std::array::from_fn(|i| std::array::from_fn(|j| (0..9).map(|k| x[i][k] * y[k][j]).sum()))
            };
            let restored = product(&product(&a, &inverse.inverse), &a);
            for i in 0..9 {
                for j in 0..9 {
                    assert!((restored[i][j] - a[i][j]).abs() < 1e-8, "A A+ A = A fails at rank {rank}");
                }
            }
        }
    }
}
