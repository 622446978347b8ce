//! Elastic matter: how stress follows strain.
//!
//! Strain is Green's, `E = (J^T J - I)/2`, and stress is the second one of Piola and Kirchhoff. Symmetric matrices are
//! written as six numbers in the order of Voigt: xx, yy, zz, yz, xz, xy.

use crate::Real;
use crate::lanes::Numbers;
use crate::symmetric::eigen;

// Loops instead of closures: what is called inside a closure is not compiled for the vectors of the machine.

/// Two indices for each of the six numbers of a symmetric matrix.
pub const VOIGT: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)];

/// What each of the six is multiplied with so that products of matrices are products of six numbers (after Mandel).
pub const SCALE: [f64; 6] = {
    let root = std::f64::consts::SQRT_2;
    [1.0, 1.0, 1.0, root, root, root]
};

/// A matrix, row by row.
pub type Matrix<L> = [[L; 3]; 3];

/// How stress follows strain in a Hookean material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hooke {
    /// The same in all directions: `S = lambda tr(E) I + 2 mu E`.
    Isotropic {
        /// Lame's first constant, Pa.
        lambda: Real,
        /// Shear modulus, Pa.
        mu: Real,
    },
    /// Any linear law: six stresses from three stretches and three shears, which are twice the numbers beside the
    /// diagonal of the strain, Pa.
    Anisotropic([[Real; 6]; 6]),
}

impl Hooke {
    /// From Young's modulus (Pa) and Poisson's ratio, as textbooks have it.
    pub fn isotropic(young_modulus: Real, poisson_ratio: Real) -> Self {
        let (e, nu) = (f64::from(young_modulus), f64::from(poisson_ratio));
        let lambda = e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
        Self::Isotropic { lambda: lambda as Real, mu: (0.5 * e / (1.0 + nu)) as Real }
    }

    /// Stress of waves that push along: `lambda + 2 mu`, or a bound of it, Pa.
    pub fn push_modulus(&self) -> f64 {
        match self {
            Self::Isotropic { lambda, mu } => f64::from(*lambda) + 2.0 * f64::from(*mu),
            Self::Anisotropic(c) => eigen(c.map(|row| row.map(f64::from))).0.into_iter().fold(0.0, f64::max),
        }
    }

    /// The most that the norm of the stress is of that of the strain, as norms of matrices are, Pa.
    pub fn largest(&self) -> f64 {
        eigen(self.scaled()).0.into_iter().fold(0.0, f64::max)
    }

    /// The law for strains and stresses that are scaled by [`SCALE`], Pa.
    fn scaled(&self) -> [[f64; 6]; 6] {
        std::array::from_fn(|i| {
            std::array::from_fn(|j| match self {
                Self::Isotropic { lambda, mu } => {
                    let even = if i < 3 && j < 3 { f64::from(*lambda) } else { 0.0 };
                    even + if i == j { 2.0 * f64::from(*mu) } else { 0.0 }
                }
                Self::Anisotropic(c) => f64::from(c[i][j]) * SCALE[i] * SCALE[j],
            })
        })
    }

    /// The square root of the law, Pa^0.5, for strains and stresses that are scaled by [`SCALE`].
    pub fn root(&self) -> [[f64; 6]; 6] {
        let (values, vectors) = eigen(self.scaled());
        let part = |i: usize, j: usize, k: usize| vectors[i][k] * values[k].max(0.0).sqrt() * vectors[j][k];
        std::array::from_fn(|i| std::array::from_fn(|j| (0..6).map(|k| part(i, j, k)).sum()))
    }

    /// Stress over a scale, at a strain.
    #[inline(always)]
    pub fn stress<L: Numbers>(&self, strain: [L; 6]) -> [L; 6] {
        match self {
            Self::Isotropic { lambda, mu } => {
                let pressure = L::splat(*lambda) * (strain[0] + strain[1] + strain[2]);
                let twice = L::splat(2.0 * mu);
                let mut stress = [L::zero(); 6];
                for k in 0..6 {
                    stress[k] = if k < 3 { pressure + twice * strain[k] } else { twice * strain[k] };
                }
                stress
            }
            Self::Anisotropic(c) => {
                let mut stress = [L::zero(); 6];
                for row in 0..6 {
                    for k in 0..6 {
                        let part = if k < 3 { strain[k] } else { strain[k] + strain[k] };
                        stress[row] = stress[row] + L::splat(c[row][k]) * part;
                    }
                }
                stress
            }
        }
    }
}

/// Whether a law takes work for every strain: a symmetric matrix with positive eigenvalues.
pub fn is_stable(c: &[[Real; 6]; 6]) -> bool {
    let size = c.iter().flatten().fold(0.0f32, |size, x| size.max(x.abs()));
    let even = VOIGT.iter().enumerate().all(|(i, _)| (0..i).all(|j| (c[i][j] - c[j][i]).abs() <= 1e-5 * size));
    even && size.is_finite() && eigen(c.map(|row| row.map(f64::from))).0.iter().all(|&e| e > 1e-9 * f64::from(size))
}

/// A symmetric matrix from its six numbers.
#[inline(always)]
pub fn full<L: Copy>(s: [L; 6]) -> Matrix<L> {
    [[s[0], s[5], s[4]], [s[5], s[1], s[3]], [s[4], s[3], s[2]]]
}

/// `a b`.
#[inline(always)]
pub fn product<L: Numbers>(a: &Matrix<L>, b: &Matrix<L>) -> Matrix<L> {
    let mut c = [[L::zero(); 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
        }
    }
    c
}

/// `(a^T b + b^T a)/2`, six numbers.
#[inline(always)]
pub fn symmetric_product<L: Numbers>(a: &Matrix<L>, b: &Matrix<L>) -> [L; 6] {
    let mut s = [L::zero(); 6];
    for k in 0..6 {
        let (i, j) = VOIGT[k];
        s[k] = a[0][i] * b[0][j] + a[1][i] * b[1][j] + a[2][i] * b[2][j];
        if i != j {
            s[k] = L::splat(0.5) * (s[k] + (a[0][j] * b[0][i] + a[1][j] * b[1][i] + a[2][j] * b[2][i]));
        }
    }
    s
}

/// Green's strain of a deformation: `(J^T J - I)/2`.
#[inline(always)]
pub fn strain<L: Numbers>(j: &Matrix<L>) -> [L; 6] {
    let mut e = [L::zero(); 6];
    for k in 0..6 {
        let (a, b) = VOIGT[k];
        let dot = j[0][a] * j[0][b] + j[1][a] * j[1][b] + j[2][a] * j[2][b];
        e[k] = L::splat(0.5) * if a == b { dot - L::splat(1.0) } else { dot };
    }
    e
}

/// Matrix of cofactors: its columns are the products of the other two columns across.
#[inline(always)]
pub fn cofactors<L: Numbers>(j: &Matrix<L>) -> Matrix<L> {
    let mut cofactors = [[L::zero(); 3]; 3];
    for a in 0..3 {
        let (b, c) = ((a + 1) % 3, (a + 2) % 3);
        for r in 0..3 {
            let (s, t) = ((r + 1) % 3, (r + 2) % 3);
            cofactors[a][r] = j[b][s] * j[c][t] - j[b][t] * j[c][s];
        }
    }
    cofactors
}

/// Determinant, from the matrix and its cofactors.
#[inline(always)]
pub fn determinant<L: Numbers>(j: &Matrix<L>, cofactors: &Matrix<L>) -> L {
    j[0][0] * cofactors[0][0] + j[0][1] * cofactors[0][1] + j[0][2] * cofactors[0][2]
}

/// `a : b`.
#[inline(always)]
pub fn dot<L: Numbers>(a: &Matrix<L>, b: &Matrix<L>) -> L {
    let mut sum = L::zero();
    for i in 0..3 {
        sum = sum + (a[i][0] * b[i][0] + a[i][1] * b[i][1] + a[i][2] * b[i][2]);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Lanes, Portable};
    use glam::Mat3;

    fn spread(m: Mat3) -> Matrix<Portable> {
        std::array::from_fn(|r| std::array::from_fn(|c| Portable::splat(m.col(c)[r])))
    }

    fn first(s: [Portable; 6]) -> [f32; 6] {
        s.map(|x| x.to_array()[0])
    }

    #[test]
    fn a_bar_that_is_stretched_and_free_at_its_sides_has_young_s_modulus_and_poisson_s_ratio() {
        let (young, poisson) = (3.0e5, 0.35);
        let law = Hooke::isotropic(young, poisson);
        let e = 1e-3;
        let strain = [e, -poisson * e, -poisson * e, 0.0, 0.0, 0.0].map(Portable::splat);
        let stress = first(law.stress(strain));
        assert!((stress[0] / (young * e) - 1.0).abs() < 1e-5);
        // What is left at the sides is the round-off of sums of this size.
        assert!(stress[1].abs() < 1e-5 * stress[0] && stress[2].abs() < 1e-5 * stress[0]);
    }

    #[test]
    fn an_isotropic_matrix_is_the_isotropic_law() {
        let Hooke::Isotropic { lambda, mu } = Hooke::isotropic(2.0e4, 0.3) else { unreachable!() };
        let mut c = [[0.0; 6]; 6];
        for i in 0..3 {
            (0..3).for_each(|j| c[i][j] = lambda);
            c[i][i] += 2.0 * mu;
            c[i + 3][i + 3] = mu;
        }
        assert!(is_stable(&c));
        let strain = [0.01, -0.02, 0.015, 0.004, -0.003, 0.007].map(Portable::splat);
        let plain = first(Hooke::Isotropic { lambda, mu }.stress(strain));
        let full = first(Hooke::Anisotropic(c).stress(strain));
        for k in 0..6 {
            assert!((plain[k] - full[k]).abs() < 1e-5 * 2.0e4 * 0.05);
        }
        let bound = Hooke::Anisotropic(c).push_modulus();
        assert!(bound >= Hooke::Isotropic { lambda, mu }.push_modulus() * (1.0 - 1e-6));
        c[0][1] *= 2.0;
        assert!(!is_stable(&c), "not symmetric");
        c[0][1] = 10.0 * (lambda + 2.0 * mu);
        c[1][0] = c[0][1];
        assert!(!is_stable(&c), "gives work away");
    }

    #[test]
    fn cofactors_are_the_gradient_of_the_determinant_and_turns_do_not_strain() {
        let turn = Mat3::from_rotation_x(0.4) * Mat3::from_rotation_z(1.2);
        let strained = first(strain(&spread(turn)));
        assert!(strained.iter().all(|e| e.abs() < 1e-6));
        let j = turn * Mat3::from_diagonal(glam::Vec3::new(1.2, 0.7, -1.1));
        let c = cofactors(&spread(j));
        assert!((determinant(&spread(j), &c).to_array()[0] - j.determinant()).abs() < 1e-6);
        let expected = j.determinant() * j.inverse().transpose();
        for r in 0..3 {
            for k in 0..3 {
                assert!((c[r][k].to_array()[0] - expected.col(k)[r]).abs() < 1e-5);
            }
        }
    }
}
