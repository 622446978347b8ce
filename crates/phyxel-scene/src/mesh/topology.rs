//! Topology of triangle meshes: boundary edges, connected components, genus.

use super::TriangleMesh;
use phyxel::skin::SurfaceConnectivity;

impl TriangleMesh {
    fn connectivity(&self) -> SurfaceConnectivity {
        SurfaceConnectivity::new(&self.triangles)
    }

    /// Number of edges that triangles do not traverse equally often in both directions.
    ///
    /// Zero for a closed, consistently oriented mesh. Vertices are the same when their indices are;
    /// see [`TriangleMesh::welded`].
    pub fn open_edges(&self) -> usize {
        self.connectivity().open_edges
    }

    /// Number of connected components (by shared vertices).
    pub fn components(&self) -> usize {
        self.connectivity().components
    }

    /// Genus of the surface, summed over all components, or `None` unless the mesh is a closed surface in which
    /// every edge joins two triangles.
    pub fn genus(&self) -> Option<usize> {
        let connectivity = self.connectivity();
        let twice_genus = 2 * connectivity.components as i64 - connectivity.euler_characteristic();
        // Surfaces that touch in single vertices have no genus; some of them are detected here.
        (connectivity.is_closed && twice_genus >= 0 && twice_genus % 2 == 0).then_some(twice_genus as usize / 2)
    }
}

#[cfg(test)]
mod tests {
    use crate::mesh::{TriangleMesh, fixtures};
    use glam::Vec3;

    #[test]
    fn a_cube_is_closed_in_one_piece_and_without_handles() {
        let cube = fixtures::cube(Vec3::ZERO);
        assert_eq!((cube.open_edges(), cube.components(), cube.genus()), (0, 1, Some(0)));
        let two = fixtures::both(&cube, &fixtures::cube(Vec3::splat(3.0)));
        assert_eq!((two.open_edges(), two.components(), two.genus()), (0, 2, Some(0)));
    }

    #[test]
    fn a_missing_triangle_opens_three_edges_and_a_flipped_one_too() {
        let mut cube = fixtures::cube(Vec3::ZERO);
        cube.triangles.pop();
        assert_eq!((cube.open_edges(), cube.genus()), (3, None));
        let mut flipped = fixtures::cube(Vec3::ZERO);
        flipped.triangles[0].swap(0, 1);
        assert_eq!((flipped.open_edges(), flipped.genus()), (3, None));
    }

    #[test]
    fn a_ring_of_quads_has_one_handle() {
        let (around, across) = (8u32, 6u32);
        let index = |i: u32, j: u32| (i % around) * across + j % across;
        let mut mesh = TriangleMesh { positions: vec![Vec3::ZERO; 48], triangles: vec![] };
        for i in 0..around {
            for j in 0..across {
                let [a, b, c, d] = [index(i, j), index(i + 1, j), index(i + 1, j + 1), index(i, j + 1)];
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        assert_eq!((mesh.open_edges(), mesh.components(), mesh.genus()), (0, 1, Some(1)));
    }
}
