//! Touches in the equations of implicit steps: what they push rows with, and how they resist moves.

use super::holds::Hold;
use super::net::Lists;
use crate::Real;
use crate::parallel;
use glam::{Mat3A, Vec3};
use std::ops::Range;

/// Touches per task.
const GRAIN: usize = 256;
/// Most rows that a touch has.
const ENDS: usize = 4;

/// Touches that hold, between rows.
pub(super) struct Touches {
    pub holds: Vec<Hold>,
    /// By touch and row of it, the part of its push that the row feels.
    parts: Vec<[Real; ENDS]>,
    /// By row, its places among these.
    ends: Lists,
}

impl Touches {
    /// Those of so many rows.
    pub fn new(holds: Vec<Hold>, rows: usize) -> Self {
        let ends = |(k, hold): (u32, &Hold)| {
            let rows = hold.nodes.into_iter().take(hold.count());
            (ENDS as u32 * k..).zip(rows).map(|(end, row)| (row as u32, end))
        };
        let ends = Lists::new(rows, || (0..).zip(&holds).flat_map(ends));
        Self { parts: holds.iter().map(Hold::parts).collect(), ends, holds }
    }

    /// What each gives its node at these velocities, kg m/s.
    pub fn pushes(&self, velocities: &[Vec3]) -> Vec<Vec3> {
        parallel::map(self.holds.len(), GRAIN, |k| self.holds[k].push(velocities))
    }

    /// What each resists these moves of rows with, kg m/s.
    pub fn resist(&self, moves: &[Vec3]) -> Vec<Vec3> {
        parallel::map(self.holds.len(), GRAIN, |k| self.holds[k].resistance(moves))
    }

    /// What a row feels of what touches give, kg m/s.
    pub fn felt_by(&self, row: usize, given: &[Vec3]) -> Vec3 {
        let parts = self.parts.as_flattened();
        let felt = |end: usize| given[end / ENDS] * parts[end];
        self.ends.of(row).iter().fold(Vec3::ZERO, |sum, &end| sum + felt(end as usize))
    }

    /// Rows of these that are touched, and what each resists its own moves with, kg.
    pub fn own(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, Mat3A)> {
        rows.filter(|&row| !self.ends.of(row).is_empty()).map(|row| {
            let block = |end: usize| self.holds[end / ENDS].block(end % ENDS, end % ENDS);
            (row, self.ends.of(row).iter().fold(Mat3A::ZERO, |sum, &end| sum + block(end as usize)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_feel_the_parts_of_all_touches_that_they_have() {
        // Between the rows 0 and 2, and 3 and 2; the row 1 is touched by nothing.
        let touches = Touches::new(vec![Hold::tied([0, 2], [1.0, 1.0]), Hold::tied([3, 2], [2.0, 2.0])], 4);
        let moves = [Vec3::X, Vec3::Y, Vec3::new(0.0, 0.5, 2.0), Vec3::NEG_Z];
        let given = touches.resist(&moves);
        let felt: Vec<Vec3> = (0..4).map(|row| touches.felt_by(row, &given)).collect();
        // Each is three times as firm as half of what its ends resist with, which are as heavy: 1.5 and 3.
        let [a, b] = [1.5 * (moves[0] - moves[2]), 3.0 * (moves[3] - moves[2])];
        let expected = [a, Vec3::ZERO, -a - b, b];
        // A few products of order 1 in f32.
        assert!(felt.iter().zip(expected).all(|(felt, expected)| (*felt - expected).length() < 1e-5), "{felt:?}");
        let own: Vec<(usize, Mat3A)> = touches.own(0..4).collect();
        assert_eq!(own.iter().map(|(row, _)| *row).collect::<Vec<usize>>(), [0, 2, 3]);
        for ((row, block), firm) in own.into_iter().zip([1.5, 4.5, 3.0]) {
            assert!((block * Vec3::X - firm * Vec3::X).length() < 1e-5, "{row}: {block}");
        }
    }
}
