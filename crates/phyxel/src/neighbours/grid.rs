//! Uniform grid: cell keys, sorting by cell, and rows of cells around a cell.

use super::QuerySphere;
use super::pairs::max_radius;
use crate::Real;
use crate::numerics::Aabb;
use crate::parallel;
use glam::Vec3;
use std::ops::Range;

/// Queries per task.
pub(super) const GRAIN: usize = 1024;
/// Maximum number of cells along an axis; cells grow if the spheres extend farther.
const MAX_CELLS: Real = 1.0e6;

/// Uniform grid with cells as wide as the interaction range of its spheres. Cell keys run along x, then y, then z.
#[derive(Clone, Copy, Debug)]
pub(super) struct UniformGrid {
    /// m.
    origin: Vec3,
    /// m.
    pub cell_size: Real,
    /// Number of cells along each axis, including two empty ones at each end, so that rows do not wrap around.
    counts: [u64; 3],
}

impl UniformGrid {
    /// Grid that encloses spheres.
    pub fn enclosing(spheres: &[QuerySphere], margin: Real) -> Self {
        let boxes = parallel::map_ranges(spheres.len(), 8192, |range| {
            Aabb::from_points(spheres[range].iter().map(|sphere| sphere.position))
        });
        let aabb @ Aabb { min, max } = boxes.into_iter().fold(Aabb::EMPTY, Aabb::union);
        // Cells must be distinct in f32, and not too many.
        let magnitude = aabb.extent().max_element().max(max.abs().max_element()).max(min.abs().max_element());
        let cell_size = (2.0 * max_radius(spheres) * (1.0 + margin)).max(magnitude / MAX_CELLS);
        let origin = min - 2.0 * cell_size;
        let counts = ((max - origin) / cell_size).to_array().map(|n| n as u64 + 3);
        Self { origin, cell_size, counts }
    }

    /// Key of the cell of a point; points outside are assigned to the empty cells at the border.
    pub fn cell_key(&self, point: Vec3) -> u64 {
        let cell = (point - self.origin) / self.cell_size;
        let last = Vec3::from_array(self.counts.map(|n| (n - 2) as Real));
        let [x, y, z] = cell.max(Vec3::ONE).min(last).to_array().map(|x| x as u64);
        x + self.counts[0] * (y + self.counts[1] * z)
    }

    /// Integer coordinates of a cell from its key.
    pub fn cell_coordinates(&self, key: u64) -> [u32; 3] {
        let [x, y, _] = self.counts;
        [key % x, key / x % y, key / x / y].map(|n| n as u32)
    }

    /// Key offsets of the centres of the nine rows of three cells around a cell.
    pub fn row_offsets(&self) -> [i64; ROWS] {
        let [row, sheet] = [self.counts[0] as i64, (self.counts[0] * self.counts[1]) as i64];
        [-sheet - row, -sheet, -sheet + row, -row, 0, row, sheet - row, sheet, sheet + row]
    }

    /// Sorts spheres by cell; the order within a cell is kept.
    pub fn sort(&self, spheres: &[QuerySphere]) -> CellSorted {
        let key = |i: usize| (self.cell_key(spheres[i].position), i as u32);
        let mut order: Vec<(u64, u32)> = parallel::map(spheres.len(), 8192, key);
        radix_sort(&mut order, self.counts.iter().product());
        let spheres = parallel::map(spheres.len(), 8192, |k| spheres[order[k].1 as usize]);
        CellSorted { keys: order.into_iter().map(|(key, _)| key).collect(), spheres }
    }
}

/// Number of rows of cells around a cell, including its own.
pub(super) const ROWS: usize = 9;

/// Spheres sorted by cell.
pub(super) struct CellSorted {
    /// Cell key of each sphere.
    pub keys: Vec<u64>,
    pub spheres: Vec<QuerySphere>,
}

/// Calls `visitor` with the index of each query in `range` and the nine rows of grid items around it.
///
/// `grid_keys` are the sorted cell keys of the items, `keys` those of the queries.
pub(super) fn visit_rows(
    grid: &UniformGrid,
    grid_keys: &[u64],
    keys: &[u64],
    range: Range<usize>,
    mut visitor: impl FnMut(usize, &[Range<usize>; ROWS]),
) {
    let offsets = grid.row_offsets();
    // Consecutive cells have consecutive rows.
    let mut rows: [Range<usize>; ROWS] = Default::default();
    let mut last = None;
    for k in range {
        if last != Some(keys[k]) {
            last = Some(keys[k]);
            for (row, offset) in rows.iter_mut().zip(offsets) {
                let centre = keys[k].wrapping_add_signed(offset);
                row.start = gallop(grid_keys, row.start, centre - 1);
                row.end = gallop(grid_keys, row.end.max(row.start), centre + 2);
            }
        }
        visitor(k, &rows);
    }
}

/// Galloping (exponential) search: first index at or after `from` whose key is not below `key`. It is usually close.
fn gallop(keys: &[u64], from: usize, key: u64) -> usize {
    let mut stride = 1;
    let mut low = from;
    while low + stride <= keys.len() && keys[low + stride - 1] < key {
        low += stride;
        stride *= 2;
    }
    let high = (low + stride).min(keys.len());
    low + keys[low..high].partition_point(|&other| other < key)
}

/// Stable radix sort by keys below `limit`.
fn radix_sort(items: &mut Vec<(u64, u32)>, limit: u64) {
    const BITS: u32 = 11;
    if items.len() < 1 << BITS {
        return items.sort_by_key(|&(key, _)| key);
    }
    let mut other = vec![(0, 0); items.len()];
    let mut shift = 0;
    while shift < u64::BITS && limit >> shift > 0 {
        let digit = |key: u64| (key >> shift) as usize & ((1 << BITS) - 1);
        let mut next = [0u32; (1 << BITS) + 1];
        items.iter().for_each(|&(key, _)| next[digit(key) + 1] += 1);
        (0..1 << BITS).for_each(|d| next[d + 1] += next[d]);
        for &item in items.iter() {
            let slot = &mut next[digit(item.0)];
            other[*slot as usize] = item;
            *slot += 1;
        }
        std::mem::swap(items, &mut other);
        shift += BITS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn galloping_finds_what_a_full_search_finds() {
        let keys = [2, 2, 5, 7, 7, 7, 9, 12];
        for from in 0..=keys.len() {
            for key in 0..14 {
                let expected = keys.partition_point(|&other| other < key).max(from);
                assert_eq!(gallop(&keys, from, key), expected, "{from} {key}");
            }
        }
    }
}
