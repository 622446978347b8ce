//! Twice eight numbers in a register of AVX-512.

use super::{Avx, Bundle, Eight, Lanes, Numbers, WIDTH};
use std::arch::x86_64::*;
use std::ops::{Add, Mul, Sub};

/// Twice eight numbers in a register of AVX-512.
///
/// Values come only from kernels that [`Level`](super::Level) guards, so the instructions are there.
#[derive(Clone, Copy, Debug)]
pub struct Sixteen(__m512);

impl Sixteen {
    #[inline(always)]
    fn join(low: Avx, high: Avx) -> Self {
        // SAFETY: a `Sixteen` exists only inside kernels compiled for and run on machines with AVX-512.
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

impl Add for Sixteen {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: as for joining.
        Self(unsafe { _mm512_add_ps(self.0, other.0) })
    }
}

impl Sub for Sixteen {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: as for joining.
        Self(unsafe { _mm512_sub_ps(self.0, other.0) })
    }
}

impl Mul for Sixteen {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: as for joining.
        Self(unsafe { _mm512_mul_ps(self.0, other.0) })
    }
}

impl Numbers for Sixteen {
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
    fn where_greater(self, other: Self, yes: Self, no: Self) -> Self {
        // SAFETY: as for joining.
        unsafe {
            let mask = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(self.0, other.0);
            Self(_mm512_mask_blend_ps(mask, no.0, yes.0))
        }
    }
    #[inline(always)]
    fn bits_where_less(self, other: Self) -> u32 {
        // SAFETY: as for joining.
        unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0).into() }
    }
}

impl Bundle for Sixteen {
    const PACKS: usize = 2;

    #[inline(always)]
    fn load_from<T>(packs: &[T], field: impl Fn(&T) -> &Eight) -> Self {
        Self::join(Avx::load(field(&packs[0])), Avx::load(field(&packs[1])))
    }
    #[inline(always)]
    fn store_to<T>(self, packs: &mut [T], field: impl Fn(&mut T) -> &mut Eight) {
        let [low, high] = self.split();
        low.store(field(&mut packs[0]));
        high.store(field(&mut packs[1]));
    }
    #[inline(always)]
    fn gather4_from<T>(values: &[[f32; 4]], packs: &[T], field: impl Fn(&T) -> &[u32; WIDTH]) -> [Self; 4] {
        let [a, b, c, d] = Avx::gather4(values, field(&packs[0]));
        let [e, f, g, h] = Avx::gather4(values, field(&packs[1]));
        [Self::join(a, e), Self::join(b, f), Self::join(c, g), Self::join(d, h)]
    }
    #[inline(always)]
    fn rows4_to<T>([a, b, c, d]: [Self; 4], packs: &mut [T], field: impl Fn(&mut T) -> &mut [[f32; 4]; WIDTH]) {
        let [[a, e], [b, f], [c, g], [d, h]] = [a.split(), b.split(), c.split(), d.split()];
        *field(&mut packs[0]) = Avx::rows4([a, b, c, d]);
        *field(&mut packs[1]) = Avx::rows4([e, f, g, h]);
    }
}
