//! Nodes that part and unite.

use super::{NONE, Net, Refusal, faces_at};
use crate::Real;
use crate::tetra::{allows_uniting, part_by_faces};
use glam::Vec3;

/// What a change has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// New nodes, in order. They are where the node is that they come from.
    pub born: Vec<u32>,
    /// The node that holds no corners any more.
    pub gone: Option<u32>,
    /// Faces that have come to the surface, in order.
    pub bared: Vec<u32>,
    /// Faces that are no longer on the surface, in order.
    pub covered: Vec<u32>,
}

impl Change {
    /// Whether all is as it was.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl Net {
    /// Parts the corners of a node: those that get another group, in the order of [`Net::corners`], go to another node, and so do
    /// pieces of a group whose elements share no face at the node.
    ///
    /// The piece with the first corner keeps the node. The others get new ones, numbered on from the last, in the order of their
    /// first corners.
    pub fn split(&mut self, node: u32, groups: &[u32]) -> Result<Change, Refusal> {
        let corners = self.corners(node).to_vec();
        if corners.is_empty() {
            return Err(Refusal::Nothing { node });
        }
        if groups.len() != corners.len() {
            return Err(Refusal::Groups { node, corners: corners.len(), groups: groups.len() });
        }
        let mut pieces = groups_from_zero(groups);
        let others: Vec<[u32; 3]> = corners.iter().map(|&corner| self.others(corner)).collect();
        let count = part_by_faces(&others, &mut pieces);
        let first = self.corners.len() as u32;
        self.corners.resize(self.corners.len() + count - 1, Vec::new());
        self.corners[node as usize].clear();
        for (&corner, &piece) in corners.iter().zip(&pieces) {
            let number = if piece == 0 { node } else { first + piece - 1 };
            self.corners[number as usize].push(corner);
            self.elements[corner as usize / 4][corner as usize % 4] = number;
        }
        let bared = self.part_faces(&corners);
        bared.iter().for_each(|&face| self.tie_edges(face));
        Ok(Change { born: (first..self.corners.len() as u32).collect(), bared, ..Change::default() })
    }

    /// Parts nodes of faces that a split has bared where their pieces share no face any more, so that nothing goes on hanging by an
    /// edge or in a node. Returns each of these nodes, in order, with its new ones. Bares no other faces.
    pub fn part_beside(&mut self, split: &Change) -> Vec<(u32, Vec<u32>)> {
        let mut nodes: Vec<u32> = split.bared.iter().flat_map(|&face| self.face(face)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut parted = Vec::new();
        for node in nodes {
            let together = vec![0; self.corners(node).len()];
            match self.split(node, &together) {
                Ok(change) if !change.born.is_empty() => parted.push((node, change.born)),
                _ => {}
            }
        }
        parted
    }

    /// Parts faces at some corners that have not the same nodes as their other sides any more. They come to the surface.
    fn part_faces(&mut self, corners: &[u32]) -> Vec<u32> {
        let mut bared = Vec::new();
        for face in corners.iter().flat_map(|&corner| faces_at(corner)) {
            let mate = self.mates[face as usize];
            if mate != NONE && !self.is_back_to_back(face, mate) {
                (self.mates[face as usize], self.mates[mate as usize]) = (NONE, NONE);
                bared.extend([face, mate]);
            }
        }
        bared.sort_unstable();
        bared
    }

    /// Unites two nodes: the corners of `gone` go to `kept`. Faces of both that come to lie back to back leave the surface.
    ///
    /// Where the united node is, is up to the caller; see [`Net::allows_join`].
    pub fn join(&mut self, kept: u32, gone: u32) -> Result<Change, Refusal> {
        let pairs = self.faces_to_pair(kept, gone)?;
        let moved = std::mem::take(&mut self.corners[gone as usize]);
        for &corner in &moved {
            self.elements[corner as usize / 4][corner as usize % 4] = kept;
        }
        let held = &mut self.corners[kept as usize];
        held.extend(moved);
        held.sort_unstable();
        let mut covered: Vec<u32> = Vec::new();
        for (a, b) in pairs {
            self.pair(a, b);
            covered.extend([a, b]);
        }
        covered.sort_unstable();
        for face in &covered {
            self.twins[3 * *face as usize..][..3].fill(NONE);
        }
        covered.iter().for_each(|&face| self.tie_edges(face));
        Ok(Change { gone: Some(gone), covered, ..Change::default() })
    }

    /// Faces of two nodes that would be two sides of one if these were one node.
    fn faces_to_pair(&self, a: u32, b: u32) -> Result<Vec<(u32, u32)>, Refusal> {
        for node in [a, b] {
            if self.corners(node).is_empty() {
                return Err(Refusal::Nothing { node });
            }
        }
        let folded = self.corners(a).iter().find(|corner| self.elements[**corner as usize / 4].contains(&b));
        if let Some(&corner) = folded {
            return Err(Refusal::Folded { element: corner as usize / 4 });
        }
        // The two nodes of a face that do not unite, by number, and the face.
        let mut faces: Vec<([u32; 2], u32)> = Vec::new();
        for (node, &corner) in [a, b].into_iter().flat_map(|node| self.corners(node).iter().map(move |c| (node, c))) {
            for face in faces_at(corner) {
                let [p, q] = self.rest_of(face, node);
                faces.push(([p.min(q), p.max(q)], face));
            }
        }
        faces.sort_unstable();
        let mut pairs = Vec::new();
        for alike in faces.chunk_by(|a, b| a.0 == b.0) {
            match *alike {
                [_] => {}
                [(_, one), (_, other)] if self.mates[one as usize] == other => {}
                [(_, one), (_, other)] => {
                    let side = |face: u32| self.rest_of(face, if self.face(face).contains(&a) { a } else { b });
                    let ([p, q], [r, s]) = (side(one), side(other));
                    if (p, q) != (s, r) || self.apex(one) == self.apex(other) {
                        return Err(Refusal::Overlap { elements: [one as usize / 4, other as usize / 4] });
                    }
                    pairs.push((one, other));
                }
                _ => return Err(Refusal::Crowd { element: alike[0].1 as usize / 4 }),
            }
        }
        Ok(pairs)
    }

    /// The two other nodes of a face, from one of its nodes on.
    fn rest_of(&self, face: u32, node: u32) -> [u32; 2] {
        let nodes = self.face(face);
        let at = nodes.iter().position(|n| *n == node).unwrap_or(0);
        [nodes[(at + 1) % 3], nodes[(at + 2) % 3]]
    }

    /// Whether two nodes may become one at a place, m: no element would have a node twice, be mirrored, or have less than the part
    /// `least` of its volume at rest, and no face more than two sides. `rest` tells the volume of an element at rest, m3.
    pub fn allows_join(
        &self,
        [a, b]: [u32; 2],
        place: Vec3,
        positions: &[Vec3],
        rest: impl Fn(usize) -> Real,
        least: Real,
    ) -> Result<(), Refusal> {
        self.faces_to_pair(a, b)?;
        for &corner in self.corners(a).iter().chain(self.corners(b)) {
            let element = corner as usize / 4;
            let shape = [(self.elements[element], rest(element))];
            if !allows_uniting([a, b], place, shape, |node| positions[node as usize], least) {
                return Err(Refusal::Shrunk { element });
            }
        }
        Ok(())
    }

    /// The other three nodes of a corner's element.
    fn others(&self, corner: u32) -> [u32; 3] {
        let (element, at) = (&self.elements[corner as usize / 4], corner as usize % 4);
        std::array::from_fn(|k| element[if k < at { k } else { k + 1 }])
    }
}

/// The same groups with numbers from 0, in the order in which they first come.
fn groups_from_zero(groups: &[u32]) -> Vec<u32> {
    let mut known: Vec<u32> = Vec::new();
    groups
        .iter()
        .map(|group| {
            let at = known.iter().position(|k| k == group).unwrap_or(known.len());
            if at == known.len() {
                known.push(*group);
            }
            at as u32
        })
        .collect()
}
