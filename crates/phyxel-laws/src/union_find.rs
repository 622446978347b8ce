//! Disjoint sets (union-find).

/// Union-find over `0..n`, with path halving; the root of a set is its smallest member.
#[derive(Clone, Debug)]
pub struct UnionFind {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_a_set_is_its_smallest_member() {
        let mut sets = UnionFind::new(9);
        for pair in [[8, 7], [3, 2], [7, 3], [5, 4], [4, 5], [6, 6]] {
            sets.union(pair);
        }
        let roots: Vec<u32> = (0..9).map(|i| sets.find(i)).collect();
        assert_eq!(roots, [0, 1, 2, 2, 4, 4, 6, 2, 2]);
        assert_eq!((sets.component_count(), UnionFind::new(0).component_count()), (5, 0));
    }

    #[test]
    fn a_long_chain_is_one_set() {
        let mut sets = UnionFind::new(10_000);
        (1..10_000).rev().for_each(|i| sets.union([i, i - 1]));
        assert_eq!((sets.find(9_999), sets.component_count()), (0, 1));
    }
}
