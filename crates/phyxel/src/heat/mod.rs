//! Heat: how it flows between particles, across contacts and from obstacles.
//!
//! The state is the enthalpy of every particle. A step finds temperatures at its end, computes what flows between them
//! and changes enthalpies by just that, both ways: heat is neither made nor lost, whatever the accuracy of the
//! temperatures.

mod network;
mod rest;
#[cfg(test)]
mod tests;
mod work;

pub(crate) use network::{Link, Network, Shore};
pub(crate) use rest::link_at_rest;
pub(crate) use work::take_up_work;

use crate::Real;
use crate::material::Heat;
use crate::parallel;
use crate::step::StepContext;
use crate::world::World;

/// Particles per task.
const GRAIN: usize = 4096;
/// Part of the explicit limit up to which a step needs no system of equations.
const EXPLICIT: f64 = 0.25;
/// Rounds in which particles that begin or end to melt within the step are found.
const MELTING_ROUNDS: usize = 4;

/// A particle for the flow of heat.
#[derive(Clone, Copy)]
struct Store {
    mass: f64,
    heat: Heat,
}

/// Lets heat flow for a step; whether any did.
pub(crate) fn conduct_heat(world: &mut World, context: &StepContext) -> bool {
    let shores = std::mem::take(&mut world.scratch.shores);
    if !is_uneven(world, &shores) {
        return false;
    }
    let count = world.particles.len();
    let inner: Vec<&[Link]> = world.models.iter().map(|model| model.links()).collect();
    let contacts = contact_links(world);
    let links = inner.into_iter().flatten().chain(&contacts);
    let network = Network::new(count, links, &shores);
    let before = world.temperatures();
    let before: Vec<f64> = before.iter().map(|&t| f64::from(t)).collect();
    let dt = f64::from(context.dt);
    let store = |i: usize| {
        let body = &world.bodies[world.particles.body[i].0 as usize];
        Store { mass: world.particles.mass[i].into(), heat: world.materials[body.material.0 as usize].heat }
    };
    let enthalpy = &world.particles.enthalpy;
    let limit = parallel::map_ranges(count, GRAIN, |range| {
        range.map(|i| network.total(i) / (store(i).mass * f64::from(store(i).heat.specific_heat))).fold(0.0, f64::max)
    });
    let is_slow = dt * limit.into_iter().fold(0.0, f64::max) < EXPLICIT;
    let gained = |temperatures: &[f64]| -> Vec<(f64, f64)> {
        parallel::map(count, GRAIN, |i| {
            let (inner, outer) = network.flow(i, temperatures);
            (dt * (inner + outer) / store(i).mass, dt * outer)
        })
    };
    let mut gains = if is_slow { gained(&before) } else { Vec::new() };
    if !is_slow {
        // Where a particle stands on its curve of enthalpy decides its capacity; the end of the step may be elsewhere.
        let mut stands: Vec<Stand> = parallel::map(count, GRAIN, |i| Stand::of(&store(i).heat, enthalpy[i]));
        for _ in 0..MELTING_ROUNDS {
            let (start, capacity): (Vec<f64>, Vec<f64>) =
                (0..count).map(|i| stands[i].linear(&store(i), enthalpy[i])).unzip();
            gains = gained(&network.later(&start, &capacity, dt));
            let found = parallel::map(count, GRAIN, |i| Stand::of(&store(i).heat, enthalpy[i] + gains[i].0));
            if found == stands {
                break;
            }
            stands = found;
        }
    }
    let came: f64 = gains.iter().map(|(_, outer)| outer).sum();
    world.particles.enthalpy.iter_mut().zip(&gains).for_each(|(enthalpy, (gain, _))| *enthalpy += gain);
    world.heat_in += came;
    true
}

/// Where a particle stands on its curve of enthalpy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stand {
    Solid,
    Melting,
    Molten,
}

impl Stand {
    fn of(heat: &Heat, enthalpy: f64) -> Self {
        let Some(melting) = heat.melting.filter(|_| heat.latent > 0.0) else { return Self::Solid };
        let begin = f64::from(heat.specific_heat) * f64::from(melting);
        if enthalpy <= begin {
            Self::Solid
        } else if enthalpy < begin + f64::from(heat.latent) {
            Self::Melting
        } else {
            Self::Molten
        }
    }

    /// The straight piece of the curve: temperature at an enthalpy on its extension, and heat capacity, J/K.
    fn linear(self, store: &Store, enthalpy: f64) -> (f64, f64) {
        let specific = f64::from(store.heat.specific_heat);
        match self {
            Self::Solid => (enthalpy / specific, store.mass * specific),
            Self::Molten => ((enthalpy - f64::from(store.heat.latent)) / specific, store.mass * specific),
            Self::Melting => (store.heat.melting.map_or(0.0, f64::from), f64::INFINITY),
        }
    }
}

/// Whether there is any difference of temperature for heat to follow.
fn is_uneven(world: &World, shores: &[Shore]) -> bool {
    let particles = &world.particles;
    let temperature = |i: usize| {
        let body = &world.bodies[particles.body[i].0 as usize];
        world.materials[body.material.0 as usize].heat.temperature(particles.enthalpy[i])
    };
    if particles.is_empty() {
        return false;
    }
    let first = temperature(0);
    let parts = parallel::map_ranges(particles.len(), GRAIN, |mut range| range.any(|i| temperature(i) != first));
    parts.contains(&true) || shores.iter().any(|shore| shore.temperature != first)
}

/// Ways for heat between particles of different bodies that touch.
fn contact_links(world: &World) -> Vec<Link> {
    let particles = &world.particles;
    let touching: Vec<[u32; 2]> = world
        .scratch
        .pairs
        .iter()
        .map(|&(a, b)| [a, b])
        .filter(|&[a, b]| {
            let [i, j] = [a as usize, b as usize];
            let radii = particles.radius[i] + particles.radius[j];
            particles.position[i].distance_squared(particles.position[j]) < (1.05 * radii) * (1.05 * radii)
        })
        .collect();
    let mut crowd = vec![0u32; if touching.is_empty() { 0 } else { particles.len() }];
    touching.iter().flatten().for_each(|&i| crowd[i as usize] += 1);
    let link = |[a, b]: [u32; 2]| {
        let smaller = particles.radius[a as usize].min(particles.radius[b as usize]);
        // The face of a particle is shared by all it touches.
        let area = 4.0 * smaller * smaller / crowd[a as usize].max(crowd[b as usize]) as Real;
        let [p, q] = [a, b].map(|i| through_face(world, i, area));
        let film = 1.0 / (world.settings.contact_conductance * area);
        Link { particles: [a, b], conductance: 1.0 / (p + q + film) }
    };
    touching.into_iter().map(link).filter(|link| link.conductance > 0.0).collect()
}

/// Resistance from the middle of a particle to its face, K/W.
fn through_face(world: &World, particle: u32, area: Real) -> Real {
    let i = particle as usize;
    let body = &world.bodies[world.particles.body[i].0 as usize];
    let heat = &world.materials[body.material.0 as usize].heat;
    world.particles.radius[i] / (heat.conductivity * area)
}

/// The way for heat from an obstacle with a temperature into a particle at it.
pub(crate) fn shore(world: &World, particle: u32, temperature: Real) -> Shore {
    let radius = world.particles.radius[particle as usize];
    let area = 4.0 * radius * radius;
    let film = 1.0 / (world.settings.contact_conductance * area);
    let conductance = 1.0 / (through_face(world, particle, area) + film);
    Shore { particle, conductance, temperature }
}
