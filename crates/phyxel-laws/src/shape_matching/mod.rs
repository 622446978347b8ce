//! Shape matching `[MHTG05]`, eight clusters at a time.
//!
//! A cluster is a set of points with rest offsets `q` from their centre of mass and weights `w`. Each step
//! sums the moments of its present shape ([`accumulate`]), fits rotation and deformation ([`fit`]), and
//! corrects the velocity of every point towards its goal position ([`correct_velocities`]). Eight clusters
//! run in the lanes of a vector; lanes do not affect each other.
//!
//! Departures from `[MHTG05]`: the quadratic monomials have their mean subtracted, so that goals keep the
//! centre of mass; weights are `m_i / n_i` for a point in `n_i` clusters, and a point takes the mean of the
//! corrections of its clusters, so that momenta are conserved; a rank-deficient shape is fitted in its
//! range and only rotated in its null space. Weights are normalised to a sum of 1, offsets to a radius of
//! gyration of 1.
//!
//! Plasticity needs no new moment matrices: the best affine or quadratic map of a rest shape `Sp q` gives
//! the same goals as that of `q`, so only the rotation and the rigid term of the goal depend on `Sp`.
//! Thermal expansion is a multiple of `Sp` and of the volume that a goal keeps.

mod accumulate;
mod apply;
mod fit;
pub mod gain;
mod matrix;
mod polar;
pub mod rest;
#[cfg(test)]
mod tests;

use crate::simd::{F32x8, WIDTH};

pub use accumulate::accumulate;
pub use apply::correct_velocities;
pub use fit::fit;
pub(crate) use polar::{load_rotations, polar_rotation_elements, rotation_matrix};
pub use rest::RestBatch;

/// One point of each of eight clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub struct PointRow {
    /// Rest offset from the cluster's centre of mass, in radii of gyration.
    pub q: [F32x8; 3],
    /// Weight; those of a cluster add up to 1, and are 0 where a cluster has no further point.
    pub weight: F32x8,
}

/// Particles of a [`PointRow`].
pub type PointIndices = [u32; WIDTH];

/// Sums over the points of eight clusters, relative to the anchor point of each. Partial sums of a cluster
/// may be added.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClusterSums {
    /// Centre of mass, m.
    pub centre: [F32x8; 3],
    /// `sum w p q^T`, m.
    pub linear: [[F32x8; 3]; 3],
    /// `sum w p (monomials of q less their mean)^T`, m.
    pub quadratic: [[F32x8; 6]; 3],
    /// Mean velocity relative to the anchor's, m/s.
    pub mean_velocity: [F32x8; 3],
    /// Specific angular momentum about the anchor, m2/s.
    pub angular_momentum: [F32x8; 3],
    /// Second moments about the anchor: xx, yy, zz, xy, yz, zx, m2.
    pub second_moments: [F32x8; 6],
}

impl ClusterSums {
    /// Sum over all lanes of the partial sums of one large cluster, in every lane.
    pub fn reduce(partial: &[Self]) -> Self {
        Self {
            centre: std::array::from_fn(|i| sum_lanes(partial, |s| &s.centre[i])),
            linear: std::array::from_fn(|i| std::array::from_fn(|j| sum_lanes(partial, |s| &s.linear[i][j]))),
            quadratic: std::array::from_fn(|i| std::array::from_fn(|j| sum_lanes(partial, |s| &s.quadratic[i][j]))),
            mean_velocity: std::array::from_fn(|i| sum_lanes(partial, |s| &s.mean_velocity[i])),
            angular_momentum: std::array::from_fn(|i| sum_lanes(partial, |s| &s.angular_momentum[i])),
            second_moments: std::array::from_fn(|i| sum_lanes(partial, |s| &s.second_moments[i])),
        }
    }
}

/// Sum of a component over all lanes and partial sums, in every lane.
fn sum_lanes(partial: &[ClusterSums], component: impl Fn(&ClusterSums) -> &F32x8) -> F32x8 {
    let total: f64 = partial.iter().flat_map(|part| component(part).iter()).map(|&x| f64::from(x)).sum();
    [total as f32; WIDTH]
}

/// Parameters of the goals of eight clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GoalParams {
    /// Fraction of the fitted deformation that the goal follows, `beta` of `[MHTG05]`.
    pub beta: F32x8,
    /// Volume ratio that the linear term of the goal conserves; 0 for none.
    pub target_volume: F32x8,
    /// Rows of the plastic deformation `Sp`, thermal expansion included.
    pub plastic: [[F32x8; 3]; 3],
}

/// Goal maps of eight clusters: the goal of a point is `constant + linear q + quadratic (monomials of q)`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GoalMap {
    /// Constant term relative to the anchor, less the mean of the quadratic term, m.
    pub constant: [F32x8; 3],
    /// Linear term, m.
    pub linear: [[F32x8; 3]; 3],
    /// Quadratic term, m.
    pub quadratic: [[F32x8; 6]; 3],
    /// Centre of mass relative to the anchor, m.
    pub centre: [F32x8; 3],
    /// Mean velocity relative to the anchor's, m/s.
    pub mean_velocity: [F32x8; 3],
    /// Angular velocity, rad/s.
    pub angular_velocity: [F32x8; 3],
    /// Best affine map `A` of the rest shape, dimensionless.
    pub affine: [[F32x8; 3]; 3],
}

/// Deformation modes that a goal follows, as a constant for the kernels.
pub type Mode = u8;
/// Rotation only.
pub const RIGID: Mode = 0;
/// Stretch and shear in addition.
pub const LINEAR: Mode = 1;
/// Bending and twist in addition.
pub const QUADRATIC: Mode = 2;
