//! Heat transfer by the enthalpy method: conduction in bodies and across contacts, and thermal boundary
//! conditions.
//!
//! The state is the enthalpy of every particle, and the temperature of every obstacle with a heat capacity. A
//! step solves for the temperatures at its end, evaluates the fluxes between them and adds each flux to one
//! node and subtracts it from the other. So energy is conserved to rounding, whatever the accuracy of the
//! temperatures.

mod boundary;
mod contact;
mod dissipation;
mod enthalpy_curve;
mod fixed_links;
mod implicit;
mod network;
mod radiation;
mod rest_conduction;
#[cfg(test)]
mod tests;
mod thermal_nodes;

pub(crate) use boundary::Face;
pub(crate) use contact::{ObstacleHeatLink, obstacle_heat_link};
pub(crate) use dissipation::apply_dissipation;
pub(crate) use network::Link;
pub(crate) use rest_conduction::rest_conduction;

use crate::error::StepError;
use crate::model::{BodyModel, View};
use crate::parallel;
use crate::step::StepContext;
use crate::world::World;
use boundary::{BoundaryConditions, HeatingTarget, find_target, heats_any};
use contact::contact_links;
use fixed_links::FixedLinks;
use implicit::step_implicitly;
use network::{GRAIN, Network, RobinTerm};
use std::ops::Range;
use std::sync::Arc;
use thermal_nodes::ThermalNodes;

/// Fraction of the explicit stability limit up to which a step is explicit.
const EXPLICIT_FRACTION: f64 = 0.25;

/// Conduction graph of a body, or of bodies that conduct together: conductances between particles, and the faces
/// that these expose. Particles count from the first of the block.
///
/// A model builds a new graph when its conduction changes and never mutates an old one, so that caches compare
/// addresses.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConductionGraph {
    /// Number of particles of the block.
    pub count: usize,
    /// Conductances between particles.
    pub links: Vec<Link>,
    /// Exposed faces, one for each particle and direction. The model decides which of its particles have
    /// faces; those that are not solid have none by default.
    pub faces: Vec<Face>,
}

/// Conduction graph with its place in the particle store.
#[derive(Clone, Debug)]
pub(crate) struct ConductionBlock {
    /// First particle.
    pub first: usize,
    pub graph: Arc<ConductionGraph>,
}

impl ConductionBlock {
    /// Particles of the block.
    pub fn range(&self) -> Range<usize> {
        self.first..self.first + self.graph.count
    }
}

/// Part of the thermal network that is kept from step to step: a change of a graph, a body or a heating concerns only
/// what it touches.
#[derive(Clone, Debug, Default)]
pub(crate) struct NetworkCache {
    fixed_links: FixedLinks,
    /// Sum of the conductances of each particle over its heat capacity, 1/s.
    rates: Vec<f64>,
    targets: Vec<HeatingTarget>,
}

impl NetworkCache {
    /// Follows the conduction graphs of the models and the heatings.
    fn update(&mut self, world: &World, blocks: Vec<ConductionBlock>) {
        let count = world.particles.len();
        let has_new_heatings = self.targets.len() != world.heatings.len();
        if self.fixed_links.are_current(count, &blocks) && !has_new_heatings {
            return;
        }
        let changed = self.fixed_links.update(count, blocks.clone());
        let nodes = ThermalNodes::new(world);
        self.rates.resize(count, 0.0);
        for range in &changed {
            let (links, start) = (&self.fixed_links, range.start);
            parallel::for_each_chunk(&mut self.rates[range.clone()], GRAIN, |first, rates| {
                for (i, rate) in (start + first..).zip(rates) {
                    *rate = links.conductance_sum(i) / nodes.heat_capacity(i);
                }
            });
        }
        self.targets.resize(world.heatings.len(), HeatingTarget::default());
        for (heating, target) in world.heatings.iter().zip(&mut self.targets) {
            if has_new_heatings || heats_any(world, heating, &changed) {
                *target = find_target(world, heating, &blocks);
            }
        }
    }

    /// Largest sum of conductances of a particle over its heat capacity, 1/s.
    fn max_rate(&self) -> f64 {
        let rates = parallel::map_ranges(self.rates.len(), GRAIN, |range| self.rates[range].iter().fold(0.0, max));
        rates.iter().fold(0.0, max)
    }
}

fn max(a: f64, b: &f64) -> f64 {
    a.max(*b)
}

/// Advances enthalpies by a step. Returns true if any changed; leaves the world as it was on error.
pub(crate) fn conduct_heat(world: &mut World, context: &StepContext) -> Result<bool, StepError> {
    let obstacle_links = std::mem::take(&mut world.scratch.obstacle_heat_links);
    let t = temperatures(world);
    if world.heatings.is_empty() && is_isothermal(&t, world.particles.len(), &obstacle_links) {
        return Ok(false);
    }
    prepare_network(world);
    let cache = std::mem::take(&mut world.scratch.heat_network);
    let step = step_heat(world, &cache, &obstacle_links, t, context);
    world.scratch.heat_network = cache;
    let Some(HeatStep { enthalpy, heat_in }) = step else { return Ok(false) };
    check_temperatures(world, &enthalpy, context)?;
    store(world, enthalpy);
    world.heat_in += heat_in;
    Ok(true)
}

/// Temperatures of all nodes, in the scene's scale.
fn temperatures(world: &World) -> Vec<f64> {
    let nodes = ThermalNodes::new(world);
    parallel::map(nodes.len(), GRAIN, |i| nodes.curve(i).temperature(nodes.enthalpy(i)))
}

/// Returns an error that names the first particle whose temperature is NaN or beyond the range of `Real`.
fn check_temperatures(world: &World, enthalpy: &[f64], context: &StepContext) -> Result<(), StepError> {
    let nodes = ThermalNodes::new(world);
    let limit = f64::from(crate::Real::MAX) * nodes.min_specific_heat();
    let is_invalid = |i: &usize| enthalpy[*i].is_nan() || enthalpy[*i].abs() > limit;
    let first_invalid = parallel::map_ranges(world.particles.len(), GRAIN, |mut range| range.find(|i| is_invalid(i)));
    let Some(i) = first_invalid.into_iter().flatten().next() else { return Ok(()) };
    let body = &world.bodies[world.particles.body[i].0 as usize];
    Err(StepError::TemperatureNotFinite {
        body: body.name.clone(),
        particle: i as u32 - body.particles.start,
        value: nodes.curve(i).temperature(enthalpy[i]).to_string(),
        time: context.time,
    })
}

fn prepare_network(world: &mut World) {
    let World { models, bodies, materials, particles, .. } = world;
    models.each_mut().for_each(|model| model.update_conduction(&View { bodies, materials, particles }));
    let blocks: Vec<ConductionBlock> = models.each().flat_map(BodyModel::conduction).collect();
    let mut cache = std::mem::take(&mut world.scratch.heat_network);
    cache.update(world, blocks);
    world.scratch.heat_network = cache;
}

/// Enthalpies of all nodes after a step, J/kg, and the heat that entered through boundary conditions, J.
struct HeatStep {
    enthalpy: Vec<f64>,
    heat_in: f64,
}

/// Writes enthalpies and obstacle temperatures to the world.
fn store(world: &mut World, mut enthalpy: Vec<f64>) {
    let obstacle_temperatures = enthalpy.split_off(world.particles.len());
    world.particles.enthalpy = enthalpy;
    let with_capacity = (0..world.obstacles.len()).filter(|&i| world.obstacles[i].heat_capacity.is_some());
    for (i, t) in with_capacity.collect::<Vec<_>>().into_iter().zip(obstacle_temperatures) {
        world.obstacle_temperature[i] = t;
        world.obstacles[i].temperature = Some(t as crate::Real);
    }
}

/// Computes a step; `None` if the world is isothermal and has no boundary conditions.
fn step_heat(
    world: &World,
    cache: &NetworkCache,
    obstacle_links: &[ObstacleHeatLink],
    mut t: Vec<f64>,
    context: &StepContext,
) -> Option<HeatStep> {
    let nodes = ThermalNodes::new(world);
    let mut boundary = BoundaryConditions::new(world, &cache.targets, context);
    if boundary.is_empty() && is_isothermal(&t, world.particles.len(), obstacle_links) {
        return None;
    }
    let mut links = contact_links(world);
    for link in obstacle_links {
        let (conductance, temperature) = (f64::from(link.conductance), f64::from(link.temperature));
        match nodes.obstacle_node(link.obstacle) {
            Some(node) => {
                links.push(Link { nodes: [link.particle, node], conductance: link.conductance });
            }
            None => {
                boundary.robin.push(RobinTerm { node: link.particle, conductance, source: conductance * temperature })
            }
        }
    }
    boundary.dirichlet.iter().for_each(|&(node, temperature)| t[node as usize] = temperature);
    let mut network = Network::new(&cache.fixed_links, nodes.len(), &links);
    network.set_robin_terms(all_robin_terms(&boundary, &t));
    let dt = f64::from(context.dt);
    let sums = network.contact_conductance_sums();
    let contact_rate = sums.iter().map(|&(i, sum)| sum / nodes.heat_capacity(i)).fold(0.0, f64::max);
    let mut step = if dt * cache.max_rate().max(contact_rate) < EXPLICIT_FRACTION {
        advance_enthalpy(&nodes, &network, &t, dt)
    } else {
        step_implicitly(&nodes, &mut network, &boundary, t, dt)
    };
    impose_dirichlet(&nodes, &boundary, &mut step);
    Some(step)
}

/// Returns true if all particles, and the obstacles they touch, have one temperature.
fn is_isothermal(t: &[f64], particles: usize, obstacle_links: &[ObstacleHeatLink]) -> bool {
    let Some(first) = t[..particles].first().map(|t| *t as crate::Real) else { return true };
    let chunks = parallel::map_ranges(particles, GRAIN, |mut range| range.all(|i| t[i] as crate::Real == first));
    !chunks.contains(&false) && obstacle_links.iter().all(|link| link.temperature == first)
}

/// All Robin terms, with radiation linearised at the temperatures `t`.
fn all_robin_terms(boundary: &BoundaryConditions, t: &[f64]) -> Vec<RobinTerm> {
    let radiation = boundary.radiators.iter().map(|radiator| radiator.linearise(t[radiator.node as usize]));
    boundary.robin.iter().copied().chain(radiation).collect()
}

/// Advances enthalpies by `dt` with the fluxes at temperatures `t`.
fn advance_enthalpy(nodes: &ThermalNodes, network: &Network, t: &[f64], dt: f64) -> HeatStep {
    let mut enthalpy = vec![0.0; nodes.len()];
    let boundary_heat = parallel::map_chunks(&mut enthalpy, GRAIN, |first, out| {
        let boundary_flow = network.heat_flow(first..first + out.len(), t, out);
        for (i, out) in (first..).zip(out) {
            *out = nodes.enthalpy(i) + dt * *out / nodes.mass(i);
        }
        dt * boundary_flow
    });
    HeatStep { enthalpy, heat_in: boundary_heat.iter().sum() }
}

/// Sets Dirichlet nodes to their temperatures and counts the reaction heat as heat from outside.
fn impose_dirichlet(nodes: &ThermalNodes, boundary: &BoundaryConditions, step: &mut HeatStep) {
    for &(node, temperature) in &boundary.dirichlet {
        let i = node as usize;
        let body = &nodes.world.bodies[nodes.world.particles.body[i].0 as usize];
        let heat = &nodes.world.materials[body.material.0 as usize].heat;
        let enthalpy = heat.enthalpy(temperature as crate::Real);
        step.heat_in += nodes.mass(i) * (enthalpy - step.enthalpy[i]);
        step.enthalpy[i] = enthalpy;
    }
}
