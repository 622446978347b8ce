//! Permanent deformation of a matched shape.

use crate::Real;
use crate::lanes::{Eight, WIDTH, at_every_level};
use crate::symmetric::eigen;
use glam::{DMat3, Mat3};

/// Largest stretch of any direction by a matrix: its spectral norm.
pub fn spectral_norm(a: Mat3) -> Real {
    let a = a.as_dmat3();
    let square = a.transpose() * a;
    let rows: [[f64; 3]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| square.col(j)[i]));
    let (values, _) = eigen(rows);
    values.iter().copied().fold(0.0, f64::max).sqrt() as Real
}

/// How matter yields at one temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Yielding {
    /// Strain above which it flows, without unit.
    pub strain: Real,
    /// Part of the strain that becomes permanent per second, 1/s.
    pub creep: Real,
    /// Largest permanent strain, without unit.
    pub max: Real,
}

/// Yield strain half way from the softening point to the melting point. Engineering solids yield at some thousandths
/// (metals) to some hundredths (polymers).
const SOFT_YIELD: Real = 0.01;
/// Creep of matter that is about to melt, 1/s: what is held for a few tenths of a second stays.
const SOFT_CREEP: Real = 5.0;
/// Largest permanent strain of softened matter: twice as long, or as good as flat.
const SOFT_MAX: Real = 1.0;

impl Yielding {
    /// How matter without plasticity of its own yields once it softens; `softness` is 0 at the softening point and 1
    /// where it is molten.
    ///
    /// The yield strain is `0.01 (1 - s)/s`: endless where softening begins, so that nothing jumps there, and nothing
    /// where it melts, as the yield stress of `[JC83]`, with its factor `1 - T*`, is nothing at the melting point. Creep
    /// grows evenly with `s`.
    pub fn softened(softness: Real) -> Option<Self> {
        let strain = SOFT_YIELD * (1.0 - softness) / softness;
        (softness > 0.0).then_some(Self { strain, creep: SOFT_CREEP * softness, max: SOFT_MAX })
    }

    /// Matter that yields by either law: at the lower strain, as fast as the faster. The bound is its own.
    #[must_use]
    pub fn joined(self, softened: Self) -> Self {
        Self { strain: self.strain.min(softened.strain), creep: self.creep.max(softened.creep), max: self.max }
    }
}

/// The plastic state after a step, `[MHTG05]` eq. 15 with its bound and its constant volume.
///
/// `strain` is `S - I`, the deformation in the rest frame less the identity; `flow` is `dt c_creep`, taken as
/// at most 1 so that no step flows past the deformation that drives it. Returns `None` below the yield point.
pub fn flow(plastic: Mat3, strain: Mat3, yield_strain: Real, flow: Real, max: Real) -> Option<Mat3> {
    if !strain.is_finite() || spectral_norm(strain) <= yield_strain {
        return None;
    }
    let flowed = (Mat3::IDENTITY + strain * flow.clamp(0.0, 1.0)) * plastic;
    let excess = flowed - Mat3::IDENTITY;
    let size = spectral_norm(excess);
    let bounded = if size > max { Mat3::IDENTITY + excess * (max / size) } else { flowed };
    keep_volume(bounded)
}

/// Plastic strain after a step, six numbers in the order of Voigt; `None` if nothing flows.
///
/// Strain state plasticity of O'Brien et al. (2002), as `[MKN04]` section 4.1 uses it: where the elastic strain is
/// beyond the yield strain, `dt creep` of it becomes plastic, never more than all of it, and the plastic strain is kept
/// below its largest. Sizes of strains are spectral norms. With `keep` only the part without trace counts and flows, and the
/// volume stays.
pub fn creep(
    plastic: [Real; 6],
    elastic: [Real; 6],
    law: Yielding,
    dt: Real,
    keep: Option<Volume>,
) -> Option<[Real; 6]> {
    let mut driving = elastic;
    if keep.is_some() {
        let mean = (elastic[0] + elastic[1] + elastic[2]) / 3.0;
        (0..3).for_each(|k| driving[k] -= mean);
    }
    let part = (law.creep * dt).min(1.0);
    if part <= 0.0 || is_within(&driving, law.strain) {
        return None;
    }
    let flowed = std::array::from_fn(|k| plastic[k] + part * driving[k]);
    let mut flowed = bounded(flowed, law.max);
    if keep == Some(Volume::OfShape) {
        flowed = with_volume_of(flowed, plastic);
    }
    flowed.iter().all(|e| e.is_finite()).then_some(flowed)
}

/// What keeps its volume in plastic flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Volume {
    /// The shape without stress, whose strain is the plastic one: `det(I + 2 Ep)` stays. A strain without trace alone would
    /// make it smaller.
    OfShape,
    /// What is left of an elastic strain, which is minus the plastic one where the reference shape follows: its trace stays.
    OfStress,
}

/// A plastic strain scaled so that the volume is that of another.
fn with_volume_of(mut strain: [Real; 6], other: [Real; 6]) -> [Real; 6] {
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

/// Sum of the squares of all nine numbers.
fn squares(s: &[Real; 6]) -> Real {
    (0..6).map(|k| s[k] * s[k] * if k < 3 { 1.0 } else { 2.0 }).sum()
}

/// Whether no eigenvalue of a symmetric matrix is beyond a limit on either side: `limit I - s` and `limit I + s` are positive.
///
/// That is known without finding any: by the sum of the squares, which is never below that of the largest, or by minors.
pub fn is_within(s: &[Real; 6], limit: Real) -> bool {
    squares(s) <= limit * limit || (is_positive(s, limit, -1.0) && is_positive(s, limit, 1.0))
}

/// Whether all leading minors of `limit I + sign s` are positive.
fn is_positive(s: &[Real; 6], limit: Real, sign: f64) -> bool {
    let [a, b, c, yz, xz, xy] = s.map(|e| sign * f64::from(e));
    let [a, b, c] = [a, b, c].map(|e| e + f64::from(limit));
    let second = a * b - xy * xy;
    a > 0.0 && second > 0.0 && c * second - yz * (a * yz - xy * xz) - xz * (b * xz - xy * yz) > 0.0
}

/// A plastic strain that is not beyond its largest.
pub fn bounded(plastic: [Real; 6], max: Real) -> [Real; 6] {
    if is_within(&plastic, max) {
        return plastic;
    }
    let size = symmetric_norm(&plastic);
    if size > max { plastic.map(|e| e * (max / size)) } else { plastic }
}

at_every_level! {
    /// The [`symmetric_norm`] of eight matrices, to the same bits.
    symmetric_norms = eight_symmetric_norms [] [] (matrices: &[Eight; 6], norms: &mut Eight)
}

// A plain loop, of which the compiler makes vectors of the level; lanes have no f64.
#[allow(clippy::extra_unused_type_parameters)]
#[inline(always)]
fn eight_symmetric_norms<L>(matrices: &[Eight; 6], norms: &mut Eight) {
    for lane in 0..WIDTH {
        let [xx, yy, zz, yz, xz, xy] = matrices;
        norms[lane] = symmetric_norm(&[xx[lane], yy[lane], zz[lane], yz[lane], xz[lane], xy[lane]]);
    }
}

/// Largest eigenvalue, without sign, of a symmetric matrix, by the formula of `[Smi61]`, which is exact to a hundredth of a millionth.
#[inline(always)]
pub fn symmetric_norm(s: &[Real; 6]) -> Real {
    let [xx, yy, zz, yz, xz, xy] = s.map(f64::from);
    let mean = (xx + yy + zz) / 3.0;
    let [a, b, c] = [xx - mean, yy - mean, zz - mean];
    let size = ((a * a + b * b + c * c) / 6.0 + (yz * yz + xz * xz + xy * xy) / 3.0).sqrt();
    let determinant = a * (b * c - yz * yz) - xy * (xy * c - yz * xz) + xz * (xy * yz - b * xz);
    // A multiple of the identity has no size, and no angle that counts.
    let cube = (size * size * size).max(f64::MIN_POSITIVE);
    let cosine = (0.5 * determinant / cube).clamp(-1.0, 1.0);
    // The least is the largest of the matrix with other signs, with another sign.
    let largest = mean + 2.0 * size * cosine_of_third(cosine);
    let least = mean - 2.0 * size * cosine_of_third(-cosine);
    largest.abs().max(least.abs()) as Real
}

/// The cosine of a third of an angle from 0 to pi, from its own cosine, to 4e-9.
///
/// Over the cosine of half the angle it is smooth: this is its polynomial of least squares at Chebyshev's points.
#[inline(always)]
fn cosine_of_third(cosine: f64) -> f64 {
    const PARTS: [f64; 9] = [
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
    PARTS.iter().rev().fold(0.0, |sum, part| sum * half + part)
}

/// Scales a matrix to determinant 1; `None` if it is not safely invertible.
fn keep_volume(a: Mat3) -> Option<Mat3> {
    let a = a.as_dmat3();
    let determinant = a.determinant();
    (determinant > 1e-3).then(|| (a * (1.0 / libm::cbrt(determinant))).as_mat3())
}

/// Inverse of a plastic state, in f64 for accuracy.
pub fn inverse(plastic: Mat3) -> Mat3 {
    let a: DMat3 = plastic.as_dmat3();
    a.inverse().as_mat3()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::Level;
    use glam::Vec3;

    #[test]
    fn nothing_flows_below_the_yield_point() {
        let strain = Mat3::from_diagonal(Vec3::new(0.04, 0.0, -0.03));
        assert_eq!(flow(Mat3::IDENTITY, strain, 0.05, 0.1, 1.0), None);
    }

    #[test]
    fn the_cosine_of_a_third_of_an_angle_is_that_of_textbooks() {
        for k in 0..=1000 {
            let angle = std::f64::consts::PI * f64::from(k) / 1000.0;
            let off = cosine_of_third(libm::cos(angle)) - libm::cos(angle / 3.0);
            assert!(off.abs() < 5e-9, "{angle}: {off}");
        }
    }

    #[test]
    fn norms_of_eight_are_those_of_each_at_every_level() {
        let mut state = 11u32;
        let mut random = || {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            (state >> 8) as Real / (1 << 23) as Real - 1.0
        };
        for round in 0..100 {
            let mut matrices: [Eight; 6] = std::array::from_fn(|_| std::array::from_fn(|_| random()));
            // Nothing, and the same in all directions.
            for (lane, size) in [(0, 0.0), (1, round as Real - 50.0)] {
                (0..6).for_each(|k| matrices[k][lane] = if k < 3 { size } else { 0.0 });
            }
            let alone: Eight = std::array::from_fn(|lane| symmetric_norm(&matrices.map(|e| e[lane])));
            assert_eq!([alone[0], alone[1]], [0.0, (round as Real - 50.0).abs()]);
            for level in Level::available() {
                let mut norms = [0.0; WIDTH];
                symmetric_norms(level, &matrices, &mut norms);
                assert_eq!(norms.map(Real::to_bits), alone.map(Real::to_bits), "{level:?}");
            }
        }
    }

    #[test]
    fn minors_tell_what_eigenvalues_do() {
        let mut state = 7u32;
        let mut random = || {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            (state >> 8) as Real / (1 << 23) as Real - 1.0
        };
        let (mut within, mut beyond) = (0, 0);
        for _ in 0..2000 {
            let s: [Real; 6] = std::array::from_fn(|_| random());
            let (size, limit) = (symmetric_norm(&s), 1.0 + random());
            // Rounding leaves open what is on the limit itself.
            if (size - limit).abs() > 1e-6 {
                assert_eq!(is_within(&s, limit), size < limit, "{s:?} {limit}");
                *(if size < limit { &mut within } else { &mut beyond }) += 1;
            }
        }
        assert!(within > 300 && beyond > 300, "{within} {beyond}");
        assert!(is_within(&[0.0; 6], 0.0) && !is_within(&[Real::NAN; 6], 1.0));
    }

    #[test]
    fn flow_keeps_the_volume_and_stays_below_its_bound() {
        let strain = Mat3::from_cols(Vec3::new(0.4, 0.1, 0.0), Vec3::new(0.0, -0.2, 0.05), Vec3::new(0.0, 0.0, 0.1));
        let mut plastic = Mat3::IDENTITY;
        for _ in 0..1000 {
            plastic = flow(plastic, strain, 0.05, 0.05, 0.3).unwrap();
            assert!((plastic.determinant() - 1.0).abs() < 1e-5);
            // The scaling to constant volume comes after the bound and moves the norm by at most a third of the
            // volume change that the bound leaves, (1.3^3 - 1)/3 at the very worst.
            assert!(spectral_norm(plastic - Mat3::IDENTITY) < 0.3 + 0.4);
        }
    }

    #[test]
    fn softened_matter_yields_the_sooner_and_the_faster_the_softer_it_is() {
        assert_eq!(Yielding::softened(0.0), None);
        let laws = [1e-6, 0.25, 0.5, 1.0].map(|softness| Yielding::softened(softness).unwrap());
        assert!(laws[0].strain > 1e3, "nothing jumps where softening begins");
        assert!((laws[1].strain - 0.03).abs() < 1e-6 && (laws[2].strain - 0.01).abs() < 1e-6);
        assert_eq!((laws[3].strain, laws[3].creep), (0.0, 5.0));
        let clay = Yielding { strain: 0.02, creep: 1.0, max: 0.3 };
        assert_eq!(clay.joined(laws[1]), Yielding { strain: 0.02, creep: 1.25, max: 0.3 });
    }

    #[test]
    fn strain_beyond_the_yield_point_becomes_plastic_up_to_its_bound() {
        let law = Yielding { strain: 0.05, creep: 10.0, max: 0.2 };
        let strain = [0.1, -0.02, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(creep([0.0; 6], strain.map(|e| 0.4 * e), law, 0.01, None), None);
        let once = creep([0.0; 6], strain, law, 0.01, None).unwrap();
        assert!((once[0] - 0.01).abs() < 1e-6 && (once[1] + 0.002).abs() < 1e-6);
        // A step longer than the time of creep takes all of it, and no more.
        assert_eq!(creep([0.0; 6], strain, law, 9.0, None).unwrap(), strain);
        let most = (0..100).fold([0.0; 6], |plastic, _| creep(plastic, strain, law, 0.01, None).unwrap());
        assert!((symmetric_norm(&most) - 0.2).abs() < 1e-5);
        let even = [0.3, 0.3, 0.3, 0.0, 0.0, 0.0];
        assert!(creep([0.0; 6], even, law, 0.01, None).is_some());
        let shear = [0.2, 0.0, 0.1, 0.1, 0.0, 0.0];
        for keep in [Volume::OfShape, Volume::OfStress] {
            assert_eq!(creep([0.0; 6], even, law, 0.01, Some(keep)), None, "nothing but volume");
        }
        let kept = creep([0.0; 6], shear, law, 0.01, Some(Volume::OfStress)).unwrap();
        assert!((kept[0] + kept[1] + kept[2]).abs() < 1e-7 && kept[3] > 0.0);
        let mut shape = [0.0; 6];
        (0..20).for_each(|_| shape = creep(shape, shear, law, 0.02, Some(Volume::OfShape)).unwrap());
        let [xx, yy, zz, yz, ..] = shape.map(|e| 2.0 * e);
        assert!(((1.0 + xx) * ((1.0 + yy) * (1.0 + zz) - yz * yz) - 1.0).abs() < 1e-5, "{shape:?}");
    }

    #[test]
    fn the_norm_of_a_symmetric_matrix_is_its_largest_eigenvalue() {
        let norm = |s: &[Real; 6]| {
            let [xx, yy, zz, yz, xz, xy] = s.map(f64::from);
            let (values, _) = eigen([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]);
            values.iter().fold(0.0, |most: f64, value| most.max(value.abs())) as Real
        };
        let at = |k: usize| (12.9898 * k as Real).sin();
        let mut all: Vec<[Real; 6]> = (0..500).map(|k| std::array::from_fn(|i| at(6 * k + i))).collect();
        // Two or three that are equal, small ones, and nothing.
        all.extend([[0.3, 0.3, 0.3, 0.0, 0.0, 0.0], [-0.1, 0.2, 0.2, 0.0, 0.0, 0.0], [-0.4, -0.4, 0.1, 0.0, 0.0, 0.0]]);
        all.extend([[1e-30, 0.0, 2e-30, 3e-30, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [0.0; 6]]);
        for s in all {
            // Where two are equal the turn is known to the root of the rounding of f64, 1e-8; f32 has 6e-8.
            assert!((symmetric_norm(&s) - norm(&s)).abs() <= 2e-7 * norm(&s), "{s:?}");
        }
    }

    #[test]
    fn the_spectral_norm_is_the_largest_stretch() {
        let a =
            Mat3::from_rotation_y(0.7) * Mat3::from_diagonal(Vec3::new(0.5, -3.0, 2.0)) * Mat3::from_rotation_x(1.0);
        assert!((spectral_norm(a) - 3.0).abs() < 1e-5);
    }
}
