//! Subdivision surfaces of closed triangle meshes: Loop `[Loop87]` and modified Butterfly `[ZSS96]`.
//!
//! A vertex of the refined surface is an affine combination of coarse nodes, with weights that sum to 1, so
//! it follows its nodes wherever they move. Weights are recomputed only where the topology changes; see
//! [`IncrementalSubdivision`]. The masks of both schemes have a support of two edges.
//!
//! Surfaces are refined when the topology changes, not in every step, so results are freshly allocated.

mod half_edge_mesh;
mod incremental;
mod masks;
#[cfg(test)]
pub(crate) mod tests;

pub use half_edge_mesh::{HalfEdgeMesh, InvalidSurface};
pub use incremental::IncrementalSubdivision;
pub use masks::SubdivisionScheme;

use crate::Real;
use glam::Vec3;
use std::ops::Range;

/// Vertices as affine combinations of nodes, in compressed rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VertexWeights {
    /// End of the terms of each vertex.
    ends: Vec<u32>,
    terms: Vec<(u32, Real)>,
}

impl VertexWeights {
    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Nodes of a vertex with their weights, in the order of nodes.
    pub fn terms(&self, vertex: usize) -> &[(u32, Real)] {
        &self.terms[self.start(vertex)..self.ends[vertex] as usize]
    }

    /// Position of a vertex for given node positions, m.
    pub fn position(&self, vertex: usize, nodes: &[Vec3]) -> Vec3 {
        self.terms(vertex).iter().map(|&(node, weight)| weight * nodes[node as usize]).sum()
    }

    /// Clears the vertices and keeps the buffers.
    fn cleared(mut self) -> Self {
        self.ends.clear();
        self.terms.clear();
        self
    }

    /// Renumbers nodes: node `k` becomes `numbers[k]`.
    fn renumber(&mut self, numbers: &[u32]) {
        self.terms.iter_mut().for_each(|(node, _)| *node = numbers.get(*node as usize).copied().unwrap_or(u32::MAX));
        let mut start = 0;
        for &end in &self.ends {
            self.terms[start..end as usize].sort_unstable_by_key(|(node, _)| *node);
            start = end as usize;
        }
    }

    /// Appends a range of vertices of another list.
    fn extend_from(&mut self, others: &Self, range: Range<usize>) {
        let start = others.start(range.start);
        let ends = &others.ends[range.clone()];
        let offset = self.terms.len() as u32;
        self.terms.extend_from_slice(&others.terms[start..others.start(range.end)]);
        self.ends.extend(ends.iter().map(|end| end - start as u32 + offset));
    }

    /// Start of the terms of a vertex.
    fn start(&self, vertex: usize) -> usize {
        if vertex == 0 { 0 } else { self.ends[vertex - 1] as usize }
    }

    fn push(&mut self, terms: impl IntoIterator<Item = (u32, Real)>) {
        self.terms.extend(terms);
        self.ends.push(self.terms.len() as u32);
    }
}

/// Refined surface.
#[derive(Clone, Debug, PartialEq)]
pub struct RefinedSurface {
    /// Triangles of refined vertices, closed as the coarse surface is. Those of coarse triangle `t` are the
    /// `4^levels` from `4^levels t` on.
    pub triangles: Vec<[u32; 3]>,
    /// Weights of the refined vertices. The first are the vertices of the coarse mesh.
    pub weights: VertexWeights,
}

/// Refines a mesh `levels` times, each time splitting every triangle in four. Weights are for the nodes
/// that the mesh was built from.
pub fn refine(mesh: &HalfEdgeMesh, scheme: SubdivisionScheme, levels: u32) -> RefinedSurface {
    let mut subdivision = IncrementalSubdivision::new(scheme, levels);
    let keys: Vec<u32> = (0..mesh.triangles().len() as u32).collect();
    subdivision.update(mesh.clone(), &keys);
    subdivision.into_refined()
}

/// Accumulator of a weighted sum of nodes.
struct WeightSum {
    /// Weight of every node.
    weight: Vec<f64>,
    /// Marks the nodes in the sum.
    is_in: Vec<bool>,
    nodes: Vec<u32>,
}

impl WeightSum {
    /// Empty sum over the nodes of a mesh.
    fn new(mesh: &HalfEdgeMesh) -> Self {
        let nodes = mesh.vertex_nodes().iter().map(|node| *node as usize + 1).max().unwrap_or(0);
        Self { weight: vec![0.0; nodes], is_in: vec![false; nodes], nodes: Vec::new() }
    }

    /// Accumulates a mask over vertices that are weighted sums themselves.
    fn accumulate(&mut self, vertices: &VertexWeights, mask: impl FnOnce(&mut dyn FnMut(u32, f64))) {
        mask(&mut |vertex, weight| {
            for &(node, fraction) in vertices.terms(vertex as usize) {
                self.weight[node as usize] += weight * f64::from(fraction);
                if !std::mem::replace(&mut self.is_in[node as usize], true) {
                    self.nodes.push(node);
                }
            }
        });
        self.nodes.sort_unstable();
    }

    /// Drains the nodes with their weights, in the order of nodes; the sum is empty again.
    fn drain(&mut self) -> impl Iterator<Item = (u32, Real)> {
        let (weight, is_in) = (&mut self.weight, &mut self.is_in);
        self.nodes.drain(..).filter_map(move |node| {
            is_in[node as usize] = false;
            let sum = std::mem::take(&mut weight[node as usize]) as Real;
            (sum != 0.0).then_some((node, sum))
        })
    }
}
