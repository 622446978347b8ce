//! Spatial hash: an unbounded uniform grid whose cells are addressed by a hash `[THMPG03]`.

use crate::Real;
use crate::geometry::Aabb;
use glam::{IVec3, Vec3, Vec4};

/// Boxes over more cells than this are tested against everything instead.
const MAX_CELLS: i64 = 512;

/// Points or boxes sorted by the hash of their cells, in input order within a hash.
#[derive(Clone, Debug, Default)]
pub(super) struct SpatialHash {
    size: Real,
    /// Start of the items of each hash, and the end of the last.
    starts: Vec<u32>,
    /// Positions of points (zero for boxes), with the item's number as the bits of the fourth component.
    items: Vec<Vec4>,
    /// Hashes and items in input order.
    unsorted: Vec<(u32, Vec4)>,
    /// Numbers of boxes over more than [`MAX_CELLS`] cells.
    oversized: Vec<u32>,
}

impl SpatialHash {
    /// Cell size, m.
    pub fn size(&self) -> Real {
        self.size
    }

    /// Replaces the contents by numbered points.
    pub fn sort_points(&mut self, size: Real, points: impl Iterator<Item = (u32, Vec3)>) {
        self.clear(size);
        for (number, position) in points.filter(|(_, position)| position.is_finite()) {
            self.unsorted.push((hash(cell_of(position, size)), position.extend(Real::from_bits(number))));
        }
        self.sort();
    }

    /// Replaces the contents by numbered boxes.
    pub fn sort_boxes(&mut self, size: Real, boxes: impl Iterator<Item = (u32, Aabb)>) {
        self.clear(size);
        for (number, aabb) in boxes.filter(|(_, aabb)| aabb.is_finite()) {
            let range = cells_of(&aabb, size);
            if cell_count(range) > MAX_CELLS {
                self.oversized.push(number);
            } else {
                let item = Vec3::ZERO.extend(Real::from_bits(number));
                for_each_hash(range, |hash| self.unsorted.push((hash, item)));
            }
        }
        self.sort();
    }

    fn clear(&mut self, size: Real) {
        self.size = size;
        self.unsorted.clear();
        self.oversized.clear();
    }

    fn sort(&mut self) {
        let mask = (2 * self.unsorted.len()).next_power_of_two() - 1;
        self.starts.clear();
        self.starts.resize(mask + 2, 0);
        // Counts, then ends, then, as items are filled in from the last on, starts.
        for (hash, _) in &self.unsorted {
            self.starts[*hash as usize & mask] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.items.clear();
        self.items.resize(self.unsorted.len(), Vec4::ZERO);
        for (hash, item) in self.unsorted.iter().rev() {
            let start = &mut self.starts[*hash as usize & mask];
            *start -= 1;
            self.items[*start as usize] = *item;
        }
    }

    /// Calls `visit` with the number of every point in a box, possibly more than once.
    pub fn points_in(&self, aabb: Aabb, mut visit: impl FnMut(u32, Vec3)) {
        let [low, high] = [aabb.min, aabb.max].map(|corner| corner.extend(0.0));
        self.visit_cells(&aabb, |items| {
            for item in items {
                // The fourth component is a number, not a coordinate.
                if (item.cmpge(low) & item.cmple(high)).bitmask() & 7 == 7 {
                    visit(item.w.to_bits(), item.truncate());
                }
            }
        });
    }

    /// Calls `visit` with the number of every box that may overlap a box, and of others, possibly more than
    /// once.
    pub fn boxes_near(&self, aabb: Aabb, mut visit: impl FnMut(u32)) {
        self.oversized.iter().for_each(|&number| visit(number));
        self.visit_cells(&aabb, |items| items.iter().for_each(|item| visit(item.w.to_bits())));
    }

    fn visit_cells(&self, aabb: &Aabb, mut visit: impl FnMut(&[Vec4])) {
        let range = cells_of(aabb, self.size);
        if cell_count(range) > MAX_CELLS {
            return visit(&self.items);
        }
        let Some(mask) = self.starts.len().checked_sub(2) else { return };
        for_each_hash(range, |hash| {
            let slot = hash as usize & mask;
            visit(&self.items[self.starts[slot] as usize..self.starts[slot + 1] as usize]);
        });
    }
}

fn cell_of(position: Vec3, size: Real) -> IVec3 {
    let truncated = (position / size).as_ivec3();
    // Truncation rounds towards 0: one too high for negative numbers.
    let is_below = (position / size).cmplt(truncated.as_vec3());
    IVec3::select(is_below, truncated.saturating_sub(IVec3::ONE), truncated)
}

/// First and last cell of a box along each axis.
fn cells_of(aabb: &Aabb, size: Real) -> [IVec3; 2] {
    [cell_of(aabb.min, size), cell_of(aabb.max, size)]
}

/// Number of cells of a range.
fn cell_count([low, high]: [IVec3; 2]) -> i64 {
    let side = |axis: usize| i64::from(high[axis]) - i64::from(low[axis]) + 1;
    side(0).saturating_mul(side(1)).saturating_mul(side(2))
}

/// Hash of `[THMPG03]` with its three large primes.
fn hash(cell: IVec3) -> u32 {
    let term = |axis: usize| (cell[axis] as u32).wrapping_mul([73_856_093, 19_349_663, 83_492_791][axis]);
    term(0) ^ term(1) ^ term(2)
}

/// Calls `visit` with the hash of every cell of a range.
fn for_each_hash([low, high]: [IVec3; 2], mut visit: impl FnMut(u32)) {
    for z in low.z..=high.z {
        for y in low.y..=high.y {
            for x in low.x..=high.x {
                visit(hash(IVec3::new(x, y, z)));
            }
        }
    }
}
