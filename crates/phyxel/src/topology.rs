//! Changes of which particles there are and what ties them.

use crate::body::BodyId;
use crate::model::tetra::{Melted, Stuff};
use crate::model::{Model, TetraModel};
use crate::particles::Particle;
use crate::step::first_unsound;
use crate::world::World;
use glam::Vec3;

/// Parts nodes of tetrahedra that are pulled too hard, and ties between bodies, unites or ties those of sticky matter that are pressed into each
/// other, and makes drops of what is molten. A step that will be refused changes nothing.
pub(crate) fn change_topology(world: &mut World) {
    let Some(model) = world.tetra_model() else { return };
    let (is_breaking, is_melting, is_loosening) = (model.is_breaking(), model.may_melt(), model.is_loosening());
    let is_sticking = world.scratch.presses.iter().any(|press| press.partner.is_some())
        && world.materials.iter().any(|material| material.sticky.is_some());
    let is_any = is_breaking || is_sticking || is_melting || is_loosening;
    if !is_any || first_unsound(&world.particles).is_some() {
        return;
    }
    if is_loosening && let Some(model) = tetra(&mut world.models) {
        model.forget_loose(&world.scratch.presses);
    }
    if is_breaking {
        part_ties(world);
        part_nodes(world);
    }
    if is_sticking {
        unite_bodies(world);
        unite_nodes(world);
        tie_nodes(world);
    }
    if is_melting {
        melt(world);
    }
}

fn tetra(models: &mut [Model]) -> Option<&mut TetraModel> {
    models.iter_mut().find_map(|model| if let Model::Tetra(tetra) = model { Some(tetra) } else { None })
}

fn part_ties(world: &mut World) {
    if let Some(model) = tetra(&mut world.models) {
        model.part_ties(&world.particles);
    }
}

fn part_nodes(world: &mut World) {
    let Some(model) = tetra(&mut world.models) else { return };
    let newborn = model.part_nodes(&world.bodies, &mut world.particles);
    add_nodes(world, &newborn);
}

/// Parts a body of tetrahedra along a plane through a point, across a direction, in its own frame at rest.
pub(crate) fn cut_tetrahedra(world: &mut World, id: BodyId, plane: [Vec3; 2]) {
    let Some(model) = tetra(&mut world.models) else { return };
    let newborn = model.cut(&world.bodies[id.0 as usize], &mut world.particles, plane);
    add_nodes(world, &newborn);
}

/// Puts new nodes, body after body, into the store and lets elements have them.
fn add_nodes(world: &mut World, newborn: &[Particle]) {
    if newborn.is_empty() {
        return;
    }
    newborn.iter().for_each(|particle| world.bodies[particle.body.0 as usize].born += 1);
    world.rearrange(|_| true, newborn);
    if let Some(model) = tetra(&mut world.models) {
        model.retie(&world.bodies);
    }
}

/// Bodies of which nodes are about to unite become one.
fn unite_bodies(world: &mut World) {
    let Some(model) = world.tetra_model() else { return };
    let stuff = Stuff { bodies: &world.bodies, materials: &world.materials, particles: &world.particles };
    let pairs = model.sticky_pairs(&stuff, &world.scratch.presses);
    for union in model.find_unions(&stuff, &pairs) {
        take_over(world, union);
    }
}

/// Lets all of a body of tetrahedra go over to another one. What is left of it is empty.
fn take_over(world: &mut World, [into, from]: [BodyId; 2]) {
    let [taker, giver] = [into, from].map(|id| &world.bodies[id.0 as usize]);
    let samples = giver.range().zip(taker.born..);
    let newborn: Vec<Particle> =
        samples.map(|(i, sample)| Particle { body: into, sample, ..world.particles.get(i) }).collect();
    let count = newborn.len() as u32;
    let first_sample = taker.born;
    world.bodies[into.0 as usize].born += count;
    world.rearrange(|_| true, &newborn);
    let (was, end) = (world.bodies[from.0 as usize].particles.clone(), world.bodies[into.0 as usize].particles.end);
    let first = end - count;
    let moved = |i: &mut u32| *i = if was.contains(i) { *i - was.start + first } else { *i };
    for press in &mut world.scratch.presses {
        [&mut press.node].into_iter().chain(&mut press.face).chain(&mut press.partner).for_each(moved);
    }
    let [taker, giver] = [into, from].map(|id| world.bodies[id.0 as usize].name.clone());
    for drag in world.drags.iter_mut().filter(|drag| drag.body == giver) {
        if let Some(i) = world.particles.find(was.start as usize..was.end as usize, drag.sample) {
            (drag.body, drag.sample) = (taker.clone(), first_sample + i as u32 - was.start);
        }
    }
    if let Some(model) = tetra(&mut world.models) {
        model.take_over([into, from], was.clone(), first);
    }
    world.rearrange(|i| !was.contains(&(i as u32)), &[]);
}

fn unite_nodes(world: &mut World) {
    let World { models, bodies, materials, particles, scratch, .. } = world;
    let Some(model) = tetra(models) else { return };
    let pairs = model.sticky_pairs(&Stuff { bodies, materials, particles }, &scratch.presses);
    let gone = model.unite((bodies, materials), particles, pairs);
    remove(world, gone, &[]);
}

/// Ties nodes of different matter that sticks together.
fn tie_nodes(world: &mut World) {
    let World { models, bodies, materials, particles, scratch, .. } = world;
    let Some(model) = tetra(models) else { return };
    let pairs = model.pairs_to_tie(&Stuff { bodies, materials, particles }, &scratch.presses);
    model.tie((bodies, materials), particles, pairs);
}

/// Nodes of molten elements become drops of fluids.
fn melt(world: &mut World) {
    let World { models, bodies, materials, particles, .. } = world;
    let Some(model) = tetra(models) else { return };
    let Melted { gone, mut drops } = model.melt(bodies, materials, particles);
    for drop in &mut drops {
        let pool = &mut bodies[drop.body.0 as usize];
        drop.sample = pool.born;
        pool.born += 1;
    }
    remove(world, gone, &drops);
}

/// Takes particles out of the store and lets others, body after body, join.
fn remove(world: &mut World, mut gone: Vec<u32>, newborn: &[Particle]) {
    if !gone.is_empty() {
        gone.sort_unstable();
        world.rearrange(|i| gone.binary_search(&(i as u32)).is_err(), newborn);
    }
}
