//! Poisson-disk sampling of volumes by dart throwing with cell subdivision `[EMP12]`.

use super::{SequentialRng, expected_cells, lattice::centred_grid};
use crate::shape::{PointGrid, Shape, points_within, points_within_limit};
use glam::Vec3;
use phyxel::{Real, parallel};
use phyxel_laws::geometry::Aabb;
use std::collections::HashMap;

/// Initial minimum distance, in spacings. Random sequential addition saturates at a packing fraction of 0.38 with
/// balls of that diameter `[TUT06]`; stopping earlier, a density of one per spacing cubed needs about this.
const INITIAL_DISTANCE: Real = 0.87;
/// Range of the minimum distance, in spacings.
const DISTANCE_RANGE: [Real; 2] = [0.72, 1.1];
/// Relative error of the count that is accepted.
const COUNT_TOLERANCE: f64 = 0.05;
/// Largest number of attempts with different distances.
const MAX_ATTEMPTS: usize = 5;
/// Passes of dart throwing: in each, one of so many targets gets a dart, as early darts would often conflict; and
/// whether the targets are split afterwards.
const PASSES: [(u64, bool); 8] =
    [(8, false), (4, true), (8, false), (4, false), (2, false), (1, false), (1, false), (1, false)];
/// Number of cells beyond which a grid is stored in a hash map.
const MAX_DENSE_CELLS: u64 = 1 << 25;
/// Largest number of targets per expected cell. There are eight in a cube of one spacing, and twice as many around
/// a sheet or a thread.
const TARGETS_PER_CELL: f64 = 64.0;
/// Cells granted beyond the expected number.
const SPARE_CELLS: f64 = 10_000.0;
/// Cells handled by one task.
const GRAIN: usize = 4096;
/// Position stored for an empty cell: far from everything.
const NOWHERE: Vec3 = Vec3::INFINITY;

/// Blue noise with about one point per spacing cubed, sorted by cells of z, then y, then x. `None` when the shape is
/// too large for so small a spacing, or almost empty.
///
/// The number of darts that fit depends on the surface as well as on the volume, so the minimum distance is
/// corrected until the count is right.
pub(super) fn scatter(shape: &Shape, bounds: &Aabb, spacing: Real, seed: u64, volume: f64) -> Option<Vec<Vec3>> {
    let target = volume / f64::from(spacing).powi(3);
    let max_targets = TARGETS_PER_CELL * (expected_cells(bounds, volume, spacing) + SPARE_CELLS);
    let mut distance = INITIAL_DISTANCE * spacing;
    let mut best: Option<(f64, Vec<Vec3>)> = None;
    for attempt in 0..MAX_ATTEMPTS {
        let points =
            throw_darts((shape, bounds), distance, max_targets as i64, &SequentialRng::new(seed).fork(attempt as u64))?;
        let ratio = points.len() as f64 / target.max(1.0);
        let error = (ratio - 1.0).abs();
        if best.as_ref().is_none_or(|best| error < best.0) {
            best = Some((error, points));
        }
        if error <= COUNT_TOLERANCE {
            break;
        }
        distance *= libm::cbrt(ratio.clamp(0.5, 2.0)) as Real;
        distance = distance.clamp(DISTANCE_RANGE[0] * spacing, DISTANCE_RANGE[1] * spacing);
    }
    best.map(|(_, points)| points)
}

/// Background grid with at most one dart per cell.
enum DartGrid {
    Dense(Vec<Vec3>),
    Sparse(HashMap<u64, Vec3>),
}

impl DartGrid {
    fn new(count: u64) -> Self {
        if count <= MAX_DENSE_CELLS { Self::Dense(vec![NOWHERE; count as usize]) } else { Self::Sparse(HashMap::new()) }
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

/// Cube in which a dart may still stick: a cell or an octant of one.
#[derive(Clone, Copy)]
struct Target {
    /// Index of the cell.
    number: u64,
    centre: Vec3,
    /// Half the edge, m.
    half: Real,
    /// True if the whole cell is inside the shape.
    inner: bool,
}

impl Target {
    fn octant(&self, octant: u32) -> Self {
        let sign = Vec3::new((octant & 1) as Real, (octant >> 1 & 1) as Real, (octant >> 2) as Real) * 2.0 - 1.0;
        let half = 0.5 * self.half;
        Self { centre: self.centre + half * sign, half, ..*self }
    }

    /// Squared distance to the farthest corner, m2.
    fn max_distance_squared(&self, dart: Vec3) -> Real {
        ((dart - self.centre).abs() + self.half).length_squared()
    }
}

/// Dart board: a background grid whose cells are too small for two darts. Two cells on each border stay empty.
struct VolumeBoard<'a> {
    shape: &'a Shape,
    grid: PointGrid,
    distance: Real,
    cells: DartGrid,
    darts: Vec<(u64, Vec3)>,
    /// Index offsets of the cells within the minimum distance, nearest first.
    stencil: Vec<i64>,
}

/// Throws darts at the shape until almost none fits between the others.
///
/// In each pass some of the targets get one dart each. Candidates that hit the shape, clear of all earlier darts,
/// are found in parallel; then they are accepted serially, where their predecessors leave room. As in `[EMP12]`
/// targets are split so that covered octants can be discarded.
fn throw_darts(
    (shape, bounds): (&Shape, &Aabb),
    distance: Real,
    max_targets: i64,
    random: &SequentialRng,
) -> Option<Vec<Vec3>> {
    let mut board = VolumeBoard::new(shape, bounds, distance)?;
    let mut targets = board.targets(max_targets)?;
    for (pass, (one_of, split)) in PASSES.into_iter().enumerate() {
        let random = random.fork(pass as u64);
        let hits = parallel::map_ranges(targets.len(), GRAIN, |range| {
            range.filter_map(|i| board.throw(&targets[i], one_of, &random.fork(i as u64))).collect::<Vec<_>>()
        });
        for (number, point) in hits.into_iter().flatten() {
            board.stick(number, point);
        }
        if split {
            let octants = parallel::map_ranges(targets.len(), GRAIN, |range| {
                let mut octants = Vec::new();
                targets[range].iter().for_each(|target| board.split(target, &mut octants));
                octants
            });
            targets = octants.concat();
        }
    }
    board.darts.sort_unstable_by_key(|dart| dart.0);
    Some(board.darts.into_iter().map(|dart| dart.1).collect())
}

impl<'a> VolumeBoard<'a> {
    fn new(shape: &'a Shape, bounds: &Aabb, distance: Real) -> Option<Self> {
        // The diagonal of a cell is a little less than the minimum distance.
        let cell = 0.577 * distance;
        let counts = (bounds.extent() / cell).ceil().max(Vec3::ONE) + 4.0;
        let grid = centred_grid(bounds, cell, counts)?;
        let [x, y, z] = grid.counts.map(u64::from);
        let total = x.checked_mul(y)?.checked_mul(z).filter(|total| *total < 1 << 62)?;
        let mut offsets = Vec::new();
        for dz in -2i64..=2 {
            for dy in -2i64..=2 {
                for dx in -2i64..=2 {
                    let squared = dx * dx + dy * dy + dz * dz;
                    // Across the diagonal offset (2, 2, 2) the gap is 1.73 cells, 0.999 of the minimum distance.
                    if squared < 12 {
                        offsets.push((squared, dx + x as i64 * (dy + y as i64 * dz)));
                    }
                }
            }
        }
        offsets.sort_unstable();
        let stencil = offsets.into_iter().map(|entry| entry.1).collect();
        Some(Self { shape, grid, distance, cells: DartGrid::new(total), darts: Vec::new(), stencil })
    }

    /// Cells that intersect the shape; `None` if there are more than `limit`.
    fn targets(&self, limit: i64) -> Option<Vec<Target>> {
        // Half the diagonal of a cell is 0.867 of its edge.
        let half_diagonal = 0.867 * self.grid.step;
        // Two cells on each border are clear of the shape.
        let is_inside = |index: &[u32; 3]| (0..3).all(|axis| (2..self.grid.counts[axis] - 2).contains(&index[axis]));
        let candidates =
            points_within_limit(self.shape, &self.grid, half_diagonal, limit)?.into_iter().filter(is_inside);
        let inner = match self.shape.is_continuous() {
            true => points_within(self.shape, &self.grid, -half_diagonal),
            false => Vec::new(),
        };
        // Both are in the same order.
        let mut inner = inner.into_iter().peekable();
        let half = 0.5 * self.grid.step;
        let target = |index| {
            let inner = inner.next_if_eq(&index).is_some();
            Target { number: self.number(index), centre: self.grid.point(index), half, inner }
        };
        Some(candidates.map(target).collect())
    }

    fn number(&self, [x, y, z]: [u32; 3]) -> u64 {
        let [nx, ny, _] = self.grid.counts.map(u64::from);
        u64::from(x) + nx * (u64::from(y) + ny * u64::from(z))
    }

    /// Returns true if a dart in the stencil of the cell fulfils a condition, which no distant dart does.
    fn any_in_stencil(&self, number: u64, condition: impl Fn(Vec3) -> bool) -> bool {
        self.stencil.iter().any(|offset| condition(self.cells.get(number.wrapping_add_signed(*offset))))
    }

    fn has_room(&self, number: u64, point: Vec3) -> bool {
        let min_squared = self.distance * self.distance;
        !self.any_in_stencil(number, |dart| dart.distance_squared(point) < min_squared)
    }

    /// Throws a dart at one of `one_of` targets; a hit is in the shape and clear of all accepted darts.
    fn throw(&self, target: &Target, one_of: u64, random: &SequentialRng) -> Option<(u64, Vec3)> {
        let mut random = random.clone();
        if random.below(one_of) != 0 {
            return None;
        }
        let offset = random.uniform_vec3() * 2.0 - 1.0;
        let point = target.centre + target.half * offset;
        let hit = self.has_room(target.number, point) && (target.inner || self.shape.contains(point));
        hit.then_some((target.number, point))
    }

    /// Accepts a dart where there is room.
    fn stick(&mut self, number: u64, point: Vec3) {
        if self.has_room(number, point) {
            self.cells.set(number, point);
            self.darts.push((number, point));
        }
    }

    /// Adds the octants of a target that no single dart covers.
    fn split(&self, target: &Target, octants: &mut Vec<Target>) {
        let min_squared = self.distance * self.distance;
        // A dart that covers an octant covers the centre. At most 13 can: one there, twelve around it.
        let mut near = [NOWHERE; 16];
        let mut count = 0;
        for offset in &self.stencil {
            let dart = self.cells.get(target.number.wrapping_add_signed(*offset));
            if count < near.len() && dart.distance_squared(target.centre) < min_squared {
                near[count] = dart;
                count += 1;
            }
        }
        let is_open =
            |octant: &Target| near[..count].iter().all(|dart| octant.max_distance_squared(*dart) >= min_squared);
        octants.extend((0..8).map(|octant| target.octant(octant)).filter(is_open));
    }
}
