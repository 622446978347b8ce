//! Linearly implicit backward Euler: velocities at the end of a step, by preconditioned conjugate gradients.
//!
//! `(M - dt^2 K + dt D) v' = M v + dt f`, with the force derivative `K` and the damping `D` at the start of
//! the step. The matrix is not assembled: its products are linearised forces. To be positive definite, `K`
//! omits the geometric stiffness where any principal stress is compressive, and the second derivative of
//! the volume.

use super::assembly::{GRAIN, PhyxelArrays, pack_vectors};
use crate::Real;
use crate::numerics::pcg::{BlockPartition, PcgProblem, TOLERANCE};
use crate::parallel;
use glam::{Mat3, Vec3};
use phyxel_laws::material::hooke::Hooke;
use phyxel_laws::meshless::{DeformationGradient, compute_deformation, second_piola_stress};
use phyxel_laws::simd::{F32x8, WIDTH};

/// Compression up to this fraction of the stress counts as none.
const COMPRESSION_TOLERANCE: Real = 0.02;

/// Diagonal block of the stiffness matrix, N/m, and damping coefficient, N s/m, of a phyxel.
pub(super) type DiagonalBlock = (Mat3, Real);

/// Tangent operator: the forces linearised at the start of a step.
pub(super) struct TangentOperator {
    /// Deformation gradients by pack.
    gradients: Vec<DeformationGradient>,
    /// Tensile stresses by pack, Pa.
    stress: Vec<[F32x8; 6]>,
    damped: bool,
    /// Displacement increments, m.
    increments: Vec<[f32; 4]>,
    /// Inverses of the diagonal blocks.
    blocks: Vec<Mat3>,
}

/// State at the start of a step.
pub(super) struct StepStart<'a> {
    pub velocities: &'a [Vec3],
    /// Forces without damping, N.
    pub forces: &'a [Vec3],
    pub masses: &'a [Real],
    pub gravity: Vec3,
    pub dt: Real,
}

impl PhyxelArrays {
    /// Solves for the velocities at the end of a step from the loaded positions. Returns them and the
    /// iterations; velocities of fixed phyxels stay.
    pub fn solve(
        &mut self,
        start: &StepStart,
        preconditioner: &[DiagonalBlock],
        is_fixed: impl Fn(usize) -> bool + Sync,
    ) -> (Vec<Vec3>, u32) {
        let mut tangent = self.linearise(start, preconditioner, &is_fixed);
        let blocks = std::mem::take(&mut tangent.blocks);
        let (count, gravity_step) = (self.cloud.len(), start.gravity * start.dt);
        let mut solution: Vec<Vec3> = (0..count)
            .map(|i| if is_fixed(i) { start.velocities[i] } else { start.velocities[i] + gravity_step })
            .collect();
        let rhs = |i: usize| start.masses[i] * (start.velocities[i] + gravity_step) + start.forces[i] * start.dt;
        let rhs: Vec<Vec3> = (0..count).map(rhs).collect();
        let free = |i: usize, x: Vec3| if is_fixed(i) { Vec3::ZERO } else { x };
        let mut residual = vec![Vec3::ZERO; count];
        self.apply_system(&mut tangent, start, &solution, &mut residual);
        residual.iter_mut().enumerate().for_each(|(i, r)| *r = free(i, rhs[i] - *r));
        let apply_matrix = |x: &[Vec3], product: &mut [Vec3]| {
            self.apply_system(&mut tangent, start, x, product);
            product.iter_mut().enumerate().for_each(|(i, x)| *x = free(i, *x));
        };
        // Blocks of fixed phyxels are zero.
        let apply_preconditioner = |r: &[Vec3], z: &mut [Vec3]| {
            parallel::for_each_chunk(z, GRAIN * WIDTH, |first, z| {
                (first..).zip(z).for_each(|(i, z)| *z = blocks[i] * r[i]);
            });
        };
        let (partition, reference, absolute_tolerance) = (BlockPartition::SINGLE, Vec::new(), Vec::new());
        let tolerance = TOLERANCE;
        let problem =
            PcgProblem { apply_matrix, apply_preconditioner, partition, reference, absolute_tolerance, tolerance };
        let iterations = problem.solve(residual, &mut solution).iterations;
        (solution, iterations)
    }

    fn linearise(
        &self,
        start: &StepStart,
        preconditioner: &[DiagonalBlock],
        is_fixed: &(impl Fn(usize) -> bool + Sync),
    ) -> TangentOperator {
        let linearised = parallel::map(self.cloud.references.len(), GRAIN, |pack| {
            let mut gradient: DeformationGradient = [[[0.0; WIDTH]; 3]; 3];
            compute_deformation(self.level, &self.cloud.group(pack, &[]), &self.points, &mut gradient);
            (gradient, tension_only(second_piola_stress(&self.material.hooke, &self.elastic_strain[pack])))
        });
        let (gradients, stress): (Vec<_>, Vec<_>) = linearised.into_iter().unzip();
        let blocks = parallel::map(self.cloud.len(), GRAIN * WIDTH, |i| {
            if is_fixed(i) {
                return Mat3::ZERO;
            }
            let (gradient, (block, damping)) = (gradient_of(&gradients, i), preconditioner[i]);
            let block = gradient * block * gradient.transpose() * (start.dt * start.dt);
            (Mat3::from_diagonal(Vec3::splat(start.masses[i] + start.dt * damping)) + block).inverse()
        });
        let increments = vec![[0.0; 4]; self.cloud.padded()];
        TangentOperator { gradients, stress, damped: self.is_damped(), increments, blocks }
    }

    /// Computes `(M - dt^2 K + dt D) v`.
    fn apply_system(
        &mut self,
        tangent: &mut TangentOperator,
        start: &StepStart,
        velocities: &[Vec3],
        product: &mut [Vec3],
    ) {
        pack_vectors(&mut tangent.increments, velocities, start.dt);
        self.linearise_payloads(&|pack| (&tangent.gradients[pack], &tangent.stress[pack]), &tangent.increments);
        if tangent.damped {
            self.velocities.resize(self.cloud.padded(), [0.0; 4]);
            pack_vectors(&mut self.velocities, velocities, 1.0);
        }
        product.fill(Vec3::ZERO);
        self.gather_forces(0..self.cloud.padded(), tangent.damped, true, product);
        parallel::for_each_chunk(product, GRAIN * WIDTH, |first, product| {
            for (k, x) in product.iter_mut().enumerate() {
                *x = start.masses[first + k] * velocities[first + k] - start.dt * *x;
            }
        });
    }

    /// Diagonal blocks of the stiffness matrix in the reference configuration, and damping coefficients.
    pub fn diagonal_blocks(&self) -> Vec<DiagonalBlock> {
        let (lambda, mu) = match self.material.hooke {
            Hooke::Isotropic { lambda, mu } => (lambda, mu),
            // An estimate is enough for a preconditioner.
            Hooke::Anisotropic(_) => (0.0, 0.5 * self.material.hooke.p_wave_modulus() as Real),
        };
        let volume_penalty = self.material.volume_penalty;
        let of = |i: usize, weighted_offset: Vec3| {
            let reference = &self.cloud.references[i / WIDTH];
            let inverse = symmetric(&reference.inverse_moments, i % WIDTH);
            let b = inverse * weighted_offset;
            let along = Mat3::from_cols(b * b.x, b * b.y, b * b.z) * (lambda + mu + volume_penalty);
            (along + Mat3::from_diagonal(Vec3::splat(mu * b.length_squared()))) * reference.volume[i % WIDTH]
        };
        let ratio = |i: usize| self.cloud.references[i / WIDTH].volume_over_trace[i % WIDTH];
        parallel::map(self.cloud.len(), GRAIN * WIDTH, |i| {
            let reference = &self.cloud.references[i / WIDTH];
            let first_moment = Vec3::from_array(reference.first_moment.map(|axis| axis[i % WIDTH]));
            let (mut block, mut damping) = (of(i, first_moment), 0.0);
            for (j, weight, offset) in self.cloud.neighbours(i) {
                let ratios = ratio(i) + ratio(j as usize);
                let spring = self.material.hourglass * ratios * weight;
                block += of(j as usize, offset * weight) + Mat3::from_diagonal(Vec3::splat(spring));
                // On average a third of a central damper acts along each axis.
                damping += 2.0 * self.material.damping * ratios * weight;
            }
            (block, damping)
        })
    }
}

fn symmetric(values: &[F32x8; 6], lane: usize) -> Mat3 {
    let [xx, yy, zz, yz, xz, xy] = values.map(|value| value[lane]);
    Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz))
}

fn gradient_of(gradients: &[DeformationGradient], i: usize) -> Mat3 {
    let column = |c: usize| Vec3::from_array(gradients[i / WIDTH].map(|row| row[c][i % WIDTH]));
    Mat3::from_cols(column(0), column(1), column(2))
}

/// Stress of the phyxels without compressive principal stress, zero for the others.
fn tension_only(mut stress: [F32x8; 6]) -> [F32x8; 6] {
    for lane in 0..WIDTH {
        let s = symmetric(&stress, lane);
        let size = s.x_axis.x.abs() + s.y_axis.y.abs() + s.z_axis.z.abs();
        let shifted = s + Mat3::from_diagonal(Vec3::splat(COMPRESSION_TOLERANCE * size));
        let minor = shifted.x_axis.x * shifted.y_axis.y - shifted.x_axis.y * shifted.y_axis.x;
        if !(shifted.x_axis.x >= 0.0 && minor >= 0.0 && shifted.determinant() >= 0.0) {
            stress.iter_mut().for_each(|component| component[lane] = 0.0);
        }
    }
    stress
}
