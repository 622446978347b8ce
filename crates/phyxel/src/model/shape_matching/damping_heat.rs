//! Heat from the kinetic energy that damping dissipates.
//!
//! Damping relaxes particles towards the rigid motion of their clusters. Its velocity changes are computed
//! here once more, in f64, and only for materials that turn them into heat.

use super::batches::{ClusterBatches, StepGains};
use super::{Cluster, ShapeMatchingModel};
use crate::numerics::angular_velocity;
use crate::parallel;
use crate::store::Particles;
use glam::{DVec3, Vec3};

/// Clusters per task.
const GRAIN: usize = 4;

/// Damping of a cluster in a step.
struct ClusterDamping {
    cluster: usize,
    /// Velocity correction of each member, m/s.
    corrections: Vec<DVec3>,
    /// Kinetic energy it dissipates, J.
    loss: f64,
}

/// Sums over the velocity corrections of a particle by its clusters.
#[derive(Clone, Copy, Default)]
struct Corrections {
    count: f64,
    sum: DVec3,
    squares: f64,
    /// Fraction of the loss that becomes heat.
    heat_fraction: f64,
}

impl Corrections {
    /// Variance of the corrections, m2/s2.
    fn variance(&self) -> f64 {
        let weight = 1.0 / self.count.max(1.0);
        (self.squares * weight - (self.sum * weight).length_squared()).max(0.0)
    }
}

impl ShapeMatchingModel {
    /// Adds the kinetic energy that damping dissipates to the heat of the particles. `before` are the
    /// velocities at the start of the step; positions are still those of the start.
    ///
    /// A cluster loses `sum m (-v d - d^2/2)` by its velocity corrections `d`, relative to its mean motion;
    /// the heat is distributed by mass. A particle of several clusters takes the mean of their corrections
    /// and so loses more, by half their variance, which heats it alone. The total is the kinetic energy
    /// that damping alone dissipates; with the goal correction of the same step it interferes to first
    /// order in the step.
    pub(super) fn record_damping_heat(&self, particles: &mut Particles, before: &[Vec3], gains: &[StepGains]) {
        let Some(derived) = self.derived.as_deref() else { return };
        let (thermal, batches) = (&derived.thermal, &derived.batches);
        let heat_fraction = |number: usize| f64::from(thermal.cluster_params(number).from_work.damping);
        if thermal.params.iter().all(|params| params.from_work.damping == 0.0) {
            return;
        }
        let heated: Vec<usize> = (0..self.clusters.len()).filter(|&number| heat_fraction(number) > 0.0).collect();
        let damped = parallel::map(heated.len(), GRAIN, |k| {
            let damping = f64::from(gains[thermal.param_index[heated[k]] as usize].damping);
            damp_cluster(heated[k], &self.clusters[heated[k]], batches, particles, before, damping)
        });
        let mut corrections = vec![Corrections::default(); particles.len()];
        particles.heat_made_mut();
        for ClusterDamping { cluster, corrections: of_members, loss } in &damped {
            let members = &self.clusters[*cluster].members;
            for (&i, correction) in members.iter().zip(of_members) {
                let sum = &mut corrections[i as usize];
                sum.count += 1.0;
                sum.sum += *correction;
                sum.squares += correction.length_squared();
                sum.heat_fraction = heat_fraction(*cluster);
            }
            distribute_heat(members, heat_fraction(*cluster) * loss, particles);
        }
        let Particles { dissipated_heat, mass, .. } = particles;
        for ((heat, mass), sums) in dissipated_heat.iter_mut().zip(mass).zip(&corrections) {
            *heat += 0.5 * f64::from(*mass) * sums.heat_fraction * sums.variance();
        }
    }
}

/// Distributes heat (J) to particles by mass; the column of heat must exist.
pub(super) fn distribute_heat(members: &[u32], heat: f64, particles: &mut Particles) {
    let Particles { dissipated_heat, mass, .. } = particles;
    let total: f64 = members.iter().map(|&i| f64::from(mass[i as usize])).sum();
    for &i in members {
        dissipated_heat[i as usize] += heat * f64::from(mass[i as usize]) / total;
    }
}

/// Damping of a cluster; `damping` is the fraction of the non-rigid motion that is removed.
fn damp_cluster(
    number: usize,
    cluster: &Cluster,
    batches: &ClusterBatches,
    particles: &Particles,
    before: &[Vec3],
    damping: f64,
) -> ClusterDamping {
    let members = || cluster.members.iter().zip(&batches.weights[number]).map(|(&i, &w)| (i as usize, f64::from(w)));
    let position = |i: usize| particles.position[i].as_dvec3();
    let velocity = |i: usize| before[i].as_dvec3();
    let centre: DVec3 = members().map(|(i, w)| w * position(i)).sum();
    let mean_velocity: DVec3 = members().map(|(i, w)| w * velocity(i)).sum();
    let arms = members().map(|(i, w)| (w, position(i) - centre, velocity(i) - mean_velocity));
    let angular_velocity = angular_velocity(arms);
    // Fixed particles do not move: the cluster then dissipates relative to the world, not to its mean motion.
    let is_fixed = cluster.members.iter().any(|&i| particles.is_fixed(i as usize));
    let frame = if is_fixed { DVec3::ZERO } else { mean_velocity };
    let mut loss = 0.0;
    let corrections = members().map(|(i, w)| {
        if particles.is_fixed(i) {
            return DVec3::ZERO;
        }
        let change = damping * (mean_velocity + angular_velocity.cross(position(i) - centre) - velocity(i));
        loss -= w * batches.totals[number] * ((velocity(i) - frame).dot(change) + 0.5 * change.length_squared());
        change
    });
    let corrections = corrections.collect();
    ClusterDamping { cluster: number, corrections, loss: loss.max(0.0) }
}
