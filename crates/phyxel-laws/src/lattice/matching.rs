//! Shape matching of a lattice to the neighbours of a particle.

use super::assignment::{SiteAssignment, assign_sites, nearest_sites};
use super::sites::{Site, SiteSet};
use super::weights::Lattice;
use crate::Real;
use crate::linalg::rotation::nearest_rotation_warm;
use crate::simd::SimdLevel;
use glam::{Mat3, Quat, Vec3};
use std::f32::consts::SQRT_2;

/// Rotation and deformation of the lattice of a particle, kept from step to step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatticeFrame {
    /// Rotation `R`.
    pub rotation: Quat,
    /// Deformation gradient `A`: best linear map from the lattice to the neighbours, without unit. It is `R`
    /// where they do not determine it.
    pub deformation: Mat3,
}

impl LatticeFrame {
    /// An undeformed lattice with a rotation.
    pub fn rotated(rotation: Quat) -> Self {
        Self { rotation, deformation: Mat3::from_quat(rotation) }
    }

    /// Returns itself if its quaternion is normalised, or the default.
    fn checked(self) -> Self {
        if (self.rotation.length_squared() - 1.0).abs() < 1e-3 { self } else { Self::default() }
    }

    /// Map from offsets to lattice coordinates. The rotation replaces a deformation gradient that is singular.
    fn to_lattice(self, spacing: Real) -> Mat3 {
        let inverse = self.deformation.inverse();
        let inverse = if inverse.is_finite() { inverse } else { Mat3::from_quat(self.rotation).transpose() };
        inverse * (SQRT_2 / spacing)
    }
}

impl Default for LatticeFrame {
    fn default() -> Self {
        Self::rotated(Quat::IDENTITY)
    }
}

/// Result of matching a lattice to neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatticeMatch {
    /// Rotation and deformation.
    pub frame: LatticeFrame,
    /// Sites that have a neighbour.
    pub occupied: SiteSet,
}

/// Least number of occupied sites from which a deformation gradient is fitted.
const MIN_SITES: usize = 4;
/// Least determinant of `sum w l l^T` over that of a ball of the same trace: below it, the occupied sites are
/// nearly coplanar. A layer with one more particle beside it has 0.1 and more; with that particle on a site
/// of hardly any weight it has 0.01.
const MIN_DETERMINANT: Real = 0.02;
/// A deformation gradient is accepted if its determinant is at least this...
const MIN_VOLUME_RATIO: Real = 0.1;
/// ...and its squared Frobenius norm, which is 3 at rest, at most this: a stretch of 2 in all directions.
const MAX_NORM_SQUARED: Real = 12.0;

/// Matches a lattice to neighbours: finds its rotation and deformation, and the site of each neighbour.
///
/// `offsets` are those of the neighbours (m); `sites` gets the site of each, `None` for those without one. A
/// neighbour occupies the site nearest to it under the deformation of the last step, if it is `open` and has
/// a weight. Of two on one site the nearer keeps it, the first of equals. The other is left without a site:
/// no other site is tried.
///
/// `A_pq = sum w r l^T` and `A = A_pq (sum w l l^T)^-1` (`[WHP06]` eq. 4), and `R` is the rotation of `A_pq`.
/// Where too few or nearly coplanar sites are occupied, or `A` is far from that of a solid, `A` is `R`.
/// Rotations that the neighbours do not determine stay as they were.
///
/// Every SIMD level gives the same bits.
pub fn match_lattice(
    level: SimdLevel,
    lattice: &Lattice,
    previous: &LatticeFrame,
    offsets: &[Vec3],
    open: SiteSet,
    sites: &mut [Option<Site>],
) -> LatticeMatch {
    let previous = previous.checked();
    let mut assignment = SiteAssignment::NONE;
    assign_sites(level, lattice, &previous.to_lattice(lattice.spacing()), offsets, open, sites, &mut assignment);
    let a_pq = Mat3::from_cols_array_2d(&assignment.a_pq).transpose();
    let rotation = nearest_rotation_warm(a_pq, previous.rotation);
    let deformation = fit_deformation(a_pq, &assignment).map(|a| a * (1.0 / lattice.spacing()));
    let frame = match deformation.filter(is_solid) {
        Some(deformation) => LatticeFrame { rotation, deformation },
        None => LatticeFrame::rotated(rotation),
    };
    LatticeMatch { frame, occupied: assignment.occupied }
}

/// Finds the sites nearest to neighbours, open or not, as [`match_lattice`] does under the same deformation.
pub fn nearest_sites_in_frame(
    level: SimdLevel,
    lattice: &Lattice,
    frame: &LatticeFrame,
    offsets: &[Vec3],
    sites: &mut [Option<Site>],
) {
    nearest_sites(level, &frame.checked().to_lattice(lattice.spacing()), offsets, sites);
}

/// Returns `A_pq (sum w l l^T)^-1` if the occupied sites span space.
fn fit_deformation(a_pq: Mat3, assignment: &SiteAssignment) -> Option<Mat3> {
    let [xx, yy, zz, yz, xz, xy] = assignment.a_qq;
    let third = (xx + yy + zz) / 3.0;
    let (x, y, z) = (Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz));
    let cofactors = Mat3::from_cols(y.cross(z), z.cross(x), x.cross(y));
    let determinant = x.dot(cofactors.x_axis);
    let spans = assignment.occupied.len() >= MIN_SITES && determinant > MIN_DETERMINANT * third * third * third;
    spans.then(|| a_pq * (cofactors * (1.0 / determinant)))
}

/// Returns true if a deformation gradient may be that of a solid: not inverted, not crushed, not torn.
fn is_solid(a: &Mat3) -> bool {
    let square = a.x_axis.length_squared() + a.y_axis.length_squared() + a.z_axis.length_squared();
    a.determinant() > MIN_VOLUME_RATIO && square < MAX_NORM_SQUARED
}
