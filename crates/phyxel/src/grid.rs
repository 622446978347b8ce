//! Neighbours: which particles of different bodies are close to each other.
//!
//! Particles that could touch another body are sorted into the cells of a uniform grid, one grid per class of
//! radius, so that a boulder does not make the cells of sand large. Everything is done in index order.

use crate::Real;
use crate::parallel;
use glam::Vec3;

/// A particle as the grid sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dot {
    pub position: Vec3,
    pub radius: Real,
    pub particle: u32,
    pub body: u32,
    /// Dots of one group do not meet each other; dots of group 0 meet everyone.
    pub group: u32,
}

/// Particles of similar size, in the order of their cells: x fastest, then y, then z.
#[derive(Clone, Debug, Default)]
struct Level {
    origin: Vec3,
    cell: Real,
    /// Cells along x and y; one more than there are, so that no neighbour is in the next row.
    row: u64,
    sheet: u64,
    /// Cell of each dot, rising.
    keys: Vec<u64>,
    dots: Vec<Dot>,
}

/// Dots per task.
const GRAIN: usize = 1024;
/// Most cells along an axis; cells grow where the dots are spread farther.
const MOST_CELLS: Real = 1.0e6;

/// All pairs of particles whose surfaces are nearer than `margin` times the sum of their radii, and for which
/// `may_touch` is true. Each pair once, in an order that depends on nothing but the dots.
pub(crate) fn close_pairs(
    dots: &[Dot],
    margin: Real,
    may_touch: impl Fn(&Dot, &Dot) -> bool + Sync,
) -> Vec<(u32, u32)> {
    let levels = sort_by_size(dots, margin);
    let mut pairs = Vec::new();
    for (number, fine) in levels.iter().enumerate() {
        for coarse in &levels[number..] {
            let found = parallel::map_ranges(fine.dots.len(), GRAIN, |range| {
                let mut found = Vec::new();
                let mut meet = |dot: &Dot, others: &[Dot]| {
                    for other in others {
                        let reach = (dot.radius + other.radius) * (1.0 + margin);
                        let near = dot.position.distance_squared(other.position) < reach * reach;
                        let strange = (dot.group != other.group) | (dot.group == 0);
                        // One branch that is seldom taken: most neighbours are of the same body.
                        if near & strange && may_touch(dot, other) {
                            found.push((dot.particle, other.particle));
                        }
                    }
                };
                if std::ptr::eq(fine, coarse) {
                    fine.visit_own(range, &mut meet);
                } else {
                    range.for_each(|place| coarse.visit_around(&fine.dots[place], &mut meet));
                }
                found
            });
            found.into_iter().for_each(|mut part| pairs.append(&mut part));
        }
    }
    pairs
}

/// Puts dots into levels of radii that differ by less than a factor of two, finest first.
fn sort_by_size(dots: &[Dot], margin: Real) -> Vec<Level> {
    let smallest = dots.iter().map(|dot| dot.radius).fold(Real::INFINITY, Real::min);
    let class = |dot: &Dot| ((dot.radius / smallest).log2() + 1e-3).floor().clamp(0.0, 63.0) as usize;
    let mut classes: Vec<Vec<Dot>> = Vec::new();
    for dot in dots {
        let class = class(dot);
        if classes.len() <= class {
            classes.resize_with(class + 1, Vec::new);
        }
        classes[class].push(*dot);
    }
    classes.into_iter().filter(|dots| !dots.is_empty()).map(|dots| Level::new(&dots, margin)).collect()
}

impl Level {
    fn new(dots: &[Dot], margin: Real) -> Self {
        let start = (Vec3::INFINITY, Vec3::NEG_INFINITY, 0.0);
        let (min, max, largest) = dots.iter().fold(start, |(min, max, largest): (Vec3, Vec3, Real), dot| {
            (min.min(dot.position), max.max(dot.position), largest.max(dot.radius))
        });
        let extent = (max - min).max_element();
        let cell = (2.0 * largest * (1.0 + margin)).max(extent / MOST_CELLS);
        let mut level = Self { origin: min - cell, cell, ..Self::default() };
        let counts = level.place_of(max).map(|n| n + 3);
        (level.row, level.sheet) = (counts[0], counts[0] * counts[1]);
        let mut order: Vec<(u64, u32)> =
            parallel::map(dots.len(), 8192, |i| (level.key(level.place_of(dots[i].position)), i as u32));
        sort_by_key(&mut order, level.sheet * counts[2]);
        level.keys = order.iter().map(|&(key, _)| key).collect();
        level.dots = order.iter().map(|&(_, i)| dots[i as usize]).collect();
        level
    }

    /// Cell of a position, counted from 1.
    fn place_of(&self, position: Vec3) -> [u64; 3] {
        ((position - self.origin) / self.cell).max(Vec3::ZERO).to_array().map(|x| x as u64)
    }

    fn key(&self, place: [u64; 3]) -> u64 {
        place[0] + self.row * place[1] + self.sheet * place[2]
    }

    /// Calls `meet` with each dot of a range and those of its neighbours that come later in the order, so that
    /// each pair is met once. Neighbours of cells that follow each other follow each other too.
    fn visit_own(&self, range: std::ops::Range<usize>, meet: &mut impl FnMut(&Dot, &[Dot])) {
        let rows = [self.row, self.sheet - self.row, self.sheet, self.sheet + self.row];
        let mut first = rows.map(|row| self.keys.partition_point(|&key| key + 1 < self.keys[range.start] + row));
        let mut last = first;
        for place in range {
            let key = self.keys[place];
            let dot = &self.dots[place];
            let rest = &self.keys[place + 1..];
            let own = rest.iter().take_while(|&&other| other <= key + 1).count();
            meet(dot, &self.dots[place + 1..place + 1 + own]);
            for (k, row) in rows.into_iter().enumerate() {
                while first[k] < self.keys.len() && self.keys[first[k]] + 1 < key + row {
                    first[k] += 1;
                }
                last[k] = last[k].max(first[k]);
                while last[k] < self.keys.len() && self.keys[last[k]] <= key + row + 1 {
                    last[k] += 1;
                }
                meet(dot, &self.dots[first[k]..last[k]]);
            }
        }
    }

    /// Calls `meet` with a dot of another level and all dots of this one around it.
    fn visit_around(&self, dot: &Dot, meet: &mut impl FnMut(&Dot, &[Dot])) {
        let scaled = (dot.position - self.origin) / self.cell;
        // Farther out than a cell beyond the outermost dots there is nothing.
        let [x, y, z] = scaled.clamp(Vec3::ZERO, Vec3::splat(2.0 * MOST_CELLS)).to_array().map(|x| x as u64);
        let top = self.keys.last().copied().unwrap_or(0);
        for dz in z.saturating_sub(1)..=z + 1 {
            for dy in y.saturating_sub(1)..=y + 1 {
                if dy >= self.sheet / self.row || self.key([0, dy, dz]) > top {
                    continue;
                }
                let end = (x + 1).min(self.row - 1);
                let start = x.saturating_sub(1).min(end);
                let [from, to] = [self.key([start, dy, dz]), self.key([end, dy, dz])];
                let first = self.keys.partition_point(|&key| key < from);
                let count = self.keys[first..].partition_point(|&key| key <= to);
                meet(dot, &self.dots[first..first + count]);
            }
        }
    }
}

/// Sorts by key, below `limit`, digit by digit; equal keys keep their order.
fn sort_by_key(items: &mut Vec<(u64, u32)>, limit: u64) {
    const BITS: u32 = 11;
    let mut other = vec![(0, 0); items.len()];
    let mut shift = 0;
    while shift < u64::BITS && limit >> shift > 0 {
        let digit = |key: u64| (key >> shift) as usize & ((1 << BITS) - 1);
        let mut next = [0u32; (1 << BITS) + 1];
        items.iter().for_each(|&(key, _)| next[digit(key) + 1] += 1);
        (0..1 << BITS).for_each(|d| next[d + 1] += next[d]);
        for &item in items.iter() {
            let place = &mut next[digit(item.0)];
            other[*place as usize] = item;
            *place += 1;
        }
        std::mem::swap(items, &mut other);
        shift += BITS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn scattered(count: usize, radius: impl Fn(usize) -> Real) -> Vec<Dot> {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as Real / (1u64 << 24) as Real
        };
        (0..count)
            .map(|i| Dot {
                position: Vec3::new(next(), next(), next()) * 4.0 - 2.0,
                radius: radius(i),
                particle: i as u32,
                body: (i % 7) as u32,
                group: (i % 7) as u32 + 1,
            })
            .collect()
    }

    fn all_pairs(dots: &[Dot], margin: Real) -> BTreeSet<(u32, u32)> {
        let mut pairs = BTreeSet::new();
        for a in dots {
            for b in dots.iter().filter(|b| b.particle > a.particle && b.body != a.body) {
                let reach = (a.radius + b.radius) * (1.0 + margin);
                if a.position.distance_squared(b.position) < reach * reach {
                    pairs.insert((a.particle, b.particle));
                }
            }
        }
        pairs
    }

    #[test]
    fn every_close_pair_is_found_once_whatever_the_sizes() {
        for radius in [|_| 0.07, |i: usize| if i.is_multiple_of(50) { 0.6 } else { 0.02 + 0.001 * (i % 30) as Real }] {
            let dots = scattered(1500, radius);
            let pairs = close_pairs(&dots, 0.2, |_, _| true);
            let sorted: BTreeSet<_> = pairs.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
            assert_eq!(sorted.len(), pairs.len(), "no pair twice");
            assert_eq!(sorted, all_pairs(&dots, 0.2));
            assert!(pairs.len() > 100);
        }
    }

    #[test]
    fn far_away_dots_and_no_dots_are_fine() {
        assert!(close_pairs(&[], 0.1, |_, _| true).is_empty());
        let mut dots = scattered(2, |_| 0.1);
        dots[0].position = Vec3::splat(1.0e30);
        dots[1].position = Vec3::splat(1.0e30);
        assert_eq!(close_pairs(&dots, 0.1, |_, _| true).len(), 1);
        dots[1].group = dots[0].group;
        assert!(close_pairs(&dots, 0.1, |_, _| true).is_empty());
        (dots[0].group, dots[1].group) = (0, 0);
        assert_eq!(close_pairs(&dots, 0.1, |_, _| true).len(), 1);
    }
}
