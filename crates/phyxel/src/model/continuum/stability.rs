//! Stability limit of explicit steps: extreme eigenvalues by the Lanczos method, and the damping that goes
//! with them.

use super::PhyxelBody;
use super::assembly::{PhyxelArrays, pack_vectors};
use super::derived::DerivedContinuum;
use crate::Real;
use crate::material::Material;
use crate::model::damping::lowest_bar_frequency;
use glam::Vec3;
use phyxel_laws::linalg::eigen::max_tridiagonal_eigenvalue;
use phyxel_laws::material::hooke::Hooke;
use phyxel_laws::meshless::{DeformationGradient, PhyxelMaterial, YOUNG_OVER_SHEAR};
use phyxel_laws::simd::{F32x8, WIDTH};
use phyxel_laws::time_integration::stable_step;
use serde::{Deserialize, Serialize};

/// Fraction of the stability limit that a step may take.
const SAFETY: f64 = 0.8;
/// Largest damping ratio of the highest mode; more would shorten the stable step.
const MAX_DAMPING_RATIO: f64 = 1.0;

/// Effort of the Lanczos method for the largest eigenvalues of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct LanczosParams {
    /// Lanczos iterations.
    iterations: usize,
    /// Safety factor on the eigenvalue found.
    margin: f64,
}

/// For the rest shape.
pub(super) const INITIAL_SEARCH: LanczosParams = LanczosParams { iterations: 24, margin: 1.0 };
/// For each later reference configuration.
pub(super) const REPEATED_SEARCH: LanczosParams = LanczosParams { iterations: 8, margin: 1.2 };

/// Estimates for explicit stability, linearised about the reference configuration. Ritz values are lower
/// estimates of eigenvalues.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StabilityEstimate {
    /// Square of the largest angular eigenfrequency, 1/s2.
    omega_squared: f64,
    /// Largest decay rate by damping, 1/s.
    damping_rate: f64,
    /// Largest decay rate per viscosity, 1/(Pa s2).
    damping_rate_per_viscosity: f64,
}

impl StabilityEstimate {
    /// Longest explicit step about the reference configuration, s.
    pub fn explicit_step(&self) -> f64 {
        stable_step(self.omega_squared, self.damping_rate, SAFETY)
    }
}

impl DerivedContinuum {
    /// Longest stable step, s; infinite for implicit steps without pressure.
    pub fn stable_step(&self, phyxels: &PhyxelBody) -> f64 {
        let pressure_omega_squared = self.pressure.as_ref().map_or(0.0, |pressure| pressure.omega_squared);
        if self.preconditioner.is_some() {
            return if pressure_omega_squared > 0.0 {
                stable_step(pressure_omega_squared, 0.0, SAFETY)
            } else {
                f64::INFINITY
            };
        }
        let frequency_ratio = f64::from(phyxels.frequency_ratio);
        let max_viscosity = self.phyxels.states.iter().flat_map(|state| state.viscosity).fold(0.0, Real::max);
        let damping_rate =
            self.stability.damping_rate + f64::from(max_viscosity) * self.stability.damping_rate_per_viscosity;
        stable_step(
            self.stability.omega_squared * frequency_ratio * frequency_ratio + pressure_omega_squared,
            damping_rate,
            SAFETY,
        )
    }
}

impl PhyxelBody {
    /// Sets the damping of the phyxels, and estimates the stability limit where it is not known.
    pub(super) fn estimate_stability(
        &self,
        phyxels: &mut PhyxelArrays,
        (rest, reference, masses): (&[Vec3], &[Vec3], &[Real]),
        material: &Material,
        lanczos: LanczosParams,
    ) -> StabilityEstimate {
        let LanczosParams { iterations, margin } = lanczos;
        let young = material.max_young_modulus();
        let known = self.stability;
        let omega_squared =
            known.map_or_else(|| margin * phyxels.max_omega_squared(masses, iterations), |known| known.omega_squared);
        let requested = 2.0 * f64::from(material.damping) / lowest_bar_frequency(rest, young, material.density);
        let max_damping = 2.0 * MAX_DAMPING_RATIO / omega_squared.sqrt().max(1e-30);
        // Stiffness-proportional damping gives the lowest mode the requested damping ratio.
        phyxels.material.damping = (requested.min(max_damping) * f64::from(young)) as Real;
        let damping_rate = known.map_or_else(
            || margin * phyxels.max_damping_rate(reference, masses, iterations),
            |known| known.damping_rate,
        );
        let melts = material.heat.melting.is_some();
        let damping_rate_per_viscosity = known.map_or_else(
            || if melts { margin * phyxels.max_damping_rate_per_viscosity(reference, masses, iterations) } else { 0.0 },
            |known| known.damping_rate_per_viscosity,
        );
        StabilityEstimate { omega_squared, damping_rate, damping_rate_per_viscosity }
    }
}

impl PhyxelArrays {
    /// Square of the largest angular eigenfrequency about the reference configuration, 1/s2.
    pub fn max_omega_squared(&mut self, masses: &[Real], iterations: usize) -> f64 {
        self.lanczos_max(masses, iterations, |phyxels, displacements, forces| {
            pack_vectors(&mut phyxels.points, displacements, 1.0);
            let points = std::mem::take(&mut phyxels.points);
            phyxels.linearise_payloads(&|_| (&IDENTITY, &ZERO_STRESS), &points);
            phyxels.points = points;
            phyxels.gather_forces(0..phyxels.cloud.padded(), false, false, forces);
        })
    }

    /// Largest decay rate by damping in a configuration, 1/s.
    pub fn max_damping_rate(&mut self, positions: &[Vec3], masses: &[Real], iterations: usize) -> f64 {
        if !self.is_damped() {
            return 0.0;
        }
        let material = self.material;
        // Without elasticity only the dampers remain.
        self.material =
            PhyxelMaterial { hooke: Hooke::isotropic(0.0, 0.0), volume_penalty: 0.0, hourglass: 0.0, ..material };
        let states = std::mem::take(&mut self.states);
        self.load_positions(positions);
        let rate = self.lanczos_max(masses, iterations, |phyxels, displacements, forces| {
            phyxels.internal_forces(Some(displacements), forces);
        });
        (self.material, self.states) = (material, states);
        rate
    }

    /// Largest decay rate by a viscosity of 1 Pa s in a configuration, 1/(Pa s2).
    pub fn max_damping_rate_per_viscosity(&mut self, positions: &[Vec3], masses: &[Real], iterations: usize) -> f64 {
        let damping = std::mem::replace(&mut self.material.damping, YOUNG_OVER_SHEAR);
        let rate = self.max_damping_rate(positions, masses, iterations);
        self.material.damping = damping;
        rate
    }

    /// Largest eigenvalue of `M^-1 K` by the Lanczos method from a random start vector; `force` computes
    /// `-K u`.
    ///
    /// Extreme eigenvalues converge in few iterations, also those of a mode at a single corner.
    fn lanczos_max(
        &mut self,
        masses: &[Real],
        iterations: usize,
        force: impl Fn(&mut Self, &[Vec3], &mut [Vec3]),
    ) -> f64 {
        let count = masses.len();
        let norm = |v: &[Vec3]| v.iter().map(|v| v.as_dvec3().length_squared()).sum::<f64>().sqrt();
        // In mass-weighted coordinates, sqrt(m) u.
        let roots: Vec<Real> = masses.iter().map(|mass| mass.sqrt()).collect();
        let mut q: Vec<Vec3> = (0..count as u32).map(start_vector).collect();
        let scale = (1.0 / norm(&q).max(1e-30)) as Real;
        q.iter_mut().for_each(|v| *v *= scale);
        let (mut q_before, mut forces) = (vec![Vec3::ZERO; count], vec![Vec3::ZERO; count]);
        let (mut alphas, mut betas): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for k in 0..iterations.min(3 * count) {
            let displacements: Vec<Vec3> = q.iter().zip(&roots).map(|(v, root)| *v / *root).collect();
            forces.fill(Vec3::ZERO);
            force(self, &displacements, &mut forces);
            let mut r: Vec<Vec3> = forces.iter().zip(&roots).map(|(f, root)| -*f / *root).collect();
            let alpha: f64 = r.iter().zip(&q).map(|(a, b)| a.as_dvec3().dot(b.as_dvec3())).sum();
            let beta_before = if k > 0 { betas[k - 1] } else { 0.0 };
            for i in 0..count {
                r[i] -= q[i] * alpha as Real + q_before[i] * beta_before as Real;
            }
            let beta = norm(&r);
            alphas.push(alpha);
            if !beta.is_finite() || beta <= 1e-5 * alpha.abs() {
                break;
            }
            betas.push(beta);
            r.iter_mut().for_each(|v| *v *= (1.0 / beta) as Real);
            q_before = std::mem::replace(&mut q, r);
        }
        max_tridiagonal_eigenvalue(&alphas, &betas).max(0.0)
    }
}

/// Start vector in which neighbours move in different directions.
fn start_vector(i: u32) -> Vec3 {
    let mut state = u64::from(i).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as Real / (1u64 << 24) as Real - 0.5
    };
    Vec3::new(next(), next(), next())
}

/// Undeformed and unstressed state.
static IDENTITY: DeformationGradient = {
    let (one, zero) = ([1.0; WIDTH], [0.0; WIDTH]);
    [[one, zero, zero], [zero, one, zero], [zero, zero, one]]
};
static ZERO_STRESS: [F32x8; 6] = [[0.0; WIDTH]; 6];
