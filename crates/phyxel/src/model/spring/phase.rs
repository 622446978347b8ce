//! Melting, breaking, freezing, boiling; permanent stretch.

use super::bonds::{Bond, Path, Spring, Way};
use super::melt::Neighbours;
use super::solid::{Stiffness, draw, fastest_swings};
use super::{GRAIN, Matter, SpringBody, SpringModel, Swings};
use crate::Real;
use crate::body::Body;
use crate::material::{Heat, Material};
use crate::parallel;
use crate::particles::{Particles, Phase};
use crate::step::StepContext;
use glam::Vec3;
use std::ops::Range;

/// Cold molecules nearer than this, in sizes, freeze to each other. In a closest packing the nearest are 1.12 sizes apart
/// and the next 1.59.
const NEAR: Real = 1.4;
/// Stiffness of a spring made by freezing over Young's modulus and size. Twelve of them, 1.12 sizes long, have the bulk
/// modulus `2/3 E` of the lattice: `12 k (1.12 s)^2 / (18 s^3) = 2/3 E`.
const FROZEN_STIFFNESS: Real = 0.794;

impl SpringModel {
    /// What temperature and force change: springs melt, break and stretch for good; molecules freeze, boil and condense.
    pub(crate) fn change_phase(
        &mut self,
        bodies: &[Body],
        materials: &[Material],
        particles: &mut Particles,
        context: &StepContext,
    ) {
        let Some(mut derived) = self.derived.take() else { return };
        let mut changed = false;
        for (spring, matter) in self.bodies.iter_mut().zip(&mut derived.matter) {
            let body = &bodies[spring.id.0 as usize];
            let material = &materials[body.material.0 as usize];
            stretch_for_good(spring, body, material, particles, context.dt);
            let lost = lose_springs(spring, body, material, particles);
            free_molecules(spring, matter.range.clone(), particles);
            boil(matter.range.clone(), &material.heat, particles);
            let won = freeze(spring, matter, &derived.neighbours, material, particles);
            if lost || won {
                spring.swings = new_swings(spring, won, matter.range.clone(), particles);
                matter.swing = spring.swing() * f64::from(material.stiffest());
                changed = true;
            }
        }
        if changed {
            derived.solid_ways = None;
        }
        self.derived = Some(derived);
    }
}

/// The fastest swings after springs have gone or come: none without springs; those of the new ones if they are faster.
fn new_swings(spring: &SpringBody, won: bool, range: Range<usize>, particles: &Particles) -> Swings {
    if !won {
        return if spring.bonds.is_empty() { Swings::default() } else { spring.swings };
    }
    let found = fastest_swings(&spring.bonds, &particles.position[range.clone()], &particles.mass[range]);
    Swings { ordered: found.ordered.max(spring.swings.ordered), wild: found.wild.max(spring.swings.wild) }
}

/// Permanent stretch of springs beyond the yield strain (O'Brien et al. 2002, as `[MHTG05]` eq. 15 uses it); what it takes of
/// their energy warms the matter, as far as the material says so.
fn stretch_for_good(spring: &mut SpringBody, body: &Body, material: &Material, particles: &mut Particles, dt: Real) {
    let Some(law) = &material.plasticity else { return };
    let (range, reference) = (body.range(), body.rest_temperature);
    let enthalpy = &particles.enthalpy[range.clone()];
    let (positions, rest) = (&particles.position[range.clone()], &particles.rest[range.clone()]);
    let stiffness = Stiffness::of(material, reference, enthalpy);
    let heat = &material.heat;
    let part = (law.creep * dt).min(1.0);
    let stretched = |i: usize, bond: &Bond, way: Way| {
        let j = bond.other as usize;
        let drawn = draw(i, bond, positions, &stiffness);
        let strain = drawn.extension / drawn.natural;
        let mean = 0.5 * (heat.temperature(enthalpy[i]) + heat.temperature(enthalpy[j]));
        let excess = strain.abs() - law.yield_strain.at(mean);
        if !matches!(excess.partial_cmp(&0.0), Some(std::cmp::Ordering::Greater)) {
            return bond.rest;
        }
        let wanted = bond.rest * (1.0 + part * excess.copysign(strain));
        if way == Way::Frozen {
            // Made by freezing: there is no first shape to go by.
            return wanted;
        }
        let first = rest[i].distance(rest[j]);
        wanted.clamp(first * (1.0 - law.max.min(0.9)), first * (1.0 + law.max))
    };
    let warming = f64::from(heat.from_work.plastic);
    let energy = |spring: &SpringBody, i: usize| {
        // Half of the energy of a spring belongs to its other end.
        let drawn = spring.bonds.of(i).iter().map(|bond| draw(i, bond, positions, &stiffness));
        drawn.map(|drawn| 0.25 * f64::from(drawn.stiffness) * f64::from(drawn.extension).powi(2)).sum::<f64>()
    };
    let all = |spring: &SpringBody| parallel::map(range.len(), GRAIN, |i| energy(spring, i));
    let before = if warming > 0.0 { all(spring) } else { Vec::new() };
    spring.bonds.change_rest(stretched);
    if warming > 0.0 {
        let after = all(spring);
        let made = particles.make_heat();
        for (k, (before, after)) in before.iter().zip(&after).enumerate() {
            made[range.start + k] += warming * (before - after);
        }
    }
}

/// Springs melt where the mean enthalpy of their ends is that of the melt, and break where they are pulled too strongly;
/// whether any went.
fn lose_springs(spring: &mut SpringBody, body: &Body, material: &Material, particles: &Particles) -> bool {
    let heat = &material.heat;
    let (range, reference) = (body.range(), body.rest_temperature);
    let enthalpy = &particles.enthalpy[range.clone()];
    let hottest = enthalpy.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut gone = 0;
    if heat.molten(hottest) >= 1.0 {
        gone += spring.bonds.retain(|i, bond| heat.molten(0.5 * (enthalpy[i] + enthalpy[bond.other as usize])) < 1.0);
    }
    if let Some(strength) = &material.strength {
        let stiffness = Stiffness::of(material, reference, enthalpy);
        let positions = &particles.position[range];
        let broken = spring.bonds.retain(|i, bond| {
            let drawn = draw(i, bond, positions, &stiffness);
            let mean = 0.5 * (enthalpy[i] + enthalpy[bond.other as usize]);
            let (young, _) = stiffness.between(i, bond.other as usize);
            let breaks = young * drawn.extension > strength.at(heat.temperature(mean)) * drawn.natural;
            !breaks
        });
        spring.broken += broken;
        gone += broken;
    }
    gone > 0
}

/// A particle with no spring left is a molecule.
fn free_molecules(spring: &SpringBody, range: Range<usize>, particles: &mut Particles) {
    let bonds = &spring.bonds;
    parallel::for_each_chunk(&mut particles.phase[range], GRAIN, |first, phases| {
        for (k, phase) in phases.iter_mut().enumerate() {
            if *phase == Phase::Solid && bonds.of(first + k).is_empty() {
                *phase = Phase::Fluid;
            }
        }
    });
}

/// Molecules above the boiling point are gas, those below it fluid.
fn boil(range: Range<usize>, heat: &Heat, particles: &mut Particles) {
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

/// New springs, at their present length, between molecules that are near and cold, and between these and cold solid
/// particles; whether there are any. Cold is below the softening point, or below the melting point where there is none.
fn freeze(
    spring: &mut SpringBody,
    matter: &Matter,
    neighbours: &Neighbours,
    material: &Material,
    particles: &mut Particles,
) -> bool {
    let heat = &material.heat;
    let (true, Some(limit)) = (spring.settings.refreeze, heat.softening.or(heat.melting)) else { return false };
    let range = &matter.range;
    let is_cold = |i: u32| {
        let enthalpy = particles.enthalpy[i as usize];
        heat.molten(enthalpy) == 0.0 && heat.temperature(enthalpy) < limit
    };
    let is_own = |i: u32| range.contains(&(i as usize));
    let is_free = |i: u32| particles.phase[i as usize] == Phase::Fluid;
    let size = |i: u32| matter.sizes[i as usize - range.start];
    let members = &neighbours.members;
    // Who is near now was a neighbour at the start of the step: their reach is longer than what one can move.
    let found = parallel::map_ranges(members.len(), GRAIN, |places| {
        let mut new = Vec::new();
        for place in places.filter(|&k| is_own(members[k]) && is_free(members[k]) && is_cold(members[k])) {
            let i = members[place];
            for &other in neighbours.of(place) {
                let j = members[other as usize];
                // A pair of two molecules is met twice.
                let is_mine = i < j || !(is_own(j) && is_free(j) && is_cold(j));
                if is_mine && is_own(j) && particles.phase[j as usize] != Phase::Gas && is_cold(j) {
                    let length = particles.position[i as usize].distance(particles.position[j as usize]);
                    let mean = 0.5 * (size(i) + size(j));
                    if length < NEAR * mean {
                        let pair = [i.min(j), i.max(j)].map(|i| i - range.start as u32);
                        new.push(make_spring(pair, length, mean));
                    }
                }
            }
        }
        new
    });
    let mut new = found.concat();
    new.sort_by_key(|spring| spring.pair);
    new.iter().flat_map(|spring| spring.pair).for_each(|i| particles.phase[range.start + i as usize] = Phase::Solid);
    spring.merged += new.len() as u64;
    spring.bonds.add(&new);
    !new.is_empty()
}

/// A spring made by freezing. It conducts so that twelve of them have the conductivity of the matter.
fn make_spring(pair: [u32; 2], length: Real, size: Real) -> Spring {
    let rest = length.max(0.1 * size);
    // 1/2 sum G r r^T = kappa s^3 with twelve ways: G = kappa s^3 / (2 r^2).
    let width = 0.5 * size * size * size / (length.max(0.5 * size) * rest);
    Spring {
        pair,
        bond: Bond { other: 0, rest, stiffness: FROZEN_STIFFNESS * size },
        path: Path { width, way: Way::Frozen },
    }
}

/// Parts a body along a plane in its own frame at rest; number of springs cut.
pub(super) fn cut(spring: &mut SpringBody, rest: &[Vec3], point: Vec3, normal: Vec3) -> u64 {
    let above = |i: usize| (rest[i] - point).dot(normal) > 0.0;
    spring.bonds.retain(|i, bond| above(i) == above(bond.other as usize))
}
