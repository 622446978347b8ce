//! Pressure: a linear complementarity problem (LCP) solved by an active-set method and preconditioned
//! conjugate gradients.
//!
//! Sought are pressures `p >= 0` such that at the end of the step no volume fraction exceeds its limit, and
//! no particle below its limit has pressure. The maps from pressures to velocities and from velocities to
//! rates of volume fractions are adjoint (`phyxel_laws::sph`). So the equations of the active particles are
//! symmetric and solved by conjugate gradients; the active set is found in a few iterations.
//!
//! Two error modes converge slowly. Smooth ones are removed by the multigrid preconditioner. Those that
//! alternate between neighbouring particles are nearly in the null space of the SPH gradient, which sums over
//! neighbourhoods. So a fraction [`STABILISATION`] of the plain Laplacian is added to the effect of a change
//! of pressure in a step (after Brezzi and Pitkäranta `[BP84]`): it damps these modes. The error that it
//! causes in others is corrected in the next step, as it acts on changes of pressure only, not on pressure.
//!
//! Symbols of the solver: `r` residual (the violation), `z` preconditioned residual, `p` search direction,
//! `ap` its product with the matrix, `beta` and `alpha` coefficients of direction and step. The inner product
//! is weighted by volume.

use super::multigrid::{CellTerm, Multigrid};
use crate::Real;
use crate::model::crystal::GRAIN;
use crate::neighbours::NeighbourTable;
use crate::numerics::pcg::{PcgSystem, iterate_pcg};
use crate::parallel;
use glam::Vec3;
use phyxel_laws::simd::SimdLevel;
use phyxel_laws::sph::{BoundaryFraction, Kernel, NeighbourLists, fraction_rates, pressure_gradients};

/// Relaxation rate of excess volume, and of the last voids, 1/s. Immediate correction would throw particles
/// of a rough start apart, and let still fluids fall and stop in turn.
const RELAXATION_RATE: Real = 40.0;
/// Largest fraction that relaxes in a step.
const MAX_RELAXATION: Real = 0.2;
/// Void fractions up to which voids relax, and from which on they may be filled in a step.
const VOID_RAMP: [Real; 2] = [0.02, 0.1];
/// Squared gradient, over squared supports, below which a particle has no pressure: its volume fraction
/// hardly depends on positions.
const MIN_GRADIENT: Real = 1e-2;
/// Largest number of active-set iterations.
const MAX_ACTIVE_SETS: u32 = 12;
/// Largest number of conjugate-gradient iterations for an active set.
const MAX_PCG: u32 = 40;
/// Reduction of the residual for an active set.
const PCG_TOL: f64 = 0.1;
/// Mean excess of the volume fraction at the end of the step that is accepted.
const VOLUME_TOL: f64 = 1e-4;
/// Error of pressure that is accepted, over the pressure plus the weight of a layer: in short steps a large
/// error of pressure would cause little motion.
const PRESSURE_TOL: f64 = 0.05;
/// Fraction of the plain Laplacian in the effect of changes of pressure. With less, more iterations are
/// needed; with more, more is left to later steps.
const STABILISATION: Real = 0.05;
/// Gradient of a uniform active pressure, over supports, above which a particle is at the free surface.
/// Disorder causes some gradient too; at a surface half of the neighbourhood is missing, which makes three.
const FREE_SURFACE_GRADIENT: Real = 0.75;
/// Excess of the volume fraction that is due to rounding.
const ROUNDING: f64 = 1e-6;

/// Pressure problem of a step. Particles are in sorted order.
pub(super) struct PressureSystem<'a> {
    pub kernel: Kernel,
    pub table: &'a NeighbourTable,
    /// Position (m) and volume (m3).
    pub points: &'a [[Real; 4]],
    /// Gradient of the volume fraction, 1/m, and the volume fraction, without walls.
    pub fractions: &'a [[Real; 4]],
    /// Sum of squared gradients, and of gradients over distances, 1/m2.
    pub gradient_sums: &'a [[Real; 2]],
    /// Volume over mass, m3/kg; 0 for kinematic particles.
    pub specific_volume: &'a [Real],
    /// Increase of the volume fraction per pressure, 1/Pa; 0 for incompressible particles.
    pub compressibility: &'a [Real],
    pub boundary: &'a [BoundaryFraction],
    /// Hydrostatic pressure of a layer over its density: gravity times the particle spacing, m2/s2.
    pub hydrostatic_scale: Real,
    /// s.
    pub dt: Real,
}

/// Arrays of the solver.
pub(super) struct PressureWorkspace {
    /// Positions, with volume times `p` as the fourth component.
    weighted_points: Vec<[Real; 4]>,
    /// Gradients of volume fractions with walls, 1/m.
    gradients: Vec<Vec3>,
    diagonal: Vec<Real>,
    /// Largest rates of volume fractions, 1/s.
    allowed_rates: Vec<Real>,
    /// Rates beyond the largest, 1/s: the residual `r`.
    violation: Vec<Real>,
    p: Vec<Real>,
    ap: Vec<Real>,
    /// Change of velocities by `p`, m/s, and the neighbours' sum of the Laplacian of `p`, Pa/m2.
    velocity_change: Vec<[Real; 4]>,
    /// Coefficient of the stabilising Laplacian, m3 s/kg.
    stabilisation: Real,
    /// Effect of the stabilisation, which is carried over to the next step, 1/s.
    carried: Vec<Real>,
    z: Vec<Real>,
    multigrid: Option<Multigrid>,
    /// Dirichlet coefficient of particles at the free surface, 1/(Pa s).
    free_surface: Vec<Real>,
}

impl PressureSystem<'_> {
    fn neighbour_lists<'a>(&'a self, points: &'a [[Real; 4]]) -> NeighbourLists<'a> {
        NeighbourLists { kernel: self.kernel, points, offsets: &self.table.offsets, blocks: &self.table.blocks }
    }

    /// Applies the pressures (Pa) of the last step to velocities (m/s).
    ///
    /// Viscosity is applied between this and [`solve`](Self::solve), so that it acts on velocities close to
    /// those at the end of the step.
    pub fn warm_start(&self, pressures: &mut [Real], velocities: &mut [[Real; 4]]) -> PressureWorkspace {
        let mut work = self.prepare(pressures);
        self.apply_gradient(&mut work);
        add_rows(velocities, &work.velocity_change, 1.0);
        work
    }

    /// Solves for pressures, starting from those of the warm start. Returns the number of products with the
    /// matrix.
    pub fn solve(&self, mut work: PressureWorkspace, pressures: &mut [Real], velocities: &mut [[Real; 4]]) -> u32 {
        let mut iterations = 0;
        for _ in 0..MAX_ACTIVE_SETS {
            self.update_violation(&mut work, pressures, velocities);
            if self.has_converged(&work, pressures) {
                break;
            }
            iterations += self.iterate(&mut work, pressures, velocities);
            // Projection: negative pressures become 0.
            let is_infeasible = pressures.iter().any(|&pressure| pressure < 0.0);
            if is_infeasible {
                for (p, pressure) in work.p.iter_mut().zip(pressures.iter_mut()) {
                    *p = (-*pressure).max(0.0);
                    *pressure = pressure.max(0.0);
                }
                self.weight_points(&mut work);
                self.apply_gradient(&mut work);
                self.carry_stabilisation(&mut work, 1.0);
                add_rows(velocities, &work.velocity_change, 1.0);
            }
        }
        iterations
    }

    fn prepare(&self, pressures: &mut [Real]) -> PressureWorkspace {
        let count = self.points.len();
        let fractions = self.fractions;
        let gradient =
            |i: usize| Vec3::new(fractions[i][0], fractions[i][1], fractions[i][2]) + self.boundary[i].gradient;
        let gradients = parallel::map(count, GRAIN, gradient);
        let min_square = MIN_GRADIENT / (self.kernel.support * self.kernel.support);
        let diagonal = parallel::map(count, GRAIN, |i| {
            let square = gradients[i].length_squared() + self.gradient_sums[i][0];
            if square > min_square {
                self.dt * self.specific_volume[i] * square + self.compressibility[i] / self.dt
            } else {
                0.0
            }
        });
        // Isolated particles have no pressure.
        parallel::for_each_chunk(pressures, GRAIN, |first, pressures| {
            let isolated = (first..).zip(pressures).filter(|(i, _)| diagonal[*i] == 0.0);
            isolated.for_each(|(_, pressure)| *pressure = 0.0);
        });
        let allowed_rates = parallel::map(count, GRAIN, |i| {
            let void = 1.0 - fractions[i][3] - self.boundary[i].fraction;
            let fraction = if self.compressibility[i] > 0.0 { 1.0 } else { relaxation(void, self.dt) };
            fraction * void / self.dt + self.boundary[i].rate
        });
        let min_in = |range: std::ops::Range<usize>| {
            self.specific_volume[range].iter().filter(|&&v| v > 0.0).fold(Real::INFINITY, |min, &v| min.min(v))
        };
        let min_volume = parallel::map_ranges(count, GRAIN, min_in).into_iter().fold(Real::INFINITY, Real::min);
        let mut work = PressureWorkspace {
            weighted_points: self.points.to_vec(),
            gradients,
            diagonal,
            allowed_rates,
            violation: vec![0.0; count],
            p: pressures.to_vec(),
            ap: vec![0.0; count],
            velocity_change: vec![[0.0; 4]; count],
            stabilisation: if min_volume.is_finite() { 2.0 * STABILISATION * self.dt * min_volume } else { 0.0 },
            carried: vec![0.0; count],
            z: vec![0.0; count],
            multigrid: None,
            free_surface: Vec::new(),
        };
        self.weight_points(&mut work);
        work
    }

    /// Stores `p` times the volume in the fourth component of the points.
    fn weight_points(&self, work: &mut PressureWorkspace) {
        let p = &work.p;
        parallel::for_each_chunk(&mut work.weighted_points, GRAIN, |first, rows| {
            for ((row, point), p) in rows.iter_mut().zip(&self.points[first..]).zip(&p[first..]) {
                row[3] = point[3] * p;
            }
        });
    }

    /// Computes the change of velocities in the step by pressures `p`, m/s, and the neighbours' sum of their
    /// Laplacian.
    fn apply_gradient(&self, work: &mut PressureWorkspace) {
        let (level, lists) = (SimdLevel::detect(), self.neighbour_lists(&work.weighted_points));
        let (p, gradients) = (&work.p, &work.gradients);
        parallel::for_each_chunk(&mut work.velocity_change, GRAIN, |first, rows| {
            pressure_gradients(level, &lists, first..first + rows.len(), rows);
            for (i, row) in (first..).zip(rows) {
                let gradient = Vec3::new(row[0], row[1], row[2]) + gradients[i] * p[i];
                *row = (gradient * (-self.dt * self.specific_volume[i])).extend(row[3]).to_array();
            }
        });
    }

    /// Computes the rates of volume fractions under velocities, including walls, 1/s.
    fn fraction_rates(&self, velocities: &[[Real; 4]], rates: &mut [Real]) {
        let (level, lists) = (SimdLevel::detect(), self.neighbour_lists(self.points));
        parallel::for_each_chunk(rates, GRAIN, |first, rates| {
            fraction_rates(level, &lists, first..first + rates.len(), velocities, rates);
            for (i, rate) in (first..).zip(rates) {
                let [x, y, z, _] = velocities[i];
                *rate += self.boundary[i].gradient.dot(Vec3::new(x, y, z));
            }
        });
    }

    /// Updates the excess of rates over the largest.
    fn update_violation(&self, work: &mut PressureWorkspace, pressures: &[Real], velocities: &[[Real; 4]]) {
        let mut violation = std::mem::take(&mut work.violation);
        self.fraction_rates(velocities, &mut violation);
        parallel::for_each_chunk(&mut violation, GRAIN, |first, violation| {
            for (i, violation) in (first..).zip(violation) {
                *violation -=
                    work.allowed_rates[i] + work.carried[i] + self.compressibility[i] * pressures[i] / self.dt;
            }
        });
        work.violation = violation;
    }

    /// Returns true if the violation is small both as a volume and as a pressure.
    fn has_converged(&self, work: &PressureWorkspace, pressures: &[Real]) -> bool {
        let sums = parallel::map_ranges(work.violation.len(), GRAIN, |range| {
            let mut sum = [0.0f64; 3];
            for i in range.filter(|&i| work.diagonal[i] > 0.0) {
                let violation = work.violation[i];
                let violation = f64::from(if pressures[i] > 0.0 { violation.abs() } else { violation.max(0.0) });
                let pressure_error = violation / f64::from(work.diagonal[i]);
                let v = self.specific_volume[i];
                let layer = if v > 0.0 { self.hydrostatic_scale / v } else { 0.0 };
                sum = [sum[0] + violation, sum[1] + pressure_error, sum[2] + f64::from(pressures[i] + layer)];
            }
            sum
        });
        let [violation, pressure_error, pressure] =
            sums.into_iter().fold([0.0; 3], |sum, chunk| [sum[0] + chunk[0], sum[1] + chunk[1], sum[2] + chunk[2]]);
        let excess = violation * f64::from(self.dt) / work.violation.len().max(1) as f64;
        excess < VOLUME_TOL && (pressure_error < PRESSURE_TOL * pressure || excess < ROUNDING)
    }

    /// Iterates conjugate gradients on the active set: particles that have pressure or a violation. Returns the
    /// number of iterations.
    fn iterate(&self, work: &mut PressureWorkspace, pressures: &mut [Real], velocities: &mut [[Real; 4]]) -> u32 {
        let count = pressures.len();
        let active: Vec<bool> =
            parallel::map(count, GRAIN, |i| work.diagonal[i] > 0.0 && (pressures[i] > 0.0 || work.violation[i] > 0.0));
        let mut multigrid = work.multigrid.take().unwrap_or_else(|| Multigrid::new(&self.table.cells, count));
        self.assemble_multigrid(&mut multigrid, work, &active);
        let tolerance = PCG_TOL * self.residual_norm(work, &active);
        work.p.fill(0.0);
        let mut system = PressurePcg { system: self, work, active, multigrid, pressures, velocities, tolerance };
        let iterations = iterate_pcg(&mut system, MAX_PCG, |_| vec![0.0]);
        let PressurePcg { work, multigrid, .. } = system;
        work.multigrid = Some(multigrid);
        iterations
    }

    /// Computes the product `ap` of the matrix and `p`. Returns their inner product `p.ap`.
    fn multiply(&self, work: &mut PressureWorkspace) -> f64 {
        self.weight_points(work);
        self.apply_gradient(work);
        let mut ap = std::mem::take(&mut work.ap);
        self.fraction_rates(&work.velocity_change, &mut ap);
        let sums = parallel::map_chunks(&mut ap, GRAIN, |first, ap| {
            let mut sum = 0.0;
            for (i, ap) in (first..).zip(ap) {
                let stabilisation = work.stabilisation * self.minus_laplacian(work, i);
                *ap = self.compressibility[i] * work.p[i] / self.dt + stabilisation - *ap;
                sum += f64::from(self.points[i][3]) * f64::from(*ap) * f64::from(work.p[i]);
            }
            sum
        });
        work.ap = ap;
        sums.into_iter().sum()
    }

    /// Minus the plain Laplacian of `p`, Pa/m2. Needs [`apply_gradient`](Self::apply_gradient).
    fn minus_laplacian(&self, work: &PressureWorkspace, i: usize) -> Real {
        self.gradient_sums[i][1] * work.p[i] - work.velocity_change[i][3]
    }

    /// Accumulates the effect of the stabilisation on a step of length `alpha` along `p`.
    fn carry_stabilisation(&self, work: &mut PressureWorkspace, alpha: Real) {
        let mut carried = std::mem::take(&mut work.carried);
        parallel::for_each_chunk(&mut carried, GRAIN, |first, carried| {
            for (i, carried) in (first..).zip(carried) {
                *carried += alpha * work.stabilisation * self.minus_laplacian(work, i);
            }
        });
        work.carried = carried;
    }

    /// Assembles the multigrid preconditioner for an active set.
    fn assemble_multigrid(&self, multigrid: &mut Multigrid, work: &mut PressureWorkspace, active: &[bool]) {
        // The jump of pressure at the boundary of the active set, where nothing is beyond, acts as a
        // Dirichlet condition. Where it is changes little during the solve.
        if work.free_surface.is_empty() {
            let own = work.p.iter_mut().zip(active);
            own.for_each(|(p, active)| *p = if *active { 1.0 } else { 0.0 });
            self.weight_points(work);
            self.apply_gradient(work);
            let min_gradient = FREE_SURFACE_GRADIENT / self.kernel.support;
            work.free_surface = parallel::map(active.len(), GRAIN, |i| {
                let mobility = self.dt * self.specific_volume[i];
                let [x, y, z, _] = work.velocity_change[i];
                let gradient = if mobility > 0.0 { Vec3::new(x, y, z).length() / mobility } else { 0.0 };
                if gradient > min_gradient { mobility * gradient * gradient } else { 0.0 }
            });
        }
        let (cell_size, free_surface) = (self.table.cell_size, &work.free_surface);
        multigrid.assemble(|i| {
            if !active[i] {
                return CellTerm::default();
            }
            let volume = self.points[i][3];
            let coefficient = volume * self.dt * self.specific_volume[i] / (cell_size * cell_size);
            CellTerm { coefficient, dirichlet: volume * (free_surface[i] + self.compressibility[i] / self.dt) }
        });
    }

    /// Applies the preconditioner, Jacobi plus a multigrid V-cycle, to the residual. Returns the inner
    /// product `r.z`.
    fn precondition(&self, multigrid: &mut Multigrid, work: &mut PressureWorkspace, active: &[bool]) -> f64 {
        let (r, diagonal) = (&work.violation, &work.diagonal);
        multigrid.v_cycle(|i| if active[i] { self.points[i][3] * r[i] } else { 0.0 });
        let sums = parallel::map_chunks(&mut work.z, GRAIN, |first, z| {
            let mut sum = 0.0;
            for (i, z) in (first..).zip(z) {
                *z = if active[i] { r[i] / diagonal[i] + multigrid.correction(i) } else { 0.0 };
                sum += f64::from(self.points[i][3] * r[i]) * f64::from(*z);
            }
            sum
        });
        sums.into_iter().sum()
    }

    /// Sum of absolute residuals of the active set.
    fn residual_norm(&self, work: &PressureWorkspace, active: &[bool]) -> f64 {
        let sums = parallel::map_ranges(active.len(), GRAIN, |range| {
            range.filter(|&i| active[i]).map(|i| f64::from(work.violation[i].abs())).sum::<f64>()
        });
        sums.into_iter().sum()
    }
}

/// Pressures of an active set in the iteration; the change of velocities is advanced with them.
struct PressurePcg<'a> {
    system: &'a PressureSystem<'a>,
    work: &'a mut PressureWorkspace,
    active: Vec<bool>,
    multigrid: Multigrid,
    pressures: &'a mut [Real],
    velocities: &'a mut [[Real; 4]],
    /// Largest sum of absolute residuals.
    tolerance: f64,
}

impl PcgSystem for PressurePcg<'_> {
    fn is_converged(&self) -> bool {
        self.system.residual_norm(self.work, &self.active) <= self.tolerance
    }

    fn precondition(&mut self) -> Vec<f64> {
        vec![self.system.precondition(&mut self.multigrid, self.work, &self.active)]
    }

    fn update_direction(&mut self, beta: &[f64]) {
        let (beta, z) = (beta[0] as Real, &self.work.z);
        parallel::for_each_chunk(&mut self.work.p, GRAIN, |first, p| {
            p.iter_mut().zip(&z[first..]).for_each(|(p, z)| *p = z + beta * *p);
        });
    }

    fn multiply(&mut self) -> Vec<f64> {
        vec![self.system.multiply(self.work)]
    }

    fn advance(&mut self, alpha: &[f64]) {
        let alpha = alpha[0] as Real;
        self.system.carry_stabilisation(self.work, alpha);
        add_rows(self.velocities, &self.work.velocity_change, alpha);
        add_scaled(self.pressures, &self.work.p, alpha);
        add_scaled(&mut self.work.violation, &self.work.ap, -alpha);
    }
}

/// Fraction of a void that may be filled in a step, or of an excess that is removed.
fn relaxation(void: Real, dt: Real) -> Real {
    let ([from, to], min) = (VOID_RAMP, (RELAXATION_RATE * dt).min(MAX_RELAXATION));
    (min + (1.0 - min) * (void - from) / (to - from)).clamp(min, 1.0)
}

fn add_rows(rows: &mut [[Real; 4]], others: &[[Real; 4]], factor: Real) {
    parallel::for_each_chunk(rows, GRAIN, |first, rows| {
        for (row, other) in rows.iter_mut().zip(&others[first..]) {
            (0..3).for_each(|axis| row[axis] += factor * other[axis]);
        }
    });
}

fn add_scaled(column: &mut [Real], others: &[Real], factor: Real) {
    parallel::for_each_chunk(column, GRAIN, |first, column| {
        for (value, other) in column.iter_mut().zip(&others[first..]) {
            *value += factor * other;
        }
    });
}
