//! Melting, breaking, freezing, boiling; permanent stretch.

use super::bonds::{Bond, Path, Spring, Way};
use super::solid::{Stiffness, draw};
use super::{GRAIN, SpringBody, SpringModel};
use crate::Real;
use crate::body::Body;
use crate::grid::{Dot, close_pairs_within};
use crate::material::{Heat, Material};
use crate::parallel;
use crate::particles::{Particles, Phase};
use crate::step::StepContext;
use glam::Vec3;
use std::collections::BTreeSet;
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
            let won = freeze(spring, matter.range.clone(), &matter.sizes, material, particles);
            if lost || won {
                spring.swing = new_swing(spring, won, matter.range.clone(), particles);
                matter.swing = spring.swing * f64::from(stiffest(material));
                changed = true;
            }
        }
        if changed {
            derived.solid_ways = None;
        }
        self.derived = Some(derived);
    }
}

/// Largest Young's modulus at any temperature, Pa.
pub(super) fn stiffest(material: &Material) -> Real {
    material.young_modulus.points().iter().map(|&(_, young)| young).fold(0.0, Real::max)
}

/// The fastest swing after springs have gone or come: none without springs; that of the new ones if it is faster.
fn new_swing(spring: &SpringBody, won: bool, range: Range<usize>, particles: &Particles) -> f64 {
    if !won {
        return if spring.bonds.is_empty() { 0.0 } else { spring.swing };
    }
    let found = super::solid::fastest_swing(&spring.bonds, &particles.position[range.clone()], &particles.mass[range]);
    found.max(spring.swing)
}

/// Permanent stretch of springs beyond the yield strain (O'Brien et al. 2002, as `[MHTG05]` eq. 15 uses it).
fn stretch_for_good(spring: &mut SpringBody, body: &Body, material: &Material, particles: &Particles, dt: Real) {
    let Some(law) = &material.plasticity else { return };
    let (range, reference) = (body.range(), body.rest_temperature);
    let enthalpy = &particles.enthalpy[range.clone()];
    let (positions, rest) = (&particles.position[range.clone()], &particles.rest[range]);
    let stiffness = Stiffness::of(material, reference, enthalpy);
    let heat = &material.heat;
    let part = (law.creep * dt).min(1.0);
    spring.bonds.change_rest(|i, bond| {
        let j = bond.other as usize;
        let drawn = draw(i, bond, positions, &stiffness);
        let strain = drawn.extension / drawn.natural;
        let mean = 0.5 * (heat.temperature(enthalpy[i]) + heat.temperature(enthalpy[j]));
        let excess = strain.abs() - law.yield_strain.at(mean);
        if !matches!(excess.partial_cmp(&0.0), Some(std::cmp::Ordering::Greater)) {
            return bond.rest;
        }
        let wanted = bond.rest * (1.0 + part * excess.copysign(strain));
        // Springs of the lattice stretch for good by so much at most; those made by freezing have no other shape to go by.
        let first = rest[i].distance(rest[j]);
        let (low, high) = (first * (1.0 - law.max.min(0.9)), first * (1.0 + law.max));
        if (low..=high).contains(&bond.rest) { wanted.clamp(low, high) } else { wanted }
    });
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
    range: Range<usize>,
    sizes: &[Real],
    material: &Material,
    particles: &mut Particles,
) -> bool {
    let heat = &material.heat;
    let (true, Some(limit)) = (spring.settings.refreeze, heat.softening.or(heat.melting)) else { return false };
    let is_cold = |i: usize| {
        let enthalpy = particles.enthalpy[range.start + i];
        heat.molten(enthalpy) == 0.0 && heat.temperature(enthalpy) < limit
    };
    let is_free = |i: usize| particles.phase[range.start + i] == Phase::Fluid;
    if !(0..range.len()).any(|i| is_free(i) && is_cold(i)) {
        return false;
    }
    let position = |i: usize| particles.position[range.start + i];
    let dots: Vec<Dot> = (0..range.len())
        .filter(|&i| is_cold(i))
        .map(|i| Dot { position: position(i), radius: 0.5 * NEAR * sizes[i], particle: i as u32 })
        .collect();
    let pairs = close_pairs_within(&dots, 0.0, |a, b| is_free(a.particle as usize) || is_free(b.particle as usize));
    let pairs: BTreeSet<[u32; 2]> = pairs.into_iter().map(|(a, b)| [a.min(b), a.max(b)]).collect();
    let new: Vec<Spring> = pairs
        .into_iter()
        .map(|pair| {
            let [a, b] = pair.map(|i| i as usize);
            make_spring(pair, position(a).distance(position(b)), 0.5 * (sizes[a] + sizes[b]))
        })
        .collect();
    new.iter().flat_map(|spring| spring.pair).for_each(|i| particles.phase[range.start + i as usize] = Phase::Solid);
    spring.merged += new.len() as u64;
    spring.bonds.add(&new);
    !new.is_empty()
}

/// A spring made by freezing. It conducts so that twelve of them have the conductivity of the matter.
fn make_spring(pair: [u32; 2], length: Real, size: Real) -> Spring {
    // 1/2 sum G r r^T = kappa s^3 with twelve ways: G = kappa s^3 / (2 r^2), and G = kappa area / r.
    let area = 0.5 * size * size * size / length.max(0.5 * size);
    Spring {
        pair,
        bond: Bond { other: 0, rest: length.max(0.1 * size), stiffness: FROZEN_STIFFNESS * size },
        path: Path { area, way: Way::Frozen },
    }
}

/// Parts a body along a plane in its own frame at rest; number of springs cut.
pub(super) fn cut(spring: &mut SpringBody, rest: &[Vec3], point: Vec3, normal: Vec3) -> u64 {
    let above = |i: usize| (rest[i] - point).dot(normal) > 0.0;
    spring.bonds.retain(|i, bond| above(i) == above(bond.other as usize))
}
