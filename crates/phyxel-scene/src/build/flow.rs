//! Emitters and drains.

use super::event::EventContext;
use super::obstacle::to_geometry;
use crate::error::BuildError;
use crate::scene::{BodyDescription, DrainDescription, EmitterDescription};
use phyxel::emission::Drain;
use phyxel::emission::Emitter;

/// Makes an emitter, with the temperature of its body by default.
pub(super) fn make_emitter(description: &EmitterDescription, bodies: &[BodyDescription]) -> Emitter {
    let body = bodies.iter().find(|body| body.makes(&description.emitter.body));
    let temperature = description.temperature.or(body.map(|body| body.temperature)).unwrap_or(0.0);
    Emitter { temperature, ..description.emitter.clone() }
}

/// Makes a drain.
pub(super) fn make_drain(
    description: &DrainDescription,
    context: &EventContext,
    warnings: &mut Vec<String>,
) -> Result<Drain, BuildError> {
    let owner = || format!("drain \"{}\"", description.name);
    let (geometry, pose) = to_geometry(&description.region, 1.0, description.cell, owner, warnings)?;
    let bodies = description.bodies.iter().flat_map(|name| context.names_of_copies(name)).collect();
    Ok(Drain { bodies, active: description.active, ..Drain::new(&description.name, geometry, pose) })
}

/// Estimated number of particles that an emitter pours into a body until `duration`, s.
pub(super) fn estimate(emitter: &Emitter, body: &BodyDescription, duration: f64) -> u64 {
    let until = emitter.until.map_or(duration, |until| until.min(duration));
    let layers = f64::from(emitter.speed) * (until - emitter.from).max(0.0) / f64::from(body.spacing) * 2.0f64.sqrt();
    // Casting saturates.
    let count = (layers * emitter.mouth.particle_count(body.spacing)).ceil() as u64;
    emitter.max_particles.map_or(count, |limit| limit.min(count))
}
