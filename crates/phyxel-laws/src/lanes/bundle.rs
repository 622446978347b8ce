//! Numbers of one pack or of two.

use super::{Eight, Lanes, Numbers, WIDTH};
use std::ops::{Add, Mul, Sub};

/// The numbers of a pack of eight, or of as many packs as there are in it.
pub trait Bundle: Numbers {
    /// Packs in it.
    const PACKS: usize;

    /// From a field of each pack.
    fn load_from<T>(packs: &[T], field: impl Fn(&T) -> &Eight) -> Self;
    /// To a field of each pack.
    fn store_to<T>(self, packs: &mut [T], field: impl Fn(&mut T) -> &mut Eight);
    /// The rows of four `values[index]`, by number; the indices are a field of each pack.
    fn gather4_from<T>(values: &[[f32; 4]], packs: &[T], field: impl Fn(&T) -> &[u32; WIDTH]) -> [Self; 4];
    /// Rows of four numbers that were by number, to a field of each pack.
    fn rows4_to<T>(parts: [Self; 4], packs: &mut [T], field: impl Fn(&mut T) -> &mut [[f32; 4]; WIDTH]);
}

impl<L: Lanes> Bundle for L {
    const PACKS: usize = 1;

    #[inline(always)]
    fn load_from<T>(packs: &[T], field: impl Fn(&T) -> &Eight) -> Self {
        L::load(field(&packs[0]))
    }
    #[inline(always)]
    fn store_to<T>(self, packs: &mut [T], field: impl Fn(&mut T) -> &mut Eight) {
        self.store(field(&mut packs[0]));
    }
    #[inline(always)]
    fn gather4_from<T>(values: &[[f32; 4]], packs: &[T], field: impl Fn(&T) -> &[u32; WIDTH]) -> [Self; 4] {
        L::gather4(values, field(&packs[0]))
    }
    #[inline(always)]
    fn rows4_to<T>(parts: [Self; 4], packs: &mut [T], field: impl Fn(&mut T) -> &mut [[f32; 4]; WIDTH]) {
        *field(&mut packs[0]) = L::rows4(parts);
    }
}

/// Twice eight numbers.
#[derive(Clone, Copy, Debug)]
pub struct Two<L>(L, L);

impl<L: Lanes> Add for Two<L> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }
}

impl<L: Lanes> Sub for Two<L> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0, self.1 - other.1)
    }
}

impl<L: Lanes> Mul for Two<L> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(self.0 * other.0, self.1 * other.1)
    }
}

impl<L: Lanes> Numbers for Two<L> {
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
    fn where_greater(self, other: Self, yes: Self, no: Self) -> Self {
        Self(self.0.where_greater(other.0, yes.0, no.0), self.1.where_greater(other.1, yes.1, no.1))
    }
    #[inline(always)]
    fn bits_where_less(self, other: Self) -> u32 {
        self.0.bits_where_less(other.0) | self.1.bits_where_less(other.1) << WIDTH
    }
}

impl<L: Lanes> Bundle for Two<L> {
    const PACKS: usize = 2;

    #[inline(always)]
    fn load_from<T>(packs: &[T], field: impl Fn(&T) -> &Eight) -> Self {
        Self(L::load(field(&packs[0])), L::load(field(&packs[1])))
    }
    #[inline(always)]
    fn store_to<T>(self, packs: &mut [T], field: impl Fn(&mut T) -> &mut Eight) {
        self.0.store(field(&mut packs[0]));
        self.1.store(field(&mut packs[1]));
    }
    #[inline(always)]
    fn gather4_from<T>(values: &[[f32; 4]], packs: &[T], field: impl Fn(&T) -> &[u32; WIDTH]) -> [Self; 4] {
        let [a, b, c, d] = L::gather4(values, field(&packs[0]));
        let [e, f, g, h] = L::gather4(values, field(&packs[1]));
        [Self(a, e), Self(b, f), Self(c, g), Self(d, h)]
    }
    #[inline(always)]
    fn rows4_to<T>([a, b, c, d]: [Self; 4], packs: &mut [T], field: impl Fn(&mut T) -> &mut [[f32; 4]; WIDTH]) {
        *field(&mut packs[0]) = L::rows4([a.0, b.0, c.0, d.0]);
        *field(&mut packs[1]) = L::rows4([a.1, b.1, c.1, d.1]);
    }
}
