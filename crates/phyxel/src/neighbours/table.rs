//! Neighbour lists of a cloud of points.

use super::QuerySphere;
use super::grid::{CellSorted, GRAIN, UniformGrid, visit_rows};
use crate::Real;
use crate::parallel;
use glam::Vec3;
use phyxel_laws::neighbours::{SoaPoints, find_within};
use phyxel_laws::simd::{SimdLevel, WIDTH};

/// Neighbour lists of points sorted by cell: each point with all others within a radius.
#[derive(Clone, Debug, Default)]
pub(crate) struct NeighbourTable {
    /// Index of the point at each sorted index.
    pub order: Vec<u32>,
    /// First sorted index and integer coordinates of each cell that is not empty; in the order of z, y, x.
    pub cells: Vec<(u32, [u32; 3])>,
    /// Cell width, m.
    pub cell_size: Real,
    /// First block of each list in `blocks`, and the end of the last.
    pub offsets: Vec<u32>,
    /// Sorted indices of neighbours, increasing, in blocks of eight; the last block is padded with the point itself.
    pub blocks: Vec<[u32; WIDTH]>,
}

impl NeighbourTable {
    /// Searches again; buffers are reused.
    pub fn update(&mut self, points: &[Vec3], radius: Real) {
        let sphere = |i: usize| QuerySphere { position: points[i], radius: 0.5 * radius, index: i as u32 };
        let spheres: Vec<QuerySphere> = parallel::map(points.len(), 8192, sphere);
        let grid = UniformGrid::enclosing(&spheres, 0.0);
        let CellSorted { keys, spheres } = grid.sort(&spheres);
        let columns = SoaPoints::new(spheres.iter().map(|sphere| sphere.position));
        let level = SimdLevel::detect();
        let lists = parallel::map_ranges(spheres.len(), GRAIN, |range| {
            let (mut ends, mut blocks) = (Vec::with_capacity(range.len()), Vec::with_capacity(5 * range.len()));
            let mut found = Vec::new();
            visit_rows(&grid, &keys, &keys, range, |k, rows| {
                let capacity = rows.iter().map(|row| row.len()).sum::<usize>() + WIDTH;
                if found.len() < capacity {
                    found.resize(capacity, 0);
                }
                let mut count = 0;
                find_within(level, &columns, rows, spheres[k].position, radius * radius, &mut found, &mut count);
                push_blocks(&found[..count], k as u32, &mut blocks);
                ends.push(blocks.len() as u32);
            });
            (ends, blocks)
        });
        self.order.clear();
        self.order.extend(spheres.iter().map(|sphere| sphere.index));
        self.cell_size = grid.cell_size;
        self.cells.clear();
        let is_first = |&k: &usize| k == 0 || keys[k] != keys[k - 1];
        let cells = (0..keys.len()).filter(is_first).map(|k| (k as u32, grid.cell_coordinates(keys[k])));
        self.cells.extend(cells);
        self.offsets.clear();
        self.offsets.push(0);
        let mut end = 0;
        for (ends, blocks) in &lists {
            self.offsets.extend(ends.iter().map(|offset| end + offset));
            end += blocks.len() as u32;
        }
        self.blocks.resize(end as usize, [0; WIDTH]);
        let (mut remaining, mut tasks) = (&mut self.blocks[..], Vec::with_capacity(lists.len()));
        for (_, blocks) in &lists {
            let (target, rest) = remaining.split_at_mut(blocks.len());
            remaining = rest;
            tasks.push((blocks, target));
        }
        parallel::for_each_item(tasks, |(blocks, target)| target.copy_from_slice(blocks));
    }

    /// Blocks of neighbours of the point at a sorted index.
    pub fn neighbours(&self, sorted_index: usize) -> &[[u32; WIDTH]] {
        &self.blocks[self.offsets[sorted_index] as usize..self.offsets[sorted_index + 1] as usize]
    }
}

/// Appends the neighbours of a point except itself; the last block is padded with the point.
fn push_blocks(found: &[u32], itself: u32, blocks: &mut Vec<[u32; WIDTH]>) {
    let (mut block, mut used) = ([itself; WIDTH], 0);
    for &other in found.iter().filter(|&&other| other != itself) {
        block[used] = other;
        used += 1;
        if used == WIDTH {
            blocks.push(block);
            (block, used) = ([itself; WIDTH], 0);
        }
    }
    if used > 0 {
        blocks.push(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neighbours::test_clouds::{brute_force, scattered};
    use std::collections::BTreeSet;

    #[test]
    fn neighbour_lists_are_all_points_within_the_radius() {
        for (count, half) in [(0, 1.0), (1, 1.0), (700, 0.5), (3000, 2.0)] {
            let spheres = scattered(count, half, |_| 0.1);
            let points: Vec<Vec3> = spheres.iter().map(|sphere| sphere.position).collect();
            let mut found = NeighbourTable::default();
            found.update(&[Vec3::ZERO, Vec3::X], 2.0);
            found.update(&points, 0.2);
            assert_eq!((found.order.len(), found.offsets.len()), (count, count + 1));
            let mut pairs = BTreeSet::new();
            for (k, &i) in found.order.iter().enumerate() {
                let blocks = found.neighbours(k);
                for &other in blocks.iter().flatten().filter(|&&other| other as usize != k) {
                    assert!(pairs.insert((i, found.order[other as usize])), "twice");
                }
            }
            let both = brute_force(&spheres, 0.0, |_, _| true).into_iter().flat_map(|(a, b)| [(a, b), (b, a)]);
            assert_eq!(pairs, both.collect());
        }
    }
}
