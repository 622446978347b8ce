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

/// Symmetric positive definite system `A x = b`, given matrix-free. Constrained unknowns have zero
/// residuals and zero rows.
///
/// Each block of the partition has its own step lengths and stops by itself: a light block is not lost
/// beside a heavy one. A block has converged once `r . z <= max(tolerance^2 reference,
/// absolute_tolerance)`, with the residual `r`, the preconditioned residual `z = M^-1 r` and the reference,
/// the largest of `r . z` at the start and that given.
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
    ///
    /// Symbols: search direction `p`, step length `alpha = r.z / p.Ap`, `beta = r'.z' / r.z` with the next
    /// residual `r'`.
    pub fn solve(mut self, mut r: Vec<Vec3>, x: &mut [Vec3]) -> PcgReport {
        let (count, partition) = (x.len(), self.partition);
        let mut ap = vec![Vec3::ZERO; count];
        let mut z = vec![Vec3::ZERO; count];
        (self.apply_preconditioner)(&r, &mut z);
        let mut p = z.clone();
        let mut rz = partition.block_dots(&r, &z);
        let entry = |values: &[f64], block: usize| values.get(block).copied().unwrap_or(0.0);
        let reference: Vec<f64> = (0..).zip(&rz).map(|(block, rz)| rz.max(entry(&self.reference, block))).collect();
        let factor = self.tolerance * self.tolerance;
        let target =
            |(block, reference): (usize, &f64)| (factor * reference).max(entry(&self.absolute_tolerance, block));
        let target: Vec<f64> = (0..).zip(&reference).map(target).collect();
        let mut active: Vec<bool> = rz.iter().zip(&target).map(|(rz, target)| rz > target && rz.is_finite()).collect();
        let mut iterations = 0;
        while active.contains(&true) && iterations < MAX_ITERATIONS {
            iterations += 1;
            (self.apply_matrix)(&p, &mut ap);
            let p_ap = partition.block_dots(&p, &ap);
            active.iter_mut().zip(&p_ap).for_each(|(active, p_ap)| *active &= *p_ap > 0.0);
            let ratio = |block: usize| if active[block] { (rz[block] / p_ap[block]) as Real } else { 0.0 };
            let alpha: Vec<Real> = (0..rz.len()).map(ratio).collect();
            parallel::for_each_chunk_of_two(x, &mut r, GRAIN, |first, x, r| {
                for (i, (x, r)) in (first..).zip(x.iter_mut().zip(r)) {
                    let alpha = alpha[partition.block(i)];
                    *x += alpha * p[i];
                    *r -= alpha * ap[i];
                }
            });
            (self.apply_preconditioner)(&r, &mut z);
            let next_rz = partition.block_dots(&r, &z);
            let ratio = |block: usize| if active[block] { (next_rz[block] / rz[block]) as Real } else { 0.0 };
            let beta: Vec<Real> = (0..rz.len()).map(ratio).collect();
            parallel::for_each_chunk(&mut p, GRAIN, |first, p| {
                for (i, p) in (first..).zip(p) {
                    *p = z[i] + beta[partition.block(i)] * *p;
                }
            });
            rz = next_rz;
            for (block, active) in active.iter_mut().enumerate() {
                *active &= rz[block] > target[block] && rz[block].is_finite();
            }
        }
        PcgReport { iterations, reference }
    }
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
