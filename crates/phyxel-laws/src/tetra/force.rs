//! Forces of eight elements on their corners.

use super::{CornerVectors, Corners, Rest};
use crate::Real;
use crate::elastic::{Hooke, Matrix, VOIGT, full, product, symmetric_product};
use crate::lanes::{Bundle, Eight, Lanes, Level, Numbers, at_every_level};
use crate::matching::{load_turns, rotation_matrix, turn_elements};
use std::slice::from_ref;

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

/// As the body, and never bent.
const PLAIN: State = State { plastic: [[0.0; 8]; 6], swelling: [0.0; 8], stiffness: [1.0; 8] };

impl Default for State {
    /// As the body, and never bent.
    fn default() -> Self {
        PLAIN
    }
}

/// Eight elements.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    /// Their nodes.
    pub corners: &'a Corners,
    /// Their shapes at rest.
    pub rest: &'a Rest,
    /// What is their own; nothing if they are as the body, as all packs of it then are.
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

/// What eight elements note of what they do.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Note {
    /// Elastic strain, six numbers in the order of Voigt, in the element's own frame.
    pub elastic: [Eight; 6],
    /// Power that damping takes, W.
    pub lost: Eight,
}

impl Default for Note {
    fn default() -> Self {
        Self { elastic: [[0.0; 8]; 6], lost: [0.0; 8] }
    }
}

/// What corners feel where there is nothing.
const NOTHING: CornerVectors = [[[0.0; 4]; 8]; 4];

/// Packs of eight elements, one after the other, and what is found of each.
pub struct Packs<'a> {
    /// What they are.
    pub groups: &'a [Group<'a>],
    /// Their rotations (quaternions x, y, z, w): the last step's before, the present ones after. They are state: the same positions with another
    /// past may differ in their last bits, and mirrored elements in more.
    pub turns: &'a mut [[Eight; 4]],
    /// Forces on their corners, N.
    pub forces: &'a mut [CornerVectors],
    /// What they note.
    pub notes: &'a mut [Note],
}

/// Forces of elements on their corners, with nodes at these points, m, and with these velocities, m/s, if they are damped.
///
/// Packs are done two at a time.
pub fn exert(level: Level, packs: Packs, matter: &Matter, points: &[[f32; 4]], velocities: Option<&[[f32; 4]]>) {
    match velocities {
        Some(velocities) => exert_packs::<true>(level, packs, matter, points, velocities),
        None => exert_packs::<false>(level, packs, matter, points, &[]),
    }
}

at_every_level! {
    in pairs
    /// The same, which looks at velocities only if it is told so.
    exert_packs = exert_pairs [const DAMPED: bool] [DAMPED] (
        packs: Packs,
        matter: &Matter,
        points: &[[f32; 4]],
        velocities: &[[f32; 4]],
    )
}

#[inline(always)]
fn exert_pairs<B: Bundle, const DAMPED: bool>(
    packs: Packs,
    matter: &Matter,
    points: &[[f32; 4]],
    velocities: &[[f32; 4]],
) {
    let Packs { groups, turns, forces, notes } = packs;
    for first in (0..groups.len()).step_by(2) {
        let two = first..first + 2;
        // A pack that is left over is done with itself, so that there is one way for all.
        let is_alone = two.end > groups.len();
        let mut spare = ([turns[first]; 2], [NOTHING; 2], [Note::default(); 2]);
        let (groups, turns_of, forces_of, notes_of) = if is_alone {
            (&[groups[first]; 2][..], &mut spare.0[..], &mut spare.1[..], &mut spare.2[..])
        } else {
            (&groups[two.clone()], &mut turns[two.clone()], &mut forces[two.clone()], &mut notes[two])
        };
        let packs = Packs { groups, turns: turns_of, forces: forces_of, notes: notes_of };
        exert_bundle::<B, DAMPED>(packs, matter, points, velocities);
        if is_alone {
            (turns[first], forces[first], notes[first]) = (spare.0[0], spare.1[0], spare.2[0]);
        }
    }
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
pub(super) fn load_gradients<B: Bundle>(groups: &[Group]) -> Matrix<B> {
    let mut g = [[B::zero(); 3]; 3];
    for k in 0..3 {
        for c in 0..3 {
            g[k][c] = B::load_from(groups, |group| &group.rest.gradients[k][c]);
        }
    }
    g
}

/// `sum_k (x_k - x_0) g_k^T`: the gradient in the shape at rest of what nodes have.
#[inline(always)]
pub(super) fn slope<B: Bundle>(groups: &[Group], values: &[[f32; 4]], g: &Matrix<B>) -> Matrix<B> {
    let [x, y, z, _] = B::gather4_from(values, groups, |group| &group.corners[0]);
    let mut f = [[B::zero(); 3]; 3];
    for k in 0..3 {
        let [a, b, c, _] = B::gather4_from(values, groups, |group| &group.corners[k + 1]);
        let edge = [a - x, b - y, c - z];
        for r in 0..3 {
            for c in 0..3 {
                f[r][c] = f[r][c] + edge[r] * g[k][c];
            }
        }
    }
    f
}

/// Volume of elements times the part of the stiffness of the body that they have.
#[inline(always)]
pub(super) fn stiff_volume<B: Bundle>(groups: &[Group]) -> B {
    let volume = B::load_from(groups, |group| &group.rest.volume);
    volume * B::load_from(groups, |group| &group.state.unwrap_or(&PLAIN).stiffness)
}

/// `h g_k` for all corners.
#[inline(always)]
pub(super) fn spread<B: Bundle>(h: &Matrix<B>, g: &Matrix<B>, out: &mut [CornerVectors]) {
    let mut rest = [B::zero(); 3];
    for k in 0..3 {
        let mut force = [B::zero(); 3];
        for r in 0..3 {
            force[r] = h[r][0] * g[k][0] + h[r][1] * g[k][1] + h[r][2] * g[k][2];
            rest[r] = rest[r] - force[r];
        }
        B::rows4_to([force[0], force[1], force[2], B::zero()], out, |out| &mut out[k + 1]);
    }
    B::rows4_to([rest[0], rest[1], rest[2], B::zero()], out, |out| &mut out[0]);
}

/// `S - I` less plastic and thermal strain.
#[inline(always)]
fn elastic_strain<B: Bundle>(stretch: &[B; 6], groups: &[Group]) -> [B; 6] {
    let mut e = *stretch;
    for k in 0..3 {
        e[k] = e[k] - B::splat(1.0);
    }
    if groups[0].state.is_some() {
        let swelling = B::load_from(groups, |group| &group.state.unwrap_or(&PLAIN).swelling);
        for k in 0..6 {
            let plastic = B::load_from(groups, |group| &group.state.unwrap_or(&PLAIN).plastic[k]);
            e[k] = if k < 3 { e[k] - plastic - swelling } else { e[k] - plastic };
        }
    }
    e
}

/// Sum over all nine numbers of the products of two symmetric matrices.
#[inline(always)]
fn work<L: Numbers>(a: &[L; 6], b: &[L; 6]) -> L {
    let mut sum = L::zero();
    for k in 0..6 {
        let part = a[k] * b[k];
        sum = sum + if k < 3 { part } else { part + part };
    }
    sum
}

/// The vector of the skew part of a matrix, twice.
#[inline(always)]
fn axis<L: Numbers>(m: &Matrix<L>) -> [L; 3] {
    [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]]
}

/// The inverse of `tr(S) - S`, six numbers, for elements that are not mirrored; 0 where it leaves a turn open.
///
/// For mirrored ones it is scaled by `1 + det S/det(tr(S) - S)`, not below 0. With stretches `1, 1, -t` the rotation follows the
/// corners `1/(1 - t)` times as fast as it should, and damping would be as much stiffer; the scale is 0 where that is twice.
/// Power is still what [`Note::lost`] says, and a torque comes back.
#[inline(always)]
pub(super) fn turn_inverse<L: Numbers>(s: &[L; 6]) -> [L; 6] {
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
fn times<L: Numbers>(s: &[L; 6], v: [L; 3]) -> [L; 3] {
    [
        s[0] * v[0] + s[5] * v[1] + s[4] * v[2],
        s[5] * v[0] + s[1] * v[1] + s[3] * v[2],
        s[4] * v[0] + s[3] * v[1] + s[2] * v[2],
    ]
}

/// Rate of `S` from `M = R^T dF/dt`: the symmetric part of `M - [omega] S` with `(tr(S) - S) omega = axis of M`.
#[inline(always)]
pub(super) fn stretch_rate<L: Numbers>(m: &Matrix<L>, stretch: &[L; 6], inverse: &[L; 6]) -> [L; 6] {
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
pub(super) fn transposed<L: Numbers>(m: &Matrix<L>) -> Matrix<L> {
    [[m[0][0], m[1][0], m[2][0]], [m[0][1], m[1][1], m[2][1]], [m[0][2], m[1][2], m[2][2]]]
}

/// A stress with what its rotation takes up, so that it does not turn the element: power of it is power of the stress at
/// [`stretch_rate`].
#[inline(always)]
pub(super) fn without_torque<L: Numbers>(stress: &[L; 6], stretch: &[L; 6], inverse: &[L; 6]) -> Matrix<L> {
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
fn exert_bundle<B: Bundle, const DAMPED: bool>(
    packs: Packs,
    matter: &Matter,
    points: &[[f32; 4]],
    velocities: &[[f32; 4]],
) {
    let Packs { groups, turns, forces, notes } = packs;
    let g = load_gradients::<B>(groups);
    let f = slope(groups, points, &g);
    let r = turn_elements(f, turns, OPEN);
    let stretch = symmetric_product(&r, &f);
    let e = elastic_strain(&stretch, groups);
    for k in 0..6 {
        e[k].store_to(notes, |note| &mut note.elastic[k]);
    }
    let scale: B = stiff_volume(groups);
    let mut stress = matter.hooke.stress(e);
    let mut whole = full(stress);
    let mut lost = B::zero();
    let is_coaxial = groups[0].state.is_none() && matches!(matter.hooke, Hooke::Isotropic { .. }) && !DAMPED;
    if !is_coaxial {
        let inverse = turn_inverse(&stretch);
        if DAMPED {
            let m = product(&transposed(&r), &slope(groups, velocities, &g));
            let rate = stretch_rate(&m, &stretch, &inverse);
            let ahead = B::splat(matter.damping);
            let viscous = matter.hooke.stress(rate);
            for k in 0..6 {
                stress[k] = stress[k] + ahead * viscous[k];
            }
            lost = scale * (ahead * work(&viscous, &rate));
        }
        whole = without_torque(&stress, &stretch, &inverse);
    }
    lost.store_to(notes, |note| &mut note.lost);
    let mut h = product(&r, &whole);
    let minus = B::zero() - scale;
    for a in 0..3 {
        for b in 0..3 {
            h[a][b] = minus * h[a][b];
        }
    }
    spread(&h, &g, forces);
}

#[inline(always)]
fn energy_eight<L: Lanes>(group: &Group, matter: &Matter, points: &[[f32; 4]], turn: &[Eight; 4], energy: &mut Eight) {
    let groups = from_ref(group);
    let g = load_gradients::<L>(groups);
    let f = slope(groups, points, &g);
    let r = rotation_matrix(load_turns::<L>(from_ref(turn)));
    let e = elastic_strain(&symmetric_product(&r, &f), groups);
    let scale = L::splat(0.5) * stiff_volume(groups);
    (scale * work(&matter.hooke.stress(e), &e)).store(energy);
}
