//! A grid without bounds: things by the cell that they are in, hashed.

use crate::Real;
use glam::{IVec3, Vec3};

/// Above this number of cells a box looks at everything instead.
const MOST_CELLS: i64 = 512;

/// A thing in a cell.
#[derive(Clone, Copy, Debug)]
struct Item {
    cell: IVec3,
    number: u32,
    place: Vec3,
}

/// Things in cells. Those in a cell are in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    size: Real,
    /// Where the things of each hash begin, and where the last end.
    starts: Vec<u32>,
    items: Vec<Item>,
    /// Things as they came.
    loose: Vec<Item>,
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
        let finite = points.filter(|(_, place)| place.is_finite());
        self.loose.extend(finite.map(|(number, place)| Item { cell: cell_of(place, size), number, place }));
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
                self.loose.extend(cells(range).map(|cell| Item { cell, number, place: low }));
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
        let hashes = (2 * self.loose.len()).next_power_of_two();
        self.starts.clear();
        self.starts.resize(hashes + 1, 0);
        // Counts, then ends, then, as things are put in from the last on, starts.
        for item in &self.loose {
            self.starts[hash(item.cell, hashes)] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.items.clone_from(&self.loose);
        for item in self.loose.iter().rev() {
            let start = &mut self.starts[hash(item.cell, hashes)];
            *start -= 1;
            self.items[*start as usize] = *item;
        }
    }

    /// Calls `see` with the number and the place of everything in the cells that a box touches. A box in several of them comes
    /// more than once.
    pub fn visit(&self, [low, high]: [Vec3; 2], mut see: impl FnMut(u32, Vec3)) {
        let range = [cell_of(low, self.size), cell_of(high, self.size)];
        self.large.iter().for_each(|&number| see(number, low));
        if count(range) > MOST_CELLS {
            self.items.iter().for_each(|item| see(item.number, item.place));
            return;
        }
        let Some(hashes) = self.starts.len().checked_sub(1) else { return };
        let [low, high] = range;
        for z in low.z..=high.z {
            for y in low.y..=high.y {
                for x in low.x..=high.x {
                    let cell = IVec3::new(x, y, z);
                    let at = hash(cell, hashes);
                    for item in &self.items[self.starts[at] as usize..self.starts[at + 1] as usize] {
                        if item.cell == cell {
                            see(item.number, item.place);
                        }
                    }
                }
            }
        }
    }
}

fn cell_of(place: Vec3, size: Real) -> IVec3 {
    (place / size).floor().as_ivec3()
}

/// How many cells there are from one to another.
fn count([low, high]: [IVec3; 2]) -> i64 {
    let side = |axis: usize| i64::from(high[axis]) - i64::from(low[axis]) + 1;
    side(0).saturating_mul(side(1)).saturating_mul(side(2))
}

/// The cells from one to another, in order.
fn cells([low, high]: [IVec3; 2]) -> impl Iterator<Item = IVec3> {
    let row = move |y: i32, z: i32| (low.x..=high.x).map(move |x| IVec3::new(x, y, z));
    (low.z..=high.z).flat_map(move |z| (low.y..=high.y).flat_map(move |y| row(y, z)))
}

/// That of `[THMPG03]`, with its three large primes; `hashes` is a power of two.
fn hash(cell: IVec3, hashes: usize) -> usize {
    let [x, y, z] = cell.to_array().map(|k| k as u32);
    let mixed = x.wrapping_mul(73_856_093) ^ y.wrapping_mul(19_349_663) ^ z.wrapping_mul(83_492_791);
    mixed as usize & (hashes - 1)
}
