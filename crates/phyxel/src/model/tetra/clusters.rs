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
use phyxel_laws::envelope::Factor;
use phyxel_laws::lanes::Level;
use std::collections::BTreeMap;
use std::ops::Range;

/// Rows per task.
const GRAIN: usize = 512;
/// Clusters per task.
const CLUSTERS: usize = 16;
/// Unknowns of a cluster.
const SIX: usize = 6;
/// About the inverse of the matrix of a system of bodies, whose rows follow each other.
pub(super) struct Guide<'a> {
    parts: Vec<Part<'a>>,
    /// Where the unknowns of each cluster are among those of all.
    places: Vec<usize>,
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
    layout: &'a Layout,
}

/// How the clusters of a body lie in a step.
pub(super) struct Layout {
    middles: Vec<Vec3>,
    /// From the middles of clusters to their nodes, in parts of the largest cluster, by row.
    arms: Vec<Vec3A>,
    /// Of the blocks on the diagonal of nodes that nothing touches, by row.
    inverses: Vec<Mat3A>,
}

impl Layout {
    /// Of a body with its matrix, whose nodes are at these points by row, m.
    pub fn new(matrix: &Matrix, points: &[Vec3]) -> Self {
        let own = matrix.pattern.clusters.iter().map(|cluster| &points[cluster.rows.clone()]);
        let middles: Vec<Vec3> = own.map(|own| own.iter().sum::<Vec3>() / own.len() as Real).collect();
        let arms = find_arms(&matrix.pattern.clusters, &middles, points);
        Self {
            middles,
            arms,
            inverses: parallel::map(matrix.diagonal.len(), GRAIN, |row| matrix.diagonal[row].inverse()),
        }
    }
}

/// What clusters feel of each other without touches: the same for all searches of a step in which nodes may move so with them.
pub(super) struct Seeing {
    rigid: Vec<Freedom>,
    /// By the places of clusters.
    pairs: Vec<Pair>,
}

impl<'a> Guide<'a> {
    /// Of bodies: for each its matrix, rows among all and how its clusters lie; of how nodes may move, and how with their clusters;
    /// and of touches between rows. What was seen in the last search of the step counts again if nothing has changed.
    pub fn new(
        bodies: Vec<(&'a Matrix, Range<usize>, &'a Layout)>,
        [freedom, rigid]: [&'a [Freedom]; 2],
        holds: &[Hold],
        seeing: &mut Option<Seeing>,
    ) -> Self {
        let mut extra: BTreeMap<usize, Mat3A> = BTreeMap::new();
        for (row, own) in holds.iter().flat_map(Hold::own) {
            *extra.entry(row).or_insert(Mat3A::ZERO) += own;
        }
        let mut middles = Vec::new();
        let parts = bodies.into_iter().map(|(matrix, rows, layout)| {
            let (freedom, rigid) = (&freedom[rows.clone()], &rigid[rows.clone()]);
            let mut inverses = layout.inverses.clone();
            for (row, extra) in extra.range(rows.clone()).map(|(row, extra)| (row - rows.start, extra)) {
                inverses[row] = (matrix.diagonal[row] + *extra).inverse();
            }
            let first_cluster = middles.len();
            middles.extend_from_slice(&layout.middles);
            Part { matrix, rows, first_cluster, freedom, rigid, inverses, layout }
        });
        let parts = parts.collect();
        let mut guide = Self { parts, places: in_line(&middles), factor: Factor::default() };
        let known = seeing.take().filter(|known| known.rigid == rigid);
        let known = seeing.insert(known.unwrap_or_else(|| Seeing { rigid: rigid.to_vec(), pairs: guide.see() }));
        guide.factor = guide.factorize(&known.pairs, holds);
        guide
    }

    /// Pairs of clusters of bodies, by the places of the later and the earlier, and what each feels of the other.
    fn see(&self) -> Vec<Pair> {
        let own = self.parts.iter().flat_map(|part| {
            let clusters = &part.matrix.pattern.clusters;
            let pairs = parallel::map(clusters.len(), 1, |number| part.seen_by(number));
            let place = |number: usize| self.places[part.first_cluster + number];
            pairs.into_iter().enumerate().flat_map(move |(number, pairs)| {
                pairs.into_iter().map(move |(other, seen)| seen.between(place(number), place(other)))
            })
        });
        own.collect()
    }

    fn factorize(&self, own: &[Pair], holds: &[Hold]) -> Factor {
        let mut pairs = Vec::new();
        for hold in holds {
            let ends = hold.nodes.map(|row| self.end_of(row));
            let count = hold.count();
            for (a, b) in (0..count).flat_map(|a| (0..count).map(move |b| (a, b))) {
                let [row, column] = [&ends[a], &ends[b]];
                if row.place < column.place {
                    continue;
                }
                let mut seen = Seen::NOTHING;
                seen.add(row.arm, &row.freedom.both(&hold.block(a, b), &column.freedom), column.arm);
                pairs.push(seen.between(row.place, column.place));
            }
        }
        let mut firsts: Vec<usize> = (0..self.places.len()).collect();
        let pairs = || own.iter().chain(&pairs);
        pairs().for_each(|pair| firsts[pair.row] = firsts[pair.row].min(pair.column));
        let widths = firsts.iter().zip(1..).map(|(first, end)| SIX * (end - first));
        let mut rows: Vec<[Vec<f64>; SIX]> =
            widths.map(|width| std::array::from_fn(|i| vec![0.0; width - SIX + 1 + i])).collect();
        for &Pair { row, column, ref seen } in pairs() {
            let start = SIX * (column - firsts[row]);
            for (i, row) in rows[row].iter_mut().enumerate() {
                row[start..].iter_mut().take(SIX).enumerate().for_each(|(j, sum)| *sum += seen.at(i, j));
            }
        }
        let firsts = firsts.into_iter().flat_map(|first| [SIX * first; SIX]);
        Factor::new(Level::detect(), firsts.collect(), rows.into_iter().flatten().collect())
    }

    /// Where a row is.
    fn end_of(&self, row: usize) -> End {
        let part = &self.parts[self.parts.partition_point(|part| part.rows.end <= row)];
        let own = row - part.rows.start;
        let cluster = part.first_cluster + part.matrix.pattern.cluster_of[own] as usize;
        End { place: self.places[cluster], arm: part.layout.arms[own], freedom: part.rigid[own] }
    }

    /// Multiplies the guide.
    pub fn multiply(&self, left: &[Vec3], better: &mut [Vec3]) {
        let clusters =
            self.parts.iter().flat_map(|part| (0..part.matrix.pattern.clusters.len()).map(move |k| (part, k)));
        let clusters: Vec<(&Part, usize)> = clusters.collect();
        let pushes = parallel::map(clusters.len(), CLUSTERS, |k| {
            let (part, number) = clusters[k];
            part.push_on(number, &left[part.rows.clone()])
        });
        let mut moves = vec![[0.0; SIX]; self.places.len()];
        self.places.iter().zip(pushes).for_each(|(&place, push)| moves[place] = push);
        self.factor.solve(Level::detect(), moves.as_flattened_mut());
        let mut tasks = Vec::new();
        let mut rest = better;
        for part in &self.parts {
            let own;
            (own, rest) = std::mem::take(&mut rest).split_at_mut(part.rows.len());
            tasks.extend(own.chunks_mut(GRAIN).enumerate().map(|(k, better)| (part, GRAIN * k, better)));
        }
        parallel::for_each_item(tasks, |(part, first, better)| {
            let places = &self.places[part.first_cluster..];
            part.follow((&moves, places), &left[part.rows.clone()], first, better);
        });
    }
}

/// A row that touches.
struct End {
    /// Of its cluster.
    place: usize,
    arm: Vec3A,
    freedom: Freedom,
}

impl Part<'_> {
    /// What a cluster feels of those up to itself that it shares elements with, by their numbers.
    fn seen_by(&self, number: usize) -> Vec<(usize, Seen)> {
        let pattern = &self.matrix.pattern;
        let Cluster { rows, first } = pattern.clusters[number].clone();
        let mut beside = vec![None; number - first + 1];
        let mut own = Seen::NOTHING;
        for row in rows {
            own.add(
                self.layout.arms[row],
                &self.rigid[row].both(&self.matrix.diagonal[row], &self.rigid[row]),
                self.layout.arms[row],
            );
            for k in pattern.row(row) {
                let column = pattern.columns[k] as usize;
                let block = self.rigid[row].both(&self.matrix.edges[k], &self.rigid[column]);
                let seen = &mut beside[pattern.cluster_of[column] as usize - first];
                seen.get_or_insert(Seen::NOTHING).add(self.layout.arms[row], &block, self.layout.arms[column]);
            }
        }
        // Of two nodes of this cluster only one block was seen so far.
        if let Some(Some(within)) = beside.pop() {
            own = own.plus(&within).plus(&within.transpose());
        }
        let beside = (first..).zip(beside).filter_map(|(other, seen)| Some((other, seen?)));
        beside.chain([(number, own)]).collect()
    }

    /// What is left for the moves and turns of a cluster.
    fn push_on(&self, number: usize, left: &[Vec3]) -> [Real; SIX] {
        let (mut push, mut twist) = (Vec3A::ZERO, Vec3A::ZERO);
        for row in self.matrix.pattern.clusters[number].rows.clone() {
            let left = Vec3A::from(self.rigid[row].of(left[row]));
            push += left;
            twist += self.layout.arms[row].cross(left);
        }
        [push.x, push.y, push.z, twist.x, twist.y, twist.z]
    }

    /// Moves nodes from a row on with their clusters, of which it is told where they are among moves, and each alone.
    fn follow(&self, (moves, places): (&[[Real; SIX]], &[usize]), left: &[Vec3], first: usize, better: &mut [Vec3]) {
        for (row, better) in (first..).zip(better) {
            let own = &moves[places[self.matrix.pattern.cluster_of[row] as usize]];
            let [shift, turn] = [0, 3].map(|k| Vec3A::from_slice(&own[k..k + 3]));
            let alone = Vec3::from(self.inverses[row] * Vec3A::from(left[row]));
            let together = self.rigid[row].of((shift + turn.cross(self.layout.arms[row])).into());
            *better = self.freedom[row].of(alone) + together;
        }
    }
}

/// The place of each cluster in a line along the axis in which all reach farthest: clusters that touch are not far apart there, of
/// whatever body they are.
fn in_line(middles: &[Vec3]) -> Vec<usize> {
    let (axis, _) = longest_axis(middles.iter().copied());
    let mut line: Vec<usize> = (0..middles.len()).collect();
    line.sort_by(|a, b| middles[*a][axis].total_cmp(&middles[*b][axis]));
    let mut places = vec![0; line.len()];
    line.into_iter().enumerate().for_each(|(place, cluster)| places[cluster] = place);
    places
}

/// From the middles of clusters to their nodes, in parts of the largest cluster.
fn find_arms(clusters: &[Cluster], middles: &[Vec3], points: &[Vec3]) -> Vec<Vec3A> {
    let sizes = clusters.iter().map(|cluster| longest_axis(points[cluster.rows.clone()].iter().copied()).1);
    let scale = 1.0 / sizes.fold(Real::MIN_POSITIVE, Real::max);
    let arms = clusters.iter().zip(middles).flat_map(|(cluster, middle)| {
        points[cluster.rows.clone()].iter().map(move |point| Vec3A::from((*point - *middle) * scale))
    });
    arms.collect()
}

/// Clusters at two places, the later one first, and what it feels of the other.
struct Pair {
    row: usize,
    column: usize,
    seen: Seen,
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

    fn plus(&self, other: &Self) -> Self {
        Self {
            move_move: self.move_move + other.move_move,
            move_turn: self.move_turn + other.move_turn,
            turn_move: self.turn_move + other.turn_move,
            turn_turn: self.turn_turn + other.turn_turn,
        }
    }

    /// What the other cluster feels of the first.
    fn transpose(&self) -> Self {
        Self {
            move_move: self.move_move.transpose(),
            move_turn: self.turn_move.transpose(),
            turn_move: self.move_turn.transpose(),
            turn_turn: self.turn_turn.transpose(),
        }
    }

    /// Of what is at the first place by what is at the second.
    fn between(self, row: usize, column: usize) -> Pair {
        if row < column {
            Pair { row: column, column: row, seen: self.transpose() }
        } else {
            Pair { row, column, seen: self }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

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
