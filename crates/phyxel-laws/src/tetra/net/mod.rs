//! Elements tied at nodes: what a node holds, which faces lie on the surface, and how both change.
//!
//! An element has four corners, and corner `k` of element `e` has the number `4 e + k`. A node is a set of corners, so breaking
//! moves corners to a new node, merging unites two nodes, and no element is ever cut, made or lost `[Gis07]`. Face `4 e + k` lies
//! across from corner `3 - k`; two faces over the same three nodes are the two sides of one, and a face without another side is on
//! the surface. A change looks only at the elements around its nodes, whatever the size of the body.
//!
//! All there is follows from [`Net::elements`] and the number of nodes alone, never from the way there: a net that is made from
//! them anew is the same.

mod change;
mod error;
mod surface;

pub use change::Change;
pub use error::{Refusal, Tangle};
pub use surface::{Census, Surface};

/// Corners of the four faces of an element, counter-clockwise seen from outside. Face `k` lies across from corner `3 - k`.
pub const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

/// Stands for a face or an edge that is not there.
const NONE: u32 = u32::MAX;

/// Elements that share nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Net {
    elements: Vec<[u32; 4]>,
    /// The corners of each node, in order.
    corners: Vec<Vec<u32>>,
    /// The other side of each face.
    mates: Vec<u32>,
    /// The other half of each half edge of a face on the surface, along the same sheet.
    twins: Vec<u32>,
}

impl Net {
    /// From the nodes of elements, all below the number of nodes.
    ///
    /// Seen from the fourth corner of an element, the first three run counter-clockwise.
    pub fn new(elements: Vec<[u32; 4]>, nodes: usize) -> Result<Self, Tangle> {
        let mut net = Self { corners: vec![Vec::new(); nodes], ..Self::default() };
        for (e, element) in elements.iter().enumerate() {
            for (k, &node) in element.iter().enumerate() {
                let held = net.corners.get_mut(node as usize);
                held.ok_or(Tangle::Node { element: e, node, nodes })?.push((4 * e + k) as u32);
                if element[..k].contains(&node) {
                    return Err(Tangle::Folded { element: e, node });
                }
            }
        }
        net.mates = vec![NONE; 4 * elements.len()];
        net.twins = vec![NONE; 12 * elements.len()];
        net.elements = elements;
        net.find_mates()?;
        let surface: Vec<u32> = net.surface_faces().collect();
        surface.iter().for_each(|&face| net.tie_edges(face));
        Ok(net)
    }

    fn find_mates(&mut self) -> Result<(), Tangle> {
        let mut faces: Vec<([u32; 3], u32)> = (0..self.mates.len() as u32)
            .map(|face| {
                let mut nodes = self.face(face);
                nodes.sort_unstable();
                (nodes, face)
            })
            .collect();
        faces.sort_unstable();
        for alike in faces.chunk_by(|a, b| a.0 == b.0) {
            match *alike {
                [_] => {}
                [(nodes, a), (_, b)] if !self.is_back_to_back(a, b) => {
                    return Err(Tangle::Overlap { nodes, elements: [a as usize / 4, b as usize / 4] });
                }
                [(_, a), (_, b)] => self.pair(a, b),
                _ => return Err(Tangle::Crowd { nodes: alike[0].0, count: alike.len() }),
            }
        }
        Ok(())
    }

    fn pair(&mut self, a: u32, b: u32) {
        self.mates[a as usize] = b;
        self.mates[b as usize] = a;
    }

    /// Whether the elements of two faces over the same nodes lie on different sides of it.
    fn is_back_to_back(&self, a: u32, b: u32) -> bool {
        let (one, other) = (self.face(a), self.face(b));
        let turned = (0..3).any(|k| [one[k], one[(k + 2) % 3], one[(k + 1) % 3]] == other);
        turned && self.apex(a) != self.apex(b)
    }

    /// The nodes of each element.
    pub fn elements(&self) -> &[[u32; 4]] {
        &self.elements
    }

    /// How many numbers of nodes there are. Those of nodes that are gone hold no corners.
    pub fn nodes(&self) -> usize {
        self.corners.len()
    }

    /// The corners that a node holds, in order; none for a node that is not there.
    pub fn corners(&self, node: u32) -> &[u32] {
        self.corners.get(node as usize).map_or(&[], Vec::as_slice)
    }

    /// The nodes of a face, counter-clockwise seen from outside of its element.
    pub fn face(&self, face: u32) -> [u32; 3] {
        let element = &self.elements[face as usize / 4];
        FACES[face as usize % 4].map(|corner| element[corner])
    }

    /// The node of a face's element that is not on the face.
    fn apex(&self, face: u32) -> u32 {
        self.elements[face as usize / 4][3 - face as usize % 4]
    }

    /// The other side of a face; nothing on the surface.
    pub fn mate(&self, face: u32) -> Option<u32> {
        Some(self.mates[face as usize]).filter(|mate| *mate != NONE)
    }

    /// The faces on the surface, in order.
    pub fn surface_faces(&self) -> impl Iterator<Item = u32> {
        (0u32..).zip(&self.mates).filter(|(_, mate)| **mate == NONE).map(|(face, _)| face)
    }

    /// Whether a node lies on the surface.
    pub fn is_on_surface(&self, node: u32) -> bool {
        self.surface_around(node).next().is_some()
    }

    /// The faces on the surface that have a node, in order.
    pub fn surface_around(&self, node: u32) -> impl Iterator<Item = u32> {
        let faces = self.corners(node).iter().flat_map(|&corner| faces_at(corner));
        faces.filter(|face| self.mates[*face as usize] == NONE)
    }

    /// Gives nodes other numbers: node `k` gets `numbers[k]`, and there are `nodes` numbers in all. Nodes that hold no corners may
    /// lose theirs.
    pub fn renumber(&mut self, numbers: &[u32], nodes: usize) -> Result<(), Tangle> {
        let mut corners = vec![Vec::new(); nodes];
        for (held, &number) in self.corners.iter().zip(numbers).filter(|(held, _)| !held.is_empty()) {
            let element = held[0] as usize / 4;
            let place: &mut Vec<u32> =
                corners.get_mut(number as usize).ok_or(Tangle::Node { element, node: number, nodes })?;
            if !place.is_empty() {
                return Err(Tangle::Taken { number });
            }
            place.clone_from(held);
        }
        if let Some(node) = (numbers.len()..self.corners.len()).find(|&node| !self.corners[node].is_empty()) {
            return Err(Tangle::Unnumbered { node: node as u32 });
        }
        self.corners = corners;
        for (number, held) in self.corners.iter().enumerate() {
            held.iter().for_each(|&corner| self.elements[corner as usize / 4][corner as usize % 4] = number as u32);
        }
        Ok(())
    }
}

/// The three faces of a corner's element that have the corner.
fn faces_at(corner: u32) -> impl Iterator<Item = u32> {
    let element = corner & !3;
    (0..4).filter(move |k| k + (corner & 3) != 3).map(move |k| element + k)
}
