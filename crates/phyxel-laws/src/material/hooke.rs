//! Hooke's law in Green strain (the St. Venant-Kirchhoff material).
//!
//! Strain is Green's, `E = (J^T J - I)/2`, stress the second Piola-Kirchhoff stress. Symmetric tensors are
//! stored as six components in Voigt order: xx, yy, zz, yz, xz, xy.

use crate::Real;
use crate::linalg::eigen::symmetric_eigen;
use crate::simd::SimdFloat;

// Loops instead of closures: closures are not compiled for the instruction set of the kernel around them.

/// Row and column of each Voigt component.
pub const VOIGT: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)];

/// Mandel weights: with them, the double contraction of two tensors is the dot product of their six components.
pub const MANDEL: [f64; 6] = {
    let root = std::f64::consts::SQRT_2;
    [1.0, 1.0, 1.0, root, root, root]
};

/// 3 x 3 matrix, by rows.
pub type Matrix<L> = [[L; 3]; 3];

/// Linear elastic law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hooke {
    /// Isotropic: `S = lambda tr(E) I + 2 mu E`.
    Isotropic {
        /// Lame's first constant, Pa.
        lambda: Real,
        /// Shear modulus, Pa.
        mu: Real,
    },
    /// Anisotropic stiffness matrix in Voigt notation, Pa; its shear strains are engineering strains, twice the
    /// off-diagonal components.
    Anisotropic([[Real; 6]; 6]),
}

impl Hooke {
    /// Isotropic law from Young's modulus (Pa) and Poisson's ratio.
    pub fn isotropic(young_modulus: Real, poisson_ratio: Real) -> Self {
        let (e, nu) = (f64::from(young_modulus), f64::from(poisson_ratio));
        let lambda = e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
        Self::Isotropic { lambda: lambda as Real, mu: (0.5 * e / (1.0 + nu)) as Real }
    }

    /// P-wave modulus `lambda + 2 mu`, Pa; for anisotropic laws an upper bound of it.
    pub fn p_wave_modulus(&self) -> f64 {
        match self {
            Self::Isotropic { lambda, mu } => f64::from(*lambda) + 2.0 * f64::from(*mu),
            Self::Anisotropic(c) => symmetric_eigen(c.map(|row| row.map(f64::from))).0.into_iter().fold(0.0, f64::max),
        }
    }

    /// Largest eigenvalue in Mandel notation, Pa: bounds the Frobenius norm of stress over that of strain.
    pub fn max_eigenvalue(&self) -> f64 {
        symmetric_eigen(self.mandel_matrix()).0.into_iter().fold(0.0, f64::max)
    }

    /// Stiffness matrix in Mandel notation, Pa.
    fn mandel_matrix(&self) -> [[f64; 6]; 6] {
        std::array::from_fn(|i| {
            std::array::from_fn(|j| match self {
                Self::Isotropic { lambda, mu } => {
                    let volumetric = if i < 3 && j < 3 { f64::from(*lambda) } else { 0.0 };
                    volumetric + if i == j { 2.0 * f64::from(*mu) } else { 0.0 }
                }
                Self::Anisotropic(c) => f64::from(c[i][j]) * MANDEL[i] * MANDEL[j],
            })
        })
    }

    /// Square root of the stiffness matrix in Mandel notation, Pa^0.5.
    pub fn mandel_sqrt(&self) -> [[f64; 6]; 6] {
        let (values, vectors) = symmetric_eigen(self.mandel_matrix());
        let part = |i: usize, j: usize, k: usize| vectors[i][k] * values[k].max(0.0).sqrt() * vectors[j][k];
        std::array::from_fn(|i| std::array::from_fn(|j| (0..6).map(|k| part(i, j, k)).sum()))
    }

    /// Second Piola-Kirchhoff stress at a strain, Pa, or in the unit of a scaled strain times Pa.
    #[inline(always)]
    pub fn stress<L: SimdFloat>(&self, strain: [L; 6]) -> [L; 6] {
        match self {
            Self::Isotropic { lambda, mu } => {
                let volumetric = L::splat(*lambda) * (strain[0] + strain[1] + strain[2]);
                let two_mu = L::splat(2.0 * mu);
                let mut stress = [L::zero(); 6];
                for k in 0..6 {
                    stress[k] = if k < 3 { volumetric + two_mu * strain[k] } else { two_mu * strain[k] };
                }
                stress
            }
            Self::Anisotropic(c) => {
                let mut stress = [L::zero(); 6];
                for row in 0..6 {
                    for k in 0..6 {
                        let strain_k = if k < 3 { strain[k] } else { strain[k] + strain[k] };
                        stress[row] = stress[row] + L::splat(c[row][k]) * strain_k;
                    }
                }
                stress
            }
        }
    }
}

/// Returns true if a stiffness matrix is finite, symmetric and positive definite: every strain stores energy.
pub fn is_positive_definite(c: &[[Real; 6]; 6]) -> bool {
    let scale = c.iter().flatten().fold(0.0f32, |size, x| size.max(x.abs()));
    let is_symmetric = VOIGT.iter().enumerate().all(|(i, _)| (0..i).all(|j| (c[i][j] - c[j][i]).abs() <= 1e-5 * scale));
    is_symmetric
        && scale.is_finite()
        && symmetric_eigen(c.map(|row| row.map(f64::from))).0.iter().all(|&e| e > 1e-9 * f64::from(scale))
}

/// Symmetric matrix from its Voigt components.
#[inline(always)]
pub fn from_voigt<L: Copy>(s: [L; 6]) -> Matrix<L> {
    [[s[0], s[5], s[4]], [s[5], s[1], s[3]], [s[4], s[3], s[2]]]
}

/// `a b`.
#[inline(always)]
pub fn product<L: SimdFloat>(a: &Matrix<L>, b: &Matrix<L>) -> Matrix<L> {
    let mut c = [[L::zero(); 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
        }
    }
    c
}

/// `sym(a^T b) = (a^T b + b^T a)/2`, in Voigt order.
#[inline(always)]
pub fn symmetric_product<L: SimdFloat>(a: &Matrix<L>, b: &Matrix<L>) -> [L; 6] {
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

/// Green strain of a deformation gradient: `(J^T J - I)/2`.
#[inline(always)]
pub fn green_strain<L: SimdFloat>(j: &Matrix<L>) -> [L; 6] {
    let mut e = [L::zero(); 6];
    for k in 0..6 {
        let (a, b) = VOIGT[k];
        let dot = j[0][a] * j[0][b] + j[1][a] * j[1][b] + j[2][a] * j[2][b];
        e[k] = L::splat(0.5) * if a == b { dot - L::splat(1.0) } else { dot };
    }
    e
}

/// Cofactor matrix: its columns are cross products of the other two columns.
#[inline(always)]
pub fn cofactors<L: SimdFloat>(j: &Matrix<L>) -> Matrix<L> {
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
pub fn determinant<L: SimdFloat>(j: &Matrix<L>, cofactors: &Matrix<L>) -> L {
    j[0][0] * cofactors[0][0] + j[0][1] * cofactors[0][1] + j[0][2] * cofactors[0][2]
}

/// Double contraction `a : b`.
#[inline(always)]
pub fn double_dot<L: SimdFloat>(a: &Matrix<L>, b: &Matrix<L>) -> L {
    let mut sum = L::zero();
    for i in 0..3 {
        sum = sum + (a[i][0] * b[i][0] + a[i][1] * b[i][1] + a[i][2] * b[i][2]);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Portable, SimdF32x8};
    use glam::Mat3;

    fn splat_matrix(m: Mat3) -> Matrix<Portable> {
        std::array::from_fn(|r| std::array::from_fn(|c| Portable::splat(m.col(c)[r])))
    }

    fn first_lane(s: [Portable; 6]) -> [f32; 6] {
        s.map(|x| x.to_array()[0])
    }

    #[test]
    fn a_bar_that_is_stretched_and_free_at_its_sides_has_young_s_modulus_and_poisson_s_ratio() {
        let (young, poisson) = (3.0e5, 0.35);
        let law = Hooke::isotropic(young, poisson);
        let e = 1e-3;
        let strain = [e, -poisson * e, -poisson * e, 0.0, 0.0, 0.0].map(Portable::splat);
        let stress = first_lane(law.stress(strain));
        assert!((stress[0] / (young * e) - 1.0).abs() < 1e-5);
        // The lateral stress is the round-off of sums of this size.
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
        assert!(is_positive_definite(&c));
        let strain = [0.01, -0.02, 0.015, 0.004, -0.003, 0.007].map(Portable::splat);
        let plain = first_lane(Hooke::Isotropic { lambda, mu }.stress(strain));
        let full = first_lane(Hooke::Anisotropic(c).stress(strain));
        for k in 0..6 {
            assert!((plain[k] - full[k]).abs() < 1e-5 * 2.0e4 * 0.05);
        }
        let bound = Hooke::Anisotropic(c).p_wave_modulus();
        assert!(bound >= Hooke::Isotropic { lambda, mu }.p_wave_modulus() * (1.0 - 1e-6));
        c[0][1] *= 2.0;
        assert!(!is_positive_definite(&c), "not symmetric");
        c[0][1] = 10.0 * (lambda + 2.0 * mu);
        c[1][0] = c[0][1];
        assert!(!is_positive_definite(&c), "indefinite");
    }

    #[test]
    fn cofactors_are_the_gradient_of_the_determinant_and_turns_do_not_strain() {
        let rotation = Mat3::from_rotation_x(0.4) * Mat3::from_rotation_z(1.2);
        let strained = first_lane(green_strain(&splat_matrix(rotation)));
        assert!(strained.iter().all(|e| e.abs() < 1e-6));
        let j = rotation * Mat3::from_diagonal(glam::Vec3::new(1.2, 0.7, -1.1));
        let c = cofactors(&splat_matrix(j));
        assert!((determinant(&splat_matrix(j), &c).to_array()[0] - j.determinant()).abs() < 1e-6);
        let expected = j.determinant() * j.inverse().transpose();
        for r in 0..3 {
            for k in 0..3 {
                assert!((c[r][k].to_array()[0] - expected.col(k)[r]).abs() < 1e-5);
            }
        }
    }
}
