//! SIMD vectors of eight f32 lanes, and dispatch to the instruction set of the running machine.
//!
//! [`SimdF32x8`] has two implementations: plain arrays, which any machine runs, and AVX registers. Both do
//! the same operations in the same order and never contract a multiplication and an addition (no FMA), so a
//! kernel gives the same bits with either. [`SimdLevel::detect`] picks the best level of the running
//! machine.
//!
//! A pack is a group of eight elements or particles. A [`PackVector`] holds the lanes of one pack or of
//! two: long kernels are bound by latency, and two interleaved packs hide it. With AVX-512 both fit into
//! one register.

#[cfg(target_arch = "x86_64")]
mod avx;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod pack_vector;

#[cfg(target_arch = "x86_64")]
pub use avx::Avx;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use pack_vector::{PackPair, PackVector};

use std::ops::{Add, Mul, Sub};

/// Lanes per vector.
pub const WIDTH: usize = 8;

/// Eight lanes in memory.
pub type F32x8 = [f32; WIDTH];

/// Vector of f32 lanes in registers, of any width, with lane-wise arithmetic.
pub trait SimdFloat: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// Broadcasts a number to all lanes.
    fn splat(value: f32) -> Self;
    /// Quotient.
    fn div(self, other: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Maximum; `other` in lanes where either is NaN.
    fn max(self, other: Self) -> Self;
    /// `yes` in lanes where `self > other`, else `no`.
    fn select_gt(self, other: Self, yes: Self, no: Self) -> Self;
    /// Bit mask of the lanes where `self < other`, the first lane lowest.
    fn mask_lt(self, other: Self) -> u32;

    /// Zero.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }
}

/// Vector of eight f32 lanes in registers.
pub trait SimdF32x8: SimdFloat {
    /// Loads from memory.
    fn load(values: &F32x8) -> Self;
    /// Stores to memory.
    fn store(self, values: &mut F32x8);

    /// Gathers `values[index]`, one vector per axis.
    #[inline(always)]
    fn gather_vec3(values: &[glam::Vec3], index: &[u32; WIDTH]) -> [Self; 3] {
        let mut x = [0.0; WIDTH];
        let mut y = [0.0; WIDTH];
        let mut z = [0.0; WIDTH];
        for lane in 0..WIDTH {
            let value = values[index[lane] as usize];
            (x[lane], y[lane], z[lane]) = (value.x, value.y, value.z);
        }
        [Self::load(&x), Self::load(&y), Self::load(&z)]
    }

    /// Loads eight rows of four numbers and transposes them: one vector per column.
    #[inline(always)]
    fn load_rows(rows: [&[f32; 4]; WIDTH]) -> [Self; 4] {
        std::array::from_fn(|k| Self::load(&rows.map(|row| row[k])))
    }

    /// Gathers the rows `values[index]` and transposes them: one vector per column.
    #[inline(always)]
    fn gather_rows(values: &[[f32; 4]], index: &[u32; WIDTH]) -> [Self; 4] {
        let [a, b, c, d, e, f, g, h] = index;
        let [a, b, c, d] = [&values[*a as usize], &values[*b as usize], &values[*c as usize], &values[*d as usize]];
        let [e, f, g, h] = [&values[*e as usize], &values[*f as usize], &values[*g as usize], &values[*h as usize]];
        Self::load_rows([a, b, c, d, e, f, g, h])
    }

    /// Transposes four columns back to eight rows of four numbers.
    #[inline(always)]
    fn to_rows(columns: [Self; 4]) -> [[f32; 4]; WIDTH] {
        let columns = columns.map(Self::to_array);
        std::array::from_fn(|lane| std::array::from_fn(|k| columns[k][lane]))
    }

    /// Lanes as an array.
    #[inline(always)]
    fn to_array(self) -> F32x8 {
        let mut values = [0.0; WIDTH];
        self.store(&mut values);
        values
    }
}

/// Vector of eight lanes as a plain array, for any machine.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Portable(F32x8);

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

impl SimdF32x8 for Portable {
    #[inline(always)]
    fn load(values: &F32x8) -> Self {
        Self(*values)
    }
    #[inline(always)]
    fn store(self, values: &mut F32x8) {
        *values = self.0;
    }
}

impl SimdFloat for Portable {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; WIDTH])
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
    fn select_gt(self, other: Self, yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|lane| if self.0[lane] > other.0[lane] { yes.0[lane] } else { no.0[lane] }))
    }
    #[inline(always)]
    fn mask_lt(self, other: Self) -> u32 {
        (0..WIDTH).map(|lane| u32::from(self.0[lane] < other.0[lane]) << lane).sum()
    }
}

/// Instruction set that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimdLevel {
    /// Plain arrays; any machine.
    Portable,
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX2 with the 32 registers of AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl SimdLevel {
    /// Best level of this machine, detected once.
    pub fn detect() -> Self {
        static LEVEL: std::sync::OnceLock<SimdLevel> = std::sync::OnceLock::new();
        *LEVEL.get_or_init(|| Self::available().last().copied().unwrap_or(Self::Portable))
    }

    /// All levels of this machine, best last.
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

/// Defines `pub fn $name(level, args..)`, which dispatches to the generic kernel `$kernel::<L>(args..)`
/// compiled for the instruction set of `level`; with `in pairs`, for a [`PackVector`] of two packs.
///
/// `name = kernel [generics] [their names] (args)`
macro_rules! dispatch {
    (in pairs $($rest:tt)*) => {
        crate::simd::dispatch! {
            @ [crate::simd::PackPair<crate::simd::Portable>] [crate::simd::PackPair<crate::simd::Avx>]
            [crate::simd::Avx512] $($rest)*
        }
    };
    (
        @ [$portable:ty] [$avx2:ty] [$avx512:ty] $(#[$doc:meta])*
        $name:ident = $kernel:ident [$($generics:tt)*] [$($forward:tt)*] ($($arg:ident: $type:ty),* $(,)?)
    ) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        pub fn $name<$($generics)*>(level: crate::simd::SimdLevel, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            #[allow(clippy::too_many_arguments)]
            fn avx2<$($generics)*>($($arg: $type),*) {
                $kernel::<$avx2, $($forward)*>($($arg),*)
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,avx512f,avx512vl")]
            #[allow(clippy::too_many_arguments)]
            fn avx512<$($generics)*>($($arg: $type),*) {
                $kernel::<$avx512, $($forward)*>($($arg),*)
            }
            match level {
                crate::simd::SimdLevel::Portable => $kernel::<$portable, $($forward)*>($($arg),*),
                // SAFETY: `SimdLevel::detect` and `SimdLevel::available` return this level only where the
                // machine has it.
                #[cfg(target_arch = "x86_64")]
                crate::simd::SimdLevel::Avx2 => unsafe { avx2::<$($forward)*>($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                crate::simd::SimdLevel::Avx512 => unsafe { avx512::<$($forward)*>($($arg),*) },
            }
        }
    };
    ($($rest:tt)*) => {
        crate::simd::dispatch! { @ [crate::simd::Portable] [crate::simd::Avx] [crate::simd::Avx] $($rest)* }
    };
}
pub(crate) use dispatch;

dispatch! {
    /// Multiplies and adds repeatedly on `N` independent vectors: the peak arithmetic throughput, for
    /// benchmarks.
    multiply_and_add = multiply_and_add_kernel [const N: usize] [N] (iterations: usize, values: &mut [F32x8; N])
}

#[inline(always)]
fn multiply_and_add_kernel<L: SimdF32x8, const N: usize>(iterations: usize, values: &mut [F32x8; N]) {
    let (factor, offset) = (L::splat(0.999), L::splat(0.001));
    let mut accumulators = [L::zero(); N];
    for k in 0..N {
        accumulators[k] = L::load(&values[k]);
    }
    for _ in 0..iterations {
        for k in 0..N {
            accumulators[k] = accumulators[k] * factor + offset;
        }
    }
    for k in 0..N {
        accumulators[k].store(&mut values[k]);
    }
}
