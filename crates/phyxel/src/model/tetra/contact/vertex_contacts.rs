//! Vertex-face contacts: nodes inside another body, or another component of their own, with
//! penetration depth and exit face by `[HTKMG04]`.

use crate::contact::{VertexFaceContact, pairs_within};
use crate::model::ContactGeometry;
use crate::model::tetra::TetraModel;
use crate::model::tetra::surface::boundary::TetView;
use crate::numerics::Aabb;
use crate::parallel;
use crate::world::World;
use glam::Vec3;
use phyxel_laws::tet_collision::{CollisionDetector, CollisionMeshes, NO_EXCLUSION, Penetration};
use phyxel_laws::tet_topology::FACES;

/// Elements per task.
const GRAIN: usize = 512;
/// Penetrating nodes per task.
const NODES_GRAIN: usize = 32;

/// Bounds of a connected component of a body.
#[derive(Clone, Copy)]
struct ComponentBounds {
    bounds: Aabb,
    /// Box of the overlaps with other components; `None` without any.
    overlap: Option<Aabb>,
}

impl TetraModel {
    /// Finds all nodes inside another body or component.
    pub(super) fn find_vertex_contacts(&mut self, world: &World) -> Vec<VertexFaceContact> {
        let mut detector = std::mem::take(&mut self.collision_detector);
        let mut contacts = find_contacts(world, &self.contact_views().collect::<Vec<_>>(), &mut detector);
        self.collision_detector = detector;
        self.drop_tied(world, &mut contacts);
        contacts
    }

    /// Drops the contacts of nodes that are tied to the penetrated body: the tie keeps them at its surface, and a
    /// contact impulse would load the tie.
    fn drop_tied(&self, world: &World, contacts: &mut Vec<VertexFaceContact>) {
        let partners = self.partners();
        if partners.is_empty() {
            return;
        }
        let body = |particle: u32| world.particles.body[particle as usize];
        contacts
            .retain(|contact| partners.get(&contact.vertex).is_none_or(|&other| body(other) != body(contact.face[0])));
    }
}

/// Finds the contacts of bodies near each other.
fn find_contacts(world: &World, views: &[TetView], detector: &mut CollisionDetector) -> Vec<VertexFaceContact> {
    let views = select_bodies(world, views);
    if views.is_empty() {
        return Vec::new();
    }
    let components = find_components(world, &views);
    if components.iter().all(|component| component.overlap.is_none()) {
        return Vec::new();
    }
    let candidates = Candidates::select(world, &views, &components);
    if candidates.nodes.is_empty() {
        return Vec::new();
    }
    let meshes = CollisionMeshes {
        positions: &world.particles.position,
        elements: &candidates.elements,
        element_bodies: &candidates.component_of_element,
        faces: &candidates.faces,
        query_nodes: &candidates.nodes,
        excluded_bodies: &candidates.excluded_component,
    };
    detector.sort_points(&meshes);
    let inside = parallel::map_ranges(candidates.elements.len(), GRAIN, |range| {
        let mut inside = Vec::new();
        detector.find_points_in_tets(&meshes, range, &mut inside);
        inside
    });
    let count = detector.set_points_in_tets(&meshes, inside.concat());
    let exit_paths =
        parallel::map_ranges(count, NODES_GRAIN, |range| detector.find_exit_paths(&meshes, range)).concat();
    detector.propagate(&meshes, exit_paths);
    let penetrations =
        parallel::map_ranges(count, NODES_GRAIN, |range| detector.find_penetrations(&meshes, range)).concat();
    let to_contact = |penetration: &Penetration| {
        let element = candidates.elements[penetration.face as usize / 4];
        VertexFaceContact {
            vertex: penetration.node,
            face: FACES[penetration.face as usize % 4].map(|corner| element[corner]),
            barycentric: penetration.barycentric,
            normal: penetration.normal,
            depth: penetration.depth,
            partner: penetration.crosses_surface.then(|| meshes.closest_node(penetration)),
        }
    };
    penetrations.iter().map(to_contact).collect()
}

/// Selects the bodies that are near others, have several components, or may touch themselves.
fn select_bodies<'a>(world: &World, views: &[TetView<'a>]) -> Vec<TetView<'a>> {
    let is_mesh = |k: u32| world.bodies[k as usize].model.traits().geometry == ContactGeometry::Mesh;
    let mut is_near = vec![false; world.bodies.len()];
    let pairs = pairs_within(&world.scratch, 0.0);
    pairs.filter(|pair| pair.iter().all(|k| is_mesh(*k))).flatten().for_each(|k| is_near[k as usize] = true);
    let may_collide =
        |view: &&TetView| is_near[view.body] || view.boundary.component_count > 1 || has_self_contact(world, view.body);
    views.iter().filter(may_collide).copied().collect()
}

/// Returns true if a component of a body may touch itself. Materials that stick to themselves may, since
/// bodies fold onto themselves and become one body at their first weld.
fn has_self_contact(world: &World, body: usize) -> bool {
    let body = &world.bodies[body];
    let material = &world.materials[body.material.0 as usize];
    body.self_contact || material.names_as_sticky(material)
}

/// Finds the connected components of all bodies, body after body, and the boxes in which they overlap
/// (sweep along x).
fn find_components(world: &World, views: &[TetView]) -> Vec<ComponentBounds> {
    let position = &world.particles.position;
    let mut components = Vec::new();
    for view in views {
        let first = world.bodies[view.body].range().start;
        let start = components.len();
        let empty = ComponentBounds { bounds: Aabb::EMPTY, overlap: None };
        components.resize(start + view.boundary.component_count as usize, empty);
        for (&node, &component) in view.boundary.nodes.iter().zip(&view.boundary.component_of_node) {
            let (x, bounds) = (position[first + node as usize], &mut components[start + component as usize].bounds);
            *bounds = bounds.including(x);
        }
        if has_self_contact(world, view.body) {
            components[start..].iter_mut().for_each(|component| component.overlap = Some(component.bounds));
        }
    }
    let bounds: Vec<Aabb> = components.iter().map(|component| component.bounds).collect();
    let mut order: Vec<usize> = (0..bounds.len()).collect();
    order.sort_by(|&a, &b| bounds[a].min.x.total_cmp(&bounds[b].min.x));
    for (k, &a) in order.iter().enumerate() {
        let candidates = order[k + 1..].iter().take_while(|&&b| bounds[b].min.x <= bounds[a].max.x);
        for (&b, both) in candidates.filter_map(|b| Some((b, bounds[a].intersection(bounds[*b])?))) {
            for component in [a, b] {
                let known = components[component].overlap.unwrap_or(both);
                components[component].overlap = Some(known.union(both));
            }
        }
    }
    components
}

/// Elements, faces and nodes where components overlap; all others are culled.
#[derive(Default)]
struct Candidates {
    elements: Vec<[u32; 4]>,
    /// Connected component of each element.
    component_of_element: Vec<u32>,
    /// Boundary faces: face `k` of candidate element `e` is `4 e + k`.
    faces: Vec<u32>,
    /// Boundary nodes, as particles.
    nodes: Vec<u32>,
    /// Component that each particle is not tested against, by particle.
    excluded_component: Vec<u32>,
}

impl Candidates {
    fn select(world: &World, views: &[TetView], components: &[ComponentBounds]) -> Self {
        let position = &world.particles.position;
        let mut candidates = Self { excluded_component: vec![NO_EXCLUSION; position.len()], ..Self::default() };
        let mut first = 0;
        for view in views {
            let body = &world.bodies[view.body];
            let component = |k: u32| first + k;
            let local = &components[first as usize..][..view.boundary.component_count as usize];
            if local.iter().all(|component| component.overlap.is_none()) {
                first += view.boundary.component_count;
                continue;
            }
            let selected = select_elements(view, position, local);
            let start = candidates.elements.len() as u32;
            candidates.elements.extend(selected.iter().map(|&e| view.elements[e as usize]));
            candidates
                .component_of_element
                .extend(selected.iter().map(|&e| component(view.boundary.component_of_element[e as usize])));
            let mut indexed = (start..).zip(&selected).peekable();
            for &face in &view.boundary.faces {
                while indexed.next_if(|(_, element)| **element < face / 4).is_some() {}
                let here = indexed.peek().filter(|(_, element)| **element == face / 4);
                candidates.faces.extend(here.map(|(index, _)| 4 * index + face % 4));
            }
            for (&node, &node_component) in view.boundary.nodes.iter().zip(&view.boundary.component_of_node) {
                let particle = body.particles.start + node;
                let x = position[particle as usize];
                let is_inside = |overlap: Aabb| overlap.contains(x);
                if components[component(node_component) as usize].overlap.is_some_and(is_inside) {
                    candidates.nodes.push(particle);
                    candidates.excluded_component[particle as usize] =
                        if has_self_contact(world, view.body) { NO_EXCLUSION } else { component(node_component) };
                }
            }
            first += view.boundary.component_count;
        }
        candidates
    }
}

/// Selects the elements of a body in the overlaps of its components, in order.
fn select_elements(view: &TetView, position: &[Vec3], components: &[ComponentBounds]) -> Vec<u32> {
    let is_candidate = |element: usize| {
        let Some(overlap) = components[view.boundary.component_of_element[element] as usize].overlap else {
            return false;
        };
        let corners = view.elements[element].map(|node| position[node as usize]);
        overlap.overlaps(&Aabb::from_points(corners))
    };
    let found = parallel::map_ranges(view.elements.len(), GRAIN, |range| {
        range.filter(|&element| is_candidate(element)).map(|element| element as u32).collect::<Vec<u32>>()
    });
    found.concat()
}
