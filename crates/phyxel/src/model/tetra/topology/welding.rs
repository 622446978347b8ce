//! Welding of nodes where sticky materials are pressed together `[Gis07]`, and merging of the bodies that
//! weld.

use crate::Real;
use crate::body::{Body, BodyId};
use crate::contact::VertexFaceContact;
use crate::material::Material;
use crate::model::BodyModel;
use crate::model::View;
use crate::model::tetra::TetraModel;
use crate::model::tetra::body::{PackedElements, TetBody};
use crate::skin::Skin;
use crate::store::{Flags, Particles};
use glam::Vec3;
use phyxel_laws::fem::allows_weld;
use phyxel_laws::linalg::eigen::symmetric_eigen;
use phyxel_laws::material::hooke::VOIGT;
use phyxel_laws::simd::WIDTH;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

/// Welding may not compress an element below this fraction of its volume at rest.
const MIN_VOLUME_RATIO: Real = 0.2;
/// Nodes on both sides of a gap close it if their distance is below this fraction of the spacing.
const CLOSING_DISTANCE: Real = 0.3;

/// Pair of nodes that may be welded or tied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeldCandidate {
    /// The nodes as particles, ascending.
    pub nodes: [u32; 2],
    /// Squared distance, m2.
    distance_squared: Real,
}

impl WeldCandidate {
    /// Makes a candidate of two particles in any order.
    pub fn new(nodes: [u32; 2], position: &[Vec3]) -> Self {
        let [a, b] = nodes.map(|node| position[node as usize]);
        Self { nodes: [nodes[0].min(nodes[1]), nodes[0].max(nodes[1])], distance_squared: a.distance_squared(b) }
    }

    /// Returns true if the nodes are near enough to close a gap between bodies or components of this
    /// spacing, m.
    pub fn closes_gap(&self, spacing: Real) -> bool {
        let cutoff = CLOSING_DISTANCE * spacing;
        self.distance_squared < cutoff * cutoff
    }
}

impl View<'_> {
    /// Returns true if a node adheres to its own material.
    fn is_sticky(&self, particle: u32) -> bool {
        let material = self.material_of(particle);
        // A mesh skin is bound to one shape and cannot follow a merged body.
        let has_mesh_skin = matches!(self.body_of(particle).skin, Skin::Mesh(_));
        !has_mesh_skin && material.sticks_to(material, self.particles.enthalpy[particle as usize])
    }
}

/// Position of two nodes once merged: their centre of mass, or the position of a fixed one; `None` if
/// both are fixed.
pub(in crate::model::tetra) fn merged_position(particles: &Particles, nodes: [u32; 2]) -> Option<Vec3> {
    let Particles { position, mass, flags, .. } = particles;
    let [a, b] = nodes.map(|node| node as usize);
    match [a, b].map(|i| flags[i].has(Flags::FIXED)) {
        [false, false] => Some(position[a].lerp(position[b], mass[b] / (mass[a] + mass[b]))),
        [true, false] => Some(position[a]),
        [false, true] => Some(position[b]),
        [true, true] => None,
    }
}

impl TetraModel {
    /// Finds the candidates for welding: nodes inside an element of the same sticky material with an edge
    /// through its boundary, each with the nearest node of the face that it came through. Ascending by
    /// distance.
    pub(crate) fn weld_candidates(&self, view: &View, contacts: &[VertexFaceContact]) -> Vec<WeldCandidate> {
        let tied = self.partners();
        let candidate = |contact: &VertexFaceContact| {
            let nodes = [contact.vertex, contact.partner?];
            let [one, other] = nodes.map(|node| view.body_of(node));
            let is_alike = one.material == other.material
                && self.have_equal_settings(nodes.map(|i| view.particles.body[i as usize]));
            // Tied nodes stay with their ties.
            let can_weld =
                |node: u32| view.is_sticky(node) && !self.is_in_rigid_fragment(view, node) && !tied.contains_key(&node);
            let make = || WeldCandidate::new(nodes, &view.particles.position);
            (is_alike && nodes.into_iter().all(can_weld)).then(make)
        };
        let mut candidates: Vec<WeldCandidate> = contacts.iter().filter_map(candidate).collect();
        sort_candidates(&mut candidates);
        candidates
    }

    /// Returns true if a particle is of a rigid fragment: too small to be welded without excessive strain.
    pub(in crate::model::tetra) fn is_in_rigid_fragment(&self, view: &View, particle: u32) -> bool {
        let first = view.body_of(particle).particles.start;
        let tet_body = self.tet_body(view.particles.body[particle as usize]);
        tet_body.is_some_and(|tet_body| tet_body.is_in_rigid_fragment(particle - first))
    }

    /// Tetrahedral body with this id.
    pub(in crate::model::tetra) fn tet_body(&self, id: BodyId) -> Option<&TetBody> {
        self.bodies.iter().find(|tet_body| tet_body.id == id)
    }

    /// Returns true if two bodies have the same settings, so that they may merge.
    fn have_equal_settings(&self, ids: [BodyId; 2]) -> bool {
        let [one, other] = ids.map(|id| self.tet_body(id));
        one.zip(other).is_some_and(|(one, other)| one.settings == other.settings)
    }

    /// Finds the bodies that merge by these candidates: the absorbing one, and the absorbed one.
    pub(crate) fn find_body_merges(&self, view: &View, candidates: &[WeldCandidate]) -> Vec<[BodyId; 2]> {
        let mut merges: Vec<[BodyId; 2]> = Vec::new();
        for candidate in candidates {
            let ids = candidate.nodes.map(|node| view.particles.body[node as usize]);
            // A body merges once per step; further merges wait.
            let is_taken = |id: BodyId| merges.iter().any(|merge| merge.contains(&id));
            if ids[0] != ids[1] && !ids.into_iter().any(is_taken) && self.can_weld(view, candidate.nodes) {
                merges.push([ids[0].min(ids[1]), ids[0].max(ids[1])]);
            }
        }
        merges.sort_unstable();
        merges
    }

    /// Returns true if merging two nodes inverts or crushes no element of their bodies.
    pub(in crate::model::tetra) fn can_weld(&self, view: &View, nodes: [u32; 2]) -> bool {
        let Some(position) = merged_position(view.particles, nodes) else { return false };
        nodes.into_iter().all(|node| {
            let id = view.particles.body[node as usize];
            let Some(tet_body) = self.tet_body(id) else { return false };
            let Some(complex) = &tet_body.complex else { return false };
            let corners = complex.corners(node - view.bodies[id.0 as usize].particles.start).iter();
            let elements = corners.map(|&corner| {
                let element = corner as usize / 4;
                (tet_body.elements[element], tet_body.element_volume(element))
            });
            allows_weld(nodes, position, elements, |node| view.particles.position[node as usize], MIN_VOLUME_RATIO)
        })
    }

    /// Moves the elements of a body into another one. Its nodes were the particles `was` and are now
    /// those from `first` on, in the same order.
    pub(crate) fn absorb_body(&mut self, [into, from]: [BodyId; 2], was: Range<u32>, first: u32) {
        let index_of = |bodies: &[TetBody], id: BodyId| bodies.iter().position(|tet_body| tet_body.id == id);
        let Some(absorbed) = index_of(&self.bodies, from).map(|k| self.bodies.remove(k)) else { return };
        if let Some(k) = index_of(&self.bodies, into) {
            self.bodies[k].absorb(absorbed, was.start, first);
        }
        self.renumber_ties(|node| Some(if was.contains(&node) { node - was.start + first } else { node }));
        self.invalidate();
    }

    /// Welds candidates of the same body where that crushes no element and neither node has been welded
    /// in this step, and then the nodes beside them that close the gap. Returns the removed particles.
    pub(crate) fn weld(
        &mut self,
        (bodies, materials): (&[Body], &[Material]),
        particles: &mut Particles,
        candidates: Vec<WeldCandidate>,
    ) -> Vec<u32> {
        let mut removed = Vec::new();
        let mut used: BTreeSet<u32> = self.partners().into_keys().collect();
        let mut queue: VecDeque<WeldCandidate> = candidates.into();
        while let Some(WeldCandidate { nodes: [a, b], .. }) = queue.pop_front() {
            let id = particles.body[a as usize];
            if particles.body[b as usize] != id || used.contains(&a) || used.contains(&b) {
                continue;
            }
            let Some(tet_body) = self.bodies.iter_mut().find(|tet_body| tet_body.id == id) else { continue };
            let body = &bodies[id.0 as usize];
            let makes_plastic = tet_body.inertia_is_lost && tet_body.can_fracture(&materials[body.material.0 as usize]);
            if tet_body.weld_nodes(body, particles, [a, b], makes_plastic) {
                used.extend([a, b]);
                removed.push(b);
                queue.extend(tet_body.candidates_beside(body, particles, a));
            }
        }
        if !removed.is_empty() {
            self.update_elements(bodies);
        }
        removed
    }
}

impl TetBody {
    /// Volume of an element at rest, m3.
    fn element_volume(&self, element: usize) -> Real {
        self.rest[element / WIDTH].volume[element % WIDTH]
    }

    /// Welds two nodes if that crushes no element: the second is removed. Mass, momentum and heat add up.
    ///
    /// With `makes_plastic` the strain of the displacement becomes plastic, since a very stiff material
    /// with a strength would fracture again at once.
    fn weld_nodes(&mut self, body: &Body, particles: &mut Particles, nodes: [u32; 2], makes_plastic: bool) -> bool {
        let Some(merged) = merged_position(particles, nodes) else { return false };
        self.ensure_surface(body.range());
        let [kept, removed] = nodes.map(|node| node - body.particles.start);
        let volume = |element: usize| self.rest[element / WIDTH].volume[element % WIDTH];
        let stretches = if makes_plastic {
            self.stretches_at_nodes(&[kept, removed], &particles.position[body.range()])
        } else {
            Vec::new()
        };
        let Some(complex) = &mut self.complex else { return false };
        let is_allowed = complex
            .check_weld([kept, removed], merged, &particles.position[body.range()], volume, MIN_VOLUME_RATIO)
            .is_ok();
        if !is_allowed || complex.weld(kept, removed).is_err() {
            return false;
        }
        (self.boundary, self.merged) = (None, self.merged + 1);
        let Particles { position, velocity, mass, enthalpy, flags, .. } = particles;
        let [a, b] = nodes.map(|node| node as usize);
        let [m, n] = [f64::from(mass[a]), f64::from(mass[b])];
        let is_fixed = flags[a].has(Flags::FIXED) || flags[b].has(Flags::FIXED);
        let mean_velocity = (velocity[a].as_dvec3() * m + velocity[b].as_dvec3() * n) / (m + n);
        position[a] = merged;
        velocity[a] = if is_fixed { Vec3::ZERO } else { mean_velocity.as_vec3() };
        enthalpy[a] = (m * enthalpy[a] + n * enthalpy[b]) / (m + n);
        mass[a] = (m + n) as Real;
        flags[a] = flags[a].with(Flags::FIXED, is_fixed);
        self.make_stretch_plastic(stretches, &particles.position[body.range()]);
        true
    }

    /// Adds the change of the right stretch since `previous` to the plastic strain of elements.
    pub(in crate::model::tetra) fn make_stretch_plastic(
        &mut self,
        previous: Vec<(usize, [f64; 6])>,
        positions: &[Vec3],
    ) {
        for (element, before) in previous {
            let after = self.right_stretch(element, positions);
            self.add_plastic_strain(element, std::array::from_fn(|k| after[k] - before[k]));
        }
    }

    /// Elements at nodes, with their right stretch.
    pub(in crate::model::tetra) fn stretches_at_nodes(
        &self,
        nodes: &[u32],
        positions: &[Vec3],
    ) -> Vec<(usize, [f64; 6])> {
        let corners = |&node: &u32| self.complex.iter().flat_map(move |complex| complex.corners(node));
        let elements = nodes.iter().flat_map(corners).map(|&corner| corner as usize / 4);
        elements.map(|element| (element, self.right_stretch(element, positions))).collect()
    }

    /// Right stretch `U = sqrt(F^T F)` of an element in Voigt order, from the positions of the body's
    /// nodes, m.
    fn right_stretch(&self, element: usize, positions: &[Vec3]) -> [f64; 6] {
        let Some(complex) = &self.complex else { return [0.0; 6] };
        let corners = complex.elements()[element].map(|node| positions[node as usize].as_dvec3());
        let f = self.element(element).deformation_gradient(corners);
        let (squares, axes) = symmetric_eigen((f.transpose() * f).to_cols_array_2d());
        VOIGT.map(|(i, j)| (0..3).map(|k| squares[k].max(0.0).sqrt() * axes[i][k] * axes[j][k]).sum())
    }

    /// Adds to the plastic strain of an element.
    fn add_plastic_strain(&mut self, element: usize, strain: [f64; 6]) {
        self.plastic_strain.resize(self.rest.len(), [[0.0; WIDTH]; 6]);
        let pack = &mut self.plastic_strain[element / WIDTH];
        (0..6).for_each(|k| pack[k][element % WIDTH] += strain[k] as Real);
    }

    /// Finds the pairs of boundary nodes beside a welded one that are near enough to close the gap.
    /// Without these the rim of a weld would stay open, since none of its nodes is inside the other side.
    fn candidates_beside(&self, body: &Body, particles: &Particles, welded: u32) -> Vec<WeldCandidate> {
        let neighbours = self.boundary_neighbours(body, welded);
        let mut candidates = Vec::new();
        for (k, &a) in neighbours.iter().enumerate() {
            let others = neighbours[k + 1..].iter().map(|&b| WeldCandidate::new([a, b], &particles.position));
            candidates.extend(
                others.filter(|candidate| candidate.closes_gap(body.spacing) && !candidate.nodes.contains(&welded)),
            );
        }
        sort_candidates(&mut candidates);
        candidates
    }

    /// Nodes of the boundary faces around a node, as particles, ascending.
    pub(in crate::model::tetra) fn boundary_neighbours(&self, body: &Body, particle: u32) -> Vec<u32> {
        let first = body.particles.start;
        let Some(complex) = &self.complex else { return Vec::new() };
        let faces = complex.surface_faces_at(particle - first);
        let mut neighbours: Vec<u32> = faces.flat_map(|face| complex.face(face)).map(|node| node + first).collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        neighbours
    }

    /// Updates the nodes of elements by the connectivity; `first` is the first particle of the body.
    pub fn update_elements(&mut self, first: u32) {
        if let Some(complex) = &self.complex {
            self.elements = complex.elements().iter().map(|nodes| nodes.map(|node| node + first)).collect();
        }
    }

    /// Absorbs the elements of another body, whose nodes were the particles from `was` on and are now
    /// those from `first` on.
    fn absorb(&mut self, other: Self, was: u32, first: u32) {
        let all: Vec<(&Self, usize)> = self.all_elements().chain(other.all_elements()).collect();
        let packed = PackedElements::new(&all);
        self.elements.extend(other.elements.iter().map(|nodes| nodes.map(|node| node - was + first)));
        self.replace_elements(packed);
        self.dihedral_range =
            [self.dihedral_range[0].min(other.dihedral_range[0]), self.dihedral_range[1].max(other.dihedral_range[1])];
        self.implicit_steps += other.implicit_steps;
        self.solver_iterations += other.solver_iterations;
        self.broken += other.broken;
        self.merged += other.merged;
    }
}

/// Sorts candidates by distance and removes duplicates.
pub(in crate::model::tetra) fn sort_candidates(candidates: &mut Vec<WeldCandidate>) {
    candidates.sort_by(|a, b| a.distance_squared.total_cmp(&b.distance_squared).then(a.nodes.cmp(&b.nodes)));
    candidates.dedup_by_key(|candidate| candidate.nodes);
}
