//! Tetrahedral meshes, by isosurface stuffing of shapes or from the files of other meshers.
//!
//! [`fill`] stuffs any shape, [`crate::import::tetra`] reads files. Both return a sound [`TetraMesh`] (every element
//! has a positive volume) and its [`TetraQuality`]. Geometry only: nothing here knows of materials or bodies.

mod defects;
mod error;
mod quality;
mod stuffing;

pub use defects::MeshDefects;
pub use error::TetraError;
pub use quality::TetraQuality;
pub use stuffing::{TetraFill, fill};

use crate::mesh::TriangleMesh;
use glam::{DVec3, Vec3};
use phyxel::{Real, parallel};
use phyxel_laws::tet_topology::FACES;

/// Elements handled by one task.
const GRAIN: usize = 4096;

/// The used ones of some positions, in order, and the new index of each.
pub(crate) fn compact<'a>(positions: &[Vec3], used: impl Iterator<Item = &'a u32>) -> (Vec<Vec3>, Vec<u32>) {
    let mut renumbered = vec![u32::MAX; positions.len()];
    used.for_each(|index| renumbered[*index as usize] = 0);
    let mut kept = Vec::new();
    for (number, position) in renumbered.iter_mut().zip(positions).filter(|(number, _)| **number == 0) {
        *number = kept.len() as u32;
        kept.push(*position);
    }
    (kept, renumbered)
}

/// Indexed tetrahedral mesh.
///
/// Seen from the fourth corner of an element, the first three run counter-clockwise: `(b-a) x (c-a) . (d-a) > 0`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetraMesh {
    /// Nodes, m.
    pub positions: Vec<Vec3>,
    /// Node indices of the elements.
    pub elements: Vec<[u32; 4]>,
}

impl TetraMesh {
    /// Corners of an element, m, in the precision that sums over them need.
    pub fn corners(&self, element: usize) -> [DVec3; 4] {
        self.elements[element].map(|index| self.positions[index as usize].as_dvec3())
    }

    /// Signed volume of an element, negative when it is inverted, m3.
    pub fn element_volume(&self, element: usize) -> f64 {
        let [a, b, c, d] = self.corners(element);
        (b - a).cross(c - a).dot(d - a) / 6.0
    }

    /// Volume of all elements, m3.
    pub fn volume(&self) -> f64 {
        (0..self.elements.len()).map(|element| self.element_volume(element)).sum()
    }

    /// Mean length of the edges of elements, m; edges count once for each element.
    pub fn mean_edge(&self) -> Real {
        let edges = |element: usize| {
            let [a, b, c, d] = self.corners(element);
            [b - a, c - a, d - a, c - b, d - b, d - c].into_iter().map(DVec3::length).sum::<f64>()
        };
        let sum: f64 = (0..self.elements.len()).map(edges).sum();
        (sum / (6 * self.elements.len().max(1)) as f64) as Real
    }

    /// Boundary surface: the faces with one incident element, facing outwards. Keeps nodes on the surface
    /// only, in order.
    pub fn boundary(&self) -> TriangleMesh {
        let mut faces: Vec<([u32; 3], [u32; 3])> = Vec::with_capacity(4 * self.elements.len());
        for element in &self.elements {
            for face in FACES.map(|face| face.map(|corner| element[corner])) {
                let mut sorted = face;
                sorted.sort_unstable();
                faces.push((sorted, face));
            }
        }
        parallel::sort_by_key(&mut faces, |face| *face);
        let boundary = faces.chunk_by(|(a, _), (b, _)| a == b).filter(|alike| alike.len() == 1);
        let triangles: Vec<[u32; 3]> = boundary.map(|alike| alike[0].1).collect();
        let (positions, renumbered) = compact(&self.positions, triangles.iter().flatten());
        let triangles = triangles.iter().map(|face| face.map(|node| renumbered[node as usize])).collect();
        TriangleMesh { positions, triangles }
    }

    /// Reorients inverted elements by swapping two corners; returns their number.
    pub(crate) fn orient_elements(&mut self) -> usize {
        let inverted = parallel::map(self.elements.len(), GRAIN, |element| self.element_volume(element) < 0.0);
        for (element, _) in self.elements.iter_mut().zip(&inverted).filter(|(_, inverted)| **inverted) {
            element.swap(2, 3);
        }
        inverted.iter().filter(|inverted| **inverted).count()
    }
}

#[cfg(test)]
mod scans;
