//! Conjugate gradients for velocities at the end of an implicit step.

use crate::Real;
use crate::parallel;
use glam::{Mat3, Vec3};

/// Vectors per task.
const GRAIN: usize = 512;
/// Solved when what is left is this part of what there was.
const TOLERANCE: f64 = 1e-4;
/// Most rounds; more than a well-posed system takes.
const MOST_ROUNDS: u32 = 400;

/// A symmetric, positive system of equations.
pub(super) struct Equations<'a, F> {
    /// The right side.
    pub right: &'a [Vec3],
    /// Inverses of the blocks on the diagonal of the matrix.
    pub guide: &'a [Mat3],
    /// What is left of a change of an unknown: nothing of one that is held, what is along a wall of one that is at it.
    pub free: F,
    /// What was left at the start of a search before, in which less was known; nothing without.
    pub before: f64,
}

impl<F: Fn(usize, Vec3) -> Vec3 + Sync> Equations<'_, F> {
    /// Betters a guess until it solves them, with what multiplies the matrix; the rounds that took, and what was left at the start.
    pub fn solve(&self, solution: &mut [Vec3], mut multiply: impl FnMut(&[Vec3], &mut [Vec3])) -> (u32, f64) {
        let count = solution.len();
        let mut product = vec![Vec3::ZERO; count];
        multiply(solution, &mut product);
        let mut left: Vec<Vec3> = (0..count).map(|i| (self.free)(i, self.right[i] - product[i])).collect();
        let mut better = self.guided(&left);
        let mut way = better.clone();
        let mut size = dot(&left, &better);
        let start = size;
        let wanted = TOLERANCE * TOLERANCE * size.max(self.before);
        let mut rounds = 0;
        while size > wanted && size.is_finite() && rounds < MOST_ROUNDS {
            rounds += 1;
            multiply(&way, &mut product);
            product.iter_mut().enumerate().for_each(|(i, x)| *x = (self.free)(i, *x));
            let slope = dot(&way, &product);
            if slope <= 0.0 {
                break;
            }
            let step = (size / slope) as Real;
            for i in 0..count {
                solution[i] += step * way[i];
                left[i] -= step * product[i];
            }
            better = self.guided(&left);
            let next = dot(&left, &better);
            let keep = (next / size) as Real;
            for i in 0..count {
                way[i] = better[i] + keep * way[i];
            }
            size = next;
        }
        (rounds, start)
    }

    fn guided(&self, left: &[Vec3]) -> Vec<Vec3> {
        parallel::map(left.len(), GRAIN, |i| (self.free)(i, self.guide[i] * left[i]))
    }
}

fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    let parts =
        parallel::map_ranges(a.len(), GRAIN, |range| range.map(|i| a[i].as_dvec3().dot(b[i].as_dvec3())).sum::<f64>());
    parts.iter().sum()
}
