//! Which points of a regular grid are in a shape, without looking at all of them.

use super::Shape;
use glam::Vec3;
use phyxel::{Real, parallel};
use std::sync::atomic::{AtomicI64, Ordering};

/// Blocks are split one after the other until there are this many; then each is a task of its own.
const TASKS: usize = 256;

/// Points `origin + step * (x, y, z)` with whole `x < counts[0]` and so on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    /// The first point, m.
    pub origin: Vec3,
    /// Distance of neighbouring points along the axes, m.
    pub step: Real,
    /// Number of points along the axes.
    pub counts: [u32; 3],
}

impl Grid {
    /// The point with the given index, m.
    pub fn point(&self, index: [u32; 3]) -> Vec3 {
        self.origin + self.step * Vec3::from_array(index.map(|i| i as Real))
    }
}

/// A range of indices along each axis, `from` included, `to` not.
#[derive(Clone, Copy)]
struct Block {
    from: [u32; 3],
    to: [u32; 3],
}

/// What is known about the points of a block.
enum Verdict {
    Inside,
    Outside,
    Unknown,
}

impl Block {
    fn edges(&self) -> [u32; 3] {
        std::array::from_fn(|axis| self.to[axis] - self.from[axis])
    }

    fn is_point(&self) -> bool {
        self.edges() == [1; 3]
    }

    /// Two halves across the longest edge.
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

    fn judge(&self, shape: &Shape, grid: &Grid, slack: Real, leap: bool) -> Verdict {
        let span = Vec3::from_array(self.edges().map(|edge| (edge - 1) as Real));
        if !self.is_point() && !leap {
            return Verdict::Unknown;
        }
        let centre = grid.point(self.from) + 0.5 * grid.step * span;
        let distance = shape.distance(centre) - slack;
        // A hundredth of a step more than the corner is away, for rounding.
        let radius = if self.is_point() { 0.0 } else { grid.step * (0.5 * span.length() + 0.01) };
        match () {
            () if distance <= -radius => Verdict::Inside,
            () if distance > radius => Verdict::Outside,
            () => Verdict::Unknown,
        }
    }

    /// Adds the indices of points whose distance is at most `slack`, and takes their number from what is left for all blocks; nothing if that
    /// is too little.
    fn collect(
        &self,
        shape: &Shape,
        (grid, slack, leap): (&Grid, Real, bool),
        left: &AtomicI64,
        found: &mut Vec<[u32; 3]>,
    ) -> Option<()> {
        match self.judge(shape, grid, slack, leap) {
            Verdict::Outside => {}
            Verdict::Inside => {
                let size = self.size();
                if left.fetch_sub(size, Ordering::Relaxed) < size {
                    return None;
                }
                self.each(|index| found.push(index));
            }
            Verdict::Unknown if self.is_point() => {}
            Verdict::Unknown if left.load(Ordering::Relaxed) < 0 => return None,
            Verdict::Unknown => {
                for half in self.halves() {
                    half.collect(shape, (grid, slack, leap), left, found)?;
                }
            }
        }
        Some(())
    }

    /// How many points it has.
    fn size(&self) -> i64 {
        self.edges().iter().map(|edge| i64::from(*edge)).fold(1, i64::saturating_mul)
    }

    fn each(&self, mut visit: impl FnMut([u32; 3])) {
        for z in self.from[2]..self.to[2] {
            for y in self.from[1]..self.to[1] {
                (self.from[0]..self.to[0]).for_each(|x| visit([x, y, z]));
            }
        }
    }
}

/// Indices of the grid points whose distance to the shape is at most `slack`, ordered by z, then y, then x.
///
/// Blocks that the distance of their centre shows to be inside or outside as a whole are not looked at
/// point by point. Shapes whose distance is not continuous are.
pub(crate) fn points_within(shape: &Shape, grid: &Grid, slack: Real) -> Vec<[u32; 3]> {
    few_points_within(shape, grid, slack, i64::MAX).unwrap_or_default()
}

/// The same; nothing, and that soon, if there are more than `most` of them.
pub(crate) fn few_points_within(shape: &Shape, grid: &Grid, slack: Real, most: i64) -> Option<Vec<[u32; 3]>> {
    if grid.counts.contains(&0) {
        return Some(Vec::new());
    }
    let leap = shape.is_continuous();
    let mut blocks = vec![Block { from: [0; 3], to: grid.counts }];
    while blocks.len() < TASKS && blocks.iter().any(|block| !block.is_point()) {
        blocks = blocks.iter().flat_map(|b| if b.is_point() { vec![*b] } else { b.halves().to_vec() }).collect();
    }
    let left = AtomicI64::new(most);
    let found = parallel::map(blocks.len(), 1, |block| {
        let mut found = Vec::new();
        blocks[block].collect(shape, (grid, slack, leap), &left, &mut found).map(|()| found)
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
    fn leaping_finds_the_same_points_as_looking_at_each() {
        let ring = Shape::Torus { radius: 1.0, tube: 0.3 };
        let placement = Placement { at: Vec3::new(0.1, 0.0, 0.0), turn: Vec3::new(30.0, 0.0, 10.0), scale: 0.9 };
        let shape = Shape::Union(vec![ring.placed(placement), Shape::Sphere { radius: 0.2 }]);
        let grid = Grid { origin: Vec3::splat(-1.5), step: 0.07, counts: [43, 44, 45] };
        for slack in [0.0, 0.05] {
            let found = points_within(&shape, &grid, slack);
            let mut expected = Vec::new();
            Block { from: [0; 3], to: grid.counts }.each(|index| {
                if shape.distance(grid.point(index)) <= slack {
                    expected.push(index);
                }
            });
            assert_eq!(found, expected);
            assert!(found.len() > 1000);
            assert_eq!(few_points_within(&shape, &grid, slack, found.len() as i64), Some(expected));
            assert_eq!(few_points_within(&shape, &grid, slack, found.len() as i64 - 1), None);
        }
    }
}
