//! What of bodies others can touch.

use super::TetraModel;
use super::body::Tetras;
use crate::Real;
use crate::body::Body;
use crate::model::Parts;
use glam::Vec3;
use phyxel_laws::tetra::Net as Ties;
use std::ops::Range;

/// The surface of a body as contact needs it, kept until nodes part or unite.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outside {
    /// Face `k` of element `e` is `4 e + k`; rising.
    pub faces: Vec<u32>,
    /// Nodes on the surface, by their numbers in the body; rising.
    pub nodes: Vec<u32>,
    /// The piece of each of these.
    pub homes: Vec<u32>,
    /// The piece of each element: what hangs together by nodes.
    pub pieces: Vec<u32>,
    /// Number of pieces.
    pub count: u32,
}

impl Outside {
    pub fn new(ties: &Ties) -> Self {
        let mut parts = Parts::new(ties.nodes());
        for element in ties.elements() {
            element.windows(2).for_each(|pair| parts.unite([pair[0], pair[1]]));
        }
        let (mut names, mut count) = (vec![u32::MAX; ties.nodes()], 0);
        let piece = |element: &[u32; 4]| {
            let name = &mut names[parts.root(element[0]) as usize];
            if *name == u32::MAX {
                *name = count;
                count += 1;
            }
            *name
        };
        let pieces: Vec<u32> = ties.elements().iter().map(piece).collect();
        let faces: Vec<u32> = ties.surface_faces().collect();
        let mut is_outside = vec![false; ties.nodes()];
        faces.iter().flat_map(|&face| ties.face(face)).for_each(|node| is_outside[node as usize] = true);
        let nodes: Vec<u32> = (0..ties.nodes() as u32).filter(|node| is_outside[*node as usize]).collect();
        let homes = nodes.iter().map(|&node| pieces[ties.corners(node)[0] as usize / 4]).collect();
        Self { faces, nodes, homes, pieces, count }
    }
}

/// A body of tetrahedra as contact sees it.
#[derive(Clone, Copy)]
pub(crate) struct Solid<'a> {
    /// Its number.
    pub body: usize,
    /// The particles at the corners of its elements.
    pub elements: &'a [[u32; 4]],
    pub outside: &'a Outside,
}

impl Tetras {
    /// Finds which corners are tied, and the surface, unless they are known; its particles are `run`.
    pub fn know_surface(&mut self, run: Range<usize>) {
        if self.ties.is_none() {
            self.ties = Some(self.find_ties(run));
        }
        if let (None, Some(ties)) = (&self.outside, &self.ties) {
            self.outside = Some(Outside::new(ties));
        }
    }
}

impl TetraModel {
    /// All bodies. Needs what [`prepare`](Self::prepare) makes.
    pub(crate) fn solids(&self) -> impl Iterator<Item = Solid<'_>> {
        self.bodies.iter().filter_map(|tetras| {
            let outside = tetras.outside.as_ref()?;
            Some(Solid { body: tetras.id.0 as usize, elements: &tetras.elements, outside })
        })
    }

    /// What a node of a body shows of its surface, seen along a direction, m2: a third of each face around it that looks the other way.
    pub(crate) fn area_against(&self, bodies: &[Body], particle: usize, positions: &[Vec3], direction: Vec3) -> Real {
        // A third of half of the product.
        let shown = |face: Vec3| (-face.dot(direction) / 6.0).max(0.0);
        self.faces_at(bodies, particle, positions).map(shown).sum()
    }

    /// Faces of the surface around a node: products of two of their edges, outwards, m2.
    pub(super) fn faces_at<'a>(
        &'a self,
        bodies: &[Body],
        particle: usize,
        positions: &'a [Vec3],
    ) -> impl Iterator<Item = Vec3> + 'a {
        let place = self.bodies.iter().find(|tetras| bodies[tetras.id.0 as usize].range().contains(&particle));
        let known =
            place.and_then(|tetras| Some((bodies[tetras.id.0 as usize].particles.start, tetras.ties.as_ref()?)));
        known.into_iter().flat_map(move |(first, ties)| {
            ties.surface_around(particle as u32 - first).map(move |face| {
                let [a, b, c] = ties.face(face).map(|node| positions[(node + first) as usize]);
                (b - a).cross(c - a)
            })
        })
    }
}
