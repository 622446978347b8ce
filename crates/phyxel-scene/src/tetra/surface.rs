//! Where the surface of a shape passes through a lattice, and nodes moved onto it.

use super::lattice::{Lattice, WAYS};
use glam::Vec3;
use phyxel::{Real, parallel};
use std::collections::HashMap;

/// A node moves to the surface where this crosses a long edge within this part of it.
///
/// The larger these are, the more tetrahedra between moved nodes are squeezed; the smaller they are, the thinner are the
/// pieces that are cut off. With these two, and all nodes and crossings at the ends of what is possible, angles are
/// between 10.76 and 164.71 degrees, which is the bound of the paper.
const NEAR_LONG: Real = 0.285;
/// The same for short edges.
const NEAR_SHORT: Real = 0.399;
/// Nodes handled by one task.
const GRAIN: usize = 256;
/// Marks a node without crossings of its own.
const NONE: u32 = u32::MAX;

/// Where a node is with respect to the shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Inside,
    Outside,
    /// Moved onto the surface.
    On,
}

/// The sides of all nodes, and the crossings of edges between inside and outside.
pub(super) struct Surface<'a> {
    pub lattice: &'a Lattice,
    sides: Vec<Side>,
    /// Row of `crossings` of each node inside that has neighbours outside.
    rows: Vec<u32>,
    /// Part of the edge from the node to the crossing, for each way; not a number where there is none.
    crossings: Vec<[Real; WAYS]>,
    /// Positions of nodes on the surface, m.
    moved: HashMap<usize, Vec3>,
}

impl<'a> Surface<'a> {
    /// Finds all crossings and moves nodes that are near one.
    ///
    /// `inside` has the numbers of the nodes inside, in order, none of them on the border. `cross` tells how
    /// far a crossing is from the first of two positions, as a part of the way to the second.
    pub fn find(lattice: &'a Lattice, inside: &[usize], cross: impl Fn(Vec3, Vec3) -> Real + Sync) -> Self {
        let nodes = 2 * lattice.places();
        let mut surface = Self {
            lattice,
            sides: vec![Side::Outside; nodes],
            rows: vec![NONE; nodes],
            crossings: Vec::new(),
            moved: HashMap::new(),
        };
        inside.iter().for_each(|node| surface.sides[*node] = Side::Inside);
        let near: Vec<usize> = parallel::map_ranges(inside.len(), GRAIN, |range| {
            let is_near = |node: &&usize| (0..WAYS).any(|way| surface.leads_out(**node, way));
            inside[range].iter().filter(is_near).copied().collect::<Vec<_>>()
        })
        .concat();
        surface.crossings = parallel::map(near.len(), 16, |row| {
            let node = near[row];
            std::array::from_fn(|way| {
                let end = lattice.neighbour(node, way);
                let crossed = surface.leads_out(node, way);
                if crossed { cross(lattice.position(node), lattice.position(end)) } else { Real::NAN }
            })
        });
        near.iter().enumerate().for_each(|(row, node)| surface.rows[*node] = row as u32);
        surface.warp(&near);
        surface
    }

    pub fn side(&self, node: usize) -> Side {
        self.sides[node]
    }

    /// Whether any node is left inside; each has tetrahedra around it.
    pub fn has_inside(&self) -> bool {
        self.sides.contains(&Side::Inside)
    }

    /// Where a node is, m.
    pub fn position(&self, node: usize) -> Vec3 {
        self.moved.get(&node).copied().unwrap_or_else(|| self.lattice.position(node))
    }

    /// The point where the edge from a node inside along a way crosses the surface, m.
    pub fn crossing(&self, node: usize, way: usize) -> Vec3 {
        let (from, to) = (self.lattice.position(node), self.lattice.position(self.lattice.neighbour(node, way)));
        from.lerp(to, self.part(node, way).unwrap_or(0.0))
    }

    fn leads_out(&self, node: usize, way: usize) -> bool {
        self.sides[self.lattice.neighbour(node, way)] == Side::Outside
    }

    fn part(&self, node: usize, way: usize) -> Option<Real> {
        self.crossings.get(self.rows[node] as usize).map(|row| row[way])
    }

    /// The crossing that a node has to move to, if any is so near, m: the nearest of those.
    fn attraction(&self, node: usize) -> Option<Vec3> {
        let lattice = self.lattice;
        let mut nearest: Option<(Real, Vec3)> = None;
        for way in 0..WAYS {
            let end = lattice.neighbour(node, way);
            let part = match (self.sides[node], self.sides[end]) {
                (Side::Inside, Side::Outside) => self.part(node, way),
                (Side::Outside, Side::Inside) => self.part(end, Lattice::back(way)).map(|part| 1.0 - part),
                _ => None,
            };
            let near = if Lattice::is_long(way) { NEAR_LONG } else { NEAR_SHORT };
            let Some(part) = part.filter(|part| *part < near) else { continue };
            let way = part * (lattice.position(end) - lattice.position(node));
            if nearest.is_none_or(|(least, _)| way.length() < least) {
                nearest = Some((way.length(), lattice.position(node) + way));
            }
        }
        nearest.map(|(_, point)| point)
    }

    /// Moves nodes onto the surface, one after the other: a node that has moved has no crossings any more, so
    /// that its neighbours may stay. The order is that of the numbers, so the result is always the same.
    fn warp(&mut self, near: &[usize]) {
        let neighbours = near.iter().flat_map(|node| (0..WAYS).map(|way| self.lattice.neighbour(*node, way)));
        let outside = neighbours.filter(|node| self.sides[*node] == Side::Outside);
        let mut candidates: Vec<usize> = near.iter().copied().chain(outside).collect();
        candidates.sort_unstable();
        candidates.dedup();
        for node in candidates {
            if let Some(point) = self.attraction(node) {
                self.sides[node] = Side::On;
                self.moved.insert(node, point);
            }
        }
    }
}
