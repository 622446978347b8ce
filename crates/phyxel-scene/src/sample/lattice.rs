//! Particles in regular rows.

use crate::shape::{Bounds, Grid, Shape, points_within};
use glam::Vec3;
use phyxel::Real;

/// Most grid points along an axis.
const LONGEST: f64 = (1u32 << 24) as f64;

/// A grid with `counts` points along the axes, with its middle in the middle of the bounds.
/// `None` when an axis has more points than can be counted.
pub(super) fn centred_grid(bounds: &Bounds, step: Real, counts: Vec3) -> Option<Grid> {
    if counts.as_dvec3().max_element() > LONGEST {
        return None;
    }
    let origin = bounds.centre() - 0.5 * step * (counts - 1.0);
    Some(Grid { origin, step, counts: counts.to_array().map(|count| count as u32) })
}

/// A cubic lattice, in order of z, then y, then x.
///
/// A box that is a whole number of spacings long gets its points in the middle of cells of that size. Any
/// other extent is rounded to the nearest number of cells.
pub(super) fn cubic(shape: &Shape, bounds: &Bounds, spacing: Real) -> Option<Vec<Vec3>> {
    let counts = (bounds.size() / spacing).round().max(Vec3::ONE);
    let grid = centred_grid(bounds, spacing, counts)?;
    Some(points_within(shape, &grid, 0.0).into_iter().map(|index| grid.point(index)).collect())
}

/// Cubic closest packing with neighbours `spacing` apart, in order of z, then y, then x.
///
/// Its points are those of a cubic lattice of `spacing / sqrt(2)` whose coordinates have an even sum. One
/// of them is in the middle of the bounds.
pub(super) fn closest_packing(shape: &Shape, bounds: &Bounds, spacing: Real) -> Option<Vec<Vec3>> {
    let step = spacing * std::f32::consts::FRAC_1_SQRT_2;
    // As many on one side of the middle as on the other.
    let sides = (0.5 * bounds.size() / step).floor().max(Vec3::ZERO);
    let grid = centred_grid(bounds, step, 2.0 * sides + 1.0)?;
    let middle = sides.to_array().iter().map(|side| *side as u32).fold(0, u32::wrapping_add) % 2;
    let is_site = |index: &[u32; 3]| index.iter().fold(0, |sum: u32, i| sum.wrapping_add(*i)) % 2 == middle;
    let sites = points_within(shape, &grid, 0.0).into_iter().filter(is_site);
    Some(sites.map(|index| grid.point(index)).collect())
}
