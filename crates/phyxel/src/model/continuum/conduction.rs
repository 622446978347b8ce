//! Heat conduction between neighbours in the reference configuration.

use super::ContinuumModel;
use crate::body::Body;
use crate::heat::{ConductionGraph, rest_conduction};
use crate::material::Material;
use crate::store::Particles;
use glam::Vec3;
use std::sync::Arc;

impl ContinuumModel {
    pub(super) fn find_conduction(
        &self,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
    ) -> ConductionGraph {
        let mut all = ConductionGraph::default();
        for phyxels in &self.bodies {
            let body = &bodies[phyxels.id.0 as usize];
            let material = &materials[body.material.0 as usize];
            let particle_ids: Vec<u32> = body.particles.clone().collect();
            let mut graph = match &phyxels.reference {
                None => rest_conduction(body, material, particles, &[&particle_ids]),
                Some(reference) => conduction_in(body, material, particles, reference, &particle_ids),
            };
            all.links.append(&mut graph.links);
            all.faces.append(&mut graph.faces);
        }
        all
    }

    /// Conduction graph inside its bodies.
    pub(crate) fn conduction(&self) -> Option<&Arc<ConductionGraph>> {
        self.conduction.as_ref()
    }
}

/// Conduction graph of a body whose reference configuration is not its rest shape.
fn conduction_in(
    body: &Body,
    material: &Material,
    particles: &Particles,
    reference: &[Vec3],
    particle_ids: &[u32],
) -> ConductionGraph {
    let mut deformed = Particles { rest: particles.rest.clone(), mass: particles.mass.clone(), ..Particles::default() };
    deformed.rest[body.range()].copy_from_slice(reference);
    rest_conduction(body, material, &deformed, &[particle_ids])
}
