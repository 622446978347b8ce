//! Sphere-triangle contacts: particles of other models against the boundary faces of tetrahedral bodies.
//!
//! A sphere outside touches the closest point of the surface; in a concave corner, also closest points in
//! other directions. A sphere whose centre is inside leaves by the nearest face. The reaction acts on the
//! three nodes of the face by barycentric weights.

use crate::Real;
use crate::contact::{CONTACT_MARGIN, SphereTriangleContact, pairs_within, particles_in_box};
use crate::model::ContactGeometry;
use crate::model::tetra::TetraModel;
use crate::model::tetra::surface::boundary::TetView;
use crate::neighbours::QuerySphere;
use crate::numerics::Aabb;
use crate::parallel;
use crate::world::World;
use glam::Vec3;
use phyxel_laws::tet_collision::{ClosestPoint, PointGrid, SurfaceGrid};
use phyxel_laws::tet_topology::FACES;

/// Elements, faces or particles per task.
const GRAIN: usize = 512;
/// Cosine of the angle above which two normals make separate contacts. All points of a tangent plane that
/// are within the contact margin lie within this angle of the closest point.
const DISTINCT_COSINE: f64 = 1.0 / (1.0 + CONTACT_MARGIN as f64);
/// Within this fraction of the radius of the surface, the contact normal is the face normal.
const ON_SURFACE: f64 = 1e-5;

impl TetraModel {
    /// Finds the contacts of particles of other models with the bodies, existing or possible within the step.
    pub(super) fn find_sphere_contacts(&self, world: &World, dt: Real) -> Vec<SphereTriangleContact> {
        let is_mesh = |k: u32| world.bodies[k as usize].model.traits().geometry == ContactGeometry::Mesh;
        let views: Vec<TetView> = self.contact_views().collect();
        let mut pairs: Vec<[u32; 2]> = pairs_within(&world.scratch, dt)
            .filter(|&[a, b]| is_mesh(a) != is_mesh(b))
            .map(|[a, b]| if is_mesh(a) { [a, b] } else { [b, a] })
            .collect();
        pairs.sort_unstable();
        let found = parallel::map(views.len(), 1, |k| {
            let body = views[k].body as u32;
            let others = &pairs[pairs.partition_point(|pair| pair[0] < body)..];
            let near = others.iter().take_while(|pair| pair[0] == body);
            let spheres: Vec<QuerySphere> = near.flat_map(|pair| spheres_near(world, *pair, dt)).collect();
            contacts_of_body(world, &views[k], &spheres, dt)
        });
        found.concat()
    }
}

/// Finds the particles of the second body that may touch the first.
fn spheres_near(world: &World, [tet, other]: [u32; 2], dt: Real) -> Vec<QuerySphere> {
    let [tet, bounds] = [tet, other].map(|body| &world.scratch.bounds[body as usize]);
    let cutoff = (1.0 + CONTACT_MARGIN) * bounds.max_radius + tet.max_relative_speed(bounds) * dt;
    // The bounds of a body exceed its surface by the radius of a node.
    particles_in_box(world, other, &tet.aabb.inflated(cutoff - tet.max_radius))
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
    let extent = Aabb::from_points(spheres.iter().map(|sphere| sphere.position));
    let inside = find_inside(world, view, spheres, &extent);
    let position = &world.particles.position;
    // Spheres deep inside may be far from all faces near the others.
    let widened = extent.inflated(if inside.is_empty() { max_radius } else { Real::INFINITY });
    let is_near = |corners: [Vec3; 3]| Aabb::from_points(corners).overlaps(&widened);
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
    let relative = (velocity - bounds.velocities.min).abs().max((velocity - bounds.velocities.max).abs());
    (1.0 + CONTACT_MARGIN) * sphere.radius + relative.length() * dt
}

/// Nodes of a boundary face, as particles.
fn face_nodes(view: &TetView, face: u32) -> [u32; 3] {
    FACES[face as usize % 4].map(|corner| view.elements[face as usize / 4][corner])
}

/// Finds the spheres whose centres are inside elements, with the connected component of these; ascending.
fn find_inside(world: &World, view: &TetView, spheres: &[QuerySphere], extent: &Aabb) -> Vec<(u32, u32)> {
    let bounds = &world.scratch.bounds[view.body];
    // The bounds of a body exceed its surface by the radius of a node.
    if !bounds.aabb.inflated(-bounds.max_radius).overlaps(extent) {
        return Vec::new();
    }
    let position = &world.particles.position;
    let points =
        PointGrid::new(world.bodies[view.body].spacing, (0..).zip(spheres.iter().map(|sphere| sphere.position)));
    let found = parallel::map_ranges(view.elements.len(), GRAIN, |elements| {
        let mut found = Vec::new();
        for element in elements {
            let corners = view.elements[element].map(|node| position[node as usize]);
            if Aabb::from_points(corners).overlaps(extent) {
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
        let approach_speed = -contact.relative_velocity(&self.world.particles.velocity).dot(contact.normal);
        contact.gap < CONTACT_MARGIN * sphere.radius + approach_speed.max(0.0) * self.dt
    }
}
