//! Conjugate gradients for velocities at the end of an implicit step.

use crate::Real;
use crate::parallel;
use glam::Vec3;

/// Vectors per task.
const GRAIN: usize = 512;
/// Solved when what is left is this part of what there was.
pub(super) const TOLERANCE: f64 = 1e-4;
/// Most rounds; more than a well-posed system takes.
const MOST_ROUNDS: u32 = 400;

/// A symmetric, positive system of equations, by what is done with its matrix. Unknowns that are not free are no part of it: nothing
/// is left of them, and of what is multiplied for them.
pub(super) struct Equations<M, G> {
    /// Multiplies the matrix.
    pub multiply: M,
    /// Multiplies a guide, which is symmetric, positive and about the inverse of the matrix.
    pub guide: G,
    /// What was left at the start of a search before, in which less was known; nothing without.
    pub before: f64,
    /// What is left at the start of this one, if only a part of that is what it is measured by.
    pub part: Option<f64>,
    /// What may be left whatever there was.
    pub least: f64,
    /// Part of what there was that may be left.
    pub tolerance: f64,
}

/// How a search went.
pub(super) struct Search {
    pub rounds: u32,
    /// What was left at its start, as far as that counts.
    pub start: f64,
}

impl<M: FnMut(&[Vec3], &mut [Vec3]), G: FnMut(&[Vec3], &mut [Vec3])> Equations<M, G> {
    /// Betters a guess, of which `left` is left of the right side, until it solves them.
    pub fn solve(mut self, mut left: Vec<Vec3>, solution: &mut [Vec3]) -> Search {
        let count = solution.len();
        let mut product = vec![Vec3::ZERO; count];
        let mut better = vec![Vec3::ZERO; count];
        (self.guide)(&left, &mut better);
        let mut way = better.clone();
        let mut size = dot(&left, &better);
        let start = self.part.unwrap_or(size);
        let wanted = self.least.max(self.tolerance * self.tolerance * start.max(self.before));
        let mut rounds = 0;
        while size > wanted && size.is_finite() && rounds < MOST_ROUNDS {
            rounds += 1;
            (self.multiply)(&way, &mut product);
            let slope = dot(&way, &product);
            if slope <= 0.0 {
                break;
            }
            let step = (size / slope) as Real;
            for i in 0..count {
                solution[i] += step * way[i];
                left[i] -= step * product[i];
            }
            (self.guide)(&left, &mut better);
            let next = dot(&left, &better);
            let keep = (next / size) as Real;
            for i in 0..count {
                way[i] = better[i] + keep * way[i];
            }
            size = next;
        }
        Search { rounds, start }
    }
}

/// The sum of products.
pub(super) fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    let parts = parallel::map_ranges(a.len(), GRAIN, |range| {
        a[range.clone()].iter().zip(&b[range]).map(|(a, b)| a.as_dvec3().dot(b.as_dvec3())).sum::<f64>()
    });
    parts.iter().sum()
}
