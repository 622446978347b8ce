//! A guide for implicit steps: nodes one by one, and clusters of them that move as if they were stiff.
//!
//! Conjugate gradients that are guided by single nodes carry news by one element a round; stiff bodies take hundreds of rounds. Here
//! the moves and turns of clusters, six unknowns each, make a small system (the large one, seen through them), which is solved
//! exactly; its solution is added to that of single nodes. Bodies that press on each other have one such system.

use super::holds::Hold;
use super::matrix::Matrix;
use super::pattern::{Cluster, longest_axis};
use super::walls::Freedom;
use crate::Real;
use crate::parallel;
use glam::{Mat3A, Vec3, Vec3A};
use std::ops::Range;

/// Rows per task.
const GRAIN: usize = 512;
/// Unknowns of a cluster.
const SIX: usize = 6;
/// Part of the diagonal that is added to it: more than the rounding of the large system. Moves with less than half of it are none that
/// clusters have (one node does not turn).
const FIRM: f64 = 1e-6;

/// About the inverse of the matrix of a system of bodies, whose rows follow each other.
pub(super) struct Guide<'a> {
    parts: Vec<Part<'a>>,
    factor: Factor,
}

/// A body of it.
pub(super) struct Part<'a> {
    matrix: &'a Matrix,
    rows: Range<usize>,
    /// First of its clusters among all.
    first_cluster: usize,
    /// How nodes may move, and how with their clusters, by row.
    freedom: &'a [Freedom],
    rigid: &'a [Freedom],
    /// Of the blocks on the diagonal, by row.
    inverses: Vec<Mat3A>,
    /// From the middles of clusters to their nodes, in parts of the largest cluster, by row.
    arms: Vec<Vec3A>,
}

/// The lower factor of a symmetric matrix, each row from its first number that is not 0 to the diagonal, whose inverse it has.
#[derive(Default)]
struct Factor {
    /// First column of each row.
    first: Vec<usize>,
    rows: Vec<Vec<Real>>,
}

impl<'a> Guide<'a> {
    /// Of bodies: for each its matrix, rows among all and where nodes are, m, by its rows; of how nodes may move, and how with their clusters;
    /// and of touches between rows.
    pub fn new(
        bodies: Vec<(&'a Matrix, Range<usize>, Vec<Vec3>)>,
        [freedom, rigid]: [&'a [Freedom]; 2],
        holds: &[Hold],
    ) -> Self {
        let mut extra = vec![Mat3A::ZERO; if holds.is_empty() { 0 } else { freedom.len() }];
        for hold in holds {
            hold.own().for_each(|(row, own)| extra[row] += own);
        }
        let mut clusters = 0;
        let parts = bodies.into_iter().map(|(matrix, rows, points)| {
            let (freedom, rigid) = (&freedom[rows.clone()], &rigid[rows.clone()]);
            let inverses = matrix.inverses(freedom, extra.get(rows.clone()).unwrap_or(&[]));
            let first_cluster = clusters;
            clusters += matrix.pattern.clusters.len();
            let arms = find_arms(&matrix.pattern.clusters, &points);
            Part { matrix, rows, first_cluster, freedom, rigid, inverses, arms }
        });
        let mut guide = Self { parts: parts.collect(), factor: Factor::default() };
        guide.factor = guide.factorize(holds);
        guide
    }

    fn factorize(&self, holds: &[Hold]) -> Factor {
        let own = self.parts.iter().flat_map(|part| {
            let clusters = &part.matrix.pattern.clusters;
            let rows = parallel::map(clusters.len(), 1, |number| part.rows_of(number));
            rows.into_iter().zip(clusters).map(|(rows, cluster)| (part.first_cluster + cluster.first, rows))
        });
        let (mut firsts, mut rows): (Vec<usize>, Vec<[Vec<f64>; SIX]>) = own.unzip();
        for hold in holds {
            let ends = hold.nodes.map(|row| self.end_of(row));
            let first = ends.iter().map(|end| end.cluster).min().unwrap_or(0);
            for end in &ends {
                // Rows reach back to the first cluster of the touch.
                let missing = firsts[end.cluster].saturating_sub(first);
                if missing > 0 {
                    firsts[end.cluster] = first;
                    rows[end.cluster].iter_mut().for_each(|row| drop(row.splice(0..0, vec![0.0; SIX * missing])));
                }
            }
            let count = hold.count();
            for (a, b) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
                let [row, column] = [&ends[a], &ends[b]];
                if row.cluster < column.cluster {
                    continue;
                }
                let mut seen = Seen::NOTHING;
                seen.add(row.arm, &row.freedom.both(&hold.block(a, b), &column.freedom), column.arm);
                let start = SIX * (column.cluster - firsts[row.cluster]);
                for (i, row) in rows[row.cluster].iter_mut().enumerate() {
                    row[start..].iter_mut().take(SIX).enumerate().for_each(|(j, sum)| *sum += seen.at(i, j));
                }
            }
        }
        let firsts = firsts.into_iter().flat_map(|first| [SIX * first; SIX]);
        Factor::new(firsts.collect(), rows.into_iter().flatten().collect())
    }

    /// Where a row is.
    fn end_of(&self, row: usize) -> End {
        let part = &self.parts[self.parts.partition_point(|part| part.rows.end <= row)];
        let own = row - part.rows.start;
        let cluster = part.first_cluster + part.matrix.pattern.cluster_of[own] as usize;
        End { cluster, arm: part.arms[own], freedom: part.rigid[own] }
    }

    /// Multiplies the guide.
    pub fn multiply(&self, left: &[Vec3], better: &mut [Vec3]) {
        let pushes = self.parts.iter().flat_map(|part| part.pushes(&left[part.rows.clone()]));
        let mut moves: Vec<Real> = pushes.flatten().flatten().collect();
        self.factor.solve(&mut moves);
        for part in &self.parts {
            let first = SIX * part.first_cluster;
            part.follow(&moves[first..], &left[part.rows.clone()], &mut better[part.rows.clone()]);
        }
    }
}

/// A row that touches.
struct End {
    cluster: usize,
    arm: Vec3A,
    freedom: Freedom,
}

impl Part<'_> {
    /// The six rows of a cluster in the small system, each from the first column to the diagonal.
    fn rows_of(&self, number: usize) -> [Vec<f64>; SIX] {
        let pattern = &self.matrix.pattern;
        let Cluster { rows, first } = &pattern.clusters[number];
        // Of each cluster before, and within this one without and on the diagonal.
        let mut beside = vec![Seen::NOTHING; number - first + 1];
        let mut own = Seen::NOTHING;
        for row in rows.clone() {
            own.add(
                self.arms[row],
                &self.rigid[row].both(&self.matrix.diagonal[row], &self.rigid[row]),
                self.arms[row],
            );
            for k in pattern.row(row) {
                let column = pattern.columns[k] as usize;
                if column > row {
                    break;
                }
                let block = self.rigid[row].both(&self.matrix.blocks[k], &self.rigid[column]);
                beside[pattern.cluster_of[column] as usize - first].add(self.arms[row], &block, self.arms[column]);
            }
        }
        let within = beside.pop().unwrap_or(Seen::NOTHING);
        std::array::from_fn(|i| {
            let before = beside.iter().flat_map(|seen| (0..SIX).map(|j| seen.at(i, j)));
            let last = (0..=i).map(|j| own.at(i, j) + within.at(i, j) + within.at(j, i));
            before.chain(last).collect()
        })
    }

    /// What is left for the moves and turns of each cluster.
    fn pushes(&self, left: &[Vec3]) -> Vec<[[Real; 3]; 2]> {
        let pattern = &self.matrix.pattern;
        parallel::map(pattern.clusters.len(), 1, |number| {
            let (mut push, mut twist) = (Vec3A::ZERO, Vec3A::ZERO);
            for row in pattern.clusters[number].rows.clone() {
                let left = Vec3A::from(self.rigid[row].of(left[row]));
                push += left;
                twist += self.arms[row].cross(left);
            }
            [push.to_array(), twist.to_array()]
        })
    }

    /// Moves nodes with their clusters and each alone.
    fn follow(&self, moves: &[Real], left: &[Vec3], better: &mut [Vec3]) {
        let pattern = &self.matrix.pattern;
        parallel::for_each_chunk(better, GRAIN, |first, better| {
            for (row, better) in (first..).zip(better) {
                let cluster = SIX * pattern.cluster_of[row] as usize;
                let [shift, turn] = [cluster, cluster + 3].map(|k| Vec3A::from_slice(&moves[k..k + 3]));
                let alone = Vec3::from(self.inverses[row] * Vec3A::from(left[row]));
                let together = self.rigid[row].of((shift + turn.cross(self.arms[row])).into());
                *better = self.freedom[row].of(alone) + together;
            }
        });
    }
}

/// From the middles of clusters to their nodes, in parts of the largest cluster.
fn find_arms(clusters: &[Cluster], points: &[Vec3]) -> Vec<Vec3A> {
    let sizes = clusters.iter().map(|cluster| longest_axis(points[cluster.rows.clone()].iter().copied()).1);
    let scale = 1.0 / sizes.fold(Real::MIN_POSITIVE, Real::max);
    let arms = clusters.iter().flat_map(|cluster| {
        let own = &points[cluster.rows.clone()];
        let middle = own.iter().sum::<Vec3>() / own.len() as Real;
        own.iter().map(move |point| Vec3A::from((*point - middle) * scale))
    });
    arms.collect()
}

/// What moves and turns of a cluster feel of moves and turns of another, summed over blocks between their nodes.
#[derive(Clone, Copy)]
struct Seen {
    move_move: Mat3A,
    move_turn: Mat3A,
    turn_move: Mat3A,
    turn_turn: Mat3A,
}

impl Seen {
    const NOTHING: Self =
        Self { move_move: Mat3A::ZERO, move_turn: Mat3A::ZERO, turn_move: Mat3A::ZERO, turn_turn: Mat3A::ZERO };

    /// A block between nodes with these arms. A turn `w` moves a node by `w x arm`, and a push `f` twists by `arm x f`.
    fn add(&mut self, row: Vec3A, block: &Mat3A, column: Vec3A) {
        let twist = crossing(row);
        let turned = *block * crossing(-column);
        self.move_move += *block;
        self.move_turn += turned;
        self.turn_move += twist * *block;
        self.turn_turn += twist * turned;
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        let block = match (row < 3, column < 3) {
            (true, true) => &self.move_move,
            (true, false) => &self.move_turn,
            (false, true) => &self.turn_move,
            (false, false) => &self.turn_turn,
        };
        f64::from(block.col(column % 3)[row % 3])
    }
}

/// The matrix that crosses `a` with a vector.
fn crossing(a: Vec3A) -> Mat3A {
    Mat3A::from_cols(Vec3A::new(0.0, a.z, -a.y), Vec3A::new(-a.z, 0.0, a.x), Vec3A::new(a.y, -a.x, 0.0))
}

impl Factor {
    /// Of rows from their first columns to the diagonal.
    fn new(first: Vec<usize>, mut rows: Vec<Vec<f64>>) -> Self {
        for i in 0..rows.len() {
            let (before, rest) = rows.split_at_mut(i);
            let own = &mut rest[0];
            for j in first[i]..i {
                let start = first[i].max(first[j]);
                let sum = dot(&own[start - first[i]..j - first[i]], &before[j][start - first[j]..j - first[j]]);
                let inverse = before[j][j - first[j]];
                own[j - first[i]] = (own[j - first[i]] - sum) * inverse;
            }
            let last = i - first[i];
            let firm = FIRM * own[last];
            let square = own[last] + firm - dot(&own[..last], &own[..last]);
            own[last] = if square > 0.5 * firm && square.is_finite() { 1.0 / square.sqrt() } else { 0.0 };
        }
        let rows = rows.into_iter().map(|row| row.into_iter().map(|x| x as Real).collect());
        Self { first, rows: rows.collect() }
    }

    /// Solves for unknowns, from the right side.
    fn solve(&self, x: &mut [Real]) {
        for (i, row) in self.rows.iter().enumerate() {
            if let Some((inverse, row)) = row.split_last() {
                let sum: Real = row.iter().zip(&x[self.first[i]..]).map(|(a, x)| a * x).sum();
                x[i] = (x[i] - sum) * inverse;
            }
        }
        for (i, row) in self.rows.iter().enumerate().rev() {
            if let Some((inverse, row)) = row.split_last() {
                let now = x[i] * inverse;
                x[i] = now;
                row.iter().zip(&mut x[self.first[i]..]).for_each(|(a, x)| *x -= a * now);
            }
        }
    }
}

/// Four sums side by side, which the compiler makes vectors of.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let ([a, b], [rest_a, rest_b]) = ([a, b].map(|x| x.chunks_exact(4)), [a, b].map(|x| x.chunks_exact(4).remainder()));
    for (a, b) in a.zip(b) {
        (0..4).for_each(|k| sums[k] += a[k] * b[k]);
    }
    let rest: f64 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_solves_for_moves_that_there_are_and_leaves_others_alone() {
        // A chain of springs: each row begins one column before the diagonal; the third unknown is none.
        let matrix = [[3.0, -1.0, 0.0, 0.0], [-1.0, 4.0, 0.0, -1.5], [0.0; 4], [0.0, -1.5, 0.0, 2.0]];
        let first = vec![0, 0, 1, 1];
        let rows = (0..4).map(|i| matrix[i][first[i]..=i].to_vec()).collect();
        let factor = Factor::new(first, rows);
        let right = [1.0, -2.0, 0.5, 3.0];
        let mut x = right.map(|x| x as Real);
        factor.solve(&mut x);
        assert_eq!(x[2], 0.0);
        for i in [0, 1, 3] {
            let back: f64 = (0..4).map(|j| matrix[i][j] * f64::from(x[j])).sum();
            // The diagonal is larger by a millionth, and f32 has seven digits.
            assert!((back - right[i]).abs() < 1e-5, "{i}: {back}");
        }
    }

    #[test]
    fn a_block_is_seen_as_the_work_of_turns() {
        let (row, column) = (Vec3A::new(0.3, -0.2, 0.9), Vec3A::new(-0.5, 0.4, 0.1));
        let block = Mat3A::from_cols(Vec3A::new(1.0, 0.2, 0.3), Vec3A::new(-0.4, 2.0, 0.6), Vec3A::new(0.1, 0.5, 3.0));
        let mut seen = Seen::NOTHING;
        seen.add(row, &block, column);
        let moved = |arm: Vec3A, k: usize| {
            let axis = Vec3A::AXES[k % 3];
            if k < 3 { axis } else { axis.cross(arm) }
        };
        for (i, j) in (0..SIX).flat_map(|i| (0..SIX).map(move |j| (i, j))) {
            let work = moved(row, i).dot(block * moved(column, j));
            // A few products of order 1 in f32.
            assert!((seen.at(i, j) - f64::from(work)).abs() < 1e-6, "{i}, {j}");
        }
    }
}
