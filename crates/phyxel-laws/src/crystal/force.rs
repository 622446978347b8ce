//! Forces of a matched lattice on its neighbours, and torque that is left.

use super::Moments;
use super::lattice::{Lattice, Site};
use crate::Real;
use glam::{DVec3, Mat3, Vec3};

impl Lattice {
    /// Force that pulls a neighbour to its site, `k w (R l - r)`, N (`[WHP06]` eq. 8).
    ///
    /// Half of it acts on the neighbour, and minus half of it on the particle whose lattice it is. `stiffness` is
    /// [`Lattice::stiffness`], `rotation` that of the match, `way` leads to the neighbour (m).
    #[inline(always)]
    pub fn force(&self, stiffness: Real, rotation: &Mat3, site: Site, way: Vec3) -> Vec3 {
        (*rotation * self.position(site) - way) * (stiffness * self.weight(site))
    }

    /// Energy of those halves, `k/4 w |R l - r|^2`, J.
    pub fn energy(&self, stiffness: Real, rotation: &Mat3, site: Site, way: Vec3) -> Real {
        0.25 * stiffness * self.weight(site) * (*rotation * self.position(site) - way).length_squared()
    }
}

/// A neighbour that is pulled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pulled {
    /// Way to it, m.
    pub way: Vec3,
    /// How much of the correction it takes, without unit; the particle itself has 1.
    pub weight: Real,
    /// Force on it, N. Its opposite acts on the particle itself.
    pub force: Vec3,
}

/// Forces that take off the torque of other forces, and add no momentum: those of a turn about a centre.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Balance {
    /// Weighted centre of particle and neighbours, from the particle, m.
    pub centre: Vec3,
    /// Force per weight and arm, N/m.
    pub turn: Vec3,
}

impl Balance {
    /// Force on a neighbour, or on the particle itself with the way 0 and the weight 1, N.
    #[inline(always)]
    pub fn force(&self, way: Vec3, weight: Real) -> Vec3 {
        self.turn.cross(way - self.centre) * weight
    }
}

/// What takes the torque off pairs of forces between a particle and its neighbours.
///
/// With `d` from the weighted centre, `f = w omega x d` and `sum w (|d|^2 - d d^T) omega = -tau`. Their sum is `omega x sum w d`,
/// which is 0; their torque is `-tau`. (`[WHP06]` eq. 9 leaves out the arms' directions and takes off a part.) Needed only where
/// forces are not those of [`Lattice::force`] at the rotation of the match: those have no torque.
pub fn balance(pulled: impl IntoIterator<Item = Pulled>) -> Balance {
    let mut moments = Moments::default();
    moments.add(1.0, DVec3::ZERO);
    let mut torque = DVec3::ZERO;
    for Pulled { way, weight, force } in pulled {
        let way = way.as_dvec3();
        moments.add(f64::from(weight), way);
        torque += way.cross(force.as_dvec3());
    }
    let found = Balance { centre: moments.centre().as_vec3(), turn: -moments.turn(torque).as_vec3() };
    if found.centre.is_finite() && found.turn.is_finite() { found } else { Balance::default() }
}
