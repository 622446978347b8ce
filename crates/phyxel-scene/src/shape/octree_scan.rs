//! Hierarchical search for the points of a regular grid inside a shape, with culling by the distance bound.

use super::Shape;
use glam::Vec3;
use phyxel::{Real, parallel};
use std::sync::atomic::{AtomicI64, Ordering};

/// Number of blocks up to which they are split serially; then each is a task of its own.
const MIN_BLOCKS: usize = 256;

/// Regular grid of points `origin + step * (x, y, z)` with integers `x < counts[0]` and so on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointGrid {
    /// First point, m.
    pub origin: Vec3,
    /// Grid spacing, m.
    pub step: Real,
    /// Number of points along each axis.
    pub counts: [u32; 3],
}

impl PointGrid {
    /// Position of the point with an index, m.
    pub fn point(&self, index: [u32; 3]) -> Vec3 {
        self.origin + self.step * Vec3::from_array(index.map(|i| i as Real))
    }
}

/// Box of grid indices, `from` inclusive, `to` exclusive.
#[derive(Clone, Copy)]
struct IndexBlock {
    from: [u32; 3],
    to: [u32; 3],
}

/// Classification of the points of a block.
enum CellClass {
    Inside,
    Outside,
    Unknown,
}

impl IndexBlock {
    fn edges(&self) -> [u32; 3] {
        std::array::from_fn(|axis| self.to[axis] - self.from[axis])
    }

    fn is_point(&self) -> bool {
        self.edges() == [1; 3]
    }

    /// Halves of the block across its longest edge.
    fn halves(&self) -> [Self; 2] {
        let edges = self.edges();
        let longest = if edges[2] >= edges[1].max(edges[0]) {
            2
        } else if edges[1] >= edges[0] {
            1
        } else {
            0
        };
        let (mut low, mut high) = (*self, *self);
        let middle = self.from[longest] + edges[longest] / 2;
        low.to[longest] = middle;
        high.from[longest] = middle;
        [low, high]
    }

    fn classify(&self, shape: &Shape, grid: &PointGrid, level: Real, lipschitz: bool) -> CellClass {
        let span = Vec3::from_array(self.edges().map(|edge| (edge - 1) as Real));
        if !self.is_point() && !lipschitz {
            return CellClass::Unknown;
        }
        let centre = grid.point(self.from) + 0.5 * grid.step * span;
        let distance = shape.distance(centre) - level;
        // A hundredth of a step beyond the corner, for rounding.
        let radius = if self.is_point() { 0.0 } else { grid.step * (0.5 * span.length() + 0.01) };
        match () {
            () if distance <= -radius => CellClass::Inside,
            () if distance > radius => CellClass::Outside,
            () => CellClass::Unknown,
        }
    }

    /// Collects the indices of the points whose distance is at most `level`, and subtracts their number from the
    /// shared `remaining` budget; `None` once that is exceeded.
    fn collect(
        &self,
        shape: &Shape,
        (grid, level, lipschitz): (&PointGrid, Real, bool),
        remaining: &AtomicI64,
        found: &mut Vec<[u32; 3]>,
    ) -> Option<()> {
        match self.classify(shape, grid, level, lipschitz) {
            CellClass::Outside => {}
            CellClass::Inside => {
                let size = self.point_count();
                if remaining.fetch_sub(size, Ordering::Relaxed) < size {
                    return None;
                }
                self.for_each(|index| found.push(index));
            }
            CellClass::Unknown if self.is_point() => {}
            CellClass::Unknown if remaining.load(Ordering::Relaxed) < 0 => return None,
            CellClass::Unknown => {
                for half in self.halves() {
                    half.collect(shape, (grid, level, lipschitz), remaining, found)?;
                }
            }
        }
        Some(())
    }

    /// Number of points.
    fn point_count(&self) -> i64 {
        self.edges().iter().map(|edge| i64::from(*edge)).fold(1, i64::saturating_mul)
    }

    fn for_each(&self, mut visit: impl FnMut([u32; 3])) {
        for z in self.from[2]..self.to[2] {
            for y in self.from[1]..self.to[1] {
                (self.from[0]..self.to[0]).for_each(|x| visit([x, y, z]));
            }
        }
    }
}

/// Returns the indices of the grid points whose signed distance is at most `level`, ordered by z, then y, then x.
///
/// Blocks that the distance at their centre proves to be inside or outside are not subdivided, unless the
/// distance is discontinuous.
pub(crate) fn points_within(shape: &Shape, grid: &PointGrid, level: Real) -> Vec<[u32; 3]> {
    points_within_limit(shape, grid, level, i64::MAX).unwrap_or_default()
}

/// As [`points_within`], but returns `None`, early, if there are more than `limit` points.
pub(crate) fn points_within_limit(shape: &Shape, grid: &PointGrid, level: Real, limit: i64) -> Option<Vec<[u32; 3]>> {
    if grid.counts.contains(&0) {
        return Some(Vec::new());
    }
    let lipschitz = shape.is_continuous();
    let mut blocks = vec![IndexBlock { from: [0; 3], to: grid.counts }];
    while blocks.len() < MIN_BLOCKS && blocks.iter().any(|block| !block.is_point()) {
        blocks = blocks.iter().flat_map(|b| if b.is_point() { vec![*b] } else { b.halves().to_vec() }).collect();
    }
    let remaining = AtomicI64::new(limit);
    let found = parallel::map(blocks.len(), 1, |block| {
        let mut found = Vec::new();
        blocks[block].collect(shape, (grid, level, lipschitz), &remaining, &mut found).map(|()| found)
    });
    let mut found = found.into_iter().collect::<Option<Vec<_>>>()?.concat();
    parallel::sort_by_key(&mut found, |[x, y, z]| (*z, *y, *x));
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Placement;

    #[test]
    fn culling_finds_the_same_points_as_testing_each() {
        let ring = Shape::Torus { radius: 1.0, tube: 0.3 };
        let placement = Placement { at: Vec3::new(0.1, 0.0, 0.0), turn: Vec3::new(30.0, 0.0, 10.0), scale: 0.9 };
        let shape = Shape::Union(vec![ring.placed(placement), Shape::Sphere { radius: 0.2 }]);
        let grid = PointGrid { origin: Vec3::splat(-1.5), step: 0.07, counts: [43, 44, 45] };
        for level in [0.0, 0.05] {
            let found = points_within(&shape, &grid, level);
            let mut expected = Vec::new();
            IndexBlock { from: [0; 3], to: grid.counts }.for_each(|index| {
                if shape.distance(grid.point(index)) <= level {
                    expected.push(index);
                }
            });
            assert_eq!(found, expected);
            assert!(found.len() > 1000);
            assert_eq!(points_within_limit(&shape, &grid, level, found.len() as i64), Some(expected));
            assert_eq!(points_within_limit(&shape, &grid, level, found.len() as i64 - 1), None);
        }
    }
}
