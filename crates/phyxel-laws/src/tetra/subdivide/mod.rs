//! Finer and smoother surfaces from closed triangle meshes, after Loop `[Loop87]` and the modified Butterfly `[ZSS96]`.
//!
//! A fine vertex is a list of coarse nodes with weights that add up to 1, so it follows its nodes wherever they go, and is known
//! from the subdivision itself. Nothing is recomputed while the topology stays, and where it changes only what is near; see
//! [`Layers`]. Both schemes look no farther than two edges.
//!
//! What is made here is made when a surface changes, not in every step, so it comes in vectors of its own.

mod layers;
mod rules;
mod sheet;

pub use layers::Layers;
pub use rules::Scheme;
pub use sheet::{Flaw, Sheet};

use crate::Real;
use glam::Vec3;
use std::ops::Range;

/// Vertices that are weighted sums of nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    /// Where the terms of each vertex end.
    ends: Vec<u32>,
    terms: Vec<(u32, Real)>,
}

impl Weights {
    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Nodes of a vertex with their weights, by the number of the node.
    pub fn of(&self, vertex: usize) -> &[(u32, Real)] {
        &self.terms[self.start(vertex)..self.ends[vertex] as usize]
    }

    /// Where a vertex is while its nodes are at these places, m.
    pub fn place(&self, vertex: usize, nodes: &[Vec3]) -> Vec3 {
        self.of(vertex).iter().map(|&(node, weight)| weight * nodes[node as usize]).sum()
    }

    /// No vertices, in the same room.
    fn cleared(mut self) -> Self {
        self.ends.clear();
        self.terms.clear();
        self
    }

    /// Follows new numbers of nodes: node `k` gets `numbers[k]`.
    fn renumber(&mut self, numbers: &[u32]) {
        self.terms.iter_mut().for_each(|(node, _)| *node = numbers.get(*node as usize).copied().unwrap_or(u32::MAX));
        let mut start = 0;
        for &end in &self.ends {
            self.terms[start..end as usize].sort_unstable_by_key(|(node, _)| *node);
            start = end as usize;
        }
    }

    /// Appends a run of other vertices.
    fn copy(&mut self, others: &Self, run: Range<usize>) {
        let start = others.start(run.start);
        let ends = &others.ends[run.clone()];
        let moved = self.terms.len() as u32;
        self.terms.extend_from_slice(&others.terms[start..others.start(run.end)]);
        self.ends.extend(ends.iter().map(|end| end - start as u32 + moved));
    }

    /// Where the terms of a vertex begin.
    fn start(&self, vertex: usize) -> usize {
        if vertex == 0 { 0 } else { self.ends[vertex - 1] as usize }
    }

    fn push(&mut self, terms: impl IntoIterator<Item = (u32, Real)>) {
        self.terms.extend(terms);
        self.ends.push(self.terms.len() as u32);
    }
}

/// A fine surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Fine {
    /// Triangles of fine vertices, as closed as the coarse surface. Those of coarse triangle `t` are the `4^levels` that begin at
    /// `4^levels t`.
    pub triangles: Vec<[u32; 3]>,
    /// Where the fine vertices are. The first are those of the sheet.
    pub weights: Weights,
}

/// Divides every triangle of a sheet in four, as often as `levels` says. Weights are for the nodes that the sheet was made from.
pub fn refine(sheet: &Sheet, scheme: Scheme, levels: u32) -> Fine {
    let mut layers = Layers::new(scheme, levels);
    let keys: Vec<u32> = (0..sheet.triangles().len() as u32).collect();
    layers.follow(sheet.clone(), &keys);
    layers.into_fine()
}

/// A weighted sum of nodes in the making.
struct Sum {
    /// For every node.
    weight: Vec<f64>,
    /// Which nodes are in the sum.
    is_in: Vec<bool>,
    nodes: Vec<u32>,
}

impl Sum {
    /// Of nothing, for the nodes of a sheet.
    fn new(sheet: &Sheet) -> Self {
        let nodes = sheet.origin().iter().map(|node| *node as usize + 1).max().unwrap_or(0);
        Self { weight: vec![0.0; nodes], is_in: vec![false; nodes], nodes: Vec::new() }
    }

    /// Adds up what a rule says of vertices that are sums themselves.
    fn take(&mut self, vertices: &Weights, rule: impl FnOnce(&mut dyn FnMut(u32, f64))) {
        rule(&mut |vertex, weight| {
            for &(node, part) in vertices.of(vertex as usize) {
                self.weight[node as usize] += weight * f64::from(part);
                if !std::mem::replace(&mut self.is_in[node as usize], true) {
                    self.nodes.push(node);
                }
            }
        });
        self.nodes.sort_unstable();
    }

    /// The nodes with their weights, by number; the sum is empty again.
    fn drain(&mut self) -> impl Iterator<Item = (u32, Real)> {
        let (weight, is_in) = (&mut self.weight, &mut self.is_in);
        self.nodes.drain(..).filter_map(move |node| {
            is_in[node as usize] = false;
            let sum = std::mem::take(&mut weight[node as usize]) as Real;
            (sum != 0.0).then_some((node, sum))
        })
    }
}
