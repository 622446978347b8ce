//! Meshless elasticity: moving least squares on a cloud of material points (phyxels).
//!
//! After `[MKN04]`, with the corrections of `docs/continuum.md`. Phyxel `i` has neighbours `j` at
//! `X_ij = X_j - X_i` in the reference configuration, with symmetric weights `w_ij = w_ji`. Moving least
//! squares give the deformation gradient, `J_i = (sum_j w_ij x_ij X_ij^T) A_i^-1` with the moment matrix
//! `A_i = sum_j w_ij X_ij X_ij^T`. Hourglass springs `s_i w_ij` resist the non-affine residual
//! `z_ij = x_ij - J_i X_ij`. The force is minus the gradient of the energy; as `sum_j w_ij z_ij X_ij^T = 0`
//! and weights are symmetric, it is
//!
//! `f_i = sum_j w_ij ((R_i + R_j) X_ij + (s_i + s_j) x_ij)` with `R_i = V_i P_i A_i^-1 - s_i J_i`.
//!
//! A step makes two passes over the neighbours: [`compute_payloads`] and [`gather_forces`]. Kernels take
//! eight phyxels at a time, one per lane.

mod force;
mod stress;

pub use force::gather_forces;
pub use stress::{compute_deformation, compute_payloads, linearise_stress, second_piola_stress};

use crate::Real;
use crate::material::hooke::Hooke;
use crate::simd::{F32x8, WIDTH};

/// One neighbour of each of eight phyxels; the phyxel itself with weight 0 where a list has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeighbourRow {
    /// Indices of the neighbours.
    pub index: [u32; WIDTH],
    /// `w_ij`, dimensionless.
    pub weight: F32x8,
    /// `w_ij X_ij`, m.
    pub weighted_offset: [F32x8; 3],
}

/// Reference configuration of eight phyxels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// `A^-1` in Voigt order, 1/m2.
    pub inverse_moments: [F32x8; 6],
    /// `sum_j w_ij X_ij`, m.
    pub first_moment: [F32x8; 3],
    /// Volume, m3.
    pub volume: F32x8,
    /// Volume over `tr A`, m.
    pub volume_over_trace: F32x8,
}

/// Projector on the null space of `A`, where neighbours of some of eight phyxels do not span space, in
/// Voigt order.
pub type NullProjector = [F32x8; 6];

/// State of eight phyxels: what may vary within a body and in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhyxelState {
    /// Plastic strain, in Voigt order.
    pub plastic: [F32x8; 6],
    /// Stress-free isotropic Green strain of thermal expansion.
    pub thermal_strain: F32x8,
    /// Fraction of the body's stiffness.
    pub stiffness_fraction: F32x8,
    /// Dynamic viscosity in addition to the body's damping, Pa s.
    pub viscosity: F32x8,
}

/// Eight phyxels with their neighbours.
#[derive(Clone, Copy, Debug)]
pub struct PhyxelGroup<'a> {
    /// Index of the first.
    pub first: usize,
    /// Neighbours, one row for the k-th of each.
    pub rows: &'a [NeighbourRow],
    /// Reference configuration.
    pub reference: &'a Reference,
    /// Null space, if any of the eight has one.
    pub null_projector: Option<&'a NullProjector>,
    /// State; `None` if uniform in the body and at its rest values.
    pub state: Option<&'a PhyxelState>,
}

/// Material constants that all phyxels of a body share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhyxelMaterial {
    /// Elastic law.
    pub hooke: Hooke,
    /// Volume penalty `k_v`, Pa: energy density `k_v (det J - 1)^2/2`.
    pub volume_penalty: Real,
    /// Hourglass stiffness, Pa: `s_i` is this times volume over `tr A`.
    pub hourglass: Real,
    /// Damping, Pa s: the viscous counterpart of Young's modulus, of the network of dampers.
    pub damping: Real,
}

/// Data of a phyxel that its neighbours read: the columns of `R` with `s`, damping and zero, then its position.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Payload(pub [[Real; 4]; 4]);

/// Young's modulus over shear modulus of a network of central springs, whose Poisson's ratio is 1/4.
pub const YOUNG_OVER_SHEAR: Real = 2.5;

/// Eight consecutive indices.
#[inline(always)]
fn consecutive(first: usize) -> [u32; WIDTH] {
    let first = first as u32;
    [first, first + 1, first + 2, first + 3, first + 4, first + 5, first + 6, first + 7]
}

/// Deformation gradients of eight phyxels, by rows.
pub type DeformationGradient = [[F32x8; 3]; 3];
