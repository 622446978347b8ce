//! Half-edge meshes of closed triangle surfaces.

use std::fmt;

/// Triangles that do not form a closed surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidSurface {
    /// A triangle has a node twice.
    RepeatedNode {
        /// Triangle.
        triangle: usize,
    },
    /// An edge is not used exactly once in each direction.
    UnpairedEdge {
        /// Node where it starts.
        from: u32,
        /// Node where it ends.
        to: u32,
        /// Number of triangles along this direction.
        along: usize,
        /// Number of triangles against it.
        against: usize,
    },
    /// Two half edges given as twins are not the reverse of each other.
    InvalidTwin {
        /// Half edge.
        half: usize,
    },
}

impl fmt::Display for InvalidSurface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RepeatedNode { triangle } => {
                write!(f, "triangle {triangle} has a node twice; leave out triangles without area")
            }
            Self::UnpairedEdge { from, to, along, against } => write!(
                f,
                "the edge from node {from} to node {to} has {along} triangles along it and {against} against it, and \
                 needs one of each; close the surface, orient triangles outward, or give the twins of half edges"
            ),
            Self::InvalidTwin { half } => write!(
                f,
                "half edge {half} and its twin are not the reverse of each other; give each the number of the other, \
                 and start one where the other ends"
            ),
        }
    }
}

impl std::error::Error for InvalidSurface {}

/// Half-edge mesh of a closed, outward-oriented triangle surface.
///
/// Half edge `3 t + k` goes from corner `k` of triangle `t` to the next. Where several fans of triangles
/// meet in one node, as where two components of a body touch, each fan has its own vertex, so the one-ring
/// of every vertex is closed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HalfEdgeMesh {
    triangles: Vec<[u32; 3]>,
    /// Twin of each half edge.
    twins: Vec<u32>,
    /// A half edge that starts at each vertex.
    vertex_half_edges: Vec<u32>,
    /// Number of neighbours of each vertex.
    valence: Vec<u32>,
    /// Node of each vertex.
    vertex_nodes: Vec<u32>,
}

impl HalfEdgeMesh {
    /// Mesh from triangles of nodes.
    pub fn new(triangles: &[[u32; 3]]) -> Result<Self, InvalidSurface> {
        check_repeated_nodes(triangles)?;
        let mut halves: Vec<(u32, u32, u32)> = Vec::with_capacity(3 * triangles.len());
        for (t, triangle) in triangles.iter().enumerate() {
            (0..3).for_each(|k| halves.push((triangle[k], triangle[(k + 1) % 3], (3 * t + k) as u32)));
        }
        halves.sort_unstable();
        let range = |from: u32, to: u32| {
            let start = halves.partition_point(|half| (half.0, half.1) < (from, to));
            let end = halves.partition_point(|half| (half.0, half.1) <= (from, to));
            start..end
        };
        let mut twins = vec![0; halves.len()];
        for &(from, to, half) in &halves {
            let (along, against) = (range(from, to), range(to, from));
            if (along.len(), against.len()) != (1, 1) {
                return Err(InvalidSurface::UnpairedEdge { from, to, along: along.len(), against: against.len() });
            }
            twins[half as usize] = halves[against.start].2;
        }
        Self::from_twins(triangles, twins)
    }

    /// Mesh from triangles of nodes and the twin of every half edge, for surfaces that touch themselves
    /// along edges.
    pub fn from_twins(triangles: &[[u32; 3]], twins: Vec<u32>) -> Result<Self, InvalidSurface> {
        check_repeated_nodes(triangles)?;
        let mut mesh = Self {
            triangles: triangles.to_vec(),
            twins,
            vertex_half_edges: vec![],
            valence: vec![],
            vertex_nodes: vec![],
        };
        let count = 3 * triangles.len();
        let is_pair = |half: usize| {
            let twin = mesh.twins.get(half).map_or(count, |twin| *twin as usize);
            let (half, other) = (half as u32, twin as u32);
            twin < count
                && mesh.twins[twin] == half
                && (mesh.start(half), mesh.end(half)) == (mesh.end(other), mesh.start(other))
        };
        if let Some(half) = (0..count.max(mesh.twins.len())).find(|&half| half >= count || !is_pair(half)) {
            return Err(InvalidSurface::InvalidTwin { half });
        }
        mesh.number_fans();
        Ok(mesh)
    }

    /// Numbers the fans as vertices, in the order of their nodes.
    fn number_fans(&mut self) {
        let mut fans: Vec<(u32, u32)> = Vec::new();
        let mut is_seen = vec![false; self.twins.len()];
        for half in 0..self.twins.len() as u32 {
            if !is_seen[half as usize] {
                fans.push((self.start(half), half));
                self.one_ring(half).for_each(|spoke| is_seen[spoke as usize] = true);
            }
        }
        fans.sort_unstable();
        let mut triangles = self.triangles.clone();
        for (vertex, &(_, half)) in fans.iter().enumerate() {
            self.one_ring(half).for_each(|spoke| triangles[spoke as usize / 3][spoke as usize % 3] = vertex as u32);
        }
        self.triangles = triangles;
        self.valence = fans.iter().map(|&(_, half)| self.one_ring(half).count() as u32).collect();
        (self.vertex_nodes, self.vertex_half_edges) = fans.into_iter().unzip();
    }

    /// Triangles of vertices.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> u32 {
        self.vertex_nodes.len() as u32
    }

    /// Node of each vertex. Vertices are in the order of their nodes.
    pub fn vertex_nodes(&self) -> &[u32] {
        &self.vertex_nodes
    }

    /// One half edge of every edge, in order.
    pub fn edges(&self) -> impl Iterator<Item = u32> {
        (0..self.twins.len() as u32).filter(|&half| half < self.twin(half))
    }

    /// A half edge that starts at a vertex.
    pub fn half_edge_from(&self, vertex: u32) -> u32 {
        self.vertex_half_edges[vertex as usize]
    }

    /// Number of neighbours of a vertex.
    pub fn valence(&self, vertex: u32) -> u32 {
        self.valence[vertex as usize]
    }

    /// Start vertex of a half edge.
    pub fn start(&self, half: u32) -> u32 {
        self.triangles[half as usize / 3][half as usize % 3]
    }

    /// End vertex of a half edge.
    pub fn end(&self, half: u32) -> u32 {
        self.start(self.next(half))
    }

    /// Third vertex of the triangle of a half edge.
    pub fn opposite_vertex(&self, half: u32) -> u32 {
        self.start(self.next(self.next(half)))
    }

    /// Next half edge around the same triangle.
    pub fn next(&self, half: u32) -> u32 {
        if half % 3 == 2 { half - 2 } else { half + 1 }
    }

    /// Twin of a half edge: the other half of the same edge.
    pub fn twin(&self, half: u32) -> u32 {
        self.twins[half as usize]
    }

    /// All half edges with the same start vertex, from this one on around the vertex.
    pub fn one_ring(&self, half: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(half), move |&spoke| {
            let after = self.twin(self.next(self.next(spoke)));
            (after != half).then_some(after)
        })
    }

    /// Euler characteristic `V - E + F` of each connected component, in the order of first triangles: 2 for
    /// a sphere, two less for each handle.
    pub fn euler_characteristics(&self) -> Vec<i64> {
        let (mut is_visited, mut is_counted) =
            (vec![false; self.triangles.len()], vec![false; self.vertex_nodes.len()]);
        let (mut characteristics, mut stack) = (Vec::new(), Vec::new());
        for first in 0..self.triangles.len() {
            if std::mem::replace(&mut is_visited[first], true) {
                continue;
            }
            let (mut vertices, mut triangles) = (0, 0);
            stack.push(first);
            while let Some(triangle) = stack.pop() {
                triangles += 1;
                for (half, &vertex) in (3 * triangle..).zip(&self.triangles[triangle]) {
                    // The one-ring of a vertex is closed, so it belongs to one component.
                    vertices += i64::from(!std::mem::replace(&mut is_counted[vertex as usize], true));
                    let next = self.twins[half] as usize / 3;
                    if !std::mem::replace(&mut is_visited[next], true) {
                        stack.push(next);
                    }
                }
            }
            // Each triangle has three half edges.
            characteristics.push(vertices - triangles % 2 - triangles / 2);
        }
        characteristics
    }

    /// Triangles without connectivity.
    pub(super) fn from_triangles_only(triangles: Vec<[u32; 3]>) -> Self {
        Self { triangles, ..Self::default() }
    }

    /// Converts into the triangles.
    pub(super) fn into_triangles(self) -> Vec<[u32; 3]> {
        self.triangles
    }

    /// Renumbers nodes: node `k` becomes `numbers[k]`.
    pub(super) fn renumber(&mut self, numbers: &[u32]) {
        self.vertex_nodes.iter_mut().for_each(|node| *node = numbers.get(*node as usize).copied().unwrap_or(u32::MAX));
    }

    /// Vertex of the next level on each half edge: after all present vertices, one per edge, in order.
    pub(super) fn edge_vertices(&self) -> Vec<u32> {
        let mut edge_vertices = vec![0; self.twins.len()];
        for (number, half) in (self.vertex_count()..).zip(self.edges()) {
            edge_vertices[half as usize] = number;
            edge_vertices[self.twin(half) as usize] = number;
        }
        edge_vertices
    }

    /// The two half edges of the next level on a half edge, from its start on.
    pub(super) fn children(half: u32) -> [u32; 2] {
        [[0, 3], [4, 7], [8, 2]][half as usize % 3].map(|child| 12 * (half / 3) + child)
    }

    /// Splits every triangle in four: triangle `a b c` with edge vertices `d` on `ab`, `e` on `bc` and `f`
    /// on `ca` becomes `a d f`, `d b e`, `f e c` and `d e f`. The buffer `triangles` is reused.
    pub(super) fn split_triangles(&self, edge_vertices: &[u32], mut triangles: Vec<[u32; 3]>) -> Vec<[u32; 3]> {
        triangles.clear();
        triangles.reserve(4 * self.triangles.len());
        for (t, &[a, b, c]) in self.triangles.iter().enumerate() {
            let [d, e, f] = [edge_vertices[3 * t], edge_vertices[3 * t + 1], edge_vertices[3 * t + 2]];
            triangles.extend([[a, d, f], [d, b, e], [f, e, c], [d, e, f]]);
        }
        triangles
    }

    /// Mesh of the next level.
    pub(super) fn subdivided(&self, edge_vertices: &[u32]) -> Self {
        let triangles = self.split_triangles(edge_vertices, Vec::new());
        let count = self.vertex_count() as usize + self.twins.len() / 2;
        let mut twins = vec![0; 4 * self.twins.len()];
        for first in (0..twins.len()).step_by(12) {
            for (one, other) in [(1, 11), (5, 9), (6, 10)] {
                twins[first + one] = (first + other) as u32;
                twins[first + other] = (first + one) as u32;
            }
        }
        for half in 0..self.twins.len() as u32 {
            let ([near, far], [far_twin, near_twin]) = (Self::children(half), Self::children(self.twin(half)));
            twins[near as usize] = near_twin;
            twins[far as usize] = far_twin;
        }
        let mut first = vec![0; count];
        for (t, triangle) in triangles.iter().enumerate() {
            (0..3).for_each(|k| first[triangle[k] as usize] = (3 * t + k) as u32);
        }
        let mut valence = self.valence.clone();
        valence.resize(count, 6);
        Self { triangles, twins, vertex_half_edges: first, valence, vertex_nodes: (0..count as u32).collect() }
    }
}

fn check_repeated_nodes(triangles: &[[u32; 3]]) -> Result<(), InvalidSurface> {
    match triangles.iter().position(|[a, b, c]| a == b || b == c || c == a) {
        Some(triangle) => Err(InvalidSurface::RepeatedNode { triangle }),
        None => Ok(()),
    }
}
