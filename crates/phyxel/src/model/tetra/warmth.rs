//! What temperature and stress change in elements: stiffness, size, and plastic strain.

use super::body::Tetras;
use super::net::GRAIN;
use super::{Part, TetraModel};
use crate::Real;
use crate::body::Body;
use crate::material::Material;
use crate::parallel;
use crate::particles::Particles;
use phyxel_laws::lanes::WIDTH;
use phyxel_laws::tetra::{State, yield_eight};

/// Part of the stiffness that molten elements keep. They still span a net of nodes, which would tangle without any.
const LIMP: Real = 0.01;

/// Whether anything that elements look at depends on temperature.
fn is_sensitive(material: &Material) -> bool {
    material.young_modulus.points().len() > 1 || material.heat.melting.is_some() || material.heat.expansion != 0.0
}

impl Tetras {
    /// Whether its matter may take a new shape for good.
    pub(super) fn may_yield(&self, material: &Material) -> bool {
        material.plasticity.is_some() || (material.heat.melting.is_some() && material.heat.softening.is_some())
    }

    /// Mean enthalpy of the corners of an element, J/kg: what has melted counts.
    fn enthalpy_of(&self, element: usize, enthalpy: &[f64]) -> f64 {
        0.25 * self.elements[element].iter().map(|&node| enthalpy[node as usize]).sum::<f64>()
    }

    /// States by pack; none where all elements are as the body.
    pub(super) fn find_states(&self, body: &Body, material: &Material, enthalpy: &[f64]) -> Vec<State> {
        if !is_sensitive(material) && !self.may_yield(material) && self.plastic.is_empty() {
            return Vec::new();
        }
        parallel::map(self.rest.len(), GRAIN, |pack| {
            let mut state = State::default();
            if let Some(plastic) = self.plastic.get(pack) {
                state.plastic = *plastic;
            }
            self.warm(&mut state, pack, body, material, enthalpy);
            state
        })
    }

    /// What the temperature of elements changes.
    fn warm(&self, state: &mut State, pack: usize, body: &Body, material: &Material, enthalpy: &[f64]) {
        let heat = &material.heat;
        let stiffest = material.stiffest();
        for i in self.members(pack) {
            let mean = self.enthalpy_of(i, enthalpy);
            let (temperature, molten) = (heat.temperature(mean), heat.molten(mean));
            let left = material.young_modulus.at(temperature) * heat.stiffness_of_mix(temperature, molten);
            state.stiffness[i % WIDTH] = if stiffest > 0.0 { (left / stiffest).max(LIMP) } else { 0.0 };
            // Expansion is a law for small changes: beyond half and double it means nothing.
            let growth = heat.expansion * (temperature - body.rest_temperature);
            state.swelling[i % WIDTH] = growth.clamp(-0.5, 1.0);
        }
    }

    /// Lets matter yield where its elastic strain is beyond what it bears.
    pub(super) fn yield_to_stress(
        &mut self,
        part: &mut Part,
        material: &Material,
        particles: &mut Particles,
        dt: Real,
    ) {
        if !self.may_yield(material) {
            return;
        }
        let Part { states, notes, matter, .. } = part;
        let (tetras, heat, enthalpy) = (&*self, &material.heat, &particles.enthalpy);
        let parts = parallel::map_chunks(states, GRAIN, |first, states| {
            let mut made: Vec<(u32, f64)> = Vec::new();
            for (pack, state) in (first..).zip(states) {
                let law = |lane: usize| {
                    let element = WIDTH * pack + lane;
                    let mean = (element < tetras.elements.len()).then(|| tetras.enthalpy_of(element, enthalpy))?;
                    material.yielding(heat.temperature(mean), heat.molten(mean))
                };
                let mut elastic = notes[pack].elastic;
                let keep = tetras.settings.deviatoric;
                let work = yield_eight(&tetras.rest[pack], &matter.hooke, (law, dt), keep, &mut elastic, state);
                let elements = (WIDTH * pack) as u32..;
                made.extend(elements.zip(work).filter(|(_, work)| *work > 0.0).map(|(i, work)| (i, f64::from(work))));
            }
            made
        });
        self.plastic.clear();
        self.plastic.extend(states.iter().map(|state| state.plastic));
        let part = f64::from(heat.from_work.plastic);
        if part > 0.0 {
            self.share_heat(particles, parts.into_iter().flatten().map(|(i, work)| (i as usize, part * work)));
        }
    }

    /// Gives heat of elements, J, to their nodes.
    fn share_heat(&self, particles: &mut Particles, heats: impl Iterator<Item = (usize, f64)>) {
        let made = particles.make_heat();
        for (element, heat) in heats {
            self.elements[element].iter().for_each(|&node| made[node as usize] += 0.25 * heat);
        }
    }

    /// Notes the heat of what damping takes from each element, W.
    pub(super) fn note_losses(
        &self,
        material: &Material,
        particles: &mut Particles,
        dt: Real,
        lost: impl Fn(usize) -> Real,
    ) {
        let part = f64::from(material.heat.from_work.damping) * f64::from(dt);
        if part > 0.0 {
            self.share_heat(particles, (0..self.elements.len()).map(|i| (i, part * f64::from(lost(i)))));
        }
    }
}

impl TetraModel {
    /// Lets stiffness and size follow the temperatures.
    pub(crate) fn follow_temperature(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        let Some(derived) = &mut self.derived else { return };
        for (tetras, part) in self.bodies.iter().zip(&mut derived.parts) {
            let body = &bodies[tetras.id.0 as usize];
            let material = &materials[body.material.0 as usize];
            if !is_sensitive(material) {
                continue;
            }
            parallel::for_each_chunk(&mut part.states, GRAIN, |first, states| {
                for (pack, state) in (first..).zip(states) {
                    tetras.warm(state, pack, body, material, &particles.enthalpy);
                }
            });
        }
    }
}
