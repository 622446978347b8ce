//! Forces of a matched lattice on its neighbours, and removal of residual torque.

use super::WeightedMoments;
use super::sites::Site;
use super::weights::Lattice;
use crate::Real;
use glam::{DVec3, Mat3, Vec3};

impl Lattice {
    /// Force that pulls a neighbour to its site, `k w (R l - r)`, N (`[WHP06]` eq. 8).
    ///
    /// Half of it acts on the neighbour, and minus half of it on the particle that owns the lattice.
    /// `stiffness` is [`Lattice::stiffness`], `rotation` that of the match, `offset` that of the neighbour (m).
    #[inline(always)]
    pub fn force(&self, stiffness: Real, rotation: &Mat3, site: Site, offset: Vec3) -> Vec3 {
        (*rotation * self.position(site) - offset) * (stiffness * self.weight(site))
    }

    /// Energy of those halves, `k/4 w |R l - r|^2`, J.
    pub fn energy(&self, stiffness: Real, rotation: &Mat3, site: Site, offset: Vec3) -> Real {
        0.25 * stiffness * self.weight(site) * (*rotation * self.position(site) - offset).length_squared()
    }
}

/// Force between a particle and a neighbour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairForce {
    /// Offset of the neighbour, m.
    pub offset: Vec3,
    /// Weight of the neighbour in the correction, without unit; the particle itself has 1.
    pub weight: Real,
    /// Force on the neighbour, N. Its opposite acts on the particle itself.
    pub force: Vec3,
}

/// Forces that cancel the torque of other forces without adding momentum: those of a rotation about a centre.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TorqueCorrection {
    /// Weighted centre of particle and neighbours, relative to the particle, m.
    pub centre: Vec3,
    /// Rotation vector: force per weight and arm, N/m.
    pub rotation: Vec3,
}

impl TorqueCorrection {
    /// Force on a neighbour, or on the particle itself with offset 0 and weight 1, N.
    #[inline(always)]
    pub fn force(&self, offset: Vec3, weight: Real) -> Vec3 {
        self.rotation.cross(offset - self.centre) * weight
    }
}

/// Computes forces that cancel the torque of pair forces between a particle and its neighbours.
///
/// With `d` from the weighted centre, `f = w omega x d` and `sum w (|d|^2 - d d^T) omega = -tau`. Their sum
/// is `omega x sum w d`, which is 0; their torque is `-tau`. (`[WHP06]` eq. 9 omits the directions of the
/// arms and cancels the torque in part.) Needed only where forces are not those of [`Lattice::force`] at the
/// rotation of the match: those have no torque.
pub fn torque_correction(pairs: impl IntoIterator<Item = PairForce>) -> TorqueCorrection {
    let mut moments = WeightedMoments::default();
    moments.add(1.0, DVec3::ZERO);
    let mut torque = DVec3::ZERO;
    for PairForce { offset, weight, force } in pairs {
        let offset = offset.as_dvec3();
        moments.add(f64::from(weight), offset);
        torque += offset.cross(force.as_dvec3());
    }
    let correction =
        TorqueCorrection { centre: moments.centre().as_vec3(), rotation: -moments.angular_velocity(torque).as_vec3() };
    let is_finite = correction.centre.is_finite() && correction.rotation.is_finite();
    if is_finite { correction } else { TorqueCorrection::default() }
}
