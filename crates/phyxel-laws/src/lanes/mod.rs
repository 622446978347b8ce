//! Eight numbers at a time.
//!
//! [`Lanes`] has two implementations: plain arrays, which any machine runs, and AVX registers. Both do the
//! same operations in the same order and never fuse a multiplication with an addition, so a kernel gives the
//! same bits with either. [`Level::detect`] picks what the running machine has.
//!
//! A [`Bundle`] is eight numbers, or twice eight from two packs: long kernels wait for their own results, and have something to do
//! meanwhile if they do two packs at once. With AVX-512 both fit into one register.

#[cfg(target_arch = "x86_64")]
mod avx;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod bundle;

#[cfg(target_arch = "x86_64")]
pub use avx::Avx;
#[cfg(target_arch = "x86_64")]
pub use avx512::Sixteen;
pub use bundle::{Bundle, Two};

use std::ops::{Add, Mul, Sub};

/// Numbers per vector.
pub const WIDTH: usize = 8;

/// Eight numbers in memory.
pub type Eight = [f32; WIDTH];

/// Numbers in registers, whatever their number.
pub trait Numbers: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// The same number everywhere.
    fn splat(value: f32) -> Self;
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

    /// Zero.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }
}

/// Eight numbers in registers.
pub trait Lanes: Numbers {
    /// From memory.
    fn load(values: &Eight) -> Self;
    /// To memory.
    fn store(self, values: &mut Eight);

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
    fn load(values: &Eight) -> Self {
        Self(*values)
    }
    #[inline(always)]
    fn store(self, values: &mut Eight) {
        *values = self.0;
    }
}

impl Numbers for Portable {
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
    fn where_greater(self, other: Self, yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|lane| if self.0[lane] > other.0[lane] { yes.0[lane] } else { no.0[lane] }))
    }
    #[inline(always)]
    fn bits_where_less(self, other: Self) -> u32 {
        (0..WIDTH).map(|lane| u32::from(self.0[lane] < other.0[lane]) << lane).sum()
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
/// the level; with `in pairs`, for a [`Bundle`] of two packs.
macro_rules! at_every_level {
    (in pairs $($rest:tt)*) => {
        crate::lanes::at_every_level! {
            @ [crate::lanes::Two<crate::lanes::Portable>] [crate::lanes::Two<crate::lanes::Avx>] [crate::lanes::Sixteen] $($rest)*
        }
    };
    (@ [$portable:ty] [$avx2:ty] [$avx512:ty] $(#[$doc:meta])* $name:ident = $kernel:ident [$($generics:tt)*] [$($forward:tt)*] ($($arg:ident: $type:ty),* $(,)?)) => {
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        pub fn $name<$($generics)*>(level: crate::lanes::Level, $($arg: $type),*) {
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
                crate::lanes::Level::Portable => $kernel::<$portable, $($forward)*>($($arg),*),
                // SAFETY: `Level::detect` and `Level::available` give this level only where the machine has it.
                #[cfg(target_arch = "x86_64")]
                crate::lanes::Level::Avx2 => unsafe { avx2::<$($forward)*>($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                crate::lanes::Level::Avx512 => unsafe { avx512::<$($forward)*>($($arg),*) },
            }
        }
    };
    ($($rest:tt)*) => {
        crate::lanes::at_every_level! { @ [crate::lanes::Portable] [crate::lanes::Avx] [crate::lanes::Avx] $($rest)* }
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
