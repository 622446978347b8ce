//! The net of all elements and nodes, and what elements do to nodes.
//!
//! Elements are done in chunks. What corners feel is added up for each node of a chunk while it is at hand, in the order of elements, and a
//! node then adds up what it feels in chunks: forces of corners never leave the caches. Made anew when nodes part or unite.

use super::body::Tetras;
use super::matrix::Matrix;
use crate::Real;
use crate::parallel;
use glam::{Vec3, Vec4};
use phyxel_laws::lanes::{Level, WIDTH};
use phyxel_laws::tetra::{CornerVectors, Corners, Group, Matter, Note, Packs, State, exert, product, stretch_product};
use std::ops::Range;

/// Packs of eight elements per task.
pub(super) const GRAIN: usize = 32;

/// What is a body's in the store and in the net.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub particles: Range<usize>,
    pub nodes: Range<usize>,
    pub packs: Range<usize>,
    chunks: Range<usize>,
    /// Whether what each corner feels is kept, too.
    keeps: bool,
}

/// Packs of a body that are done one after the other.
#[derive(Clone, Debug)]
struct Chunk {
    packs: Range<usize>,
    /// What its nodes feel in it, among all sums.
    sums: Range<usize>,
}

/// Packs that are done at once; chunks have whole numbers of these.
const ABREAST: usize = 2;
/// A row of numbers for each corner of eight elements.
const NOTHING: CornerVectors = [[[0.0; 4]; WIDTH]; 4];

/// What is needed of a body to know the forces of its elements.
pub(super) struct Matters<'a> {
    pub matter: &'a Matter,
    /// By pack; none where all elements are as the body.
    pub states: &'a [State],
    /// Whether stress is ahead of strain.
    pub damped: bool,
}

/// All elements and nodes.
#[derive(Clone, Debug)]
pub(super) struct Net {
    pub level: Level,
    /// By body.
    pub runs: Vec<Run>,
    /// Of implicit steps, by body; none before it is needed.
    pub matrices: Vec<Option<Matrix>>,
    /// Nodes at the corners of elements, by pack.
    corners: Vec<Corners>,
    /// The same by their places among the sums of the chunk.
    places: Vec<[[u16; WIDTH]; 4]>,
    chunks: Vec<Chunk>,
    /// Corners of each node, as places by pack (32), corner (8) and lane, in the order of elements.
    corners_of: Lists,
    /// The sums of each node.
    sums_of: Lists,
    points: Vec<[f32; 4]>,
    /// Velocities or moves.
    moves: Vec<[f32; 4]>,
    /// What nodes feel in chunks, N.
    sums: Vec<[f32; 4]>,
    /// What corners feel, N; nothing unless it is kept.
    pulls: Vec<CornerVectors>,
}

/// Numbers for each node, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    /// First of each node.
    start: Vec<u32>,
    numbers: Vec<u32>,
}

impl Lists {
    /// Of nodes and their numbers, which stay in order.
    pub fn new<I: Iterator<Item = (u32, u32)>>(count: usize, all: impl Fn() -> I) -> Self {
        let mut start = vec![0u32; count + 1];
        all().for_each(|(node, _)| start[node as usize + 1] += 1);
        (0..count).for_each(|node| start[node + 1] += start[node]);
        let mut next = start.clone();
        let mut numbers = vec![0; start[count] as usize];
        for (node, number) in all() {
            numbers[next[node as usize] as usize] = number;
            next[node as usize] += 1;
        }
        Self { start, numbers }
    }

    /// All, node by node.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }

    pub fn of(&self, node: usize) -> &[u32] {
        &self.numbers[self.start[node] as usize..self.start[node + 1] as usize]
    }
}

impl Net {
    /// Of bodies whose particles are these runs of the store, and of which some keep what each corner feels.
    pub fn new(bodies: &[Tetras], particles: &[Range<usize>], keeps: &[bool]) -> Self {
        let (mut nodes, mut packs, mut chunks) = (0, 0, 0);
        let mut runs = Vec::with_capacity(bodies.len());
        for ((tetras, particles), &keeps) in bodies.iter().zip(particles).zip(keeps) {
            let run = Run {
                particles: particles.clone(),
                nodes: nodes..nodes + particles.len(),
                packs: packs..packs + tetras.rest.len(),
                chunks: chunks..chunks + tetras.rest.len().div_ceil(GRAIN),
                keeps,
            };
            (nodes, packs, chunks) = (run.nodes.end, run.packs.end, run.chunks.end);
            runs.push(run);
        }
        let mut net = Self {
            level: Level::detect(),
            matrices: vec![None; runs.len()],
            runs,
            corners: Vec::with_capacity(packs),
            places: Vec::with_capacity(packs),
            chunks: Vec::with_capacity(chunks),
            corners_of: Lists::default(),
            sums_of: Lists::default(),
            points: vec![[0.0; 4]; nodes],
            moves: vec![[0.0; 4]; nodes],
            sums: Vec::new(),
            pulls: vec![NOTHING; if keeps.contains(&true) { packs } else { 0 }],
        };
        for tetras in bodies {
            for pack in 0..tetras.rest.len() {
                let members = tetras.members(pack);
                let element = |lane: usize| tetras.elements[(members.start + lane).min(members.end - 1)];
                let node = |corner: usize, lane: usize| net.node_of(element(lane)[corner] as usize) as u32;
                let corners = std::array::from_fn(|corner| std::array::from_fn(|lane| node(corner, lane)));
                net.corners.push(corners);
            }
        }
        net.list_corners(bodies);
        net.cut_into_chunks();
        net
    }

    /// The body that a particle is of.
    pub fn body_of(&self, particle: usize) -> usize {
        // Bodies are in the order of their birth, which is that of the store.
        self.runs.partition_point(|run| run.particles.end <= particle)
    }

    /// The node that a particle is.
    fn node_of(&self, particle: usize) -> usize {
        self.runs.get(self.body_of(particle)).map_or(0, |run| run.nodes.start + particle - run.particles.start)
    }

    fn list_corners(&mut self, bodies: &[Tetras]) {
        let all = || {
            let packs = bodies.iter().flat_map(|tetras| (0..tetras.rest.len()).map(|pack| tetras.members(pack).len()));
            packs.zip(&self.corners).enumerate().flat_map(|(pack, (lanes, corners))| {
                let places = (0..lanes).flat_map(|lane| (0..4).map(move |corner| (lane, corner)));
                places.map(move |(lane, corner)| (corners[corner][lane], (32 * pack + WIDTH * corner + lane) as u32))
            })
        };
        self.corners_of = Lists::new(self.points.len(), all);
    }

    /// Finds the nodes of each chunk.
    fn cut_into_chunks(&mut self) {
        let mut owners: Vec<u32> = Vec::new();
        for run in &self.runs {
            for packs in run.packs.clone().step_by(GRAIN).map(|first| first..(first + GRAIN).min(run.packs.end)) {
                let corners = &self.corners[packs.clone()];
                let mut nodes: Vec<u32> = corners.as_flattened().as_flattened().to_vec();
                nodes.sort_unstable();
                nodes.dedup();
                // A chunk has fewer corners than there are numbers of 16 bits.
                let place = |node: u32| nodes.partition_point(|&own| own < node) as u16;
                self.places.extend(corners.iter().map(|corners| corners.map(|lanes| lanes.map(place))));
                let first = owners.len();
                owners.append(&mut nodes);
                self.chunks.push(Chunk { packs, sums: first..owners.len() });
            }
        }
        self.sums = vec![[0.0; 4]; owners.len()];
        self.sums_of = Lists::new(self.points.len(), || owners.iter().copied().zip(0..));
    }

    /// Takes over where the nodes of a body are.
    pub fn place(&mut self, body: usize, positions: &[Vec3]) {
        let run = &self.runs[body];
        spread(&mut self.points[run.nodes.clone()], &positions[run.particles.clone()]);
    }

    /// Where all nodes are.
    pub fn points_at(&self, positions: &[Vec3]) -> Vec<[f32; 4]> {
        let mut points = vec![[0.0; 4]; self.points.len()];
        for run in &self.runs {
            spread(&mut points[run.nodes.clone()], &positions[run.particles.clone()]);
        }
        points
    }

    /// Where the nodes of a body were put.
    pub fn points_of(&self, body: usize) -> &[[f32; 4]] {
        &self.points[self.runs[body].nodes.clone()]
    }

    /// Takes over how the nodes of a body move.
    pub fn set_in_motion(&mut self, body: usize, velocities: &[Vec3]) {
        spread(&mut self.moves[self.runs[body].nodes.clone()], velocities);
    }

    /// Finds what nodes feel in all elements of a body, whose rotations follow; notes, where there is room for notes.
    pub fn exert(&mut self, body: usize, tetras: &mut Tetras, matters: &Matters, notes: &mut [Note]) {
        let Self { corners, points, moves, sums, level, .. } = self;
        let run = &self.runs[body];
        let (corners, rest, level) = (&corners[run.packs.clone()], &tetras.rest, *level);
        let mut notes = notes.chunks_mut(GRAIN);
        let owns = tetras.turns.chunks_mut(GRAIN).map(|turns| (turns, notes.next().unwrap_or_default()));
        let pulls = if run.keeps { &mut self.pulls[run.packs.clone()] } else { &mut [] };
        let chunks = (&self.chunks[run.chunks.clone()], &self.places[run.packs.clone()]);
        add_up(chunks, sums, pulls, owns, |(turns, notes), packs, forces| {
            let group = |pack| Group { corners: &corners[pack], rest: &rest[pack], state: matters.states.get(pack) };
            let (first, count) = (packs.start, packs.len());
            let groups = [first, packs.end - 1].map(group);
            let mut dropped = [Note::default(); ABREAST];
            let (own, k) = (first % GRAIN, first % GRAIN + count);
            let notes = notes.get_mut(own..k).unwrap_or(&mut dropped[..count]);
            let packs = Packs { groups: &groups[..count], turns: &mut turns[own..k], forces, notes };
            exert(level, packs, matters.matter, points, matters.damped.then_some(moves));
        });
    }

    /// Finds `K u` at the nodes of a body, for their moves.
    ///
    /// With `by_stretch` rotations turn with the moves.
    pub fn resist(&mut self, body: usize, tetras: &Tetras, matters: &Matters, by_stretch: bool) {
        let Self { corners, moves, points, sums, level, .. } = self;
        let run = &self.runs[body];
        let corners = &corners[run.packs.clone()];
        let owns = run.chunks.clone().map(|_| ());
        let pulls = if run.keeps { &mut self.pulls[run.packs.clone()] } else { &mut [] };
        let chunks = (&self.chunks[run.chunks.clone()], &self.places[run.packs.clone()]);
        add_up(chunks, sums, pulls, owns, |(), packs, forces| {
            for (pack, forces) in packs.zip(forces) {
                let group =
                    Group { corners: &corners[pack], rest: &tetras.rest[pack], state: matters.states.get(pack) };
                let (matter, turns) = (matters.matter, &tetras.turns[pack]);
                if by_stretch {
                    stretch_product(*level, &group, matter, points, turns, moves, forces);
                } else {
                    product(*level, &group, matter, turns, moves, forces);
                }
            }
        });
    }

    /// A pack of a body as the laws see it.
    pub fn group<'a>(&'a self, body: usize, tetras: &'a Tetras, states: &'a [State], pack: usize) -> Group<'a> {
        let corners = &self.corners[self.runs[body].packs.start + pack];
        Group { corners, rest: &tetras.rest[pack], state: states.get(pack) }
    }

    /// Corners of a node, as places by pack (32), corner (8) and lane.
    pub fn corners_of(&self, node: usize) -> &[u32] {
        self.corners_of.of(node)
    }

    /// What a corner at a place feels, N, in a body that keeps it.
    pub fn pull_at(&self, place: u32) -> Vec3 {
        Vec4::from_array(self.pulls.as_flattened().as_flattened()[place as usize]).truncate()
    }

    /// What the corners of a node feel together.
    pub fn pull_on(&self, node: usize) -> Vec3 {
        let sums = self.sums_of.of(node).iter().map(|&place| Vec4::from_array(self.sums[place as usize]));
        sums.fold(Vec4::ZERO, |all, sum| all + sum).truncate()
    }

    /// What the corners of the node that is this particle feel together.
    pub fn pull_on_particle(&self, particle: usize) -> Vec3 {
        self.pull_on(self.node_of(particle))
    }

    /// Power of what the corners of an element feel at the velocities of its nodes, W, in a body that keeps it.
    pub fn power(&self, body: usize, element: usize) -> Real {
        let (pack, lane) = (self.runs[body].packs.start + element / WIDTH, element % WIDTH);
        let dot = |corner: usize| {
            let node = self.corners[pack][corner][lane] as usize;
            Vec4::from_array(self.pulls[pack][corner][lane]).dot(Vec4::from_array(self.moves[node]))
        };
        (0..4).map(dot).sum()
    }

    /// Adds what nodes of a body feel to their forces.
    pub fn gather(&self, body: usize, forces: &mut [Vec3]) {
        let run = &self.runs[body];
        parallel::for_each_chunk(&mut forces[run.particles.clone()], GRAIN * WIDTH, |first, forces| {
            for (k, force) in forces.iter_mut().enumerate() {
                *force += self.pull_on(run.nodes.start + first + k);
            }
        });
    }
}

/// Lets elements of a body find what their corners feel, two packs at a time, and adds that up for the nodes of each chunk; keeps it where there is room.
/// `owns` is what each chunk has for itself.
fn add_up<T: Send>(
    (chunks, places): (&[Chunk], &[[[u16; WIDTH]; 4]]),
    sums: &mut [[f32; 4]],
    pulls: &mut [CornerVectors],
    owns: impl Iterator<Item = T>,
    find: impl Fn(&mut T, Range<usize>, &mut [CornerVectors]) + Sync,
) {
    let Some((first, last)) = chunks.first().zip(chunks.last()) else { return };
    let (first_pack, mut rest) = (first.packs.start, &mut sums[first.sums.start..last.sums.end]);
    let mut pulls = pulls.chunks_mut(GRAIN);
    let tasks = chunks.iter().zip(owns).map(|(chunk, own)| {
        let sums;
        (sums, rest) = std::mem::take(&mut rest).split_at_mut(chunk.sums.len());
        (chunk.packs.start - first_pack..chunk.packs.end - first_pack, own, sums, pulls.next())
    });
    parallel::for_each_item(tasks.collect(), |(packs, mut own, sums, mut pulls)| {
        sums.fill([0.0; 4]);
        let mut room = [NOTHING; ABREAST];
        for first in packs.clone().step_by(ABREAST) {
            let some = first..(first + ABREAST).min(packs.end);
            let forces = match &mut pulls {
                Some(pulls) => &mut pulls[first - packs.start..some.end - packs.start],
                None => &mut room[..some.len()],
            };
            find(&mut own, some.clone(), forces);
            let places = places[some].as_flattened().as_flattened();
            for (place, force) in places.iter().zip(forces.as_flattened().as_flattened()) {
                let sum = &mut sums[*place as usize];
                *sum = (Vec4::from_array(*sum) + Vec4::from_array(*force)).to_array();
            }
        }
    });
}

/// Vectors in rows of four.
fn spread(to: &mut [[f32; 4]], from: &[Vec3]) {
    parallel::for_each_chunk(to, GRAIN * WIDTH, |first, to| {
        for (to, from) in to.iter_mut().zip(&from[first..]) {
            *to = [from.x, from.y, from.z, 0.0];
        }
    });
}
