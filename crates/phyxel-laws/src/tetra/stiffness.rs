//! How forces of eight elements change with the places of their corners, for implicit steps.
//!
//! Rotations are kept, so `K` is symmetric, positive and the same for every move: `K u = V R C[sym(R^T grad u)] g`. Forces change
//! by `-K u`, and with damping by `-(K u + damping K du/dt)`. An implicit step solves `(M + dt a M + (dt^2 + dt b) K) dv = ...`
//! with the `a` and `b` of [`Rayleigh`](super::Rayleigh).

use super::force::{load_gradients, slope, spread, stiffness_of};
use super::{CornerVectors, Group, Matter};
use crate::elastic::{VOIGT, full, product as multiplied, symmetric_product};
use crate::lanes::{Eight, Lanes, WIDTH, at_every_level};
use crate::matching::{load4, rotation_matrix};

/// A symmetric matrix for each corner of eight elements, corner by corner and then element by element, N/m: six numbers in the
/// order of Voigt.
pub type Blocks = [[[f32; 6]; WIDTH]; 4];

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
    /// The blocks on the diagonal of `K`: what each corner feels of its own move.
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
    for corner in 0..4 {
        let g = all[corner];
        // What a move along each axis does to the corner, in the element's frame.
        let mut pull = [[L::zero(); 3]; 3];
        for axis in 0..3 {
            let mut strain = [L::zero(); 6];
            for k in 0..6 {
                let (i, j) = VOIGT[k];
                strain[k] = L::splat(0.5) * (r[axis][i] * g[j] + r[axis][j] * g[i]);
            }
            let stress = full(matter.hooke.stress(strain));
            for i in 0..3 {
                pull[axis][i] = scale * (stress[i][0] * g[0] + stress[i][1] * g[1] + stress[i][2] * g[2]);
            }
        }
        for k in 0..6 {
            let (i, j) = VOIGT[k];
            let along = pull[j][0] * r[i][0] + pull[j][1] * r[i][1] + pull[j][2] * r[i][2];
            let along = along.to_array();
            for lane in 0..WIDTH {
                out[corner][lane][k] = along[lane];
            }
        }
    }
}
