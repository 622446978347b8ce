//! Plastic flow: additive plastic strain ([`update_plastic_strain`]) and multiplicative plastic deformation
//! ([`update_plastic_deformation`]), both with a yield strain, a creep rate and a bound.

use crate::Real;
use crate::linalg::eigen::symmetric_eigen;
use crate::simd::{F32x8, WIDTH, dispatch};
use glam::{DMat3, Mat3};

/// Spectral norm of a matrix: the largest factor by which it stretches a vector.
pub fn spectral_norm(a: Mat3) -> Real {
    let a = a.as_dmat3();
    let square = a.transpose() * a;
    let rows: [[f64; 3]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| square.col(j)[i]));
    let (values, _) = symmetric_eigen(rows);
    values.iter().copied().fold(0.0, f64::max).sqrt() as Real
}

/// Yield law of a material at one temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YieldLaw {
    /// Yield strain, dimensionless.
    pub yield_strain: Real,
    /// Creep rate: fraction of the elastic strain that becomes plastic per second, 1/s.
    pub creep_rate: Real,
    /// Largest plastic strain, dimensionless.
    pub max_strain: Real,
}

/// Yield strain half way between softening and melting point. Engineering solids yield at some thousandths
/// (metals) to some hundredths (polymers).
const SOFT_YIELD: Real = 0.01;
/// Creep rate at the melting point, 1/s: a deformation becomes permanent within a few tenths of a second.
const SOFT_CREEP: Real = 5.0;
/// Largest plastic strain of a softened material: twice as long, or as good as flat.
const SOFT_MAX: Real = 1.0;

impl YieldLaw {
    /// Yield law of thermal softening; `softness` is 0 at the softening point and 1 at the melting point.
    ///
    /// The yield strain is `0.01 (1 - s)/s`: infinite where softening begins, so that the law is continuous
    /// there, and 0 at the melting point, as is the yield stress of `[JC83]` with its factor `1 - T*`. The
    /// creep rate is linear in `s`.
    pub fn softened(softness: Real) -> Option<Self> {
        let yield_strain = SOFT_YIELD * (1.0 - softness) / softness;
        (softness > 0.0).then_some(Self { yield_strain, creep_rate: SOFT_CREEP * softness, max_strain: SOFT_MAX })
    }

    /// Combination with a softening law: the lower yield strain, the higher creep rate, the bound of `self`.
    #[must_use]
    pub fn combined(self, softened: Self) -> Self {
        Self {
            yield_strain: self.yield_strain.min(softened.yield_strain),
            creep_rate: self.creep_rate.max(softened.creep_rate),
            max_strain: self.max_strain,
        }
    }
}

/// Plastic deformation `Sp` after a step, `[MHTG05]` eq. 15 with its bound and its constant volume.
///
/// `strain` is `S - I`, the elastic stretch less the identity; `fraction` is `dt c_creep`, clamped to 1 so
/// that no step flows past the deformation that drives it. Returns `None` below the yield strain.
pub fn update_plastic_deformation(
    plastic: Mat3,
    strain: Mat3,
    yield_strain: Real,
    fraction: Real,
    max_strain: Real,
) -> Option<Mat3> {
    if !strain.is_finite() || spectral_norm(strain) <= yield_strain {
        return None;
    }
    let updated = (Mat3::IDENTITY + strain * fraction.clamp(0.0, 1.0)) * plastic;
    let strain_after = updated - Mat3::IDENTITY;
    let norm = spectral_norm(strain_after);
    let bounded = if norm > max_strain { Mat3::IDENTITY + strain_after * (max_strain / norm) } else { updated };
    to_unit_determinant(bounded)
}

/// Plastic strain after a step, in Voigt order; `None` below the yield strain.
///
/// Strain-space plasticity of O'Brien et al. (2002), as in `[MKN04]` section 4.1: where the elastic strain
/// exceeds the yield strain, the fraction `dt creep_rate` of it, at most all, becomes plastic; the plastic
/// strain is bounded. Norms of strains are spectral. With `isochoric`, yield and flow see the deviatoric
/// strain only, and its measure of volume is conserved.
pub fn update_plastic_strain(
    plastic: [Real; 6],
    elastic: [Real; 6],
    law: YieldLaw,
    dt: Real,
    isochoric: Option<Isochoric>,
) -> Option<[Real; 6]> {
    let mut driving = elastic;
    if isochoric.is_some() {
        let mean = (elastic[0] + elastic[1] + elastic[2]) / 3.0;
        (0..3).for_each(|k| driving[k] -= mean);
    }
    let fraction = (law.creep_rate * dt).min(1.0);
    if fraction <= 0.0 || norm_is_within(&driving, law.yield_strain) {
        return None;
    }
    let updated = std::array::from_fn(|k| plastic[k] + fraction * driving[k]);
    let mut updated = limit_norm(updated, law.max_strain);
    if isochoric == Some(Isochoric::RestVolume) {
        updated = scale_to_volume_of(updated, plastic);
    }
    updated.iter().all(|e| e.is_finite()).then_some(updated)
}

/// Measure of volume that isochoric plastic flow conserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isochoric {
    /// `det(I + 2 Ep)`: the volume of the stress-free shape. A traceless increment alone would reduce it.
    RestVolume,
    /// `tr Ep`: volume to first order. For tetrahedra, and for a reference configuration that follows the
    /// motion, where `-Ep` is the elastic strain.
    Trace,
}

/// Scales `I + 2 Ep` so that its determinant is that of another plastic strain.
fn scale_to_volume_of(mut strain: [Real; 6], other: [Real; 6]) -> [Real; 6] {
    let volume = |e: &[Real; 6]| {
        let [xx, yy, zz, yz, xz, xy] = e.map(|e| 2.0 * f64::from(e));
        let (a, b, c) = (1.0 + xx, 1.0 + yy, 1.0 + zz);
        a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz)
    };
    let (now, before) = (volume(&strain), volume(&other));
    if now > 1e-3 && before > 1e-3 {
        let factor = libm::cbrt(before / now);
        for (k, e) in strain.iter_mut().enumerate() {
            let one = if k < 3 { 1.0 } else { 0.0 };
            *e = (0.5 * (factor * (one + 2.0 * f64::from(*e)) - one)) as Real;
        }
    }
    strain
}

/// Squared Frobenius norm of a symmetric matrix.
fn frobenius_squared(s: &[Real; 6]) -> Real {
    (0..6).map(|k| s[k] * s[k] * if k < 3 { 1.0 } else { 2.0 }).sum()
}

/// Returns true if the spectral norm of a symmetric matrix is at most `limit`: `limit I - s` and
/// `limit I + s` are positive definite.
///
/// No eigenvalue is needed: the Frobenius norm bounds the spectral norm, and Sylvester's criterion decides
/// the rest.
pub fn norm_is_within(s: &[Real; 6], limit: Real) -> bool {
    frobenius_squared(s) <= limit * limit
        || (shifted_is_positive_definite(s, limit, -1.0) && shifted_is_positive_definite(s, limit, 1.0))
}

/// Sylvester's criterion: returns true if all leading minors of `limit I + sign s` are positive.
fn shifted_is_positive_definite(s: &[Real; 6], limit: Real, sign: f64) -> bool {
    let [a, b, c, yz, xz, xy] = s.map(|e| sign * f64::from(e));
    let [a, b, c] = [a, b, c].map(|e| e + f64::from(limit));
    let second = a * b - xy * xy;
    a > 0.0 && second > 0.0 && c * second - yz * (a * yz - xy * xz) - xz * (b * xz - xy * yz) > 0.0
}

/// Scales a plastic strain back to a spectral norm of at most `max_strain`.
pub fn limit_norm(plastic: [Real; 6], max_strain: Real) -> [Real; 6] {
    if norm_is_within(&plastic, max_strain) {
        return plastic;
    }
    let norm = spectral_norm_symmetric(&plastic);
    if norm > max_strain { plastic.map(|e| e * (max_strain / norm)) } else { plastic }
}

dispatch! {
    /// [`spectral_norm_symmetric`] of eight matrices, to the same bits.
    spectral_norms_symmetric = spectral_norms_lanes [] [] (matrices: &[F32x8; 6], norms: &mut F32x8)
}

// A plain loop that the compiler vectorises for the level; lanes have no f64.
#[allow(clippy::extra_unused_type_parameters)]
#[inline(always)]
fn spectral_norms_lanes<L>(matrices: &[F32x8; 6], norms: &mut F32x8) {
    for lane in 0..WIDTH {
        let [xx, yy, zz, yz, xz, xy] = matrices;
        norms[lane] = spectral_norm_symmetric(&[xx[lane], yy[lane], zz[lane], yz[lane], xz[lane], xy[lane]]);
    }
}

/// Spectral norm of a symmetric matrix (largest absolute eigenvalue), by the closed form of `[Smi61]`, to 1e-8.
#[inline(always)]
pub fn spectral_norm_symmetric(s: &[Real; 6]) -> Real {
    let [xx, yy, zz, yz, xz, xy] = s.map(f64::from);
    let mean = (xx + yy + zz) / 3.0;
    let [a, b, c] = [xx - mean, yy - mean, zz - mean];
    let size = ((a * a + b * b + c * c) / 6.0 + (yz * yz + xz * xz + xy * xy) / 3.0).sqrt();
    let determinant = a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz);
    // A multiple of the identity has a zero deviator; its angle has no effect.
    let cube = (size * size * size).max(f64::MIN_POSITIVE);
    let cosine = (0.5 * determinant / cube).clamp(-1.0, 1.0);
    // The smallest eigenvalue is minus the largest of `-s`.
    let largest = mean + 2.0 * size * cos_third(cosine);
    let least = mean - 2.0 * size * cos_third(-cosine);
    largest.abs().max(least.abs()) as Real
}

/// `cos(phi/3)` from `cos(phi)` for `phi` from 0 to pi, to 4e-9.
///
/// As a function of `cos(phi/2)` it is smooth: this is its least-squares polynomial at Chebyshev points.
#[inline(always)]
fn cos_third(cosine: f64) -> f64 {
    const COEFFICIENTS: [f64; 9] = [
        0.500000003258,
        0.577349719823,
        -0.111095683296,
        0.0532886560011,
        -0.0319612954563,
        0.0196757181998,
        -0.010325493065,
        0.00370768647255,
        -0.000639314366281,
    ];
    let half = (0.5 * (1.0 + cosine)).sqrt();
    COEFFICIENTS.iter().rev().fold(0.0, |sum, part| sum * half + part)
}

/// Scales a matrix to unit determinant; `None` if it is nearly singular.
fn to_unit_determinant(a: Mat3) -> Option<Mat3> {
    let a = a.as_dmat3();
    let determinant = a.determinant();
    (determinant > 1e-3).then(|| (a * (1.0 / libm::cbrt(determinant))).as_mat3())
}

/// Inverse of a plastic deformation, in f64 for accuracy.
pub fn inverse(plastic: Mat3) -> Mat3 {
    let a: DMat3 = plastic.as_dmat3();
    a.inverse().as_mat3()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SequentialRng;
    use crate::simd::SimdLevel;
    use glam::Vec3;

    #[test]
    fn nothing_flows_below_the_yield_point() {
        let strain = Mat3::from_diagonal(Vec3::new(0.04, 0.0, -0.03));
        assert_eq!(update_plastic_deformation(Mat3::IDENTITY, strain, 0.05, 0.1, 1.0), None);
    }

    #[test]
    fn the_cosine_of_a_third_of_an_angle_is_that_of_textbooks() {
        for k in 0..=1000 {
            let angle = std::f64::consts::PI * f64::from(k) / 1000.0;
            let error = cos_third(libm::cos(angle)) - libm::cos(angle / 3.0);
            assert!(error.abs() < 5e-9, "{angle}: {error}");
        }
    }

    #[test]
    fn norms_of_eight_are_those_of_each_at_every_level() {
        let mut rng = SequentialRng::new(11);
        let mut random = || 2.0 * rng.uniform() - 1.0;
        for trial in 0..100 {
            let mut matrices: [F32x8; 6] = std::array::from_fn(|_| std::array::from_fn(|_| random()));
            // Nothing, and the same in all directions.
            for (lane, size) in [(0, 0.0), (1, trial as Real - 50.0)] {
                (0..6).for_each(|k| matrices[k][lane] = if k < 3 { size } else { 0.0 });
            }
            let expected: F32x8 = std::array::from_fn(|lane| spectral_norm_symmetric(&matrices.map(|e| e[lane])));
            assert_eq!([expected[0], expected[1]], [0.0, (trial as Real - 50.0).abs()]);
            for level in SimdLevel::available() {
                let mut norms = [0.0; WIDTH];
                spectral_norms_symmetric(level, &matrices, &mut norms);
                assert_eq!(norms.map(Real::to_bits), expected.map(Real::to_bits), "{level:?}");
            }
        }
    }

    #[test]
    fn minors_decide_as_eigenvalues_do() {
        let mut rng = SequentialRng::new(7);
        let mut random = || 2.0 * rng.uniform() - 1.0;
        let (mut within, mut beyond) = (0, 0);
        for _ in 0..2000 {
            let s: [Real; 6] = std::array::from_fn(|_| random());
            let (size, limit) = (spectral_norm_symmetric(&s), 1.0 + random());
            // At the limit itself rounding decides.
            if (size - limit).abs() > 1e-6 {
                assert_eq!(norm_is_within(&s, limit), size < limit, "{s:?} {limit}");
                *(if size < limit { &mut within } else { &mut beyond }) += 1;
            }
        }
        assert!(within > 300 && beyond > 300, "{within} {beyond}");
        assert!(norm_is_within(&[0.0; 6], 0.0) && !norm_is_within(&[Real::NAN; 6], 1.0));
    }

    #[test]
    fn flow_keeps_the_volume_and_stays_below_its_bound() {
        let strain = Mat3::from_cols(Vec3::new(0.4, 0.1, 0.0), Vec3::new(0.0, -0.2, 0.05), Vec3::new(0.0, 0.0, 0.1));
        let mut plastic = Mat3::IDENTITY;
        for _ in 0..1000 {
            plastic = update_plastic_deformation(plastic, strain, 0.05, 0.05, 0.3).unwrap();
            assert!((plastic.determinant() - 1.0).abs() < 1e-5);
            // The scaling to constant volume comes after the bound and moves the norm by at most a third of the
            // volume change that the bound leaves, (1.3^3 - 1)/3 at the very worst.
            assert!(spectral_norm(plastic - Mat3::IDENTITY) < 0.3 + 0.4);
        }
    }

    #[test]
    fn softened_matter_yields_the_sooner_and_the_faster_the_softer_it_is() {
        assert_eq!(YieldLaw::softened(0.0), None);
        let laws = [1e-6, 0.25, 0.5, 1.0].map(|softness| YieldLaw::softened(softness).unwrap());
        assert!(laws[0].yield_strain > 1e3, "nothing jumps where softening begins");
        assert!((laws[1].yield_strain - 0.03).abs() < 1e-6 && (laws[2].yield_strain - 0.01).abs() < 1e-6);
        assert_eq!((laws[3].yield_strain, laws[3].creep_rate), (0.0, 5.0));
        let clay = YieldLaw { yield_strain: 0.02, creep_rate: 1.0, max_strain: 0.3 };
        assert_eq!(clay.combined(laws[1]), YieldLaw { yield_strain: 0.02, creep_rate: 1.25, max_strain: 0.3 });
    }

    #[test]
    fn strain_beyond_the_yield_point_becomes_plastic_up_to_its_bound() {
        let law = YieldLaw { yield_strain: 0.05, creep_rate: 10.0, max_strain: 0.2 };
        let strain = [0.1, -0.02, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(update_plastic_strain([0.0; 6], strain.map(|e| 0.4 * e), law, 0.01, None), None);
        let once = update_plastic_strain([0.0; 6], strain, law, 0.01, None).unwrap();
        assert!((once[0] - 0.01).abs() < 1e-6 && (once[1] + 0.002).abs() < 1e-6);
        // A step longer than the time of creep takes all of it, and no more.
        assert_eq!(update_plastic_strain([0.0; 6], strain, law, 9.0, None).unwrap(), strain);
        let saturated =
            (0..100).fold([0.0; 6], |plastic, _| update_plastic_strain(plastic, strain, law, 0.01, None).unwrap());
        assert!((spectral_norm_symmetric(&saturated) - 0.2).abs() < 1e-5);
        let volumetric = [0.3, 0.3, 0.3, 0.0, 0.0, 0.0];
        assert!(update_plastic_strain([0.0; 6], volumetric, law, 0.01, None).is_some());
        let shear = [0.2, 0.0, 0.1, 0.1, 0.0, 0.0];
        for keep in [Isochoric::RestVolume, Isochoric::Trace] {
            assert_eq!(update_plastic_strain([0.0; 6], volumetric, law, 0.01, Some(keep)), None, "nothing but volume");
        }
        let deviatoric = update_plastic_strain([0.0; 6], shear, law, 0.01, Some(Isochoric::Trace)).unwrap();
        assert!((deviatoric[0] + deviatoric[1] + deviatoric[2]).abs() < 1e-7 && deviatoric[3] > 0.0);
        let mut shape = [0.0; 6];
        (0..20)
            .for_each(|_| shape = update_plastic_strain(shape, shear, law, 0.02, Some(Isochoric::RestVolume)).unwrap());
        let [xx, yy, zz, yz, ..] = shape.map(|e| 2.0 * e);
        assert!(((1.0 + xx) * ((1.0 + yy) * (1.0 + zz) - yz * yz) - 1.0).abs() < 1e-5, "{shape:?}");
    }

    #[test]
    fn the_norm_of_a_symmetric_matrix_is_its_largest_eigenvalue() {
        let norm = |s: &[Real; 6]| {
            let [xx, yy, zz, yz, xz, xy] = s.map(f64::from);
            let (values, _) = symmetric_eigen([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]);
            values.iter().fold(0.0, |most: f64, value| most.max(value.abs())) as Real
        };
        let at = |k: usize| (12.9898 * k as Real).sin();
        let mut all: Vec<[Real; 6]> = (0..500).map(|k| std::array::from_fn(|i| at(6 * k + i))).collect();
        // Repeated eigenvalues, small ones, and zero.
        all.extend([[0.3, 0.3, 0.3, 0.0, 0.0, 0.0], [-0.1, 0.2, 0.2, 0.0, 0.0, 0.0], [-0.4, -0.4, 0.1, 0.0, 0.0, 0.0]]);
        all.extend([[1e-30, 0.0, 2e-30, 3e-30, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [0.0; 6]]);
        for s in all {
            // At a repeated eigenvalue the angle is known to the root of f64 round-off, 1e-8; f32 has 6e-8.
            assert!((spectral_norm_symmetric(&s) - norm(&s)).abs() <= 2e-7 * norm(&s), "{s:?}");
        }
    }

    #[test]
    fn the_spectral_norm_is_the_largest_stretch() {
        let a =
            Mat3::from_rotation_y(0.7) * Mat3::from_diagonal(Vec3::new(0.5, -3.0, 2.0)) * Mat3::from_rotation_x(1.0);
        assert!((spectral_norm(a) - 3.0).abs() < 1e-5);
    }
}
