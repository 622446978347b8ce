//! Changes of topology at the end of a step, and cuts: the world follows every change of the mesh.

use super::melting::Melted;
use crate::body::BodyId;
use crate::model::CutPlane;
use crate::model::tetra::TetraModel;
use crate::step::first_non_finite;
use crate::store::Particle;
use crate::world::World;

impl TetraModel {
    /// Splits overloaded nodes and removes failed ties, welds or ties nodes of sticky materials in contact, and
    /// melts elements into fluid particles. A step that will be refused changes nothing.
    pub(in crate::model::tetra) fn change_connectivity(&mut self, world: &mut World) {
        let (is_fracturing, is_melting, has_released) =
            (self.is_fracturing(), self.can_melt(), self.has_released_nodes());
        let may_weld = world.scratch.vertex_face_contacts.iter().any(|contact| contact.partner.is_some())
            && world.materials.iter().any(|material| material.sticky.is_some());
        let is_any = is_fracturing || may_weld || is_melting || has_released;
        if !is_any || first_non_finite(&world.particles).is_some() {
            return;
        }
        if has_released {
            self.forget_separated_nodes(&world.scratch.vertex_face_contacts);
        }
        if is_fracturing {
            self.remove_failed_ties(&world.particles);
            let new_nodes = self.split_nodes(&world.bodies, &mut world.particles);
            self.add_nodes(world, &new_nodes);
        }
        if may_weld {
            self.merge_bodies(world);
            self.weld_nodes(world);
            self.tie_nodes(world);
        }
        if is_melting {
            let World { bodies, materials, particles, .. } = world;
            let Melted { removed, fluid_particles } = self.melt(bodies, materials, particles);
            self.remove_nodes(world, removed, &fluid_particles);
        }
    }

    /// Cuts a body along a plane.
    pub(in crate::model::tetra) fn cut_elements(&mut self, id: BodyId, plane: CutPlane, world: &mut World) {
        let new_nodes = self.split_along(&world.bodies[id.0 as usize], &mut world.particles, plane);
        self.add_nodes(world, &new_nodes);
    }

    /// Inserts new nodes, body after body, into the store and updates the elements.
    fn add_nodes(&mut self, world: &mut World, new_nodes: &[Particle]) {
        if new_nodes.is_empty() {
            return;
        }
        new_nodes.iter().for_each(|particle| world.bodies[particle.body.0 as usize].next_id += 1);
        world.rearrange_with(self, |_| true, new_nodes);
        self.update_elements(&world.bodies);
    }

    /// Merges bodies whose nodes are about to be welded.
    fn merge_bodies(&mut self, world: &mut World) {
        let candidates = self.weld_candidates(&world.view(), &world.scratch.vertex_face_contacts);
        for merge in self.find_body_merges(&world.view(), &candidates) {
            self.merge_into(world, merge);
        }
    }

    /// Moves all nodes and elements of a body into another one. The absorbed body stays, empty.
    fn merge_into(&mut self, world: &mut World, [into, from]: [BodyId; 2]) {
        let [absorbing, absorbed] = [into, from].map(|id| &world.bodies[id.0 as usize]);
        let ids = absorbed.range().zip(absorbing.next_id..);
        let new_nodes: Vec<Particle> =
            ids.map(|(i, id)| Particle { body: into, id, ..world.particles.get(i) }).collect();
        let count = new_nodes.len() as u32;
        let first_id = absorbing.next_id;
        world.bodies[into.0 as usize].next_id += count;
        world.rearrange_with(self, |_| true, &new_nodes);
        let (was, end) = (world.bodies[from.0 as usize].particles.clone(), world.bodies[into.0 as usize].particles.end);
        let first = end - count;
        let moved = |i: &mut u32| *i = if was.contains(i) { *i - was.start + first } else { *i };
        for contact in &mut world.scratch.vertex_face_contacts {
            [&mut contact.vertex].into_iter().chain(&mut contact.face).chain(&mut contact.partner).for_each(moved);
        }
        let [absorbing, absorbed] = [into, from].map(|id| world.bodies[id.0 as usize].name.clone());
        for drag in world.drags.iter_mut().filter(|drag| drag.body == absorbed) {
            if let Some(i) = world.particles.find(was.start as usize..was.end as usize, drag.particle) {
                (drag.body, drag.particle) = (absorbing.clone(), first_id + i as u32 - was.start);
            }
        }
        self.absorb_body([into, from], was.clone(), first);
        world.rearrange_with(self, |i| !was.contains(&(i as u32)), &[]);
    }

    /// Welds nodes of the same material.
    fn weld_nodes(&mut self, world: &mut World) {
        let candidates = self.weld_candidates(&world.view(), &world.scratch.vertex_face_contacts);
        let World { bodies, materials, particles, .. } = world;
        let removed = self.weld((bodies, materials), particles, candidates);
        self.remove_nodes(world, removed, &[]);
    }

    /// Ties nodes of different materials that adhere.
    fn tie_nodes(&mut self, world: &mut World) {
        let candidates = self.tie_candidates(&world.view(), &world.scratch.vertex_face_contacts);
        let World { bodies, materials, particles, .. } = world;
        self.tie((bodies, materials), particles, candidates);
    }

    /// Removes nodes from the store and inserts other particles, body after body.
    fn remove_nodes(&mut self, world: &mut World, mut removed: Vec<u32>, inserted: &[Particle]) {
        if !removed.is_empty() {
            removed.sort_unstable();
            world.rearrange_with(self, |i| removed.binary_search(&(i as u32)).is_err(), inserted);
        }
    }
}
