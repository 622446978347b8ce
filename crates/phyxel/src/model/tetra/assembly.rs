//! SIMD element arrays, internal forces and the matrix-free stiffness product, with assembly at the nodes.
//!
//! Elements are evaluated in chunks. Corner forces are summed per node of a chunk, in the order of
//! elements, and each node then sums over its chunks: corner forces never leave the CPU caches, and the
//! result does not depend on the number of threads. Rebuilt when nodes split or weld.

use super::body::TetBody;
use super::implicit::SystemMatrix;
use crate::Real;
use crate::numerics::Csr;
use crate::parallel;
use glam::{Vec3, Vec4};
use phyxel_laws::fem::{
    CornerVectors, ForceBatch, PackCorners, PackView, ResponsePack, StatePack, ViscoelasticLaw, internal_forces,
    stiffness_product, stretch_stiffness_product,
};
use phyxel_laws::simd::{SimdLevel, WIDTH};
use std::ops::Range;

/// Packs of eight elements per task.
pub(super) const GRAIN: usize = 32;

/// Index ranges of a body in the store and in the element arrays.
#[derive(Clone, Debug)]
pub(super) struct BodyRanges {
    pub particles: Range<usize>,
    pub nodes: Range<usize>,
    pub packs: Range<usize>,
    chunks: Range<usize>,
    /// True if the force of each corner is stored.
    stores_corner_forces: bool,
}

/// Consecutive packs of a body, evaluated by one task.
#[derive(Clone, Debug)]
struct Chunk {
    packs: Range<usize>,
    /// Range of its nodes in the partial sums.
    slots: Range<usize>,
}

/// Packs evaluated at once; chunks are multiples of these.
const PACKS_AT_ONCE: usize = 2;
/// Zero vector for each corner of eight elements.
const ZERO_FORCES: CornerVectors = [[[0.0; 4]; WIDTH]; 4];

/// Constitutive law of the elements of a body.
pub(super) struct ElementLaw<'a> {
    pub law: &'a ViscoelasticLaw,
    /// Element states by pack; empty if no element differs from the body.
    pub states: &'a [StatePack],
    /// True if internal forces include stiffness-proportional damping.
    pub has_damping: bool,
}

/// Elements and nodes of all bodies, with their workspace.
#[derive(Clone, Debug)]
pub(super) struct ElementArrays {
    pub level: SimdLevel,
    /// Index ranges by body.
    pub ranges: Vec<BodyRanges>,
    /// System matrices of implicit steps by body, made on demand.
    pub matrices: Vec<Option<SystemMatrix>>,
    /// Node of each element corner, by pack.
    corner_nodes: Vec<PackCorners>,
    /// Slot of each element corner in the partial sums of its chunk.
    corner_slots: Vec<[[u16; WIDTH]; 4]>,
    chunks: Vec<Chunk>,
    /// Corners of each node, indexed by pack (32), corner (8) and lane, in the order of elements.
    node_corners: Csr<u32>,
    /// Partial sums of each node.
    node_slots: Csr<u32>,
    /// Node positions, m.
    positions: Vec<[f32; 4]>,
    /// Node velocities, m/s, or the vector that the stiffness multiplies.
    velocities: Vec<[f32; 4]>,
    /// Nodal force by chunk, N.
    partial_sums: Vec<[f32; 4]>,
    /// Corner forces, N; empty unless stored.
    corner_forces: Vec<CornerVectors>,
}

impl ElementArrays {
    /// Makes the arrays of bodies with these ranges of particles, of which some store corner forces.
    pub fn new(bodies: &[TetBody], particles: &[Range<usize>], stores_corner_forces: &[bool]) -> Self {
        let (mut nodes, mut packs, mut chunks) = (0, 0, 0);
        let mut ranges = Vec::with_capacity(bodies.len());
        for ((tet_body, particles), &stores) in bodies.iter().zip(particles).zip(stores_corner_forces) {
            let body_ranges = BodyRanges {
                particles: particles.clone(),
                nodes: nodes..nodes + particles.len(),
                packs: packs..packs + tet_body.rest.len(),
                chunks: chunks..chunks + tet_body.rest.len().div_ceil(GRAIN),
                stores_corner_forces: stores,
            };
            (nodes, packs, chunks) = (body_ranges.nodes.end, body_ranges.packs.end, body_ranges.chunks.end);
            ranges.push(body_ranges);
        }
        let mut arrays = Self {
            level: SimdLevel::detect(),
            matrices: vec![None; ranges.len()],
            ranges,
            corner_nodes: Vec::with_capacity(packs),
            corner_slots: Vec::with_capacity(packs),
            chunks: Vec::with_capacity(chunks),
            node_corners: Csr::default(),
            node_slots: Csr::default(),
            positions: vec![[0.0; 4]; nodes],
            velocities: vec![[0.0; 4]; nodes],
            partial_sums: Vec::new(),
            corner_forces: vec![ZERO_FORCES; if stores_corner_forces.contains(&true) { packs } else { 0 }],
        };
        for tet_body in bodies {
            for pack in 0..tet_body.rest.len() {
                let elements = tet_body.elements_in(pack);
                let element = |lane: usize| tet_body.elements[(elements.start + lane).min(elements.end - 1)];
                let node = |corner: usize, lane: usize| arrays.node_of(element(lane)[corner] as usize) as u32;
                let corners = std::array::from_fn(|corner| std::array::from_fn(|lane| node(corner, lane)));
                arrays.corner_nodes.push(corners);
            }
        }
        arrays.build_node_corners(bodies);
        arrays.build_chunks();
        arrays
    }

    /// Index of the body of a particle.
    pub fn body_of(&self, particle: usize) -> usize {
        // Bodies are in the order of the store.
        self.ranges.partition_point(|ranges| ranges.particles.end <= particle)
    }

    /// Node of a particle.
    fn node_of(&self, particle: usize) -> usize {
        self.ranges
            .get(self.body_of(particle))
            .map_or(0, |ranges| ranges.nodes.start + particle - ranges.particles.start)
    }

    /// Lists the corners of each node.
    fn build_node_corners(&mut self, bodies: &[TetBody]) {
        let corners_of_nodes = || {
            let packs = bodies
                .iter()
                .flat_map(|tet_body| (0..tet_body.rest.len()).map(|pack| tet_body.elements_in(pack).len()));
            packs.zip(&self.corner_nodes).enumerate().flat_map(|(pack, (lanes, corners))| {
                let lane_corners = (0..lanes).flat_map(|lane| (0..4).map(move |corner| (lane, corner)));
                lane_corners
                    .map(move |(lane, corner)| (corners[corner][lane], (32 * pack + WIDTH * corner + lane) as u32))
            })
        };
        self.node_corners = Csr::new(self.positions.len(), corners_of_nodes);
    }

    /// Builds the chunks and the slots of their nodes.
    fn build_chunks(&mut self) {
        let mut chunk_nodes: Vec<u32> = Vec::new();
        for ranges in &self.ranges {
            for packs in ranges.packs.clone().step_by(GRAIN).map(|first| first..(first + GRAIN).min(ranges.packs.end)) {
                let corners = &self.corner_nodes[packs.clone()];
                let mut nodes: Vec<u32> = corners.as_flattened().as_flattened().to_vec();
                nodes.sort_unstable();
                nodes.dedup();
                // A chunk has fewer corners than 2^16.
                let slot = |node: u32| nodes.partition_point(|&other| other < node) as u16;
                self.corner_slots.extend(corners.iter().map(|corners| corners.map(|lanes| lanes.map(slot))));
                let first = chunk_nodes.len();
                chunk_nodes.append(&mut nodes);
                self.chunks.push(Chunk { packs, slots: first..chunk_nodes.len() });
            }
        }
        self.partial_sums = vec![[0.0; 4]; chunk_nodes.len()];
        self.node_slots = Csr::new(self.positions.len(), || chunk_nodes.iter().copied().zip(0..));
    }

    /// Loads the positions of the nodes of a body.
    pub fn load_positions(&mut self, body: usize, positions: &[Vec3]) {
        let ranges = &self.ranges[body];
        pad(&mut self.positions[ranges.nodes.clone()], &positions[ranges.particles.clone()]);
    }

    /// Positions of all nodes in rows of four.
    pub fn padded_positions(&self, positions: &[Vec3]) -> Vec<[f32; 4]> {
        let mut padded = vec![[0.0; 4]; self.positions.len()];
        for ranges in &self.ranges {
            pad(&mut padded[ranges.nodes.clone()], &positions[ranges.particles.clone()]);
        }
        padded
    }

    /// Loaded positions of the nodes of a body.
    pub fn body_positions(&self, body: usize) -> &[[f32; 4]] {
        &self.positions[self.ranges[body].nodes.clone()]
    }

    /// Loads the velocities of the nodes of a body, or the vector that the stiffness multiplies.
    pub fn load_velocities(&mut self, body: usize, velocities: &[Vec3]) {
        pad(&mut self.velocities[self.ranges[body].nodes.clone()], velocities);
    }

    /// Computes the internal forces of a body, and updates the rotations of its elements; stores the
    /// element responses where `responses` has room.
    pub fn compute_internal_forces(
        &mut self,
        body: usize,
        tet_body: &mut TetBody,
        law: &ElementLaw,
        responses: &mut [ResponsePack],
    ) {
        let Self { corner_nodes, positions, velocities, partial_sums, level, .. } = self;
        let ranges = &self.ranges[body];
        let (corner_nodes, rest, level) = (&corner_nodes[ranges.packs.clone()], &tet_body.rest, *level);
        let mut responses = responses.chunks_mut(GRAIN);
        let chunk_data =
            tet_body.rotations.chunks_mut(GRAIN).map(|rotations| (rotations, responses.next().unwrap_or_default()));
        let corner_forces =
            if ranges.stores_corner_forces { &mut self.corner_forces[ranges.packs.clone()] } else { &mut [] };
        let chunks = (&self.chunks[ranges.chunks.clone()], &self.corner_slots[ranges.packs.clone()]);
        assemble(chunks, partial_sums, corner_forces, chunk_data, |(rotations, responses), packs, forces| {
            let view =
                |pack| PackView { corners: &corner_nodes[pack], reference: &rest[pack], state: law.states.get(pack) };
            let (first, count) = (packs.start, packs.len());
            let views = [first, packs.end - 1].map(view);
            let mut discarded = [ResponsePack::default(); PACKS_AT_ONCE];
            let range = first % GRAIN..first % GRAIN + count;
            let responses = responses.get_mut(range.clone()).unwrap_or(&mut discarded[..count]);
            let packs = ForceBatch { packs: &views[..count], rotations: &mut rotations[range], forces, responses };
            internal_forces(level, packs, law.law, positions, law.has_damping.then_some(velocities));
        });
    }

    /// Computes `K u` at the nodes of a body, for the loaded vector `u`.
    ///
    /// With `by_stretch` the rotations of elements vary with `u`, too.
    pub fn apply_stiffness(&mut self, body: usize, tet_body: &TetBody, law: &ElementLaw, by_stretch: bool) {
        let Self { corner_nodes, velocities, positions, partial_sums, level, .. } = self;
        let ranges = &self.ranges[body];
        let corner_nodes = &corner_nodes[ranges.packs.clone()];
        let chunk_data = ranges.chunks.clone().map(|_| ());
        let corner_forces =
            if ranges.stores_corner_forces { &mut self.corner_forces[ranges.packs.clone()] } else { &mut [] };
        let chunks = (&self.chunks[ranges.chunks.clone()], &self.corner_slots[ranges.packs.clone()]);
        assemble(chunks, partial_sums, corner_forces, chunk_data, |(), packs, forces| {
            for (pack, forces) in packs.zip(forces) {
                let view = PackView {
                    corners: &corner_nodes[pack],
                    reference: &tet_body.rest[pack],
                    state: law.states.get(pack),
                };
                let rotations = &tet_body.rotations[pack];
                if by_stretch {
                    stretch_stiffness_product(*level, &view, law.law, positions, rotations, velocities, forces);
                } else {
                    stiffness_product(*level, &view, law.law, rotations, velocities, forces);
                }
            }
        });
    }

    /// View of a pack of elements for the element laws.
    pub fn pack_view<'a>(
        &'a self,
        body: usize,
        tet_body: &'a TetBody,
        states: &'a [StatePack],
        pack: usize,
    ) -> PackView<'a> {
        let corners = &self.corner_nodes[self.ranges[body].packs.start + pack];
        PackView { corners, reference: &tet_body.rest[pack], state: states.get(pack) }
    }

    /// Corners of a node, indexed by pack (32), corner (8) and lane.
    pub fn corners_of_node(&self, node: usize) -> &[u32] {
        self.node_corners.row(node)
    }

    /// Force on a corner, N, in a body that stores corner forces.
    pub fn corner_force(&self, corner: u32) -> Vec3 {
        Vec4::from_array(self.corner_forces.as_flattened().as_flattened()[corner as usize]).truncate()
    }

    /// Internal force on a node, N: the sum over its corners.
    pub fn nodal_force(&self, node: usize) -> Vec3 {
        let sums = self.node_slots.row(node).iter().map(|&slot| Vec4::from_array(self.partial_sums[slot as usize]));
        sums.fold(Vec4::ZERO, |total, sum| total + sum).truncate()
    }

    /// Internal force on the node of a particle, N.
    pub fn particle_force(&self, particle: usize) -> Vec3 {
        self.nodal_force(self.node_of(particle))
    }

    /// Power of the corner forces of an element at the loaded velocities, W, in a body that stores corner
    /// forces.
    pub fn power(&self, body: usize, element: usize) -> Real {
        let (pack, lane) = (self.ranges[body].packs.start + element / WIDTH, element % WIDTH);
        let dot = |corner: usize| {
            let node = self.corner_nodes[pack][corner][lane] as usize;
            Vec4::from_array(self.corner_forces[pack][corner][lane]).dot(Vec4::from_array(self.velocities[node]))
        };
        (0..4).map(dot).sum()
    }

    /// Adds the internal forces of a body to the forces on its particles.
    pub fn add_internal_forces(&self, body: usize, forces: &mut [Vec3]) {
        let ranges = &self.ranges[body];
        parallel::for_each_chunk(&mut forces[ranges.particles.clone()], GRAIN * WIDTH, |first, forces| {
            for (k, force) in forces.iter_mut().enumerate() {
                *force += self.nodal_force(ranges.nodes.start + first + k);
            }
        });
    }
}

/// Evaluates the corner forces of a body, two packs at a time, and sums them for the nodes of each chunk;
/// stores them where `corner_forces` has room. `chunk_data` is passed to the evaluation of each chunk.
fn assemble<T: Send>(
    (chunks, slots): (&[Chunk], &[[[u16; WIDTH]; 4]]),
    partial_sums: &mut [[f32; 4]],
    corner_forces: &mut [CornerVectors],
    chunk_data: impl Iterator<Item = T>,
    evaluate: impl Fn(&mut T, Range<usize>, &mut [CornerVectors]) + Sync,
) {
    let Some((first, last)) = chunks.first().zip(chunks.last()) else { return };
    let (first_pack, mut rest) = (first.packs.start, &mut partial_sums[first.slots.start..last.slots.end]);
    let mut corner_forces = corner_forces.chunks_mut(GRAIN);
    let tasks = chunks.iter().zip(chunk_data).map(|(chunk, data)| {
        let partial_sums;
        (partial_sums, rest) = std::mem::take(&mut rest).split_at_mut(chunk.slots.len());
        (chunk.packs.start - first_pack..chunk.packs.end - first_pack, data, partial_sums, corner_forces.next())
    });
    parallel::for_each_item(tasks.collect(), |(packs, mut data, partial_sums, mut corner_forces)| {
        partial_sums.fill([0.0; 4]);
        let mut scratch = [ZERO_FORCES; PACKS_AT_ONCE];
        for first in packs.clone().step_by(PACKS_AT_ONCE) {
            let batch = first..(first + PACKS_AT_ONCE).min(packs.end);
            let forces = match &mut corner_forces {
                Some(corner_forces) => &mut corner_forces[first - packs.start..batch.end - packs.start],
                None => &mut scratch[..batch.len()],
            };
            evaluate(&mut data, batch.clone(), forces);
            let slots = slots[batch].as_flattened().as_flattened();
            for (slot, force) in slots.iter().zip(forces.as_flattened().as_flattened()) {
                let sum = &mut partial_sums[*slot as usize];
                *sum = (Vec4::from_array(*sum) + Vec4::from_array(*force)).to_array();
            }
        }
    });
}

/// Copies vectors into rows of four.
fn pad(to: &mut [[f32; 4]], from: &[Vec3]) {
    parallel::for_each_chunk(to, GRAIN * WIDTH, |first, to| {
        for (to, from) in to.iter_mut().zip(&from[first..]) {
            *to = [from.x, from.y, from.z, 0.0];
        }
    });
}
