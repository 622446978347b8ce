//! Sampling on cubic lattices and cubic closest packings.

use crate::shape::{PointGrid, Shape, points_within};
use glam::Vec3;
use phyxel::Real;
use phyxel_laws::geometry::Aabb;

/// Largest number of grid points along an axis.
const MAX_POINTS_PER_AXIS: f64 = (1u32 << 24) as f64;

/// Grid with `counts` points along the axes, concentric with the bounds; `None` when an axis has too many.
pub(super) fn centred_grid(bounds: &Aabb, step: Real, counts: Vec3) -> Option<PointGrid> {
    if counts.as_dvec3().max_element() > MAX_POINTS_PER_AXIS {
        return None;
    }
    let origin = bounds.centre() - 0.5 * step * (counts - 1.0);
    Some(PointGrid { origin, step, counts: counts.to_array().map(|count| count as u32) })
}

/// Samples on a cubic lattice, ordered by z, then y, then x.
///
/// A box whose edges are multiples of the spacing gets its points at the centres of cells of that size. Any other
/// extent is rounded to the nearest number of cells.
pub(super) fn cubic(shape: &Shape, bounds: &Aabb, spacing: Real) -> Option<Vec<Vec3>> {
    let counts = (bounds.extent() / spacing).round().max(Vec3::ONE);
    let grid = centred_grid(bounds, spacing, counts)?;
    Some(points_within(shape, &grid, 0.0).into_iter().map(|index| grid.point(index)).collect())
}

/// Samples on a cubic closest packing (FCC lattice) with neighbours `spacing` apart, ordered by z, then y, then x.
///
/// Its sites are those of a cubic lattice of `spacing / sqrt(2)` whose coordinates have an even sum. One of them
/// is at the centre of the bounds.
pub(super) fn closest_packing(shape: &Shape, bounds: &Aabb, spacing: Real) -> Option<Vec<Vec3>> {
    let step = spacing * std::f32::consts::FRAC_1_SQRT_2;
    // As many on one side of the centre as on the other.
    let sides = (0.5 * bounds.extent() / step).floor().max(Vec3::ZERO);
    let grid = centred_grid(bounds, step, 2.0 * sides + 1.0)?;
    let parity = sides.to_array().iter().map(|side| *side as u32).fold(0, u32::wrapping_add) % 2;
    let is_site = |index: &[u32; 3]| index.iter().fold(0, |sum: u32, i| sum.wrapping_add(*i)) % 2 == parity;
    let sites = points_within(shape, &grid, 0.0).into_iter().filter(is_site);
    Some(sites.map(|index| grid.point(index)).collect())
}
