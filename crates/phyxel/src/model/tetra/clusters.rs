//! A guide for implicit steps: nodes one by one, and clusters of them that move as if they were stiff.
//!
//! Conjugate gradients that are guided by single nodes carry news by one element a round; stiff bodies take hundreds of rounds. Here
//! the moves and turns of clusters, six unknowns each, make a small system (the large one, seen through them), which is solved
//! exactly; its solution is added to that of single nodes. Bodies that press on each other have one such system.

use super::holds::Hold;
use super::matrix::Matrix;
use super::pattern::{Cluster, longest_axis};
use super::touches::Touches;
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
/// Touches per task.
const TOUCHES: usize = 256;
/// Unknowns of a cluster.
const SIX: usize = 6;

/// About the inverse of the matrix of a system of bodies, whose rows follow each other.
pub(super) struct Guide<'a> {
    parts: &'a [Part<'a>],
    small: &'a Small,
    /// How nodes may move, by row.
    freedom: &'a [Freedom],
    /// Of the blocks on the diagonal, by row.
    inverses: Vec<Mat3A>,
}

/// A body of it.
pub(super) struct Part<'a> {
    matrix: &'a Matrix,
    rows: Range<usize>,
    /// First of its clusters among all.
    first_cluster: usize,
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

/// The small system of clusters of a search.
///
/// One of an earlier search would not do: what has begun to slide since would hardly be seen to be pushed.
pub(super) struct Small {
    /// How nodes move with their clusters, by row.
    rigid: Vec<Freedom>,
    /// Where the unknowns of each cluster are among those of all.
    places: Vec<usize>,
    factor: Factor,
}

/// Bodies of a system: for each its matrix, rows among all and how its clusters lie.
pub(super) fn parts_of<'a>(bodies: impl Iterator<Item = (&'a Matrix, Range<usize>, &'a Layout)>) -> Vec<Part<'a>> {
    let mut first_cluster = 0;
    let part = |(matrix, rows, layout): (&'a Matrix, Range<usize>, &'a Layout)| {
        let part = Part { matrix, rows, first_cluster, layout };
        first_cluster += layout.middles.len();
        part
    };
    bodies.map(part).collect()
}

/// What clusters feel of each other without touches: the same for all searches of a step in which nodes may move so with them.
pub(super) struct Seeing {
    rigid: Vec<Freedom>,
    /// By the places of clusters.
    pairs: Vec<Pair>,
}

impl Small {
    /// Of how nodes move with their clusters, and of touches. What was seen in the last search counts again if nodes move so still.
    pub fn new(parts: &[Part], rigid: Vec<Freedom>, touches: &Touches, seeing: &mut Option<Seeing>) -> Self {
        let middles: Vec<Vec3> = parts.iter().flat_map(|part| part.layout.middles.iter().copied()).collect();
        let mut small = Self { rigid, places: in_line(&middles), factor: Factor::default() };
        let known = seeing.take().filter(|known| known.rigid == small.rigid);
        let known =
            seeing.insert(known.unwrap_or_else(|| Seeing { rigid: small.rigid.clone(), pairs: small.see(parts) }));
        let touching = small.see_touches(parts, &touches.holds);
        small.factor = factorize(|| known.pairs.iter().chain(&touching), middles.len());
        small
    }

    /// Pairs of clusters of bodies, and what each feels of the other.
    fn see(&self, parts: &[Part]) -> Vec<Pair> {
        let own = parts.iter().flat_map(|part| {
            let clusters = &part.matrix.pattern.clusters;
            let pairs = parallel::map(clusters.len(), 1, |number| part.seen_by(number, &self.rigid[part.rows.clone()]));
            let place = |number: usize| self.places[part.first_cluster + number];
            pairs.into_iter().enumerate().flat_map(move |(number, pairs)| {
                pairs.into_iter().map(move |(other, seen)| seen.between(place(number), place(other)))
            })
        });
        own.collect()
    }

    /// Pairs of clusters that touches are between, and what each feels of the other.
    fn see_touches(&self, parts: &[Part], holds: &[Hold]) -> Vec<Pair> {
        let found = parallel::map_ranges(holds.len(), TOUCHES, |range| {
            let mut seen: BTreeMap<[usize; 2], Seen> = BTreeMap::new();
            for hold in &holds[range] {
                let count = hold.count();
                let ends: [End; 4] = std::array::from_fn(|k| self.end_of(parts, hold.nodes[k.min(count - 1)]));
                for (row, column) in (0..count).flat_map(|row| (0..count).map(move |column| (row, column))) {
                    let [a, b] = [&ends[row], &ends[column]];
                    if a.place >= b.place {
                        let block = a.freedom.both(&hold.block(row, column), &b.freedom);
                        seen.entry([a.place, b.place]).or_insert(Seen::NOTHING).add(a.arm, &block, b.arm);
                    }
                }
            }
            seen
        });
        found.into_iter().flatten().map(|([row, column], seen)| Pair { row, column, seen }).collect()
    }

    /// Where a row is.
    fn end_of(&self, parts: &[Part], row: usize) -> End {
        let part = &parts[parts.partition_point(|part| part.rows.end <= row)];
        let own = row - part.rows.start;
        let cluster = part.first_cluster + part.matrix.pattern.cluster_of[own] as usize;
        End { place: self.places[cluster], arm: part.layout.arms[own], freedom: self.rigid[row] }
    }
}

/// Factorises the system of so many clusters.
fn factorize<'a, I: Iterator<Item = &'a Pair>>(pairs: impl Fn() -> I, count: usize) -> Factor {
    let mut firsts: Vec<usize> = (0..count).collect();
    pairs().for_each(|pair| firsts[pair.row] = firsts[pair.row].min(pair.column));
    let widths = firsts.iter().zip(1..).map(|(first, end)| SIX * (end - first));
    let mut rows: Vec<[Vec<f64>; SIX]> =
        widths.map(|width| std::array::from_fn(|i| vec![0.0; width - SIX + 1 + i])).collect();
    for &Pair { row, column, ref seen } in pairs() {
        let start = SIX * (column - firsts[row]);
        for (row, seen) in rows[row].iter_mut().zip(seen.rows()) {
            row[start..].iter_mut().zip(seen).for_each(|(sum, seen)| *sum += f64::from(seen));
        }
    }
    let firsts = firsts.into_iter().flat_map(|first| [SIX * first; SIX]);
    Factor::new(Level::detect(), firsts.collect(), rows.into_iter().flatten().collect())
}

impl<'a> Guide<'a> {
    /// Of bodies, their small system, how nodes may move, and touches.
    pub fn new(parts: &'a [Part<'a>], small: &'a Small, freedom: &'a [Freedom], touches: &Touches) -> Self {
        let mut inverses = Vec::with_capacity(freedom.len());
        for part in parts {
            inverses.extend_from_slice(&part.layout.inverses);
            for (row, own) in touches.own(part.rows.clone()) {
                inverses[row] = (part.matrix.diagonal[row - part.rows.start] + own).inverse();
            }
        }
        Self { parts, small, freedom, inverses }
    }

    /// Multiplies the guide.
    pub fn multiply(&self, left: &[Vec3], better: &mut [Vec3]) {
        let Small { rigid, places, factor } = self.small;
        let clusters =
            self.parts.iter().flat_map(|part| (0..part.matrix.pattern.clusters.len()).map(move |k| (part, k)));
        let clusters: Vec<(&Part, usize)> = clusters.collect();
        let pushes = parallel::map(clusters.len(), CLUSTERS, |k| clusters[k].0.push_on(clusters[k].1, rigid, left));
        let mut moves = vec![[0.0; SIX]; places.len()];
        places.iter().zip(pushes).for_each(|(&place, push)| moves[place] = push);
        // One thread has to do the small system alone; others do single nodes meanwhile.
        parallel::both(
            || factor.solve(Level::detect(), moves.as_flattened_mut()),
            || parallel::for_each_chunk(better, GRAIN, |first, better| self.alone(left, first, better)),
        );
        let (mut tasks, mut rest) = (Vec::new(), better);
        for part in self.parts {
            let own;
            (own, rest) = std::mem::take(&mut rest).split_at_mut(part.rows.len());
            tasks.extend(own.chunks_mut(GRAIN).enumerate().map(|(k, own)| (part, GRAIN * k, own)));
        }
        parallel::for_each_item(tasks, |(part, first, better)| {
            part.follow((&moves, &places[part.first_cluster..]), &rigid[part.rows.clone()], first, better);
        });
    }

    /// Moves nodes from a row on, each alone.
    fn alone(&self, left: &[Vec3], first: usize, better: &mut [Vec3]) {
        for (row, better) in (first..).zip(better) {
            *better = self.freedom[row].of((self.inverses[row] * Vec3A::from(left[row])).into());
        }
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
    /// What a cluster feels of those up to itself that it shares elements with, by their numbers; of how nodes of the body move with their clusters.
    fn seen_by(&self, number: usize, rigid: &[Freedom]) -> Vec<(usize, Seen)> {
        let pattern = &self.matrix.pattern;
        let Cluster { rows, first } = pattern.clusters[number].clone();
        let mut beside = vec![None; number - first + 1];
        let mut own = Seen::NOTHING;
        for row in rows {
            own.add(
                self.layout.arms[row],
                &rigid[row].both(&self.matrix.diagonal[row], &rigid[row]),
                self.layout.arms[row],
            );
            for k in pattern.row(row) {
                let column = pattern.columns[k] as usize;
                let block = rigid[row].both(&self.matrix.edges[k], &rigid[column]);
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
    fn push_on(&self, number: usize, rigid: &[Freedom], left: &[Vec3]) -> [Real; SIX] {
        let (rigid, left) = (&rigid[self.rows.clone()], &left[self.rows.clone()]);
        let (mut push, mut twist) = (Vec3A::ZERO, Vec3A::ZERO);
        for row in self.matrix.pattern.clusters[number].rows.clone() {
            let left = Vec3A::from(rigid[row].of(left[row]));
            push += left;
            twist += self.layout.arms[row].cross(left);
        }
        [push.x, push.y, push.z, twist.x, twist.y, twist.z]
    }

    /// Moves nodes of the body from a row on with their clusters, of which it is told where they are among moves.
    fn follow(
        &self,
        (moves, places): (&[[Real; SIX]], &[usize]),
        rigid: &[Freedom],
        first: usize,
        better: &mut [Vec3],
    ) {
        for (row, better) in (first..).zip(better) {
            let own = &moves[places[self.matrix.pattern.cluster_of[row] as usize]];
            let [shift, turn] = [0, 3].map(|k| Vec3A::from_slice(&own[k..k + 3]));
            *better += rigid[row].of((shift + turn.cross(self.layout.arms[row])).into());
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

    /// What the first feels of the moves and turns of the other, row by row.
    fn rows(&self) -> [[Real; SIX]; SIX] {
        let upper = (self.move_move.transpose(), self.move_turn.transpose());
        let lower = (self.turn_move.transpose(), self.turn_turn.transpose());
        std::array::from_fn(|i| {
            let (left, right) = if i < 3 { upper } else { lower };
            let ([a, b, c], [d, e, f]) = (left.col(i % 3).to_array(), right.col(i % 3).to_array());
            [a, b, c, d, e, f]
        })
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
            assert!((seen.rows()[i][j] - work).abs() < 1e-6, "{i}, {j}");
        }
    }
}
