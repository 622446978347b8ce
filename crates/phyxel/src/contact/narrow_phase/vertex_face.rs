//! Vertex-face contacts: vertices of boundary meshes inside another body, with the face by which they leave it.
//!
//! The model of the mesh finds them; here they become constraints.

use super::sphere_sphere::surface_between;
use crate::Real;
use crate::contact::response::jacobi::ContactConstraint;
use crate::contact::response::params::contact_params;
use crate::step::StepContext;
use crate::store::Rearrangement;
use crate::world::World;
use glam::Vec3;
use phyxel_laws::contact::ContactPoint;

/// Contact of a vertex of a boundary mesh inside another body, or another component of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct VertexFaceContact {
    /// Penetrating vertex, as a particle.
    pub vertex: u32,
    /// Vertices of the exit face, as particles.
    pub face: [u32; 3],
    /// Barycentric coordinates of the contact point on the exit face.
    pub barycentric: [Real; 3],
    /// Contact normal, out of the penetrated body.
    pub normal: Vec3,
    /// Penetration depth, m.
    pub depth: Real,
    /// Nearest vertex of the face that the vertex came through; sticky materials weld or tie the two.
    pub partner: Option<u32>,
}

impl VertexFaceContact {
    /// Updates particle indices after a rearrangement of the store; returns false if one of the particles
    /// is gone.
    pub fn rearrange(&mut self, order: &Rearrangement) -> bool {
        let mut particles = [&mut self.vertex].into_iter().chain(&mut self.face).chain(&mut self.partner);
        particles.all(|particle| order.target(*particle).map(|target| *particle = target).is_some())
    }
}

/// Contact constraint of a vertex and its exit face.
pub(in crate::contact) fn make_constraint(world: &World, index: usize, context: &StepContext) -> ContactConstraint<4> {
    let contact = &world.scratch.vertex_face_contacts[index];
    let [a, b, c] = contact.face;
    let [p, q, r] = contact.barycentric;
    let initial_velocity = |i: u32| world.scratch.previous_velocity[i as usize];
    let velocity = initial_velocity(contact.vertex)
        - (p * initial_velocity(a) + q * initial_velocity(b) + r * initial_velocity(c));
    let point = ContactPoint::new(contact.normal, -contact.depth, velocity);
    let surface = surface_between(world, [contact.vertex, a]);
    let params = contact_params(context, world.particles.radius[contact.vertex as usize]);
    let constraint =
        ContactConstraint::new(world, [contact.vertex, a, b, c], [1.0, -p, -q, -r], point, surface, params);
    match world.scratch.reactions.at_contact(index) {
        Some(impulse) => constraint.with_solved_impulse(impulse),
        None => constraint,
    }
}
