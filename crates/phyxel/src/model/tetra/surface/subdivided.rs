//! Boundary surface of a body and its incremental subdivision, updated when nodes split and weld.

use crate::frame::Topology;
use crate::model::tetra::body::TetBody;
use crate::skin::{SmoothSurface, SubdivisionRule};
use phyxel_laws::subdivision::{IncrementalSubdivision, SubdivisionScheme};
use phyxel_laws::tet_topology::BoundarySurface;
use std::ops::Range;

/// Index of a node that no longer exists.
const GONE: u32 = u32::MAX;

impl TetBody {
    /// Boundary surface by node index in the body, whose particles are `range`.
    pub fn boundary_surface(&self, range: Range<usize>) -> BoundarySurface {
        match &self.complex {
            Some(complex) => complex.surface(),
            None => self.build_complex(range).surface(),
        }
    }
}

/// Boundary surface, subdivided or as it is.
///
/// Sheets that touch in a node or along an edge have separate vertices there, so that each is closed.
#[derive(Debug)]
pub(super) struct SubdividedSurface {
    pub subdivision: IncrementalSubdivision,
}

impl SubdividedSurface {
    /// Makes an empty surface.
    pub fn new(smooth: Option<&SmoothSurface>) -> Self {
        // With zero levels the scheme is irrelevant.
        let (scheme, levels) =
            smooth.map_or((SubdivisionScheme::Loop, 0), |smooth| (scheme_of(smooth.scheme), smooth.levels));
        Self { subdivision: IncrementalSubdivision::new(scheme, levels) }
    }

    /// Updates to the present boundary surface. Only the neighbourhood of changes is rebuilt.
    pub fn update(&mut self, surface: BoundarySurface) -> Topology {
        // The boundary of a complex is closed. At a crack front four faces may share an edge, which then
        // pair up two by two.
        let (half_edges, faces) =
            surface.half_edge_mesh().map_or_else(|_| Default::default(), |half_edges| (half_edges, surface.faces));
        let euler_numbers = half_edges.euler_characteristics();
        let genus = if let [euler] = euler_numbers[..] { Some((2 - euler) / 2) } else { None };
        self.subdivision.update(half_edges, &faces);
        Topology { closed: !euler_numbers.is_empty(), pieces: euler_numbers.len() as u32, genus }
    }

    /// Renumbers nodes from the old to the new nodes of the same elements. A node continues the one that
    /// had its first corner; what has split or been welded is rebuilt.
    pub fn renumber(&mut self, old: &[[u32; 4]], new: &[[u32; 4]]) {
        // Every node has a corner, so there are at most as many nodes as corners.
        let corners = old.as_flattened().len();
        let (mut new_indices, mut sources) = (vec![GONE; corners], vec![GONE; corners]);
        for (&was, &is) in old.as_flattened().iter().zip(new.as_flattened()) {
            let (Some(index), Some(source)) = (new_indices.get_mut(was as usize), sources.get_mut(is as usize)) else {
                continue;
            };
            if *index == GONE {
                *index = is;
            }
            if *source == GONE {
                *source = was;
            }
        }
        let mut has_moved = false;
        for (was, index) in (0..).zip(&mut new_indices).filter(|(_, index)| **index != GONE) {
            if sources[*index as usize] == was {
                has_moved |= *index != was;
            } else {
                *index = GONE;
            }
        }
        // A removed node matches nothing, whatever its index.
        if has_moved {
            self.subdivision.renumber(&new_indices);
        }
    }
}

fn scheme_of(scheme: SubdivisionRule) -> SubdivisionScheme {
    match scheme {
        SubdivisionRule::Loop => SubdivisionScheme::Loop,
        SubdivisionRule::Butterfly => SubdivisionScheme::Butterfly,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phyxel_laws::tet_topology::TetComplex;

    /// Bar of cells along x, each cut into six elements.
    fn bar(cells: u32) -> TetComplex {
        let node = |[x, y, z]: [u32; 3]| x + (cells + 1) * (y + 2 * z);
        let elements = (0..cells).flat_map(|x| {
            [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]].map(|axes: [usize; 3]| {
                let mut cell = [x, 0, 0];
                let [b, c, d] = axes.map(|axis| {
                    cell[axis] += 1;
                    node(cell)
                });
                if (axes[0] + 1) % 3 == axes[1] { [node([x, 0, 0]), b, c, d] } else { [node([x, 0, 0]), c, b, d] }
            })
        });
        TetComplex::new(elements.collect(), 4 * (cells as usize + 1)).unwrap()
    }

    /// Updates the surface of a changed complex, and checks it against a rebuilt one. Returns the number
    /// of rebuilt vertices.
    fn update_and_check(surface: &mut SubdividedSurface, old: &[[u32; 4]], complex: &TetComplex) -> usize {
        let smooth = SmoothSurface { scheme: SubdivisionRule::Loop, levels: 2 };
        surface.renumber(old, complex.elements());
        let rebuilt_count =
            surface.subdivision.update(complex.surface().half_edge_mesh().unwrap(), &complex.surface().faces);
        let mut rebuilt = SubdividedSurface::new(Some(&smooth));
        rebuilt.update(complex.surface());
        assert_eq!(surface.subdivision.triangles(), rebuilt.subdivision.triangles());
        assert_eq!(surface.subdivision.weights(), rebuilt.subdivision.weights());
        rebuilt_count
    }

    #[test]
    fn renumbered_nodes_are_recognised() {
        let smooth = SmoothSurface { scheme: SubdivisionRule::Loop, levels: 2 };
        let (mut complex, mut surface) = (bar(20), SubdividedSurface::new(Some(&smooth)));
        let topology = surface.update(complex.surface());
        assert_eq!(topology, Topology { closed: true, pieces: 1, genus: Some(0) });
        let total = surface.subdivision.weights().len();
        let old = complex.elements().to_vec();
        assert_eq!(update_and_check(&mut surface, &old, &complex), 0, "nothing has changed");
        // A node splits, and all nodes are renumbered in reverse.
        let groups: Vec<u32> = complex.corners(10).iter().map(|&corner| u32::from(corner >= 4 * 60)).collect();
        let new_nodes = complex.split(10, &groups).unwrap().new_nodes;
        let count = complex.node_count() as u32;
        let backwards: Vec<u32> = (0..count).rev().collect();
        complex.renumber(&backwards, count as usize).unwrap();
        let rebuilt = update_and_check(&mut surface, &old, &complex);
        assert!(rebuilt > 0 && 2 * rebuilt < total, "{rebuilt} of {total}");
        // It is welded again; the last node takes the index of the removed one.
        let old = complex.elements().to_vec();
        let [kept, removed] = [10, new_nodes[0]].map(|node| count - 1 - node);
        complex.weld(kept, removed).unwrap();
        let new_indices: Vec<u32> = (0..count).map(|node| if node == count - 1 { removed } else { node }).collect();
        complex.renumber(&new_indices, count as usize).unwrap();
        let rebuilt = update_and_check(&mut surface, &old, &complex);
        assert!(rebuilt > 0 && 2 * rebuilt < total, "{rebuilt} of {total}");
    }
}
