//! Thermal boundary conditions of a step: Dirichlet nodes, Robin terms and radiators, from heatings.

use super::ConductionBlock;
use super::network::RobinTerm;
use super::radiation::{Radiator, radiation_coefficient};
use crate::Real;
use crate::body::Body;
use crate::heating::Heating;
use crate::step::StepContext;
use crate::world::World;
use glam::Vec3;
use std::ops::Range;

/// Cosine of the largest angle, 60 degrees, between a face normal and the direction of a heating.
const MIN_FACING_COSINE: Real = 0.5;

/// Exposed area of a particle, or a fraction of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Face {
    pub particle: u32,
    /// Outward unit normal in the rest frame of the body.
    pub normal: Vec3,
    /// Area, m2.
    pub area: Real,
    /// Resistance between the particle and its face, m2 K/W; zero for a particle on the surface.
    pub resistance: Real,
}

/// Particles of a heating and their exposed faces.
#[derive(Clone, Debug, Default)]
pub(super) struct HeatingTarget {
    particles: Vec<u32>,
    faces: Vec<Face>,
}

/// Boundary conditions of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct BoundaryConditions {
    /// Nodes with a prescribed temperature, each once, in order.
    pub dirichlet: Vec<(u32, f64)>,
    pub robin: Vec<RobinTerm>,
    pub radiators: Vec<Radiator>,
}

/// Bodies of a heating.
fn heated_bodies<'a>(world: &'a World, heating: &'a Heating) -> impl Iterator<Item = &'a Body> {
    world.bodies.iter().filter(|body| !body.removed && heating.bodies.contains(&body.name))
}

/// Returns true if any of some ranges of particles has particles of a body of a heating.
pub(super) fn heats_any(world: &World, heating: &Heating, ranges: &[Range<usize>]) -> bool {
    let overlaps = |body: Range<usize>| ranges.iter().any(|range| range.start < body.end && body.start < range.end);
    heated_bodies(world, heating).any(|body| overlaps(body.range()))
}

/// Finds the particles and faces of a heating.
pub(super) fn find_target(world: &World, heating: &Heating, blocks: &[ConductionBlock]) -> HeatingTarget {
    let mut is_heated = vec![false; world.particles.len()];
    for body in heated_bodies(world, heating) {
        let heated = heating.region.particles(body.range(), &world.particles);
        heated.into_iter().for_each(|i| is_heated[i] = true);
    }
    let particles = (0..is_heated.len() as u32).filter(|&i| is_heated[i as usize]).collect();
    let is_facing = |face: &Face| heating.facing.is_none_or(|direction| face.normal.dot(direction) > MIN_FACING_COSINE);
    let faces_of = |block: &ConductionBlock| {
        let first = block.first as u32;
        let faces = block.graph.faces.iter().map(move |face| Face { particle: first + face.particle, ..*face });
        faces.filter(|face| is_heated[face.particle as usize] && is_facing(face)).collect::<Vec<Face>>()
    };
    HeatingTarget { particles, faces: blocks.iter().flat_map(faces_of).collect() }
}

impl BoundaryConditions {
    /// Collects the boundary conditions of all heatings in a step.
    pub fn new(world: &World, targets: &[HeatingTarget], context: &StepContext) -> Self {
        let mut conditions = Self::default();
        for (heating, target) in world.heatings.iter().zip(targets) {
            let active_fraction = heating.active_fraction(context.time, context.time + f64::from(context.dt));
            if active_fraction > 0.0 {
                conditions.add(world, heating, target, active_fraction);
            }
        }
        // The last heating that prescribes a temperature wins.
        conditions.dirichlet.sort_by_key(|(node, _)| *node);
        conditions.dirichlet =
            conditions.dirichlet.chunk_by(|a, b| a.0 == b.0).map(|group| group[group.len() - 1]).collect();
        conditions
    }

    fn add(&mut self, world: &World, heating: &Heating, target: &HeatingTarget, active_fraction: f64) {
        // A temperature cannot be prescribed for a fraction of a step; it is if the heating is active for
        // most of it.
        if let Some(temperature) = heating.temperature.filter(|_| active_fraction > 0.5) {
            self.dirichlet.extend(target.particles.iter().map(|&node| (node, f64::from(temperature))));
        }
        if heating.power != 0.0 {
            self.robin.extend(target.particles.iter().map(|&node| {
                let source = active_fraction * f64::from(heating.power) * volume(world, node as usize);
                RobinTerm { node, conductance: 0.0, source }
            }));
        }
        if heating.flux != 0.0 {
            self.robin.extend(target.faces.iter().map(|face| {
                let source = active_fraction * f64::from(heating.flux) * f64::from(face.area);
                RobinTerm { node: face.particle, conductance: 0.0, source }
            }));
        }
        if let Some(exchange) = heating.exchange.filter(|exchange| exchange.coefficient > 0.0) {
            let film = 1.0 / f64::from(exchange.coefficient);
            self.robin.extend(target.faces.iter().map(|face| {
                let conductance = active_fraction * f64::from(face.area) / (film + f64::from(face.resistance));
                RobinTerm { node: face.particle, conductance, source: conductance * f64::from(exchange.ambient) }
            }));
        }
        if let Some(radiation) = heating.radiation.filter(|radiation| radiation.emissivity > 0.0) {
            self.radiators.extend(target.faces.iter().filter(|face| face.resistance.is_finite()).map(|face| {
                Radiator {
                    node: face.particle,
                    area: active_fraction * f64::from(face.area),
                    coefficient: radiation_coefficient(radiation.emissivity.into()),
                    resistance: face.resistance.into(),
                    ambient: radiation.ambient.into(),
                    absolute_zero: world.settings.absolute_zero.into(),
                }
            }));
        }
    }

    /// Returns true if there are no boundary conditions.
    pub fn is_empty(&self) -> bool {
        self.dirichlet.is_empty() && self.robin.is_empty() && self.radiators.is_empty()
    }
}

/// Material volume of a particle, m3.
fn volume(world: &World, particle: usize) -> f64 {
    let body = &world.bodies[world.particles.body[particle].0 as usize];
    let density = world.materials[body.material.0 as usize].density;
    f64::from(world.particles.mass[particle]) / f64::from(density)
}
