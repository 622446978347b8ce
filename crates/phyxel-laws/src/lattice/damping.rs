//! Damping of non-rigid motion.

use super::WeightedMoments;
use super::weights::Lattice;
use crate::Real;
use glam::{DVec3, Vec3};

/// A particle of a neighbourhood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeighbourhoodMember {
    /// Offset from the particle, m; 0 for the particle whose neighbourhood it is.
    pub offset: Vec3,
    /// m/s.
    pub velocity: Vec3,
    /// kg.
    pub mass: Real,
    /// Weight of its site, without unit; 1 for the particle whose neighbourhood it is.
    pub weight: Real,
}

/// Best-fit rigid motion of a neighbourhood.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RigidFit {
    /// Centre of the weighted masses, relative to the particle, m.
    pub centre: Vec3,
    /// Velocity there, m/s.
    pub velocity: Vec3,
    /// Angular velocity, 1/s.
    pub angular_velocity: Vec3,
}

impl RigidFit {
    /// Velocity minus the rigid motion, m/s.
    #[inline(always)]
    pub fn non_rigid_velocity(&self, offset: Vec3, velocity: Vec3) -> Vec3 {
        velocity - self.velocity - self.angular_velocity.cross(offset - self.centre)
    }
}

impl Lattice {
    /// Damping force on a particle of a neighbourhood, N: `-rate m u w/sum w` with the non-rigid velocity `u`
    /// and the sum over all sites.
    ///
    /// As the rigid motion is that of the masses `m w`, these forces have neither resultant nor torque,
    /// whatever sites are occupied. A particle inside a crystal is in as many neighbourhoods as it has
    /// neighbours, and their `w/sum w` add up to 1: its motion relative to all of them decays at `rate`
    /// (1/s), which is `eta/m` of `[WHP06]` eq. 13.
    ///
    /// A step dissipates as long as `rate dt` times the largest such sum is below 2. So with a rate of
    /// `1/dt` a particle may be in twice as many neighbourhoods as in a crystal, as in crushed material.
    #[inline(always)]
    pub fn damping_force(&self, rate: Real, motion: &RigidFit, member: &NeighbourhoodMember) -> Vec3 {
        let NeighbourhoodMember { offset, velocity, mass, weight } = *member;
        motion.non_rigid_velocity(offset, velocity) * (-rate * mass * weight / self.total_weight())
    }
}

/// Fits a rigid motion to a neighbourhood that includes the particle itself.
///
/// With masses `m w`: velocity `sum m w v/sum m w` (`[WHP06]` eq. 10) and angular velocity
/// `I^-1 sum m w d x v` (eq. 11 lacks the inertia). Collinear members do not spin about their line.
pub fn fit_rigid_motion(members: impl IntoIterator<Item = NeighbourhoodMember>) -> RigidFit {
    let mut moments = WeightedMoments::default();
    let (mut momentum, mut angular_momentum) = (DVec3::ZERO, DVec3::ZERO);
    for NeighbourhoodMember { offset, velocity, mass, weight } in members {
        let (offset, mass) = (offset.as_dvec3(), f64::from(mass) * f64::from(weight));
        let weighted = velocity.as_dvec3() * mass;
        moments.add(mass, offset);
        momentum += weighted;
        angular_momentum += offset.cross(weighted);
    }
    if !(moments.weight > 0.0 && momentum.is_finite() && angular_momentum.is_finite()) {
        return RigidFit::default();
    }
    let centre = moments.centre();
    let fit = RigidFit {
        centre: centre.as_vec3(),
        velocity: (momentum / moments.weight).as_vec3(),
        angular_velocity: moments.angular_velocity(angular_momentum - centre.cross(momentum)).as_vec3(),
    };
    let is_finite = fit.centre.is_finite() && fit.velocity.is_finite() && fit.angular_velocity.is_finite();
    if is_finite { fit } else { RigidFit::default() }
}
