//! Two-level preconditioner of an island: block Jacobi plus rigid-body modes of aggregates of nodes.
//!
//! `M^-1 = D^-1 + P (P^T A P)^-1 P^T` with the diagonal blocks `D` of the matrix `A` and the rigid motions
//! `P` of aggregates, six unknowns each. Block Jacobi alone carries information by one element an
//! iteration, so that stiff bodies take hundreds; the coarse correction carries it through the whole
//! island.

use super::coarse::{BodyBlock, CoarseSystem, RIGID_MODES};
use crate::model::tetra::implicit::contact::obstacles::DofConstraint;
use crate::model::tetra::implicit::contact::operator::ContactOperator;
use crate::parallel;
use glam::{Mat3A, Vec3, Vec3A};
use phyxel_laws::simd::SimdLevel;

/// Rows per task.
const GRAIN: usize = 512;
/// Aggregates per task.
const AGGREGATE_GRAIN: usize = 16;

/// Approximate inverse of the matrix of an island.
pub(in crate::model::tetra) struct TwoLevelPreconditioner<'a> {
    bodies: &'a [BodyBlock<'a>],
    coarse: &'a CoarseSystem,
    /// By row.
    dofs: &'a [DofConstraint],
    /// Inverses of the diagonal blocks, by row.
    inverse_diagonal: Vec<Mat3A>,
}

impl<'a> TwoLevelPreconditioner<'a> {
    /// Creates the preconditioner of bodies with these constraints on their nodes and these contacts.
    pub fn new(
        bodies: &'a [BodyBlock<'a>],
        coarse: &'a CoarseSystem,
        dofs: &'a [DofConstraint],
        contacts: &ContactOperator,
    ) -> Self {
        let mut inverse_diagonal = Vec::with_capacity(dofs.len());
        for body in bodies {
            inverse_diagonal.extend_from_slice(&body.space.inverse_diagonal);
            for (row, block) in contacts.diagonal_blocks(body.rows.clone()) {
                inverse_diagonal[row] = (body.matrix.diagonal[row - body.rows.start] + block).inverse();
            }
        }
        Self { bodies, coarse, dofs, inverse_diagonal }
    }

    /// Computes `z = M^-1 r`.
    pub fn apply(&self, r: &[Vec3], z: &mut [Vec3]) {
        let CoarseSystem { dofs, block_of, factor } = self.coarse;
        let aggregates =
            self.bodies.iter().flat_map(|body| (0..body.matrix.pattern.aggregates.len()).map(move |k| (body, k)));
        let aggregates: Vec<(&BodyBlock, usize)> = aggregates.collect();
        let residuals = parallel::map(aggregates.len(), AGGREGATE_GRAIN, |k| {
            let (body, aggregate) = aggregates[k];
            body.restrict(aggregate, dofs, r)
        });
        let mut modes = vec![[0.0; RIGID_MODES]; block_of.len()];
        block_of.iter().zip(residuals).for_each(|(&block, residual)| modes[block] = residual);
        // One thread solves the coarse system while the others smooth.
        parallel::join(
            || factor.solve(SimdLevel::detect(), modes.as_flattened_mut()),
            || parallel::for_each_chunk(z, GRAIN, |first, z| self.smooth(r, first, z)),
        );
        let (mut tasks, mut rest) = (Vec::new(), z);
        for body in self.bodies {
            let z;
            (z, rest) = std::mem::take(&mut rest).split_at_mut(body.rows.len());
            tasks.extend(z.chunks_mut(GRAIN).enumerate().map(|(k, z)| (body, GRAIN * k, z)));
        }
        parallel::for_each_item(tasks, |(body, first, z)| {
            body.prolong((&modes, &block_of[body.first_aggregate..]), &dofs[body.rows.clone()], first, z);
        });
    }

    /// Block Jacobi: `z = D^-1 r` for the rows from `first` on.
    fn smooth(&self, r: &[Vec3], first: usize, z: &mut [Vec3]) {
        for (row, z) in (first..).zip(z) {
            *z = self.dofs[row].project((self.inverse_diagonal[row] * Vec3A::from(r[row])).into());
        }
    }
}
