//! Heat conduction between neighbours in the reference configuration.

use super::ContinuumModel;
use crate::body::Body;
use crate::heat::{ConductionGraph, rest_conduction};
use crate::material::Material;
use crate::model::View;
use crate::store::Particles;
use glam::Vec3;

impl ContinuumModel {
    pub(super) fn find_conduction(&self, view: &View) -> ConductionGraph {
        let mut all = ConductionGraph::default();
        for phyxels in &self.bodies {
            let body = view.body(phyxels.id);
            let material = view.material(phyxels.id);
            let particle_ids: Vec<u32> = body.particles.clone().collect();
            let mut graph = match &phyxels.reference {
                None => rest_conduction(body, material, view.particles, &[&particle_ids]),
                Some(reference) => conduction_in(body, material, view.particles, reference, &particle_ids),
            };
            all.links.append(&mut graph.links);
            all.faces.append(&mut graph.faces);
        }
        all
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
