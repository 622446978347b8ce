//! Radius search: the points of some index ranges within a distance of a query point, eight at a time.

use crate::Real;
use crate::simd::{F32x8, SimdF32x8, WIDTH, dispatch};
use std::ops::Range;

/// Points as a structure of arrays, one array per axis, padded for vectors of eight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SoaPoints {
    axes: [Vec<Real>; 3],
}

impl SoaPoints {
    /// Copies points in their order.
    pub fn new(points: impl Iterator<Item = glam::Vec3> + Clone) -> Self {
        // The padding lies at infinity, within no radius.
        let fill = [Real::INFINITY; WIDTH - 1];
        let axes = std::array::from_fn(|axis| points.clone().map(|point| point[axis]).chain(fill).collect());
        Self { axes }
    }

    #[inline(always)]
    fn lanes_from(&self, axis: usize, first: usize) -> F32x8 {
        let values = &self.axes[axis][first..first + WIDTH];
        std::array::from_fn(|lane| values[lane])
    }
}

dispatch! {
    /// Writes the indices of the points in some ranges that are closer to `point` than the square root of
    /// `radius_squared`, in order, and their count. `found` must hold all points of the ranges and seven
    /// more.
    find_within = find_within_kernel [] [] (
        points: &SoaPoints,
        ranges: &[Range<usize>],
        point: glam::Vec3,
        radius_squared: Real,
        found: &mut [u32],
        count: &mut usize,
    )
}

#[inline(always)]
fn find_within_kernel<L: SimdF32x8>(
    points: &SoaPoints,
    ranges: &[Range<usize>],
    point: glam::Vec3,
    radius_squared: Real,
    found: &mut [u32],
    count: &mut usize,
) {
    let [x, y, z] = [L::splat(point.x), L::splat(point.y), L::splat(point.z)];
    let limit = L::splat(radius_squared);
    let mut next = 0;
    for range in ranges {
        let mut first = range.start;
        while first < range.end {
            let dx = L::load(&points.lanes_from(0, first)) - x;
            let dy = L::load(&points.lanes_from(1, first)) - y;
            let dz = L::load(&points.lanes_from(2, first)) - z;
            let mut bits = (dx * dx + dy * dy + dz * dz).mask_lt(limit);
            if range.end - first < WIDTH {
                bits &= (1 << (range.end - first)) - 1;
            }
            while bits != 0 {
                found[next] = first as u32 + bits.trailing_zeros();
                next += 1;
                bits &= bits - 1;
            }
            first += WIDTH;
        }
    }
    *count = next;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::SimdLevel;
    use glam::Vec3;

    #[test]
    fn points_of_the_ranges_within_the_radius_are_found_at_every_simd_level() {
        let points: Vec<Vec3> = (0..100).map(|i| Vec3::new(i as Real, (i % 7) as Real, (i % 3) as Real)).collect();
        let points_soa = SoaPoints::new(points.iter().copied());
        let (ranges, centre) = ([3..20, 20..20, 41..43, 90..100], Vec3::new(12.0, 3.0, 1.0));
        let is_near = |i: &u32| points[*i as usize].distance(centre) < 6.0;
        let expected: Vec<u32> =
            ranges.iter().flat_map(|range| range.start as u32..range.end as u32).filter(is_near).collect();
        assert!(expected.len() > 5);
        for level in SimdLevel::available() {
            let (mut found, mut count) = (vec![0; 40], 0);
            find_within(level, &points_soa, &ranges, centre, 36.0, &mut found, &mut count);
            assert_eq!(found[..count], expected);
        }
    }
}
