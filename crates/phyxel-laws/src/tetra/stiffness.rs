//! How forces of eight elements change with the places of their corners, for implicit steps.
//!
//! Rotations are kept, so `K` is symmetric, positive and the same for every move: `K u = V R C[sym(R^T grad u)] g`. Forces change
//! by `-K u`, and with damping by `-(K u + damping K du/dt)`. An implicit step solves `(M + dt a M + (dt^2 + dt b) K) dv = ...`
//! with the `a` and `b` of [`Rayleigh`](super::Rayleigh).

use super::force::{
    load_gradients, slope, spread, stiff_volume, stretch_rate, transposed, turn_inverse, without_torque,
};
use super::{CornerVectors, EDGES, Group, Matter};
use crate::elastic::{VOIGT, full, product as multiplied, symmetric_product};
use crate::lanes::{Eight, Lanes, WIDTH, at_every_level};
use crate::matching::{load_turns, rotation_matrix};
use std::slice::{from_mut, from_ref};

/// A matrix for each of the [`EDGES`] of eight elements, edge by edge and then element by element, N/m: three columns, each with a 0
/// as its fourth number.
pub type Blocks = [[[[f32; 4]; 3]; WIDTH]; 6];

at_every_level! {
    /// `K u` at the corners of eight elements, N, for moves `u` of nodes, m.
    product = product_eight [] [] (
        group: &Group,
        matter: &Matter,
        turn: &[Eight; 4],
        moves: &[[f32; 4]],
        out: &mut CornerVectors,
    )
}

at_every_level! {
    /// What [`product`] is if rotations turn with the moves, N: `K` by how stretches change, not how `R^T F` does.
    ///
    /// Whatever the strain, it resists no turn of an element as a whole and does not turn it. ([`product`] does both, in proportion to the
    /// strain: too much for a crumb that is stiff and hardly has a mass.)
    stretch_product = stretch_product_eight [] [] (
        group: &Group,
        matter: &Matter,
        points: &[[f32; 4]],
        turn: &[Eight; 4],
        moves: &[[f32; 4]],
        out: &mut CornerVectors,
    )
}

at_every_level! {
    /// The blocks of `K` beside the diagonal: what the first corner of an edge feels of a move of the second along each axis.
    ///
    /// Those of the second and the first are their transposes; and a corner feels its own move as it would that of all others the
    /// other way.
    blocks = blocks_eight [] [] (
        group: &Group,
        matter: &Matter,
        turn: &[Eight; 4],
        out: &mut Blocks,
    )
}

/// Blocks of `K` of eight edges between nodes, by row, column and edge, N/m.
pub type Edges = [[Eight; 3]; 3];

at_every_level! {
    /// Adds what edges pull their two ends with if these move so: `B d` and `-B^T d`, where the second moves by `d` beside the first.
    ///
    /// `ends` are the numbers of both among `moves` and `sums`.
    pull_ends = pull_ends_eight [] [] (
        edges: &[Edges],
        ends: &[[[u32; WIDTH]; 2]],
        moves: &[[f32; 4]],
        sums: &mut [[f32; 4]],
    )
}

#[inline(always)]
fn pull_ends_eight<L: Lanes>(edges: &[Edges], ends: &[[[u32; WIDTH]; 2]], moves: &[[f32; 4]], sums: &mut [[f32; 4]]) {
    for k in 0..edges.len() {
        let [first, second] = &ends[k];
        let [x, y, z, _] = L::gather4(moves, first);
        let [a, b, c, _] = L::gather4(moves, second);
        let d = [a - x, b - y, c - z];
        let mut pull = [L::zero(); 4];
        let mut back = [L::zero(); 4];
        for i in 0..3 {
            let [p, q, r] = [L::load(&edges[k][i][0]), L::load(&edges[k][i][1]), L::load(&edges[k][i][2])];
            pull[i] = p * d[0] + q * d[1] + r * d[2];
            back[0] = back[0] - p * d[i];
            back[1] = back[1] - q * d[i];
            back[2] = back[2] - r * d[i];
        }
        let (pulls, backs) = (L::rows4(pull), L::rows4(back));
        for lane in 0..WIDTH {
            add_row(&mut sums[first[lane] as usize], &pulls[lane]);
            add_row(&mut sums[second[lane] as usize], &backs[lane]);
        }
    }
}

#[inline(always)]
fn add_row(sum: &mut [f32; 4], row: &[f32; 4]) {
    for k in 0..4 {
        sum[k] += row[k];
    }
}

#[inline(always)]
fn product_eight<L: Lanes>(
    group: &Group,
    matter: &Matter,
    turn: &[Eight; 4],
    moves: &[[f32; 4]],
    out: &mut CornerVectors,
) {
    let g = load_gradients::<L>(from_ref(group));
    let du = slope(from_ref(group), moves, &g);
    let r = rotation_matrix(load_turns::<L>(from_ref(turn)));
    let mut h = multiplied(&r, &full(matter.hooke.stress(symmetric_product(&r, &du))));
    let scale = stiff_volume::<L>(from_ref(group));
    for a in 0..3 {
        for b in 0..3 {
            h[a][b] = scale * h[a][b];
        }
    }
    spread(&h, &g, from_mut(out));
}

#[inline(always)]
fn stretch_product_eight<L: Lanes>(
    group: &Group,
    matter: &Matter,
    points: &[[f32; 4]],
    turn: &[Eight; 4],
    moves: &[[f32; 4]],
    out: &mut CornerVectors,
) {
    let g = load_gradients::<L>(from_ref(group));
    let r = rotation_matrix(load_turns::<L>(from_ref(turn)));
    let stretch = symmetric_product(&r, &slope(from_ref(group), points, &g));
    let inverse = turn_inverse(&stretch);
    let m = multiplied(&transposed(&r), &slope(from_ref(group), moves, &g));
    let stress = matter.hooke.stress(stretch_rate(&m, &stretch, &inverse));
    let mut h = multiplied(&r, &without_torque(&stress, &stretch, &inverse));
    let scale = stiff_volume::<L>(from_ref(group));
    for a in 0..3 {
        for b in 0..3 {
            h[a][b] = scale * h[a][b];
        }
    }
    spread(&h, &g, from_mut(out));
}

#[inline(always)]
fn blocks_eight<L: Lanes>(group: &Group, matter: &Matter, turn: &[Eight; 4], out: &mut Blocks) {
    let g = load_gradients::<L>(from_ref(group));
    let r = rotation_matrix(load_turns::<L>(from_ref(turn)));
    let scale = stiff_volume::<L>(from_ref(group));
    let mut first = [L::zero(); 3];
    for c in 0..3 {
        first[c] = L::zero() - (g[0][c] + g[1][c] + g[2][c]);
    }
    let all = [first, g[0], g[1], g[2]];
    for second in 1..4 {
        for axis in 0..3 {
            // The stress of a move of the second corner along the axis, in the element's frame.
            let mut strain = [L::zero(); 6];
            for k in 0..6 {
                let (i, j) = VOIGT[k];
                strain[k] = L::splat(0.5) * (r[axis][i] * all[second][j] + r[axis][j] * all[second][i]);
            }
            let h = multiplied(&r, &full(matter.hooke.stress(strain)));
            for edge in 0..6 {
                if EDGES[edge].1 == second {
                    let g = all[EDGES[edge].0];
                    let mut pull = [L::zero(); 4];
                    for i in 0..3 {
                        pull[i] = scale * (h[i][0] * g[0] + h[i][1] * g[1] + h[i][2] * g[2]);
                    }
                    let rows = L::rows4(pull);
                    for lane in 0..WIDTH {
                        out[edge][lane][axis] = rows[lane];
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elastic::Hooke;
    use crate::lanes::Level;
    use crate::tetra::{Element, Note, Packs, Rest, exert};
    use glam::Vec3;

    /// Numbers between -1 and 1 without an order.
    fn scattered(k: usize) -> Vec3 {
        Vec3::new(k as f32, k as f32 + 0.3, k as f32 + 0.7).map(|x| (12.9898 * x).sin())
    }

    fn rows(points: [Vec3; 4]) -> [[f32; 4]; 4] {
        points.map(|x| x.extend(0.0).to_array())
    }

    /// Pulls of eight elements that are all alike, on the corners of one.
    fn pulls(out: &CornerVectors) -> [Vec3; 4] {
        std::array::from_fn(|corner| Vec3::from_slice(&out[corner][0][..3]))
    }

    #[test]
    fn by_stretch_no_turn_of_a_strained_element_is_resisted_and_no_move_turns_it() {
        let nodes = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let shapes: Vec<Element> = (0..WIDTH).filter_map(|_| Element::new(nodes)).collect();
        assert_eq!(shapes.len(), WIDTH);
        let rest = Rest::new(&shapes);
        let corners = std::array::from_fn(|corner| [corner as u32; WIDTH]);
        let group = Group { corners: &corners, rest: &rest, state: None };
        let matter = Matter { hooke: Hooke::isotropic(1.0, 0.3), damping: 0.0 };
        // A third of its size out of shape.
        let places: [Vec3; 4] = std::array::from_fn(|k| nodes[k] + 0.3 * scattered(k));
        let points = rows(places);
        let mut turn = [[0.0; WIDTH], [0.0; WIDTH], [0.0; WIDTH], [1.0; WIDTH]];
        let (mut forces, mut note) = ([[[0.0; 4]; WIDTH]; 4], Note::default());
        let (groups, turns) = (from_ref(&group), from_mut(&mut turn));
        let packs = Packs { groups, turns, forces: from_mut(&mut forces), notes: from_mut(&mut note) };
        exert(Level::detect(), packs, &matter, &points, None);
        let resisted = |moves: [Vec3; 4]| {
            let mut out = [[[0.0; 4]; WIDTH]; 4];
            stretch_product(Level::detect(), &group, &matter, &points, &turn, &rows(moves), &mut out);
            pulls(&out)
        };
        let work = |pulls: [Vec3; 4], moves: [Vec3; 4]| (0..4).map(|k| pulls[k].dot(moves[k])).sum::<f32>();
        let spin = Vec3::new(0.4, -0.7, 0.5);
        // Sums of some ten products of order 1 in f32.
        for pull in resisted(places.map(|x| spin.cross(x))) {
            assert!(pull.length() < 1e-5, "{pull}");
        }
        let [one, other]: [[Vec3; 4]; 2] = [10, 20].map(|first| std::array::from_fn(|k| scattered(first + k)));
        let found = resisted(one);
        let torque: Vec3 = (0..4).map(|k| places[k].cross(found[k])).sum();
        assert!(torque.length() < 1e-5, "{torque}");
        assert!((work(found, other) - work(resisted(other), one)).abs() < 1e-5);
        assert!(work(found, one) > 0.0);
        // Where rotations stay as they are, both are wrong by about the strain.
        let mut plain = [[[0.0; 4]; WIDTH]; 4];
        product(Level::detect(), &group, &matter, &turn, &rows(places.map(|x| spin.cross(x))), &mut plain);
        assert!(pulls(&plain).iter().any(|pull| pull.length() > 1e-2));
    }
}
