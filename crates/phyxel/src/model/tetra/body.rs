//! A body of tetrahedra: what it is at any moment beside its nodes.

use super::TetraSettings;
use super::outside::Outside;
use super::skin::Shown;
use crate::Real;
use crate::body::{Body, BodyId};
use crate::model::Moved;
use crate::particles::Particles;
use crate::{frame::TetraReport, parallel};
use glam::Vec3;
use phyxel_laws::elastic::Hooke;
use phyxel_laws::lanes::{Eight, WIDTH};
use phyxel_laws::tetra::{Element, Net as Ties, Rest, dihedral_angles, volume};
use serde::{Deserialize, Serialize};
use std::array::from_fn;
use std::ops::Range;
use std::sync::Arc;

/// Elements per task.
const GRAIN: usize = 512;

/// A body of tetrahedra.
///
/// Elements keep their shape at rest; nodes at their corners may part and unite. Elements come only with another body that becomes
/// one with this, and go only when they melt. All that is kept by
/// element is in packs of eight, element `8 k` first in pack `k`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Tetras {
    pub id: BodyId,
    /// Without elements, which change.
    pub settings: TetraSettings,
    /// The particles at the corners of each.
    pub elements: Vec<[u32; 4]>,
    /// Shapes at rest by pack.
    #[serde(with = "shapes")]
    pub rest: Vec<Rest>,
    /// Rotations from the shape at rest by pack: quaternions x, y, z, w.
    pub turns: Vec<[Eight; 4]>,
    /// Plastic strain by pack, six numbers each; none if there is none.
    pub plastic: Vec<[Eight; 6]>,
    /// Smallest and largest angle between faces at rest, degrees.
    pub angles: [f64; 2],
    /// Implicit steps taken, and the rounds that they took.
    pub solves: u64,
    pub rounds: u64,
    /// Nodes that parting made since the start, and ties with later bodies that have parted.
    pub broken: u64,
    /// Nodes that uniting took away since the start, and ties that were made with later bodies.
    pub merged: u64,
    /// Which corners are tied, by the numbers of nodes in the body; found when it is needed.
    #[serde(skip)]
    pub ties: Option<Ties>,
    /// Whether the present step is implicit and found it very stiff.
    #[serde(skip)]
    pub is_rough: bool,
    /// What others can touch; found when it is needed.
    #[serde(skip)]
    pub outside: Option<Outside>,
    /// What was shown last.
    #[serde(skip)]
    pub shown: Shown,
    /// How swift the swiftest element of a law is, Pa/m2: it takes a while to find.
    #[serde(skip)]
    swiftness: Option<(Hooke, f64)>,
}

impl Tetras {
    pub fn new(id: BodyId, body: &Body, particles: &Particles, mut settings: TetraSettings) -> Self {
        let first = body.particles.start;
        let elements: Vec<[u32; 4]> = settings.elements.iter().map(|nodes| nodes.map(|node| node + first)).collect();
        settings.elements = Arc::default();
        let shape = |element: &[u32; 4]| element.map(|node| particles.rest[node as usize]);
        // All are sound: whoever added the body has looked.
        let sound: Vec<Element> = elements.iter().filter_map(|element| Element::new(shape(element))).collect();
        let rest: Vec<Rest> = sound.chunks(WIDTH).map(Rest::new).collect();
        let still = [[0.0; WIDTH], [0.0; WIDTH], [0.0; WIDTH], [1.0; WIDTH]];
        let worst = parallel::map_ranges(elements.len(), GRAIN, |range| {
            let angles = range.flat_map(|i| dihedral_angles(shape(&elements[i])));
            angles.fold((Real::INFINITY, 0.0), |(low, high), angle| (angle.min(low), angle.max(high)))
        });
        let (low, high) =
            worst.into_iter().fold((Real::INFINITY, 0.0), |a: (Real, Real), b| (a.0.min(b.0), a.1.max(b.1)));
        Self {
            id,
            settings,
            turns: vec![still; rest.len()],
            elements,
            rest,
            plastic: Vec::new(),
            angles: [low, high].map(|angle| f64::from(angle).to_degrees()),
            solves: 0,
            rounds: 0,
            broken: 0,
            merged: 0,
            ties: None,
            is_rough: false,
            outside: None,
            shown: Shown::default(),
            swiftness: None,
        }
    }

    /// Follows particles that moved in the store; false if some of its nodes are gone.
    pub fn rearrange(&mut self, moved: &Moved) -> bool {
        let mut is_whole = true;
        for node in self.elements.iter_mut().flatten() {
            match moved.order.target(*node) {
                Some(target) => *node = target,
                None => is_whole = false,
            }
        }
        let body = &moved.bodies[self.id.0 as usize];
        let number = |old: u32| moved.order.target(old).map_or(u32::MAX, |new| new - body.particles.start);
        let numbers: Vec<u32> = moved.was[self.id.0 as usize].clone().map(number).collect();
        let is_moved = (0..).zip(&numbers).any(|(old, new)| old != *new);
        if let Some(ties) = self.ties.as_mut().filter(|_| is_moved) {
            let is_sound = ties.renumber(&numbers, body.len()).is_ok();
            self.ties.take_if(|_| !is_sound);
            self.outside = None;
        }
        is_whole
    }

    /// Square of the fastest swing of any element times the density, Pa/m2: no swing of the body is faster.
    pub fn find_swiftness(&mut self, hooke: &Hooke) -> f64 {
        if let Some((_, known)) = self.swiftness.filter(|(law, _)| law == hooke) {
            return known;
        }
        let root = hooke.root();
        let found = parallel::map_ranges(self.elements.len(), GRAIN, |range| {
            range.map(|i| self.element(i).swiftness(&root)).fold(0.0, f64::max)
        });
        let found = found.into_iter().fold(0.0, f64::max);
        self.swiftness = Some((*hooke, found));
        found
    }

    /// The shape of an element at rest.
    pub fn element(&self, i: usize) -> Element {
        let (rest, lane) = (&self.rest[i / WIDTH], i % WIDTH);
        let gradient = |k: usize| Vec3::from_array(rest.gradients[k].map(|axis| axis[lane]));
        Element { gradients: [0, 1, 2].map(gradient), volume: rest.volume[lane] }
    }

    /// Elements of a pack.
    pub fn members(&self, pack: usize) -> Range<usize> {
        WIDTH * pack..(WIDTH * (pack + 1)).min(self.elements.len())
    }

    /// Parts that hang together by nodes, and the part of all elements that the largest has; its particles are `run`.
    pub fn count_pieces(&self, run: Range<usize>) -> (u32, f64) {
        let found;
        let outside = match &self.outside {
            Some(known) => known,
            None => {
                found = Outside::new(&self.find_ties(run));
                &found
            }
        };
        let mut sizes = vec![0u32; outside.count as usize];
        outside.pieces.iter().for_each(|&piece| sizes[piece as usize] += 1);
        let largest = f64::from(sizes.into_iter().max().unwrap_or(0)) / self.elements.len().max(1) as f64;
        (outside.count, largest)
    }

    /// How good elements are, and how many are inside out.
    pub fn report(&self, positions: &[Vec3], largest: f64) -> TetraReport {
        let mirrored = parallel::map_ranges(self.elements.len(), GRAIN, |range| {
            let at = |i: usize| self.elements[i].map(|node| positions[node as usize]);
            range.filter(|&i| volume(at(i)) < 0.0).count() as u64
        });
        TetraReport {
            count: self.elements.len() as u64,
            least_angle: self.angles[0],
            greatest_angle: self.angles[1],
            mirrored: mirrored.into_iter().sum(),
            largest,
        }
    }
}

/// What is kept by pack of some elements.
pub(super) struct Packed {
    rest: Vec<Rest>,
    turns: Vec<[Eight; 4]>,
    plastic: Vec<[Eight; 6]>,
}

impl Packed {
    /// Of elements, each with its body.
    pub fn new(elements: &[(&Tetras, usize)]) -> Self {
        let turn = |(body, i): (&Tetras, usize), k: usize| body.turns[i / WIDTH][k][i % WIDTH];
        let strain = |(body, i): (&Tetras, usize), k: usize| {
            body.plastic.get(i / WIDTH).map_or(0.0, |strains| strains[k][i % WIDTH])
        };
        let is_plastic = elements.iter().any(|(body, _)| !body.plastic.is_empty());
        let packs = || elements.chunks(WIDTH);
        // Lanes beyond the last are as the last.
        fn member<'a>(pack: &[(&'a Tetras, usize)], lane: usize) -> (&'a Tetras, usize) {
            pack[lane.min(pack.len() - 1)]
        }
        let shapes =
            |pack: &[(&Tetras, usize)]| Rest::new(&pack.iter().map(|(body, i)| body.element(*i)).collect::<Vec<_>>());
        Self {
            rest: packs().map(shapes).collect(),
            turns: packs().map(|pack| from_fn(|k| from_fn(|lane| turn(member(pack, lane), k)))).collect(),
            plastic: packs()
                .filter(|_| is_plastic)
                .map(|pack| from_fn(|k| from_fn(|lane| strain(member(pack, lane), k))))
                .collect(),
        }
    }
}

impl Tetras {
    /// All of its elements.
    pub fn all(&self) -> impl Iterator<Item = (&Self, usize)> {
        (0..self.elements.len()).map(move |i| (self, i))
    }

    /// Keeps only some of its elements.
    pub fn keep(&mut self, kept: &[usize]) {
        let some: Vec<(&Self, usize)> = kept.iter().map(|&i| (&*self, i)).collect();
        let packed = Packed::new(&some);
        self.elements = kept.iter().map(|&i| self.elements[i]).collect();
        self.take(packed);
    }

    /// Takes over what is kept of its elements, which are others than before.
    pub fn take(&mut self, packed: Packed) {
        let Packed { rest, turns, plastic } = packed;
        (self.rest, self.turns, self.plastic) = (rest, turns, plastic);
        (self.ties, self.outside, self.swiftness) = (None, None, None);
        self.shown = Shown::default();
    }
}

/// Volume that each node stands for, m3: a quarter of each element around it.
pub(crate) fn node_volumes(elements: &[[u32; 4]], samples: &[Vec3]) -> Vec<f64> {
    let mut volumes = vec![0.0; samples.len()];
    for element in elements {
        let [a, b, c, d] = element.map(|node| samples[node as usize].as_dvec3());
        let quarter = (b - a).cross(c - a).dot(d - a) / 24.0;
        element.iter().for_each(|&node| volumes[node as usize] += quarter);
    }
    volumes
}

/// Shapes at rest in checkpoints.
mod shapes {
    use phyxel_laws::lanes::Eight;
    use phyxel_laws::tetra::Rest;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(rest: &[Rest], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(rest.iter().map(|rest| (&rest.gradients, &rest.volume)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Rest>, D::Error> {
        let rest = Vec::<([[Eight; 3]; 3], Eight)>::deserialize(deserializer)?;
        Ok(rest.into_iter().map(|(gradients, volume)| Rest { gradients, volume }).collect())
    }
}
