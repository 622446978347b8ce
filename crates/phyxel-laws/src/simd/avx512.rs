//! AVX-512 implementation of the vector over two packs.

use super::{Avx, F32x8, PackVector, SimdF32x8, SimdFloat, WIDTH};
use std::arch::x86_64::*;
use std::ops::{Add, Mul, Sub};

/// Sixteen lanes, those of two packs, in an AVX-512 register.
///
/// Values exist only in kernels that [`SimdLevel`](super::SimdLevel) guards, so the instructions are available.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(__m512);

impl Avx512 {
    #[inline(always)]
    fn join(low: Avx, high: Avx) -> Self {
        // SAFETY: an `Avx512` exists only inside kernels compiled for and run on machines with AVX-512.
        unsafe {
            let low = _mm512_castpd256_pd512(_mm256_castps_pd(low.0));
            Self(_mm512_castpd_ps(_mm512_insertf64x4::<1>(low, _mm256_castps_pd(high.0))))
        }
    }

    #[inline(always)]
    fn split(self) -> [Avx; 2] {
        // SAFETY: as for joining.
        unsafe {
            let high = _mm512_extractf64x4_pd::<1>(_mm512_castps_pd(self.0));
            [Avx(_mm512_castps512_ps256(self.0)), Avx(_mm256_castpd_ps(high))]
        }
    }
}

impl Add for Avx512 {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: as for joining.
        Self(unsafe { _mm512_add_ps(self.0, other.0) })
    }
}

impl Sub for Avx512 {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: as for joining.
        Self(unsafe { _mm512_sub_ps(self.0, other.0) })
    }
}

impl Mul for Avx512 {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: as for joining.
        Self(unsafe { _mm512_mul_ps(self.0, other.0) })
    }
}

impl SimdFloat for Avx512 {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: as for joining.
        Self(unsafe { _mm512_set1_ps(value) })
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        // SAFETY: as for joining.
        Self(unsafe { _mm512_div_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: as for joining.
        Self(unsafe { _mm512_sqrt_ps(self.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: as for joining.
        Self(unsafe { _mm512_max_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn select_gt(self, other: Self, yes: Self, no: Self) -> Self {
        // SAFETY: as for joining.
        unsafe {
            let mask = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(self.0, other.0);
            Self(_mm512_mask_blend_ps(mask, no.0, yes.0))
        }
    }
    #[inline(always)]
    fn mask_lt(self, other: Self) -> u32 {
        // SAFETY: as for joining.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0).into() }
    }
}

impl PackVector for Avx512 {
    const PACKS: usize = 2;

    #[inline(always)]
    fn load_from<T>(packs: &[T], field: impl Fn(&T) -> &F32x8) -> Self {
        Self::join(Avx::load(field(&packs[0])), Avx::load(field(&packs[1])))
    }
    #[inline(always)]
    fn store_to<T>(self, packs: &mut [T], field: impl Fn(&mut T) -> &mut F32x8) {
        let [low, high] = self.split();
        low.store(field(&mut packs[0]));
        high.store(field(&mut packs[1]));
    }
    #[inline(always)]
    fn gather_rows_from<T>(values: &[[f32; 4]], packs: &[T], field: impl Fn(&T) -> &[u32; WIDTH]) -> [Self; 4] {
        let [a, b, c, d] = Avx::gather_rows(values, field(&packs[0]));
        let [e, f, g, h] = Avx::gather_rows(values, field(&packs[1]));
        [Self::join(a, e), Self::join(b, f), Self::join(c, g), Self::join(d, h)]
    }
    #[inline(always)]
    fn store_rows_to<T>([a, b, c, d]: [Self; 4], packs: &mut [T], field: impl Fn(&mut T) -> &mut [[f32; 4]; WIDTH]) {
        let [[a, e], [b, f], [c, g], [d, h]] = [a.split(), b.split(), c.split(), d.split()];
        *field(&mut packs[0]) = Avx::to_rows([a, b, c, d]);
        *field(&mut packs[1]) = Avx::to_rows([e, f, g, h]);
    }
}
