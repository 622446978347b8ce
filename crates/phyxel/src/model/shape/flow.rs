//! Permanent deformation of clusters, and the heat that it makes.

use super::packs::{HELD_WEIGHT, Misfit};
use super::work::share_by_mass;
use super::{Cluster, ShapeModel, strain};
use crate::parallel;
use crate::particles::Particles;
use crate::step::StepContext;
use glam::{DMat3, Mat3, Quat};
use phyxel_laws::matching::rest::RestShape;
use phyxel_laws::plasticity;
use phyxel_laws::rotation::nearest_rotation;

/// Clusters per task of what only flowing clusters need.
const GRAIN: usize = 16;

/// A cluster that flows.
struct Flowing {
    number: usize,
    rotation: Quat,
    /// Best affine map of its rest shape.
    affine: Mat3,
    /// Permanent deformation afterwards.
    plastic: Mat3,
}

impl ShapeModel {
    /// Permanent deformation, `[MHTG05]` eqs. 15 and 16; what it loses of the elastic energy warms the matter.
    pub(crate) fn flow(&mut self, particles: &mut Particles, context: &StepContext) {
        let flowing = self.find_flow(context);
        if flowing.is_empty() {
            return;
        }
        self.note_plastic_work(&flowing, particles, context);
        flowing.iter().for_each(|flow| self.clusters[flow.number].plastic = flow.plastic);
        let Some(derived) = self.derived.as_deref_mut() else { return };
        let (clusters, thermal) = (&self.clusters, &derived.thermal);
        derived.packs.set_rest(|number| (clusters[number as usize].plastic, thermal.growth(number as usize)));
    }

    /// The clusters beyond their yield point, in the order of the kernels.
    fn find_flow(&self, context: &StepContext) -> Vec<Flowing> {
        let mut flowing = Vec::new();
        let Some(derived) = self.derived.as_deref() else { return flowing };
        let thermal = &derived.thermal;
        if thermal.yielding.is_empty() {
            return flowing;
        }
        derived.packs.read(|number, rotation, affine| {
            let number = number as usize;
            let Some(law) = thermal.yielding[number] else { return };
            let plastic = self.clusters[number].plastic;
            let strain = strain(rotation, affine, plastic * thermal.growth(number));
            let flowed = plasticity::flow(plastic, strain, law.strain, context.dt * law.creep, law.max);
            flowing.extend(flowed.map(|plastic| Flowing { number, rotation, affine, plastic }));
        });
        flowing
    }

    /// Gives the energy that the flow takes, at the places where particles are, to the particles of each cluster.
    fn note_plastic_work(&self, flowing: &[Flowing], particles: &mut Particles, context: &StepContext) {
        let Some(derived) = self.derived.as_deref() else { return };
        let (thermal, packs) = (&derived.thermal, &derived.packs);
        let part = |flow: &Flowing| f64::from(thermal.tuning(flow.number).from_work.plastic);
        if flowing.iter().all(|flow| part(flow) == 0.0) {
            return;
        }
        let dt = f64::from(context.dt);
        let heats = parallel::map(flowing.len(), GRAIN, |k| {
            let (flow, number) = (&flowing[k], flowing[k].number);
            if part(flow) == 0.0 {
                return 0.0;
            }
            let (cluster, shape) = (&self.clusters[number], &packs.shapes[number]);
            let moments = second_moments(cluster, shape, &packs.weights[number], particles);
            let growth = thermal.growth(number);
            let distance = |plastic: Mat3| rigid_distance(flow, (plastic * growth).as_dmat3(), moments);
            let size = f64::from(shape.size);
            let closer = size * size * (distance(cluster.plastic) - distance(flow.plastic));
            // A bound on the permanent strain may turn the flow against the pull; that work is not followed.
            let misfit = Misfit { rigid: closer, ..Misfit::default() };
            let mass = true_mass(&cluster.members, packs.totals[number], &packs.weights[number], particles);
            part(flow) * thermal.tuning(number).elastic_energy(dt, mass, &misfit).max(0.0)
        });
        particles.make_heat();
        for (flow, heat) in flowing.iter().zip(heats) {
            share_by_mass(&self.clusters[flow.number].members, heat, particles);
        }
    }
}

/// Mass of a cluster without what held particles count more, kg.
fn true_mass(members: &[u32], total: f64, weights: &[f32], particles: &Particles) -> f64 {
    let part = |i: u32| if particles.is_held(i as usize) { 1.0 / HELD_WEIGHT } else { 1.0 };
    total * members.iter().zip(weights).map(|(&i, &weight)| part(i) * f64::from(weight)).sum::<f64>()
}

/// `sum w q q^T` of a cluster, in cluster sizes.
fn second_moments(cluster: &Cluster, shape: &RestShape, weights: &[f32], particles: &Particles) -> DMat3 {
    let members = cluster.members.iter().zip(weights);
    members.fold(DMat3::ZERO, |sum, (&i, &weight)| {
        let q = shape.offset(particles.rest[i as usize]).as_dvec3();
        sum + DMat3::from_cols(q * q.x, q * q.y, q * q.z) * f64::from(weight)
    })
}

/// Mean square distance of the fitted shape from the rest shape in the turn that fits it best, in cluster sizes.
///
/// The fit is the best one, so what it leaves stands across all affine maps and does not depend on the rest shape.
fn rigid_distance(flow: &Flowing, rest: DMat3, moments: DMat3) -> f64 {
    let affine = flow.affine.as_dmat3();
    let turn = nearest_rotation(affine * moments * rest.transpose(), flow.rotation);
    let off = affine - DMat3::from_quat(turn.as_dquat()) * rest;
    let square = off * moments * off.transpose();
    square.x_axis.x + square.y_axis.y + square.z_axis.z
}
