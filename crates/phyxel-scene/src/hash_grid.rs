//! Hash grid for the search of points near a point.

use glam::{IVec3, Vec3};
use phyxel::Real;
use std::collections::HashMap;

/// Unbounded uniform grid of items at points, of which only the occupied cells are stored.
pub(crate) struct HashGrid<T> {
    cell_size: Real,
    cells: HashMap<IVec3, Vec<T>>,
}

impl<T> HashGrid<T> {
    /// Empty grid with cells of edge `cell_size`, m.
    pub fn new(cell_size: Real) -> Self {
        Self { cell_size, cells: HashMap::new() }
    }

    /// Adds an item at a point.
    pub fn insert(&mut self, point: Vec3, item: T) {
        self.cells.entry(self.cell(point)).or_default().push(item);
    }

    /// Items of all cells that overlap the cube with faces `reach` away from `point`, m.
    pub fn around(&self, point: Vec3, reach: Real) -> impl Iterator<Item = &T> {
        let (low, high) = (self.cell(point - reach), self.cell(point + reach));
        let rows = (low.z..=high.z).flat_map(move |z| (low.y..=high.y).map(move |y| (y, z)));
        let cells = rows.flat_map(move |(y, z)| (low.x..=high.x).map(move |x| IVec3::new(x, y, z)));
        cells.filter_map(|cell| self.cells.get(&cell)).flatten()
    }

    fn cell(&self, point: Vec3) -> IVec3 {
        (point / self.cell_size).floor().as_ivec3()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_within_reach_is_found_and_none_is_far() {
        let mut random = crate::sample::SequentialRng::new(1);
        let points: Vec<Vec3> = (0..500).map(|_| 4.0 * random.uniform_vec3() - 2.0).collect();
        let mut grid = HashGrid::new(0.3);
        points.iter().for_each(|point| grid.insert(*point, *point));
        for (centre, reach) in points.iter().flat_map(|point| [(*point, 0.1), (*point, 0.3)]) {
            let found: Vec<Vec3> = grid.around(centre, reach).copied().collect();
            assert!(found.iter().all(|point| (point - centre).abs().max_element() < reach + 0.301));
            let within = |points: &[Vec3]| points.iter().filter(|point| point.distance(centre) <= reach).count();
            assert_eq!(within(&found), within(&points));
        }
    }
}
