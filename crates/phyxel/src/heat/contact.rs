//! Ways for heat where things touch.

use super::network::Link;
use crate::Real;
use crate::contact::{FaceTouch, is_fluid};
use crate::model::ModelKind;
use crate::particles::Phase;
use crate::world::World;
use glam::Vec3;

/// Heat passes while a gap is below this part of the radii.
const NEAR: Real = 0.05;
/// The same for fluids at faces, of the radius. They wet what they lie on: at obstacles, too, heat passes up to a quarter beyond where they lie.
const WETTED: Real = 0.25;

/// A way for heat between a particle and the obstacle it is at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shore {
    pub particle: u32,
    pub obstacle: u32,
    /// W/K.
    pub conductance: Real,
    /// Of the obstacle, in the scene's scale.
    pub temperature: Real,
}

/// Ways for heat between things that touch.
pub(super) fn contact_links(world: &World) -> Vec<Link> {
    let particles = &world.particles;
    let touching: Vec<[u32; 2]> = world
        .scratch
        .pairs
        .iter()
        .map(|&(a, b)| [a, b])
        .filter(|&[a, b]| {
            let [i, j] = [a as usize, b as usize];
            let radii = particles.radius[i] + particles.radius[j];
            particles.position[i].distance_squared(particles.position[j])
                < ((1.0 + NEAR) * radii) * ((1.0 + NEAR) * radii)
        })
        .collect();
    let mut links = press_links(world);
    links.extend(world.tetra_model().into_iter().flat_map(|model| model.tie_links(world)));
    links.extend(face_links(world));
    let mut crowd = vec![0u32; if touching.is_empty() { 0 } else { particles.len() }];
    touching.iter().flatten().for_each(|&i| crowd[i as usize] += 1);
    let link = |[a, b]: [u32; 2]| {
        let smaller = particles.radius[a as usize].min(particles.radius[b as usize]);
        // The face of a particle is shared by all it touches.
        let area = 4.0 * smaller * smaller / crowd[a as usize].max(crowd[b as usize]) as Real;
        let [p, q] = [a, b].map(|i| through_face(world, i, area));
        let film = 1.0 / (world.settings.contact_conductance * area);
        Link { particles: [a, b], conductance: 1.0 / (p + q + film) }
    };
    links.extend(touching.into_iter().map(link).filter(|link| link.conductance > 0.0));
    links
}

/// Ways between nodes of tetrahedra and the faces that they touch, by the parts of their nodes. Nodes are on the face, and what a node shows
/// of its surface is the area. Both sides have such nodes, so that each gives half.
fn press_links(world: &World) -> Vec<Link> {
    let film = world.settings.contact_conductance;
    let presses = world.scratch.presses.iter();
    let links = presses.flat_map(|press| {
        let conductance = 0.5 * film * face_area(world, press.node, press.normal);
        let way =
            move |k: usize| Link { particles: [press.node, press.face[k]], conductance: conductance * press.parts[k] };
        (0..3).map(way)
    });
    links.filter(|link| link.conductance > 0.0).collect()
}

/// Ways between particles of other models and the faces of tetrahedra that they touch, by the parts of their nodes.
fn face_links(world: &World) -> Vec<Link> {
    let radius = |touch: &FaceTouch| world.particles.radius[touch.particle as usize];
    // As between two particles of this radius.
    let near = |touch: &FaceTouch| if is_fluid(world, touch.particle as usize) { WETTED } else { 2.0 * NEAR };
    let is_touching = |touch: &&FaceTouch| touch.gap < near(touch) * radius(touch);
    let touching: Vec<&FaceTouch> = world.scratch.faces.iter().filter(is_touching).collect();
    let mut links = Vec::new();
    // A particle's touches with a body follow each other.
    for own in touching.chunk_by(|a, b| a.particle == b.particle) {
        for touch in own {
            let area = 4.0 * radius(touch) * radius(touch) / own.len() as Real;
            let film = if is_own_melt(world, touch) { 0.0 } else { 1.0 / (world.settings.contact_conductance * area) };
            let conductance = 1.0 / (through_face(world, touch.particle, area) + film);
            links.extend((0..3).map(|k| Link {
                particles: [touch.particle, touch.face[k]],
                conductance: conductance * touch.parts[k],
            }));
        }
    }
    links.retain(|link| link.conductance > 0.0);
    links
}

/// Whether a fluid lies on the matter that it is the melt of: there is nothing between the two that heat would have to cross.
fn is_own_melt(world: &World, touch: &FaceTouch) -> bool {
    let material = |particle: u32| world.bodies[world.particles.body[particle as usize].0 as usize].material;
    is_fluid(world, touch.particle as usize) && material(touch.particle) == material(touch.face[0])
}

/// Area with which a particle touches what is on the other side of a normal, m2.
fn face_area(world: &World, particle: u32, normal: Vec3) -> Real {
    let i = particle as usize;
    let is_node = world.bodies[world.particles.body[i].0 as usize].model == ModelKind::Tetra;
    match world.tetra_model().filter(|_| is_node) {
        Some(model) => model.area_against(&world.bodies, i, &world.particles.position, normal),
        None => 4.0 * world.particles.radius[i] * world.particles.radius[i],
    }
}

/// Resistance from the middle of a particle to its face, K/W. A body may be turned any way when it touches something,
/// so that the mean of the conductivities along its axes counts. Particles of a lattice of springs lie on the face, and so do the
/// nodes of tetrahedra.
fn through_face(world: &World, particle: u32, area: Real) -> Real {
    let i = particle as usize;
    let body = &world.bodies[world.particles.body[i].0 as usize];
    let at_corners = matches!(body.model, ModelKind::Spring | ModelKind::Tetra);
    if at_corners && world.particles.phase[i] == Phase::Solid {
        return 0.0;
    }
    let heat = &world.materials[body.material.0 as usize].heat;
    world.particles.radius[i] / (heat.mean_conductivity() * area)
}

/// The way for heat from an obstacle with a temperature into a particle at it, on the side that the normal leads to.
pub(crate) fn shore(world: &World, particle: u32, normal: Vec3, obstacle: u32, temperature: Real) -> Shore {
    let area = face_area(world, particle, normal);
    let film = 1.0 / (world.settings.contact_conductance * area);
    let conductance = 1.0 / (through_face(world, particle, area) + film);
    Shore { particle, obstacle, conductance, temperature }
}
