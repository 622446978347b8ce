//! Constants of a body as a solid: stiffness, damping, strength and contact of its lattices.

use crate::Real;
use crate::body::Body;
use crate::material::{Curve, Material, ThermalProperties};
use crate::model::crystal::{CrystalSettings, Docking};
use crate::model::damping::lowest_bar_frequency;
use glam::Vec3;
use phyxel_laws::lattice::{DockingLaw, Lattice, Site};

/// Fraction of the stability limit that a step may take.
const SAFETY: f64 = 0.8;
/// Least bulk modulus due to pressure over Young's modulus: without it a hard fall can collapse the lattice.
const MIN_BULK_RATIO: Real = 0.1;

/// Constants of a body as a solid.
#[derive(Clone, Debug)]
pub(in crate::model::crystal) struct SolidConstants {
    /// Particle spacing, m.
    pub spacing: Real,
    pub lattice: Lattice,
    /// Largest Young's modulus over all temperatures, Pa.
    pub young_modulus: Real,
    /// Lattice stiffness at that modulus, N/m.
    pub stiffness: Real,
    /// Young's modulus over temperature, Pa, where it is not constant.
    softening: Option<Curve>,
    /// Tensile strength over temperature, Pa.
    strength: Option<Curve>,
    pub heat: ThermalProperties,
    /// Docking law, if docking is on.
    pub docking: Option<DockingLaw>,
    /// Decay rate of non-rigid motion, 1/s.
    pub damping_rate: Real,
    /// Increase of the volume fraction per pressure, 1/Pa.
    pub compressibility: Real,
    /// Longest stable step, s.
    pub stable_step: f64,
}

impl SolidConstants {
    pub fn new(settings: &CrystalSettings, body: &Body, material: &Material, mass: Real, rest: &[Vec3]) -> Self {
        let lattice = Lattice::new(body.spacing, settings.support);
        let young_modulus = material.max_young_modulus();
        let stiffness = lattice.stiffness(young_modulus);
        // Stiffness of a particle that moves against all others: `k w` for each of them, doubled as they move
        // too.
        let total = 2.0 * f64::from(stiffness) * f64::from(lattice.total_weight() - 1.0);
        let stable_step = if total > 0.0 { 2.0 * SAFETY * (f64::from(mass) / total).sqrt() } else { f64::INFINITY };
        // Viscosity of a neighbourhood in extension, `rate m M/W`, against that of a bar whose lowest mode
        // has the damping ratio of the material.
        let frequency = lowest_bar_frequency(rest, young_modulus, material.density) as Real;
        let bar_viscosity = 2.0 * material.damping * young_modulus / frequency.max(1e-30);
        let damping_rate = bar_viscosity * lattice.volume() * lattice.total_weight() / (mass * lattice.second_moment());
        // The lattice alone has the bulk modulus E/3.
        let bulk = young_modulus / (3.0 * (1.0 - 2.0 * material.poisson_ratio)) - young_modulus / 3.0;
        let compressibility = if young_modulus > 0.0 { 1.0 / bulk.max(MIN_BULK_RATIO * young_modulus) } else { 0.0 };
        let varies = material.heat.softening.is_some() || !material.young_modulus.all(|value| value == young_modulus);
        let docking = settings.docking.or(material.strength.as_ref().map(|_| Docking::default()));
        Self {
            spacing: body.spacing,
            lattice,
            young_modulus,
            stiffness,
            softening: varies.then(|| material.young_modulus.clone()),
            strength: material.strength.clone(),
            heat: material.heat,
            docking: docking.map(DockingLaw::from),
            damping_rate,
            compressibility,
            stable_step,
        }
    }

    /// Stiffness of the contact of a pair (N/m), and the distance within which it acts (m).
    fn contact_spring(&self, other: &Self) -> (Real, Real) {
        let nearest = Site::new(0).map_or(0.0, |site| self.lattice.weight(site));
        (nearest * self.stiffness.min(other.stiffness), 0.5 * (self.spacing + other.spacing))
    }

    /// Contact force of an unmatched particle at an offset (m), N: that of a matched neighbour along the
    /// offset, where it is nearer than its site (`[WHP06]` eq. 14).
    pub fn contact_force(&self, other: &Self, offset: Vec3) -> Vec3 {
        let ((stiffness, range), distance) = (self.contact_spring(other), offset.length());
        if distance > 0.0 && distance < range { offset * (-stiffness * (range / distance - 1.0)) } else { Vec3::ZERO }
    }

    /// Half of the energy of that force, the share of one of the two particles, J.
    pub fn contact_energy(&self, other: &Self, offset: Vec3) -> Real {
        let (stiffness, range) = self.contact_spring(other);
        0.25 * stiffness * (range - offset.length()).max(0.0).powi(2)
    }

    /// Stiffness at an enthalpy (J/kg) over the largest, 0 to 1.
    ///
    /// Partial melting does not enter: it reduces the number of solid particles.
    pub fn stiffness_ratio(&self, enthalpy: f64) -> Real {
        let Some(curve) = &self.softening else { return 1.0 };
        let temperature = self.heat.temperature(enthalpy);
        curve.at(temperature) * self.heat.mixture_stiffness_fraction(temperature, 0.0)
            / self.young_modulus.max(Real::MIN_POSITIVE)
    }

    /// Strength of the bond to a nearest neighbour, N: twice the lattice force in a solid at its tensile
    /// strength, as forces of single pairs scatter about the mean around them.
    pub fn bond_strength(&self, enthalpy: f64) -> Option<Real> {
        let strength = self.strength(enthalpy)?;
        // Half of k w times the distance from the site, which for pairs across a plane is 0.7 to 0.8 of the
        // strain times the spacing.
        let nearest = Site::new(0).map_or(0.0, |site| self.lattice.weight(site));
        Some(
            2.0 * 0.5 * 0.75 * self.stiffness * nearest * self.spacing * strength
                / self.young_modulus.max(Real::MIN_POSITIVE),
        )
    }

    /// Tensile strength at an enthalpy (J/kg), Pa; `None` if the material has none.
    pub fn strength(&self, enthalpy: f64) -> Option<Real> {
        self.strength.as_ref().map(|curve| curve.at(self.heat.temperature(enthalpy)))
    }
}
