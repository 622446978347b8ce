//! The net of all elements and nodes, and what elements do to nodes.
//!
//! Elements note what they do to their corners; a node then adds up what its corners feel, in the order of elements. Made anew when
//! nodes part or unite.

use super::body::Tetras;
use super::matrix::Matrix;
use crate::Real;
use crate::parallel;
use glam::{Vec3, Vec4};
use phyxel_laws::lanes::{Eight, Level, WIDTH};
use phyxel_laws::tetra::{CornerVectors, Corners, Exerted, Group, Matter, State, exert, product, stretch_product};
use std::ops::Range;

/// Packs of eight elements per task.
pub(super) const GRAIN: usize = 64;

/// What is a body's in the store and in the net.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub particles: Range<usize>,
    pub nodes: Range<usize>,
    pub packs: Range<usize>,
}

/// What an element notes of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    /// Elastic strain, six numbers.
    pub elastic: [Eight; 6],
    /// Power that damping took, W.
    pub lost: Eight,
}

impl Default for Note {
    fn default() -> Self {
        Self { elastic: [[0.0; WIDTH]; 6], lost: [0.0; WIDTH] }
    }
}

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
    /// First entry of each node in `entries`.
    start: Vec<u32>,
    /// Corners of each node, as places in `pulls`, in the order of elements.
    entries: Vec<u32>,
    points: Vec<[f32; 4]>,
    /// Velocities or moves.
    moves: Vec<[f32; 4]>,
    /// What corners feel, N.
    pulls: Vec<CornerVectors>,
}

impl Net {
    /// Of bodies whose particles are these runs of the store.
    pub fn new(bodies: &[Tetras], particles: &[Range<usize>]) -> Self {
        let (mut nodes, mut packs) = (0, 0);
        let mut runs = Vec::with_capacity(bodies.len());
        for (tetras, particles) in bodies.iter().zip(particles) {
            let run = Run {
                particles: particles.clone(),
                nodes: nodes..nodes + particles.len(),
                packs: packs..packs + tetras.rest.len(),
            };
            (nodes, packs) = (run.nodes.end, run.packs.end);
            runs.push(run);
        }
        let mut net = Self {
            level: Level::detect(),
            matrices: vec![None; runs.len()],
            runs,
            corners: Vec::with_capacity(packs),
            start: vec![0; nodes + 1],
            entries: Vec::new(),
            points: vec![[0.0; 4]; nodes],
            moves: vec![[0.0; 4]; nodes],
            pulls: vec![[[[0.0; 4]; WIDTH]; 4]; packs],
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
        let mut start = vec![0u32; self.start.len()];
        all().for_each(|(node, _)| start[node as usize + 1] += 1);
        (1..start.len()).for_each(|node| start[node] += start[node - 1]);
        let mut next = start.clone();
        let mut entries = vec![0; start.last().map_or(0, |&count| count as usize)];
        for (node, place) in all() {
            entries[next[node as usize] as usize] = place;
            next[node as usize] += 1;
        }
        (self.start, self.entries) = (start, entries);
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

    /// Finds what corners feel in all elements of a body, whose rotations follow; notes, where there is room for notes.
    pub fn exert(&mut self, body: usize, tetras: &mut Tetras, matters: &Matters, notes: &mut [Note]) {
        let Self { corners, points, moves, pulls, level, .. } = self;
        let packs = self.runs[body].packs.clone();
        let (corners, rest, level) = (&corners[packs.clone()], &tetras.rest, *level);
        let work = |first: usize, turns: &mut [[Eight; 4]], pulls: &mut [CornerVectors], notes: &mut [Note]| {
            let mut out = Exerted::default();
            for (k, (turn, pulls)) in turns.iter_mut().zip(pulls).enumerate() {
                let pack = first + k;
                let group = Group { corners: &corners[pack], rest: &rest[pack], state: matters.states.get(pack) };
                if matters.damped {
                    exert::<true>(level, &group, matters.matter, points, moves, turn, &mut out);
                } else {
                    exert::<false>(level, &group, matters.matter, points, moves, turn, &mut out);
                }
                *pulls = out.forces;
                if let Some(note) = notes.get_mut(k) {
                    *note = Note { elastic: out.elastic, lost: out.lost };
                }
            }
        };
        let chunks = tetras.turns.chunks_mut(GRAIN).zip(pulls[packs].chunks_mut(GRAIN));
        let mut notes = notes.chunks_mut(GRAIN);
        let tasks = chunks.enumerate().map(|(k, (turns, pulls))| (GRAIN * k, turns, pulls, notes.next()));
        parallel::for_each_item(tasks.collect(), |(first, turns, pulls, notes)| {
            work(first, turns, pulls, notes.unwrap_or_default());
        });
    }

    /// Finds `K u` at the corners of all elements of a body, for the moves of its nodes.
    ///
    /// With `by_stretch` rotations turn with the moves.
    pub fn resist(&mut self, body: usize, tetras: &Tetras, matters: &Matters, by_stretch: bool) {
        let Self { corners, moves, points, pulls, level, .. } = self;
        let packs = self.runs[body].packs.clone();
        let corners = &corners[packs.clone()];
        parallel::for_each_chunk(&mut pulls[packs], GRAIN, |first, pulls| {
            for (pack, pulls) in (first..).zip(pulls) {
                let group =
                    Group { corners: &corners[pack], rest: &tetras.rest[pack], state: matters.states.get(pack) };
                let (matter, turns) = (matters.matter, &tetras.turns[pack]);
                if by_stretch {
                    stretch_product(*level, &group, matter, points, turns, moves, pulls);
                } else {
                    product(*level, &group, matter, turns, moves, pulls);
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
        &self.entries[self.start[node] as usize..self.start[node + 1] as usize]
    }

    /// What a corner at a place feels, N.
    pub fn pull_at(&self, place: u32) -> Vec3 {
        Vec4::from_array(self.pulls.as_flattened().as_flattened()[place as usize]).truncate()
    }

    /// What the corners of a node feel together.
    pub fn pull_on(&self, node: usize) -> Vec3 {
        let rows = self.pulls.as_flattened().as_flattened();
        let mut sum = Vec4::ZERO;
        for &place in self.corners_of(node) {
            sum += Vec4::from_array(rows[place as usize]);
        }
        sum.truncate()
    }

    /// Power of what the corners of an element feel at the velocities of its nodes, W.
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

/// Vectors in rows of four.
fn spread(to: &mut [[f32; 4]], from: &[Vec3]) {
    parallel::for_each_chunk(to, GRAIN * WIDTH, |first, to| {
        for (to, from) in to.iter_mut().zip(&from[first..]) {
            *to = [from.x, from.y, from.z, 0.0];
        }
    });
}
