//! Damping of what is no rigid motion.

use super::Moments;
use super::lattice::Lattice;
use crate::Real;
use glam::{DVec3, Vec3};

/// A particle of a neighbourhood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// Way to it, m; 0 for the particle whose neighbourhood it is.
    pub way: Vec3,
    /// m/s.
    pub velocity: Vec3,
    /// kg.
    pub mass: Real,
    /// Weight of its site, without unit; 1 for the particle whose neighbourhood it is.
    pub weight: Real,
}

/// The rigid motion nearest to that of a neighbourhood.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drift {
    /// Centre of the weighted masses, from the particle, m.
    pub centre: Vec3,
    /// Velocity there, m/s.
    pub velocity: Vec3,
    /// Angular velocity, 1/s.
    pub spin: Vec3,
}

impl Drift {
    /// What is left of a velocity without the rigid motion, m/s.
    #[inline(always)]
    pub fn non_rigid(&self, way: Vec3, velocity: Vec3) -> Vec3 {
        velocity - self.velocity - self.spin.cross(way - self.centre)
    }
}

impl Lattice {
    /// Force on a particle of a neighbourhood that damps what it does beside the rigid motion, N:
    /// `-rate m u w/sum w`, with the sum over all sites.
    ///
    /// As rigid motion is that of the masses `m w`, these forces add up to no force and no torque, whatever sites are
    /// taken. A particle inside a crystal is in as many neighbourhoods as it has neighbours, and their `w/sum w` add up to
    /// 1: what it does beside the motion of all of them fades at `rate` (1/s), which is `eta/m` of `[WHP06]` eq. 13.
    ///
    /// A step takes energy as long as `rate dt` times the largest such sum is below 2. With a rate of `1/dt` a particle
    /// may so be in twice as many neighbourhoods as in a crystal, as where matter is crushed.
    #[inline(always)]
    pub fn damping_force(&self, rate: Real, drift: &Drift, member: &Member) -> Vec3 {
        drift.non_rigid(member.way, member.velocity) * (-rate * member.mass * member.weight / self.total_weight())
    }
}

/// The rigid motion nearest to that of a neighbourhood, the particle itself among its members.
///
/// With masses `m w`: velocity `sum m w v/sum m w` (`[WHP06]` eq. 10), angular velocity `I^-1 sum m w d x v` (eq. 11 lacks the inertia).
/// Members on a line have no spin about it.
pub fn drift(members: impl IntoIterator<Item = Member>) -> Drift {
    let mut moments = Moments::default();
    let (mut momentum, mut spin) = (DVec3::ZERO, DVec3::ZERO);
    for Member { way, velocity, mass, weight } in members {
        let (way, mass) = (way.as_dvec3(), f64::from(mass) * f64::from(weight));
        let part = velocity.as_dvec3() * mass;
        moments.add(mass, way);
        momentum += part;
        spin += way.cross(part);
    }
    if !(moments.weight > 0.0 && momentum.is_finite() && spin.is_finite()) {
        return Drift::default();
    }
    let centre = moments.centre();
    let found = Drift {
        centre: centre.as_vec3(),
        velocity: (momentum / moments.weight).as_vec3(),
        spin: moments.turn(spin - centre.cross(momentum)).as_vec3(),
    };
    if found.centre.is_finite() && found.velocity.is_finite() && found.spin.is_finite() {
        found
    } else {
        Drift::default()
    }
}
