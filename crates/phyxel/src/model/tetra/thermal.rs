//! Element state: stiffness and thermal strain by temperature, plastic strain by stress, and the heat of
//! dissipation.

use super::assembly::GRAIN;
use super::body::TetBody;
use super::{BodyCache, TetraModel};
use crate::Real;
use crate::body::Body;
use crate::material::Material;
use crate::model::View;
use crate::parallel;
use crate::store::Particles;
use phyxel_laws::fem::{StatePack, plastic_flow};
use phyxel_laws::simd::WIDTH;

/// Residual stiffness of molten elements, as a fraction: without any, their mesh would tangle.
const MOLTEN_STIFFNESS: Real = 0.01;

/// Returns true if the element state depends on temperature.
fn depends_on_temperature(material: &Material) -> bool {
    material.young_modulus.points().len() > 1 || material.heat.melting.is_some() || material.heat.expansion != 0.0
}

impl TetBody {
    /// Returns true if its material may deform plastically.
    pub(super) fn may_yield(&self, material: &Material) -> bool {
        material.plasticity.is_some() || (material.heat.melting.is_some() && material.heat.softening.is_some())
    }

    /// Mean enthalpy of the nodes of an element, J/kg, latent heat included.
    fn mean_enthalpy(&self, element: usize, enthalpy: &[f64]) -> f64 {
        0.25 * self.elements[element].iter().map(|&node| enthalpy[node as usize]).sum::<f64>()
    }

    /// Finds the element states by pack; empty if no element differs from the body.
    pub(super) fn find_element_states(&self, body: &Body, material: &Material, enthalpy: &[f64]) -> Vec<StatePack> {
        if !depends_on_temperature(material) && !self.may_yield(material) && self.plastic_strain.is_empty() {
            return Vec::new();
        }
        parallel::map(self.rest.len(), GRAIN, |pack| {
            let mut state = StatePack::default();
            if let Some(plastic) = self.plastic_strain.get(pack) {
                state.plastic_strain = *plastic;
            }
            self.update_state(&mut state, pack, body, material, enthalpy);
            state
        })
    }

    /// Updates stiffness and thermal strain of a pack by temperature.
    fn update_state(&self, state: &mut StatePack, pack: usize, body: &Body, material: &Material, enthalpy: &[f64]) {
        let heat = &material.heat;
        let reference = material.max_young_modulus();
        for i in self.elements_in(pack) {
            let mean = self.mean_enthalpy(i, enthalpy);
            let (temperature, molten) = (heat.temperature(mean), heat.liquid_fraction(mean));
            let modulus = material.young_modulus.at(temperature) * heat.mixture_stiffness_fraction(temperature, molten);
            state.stiffness_scale[i % WIDTH] =
                if reference > 0.0 { (modulus / reference).max(MOLTEN_STIFFNESS) } else { 0.0 };
            // Linear thermal expansion holds for small changes; it is cut off at half and double the size.
            let strain = heat.expansion * (temperature - body.rest_temperature);
            state.thermal_strain[i % WIDTH] = strain.clamp(-0.5, 1.0);
        }
    }

    /// Applies plastic flow where the elastic strain exceeds the yield strain, and records its heat.
    pub(super) fn flow_plastically(
        &mut self,
        body_cache: &mut BodyCache,
        material: &Material,
        particles: &mut Particles,
        dt: Real,
    ) {
        if !self.may_yield(material) {
            return;
        }
        let BodyCache { states, responses, law, .. } = body_cache;
        let (tet_body, heat, enthalpy) = (&*self, &material.heat, &particles.enthalpy);
        let work_by_chunk = parallel::map_chunks(states, GRAIN, |first, states| {
            let mut chunk_work: Vec<(u32, f64)> = Vec::new();
            for (pack, state) in (first..).zip(states) {
                let yield_law = |lane: usize| {
                    let element = WIDTH * pack + lane;
                    let mean =
                        (element < tet_body.elements.len()).then(|| tet_body.mean_enthalpy(element, enthalpy))?;
                    material.yield_law(heat.temperature(mean), heat.liquid_fraction(mean))
                };
                let mut elastic = responses[pack].elastic_strain;
                let deviatoric = tet_body.settings.deviatoric;
                let work =
                    plastic_flow(&tet_body.rest[pack], &law.hooke, (yield_law, dt), deviatoric, &mut elastic, state);
                let elements = (WIDTH * pack) as u32..;
                chunk_work
                    .extend(elements.zip(work).filter(|(_, work)| *work > 0.0).map(|(i, work)| (i, f64::from(work))));
            }
            chunk_work
        });
        self.plastic_strain.clear();
        self.plastic_strain.extend(states.iter().map(|state| state.plastic_strain));
        let fraction = f64::from(heat.from_work.plastic);
        if fraction > 0.0 {
            self.add_heat(
                particles,
                work_by_chunk.into_iter().flatten().map(|(i, work)| (i as usize, fraction * work)),
            );
        }
    }

    /// Distributes the heat of elements, J, to their nodes.
    fn add_heat(&self, particles: &mut Particles, heats: impl Iterator<Item = (usize, f64)>) {
        let made = particles.heat_made_mut();
        for (element, heat) in heats {
            self.elements[element].iter().for_each(|&node| made[node as usize] += 0.25 * heat);
        }
    }

    /// Records the heat of damping, from the dissipated power of each element, W.
    pub(super) fn add_damping_heat(
        &self,
        material: &Material,
        particles: &mut Particles,
        dt: Real,
        dissipated: impl Fn(usize) -> Real,
    ) {
        let factor = f64::from(material.heat.from_work.damping) * f64::from(dt);
        if factor > 0.0 {
            self.add_heat(particles, (0..self.elements.len()).map(|i| (i, factor * f64::from(dissipated(i)))));
        }
    }
}

impl TetraModel {
    /// Updates stiffness and thermal strain to the temperatures.
    pub(super) fn update_element_states(&mut self, view: &View) {
        let Some(cache) = &mut self.cache else { return };
        for (tet_body, body_cache) in self.bodies.iter().zip(&mut cache.bodies) {
            let body = view.body(tet_body.id);
            let material = view.material(tet_body.id);
            if !depends_on_temperature(material) {
                continue;
            }
            parallel::for_each_chunk(&mut body_cache.states, GRAIN, |first, states| {
                for (pack, state) in (first..).zip(states) {
                    tet_body.update_state(state, pack, body, material, &view.particles.enthalpy);
                }
            });
        }
    }
}
