//! Changes of topology at the end of a step: fracture, welding, ties and melting of tetrahedra.

use crate::body::BodyId;
use crate::model::tetra::{MaterialView, Melted};
use crate::model::{Model, TetraModel};
use crate::step::first_non_finite;
use crate::store::Particle;
use crate::world::World;
use glam::Vec3;

/// Splits overloaded nodes and removes failed ties, welds or ties nodes of sticky materials in contact,
/// and melts elements into drops. A step that will be refused changes nothing.
pub(crate) fn change_topology(world: &mut World) {
    let Some(model) = world.tetra_model() else { return };
    let (is_fracturing, is_melting, has_released) =
        (model.is_fracturing(), model.can_melt(), model.has_released_nodes());
    let may_weld = world.scratch.vertex_tet_contacts.iter().any(|contact| contact.partner.is_some())
        && world.materials.iter().any(|material| material.sticky.is_some());
    let is_any = is_fracturing || may_weld || is_melting || has_released;
    if !is_any || first_non_finite(&world.particles).is_some() {
        return;
    }
    if has_released && let Some(model) = tetra(&mut world.models) {
        model.forget_separated_nodes(&world.scratch.vertex_tet_contacts);
    }
    if is_fracturing {
        remove_failed_ties(world);
        split_nodes(world);
    }
    if may_weld {
        merge_bodies(world);
        weld_nodes(world);
        tie_nodes(world);
    }
    if is_melting {
        melt(world);
    }
}

/// Model of tetrahedra, if there is one.
fn tetra(models: &mut [Model]) -> Option<&mut TetraModel> {
    models.iter_mut().find_map(|model| if let Model::Tetra(tetra) = model { Some(tetra) } else { None })
}

fn remove_failed_ties(world: &mut World) {
    if let Some(model) = tetra(&mut world.models) {
        model.remove_failed_ties(&world.particles);
    }
}

fn split_nodes(world: &mut World) {
    let Some(model) = tetra(&mut world.models) else { return };
    let new_nodes = model.split_nodes(&world.bodies, &mut world.particles);
    add_nodes(world, &new_nodes);
}

/// Cuts a tetrahedral body along a plane, given by a point and a normal in its rest frame.
pub(crate) fn cut_tetrahedra(world: &mut World, id: BodyId, plane: [Vec3; 2]) {
    let Some(model) = tetra(&mut world.models) else { return };
    let new_nodes = model.cut(&world.bodies[id.0 as usize], &mut world.particles, plane);
    add_nodes(world, &new_nodes);
}

/// Inserts new nodes, body after body, into the store and updates the elements.
fn add_nodes(world: &mut World, new_nodes: &[Particle]) {
    if new_nodes.is_empty() {
        return;
    }
    new_nodes.iter().for_each(|particle| world.bodies[particle.body.0 as usize].next_id += 1);
    world.rearrange(|_| true, new_nodes);
    if let Some(model) = tetra(&mut world.models) {
        model.update_elements(&world.bodies);
    }
}

/// Merges bodies whose nodes are about to be welded.
fn merge_bodies(world: &mut World) {
    let Some(model) = world.tetra_model() else { return };
    let view = MaterialView { bodies: &world.bodies, materials: &world.materials, particles: &world.particles };
    let candidates = model.weld_candidates(&view, &world.scratch.vertex_tet_contacts);
    for merge in model.find_body_merges(&view, &candidates) {
        absorb_body(world, merge);
    }
}

/// Moves all nodes and elements of a body into another one. The absorbed body stays, empty.
fn absorb_body(world: &mut World, [into, from]: [BodyId; 2]) {
    let [absorbing, absorbed] = [into, from].map(|id| &world.bodies[id.0 as usize]);
    let ids = absorbed.range().zip(absorbing.next_id..);
    let new_nodes: Vec<Particle> = ids.map(|(i, id)| Particle { body: into, id, ..world.particles.get(i) }).collect();
    let count = new_nodes.len() as u32;
    let first_id = absorbing.next_id;
    world.bodies[into.0 as usize].next_id += count;
    world.rearrange(|_| true, &new_nodes);
    let (was, end) = (world.bodies[from.0 as usize].particles.clone(), world.bodies[into.0 as usize].particles.end);
    let first = end - count;
    let moved = |i: &mut u32| *i = if was.contains(i) { *i - was.start + first } else { *i };
    for contact in &mut world.scratch.vertex_tet_contacts {
        [&mut contact.node].into_iter().chain(&mut contact.face).chain(&mut contact.partner).for_each(moved);
    }
    let [absorbing, absorbed] = [into, from].map(|id| world.bodies[id.0 as usize].name.clone());
    for drag in world.drags.iter_mut().filter(|drag| drag.body == absorbed) {
        if let Some(i) = world.particles.find(was.start as usize..was.end as usize, drag.particle) {
            (drag.body, drag.particle) = (absorbing.clone(), first_id + i as u32 - was.start);
        }
    }
    if let Some(model) = tetra(&mut world.models) {
        model.absorb_body([into, from], was.clone(), first);
    }
    world.rearrange(|i| !was.contains(&(i as u32)), &[]);
}

/// Welds nodes of the same material.
fn weld_nodes(world: &mut World) {
    let World { models, bodies, materials, particles, scratch, .. } = world;
    let Some(model) = tetra(models) else { return };
    let candidates =
        model.weld_candidates(&MaterialView { bodies, materials, particles }, &scratch.vertex_tet_contacts);
    let removed = model.weld((bodies, materials), particles, candidates);
    remove(world, removed, &[]);
}

/// Ties nodes of different materials that adhere.
fn tie_nodes(world: &mut World) {
    let World { models, bodies, materials, particles, scratch, .. } = world;
    let Some(model) = tetra(models) else { return };
    let candidates = model.tie_candidates(&MaterialView { bodies, materials, particles }, &scratch.vertex_tet_contacts);
    model.tie((bodies, materials), particles, candidates);
}

/// Melts elements into drops of fluids.
fn melt(world: &mut World) {
    let World { models, bodies, materials, particles, .. } = world;
    let Some(model) = tetra(models) else { return };
    let Melted { removed, drops } = model.melt(bodies, materials, particles);
    remove(world, removed, &drops);
}

/// Removes particles from the store and inserts others, body after body.
fn remove(world: &mut World, mut removed: Vec<u32>, inserted: &[Particle]) {
    if !removed.is_empty() {
        removed.sort_unstable();
        world.rearrange(|i| removed.binary_search(&(i as u32)).is_err(), inserted);
    }
}
