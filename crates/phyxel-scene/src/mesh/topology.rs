//! Topology of triangle meshes: boundary edges, connected components, genus.

use super::TriangleMesh;

/// Undirected edge, with the number of triangles that traverse it in each direction.
struct EdgeUse {
    ends: (u32, u32),
    forward: u32,
    backward: u32,
}

/// Union-find root of a vertex, with path halving.
fn find_root(parents: &mut [u32], mut vertex: u32) -> u32 {
    while parents[vertex as usize] != vertex {
        let grandparent = parents[parents[vertex as usize] as usize];
        parents[vertex as usize] = grandparent;
        vertex = grandparent;
    }
    vertex
}

impl TriangleMesh {
    fn edges(&self) -> Vec<EdgeUse> {
        let directed = |[a, b, c]: &[u32; 3]| [(*a, *b), (*b, *c), (*c, *a)];
        let mut uses: Vec<(u32, u32, bool)> = self
            .triangles
            .iter()
            .flat_map(directed)
            .map(|(from, to)| if from < to { (from, to, true) } else { (to, from, false) })
            .collect();
        uses.sort_unstable();
        let mut edges: Vec<EdgeUse> = Vec::with_capacity(uses.len() / 2);
        for (low, high, forward) in uses {
            if edges.last().is_none_or(|edge| edge.ends != (low, high)) {
                edges.push(EdgeUse { ends: (low, high), forward: 0, backward: 0 });
            }
            if let Some(edge) = edges.last_mut() {
                edge.forward += u32::from(forward);
                edge.backward += u32::from(!forward);
            }
        }
        edges
    }

    /// Number of edges that triangles do not traverse equally often in both directions.
    ///
    /// Zero for a closed, consistently oriented mesh. Vertices are the same when their indices are;
    /// see [`TriangleMesh::welded`].
    pub fn open_edges(&self) -> usize {
        self.edges().iter().filter(|edge| edge.forward != edge.backward).count()
    }

    /// Number of connected components (by shared vertices).
    pub fn components(&self) -> usize {
        let mut parents: Vec<u32> = (0..self.positions.len() as u32).collect();
        let mut used = vec![false; self.positions.len()];
        for [a, b, c] in &self.triangles {
            for (from, to) in [(*a, *b), (*b, *c)] {
                let (from, to) = (find_root(&mut parents, from), find_root(&mut parents, to));
                parents[from.max(to) as usize] = from.min(to);
            }
            [a, b, c].iter().for_each(|index| used[**index as usize] = true);
        }
        (0..parents.len()).filter(|vertex| used[*vertex] && parents[*vertex] as usize == *vertex).count()
    }

    /// Genus of the surface, summed over all components, or `None` unless the mesh is a closed surface in which
    /// every edge joins two triangles.
    pub fn genus(&self) -> Option<usize> {
        let edges = self.edges();
        if edges.is_empty() || edges.iter().any(|edge| (edge.forward, edge.backward) != (1, 1)) {
            return None;
        }
        let mut used = vec![false; self.positions.len()];
        self.triangles.iter().flatten().for_each(|index| used[*index as usize] = true);
        let vertices = used.iter().filter(|used| **used).count() as i64;
        let euler = vertices - edges.len() as i64 + self.triangles.len() as i64;
        let twice_genus = 2 * self.components() as i64 - euler;
        // Surfaces that touch in single vertices have no genus; some of them are detected here.
        (twice_genus >= 0 && twice_genus % 2 == 0).then_some(twice_genus as usize / 2)
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
