//! Heat conduction between neighbours in the reference configuration.

use super::PhyxelBody;
use crate::body::Body;
use crate::heat::{ConductionGraph, rest_conduction};
use crate::material::Material;
use crate::model::View;
use crate::store::Particles;
use glam::Vec3;

impl PhyxelBody {
    pub(super) fn find_conduction(&self, view: &View) -> ConductionGraph {
        let (body, material) = (view.body(self.id), view.material(self.id));
        let particle_ids: Vec<u32> = body.particles.clone().collect();
        match &self.reference {
            None => rest_conduction(body, material, view.particles, &[&particle_ids]),
            Some(reference) => conduction_in(body, material, view.particles, reference, &particle_ids),
        }
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
