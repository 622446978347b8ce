//! The surface of a net: closed sheets of triangles, told apart where they touch.
//!
//! Half edge `3 f + j` goes from node `j` of face `f` to the next. Its other half is found by turning around the edge through matter
//! from face to face, so two parts of a body that only touch along an edge or in a node each have a sheet that is closed by
//! itself.

use super::{FACES, NONE, Net};
use crate::tetra::subdivide::{Flaw, Sheet};
use glam::{DVec3, Vec3};

/// For each half edge of an element's four faces, the one of another face that runs against it.
const ACROSS: [u32; 12] = find_across();

const fn find_across() -> [u32; 12] {
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

/// The surface of a net.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surface {
    /// The faces, in order.
    pub faces: Vec<u32>,
    /// Their nodes, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// The other half of each half edge: `3 t + j` goes from node `j` of triangle `t` to the next.
    pub twins: Vec<u32>,
}

impl Surface {
    /// The surface with a vertex for each fan of triangles. A surface of a net always has one.
    pub fn sheet(&self) -> Result<Sheet, Flaw> {
        Sheet::from_twins(&self.triangles, self.twins.clone())
    }

    /// Volume inside, m3.
    pub fn volume(&self, positions: &[Vec3]) -> f64 {
        let cone = |triangle: &[u32; 3]| {
            let [a, b, c]: [DVec3; 3] = triangle.map(|node| positions[node as usize].as_dvec3());
            a.dot(b.cross(c)) / 6.0
        };
        self.triangles.iter().map(cone).sum()
    }

    /// Counts what the surface is made of, after a check that every half edge has its other half.
    pub fn census(&self) -> Result<Census, Flaw> {
        let sheet = self.sheet()?;
        Ok(Census { triangles: self.triangles.len(), vertices: sheet.vertices() as usize, sheets: sheet.eulers() })
    }
}

/// What a closed surface is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    /// How many triangles there are.
    pub triangles: usize,
    /// How many fans of triangles there are. A node where sheets touch has several.
    pub vertices: usize,
    /// Vertices less edges plus triangles of each closed sheet: 2 for a ball, two less for each handle.
    pub sheets: Vec<i64>,
}

impl Census {
    /// Whether every sheet is one that a closed surface with an inside can be.
    pub fn is_sound(&self) -> bool {
        self.triangles.is_multiple_of(2) && self.sheets.iter().all(|euler| *euler <= 2 && euler % 2 == 0)
    }
}

impl Net {
    /// The surface as it is now.
    pub fn surface(&self) -> Surface {
        let faces: Vec<u32> = self.surface_faces().collect();
        let triangles = faces.iter().map(|&face| self.face(face)).collect();
        let mut places = vec![NONE; self.mates.len()];
        (0..).zip(&faces).for_each(|(place, &face)| places[face as usize] = place);
        let dense = |half: u32| 3 * places[half as usize / 3] + half % 3;
        let twins = faces.iter().flat_map(|&face| 3 * face..3 * face + 3);
        let twins = twins.map(|half| dense(self.twins[half as usize])).collect();
        Surface { faces, triangles, twins }
    }

    /// Volume of all elements, m3: that of mirrored ones is below 0.
    pub fn volume(&self, positions: &[Vec3]) -> f64 {
        let shape = |element: &[u32; 4]| element.map(|node| positions[node as usize].as_dvec3());
        self.elements.iter().map(|element| crate::tetra::dihedral::signed_volume(shape(element))).sum()
    }

    /// Finds the other halves of the edges of a face that has come to the surface or left it.
    pub(super) fn tie_edges(&mut self, face: u32) {
        for half in 3 * face..3 * face + 3 {
            // On the surface the way around the edge begins here; inside it passes.
            let one = match self.mate(face) {
                None => Some(half),
                Some(mate) => self.turn(self.half_at(mate, self.start(self.next(half)))),
            };
            if let (Some(one), Some(other)) = (one, self.turn(half)) {
                self.twins[one as usize] = other;
                self.twins[other as usize] = one;
            }
        }
    }

    /// Turns around the edge of a half edge, into the element of its face and on, to the half edge on the surface that runs against
    /// it. Nothing where there is matter all around.
    fn turn(&self, from: u32) -> Option<u32> {
        let mut half = from;
        loop {
            let other = half - half % 12 + ACROSS[half as usize % 12];
            let Some(mate) = self.mate(other / 3) else { return Some(other) };
            half = self.half_at(mate, self.start(self.next(other)));
            if half == from {
                return None;
            }
        }
    }

    /// The half edge of a face that begins at a node.
    fn half_at(&self, face: u32, node: u32) -> u32 {
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
