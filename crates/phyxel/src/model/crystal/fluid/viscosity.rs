//! Viscosity: explicit where it is weak, and implicit by preconditioned conjugate gradients where it is strong.
//!
//! Symbols of the solver: `r` residual, `p` search direction, `beta` and `alpha` coefficients of direction
//! and step. The preconditioner is the diagonal (Jacobi).

use crate::Real;
use crate::model::crystal::GRAIN;
use crate::neighbours::NeighbourTable;
use crate::numerics::pcg::{PcgSystem, iterate_pcg};
use crate::parallel;
use glam::{Mat3, Vec3};
use phyxel_laws::simd::SimdLevel;
use phyxel_laws::sph::{
    BoundaryShear, Kernel, NeighbourLists, NeighbourMoments, invert_inertia, neighbour_moments, viscous_forces,
    vorticity_sums,
};

/// Relative residual at which iteration ends.
const TOLERANCE: f64 = 1e-4;
/// Largest number of iterations in a step.
const MAX_PCG: u32 = 200;

/// Linear system `m (v - v0) = dt F(v)` of viscosity. Particles are in sorted order.
pub(super) struct ViscositySystem<'a> {
    pub kernel: Kernel,
    pub table: &'a NeighbourTable,
    /// Position (m) and volume (m3).
    pub points: &'a [[Real; 4]],
    /// kg; 0 for kinematic particles.
    pub masses: &'a [Real],
    pub boundary: &'a [BoundaryShear],
    /// Coefficient of [`BoundaryShear::drag`]: viscosity times volume, Pa s m3.
    pub wall_viscosity: &'a [Real],
    /// s.
    pub dt: Real,
}

struct ViscosityWorkspace {
    /// Inverse inertia of each neighbourhood.
    inverse_inertia: Vec<[[Real; 3]; 3]>,
    /// Angular velocity of each neighbourhood, rad/s.
    angular_velocities: Vec<[Real; 4]>,
    /// Viscous forces, N.
    forces: Vec<[Real; 4]>,
}

impl ViscositySystem<'_> {
    fn neighbour_lists(&self) -> NeighbourLists<'_> {
        NeighbourLists {
            kernel: self.kernel,
            points: self.points,
            offsets: &self.table.offsets,
            blocks: &self.table.blocks,
        }
    }

    /// Advances velocities (m/s, with viscosities as in [`neighbour_moments`]) by the viscous forces: those
    /// at the start of the step if `is_explicit`, otherwise those at its end. Returns the number of products
    /// with the matrix.
    pub fn solve(&self, velocities: &mut [[Real; 4]], is_explicit: bool) -> u32 {
        let count = velocities.len();
        let mut moments: Vec<NeighbourMoments> = vec![[0.0; 10]; count];
        let (level, lists, rows) = (SimdLevel::detect(), self.neighbour_lists(), &*velocities);
        parallel::for_each_chunk(&mut moments, GRAIN, |first, moments| {
            neighbour_moments(level, &lists, first..first + moments.len(), rows, moments);
        });
        let inverse_inertia: Vec<[[Real; 3]; 3]> = parallel::map(count, GRAIN, |i| invert_inertia(&moments[i]));
        let angular_velocities = parallel::map(count, GRAIN, |i| {
            let [.., x, y, z] = moments[i];
            angular_velocity(&inverse_inertia[i], Vec3::new(x, y, z))
        });
        let mut work = ViscosityWorkspace { inverse_inertia, angular_velocities, forces: vec![[0.0; 4]; count] };
        self.update_forces(velocities, &mut work);
        // Drag of moving walls.
        parallel::for_each_chunk(&mut work.forces, GRAIN, |first, forces| {
            for (i, force) in (first..).zip(forces) {
                let drag_velocity = self.boundary[i].drag_velocity;
                (0..3).for_each(|axis| force[axis] += self.wall_viscosity[i] * drag_velocity[axis]);
            }
        });
        let pair_and_wall = |i: usize| 1.5 * moments[i][0] + self.wall_viscosity[i] * self.boundary[i].drag;
        let diagonal = parallel::map(count, GRAIN, |i| {
            if self.masses[i] > 0.0 { self.masses[i] + self.dt * pair_and_wall(i) } else { 0.0 }
        });
        if is_explicit {
            parallel::for_each_chunk(velocities, GRAIN, |first, rows| {
                for (i, row) in (first..).zip(rows).filter(|(i, _)| self.masses[*i] > 0.0) {
                    (0..3).for_each(|axis| row[axis] += self.dt * work.forces[i][axis] / self.masses[i]);
                }
            });
            return 1;
        }
        self.solve_implicit(velocities, &mut work, &diagonal)
    }

    /// Computes the angular velocities of neighbourhoods under velocities (m/s).
    fn update_angular_velocities(&self, velocities: &[[Real; 4]], work: &mut ViscosityWorkspace) {
        let (level, lists) = (SimdLevel::detect(), self.neighbour_lists());
        let inverse_inertia = &work.inverse_inertia;
        parallel::for_each_chunk(&mut work.angular_velocities, GRAIN, |first, rows| {
            vorticity_sums(level, &lists, first..first + rows.len(), velocities, rows);
            for (row, inverse_inertia) in rows.iter_mut().zip(&inverse_inertia[first..]) {
                *row = angular_velocity(inverse_inertia, Vec3::new(row[0], row[1], row[2]));
            }
        });
    }

    /// Computes viscous forces (N) under velocities (m/s) and the present angular velocities, with walls at
    /// rest.
    fn update_forces(&self, velocities: &[[Real; 4]], work: &mut ViscosityWorkspace) {
        let (level, lists) = (SimdLevel::detect(), self.neighbour_lists());
        let ViscosityWorkspace { angular_velocities, forces, .. } = work;
        let angular_velocities = &*angular_velocities;
        parallel::for_each_chunk(forces, GRAIN, |first, forces| {
            viscous_forces(level, &lists, first..first + forces.len(), velocities, angular_velocities, forces);
            for (i, force) in (first..).zip(forces) {
                let drag = self.wall_viscosity[i] * self.boundary[i].drag;
                (0..3).for_each(|axis| force[axis] -= drag * velocities[i][axis]);
            }
        });
    }

    /// Solves `m (v - v0) = dt F(v)` by preconditioned conjugate gradients, with the forces at `v0` in
    /// `work`. Returns the number of iterations.
    fn solve_implicit(&self, velocities: &mut [[Real; 4]], work: &mut ViscosityWorkspace, diagonal: &[Real]) -> u32 {
        let r: Vec<[Real; 4]> = parallel::map(velocities.len(), GRAIN, |i| {
            let [x, y, z, _] = work.forces[i];
            if diagonal[i] > 0.0 { [self.dt * x, self.dt * y, self.dt * z, 0.0] } else { [0.0; 4] }
        });
        // The fourth component stays the viscosity.
        let p: Vec<[Real; 4]> = velocities.iter().map(|row| [0.0, 0.0, 0.0, row[3]]).collect();
        let mut system = ViscosityPcg { system: self, diagonal, work, velocities, r, p };
        iterate_pcg(&mut system, MAX_PCG, |rz| vec![TOLERANCE * TOLERANCE * rz[0]])
    }
}

/// Viscosity in the iteration, preconditioned by its diagonal; rows without a diagonal are constrained.
struct ViscosityPcg<'a> {
    system: &'a ViscositySystem<'a>,
    diagonal: &'a [Real],
    work: &'a mut ViscosityWorkspace,
    velocities: &'a mut [[Real; 4]],
    r: Vec<[Real; 4]>,
    p: Vec<[Real; 4]>,
}

impl ViscosityPcg<'_> {
    /// Component of the product with the matrix, from the present forces.
    fn ap(&self, i: usize, axis: usize) -> Real {
        self.system.masses[i] * self.p[i][axis] - self.system.dt * self.work.forces[i][axis]
    }
}

impl PcgSystem for ViscosityPcg<'_> {
    fn precondition(&mut self) -> Vec<f64> {
        vec![residual_norm_squared(&self.r, self.diagonal)]
    }

    fn update_direction(&mut self, beta: &[f64]) {
        let (beta, r, diagonal) = (beta[0] as Real, &self.r, self.diagonal);
        parallel::for_each_chunk(&mut self.p, GRAIN, |first, rows| {
            for (i, row) in (first..).zip(rows).filter(|(i, _)| diagonal[*i] > 0.0) {
                (0..3).for_each(|axis| row[axis] = r[i][axis] / diagonal[i] + beta * row[axis]);
            }
        });
    }

    fn multiply(&mut self) -> Vec<f64> {
        self.system.update_angular_velocities(&self.p, self.work);
        self.system.update_forces(&self.p, self.work);
        let sums = parallel::map_ranges(self.r.len(), GRAIN, |range| {
            let rows = range.filter(|&i| self.diagonal[i] > 0.0);
            rows.flat_map(|i| (0..3).map(move |axis| (i, axis)))
                .map(|(i, axis)| f64::from(self.p[i][axis]) * f64::from(self.ap(i, axis)))
                .sum::<f64>()
        });
        vec![sums.into_iter().sum()]
    }

    fn advance(&mut self, alpha: &[f64]) {
        let alpha = alpha[0] as Real;
        let p = &self.p;
        parallel::for_each_chunk(self.velocities, GRAIN, |first, rows| {
            for (row, p) in rows.iter_mut().zip(&p[first..]) {
                (0..3).for_each(|axis| row[axis] += alpha * p[axis]);
            }
        });
        let mut r = std::mem::take(&mut self.r);
        parallel::for_each_chunk(&mut r, GRAIN, |first, rows| {
            for (i, row) in (first..).zip(rows).filter(|(i, _)| self.diagonal[*i] > 0.0) {
                (0..3).for_each(|axis| row[axis] -= alpha * self.ap(i, axis));
            }
        });
        self.r = r;
    }
}

/// Angular velocity of a neighbourhood with a vorticity sum, rad/s.
fn angular_velocity(inverse_inertia: &[[Real; 3]; 3], vorticity_sum: Vec3) -> [Real; 4] {
    (Mat3::from_cols_array_2d(inverse_inertia) * vorticity_sum).extend(0.0).to_array()
}

/// Squared norm of the residual, `r.z` with `z = r/diagonal`.
fn residual_norm_squared(r: &[[Real; 4]], diagonal: &[Real]) -> f64 {
    let sums = parallel::map_ranges(r.len(), GRAIN, |range| {
        let rows = range.filter(|&i| diagonal[i] > 0.0);
        rows.map(|i| {
            let [x, y, z, _] = r[i].map(f64::from);
            (x * x + y * y + z * z) / f64::from(diagonal[i])
        })
        .sum::<f64>()
    });
    sums.into_iter().sum()
}
