//! Nearest site of a point: rounding to cubic closest packing, eight points at a time.

use super::sites::{SITES, Site};
use crate::Real;
use crate::simd::{Portable, SimdF32x8, SimdFloat};
use glam::Vec3;
use std::f32::consts::SQRT_2;

/// Lattice points with coordinates from -2 to 2, and one slot for all others.
pub(super) const POINTS: usize = 64;

/// Index of a lattice point. With coordinates from -2 to 2 of an even sum, `25 a + 5 b + c + 62` is even:
/// half of it counts 63 points, which are the sites, the particle itself, and the eight corners.
const fn point_index([a, b, c]: [i8; 3]) -> usize {
    ((25 * a as i32 + 5 * b as i32 + c as i32 + 62) / 2) as usize
}

const fn tags() -> [u8; POINTS] {
    let mut tags = [0; POINTS];
    let mut number = 0;
    while number < SITES {
        if let Some(site) = Site::new(number) {
            tags[point_index(site.coordinates())] = number as u8 + 1;
        }
        number += 1;
    }
    tags
}

/// Tag of the site at each lattice point: its number plus 1, or 0 where there is none.
const TAGS: [u8; POINTS] = tags();

/// Adding and subtracting this rounds a small number to the nearest integer. Its own last bits are 0, so
/// that those of a sum are an integer.
const ROUNDING: Real = 12_582_912.0;

#[inline(always)]
fn rounded<L: SimdF32x8>(x: L) -> L {
    (x + L::splat(ROUNDING)) - L::splat(ROUNDING)
}

#[inline(always)]
fn abs<L: SimdF32x8>(x: L) -> L {
    x.max(L::zero() - x)
}

/// Finds the coordinates of the sites nearest to eight points with these coordinates, never the origin.
/// Points far outside stay outside of the table, and NaN is mapped there.
///
/// Choices are numbers 0 and 1: branches would be mispredicted.
#[inline(always)]
pub(super) fn nearest_coordinates<L: SimdF32x8>(at: [L; 3]) -> [L; 3] {
    let [zero, one, minus, far] = [L::zero(), L::splat(1.0), L::splat(-1.0), L::splat(-4.0)];
    let [mut whole, mut error, mut sizes, mut signs, mut aside] = [[zero; 3]; 5];
    for i in 0..3 {
        // The minimum of two numbers is minus the maximum of their negatives.
        let near = zero - (zero - at[i].max(far)).max(far);
        whole[i] = rounded(near);
        let rest = near - whole[i];
        error[i] = abs(rest);
        aside[i] = rest.select_gt(zero, one, minus);
        sizes[i] = abs(near);
        signs[i] = near.select_gt(zero, one, minus);
    }
    // An odd sum: the coordinate with the largest rounding error is rounded to the other side.
    let half = L::splat(0.5) * (whole[0] + whole[1] + whole[2]);
    let odd = L::splat(2.0) * abs(half - rounded(half));
    let x = error[1].select_gt(error[0], zero, error[2].select_gt(error[0], zero, one));
    let y = (one - x) * error[2].select_gt(error[1], zero, one);
    let chosen = [x, y, one - x - y];
    // The origin itself is no site: there the two largest coordinates become 1 or -1.
    let z = sizes[2].select_gt(sizes[0], zero, sizes[2].select_gt(sizes[1], zero, one));
    let y = (one - z) * sizes[1].select_gt(sizes[0], zero, one);
    let dropped = [one - z - y, y, z];
    let mut square = zero;
    for i in 0..3 {
        whole[i] = whole[i] + odd * chosen[i] * aside[i];
        square = square + whole[i] * whole[i];
    }
    for i in 0..3 {
        whole[i] = square.select_gt(L::splat(0.5), whole[i], (one - dropped[i]) * signs[i]);
    }
    whole
}

/// Computes the indices of the lattice points with these coordinates, in the last bits of the results.
#[inline(always)]
pub(super) fn point_indices<L: SimdF32x8>([a, b, c]: [L; 3]) -> L {
    let index = L::splat(12.5) * a + L::splat(2.5) * b + L::splat(0.5) * c;
    let largest = abs(a).max(abs(b)).max(abs(c));
    largest.select_gt(L::splat(2.5), L::splat(32.0), index) + L::splat(ROUNDING + 31.0)
}

/// Tag of the site at a lattice point, given as by [`point_indices`].
#[inline(always)]
pub(super) fn tag_at(index: Real) -> u8 {
    TAGS[index.to_bits() as usize % POINTS]
}

/// Finds the site nearest to an offset from the particle, in particle spacings and in the lattice frame.
///
/// Coordinates are rounded, and where their sum is odd the one with the largest rounding error is rounded
/// to the other side. The particle itself is no site: what is nearest to it goes to the nearest of the
/// twelve. `None` where the nearest site is beyond the table, and for NaN.
pub fn nearest_site(offset: Vec3) -> Option<Site> {
    let at = (offset * SQRT_2).to_array().map(Portable::splat);
    Site::from_tag(tag_at(point_indices(nearest_coordinates(at)).to_array()[0]))
}
