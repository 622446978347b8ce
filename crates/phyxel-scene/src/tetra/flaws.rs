//! What is wrong with triangle meshes that are to be filled.

use crate::mesh::TriangleMesh;
use crate::shape::Shape;
use std::collections::BTreeMap;

/// What is wrong with a triangle mesh. It can be filled all the same: holes are closed by a surface in the air.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flaws {
    /// Holes: pieces of border along which triangles have no neighbour. Holes that touch count as one.
    pub holes: usize,
    /// Edges where more than two triangles meet.
    pub crowded_edges: usize,
}

impl Flaws {
    /// Looks at a mesh. Vertices are the same when their indices are; see [`TriangleMesh::welded`].
    pub fn of_mesh(mesh: &TriangleMesh) -> Self {
        let mut uses: Vec<[u32; 2]> = mesh
            .triangles
            .iter()
            .flat_map(|[a, b, c]| [[a, b], [b, c], [c, a]])
            .map(|[a, b]| [*a.min(b), *a.max(b)])
            .collect();
        uses.sort_unstable();
        let mut flaws = Self::default();
        let mut border: Vec<[u32; 2]> = Vec::new();
        for alike in uses.chunk_by(|a, b| a == b) {
            match alike {
                [edge] => border.push(*edge),
                [_, _] => {}
                _ => flaws.crowded_edges += 1,
            }
        }
        flaws.holes = connected(&border);
        flaws
    }

    /// Adds up the meshes that a shape is made from.
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
        Self { holes: self.holes + other.holes, crowded_edges: self.crowded_edges + other.crowded_edges }
    }
}

/// Number of pieces that edges form.
fn connected(edges: &[[u32; 2]]) -> usize {
    let mut above: BTreeMap<u32, u32> = edges.iter().flatten().map(|end| (*end, *end)).collect();
    let mut pieces = above.len();
    for [a, b] in edges {
        let (a, b) = (top(&mut above, *a), top(&mut above, *b));
        if a != b {
            above.insert(a.max(b), a.min(b));
            pieces -= 1;
        }
    }
    pieces
}

/// The vertex that stands for the piece of another; shortens the way there.
fn top(above: &mut BTreeMap<u32, u32>, vertex: u32) -> u32 {
    let mut last = vertex;
    while above[&last] != last {
        last = above[&last];
    }
    above.insert(vertex, last);
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
    fn holes_and_crowded_edges_are_counted() {
        let mut cube = fixtures::cube(Vec3::ZERO);
        assert_eq!(Flaws::of_mesh(&cube), Flaws::default());
        cube.triangles.truncate(11);
        assert_eq!(Flaws::of_mesh(&cube), Flaws { holes: 1, crowded_edges: 0 });
        // This one is on the opposite face.
        cube.triangles.remove(9);
        assert_eq!(Flaws::of_mesh(&cube).holes, 2);
        let fan = TriangleMesh { positions: vec![Vec3::ZERO; 5], triangles: vec![[0, 1, 2], [0, 1, 3], [0, 1, 4]] };
        assert_eq!(Flaws::of_mesh(&fan), Flaws { holes: 1, crowded_edges: 1 });
    }

    #[test]
    fn meshes_within_shapes_are_found() -> Result<(), MeshError> {
        let mut open = fixtures::cube(Vec3::ZERO);
        open.triangles.pop();
        let mesh = Shape::Mesh(Arc::new(MeshSolid::new(open)?));
        let placed = mesh.clone().placed(Placement::at(Vec3::X));
        let cut = Shape::Difference { base: Box::new(placed), cuts: vec![mesh, Shape::Sphere { radius: 0.2 }] };
        assert_eq!(Flaws::of_shape(&Shape::Union(vec![cut])), Flaws { holes: 2, crowded_edges: 0 });
        Ok(())
    }
}
