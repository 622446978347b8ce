//! Incremental subdivision: refined surfaces that are updated with their coarse meshes.

use super::{HalfEdgeMesh, RefinedSurface, SubdivisionScheme, VertexWeights, WeightSum};
use std::ops::Range;

/// Marks what did not exist before.
const NONE: u32 = u32::MAX;

/// Refined surface with all intermediate levels.
///
/// When the coarse surface changes, what is far from the change is reused: a vertex is rebuilt only if
/// triangles around the vertices in its mask have changed, or if these are rebuilt themselves. The result
/// does not depend on the history, to the bit.
#[derive(Clone, Debug)]
pub struct IncrementalSubdivision {
    scheme: SubdivisionScheme,
    /// Key of each coarse triangle, ascending.
    keys: Vec<u32>,
    /// Meshes of all levels but the last.
    levels: Vec<HalfEdgeMesh>,
    /// For the same levels, the vertex of the next level on each half edge.
    edge_vertices: Vec<Vec<u32>>,
    /// Vertices of all levels.
    weights: Vec<VertexWeights>,
    /// Triangles of the last level.
    triangles: Vec<[u32; 3]>,
    /// Buffers for the next weights, by level.
    scratch: Vec<VertexWeights>,
}

impl IncrementalSubdivision {
    /// Empty surface, to be refined `levels` times.
    pub fn new(scheme: SubdivisionScheme, levels: u32) -> Self {
        let count = levels as usize;
        Self {
            scheme,
            keys: Vec::new(),
            levels: vec![HalfEdgeMesh::default(); count],
            edge_vertices: vec![Vec::new(); count],
            weights: vec![VertexWeights::default(); count + 1],
            triangles: Vec::new(),
            scratch: vec![VertexWeights::default(); count],
        }
    }

    /// Triangles of refined vertices, closed as the coarse surface is. Those of coarse triangle `t` are the
    /// `4^levels` from `4^levels t` on.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Weights of the refined vertices. The first are the vertices of the coarse mesh.
    pub fn weights(&self) -> &VertexWeights {
        &self.weights[self.weights.len() - 1]
    }

    /// Updates to the current coarse mesh, and returns the number of refined vertices that were rebuilt.
    ///
    /// `keys` are ascending numbers of the triangles, which persist between calls as long as the triangles
    /// do: the faces of a [`BoundarySurface`](crate::tet_topology::BoundarySurface). A triangle with other nodes
    /// than before has changed.
    pub fn update(&mut self, mesh: HalfEdgeMesh, keys: &[u32]) -> usize {
        let mut coarse = VertexWeights::default();
        mesh.vertex_nodes().iter().for_each(|&node| coarse.push([(node, 1.0)]));
        let mut rebuilt = coarse.len();
        let mut reuse = match self.levels.first() {
            Some(old) => ReuseMap::between((old, &self.keys), (&mesh, keys)),
            None => ReuseMap::none(&mesh),
        };
        self.weights[0] = coarse;
        self.keys = keys.to_vec();
        let mut sum = WeightSum::new(&mesh);
        let mut current = mesh;
        for level in 0..self.levels.len() {
            let edge_vertices = current.edge_vertices();
            let same = reuse.next_vertices(&current, &self.edge_vertices[level]);
            let old = &self.weights[level + 1];
            let mut finer = std::mem::take(&mut self.scratch[level]).cleared();
            rebuilt =
                rebuild_vertices((&current, self.scheme), &self.weights[level], (old, &same), &mut sum, &mut finer);
            self.scratch[level] = std::mem::replace(&mut self.weights[level + 1], finer);
            let refined = if level + 1 == self.levels.len() {
                HalfEdgeMesh::from_triangles_only(
                    current.split_triangles(&edge_vertices, std::mem::take(&mut self.triangles)),
                )
            } else {
                reuse = reuse.subdivided(same);
                current.subdivided(&edge_vertices)
            };
            self.edge_vertices[level] = edge_vertices;
            self.levels[level] = std::mem::replace(&mut current, refined);
        }
        self.triangles = current.into_triangles();
        rebuilt
    }

    /// Renumbers nodes: node `k` becomes `numbers[k]`; those without a number are removed. Vertices are in
    /// the order of nodes again after the next update.
    pub fn renumber(&mut self, numbers: &[u32]) {
        if let Some(mesh) = self.levels.first_mut() {
            mesh.renumber(numbers);
        }
        self.weights.iter_mut().for_each(|weights| weights.renumber(numbers));
    }

    /// Converts into the refined surface.
    pub fn into_refined(mut self) -> RefinedSurface {
        RefinedSurface { triangles: self.triangles, weights: self.weights.pop().unwrap_or_default() }
    }
}

/// Writes the vertices of the next level of a mesh with weights `coarse`: those with an index in `same` are
/// copied from `old`. Returns the number of rebuilt ones.
fn rebuild_vertices(
    (mesh, scheme): (&HalfEdgeMesh, SubdivisionScheme),
    coarse: &VertexWeights,
    (old, same): (&VertexWeights, &[u32]),
    sum: &mut WeightSum,
    finer: &mut VertexWeights,
) -> usize {
    let edges: Vec<u32> = mesh.edges().collect();
    let mut rebuilt = 0;
    while finer.len() < same.len() {
        let vertex = finer.len();
        let range = reused_range(same, vertex);
        if !range.is_empty() {
            finer.extend_from(old, range);
            continue;
        }
        match vertex.checked_sub(mesh.vertex_count() as usize) {
            None => sum.accumulate(coarse, |add| scheme.vertex_mask(mesh, vertex as u32, add)),
            Some(edge) => sum.accumulate(coarse, |add| scheme.edge_mask(mesh, edges[edge], add)),
        }
        finer.push(sum.drain());
        rebuilt += 1;
    }
    rebuilt
}

/// Map from the triangles, half edges and vertices of a level to unchanged ones before an update.
struct ReuseMap {
    /// Old index of each triangle.
    triangles: Vec<u32>,
    /// True for each half edge whose two triangles were adjacent before.
    half_edges: Vec<bool>,
    /// For each vertex, an old one with the same weights.
    vertices: Vec<u32>,
}

impl ReuseMap {
    fn none(mesh: &HalfEdgeMesh) -> Self {
        let triangles = mesh.triangles().len();
        Self {
            triangles: vec![NONE; triangles],
            half_edges: vec![false; 3 * triangles],
            vertices: vec![NONE; mesh.vertex_count() as usize],
        }
    }

    /// Compares two coarse meshes: triangles are the same if key and nodes are.
    fn between((old, old_keys): (&HalfEdgeMesh, &[u32]), (new, keys): (&HalfEdgeMesh, &[u32])) -> Self {
        let mut reuse = Self::none(new);
        let nodes =
            |mesh: &HalfEdgeMesh, t: usize| mesh.triangles()[t].map(|vertex| mesh.vertex_nodes()[vertex as usize]);
        let mut old_triangle = 0;
        for (t, key) in keys.iter().enumerate().take(new.triangles().len()) {
            while old_triangle < old_keys.len() && old_keys[old_triangle] < *key {
                old_triangle += 1;
            }
            if old_triangle < old_keys.len()
                && old_keys[old_triangle] == *key
                && nodes(old, old_triangle) == nodes(new, t)
            {
                reuse.triangles[t] = old_triangle as u32;
                for k in 0..3 {
                    reuse.vertices[new.triangles()[t][k] as usize] = old.triangles()[old_triangle][k];
                }
            }
        }
        for half in 0..reuse.half_edges.len() as u32 {
            let (one, other) = (reuse.old_half_edge(half), reuse.old_half_edge(new.twin(half)));
            reuse.half_edges[half as usize] = one != NONE && other != NONE && old.twin(one) == other;
        }
        reuse
    }

    fn old_half_edge(&self, half: u32) -> u32 {
        match self.triangles[half as usize / 3] {
            NONE => NONE,
            old => 3 * old + half % 3,
        }
    }

    /// For each vertex of the next level, an old one with the same weights, given the old level's vertices
    /// on half edges.
    ///
    /// The mask of a vertex or an edge extends to the triangles around the vertex, or around the ends of
    /// the edge.
    fn next_vertices(&self, mesh: &HalfEdgeMesh, old_edge_vertices: &[u32]) -> Vec<u32> {
        // Vertices around which nothing has changed.
        let mut is_unchanged = vec![true; self.vertices.len()];
        for (half, _) in self.half_edges.iter().enumerate().filter(|(_, is_reused)| !**is_reused) {
            is_unchanged[mesh.start(half as u32) as usize] = false;
        }
        for triangle in mesh.triangles() {
            if triangle.iter().any(|vertex| self.vertices[*vertex as usize] == NONE) {
                triangle.iter().for_each(|vertex| is_unchanged[*vertex as usize] = false);
            }
        }
        let mut vertices: Vec<u32> = self
            .vertices
            .iter()
            .zip(&is_unchanged)
            .map(|(old, unchanged)| if *unchanged { *old } else { NONE })
            .collect();
        vertices.extend(mesh.edges().map(|half| {
            let is_reused = self.half_edges[half as usize]
                && is_unchanged[mesh.start(half) as usize]
                && is_unchanged[mesh.end(half) as usize];
            if is_reused { old_edge_vertices[self.old_half_edge(half) as usize] } else { NONE }
        }));
        vertices
    }

    /// Reuse map of the next level, given its vertices.
    fn subdivided(&self, vertices: Vec<u32>) -> Self {
        let mut triangles = Vec::with_capacity(4 * self.triangles.len());
        let mut half_edges = vec![true; 4 * self.half_edges.len()];
        for (t, &old) in self.triangles.iter().enumerate() {
            triangles.extend((0..4).map(|k| if old == NONE { NONE } else { 4 * old + k }));
            if old == NONE {
                half_edges[12 * t..12 * t + 12].fill(false);
            }
        }
        for half in (0..self.half_edges.len() as u32).filter(|half| !self.half_edges[*half as usize]) {
            HalfEdgeMesh::children(half).iter().for_each(|child| half_edges[*child as usize] = false);
        }
        Self { triangles, half_edges, vertices }
    }
}

/// Longest range of consecutive old vertices that have the weights of `vertex` and its successors; empty if
/// it is new.
fn reused_range(same: &[u32], vertex: usize) -> Range<usize> {
    let first = same[vertex];
    let is_next = |(old, k): &(&u32, u32)| first != NONE && **old == first + k;
    let count = same[vertex..].iter().zip(0..).take_while(is_next).count();
    first as usize..first as usize + count
}
