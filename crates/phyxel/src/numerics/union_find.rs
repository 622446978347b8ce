//! Disjoint sets.

/// Union-find over `0..n`, with path halving; the root of a set is its smallest member.
pub(crate) struct UnionFind {
    parent: Vec<u32>,
}

impl UnionFind {
    /// `count` sets of one member each.
    pub fn new(count: usize) -> Self {
        Self { parent: (0..count as u32).collect() }
    }

    /// Joins the sets of two members.
    pub fn union(&mut self, pair: [u32; 2]) {
        let [a, b] = pair.map(|i| self.find(i));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    /// Root of the set of `i`.
    pub fn find(&mut self, mut i: u32) -> u32 {
        while self.parent[i as usize] != i {
            self.parent[i as usize] = self.parent[self.parent[i as usize] as usize];
            i = self.parent[i as usize];
        }
        i
    }

    /// Number of sets.
    pub fn component_count(&self) -> u32 {
        (0..self.parent.len() as u32).filter(|&i| self.parent[i as usize] == i).count() as u32
    }
}
