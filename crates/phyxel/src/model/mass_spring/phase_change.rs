//! Phase changes and failure: melting, breaking, freezing and boiling; plastic stretch of springs.

use super::spring_forces::{Stiffness, spring_state};
use super::spring_graph::{HalfSpring, Spring, SpringAxis, SpringConduction};
use super::stability::{FrequencyBounds, frequency_bounds};
use super::verlet_list::VerletList;
use super::{GRAIN, LatticeConstants, MassSpringModel, SpringLattice};
use crate::Real;
use crate::body::Body;
use crate::material::{Material, ThermalProperties};
use crate::model::CutPlane;
use crate::model::ViewMut;
use crate::parallel;
use crate::step::StepContext;
use crate::store::{Particles, Phase};
use glam::Vec3;
use std::ops::Range;

/// Distance below which cold molecules freeze together, sizes. In a closest packing, first neighbours are
/// 1.12 sizes apart and second neighbours 1.59.
const FREEZE_DISTANCE: Real = 1.4;
/// Stiffness of a spring formed by freezing over Young's modulus and size. Twelve of them, 1.12 sizes long,
/// have the bulk modulus `2/3 E` of the lattice: `12 k (1.12 s)^2 / (18 s^3) = 2/3 E`.
const FROZEN_STIFFNESS: Real = 0.794;

impl MassSpringModel {
    /// Applies phase changes: springs yield, melt and break; molecules freeze, boil and condense.
    pub(super) fn change_phases(&mut self, view: &mut ViewMut, context: &StepContext) {
        let Some(mut cache) = self.cache.take() else { return };
        for (lattice, constants) in self.bodies.iter_mut().zip(&mut cache.constants) {
            let body = view.body(lattice.id);
            let material = view.material(lattice.id);
            yield_springs(lattice, body, material, view.particles, context.dt);
            let removed = remove_springs(lattice, body, material, view.particles);
            release_molecules(lattice, constants.range.clone(), view.particles);
            boil(constants.range.clone(), &material.heat, view.particles);
            let added = freeze(lattice, constants, &cache.list, material, view.particles);
            if removed || added {
                lattice.omega_squared =
                    update_frequency_bounds(lattice, added, constants.range.clone(), view.particles);
                constants.max_omega_squared = lattice.max_omega_squared() * f64::from(material.max_young_modulus());
                constants.conduction = None;
            }
        }
        self.cache = Some(cache);
    }
}

/// Frequency bounds after springs were removed or added: zero without springs, the larger of old and new if
/// springs were added.
fn update_frequency_bounds(
    lattice: &SpringLattice,
    added: bool,
    range: Range<usize>,
    particles: &Particles,
) -> FrequencyBounds {
    if !added {
        return if lattice.graph.is_empty() { FrequencyBounds::default() } else { lattice.omega_squared };
    }
    let new = frequency_bounds(&lattice.graph, &particles.position[range.clone()], &particles.mass[range]);
    FrequencyBounds {
        rest_directions: new.rest_directions.max(lattice.omega_squared.rest_directions),
        any_direction: new.any_direction.max(lattice.omega_squared.any_direction),
    }
}

/// Plastic flow of springs beyond the yield strain (O'Brien et al. 2002, as in `[MHTG05]` eq. 15). The fraction
/// `heat.from_work.plastic` of the elastic energy it dissipates becomes heat.
fn yield_springs(lattice: &mut SpringLattice, body: &Body, material: &Material, particles: &mut Particles, dt: Real) {
    let Some(law) = &material.plasticity else { return };
    let (range, rest_temperature) = (body.range(), body.rest_temperature);
    let enthalpy = &particles.enthalpy[range.clone()];
    let (positions, rest) = (&particles.position[range.clone()], &particles.rest[range.clone()]);
    let stiffness = Stiffness::new(material, rest_temperature, enthalpy);
    let heat = &material.heat;
    let flow_fraction = (law.creep * dt).min(1.0);
    let plastic_length = |i: usize, half: &HalfSpring, axis: SpringAxis| {
        let j = half.other as usize;
        let state = spring_state(i, half, positions, &stiffness);
        let strain = state.extension / state.natural_length;
        let mean = 0.5 * (heat.temperature(enthalpy[i]) + heat.temperature(enthalpy[j]));
        let excess = strain.abs() - law.yield_strain.at(mean);
        if !matches!(excess.partial_cmp(&0.0), Some(std::cmp::Ordering::Greater)) {
            return half.rest_length;
        }
        let rest_length = half.rest_length * (1.0 + flow_fraction * excess.copysign(strain));
        if axis == SpringAxis::Frozen {
            // Formed by freezing: no rest shape bounds its length.
            return rest_length;
        }
        let initial = rest[i].distance(rest[j]);
        rest_length.clamp(initial * (1.0 - law.max.min(0.9)), initial * (1.0 + law.max))
    };
    let heat_fraction = f64::from(heat.from_work.plastic);
    let energy = |lattice: &SpringLattice, i: usize| {
        // Each end has half of the energy of a spring.
        let states = lattice.graph.of(i).iter().map(|half| spring_state(i, half, positions, &stiffness));
        states.map(|state| 0.25 * f64::from(state.stiffness) * f64::from(state.extension).powi(2)).sum::<f64>()
    };
    let energies = |lattice: &SpringLattice| parallel::map(range.len(), GRAIN, |i| energy(lattice, i));
    let previous = if heat_fraction > 0.0 { energies(lattice) } else { Vec::new() };
    lattice.graph.update_rest_lengths(plastic_length);
    if heat_fraction > 0.0 {
        let current = energies(lattice);
        let dissipated = particles.heat_made_mut();
        for (k, (previous, current)) in previous.iter().zip(&current).enumerate() {
            dissipated[range.start + k] += heat_fraction * (previous - current);
        }
    }
}

/// Removes molten springs, by the mean enthalpy of their ends, and springs whose tensile stress exceeds the
/// strength. Returns true if any were removed.
fn remove_springs(lattice: &mut SpringLattice, body: &Body, material: &Material, particles: &Particles) -> bool {
    let heat = &material.heat;
    let (range, rest_temperature) = (body.range(), body.rest_temperature);
    let enthalpy = &particles.enthalpy[range.clone()];
    let hottest = enthalpy.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut removed = 0;
    if heat.liquid_fraction(hottest) >= 1.0 {
        removed += lattice
            .graph
            .retain(|i, half| heat.liquid_fraction(0.5 * (enthalpy[i] + enthalpy[half.other as usize])) < 1.0);
    }
    if let Some(strength) = &material.strength {
        let stiffness = Stiffness::new(material, rest_temperature, enthalpy);
        let positions = &particles.position[range];
        let broken = lattice.graph.retain(|i, half| {
            let state = spring_state(i, half, positions, &stiffness);
            let mean = 0.5 * (enthalpy[i] + enthalpy[half.other as usize]);
            let (young, _) = stiffness.of_pair(i, half.other as usize);
            let breaks = young * state.extension > strength.at(heat.temperature(mean)) * state.natural_length;
            !breaks
        });
        lattice.broken += broken;
        removed += broken;
    }
    removed > 0
}

/// Turns solid particles without springs into molecules.
fn release_molecules(lattice: &SpringLattice, range: Range<usize>, particles: &mut Particles) {
    let graph = &lattice.graph;
    parallel::for_each_chunk(&mut particles.phase[range], GRAIN, |first, phases| {
        for (k, phase) in phases.iter_mut().enumerate() {
            if *phase == Phase::Solid && graph.of(first + k).is_empty() {
                *phase = Phase::Fluid;
            }
        }
    });
}

/// Turns molecules at or above the boiling point into gas, and gas below it into fluid.
fn boil(range: Range<usize>, heat: &ThermalProperties, particles: &mut Particles) {
    let Some(boiling) = heat.boiling else { return };
    let Particles { phase, enthalpy, .. } = particles;
    for i in range {
        let hot = heat.temperature(enthalpy[i]) >= boiling;
        phase[i] = match phase[i] {
            Phase::Fluid if hot => Phase::Gas,
            Phase::Gas if !hot => Phase::Fluid,
            other => other,
        };
    }
}

/// Adds springs of the present length between cold molecules near each other, and between these and cold
/// solid particles. Returns true if any were added. Cold is below the softening point, or below the melting
/// point if there is none.
fn freeze(
    lattice: &mut SpringLattice,
    constants: &LatticeConstants,
    list: &VerletList,
    material: &Material,
    particles: &mut Particles,
) -> bool {
    let heat = &material.heat;
    let (true, Some(limit)) = (lattice.settings.refreeze, heat.softening.or(heat.melting)) else { return false };
    let range = &constants.range;
    let is_cold = |i: u32| {
        let enthalpy = particles.enthalpy[i as usize];
        heat.liquid_fraction(enthalpy) == 0.0 && heat.temperature(enthalpy) < limit
    };
    let is_in_body = |i: u32| range.contains(&(i as usize));
    let is_free = |i: u32| particles.phase[i as usize] == Phase::Fluid;
    let size = |i: u32| constants.sizes[i as usize - range.start];
    let particle_of = &list.particles;
    // Pairs near each other now were in the Verlet list at the start of the step: its range exceeds the
    // largest motion.
    let found = parallel::map_ranges(particle_of.len(), GRAIN, |rows| {
        let mut new = Vec::new();
        for row in rows.filter(|&k| is_in_body(particle_of[k]) && is_free(particle_of[k]) && is_cold(particle_of[k])) {
            let i = particle_of[row];
            for &other in list.of(row) {
                let j = particle_of[other as usize];
                // A pair of two cold molecules is visited twice.
                let is_first_visit = i < j || !(is_in_body(j) && is_free(j) && is_cold(j));
                if is_first_visit && is_in_body(j) && particles.phase[j as usize] != Phase::Gas && is_cold(j) {
                    let length = particles.position[i as usize].distance(particles.position[j as usize]);
                    let mean = 0.5 * (size(i) + size(j));
                    if length < FREEZE_DISTANCE * mean {
                        let pair = [i.min(j), i.max(j)].map(|i| i - range.start as u32);
                        new.push(frozen_spring(pair, length, mean));
                    }
                }
            }
        }
        new
    });
    let mut new = found.concat();
    new.sort_by_key(|spring| spring.pair);
    new.iter().flat_map(|spring| spring.pair).for_each(|i| particles.phase[range.start + i as usize] = Phase::Solid);
    lattice.merged += new.len() as u64;
    lattice.graph.add(&new);
    !new.is_empty()
}

/// Spring formed by freezing. Twelve of them have the conductivity of the material.
fn frozen_spring(pair: [u32; 2], length: Real, size: Real) -> Spring {
    let rest_length = length.max(0.1 * size);
    // 1/2 sum G r r^T = kappa s^3 with twelve springs: G = kappa s^3 / (2 r^2).
    let shape_factor = 0.5 * size * size * size / (length.max(0.5 * size) * rest_length);
    Spring {
        pair,
        half: HalfSpring { other: 0, rest_length, stiffness: FROZEN_STIFFNESS * size },
        conduction: SpringConduction { shape_factor, axis: SpringAxis::Frozen },
    }
}

/// Cuts the springs that cross a plane of the rest shape; returns their number.
pub(super) fn cut(lattice: &mut SpringLattice, rest: &[Vec3], plane: CutPlane) -> u64 {
    let above = |i: usize| plane.is_above(rest[i]);
    lattice.graph.retain(|i, half| above(i) == above(half.other as usize))
}
