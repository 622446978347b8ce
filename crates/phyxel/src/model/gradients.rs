//! Conjugate gradients for velocities at the end of an implicit step.

use crate::Real;
use crate::parallel;
use glam::Vec3;

/// Vectors per task.
const GRAIN: usize = 2048;
/// Solved when what is left is this part of what there was.
pub(super) const TOLERANCE: f64 = 1e-4;
/// Most rounds; more than a well-posed system takes.
const MOST_ROUNDS: u32 = 400;

/// Unknowns that know nothing of others, group by group.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    /// The group of each unknown; none where all are of one.
    of: Vec<u32>,
    count: usize,
}

impl Groups {
    pub const ONE: Self = Self { of: Vec::new(), count: 1 };

    /// Of so many, by unknown.
    pub fn new(of: Vec<u32>, count: usize) -> Self {
        if count <= 1 { Self::ONE } else { Self { of, count } }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn of(&self, unknown: usize) -> usize {
        if self.count == 1 { 0 } else { self.of[unknown] as usize }
    }

    /// In another order, by the unknowns that stand there.
    pub fn in_order(&self, order: &[u32]) -> Self {
        let of = if self.count == 1 { Vec::new() } else { order.iter().map(|&k| self.of[k as usize]).collect() };
        Self { of, count: self.count }
    }

    /// The sum of products in each.
    pub fn dots(&self, a: &[Vec3], b: &[Vec3]) -> Vec<f64> {
        if self.count == 1 {
            return vec![dot(a, b)];
        }
        let mut sums = vec![0.0; self.count];
        for ((a, b), &group) in a.iter().zip(b).zip(&self.of) {
            sums[group as usize] += a.as_dvec3().dot(b.as_dvec3());
        }
        sums
    }
}

/// A symmetric, positive system of equations, by what is done with its matrix. Unknowns that are not free are no part of it: nothing
/// is left of them, and of what is multiplied for them.
///
/// Groups of unknowns are solved for side by side, each as if it were alone: a light one is not lost beside a heavy one.
pub(super) struct Equations<M, G> {
    /// Multiplies the matrix.
    pub multiply: M,
    /// Multiplies a guide, which is symmetric, positive and about the inverse of the matrix.
    pub guide: G,
    pub groups: Groups,
    /// What there was besides, by group, before the guess was found or in earlier searches for the same; nothing without.
    pub before: Vec<f64>,
    /// What may be left whatever there was, by group.
    pub least: Vec<f64>,
    /// Part of what there was that may be left.
    pub tolerance: f64,
}

/// What a search took.
pub(super) struct Solved {
    pub rounds: u32,
    /// What there was at most, in this search or in those before it, by group.
    pub most: Vec<f64>,
}

impl<M: FnMut(&[Vec3], &mut [Vec3]), G: FnMut(&[Vec3], &mut [Vec3])> Equations<M, G> {
    /// Betters a guess, of which `left` is left of the right side, until it solves them.
    pub fn solve(mut self, mut left: Vec<Vec3>, solution: &mut [Vec3]) -> Solved {
        let (count, groups) = (solution.len(), self.groups);
        let mut product = vec![Vec3::ZERO; count];
        let mut better = vec![Vec3::ZERO; count];
        (self.guide)(&left, &mut better);
        let mut way = better.clone();
        let mut sizes = groups.dots(&left, &better);
        let known = |of: &[f64], group: usize| of.get(group).copied().unwrap_or(0.0);
        let most: Vec<f64> = (0..).zip(&sizes).map(|(group, size)| size.max(known(&self.before, group))).collect();
        let part = self.tolerance * self.tolerance;
        let wanted: Vec<f64> =
            (0..).zip(&most).map(|(group, most)| (part * most).max(known(&self.least, group))).collect();
        let mut goes_on: Vec<bool> =
            sizes.iter().zip(&wanted).map(|(size, wanted)| size > wanted && size.is_finite()).collect();
        let mut rounds = 0;
        while goes_on.contains(&true) && rounds < MOST_ROUNDS {
            rounds += 1;
            (self.multiply)(&way, &mut product);
            let slopes = groups.dots(&way, &product);
            goes_on.iter_mut().zip(&slopes).for_each(|(goes_on, slope)| *goes_on &= *slope > 0.0);
            let step = |group: usize| if goes_on[group] { (sizes[group] / slopes[group]) as Real } else { 0.0 };
            let steps: Vec<Real> = (0..sizes.len()).map(step).collect();
            parallel::for_each_chunk_of_two(solution, &mut left, GRAIN, |first, solution, left| {
                for (i, (solution, left)) in (first..).zip(solution.iter_mut().zip(left)) {
                    let step = steps[groups.of(i)];
                    *solution += step * way[i];
                    *left -= step * product[i];
                }
            });
            (self.guide)(&left, &mut better);
            let next = groups.dots(&left, &better);
            let keep = |group: usize| if goes_on[group] { (next[group] / sizes[group]) as Real } else { 0.0 };
            let keeps: Vec<Real> = (0..sizes.len()).map(keep).collect();
            parallel::for_each_chunk(&mut way, GRAIN, |first, way| {
                for (i, way) in (first..).zip(way) {
                    *way = better[i] + keeps[groups.of(i)] * *way;
                }
            });
            sizes = next;
            for (group, goes_on) in goes_on.iter_mut().enumerate() {
                *goes_on &= sizes[group] > wanted[group] && sizes[group].is_finite();
            }
        }
        Solved { rounds, most }
    }
}

/// Vectors whose products are added up side by side, so that none waits for another, and how often before f64 takes over from f32.
const ABREAST: usize = 8;
const SHORT: usize = 32;

/// The sum of products.
pub(super) fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    let parts = parallel::map_ranges(a.len(), GRAIN, |range| {
        let short = |(a, b): (&[Vec3], &[Vec3])| {
            let mut sums = [Vec3::ZERO; ABREAST];
            let (whole, left) = (a.chunks_exact(ABREAST).zip(b.chunks_exact(ABREAST)), a.len() % ABREAST);
            whole.for_each(|(a, b)| (0..ABREAST).for_each(|k| sums[k] += a[k] * b[k]));
            (0..left).for_each(|k| sums[k] += a[a.len() - left + k] * b[a.len() - left + k]);
            sums.iter().map(|sum| sum.as_dvec3().element_sum()).sum::<f64>()
        };
        let (a, b) = (a[range.clone()].chunks(SHORT * ABREAST), b[range].chunks(SHORT * ABREAST));
        a.zip(b).map(short).sum::<f64>()
    });
    parts.iter().sum()
}
