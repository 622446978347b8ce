//! What temperature and stress change in phyxels: stiffness, size, viscosity, and plastic strain.

use super::cloud::Cloud;
use super::field::{Field, GRAIN};
use super::{ContinuumModel, Phyxels};
use crate::Real;
use crate::body::Body;
use crate::material::Material;
use crate::parallel;
use crate::particles::Particles;
use phyxel_laws::lanes::WIDTH;
use phyxel_laws::phyxels::{State, stress_of};
use phyxel_laws::plasticity::{Volume, creep};
use std::ops::Range;

/// Whether anything that phyxels look at depends on temperature.
fn is_sensitive(material: &Material) -> bool {
    material.young_modulus.points().len() > 1 || material.heat.melting.is_some() || material.heat.expansion != 0.0
}

impl Phyxels {
    /// Whether its matter may take a new shape for good.
    pub(super) fn may_yield(&self, material: &Material) -> bool {
        material.plasticity.is_some() || (material.heat.melting.is_some() && material.heat.softening.is_some())
    }

    /// States by pack; none where all phyxels are as the body.
    pub(super) fn find_states(&self, cloud: &Cloud, body: &Body, material: &Material, enthalpy: &[f64]) -> Vec<State> {
        if !is_sensitive(material) && !self.may_yield(material) && self.plastic.is_empty() {
            return Vec::new();
        }
        parallel::map(cloud.packs.len(), GRAIN, |pack| {
            let zero = [0.0; WIDTH];
            let mut state = State { plastic: [zero; 6], swelling: zero, stiffness: [1.0; WIDTH], viscosity: zero };
            for i in cloud.members(pack) {
                let lane = i % WIDTH;
                if let Some(plastic) = self.plastic.get(i) {
                    (0..6).for_each(|k| state.plastic[k][lane] = plastic[k]);
                }
                warm(&mut state, lane, body, material, enthalpy[i]);
            }
            state
        })
    }

    /// Lets matter yield where its elastic strain is beyond what it bears.
    pub(super) fn yield_to_stress(
        &mut self,
        field: &mut Field,
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
        let keep = self.settings.deviatoric.then_some(if flows { Volume::OfStress } else { Volume::OfShape });
        let work = material.heat.from_work.plastic;
        let (elastic, hooke, cloud) = (&field.elastic, &field.matter.hooke, &field.cloud);
        let parts = parallel::map_chunks(&mut field.states, GRAIN, |first, states| {
            let mut made: Vec<(u32, f64)> = Vec::new();
            for (k, state) in states.iter_mut().enumerate() {
                let pack = first + k;
                let stress = if work > 0.0 { stress_of(hooke, &elastic[pack]) } else { [[0.0; WIDTH]; 6] };
                for i in cloud.members(pack) {
                    let lane = i % WIDTH;
                    let heat = &material.heat;
                    let law = material.yielding(heat.temperature(enthalpy[i]), heat.molten(enthalpy[i]));
                    let (strain, before) = (elastic[pack].map(|e| e[lane]), state.plastic.map(|e| e[lane]));
                    let Some(after) = law.and_then(|law| creep(before, strain, law, dt, keep)) else {
                        continue;
                    };
                    (0..6).for_each(|k| state.plastic[k][lane] = after[k]);
                    if work > 0.0 {
                        // Shears count twice in the product of two symmetric matrices.
                        let part = |k: usize| if k < 3 { 1.0 } else { 2.0 };
                        let done: f64 =
                            (0..6).map(|k| part(k) * f64::from(stress[k][lane] * (after[k] - before[k]))).sum();
                        let volume = f64::from(cloud.packs[pack].volume[lane] * state.stiffness[lane] * work);
                        made.push((i as u32, (done * volume).max(0.0)));
                    }
                }
            }
            made
        });
        if self.plastic.len() != count {
            self.plastic = vec![[0.0; 6]; count];
        }
        let states = &field.states;
        parallel::for_each_chunk(&mut self.plastic, GRAIN * WIDTH, |first, plastic| {
            for (k, plastic) in plastic.iter_mut().enumerate() {
                let i = first + k;
                *plastic = states[i / WIDTH].plastic.map(|e| e[i % WIDTH]);
            }
        });
        if parts.iter().any(|part| !part.is_empty()) {
            let made = particles.make_heat();
            parts.iter().flatten().for_each(|&(i, heat)| made[range.start + i as usize] += heat);
        }
    }
}

/// What the temperature of a phyxel changes.
fn warm(state: &mut State, lane: usize, body: &Body, material: &Material, enthalpy: f64) {
    let heat = &material.heat;
    let (temperature, molten) = (heat.temperature(enthalpy), heat.molten(enthalpy));
    let stiffest = material.stiffest();
    let left = material.young_modulus.at(temperature) * heat.stiffness_of_mix(temperature, molten);
    state.stiffness[lane] = if stiffest > 0.0 { left / stiffest } else { 0.0 };
    // Expansion is a law for small changes: beyond half and double it means nothing.
    let growth = (1.0 + heat.expansion * (temperature - body.rest_temperature)).clamp(0.5, 2.0);
    state.swelling[lane] = 0.5 * (growth * growth - 1.0);
    state.viscosity[lane] = if molten > 0.0 { molten * material.fluid.viscosity.at(temperature) } else { 0.0 };
}

impl ContinuumModel {
    /// Lets stiffness, size and viscosity follow the temperatures.
    pub(crate) fn follow_temperature(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        let Some(derived) = &mut self.derived else { return };
        for (phyxels, derived) in self.bodies.iter().zip(derived) {
            let body = &bodies[phyxels.id.0 as usize];
            let material = &materials[body.material.0 as usize];
            if !is_sensitive(material) {
                continue;
            }
            let (cloud, enthalpy) = (&derived.field.cloud, &particles.enthalpy[derived.range.clone()]);
            parallel::for_each_chunk(&mut derived.field.states, GRAIN, |first, states| {
                for (k, state) in states.iter_mut().enumerate() {
                    for i in cloud.members(first + k) {
                        warm(state, i % WIDTH, body, material, enthalpy[i]);
                    }
                }
            });
        }
    }
}
