//! Shape matching of eight clusters at a time, after `[MHTG05]`.
//!
//! A cluster is a set of points with rest offsets `q` from their centre of mass and weights `w`. Each step its
//! present shape is summed up ([`accumulate`]), fitted ([`fit`]), and every point is pulled to its goal
//! ([`apply`]). Eight clusters run side by side in the lanes of a vector; a cluster's result does not depend
//! on its neighbours in the vector.
//!
//! Corrections to the source: the products in the quadratic terms have their mean taken off, so that goals
//! keep the centre of mass; weights are `m_i / n_i` for a point in `n_i` clusters, and a point moves by the
//! mean of what its clusters want, so that momenta are kept; a singular shape is fitted in the directions it
//! has and turned in the others. Weights here are scaled to add up to 1, and offsets to a cluster of size 1.
//!
//! Plasticity needs no new matrices: the best affine or quadratic map of a rest shape `Sp q` gives the same
//! goals as that of `q`, so only the rotation and the rigid part of the goal see `Sp`. Thermal expansion enters
//! by the same door, as a multiple of `Sp`, and by the volume that a goal keeps.

mod accumulate;
mod apply;
mod fit;
pub mod rest;
#[cfg(test)]
mod tests;

use crate::lanes::{Eight, WIDTH};

pub use accumulate::accumulate;
pub use apply::apply;
pub use fit::fit;
pub(crate) use fit::{load_turns, rotation_matrix, turn_elements};
pub use rest::Rest;

/// One point of each of eight clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub struct Row {
    /// Rest offset from the cluster's centre of mass, in cluster sizes.
    pub q: [Eight; 3],
    /// Weight; all weights of a cluster add up to 1. 0 where a cluster has no further point.
    pub weight: Eight,
}

/// Which particles the points of a [`Row`] are.
pub type Indices = [u32; WIDTH];

/// Sums over the points of eight clusters, relative to each cluster's anchor point. Sums of parts of a cluster
/// may be added.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Centre of mass, m.
    pub centre: [Eight; 3],
    /// `sum w p q^T`.
    pub linear: [[Eight; 3]; 3],
    /// `sum w p (products of q less their mean)^T`.
    pub quadratic: [[Eight; 6]; 3],
    /// Mean velocity relative to the anchor's, m/s.
    pub drift: [Eight; 3],
    /// Angular momentum per mass about the anchor, m2/s.
    pub spin: [Eight; 3],
    /// Second moments about the anchor: xx, yy, zz, xy, yz, zx, m2.
    pub moments: [Eight; 6],
}

impl Sums {
    /// One cluster's sum, from parts whose eight lanes all belong to it, in every lane.
    pub fn gathered(parts: &[Self]) -> Self {
        Self {
            centre: std::array::from_fn(|i| sum_lanes(parts, |s| &s.centre[i])),
            linear: std::array::from_fn(|i| std::array::from_fn(|j| sum_lanes(parts, |s| &s.linear[i][j]))),
            quadratic: std::array::from_fn(|i| std::array::from_fn(|j| sum_lanes(parts, |s| &s.quadratic[i][j]))),
            drift: std::array::from_fn(|i| sum_lanes(parts, |s| &s.drift[i])),
            spin: std::array::from_fn(|i| sum_lanes(parts, |s| &s.spin[i])),
            moments: std::array::from_fn(|i| sum_lanes(parts, |s| &s.moments[i])),
        }
    }
}

/// The sum of all lanes of all parts, in every lane.
fn sum_lanes(parts: &[Sums], number: impl Fn(&Sums) -> &Eight) -> Eight {
    let total: f64 = parts.iter().flat_map(|part| number(part).iter()).map(|&x| f64::from(x)).sum();
    [total as f32; WIDTH]
}

/// How the goals of eight clusters are made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Blend {
    /// Part of the fitted deformation that the goal follows.
    pub beta: Eight,
    /// Where the linear part of the goal keeps the volume, that volume as a multiple of the one at rest; else 0.
    pub keep_volume: Eight,
    /// Rows of the plastic state `Sp`, thermal expansion included.
    pub plastic: [[Eight; 3]; 3],
}

/// Goal maps of eight clusters: a point goes to `centre + linear q + quadratic (products of q)`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Goal {
    /// Relative to the anchor, m; the mean of the products is taken care of.
    pub centre: [Eight; 3],
    /// m.
    pub linear: [[Eight; 3]; 3],
    /// m.
    pub quadratic: [[Eight; 6]; 3],
    /// Centre of mass relative to the anchor, m.
    pub middle: [Eight; 3],
    /// Mean velocity relative to the anchor's, m/s.
    pub drift: [Eight; 3],
    /// Angular velocity, rad/s.
    pub spin: [Eight; 3],
    /// The best affine map `A` of the rest shape, without unit.
    pub affine: [[Eight; 3]; 3],
}

/// The kinds of deformation a goal follows, as a constant for the kernels.
pub type Kind = u8;
/// Turn only.
pub const RIGID: Kind = 0;
/// Stretch and shear too.
pub const LINEAR: Kind = 1;
/// Bend and twist too.
pub const QUADRATIC: Kind = 2;
