//! How a lattice lies among neighbours.

use super::lattice::{Lattice, Site, SiteSet};
use super::seats::{Seats, find_sites, take_seats};
use crate::Real;
use crate::lanes::Level;
use crate::rotation::follow_rotation;
use glam::{Mat3, Quat, Vec3};
use std::f32::consts::SQRT_2;

/// How the lattice of a particle lies: what it keeps from step to step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Where the lattice has turned: `R`.
    pub rotation: Quat,
    /// Best linear map from the lattice to the neighbours, without unit: `A`. It is `R` where they do not tell.
    pub shape: Mat3,
}

impl Pose {
    /// An undeformed lattice, turned.
    pub fn turned(rotation: Quat) -> Self {
        Self { rotation, shape: Mat3::from_quat(rotation) }
    }

    /// Itself, if its rotation is one.
    fn checked(self) -> Self {
        if (self.rotation.length_squared() - 1.0).abs() < 1e-3 { self } else { Self::default() }
    }

    /// Map from ways to coordinates of the lattice; the turn alone takes the place of a shape that cannot be inverted.
    fn to_lattice(self, distance: Real) -> Mat3 {
        let inverse = self.shape.inverse();
        let inverse = if inverse.is_finite() { inverse } else { Mat3::from_quat(self.rotation).transpose() };
        inverse * (SQRT_2 / distance)
    }
}

impl Default for Pose {
    fn default() -> Self {
        Self::turned(Quat::IDENTITY)
    }
}

/// A lattice among neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// How it lies.
    pub pose: Pose,
    /// The sites that neighbours have taken.
    pub taken: SiteSet,
}

/// Least number of taken sites from which a shape is fitted.
const FEWEST: usize = 4;
/// How flat taken sites may lie: least determinant of `sum w l l^T` over that of a ball of the same trace. A layer with
/// one more particle beside it has 0.1 and more; one that has it on a site of hardly any weight has 0.01.
const FLATTEST: Real = 0.02;
/// A shape is kept if it has at least this part of the volume...
const SMALLEST: Real = 0.1;
/// ...and no more than this sum of squares, which is 3 at rest: doubled in every direction.
const LARGEST: Real = 12.0;

/// Finds how a lattice lies among neighbours, and which neighbour takes which site.
///
/// `ways` lead to the neighbours (m); `sites` gets the site of each, `None` for those that take none. A neighbour takes
/// the site nearest to it in the frame of the last step's shape, if it is `open` and has a weight. Of two on one site
/// that one keeps it which is nearer to the site in that frame, the first of equals. The other is free: it is not tried
/// at other sites.
///
/// `A_pq = sum w r l^T` and `A = A_pq (sum w l l^T)^-1` (`[WHP06]` eq. 4), `R` is the rotation of `A_pq`. Where too few or too
/// flat sites are taken, or the shape is far from one of a solid, `A` is `R`; what the neighbours leave open of `R` is as it was.
///
/// Every level of the machine gives the same bits.
pub fn match_lattice(
    level: Level,
    lattice: &Lattice,
    previous: &Pose,
    ways: &[Vec3],
    open: SiteSet,
    sites: &mut [Option<Site>],
) -> Match {
    let previous = previous.checked();
    let mut seats = Seats::NONE;
    take_seats(level, lattice, &previous.to_lattice(lattice.distance()), ways, open, sites, &mut seats);
    let fitted = Mat3::from_cols_array_2d(&seats.fitted).transpose();
    let rotation = follow_rotation(fitted, previous.rotation);
    let shape = fitted_shape(fitted, &seats).map(|shape| shape * (1.0 / lattice.distance()));
    let pose = match shape.filter(is_solid) {
        Some(shape) => Pose { rotation, shape },
        None => Pose::turned(rotation),
    };
    Match { pose, taken: seats.taken }
}

/// The sites that neighbours are nearest to, whether they may take them or not: those of [`match_lattice`] with the same pose.
pub fn sites_of(level: Level, lattice: &Lattice, pose: &Pose, ways: &[Vec3], sites: &mut [Option<Site>]) {
    find_sites(level, &pose.checked().to_lattice(lattice.distance()), ways, sites);
}

/// `A_pq (sum w l l^T)^-1`, if the taken sites span space.
fn fitted_shape(fitted: Mat3, seats: &Seats) -> Option<Mat3> {
    let [xx, yy, zz, yz, xz, xy] = seats.moments;
    let third = (xx + yy + zz) / 3.0;
    let (x, y, z) = (Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz));
    let cofactors = Mat3::from_cols(y.cross(z), z.cross(x), x.cross(y));
    let determinant = x.dot(cofactors.x_axis);
    let spans = seats.taken.len() >= FEWEST && determinant > FLATTEST * third * third * third;
    spans.then(|| fitted * (cofactors * (1.0 / determinant)))
}

/// Whether a shape may be that of a solid: not inverted, not crushed, not torn.
fn is_solid(shape: &Mat3) -> bool {
    let square = shape.x_axis.length_squared() + shape.y_axis.length_squared() + shape.z_axis.length_squared();
    shape.determinant() > SMALLEST && square < LARGEST
}
