//! Vectors over the lanes of one pack or of two.

use super::{F32x8, SimdF32x8, SimdFloat, WIDTH};
use std::ops::{Add, Mul, Sub};

/// Vector over the lanes of [`PACKS`](Self::PACKS) packs of eight.
pub trait PackVector: SimdFloat {
    /// Number of packs.
    const PACKS: usize;

    /// Loads a field of each pack.
    fn load_from<T>(packs: &[T], field: impl Fn(&T) -> &F32x8) -> Self;
    /// Stores to a field of each pack.
    fn store_to<T>(self, packs: &mut [T], field: impl Fn(&mut T) -> &mut F32x8);
    /// Gathers the rows `values[index]` and transposes them; the indices are a field of each pack.
    fn gather_rows_from<T>(values: &[[f32; 4]], packs: &[T], field: impl Fn(&T) -> &[u32; WIDTH]) -> [Self; 4];
    /// Transposes four columns back to rows and stores them to a field of each pack.
    fn store_rows_to<T>(columns: [Self; 4], packs: &mut [T], field: impl Fn(&mut T) -> &mut [[f32; 4]; WIDTH]);
}

impl<L: SimdF32x8> PackVector for L {
    const PACKS: usize = 1;

    #[inline(always)]
    fn load_from<T>(packs: &[T], field: impl Fn(&T) -> &F32x8) -> Self {
        L::load(field(&packs[0]))
    }
    #[inline(always)]
    fn store_to<T>(self, packs: &mut [T], field: impl Fn(&mut T) -> &mut F32x8) {
        self.store(field(&mut packs[0]));
    }
    #[inline(always)]
    fn gather_rows_from<T>(values: &[[f32; 4]], packs: &[T], field: impl Fn(&T) -> &[u32; WIDTH]) -> [Self; 4] {
        L::gather_rows(values, field(&packs[0]))
    }
    #[inline(always)]
    fn store_rows_to<T>(columns: [Self; 4], packs: &mut [T], field: impl Fn(&mut T) -> &mut [[f32; 4]; WIDTH]) {
        *field(&mut packs[0]) = L::to_rows(columns);
    }
}

/// Two vectors, one per pack.
#[derive(Clone, Copy, Debug)]
pub struct PackPair<L>(L, L);

impl<L: SimdF32x8> Add for PackPair<L> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }
}

impl<L: SimdF32x8> Sub for PackPair<L> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0, self.1 - other.1)
    }
}

impl<L: SimdF32x8> Mul for PackPair<L> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0, self.1 * other.1)
    }
}

impl<L: SimdF32x8> SimdFloat for PackPair<L> {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(L::splat(value), L::splat(value))
    }
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(self.0.div(other.0), self.1.div(other.1))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.sqrt(), self.1.sqrt())
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0), self.1.max(other.1))
    }
    #[inline(always)]
    fn select_gt(self, other: Self, yes: Self, no: Self) -> Self {
        Self(self.0.select_gt(other.0, yes.0, no.0), self.1.select_gt(other.1, yes.1, no.1))
    }
    #[inline(always)]
    fn mask_lt(self, other: Self) -> u32 {
        self.0.mask_lt(other.0) | self.1.mask_lt(other.1) << WIDTH
    }
}

impl<L: SimdF32x8> PackVector for PackPair<L> {
    const PACKS: usize = 2;

    #[inline(always)]
    fn load_from<T>(packs: &[T], field: impl Fn(&T) -> &F32x8) -> Self {
        Self(L::load(field(&packs[0])), L::load(field(&packs[1])))
    }
    #[inline(always)]
    fn store_to<T>(self, packs: &mut [T], field: impl Fn(&mut T) -> &mut F32x8) {
        self.0.store(field(&mut packs[0]));
        self.1.store(field(&mut packs[1]));
    }
    #[inline(always)]
    fn gather_rows_from<T>(values: &[[f32; 4]], packs: &[T], field: impl Fn(&T) -> &[u32; WIDTH]) -> [Self; 4] {
        let [a, b, c, d] = L::gather_rows(values, field(&packs[0]));
        let [e, f, g, h] = L::gather_rows(values, field(&packs[1]));
        [Self(a, e), Self(b, f), Self(c, g), Self(d, h)]
    }
    #[inline(always)]
    fn store_rows_to<T>([a, b, c, d]: [Self; 4], packs: &mut [T], field: impl Fn(&mut T) -> &mut [[f32; 4]; WIDTH]) {
        *field(&mut packs[0]) = L::to_rows([a.0, b.0, c.0, d.0]);
        *field(&mut packs[1]) = L::to_rows([a.1, b.1, c.1, d.1]);
    }
}
