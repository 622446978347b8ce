//! Sphere-triangle contacts: particles of other models against the faces of boundary meshes.
//!
//! The model of the mesh finds them; here they become constraints. The reaction acts on the three vertices of the
//! face by barycentric weights.

use super::obstacles::is_fluid;
use super::sphere_sphere::surface_between;
use crate::Real;
use crate::contact::response::jacobi::ContactConstraint;
use crate::contact::response::params::contact_params;
use crate::step::StepContext;
use crate::world::World;
use glam::Vec3;
use phyxel_laws::contact::{ContactPoint, SurfaceProperties};

/// Contact of a particle with a boundary face of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SphereTriangleContact {
    pub particle: u32,
    /// Vertices of the face, as particles.
    pub face: [u32; 3],
    /// Barycentric coordinates of the contact point.
    pub barycentric: [Real; 3],
    /// Contact normal, out of the body.
    pub normal: Vec3,
    /// Gap between the sphere and the face, m; negative if they overlap.
    pub gap: Real,
}

impl SphereTriangleContact {
    /// Velocity of the particle relative to the contact point of the face, m/s.
    pub fn relative_velocity(&self, velocity: &[Vec3]) -> Vec3 {
        let face_velocity: Vec3 = (0..3).map(|k| velocity[self.face[k] as usize] * self.barycentric[k]).sum();
        velocity[self.particle as usize] - face_velocity
    }
}

/// Contact constraint of a particle and a face.
pub(in crate::contact) fn make_constraint(
    world: &World,
    contact: &SphereTriangleContact,
    context: &StepContext,
) -> ContactConstraint<4> {
    let ([a, b, c], [p, q, r]) = (contact.face, contact.barycentric);
    let initial_velocity = contact.relative_velocity(&world.scratch.previous_velocity);
    let i = contact.particle as usize;
    // Dry friction and restitution are properties of solids.
    let surface =
        if is_fluid(world, i) { SurfaceProperties::default() } else { surface_between(world, [contact.particle, a]) };
    let params = contact_params(context, world.particles.radius[i]);
    let point = ContactPoint::new(contact.normal, contact.gap, initial_velocity);
    ContactConstraint::new(world, [contact.particle, a, b, c], [1.0, -p, -q, -r], point, surface, params)
}
