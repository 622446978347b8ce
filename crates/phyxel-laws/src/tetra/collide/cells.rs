//! A grid without bounds: things by the hash of the cell that they are in.

use crate::Real;
use glam::{IVec3, Vec3, Vec4};

/// Above this number of cells a box looks at everything instead.
const MOST_CELLS: i64 = 512;

/// Points or boxes in cells. Those with the same hash are in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    size: Real,
    /// Where the things of each hash begin, and where the last end.
    starts: Vec<u32>,
    /// Numbers of things, as the bits of the fourth value, and where points are.
    items: Vec<Vec4>,
    /// Things with their hashes as they came.
    loose: Vec<(u32, Vec4)>,
    /// Things that are in too many cells.
    large: Vec<u32>,
}

impl Cells {
    /// Side of the cells, m.
    pub fn size(&self) -> Real {
        self.size
    }

    /// Takes points with numbers in place of what there was.
    pub fn sort_points(&mut self, size: Real, points: impl Iterator<Item = (u32, Vec3)>) {
        self.clear(size);
        for (number, place) in points.filter(|(_, place)| place.is_finite()) {
            self.loose.push((hash(cell_of(place, size)), place.extend(Real::from_bits(number))));
        }
        self.sort();
    }

    /// Takes boxes with numbers, from their lowest to their highest corners, in place of what there was.
    pub fn sort_boxes(&mut self, size: Real, boxes: impl Iterator<Item = (u32, [Vec3; 2])>) {
        self.clear(size);
        for (number, [low, high]) in boxes.filter(|(_, [low, high])| low.is_finite() && high.is_finite()) {
            let range = [cell_of(low, size), cell_of(high, size)];
            if count(range) > MOST_CELLS {
                self.large.push(number);
            } else {
                let item = Vec3::ZERO.extend(Real::from_bits(number));
                each_hash(range, |hash| self.loose.push((hash, item)));
            }
        }
        self.sort();
    }

    fn clear(&mut self, size: Real) {
        self.size = size;
        self.loose.clear();
        self.large.clear();
    }

    fn sort(&mut self) {
        let mask = (2 * self.loose.len()).next_power_of_two() - 1;
        self.starts.clear();
        self.starts.resize(mask + 2, 0);
        // Counts, then ends, then, as things are put in from the last on, starts.
        for (hash, _) in &self.loose {
            self.starts[*hash as usize & mask] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.items.clear();
        self.items.resize(self.loose.len(), Vec4::ZERO);
        for (hash, item) in self.loose.iter().rev() {
            let start = &mut self.starts[*hash as usize & mask];
            *start -= 1;
            self.items[*start as usize] = *item;
        }
    }

    /// Calls `see` with the number of every point in a box. One may come more than once.
    pub fn points_in(&self, range: [Vec3; 2], mut see: impl FnMut(u32, Vec3)) {
        let [low, high] = range.map(|corner| corner.extend(0.0));
        self.visit(range, |items| {
            for item in items {
                // The fourth value is a number in disguise.
                if (item.cmpge(low) & item.cmple(high)).bitmask() & 7 == 7 {
                    see(item.w.to_bits(), item.truncate());
                }
            }
        });
    }

    /// Calls `see` with the number of every box that may reach into a box, among others. One may come more than once.
    pub fn boxes_near(&self, range: [Vec3; 2], mut see: impl FnMut(u32)) {
        self.large.iter().for_each(|&number| see(number));
        self.visit(range, |items| items.iter().for_each(|item| see(item.w.to_bits())));
    }

    fn visit(&self, [low, high]: [Vec3; 2], mut see: impl FnMut(&[Vec4])) {
        let range = [cell_of(low, self.size), cell_of(high, self.size)];
        if count(range) > MOST_CELLS {
            return see(&self.items);
        }
        let Some(mask) = self.starts.len().checked_sub(2) else { return };
        each_hash(range, |hash| {
            let at = hash as usize & mask;
            see(&self.items[self.starts[at] as usize..self.starts[at + 1] as usize]);
        });
    }
}

fn cell_of(place: Vec3, size: Real) -> IVec3 {
    let cut = (place / size).as_ivec3();
    // Cut towards 0: one too high below it.
    let is_below = (place / size).cmplt(cut.as_vec3());
    IVec3::select(is_below, cut.saturating_sub(IVec3::ONE), cut)
}

/// How many cells there are from one to another.
fn count([low, high]: [IVec3; 2]) -> i64 {
    let side = |axis: usize| i64::from(high[axis]) - i64::from(low[axis]) + 1;
    side(0).saturating_mul(side(1)).saturating_mul(side(2))
}

/// That of `[THMPG03]`, with its three large primes.
fn hash(cell: IVec3) -> u32 {
    let part = |axis: usize| (cell[axis] as u32).wrapping_mul([73_856_093, 19_349_663, 83_492_791][axis]);
    part(0) ^ part(1) ^ part(2)
}

/// The hashes of all cells from one to another.
fn each_hash([low, high]: [IVec3; 2], mut see: impl FnMut(u32)) {
    for z in low.z..=high.z {
        for y in low.y..=high.y {
            for x in low.x..=high.x {
                see(hash(IVec3::new(x, y, z)));
            }
        }
    }
}
