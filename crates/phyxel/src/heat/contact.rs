//! Ways for heat where things touch.

use super::network::Link;
use crate::Real;
use crate::model::ModelKind;
use crate::particles::Phase;
use crate::world::World;

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

/// Ways for heat between particles of different bodies that touch.
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
            particles.position[i].distance_squared(particles.position[j]) < (1.05 * radii) * (1.05 * radii)
        })
        .collect();
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
    touching.into_iter().map(link).filter(|link| link.conductance > 0.0).collect()
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

/// The way for heat from an obstacle with a temperature into a particle at it.
pub(crate) fn shore(world: &World, particle: u32, obstacle: u32, temperature: Real) -> Shore {
    let radius = world.particles.radius[particle as usize];
    let area = 4.0 * radius * radius;
    let film = 1.0 / (world.settings.contact_conductance * area);
    let conductance = 1.0 / (through_face(world, particle, area) + film);
    Shore { particle, obstacle, conductance, temperature }
}
