//! Ties across bodies: nodes of different matter that stick to each other.
//!
//! Matter of one kind becomes one body where it sticks. Bodies of different matter stay what they are, and pairs of their nodes
//! are tied instead: both at one place, with one velocity. Positions start as the same bits and move by the same bits, so they stay equal.

use super::TetraModel;
use super::merging::{Pair, Stuff, place_of, sort_pairs};
use crate::body::{Body, BodyId};
use crate::contact::Press;
use crate::material::Material;
use crate::model::Moved;
use crate::particles::Particles;
use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Two nodes of different bodies that are at one place and move as one: the particles that they are, the earlier one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Tie {
    pub nodes: [u32; 2],
}

impl Tie {
    /// The velocity of both, m/s: their common momentum over their common mass, or none if one is held.
    fn velocity(&self, particles: &Particles) -> Vec3 {
        let nodes = self.nodes.map(|node| node as usize);
        if nodes.into_iter().any(|i| particles.is_held(i)) {
            return Vec3::ZERO;
        }
        let mass: f64 = nodes.iter().map(|&i| f64::from(particles.mass[i])).sum();
        let momentum: DVec3 =
            nodes.iter().map(|&i| f64::from(particles.mass[i]) * particles.velocity[i].as_dvec3()).sum();
        (momentum / mass).as_vec3()
    }

    fn join_velocities(&self, particles: &mut Particles) {
        let velocity = self.velocity(particles);
        self.nodes.iter().for_each(|&node| particles.velocity[node as usize] = velocity);
    }
}

impl Stuff<'_> {
    /// Whether two nodes of different matter stick to each other: one names the matter of the other and is warm enough.
    fn stick_together(&self, nodes: [u32; 2]) -> bool {
        let [one, other] = nodes.map(|node| self.material_of(node));
        let [a, b] = nodes.map(|node| self.particles.enthalpy[node as usize]);
        one.name != other.name && (one.sticks_to(other, a) || other.sticks_to(one, b))
    }
}

impl TetraModel {
    /// What each node that is tied is tied to, by particle.
    pub(crate) fn partners(&self) -> BTreeMap<u32, u32> {
        self.ties.iter().flat_map(|Tie { nodes: [a, b] }| [(*a, *b), (*b, *a)]).collect()
    }

    /// Follows nodes that are other particles now, or none.
    pub(super) fn move_ties(&mut self, target: impl Fn(u32) -> Option<u32>) {
        let moved = |tie: &Tie| {
            let [a, b] = tie.nodes.map(&target);
            let (a, b) = (a?, b?);
            Some(Tie { nodes: [a.min(b), a.max(b)] })
        };
        self.ties = self.ties.iter().filter_map(moved).collect();
        self.ties.sort_unstable();
        self.loose = self.loose.iter().filter_map(|&node| target(node)).collect();
        self.loose.sort_unstable();
    }

    /// Follows particles that moved within the store; a tie goes with the first of its nodes that does.
    pub(super) fn rearrange_ties(&mut self, moved: &Moved) {
        self.move_ties(|node| moved.order.target(node));
    }

    /// Gives nodes that are tied their common velocity.
    pub(super) fn join_velocities(&mut self, particles: &mut Particles) {
        self.ties.iter().for_each(|tie| tie.join_velocities(particles));
        // What contacts change from here on is what pieces of very stiff bodies take as wholes.
        let Some(derived) = &mut self.derived else { return };
        for node in self.ties.iter().flat_map(|tie| tie.nodes).map(|node| node as usize) {
            let body = derived.net.body_of(node);
            let place = node - derived.net.runs[body].particles.start;
            if let Some(solved) = derived.parts[body].solved.get_mut(place) {
                *solved = particles.velocity[node];
            }
        }
    }

    /// Nodes that may be tied: those in matter of another kind that sticks to theirs, through whose surface an edge of theirs goes, with the
    /// nearest node of the face that they came through. The nearest first.
    pub(crate) fn pairs_to_tie(&self, stuff: &Stuff, presses: &[Press]) -> Vec<Pair> {
        let tied = self.partners();
        let pair = |press: &Press| {
            let nodes = [press.node, press.partner?];
            let may = self.may_tie(stuff, &tied, nodes);
            may.then(|| Pair::new(nodes, &stuff.particles.position))
        };
        let mut pairs: Vec<Pair> = presses.iter().filter_map(pair).collect();
        sort_pairs(&mut pairs);
        pairs
    }

    /// Whether two nodes stick to each other and neither is tied, has just parted or is of a crumb.
    fn may_tie(&self, stuff: &Stuff, tied: &BTreeMap<u32, u32>, nodes: [u32; 2]) -> bool {
        let is_free = |node: u32| {
            !tied.contains_key(&node) && self.loose.binary_search(&node).is_err() && !self.is_of_crumb(stuff, node)
        };
        stuff.stick_together(nodes) && nodes.into_iter().all(is_free)
    }

    /// Ties nodes where that crushes no element, and then those beside them that are as good as at one place.
    pub(crate) fn tie(
        &mut self,
        (bodies, materials): (&[Body], &[Material]),
        particles: &mut Particles,
        pairs: Vec<Pair>,
    ) {
        let (mut tied, before) = (self.partners(), self.ties.len());
        let mut queue: VecDeque<Pair> = pairs.into();
        while let Some(Pair { nodes: [a, b], .. }) = queue.pop_front() {
            for node in [a, b] {
                self.know_surface_at(bodies, particles, node);
            }
            let stuff = Stuff { bodies, materials, particles };
            if !self.may_tie(&stuff, &tied, [a, b]) || !self.lets_unite(&stuff, [a, b]) {
                continue;
            }
            self.bring_together((bodies, materials), particles, [a, b]);
            tied.extend([(a, b), (b, a)]);
            queue.extend(self.pairs_across(bodies, particles, [a, b]));
        }
        self.ties.sort_unstable();
        if self.ties.len() > before {
            // Elements may have taken another shape.
            self.refresh();
        }
    }

    fn know_surface_at(&mut self, bodies: &[Body], particles: &Particles, node: u32) {
        let id = particles.body[node as usize];
        if let Some(tetras) = self.bodies.iter_mut().find(|tetras| tetras.id == id) {
            tetras.know_surface(bodies[id.0 as usize].range());
        }
    }

    /// Ties two nodes: both go to the middle of their masses, or to where one is held, and get their common velocity.
    ///
    /// If a tie may part, matter takes the shape that it gets by the way that its nodes go: strained by it, the tie would part at once, and be made
    /// again at the next press.
    fn bring_together(
        &mut self,
        (bodies, materials): (&[Body], &[Material]),
        particles: &mut Particles,
        nodes: [u32; 2],
    ) {
        let Some(place) = place_of(particles, nodes) else { return };
        let material = |id: BodyId| &materials[bodies[id.0 as usize].material.0 as usize];
        let ids = nodes.map(|node| particles.body[node as usize]);
        let breaks = ids.iter().any(|&id| self.tetras(id).is_some_and(|tetras| tetras.may_break(material(id))));
        for (node, id) in nodes.into_iter().zip(ids) {
            let Some(tetras) = self.bodies.iter_mut().find(|tetras| tetras.id == id) else { continue };
            let body = &bodies[id.0 as usize];
            let own = [node - body.particles.start];
            let positions = &mut particles.position[body.range()];
            let around = if breaks { tetras.stretches_at(&own, positions) } else { Vec::new() };
            positions[own[0] as usize] = place;
            tetras.keep_stretches(around, positions);
        }
        let tie = Tie { nodes };
        tie.join_velocities(particles);
        self.ties.push(tie);
        self.count(particles, tie, |tetras| &mut tetras.merged);
    }

    /// Counts a tie with the earlier of its bodies.
    pub(super) fn count(&mut self, particles: &Particles, tie: Tie, of: impl Fn(&mut super::Tetras) -> &mut u64) {
        let id = tie.nodes.map(|node| particles.body[node as usize]).into_iter().min();
        if let Some(tetras) = self.bodies.iter_mut().find(|tetras| Some(tetras.id) == id) {
            *of(tetras) += 1;
        }
    }

    /// Pairs of nodes on both surfaces beside two that have been tied which are so near each other that the seam between them is closed.
    fn pairs_across(&self, bodies: &[Body], particles: &Particles, nodes: [u32; 2]) -> Vec<Pair> {
        let ids = nodes.map(|node| particles.body[node as usize]);
        let [Some(one), Some(other)] = ids.map(|id| self.tetras(id)) else { return Vec::new() };
        let [body, beyond] = ids.map(|id| &bodies[id.0 as usize]);
        let spacing = body.spacing.min(beyond.spacing);
        let across = other.nodes_beside(beyond, nodes[1]);
        let near = |a: u32| across.iter().map(move |&b| Pair::new([a, b], &particles.position));
        let all = one.nodes_beside(body, nodes[0]).into_iter().flat_map(near);
        let mut pairs: Vec<Pair> = all.filter(|pair| pair.closes(spacing)).collect();
        sort_pairs(&mut pairs);
        pairs
    }
}
