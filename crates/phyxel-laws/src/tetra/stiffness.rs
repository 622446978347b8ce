//! How forces of eight elements change with the places of their corners, for implicit steps.
//!
//! Rotations are kept, so `K` is symmetric, positive and the same for every move: `K u = V R C[sym(R^T grad u)] g`. Forces change
//! by `-K u`, and with damping by `-(K u + damping K du/dt)`. An implicit step solves `(M + dt a M + (dt^2 + dt b) K) dv = ...`
//! with the `a` and `b` of [`Rayleigh`](super::Rayleigh).

use super::force::{load_gradients, slope, spread, stiffness_of};
use super::{CornerVectors, EDGES, Group, Matter};
use crate::elastic::{VOIGT, full, product as multiplied, symmetric_product};
use crate::lanes::{Eight, Lanes, WIDTH, at_every_level};
use crate::matching::{load4, rotation_matrix};

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

#[inline(always)]
fn product_eight<L: Lanes>(
    group: &Group,
    matter: &Matter,
    turn: &[Eight; 4],
    moves: &[[f32; 4]],
    out: &mut CornerVectors,
) {
    let g = load_gradients::<L>(group.rest);
    let du = slope(group.corners, moves, &g);
    let r = rotation_matrix(load4::<L>(turn));
    let mut h = multiplied(&r, &full(matter.hooke.stress(symmetric_product(&r, &du))));
    let scale = L::load(&group.rest.volume) * stiffness_of(group);
    for a in 0..3 {
        for b in 0..3 {
            h[a][b] = scale * h[a][b];
        }
    }
    spread(&h, &g, out);
}

#[inline(always)]
fn blocks_eight<L: Lanes>(group: &Group, matter: &Matter, turn: &[Eight; 4], out: &mut Blocks) {
    let g = load_gradients::<L>(group.rest);
    let r = rotation_matrix(load4::<L>(turn));
    let scale = L::load(&group.rest.volume) * stiffness_of(group);
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
