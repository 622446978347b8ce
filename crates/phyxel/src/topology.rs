//! Changes of which particles there are and what ties them, inside of bodies.

use crate::model::Model;
use crate::step::first_unsound;
use crate::world::World;

/// Parts nodes of tetrahedra that are pulled too hard. A step that will be refused changes nothing.
pub(crate) fn change_topology(world: &mut World) {
    let is_breaking = |model: &Model| matches!(model, Model::Tetra(tetra) if tetra.is_breaking());
    if !world.models.iter().any(is_breaking) || first_unsound(&world.particles).is_some() {
        return;
    }
    let mut newborn = Vec::new();
    for model in &mut world.models {
        if let Model::Tetra(tetra) = model {
            newborn.append(&mut tetra.part_nodes(&world.bodies, &mut world.particles));
        }
    }
    if newborn.is_empty() {
        return;
    }
    newborn.iter().for_each(|particle| world.bodies[particle.body.0 as usize].born += 1);
    world.rearrange(|_| true, &newborn);
    for model in &mut world.models {
        if let Model::Tetra(tetra) = model {
            tetra.retie(&world.bodies);
        }
    }
}
