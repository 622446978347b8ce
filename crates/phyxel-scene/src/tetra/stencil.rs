//! How a tetrahedron of the lattice is cut, `[LS07]`.
//!
//! What is left of it is one tetrahedron, a pyramid or a wedge. The latter two have faces with four corners,
//! which two tetrahedra of the lattice share and must split alike, so the diagonal depends on the face alone.

use super::lattice::{Lattice, WAYS};
use super::quality::least_angle;
use super::surface::{Side, Surface};
use glam::Vec3;

/// A node of the result: a node of the lattice times [`STEP`], plus one more than the way for a crossing on it.
/// Sorting these keeps neighbours in space near each other.
pub(super) type Key = u64;

const STEP: u64 = WAYS as u64 + 2;

/// Where a node of the result is, m.
pub(super) fn position(surface: &Surface, key: Key) -> Vec3 {
    let node = (key / STEP) as usize;
    match (key % STEP) as usize {
        0 => surface.position(node),
        way => surface.crossing(node, way - 1),
    }
}

/// One tetrahedron of the lattice, with its nodes by side.
struct Cut<'a> {
    surface: &'a Surface<'a>,
    inside: Vec<usize>,
    outside: Vec<usize>,
    on: Vec<usize>,
}

/// Adds the tetrahedra that are left of one of the lattice. Their orientation is not yet right.
pub(super) fn cut(surface: &Surface, nodes: [usize; 4], out: &mut Vec<[Key; 4]>) {
    let sides = nodes.map(|node| surface.side(node));
    if !sides.contains(&Side::Inside) {
        return;
    }
    if !sides.contains(&Side::Outside) {
        return out.push(nodes.map(node_key));
    }
    let of = |side| nodes.iter().copied().filter(|node| surface.side(*node) == side).collect();
    let cut = Cut { surface, inside: of(Side::Inside), outside: of(Side::Outside), on: of(Side::On) };
    match (&cut.inside[..], &cut.outside[..]) {
        ([tip], _) => out.push(cut.corner(*tip)),
        ([p, q], [m]) => cut.pyramid(*p, *q, *m, out),
        ([p, q], [m, n]) => cut.roof([*p, *q], [*m, *n], out),
        ([p, q, r], [m]) => cut.stump([*p, *q, *r], *m, out),
        // Four nodes leave no other choice.
        _ => {}
    }
}

fn node_key(node: usize) -> Key {
    node as u64 * STEP
}

impl Cut<'_> {
    /// The way from a node to its neighbour in the same tetrahedron.
    fn way(&self, from: usize, to: usize) -> usize {
        (0..WAYS).find(|way| self.surface.lattice.neighbour(from, *way) == to).unwrap_or(0)
    }

    fn crossing(&self, inside: usize, outside: usize) -> Key {
        node_key(inside) + 1 + self.way(inside, outside) as u64
    }

    fn is_long(&self, from: usize, to: usize) -> bool {
        Lattice::is_long(self.way(from, to))
    }

    /// Whether the diagonal of the face that is left of `p q m`, with `m` outside, starts at `p` and ends on the
    /// edge from `q`; else it starts at `q`.
    ///
    /// It ends on the long one of the two edges. Where both are short, it starts at the even end of the long
    /// edge, which is the same for all tetrahedra around that.
    fn starts_at_first(&self, p: usize, q: usize, m: usize) -> bool {
        match (self.is_long(p, m), self.is_long(q, m)) {
            (true, _) => false,
            (_, true) => true,
            _ => self.surface.lattice.is_even(p),
        }
    }

    /// One node inside, any others outside or on the surface.
    fn corner(&self, tip: usize) -> [Key; 4] {
        let ends = self.on.iter().map(|node| node_key(*node));
        let mut keys = ends.chain(self.outside.iter().map(|node| self.crossing(tip, *node)));
        std::array::from_fn(|i| if i == 0 { node_key(tip) } else { keys.next().unwrap_or(0) })
    }

    /// Two nodes inside, one on the surface, one outside.
    fn pyramid(&self, p: usize, q: usize, m: usize, out: &mut Vec<[Key; 4]>) {
        let top = self.on.iter().map(|node| node_key(*node)).next().unwrap_or(0);
        let (p, q) = if self.starts_at_first(p, q, m) { (p, q) } else { (q, p) };
        let (at_p, at_q) = (self.crossing(p, m), self.crossing(q, m));
        out.extend([[node_key(p), node_key(q), at_q, top], [node_key(p), at_q, at_p, top]]);
    }

    /// Two nodes inside, two outside: a wedge that lies on its side.
    fn roof(&self, [p, q]: [usize; 2], [m, n]: [usize; 2], out: &mut Vec<[Key; 4]>) {
        let near_p = [node_key(p), self.crossing(p, m), self.crossing(p, n)];
        let near_q = [node_key(q), self.crossing(q, m), self.crossing(q, n)];
        let before_m = self.starts_at_first(p, q, m);
        let before_n = self.starts_at_first(p, q, n);
        let wedge = |m_first| split_wedge(near_p, near_q, [before_m, m_first, before_n]);
        // The third face is on the surface, so that only this tetrahedron knows of it.
        let is_free = before_m == before_n;
        out.extend(if is_free { self.better(wedge(true), wedge(false)) } else { wedge(before_n) });
    }

    /// The one of two splits whose least dihedral angle is larger.
    fn better(&self, a: [[Key; 4]; 3], b: [[Key; 4]; 3]) -> [[Key; 4]; 3] {
        let least = |pieces: &[[Key; 4]; 3]| {
            let corners = pieces.map(|piece| piece.map(|key| position(self.surface, key).as_dvec3()));
            corners.map(least_angle).into_iter().fold(f64::INFINITY, f64::min)
        };
        if least(&b) > least(&a) { b } else { a }
    }

    /// Three nodes inside, one outside: a wedge that stands.
    fn stump(&self, [p, q, r]: [usize; 3], m: usize, out: &mut Vec<[Key; 4]>) {
        let low = [p, q, r].map(node_key);
        let high = [p, q, r].map(|node| self.crossing(node, m));
        let first = |a: usize, b: usize| self.starts_at_first(a, b, m);
        out.extend(split_wedge(low, high, [first(p, q), first(q, r), first(p, r)]));
    }
}

/// Splits a wedge between triangles `a` and `b`. Flags 0, 1 and 2 say of faces 0-1, 1-2 and 0-2 whether the
/// diagonal runs from `a` of the first to `b` of the second. They must not run around in a circle.
fn split_wedge(a: [Key; 3], b: [Key; 3], [zero_one, one_two, zero_two]: [bool; 3]) -> [[Key; 4]; 3] {
    // How many others come before each.
    let ranks = [
        usize::from(!zero_one) + usize::from(!zero_two),
        usize::from(zero_one) + usize::from(!one_two),
        usize::from(zero_two) + usize::from(one_two),
    ];
    let [i, j, k] = std::array::from_fn(|rank| ranks.iter().position(|r| *r == rank).unwrap_or(rank));
    [[a[i], a[j], a[k], b[k]], [a[i], a[j], b[j], b[k]], [a[i], b[i], b[j], b[k]]]
}
