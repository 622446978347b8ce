//! Links inside bodies, assembled per block of bodies and kept until the conduction graph of a block changes.

use super::network::Link;
use super::{ConductionBlock, ConductionGraph};
use crate::Real;
use crate::numerics::Csr;
use crate::parallel;
use std::ops::Range;
use std::sync::Arc;

/// Nodes per task.
const GRAIN: usize = 4096;

/// Links of a block in compressed rows.
#[derive(Clone, Debug)]
struct LinkBlock {
    /// First particle of the block.
    first: usize,
    /// Graph that the links are from.
    graph: Arc<ConductionGraph>,
    /// Links of each particle: the other particle, from the first of the block, and the conductance, W/K.
    links: Csr<(u32, Real)>,
}

impl LinkBlock {
    fn new(block: ConductionBlock) -> Self {
        let both_ways = |&Link { nodes: [a, b], conductance }: &Link| [(a, (b, conductance)), (b, (a, conductance))];
        let links = Csr::new(block.graph.count, || block.graph.links.iter().flat_map(both_ways));
        Self { first: block.first, graph: block.graph, links }
    }

    fn range(&self) -> Range<usize> {
        self.first..self.first + self.graph.count
    }

    fn is_of(&self, block: &ConductionBlock) -> bool {
        Arc::ptr_eq(&self.graph, &block.graph)
    }
}

/// Links inside bodies, block by block. Blocks may overlap; the links of a particle are those of all its blocks, in
/// their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct FixedLinks {
    blocks: Vec<LinkBlock>,
    /// Sum of conductances of each particle, W/K.
    sums: Vec<f64>,
}

impl FixedLinks {
    /// Returns true if the links are those of these blocks.
    pub fn are_current(&self, particle_count: usize, blocks: &[ConductionBlock]) -> bool {
        let is_same = |(mine, block): (&LinkBlock, &ConductionBlock)| mine.first == block.first && mine.is_of(block);
        self.sums.len() == particle_count
            && self.blocks.len() == blocks.len()
            && self.blocks.iter().zip(blocks).all(is_same)
    }

    /// Assembles the links of blocks whose graph is new. Returns the ranges of particles whose links have changed.
    pub fn update(&mut self, particle_count: usize, blocks: Vec<ConductionBlock>) -> Vec<Range<usize>> {
        let mut known = std::mem::take(&mut self.blocks);
        let is_in_place = known.len() == blocks.len()
            && self.sums.len() == particle_count
            && known.iter().zip(&blocks).all(|(mine, block)| mine.range() == block.range());
        let mut changed = Vec::new();
        for block in blocks {
            let range = block.range();
            match known.iter().position(|mine| mine.is_of(&block)) {
                Some(index) => self.blocks.push(LinkBlock { first: block.first, ..known.swap_remove(index) }),
                None => {
                    self.blocks.push(LinkBlock::new(block));
                    changed.push(range);
                }
            }
        }
        if !is_in_place {
            self.sums = vec![0.0; particle_count];
            changed.clear();
            changed.push(0..particle_count);
        }
        changed.iter().for_each(|range| self.sum_conductances(range.clone()));
        changed
    }

    /// Sums the conductances of a range of particles, in the order of their links.
    fn sum_conductances(&mut self, range: Range<usize>) {
        let Self { blocks, sums } = self;
        parallel::for_each_chunk(&mut sums[range.clone()], GRAIN, |first, sums| {
            sums.fill(0.0);
            let rows = range.start + first..range.start + first + sums.len();
            for (block, rows) in overlaps(blocks, &rows) {
                let entries = block.links.rows(rows.start - block.first..rows.end - block.first);
                for (sum, links) in sums[rows.start - range.start - first..].iter_mut().zip(entries) {
                    *sum = links.iter().fold(*sum, |sum, (_, g)| sum + f64::from(*g));
                }
            }
        });
    }

    /// Sum of conductances of a node, W/K.
    pub fn conductance_sum(&self, node: usize) -> f64 {
        self.sums.get(node).copied().unwrap_or(0.0)
    }

    /// Computes the graph Laplacian `sum_j g_ij (x_j - x_i)` of a range of nodes.
    pub fn laplacian(&self, range: Range<usize>, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (block, rows) in overlaps(&self.blocks, &range) {
            let entries = block.links.rows(rows.start - block.first..rows.end - block.first);
            let outs = &mut out[rows.start - range.start..];
            let x = &x[block.first..];
            for ((out, links), i) in outs.iter_mut().zip(entries).zip(rows.start - block.first..) {
                let x_i = x[i];
                *out = links.iter().fold(*out, |sum, &(other, g)| sum + f64::from(g) * (x[other as usize] - x_i));
            }
        }
    }
}

/// Blocks that overlap a range, each with the overlap.
fn overlaps<'a>(
    blocks: &'a [LinkBlock],
    range: &Range<usize>,
) -> impl Iterator<Item = (&'a LinkBlock, Range<usize>)> + use<'a> {
    let range = range.clone();
    let overlap = move |block: &'a LinkBlock| {
        let rows = range.start.max(block.first)..range.end.min(block.range().end);
        (!rows.is_empty()).then_some((block, rows))
    };
    blocks.iter().filter_map(overlap)
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "lists of ranges are compared")]
mod tests {
    use super::*;

    fn block(first: usize, count: usize, conductance: Real) -> ConductionBlock {
        let links = (1..count as u32).map(|i| Link { nodes: [i - 1, i], conductance }).collect();
        ConductionBlock { first, graph: Arc::new(ConductionGraph { count, links, faces: Vec::new() }) }
    }

    fn laplacian(links: &FixedLinks, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; x.len()];
        links.laplacian(0..x.len(), x, &mut out);
        out
    }

    #[test]
    fn only_blocks_with_a_new_graph_change() {
        let (one, other) = (block(0, 3, 1.0), block(3, 4, 2.0));
        let mut links = FixedLinks::default();
        assert_eq!(links.update(7, vec![one.clone(), other.clone()]), [0..7]);
        assert!(links.are_current(7, &[one.clone(), other.clone()]));
        let newer = block(3, 4, 5.0);
        assert_eq!(links.update(7, vec![one.clone(), newer.clone()]), [3..7]);
        assert_eq!(links.sums, [1.0, 2.0, 1.0, 5.0, 10.0, 10.0, 5.0]);
        // A block that moves keeps its links.
        let moved = ConductionBlock { first: 4, ..newer };
        assert_eq!(links.update(8, vec![one, moved]), [0..8]);
        assert_eq!(links.sums, [1.0, 2.0, 1.0, 0.0, 5.0, 10.0, 10.0, 5.0]);
        let x: Vec<f64> = (0..8).map(|i| f64::from(i * i)).collect();
        assert_eq!(laplacian(&links, &x), [1.0, 2.0, -3.0, 0.0, 45.0, 10.0, 10.0, -65.0]);
    }

    #[test]
    fn links_of_overlapping_blocks_add_up() {
        let mut links = FixedLinks::default();
        links.update(4, vec![block(0, 4, 1.0), block(1, 2, 10.0)]);
        assert_eq!(links.sums, [1.0, 12.0, 12.0, 1.0]);
        assert_eq!(laplacian(&links, &[0.0, 1.0, 3.0, 3.0]), [1.0, 21.0, -22.0, 0.0]);
    }
}
