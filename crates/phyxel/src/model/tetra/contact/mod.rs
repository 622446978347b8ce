//! Contact detection with the meshes of tetrahedral bodies.

mod sphere_contacts;
mod vertex_contacts;

use super::TetraModel;
use crate::Real;
use crate::contact::MeshContacts;
use crate::world::World;

impl TetraModel {
    /// Finds the contacts of the boundary meshes with each other and with particles of other models.
    pub(super) fn find_contacts(&mut self, world: &World, dt: Real) -> MeshContacts {
        if self.bodies.is_empty() {
            return MeshContacts::default();
        }
        MeshContacts {
            vertex_face: self.find_vertex_contacts(world),
            sphere_triangle: self.find_sphere_contacts(world, dt),
        }
    }
}
