//! Thermal parameters of clusters: stiffness, yield law and expansion by mean temperature.

use super::params::{ClusterParams, young_modulus};
use super::{Cluster, ShapeMatchingModel};
use crate::Real;
use crate::body::Body;
use crate::material::Material;
use crate::model::View;
use crate::parallel;
use crate::store::Particles;
use phyxel_laws::material::plasticity::YieldLaw;

/// Clusters per task.
const GRAIN: usize = 16;

/// Thermal state of a cluster: means over its particles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ThermalState {
    /// Temperature in the scale of the scene.
    pub temperature: Real,
    /// Liquid fraction.
    pub liquid_fraction: Real,
}

/// Parameters that follow from the temperatures of clusters.
#[derive(Clone, Debug)]
pub(super) struct ThermalParams {
    /// State of each cluster; default where nothing depends on it.
    states: Vec<ThermalState>,
    /// One set for each body, that of its first cluster, then one for each cluster of another stiffness.
    pub params: Vec<ClusterParams>,
    /// Index into `params` by cluster.
    pub param_index: Vec<u32>,
    /// Thermal stretch (length over length at rest) by cluster; empty if all are 1.
    stretch: Vec<Real>,
    /// Yield law by cluster; empty if all are elastic.
    pub yield_laws: Vec<Option<YieldLaw>>,
}

impl ThermalParams {
    /// Thermal stretch of a cluster.
    pub fn stretch(&self, cluster: usize) -> Real {
        self.stretch.get(cluster).copied().unwrap_or(1.0)
    }

    /// Returns true if any cluster has a thermal stretch.
    pub fn has_stretch(&self) -> bool {
        !self.stretch.is_empty()
    }

    /// Parameters of a cluster.
    pub fn cluster_params(&self, cluster: usize) -> &ClusterParams {
        &self.params[self.param_index[cluster] as usize]
    }
}

/// Returns true if a property that shape matching uses depends on temperature.
fn depends_on_temperature(material: &Material) -> bool {
    let yields = material.plasticity.as_ref().is_some_and(|law| law.yield_strain.points().len() > 1);
    yields
        || material.young_modulus.points().len() > 1
        || material.heat.melting.is_some()
        || material.heat.expansion != 0.0
}

/// Length over length at rest. Linear expansion holds for small changes only; it is clamped to half and double.
fn thermal_stretch(material: &Material, temperature: Real, at_rest: Real) -> Real {
    (1.0 + material.heat.expansion * (temperature - at_rest)).clamp(0.5, 2.0)
}

impl ShapeMatchingModel {
    /// Body and material by the index of a body in the model.
    fn body_and_material<'a>(
        &self,
        body_index: u32,
        bodies: &'a [Body],
        materials: &'a [Material],
    ) -> (&'a Body, &'a Material) {
        let body = &bodies[self.bodies[body_index as usize].id.0 as usize];
        (body, &materials[body.material.0 as usize])
    }

    fn measure_temperatures(&self, view: &View) -> Vec<ThermalState> {
        parallel::map(self.clusters.len(), GRAIN, |number| {
            let cluster = &self.clusters[number];
            let (_, material) = self.body_and_material(cluster.body, view.bodies, view.materials);
            if depends_on_temperature(material) {
                mean_state(cluster, material, view.particles)
            } else {
                ThermalState::default()
            }
        })
    }

    /// Parameters at the present temperatures; `lengths` are the mean cluster lengths of the bodies, m.
    pub(super) fn thermal_params(&self, view: &View, lengths: &[Real]) -> ThermalParams {
        self.params_at(view.bodies, view.materials, lengths, self.measure_temperatures(view))
    }

    fn params_at(
        &self,
        bodies: &[Body],
        materials: &[Material],
        lengths: &[Real],
        states: Vec<ThermalState>,
    ) -> ThermalParams {
        let mut firsts: Vec<Option<ThermalState>> = vec![None; self.bodies.len()];
        for (cluster, &state) in self.clusters.iter().zip(&states) {
            firsts[cluster.body as usize].get_or_insert(state);
        }
        let params = |body_index: u32, state: ThermalState| {
            let (_, material) = self.body_and_material(body_index, bodies, materials);
            ClusterParams::new(
                &self.bodies[body_index as usize].settings,
                material,
                lengths[body_index as usize],
                state,
            )
        };
        let firsts: Vec<ThermalState> = firsts.into_iter().map(Option::unwrap_or_default).collect();
        let mut thermal = ThermalParams {
            params: firsts.iter().zip(0..).map(|(&first, body_index)| params(body_index, first)).collect(),
            param_index: Vec::with_capacity(states.len()),
            stretch: Vec::with_capacity(states.len()),
            yield_laws: Vec::with_capacity(states.len()),
            states: Vec::new(),
        };
        for (cluster, &state) in self.clusters.iter().zip(&states) {
            let (body, material) = self.body_and_material(cluster.body, bodies, materials);
            let first = firsts[cluster.body as usize];
            let is_equal = state == first || young_modulus(material, state) == young_modulus(material, first);
            thermal.param_index.push(if is_equal { cluster.body } else { thermal.params.len() as u32 });
            if !is_equal {
                thermal.params.push(params(cluster.body, state));
            }
            thermal.stretch.push(thermal_stretch(material, state.temperature, body.rest_temperature));
            thermal.yield_laws.push(material.yield_law(state.temperature, state.liquid_fraction));
        }
        if thermal.stretch.iter().all(|&stretch| stretch == 1.0) {
            thermal.stretch.clear();
        }
        if thermal.yield_laws.iter().all(Option::is_none) {
            thermal.yield_laws.clear();
        }
        thermal.states = states;
        thermal
    }

    /// Updates stiffness, yield law and expansion of every cluster to its mean temperature.
    pub(super) fn update_thermal_params(&mut self, view: &View) {
        let Some(derived) = self.derived.as_deref() else { return };
        let body_indices = 0..self.bodies.len() as u32;
        if !body_indices
            .into_iter()
            .any(|body_index| depends_on_temperature(self.body_and_material(body_index, view.bodies, view.materials).1))
        {
            return;
        }
        let states = self.measure_temperatures(view);
        if states == derived.thermal.states {
            return;
        }
        let thermal = self.params_at(view.bodies, view.materials, &derived.cluster_lengths, states);
        let Some(derived) = self.derived.as_deref_mut() else { return };
        if thermal.param_index != derived.thermal.param_index {
            derived.batches.set_gain_indices(&thermal.param_index);
        }
        if thermal.stretch != derived.thermal.stretch {
            let plastic = |number: u32| self.clusters[number as usize].plastic;
            derived.batches.set_rest_deformations(|number| (plastic(number), thermal.stretch(number as usize)));
        }
        derived.thermal = thermal;
    }
}

fn mean_state(cluster: &Cluster, material: &Material, particles: &Particles) -> ThermalState {
    let heat = &material.heat;
    let (mut temperature, mut liquid) = (0.0, 0.0);
    for &i in &cluster.members {
        let enthalpy = particles.enthalpy[i as usize];
        temperature += f64::from(heat.temperature(enthalpy));
        liquid += f64::from(heat.liquid_fraction(enthalpy));
    }
    let weight = 1.0 / cluster.members.len().max(1) as f64;
    ThermalState { temperature: (temperature * weight) as Real, liquid_fraction: (liquid * weight) as Real }
}
