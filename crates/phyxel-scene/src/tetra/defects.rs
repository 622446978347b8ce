//! Defects of triangle meshes that are to be filled: holes and non-manifold edges.

use crate::mesh::TriangleMesh;
use crate::shape::Shape;
use std::collections::BTreeMap;

/// Defects of a triangle mesh. It can be filled all the same: winding numbers close holes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeshDefects {
    /// Holes: connected components of boundary edges. Holes that touch count as one.
    pub holes: usize,
    /// Edges with more than two incident triangles.
    pub non_manifold_edges: usize,
}

impl MeshDefects {
    /// Finds the defects of a mesh. Vertices are the same when their indices are; see [`TriangleMesh::welded`].
    pub fn of_mesh(mesh: &TriangleMesh) -> Self {
        let mut uses: Vec<[u32; 2]> = mesh
            .triangles
            .iter()
            .flat_map(|[a, b, c]| [[a, b], [b, c], [c, a]])
            .map(|[a, b]| [*a.min(b), *a.max(b)])
            .collect();
        uses.sort_unstable();
        let mut defects = Self::default();
        let mut border: Vec<[u32; 2]> = Vec::new();
        for group in uses.chunk_by(|a, b| a == b) {
            match group {
                [edge] => border.push(*edge),
                [_, _] => {}
                _ => defects.non_manifold_edges += 1,
            }
        }
        defects.holes = count_components(&border);
        defects
    }

    /// Sums the defects of the meshes of a shape.
    pub fn of_shape(shape: &Shape) -> Self {
        match shape {
            Shape::Mesh(solid) => Self::of_mesh(solid.mesh()),
            Shape::Union(parts) | Shape::Intersection(parts) | Shape::SmoothUnion { parts, .. } => {
                Self::of_parts(parts)
            }
            Shape::Difference { base, cuts } => Self::of_shape(base).and(Self::of_parts(cuts)),
            Shape::Placed { shape, .. } => Self::of_shape(shape),
            _ => Self::default(),
        }
    }

    fn of_parts(parts: &[Shape]) -> Self {
        parts.iter().map(Self::of_shape).fold(Self::default(), Self::and)
    }

    fn and(self, other: Self) -> Self {
        Self { holes: self.holes + other.holes, non_manifold_edges: self.non_manifold_edges + other.non_manifold_edges }
    }
}

/// Number of connected components of a set of edges.
fn count_components(edges: &[[u32; 2]]) -> usize {
    let mut parents: BTreeMap<u32, u32> = edges.iter().flatten().map(|end| (*end, *end)).collect();
    let mut components = parents.len();
    for [a, b] in edges {
        let (a, b) = (find_root(&mut parents, *a), find_root(&mut parents, *b));
        if a != b {
            parents.insert(a.max(b), a.min(b));
            components -= 1;
        }
    }
    components
}

/// Union-find root of a vertex, with path compression.
fn find_root(parents: &mut BTreeMap<u32, u32>, vertex: u32) -> u32 {
    let mut last = vertex;
    while parents[&last] != last {
        last = parents[&last];
    }
    parents.insert(vertex, last);
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{MeshError, MeshSolid, fixtures};
    use crate::shape::Placement;
    use glam::Vec3;
    use std::sync::Arc;

    #[test]
    fn holes_and_non_manifold_edges_are_counted() {
        let mut cube = fixtures::cube(Vec3::ZERO);
        assert_eq!(MeshDefects::of_mesh(&cube), MeshDefects::default());
        cube.triangles.truncate(11);
        assert_eq!(MeshDefects::of_mesh(&cube), MeshDefects { holes: 1, non_manifold_edges: 0 });
        // This one is on the opposite face.
        cube.triangles.remove(9);
        assert_eq!(MeshDefects::of_mesh(&cube).holes, 2);
        let fan = TriangleMesh { positions: vec![Vec3::ZERO; 5], triangles: vec![[0, 1, 2], [0, 1, 3], [0, 1, 4]] };
        assert_eq!(MeshDefects::of_mesh(&fan), MeshDefects { holes: 1, non_manifold_edges: 1 });
    }

    #[test]
    fn meshes_within_shapes_are_found() -> Result<(), MeshError> {
        let mut open = fixtures::cube(Vec3::ZERO);
        open.triangles.pop();
        let mesh = Shape::Mesh(Arc::new(MeshSolid::new(open)?));
        let placed = mesh.clone().placed(Placement::at(Vec3::X));
        let cut = Shape::Difference { base: Box::new(placed), cuts: vec![mesh, Shape::Sphere { radius: 0.2 }] };
        assert_eq!(MeshDefects::of_shape(&Shape::Union(vec![cut])), MeshDefects { holes: 2, non_manifold_edges: 0 });
        Ok(())
    }
}
