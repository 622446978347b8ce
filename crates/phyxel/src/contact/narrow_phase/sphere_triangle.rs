//! Sphere-triangle contacts: particles of other models against the boundary faces of tetrahedral bodies.
//!
//! A sphere outside touches the closest point of the surface; in a concave corner, also closest points in
//! other directions. A sphere whose centre is inside leaves by the nearest face. The reaction acts on the
//! three nodes of the face by barycentric weights.

use super::obstacles::is_fluid;
use super::sphere_sphere::surface_between;
use crate::Real;
use crate::contact::broad_phase::sweep_and_prune::{CONTACT_MARGIN, particles_in_box, sweep_and_prune};
use crate::contact::response::jacobi::ContactConstraint;
use crate::contact::response::params::contact_params;
use crate::model::ModelKind;
use crate::model::tetra::TetView;
use crate::neighbours::QuerySphere;
use crate::parallel;
use crate::step::StepContext;
use crate::world::World;
use glam::Vec3;
use phyxel_laws::contact::{ContactPoint, SurfaceProperties};
use phyxel_laws::tet_collision::{ClosestPoint, PointGrid, SurfaceGrid};
use phyxel_laws::tet_topology::FACES;

/// Elements, faces or particles per task.
const GRAIN: usize = 512;
/// Cosine of the angle above which two normals make separate contacts. All points of a tangent plane that
/// are within the contact margin lie within this angle of the closest point.
const DISTINCT_COSINE: f64 = 1.0 / (1.0 + CONTACT_MARGIN as f64);
/// Within this fraction of the radius of the surface, the contact normal is the face normal.
const ON_SURFACE: f64 = 1e-5;

/// Contact of a particle with a boundary face of a tetrahedral body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SphereTriangleContact {
    pub particle: u32,
    /// Nodes of the face, as particles.
    pub face: [u32; 3],
    /// Barycentric coordinates of the contact point.
    pub barycentric: [Real; 3],
    /// Contact normal, out of the body.
    pub normal: Vec3,
    /// Gap between the sphere and the face, m; negative if they overlap.
    pub gap: Real,
}

/// Finds the contacts of particles of other models with tetrahedral bodies, existing or possible within
/// the step.
pub(crate) fn find_sphere_triangle_contacts(world: &mut World, dt: Real) {
    world.scratch.sphere_triangle_contacts = find_contacts(world, dt).unwrap_or_default();
}

/// Finds the contacts; `None` without tetrahedra.
fn find_contacts(world: &World, dt: Real) -> Option<Vec<SphereTriangleContact>> {
    let is_tetra = |k: u32| world.bodies[k as usize].model == ModelKind::Tetra;
    let views: Vec<TetView> = world.tetra_model()?.contact_views().collect();
    let mut pairs: Vec<[u32; 2]> = sweep_and_prune(&world.scratch.bounds, dt)
        .into_iter()
        .filter(|&[a, b]| is_tetra(a) != is_tetra(b))
        .map(|[a, b]| if is_tetra(a) { [a, b] } else { [b, a] })
        .collect();
    pairs.sort_unstable();
    let found = parallel::map(views.len(), 1, |k| {
        let body = views[k].body as u32;
        let others = &pairs[pairs.partition_point(|pair| pair[0] < body)..];
        let spheres: Vec<QuerySphere> =
            others.iter().take_while(|pair| pair[0] == body).flat_map(|pair| spheres_near(world, *pair, dt)).collect();
        contacts_of_body(world, &views[k], &spheres, dt)
    });
    Some(found.concat())
}

/// Finds the particles of the second body that may touch the first.
fn spheres_near(world: &World, [tet, other]: [u32; 2], dt: Real) -> Vec<QuerySphere> {
    let [tet, bounds] = [tet, other].map(|body| &world.scratch.bounds[body as usize]);
    let cutoff = (1.0 + CONTACT_MARGIN) * bounds.max_radius + tet.max_relative_speed(bounds) * dt;
    // The bounds of a body exceed its surface by the radius of a node.
    let widening = cutoff - tet.max_radius;
    particles_in_box(world, other, tet.min - widening, tet.max + widening)
}

/// Query of the spheres near a tetrahedral body against its boundary.
struct SphereQuery<'a> {
    world: &'a World,
    tet_view: &'a TetView<'a>,
    spheres: &'a [QuerySphere],
    grid: SurfaceGrid,
    /// Boundary faces in the grid.
    faces: Vec<u32>,
    /// Spheres whose centres are inside, with the connected component; ascending.
    inside: Vec<(u32, u32)>,
    dt: Real,
}

/// Contacts of spheres with a body, in the order of the spheres.
fn contacts_of_body(world: &World, view: &TetView, spheres: &[QuerySphere], dt: Real) -> Vec<SphereTriangleContact> {
    if spheres.is_empty() {
        return Vec::new();
    }
    let radius = |sphere: &QuerySphere| search_radius(world, view, sphere, dt);
    let max_radius = spheres.iter().map(radius).fold(0.0, Real::max);
    let (low, high) = spheres.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), sphere| {
        (low.min(sphere.position), high.max(sphere.position))
    });
    let inside = find_inside(world, view, spheres, [low, high]);
    let position = &world.particles.position;
    // Spheres deep inside may be far from all faces near the others.
    let widening = if inside.is_empty() { max_radius } else { Real::INFINITY };
    let is_near = |corners: [Vec3; 3]| box_overlaps(&corners, [low - widening, high + widening]);
    let all = &view.boundary.faces;
    let chosen = parallel::map_ranges(all.len(), GRAIN, |range| {
        let near = all[range].iter().filter(|&&face| is_near(face_nodes(view, face).map(|i| position[i as usize])));
        near.copied().collect::<Vec<u32>>()
    });
    let faces = chosen.concat();
    if faces.is_empty() {
        return Vec::new();
    }
    let corners = faces.iter().map(|&face| face_nodes(view, face).map(|i| position[i as usize]));
    let grid = SurfaceGrid::new(corners.collect(), max_radius);
    let query = SphereQuery { world, tet_view: view, spheres, grid, faces, inside, dt };
    let found = parallel::map_ranges(spheres.len(), GRAIN, |range| {
        let (mut contacts, mut closest_points) = (Vec::new(), Vec::new());
        range.for_each(|k| query.contacts_of_sphere(k, &mut closest_points, &mut contacts));
        contacts
    });
    found.concat()
}

/// Radius of the search for faces around a particle, m: contact margin plus the relative path within the
/// step.
fn search_radius(world: &World, view: &TetView, sphere: &QuerySphere, dt: Real) -> Real {
    let (bounds, velocity) = (&world.scratch.bounds[view.body], world.particles.velocity[sphere.index as usize]);
    let relative = (velocity - bounds.min_velocity).abs().max((velocity - bounds.max_velocity).abs());
    (1.0 + CONTACT_MARGIN) * sphere.radius + relative.length() * dt
}

/// Nodes of a boundary face, as particles.
fn face_nodes(view: &TetView, face: u32) -> [u32; 3] {
    FACES[face as usize % 4].map(|corner| view.elements[face as usize / 4][corner])
}

/// Returns true if the bounding box of some points intersects the box from `low` to `high`.
fn box_overlaps(points: &[Vec3], [low, high]: [Vec3; 2]) -> bool {
    let min = points.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let max = points.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
    (min.cmple(high) & max.cmpge(low)).all()
}

/// Finds the spheres whose centres are inside elements, with the connected component of these; ascending.
fn find_inside(world: &World, view: &TetView, spheres: &[QuerySphere], extent: [Vec3; 2]) -> Vec<(u32, u32)> {
    let bounds = &world.scratch.bounds[view.body];
    // The bounds of a body exceed its surface by the radius of a node.
    if !box_overlaps(&[bounds.min + bounds.max_radius, bounds.max - bounds.max_radius], extent) {
        return Vec::new();
    }
    let position = &world.particles.position;
    let points =
        PointGrid::new(world.bodies[view.body].spacing, (0..).zip(spheres.iter().map(|sphere| sphere.position)));
    let found = parallel::map_ranges(view.elements.len(), GRAIN, |elements| {
        let mut found = Vec::new();
        for element in elements {
            let corners = view.elements[element].map(|node| position[node as usize]);
            if box_overlaps(&corners, extent) {
                points.visit_inside(corners, |k| found.push((k, view.boundary.component_of_element[element])));
            }
        }
        found
    });
    let mut inside = found.concat();
    inside.sort_unstable();
    inside.dedup();
    inside
}

impl SphereQuery<'_> {
    /// Appends the contacts of a sphere. `closest_points` is scratch memory.
    fn contacts_of_sphere(
        &self,
        index: usize,
        closest_points: &mut Vec<(u32, f64, ClosestPoint)>,
        contacts: &mut Vec<SphereTriangleContact>,
    ) {
        let sphere = &self.spheres[index];
        let inside = &self.inside[self.inside.partition_point(|(k, _)| (*k as usize) < index)..];
        let inside = || inside.iter().take_while(|(k, _)| *k as usize == index).map(|(_, component)| *component);
        for component in inside() {
            let closest = self.grid.closest(sphere.position, |face| self.component_of(face) == component);
            contacts.extend(closest.map(|closest| self.contact_at(sphere, &closest, -1.0)));
        }
        closest_points.clear();
        let radius = search_radius(self.world, self.tet_view, sphere, self.dt);
        self.grid.visit(sphere.position, radius, |closest| {
            let component = self.component_of(closest.face);
            if inside().all(|other| other != component) {
                closest_points.push((component, closest.offset.length_squared(), closest));
            }
        });
        closest_points.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.face.cmp(&b.2.face)));
        for points in closest_points.chunk_by(|a, b| a.0 == b.0) {
            self.contacts_with_component(sphere, points, contacts);
        }
    }

    /// Appends the contact at the closest point of a component, and those whose normals differ.
    fn contacts_with_component(
        &self,
        sphere: &QuerySphere,
        closest_points: &[(u32, f64, ClosestPoint)],
        contacts: &mut Vec<SphereTriangleContact>,
    ) {
        let first = contacts.len();
        for (k, (_, _, closest)) in closest_points.iter().enumerate() {
            let contact = self.contact_at(sphere, closest, 1.0);
            let is_facing = k == 0 || closest.offset.dot(self.grid.normal(closest.face)) > 0.0;
            let is_distinct =
                |known: &SphereTriangleContact| f64::from(known.normal.dot(contact.normal)) < DISTINCT_COSINE;
            if is_facing && contacts[first..].iter().all(is_distinct) && self.may_touch(&contact, sphere) {
                contacts.push(contact);
            }
        }
    }

    /// Connected component of a face of the grid.
    fn component_of(&self, face: u32) -> u32 {
        self.tet_view.boundary.component_of_element[self.faces[face as usize] as usize / 4]
    }

    /// Contact at a closest point; `side` is 1 outside and -1 inside.
    fn contact_at(&self, sphere: &QuerySphere, closest: &ClosestPoint, side: f64) -> SphereTriangleContact {
        let distance = closest.offset.length();
        let is_on_surface = distance < ON_SURFACE * f64::from(sphere.radius);
        let normal = if is_on_surface { self.grid.normal(closest.face) } else { closest.offset * (side / distance) };
        SphereTriangleContact {
            particle: sphere.index,
            face: face_nodes(self.tet_view, self.faces[closest.face as usize]),
            barycentric: closest.barycentric,
            normal: normal.as_vec3(),
            gap: (side * distance) as Real - sphere.radius,
        }
    }

    /// Returns true if the gap is within the contact margin or may close within the step.
    fn may_touch(&self, contact: &SphereTriangleContact, sphere: &QuerySphere) -> bool {
        let approach_speed = -relative_velocity(contact, &self.world.particles.velocity).dot(contact.normal);
        contact.gap < CONTACT_MARGIN * sphere.radius + approach_speed.max(0.0) * self.dt
    }
}

/// Velocity of the particle relative to the contact point of the face, m/s.
fn relative_velocity(contact: &SphereTriangleContact, velocity: &[Vec3]) -> Vec3 {
    let face_velocity: Vec3 = (0..3).map(|k| velocity[contact.face[k] as usize] * contact.barycentric[k]).sum();
    velocity[contact.particle as usize] - face_velocity
}

/// Contact constraint of a particle and a face.
pub(in crate::contact) fn make_constraint(
    world: &World,
    contact: &SphereTriangleContact,
    context: &StepContext,
) -> ContactConstraint<4> {
    let ([a, b, c], [p, q, r]) = (contact.face, contact.barycentric);
    let initial_velocity = relative_velocity(contact, &world.scratch.previous_velocity);
    let i = contact.particle as usize;
    // Dry friction and restitution are properties of solids.
    let surface =
        if is_fluid(world, i) { SurfaceProperties::default() } else { surface_between(world, [contact.particle, a]) };
    let params = contact_params(context, world.particles.radius[i]);
    let point = ContactPoint::new(contact.normal, contact.gap, initial_velocity);
    ContactConstraint::new(world, [contact.particle, a, b, c], [1.0, -p, -q, -r], point, surface, params)
}
