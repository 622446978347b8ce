//! Crystals without stored connections, after `[WHP06]`.
//!
//! A particle asks how a perfect crystal would lie among its present neighbours ([`match_lattice`]) and pulls them to the
//! sites they are nearest to ([`Lattice::force`]). No shape at rest is kept: a neighbour that has moved to another site
//! has flowed, and a melt is the same particles without the pull.
//!
//! Symbols of the source: `D` particle distance, `l` site, `r` way to a neighbour, `w` weight of a site, `A` shape (the best
//! linear map from lattice to neighbours), `R` its rotation, `lambda` rates.
//!
//! Corrections to the source:
//!
//! - `R` is that of `sum w r l^T`, not that of `A`, and the weights of the forces are those of the matching. Then torque
//!   vanishes by itself. Where forces are changed in other ways, [`balance`] takes it off, all of it; eq. 9 leaves a part.
//! - The angular velocity of damping has the inertia that eq. 11 lacks, and weights have masses in them. Then damping
//!   keeps both momenta by itself.
//! - Cracks follow planes of the lattice, where the largest tension is beyond the strength.
//! - A docked neighbour stays docked while it keeps its site. In the source it may be lost in every step, and a solid
//!   would be the softer the shorter the steps are.
//! - Freezing needs both cold and solid neighbours; the product in eq. 16 is positive where both are missing.
//!
//! One particle is looked at at a time; the loop over particles, the neighbours and whose they are belong to the engine.

mod change;
mod damping;
mod docking;
mod force;
mod lattice;
mod matching;
mod seats;
#[cfg(test)]
mod tests;

pub use change::{Around, PhaseChange, faded};
pub use damping::{Drift, Member, drift};
pub use docking::{DockingLaw, Docks, docks_in_front, docks_opposite, tension, tension_beyond};
pub use force::{Balance, Pulled, balance};
pub use lattice::{Lattice, NEAREST, SHELL_ENDS, SITES, Site, SiteSet, nearest_site};
pub use matching::{Match, Pose, match_lattice, sites_of};

use crate::Real;
use crate::elastic::VOIGT;
use crate::symmetric::pseudo_inverse;
use glam::{DMat3, DVec3, Mat3};

/// Green's strain `(A^T A - I)/2` of a shape, six numbers in the order of Voigt. Its size is that of
/// [`symmetric_norm`](crate::plasticity::symmetric_norm), as for phyxels.
pub fn strain(shape: Mat3) -> [Real; 6] {
    let square = shape.transpose() * shape;
    std::array::from_fn(|k| {
        let (row, column) = VOIGT[k];
        0.5 * (square.col(column)[row] - if k < 3 { 1.0 } else { 0.0 })
    })
}

/// Second moments of some points, summed up about one place and needed about their centre.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    weight: f64,
    /// `sum w r`.
    first: DVec3,
    /// `sum w r r^T`: xx, yy, zz, and yz, xz, xy.
    squares: DVec3,
    products: DVec3,
}

impl Moments {
    #[inline(always)]
    fn add(&mut self, weight: f64, way: DVec3) {
        let weighed = weight * way;
        self.weight += weight;
        self.first += weighed;
        self.squares += weighed * way;
        self.products += DVec3::new(weighed.y * way.z, weighed.x * way.z, weighed.x * way.y);
    }

    fn centre(&self) -> DVec3 {
        if self.weight > 0.0 { self.first / self.weight } else { DVec3::ZERO }
    }

    /// The turn `omega` with `I omega = spin`, for the inertia `I = sum w (|d|^2 - d d^T)` about the centre; none about a
    /// line on which all points lie.
    fn turn(&self, spin: DVec3) -> DVec3 {
        let c = self.centre();
        let s = self.squares - c * self.first;
        let p = self.products - DVec3::new(c.y * self.first.z, c.x * self.first.z, c.x * self.first.y);
        let x = DVec3::new(s.y + s.z, -p.z, -p.y);
        let y = DVec3::new(-p.z, s.x + s.z, -p.x);
        let z = DVec3::new(-p.y, -p.x, s.x + s.y);
        let third = 2.0 * (s.x + s.y + s.z) / 3.0;
        let cofactors = DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y));
        let determinant = x.dot(cofactors.x_axis);
        if determinant > 1e-4 * third * third * third {
            return cofactors * spin / determinant;
        }
        // Points that lie on a line to the rounding of f32 have squares that are smaller by 1e-14 across it. Nearer to a line
        // than 1e-4 of its length a turn about it would be so fast that rounding shows; it leaves 1e-4 of the torque.
        let inverse = pseudo_inverse([x.to_array(), y.to_array(), z.to_array()], 1e-8).inverse;
        let turn = DVec3::from(inverse.map(|row| DVec3::from(row).dot(spin)));
        if turn.is_finite() { turn } else { DVec3::ZERO }
    }
}
