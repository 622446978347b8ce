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
    margin: Real,
    /// Largest radius, m.
    largest: Real,
    /// Cells along x and y; with room around, so that no neighbour is in the next row.
    row: u64,
    sheet: u64,
    /// Cells that are not empty, in order.
    cells: Vec<Cell>,
    dots: Vec<Dot>,
    x: Vec<Real>,
    y: Vec<Real>,
    z: Vec<Real>,
    groups: Vec<u32>,
}

/// The dots of a cell.
#[derive(Clone, Copy, Debug)]
struct Cell {
    key: u64,
    first: u32,
    end: u32,
    /// The group of all its dots; 0 if they are of several.
    group: u32,
}

/// Cells per task.
const GRAIN: usize = 256;
/// Most cells along an axis; cells grow where the dots are spread farther.
const MOST_CELLS: Real = 1.0e6;
/// All pairs of particles whose gap is below `margin` times the sum of their radii, and for which `may_touch` is
/// true. Each pair once, in an order that depends on nothing but the dots.
pub(crate) fn close_pairs(
    dots: &[Dot],
    margin: Real,
    may_touch: impl Fn(&Dot, &Dot) -> bool + Sync,
) -> Vec<(u32, u32)> {
    let levels = sort_by_size(dots, margin);
    let mut pairs = Vec::new();
    for (number, fine) in levels.iter().enumerate() {
        for coarse in &levels[number..] {
            let found = parallel::map_ranges(fine.cells.len(), GRAIN, |range| {
                let mut found = Vec::new();
                let mut meet = |dot: usize, other: usize| {
                    let (dot, other) = (&fine.dots[dot], &coarse.dots[other]);
                    if may_touch(dot, other) {
                        found.push((dot.particle, other.particle));
                    }
                };
                let mut cursors = Cursors::default();
                for cell in &fine.cells[range] {
                    if std::ptr::eq(fine, coarse) {
                        fine.visit_later(cell, &mut cursors, &mut meet);
                    } else {
                        coarse.visit_around(fine, cell, &mut meet);
                    }
                }
                found
            });
            found.into_iter().for_each(|mut part| pairs.append(&mut part));
        }
    }
    pairs
}

/// Where the rows around the last cell began: those around the next one do not begin earlier.
#[derive(Default)]
struct Cursors([Option<usize>; 5]);

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
        // Cells that f32 can tell apart, and not too many.
        let coarsest = (max - min).max_element().max(max.abs().max_element()).max(min.abs().max_element());
        let cell = (2.0 * largest * (1.0 + margin)).max(coarsest / MOST_CELLS);
        let mut level = Self { origin: min - cell, cell, margin, largest, ..Self::default() };
        let counts = level.place_of(max).map(|n| n + 3);
        (level.row, level.sheet) = (counts[0], counts[0] * counts[1]);
        let mut order: Vec<(u64, u32)> =
            parallel::map(dots.len(), 8192, |i| (level.key(level.place_of(dots[i].position)), i as u32));
        sort_by_key(&mut order, level.sheet * counts[2]);
        level.dots = parallel::map(dots.len(), 8192, |k| dots[order[k].1 as usize]);
        level.x = parallel::map(dots.len(), 8192, |k| level.dots[k].position.x);
        level.y = parallel::map(dots.len(), 8192, |k| level.dots[k].position.y);
        level.z = parallel::map(dots.len(), 8192, |k| level.dots[k].position.z);
        level.groups = parallel::map(dots.len(), 8192, |k| level.dots[k].group);
        let runs = order.chunk_by(|a, b| a.0 == b.0).scan(0, |first, run| {
            *first += run.len();
            Some((run[0].0, *first - run.len()..*first))
        });
        level.cells = runs.map(|(key, range)| level.describe_cell(key, range)).collect();
        level
    }

    fn place_of(&self, position: Vec3) -> [u64; 3] {
        ((position - self.origin) / self.cell).max(Vec3::ZERO).to_array().map(|x| x as u64)
    }

    fn key(&self, place: [u64; 3]) -> u64 {
        place[0] + self.row * place[1] + self.sheet * place[2]
    }

    fn describe_cell(&self, key: u64, range: std::ops::Range<usize>) -> Cell {
        let group = self.groups[range.start];
        let alone = self.groups[range.clone()].iter().all(|&other| other == group);
        let (first, end) = (range.start as u32, range.end as u32);
        Cell { key, first, end, group: if alone { group } else { 0 } }
    }

    /// Calls `meet` with pairs of dots of a cell and of the cells around it that come later in the order, so that
    /// each pair is met once.
    fn visit_later(&self, cell: &Cell, cursors: &mut Cursors, meet: &mut impl FnMut(usize, usize)) {
        if cell.group == 0 {
            for dot in cell.first..cell.end {
                self.scan(&self.dots[dot as usize], dot + 1..cell.end, &mut |other| meet(dot as usize, other));
            }
        }
        // The rest of the own row, the next row, and three rows of the next sheet; neighbours of cells that follow
        // each other follow each other too.
        let rows = [0, self.row, self.sheet - self.row, self.sheet, self.sheet + self.row];
        for (row, cursor) in rows.into_iter().zip(&mut cursors.0) {
            let (from, to) =
                if row == 0 { (cell.key + 1, cell.key + 1) } else { (cell.key + row - 1, cell.key + row + 1) };
            let first = cursor.unwrap_or_else(|| self.cells.partition_point(|cell| cell.key < from));
            let first = first + self.cells[first..].iter().take_while(|other| other.key < from).count();
            *cursor = Some(first);
            for other in self.cells[first..].iter().take_while(|other| other.key <= to) {
                self.meet_cells(cell, other, meet);
            }
        }
    }

    /// Calls `meet` with pairs of dots of a cell of another level and of this one's cells around it.
    fn visit_around(&self, fine: &Self, cell: &Cell, meet: &mut impl FnMut(usize, usize)) {
        for place in cell.first..cell.end {
            let dot = &fine.dots[place as usize];
            let scaled = ((dot.position - self.origin) / self.cell).max(Vec3::ZERO);
            // Far beyond the outermost dots there is nothing.
            let [x, y, z] = scaled.min(Vec3::splat(2.0 * MOST_CELLS)).to_array().map(|x| x as u64);
            let columns = self.sheet / self.row;
            for dz in z.saturating_sub(1)..=z + 1 {
                for dy in y.saturating_sub(1)..=(y + 1).min(columns - 1) {
                    let end = self.key([(x + 1).min(self.row - 1), dy, dz]);
                    let from = self.key([x.saturating_sub(1).min(self.row - 1), dy, dz]);
                    let first = self.cells.partition_point(|cell| cell.key < from);
                    for other in self.cells[first..].iter().take_while(|other| other.key <= end) {
                        self.scan(dot, other.first..other.end, &mut |other| meet(place as usize, other));
                    }
                }
            }
        }
    }

    /// Calls `meet` with pairs of dots of two cells, unless all of them are of one group: most are.
    fn meet_cells(&self, cell: &Cell, other: &Cell, meet: &mut impl FnMut(usize, usize)) {
        if cell.group == other.group && cell.group != 0 {
            return;
        }
        for dot in cell.first as usize..cell.end as usize {
            self.scan(&self.dots[dot], other.first..other.end, &mut |other| meet(dot, other));
        }
    }

    /// Calls `meet` for the dots of a run that are near enough and of another group.
    fn scan(&self, dot: &Dot, range: std::ops::Range<u32>, meet: &mut impl FnMut(usize)) {
        const BLOCK: usize = 8;
        let range = range.start as usize..range.end as usize;
        let limit = (dot.radius + self.largest) * (1.0 + self.margin);
        let limit = limit * limit;
        let mut start = range.start;
        while start < range.end {
            let end = (start + BLOCK).min(range.end);
            let (x, y, z, groups) =
                (&self.x[start..end], &self.y[start..end], &self.z[start..end], &self.groups[start..end]);
            let mut near = 0u32;
            for k in 0..end - start {
                let [dx, dy, dz] = [x[k] - dot.position.x, y[k] - dot.position.y, z[k] - dot.position.z];
                let strange = (groups[k] != dot.group) | (dot.group == 0);
                let close = dx * dx + dy * dy + dz * dz < limit;
                near |= u32::from(close & strange) << k;
            }
            while near != 0 {
                let k = start + near.trailing_zeros() as usize;
                let other = &self.dots[k];
                let reach = (dot.radius + other.radius) * (1.0 + self.margin);
                if dot.position.distance_squared(other.position) < reach * reach {
                    meet(k);
                }
                near &= near - 1;
            }
            start = end;
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
            for margin in [0.0, 0.3] {
                let dots = scattered(1500, radius);
                let pairs = close_pairs(&dots, margin, |_, _| true);
                let sorted: BTreeSet<_> = pairs.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
                assert_eq!(sorted.len(), pairs.len(), "no pair twice");
                assert_eq!(sorted, all_pairs(&dots, margin));
                assert!(pairs.len() > 100);
            }
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
