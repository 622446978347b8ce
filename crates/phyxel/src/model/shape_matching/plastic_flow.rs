//! Plastic flow of clusters, and its heat.

use super::batch::Misfit;
use super::batches::FIXED_WEIGHT;
use super::damping_heat::distribute_heat;
use super::{Cluster, ShapeMatchingModel, elastic_strain};
use crate::parallel;
use crate::step::StepContext;
use crate::store::Particles;
use glam::{DMat3, Mat3, Quat};
use phyxel_laws::linalg::rotation::nearest_rotation;
use phyxel_laws::material::plasticity::update_plastic_deformation;
use phyxel_laws::shape_matching::rest::RestShape;

/// Clusters per task.
const GRAIN: usize = 16;

/// Plastic flow of a cluster in a step.
struct PlasticFlow {
    cluster: usize,
    rotation: Quat,
    /// Best affine map of its rest shape.
    affine: Mat3,
    /// Plastic deformation after the step.
    plastic: Mat3,
}

impl ShapeMatchingModel {
    /// Updates plastic deformations, `[MHTG05]` eqs. 15 and 16; the elastic energy they release becomes heat.
    pub(super) fn update_plasticity(&mut self, particles: &mut Particles, context: &StepContext) {
        let flowing = self.find_flowing(context);
        if flowing.is_empty() {
            return;
        }
        self.record_plastic_heat(&flowing, particles, context);
        flowing.iter().for_each(|flow| self.clusters[flow.cluster].plastic = flow.plastic);
        let Some(derived) = self.derived.as_deref_mut() else { return };
        let (clusters, thermal) = (&self.clusters, &derived.thermal);
        derived
            .batches
            .set_rest_deformations(|number| (clusters[number as usize].plastic, thermal.stretch(number as usize)));
    }

    /// Clusters beyond their yield strain, in the order of the batches.
    fn find_flowing(&self, context: &StepContext) -> Vec<PlasticFlow> {
        let mut flowing = Vec::new();
        let Some(derived) = self.derived.as_deref() else { return flowing };
        let thermal = &derived.thermal;
        if thermal.yield_laws.is_empty() {
            return flowing;
        }
        derived.batches.for_each_fit(|number, rotation, affine| {
            let number = number as usize;
            let Some(law) = thermal.yield_laws[number] else { return };
            let plastic = self.clusters[number].plastic;
            let strain = elastic_strain(rotation, affine, plastic * thermal.stretch(number));
            let fraction = context.dt * law.creep_rate;
            let updated = update_plastic_deformation(plastic, strain, law.yield_strain, fraction, law.max_strain);
            flowing.extend(updated.map(|plastic| PlasticFlow { cluster: number, rotation, affine, plastic }));
        });
        flowing
    }

    /// Adds the elastic energy that the flow releases, at fixed positions, to the heat of the particles of
    /// each cluster.
    fn record_plastic_heat(&self, flowing: &[PlasticFlow], particles: &mut Particles, context: &StepContext) {
        let Some(derived) = self.derived.as_deref() else { return };
        let (thermal, batches) = (&derived.thermal, &derived.batches);
        let heat_fraction = |flow: &PlasticFlow| f64::from(thermal.cluster_params(flow.cluster).from_work.plastic);
        if flowing.iter().all(|flow| heat_fraction(flow) == 0.0) {
            return;
        }
        let dt = f64::from(context.dt);
        let heats = parallel::map(flowing.len(), GRAIN, |k| {
            let (flow, number) = (&flowing[k], flowing[k].cluster);
            if heat_fraction(flow) == 0.0 {
                return 0.0;
            }
            let (cluster, shape) = (&self.clusters[number], &batches.shapes[number]);
            let moments = second_moments(cluster, shape, &batches.weights[number], particles);
            let stretch = thermal.stretch(number);
            let distance = |plastic: Mat3| rigid_distance(flow, (plastic * stretch).as_dmat3(), moments);
            let radius = f64::from(shape.gyration_radius);
            let decrease = radius * radius * (distance(cluster.plastic) - distance(flow.plastic));
            // The bound on the plastic strain may reverse the flow; the energy that this would take is
            // neglected.
            let misfit = Misfit { rigid: decrease, ..Misfit::default() };
            let mass = unweighted_mass(&cluster.members, batches.totals[number], &batches.weights[number], particles);
            heat_fraction(flow) * thermal.cluster_params(number).elastic_energy(dt, mass, &misfit).max(0.0)
        });
        particles.heat_made_mut();
        for (flow, heat) in flowing.iter().zip(heats) {
            distribute_heat(&self.clusters[flow.cluster].members, heat, particles);
        }
    }
}

/// Mass of a cluster without the extra weight of fixed particles, kg.
fn unweighted_mass(members: &[u32], total: f64, weights: &[f32], particles: &Particles) -> f64 {
    let part = |i: u32| if particles.is_fixed(i as usize) { 1.0 / FIXED_WEIGHT } else { 1.0 };
    total * members.iter().zip(weights).map(|(&i, &weight)| part(i) * f64::from(weight)).sum::<f64>()
}

/// Second moments `sum w q q^T` of a cluster, with `q` in radii of gyration.
fn second_moments(cluster: &Cluster, shape: &RestShape, weights: &[f32], particles: &Particles) -> DMat3 {
    let members = cluster.members.iter().zip(weights);
    members.fold(DMat3::ZERO, |sum, (&i, &weight)| {
        let q = shape.offset(particles.rest[i as usize]).as_dvec3();
        sum + DMat3::from_cols(q * q.x, q * q.y, q * q.z) * f64::from(weight)
    })
}

/// Mean squared distance of the fitted shape from the rest shape in its best rotation, in squared radii of
/// gyration.
///
/// The residual of the best fit is orthogonal to all affine maps, so it does not depend on the rest shape.
fn rigid_distance(flow: &PlasticFlow, rest: DMat3, moments: DMat3) -> f64 {
    let affine = flow.affine.as_dmat3();
    let rotation = nearest_rotation(affine * moments * rest.transpose(), flow.rotation);
    let difference = affine - DMat3::from_quat(rotation.as_dquat()) * rest;
    let square = difference * moments * difference.transpose();
    square.x_axis.x + square.y_axis.y + square.z_axis.z
}
