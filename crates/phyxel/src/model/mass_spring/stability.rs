//! Stability limits of the explicit step: bounds on the frequencies of spring lattices and melts.

use super::spring_graph::SpringGraph;
use super::{GRAIN, MassSpringModel};
use crate::Real;
use crate::parallel;
use glam::{DMat3, Vec3};
use phyxel_laws::linalg::eigen::symmetric_eigen;
use phyxel_laws::time_integration::stable_step;
use serde::{Deserialize, Serialize};

/// Fraction of the stability limit that a step may use.
const SAFETY: f64 = 0.8;
/// Largest approach of two molecules in a step, sizes.
const MAX_APPROACH: f64 = 0.2;

/// Upper bounds on squared angular frequencies for a Young's modulus of 1 Pa, 1/s2. Removing springs never
/// raises them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct FrequencyBounds {
    /// With springs in their directions at rest.
    pub rest_directions: f64,
    /// For arbitrary spring directions.
    pub any_direction: f64,
}

/// Stability limits of the molecules, from their motion in the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct MoleculeLimits {
    /// Largest squared angular frequency, 1/s2.
    pub omega_squared: f64,
    /// Largest viscous damping rate, 1/s.
    pub damping_rate: f64,
    /// Largest rate of approach of two molecules, sizes per second.
    pub approach_rate: f64,
}

impl MassSpringModel {
    /// Longest stable step, s; infinite before [`prepare`](Self::prepare).
    pub(super) fn stable_spring_step(&self) -> f64 {
        let Some(cache) = self.cache.as_deref() else { return f64::INFINITY };
        let springs = cache.constants.iter().map(|constants| {
            (constants.max_omega_squared, f64::from(constants.rayleigh_damping) * constants.max_omega_squared)
        });
        let springs = springs.fold((0.0, 0.0), |a: (f64, f64), b| (a.0.max(b.0), a.1.max(b.1)));
        let molecules = &self.molecule_limits;
        let stable = stable_step(springs.0 + molecules.omega_squared, springs.1 + molecules.damping_rate, SAFETY);
        if molecules.approach_rate > 0.0 { stable.min(MAX_APPROACH / molecules.approach_rate) } else { stable }
    }
}

/// Computes upper bounds on squared angular frequencies for a Young's modulus of 1 Pa, 1/s2.
///
/// The spring energy is at most `sum 2 k ((n.u_i)^2 + (n.u_j)^2) / 2`, so no squared frequency exceeds twice
/// the largest eigenvalue of `sum k n n^T / m` of any particle. The bound is attained in a cubic lattice. For
/// any directions, the eigenvalue is at most `sum k / m`.
pub(super) fn frequency_bounds(graph: &SpringGraph, rest: &[Vec3], masses: &[Real]) -> FrequencyBounds {
    let bounds = parallel::map_ranges(graph.len(), GRAIN, |range| {
        range.fold(FrequencyBounds::default(), |bounds, i| {
            let sum = graph.of(i).iter().fold(DMat3::ZERO, |sum, half| {
                let n = (rest[half.other as usize] - rest[i]).as_dvec3().normalize_or_zero();
                sum + DMat3::from_cols(n * n.x, n * n.y, n * n.z) * f64::from(half.stiffness)
            });
            let rows: [[f64; 3]; 3] = std::array::from_fn(|r| std::array::from_fn(|c| sum.col(c)[r]));
            let stiffness_sum: f64 = graph.of(i).iter().map(|half| f64::from(half.stiffness)).sum();
            let mass = f64::from(masses[i]);
            let rest_directions = 2.0 * symmetric_eigen(rows).0.into_iter().fold(0.0, f64::max) / mass;
            FrequencyBounds {
                rest_directions: bounds.rest_directions.max(rest_directions),
                any_direction: bounds.any_direction.max(2.0 * stiffness_sum / mass),
            }
        })
    });
    bounds.into_iter().fold(FrequencyBounds::default(), |a, b| FrequencyBounds {
        rest_directions: a.rest_directions.max(b.rest_directions),
        any_direction: a.any_direction.max(b.any_direction),
    })
}
