//! Eight numbers at a time.
//!
//! [`Lanes`] has two implementations: plain arrays, which any machine runs, and AVX registers. Both do the
//! same operations in the same order and never fuse a multiplication with an addition, so a kernel gives the
//! same bits with either. [`Level::detect`] picks what the running machine has.

use std::ops::{Add, Mul, Sub};

/// Numbers per vector.
pub const WIDTH: usize = 8;

/// Eight numbers in memory.
pub type Eight = [f32; WIDTH];

/// Eight numbers in registers.
pub trait Lanes: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// The same number eight times.
    fn splat(value: f32) -> Self;
    /// From memory.
    fn load(values: &Eight) -> Self;
    /// To memory.
    fn store(self, values: &mut Eight);
    /// Quotient.
    fn div(self, other: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// The larger of each pair; `other` where a number is missing.
    fn max(self, other: Self) -> Self;
    /// `yes` where `self > other`, else `no`.
    fn where_greater(self, other: Self, yes: Self, no: Self) -> Self;
    /// Where `self < other`: a bit for each, the first one lowest.
    fn bits_where_less(self, other: Self) -> u32;

    /// The numbers `values[index][axis]` for three axes.
    #[inline(always)]
    fn gather(values: &[glam::Vec3], index: &[u32; WIDTH]) -> [Self; 3] {
        let mut x = [0.0; WIDTH];
        let mut y = [0.0; WIDTH];
        let mut z = [0.0; WIDTH];
        for lane in 0..WIDTH {
            let value = values[index[lane] as usize];
            (x[lane], y[lane], z[lane]) = (value.x, value.y, value.z);
        }
        [Self::load(&x), Self::load(&y), Self::load(&z)]
    }

    /// The four numbers of each of eight rows, by number.
    #[inline(always)]
    fn load4(rows: [&[f32; 4]; WIDTH]) -> [Self; 4] {
        std::array::from_fn(|k| Self::load(&rows.map(|row| row[k])))
    }

    /// The rows `values[index]`, by number.
    #[inline(always)]
    fn gather4(values: &[[f32; 4]], index: &[u32; WIDTH]) -> [Self; 4] {
        let [a, b, c, d, e, f, g, h] = index;
        let [a, b, c, d] = [&values[*a as usize], &values[*b as usize], &values[*c as usize], &values[*d as usize]];
        let [e, f, g, h] = [&values[*e as usize], &values[*f as usize], &values[*g as usize], &values[*h as usize]];
        Self::load4([a, b, c, d, e, f, g, h])
    }

    /// Eight rows of four numbers that were by number.
    #[inline(always)]
    fn rows4(parts: [Self; 4]) -> [[f32; 4]; WIDTH] {
        let parts = parts.map(Self::to_array);
        std::array::from_fn(|lane| std::array::from_fn(|k| parts[k][lane]))
    }

    /// Zero.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }

    /// The numbers as an array.
    #[inline(always)]
    fn to_array(self) -> Eight {
        let mut values = [0.0; WIDTH];
        self.store(&mut values);
        values
    }
}

/// Eight numbers in an array.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Portable(Eight);

impl Portable {
    #[inline(always)]
    fn zip(self, other: Self, operation: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|lane| operation(self.0[lane], other.0[lane])))
    }
}

impl Add for Portable {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl Sub for Portable {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul for Portable {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }
}

impl Lanes for Portable {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; WIDTH])
    }
    #[inline(always)]
    fn load(values: &Eight) -> Self {
        Self(*values)
    }
    #[inline(always)]
    fn store(self, values: &mut Eight) {
        *values = self.0;
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(f32::sqrt))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn where_greater(self, other: Self, yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|lane| if self.0[lane] > other.0[lane] { yes.0[lane] } else { no.0[lane] }))
    }
    #[inline(always)]
    fn bits_where_less(self, other: Self) -> u32 {
        (0..WIDTH).map(|lane| u32::from(self.0[lane] < other.0[lane]) << lane).sum()
    }
}

#[cfg(target_arch = "x86_64")]
pub use avx::Avx;

#[cfg(target_arch = "x86_64")]
mod avx {
    use super::{Eight, Lanes, WIDTH};
    use std::arch::x86_64::*;
    use std::ops::{Add, Mul, Sub};

    /// Eight numbers in an AVX register.
    ///
    /// Values come only from kernels that [`Level`](super::Level) guards, so the instructions are there.
    #[derive(Clone, Copy, Debug)]
    pub struct Avx(__m256);

    /// Two rows of four.
    ///
    /// # Safety
    /// The machine must have AVX.
    #[inline(always)]
    unsafe fn two(low: &[f32; 4], high: &[f32; 4]) -> __m256 {
        // SAFETY: as the caller promises; four numbers are readable in each.
        unsafe {
            let low = _mm256_castps128_ps256(_mm_loadu_ps(low.as_ptr()));
            _mm256_insertf128_ps::<1>(low, _mm_loadu_ps(high.as_ptr()))
        }
    }

    /// Turns columns into rows in both halves.
    ///
    /// # Safety
    /// The machine must have AVX.
    #[inline(always)]
    unsafe fn turn(a: __m256, b: __m256, c: __m256, d: __m256) -> [__m256; 4] {
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

    impl Lanes for Avx {
        #[inline(always)]
        fn splat(value: f32) -> Self {
            // SAFETY: as for addition.
            Self(unsafe { _mm256_set1_ps(value) })
        }
        #[inline(always)]
        fn load(values: &Eight) -> Self {
            // SAFETY: eight numbers are readable there; any alignment will do.
            Self(unsafe { _mm256_loadu_ps(values.as_ptr()) })
        }
        #[inline(always)]
        fn store(self, values: &mut Eight) {
            // SAFETY: eight numbers are writable there; any alignment will do.
            unsafe { _mm256_storeu_ps(values.as_mut_ptr(), self.0) }
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
        fn where_greater(self, other: Self, yes: Self, no: Self) -> Self {
            // SAFETY: as for addition.
            unsafe {
                let mask = _mm256_cmp_ps::<_CMP_GT_OQ>(self.0, other.0);
                Self(_mm256_blendv_ps(no.0, yes.0, mask))
            }
        }
        #[inline(always)]
        fn bits_where_less(self, other: Self) -> u32 {
            // SAFETY: as for addition.
            unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0)) as u32 }
        }
        #[inline(always)]
        fn load4(rows: [&[f32; 4]; WIDTH]) -> [Self; 4] {
            // SAFETY: four numbers are readable in each row; else as for addition.
            unsafe {
                let [a, b] = [two(rows[0], rows[4]), two(rows[1], rows[5])];
                let [c, d] = [two(rows[2], rows[6]), two(rows[3], rows[7])];
                let [a, b, c, d] = turn(a, b, c, d);
                [Self(a), Self(b), Self(c), Self(d)]
            }
        }
        #[inline(always)]
        fn gather4(values: &[[f32; 4]], index: &[u32; WIDTH]) -> [Self; 4] {
            let last = values.len().checked_sub(1).map_or(-1, |last| last.min(u32::MAX as usize) as u32 as i32);
            // SAFETY: eight numbers are readable; else as for addition.
            let inside = unsafe {
                let (wanted, last) = (_mm256_loadu_si256(index.as_ptr().cast()), _mm256_set1_epi32(last));
                _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(wanted, last), last)) == -1
            };
            assert!(inside && !values.is_empty(), "rows {index:?} of {}", values.len());
            // SAFETY: no number is beyond the last row.
            let row = |lane: usize| unsafe { values.get_unchecked(index[lane] as usize) };
            Self::load4([row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)])
        }
        #[inline(always)]
        fn rows4([a, b, c, d]: [Self; 4]) -> [[f32; 4]; WIDTH] {
            let mut rows = [[0.0; 4]; WIDTH];
            // SAFETY: four numbers are writable in each row; else as for addition.
            unsafe {
                let turned = turn(a.0, b.0, c.0, d.0);
                for k in 0..4 {
                    _mm_storeu_ps(rows[k].as_mut_ptr(), _mm256_castps256_ps128(turned[k]));
                    _mm_storeu_ps(rows[k + 4].as_mut_ptr(), _mm256_extractf128_ps::<1>(turned[k]));
                }
            }
            rows
        }
        #[inline(always)]
        fn gather(values: &[glam::Vec3], index: &[u32; WIDTH]) -> [Self; 3] {
            let i = index;
            let [a, b, c, d] =
                [values[i[0] as usize], values[i[1] as usize], values[i[2] as usize], values[i[3] as usize]];
            let [e, f, g, h] =
                [values[i[4] as usize], values[i[5] as usize], values[i[6] as usize], values[i[7] as usize]];
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
}

/// What the running machine can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Arrays; any machine.
    Portable,
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX2 with the 32 registers of AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The best level of this machine, asked once.
    pub fn detect() -> Self {
        static LEVEL: std::sync::OnceLock<Level> = std::sync::OnceLock::new();
        *LEVEL.get_or_init(|| Self::available().last().copied().unwrap_or(Self::Portable))
    }

    /// Every level this machine has, best last.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut levels = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                levels.push(Self::Avx2);
                if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
                    levels.push(Self::Avx512);
                }
            }
        }
        levels
    }
}

/// Defines `pub fn $name(level, args..)`, which runs the generic kernel `$kernel::<L>(args..)` compiled for
/// the level.
macro_rules! at_every_level {
    ($(#[$doc:meta])* $name:ident = $kernel:ident [$($generics:tt)*] [$($forward:tt)*] ($($arg:ident: $type:ty),* $(,)?)) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        pub fn $name<$($generics)*>(level: crate::lanes::Level, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            #[allow(clippy::too_many_arguments)]
            fn avx2<$($generics)*>($($arg: $type),*) {
                $kernel::<crate::lanes::Avx, $($forward)*>($($arg),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,avx512f,avx512vl")]
            #[allow(clippy::too_many_arguments)]
            fn avx512<$($generics)*>($($arg: $type),*) {
                $kernel::<crate::lanes::Avx, $($forward)*>($($arg),*)
            }
            match level {
                crate::lanes::Level::Portable => $kernel::<crate::lanes::Portable, $($forward)*>($($arg),*),
                // SAFETY: `Level::detect` and `Level::available` give this level only where the machine has it.
                #[cfg(target_arch = "x86_64")]
                crate::lanes::Level::Avx2 => unsafe { avx2::<$($forward)*>($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                crate::lanes::Level::Avx512 => unsafe { avx512::<$($forward)*>($($arg),*) },
            }
        }
    };
}
pub(crate) use at_every_level;

at_every_level! {
    /// Multiplies and adds, over and over, on vectors that do not wait for each other: what arithmetic gives at most.
    multiply_and_add = multiply_and_add_eight [const N: usize] [N] (rounds: usize, values: &mut [Eight; N])
}

#[inline(always)]
fn multiply_and_add_eight<L: Lanes, const N: usize>(rounds: usize, values: &mut [Eight; N]) {
    let (factor, more) = (L::splat(0.999), L::splat(0.001));
    let mut now = [L::zero(); N];
    for k in 0..N {
        now[k] = L::load(&values[k]);
    }
    for _ in 0..rounds {
        for k in 0..N {
            now[k] = now[k] * factor + more;
        }
    }
    for k in 0..N {
        now[k].store(&mut values[k]);
    }
}
