//! Preconditioned conjugate gradients for matrix-free symmetric positive definite systems.

use crate::Real;
use crate::parallel;
use glam::Vec3;

/// Vectors per task.
const GRAIN: usize = 2048;
/// Usual relative tolerance.
pub(crate) const TOLERANCE: f64 = 1e-4;
/// More iterations than a well-posed system takes.
const MAX_ITERATIONS: u32 = 400;

/// Partition of the unknowns of a block-diagonal system into independent blocks.
#[derive(Clone, Debug)]
pub(crate) struct BlockPartition {
    /// Block of each unknown; empty for a single block.
    block_of: Vec<u32>,
    count: usize,
}

impl BlockPartition {
    pub const SINGLE: Self = Self { block_of: Vec::new(), count: 1 };

    /// Creates a partition from the block of each unknown and the number of blocks.
    pub fn new(block_of: Vec<u32>, count: usize) -> Self {
        if count <= 1 { Self::SINGLE } else { Self { block_of, count } }
    }

    /// Number of blocks.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Block of an unknown.
    pub fn block(&self, unknown: usize) -> usize {
        if self.count == 1 { 0 } else { self.block_of[unknown] as usize }
    }

    /// Returns the partition of permuted unknowns: new unknown `k` is old unknown `order[k]`.
    pub fn permuted(&self, order: &[u32]) -> Self {
        let block_of =
            if self.count == 1 { Vec::new() } else { order.iter().map(|&k| self.block_of[k as usize]).collect() };
        Self { block_of, count: self.count }
    }

    /// Dot product `a . b` over the unknowns of each block.
    pub fn block_dots(&self, a: &[Vec3], b: &[Vec3]) -> Vec<f64> {
        if self.count == 1 {
            return vec![dot(a, b)];
        }
        let mut sums = vec![0.0; self.count];
        for ((a, b), &block) in a.iter().zip(b).zip(&self.block_of) {
            sums[block as usize] += a.as_dvec3().dot(b.as_dvec3());
        }
        sums
    }
}

/// Symmetric positive definite system `A x = b` in the iteration. It owns its vectors: the solution `x`, the residual
/// `r = b - A x`, the preconditioned residual `z = M^-1 r`, the search direction `p` and the product `A p`.
///
/// A system may consist of independent blocks. Scalars come by block, and each block has its own step lengths.
pub(crate) trait PcgSystem {
    /// Returns true if the residual is small enough by the system's own measure, before it is preconditioned.
    fn is_converged(&self) -> bool {
        false
    }

    /// Computes `z`. Returns `r . z` of each block.
    fn precondition(&mut self) -> Vec<f64>;

    /// Sets the search direction `p = z + beta p`; `beta` is 0 in the first iteration.
    fn update_direction(&mut self, beta: &[f64]);

    /// Computes `A p`. Returns `p . A p` of each block.
    fn multiply(&mut self) -> Vec<f64>;

    /// Advances the solution and the residual: `x += alpha p`, `r -= alpha A p`.
    fn advance(&mut self, alpha: &[f64]);
}

/// Iterates preconditioned conjugate gradients until `r . z` of each block is at most its target, at most
/// `max_iterations` times. Targets follow from `r . z` at the start. Returns the number of iterations.
///
/// Symbols: `alpha = r.z / p.Ap`; `beta = r'.z' / r.z` with the next residual `r'`. A block without positive
/// curvature `p.Ap` stops.
pub(crate) fn iterate_pcg<S: PcgSystem>(
    system: &mut S,
    max_iterations: u32,
    target: impl FnOnce(&[f64]) -> Vec<f64>,
) -> u32 {
    if system.is_converged() {
        return 0;
    }
    let mut rz = system.precondition();
    let target = target(&rz);
    let is_above = |rz: &[f64], block: usize| rz[block] > target[block] && rz[block].is_finite();
    let mut active: Vec<bool> = (0..rz.len()).map(|block| is_above(&rz, block)).collect();
    let mut beta = vec![0.0; rz.len()];
    let mut iterations = 0;
    while active.contains(&true) && iterations < max_iterations {
        system.update_direction(&beta);
        let p_ap = system.multiply();
        iterations += 1;
        active.iter_mut().zip(&p_ap).for_each(|(active, p_ap)| *active &= *p_ap > 0.0);
        if !active.contains(&true) {
            break;
        }
        let alpha = |block: usize| if active[block] { rz[block] / p_ap[block] } else { 0.0 };
        system.advance(&(0..rz.len()).map(alpha).collect::<Vec<f64>>());
        if iterations == max_iterations || system.is_converged() {
            break;
        }
        let next_rz = system.precondition();
        for block in 0..rz.len() {
            beta[block] = if active[block] { next_rz[block] / rz[block] } else { 0.0 };
            active[block] &= is_above(&next_rz, block);
        }
        rz = next_rz;
    }
    iterations
}

/// Symmetric positive definite system of vectors, given matrix-free. Constrained unknowns have zero residuals and
/// zero rows.
///
/// Each block of the partition stops by itself: a light block is not lost beside a heavy one. A block has converged
/// once `r . z <= max(tolerance^2 reference, absolute_tolerance)`, with the reference the largest of `r . z` at the
/// start and that given.
pub(crate) struct PcgProblem<A, M> {
    /// Computes `A p`.
    pub apply_matrix: A,
    /// Computes `z = M^-1 r`; symmetric positive definite.
    pub apply_preconditioner: M,
    pub partition: BlockPartition,
    /// Least reference by block, for instance that of earlier solves of the same system; 0 where missing.
    pub reference: Vec<f64>,
    /// By block, in units of `r . z`; 0 where missing.
    pub absolute_tolerance: Vec<f64>,
    /// Relative to the root of the reference.
    pub tolerance: f64,
}

/// Result of a solve.
pub(crate) struct PcgReport {
    pub iterations: u32,
    /// Reference by block.
    pub reference: Vec<f64>,
}

impl<A: FnMut(&[Vec3], &mut [Vec3]), M: FnMut(&[Vec3], &mut [Vec3])> PcgProblem<A, M> {
    /// Solves the system from the initial guess `x` with the residual `r = b - A x`.
    pub fn solve(self, r: Vec<Vec3>, x: &mut [Vec3]) -> PcgReport {
        let Self { apply_matrix, apply_preconditioner, partition, reference, absolute_tolerance, tolerance } = self;
        let zero = vec![Vec3::ZERO; x.len()];
        let (z, p, ap) = (zero.clone(), zero.clone(), zero);
        let mut system = VectorSystem { apply_matrix, apply_preconditioner, partition, x, r, z, p, ap };
        let entry = |values: &[f64], block: usize| values.get(block).copied().unwrap_or(0.0);
        let mut largest = Vec::new();
        let iterations = iterate_pcg(&mut system, MAX_ITERATIONS, |rz| {
            largest = (0..).zip(rz).map(|(block, rz)| rz.max(entry(&reference, block))).collect();
            let relative = largest.iter().map(|reference| tolerance * tolerance * reference);
            (0..).zip(relative).map(|(block, relative)| relative.max(entry(&absolute_tolerance, block))).collect()
        });
        PcgReport { iterations, reference: largest }
    }
}

/// Vectors of a [`PcgProblem`] in the iteration.
struct VectorSystem<'a, A, M> {
    apply_matrix: A,
    apply_preconditioner: M,
    partition: BlockPartition,
    x: &'a mut [Vec3],
    r: Vec<Vec3>,
    z: Vec<Vec3>,
    p: Vec<Vec3>,
    ap: Vec<Vec3>,
}

impl<A: FnMut(&[Vec3], &mut [Vec3]), M: FnMut(&[Vec3], &mut [Vec3])> PcgSystem for VectorSystem<'_, A, M> {
    fn precondition(&mut self) -> Vec<f64> {
        (self.apply_preconditioner)(&self.r, &mut self.z);
        self.partition.block_dots(&self.r, &self.z)
    }

    fn update_direction(&mut self, beta: &[f64]) {
        if beta.iter().all(|&beta| beta == 0.0) {
            self.p.copy_from_slice(&self.z);
            return;
        }
        let (beta, z, partition) = (single(beta), &self.z, &self.partition);
        parallel::for_each_chunk(&mut self.p, GRAIN, |first, p| {
            for (i, p) in (first..).zip(p) {
                *p = z[i] + beta[partition.block(i)] * *p;
            }
        });
    }

    fn multiply(&mut self) -> Vec<f64> {
        (self.apply_matrix)(&self.p, &mut self.ap);
        self.partition.block_dots(&self.p, &self.ap)
    }

    fn advance(&mut self, alpha: &[f64]) {
        let (alpha, p, ap, partition) = (single(alpha), &self.p, &self.ap, &self.partition);
        parallel::for_each_chunk_of_two(self.x, &mut self.r, GRAIN, |first, x, r| {
            for (i, (x, r)) in (first..).zip(x.iter_mut().zip(r)) {
                let alpha = alpha[partition.block(i)];
                *x += alpha * p[i];
                *r -= alpha * ap[i];
            }
        });
    }
}

/// Scalars of the blocks in single precision.
fn single(values: &[f64]) -> Vec<Real> {
    values.iter().map(|&value| value as Real).collect()
}

/// Independent partial sums of a dot product, so that no addition waits for the previous one.
const ACCUMULATORS: usize = 8;
/// Terms per accumulator in single precision before their sum goes to double precision.
const SINGLE_PRECISION_TERMS: usize = 32;

/// Dot product, accumulated in double precision over short sums in single precision. The order of additions
/// is fixed.
pub(crate) fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    let partial_sums = parallel::map_ranges(a.len(), GRAIN, |range| {
        let short_sum = |(a, b): (&[Vec3], &[Vec3])| {
            let mut sums = [Vec3::ZERO; ACCUMULATORS];
            let whole = a.chunks_exact(ACCUMULATORS).zip(b.chunks_exact(ACCUMULATORS));
            let remainder = a.len() % ACCUMULATORS;
            whole.for_each(|(a, b)| (0..ACCUMULATORS).for_each(|k| sums[k] += a[k] * b[k]));
            (0..remainder).for_each(|k| sums[k] += a[a.len() - remainder + k] * b[a.len() - remainder + k]);
            sums.iter().map(|sum| sum.as_dvec3().element_sum()).sum::<f64>()
        };
        let length = SINGLE_PRECISION_TERMS * ACCUMULATORS;
        a[range.clone()].chunks(length).zip(b[range].chunks(length)).map(short_sum).sum::<f64>()
    });
    partial_sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tridiagonal matrix of a chain of springs, on `n` unknowns.
    fn chain(x: &[Vec3], product: &mut [Vec3]) {
        let at = |k: usize| x.get(k).copied().unwrap_or(Vec3::ZERO);
        (0..x.len()).for_each(|k| product[k] = 2.5 * x[k] - at(k.wrapping_sub(1)) - at(k + 1));
    }

    /// Inverse of the diagonal of the chain.
    fn jacobi(r: &[Vec3], z: &mut [Vec3]) {
        z.iter_mut().zip(r).for_each(|(z, r)| *z = *r / 2.5);
    }

    type Apply = fn(&[Vec3], &mut [Vec3]);

    fn problem(partition: BlockPartition, tolerance: f64) -> PcgProblem<Apply, Apply> {
        let (reference, absolute_tolerance) = (Vec::new(), Vec::new());
        PcgProblem {
            apply_matrix: chain,
            apply_preconditioner: jacobi,
            partition,
            reference,
            absolute_tolerance,
            tolerance,
        }
    }

    #[test]
    fn the_solution_solves_the_system() {
        let b: Vec<Vec3> = (0..40).map(|k| Vec3::new(k as Real, 1.0, (k % 3) as Real)).collect();
        let mut x = vec![Vec3::ZERO; 40];
        let report = problem(BlockPartition::SINGLE, 1e-6).solve(b.clone(), &mut x);
        let mut product = vec![Vec3::ZERO; 40];
        chain(&x, &mut product);
        // The condition number is below 9: the error is about the residual, and single precision leaves 1e-6.
        let error = product.iter().zip(&b).map(|(a, b)| (*a - *b).length()).fold(0.0, Real::max);
        assert!(error < 40.0 * 1e-5, "{error}");
        assert!((5..40).contains(&report.iterations), "{}", report.iterations);
    }

    #[test]
    fn a_solved_system_takes_no_iteration() {
        let mut x = vec![Vec3::ONE; 8];
        assert_eq!(problem(BlockPartition::SINGLE, 1e-4).solve(vec![Vec3::ZERO; 8], &mut x).iterations, 0);
        assert_eq!(x, vec![Vec3::ONE; 8]);
    }

    #[test]
    fn a_light_block_is_solved_as_well_as_a_heavy_one() {
        // Two uncoupled halves with right sides a million times apart: a stiffness of zero couples them.
        let matrix = |x: &[Vec3], product: &mut [Vec3]| {
            let (a, b) = product.split_at_mut(10);
            chain(&x[..10], a);
            chain(&x[10..], b);
        };
        let right = |k: usize| Vec3::splat(if k < 10 { 1e6 } else { 1.0 } * (1.0 + k as Real));
        let b: Vec<Vec3> = (0..20).map(right).collect();
        let partition = BlockPartition::new((0..20).map(|k| u32::from(k >= 10)).collect(), 2);
        let (reference, absolute_tolerance) = (Vec::new(), Vec::new());
        let pcg = PcgProblem {
            apply_matrix: matrix,
            apply_preconditioner: jacobi,
            partition,
            reference,
            absolute_tolerance,
            tolerance: 1e-5,
        };
        let mut x = vec![Vec3::ZERO; 20];
        let report = pcg.solve(b.clone(), &mut x);
        let mut product = vec![Vec3::ZERO; 20];
        matrix(&x, &mut product);
        for k in 0..20 {
            assert!((product[k] - b[k]).length() < 1e-4 * b[if k < 10 { 9 } else { 19 }].length(), "{k}");
        }
        assert_eq!(report.reference.len(), 2);
        assert!(report.reference[0] > 1e10 * report.reference[1]);
    }
}
