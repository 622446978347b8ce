//! Tie constraints between nodes of bodies of different materials.
//!
//! Bodies of one material merge where they weld. Bodies of different materials stay separate, and pairs
//! of their nodes are tied: both have one position and one velocity. Positions start with the same bits
//! and change by the same bits, so they stay equal.

use super::welding::{WeldCandidate, merged_position, sort_candidates};
use crate::body::{Body, BodyId};
use crate::contact::VertexFaceContact;
use crate::material::Material;
use crate::model::BodyModel;
use crate::model::Moved;
use crate::model::View;
use crate::model::tetra::TetraModel;
use crate::model::tetra::body::TetBody;
use crate::store::Particles;
use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Tie between two nodes of different bodies, which share position and velocity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(in crate::model::tetra) struct Tie {
    /// The nodes as particles, ascending.
    pub nodes: [u32; 2],
}

impl Tie {
    /// Common velocity, m/s: total momentum over total mass, or zero if one node is fixed.
    fn common_velocity(&self, particles: &Particles) -> Vec3 {
        let nodes = self.nodes.map(|node| node as usize);
        if nodes.into_iter().any(|i| particles.is_fixed(i)) {
            return Vec3::ZERO;
        }
        let mass: f64 = nodes.iter().map(|&i| f64::from(particles.mass[i])).sum();
        let momentum: DVec3 =
            nodes.iter().map(|&i| f64::from(particles.mass[i]) * particles.velocity[i].as_dvec3()).sum();
        (momentum / mass).as_vec3()
    }

    /// Sets both velocities to the common one.
    fn join_velocities(&self, particles: &mut Particles) {
        let velocity = self.common_velocity(particles);
        self.nodes.iter().for_each(|&node| particles.velocity[node as usize] = velocity);
    }
}

impl View<'_> {
    /// Returns true if two nodes of different materials adhere: one material names the other as sticky
    /// and is warm enough.
    fn adhere(&self, nodes: [u32; 2]) -> bool {
        let [one, other] = nodes.map(|node| self.material_of(node));
        let [a, b] = nodes.map(|node| self.particles.enthalpy[node as usize]);
        one.name != other.name && (one.sticks_to(other, a) || other.sticks_to(one, b))
    }
}

impl TetraModel {
    /// Tied node of each tied node, by particle.
    pub(crate) fn partners(&self) -> BTreeMap<u32, u32> {
        self.ties.iter().flat_map(|Tie { nodes: [a, b] }| [(*a, *b), (*b, *a)]).collect()
    }

    /// Renumbers the nodes of ties; drops ties whose nodes are gone.
    pub(in crate::model::tetra) fn renumber_ties(&mut self, target: impl Fn(u32) -> Option<u32>) {
        let renumbered = |tie: &Tie| {
            let [a, b] = tie.nodes.map(&target);
            let (a, b) = (a?, b?);
            Some(Tie { nodes: [a.min(b), a.max(b)] })
        };
        self.ties = self.ties.iter().filter_map(renumbered).collect();
        self.ties.sort_unstable();
        self.released = self.released.iter().filter_map(|&node| target(node)).collect();
        self.released.sort_unstable();
    }

    /// Updates ties after a rearrangement of the store; a tie is dropped with either of its nodes.
    pub(in crate::model::tetra) fn rearrange_ties(&mut self, moved: &Moved) {
        self.renumber_ties(|node| moved.order.target(node));
    }

    /// Gives tied nodes their common velocity.
    pub(in crate::model::tetra) fn join_velocities(&mut self, particles: &mut Particles) {
        self.ties.iter().for_each(|tie| tie.join_velocities(particles));
        // Later changes by contacts are applied to components of very stiff bodies as rigid bodies.
        let Some(cache) = &mut self.cache else { return };
        for node in self.ties.iter().flat_map(|tie| tie.nodes).map(|node| node as usize) {
            let body = cache.arrays.body_of(node);
            let index = node - cache.arrays.ranges[body].particles.start;
            if let Some(solved) = cache.bodies[body].solved_velocities.get_mut(index) {
                *solved = particles.velocity[node];
            }
        }
    }

    /// Finds the candidates for ties: nodes inside an element of another material that adheres to theirs,
    /// with an edge through its boundary, each with the nearest node of the face that it came through.
    /// Ascending by distance.
    pub(crate) fn tie_candidates(&self, view: &View, contacts: &[VertexFaceContact]) -> Vec<WeldCandidate> {
        let tied = self.partners();
        let candidate = |contact: &VertexFaceContact| {
            let nodes = [contact.vertex, contact.partner?];
            let is_candidate = self.can_tie(view, &tied, nodes);
            is_candidate.then(|| WeldCandidate::new(nodes, &view.particles.position))
        };
        let mut candidates: Vec<WeldCandidate> = contacts.iter().filter_map(candidate).collect();
        sort_candidates(&mut candidates);
        candidates
    }

    /// Returns true if two nodes adhere, and neither is tied, recently released or of a rigid fragment.
    fn can_tie(&self, view: &View, tied: &BTreeMap<u32, u32>, nodes: [u32; 2]) -> bool {
        let is_free = |node: u32| {
            !tied.contains_key(&node)
                && self.released.binary_search(&node).is_err()
                && !self.is_in_rigid_fragment(view, node)
        };
        view.adhere(nodes) && nodes.into_iter().all(is_free)
    }

    /// Ties candidates where that crushes no element, and then the nodes beside them that close the gap.
    pub(crate) fn tie(
        &mut self,
        (bodies, materials): (&[Body], &[Material]),
        particles: &mut Particles,
        candidates: Vec<WeldCandidate>,
    ) {
        let (mut tied, count) = (self.partners(), self.ties.len());
        let mut queue: VecDeque<WeldCandidate> = candidates.into();
        while let Some(WeldCandidate { nodes: [a, b], .. }) = queue.pop_front() {
            for node in [a, b] {
                self.ensure_surface_at(bodies, particles, node);
            }
            let view = View { bodies, materials, particles };
            if !self.can_tie(&view, &tied, [a, b]) || !self.can_weld(&view, [a, b]) {
                continue;
            }
            self.make_tie((bodies, materials), particles, [a, b]);
            tied.extend([(a, b), (b, a)]);
            queue.extend(self.candidates_across(bodies, particles, [a, b]));
        }
        self.ties.sort_unstable();
        if self.ties.len() > count {
            // Elements may have deformed plastically.
            self.invalidate();
        }
    }

    /// Ensures the boundary of the body of a node.
    fn ensure_surface_at(&mut self, bodies: &[Body], particles: &Particles, node: u32) {
        let id = particles.body[node as usize];
        if let Some(tet_body) = self.bodies.iter_mut().find(|tet_body| tet_body.id == id) {
            tet_body.ensure_surface(bodies[id.0 as usize].range());
        }
    }

    /// Ties two nodes: both move to their centre of mass, or to a fixed one, and get their common velocity.
    ///
    /// If the tie may fail, the strain of the displacement becomes plastic: otherwise it would fail at
    /// once, and be made again at the next contact.
    fn make_tie(&mut self, (bodies, materials): (&[Body], &[Material]), particles: &mut Particles, nodes: [u32; 2]) {
        let Some(merged) = merged_position(particles, nodes) else { return };
        let material = |id: BodyId| &materials[bodies[id.0 as usize].material.0 as usize];
        let ids = nodes.map(|node| particles.body[node as usize]);
        let can_fail =
            ids.iter().any(|&id| self.tet_body(id).is_some_and(|tet_body| tet_body.can_fracture(material(id))));
        for (node, id) in nodes.into_iter().zip(ids) {
            let Some(tet_body) = self.bodies.iter_mut().find(|tet_body| tet_body.id == id) else { continue };
            let body = &bodies[id.0 as usize];
            let local = [node - body.particles.start];
            let positions = &mut particles.position[body.range()];
            let stretches = if can_fail { tet_body.stretches_at_nodes(&local, positions) } else { Vec::new() };
            positions[local[0] as usize] = merged;
            tet_body.make_stretch_plastic(stretches, positions);
        }
        let tie = Tie { nodes };
        tie.join_velocities(particles);
        self.ties.push(tie);
        self.count_tie(particles, tie, |tet_body| &mut tet_body.merged);
    }

    /// Increments a counter of the earlier body of a tie.
    pub(in crate::model::tetra) fn count_tie(
        &mut self,
        particles: &Particles,
        tie: Tie,
        counter: impl Fn(&mut TetBody) -> &mut u64,
    ) {
        let id = tie.nodes.map(|node| particles.body[node as usize]).into_iter().min();
        if let Some(tet_body) = self.bodies.iter_mut().find(|tet_body| Some(tet_body.id) == id) {
            *counter(tet_body) += 1;
        }
    }

    /// Finds the pairs of boundary nodes of both bodies beside two tied ones that are near enough to
    /// close the gap.
    fn candidates_across(&self, bodies: &[Body], particles: &Particles, nodes: [u32; 2]) -> Vec<WeldCandidate> {
        let ids = nodes.map(|node| particles.body[node as usize]);
        let [Some(one), Some(other)] = ids.map(|id| self.tet_body(id)) else { return Vec::new() };
        let [one_body, other_body] = ids.map(|id| &bodies[id.0 as usize]);
        let spacing = one_body.spacing.min(other_body.spacing);
        let others = other.boundary_neighbours(other_body, nodes[1]);
        let pairs_with = |a: u32| others.iter().map(move |&b| WeldCandidate::new([a, b], &particles.position));
        let all = one.boundary_neighbours(one_body, nodes[0]).into_iter().flat_map(pairs_with);
        let mut candidates: Vec<WeldCandidate> = all.filter(|candidate| candidate.closes_gap(spacing)).collect();
        sort_candidates(&mut candidates);
        candidates
    }
}
