//! Contact between bodies and with obstacles: broad phase, narrow phase and impulse response. Changes
//! velocities only.

mod broad_phase;
mod narrow_phase;
mod response;

pub(crate) use broad_phase::bounds::{BodyBounds, compute_bounds};
pub(crate) use broad_phase::sweep_and_prune::{
    CONTACT_MARGIN, find_body_pairs, max_approach_speed, pairs_within, particles_in_box,
};
pub(crate) use narrow_phase::obstacles::{
    ADHESION_RANGE, ContactContext, NODE_RADIUS, is_fluid, make_colliders, max_obstacle_speed,
};
pub(crate) use narrow_phase::sphere_sphere::{combine_surfaces, find_sphere_contacts};
pub(crate) use narrow_phase::sphere_triangle::SphereTriangleContact;
pub(crate) use narrow_phase::vertex_face::VertexFaceContact;
pub(crate) use response::obstacles::max_adhesion_impulse;
pub(crate) use response::params::contact_params;

use crate::Real;
use crate::heat;
use crate::model::{Models, ViewMut};
use crate::scratch::Scratch;
use crate::step::StepContext;
use crate::world::World;
use narrow_phase::{obstacles, sphere_sphere, sphere_triangle, vertex_face};
use response::jacobi::JacobiSolver;
use response::obstacles::resolve_obstacles;

/// Contacts of boundary meshes.
#[derive(Clone, Debug, Default)]
pub(crate) struct MeshContacts {
    /// Vertices inside other meshes.
    pub vertex_face: Vec<VertexFaceContact>,
    /// Particles of other models at faces.
    pub sphere_triangle: Vec<SphereTriangleContact>,
}

/// Finds the contacts of all boundary meshes.
pub(crate) fn find_mesh_contacts(world: &mut World, dt: Real) {
    let (mut vertex_face, mut sphere_triangle) = (Vec::new(), Vec::new());
    Models::visit_detached(world, |model, world| {
        let mut found = model.find_mesh_contacts(world, dt);
        vertex_face.append(&mut found.vertex_face);
        sphere_triangle.append(&mut found.sphere_triangle);
    });
    (world.scratch.vertex_face_contacts, world.scratch.sphere_triangle_contacts) = (vertex_face, sphere_triangle);
}

/// Records the contacts with obstacles of given temperature, for heat conduction.
fn record_obstacle_heat_links(world: &mut World, contacts: &[obstacles::SphereObstacleContact]) {
    let close = contacts.iter().filter(|contact| contact.is_within_adhesion_range());
    let links = close.filter_map(|contact| {
        let temperature = world.obstacles[contact.obstacle as usize].temperature?;
        Some(heat::obstacle_heat_link(world, contact.particle, contact.point.normal, contact.obstacle, temperature))
    });
    world.scratch.obstacle_heat_links = links.collect();
}

/// Changes velocities so that no particle moves into an obstacle or another body.
///
/// Jacobi iterations: each computes all impulses from the same velocities and then applies them together,
/// so the result does not depend on any order. Pairs exchange momentum; obstacles come last and are never
/// penetrated further.
pub(crate) fn resolve_contacts(world: &mut World, context: &StepContext) {
    let at_obstacles = obstacles::find_obstacle_contacts(world, context);
    record_obstacle_heat_links(world, &at_obstacles);
    let Scratch { sphere_pairs, vertex_face_contacts, sphere_triangle_contacts, .. } = &world.scratch;
    let has_no_pairs =
        sphere_pairs.is_empty() && vertex_face_contacts.is_empty() && sphere_triangle_contacts.is_empty();
    if at_obstacles.is_empty() && has_no_pairs {
        return;
    }
    let mut sphere_sphere_solver = JacobiSolver::new(world, sphere_pairs.len(), |k| {
        sphere_sphere::make_constraint(world, sphere_pairs[k], context)
    });
    let mut vertex_face_solver =
        JacobiSolver::new(world, vertex_face_contacts.len(), |k| vertex_face::make_constraint(world, k, context));
    let mut sphere_triangle_solver = JacobiSolver::new(world, sphere_triangle_contacts.len(), |k| {
        sphere_triangle::make_constraint(world, &sphere_triangle_contacts[k], context)
    })
    .with_mass_splitting();
    // Particles that touch obstacles only are resolved once; those that also touch other bodies, in every
    // iteration.
    let groups = at_obstacles.chunk_by(|a, b| a.particle == b.particle);
    let (coupled, alone): (Vec<_>, Vec<_>) = groups.partition(|group| {
        let particle = group[0].particle;
        sphere_sphere_solver.involves(particle)
            || vertex_face_solver.involves(particle)
            || sphere_triangle_solver.involves(particle)
    });
    resolve_obstacles(world, &alone, 1, context);
    let iterations = if has_no_pairs { 0 } else { world.settings.contact_iterations.max(1) };
    for _ in 0..iterations {
        sphere_sphere_solver.iterate(world);
        vertex_face_solver.iterate(world);
        sphere_triangle_solver.iterate(world);
        resolve_obstacles(world, &coupled, iterations, context);
    }
    sphere_sphere_solver.add_friction_heat(world);
    vertex_face_solver.add_friction_heat(world);
    sphere_triangle_solver.add_friction_heat(world);
    let World { models, bodies, materials, particles, .. } = world;
    models.each_mut().for_each(|model| model.update_after_contacts(&mut ViewMut { bodies, materials, particles }));
}
