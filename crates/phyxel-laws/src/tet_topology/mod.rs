//! Topology of tetrahedral meshes under splitting and welding of nodes: corners, opposite faces and the
//! boundary surface.
//!
//! An element has four corners, and corner `k` of element `e` has the number `4 e + k`. A node is a set of
//! corners, so fracture moves corners to a new node, a weld merges two nodes, and no element is ever cut,
//! created or lost `[Gis07]`. Face `4 e + k` is opposite to corner `3 - k`; two faces over the same three
//! nodes are opposite sides of one face, and a face without an opposite is on the surface. An edit touches
//! only the elements around its nodes, whatever the size of the body.
//!
//! All data follow from [`TetComplex::elements`] and the number of nodes alone, never from the history: a
//! complex that is rebuilt from them is the same.

mod edits;
mod error;
mod surface;
#[cfg(test)]
mod tests;

pub use edits::TopologyChange;
pub use error::{EditRejected, InvalidMesh};
pub use surface::{BoundarySurface, SurfaceTopology};

/// Corners of the four faces of an element, counter-clockwise seen from outside. Face `k` is opposite to
/// corner `3 - k`.
pub const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

/// Marks an absent face or half edge.
const NONE: u32 = u32::MAX;

/// Complex of tetrahedra that share nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TetComplex {
    elements: Vec<[u32; 4]>,
    /// Corners of each node, in order.
    corners: Vec<Vec<u32>>,
    /// Opposite side of each face.
    opposite: Vec<u32>,
    /// Twin of each half edge of the surface faces, on the same sheet.
    twins: Vec<u32>,
}

impl TetComplex {
    /// Complex from the nodes of elements, all below the number of nodes.
    ///
    /// Seen from the fourth corner of an element, the first three run counter-clockwise.
    pub fn new(elements: Vec<[u32; 4]>, nodes: usize) -> Result<Self, InvalidMesh> {
        let mut complex = Self { corners: vec![Vec::new(); nodes], ..Self::default() };
        for (e, element) in elements.iter().enumerate() {
            for (k, &node) in element.iter().enumerate() {
                let corners = complex.corners.get_mut(node as usize);
                corners.ok_or(InvalidMesh::NodeOutOfRange { element: e, node, nodes })?.push((4 * e + k) as u32);
                if element[..k].contains(&node) {
                    return Err(InvalidMesh::RepeatedNode { element: e, node });
                }
            }
        }
        complex.opposite = vec![NONE; 4 * elements.len()];
        complex.twins = vec![NONE; 12 * elements.len()];
        complex.elements = elements;
        complex.find_opposite_faces()?;
        let surface: Vec<u32> = complex.surface_faces().collect();
        surface.iter().for_each(|&face| complex.link_edges(face));
        Ok(complex)
    }

    fn find_opposite_faces(&mut self) -> Result<(), InvalidMesh> {
        let mut faces: Vec<([u32; 3], u32)> = (0..self.opposite.len() as u32)
            .map(|face| {
                let mut nodes = self.face(face);
                nodes.sort_unstable();
                (nodes, face)
            })
            .collect();
        faces.sort_unstable();
        for same in faces.chunk_by(|a, b| a.0 == b.0) {
            match *same {
                [_] => {}
                [(nodes, a), (_, b)] if !self.are_two_sides(a, b) => {
                    return Err(InvalidMesh::Overlap { nodes, elements: [a as usize / 4, b as usize / 4] });
                }
                [(_, a), (_, b)] => self.link_faces(a, b),
                _ => return Err(InvalidMesh::NonManifold { nodes: same[0].0, count: same.len() }),
            }
        }
        Ok(())
    }

    fn link_faces(&mut self, a: u32, b: u32) {
        self.opposite[a as usize] = b;
        self.opposite[b as usize] = a;
    }

    /// Returns true if the elements of two faces over the same nodes lie on different sides.
    fn are_two_sides(&self, a: u32, b: u32) -> bool {
        let (one, other) = (self.face(a), self.face(b));
        let is_reversed = (0..3).any(|k| [one[k], one[(k + 2) % 3], one[(k + 1) % 3]] == other);
        is_reversed && self.apex(a) != self.apex(b)
    }

    /// Nodes of each element.
    pub fn elements(&self) -> &[[u32; 4]] {
        &self.elements
    }

    /// Number of nodes, including removed ones, which have no corners.
    pub fn node_count(&self) -> usize {
        self.corners.len()
    }

    /// Corners of a node, in order; none for a node that does not exist.
    pub fn corners(&self, node: u32) -> &[u32] {
        self.corners.get(node as usize).map_or(&[], Vec::as_slice)
    }

    /// Nodes of a face, counter-clockwise seen from outside of its element.
    pub fn face(&self, face: u32) -> [u32; 3] {
        let element = &self.elements[face as usize / 4];
        FACES[face as usize % 4].map(|corner| element[corner])
    }

    /// Node of a face's element that is not on the face.
    fn apex(&self, face: u32) -> u32 {
        self.elements[face as usize / 4][3 - face as usize % 4]
    }

    /// Opposite side of a face; `None` on the surface.
    pub fn opposite_face(&self, face: u32) -> Option<u32> {
        Some(self.opposite[face as usize]).filter(|opposite| *opposite != NONE)
    }

    /// Faces on the surface, in order.
    pub fn surface_faces(&self) -> impl Iterator<Item = u32> {
        (0u32..).zip(&self.opposite).filter(|(_, opposite)| **opposite == NONE).map(|(face, _)| face)
    }

    /// Returns true if a node is on the surface.
    pub fn is_on_surface(&self, node: u32) -> bool {
        self.surface_faces_at(node).next().is_some()
    }

    /// Surface faces around a node, in order.
    pub fn surface_faces_at(&self, node: u32) -> impl Iterator<Item = u32> {
        let faces = self.corners(node).iter().flat_map(|&corner| faces_at(corner));
        faces.filter(|face| self.opposite[*face as usize] == NONE)
    }

    /// Renumbers nodes: node `k` becomes `numbers[k]`, and there are `nodes` nodes in all. Nodes without
    /// corners may lose their numbers.
    pub fn renumber(&mut self, numbers: &[u32], nodes: usize) -> Result<(), InvalidMesh> {
        let mut corners = vec![Vec::new(); nodes];
        for (old, &number) in self.corners.iter().zip(numbers).filter(|(old, _)| !old.is_empty()) {
            let element = old[0] as usize / 4;
            let slot: &mut Vec<u32> =
                corners.get_mut(number as usize).ok_or(InvalidMesh::NodeOutOfRange { element, node: number, nodes })?;
            if !slot.is_empty() {
                return Err(InvalidMesh::DuplicateNumber { number });
            }
            slot.clone_from(old);
        }
        if let Some(node) = (numbers.len()..self.corners.len()).find(|&node| !self.corners[node].is_empty()) {
            return Err(InvalidMesh::Unnumbered { node: node as u32 });
        }
        self.corners = corners;
        for (number, corners) in self.corners.iter().enumerate() {
            corners.iter().for_each(|&corner| self.elements[corner as usize / 4][corner as usize % 4] = number as u32);
        }
        Ok(())
    }
}

/// The three faces around a corner of its element.
fn faces_at(corner: u32) -> impl Iterator<Item = u32> {
    let element = corner & !3;
    (0..4).filter(move |k| k + (corner & 3) != 3).map(move |k| element + k)
}
