//! Closed triangle meshes whose halves of edges know each other.

use std::fmt;

/// Why triangles are not a closed surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A triangle has a node twice.
    Folded {
        /// Which triangle.
        triangle: usize,
    },
    /// An edge is not met once in each direction.
    Edge {
        /// Node where it begins.
        from: u32,
        /// Node where it ends.
        to: u32,
        /// How many triangles go along it in this direction.
        along: usize,
        /// How many go against it.
        against: usize,
    },
    /// Two halves of edges that are said to be one edge do not lie against each other.
    Twin {
        /// Which half edge.
        half: usize,
    },
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folded { triangle } => {
                write!(f, "triangle {triangle} has a node twice; leave out triangles without area")
            }
            Self::Edge { from, to, along, against } => write!(
                f,
                "the edge from node {from} to node {to} has {along} triangles along it and {against} against it, and needs one \
                 of each; close the surface, turn triangles to face outward, or say which halves of edges belong together"
            ),
            Self::Twin { half } => write!(
                f,
                "half edge {half} and its other half do not run against each other; give each the number of the other, and \
                 let one begin where the other ends"
            ),
        }
    }
}

impl std::error::Error for Flaw {}

/// A closed surface of triangles that face outward.
///
/// Half edge `3 t + k` goes from corner `k` of triangle `t` to the next. Where several fans of triangles meet in one node, as
/// where two parts of a body touch, each fan has a vertex of its own, so every vertex is round about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    triangles: Vec<[u32; 3]>,
    /// The other half of each half edge.
    twins: Vec<u32>,
    /// A half edge that begins at each vertex.
    first: Vec<u32>,
    /// Neighbours of each vertex.
    valence: Vec<u32>,
    /// The node of each vertex.
    origin: Vec<u32>,
}

impl Sheet {
    /// From triangles of nodes.
    pub fn new(triangles: &[[u32; 3]]) -> Result<Self, Flaw> {
        check_folds(triangles)?;
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
                return Err(Flaw::Edge { from, to, along: along.len(), against: against.len() });
            }
            twins[half as usize] = halves[against.start].2;
        }
        Self::from_twins(triangles, twins)
    }

    /// From triangles of nodes and the other half of every half edge, for surfaces that touch themselves along edges.
    pub fn from_twins(triangles: &[[u32; 3]], twins: Vec<u32>) -> Result<Self, Flaw> {
        check_folds(triangles)?;
        let mut sheet = Self { triangles: triangles.to_vec(), twins, first: vec![], valence: vec![], origin: vec![] };
        let count = 3 * triangles.len();
        let is_pair = |half: usize| {
            let twin = sheet.twins.get(half).map_or(count, |twin| *twin as usize);
            let (half, other) = (half as u32, twin as u32);
            twin < count
                && sheet.twins[twin] == half
                && (sheet.start(half), sheet.end(half)) == (sheet.end(other), sheet.start(other))
        };
        if let Some(half) = (0..count.max(sheet.twins.len())).find(|&half| half >= count || !is_pair(half)) {
            return Err(Flaw::Twin { half });
        }
        sheet.number_fans();
        Ok(sheet)
    }

    /// Gives every fan a vertex, in the order of their nodes.
    fn number_fans(&mut self) {
        let mut fans: Vec<(u32, u32)> = Vec::new();
        let mut is_seen = vec![false; self.twins.len()];
        for half in 0..self.twins.len() as u32 {
            if !is_seen[half as usize] {
                fans.push((self.start(half), half));
                self.ring(half).for_each(|spoke| is_seen[spoke as usize] = true);
            }
        }
        fans.sort_unstable();
        let mut triangles = self.triangles.clone();
        for (vertex, &(_, half)) in fans.iter().enumerate() {
            self.ring(half).for_each(|spoke| triangles[spoke as usize / 3][spoke as usize % 3] = vertex as u32);
        }
        self.triangles = triangles;
        self.valence = fans.iter().map(|&(_, half)| self.ring(half).count() as u32).collect();
        (self.origin, self.first) = fans.into_iter().unzip();
    }

    /// Triangles of vertices.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Number of vertices.
    pub fn vertices(&self) -> u32 {
        self.origin.len() as u32
    }

    /// The node of each vertex. Vertices are in the order of their nodes.
    pub fn origin(&self) -> &[u32] {
        &self.origin
    }

    /// One half of every edge, in order.
    pub fn edges(&self) -> impl Iterator<Item = u32> {
        (0..self.twins.len() as u32).filter(|&half| half < self.twin(half))
    }

    /// A half edge that begins at a vertex.
    pub fn first(&self, vertex: u32) -> u32 {
        self.first[vertex as usize]
    }

    /// How many neighbours a vertex has.
    pub fn valence(&self, vertex: u32) -> u32 {
        self.valence[vertex as usize]
    }

    /// Where a half edge begins.
    pub fn start(&self, half: u32) -> u32 {
        self.triangles[half as usize / 3][half as usize % 3]
    }

    /// Where a half edge ends.
    pub fn end(&self, half: u32) -> u32 {
        self.start(self.next(half))
    }

    /// The third vertex of the triangle of a half edge.
    pub fn across(&self, half: u32) -> u32 {
        self.start(self.next(self.next(half)))
    }

    /// The next half edge around the same triangle.
    pub fn next(&self, half: u32) -> u32 {
        if half % 3 == 2 { half - 2 } else { half + 1 }
    }

    /// The other half of the same edge.
    pub fn twin(&self, half: u32) -> u32 {
        self.twins[half as usize]
    }

    /// All half edges that begin where one does, from this one on around the vertex.
    pub fn ring(&self, half: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(half), move |&spoke| {
            let after = self.twin(self.next(self.next(spoke)));
            (after != half).then_some(after)
        })
    }

    /// Vertices less edges plus triangles of each part that hangs together, in the order of their first triangles: 2 for a ball, two
    /// less for each handle.
    pub fn eulers(&self) -> Vec<i64> {
        let (mut is_met, mut is_counted) = (vec![false; self.triangles.len()], vec![false; self.origin.len()]);
        let (mut eulers, mut open) = (Vec::new(), Vec::new());
        for first in 0..self.triangles.len() {
            if std::mem::replace(&mut is_met[first], true) {
                continue;
            }
            let (mut vertices, mut triangles) = (0, 0);
            open.push(first);
            while let Some(triangle) = open.pop() {
                triangles += 1;
                for (half, &vertex) in (3 * triangle..).zip(&self.triangles[triangle]) {
                    // Every vertex is round about itself, so it is of one part.
                    vertices += i64::from(!std::mem::replace(&mut is_counted[vertex as usize], true));
                    let next = self.twins[half] as usize / 3;
                    if !std::mem::replace(&mut is_met[next], true) {
                        open.push(next);
                    }
                }
            }
            // Each triangle has three halves of edges.
            eulers.push(vertices - triangles % 2 - triangles / 2);
        }
        eulers
    }

    /// Triangles alone, that nobody asks for neighbours.
    pub(super) fn of_triangles(triangles: Vec<[u32; 3]>) -> Self {
        Self { triangles, ..Self::default() }
    }

    /// The triangles alone.
    pub(super) fn into_triangles(self) -> Vec<[u32; 3]> {
        self.triangles
    }

    /// Follows new numbers of nodes: node `k` gets `numbers[k]`.
    pub(super) fn renumber(&mut self, numbers: &[u32]) {
        self.origin.iter_mut().for_each(|node| *node = numbers.get(*node as usize).copied().unwrap_or(u32::MAX));
    }

    /// For each half edge, the vertex that lies on it in the next level: after all vertices, one for each edge, in order.
    pub(super) fn middles(&self) -> Vec<u32> {
        let mut middles = vec![0; self.twins.len()];
        for (number, half) in (self.vertices()..).zip(self.edges()) {
            middles[half as usize] = number;
            middles[self.twin(half) as usize] = number;
        }
        middles
    }

    /// The two parts of a half edge in the next level, from its start on.
    pub(super) fn parts(half: u32) -> [u32; 2] {
        [[0, 3], [4, 7], [8, 2]][half as usize % 3].map(|part| 12 * (half / 3) + part)
    }

    /// Every triangle in four: triangle `a b c` with the middles `d` of `ab`, `e` of `bc` and `f` of `ca` becomes `a d f`, `d b e`,
    /// `f e c` and `d e f`. They go where others were.
    pub(super) fn quartered(&self, middles: &[u32], mut triangles: Vec<[u32; 3]>) -> Vec<[u32; 3]> {
        triangles.clear();
        triangles.reserve(4 * self.triangles.len());
        for (t, &[a, b, c]) in self.triangles.iter().enumerate() {
            let [d, e, f] = [middles[3 * t], middles[3 * t + 1], middles[3 * t + 2]];
            triangles.extend([[a, d, f], [d, b, e], [f, e, c], [d, e, f]]);
        }
        triangles
    }

    /// The sheet of the next level.
    pub(super) fn divided(&self, middles: &[u32]) -> Self {
        let triangles = self.quartered(middles, Vec::new());
        let count = self.vertices() as usize + self.twins.len() / 2;
        let mut twins = vec![0; 4 * self.twins.len()];
        for first in (0..twins.len()).step_by(12) {
            for (one, other) in [(1, 11), (5, 9), (6, 10)] {
                twins[first + one] = (first + other) as u32;
                twins[first + other] = (first + one) as u32;
            }
        }
        for half in 0..self.twins.len() as u32 {
            let ([near, far], [far_twin, near_twin]) = (Self::parts(half), Self::parts(self.twin(half)));
            twins[near as usize] = near_twin;
            twins[far as usize] = far_twin;
        }
        let mut first = vec![0; count];
        for (t, triangle) in triangles.iter().enumerate() {
            (0..3).for_each(|k| first[triangle[k] as usize] = (3 * t + k) as u32);
        }
        let mut valence = self.valence.clone();
        valence.resize(count, 6);
        Self { triangles, twins, first, valence, origin: (0..count as u32).collect() }
    }
}

fn check_folds(triangles: &[[u32; 3]]) -> Result<(), Flaw> {
    match triangles.iter().position(|[a, b, c]| a == b || b == c || c == a) {
        Some(triangle) => Err(Flaw::Folded { triangle }),
        None => Ok(()),
    }
}
