//! Sparsity pattern of system matrices and aggregation of nodes, kept from step to step while the mesh is
//! unchanged.

use crate::Real;
use crate::numerics::{Aabb, Csr, UnionFind};
use glam::{DVec3, Vec3};
use phyxel_laws::fem::EDGES;
use phyxel_laws::linalg::eigen::symmetric_eigen;
use phyxel_laws::simd::WIDTH;
use std::ops::Range;

/// Aggregates up to this size are not bisected further.
const AGGREGATE_NODES: usize = 64;
/// Levels of bisection: more aggregates would make the coarse system too large.
const MAX_BISECTIONS: u32 = 6;

/// Sparsity pattern of a system matrix, the corners of elements that contribute to each block, and
/// aggregates of rows.
///
/// Nodes are numbered aggregate by aggregate. An edge connects a later row to an earlier one.
#[derive(Clone, Debug)]
pub(in crate::model::tetra) struct Pattern {
    /// Node of each row.
    pub order: Vec<u32>,
    /// Edges of each row to earlier rows, by the earlier row, ascending.
    pub columns: Csr<u32>,
    /// Edges between each row and all others, ascending by the other row; true if the edge is stored with the
    /// other row, so that the block of this row is the transpose.
    pub incident_edges: Csr<(u32, bool)>,
    /// Element corners at the later and the earlier row of each edge, for each element that contains it, as
    /// offsets by pack (32), corner (8) and lane.
    pub corner_pairs: Csr<[u32; 2]>,
    pub aggregates: Vec<Aggregate>,
    /// By row.
    pub aggregate_of: Vec<u32>,
    /// Nodes of each connected component.
    pub components: Vec<Vec<u32>>,
    /// Factor by which rounding errors rotate a component less than they accelerate its nodes.
    pub rotation_rounding_ratio: f64,
}

/// Aggregate of neighbouring nodes: a unit of the coarse space.
#[derive(Clone, Debug)]
pub(in crate::model::tetra) struct Aggregate {
    pub rows: Range<usize>,
    /// First of the aggregates up to this one with which it shares an edge.
    pub first_neighbour: usize,
}

impl Pattern {
    /// Builds the pattern of elements between nodes with these rest positions, m.
    pub fn new(rest: &[Vec3], elements: &[[u32; 4]]) -> Self {
        let component_of = find_components(rest.len(), elements);
        let (order, aggregate_rows) = partition_into_aggregates(rest, &component_of);
        let components = group_by_component(&component_of);
        let corner_pairs = sorted_corner_pairs(&order, elements);
        let edges = || corner_pairs.chunk_by(|a, b| a[..2] == b[..2]);
        let ends: Vec<(u32, u32)> = edges().map(|pairs| (pairs[0][0], pairs[0][1])).collect();
        // Edges ascend by the later row: those of a row with earlier rows come before those with later ones.
        let both_ways =
            || (0..).zip(&ends).flat_map(|(edge, &(row, column))| [(row, (edge, false)), (column, (edge, true))]);
        let mut pattern = Self {
            columns: Csr::new(order.len(), || ends.iter().copied()),
            incident_edges: Csr::new(order.len(), both_ways),
            order,
            corner_pairs: Csr::from_rows(edges().map(|pairs| pairs.iter().map(|pair| [pair[2], pair[3]]))),
            aggregates: Vec::new(),
            aggregate_of: Vec::new(),
            rotation_rounding_ratio: rotation_rounding_ratio(rest, &components, elements),
            components,
        };
        pattern.link_aggregates(aggregate_rows);
        pattern
    }

    fn link_aggregates(&mut self, aggregate_rows: Vec<Range<usize>>) {
        for (aggregate, rows) in aggregate_rows.iter().enumerate() {
            self.aggregate_of.extend(rows.clone().map(|_| aggregate as u32));
        }
        self.aggregates = aggregate_rows
            .into_iter()
            .map(|rows| {
                let columns = rows.clone().filter_map(|row| self.columns.row(row).first().copied());
                let first = columns.chain([rows.start as u32]).min().unwrap_or(0);
                Aggregate { first_neighbour: self.aggregate_of[first as usize] as usize, rows }
            })
            .collect();
    }

    /// Number of edges.
    pub fn edge_count(&self) -> usize {
        self.corner_pairs.row_count()
    }
}

/// Lists the later row, the earlier row and the corners there of every edge of every element, ascending.
fn sorted_corner_pairs(order: &[u32], elements: &[[u32; 4]]) -> Vec<[u32; 4]> {
    let mut row_of = vec![0u32; order.len()];
    (0..).zip(order).for_each(|(row, &node)| row_of[node as usize] = row);
    let mut pairs: Vec<[u32; 4]> = Vec::with_capacity(6 * elements.len());
    for (i, element) in elements.iter().enumerate() {
        for ends in EDGES {
            let [a, b] = [ends.0, ends.1].map(|corner| {
                let offset = (32 * (i / WIDTH) + WIDTH * corner + i % WIDTH) as u32;
                row_of.get(element[corner] as usize).map(|&row| (row, offset))
            });
            let (Some(a), Some(b)) = (a, b) else { continue };
            let (later, earlier) = (a.max(b), a.min(b));
            pairs.push([later.0, earlier.0, later.1, earlier.1]);
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Orders the nodes by aggregate and returns the rows of each. Aggregates follow each other along the
/// longest axis, so that neighbours have close numbers.
///
/// Aggregates do not cross components: a component moves independently of the others, and without a coarse
/// unknown for that the iteration would seem to converge long before it does.
fn partition_into_aggregates(rest: &[Vec3], component_of: &[u32]) -> (Vec<u32>, Vec<Range<usize>>) {
    let mut order: Vec<u32> = (0..rest.len() as u32).collect();
    order.sort_by_key(|&node| (component_of[node as usize], node));
    let by_component = order.chunk_by_mut(|a, b| component_of[*a as usize] == component_of[*b as usize]);
    let mut aggregates: Vec<&mut [u32]> = by_component.collect();
    // All components together have no smaller aggregates than a connected body.
    let max_unsplit = AGGREGATE_NODES.max(rest.len() >> MAX_BISECTIONS);
    for _ in 0..MAX_BISECTIONS {
        aggregates = aggregates.into_iter().flat_map(|nodes| bisect(rest, nodes, max_unsplit)).collect();
    }
    let (axis, _) = longest_axis(rest.iter().copied());
    let centre =
        |nodes: &[u32]| nodes.iter().map(|&node| rest[node as usize][axis]).sum::<Real>() / nodes.len() as Real;
    aggregates.sort_by(|a, b| centre(a).total_cmp(&centre(b)));
    let mut rows = Vec::with_capacity(aggregates.len());
    let mut ordered = Vec::with_capacity(rest.len());
    for nodes in aggregates {
        // The order of the store is often that of a mesher: neighbours are near.
        nodes.sort_unstable();
        rows.push(ordered.len()..ordered.len() + nodes.len());
        ordered.extend_from_slice(nodes);
    }
    (ordered, rows)
}

/// Finds the connected component of each node, named by one of its nodes.
fn find_components(count: usize, elements: &[[u32; 4]]) -> Vec<u32> {
    let mut components = UnionFind::new(count);
    for element in elements {
        element.windows(2).for_each(|pair| components.union([pair[0], pair[1]]));
    }
    (0..count as u32).map(|node| components.find(node)).collect()
}

fn group_by_component(component_of: &[u32]) -> Vec<Vec<u32>> {
    let mut nodes: Vec<u32> = (0..component_of.len() as u32).collect();
    nodes.sort_by_key(|&node| component_of[node as usize]);
    let components = nodes.chunk_by(|a, b| component_of[*a as usize] == component_of[*b as usize]);
    components.map(<[u32]>::to_vec).collect()
}

/// Factor by which rounding errors rotate components less than they accelerate their nodes.
///
/// It is the radius of gyration about the axis of least inertia over the edge length, times the root of the
/// number of nodes, because independent errors add up only with that.
fn rotation_rounding_ratio(rest: &[Vec3], components: &[Vec<u32>], elements: &[[u32; 4]]) -> f64 {
    let position = |node: u32| rest.get(node as usize).map_or(DVec3::ZERO, |x| x.as_dvec3());
    let mut inertia = [[0.0; 3]; 3];
    for component in components {
        let centroid = component.iter().map(|&node| position(node)).sum::<DVec3>() / component.len() as f64;
        for arm in component.iter().map(|&node| position(node) - centroid) {
            for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                inertia[i][j] += if i == j { arm.length_squared() } else { 0.0 } - arm[i] * arm[j];
            }
        }
    }
    let least = symmetric_eigen(inertia).0.into_iter().fold(f64::INFINITY, f64::min);
    let edges = elements.iter().flat_map(|element| EDGES.map(|(a, b)| position(element[a]) - position(element[b])));
    let square = edges.map(|edge| edge.length_squared()).sum::<f64>() / (EDGES.len() * elements.len()) as f64;
    // The sum over nodes is their number times the mean.
    (least / square / components.len() as f64).max(0.0).sqrt()
}

/// Bisects a set of more than `max_unsplit` nodes at the median of its longest axis.
fn bisect<'a>(rest: &[Vec3], nodes: &'a mut [u32], max_unsplit: usize) -> Vec<&'a mut [u32]> {
    if nodes.len() <= max_unsplit {
        return vec![nodes];
    }
    let (axis, _) = longest_axis(nodes.iter().map(|&node| rest[node as usize]));
    let coordinate = |node: &u32| rest[*node as usize][axis];
    let half = nodes.len() / 2;
    nodes.select_nth_unstable_by(half, |a, b| coordinate(a).total_cmp(&coordinate(b)).then(a.cmp(b)));
    let (low, high) = nodes.split_at_mut(half);
    vec![low, high]
}

/// Axis of the largest extent of the bounding box, and that extent, m.
pub(in crate::model::tetra) fn longest_axis(points: impl Iterator<Item = Vec3>) -> (usize, Real) {
    let extent = Aabb::from_points(points).extent();
    (extent.max_position(), extent.max_element())
}
