//! Boundary surface of a tetrahedral complex: closed sheets of triangles, distinct where they touch.
//!
//! Half edge `3 f + j` goes from node `j` of face `f` to the next. Its twin is found by rotating around the
//! edge through the elements, from face to face, so two components that only touch along an edge or in a
//! node each have a sheet that is closed by itself.

use super::{FACES, NONE, TetComplex};
use crate::subdivision::{HalfEdgeMesh, InvalidSurface};
use glam::{DVec3, Vec3};

/// For each half edge of an element's four faces, the reversed one on another face of the element.
const ADJACENT_HALF_EDGE: [u32; 12] = find_adjacent();

const fn find_adjacent() -> [u32; 12] {
    let mut across = [0; 12];
    let mut half = 0;
    while half < 12 {
        let mut other = 0;
        while other < 12 {
            let (f, j, g, k) = (half / 3, half % 3, other / 3, other % 3);
            if FACES[f][j] == FACES[g][(k + 1) % 3] && FACES[g][k] == FACES[f][(j + 1) % 3] {
                across[half] = other as u32;
            }
            other += 1;
        }
        half += 1;
    }
    across
}

/// Boundary surface of a tetrahedral complex.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoundarySurface {
    /// Faces, in order.
    pub faces: Vec<u32>,
    /// Nodes of the faces, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Twin of each half edge: `3 t + j` goes from node `j` of triangle `t` to the next.
    pub twins: Vec<u32>,
}

impl BoundarySurface {
    /// Half-edge mesh with a vertex for each fan of triangles. The surface of a complex always has one.
    pub fn half_edge_mesh(&self) -> Result<HalfEdgeMesh, InvalidSurface> {
        HalfEdgeMesh::from_twins(&self.triangles, self.twins.clone())
    }

    /// Enclosed volume, m3.
    pub fn volume(&self, positions: &[Vec3]) -> f64 {
        let signed_tet = |triangle: &[u32; 3]| {
            let [a, b, c]: [DVec3; 3] = triangle.map(|node| positions[node as usize].as_dvec3());
            a.dot(b.cross(c)) / 6.0
        };
        self.triangles.iter().map(signed_tet).sum()
    }

    /// Counts triangles and vertices and computes Euler characteristics, after a check that every half edge
    /// has its twin.
    pub fn topology(&self) -> Result<SurfaceTopology, InvalidSurface> {
        let mesh = self.half_edge_mesh()?;
        Ok(SurfaceTopology {
            triangles: self.triangles.len(),
            vertices: mesh.vertex_count() as usize,
            euler_characteristics: mesh.euler_characteristics(),
        })
    }
}

/// Topological invariants of a closed surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SurfaceTopology {
    /// Number of triangles.
    pub triangles: usize,
    /// Number of vertices (fans of triangles). A node where sheets touch has several.
    pub vertices: usize,
    /// Euler characteristic `V - E + F` of each closed sheet: 2 for a sphere, two less for each handle.
    pub euler_characteristics: Vec<i64>,
}

impl SurfaceTopology {
    /// Returns true if every sheet has the Euler characteristic of a closed orientable surface.
    pub fn is_valid(&self) -> bool {
        self.triangles.is_multiple_of(2) && self.euler_characteristics.iter().all(|euler| *euler <= 2 && euler % 2 == 0)
    }
}

impl TetComplex {
    /// Current boundary surface.
    pub fn surface(&self) -> BoundarySurface {
        let faces: Vec<u32> = self.surface_faces().collect();
        let triangles = faces.iter().map(|&face| self.face(face)).collect();
        let mut triangle_of_face = vec![NONE; self.opposite.len()];
        (0..).zip(&faces).for_each(|(triangle, &face)| triangle_of_face[face as usize] = triangle);
        let surface_half = |half: u32| 3 * triangle_of_face[half as usize / 3] + half % 3;
        let twins = faces.iter().flat_map(|&face| 3 * face..3 * face + 3);
        let twins = twins.map(|half| surface_half(self.twins[half as usize])).collect();
        BoundarySurface { faces, triangles, twins }
    }

    /// Volume of all elements, m3; inverted ones count negative.
    pub fn volume(&self, positions: &[Vec3]) -> f64 {
        let shape = |element: &[u32; 4]| element.map(|node| positions[node as usize].as_dvec3());
        self.elements.iter().map(|element| crate::fem::signed_volume_f64(shape(element))).sum()
    }

    /// Finds the twins of the half edges of a face that was exposed or covered.
    pub(super) fn link_edges(&mut self, face: u32) {
        for half in 3 * face..3 * face + 3 {
            // On the surface the rotation around the edge begins here; inside it passes.
            let one = match self.opposite_face(face) {
                None => Some(half),
                Some(opposite) => {
                    self.next_surface_half_edge(self.half_edge_from(opposite, self.start(self.next(half))))
                }
            };
            if let (Some(one), Some(other)) = (one, self.next_surface_half_edge(half)) {
                self.twins[one as usize] = other;
                self.twins[other as usize] = one;
            }
        }
    }

    /// Rotates around the edge of a half edge, through the element of its face and on, to the reversed half
    /// edge on the surface. `None` where elements surround the edge.
    fn next_surface_half_edge(&self, from: u32) -> Option<u32> {
        let mut half = from;
        loop {
            let other = half - half % 12 + ADJACENT_HALF_EDGE[half as usize % 12];
            let Some(opposite) = self.opposite_face(other / 3) else { return Some(other) };
            half = self.half_edge_from(opposite, self.start(self.next(other)));
            if half == from {
                return None;
            }
        }
    }

    /// Half edge of a face that starts at a node.
    fn half_edge_from(&self, face: u32, node: u32) -> u32 {
        let at = self.face(face).iter().position(|n| *n == node).unwrap_or(0);
        3 * face + at as u32
    }

    fn start(&self, half: u32) -> u32 {
        self.face(half / 3)[half as usize % 3]
    }

    fn next(&self, half: u32) -> u32 {
        if half % 3 == 2 { half - 2 } else { half + 1 }
    }
}
