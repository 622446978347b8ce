//! Splitting and welding of nodes.

use super::{EditRejected, NONE, TetComplex, faces_at};
use crate::Real;
use crate::fem::{allows_weld, split_by_faces};
use glam::Vec3;

/// Result of an edit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopologyChange {
    /// New nodes, in order. Their position is that of the node they split from.
    pub new_nodes: Vec<u32>,
    /// Node that has no corners any more.
    pub removed_node: Option<u32>,
    /// Faces that are newly on the surface, in order.
    pub exposed: Vec<u32>,
    /// Faces that are no longer on the surface, in order.
    pub covered: Vec<u32>,
}

impl TopologyChange {
    /// Returns true if nothing changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl TetComplex {
    /// Splits a node into one per group of its corners and per component of a group whose elements are
    /// connected by faces at the node. `groups` are in the order of [`TetComplex::corners`].
    ///
    /// The component with the first corner keeps the node. The others get new nodes, numbered on from the
    /// last, in the order of their first corners.
    pub fn split(&mut self, node: u32, groups: &[u32]) -> Result<TopologyChange, EditRejected> {
        let corners = self.corners(node).to_vec();
        if corners.is_empty() {
            return Err(EditRejected::NoCorners { node });
        }
        if groups.len() != corners.len() {
            return Err(EditRejected::GroupCount { node, corners: corners.len(), groups: groups.len() });
        }
        let mut components = compact_groups(groups);
        let others: Vec<[u32; 3]> = corners.iter().map(|&corner| self.other_nodes(corner)).collect();
        let count = split_by_faces(&others, &mut components);
        let first = self.corners.len() as u32;
        self.corners.resize(self.corners.len() + count - 1, Vec::new());
        self.corners[node as usize].clear();
        for (&corner, &component) in corners.iter().zip(&components) {
            let number = if component == 0 { node } else { first + component - 1 };
            self.corners[number as usize].push(corner);
            self.elements[corner as usize / 4][corner as usize % 4] = number;
        }
        let exposed = self.expose_faces(&corners);
        exposed.iter().for_each(|&face| self.link_edges(face));
        Ok(TopologyChange {
            new_nodes: (first..self.corners.len() as u32).collect(),
            exposed,
            ..TopologyChange::default()
        })
    }

    /// Splits the nodes of faces exposed by a split where their elements are no longer connected by faces,
    /// so that nothing stays connected by an edge or a node only. Returns each of these nodes, in order,
    /// with its new ones. Exposes no other faces.
    pub fn split_exposed_nodes(&mut self, split: &TopologyChange) -> Vec<(u32, Vec<u32>)> {
        let mut nodes: Vec<u32> = split.exposed.iter().flat_map(|&face| self.face(face)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut split_nodes = Vec::new();
        for node in nodes {
            let one_group = vec![0; self.corners(node).len()];
            match self.split(node, &one_group) {
                Ok(change) if !change.new_nodes.is_empty() => split_nodes.push((node, change.new_nodes)),
                _ => {}
            }
        }
        split_nodes
    }

    /// Unlinks faces at some corners whose opposite faces no longer have the same nodes. They become
    /// surface faces.
    fn expose_faces(&mut self, corners: &[u32]) -> Vec<u32> {
        let mut exposed = Vec::new();
        for face in corners.iter().flat_map(|&corner| faces_at(corner)) {
            let opposite = self.opposite[face as usize];
            if opposite != NONE && !self.are_two_sides(face, opposite) {
                (self.opposite[face as usize], self.opposite[opposite as usize]) = (NONE, NONE);
                exposed.extend([face, opposite]);
            }
        }
        exposed.sort_unstable();
        exposed
    }

    /// Welds two nodes: the corners of `removed` go to `kept`. Faces of both that become opposite sides
    /// leave the surface.
    ///
    /// The position of the welded node is up to the caller; see [`TetComplex::check_weld`].
    pub fn weld(&mut self, kept: u32, removed: u32) -> Result<TopologyChange, EditRejected> {
        let pairs = self.matching_faces(kept, removed)?;
        let moved = std::mem::take(&mut self.corners[removed as usize]);
        for &corner in &moved {
            self.elements[corner as usize / 4][corner as usize % 4] = kept;
        }
        let corners = &mut self.corners[kept as usize];
        corners.extend(moved);
        corners.sort_unstable();
        let mut covered: Vec<u32> = Vec::new();
        for (a, b) in pairs {
            self.link_faces(a, b);
            covered.extend([a, b]);
        }
        covered.sort_unstable();
        for face in &covered {
            self.twins[3 * *face as usize..][..3].fill(NONE);
        }
        covered.iter().for_each(|&face| self.link_edges(face));
        Ok(TopologyChange { removed_node: Some(removed), covered, ..TopologyChange::default() })
    }

    /// Pairs of faces that would become opposite sides if two nodes were welded.
    fn matching_faces(&self, a: u32, b: u32) -> Result<Vec<(u32, u32)>, EditRejected> {
        for node in [a, b] {
            if self.corners(node).is_empty() {
                return Err(EditRejected::NoCorners { node });
            }
        }
        let shared = self.corners(a).iter().find(|corner| self.elements[**corner as usize / 4].contains(&b));
        if let Some(&corner) = shared {
            return Err(EditRejected::RepeatedNode { element: corner as usize / 4 });
        }
        // The two nodes of a face that are not welded, by number, and the face.
        let mut faces: Vec<([u32; 2], u32)> = Vec::new();
        for (node, &corner) in [a, b].into_iter().flat_map(|node| self.corners(node).iter().map(move |c| (node, c))) {
            for face in faces_at(corner) {
                let [p, q] = self.following_nodes(face, node);
                faces.push(([p.min(q), p.max(q)], face));
            }
        }
        faces.sort_unstable();
        let mut pairs = Vec::new();
        for same in faces.chunk_by(|a, b| a.0 == b.0) {
            match *same {
                [_] => {}
                [(_, one), (_, other)] if self.opposite[one as usize] == other => {}
                [(_, one), (_, other)] => {
                    let side = |face: u32| self.following_nodes(face, if self.face(face).contains(&a) { a } else { b });
                    let ([p, q], [r, s]) = (side(one), side(other));
                    if (p, q) != (s, r) || self.apex(one) == self.apex(other) {
                        return Err(EditRejected::Overlap { elements: [one as usize / 4, other as usize / 4] });
                    }
                    pairs.push((one, other));
                }
                _ => return Err(EditRejected::NonManifold { element: same[0].1 as usize / 4 }),
            }
        }
        Ok(pairs)
    }

    /// The two nodes that follow a node of a face.
    fn following_nodes(&self, face: u32, node: u32) -> [u32; 2] {
        let nodes = self.face(face);
        let k = nodes.iter().position(|n| *n == node).unwrap_or(0);
        [nodes[(k + 1) % 3], nodes[(k + 2) % 3]]
    }

    /// Checks that two nodes may be welded at a position, m: no element would have a node twice, be
    /// inverted, or have less than the fraction `min_fraction` of its reference volume, and no face more
    /// than two sides. `reference_volume` is by element, m3.
    pub fn check_weld(
        &self,
        [a, b]: [u32; 2],
        target: Vec3,
        positions: &[Vec3],
        reference_volume: impl Fn(usize) -> Real,
        min_fraction: Real,
    ) -> Result<(), EditRejected> {
        self.matching_faces(a, b)?;
        for &corner in self.corners(a).iter().chain(self.corners(b)) {
            let element = corner as usize / 4;
            let candidate = [(self.elements[element], reference_volume(element))];
            if !allows_weld([a, b], target, candidate, |node| positions[node as usize], min_fraction) {
                return Err(EditRejected::VolumeTooSmall { element });
            }
        }
        Ok(())
    }

    /// Other three nodes of a corner's element.
    fn other_nodes(&self, corner: u32) -> [u32; 3] {
        let (element, own) = (&self.elements[corner as usize / 4], corner as usize % 4);
        std::array::from_fn(|k| element[if k < own { k } else { k + 1 }])
    }
}

/// Renumbers groups from 0 in the order of their first occurrence.
fn compact_groups(groups: &[u32]) -> Vec<u32> {
    let mut known: Vec<u32> = Vec::new();
    groups
        .iter()
        .map(|group| {
            let number = known.iter().position(|k| k == group).unwrap_or(known.len());
            if number == known.len() {
                known.push(*group);
            }
            number as u32
        })
        .collect()
}
