//! AVX2 implementation of the vector of eight lanes.

use super::{F32x8, SimdF32x8, SimdFloat, WIDTH};
use std::arch::x86_64::*;
use std::ops::{Add, Mul, Sub};

/// Eight lanes in an AVX register.
///
/// Values exist only in kernels that [`SimdLevel`](super::SimdLevel) guards, so the instructions are available.
#[derive(Clone, Copy, Debug)]
pub struct Avx(pub(super) __m256);

/// Concatenates two rows of four.
///
/// # Safety
/// The machine must have AVX.
#[inline(always)]
unsafe fn concat_rows(low: &[f32; 4], high: &[f32; 4]) -> __m256 {
    // SAFETY: as the caller promises; each array holds four numbers.
    unsafe {
        let low = _mm256_castps128_ps256(_mm_loadu_ps(low.as_ptr()));
        _mm256_insertf128_ps::<1>(low, _mm_loadu_ps(high.as_ptr()))
    }
}

/// Transposes the 4 x 4 matrix in each half of four registers.
///
/// # Safety
/// The machine must have AVX.
#[inline(always)]
unsafe fn transpose_halves(a: __m256, b: __m256, c: __m256, d: __m256) -> [__m256; 4] {
    // SAFETY: as the caller promises.
    unsafe {
        let [ab, cd] = [_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d)];
        let [ef, gh] = [_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d)];
        [
            _mm256_shuffle_ps::<0x44>(ab, cd),
            _mm256_shuffle_ps::<0xee>(ab, cd),
            _mm256_shuffle_ps::<0x44>(ef, gh),
            _mm256_shuffle_ps::<0xee>(ef, gh),
        ]
    }
}

impl Add for Avx {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: an `Avx` exists only inside kernels compiled for and run on machines with AVX2.
        Self(unsafe { _mm256_add_ps(self.0, other.0) })
    }
}

impl Sub for Avx {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        // SAFETY: as for addition.
        Self(unsafe { _mm256_sub_ps(self.0, other.0) })
    }
}

impl Mul for Avx {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        // SAFETY: as for addition.
        Self(unsafe { _mm256_mul_ps(self.0, other.0) })
    }
}

impl SimdFloat for Avx {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: as for addition.
        Self(unsafe { _mm256_set1_ps(value) })
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        // SAFETY: as for addition.
        Self(unsafe { _mm256_div_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: as for addition.
        Self(unsafe { _mm256_sqrt_ps(self.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: as for addition.
        Self(unsafe { _mm256_max_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn select_gt(self, other: Self, yes: Self, no: Self) -> Self {
        // SAFETY: as for addition.
        unsafe {
            let mask = _mm256_cmp_ps::<_CMP_GT_OQ>(self.0, other.0);
            Self(_mm256_blendv_ps(no.0, yes.0, mask))
        }
    }
    #[inline(always)]
    fn mask_lt(self, other: Self) -> u32 {
        // SAFETY: as for addition.
        unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0)) as u32 }
    }
}

impl SimdF32x8 for Avx {
    #[inline(always)]
    fn load(values: &F32x8) -> Self {
        // SAFETY: the array holds eight numbers; the load is unaligned.
        Self(unsafe { _mm256_loadu_ps(values.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, values: &mut F32x8) {
        // SAFETY: the array holds eight numbers; the store is unaligned.
        unsafe { _mm256_storeu_ps(values.as_mut_ptr(), self.0) }
    }
    #[inline(always)]
    fn load_rows(rows: [&[f32; 4]; WIDTH]) -> [Self; 4] {
        // SAFETY: each row holds four numbers; otherwise as for addition.
        unsafe {
            let [a, b] = [concat_rows(rows[0], rows[4]), concat_rows(rows[1], rows[5])];
            let [c, d] = [concat_rows(rows[2], rows[6]), concat_rows(rows[3], rows[7])];
            let [a, b, c, d] = transpose_halves(a, b, c, d);
            [Self(a), Self(b), Self(c), Self(d)]
        }
    }
    #[inline(always)]
    fn gather_rows(values: &[[f32; 4]], index: &[u32; WIDTH]) -> [Self; 4] {
        let last = values.len().checked_sub(1).map_or(-1, |last| last.min(u32::MAX as usize) as u32 as i32);
        // SAFETY: the array holds eight indices; otherwise as for addition.
        let in_bounds = unsafe {
            // Loaded apart from the indices below: extracting them from a vector is slower than reading them.
            let indices = std::hint::black_box(index).as_ptr();
            let (indices, last) = (_mm256_loadu_si256(indices.cast()), _mm256_set1_epi32(last));
            _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(indices, last), last)) == -1
        };
        assert!(in_bounds && !values.is_empty(), "rows {index:?} of {}", values.len());
        // SAFETY: all indices are in bounds.
        let row = |lane: usize| unsafe { values.get_unchecked(index[lane] as usize) };
        Self::load_rows([row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)])
    }
    #[inline(always)]
    fn to_rows([a, b, c, d]: [Self; 4]) -> [[f32; 4]; WIDTH] {
        let mut rows = [[0.0; 4]; WIDTH];
        // SAFETY: each row holds four numbers; otherwise as for addition.
        unsafe {
            let transposed = transpose_halves(a.0, b.0, c.0, d.0);
            for k in 0..4 {
                _mm_storeu_ps(rows[k].as_mut_ptr(), _mm256_castps256_ps128(transposed[k]));
                _mm_storeu_ps(rows[k + 4].as_mut_ptr(), _mm256_extractf128_ps::<1>(transposed[k]));
            }
        }
        rows
    }
    #[inline(always)]
    fn gather_vec3(values: &[glam::Vec3], index: &[u32; WIDTH]) -> [Self; 3] {
        let i = index;
        let [a, b, c, d] = [values[i[0] as usize], values[i[1] as usize], values[i[2] as usize], values[i[3] as usize]];
        let [e, f, g, h] = [values[i[4] as usize], values[i[5] as usize], values[i[6] as usize], values[i[7] as usize]];
        // SAFETY: as for addition.
        unsafe {
            [
                Self(_mm256_setr_ps(a.x, b.x, c.x, d.x, e.x, f.x, g.x, h.x)),
                Self(_mm256_setr_ps(a.y, b.y, c.y, d.y, e.y, f.y, g.y, h.y)),
                Self(_mm256_setr_ps(a.z, b.z, c.z, d.z, e.z, f.z, g.z, h.z)),
            ]
        }
    }
}
