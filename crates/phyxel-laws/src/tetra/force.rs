//! Forces of eight elements on their corners.

use super::{CornerVectors, Corners, Rest};
use crate::Real;
use crate::elastic::{Hooke, Matrix, VOIGT, full, product, symmetric_product};
use crate::lanes::{Eight, Lanes, at_every_level};
use crate::matching::{load4, rotation_matrix, turn};

/// What may differ between elements of one body and change in time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct State {
    /// Plastic strain, six numbers in the order of Voigt.
    pub plastic: [Eight; 6],
    /// Strain at which it is free of stress because it is warm: that of even growth.
    pub swelling: Eight,
    /// Part of the stiffness of the body.
    pub stiffness: Eight,
}

impl Default for State {
    /// As the body, and never bent.
    fn default() -> Self {
        Self { plastic: [[0.0; 8]; 6], swelling: [0.0; 8], stiffness: [1.0; 8] }
    }
}

/// Eight elements.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    /// Their nodes.
    pub corners: &'a Corners,
    /// Their shapes at rest.
    pub rest: &'a Rest,
    /// What is their own; nothing if they are as the body.
    pub state: Option<&'a State>,
}

/// What all elements of a body share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matter {
    /// Stress from strain.
    pub hooke: Hooke,
    /// Time by which stress is ahead of strain, s; see [`Rayleigh`](super::Rayleigh).
    pub damping: Real,
}

/// What eight elements do.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Exerted {
    /// Forces on the corners, N.
    pub forces: CornerVectors,
    /// Elastic strain, six numbers in the order of Voigt, in the element's own frame.
    pub elastic: [Eight; 6],
    /// Power that damping takes, W.
    pub lost: Eight,
}

impl Default for Exerted {
    fn default() -> Self {
        Self { forces: [[[0.0; 4]; 8]; 4], elastic: [[0.0; 8]; 6], lost: [0.0; 8] }
    }
}

at_every_level! {
    /// Forces of eight elements on their corners.
    ///
    /// `turn` (quaternions x, y, z, w) holds the last step's rotations on entry and the present ones on return. It is state:
    /// the same positions with another past may differ in their last bits, and mirrored elements in more. With `DAMPED`
    /// velocities (m/s) are looked at.
    exert = exert_eight [const DAMPED: bool] [DAMPED] (
        group: &Group,
        matter: &Matter,
        points: &[[f32; 4]],
        velocities: &[[f32; 4]],
        turn: &mut [Eight; 4],
        out: &mut Exerted,
    )
}

at_every_level! {
    /// Elastic energy of eight elements whose rotations are given, J: `V e C e/2`.
    energy = energy_eight [] [] (
        group: &Group,
        matter: &Matter,
        points: &[[f32; 4]],
        turn: &[Eight; 4],
        energy: &mut Eight,
    )
}

/// Rotations by Newton's method below this determinant of `tr(M) - M`, for `F` of norm 1, would show the rounding of f32: a
/// thousandth of what elements at rest have.
const OPEN: f32 = 1.5e-3;

// Loops instead of closures: what is called inside a closure is not compiled for the vectors of the machine.

#[inline(always)]
pub(super) fn load_gradients<L: Lanes>(rest: &Rest) -> Matrix<L> {
    let mut g = [[L::zero(); 3]; 3];
    for k in 0..3 {
        for c in 0..3 {
            g[k][c] = L::load(&rest.gradients[k][c]);
        }
    }
    g
}

#[inline(always)]
fn load6<L: Lanes>(values: &[Eight; 6]) -> [L; 6] {
    let [a, b, c, d, e, f] = values;
    [L::load(a), L::load(b), L::load(c), L::load(d), L::load(e), L::load(f)]
}

/// `sum_k (x_k - x_0) g_k^T`: the gradient in the shape at rest of what nodes have.
#[inline(always)]
pub(super) fn slope<L: Lanes>(corners: &Corners, values: &[[f32; 4]], g: &Matrix<L>) -> Matrix<L> {
    let [x, y, z, _] = L::gather4(values, &corners[0]);
    let mut f = [[L::zero(); 3]; 3];
    for k in 0..3 {
        let [a, b, c, _] = L::gather4(values, &corners[k + 1]);
        let edge = [a - x, b - y, c - z];
        for r in 0..3 {
            for c in 0..3 {
                f[r][c] = f[r][c] + edge[r] * g[k][c];
            }
        }
    }
    f
}

/// Part of the stiffness of the body.
#[inline(always)]
pub(super) fn stiffness_of<L: Lanes>(group: &Group) -> L {
    match group.state {
        Some(state) => L::load(&state.stiffness),
        None => L::splat(1.0),
    }
}

/// `h g_k` for all corners.
#[inline(always)]
pub(super) fn spread<L: Lanes>(h: &Matrix<L>, g: &Matrix<L>, out: &mut CornerVectors) {
    let mut rest = [L::zero(); 3];
    for k in 0..3 {
        let mut force = [L::zero(); 3];
        for r in 0..3 {
            force[r] = h[r][0] * g[k][0] + h[r][1] * g[k][1] + h[r][2] * g[k][2];
            rest[r] = rest[r] - force[r];
        }
        out[k + 1] = L::rows4([force[0], force[1], force[2], L::zero()]);
    }
    out[0] = L::rows4([rest[0], rest[1], rest[2], L::zero()]);
}

/// `S - I` less plastic and thermal strain.
#[inline(always)]
fn elastic_strain<L: Lanes>(stretch: &[L; 6], state: Option<&State>) -> [L; 6] {
    let mut e = *stretch;
    for k in 0..3 {
        e[k] = e[k] - L::splat(1.0);
    }
    if let Some(state) = state {
        let (plastic, swelling) = (load6::<L>(&state.plastic), L::load(&state.swelling));
        for k in 0..6 {
            e[k] = if k < 3 { e[k] - plastic[k] - swelling } else { e[k] - plastic[k] };
        }
    }
    e
}

/// Sum over all nine numbers of the products of two symmetric matrices.
#[inline(always)]
fn work<L: Lanes>(a: &[L; 6], b: &[L; 6]) -> L {
    let mut sum = L::zero();
    for k in 0..6 {
        let part = a[k] * b[k];
        sum = sum + if k < 3 { part } else { part + part };
    }
    sum
}

/// The vector of the skew part of a matrix, twice.
#[inline(always)]
fn axis<L: Lanes>(m: &Matrix<L>) -> [L; 3] {
    [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]]
}

/// The inverse of `tr(S) - S`, six numbers, for elements that are not mirrored; 0 where it leaves a turn open.
///
/// For mirrored ones it is scaled by `1 + det S/det(tr(S) - S)`, not below 0. With stretches `1, 1, -t` the rotation follows the
/// corners `1/(1 - t)` times as fast as it should, and damping would be as much stiffer; the scale is 0 where that is twice.
/// Power is still what [`Exerted::lost`] says, and a torque comes back.
#[inline(always)]
pub(super) fn turn_inverse<L: Lanes>(s: &[L; 6]) -> [L; 6] {
    let (zero, one) = (L::zero(), L::splat(1.0));
    let h = [s[1] + s[2], s[0] + s[2], s[0] + s[1]];
    // The numbers beside the diagonal are those of -S.
    let [yz, xz, xy] = [zero - s[3], zero - s[4], zero - s[5]];
    let c = [h[1] * h[2] - yz * yz, h[0] * h[2] - xz * xz, h[0] * h[1] - xy * xy];
    let d = [xy * xz - h[0] * yz, xy * yz - h[1] * xz, xz * yz - h[2] * xy];
    let determinant = h[0] * c[0] + xy * d[2] + xz * d[1];
    let square = work(s, s);
    let bound = L::splat(OPEN) * (square * square.sqrt());
    let inverse = determinant.where_greater(bound, one.div(determinant.where_greater(bound, determinant, one)), zero);
    let volume = s[0] * (s[1] * s[2] - yz * yz) - xy * (xy * s[2] + yz * xz) - xz * (xy * yz + s[1] * xz);
    let mirrored = volume.where_greater(zero, zero, volume) * inverse;
    let inverse = inverse * (one + mirrored).max(zero);
    [c[0] * inverse, c[1] * inverse, c[2] * inverse, d[0] * inverse, d[1] * inverse, d[2] * inverse]
}

/// A symmetric matrix times a vector.
#[inline(always)]
fn times<L: Lanes>(s: &[L; 6], v: [L; 3]) -> [L; 3] {
    [
        s[0] * v[0] + s[5] * v[1] + s[4] * v[2],
        s[5] * v[0] + s[1] * v[1] + s[3] * v[2],
        s[4] * v[0] + s[3] * v[1] + s[2] * v[2],
    ]
}

/// Rate of `S` from `M = R^T dF/dt`: the symmetric part of `M - [omega] S` with `(tr(S) - S) omega = axis of M`.
#[inline(always)]
pub(super) fn stretch_rate<L: Lanes>(m: &Matrix<L>, stretch: &[L; 6], inverse: &[L; 6]) -> [L; 6] {
    let [x, y, z] = times(inverse, axis(m));
    let zero = L::zero();
    let spin = [[zero, zero - z, y], [z, zero, zero - x], [zero - y, x, zero]];
    let turned = product(&spin, &full(*stretch));
    let mut rate = [L::zero(); 6];
    for k in 0..6 {
        let (i, j) = VOIGT[k];
        let both = (m[i][j] - turned[i][j]) + (m[j][i] - turned[j][i]);
        rate[k] = L::splat(0.5) * both;
    }
    rate
}

#[inline(always)]
pub(super) fn transposed<L: Lanes>(m: &Matrix<L>) -> Matrix<L> {
    [[m[0][0], m[1][0], m[2][0]], [m[0][1], m[1][1], m[2][1]], [m[0][2], m[1][2], m[2][2]]]
}

/// A stress with what its rotation takes up, so that it does not turn the element: power of it is power of the stress at
/// [`stretch_rate`].
#[inline(always)]
pub(super) fn without_torque<L: Lanes>(stress: &[L; 6], stretch: &[L; 6], inverse: &[L; 6]) -> Matrix<L> {
    let mut whole = full(*stress);
    let [x, y, z] = times(inverse, axis(&product(&whole, &full(*stretch))));
    whole[0][1] = whole[0][1] + z;
    whole[1][0] = whole[1][0] - z;
    whole[0][2] = whole[0][2] - y;
    whole[2][0] = whole[2][0] + y;
    whole[1][2] = whole[1][2] + x;
    whole[2][1] = whole[2][1] - x;
    whole
}

#[inline(always)]
fn exert_eight<L: Lanes, const DAMPED: bool>(
    group: &Group,
    matter: &Matter,
    points: &[[f32; 4]],
    velocities: &[[f32; 4]],
    rotation: &mut [Eight; 4],
    out: &mut Exerted,
) {
    let g = load_gradients::<L>(group.rest);
    let f = slope(group.corners, points, &g);
    let r = turn(f, rotation, OPEN);
    let stretch = symmetric_product(&r, &f);
    let e = elastic_strain(&stretch, group.state);
    for k in 0..6 {
        e[k].store(&mut out.elastic[k]);
    }
    let scale = L::load(&group.rest.volume) * stiffness_of(group);
    let mut stress = matter.hooke.stress(e);
    let mut whole = full(stress);
    out.lost = [0.0; 8];
    let is_coaxial = group.state.is_none() && matches!(matter.hooke, Hooke::Isotropic { .. }) && !DAMPED;
    if !is_coaxial {
        let inverse = turn_inverse(&stretch);
        if DAMPED {
            let m = product(&transposed(&r), &slope(group.corners, velocities, &g));
            let rate = stretch_rate(&m, &stretch, &inverse);
            let ahead = L::splat(matter.damping);
            let viscous = matter.hooke.stress(rate);
            for k in 0..6 {
                stress[k] = stress[k] + ahead * viscous[k];
            }
            (scale * (ahead * work(&viscous, &rate))).store(&mut out.lost);
        }
        whole = without_torque(&stress, &stretch, &inverse);
    }
    let mut h = product(&r, &whole);
    let minus = L::zero() - scale;
    for a in 0..3 {
        for b in 0..3 {
            h[a][b] = minus * h[a][b];
        }
    }
    spread(&h, &g, &mut out.forces);
}

#[inline(always)]
fn energy_eight<L: Lanes>(group: &Group, matter: &Matter, points: &[[f32; 4]], turn: &[Eight; 4], energy: &mut Eight) {
    let g = load_gradients::<L>(group.rest);
    let f = slope(group.corners, points, &g);
    let r = rotation_matrix(load4::<L>(turn));
    let e = elastic_strain(&symmetric_product(&r, &f), group.state);
    let scale = L::splat(0.5) * L::load(&group.rest.volume) * stiffness_of(group);
    (scale * work(&matter.hooke.stress(e), &e)).store(energy);
}
