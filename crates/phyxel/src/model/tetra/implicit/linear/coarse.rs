//! Coarse space of the preconditioner: rigid-body modes of aggregates, and their Galerkin system `P^T A P`.
//!
//! The coarse unknowns of an aggregate are a velocity and an angular velocity about its centroid. Bodies in
//! contact share one coarse system, which is factorised by skyline Cholesky.

use super::matrix::SystemMatrix;
use super::pattern::{Aggregate, longest_axis};
use crate::Real;
use crate::model::tetra::implicit::contact::constraint::Constraint;
use crate::model::tetra::implicit::contact::obstacles::DofConstraint;
use crate::model::tetra::implicit::contact::operator::ContactOperator;
use crate::parallel;
use glam::{Mat3A, Vec3, Vec3A};
use phyxel_laws::linalg::skyline::SkylineCholesky;
use phyxel_laws::simd::SimdLevel;
use std::collections::BTreeMap;
use std::ops::Range;

/// Rows per task.
const GRAIN: usize = 512;
/// Constraints per task.
const CONTACT_GRAIN: usize = 256;
/// Unknowns of an aggregate: three translations and three rotations.
pub(super) const RIGID_MODES: usize = 6;

/// Geometry of the aggregates of a body in a step, and the smoother of its rows.
pub(in crate::model::tetra) struct CoarseSpace {
    /// By aggregate, m.
    centroids: Vec<Vec3>,
    /// Offsets of nodes from their centroids, by row, in units of the extent of the largest aggregate: this
    /// balances translations and rotations in the coarse system.
    arms: Vec<Vec3A>,
    /// Inverses of the diagonal blocks without contacts, by row.
    pub(super) inverse_diagonal: Vec<Mat3A>,
}

impl CoarseSpace {
    /// Builds the coarse space of a body with these positions of nodes by row, m.
    pub fn new(matrix: &SystemMatrix, positions: &[Vec3]) -> Self {
        let aggregates = &matrix.pattern.aggregates;
        let members = aggregates.iter().map(|aggregate| &positions[aggregate.rows.clone()]);
        let centroids: Vec<Vec3> =
            members.map(|members| members.iter().sum::<Vec3>() / members.len() as Real).collect();
        let arms = aggregate_arms(aggregates, &centroids, positions);
        let inverse_diagonal = parallel::map(matrix.diagonal.len(), GRAIN, |row| matrix.diagonal[row].inverse());
        Self { centroids, arms, inverse_diagonal }
    }
}

/// Diagonal block of an island matrix: the matrix of a body and its range of rows.
pub(in crate::model::tetra) struct BodyBlock<'a> {
    pub(super) matrix: &'a SystemMatrix,
    pub(super) rows: Range<usize>,
    /// Index of its first aggregate in the island.
    pub(super) first_aggregate: usize,
    pub(super) space: &'a CoarseSpace,
}

/// Lists the diagonal blocks of an island.
pub(in crate::model::tetra) fn body_blocks<'a>(
    bodies: impl Iterator<Item = (&'a SystemMatrix, Range<usize>, &'a CoarseSpace)>,
) -> Vec<BodyBlock<'a>> {
    let mut first_aggregate = 0;
    let block = |(matrix, rows, space): (&'a SystemMatrix, Range<usize>, &'a CoarseSpace)| {
        let block = BodyBlock { matrix, rows, first_aggregate, space };
        first_aggregate += space.centroids.len();
        block
    };
    bodies.map(block).collect()
}

/// Factorised coarse matrix of a Newton iteration.
///
/// It is rebuilt in each iteration: a stale one still blocks sliding at contacts that slip now, and would
/// hardly correct there.
pub(in crate::model::tetra) struct CoarseSystem {
    /// Constraints on the motion of nodes with their aggregate, by row.
    pub(super) dofs: Vec<DofConstraint>,
    /// Block of the coarse matrix of each aggregate.
    pub(super) block_of: Vec<usize>,
    pub(super) factor: SkylineCholesky,
}

/// Elastic part of the coarse matrix, reused by Newton iterations of a step with the same constraints on nodes.
pub(in crate::model::tetra) struct CoarseCache {
    dofs: Vec<DofConstraint>,
    entries: Vec<CoarseEntry>,
}

impl CoarseSystem {
    /// Assembles and factorises the coarse matrix; the elastic part is taken from the cache where it is valid.
    pub fn new(
        bodies: &[BodyBlock],
        dofs: Vec<DofConstraint>,
        contacts: &ContactOperator,
        cache: &mut Option<CoarseCache>,
    ) -> Self {
        let centroids: Vec<Vec3> = bodies.iter().flat_map(|body| body.space.centroids.iter().copied()).collect();
        let mut system = Self { dofs, block_of: order_by_axis(&centroids), factor: SkylineCholesky::default() };
        let valid = cache.take().filter(|cache| cache.dofs == system.dofs);
        let elastic = cache.insert(
            valid.unwrap_or_else(|| CoarseCache { dofs: system.dofs.clone(), entries: system.elastic_entries(bodies) }),
        );
        let contact = system.contact_entries(bodies, &contacts.constraints);
        system.factor = factorize(|| elastic.entries.iter().chain(&contact), centroids.len());
        system
    }

    /// Galerkin products of the matrices of bodies.
    fn elastic_entries(&self, bodies: &[BodyBlock]) -> Vec<CoarseEntry> {
        let entries = bodies.iter().flat_map(|body| {
            let count = body.matrix.pattern.aggregates.len();
            let rows = parallel::map(count, 1, |aggregate| body.galerkin_row(aggregate, &self.dofs[body.rows.clone()]));
            let block_of = |aggregate: usize| self.block_of[body.first_aggregate + aggregate];
            rows.into_iter().enumerate().flat_map(move |(row, blocks)| {
                blocks.into_iter().map(move |(column, block)| block.into_lower(block_of(row), block_of(column)))
            })
        });
        entries.collect()
    }

    /// Galerkin products of contact constraints.
    fn contact_entries(&self, bodies: &[BodyBlock], constraints: &[Constraint]) -> Vec<CoarseEntry> {
        let found = parallel::map_ranges(constraints.len(), CONTACT_GRAIN, |range| {
            let mut blocks: BTreeMap<[usize; 2], RigidBlock> = BTreeMap::new();
            for constraint in &constraints[range] {
                let count = constraint.node_count();
                let ends: [CoarseRow; 4] =
                    std::array::from_fn(|k| self.coarse_row(bodies, constraint.nodes[k.min(count - 1)]));
                for (row, column) in (0..count).flat_map(|row| (0..count).map(move |column| (row, column))) {
                    let [a, b] = [&ends[row], &ends[column]];
                    if a.block >= b.block {
                        let block = a.dof.project_block(&constraint.block(row, column), &b.dof);
                        blocks.entry([a.block, b.block]).or_insert(RigidBlock::ZERO).accumulate(a.arm, &block, b.arm);
                    }
                }
            }
            blocks
        });
        found.into_iter().flatten().map(|([row, column], block)| CoarseEntry { row, column, block }).collect()
    }

    fn coarse_row(&self, bodies: &[BodyBlock], row: usize) -> CoarseRow {
        let body = &bodies[bodies.partition_point(|body| body.rows.end <= row)];
        let local = row - body.rows.start;
        let aggregate = body.first_aggregate + body.matrix.pattern.aggregate_of[local] as usize;
        CoarseRow { block: self.block_of[aggregate], arm: body.space.arms[local], dof: self.dofs[row] }
    }
}

/// Row of the prolongation `P`: how a node moves with its aggregate.
struct CoarseRow {
    /// Block of the coarse matrix.
    block: usize,
    arm: Vec3A,
    dof: DofConstraint,
}

/// Factorises the coarse matrix of this number of aggregates; entries at one position add up.
fn factorize<'a, I: Iterator<Item = &'a CoarseEntry>>(entries: impl Fn() -> I, count: usize) -> SkylineCholesky {
    let mut first: Vec<usize> = (0..count).collect();
    entries().for_each(|entry| first[entry.row] = first[entry.row].min(entry.column));
    let widths = first.iter().zip(1..).map(|(first, end)| RIGID_MODES * (end - first));
    let mut rows: Vec<[Vec<f64>; RIGID_MODES]> =
        widths.map(|width| std::array::from_fn(|i| vec![0.0; width - RIGID_MODES + 1 + i])).collect();
    for &CoarseEntry { row, column, ref block } in entries() {
        let start = RIGID_MODES * (column - first[row]);
        for (row, values) in rows[row].iter_mut().zip(block.rows()) {
            row[start..].iter_mut().zip(values).for_each(|(sum, value)| *sum += f64::from(value));
        }
    }
    let first = first.into_iter().flat_map(|first| [RIGID_MODES * first; RIGID_MODES]);
    SkylineCholesky::new(SimdLevel::detect(), first.collect(), rows.into_iter().flatten().collect())
}

impl BodyBlock<'_> {
    /// Row of the Galerkin product of the body: blocks with earlier neighbouring aggregates and the
    /// diagonal block.
    fn galerkin_row(&self, aggregate: usize, dofs: &[DofConstraint]) -> Vec<(usize, RigidBlock)> {
        let (pattern, arms) = (&self.matrix.pattern, &self.space.arms);
        let Aggregate { rows, first_neighbour } = pattern.aggregates[aggregate].clone();
        let mut off_diagonal = vec![None; aggregate - first_neighbour + 1];
        let mut diagonal = RigidBlock::ZERO;
        for row in rows {
            let block = dofs[row].project_block(&self.matrix.diagonal[row], &dofs[row]);
            diagonal.accumulate(arms[row], &block, arms[row]);
            for (edge, &column) in pattern.columns.range(row).zip(pattern.columns.row(row)) {
                let column = column as usize;
                let block = dofs[row].project_block(&self.matrix.off_diagonal[edge], &dofs[column]);
                let sum = &mut off_diagonal[pattern.aggregate_of[column] as usize - first_neighbour];
                sum.get_or_insert(RigidBlock::ZERO).accumulate(arms[row], &block, arms[column]);
            }
        }
        // Edges within the aggregate are stored once and act twice.
        if let Some(Some(within)) = off_diagonal.pop() {
            diagonal = diagonal.plus(&within).plus(&within.transpose());
        }
        let off_diagonal = (first_neighbour..).zip(off_diagonal).filter_map(|(column, block)| Some((column, block?)));
        off_diagonal.chain([(aggregate, diagonal)]).collect()
    }

    /// Restriction `P^T r` to an aggregate: force and torque, from constraints and residual by row of the
    /// island.
    pub(super) fn restrict(&self, aggregate: usize, dofs: &[DofConstraint], r: &[Vec3]) -> [Real; RIGID_MODES] {
        let (dofs, r) = (&dofs[self.rows.clone()], &r[self.rows.clone()]);
        let (mut force, mut torque) = (Vec3A::ZERO, Vec3A::ZERO);
        for row in self.matrix.pattern.aggregates[aggregate].rows.clone() {
            let r = Vec3A::from(dofs[row].project(r[row]));
            force += r;
            torque += self.space.arms[row].cross(r);
        }
        [force.x, force.y, force.z, torque.x, torque.y, torque.z]
    }

    /// Adds the prolongation `P y` to `z`, the rows of the body from `first` on. `modes` are the coarse
    /// unknowns `y` of the island, `block_of` and `dofs` those of the body.
    pub(super) fn prolong(
        &self,
        (modes, block_of): (&[[Real; RIGID_MODES]], &[usize]),
        dofs: &[DofConstraint],
        first: usize,
        z: &mut [Vec3],
    ) {
        for (row, z) in (first..).zip(z) {
            let y = &modes[block_of[self.matrix.pattern.aggregate_of[row] as usize]];
            let [velocity, angular_velocity] = [0, 3].map(|k| Vec3A::from_slice(&y[k..k + 3]));
            *z += dofs[row].project((velocity + angular_velocity.cross(self.space.arms[row])).into());
        }
    }
}

/// Returns the rank of each aggregate along the longest axis of all, so that neighbours, of whatever body,
/// have close numbers and the skyline stays narrow.
fn order_by_axis(centroids: &[Vec3]) -> Vec<usize> {
    let (axis, _) = longest_axis(centroids.iter().copied());
    let mut sorted: Vec<usize> = (0..centroids.len()).collect();
    sorted.sort_by(|a, b| centroids[*a][axis].total_cmp(&centroids[*b][axis]));
    let mut ranks = vec![0; sorted.len()];
    sorted.into_iter().enumerate().for_each(|(rank, aggregate)| ranks[aggregate] = rank);
    ranks
}

/// Offsets of nodes from their centroids, in units of the extent of the largest aggregate.
fn aggregate_arms(aggregates: &[Aggregate], centroids: &[Vec3], positions: &[Vec3]) -> Vec<Vec3A> {
    let extents = aggregates.iter().map(|aggregate| longest_axis(positions[aggregate.rows.clone()].iter().copied()).1);
    let scale = 1.0 / extents.fold(Real::MIN_POSITIVE, Real::max);
    let arms = aggregates.iter().zip(centroids).flat_map(|(aggregate, centroid)| {
        positions[aggregate.rows.clone()].iter().map(move |position| Vec3A::from((*position - *centroid) * scale))
    });
    arms.collect()
}

/// Coupling block of two aggregates, in the lower triangle of the coarse matrix.
struct CoarseEntry {
    row: usize,
    column: usize,
    block: RigidBlock,
}

/// 6 x 6 block between the rigid-body modes of two aggregates: `tr` couples translations of the row with
/// rotations of the column.
#[derive(Clone, Copy)]
struct RigidBlock {
    tt: Mat3A,
    tr: Mat3A,
    rt: Mat3A,
    rr: Mat3A,
}

impl RigidBlock {
    const ZERO: Self = Self { tt: Mat3A::ZERO, tr: Mat3A::ZERO, rt: Mat3A::ZERO, rr: Mat3A::ZERO };

    /// Adds the Galerkin product of a block between nodes with these arms. An angular velocity `w` moves a
    /// node by `w x arm`, and a force `f` has the torque `arm x f`.
    fn accumulate(&mut self, row_arm: Vec3A, block: &Mat3A, column_arm: Vec3A) {
        let torque = cross_matrix(row_arm);
        let by_rotation = *block * cross_matrix(-column_arm);
        self.tt += *block;
        self.tr += by_rotation;
        self.rt += torque * *block;
        self.rr += torque * by_rotation;
    }

    fn plus(&self, other: &Self) -> Self {
        Self { tt: self.tt + other.tt, tr: self.tr + other.tr, rt: self.rt + other.rt, rr: self.rr + other.rr }
    }

    fn transpose(&self) -> Self {
        Self { tt: self.tt.transpose(), tr: self.rt.transpose(), rt: self.tr.transpose(), rr: self.rr.transpose() }
    }

    /// Makes an entry of the lower triangle, transposed if need be.
    fn into_lower(self, row: usize, column: usize) -> CoarseEntry {
        if row < column {
            CoarseEntry { row: column, column: row, block: self.transpose() }
        } else {
            CoarseEntry { row, column, block: self }
        }
    }

    /// Its six rows.
    fn rows(&self) -> [[Real; RIGID_MODES]; RIGID_MODES] {
        let upper = (self.tt.transpose(), self.tr.transpose());
        let lower = (self.rt.transpose(), self.rr.transpose());
        std::array::from_fn(|i| {
            let (left, right) = if i < 3 { upper } else { lower };
            let ([a, b, c], [d, e, f]) = (left.col(i % 3).to_array(), right.col(i % 3).to_array());
            [a, b, c, d, e, f]
        })
    }
}

/// Skew-symmetric matrix `[a]` with `[a] x = a cross x`.
fn cross_matrix(a: Vec3A) -> Mat3A {
    Mat3A::from_cols(Vec3A::new(0.0, a.z, -a.y), Vec3A::new(-a.z, 0.0, a.x), Vec3A::new(a.y, -a.x, 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rigid_block_is_the_virtual_work_of_rigid_motions() {
        let (row_arm, column_arm) = (Vec3A::new(0.3, -0.2, 0.9), Vec3A::new(-0.5, 0.4, 0.1));
        let block = Mat3A::from_cols(Vec3A::new(1.0, 0.2, 0.3), Vec3A::new(-0.4, 2.0, 0.6), Vec3A::new(0.1, 0.5, 3.0));
        let mut rigid = RigidBlock::ZERO;
        rigid.accumulate(row_arm, &block, column_arm);
        let mode = |arm: Vec3A, k: usize| {
            let axis = Vec3A::AXES[k % 3];
            if k < 3 { axis } else { axis.cross(arm) }
        };
        for (i, j) in (0..RIGID_MODES).flat_map(|i| (0..RIGID_MODES).map(move |j| (i, j))) {
            let work = mode(row_arm, i).dot(block * mode(column_arm, j));
            // A few products of order 1 in f32.
            assert!((rigid.rows()[i][j] - work).abs() < 1e-6, "{i}, {j}");
        }
    }
}
