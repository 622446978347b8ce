//! Stencils of isosurface stuffing: the inside part of a tetrahedron of the lattice `[LS07]`.
//!
//! It is one tetrahedron, a pyramid or a wedge. The latter two have quadrilateral faces, which two tetrahedra of the
//! lattice share and must split alike, so the diagonal depends on the face alone.

use super::lattice::{BccLattice, NEIGHBOURS};
use super::surface::{CutSurface, Side};
use crate::tetra::quality::min_dihedral;
use glam::Vec3;

/// Key of a node of the result: the lattice node times [`STEP`], plus one plus the direction for a crossing.
/// Sorting by it is spatially coherent.
pub(super) type NodeKey = u64;

const STEP: u64 = NEIGHBOURS as u64 + 2;

/// Position of a node of the result, m.
pub(super) fn position(surface: &CutSurface, key: NodeKey) -> Vec3 {
    let node = (key / STEP) as usize;
    match (key % STEP) as usize {
        0 => surface.position(node),
        direction => surface.cut_point(node, direction - 1),
    }
}

/// Tetrahedron of the lattice with its nodes sorted by side.
struct CutTetra<'a> {
    surface: &'a CutSurface<'a>,
    inside: Vec<usize>,
    outside: Vec<usize>,
    on: Vec<usize>,
}

/// Adds the tetrahedra of the inside part of one of the lattice, in arbitrary orientation.
pub(super) fn cut(surface: &CutSurface, nodes: [usize; 4], out: &mut Vec<[NodeKey; 4]>) {
    let sides = nodes.map(|node| surface.side(node));
    if !sides.contains(&Side::Inside) {
        return;
    }
    if !sides.contains(&Side::Outside) {
        return out.push(nodes.map(node_key));
    }
    let of = |side| nodes.iter().copied().filter(|node| surface.side(*node) == side).collect();
    let cut = CutTetra { surface, inside: of(Side::Inside), outside: of(Side::Outside), on: of(Side::On) };
    match (&cut.inside[..], &cut.outside[..]) {
        ([tip], _) => out.push(cut.cut_one_inside(*tip)),
        ([p, q], [m]) => cut.cut_pyramid(*p, *q, *m, out),
        ([p, q], [m, n]) => cut.cut_two_inside([*p, *q], [*m, *n], out),
        ([p, q, r], [m]) => cut.cut_three_inside([*p, *q, *r], *m, out),
        // Four nodes leave no other case.
        _ => {}
    }
}

fn node_key(node: usize) -> NodeKey {
    node as u64 * STEP
}

impl CutTetra<'_> {
    /// Direction from a node to its neighbour in the same tetrahedron.
    fn direction(&self, from: usize, to: usize) -> usize {
        (0..NEIGHBOURS).find(|direction| self.surface.lattice.neighbour(from, *direction) == to).unwrap_or(0)
    }

    fn crossing(&self, inside: usize, outside: usize) -> NodeKey {
        node_key(inside) + 1 + self.direction(inside, outside) as u64
    }

    fn is_long(&self, from: usize, to: usize) -> bool {
        BccLattice::is_long(self.direction(from, to))
    }

    /// Returns true if the diagonal of the quadrilateral cut from face `p q m`, with `m` outside, starts at `p` and
    /// ends on the edge from `q`; else it starts at `q`.
    ///
    /// It ends on the long one of the two edges. Where both are short, it starts at the even end of the long
    /// edge, which is the same for all tetrahedra around that (parity rule).
    fn diagonal_starts_at_first(&self, p: usize, q: usize, m: usize) -> bool {
        match (self.is_long(p, m), self.is_long(q, m)) {
            (true, _) => false,
            (_, true) => true,
            _ => self.surface.lattice.is_even(p),
        }
    }

    /// One node inside, any others outside or on the surface.
    fn cut_one_inside(&self, tip: usize) -> [NodeKey; 4] {
        let ends = self.on.iter().map(|node| node_key(*node));
        let mut keys = ends.chain(self.outside.iter().map(|node| self.crossing(tip, *node)));
        std::array::from_fn(|i| if i == 0 { node_key(tip) } else { keys.next().unwrap_or(0) })
    }

    /// Two nodes inside, one on the surface, one outside.
    fn cut_pyramid(&self, p: usize, q: usize, m: usize, out: &mut Vec<[NodeKey; 4]>) {
        let top = self.on.iter().map(|node| node_key(*node)).next().unwrap_or(0);
        let (p, q) = if self.diagonal_starts_at_first(p, q, m) { (p, q) } else { (q, p) };
        let (at_p, at_q) = (self.crossing(p, m), self.crossing(q, m));
        out.extend([[node_key(p), node_key(q), at_q, top], [node_key(p), at_q, at_p, top]]);
    }

    /// Two nodes inside, two outside: a wedge over the inside edge.
    fn cut_two_inside(&self, [p, q]: [usize; 2], [m, n]: [usize; 2], out: &mut Vec<[NodeKey; 4]>) {
        let near_p = [node_key(p), self.crossing(p, m), self.crossing(p, n)];
        let near_q = [node_key(q), self.crossing(q, m), self.crossing(q, n)];
        let before_m = self.diagonal_starts_at_first(p, q, m);
        let before_n = self.diagonal_starts_at_first(p, q, n);
        let wedge = |m_first| split_wedge(near_p, near_q, [before_m, m_first, before_n]);
        // The third face is on the surface and belongs to this tetrahedron alone.
        let is_free = before_m == before_n;
        out.extend(if is_free { self.better_split(wedge(true), wedge(false)) } else { wedge(before_n) });
    }

    /// The split with the larger smallest dihedral angle.
    fn better_split(&self, a: [[NodeKey; 4]; 3], b: [[NodeKey; 4]; 3]) -> [[NodeKey; 4]; 3] {
        let min_angle = |pieces: &[[NodeKey; 4]; 3]| {
            let corners = pieces.map(|piece| piece.map(|key| position(self.surface, key).as_dvec3()));
            corners.map(min_dihedral).into_iter().fold(f64::INFINITY, f64::min)
        };
        if min_angle(&b) > min_angle(&a) { b } else { a }
    }

    /// Three nodes inside, one outside: a wedge over the inside face.
    fn cut_three_inside(&self, [p, q, r]: [usize; 3], m: usize, out: &mut Vec<[NodeKey; 4]>) {
        let low = [p, q, r].map(node_key);
        let high = [p, q, r].map(|node| self.crossing(node, m));
        let first = |a: usize, b: usize| self.diagonal_starts_at_first(a, b, m);
        out.extend(split_wedge(low, high, [first(p, q), first(q, r), first(p, r)]));
    }
}

/// Splits a wedge between triangles `a` and `b`. The flags tell for faces 0-1, 1-2 and 0-2 whether the diagonal runs
/// from `a` of the first to `b` of the second. The diagonals must not be cyclic.
fn split_wedge(a: [NodeKey; 3], b: [NodeKey; 3], [zero_one, one_two, zero_two]: [bool; 3]) -> [[NodeKey; 4]; 3] {
    // Number of predecessors of each.
    let ranks = [
        usize::from(!zero_one) + usize::from(!zero_two),
        usize::from(zero_one) + usize::from(!one_two),
        usize::from(zero_two) + usize::from(one_two),
    ];
    let [i, j, k] = std::array::from_fn(|rank| ranks.iter().position(|r| *r == rank).unwrap_or(rank));
    [[a[i], a[j], a[k], b[k]], [a[i], a[j], b[j], b[k]], [a[i], b[i], b[j], b[k]]]
}
