//! Weights of lattice sites and their sums.

use super::nearest::POINTS;
use super::sites::{SITES, Site, SiteSet};
use crate::Real;
use crate::material::hooke::VOIGT;
use crate::simd::{F32x8, WIDTH};
use glam::Vec3;
use std::f32::consts::FRAC_1_SQRT_2;

/// Rows of eight that hold all sites.
pub(super) const ROWS: usize = SITES.div_ceil(WIDTH);

/// A lattice of one particle spacing, with weights that fade out within a support.
///
/// A weight is a function of the distance of the site, not of the particle on it: `(1 - |l|^2/h^2)^3`, and 1
/// for the particle itself. So forces are linear near the rest shape and continuous.
#[derive(Clone, Debug, PartialEq)]
pub struct Lattice {
    spacing: Real,
    /// Without unit.
    weights: [Real; SITES],
    weighted_sites: SiteSet,
    total_weight: Real,
    /// `sum w l_x^2`, squared particle spacings.
    pub(super) second_moment: Real,
    /// `w l` by site, particle spacings.
    pub(super) first_moments: [[F32x8; ROWS]; 3],
    /// `w l l^T` by site, in Voigt order.
    pub(super) second_moments: [[F32x8; ROWS]; 6],
    /// Rows that have sites with a weight.
    pub(super) rows: usize,
    /// Squared distance within which a site takes a neighbour, by tag; -1 where no site has a weight.
    pub(super) capture: [Real; POINTS],
}

impl Lattice {
    /// Support of 42 neighbours, in particle spacings.
    pub const WIDE: Real = 1.9;
    /// Support of 18 neighbours, in particle spacings.
    pub const NARROW: Real = 1.5;

    /// Creates a lattice of spacing `D` (m) with a support in spacings, which has an effect up to 2.1.
    pub fn new(spacing: Real, support: Real) -> Self {
        let mut lattice = Self {
            spacing,
            weights: [0.0; SITES],
            weighted_sites: SiteSet::NONE,
            total_weight: 1.0,
            second_moment: 0.0,
            first_moments: [[[0.0; WIDTH]; ROWS]; 3],
            second_moments: [[[0.0; WIDTH]; ROWS]; 6],
            rows: 0,
            capture: [-1.0; POINTS],
        };
        for site in Site::all() {
            let ratio = 1.0 - site.position().length_squared() / (support * support);
            // Less than a millionth is rounding, of a support that ends at the site.
            if support > 0.0 && ratio > 1e-6 {
                lattice.add(site, ratio * ratio * ratio);
            }
        }
        lattice
    }

    fn add(&mut self, site: Site, weight: Real) {
        let (number, l) = (site.number(), site.position());
        let (row, lane) = (number / WIDTH, number % WIDTH);
        self.weights[number] = weight;
        self.weighted_sites = self.weighted_sites.with(site);
        self.total_weight += weight;
        self.second_moment += weight * l.x * l.x;
        (0..3).for_each(|axis| self.first_moments[axis][row][lane] = weight * l[axis]);
        (0..6).for_each(|k| self.second_moments[k][row][lane] = weight * l[VOIGT[k].0] * l[VOIGT[k].1]);
        self.rows = row + 1;
        self.capture[number + 1] = Real::INFINITY;
    }

    /// Particle spacing `D`, m.
    pub fn spacing(&self) -> Real {
        self.spacing
    }

    /// Weight of a site, without unit; that of the particle itself is 1.
    #[inline(always)]
    pub fn weight(&self, site: Site) -> Real {
        self.weights[site.number()]
    }

    /// Position of a site in the lattice frame, m.
    #[inline(always)]
    pub fn position(&self, site: Site) -> Vec3 {
        site.position() * self.spacing
    }

    /// Sites that have a weight.
    pub fn weighted_sites(&self) -> SiteSet {
        self.weighted_sites
    }

    /// Sum of all weights, including that of the particle itself.
    pub fn total_weight(&self) -> Real {
        self.total_weight
    }

    /// `M = sum w l_x^2` over all sites, m2. As the lattice is cubic, `sum w l l^T = M I`.
    pub fn second_moment(&self) -> Real {
        self.second_moment * self.spacing * self.spacing
    }

    /// Volume of a particle, `D^3/sqrt(2)`, m3.
    pub fn volume(&self) -> Real {
        self.spacing * self.spacing * self.spacing * FRAC_1_SQRT_2
    }

    /// Stiffness `k = 2 E V/M` (N/m) of the forces `k w (R l - r)`, half of which act, for Young's modulus
    /// `E` (Pa).
    ///
    /// Those forces have the energy `k/4 sum w |r - R l|^2`. In a lattice that is stretched by a symmetric
    /// `S` it is `k M/4 |S - I|^2`, which per volume is that of a solid with the shear modulus `E/2` and
    /// Poisson's ratio 0.
    pub fn stiffness(&self, young_modulus: Real) -> Real {
        let moment = self.second_moment();
        if moment > 0.0 { 2.0 * young_modulus * self.volume() / moment } else { 0.0 }
    }
}
