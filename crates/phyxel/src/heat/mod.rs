//! Heat: how it flows between particles, across contacts, to and from obstacles, and from outside.
//!
//! The state is the enthalpy of every particle, and the temperature of obstacles that have a heat capacity. A step
//! finds temperatures at its end, computes what flows between them and changes enthalpies by just that, both ways:
//! heat is neither made nor lost, whatever the accuracy of the temperatures.

mod contact;
mod implicit;
mod matter;
mod network;
mod places;
mod radiation;
mod rest;
mod sources;
#[cfg(test)]
mod tests;
mod work;

pub(crate) use contact::{Shore, shore};
pub(crate) use network::Link;
pub(crate) use rest::ways_at_rest;
pub(crate) use sources::Face;
pub(crate) use work::take_up_work;

use crate::error::StepError;
use crate::parallel;
use crate::step::StepContext;
use crate::world::World;
use contact::contact_links;
use implicit::flow_implicitly;
use network::{GRAIN, Inflow, Inner, Network};
use places::Places;
use sources::{Aim, Sources, aim_all};
use std::sync::Arc;

/// Part of the explicit limit up to which a step needs no system of equations.
const EXPLICIT: f64 = 0.25;

/// What heat needs to know of the bodies of a model. Models keep it until it changes and then make a new one; the old
/// one is never changed, so that it is known by its place in memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ways {
    /// Between particles of one body.
    pub links: Vec<Link>,
    /// What particles expose, one for each direction in which a particle does. The model decides which of its particles
    /// have faces: what is not solid has none unless the model says so.
    pub faces: Vec<Face>,
}

/// What stays the same from step to step until a model or a heating changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    made_of: Vec<Arc<Ways>>,
    inner: Inner,
    /// Largest sum of conductances over heat capacity of a particle, 1/s.
    limit: f64,
    aims: Vec<Aim>,
}

impl Layout {
    fn new(world: &World, made_of: Vec<Arc<Ways>>) -> Self {
        let links = made_of.iter().flat_map(|ways| &ways.links);
        let inner = Inner::new(world.particles.len(), links);
        let places = Places::new(world);
        let rates = parallel::map_ranges(inner.len(), GRAIN, |range| {
            range.map(|i| inner.total(i) / places.capacity(i)).fold(0.0, f64::max)
        });
        let limit = rates.into_iter().fold(0.0, f64::max);
        let aims = aim_all(world, &made_of);
        Self { made_of, inner, limit, aims }
    }

    fn is_made_of(&self, world: &World, ways: &[Arc<Ways>]) -> bool {
        self.inner.len() == world.particles.len()
            && self.aims.len() == world.heatings.len()
            && self.made_of.len() == ways.len()
            && self.made_of.iter().zip(ways).all(|(mine, theirs)| Arc::ptr_eq(mine, theirs))
    }
}

/// Lets heat flow for a step; whether any did. On error nothing has changed.
pub(crate) fn conduct_heat(world: &mut World, context: &StepContext) -> Result<bool, StepError> {
    let shores = std::mem::take(&mut world.scratch.shores);
    let t = temperatures(world);
    if world.heatings.is_empty() && is_even(&t, world.particles.len(), &shores) {
        return Ok(false);
    }
    prepare_layout(world);
    let layout = std::mem::take(&mut world.scratch.heat);
    let flowed = flow(world, &layout, &shores, t, context);
    world.scratch.heat = layout;
    let Some(Flowed { enthalpy, came }) = flowed else { return Ok(false) };
    check(world, &enthalpy, context)?;
    keep(world, enthalpy);
    world.heat_in += came;
    Ok(true)
}

/// Temperatures of all places, in the scene's scale.
fn temperatures(world: &World) -> Vec<f64> {
    let places = Places::new(world);
    parallel::map(places.len(), GRAIN, |i| places.matter(i).temperature(places.enthalpy(i)))
}

/// Finds enthalpies whose temperature is no number of the engine, and names the first.
fn check(world: &World, enthalpy: &[f64], context: &StepContext) -> Result<(), StepError> {
    let places = Places::new(world);
    let most = f64::from(crate::Real::MAX) * places.least_specific();
    let is_bad = |i: &usize| enthalpy[*i].is_nan() || enthalpy[*i].abs() > most;
    let found = parallel::map_ranges(world.particles.len(), GRAIN, |mut range| range.find(|i| is_bad(i)));
    let Some(i) = found.into_iter().flatten().next() else { return Ok(()) };
    let body = &world.bodies[world.particles.body[i].0 as usize];
    Err(StepError::TooHot {
        body: body.name.clone(),
        particle: i as u32 - body.particles.start,
        value: places.matter(i).temperature(enthalpy[i]).to_string(),
        time: context.time,
    })
}

fn prepare_layout(world: &mut World) {
    for model in &mut world.models {
        model.find_ways(&world.bodies, &world.materials, &world.particles);
    }
    let ways: Vec<Arc<Ways>> = world.models.iter().filter_map(|model| model.ways()).cloned().collect();
    if !world.scratch.heat.is_made_of(world, &ways) {
        world.scratch.heat = Layout::new(world, ways);
    }
}

/// Enthalpies of all places after a step, J/kg, and heat that came from outside in it, J.
struct Flowed {
    enthalpy: Vec<f64>,
    came: f64,
}

/// Writes what flowed into the world.
fn keep(world: &mut World, mut enthalpy: Vec<f64>) {
    let warmth = enthalpy.split_off(world.particles.len());
    world.particles.enthalpy = enthalpy;
    let capable = (0..world.obstacles.len()).filter(|&i| world.obstacles[i].heat_capacity.is_some());
    for (number, t) in capable.collect::<Vec<_>>().into_iter().zip(warmth) {
        world.obstacle_warmth[number] = t;
        world.obstacles[number].temperature = Some(t as crate::Real);
    }
}

/// What flows in a step; nothing where there is no difference of temperature and nothing comes from outside.
fn flow(world: &World, layout: &Layout, shores: &[Shore], mut t: Vec<f64>, context: &StepContext) -> Option<Flowed> {
    let places = Places::new(world);
    let mut sources = Sources::of(world, &layout.aims, context);
    if sources.is_idle() && is_even(&t, world.particles.len(), shores) {
        return None;
    }
    let mut links = contact_links(world);
    for shore in shores {
        let (conductance, temperature) = (f64::from(shore.conductance), f64::from(shore.temperature));
        match places.of_obstacle(shore.obstacle) {
            Some(place) => {
                links.push(Link { particles: [shore.particle, place], conductance: shore.conductance });
            }
            None => {
                sources.inflows.push(Inflow { place: shore.particle, conductance, supply: conductance * temperature })
            }
        }
    }
    sources.held.iter().for_each(|&(place, held)| t[place as usize] = held);
    let mut network = Network::new(&layout.inner, places.len(), &links);
    network.set_inflows(all_inflows(&sources, &t));
    let dt = f64::from(context.dt);
    let touched = network.touched_totals();
    let touched = touched.iter().map(|&(i, total)| total / places.capacity(i)).fold(0.0, f64::max);
    let mut flowed = if dt * layout.limit.max(touched) < EXPLICIT {
        changed(&places, &network, &t, dt)
    } else {
        flow_implicitly(&places, &mut network, &sources, t, dt)
    };
    hold(&places, &sources, &mut flowed);
    Some(flowed)
}

/// Whether all particles, and the obstacles they touch, have one temperature.
fn is_even(t: &[f64], particles: usize, shores: &[Shore]) -> bool {
    let Some(first) = t[..particles].first().map(|t| *t as crate::Real) else { return true };
    let parts = parallel::map_ranges(particles, GRAIN, |mut range| range.all(|i| t[i] as crate::Real == first));
    !parts.contains(&false) && shores.iter().all(|shore| shore.temperature == first)
}

/// Everything that comes from outside, radiation by its tangent at temperatures `t`.
fn all_inflows(sources: &Sources, t: &[f64]) -> Vec<Inflow> {
    let radiation = sources.radiators.iter().map(|radiator| radiator.near(t[radiator.place as usize]));
    sources.inflows.iter().copied().chain(radiation).collect()
}

/// Enthalpies after what flows at temperatures `t` has flowed for `dt`.
fn changed(places: &Places, network: &Network, t: &[f64], dt: f64) -> Flowed {
    let mut enthalpy = vec![0.0; places.len()];
    let came = parallel::map_chunks(&mut enthalpy, GRAIN, |first, out| {
        let came = network.flows(first..first + out.len(), t, out);
        for (i, out) in (first..).zip(out) {
            *out = places.enthalpy(i) + dt * *out / places.mass(i);
        }
        dt * came
    });
    Flowed { enthalpy, came: came.iter().sum() }
}

/// Puts held places at their temperature; what that takes, beside what flowed in, comes from outside.
fn hold(places: &Places, sources: &Sources, flowed: &mut Flowed) {
    for &(place, temperature) in &sources.held {
        let i = place as usize;
        let body = &places.world.bodies[places.world.particles.body[i].0 as usize];
        let heat = &places.world.materials[body.material.0 as usize].heat;
        let enthalpy = heat.enthalpy(temperature as crate::Real);
        flowed.came += places.mass(i) * (enthalpy - flowed.enthalpy[i]);
        flowed.enthalpy[i] = enthalpy;
    }
}
