//! Phyxels: elastic matter sampled by points, after `[MKN04]`, with the corrections of `docs/continuum.md`.
//!
//! A phyxel `i` knows its neighbours `j` by `X_ij = X_j - X_i` in the reference shape and by weights `w_ij = w_ji`. Moving
//! least squares give its deformation, `J_i = (sum_j w_ij x_ij X_ij^T) A_i^-1` with `A_i = sum_j w_ij X_ij X_ij^T`. What
//! neighbours do that is not affine, `z_ij = x_ij - J_i X_ij`, is held by springs of `s_i w_ij`. The force is minus the
//! gradient of the energy; as `sum_j w_ij z_ij X_ij^T = 0` and weights are mutual, it is
//!
//! `f_i = sum_j w_ij ((R_i + R_j) X_ij + (s_i + s_j) x_ij)` with `R_i = V_i P_i A_i^-1 - s_i J_i`.
//!
//! So a step takes two visits to the neighbours: one for `J`, one for `f`. Eight phyxels are done at a time.

mod deform;
mod pull;

pub use deform::{change, deform, measure, stress_of};
pub use pull::pull;

use crate::Real;
use crate::elastic::Hooke;
use crate::lanes::{Eight, WIDTH};

/// A neighbour of each of eight phyxels. One that has no more neighbours has itself, with weight 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Which phyxels.
    pub index: [u32; WIDTH],
    /// `w_ij`, without unit.
    pub weight: Eight,
    /// `w_ij X_ij`, m.
    pub way: [Eight; 3],
}

/// What eight phyxels keep while their reference shape stays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Still {
    /// `A^-1`, six numbers, 1/m2.
    pub inverse: [Eight; 6],
    /// `sum_j w_ij X_ij`, m.
    pub lean: [Eight; 3],
    /// m3.
    pub volume: Eight,
    /// Volume over `tr A`, m.
    pub ratio: Eight,
}

/// Where neighbours of some of eight phyxels do not span space: the projector on what they miss, six numbers.
pub type Missing = [Eight; 6];

/// What may differ between phyxels of one body and change in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// Plastic strain, six numbers.
    pub plastic: [Eight; 6],
    /// Strain at which it is free of stress because it is warm: that of even growth.
    pub swelling: Eight,
    /// Part of the stiffness of the body.
    pub stiffness: Eight,
    /// Resistance to flow beside that of the body, Pa s.
    pub viscosity: Eight,
}

/// Eight phyxels with their neighbours.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    /// Number of the first.
    pub first: usize,
    /// Neighbours.
    pub rows: &'a [Row],
    /// What stays with the reference shape.
    pub still: &'a Still,
    /// What neighbours do not span.
    pub missing: Option<&'a Missing>,
    /// What is their own; nothing if they are as the body.
    pub state: Option<&'a State>,
}

/// What all phyxels of a body share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matter {
    /// Stress from strain.
    pub hooke: Hooke,
    /// Stiffness against a change of volume, Pa: the energy is `k (det J - 1)^2/2`.
    pub bulk: Real,
    /// Stiffness of what is not affine, Pa: `s_i` is this times volume over `tr A`.
    pub hourglass: Real,
    /// Resistance to change of form, Pa s: the Young's modulus of a network of dampers.
    pub damping: Real,
}

/// What neighbours need to know of a phyxel: the columns of `R` with `s`, damping and nothing, then its position.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Line(pub [[Real; 4]; 4]);

/// Young's modulus over shear modulus of a network of pairs, whose Poisson's ratio is 1/4.
pub const SHEAR: Real = 2.5;

/// Eight numbers that follow each other.
#[inline(always)]
fn following(first: usize) -> [u32; WIDTH] {
    let first = first as u32;
    [first, first + 1, first + 2, first + 3, first + 4, first + 5, first + 6, first + 7]
}

/// A deformation of eight phyxels, row by row.
pub type Deformation = [[Eight; 3]; 3];
