//! Fixed-radius queries at arbitrary points.

use super::QuerySphere;
use super::grid::{CellSorted, UniformGrid};
use crate::Real;
use glam::Vec3;

/// Fixed-radius search among points sorted into cells.
pub(crate) struct RadiusSearch {
    grid: UniformGrid,
    sorted: CellSorted,
}

impl RadiusSearch {
    /// Search up to a radius, m.
    pub fn new(points: &[Vec3], radius: Real) -> Self {
        let sphere = |(i, &position): (usize, &Vec3)| QuerySphere { position, radius: 0.5 * radius, index: i as u32 };
        let spheres: Vec<QuerySphere> = points.iter().enumerate().map(sphere).collect();
        let grid = UniformGrid::enclosing(&spheres, 0.0);
        Self { sorted: grid.sort(&spheres), grid }
    }

    /// Calls `visitor` with the indices and squared distances of all points within the radius, and of some beyond.
    pub fn visit(&self, point: Vec3, mut visitor: impl FnMut(u32, Real)) {
        if self.sorted.spheres.is_empty() {
            return;
        }
        let key = self.grid.cell_key(point);
        let keys = &self.sorted.keys;
        for offset in self.grid.row_offsets() {
            let centre = key.wrapping_add_signed(offset);
            let start = keys.partition_point(|&other| other < centre - 1);
            let end = start + keys[start..].partition_point(|&other| other < centre + 2);
            let near = &self.sorted.spheres[start..end];
            near.iter().for_each(|sphere| visitor(sphere.index, sphere.position.distance_squared(point)));
        }
    }

    /// Nearest of all points.
    pub fn nearest(&self, point: Vec3) -> Option<u32> {
        let squared = |sphere: &QuerySphere| sphere.position.distance_squared(point);
        self.sorted.spheres.iter().min_by(|a, b| squared(a).total_cmp(&squared(b))).map(|sphere| sphere.index)
    }
}
