//! Assembled contact operator: impulses of all closed contacts and their tangent stiffness, by row of the
//! system.

use super::constraint::Constraint;
use crate::Real;
use crate::numerics::Csr;
use crate::parallel;
use glam::{Mat3A, Vec3};
use std::ops::Range;

/// Constraints per task.
const GRAIN: usize = 256;
/// Most nodes of a constraint.
const MAX_NODES: usize = 4;

/// Closed constraints between rows of the system. Products are gathered by row, so their order is fixed.
pub(in crate::model::tetra) struct ContactOperator {
    pub constraints: Vec<Constraint>,
    /// By constraint, the weights of its impulse at its rows.
    weights: Vec<[Real; MAX_NODES]>,
    /// By row, indices into the flattened weights.
    ends_of_row: Csr<u32>,
}

impl ContactOperator {
    /// Assembles constraints whose nodes are rows of a system with this number of rows.
    pub fn new(constraints: Vec<Constraint>, row_count: usize) -> Self {
        let ends = |(k, constraint): (u32, &Constraint)| {
            let rows = constraint.nodes.into_iter().take(constraint.node_count());
            (MAX_NODES as u32 * k..).zip(rows).map(|(end, row)| (row as u32, end))
        };
        let ends_of_row = Csr::new(row_count, || (0..).zip(&constraints).flat_map(ends));
        Self { weights: constraints.iter().map(Constraint::weights).collect(), ends_of_row, constraints }
    }

    /// Impulse of each constraint at these velocities, kg m/s.
    pub fn impulses(&self, velocities: &[Vec3]) -> Vec<Vec3> {
        parallel::map(self.constraints.len(), GRAIN, |k| self.constraints[k].impulse(velocities))
    }

    /// Resisting impulse of each constraint to the velocity changes `x`, kg m/s.
    pub fn apply(&self, x: &[Vec3]) -> Vec<Vec3> {
        parallel::map(self.constraints.len(), GRAIN, |k| self.constraints[k].apply(x))
    }

    /// Sums the weighted impulses of the constraints of a row, kg m/s.
    pub fn gather_row(&self, row: usize, impulses: &[Vec3]) -> Vec3 {
        let weights = self.weights.as_flattened();
        let at_end = |end: usize| impulses[end / MAX_NODES] * weights[end];
        self.ends_of_row.row(row).iter().fold(Vec3::ZERO, |sum, &end| sum + at_end(end as usize))
    }

    /// Diagonal blocks of those of these rows that have a constraint, kg.
    pub fn diagonal_blocks(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, Mat3A)> {
        rows.filter(|&row| !self.ends_of_row.row(row).is_empty()).map(|row| {
            let block = |end: usize| self.constraints[end / MAX_NODES].block(end % MAX_NODES, end % MAX_NODES);
            (row, self.ends_of_row.row(row).iter().fold(Mat3A::ZERO, |sum, &end| sum + block(end as usize)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_gathers_the_weighted_impulses_of_all_its_contacts() {
        // Between rows 0 and 2, and 3 and 2; row 1 has no constraint.
        let ties = vec![Constraint::tie([0, 2], [1.0, 1.0]), Constraint::tie([3, 2], [2.0, 2.0])];
        let operator = ContactOperator::new(ties, 4);
        let x = [Vec3::X, Vec3::Y, Vec3::new(0.0, 0.5, 2.0), Vec3::NEG_Z];
        let impulses = operator.apply(&x);
        let rows: Vec<Vec3> = (0..4).map(|row| operator.gather_row(row, &impulses)).collect();
        // A penalty is three times half of the equal effective masses of both ends: 1.5 and 3.
        let [a, b] = [1.5 * (x[0] - x[2]), 3.0 * (x[3] - x[2])];
        let expected = [a, Vec3::ZERO, -a - b, b];
        // A few products of order 1 in f32.
        assert!(rows.iter().zip(expected).all(|(found, expected)| (*found - expected).length() < 1e-5), "{rows:?}");
        let blocks: Vec<(usize, Mat3A)> = operator.diagonal_blocks(0..4).collect();
        assert_eq!(blocks.iter().map(|(row, _)| *row).collect::<Vec<usize>>(), [0, 2, 3]);
        for ((row, block), penalty) in blocks.into_iter().zip([1.5, 4.5, 3.0]) {
            assert!((block * Vec3::X - penalty * Vec3::X).length() < 1e-5, "{row}: {block}");
        }
    }
}
