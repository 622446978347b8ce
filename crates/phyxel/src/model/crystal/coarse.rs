//! Coarse cells: pressure of whole regions at once.
//!
//! Conjugate gradients over particles carry news of pressure by one neighbourhood a round. Here the particles of a cell of the
//! search are one, eight cells are one of the next level, and so on; on each level flow goes between cells that share a side, as
//! `lightness V/H^2` says. A cycle down and up these levels is a symmetric, positive guess at the pressures for given rates, for
//! any number of particles as good (multigrid by aggregation, with the conductances of coarser levels halved after Braess `[B95]`,
//! as steps between cells cost twice what slopes do).

use crate::Real;
use crate::parallel;

/// Cells per task.
const GRAIN: usize = 1024;
/// Part of the way that smoothing goes.
const SMOOTHING: Real = 0.7;
/// Bits of a cell's place along an axis.
const BITS: u32 = 21;
/// Sides of a cell.
const SIDES: usize = 6;

/// A finer thing's share in its cell.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    /// How well it conducts, times the square of a cell's width.
    pub conducts: Real,
    /// What holds its pressure to none.
    pub holds: Real,
}

/// Levels of cells, finest first.
pub(super) struct Coarse {
    levels: Vec<Level>,
}

struct Level {
    /// Cell of each finer thing: of each place, or each cell of the level below.
    parents: Vec<u32>,
    /// First of each cell's finer things in `members`, and the end of the last.
    start: Vec<u32>,
    members: Vec<u32>,
    /// Cells beyond each side, or itself.
    beside: Vec<[u32; SIDES]>,
    conducts: Vec<[Real; SIDES]>,
    holds: Vec<Real>,
    diagonal: Vec<Real>,
    right: Vec<Real>,
    value: Vec<Real>,
    rest: Vec<Real>,
}

impl Coarse {
    /// From the first place of each cell and where it is, in the order of z, y, x; and the number of places.
    pub fn new(cells: &[(u32, [u32; 3])], places: usize) -> Self {
        let key = |at: [u32; 3]| u64::from(at[0]) | u64::from(at[1]) << BITS | u64::from(at[2]) << (2 * BITS);
        let mut keys: Vec<u64> = cells.iter().map(|(_, at)| key(*at)).collect();
        let mut start: Vec<u32> = cells.iter().map(|(first, _)| *first).collect();
        start.push(places as u32);
        let mut levels = vec![Level::new((0..places as u32).collect(), start, &keys)];
        while keys.len() > 1 {
            let mask = key([(1 << (BITS - 1)) - 1; 3]);
            let mut order: Vec<(u64, u32)> = keys.iter().zip(0..).map(|(key, i)| (key >> 1 & mask, i)).collect();
            order.sort_unstable();
            let (mut start, mut coarser) = (Vec::new(), Vec::<u64>::new());
            for (place, (key, _)) in order.iter().enumerate() {
                if coarser.last() != Some(key) {
                    start.push(place as u32);
                    coarser.push(*key);
                }
            }
            start.push(order.len() as u32);
            keys = coarser;
            levels.push(Level::new(order.into_iter().map(|(_, i)| i).collect(), start, &keys));
        }
        Self { levels }
    }

    /// Sets what places share.
    pub fn set(&mut self, share: impl Fn(usize) -> Share + Sync) {
        self.levels[0].take_places(share);
        for k in 1..self.levels.len() {
            let (finer, coarser) = self.levels.split_at_mut(k);
            coarser[0].take_cells(&finer[k - 1]);
        }
    }

    /// A guess at what belongs to `right`, by place; ask for it with [`at`](Self::at).
    pub fn guess(&mut self, right: impl Fn(usize) -> Real + Sync) {
        self.levels[0].gather(right);
        let last = self.levels.len() - 1;
        for k in 0..last {
            let (finer, coarser) = self.levels.split_at_mut(k + 1);
            let (finer, coarser) = (&mut finer[k], &mut coarser[0]);
            finer.begin();
            finer.compare();
            coarser.gather(|i| finer.rest[i]);
        }
        let coarsest = &mut self.levels[last];
        coarsest.begin();
        coarsest.smooth();
        for k in (0..last).rev() {
            let (finer, coarser) = self.levels.split_at_mut(k + 1);
            let (finer, coarser) = (&mut finer[k], &coarser[0]);
            parallel::for_each_chunk(&mut finer.value, GRAIN, |first, values| {
                (first..).zip(values).for_each(|(i, value)| *value += coarser.value[coarser.parents[i] as usize]);
            });
            finer.smooth();
        }
    }

    /// What was guessed for a place.
    pub fn at(&self, place: usize) -> Real {
        let finest = &self.levels[0];
        finest.value[finest.parents[place] as usize]
    }
}

impl Level {
    fn new(members: Vec<u32>, start: Vec<u32>, keys: &[u64]) -> Self {
        let count = keys.len();
        let mut parents = vec![0; members.len()];
        for (cell, range) in start.windows(2).enumerate() {
            members[range[0] as usize..range[1] as usize].iter().for_each(|&i| parents[i as usize] = cell as u32);
        }
        let mut beside: Vec<[u32; SIDES]> = (0..count as u32).map(|i| [i; SIDES]).collect();
        for axis in 0..3 {
            // Keys rise, and so do those of the cells beyond.
            let (step, mut other) = (1 << (axis as u32 * BITS), 0);
            for (cell, key) in keys.iter().enumerate() {
                while other < count && keys[other] < key + step {
                    other += 1;
                }
                if other < count && keys[other] == key + step {
                    beside[cell][2 * axis] = other as u32;
                    beside[other][2 * axis + 1] = cell as u32;
                }
            }
        }
        let zeros = vec![0.0; count];
        Self {
            parents,
            start,
            members,
            beside,
            conducts: vec![[0.0; SIDES]; count],
            holds: zeros.clone(),
            diagonal: zeros.clone(),
            right: zeros.clone(),
            value: zeros.clone(),
            rest: zeros,
        }
    }

    fn members(&self, cell: usize) -> &[u32] {
        &self.members[self.start[cell] as usize..self.start[cell + 1] as usize]
    }

    fn take_places(&mut self, share: impl Fn(usize) -> Share + Sync) {
        let shares: Vec<Share> = parallel::map(self.holds.len(), GRAIN, |cell| {
            self.members(cell).iter().fold(Share::default(), |sum, &i| {
                let share = share(i as usize);
                Share { conducts: sum.conducts + share.conducts, holds: sum.holds + share.holds }
            })
        });
        self.conducts = parallel::map(shares.len(), GRAIN, |cell| {
            self.beside[cell].map(|other| {
                let (a, b) = (shares[cell].conducts, shares[other as usize].conducts);
                if other as usize == cell || a * b == 0.0 { 0.0 } else { 2.0 * a * b / (a + b) }
            })
        });
        self.holds = shares.iter().map(|share| share.holds).collect();
        self.sum_up();
    }

    fn take_cells(&mut self, finer: &Level) {
        self.conducts = parallel::map(self.holds.len(), GRAIN, |cell| {
            let mut sums = [0.0; SIDES];
            for &i in self.members(cell) {
                let sides = finer.beside[i as usize].iter().zip(&finer.conducts[i as usize]);
                for (sum, (other, conducts)) in sums.iter_mut().zip(sides) {
                    let outside = self.parents[*other as usize] as usize != cell;
                    *sum += if outside { 0.5 * conducts } else { 0.0 };
                }
            }
            sums
        });
        self.holds = parallel::map(self.holds.len(), GRAIN, |cell| {
            self.members(cell).iter().map(|&i| finer.holds[i as usize]).sum()
        });
        self.sum_up();
    }

    fn sum_up(&mut self) {
        self.diagonal =
            parallel::map(self.holds.len(), GRAIN, |cell| self.holds[cell] + self.conducts[cell].iter().sum::<Real>());
    }

    fn gather(&mut self, right: impl Fn(usize) -> Real + Sync) {
        let (start, members) = (&self.start, &self.members);
        parallel::for_each_chunk(&mut self.right, GRAIN, |first, sums| {
            for (cell, sum) in (first..).zip(sums) {
                let members = &members[start[cell] as usize..start[cell + 1] as usize];
                *sum = members.iter().map(|&i| right(i as usize)).sum();
            }
        });
    }

    /// The first smoothing, of nothing.
    fn begin(&mut self) {
        let (right, diagonal) = (&self.right, &self.diagonal);
        parallel::for_each_chunk(&mut self.value, GRAIN, |first, values| {
            for (cell, value) in (first..).zip(values) {
                *value = if diagonal[cell] > 0.0 { SMOOTHING * right[cell] / diagonal[cell] } else { 0.0 };
            }
        });
    }

    /// What is left of the right side.
    fn compare(&mut self) {
        let (right, diagonal, value) = (&self.right, &self.diagonal, &self.value);
        let (beside, conducts) = (&self.beside, &self.conducts);
        parallel::for_each_chunk(&mut self.rest, GRAIN, |first, rests| {
            for (cell, rest) in (first..).zip(rests) {
                let mut left = right[cell] - diagonal[cell] * value[cell];
                for (other, conducts) in beside[cell].iter().zip(&conducts[cell]) {
                    left += conducts * value[*other as usize];
                }
                *rest = left;
            }
        });
    }

    fn smooth(&mut self) {
        self.compare();
        let (rest, diagonal) = (&self.rest, &self.diagonal);
        parallel::for_each_chunk(&mut self.value, GRAIN, |first, values| {
            for (cell, value) in (first..).zip(values) {
                if diagonal[cell] > 0.0 {
                    *value += SMOOTHING * rest[cell] / diagonal[cell];
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phyxel_laws::random::Dice;

    /// A block of cells of two places each, held at its left end.
    fn block(size: [u32; 3]) -> (Coarse, usize) {
        let mut cells = Vec::new();
        for z in 0..size[2] {
            for y in 0..size[1] {
                cells.extend((0..size[0]).map(|x| (0, [x + 2, y + 2, z + 2])));
            }
        }
        cells.iter_mut().zip((0..).step_by(2)).for_each(|(cell, first)| cell.0 = first);
        let places = 2 * cells.len();
        let mut coarse = Coarse::new(&cells, places);
        let left = |i: usize| cells[i / 2].1[0] == 2;
        coarse.set(|i| Share { conducts: 0.5, holds: if left(i) { 0.5 } else { 0.0 } });
        (coarse, places)
    }

    fn numbers(count: usize, seed: u64) -> Vec<Real> {
        let random = Dice::new(seed, 0);
        (0..count as u32).map(|i| 2.0 * random.unit(i, 0) - 1.0).collect()
    }

    fn guess(coarse: &mut Coarse, right: &[Real]) -> Vec<Real> {
        coarse.guess(|i| right[i]);
        (0..right.len()).map(|i| coarse.at(i)).collect()
    }

    fn dot(a: &[Real], b: &[Real]) -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    }

    #[test]
    fn guesses_are_symmetric_and_positive() {
        let (mut coarse, places) = block([13, 7, 5]);
        let (a, b) = (numbers(places, 1), numbers(places, 2));
        let (for_a, for_b) = (guess(&mut coarse, &a), guess(&mut coarse, &b));
        let size = (dot(&for_a, &a) * dot(&for_b, &b)).sqrt();
        // Sums of a thousand numbers with seven digits, through a few levels.
        assert!((dot(&for_a, &b) - dot(&for_b, &a)).abs() < 1e-4 * size);
        assert!(dot(&for_a, &a) > 0.0 && dot(&for_b, &b) > 0.0);
    }

    #[test]
    fn a_push_at_the_end_is_felt_all_along_in_one_guess() {
        // Along a rod held at the left with flow 1 from the right, the value rises by 1 a cell, which smoothing alone would find in
        // as many rounds as the square of its length.
        let (mut coarse, places) = block([64, 1, 1]);
        let right: Vec<Real> = (0..places).map(|i| if i == places - 1 { 1.0 } else { 0.0 }).collect();
        let found = guess(&mut coarse, &right);
        let exact: Vec<Real> = (0..places).map(|i| (i / 2 + 1) as Real).collect();
        let along = dot(&found, &exact) / dot(&exact, &exact);
        // Steps of two, four and more cells stand for slopes: right to a factor of two or so, and no more is needed.
        assert!(along > 0.4 && along < 1.6, "{along}");
    }
}
