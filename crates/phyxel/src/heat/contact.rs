//! Heat transfer across contacts: contact conductance in series with half particles.

use super::network::Link;
use crate::Real;
use crate::contact::{SphereTriangleContact, is_fluid};
use crate::model::{ContactGeometry, ModelTraits};
use crate::store::Phase;
use crate::world::World;
use glam::Vec3;

/// Largest gap with heat transfer, as a fraction of the radii.
const MAX_GAP: Real = 0.05;
/// Largest gap between fluids and faces, as a fraction of the radius. Fluids wet what they lie on; at
/// obstacles, too, heat passes up to a quarter of the radius beyond.
const MAX_FLUID_GAP: Real = 0.25;

/// Thermal link between a particle and an obstacle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ObstacleHeatLink {
    pub particle: u32,
    pub obstacle: u32,
    /// Conductance, W/K.
    pub conductance: Real,
    /// Temperature of the obstacle, in the scene's scale.
    pub temperature: Real,
}

/// Links of all contacts between particles.
pub(super) fn contact_links(world: &World) -> Vec<Link> {
    let particles = &world.particles;
    let touching: Vec<[u32; 2]> = world
        .scratch
        .sphere_pairs
        .iter()
        .map(|&(a, b)| [a, b])
        .filter(|&[a, b]| {
            let [i, j] = [a as usize, b as usize];
            let radii = particles.radius[i] + particles.radius[j];
            particles.position[i].distance_squared(particles.position[j])
                < ((1.0 + MAX_GAP) * radii) * ((1.0 + MAX_GAP) * radii)
        })
        .collect();
    let mut links = vertex_face_links(world);
    links.extend(world.models.each().flat_map(|model| model.thermal_links(world)));
    links.extend(sphere_triangle_links(world));
    let mut contact_counts = vec![0u32; if touching.is_empty() { 0 } else { particles.len() }];
    touching.iter().flatten().for_each(|&i| contact_counts[i as usize] += 1);
    let link = |[a, b]: [u32; 2]| {
        let smaller = particles.radius[a as usize].min(particles.radius[b as usize]);
        // The contacts of a particle share its face.
        let area = 4.0 * smaller * smaller / contact_counts[a as usize].max(contact_counts[b as usize]) as Real;
        let [r_a, r_b] = [a, b].map(|i| particle_resistance(world, i, area));
        let film = 1.0 / (world.settings.contact_conductance * area);
        Link { nodes: [a, b], conductance: 1.0 / (r_a + r_b + film) }
    };
    links.extend(touching.into_iter().map(link).filter(|link| link.conductance > 0.0));
    links
}

/// Links of vertex-face contacts: from each vertex to the three of the face, weighted
/// barycentrically.
///
/// Nodes lie on the surface, so the contact conductance over the nodal area is the only resistance. Nodes of
/// both bodies have such contacts, so each counts half.
fn vertex_face_links(world: &World) -> Vec<Link> {
    let h = world.settings.contact_conductance;
    let contacts = world.scratch.vertex_face_contacts.iter();
    let links = contacts.flat_map(|contact| {
        let conductance = 0.5 * h * contact_area(world, contact.vertex, contact.normal);
        let link = move |k: usize| Link {
            nodes: [contact.vertex, contact.face[k]],
            conductance: conductance * contact.barycentric[k],
        };
        (0..3).map(link)
    });
    links.filter(|link| link.conductance > 0.0).collect()
}

/// Links of sphere-triangle contacts: from each particle to the three nodes of the face, weighted
/// barycentrically.
fn sphere_triangle_links(world: &World) -> Vec<Link> {
    let radius = |contact: &SphereTriangleContact| world.particles.radius[contact.particle as usize];
    // The gap between two particles of this radius.
    let max_gap = |contact: &SphereTriangleContact| {
        if is_fluid(world, contact.particle as usize) { MAX_FLUID_GAP } else { 2.0 * MAX_GAP }
    };
    let is_touching = |contact: &&SphereTriangleContact| contact.gap < max_gap(contact) * radius(contact);
    let touching: Vec<&SphereTriangleContact> =
        world.scratch.sphere_triangle_contacts.iter().filter(is_touching).collect();
    let mut links = Vec::new();
    // Contacts of a particle with a body are consecutive.
    for of_particle in touching.chunk_by(|a, b| a.particle == b.particle) {
        for contact in of_particle {
            let area = 4.0 * radius(contact) * radius(contact) / of_particle.len() as Real;
            let film =
                if is_own_melt(world, contact) { 0.0 } else { 1.0 / (world.settings.contact_conductance * area) };
            let conductance = 1.0 / (particle_resistance(world, contact.particle, area) + film);
            links.extend((0..3).map(|k| Link {
                nodes: [contact.particle, contact.face[k]],
                conductance: conductance * contact.barycentric[k],
            }));
        }
    }
    links.retain(|link| link.conductance > 0.0);
    links
}

/// Returns true if a fluid lies on the solid of its own material, without a contact resistance between the two.
fn is_own_melt(world: &World, contact: &SphereTriangleContact) -> bool {
    let material = |particle: u32| world.bodies[world.particles.body[particle as usize].0 as usize].material;
    is_fluid(world, contact.particle as usize) && material(contact.particle) == material(contact.face[0])
}

/// Properties of the model of a particle.
fn traits_of(world: &World, i: usize) -> &'static ModelTraits {
    world.bodies[world.particles.body[i].0 as usize].model.traits()
}

/// Contact area of a particle against a normal, m2.
fn contact_area(world: &World, particle: u32, normal: Vec3) -> Real {
    let i = particle as usize;
    let is_vertex = traits_of(world, i).geometry == ContactGeometry::Mesh;
    let projected = || world.models.each().find_map(|model| model.projected_area(&world.view(), i, normal));
    let radius = world.particles.radius[i];
    is_vertex.then(projected).flatten().unwrap_or(4.0 * radius * radius)
}

/// Resistance between the centre of a particle and its face, K/W.
///
/// Takes the mean conductivity of the axes, as the body may have rotated. Solid particles of mass-spring
/// lattices and nodes of tetrahedra lie on the face and have none.
fn particle_resistance(world: &World, particle: u32, area: Real) -> Real {
    let i = particle as usize;
    let body = &world.bodies[world.particles.body[i].0 as usize];
    if body.model.traits().has_surface_particles && world.particles.phase[i] == Phase::Solid {
        return 0.0;
    }
    let heat = &world.materials[body.material.0 as usize].heat;
    world.particles.radius[i] / (heat.mean_conductivity() * area)
}

/// Link between an obstacle with a temperature and a particle on the side of the normal.
pub(crate) fn obstacle_heat_link(
    world: &World,
    particle: u32,
    normal: Vec3,
    obstacle: u32,
    temperature: Real,
) -> ObstacleHeatLink {
    let area = contact_area(world, particle, normal);
    let film = 1.0 / (world.settings.contact_conductance * area);
    let conductance = 1.0 / (particle_resistance(world, particle, area) + film);
    ObstacleHeatLink { particle, obstacle, conductance, temperature }
}
