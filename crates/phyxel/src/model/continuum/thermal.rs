//! Material state of phyxels: stiffness, thermal strain and viscosity by temperature, plastic strain by stress.

use super::assembly::{GRAIN, PhyxelArrays};
use super::cloud::Cloud;
use super::{ContinuumModel, PhyxelBody};
use crate::Real;
use crate::body::Body;
use crate::material::Material;
use crate::model::View;
use crate::parallel;
use crate::store::Particles;
use phyxel_laws::material::plasticity::{Isochoric, update_plastic_strain};
use phyxel_laws::meshless::{PhyxelState, second_piola_stress};
use phyxel_laws::simd::{F32x8, WIDTH};
use std::ops::Range;

/// Returns true if a property of a phyxel depends on temperature.
fn depends_on_temperature(material: &Material) -> bool {
    material.young_modulus.points().len() > 1 || material.heat.melting.is_some() || material.heat.expansion != 0.0
}

impl PhyxelBody {
    /// Returns true if its material may deform plastically.
    pub(super) fn may_yield(&self, material: &Material) -> bool {
        material.plasticity.is_some() || (material.heat.melting.is_some() && material.heat.softening.is_some())
    }

    /// States by pack; empty if all phyxels have the constants of the body.
    pub(super) fn material_states(
        &self,
        cloud: &Cloud,
        body: &Body,
        material: &Material,
        enthalpy: &[f64],
    ) -> Vec<PhyxelState> {
        if !depends_on_temperature(material) && !self.may_yield(material) && self.plastic.is_empty() {
            return Vec::new();
        }
        parallel::map(cloud.references.len(), GRAIN, |pack| {
            let zero = [0.0; WIDTH];
            let mut state = PhyxelState {
                plastic: [zero; 6],
                thermal_strain: zero,
                stiffness_fraction: [1.0; WIDTH],
                viscosity: zero,
            };
            for i in cloud.members(pack) {
                let lane = i % WIDTH;
                if let Some(plastic) = self.plastic.get(i) {
                    (0..6).for_each(|k| state.plastic[k][lane] = plastic[k]);
                }
                update_state(&mut state, lane, body, material, enthalpy[i]);
            }
            state
        })
    }

    /// Updates plastic strains where the elastic strain exceeds the yield strain, and records the heat of
    /// plastic work.
    pub(super) fn update_plasticity(
        &mut self,
        phyxels: &mut PhyxelArrays,
        range: Range<usize>,
        material: &Material,
        particles: &mut Particles,
        dt: Real,
    ) {
        if !self.may_yield(material) {
            return;
        }
        let count = range.len();
        let enthalpy = &particles.enthalpy[range.clone()];
        let flows = self.is_flowing(material, enthalpy);
        let isochoric =
            self.settings.deviatoric.then_some(if flows { Isochoric::Trace } else { Isochoric::RestVolume });
        let work = material.heat.from_work.plastic;
        let (elastic, hooke, cloud) = (&phyxels.elastic_strain, &phyxels.material.hooke, &phyxels.cloud);
        let heats = parallel::map_chunks(&mut phyxels.states, GRAIN, |first, states| {
            let mut plastic_heat: Vec<(u32, f64)> = Vec::new();
            for (k, state) in states.iter_mut().enumerate() {
                let pack = first + k;
                let stress = if work > 0.0 { second_piola_stress(hooke, &elastic[pack]) } else { [[0.0; WIDTH]; 6] };
                for i in cloud.members(pack) {
                    let lane = i % WIDTH;
                    let heat = &material.heat;
                    let law = material.yield_law(heat.temperature(enthalpy[i]), heat.liquid_fraction(enthalpy[i]));
                    let (strain, before) = (elastic[pack].map(|e| e[lane]), state.plastic.map(|e| e[lane]));
                    let Some(after) = law.and_then(|law| update_plastic_strain(before, strain, law, dt, isochoric))
                    else {
                        continue;
                    };
                    (0..6).for_each(|k| state.plastic[k][lane] = after[k]);
                    if work > 0.0 {
                        let work_density = plastic_work_density(&stress, lane, before, after);
                        let volume =
                            f64::from(cloud.references[pack].volume[lane] * state.stiffness_fraction[lane] * work);
                        plastic_heat.push((i as u32, (work_density * volume).max(0.0)));
                    }
                }
            }
            plastic_heat
        });
        if self.plastic.len() != count {
            self.plastic = vec![[0.0; 6]; count];
        }
        let states = &phyxels.states;
        parallel::for_each_chunk(&mut self.plastic, GRAIN * WIDTH, |first, plastic| {
            for (k, plastic) in plastic.iter_mut().enumerate() {
                let i = first + k;
                *plastic = states[i / WIDTH].plastic.map(|e| e[i % WIDTH]);
            }
        });
        if heats.iter().any(|heats| !heats.is_empty()) {
            let plastic_heat = particles.heat_made_mut();
            heats.iter().flatten().for_each(|&(i, heat)| plastic_heat[range.start + i as usize] += heat);
        }
    }
}

/// Plastic work per volume of a strain increment, J/m3.
fn plastic_work_density(stress: &[F32x8; 6], lane: usize, before: [Real; 6], after: [Real; 6]) -> f64 {
    // Shear components count twice in the double contraction.
    let weight = |k: usize| if k < 3 { 1.0 } else { 2.0 };
    (0..6).map(|k| weight(k) * f64::from(stress[k][lane] * (after[k] - before[k]))).sum()
}

/// Updates the state of a phyxel to its temperature.
fn update_state(state: &mut PhyxelState, lane: usize, body: &Body, material: &Material, enthalpy: f64) {
    let heat = &material.heat;
    let (temperature, liquid) = (heat.temperature(enthalpy), heat.liquid_fraction(enthalpy));
    let stiffest = material.max_young_modulus();
    let young_modulus = material.young_modulus.at(temperature) * heat.mixture_stiffness_fraction(temperature, liquid);
    state.stiffness_fraction[lane] = if stiffest > 0.0 { young_modulus / stiffest } else { 0.0 };
    // Linear expansion holds for small changes only; it is clamped to half and double.
    let stretch = (1.0 + heat.expansion * (temperature - body.rest_temperature)).clamp(0.5, 2.0);
    state.thermal_strain[lane] = 0.5 * (stretch * stretch - 1.0);
    state.viscosity[lane] = if liquid > 0.0 { liquid * material.fluid.viscosity.at(temperature) } else { 0.0 };
}

impl ContinuumModel {
    /// Updates stiffness, thermal strain and viscosity to the temperatures.
    pub(super) fn update_material_states(&mut self, view: &View) {
        let Some(derived) = &mut self.derived else { return };
        for (phyxels, derived) in self.bodies.iter().zip(derived) {
            let body = view.body(phyxels.id);
            let material = view.material(phyxels.id);
            if !depends_on_temperature(material) {
                continue;
            }
            let (cloud, enthalpy) = (&derived.phyxels.cloud, &view.particles.enthalpy[derived.range.clone()]);
            parallel::for_each_chunk(&mut derived.phyxels.states, GRAIN, |first, states| {
                for (k, state) in states.iter_mut().enumerate() {
                    for i in cloud.members(first + k) {
                        update_state(state, i % WIDTH, body, material, enthalpy[i]);
                    }
                }
            });
        }
    }
}
