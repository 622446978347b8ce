//! Lattice forces: solids as closest packings that are matched in every step, after `[WHP06]`.
//!
//! A particle fits a perfect crystal to its present neighbours ([`match_lattice`]) and pulls each to
//! the site nearest to it ([`Lattice::force`]). No rest shape is stored: a neighbour that has moved to
//! another site has flowed, and a melt is the same particles without these forces.
//!
//! Symbols of `[WHP06]`: `D` particle spacing, `l` site, `r` offset of a neighbour, `w` weight of a site,
//! `A` deformation gradient (best linear map from lattice to neighbours), `R` its rotation, `lambda`
//! docking rates.
//!
//! Departures from the paper:
//!
//! - `R` is the rotation of `sum w r l^T`, not that of `A`, and the forces have the weights of the
//!   matching. Then the torque vanishes by itself. Where forces are changed in other ways,
//!   [`torque_correction`] removes all of it; eq. 9 leaves a residual torque.
//! - The angular velocity of damping has the inertia that eq. 11 lacks, and weights include masses.
//!   Then damping conserves both momenta by itself.
//! - Cracks follow cleavage planes of the lattice, where the largest tensile stress exceeds the strength.
//! - A docked neighbour stays docked while it keeps its site. In the paper it may be lost in every
//!   step, so that a solid would be softer with shorter steps.
//! - Freezing needs both cold and solid neighbours; the product in eq. 16 is positive where both are
//!   missing.
//!
//! These laws see one particle at a time. The loop over particles, the neighbour search and the objects
//! belong to the engine.

mod assignment;
mod damping;
mod docking;
mod force;
mod matching;
mod nearest;
mod phase_change;
mod sites;
#[cfg(test)]
mod tests;
mod weights;

pub use damping::{NeighbourhoodMember, RigidFit, fit_rigid_motion};
pub use docking::{DockingLaw, Docks, docks_in_front, docks_opposite, principal_stress_above, tensile_stress};
pub use force::{PairForce, TorqueCorrection, torque_correction};
pub use matching::{LatticeFrame, LatticeMatch, match_lattice, nearest_sites_in_frame};
pub use nearest::nearest_site;
pub use phase_change::{PhaseChange, SolidNeighbours, advance_solid_fraction};
pub use sites::{NEAREST, SHELL_ENDS, SITES, Site, SiteSet};
pub use weights::Lattice;

use crate::Real;
use crate::linalg::eigen::pseudo_inverse;
use crate::material::hooke::VOIGT;
use glam::{DMat3, DVec3, Mat3};

/// Green's strain `(A^T A - I)/2` of a deformation gradient, in Voigt order. Its size is
/// [`spectral_norm_symmetric`](crate::material::plasticity::spectral_norm_symmetric), as for phyxels.
pub fn green_strain(deformation: Mat3) -> [Real; 6] {
    let square = deformation.transpose() * deformation;
    std::array::from_fn(|k| {
        let (row, column) = VOIGT[k];
        0.5 * (square.col(column)[row] - if k < 3 { 1.0 } else { 0.0 })
    })
}

/// Weighted moments of points, accumulated about the origin and evaluated about their centre.
#[derive(Clone, Copy, Debug, Default)]
struct WeightedMoments {
    weight: f64,
    /// `sum w r`.
    first_moment: DVec3,
    /// Diagonal of `sum w r r^T`: xx, yy, zz.
    squares: DVec3,
    /// The rest of it: yz, xz, xy.
    products: DVec3,
}

impl WeightedMoments {
    #[inline(always)]
    fn add(&mut self, weight: f64, offset: DVec3) {
        let weighted = weight * offset;
        self.weight += weight;
        self.first_moment += weighted;
        self.squares += weighted * offset;
        self.products += DVec3::new(weighted.y * offset.z, weighted.x * offset.z, weighted.x * offset.y);
    }

    fn centre(&self) -> DVec3 {
        if self.weight > 0.0 { self.first_moment / self.weight } else { DVec3::ZERO }
    }

    /// Solves `I omega = L` for an angular momentum `L`, with the inertia `I = sum w (|d|^2 - d d^T)` about
    /// the centre. About a line on which all points lie, `omega` is 0.
    fn angular_velocity(&self, angular_momentum: DVec3) -> DVec3 {
        let (c, first) = (self.centre(), self.first_moment);
        let s = self.squares - c * first;
        let p = self.products - DVec3::new(c.y * first.z, c.x * first.z, c.x * first.y);
        let x = DVec3::new(s.y + s.z, -p.z, -p.y);
        let y = DVec3::new(-p.z, s.x + s.z, -p.x);
        let z = DVec3::new(-p.y, -p.x, s.x + s.y);
        let third = 2.0 * (s.x + s.y + s.z) / 3.0;
        let cofactors = DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y));
        let determinant = x.dot(cofactors.x_axis);
        if determinant > 1e-4 * third * third * third {
            return cofactors * angular_momentum / determinant;
        }
        // Points that are collinear to the rounding of f32 have moments across the line that are smaller
        // by 1e-14. Nearer to a line than 1e-4 of its length, a rotation about it would be so fast that
        // rounding shows; dropping it leaves 1e-4 of the torque.
        let inverse = pseudo_inverse([x.to_array(), y.to_array(), z.to_array()], 1e-8).inverse;
        let omega = DVec3::from(inverse.map(|row| DVec3::from(row).dot(angular_momentum)));
        if omega.is_finite() { omega } else { DVec3::ZERO }
    }
}
