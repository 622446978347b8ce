//! Triangle meshes: topology, measures, and inside tests by winding numbers.
//!
//! A mesh here is geometry only: no colours, no materials, no bodies.

mod bvh;
mod error;
mod solid;
mod topology;
mod winding_number;

pub use error::MeshError;
pub use solid::{ClosestPoint, MeshSolid};

use glam::{DVec3, Vec3};
use phyxel_laws::geometry::Aabb;
use std::collections::HashMap;

/// Indexed triangle mesh. Triangles are counter-clockwise seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriangleMesh {
    /// Vertices, m.
    pub positions: Vec<Vec3>,
    /// Vertex indices of the triangles.
    pub triangles: Vec<[u32; 3]>,
}

impl TriangleMesh {
    /// Corners of a triangle, m.
    pub fn corners(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].map(|index| self.positions[index as usize])
    }

    /// Returns an error if the mesh has no triangles, a vertex that is not finite, or an index out of range.
    pub fn check(&self) -> Result<(), MeshError> {
        if let Some(vertex) = self.positions.iter().position(|position| !position.is_finite()) {
            return Err(MeshError::NotFinite { vertex, value: self.positions[vertex] });
        }
        if self.triangles.is_empty() {
            return Err(MeshError::NoTriangles);
        }
        let vertices = self.positions.len();
        for (triangle, indices) in self.triangles.iter().enumerate() {
            if let Some(index) = indices.iter().find(|index| **index as usize >= vertices) {
                return Err(MeshError::BadIndex { triangle, index: i64::from(*index), vertices });
            }
        }
        Ok(())
    }

    /// Returns the mesh with coincident vertices welded, and without unused vertices and degenerate triangles
    /// (a vertex used twice). The order is kept. Expects a mesh that passes [`Self::check`].
    pub fn welded(&self) -> Self {
        let mut used = vec![false; self.positions.len()];
        self.triangles.iter().flatten().for_each(|index| used[*index as usize] = true);
        let mut indices: HashMap<[u32; 3], u32> = HashMap::with_capacity(self.positions.len());
        let mut positions = Vec::with_capacity(self.positions.len());
        let mut renumbered = vec![0; self.positions.len()];
        for index in (0..self.positions.len()).filter(|index| used[*index]) {
            // Adding zero makes minus zero plus zero.
            let position = self.positions[index] + 0.0;
            renumbered[index] = *indices.entry(position.to_array().map(f32::to_bits)).or_insert_with(|| {
                positions.push(position);
                positions.len() as u32 - 1
            });
        }
        let triangles = self.triangles.iter().map(|triangle| triangle.map(|index| renumbered[index as usize]));
        let triangles = triangles.filter(|[a, b, c]| a != b && b != c && c != a).collect();
        Self { positions, triangles }
    }

    /// Axis-aligned bounding box of all vertices, or `None` when there are none.
    pub fn bounds(&self) -> Option<Aabb> {
        Aabb::from_points(self.positions.iter().copied()).non_empty()
    }

    /// Enclosed volume by the divergence theorem, negative when the triangles face inwards, m3. Meaningful for
    /// closed meshes.
    pub fn volume(&self) -> f64 {
        // Taking a point near the mesh as the origin keeps the sum free of cancellation.
        let origin = self.bounds().map_or(DVec3::ZERO, |bounds| bounds.centre().as_dvec3());
        let signed = |triangle: usize| {
            let [a, b, c] = self.corners(triangle).map(|corner| corner.as_dvec3() - origin);
            a.dot(b.cross(c)) / 6.0
        };
        (0..self.triangles.len()).map(signed).sum()
    }

    /// Area of all triangles, m2.
    pub fn area(&self) -> f64 {
        let doubled = |triangle: usize| {
            let [a, b, c] = self.corners(triangle).map(Vec3::as_dvec3);
            (b - a).cross(c - a).length()
        };
        0.5 * (0..self.triangles.len()).map(doubled).sum::<f64>()
    }
}

#[cfg(test)]
pub(crate) mod scans;

#[cfg(test)]
pub(crate) mod fixtures {
    use super::TriangleMesh;
    use glam::Vec3;

    /// A cube from -1/2 to 1/2, moved by `at`.
    pub fn cube(at: Vec3) -> TriangleMesh {
        let corner = |i: u32| at + Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32) - 0.5;
        let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        TriangleMesh {
            positions: (0..8).map(corner).collect(),
            triangles: quads.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).collect(),
        }
    }

    /// Two meshes in one.
    pub fn both(a: &TriangleMesh, b: &TriangleMesh) -> TriangleMesh {
        let shift = a.positions.len() as u32;
        let moved = b.triangles.iter().map(|triangle| triangle.map(|index| index + shift));
        TriangleMesh {
            positions: [&a.positions[..], &b.positions[..]].concat(),
            triangles: a.triangles.iter().copied().chain(moved).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_has_the_volume_and_area_of_a_cube() {
        let cube = fixtures::cube(Vec3::new(3.0, 0.0, 1.0));
        assert!((cube.volume() - 1.0).abs() < 1e-6);
        assert!((cube.area() - 6.0).abs() < 1e-6);
        assert_eq!(cube.bounds().map(|bounds| bounds.centre()), Some(Vec3::new(3.0, 0.0, 1.0)));
    }

    #[test]
    fn welding_joins_coincident_vertices_and_drops_what_is_not_used() {
        let cube = fixtures::cube(Vec3::ZERO);
        let loose = TriangleMesh {
            positions: cube.triangles.iter().flatten().map(|i| cube.positions[*i as usize]).chain([Vec3::X]).collect(),
            triangles: (0..12).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).chain([[0, 0, 1]]).collect(),
        };
        let welded = loose.welded();
        assert_eq!(welded.positions.len(), 8);
        assert_eq!(welded.triangles.len(), 12);
        assert_eq!(welded.open_edges(), 0);
        let signed = TriangleMesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, -Vec3::ZERO, Vec3::Z],
            triangles: vec![[0, 1, 2], [3, 1, 4]],
        };
        assert_eq!(signed.welded().positions.len(), 4);
    }

    #[test]
    fn what_is_wrong_with_a_mesh_is_named() {
        let mut mesh = fixtures::cube(Vec3::ZERO);
        mesh.triangles[3][1] = 99;
        assert!(matches!(mesh.check(), Err(MeshError::BadIndex { triangle: 3, index: 99, vertices: 8 })));
        mesh.positions[5].y = f32::NAN;
        assert!(matches!(mesh.check(), Err(MeshError::NotFinite { vertex: 5, .. })));
        assert!(matches!(TriangleMesh::default().check(), Err(MeshError::NoTriangles)));
    }
}
