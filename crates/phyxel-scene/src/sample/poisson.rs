//! Particles at random, but not close to each other.

use super::{Random, lattice::centred_grid, occupied_cells};
use crate::shape::{Bounds, Grid, Shape, few_points_within, points_within};
use glam::Vec3;
use phyxel::{Real, parallel};
use std::collections::HashMap;

/// Least distance to start with, in spacings. Darts thrown until none fits fill 0.38 of space with balls
/// of that diameter `[TUT06]`; giving up earlier, a density of one per spacing cubed needs about this.
const START: Real = 0.87;
/// The least distance never leaves this range, in spacings.
const RANGE: [Real; 2] = [0.72, 1.1];
/// A count this close to the target is taken.
const CLOSE: f64 = 0.05;
/// Tries with different distances.
const TRIES: usize = 5;
/// Rounds of throwing: in each, one of so many targets gets a dart, for while there are few darts, many would hit
/// each other; and the targets are split after it, or not.
const ROUNDS: [(u64, bool); 8] =
    [(8, false), (4, true), (8, false), (4, false), (2, false), (1, false), (1, false), (1, false)];
/// Grids with more cells than this are kept in a map.
const DENSE: u64 = 1 << 25;
/// Most targets for each particle that is expected, and for some more in case of need. Eight are in a cube of one spacing, and twice as many around
/// a sheet or a thread.
const MOST_TARGETS: f64 = 64.0;
const SPARE: f64 = 10_000.0;
/// Cells handled by one task.
const GRAIN: usize = 4096;
/// Where the dart of an empty cell is: far from everything.
const NOWHERE: Vec3 = Vec3::INFINITY;

/// Blue noise with about a point for each spacing cubed of the volume, sorted by cells of z, then y, then x. `None` when the shape is too
/// large for so small a spacing, or all but empty.
///
/// The number of darts that fit depends on the surface as well as on the volume, so the least distance is
/// corrected until the number is right.
pub(super) fn scatter(shape: &Shape, bounds: &Bounds, spacing: Real, seed: u64, volume: f64) -> Option<Vec<Vec3>> {
    let target = volume / f64::from(spacing).powi(3);
    let most = MOST_TARGETS * (occupied_cells(bounds, volume, spacing) + SPARE);
    let mut distance = START * spacing;
    let mut best: Option<(f64, Vec<Vec3>)> = None;
    for try_number in 0..TRIES {
        let points = throw_darts((shape, bounds), distance, most as i64, &Random::new(seed).fork(try_number as u64))?;
        let ratio = points.len() as f64 / target.max(1.0);
        let error = (ratio - 1.0).abs();
        if best.as_ref().is_none_or(|best| error < best.0) {
            best = Some((error, points));
        }
        if error <= CLOSE {
            break;
        }
        distance *= libm::cbrt(ratio.clamp(0.5, 2.0)) as Real;
        distance = distance.clamp(RANGE[0] * spacing, RANGE[1] * spacing);
    }
    best.map(|(_, points)| points)
}

/// The dart in each cell of a grid.
enum Cells {
    Dense(Vec<Vec3>),
    Sparse(HashMap<u64, Vec3>),
}

impl Cells {
    fn new(count: u64) -> Self {
        if count <= DENSE { Self::Dense(vec![NOWHERE; count as usize]) } else { Self::Sparse(HashMap::new()) }
    }

    fn get(&self, cell: u64) -> Vec3 {
        match self {
            Self::Dense(cells) => cells[cell as usize],
            Self::Sparse(cells) => cells.get(&cell).copied().unwrap_or(NOWHERE),
        }
    }

    fn set(&mut self, cell: u64, dart: Vec3) {
        match self {
            Self::Dense(cells) => cells[cell as usize] = dart,
            Self::Sparse(cells) => {
                cells.insert(cell, dart);
            }
        }
    }
}

/// A cube in which a dart may still stick: a cell or a part of one.
#[derive(Clone, Copy)]
struct Target {
    /// Number of the cell.
    number: u64,
    centre: Vec3,
    /// Half the edge, m.
    half: Real,
    /// Whether all of the cell is inside the shape.
    inner: bool,
}

impl Target {
    fn octant(&self, octant: u32) -> Self {
        let sign = Vec3::new((octant & 1) as Real, (octant >> 1 & 1) as Real, (octant >> 2) as Real) * 2.0 - 1.0;
        let half = 0.5 * self.half;
        Self { centre: self.centre + half * sign, half, ..*self }
    }

    /// Squared distance to the farthest corner, m2.
    fn farthest(&self, dart: Vec3) -> Real {
        ((dart - self.centre).abs() + self.half).length_squared()
    }
}

/// A grid whose cells are too small for two darts. Two cells on each border stay empty.
struct Board<'a> {
    shape: &'a Shape,
    grid: Grid,
    distance: Real,
    cells: Cells,
    darts: Vec<(u64, Vec3)>,
    /// The way to the cells within the least distance, nearest first.
    ways: Vec<i64>,
}

/// Throws darts at the shape until hardly any fits between the others.
///
/// In each round some of the targets get one dart each. Those that hit the shape, away from all earlier darts,
/// are found at once; then they stick one by one, where those before them leave room. As in `[EMP12]` targets
/// are split so that what is out of reach for further darts can be dropped.
fn throw_darts((shape, bounds): (&Shape, &Bounds), distance: Real, most: i64, random: &Random) -> Option<Vec<Vec3>> {
    let mut board = Board::new(shape, bounds, distance)?;
    let mut targets = board.targets(most)?;
    for (round, (one_of, split)) in ROUNDS.into_iter().enumerate() {
        let random = random.fork(round as u64);
        let hits = parallel::map_ranges(targets.len(), GRAIN, |range| {
            range.filter_map(|i| board.throw(&targets[i], one_of, &random.fork(i as u64))).collect::<Vec<_>>()
        });
        for (number, point) in hits.into_iter().flatten() {
            board.stick(number, point);
        }
        if split {
            let parts = parallel::map_ranges(targets.len(), GRAIN, |range| {
                let mut parts = Vec::new();
                targets[range].iter().for_each(|target| board.split(target, &mut parts));
                parts
            });
            targets = parts.concat();
        }
    }
    board.darts.sort_unstable_by_key(|dart| dart.0);
    Some(board.darts.into_iter().map(|dart| dart.1).collect())
}

impl<'a> Board<'a> {
    fn new(shape: &'a Shape, bounds: &Bounds, distance: Real) -> Option<Self> {
        // The diagonal of a cell is a little less than the least distance.
        let cell = 0.577 * distance;
        let counts = (bounds.size() / cell).ceil().max(Vec3::ONE) + 4.0;
        let grid = centred_grid(bounds, cell, counts)?;
        let [x, y, z] = grid.counts.map(u64::from);
        let total = x.checked_mul(y)?.checked_mul(z).filter(|total| *total < 1 << 62)?;
        let mut ways = Vec::new();
        for dz in -2i64..=2 {
            for dy in -2i64..=2 {
                for dx in -2i64..=2 {
                    let square = dx * dx + dy * dy + dz * dz;
                    // Cells that touch in a corner only, two steps away, are 1.73 cells apart, just out of reach.
                    if square < 12 {
                        ways.push((square, dx + x as i64 * (dy + y as i64 * dz)));
                    }
                }
            }
        }
        ways.sort_unstable();
        let ways = ways.into_iter().map(|way| way.1).collect();
        Some(Self { shape, grid, distance, cells: Cells::new(total), darts: Vec::new(), ways })
    }

    /// The cells that reach into the shape; nothing if there are more than `most`.
    fn targets(&self, most: i64) -> Option<Vec<Target>> {
        // Half the diagonal of a cell is 0.867 of its edge.
        let slack = 0.867 * self.grid.step;
        // Two cells on each border are out of reach of the shape.
        let is_inside = |index: &[u32; 3]| (0..3).all(|axis| (2..self.grid.counts[axis] - 2).contains(&index[axis]));
        let reached = few_points_within(self.shape, &self.grid, slack, most)?.into_iter().filter(is_inside);
        let inner = match self.shape.is_continuous() {
            true => points_within(self.shape, &self.grid, -slack),
            false => Vec::new(),
        };
        // Both are in the same order.
        let mut inner = inner.into_iter().peekable();
        let half = 0.5 * self.grid.step;
        let target = |index| {
            let inner = inner.next_if_eq(&index).is_some();
            Target { number: self.number(index), centre: self.grid.point(index), half, inner }
        };
        Some(reached.map(target).collect())
    }

    fn number(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [nx, ny, _] = self.grid.counts.map(u64::from);
        u64::from(x) + nx * (u64::from(y) + ny * u64::from(z))
    }

    /// Whether a dart near the cell fulfils a condition that a dart far away does not.
    fn any_around(&self, number: u64, condition: impl Fn(Vec3) -> bool) -> bool {
        self.ways.iter().any(|way| condition(self.cells.get(number.wrapping_add_signed(*way))))
    }

    fn has_room(&self, number: u64, point: Vec3) -> bool {
        let least = self.distance * self.distance;
        !self.any_around(number, |dart| dart.distance_squared(point) < least)
    }

    /// Throws a dart at one of `one_of` targets; a hit is in the shape and far enough from all darts that stick.
    fn throw(&self, target: &Target, one_of: u64, random: &Random) -> Option<(u64, Vec3)> {
        let mut random = random.clone();
        if random.below(one_of) != 0 {
            return None;
        }
        let offset = Vec3::new(random.unit(), random.unit(), random.unit()) * 2.0 - 1.0;
        let point = target.centre + target.half * offset;
        let hit = self.has_room(target.number, point) && (target.inner || self.shape.contains(point));
        hit.then_some((target.number, point))
    }

    /// Lets a dart stick where there is room.
    fn stick(&mut self, number: u64, point: Vec3) {
        if self.has_room(number, point) {
            self.cells.set(number, point);
            self.darts.push((number, point));
        }
    }

    /// Adds the eighths of a target that no single dart puts out of reach.
    fn split(&self, target: &Target, parts: &mut Vec<Target>) {
        let least = self.distance * self.distance;
        // A dart that reaches all of a part reaches the centre. No more than 13 can: one there, twelve around it.
        let mut near = [NOWHERE; 16];
        let mut count = 0;
        for way in &self.ways {
            let dart = self.cells.get(target.number.wrapping_add_signed(*way));
            if count < near.len() && dart.distance_squared(target.centre) < least {
                near[count] = dart;
                count += 1;
            }
        }
        let is_open = |part: &Target| near[..count].iter().all(|dart| part.farthest(*dart) >= least);
        parts.extend((0..8).map(|octant| target.octant(octant)).filter(is_open));
    }
}
