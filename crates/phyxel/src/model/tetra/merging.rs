//! Nodes that unite where sticky matter is pressed together `[Gis07]`, and bodies that become one by it.

use super::TetraModel;
use super::body::{Packed, Tetras};
use crate::Real;
use crate::body::{Body, BodyId};
use crate::contact::Press;
use crate::material::Material;
use crate::particles::{Flags, Particles};
use crate::skin::Skin;
use glam::Vec3;
use phyxel_laws::elastic::VOIGT;
use phyxel_laws::lanes::WIDTH;
use phyxel_laws::symmetric::eigen;
use phyxel_laws::tetra::allows_uniting;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

/// Elements may not shrink below this part of their volume at rest where nodes unite.
const LEAST: Real = 0.2;
/// Nodes on both sides of a seam close it if they are nearer to each other than this part of the spacing.
const SEAM: Real = 0.3;

/// Two nodes that may unite: the particles that they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub nodes: [u32; 2],
    /// Square of the way between them, m2.
    apart: Real,
}

impl Pair {
    /// Of two particles, whichever is first.
    pub fn new(nodes: [u32; 2], position: &[Vec3]) -> Self {
        let [a, b] = nodes.map(|node| position[node as usize]);
        Self { nodes: [nodes[0].min(nodes[1]), nodes[0].max(nodes[1])], apart: a.distance_squared(b) }
    }

    /// Whether they are so near each other that a seam between bodies or pieces of this spacing is closed, m.
    pub fn closes(&self, spacing: Real) -> bool {
        let reach = SEAM * spacing;
        self.apart < reach * reach
    }
}

/// What is needed to know what is sticky and how nodes unite.
pub(crate) struct Stuff<'a> {
    pub bodies: &'a [Body],
    pub materials: &'a [Material],
    pub particles: &'a Particles,
}

impl Stuff<'_> {
    pub fn body_of(&self, particle: u32) -> &Body {
        &self.bodies[self.particles.body[particle as usize].0 as usize]
    }

    pub fn material_of(&self, particle: u32) -> &Material {
        &self.materials[self.body_of(particle).material.0 as usize]
    }

    /// Whether a node sticks to matter of its kind.
    fn sticks(&self, particle: u32) -> bool {
        let material = self.material_of(particle);
        // The vertices of a mesh are those of a shape that knows nothing of another.
        let is_carried = matches!(self.body_of(particle).skin, Skin::Mesh(_));
        !is_carried && material.sticks_to(material, self.particles.enthalpy[particle as usize])
    }
}

/// Where two nodes are when they are one: in the middle of their masses, or where one is held. Nothing if both are held.
pub(super) fn place_of(particles: &Particles, nodes: [u32; 2]) -> Option<Vec3> {
    let Particles { position, mass, flags, .. } = particles;
    let [a, b] = nodes.map(|node| node as usize);
    match [a, b].map(|i| flags[i].has(Flags::HELD)) {
        [false, false] => Some(position[a].lerp(position[b], mass[b] / (mass[a] + mass[b]))),
        [true, false] => Some(position[a]),
        [false, true] => Some(position[b]),
        [true, true] => None,
    }
}

impl TetraModel {
    /// Nodes that may unite: those in sticky matter of their own kind through whose surface an edge of theirs goes, with the nearest node of the
    /// face that they came through. The nearest first.
    pub(crate) fn sticky_pairs(&self, stuff: &Stuff, presses: &[Press]) -> Vec<Pair> {
        let tied = self.partners();
        let pair = |press: &Press| {
            let nodes = [press.node, press.partner?];
            let [one, other] = nodes.map(|node| stuff.body_of(node));
            let is_kin =
                one.material == other.material && self.are_alike(nodes.map(|i| stuff.particles.body[i as usize]));
            // What is tied stays where its tie has it.
            let may_unite =
                |node: u32| stuff.sticks(node) && !self.is_of_crumb(stuff, node) && !tied.contains_key(&node);
            let pair = || Pair::new(nodes, &stuff.particles.position);
            (is_kin && nodes.into_iter().all(may_unite)).then(pair)
        };
        let mut pairs: Vec<Pair> = presses.iter().filter_map(pair).collect();
        sort_pairs(&mut pairs);
        pairs
    }

    /// Crumbs are too small to be made one with others without strain that they cannot bear.
    pub(super) fn is_of_crumb(&self, stuff: &Stuff, particle: u32) -> bool {
        let first = stuff.body_of(particle).particles.start;
        let tetras = self.tetras(stuff.particles.body[particle as usize]);
        tetras.is_some_and(|tetras| tetras.is_of_crumb(particle - first))
    }

    pub(super) fn tetras(&self, id: BodyId) -> Option<&Tetras> {
        self.bodies.iter().find(|tetras| tetras.id == id)
    }

    /// Whether two bodies may be one: their elements follow the same settings.
    fn are_alike(&self, ids: [BodyId; 2]) -> bool {
        let [one, other] = ids.map(|id| self.tetras(id));
        one.zip(other).is_some_and(|(one, other)| one.settings == other.settings)
    }

    /// Bodies that become one by some of these pairs: the one that takes over, and one that goes over.
    pub(crate) fn find_unions(&self, stuff: &Stuff, pairs: &[Pair]) -> Vec<[BodyId; 2]> {
        let mut unions: Vec<[BodyId; 2]> = Vec::new();
        for pair in pairs {
            let ids = pair.nodes.map(|node| stuff.particles.body[node as usize]);
            // A body that takes over another, or goes over, waits with the next until that is done.
            let is_taken = |id: BodyId| unions.iter().any(|union| union.contains(&id));
            if ids[0] != ids[1] && !ids.into_iter().any(is_taken) && self.lets_unite(stuff, pair.nodes) {
                unions.push([ids[0].min(ids[1]), ids[0].max(ids[1])]);
            }
        }
        unions.sort_unstable();
        unions
    }

    /// Whether no element of two bodies would be crushed if two of their nodes were one.
    pub(super) fn lets_unite(&self, stuff: &Stuff, nodes: [u32; 2]) -> bool {
        let Some(place) = place_of(stuff.particles, nodes) else { return false };
        nodes.into_iter().all(|node| {
            let id = stuff.particles.body[node as usize];
            let Some(tetras) = self.tetras(id) else { return false };
            let Some(ties) = &tetras.ties else { return false };
            let corners = ties.corners(node - stuff.bodies[id.0 as usize].particles.start).iter();
            let elements = corners.map(|&corner| {
                let element = corner as usize / 4;
                (tetras.elements[element], tetras.rest_volume(element))
            });
            allows_uniting(nodes, place, elements, |node| stuff.particles.position[node as usize], LEAST)
        })
    }

    /// Lets the elements of a body go over to another one, where its nodes, which were these particles, are those from `first` on, in the same
    /// order.
    pub(crate) fn take_over(&mut self, [into, from]: [BodyId; 2], was: Range<u32>, first: u32) {
        let place = |bodies: &[Tetras], id: BodyId| bodies.iter().position(|tetras| tetras.id == id);
        let Some(other) = place(&self.bodies, from).map(|at| self.bodies.remove(at)) else { return };
        if let Some(at) = place(&self.bodies, into) {
            self.bodies[at].take_in(other, was.start, first);
        }
        self.move_ties(|node| Some(if was.contains(&node) { node - was.start + first } else { node }));
        self.refresh();
    }

    /// Unites nodes of the same body where that crushes no element and no node has united already, and then those beside them that
    /// are as good as one. Returns the particles that are gone.
    pub(crate) fn unite(
        &mut self,
        (bodies, materials): (&[Body], &[Material]),
        particles: &mut Particles,
        pairs: Vec<Pair>,
    ) -> Vec<u32> {
        let mut gone = Vec::new();
        let mut used: BTreeSet<u32> = self.partners().into_keys().collect();
        let mut queue: VecDeque<Pair> = pairs.into();
        while let Some(Pair { nodes: [a, b], .. }) = queue.pop_front() {
            let id = particles.body[a as usize];
            if particles.body[b as usize] != id || used.contains(&a) || used.contains(&b) {
                continue;
            }
            let Some(tetras) = self.bodies.iter_mut().find(|tetras| tetras.id == id) else { continue };
            let body = &bodies[id.0 as usize];
            let breaks = tetras.is_rough && tetras.may_break(&materials[body.material.0 as usize]);
            if tetras.unite_nodes(body, particles, [a, b], breaks) {
                used.extend([a, b]);
                gone.push(b);
                queue.extend(tetras.pairs_beside(body, particles, a));
            }
        }
        if !gone.is_empty() {
            self.retie(bodies);
        }
        gone
    }
}

impl Tetras {
    /// Volume of an element at rest, m3.
    fn rest_volume(&self, element: usize) -> Real {
        self.rest[element / WIDTH].volume[element % WIDTH]
    }

    /// Unites two nodes, if that crushes nothing: the second goes. Mass, momentum and heat add up.
    ///
    /// Very stiff matter that breaks would break again at once if the way that nodes go for it strained it; it takes the shape that it gets.
    fn unite_nodes(&mut self, body: &Body, particles: &mut Particles, nodes: [u32; 2], breaks: bool) -> bool {
        let Some(place) = place_of(particles, nodes) else { return false };
        self.know_surface(body.range());
        let [kept, gone] = nodes.map(|node| node - body.particles.start);
        let volume = |element: usize| self.rest[element / WIDTH].volume[element % WIDTH];
        let around =
            if breaks { self.stretches_at(&[kept, gone], &particles.position[body.range()]) } else { Vec::new() };
        let Some(ties) = &mut self.ties else { return false };
        let is_allowed =
            ties.allows_join([kept, gone], place, &particles.position[body.range()], volume, LEAST).is_ok();
        if !is_allowed || ties.join(kept, gone).is_err() {
            return false;
        }
        (self.outside, self.merged) = (None, self.merged + 1);
        let Particles { position, velocity, mass, enthalpy, flags, .. } = particles;
        let [a, b] = nodes.map(|node| node as usize);
        let [m, n] = [f64::from(mass[a]), f64::from(mass[b])];
        let is_held = flags[a].has(Flags::HELD) || flags[b].has(Flags::HELD);
        let moved = (velocity[a].as_dvec3() * m + velocity[b].as_dvec3() * n) / (m + n);
        position[a] = place;
        velocity[a] = if is_held { Vec3::ZERO } else { moved.as_vec3() };
        enthalpy[a] = (m * enthalpy[a] + n * enthalpy[b]) / (m + n);
        mass[a] = (m + n) as Real;
        flags[a] = flags[a].with(Flags::HELD, is_held);
        self.keep_stretches(around, &particles.position[body.range()]);
        true
    }

    /// Lets elements take the shape that they have now, as far as it differs from how they were stretched.
    pub(super) fn keep_stretches(&mut self, were: Vec<(usize, [f64; 6])>, positions: &[Vec3]) {
        for (element, before) in were {
            let after = self.stretch(element, positions);
            self.bend(element, std::array::from_fn(|k| after[k] - before[k]));
        }
    }

    /// Elements at nodes, and how they are stretched.
    pub(super) fn stretches_at(&self, nodes: &[u32], positions: &[Vec3]) -> Vec<(usize, [f64; 6])> {
        let corners = |&node: &u32| self.ties.iter().flat_map(move |ties| ties.corners(node));
        let elements = nodes.iter().flat_map(corners).map(|&corner| corner as usize / 4);
        elements.map(|element| (element, self.stretch(element, positions))).collect()
    }

    /// How an element is stretched, beside its turn: six numbers in the order of Voigt, with the positions of the body's nodes, m.
    fn stretch(&self, element: usize, positions: &[Vec3]) -> [f64; 6] {
        let Some(ties) = &self.ties else { return [0.0; 6] };
        let corners = ties.elements()[element].map(|node| positions[node as usize].as_dvec3());
        let slope = self.element(element).deformation(corners);
        let (squares, axes) = eigen((slope.transpose() * slope).to_cols_array_2d());
        VOIGT.map(|(i, j)| (0..3).map(|k| squares[k].max(0.0).sqrt() * axes[i][k] * axes[j][k]).sum())
    }

    /// Adds to the plastic strain of an element.
    fn bend(&mut self, element: usize, strain: [f64; 6]) {
        self.plastic.resize(self.rest.len(), [[0.0; WIDTH]; 6]);
        let own = &mut self.plastic[element / WIDTH];
        (0..6).for_each(|k| own[k][element % WIDTH] += strain[k] as Real);
    }

    /// Pairs of nodes on the surface beside one that has united which are so near each other that the seam between them is closed. Without
    /// that, nodes at the rim of a joint would stay apart, as neither is inside of the other side.
    fn pairs_beside(&self, body: &Body, particles: &Particles, united: u32) -> Vec<Pair> {
        let beside = self.nodes_beside(body, united);
        let mut pairs = Vec::new();
        for (k, &a) in beside.iter().enumerate() {
            let others = beside[k + 1..].iter().map(|&b| Pair::new([a, b], &particles.position));
            pairs.extend(others.filter(|pair| pair.closes(body.spacing) && !pair.nodes.contains(&united)));
        }
        sort_pairs(&mut pairs);
        pairs
    }

    /// Particles at the corners of the faces of the surface around one, rising.
    pub(super) fn nodes_beside(&self, body: &Body, particle: u32) -> Vec<u32> {
        let first = body.particles.start;
        let Some(ties) = &self.ties else { return Vec::new() };
        let faces = ties.surface_around(particle - first);
        let mut beside: Vec<u32> = faces.flat_map(|face| ties.face(face)).map(|node| node + first).collect();
        beside.sort_unstable();
        beside.dedup();
        beside
    }

    /// Lets elements have the particles that they are tied to; the first of the body's is given.
    pub fn follow_ties(&mut self, first: u32) {
        if let Some(ties) = &self.ties {
            self.elements = ties.elements().iter().map(|nodes| nodes.map(|node| node + first)).collect();
        }
    }

    /// Takes over the elements of another body, whose nodes were particles from `was` on and are now those from `first` on.
    fn take_in(&mut self, other: Self, was: u32, first: u32) {
        let all: Vec<(&Self, usize)> = self.all().chain(other.all()).collect();
        let packed = Packed::new(&all);
        self.elements.extend(other.elements.iter().map(|nodes| nodes.map(|node| node - was + first)));
        self.take(packed);
        self.angles = [self.angles[0].min(other.angles[0]), self.angles[1].max(other.angles[1])];
        self.solves += other.solves;
        self.rounds += other.rounds;
        self.broken += other.broken;
        self.merged += other.merged;
    }
}

/// The nearest first, each once.
pub(super) fn sort_pairs(pairs: &mut Vec<Pair>) {
    pairs.sort_by(|a, b| a.apart.total_cmp(&b.apart).then(a.nodes.cmp(&b.nodes)));
    pairs.dedup_by_key(|pair| pair.nodes);
}
