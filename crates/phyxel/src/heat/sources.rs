//! What comes from outside in a step: places that are held, and what flows into others.

use super::Ways;
use super::network::Inflow;
use super::radiation::{Radiator, strength};
use crate::Real;
use crate::heating::Heating;
use crate::step::StepContext;
use crate::world::World;
use glam::Vec3;
use std::sync::Arc;

/// Faces that look within 60 degrees of a direction look that way.
const SAME_WAY: Real = 0.5;

/// The area that a particle exposes, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Face {
    pub particle: u32,
    /// Outward in the body's own frame at rest, unit length.
    pub normal: Vec3,
    /// m2.
    pub area: Real,
    /// Between the particle and its face, m2 K/W; zero for a particle that lies on the surface.
    pub resistance: Real,
}

/// The particles that a heating means, and the faces they expose.
#[derive(Clone, Debug, Default)]
pub(super) struct Aim {
    particles: Vec<u32>,
    faces: Vec<Face>,
}

/// What comes from outside.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    /// Places that are kept at a temperature, each once, in order.
    pub held: Vec<(u32, f64)>,
    pub inflows: Vec<Inflow>,
    pub radiators: Vec<Radiator>,
}

/// Finds the particles and faces of all heatings.
pub(super) fn aim_all(world: &World, ways: &[Arc<Ways>]) -> Vec<Aim> {
    if world.heatings.is_empty() {
        return Vec::new();
    }
    let faces: Vec<&Face> = ways.iter().flat_map(|ways| &ways.faces).collect();
    world.heatings.iter().map(|heating| aim(world, heating, &faces)).collect()
}

fn aim(world: &World, heating: &Heating, faces: &[&Face]) -> Aim {
    let mut is_meant = vec![false; world.particles.len()];
    for body in world.bodies.iter().filter(|body| !body.removed && heating.bodies.contains(&body.name)) {
        let meant = heating.region.particles(body.range(), &world.particles);
        meant.into_iter().for_each(|i| is_meant[i] = true);
    }
    let particles = (0..is_meant.len() as u32).filter(|&i| is_meant[i as usize]).collect();
    let looks = |face: &Face| heating.facing.is_none_or(|way| face.normal.dot(way) > SAME_WAY);
    let faces = faces.iter().filter(|face| is_meant[face.particle as usize] && looks(face)).map(|face| **face);
    Aim { particles, faces: faces.collect() }
}

impl Sources {
    /// What all heatings do in a step.
    pub fn of(world: &World, aims: &[Aim], context: &StepContext) -> Self {
        let mut sources = Self::default();
        for (heating, aim) in world.heatings.iter().zip(aims) {
            let share = heating.share(context.time, context.time + f64::from(context.dt));
            if share > 0.0 {
                sources.add(world, heating, aim, share);
            }
        }
        // Of several that hold a particle the last one counts.
        sources.held.sort_by_key(|(place, _)| *place);
        sources.held = sources.held.chunk_by(|a, b| a.0 == b.0).map(|group| group[group.len() - 1]).collect();
        sources
    }

    fn add(&mut self, world: &World, heating: &Heating, aim: &Aim, share: f64) {
        // A particle cannot be held for a part of a step: it is if most of the step is in the time of the heating.
        if let Some(temperature) = heating.temperature.filter(|_| share > 0.5) {
            self.held.extend(aim.particles.iter().map(|&place| (place, f64::from(temperature))));
        }
        if heating.power != 0.0 {
            self.inflows.extend(aim.particles.iter().map(|&place| {
                let supply = share * f64::from(heating.power) * volume(world, place as usize);
                Inflow { place, conductance: 0.0, supply }
            }));
        }
        if heating.flux != 0.0 {
            self.inflows.extend(aim.faces.iter().map(|face| {
                let supply = share * f64::from(heating.flux) * f64::from(face.area);
                Inflow { place: face.particle, conductance: 0.0, supply }
            }));
        }
        if let Some(exchange) = heating.exchange.filter(|exchange| exchange.coefficient > 0.0) {
            let film = 1.0 / f64::from(exchange.coefficient);
            self.inflows.extend(aim.faces.iter().map(|face| {
                let conductance = share * f64::from(face.area) / (film + f64::from(face.resistance));
                Inflow { place: face.particle, conductance, supply: conductance * f64::from(exchange.ambient) }
            }));
        }
        if let Some(radiation) = heating.radiation.filter(|radiation| radiation.emissivity > 0.0) {
            self.radiators.extend(aim.faces.iter().filter(|face| face.resistance.is_finite()).map(|face| Radiator {
                place: face.particle,
                area: share * f64::from(face.area),
                strength: strength(radiation.emissivity.into()),
                resistance: face.resistance.into(),
                ambient: radiation.ambient.into(),
                zero: world.settings.absolute_zero.into(),
            }));
        }
    }

    /// Whether nothing comes and nothing is held.
    pub fn is_idle(&self) -> bool {
        self.held.is_empty() && self.inflows.is_empty() && self.radiators.is_empty()
    }
}

/// Volume of the matter of a particle, m3.
fn volume(world: &World, particle: usize) -> f64 {
    let body = &world.bodies[world.particles.body[particle].0 as usize];
    let density = world.materials[body.material.0 as usize].density;
    f64::from(world.particles.mass[particle]) / f64::from(density)
}
