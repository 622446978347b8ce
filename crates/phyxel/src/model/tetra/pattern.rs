//! Which nodes of a body share elements, and clusters of nodes that are near each other: what stays of the matrices of implicit
//! steps from step to step.

use crate::Real;
use crate::model::Parts;
use glam::{DVec3, Vec3};
use phyxel_laws::lanes::WIDTH;
use phyxel_laws::symmetric::eigen;
use phyxel_laws::tetra::EDGES;
use std::ops::Range;

/// Nodes of a cluster that need not be cut further.
const CLUSTER: usize = 64;
/// Clusters are cut in two so often at most: more would make the small system that they are the unknowns of too large.
const MOST_CUTS: u32 = 6;

/// Where a matrix has blocks, row by row, and what they are made of.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// Nodes in the order of rows: cluster by cluster.
    pub order: Vec<u32>,
    /// First edge of each row: edges between nodes go from the later row to the earlier.
    start: Vec<u32>,
    /// The earlier rows of edges, ascending for each later one.
    pub columns: Vec<u32>,
    /// Edges of each row to and from others, in ascending order of these, and whether they come from there.
    all_start: Vec<u32>,
    all_edges: Vec<(u32, bool)>,
    /// First of the parts of each edge.
    parts_start: Vec<u32>,
    /// Corners of elements at the later and the earlier row of an edge, as places by pack (32), corner (8) and lane.
    parts: Vec<[u32; 2]>,
    pub clusters: Vec<Cluster>,
    /// By row.
    pub cluster_of: Vec<u32>,
    /// Nodes that hang together.
    pub pieces: Vec<Vec<u32>>,
    /// How much less rounding turns a body than it pushes its nodes.
    pub calm: f64,
}

/// Nodes that move together in a first approximation.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub rows: Range<usize>,
    /// First of the clusters up to this one that it shares an element with.
    pub first: usize,
}

impl Pattern {
    /// Of elements between nodes with these places at rest, m.
    pub fn new(rest: &[Vec3], elements: &[[u32; 4]]) -> Self {
        let piece_of = find_pieces(rest.len(), elements);
        let (order, rows) = cut_into_clusters(rest, &piece_of);
        let mut pieces: Vec<u32> = (0..rest.len() as u32).collect();
        pieces.sort_by_key(|&node| piece_of[node as usize]);
        let pieces = pieces.chunk_by(|a, b| piece_of[*a as usize] == piece_of[*b as usize]);
        let pieces: Vec<Vec<u32>> = pieces.map(<[u32]>::to_vec).collect();
        let mut row_of = vec![0u32; rest.len()];
        (0..).zip(&order).for_each(|(row, &node)| row_of[node as usize] = row);
        // The rows of every edge of an element, later one first, and the places of its corners there.
        let mut parts: Vec<[u32; 4]> = Vec::with_capacity(6 * elements.len());
        for (i, element) in elements.iter().enumerate() {
            for ends in EDGES {
                let [a, b] = [ends.0, ends.1].map(|corner| {
                    let place = (32 * (i / WIDTH) + WIDTH * corner + i % WIDTH) as u32;
                    row_of.get(element[corner] as usize).map(|&row| (row, place))
                });
                let (Some(a), Some(b)) = (a, b) else { continue };
                let (later, earlier) = (a.max(b), a.min(b));
                parts.push([later.0, earlier.0, later.1, earlier.1]);
            }
        }
        parts.sort_unstable();
        let mut ends: Vec<[u32; 2]> = Vec::new();
        let mut parts_start: Vec<u32> = Vec::new();
        for (k, &[row, column, ..]) in (0..).zip(&parts) {
            if ends.last() != Some(&[row, column]) {
                ends.push([row, column]);
                parts_start.push(k);
            }
        }
        parts_start.push(parts.len() as u32);
        let both =
            (0..).zip(&ends).flat_map(|(edge, &[row, column])| [(row, column, edge, false), (column, row, edge, true)]);
        let mut all: Vec<(u32, u32, u32, bool)> = both.collect();
        all.sort_unstable();
        let start_of = |rows: &mut dyn Iterator<Item = u32>| {
            let mut start = vec![0; order.len() + 1];
            rows.for_each(|row| start[row as usize + 1] += 1);
            (0..order.len()).for_each(|row| start[row + 1] += start[row]);
            start
        };
        let mut pattern = Self {
            start: start_of(&mut ends.iter().map(|[row, _]| *row)),
            columns: ends.iter().map(|[_, column]| *column).collect(),
            all_start: start_of(&mut all.iter().map(|(row, ..)| *row)),
            all_edges: all.into_iter().map(|(_, _, edge, is_turned)| (edge, is_turned)).collect(),
            order,
            parts_start,
            parts: parts.into_iter().map(|[_, _, later, earlier]| [later, earlier]).collect(),
            clusters: Vec::new(),
            cluster_of: Vec::new(),
            calm: find_calm(rest, &pieces, elements),
            pieces,
        };
        pattern.link_clusters(rows);
        pattern
    }

    fn link_clusters(&mut self, rows: Vec<Range<usize>>) {
        for (number, rows) in rows.iter().enumerate() {
            self.cluster_of.extend(rows.clone().map(|_| number as u32));
        }
        self.clusters = rows
            .into_iter()
            .map(|rows| {
                let columns = rows.clone().filter_map(|row| self.columns[self.row(row)].first().copied());
                let first = columns.chain([rows.start as u32]).min().unwrap_or(0);
                Cluster { first: self.cluster_of[first as usize] as usize, rows }
            })
            .collect();
    }

    /// Edges from a row to earlier ones.
    pub fn row(&self, row: usize) -> Range<usize> {
        self.start[row] as usize..self.start[row + 1] as usize
    }

    /// Edges between a row and others, and whether they come from there.
    pub fn around(&self, row: usize) -> &[(u32, bool)] {
        &self.all_edges[self.all_start[row] as usize..self.all_start[row + 1] as usize]
    }

    /// Number of edges between nodes.
    pub fn edge_count(&self) -> usize {
        self.parts_start.len() - 1
    }

    /// Places of corners at both ends of an edge, of each element that has it.
    pub fn parts(&self, edge: usize) -> &[[u32; 2]] {
        &self.parts[self.parts_start[edge] as usize..self.parts_start[edge + 1] as usize]
    }
}

/// Nodes cluster by cluster, and where in them each is. Clusters follow each other along the longest axis, so that those which touch
/// are not far apart.
///
/// Each piece has clusters of its own: it moves and turns without the others, and if no clusters knew of that it would seem to be solved long
/// before it is.
fn cut_into_clusters(rest: &[Vec3], pieces: &[u32]) -> (Vec<u32>, Vec<Range<usize>>) {
    let mut order: Vec<u32> = (0..rest.len() as u32).collect();
    order.sort_by_key(|&node| (pieces[node as usize], node));
    let mut clusters: Vec<&mut [u32]> = order.chunk_by_mut(|a, b| pieces[*a as usize] == pieces[*b as usize]).collect();
    // All pieces together are cut no finer than a whole body would be.
    let smallest = CLUSTER.max(rest.len() >> MOST_CUTS);
    for _ in 0..MOST_CUTS {
        clusters = clusters.into_iter().flat_map(|nodes| cut(rest, nodes, smallest)).collect();
    }
    let (axis, _) = longest_axis(rest.iter().copied());
    let middle =
        |nodes: &[u32]| nodes.iter().map(|&node| rest[node as usize][axis]).sum::<Real>() / nodes.len() as Real;
    clusters.sort_by(|a, b| middle(a).total_cmp(&middle(b)));
    let mut rows = Vec::with_capacity(clusters.len());
    let mut all = Vec::with_capacity(rest.len());
    for nodes in clusters {
        // The order of the store is often that of a mesher: neighbours are near.
        nodes.sort_unstable();
        rows.push(all.len()..all.len() + nodes.len());
        all.extend_from_slice(nodes);
    }
    (all, rows)
}

/// Which piece each node is of, by one of its nodes.
fn find_pieces(count: usize, elements: &[[u32; 4]]) -> Vec<u32> {
    let mut parts = Parts::new(count);
    for element in elements {
        element.windows(2).for_each(|pair| parts.unite([pair[0], pair[1]]));
    }
    (0..count as u32).map(|node| parts.root(node)).collect()
}

/// How much less rounding turns pieces than it pushes their nodes: in proportion to how much farther these are from the axis that it turns about
/// most easily than from each other, and to the root of their number, because pushes that know nothing of each other add up only with that.
fn find_calm(rest: &[Vec3], pieces: &[Vec<u32>], elements: &[[u32; 4]]) -> f64 {
    let place = |node: u32| rest.get(node as usize).map_or(DVec3::ZERO, |x| x.as_dvec3());
    let mut inertia = [[0.0; 3]; 3];
    for piece in pieces {
        let middle = piece.iter().map(|&node| place(node)).sum::<DVec3>() / piece.len() as f64;
        for arm in piece.iter().map(|&node| place(node) - middle) {
            for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                inertia[i][j] += if i == j { arm.length_squared() } else { 0.0 } - arm[i] * arm[j];
            }
        }
    }
    let least = eigen(inertia).0.into_iter().fold(f64::INFINITY, f64::min);
    let edges = elements.iter().flat_map(|element| EDGES.map(|(a, b)| place(element[a]) - place(element[b])));
    let square = edges.map(|edge| edge.length_squared()).sum::<f64>() / (EDGES.len() * elements.len()) as f64;
    // The sum over nodes is their number times the mean.
    (least / square / pieces.len() as f64).max(0.0).sqrt()
}

/// Halves across the longest axis, if they would not be too small.
fn cut<'a>(rest: &[Vec3], nodes: &'a mut [u32], smallest: usize) -> Vec<&'a mut [u32]> {
    if nodes.len() <= smallest {
        return vec![nodes];
    }
    let (axis, _) = longest_axis(nodes.iter().map(|&node| rest[node as usize]));
    let at = |node: &u32| rest[*node as usize][axis];
    let half = nodes.len() / 2;
    nodes.select_nth_unstable_by(half, |a, b| at(a).total_cmp(&at(b)).then(a.cmp(b)));
    let (low, high) = nodes.split_at_mut(half);
    vec![low, high]
}

/// The axis along which points reach farthest, and how far, m.
pub(super) fn longest_axis(points: impl Iterator<Item = Vec3>) -> (usize, Real) {
    let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (min, max) = points.fold(start, |(min, max), x| (min.min(x), max.max(x)));
    let reach = max - min;
    (reach.max_position(), reach.max_element())
}
