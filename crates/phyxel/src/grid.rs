//! Neighbours: which particles of two crowds are close to each other.
//!
//! Small crowds are compared directly. Large ones are sorted into the cells of a uniform grid, one grid per class of
//! radius, so that a boulder does not make the cells of sand large. Everything is done in index order.

use crate::Real;
use crate::parallel;
use glam::Vec3;
use phyxel_laws::lanes::{Level, WIDTH};
use phyxel_laws::search::{Columns, find_near};
use std::ops::Range;

/// A particle as the grid sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dot {
    pub position: Vec3,
    pub radius: Real,
    pub particle: u32,
}

/// Comparisons up to which a grid does not pay.
const DIRECT: usize = 4096;
/// Dots per task.
const GRAIN: usize = 1024;
/// Most cells along an axis; cells grow where the dots are spread farther.
const MOST_CELLS: Real = 1.0e6;

/// All pairs of a particle of one crowd and one of the other whose gap is below `margin` times the sum of their
/// radii, and for which `may_touch` is true. Each pair once, in an order that depends on nothing but the dots.
pub(crate) fn close_pairs(
    a: &[Dot],
    b: &[Dot],
    margin: Real,
    may_touch: impl Fn(&Dot, &Dot) -> bool + Sync,
) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    if a.len() * b.len() <= DIRECT {
        let crowd = Crowd::new(b.to_vec(), margin);
        for dot in a {
            crowd.scan(dot, 0..b.len(), &may_touch, &mut pairs);
        }
        return pairs;
    }
    let (a, b) = (sort_by_size(a), sort_by_size(b));
    for a in &a {
        for b in &b {
            let (fine, coarse) = if largest(a) <= largest(b) { (a, b) } else { (b, a) };
            pairs.append(&mut Grid::new(coarse, margin).pairs_with(fine, &may_touch));
        }
    }
    pairs
}

/// The same for pairs of particles of one crowd.
pub(crate) fn close_pairs_within(
    dots: &[Dot],
    margin: Real,
    may_touch: impl Fn(&Dot, &Dot) -> bool + Sync,
) -> Vec<(u32, u32)> {
    let classes = sort_by_size(dots);
    let mut pairs = Vec::new();
    for (number, coarse) in classes.iter().enumerate() {
        let grid = Grid::new(coarse, margin);
        for fine in &classes[..number] {
            pairs.append(&mut grid.pairs_with(fine, &may_touch));
        }
        pairs.append(&mut grid.pairs_within(&may_touch));
    }
    pairs
}

fn largest(dots: &[Dot]) -> Real {
    dots.iter().map(|dot| dot.radius).fold(0.0, Real::max)
}

/// Puts dots into classes of radii that differ by less than a factor of two, finest first.
fn sort_by_size(dots: &[Dot]) -> Vec<Vec<Dot>> {
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
    classes.retain(|dots| !dots.is_empty());
    classes
}

/// Dots that are compared with others, several at a time.
#[derive(Clone, Debug)]
struct Crowd {
    dots: Vec<Dot>,
    x: Vec<Real>,
    y: Vec<Real>,
    z: Vec<Real>,
    /// Largest radius, m.
    largest: Real,
    margin: Real,
}

impl Crowd {
    fn new(dots: Vec<Dot>, margin: Real) -> Self {
        let column = |axis: usize| dots.iter().map(|dot| dot.position[axis]).collect();
        let (x, y, z) = (column(0), column(1), column(2));
        Self { x, y, z, largest: largest(&dots), margin, dots }
    }

    /// Notes the pairs of a dot and those of a range of the crowd.
    fn scan(
        &self,
        dot: &Dot,
        range: Range<usize>,
        may_touch: &impl Fn(&Dot, &Dot) -> bool,
        pairs: &mut Vec<(u32, u32)>,
    ) {
        const BLOCK: usize = 8;
        let limit = (dot.radius + self.largest) * (1.0 + self.margin);
        let limit = limit * limit;
        let mut start = range.start;
        while start < range.end {
            let end = (start + BLOCK).min(range.end);
            let (x, y, z) = (&self.x[start..end], &self.y[start..end], &self.z[start..end]);
            let mut near = 0u32;
            for k in 0..end - start {
                let [dx, dy, dz] = [x[k] - dot.position.x, y[k] - dot.position.y, z[k] - dot.position.z];
                near |= u32::from(dx * dx + dy * dy + dz * dz < limit) << k;
            }
            while near != 0 {
                let other = &self.dots[start + near.trailing_zeros() as usize];
                let reach = (dot.radius + other.radius) * (1.0 + self.margin);
                if dot.position.distance_squared(other.position) < reach * reach && may_touch(dot, other) {
                    pairs.push((dot.particle, other.particle));
                }
                near &= near - 1;
            }
            start = end;
        }
    }
}

/// Cells of a uniform grid, as wide as its dots reach, numbered along x, then y, then z.
#[derive(Clone, Copy, Debug)]
struct Cells {
    origin: Vec3,
    width: Real,
    /// Number of cells along each axis, with two empty ones at each end: no neighbour is in the next row.
    counts: [u64; 3],
}

impl Cells {
    fn around(dots: &[Dot], margin: Real) -> Self {
        let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let parts = parallel::map_ranges(dots.len(), 8192, |part| {
            dots[part].iter().fold(start, |(min, max), dot| (min.min(dot.position), max.max(dot.position)))
        });
        let (min, max) = parts.into_iter().fold(start, |(min, max), part| (min.min(part.0), max.max(part.1)));
        // Cells that f32 can tell apart, and not too many.
        let coarsest = (max - min).max_element().max(max.abs().max_element()).max(min.abs().max_element());
        let width = (2.0 * largest(dots) * (1.0 + margin)).max(coarsest / MOST_CELLS);
        let origin = min - 2.0 * width;
        let counts = ((max - origin) / width).to_array().map(|n| n as u64 + 3);
        Self { origin, width, counts }
    }

    /// Number of the cell of a point; points outside belong to the empty cells around.
    fn key(&self, point: Vec3) -> u64 {
        let place = (point - self.origin) / self.width;
        let last = Vec3::from_array(self.counts.map(|n| (n - 2) as Real));
        let [x, y, z] = place.max(Vec3::ONE).min(last).to_array().map(|x| x as u64);
        x + self.counts[0] * (y + self.counts[1] * z)
    }

    /// Where a cell is, by its number.
    fn at(&self, key: u64) -> [u32; 3] {
        let [x, y, _] = self.counts;
        [key % x, key / x % y, key / x / y].map(|n| n as u32)
    }

    /// How far the middles of the nine rows of cells around a cell are from it.
    fn rows(&self) -> [i64; ROWS] {
        let [row, sheet] = [self.counts[0] as i64, (self.counts[0] * self.counts[1]) as i64];
        [-sheet - row, -sheet, -sheet + row, -row, 0, row, sheet - row, sheet, sheet + row]
    }

    /// The dots in the order of their cells; those of one cell keep theirs.
    fn sort(&self, dots: &[Dot]) -> Sorted {
        let mut order: Vec<(u64, u32)> = parallel::map(dots.len(), 8192, |i| (self.key(dots[i].position), i as u32));
        sort_by_key(&mut order, self.counts.iter().product());
        let dots = parallel::map(dots.len(), 8192, |k| dots[order[k].1 as usize]);
        Sorted { keys: order.into_iter().map(|(key, _)| key).collect(), dots }
    }
}

/// Rows of cells around a cell, and its own.
const ROWS: usize = 9;

/// Dots in the order of cells.
struct Sorted {
    keys: Vec<u64>,
    dots: Vec<Dot>,
}

/// Dots of similar size in the order of their cells.
struct Grid {
    cells: Cells,
    keys: Vec<u64>,
    crowd: Crowd,
}

impl Grid {
    fn new(dots: &[Dot], margin: Real) -> Self {
        let cells = Cells::around(dots, margin);
        let Sorted { keys, dots } = cells.sort(dots);
        Self { cells, keys, crowd: Crowd::new(dots, margin) }
    }

    /// Pairs of dots that are not larger than the grid's, and the grid's.
    fn pairs_with(&self, dots: &[Dot], may_touch: &(impl Fn(&Dot, &Dot) -> bool + Sync)) -> Vec<(u32, u32)> {
        let sorted = self.cells.sort(dots);
        self.visit(&sorted.keys, |k, around, pairs| {
            self.crowd.scan(&sorted.dots[k], around, may_touch, pairs);
        })
    }

    /// Pairs of the grid's dots: each with those that come later.
    fn pairs_within(&self, may_touch: &(impl Fn(&Dot, &Dot) -> bool + Sync)) -> Vec<(u32, u32)> {
        self.visit(&self.keys, |k, around, pairs| {
            let later = around.start.max(k + 1)..around.end;
            self.crowd.scan(&self.crowd.dots[k], later, may_touch, pairs);
        })
    }

    /// Calls `look` with each of the sorted dots that have these keys and the nine runs of the grid's dots around it.
    fn visit(&self, keys: &[u64], look: impl Fn(usize, Range<usize>, &mut Vec<(u32, u32)>) + Sync) -> Vec<(u32, u32)> {
        let found = parallel::map_ranges(keys.len(), GRAIN, |part| {
            let mut pairs = Vec::new();
            visit_runs(&self.cells, &self.keys, keys, part, |k, runs| {
                runs.iter().for_each(|run| look(k, run.clone(), &mut pairs));
            });
            pairs
        });
        found.concat()
    }
}

/// Calls `look` with each of some sorted dots, which have these `keys`, and the nine runs of dots of a grid around it.
fn visit_runs(
    cells: &Cells,
    grid: &[u64],
    keys: &[u64],
    part: Range<usize>,
    mut look: impl FnMut(usize, &[Range<usize>; ROWS]),
) {
    let rows = cells.rows();
    // Runs around cells that follow each other follow each other too.
    let mut runs: [Range<usize>; ROWS] = Default::default();
    let mut last = None;
    for k in part {
        if last != Some(keys[k]) {
            last = Some(keys[k]);
            for (run, row) in runs.iter_mut().zip(rows) {
                let middle = keys[k].wrapping_add_signed(row);
                run.start = advance(grid, run.start, middle - 1);
                run.end = advance(grid, run.end.max(run.start), middle + 2);
            }
        }
        look(k, &runs);
    }
}

/// First place at or after `from` whose key is not below `key`, in steps that double: it is near most times.
fn advance(keys: &[u64], from: usize, key: u64) -> usize {
    let mut stride = 1;
    let mut low = from;
    while low + stride <= keys.len() && keys[low + stride - 1] < key {
        low += stride;
        stride *= 2;
    }
    let high = (low + stride).min(keys.len());
    low + keys[low..high].partition_point(|&other| other < key)
}

/// Sorts by key, below `limit`, digit by digit; equal keys keep their order.
fn sort_by_key(items: &mut Vec<(u64, u32)>, limit: u64) {
    const BITS: u32 = 11;
    if items.len() < 1 << BITS {
        return items.sort_by_key(|&(key, _)| key);
    }
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

/// Points in the order of their cells, each with all others within a reach.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surroundings {
    /// Which point is at each place.
    pub order: Vec<u32>,
    /// First place of each cell that is not empty, and where it is, in cells; in the order of z, y, x.
    pub cells: Vec<(u32, [u32; 3])>,
    /// Width of cells, m.
    pub width: Real,
    /// First eight of each place's neighbours in `near`, and the end of the last.
    pub start: Vec<u32>,
    /// Places of neighbours, rising, eight at a time; a place that has no more has itself.
    pub near: Vec<[u32; WIDTH]>,
}

impl Surroundings {
    /// Looks for neighbours anew, in the room of those that were.
    pub fn find(&mut self, points: &[Vec3], reach: Real) {
        let dot = |i: usize| Dot { position: points[i], radius: 0.5 * reach, particle: i as u32 };
        let dots: Vec<Dot> = parallel::map(points.len(), 8192, dot);
        let cells = Cells::around(&dots, 0.0);
        let Sorted { keys, dots } = cells.sort(&dots);
        let columns = Columns::new(dots.iter().map(|dot| dot.position));
        let level = Level::detect();
        let parts = parallel::map_ranges(dots.len(), GRAIN, |part| {
            let (mut ends, mut near) = (Vec::with_capacity(part.len()), Vec::with_capacity(5 * part.len()));
            let mut found = Vec::new();
            visit_runs(&cells, &keys, &keys, part, |k, runs| {
                let room = runs.iter().map(|run| run.len()).sum::<usize>() + WIDTH;
                if found.len() < room {
                    found.resize(room, 0);
                }
                let mut count = 0;
                find_near(level, &columns, runs, dots[k].position, reach * reach, &mut found, &mut count);
                push_eights(&found[..count], k as u32, &mut near);
                ends.push(near.len() as u32);
            });
            (ends, near)
        });
        self.order.clear();
        self.order.extend(dots.iter().map(|dot| dot.particle));
        self.width = cells.width;
        self.cells.clear();
        self.cells.extend(
            (0..keys.len()).filter(|&k| k == 0 || keys[k] != keys[k - 1]).map(|k| (k as u32, cells.at(keys[k]))),
        );
        self.start.clear();
        self.start.push(0);
        let mut end = 0;
        for (ends, near) in &parts {
            self.start.extend(ends.iter().map(|place| end + place));
            end += near.len() as u32;
        }
        self.near.resize(end as usize, [0; WIDTH]);
        let (mut left, mut tasks) = (&mut self.near[..], Vec::with_capacity(parts.len()));
        for (_, near) in &parts {
            let (mine, rest) = left.split_at_mut(near.len());
            left = rest;
            tasks.push((near, mine));
        }
        parallel::for_each_item(tasks, |(near, mine)| mine.copy_from_slice(near));
    }

    /// Neighbours of a place, eight at a time.
    pub fn of(&self, place: usize) -> &[[u32; WIDTH]] {
        &self.near[self.start[place] as usize..self.start[place + 1] as usize]
    }
}

/// Adds the neighbours of a place, without itself; it fills up the last eight.
fn push_eights(found: &[u32], own: u32, near: &mut Vec<[u32; WIDTH]>) {
    let (mut eight, mut used) = ([own; WIDTH], 0);
    for &other in found.iter().filter(|&&other| other != own) {
        eight[used] = other;
        used += 1;
        if used == WIDTH {
            near.push(eight);
            (eight, used) = ([own; WIDTH], 0);
        }
    }
    if used > 0 {
        near.push(eight);
    }
}

/// Points sorted into cells, to be asked what is near.
pub(crate) struct Neighbourhood {
    cells: Cells,
    sorted: Sorted,
}

impl Neighbourhood {
    /// Answers for distances up to `reach`.
    pub fn new(points: &[Vec3], reach: Real) -> Self {
        let dot = |(i, &position): (usize, &Vec3)| Dot { position, radius: 0.5 * reach, particle: i as u32 };
        let dots: Vec<Dot> = points.iter().enumerate().map(dot).collect();
        let cells = Cells::around(&dots, 0.0);
        Self { sorted: cells.sort(&dots), cells }
    }

    /// Calls `look` with the numbers and squared distances of all points within reach, and of some beyond.
    pub fn visit(&self, point: Vec3, mut look: impl FnMut(u32, Real)) {
        if self.sorted.dots.is_empty() {
            return;
        }
        let key = self.cells.key(point);
        let keys = &self.sorted.keys;
        for row in self.cells.rows() {
            let middle = key.wrapping_add_signed(row);
            let start = keys.partition_point(|&other| other < middle - 1);
            let end = start + keys[start..].partition_point(|&other| other < middle + 2);
            let near = &self.sorted.dots[start..end];
            near.iter().for_each(|dot| look(dot.particle, dot.position.distance_squared(point)));
        }
    }

    /// The nearest of all points.
    pub fn nearest(&self, point: Vec3) -> Option<u32> {
        let away = |dot: &Dot| dot.position.distance_squared(point);
        self.sorted.dots.iter().min_by(|a, b| away(a).total_cmp(&away(b))).map(|dot| dot.particle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn scattered(count: usize, half: Real, radius: impl Fn(usize) -> Real) -> Vec<Dot> {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as Real / (1u64 << 24) as Real
        };
        (0..count)
            .map(|i| Dot {
                position: Vec3::new(next(), next(), next()) * 2.0 * half - half,
                radius: radius(i),
                particle: i as u32,
            })
            .collect()
    }

    fn sorted(pairs: &[(u32, u32)]) -> BTreeSet<(u32, u32)> {
        let sorted: BTreeSet<_> = pairs.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
        assert_eq!(sorted.len(), pairs.len(), "no pair twice");
        sorted
    }

    fn compared(dots: &[Dot], margin: Real, wanted: impl Fn(&Dot, &Dot) -> bool) -> BTreeSet<(u32, u32)> {
        let mut pairs = BTreeSet::new();
        for a in dots {
            for b in dots.iter().filter(|b| b.particle > a.particle && wanted(a, b)) {
                let reach = (a.radius + b.radius) * (1.0 + margin);
                if a.position.distance_squared(b.position) < reach * reach {
                    pairs.insert((a.particle, b.particle));
                }
            }
        }
        pairs
    }

    const RADII: [fn(usize) -> Real; 2] =
        [|_| 0.07, |i| if i.is_multiple_of(50) { 0.6 } else { 0.02 + 0.001 * (i % 30) as Real }];

    #[test]
    fn every_close_pair_of_two_crowds_is_found_once_whatever_their_sizes() {
        for radius in RADII {
            // Compared directly, and through grids.
            for (count, first, half) in [(150, 20, 0.5), (1500, 400, 2.0)] {
                for margin in [0.0, 0.3] {
                    let mut dots = scattered(count, half, radius);
                    // The crowds cover each other in part.
                    dots[..first].iter_mut().for_each(|dot| dot.position += Vec3::new(0.6, -0.2, 0.1) * half);
                    let (a, b) = dots.split_at(first);
                    let pairs = sorted(&close_pairs(a, b, margin, |_, _| true));
                    let apart = |a: &Dot, b: &Dot| (a.particle < first as u32) != (b.particle < first as u32);
                    assert_eq!(pairs, compared(&dots, margin, apart));
                    assert!(pairs.len() > 2, "{}", pairs.len());
                    let even = sorted(&close_pairs(a, b, margin, |a, b| (a.particle + b.particle).is_multiple_of(2)));
                    assert_eq!(even, pairs.into_iter().filter(|(a, b)| (a + b).is_multiple_of(2)).collect());
                }
            }
        }
    }

    #[test]
    fn surroundings_are_all_that_is_within_reach() {
        for (count, half) in [(0, 1.0), (1, 1.0), (700, 0.5), (3000, 2.0)] {
            let dots = scattered(count, half, |_| 0.1);
            let points: Vec<Vec3> = dots.iter().map(|dot| dot.position).collect();
            let mut found = Surroundings::default();
            found.find(&[Vec3::ZERO, Vec3::X], 2.0);
            found.find(&points, 0.2);
            assert_eq!((found.order.len(), found.start.len()), (count, count + 1));
            let mut pairs = BTreeSet::new();
            for (place, &i) in found.order.iter().enumerate() {
                let eights = &found.near[found.start[place] as usize..found.start[place + 1] as usize];
                for &other in eights.iter().flatten().filter(|&&other| other as usize != place) {
                    assert!(pairs.insert((i, found.order[other as usize])), "twice");
                }
            }
            let both = compared(&dots, 0.0, |_, _| true).into_iter().flat_map(|(a, b)| [(a, b), (b, a)]);
            assert_eq!(pairs, both.collect());
        }
    }

    #[test]
    fn every_close_pair_of_one_crowd_is_found_once() {
        for radius in RADII {
            for (count, half) in [(150, 0.5), (1500, 2.0)] {
                let dots = scattered(count, half, radius);
                let pairs = sorted(&close_pairs_within(&dots, 0.3, |_, _| true));
                assert_eq!(pairs, compared(&dots, 0.3, |_, _| true));
                assert!(pairs.len() > 2);
            }
        }
    }

    #[test]
    fn far_away_dots_and_no_dots_are_fine() {
        assert!(close_pairs(&[], &[], 0.1, |_, _| true).is_empty());
        assert!(close_pairs_within(&[], 0.1, |_, _| true).is_empty());
        let mut dots = scattered(200, 1.0, |_| 0.1);
        dots.iter_mut().for_each(|dot| dot.position = Vec3::splat(1.0e30));
        assert_eq!(close_pairs(&dots[..100], &dots[100..], 0.1, |_, _| true).len(), 10_000);
        assert_eq!(close_pairs_within(&dots, 0.1, |_, _| true).len(), 19_900);
        dots[..100].iter_mut().for_each(|dot| dot.position = Vec3::splat(-1.0e30));
        assert!(close_pairs(&dots[..100], &dots[100..], 0.1, |_, _| true).is_empty());
        assert_eq!(close_pairs_within(&dots, 0.1, |_, _| true).len(), 2 * 4950);
    }

    #[test]
    fn advancing_finds_what_searching_finds() {
        let keys = [2, 2, 5, 7, 7, 7, 9, 12];
        for from in 0..=keys.len() {
            for key in 0..14 {
                let expected = keys.partition_point(|&other| other < key).max(from);
                assert_eq!(advance(&keys, from, key), expected, "{from} {key}");
            }
        }
    }
}
