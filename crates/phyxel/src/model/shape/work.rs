//! The heat that lost work makes in clusters.
//!
//! Damping pulls every particle towards the rigid motion of its clusters. The velocities it takes away are computed
//! here once more, in f64, and only for matter that asks for it.

use super::packs::{Pace, Packs};
use super::{Cluster, ShapeModel};
use crate::model::angular_velocity;
use crate::parallel;
use crate::particles::Particles;
use glam::{DVec3, Vec3};

/// Clusters per task.
const GRAIN: usize = 4;

/// What damping does to a cluster.
struct Damped {
    number: usize,
    /// Change of velocity of each member, m/s.
    changes: Vec<DVec3>,
    /// Kinetic energy it takes, J.
    loss: f64,
}

/// What the clusters of a particle want of it.
#[derive(Clone, Copy, Default)]
struct Wants {
    clusters: f64,
    sum: DVec3,
    squares: f64,
    /// Part of the loss that warms it.
    part: f64,
}

impl Wants {
    /// How far they are from agreeing, m2/s2.
    fn variance(&self) -> f64 {
        let share = 1.0 / self.clusters.max(1.0);
        (self.squares * share - (self.sum * share).length_squared()).max(0.0)
    }
}

impl ShapeModel {
    /// Gives the kinetic energy that damping takes from clusters to their particles. `before` are the velocities at the
    /// start of the step; positions are still those of the start.
    ///
    /// A cluster loses `sum m (-v d - d^2/2)` by its changes of velocity `d`, measured from its mean motion, and shares
    /// that out by mass. A particle of several clusters moves by the mean of their changes and so loses more, by half
    /// their variance, which warms it alone. The sum is all that damping by itself takes from the kinetic energy; with
    /// the pull of the same step it interferes to first order in the step.
    pub(super) fn note_damping(&self, particles: &mut Particles, before: &[Vec3], paces: &[Pace]) {
        let Some(derived) = self.derived.as_deref() else { return };
        let (thermal, packs) = (&derived.thermal, &derived.packs);
        let part = |number: usize| f64::from(thermal.tuning(number).from_work.damping);
        if thermal.tuning.iter().all(|tuning| tuning.from_work.damping == 0.0) {
            return;
        }
        let asking: Vec<usize> = (0..self.clusters.len()).filter(|&number| part(number) > 0.0).collect();
        let damped = parallel::map(asking.len(), GRAIN, |k| {
            let damp = f64::from(paces[thermal.tuned[asking[k]] as usize].damp);
            damp_cluster(asking[k], &self.clusters[asking[k]], packs, particles, before, damp)
        });
        let mut wants = vec![Wants::default(); particles.len()];
        particles.make_heat();
        for Damped { number, changes, loss } in &damped {
            let members = &self.clusters[*number].members;
            for (&i, change) in members.iter().zip(changes) {
                let wants = &mut wants[i as usize];
                wants.clusters += 1.0;
                wants.sum += *change;
                wants.squares += change.length_squared();
                wants.part = part(*number);
            }
            share_by_mass(members, part(*number) * loss, particles);
        }
        let Particles { heat_made, mass, .. } = particles;
        for ((heat, mass), wants) in heat_made.iter_mut().zip(mass).zip(&wants) {
            *heat += 0.5 * f64::from(*mass) * wants.part * wants.variance();
        }
    }
}

/// Gives heat, J, to particles by mass; the column of heat is there.
pub(super) fn share_by_mass(members: &[u32], heat: f64, particles: &mut Particles) {
    let Particles { heat_made, mass, .. } = particles;
    let total: f64 = members.iter().map(|&i| f64::from(mass[i as usize])).sum();
    for &i in members {
        heat_made[i as usize] += heat * f64::from(mass[i as usize]) / total;
    }
}

/// What damping takes from a cluster; `damp` is the part of the motion against its rigid motion.
fn damp_cluster(
    number: usize,
    cluster: &Cluster,
    packs: &Packs,
    particles: &Particles,
    before: &[Vec3],
    damp: f64,
) -> Damped {
    let members = || cluster.members.iter().zip(&packs.weights[number]).map(|(&i, &w)| (i as usize, f64::from(w)));
    let place = |i: usize| particles.position[i].as_dvec3();
    let velocity = |i: usize| before[i].as_dvec3();
    let centre: DVec3 = members().map(|(i, w)| w * place(i)).sum();
    let drift: DVec3 = members().map(|(i, w)| w * velocity(i)).sum();
    let arms = members().map(|(i, w)| (w, place(i) - centre, velocity(i) - drift));
    let spin = angular_velocity(arms);
    // What is held takes no part: the cluster then loses energy against the world, not against its own mean motion.
    let hangs = cluster.members.iter().any(|&i| particles.is_held(i as usize));
    let frame = if hangs { DVec3::ZERO } else { drift };
    let mut loss = 0.0;
    let changes = members().map(|(i, w)| {
        if particles.is_held(i) {
            return DVec3::ZERO;
        }
        let change = damp * (drift + spin.cross(place(i) - centre) - velocity(i));
        loss -= w * packs.totals[number] * ((velocity(i) - frame).dot(change) + 0.5 * change.length_squared());
        change
    });
    let changes = changes.collect();
    Damped { number, changes, loss: loss.max(0.0) }
}
