//! Cut points of a surface with the edges of a lattice, and nodes warped onto it `[LS07]`.

use super::lattice::{BccLattice, NEIGHBOURS};
use glam::Vec3;
use phyxel::{Real, parallel};
use std::collections::HashMap;

/// Fraction of a long edge within which a cut point attracts a node (`alpha_long` of the paper).
///
/// The larger these are, the more the tetrahedra between warped nodes are squeezed; the smaller, the thinner the
/// pieces that are cut off. With these two, and all nodes and cut points at their extremes, angles are between 10.76
/// and 164.71 degrees, which is the bound of the paper.
const ALPHA_LONG: Real = 0.285;
/// The same for short edges (`alpha_short`).
const ALPHA_SHORT: Real = 0.399;
/// Nodes handled by one task.
const GRAIN: usize = 256;
/// Row of a node without cut points of its own.
const NONE: u32 = u32::MAX;

/// Position of a node with respect to the shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Inside,
    Outside,
    /// Warped onto the surface.
    On,
}

/// Sides of all nodes, and cut points of the edges between inside and outside.
pub(super) struct CutSurface<'a> {
    pub lattice: &'a BccLattice,
    sides: Vec<Side>,
    /// Row of `crossings` of each inside node with outside neighbours.
    rows: Vec<u32>,
    /// Fraction of the edge from the node to the cut point, for each direction; NaN where there is none.
    crossings: Vec<[Real; NEIGHBOURS]>,
    /// Positions of warped nodes, m.
    warped: HashMap<usize, Vec3>,
}

impl<'a> CutSurface<'a> {
    /// Finds all cut points and warps the nodes that are close to one.
    ///
    /// `inside` has the sorted indices of the inside nodes, none of them on the border. `cross` returns the cut
    /// point between two positions as a fraction of the edge from the first.
    pub fn new(lattice: &'a BccLattice, inside: &[usize], cross: impl Fn(Vec3, Vec3) -> Real + Sync) -> Self {
        let nodes = 2 * lattice.sites();
        let mut surface = Self {
            lattice,
            sides: vec![Side::Outside; nodes],
            rows: vec![NONE; nodes],
            crossings: Vec::new(),
            warped: HashMap::new(),
        };
        inside.iter().for_each(|node| surface.sides[*node] = Side::Inside);
        let cut_nodes: Vec<usize> = parallel::map_ranges(inside.len(), GRAIN, |range| {
            let is_cut = |node: &&usize| (0..NEIGHBOURS).any(|direction| surface.crosses(**node, direction));
            inside[range].iter().filter(is_cut).copied().collect::<Vec<_>>()
        })
        .concat();
        surface.crossings = parallel::map(cut_nodes.len(), 16, |row| {
            let node = cut_nodes[row];
            std::array::from_fn(|direction| {
                let end = lattice.neighbour(node, direction);
                let crossed = surface.crosses(node, direction);
                if crossed { cross(lattice.position(node), lattice.position(end)) } else { Real::NAN }
            })
        });
        cut_nodes.iter().enumerate().for_each(|(row, node)| surface.rows[*node] = row as u32);
        surface.warp(&cut_nodes);
        surface
    }

    pub fn side(&self, node: usize) -> Side {
        self.sides[node]
    }

    /// Returns true if any node remains inside; each has tetrahedra around it.
    pub fn has_inside(&self) -> bool {
        self.sides.contains(&Side::Inside)
    }

    /// Position of a node, m.
    pub fn position(&self, node: usize) -> Vec3 {
        self.warped.get(&node).copied().unwrap_or_else(|| self.lattice.position(node))
    }

    /// Cut point of the edge from an inside node in a direction, m.
    pub fn cut_point(&self, node: usize, direction: usize) -> Vec3 {
        let (from, to) = (self.lattice.position(node), self.lattice.position(self.lattice.neighbour(node, direction)));
        from.lerp(to, self.crossing_fraction(node, direction).unwrap_or(0.0))
    }

    fn crosses(&self, node: usize, direction: usize) -> bool {
        self.sides[self.lattice.neighbour(node, direction)] == Side::Outside
    }

    fn crossing_fraction(&self, node: usize, direction: usize) -> Option<Real> {
        self.crossings.get(self.rows[node] as usize).map(|row| row[direction])
    }

    /// Nearest cut point that attracts a node, if any, m.
    fn warp_target(&self, node: usize) -> Option<Vec3> {
        let lattice = self.lattice;
        let mut nearest: Option<(Real, Vec3)> = None;
        for direction in 0..NEIGHBOURS {
            let end = lattice.neighbour(node, direction);
            let fraction = match (self.sides[node], self.sides[end]) {
                (Side::Inside, Side::Outside) => self.crossing_fraction(node, direction),
                (Side::Outside, Side::Inside) => {
                    self.crossing_fraction(end, BccLattice::opposite(direction)).map(|fraction| 1.0 - fraction)
                }
                _ => None,
            };
            let alpha = if BccLattice::is_long(direction) { ALPHA_LONG } else { ALPHA_SHORT };
            let Some(fraction) = fraction.filter(|fraction| *fraction < alpha) else { continue };
            let offset = fraction * (lattice.position(end) - lattice.position(node));
            if nearest.is_none_or(|(min, _)| offset.length() < min) {
                nearest = Some((offset.length(), lattice.position(node) + offset));
            }
        }
        nearest.map(|(_, point)| point)
    }

    /// Warps nodes onto the surface, one after the other: a warped node loses its cut points, so that its neighbours
    /// may stay. The order is that of the indices, so the result is deterministic.
    fn warp(&mut self, cut_nodes: &[usize]) {
        let neighbours =
            cut_nodes.iter().flat_map(|node| (0..NEIGHBOURS).map(|direction| self.lattice.neighbour(*node, direction)));
        let outside = neighbours.filter(|node| self.sides[*node] == Side::Outside);
        let mut candidates: Vec<usize> = cut_nodes.iter().copied().chain(outside).collect();
        candidates.sort_unstable();
        candidates.dedup();
        for node in candidates {
            if let Some(point) = self.warp_target(node) {
                self.sides[node] = Side::On;
                self.warped.insert(node, point);
            }
        }
    }
}
