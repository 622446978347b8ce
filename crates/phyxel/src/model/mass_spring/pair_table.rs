//! Tabulated pair law of a body.

use super::settings::{Molecules, Summation};
use crate::Real;
use phyxel_laws::mass_spring::molecular::PairLaw;

/// Number of table entries.
const ENTRIES: usize = 2048;
/// Start of the switching function as a fraction of the cut-off.
const SWITCHING_START: f64 = 0.7;

/// Scale of the pair force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PairStrength {
    /// Bulk modulus (Pa) times the squared mean size; distances are in mean sizes.
    Modulus(Real),
    /// Product of the masses, as in `[TPF89]`; distances are in units of this length, m.
    Masses(Real),
}

/// Attraction and repulsion over distance, and their increments to the next entry.
#[derive(Clone, Copy, Debug, Default)]
struct TableEntry {
    values: [f32; 2],
    increments: [f32; 2],
}

/// Pair law tabulated over the squared distance, so that evaluation needs neither roots nor powers.
#[derive(Clone, Debug)]
pub(super) struct PairTable {
    /// Pair law; distances in units of length.
    pub law: PairLaw,
    pub strength: PairStrength,
    entries: Vec<TableEntry>,
    /// Energies of attraction and repulsion at the entries, zero at the cut-off.
    energies: Vec<[f32; 2]>,
    /// Entries per squared unit of length.
    entries_per_square: f32,
}

/// Attraction and repulsion over distance, and their derivatives with respect to the squared distance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PairForce {
    pub components: [f32; 2],
    pub slopes: [f32; 2],
}

impl PairForce {
    /// Net repulsive force over distance, with factors on attraction and repulsion.
    pub fn net(&self, factors: [f32; 2]) -> f32 {
        self.components[1] * factors[1] - self.components[0] * factors[0]
    }

    /// Pair stiffness at a squared distance: the larger of the radial and the transverse one.
    pub fn stiffness(&self, square: f32, factors: [f32; 2]) -> f32 {
        let transverse = self.net(factors);
        let radial = transverse + 2.0 * square * (self.slopes[1] * factors[1] - self.slopes[0] * factors[0]);
        radial.abs().max(transverse.abs())
    }
}

impl PairTable {
    /// Tabulates the law of a body with this bulk modulus of the melt (Pa) and particle spacing (m).
    pub fn new(settings: &Molecules, bulk_modulus: Real, spacing: Real) -> Self {
        let cutoff = f64::from(settings.cutoff);
        let unit_law = Self::unit_law(settings);
        let (law, strength) = match settings.strengths {
            // In units of the spacing: d = s u, so alpha d/(d + zeta)^a = alpha s^(1 - a) u/(u + zeta/s)^a.
            Some([alpha, beta]) => {
                let scale = |strength: Real, exponent: Real| {
                    f64::from(strength) * libm::pow(spacing.into(), 1.0 - f64::from(exponent))
                };
                let attraction = scale(alpha, settings.exponents[0]);
                let repulsion = scale(beta, settings.exponents[1]);
                (PairLaw { attraction, repulsion, ..unit_law }, PairStrength::Masses(spacing))
            }
            None => (unit_law.calibrated().unwrap_or(unit_law), PairStrength::Modulus(bulk_modulus)),
        };
        Self::tabulate(law, strength, cutoff, settings.summation)
    }

    /// Pair law with unit strengths.
    fn unit_law(settings: &Molecules) -> PairLaw {
        let cutoff = f64::from(settings.cutoff);
        PairLaw {
            attraction: 1.0,
            repulsion: 1.0,
            exponents: settings.exponents.map(f64::from),
            softening: settings.softening.into(),
            collision_radius: 1.0,
            collision_exponent: settings.collision.into(),
            cutoff: Some([SWITCHING_START * cutoff, cutoff]),
        }
    }

    fn tabulate(law: PairLaw, strength: PairStrength, cutoff: f64, summation: Summation) -> Self {
        let step = cutoff * cutoff / (ENTRIES - 1) as f64;
        // Avoids distance 0; the law bounds distances from below.
        let distance = |k: usize| (step * (k as f64).max(0.5)).sqrt();
        let forces: Vec<[f64; 2]> = (0..ENTRIES).map(|k| law.components(distance(k))).collect();
        let force_over_distance = |k: usize| forces[k].map(|force| force / distance(k));
        let mut energies = vec![[0.0; 2]; ENTRIES];
        for k in (0..ENTRIES - 1).rev() {
            let interval = distance(k + 1) - distance(k);
            energies[k] = std::array::from_fn(|term| {
                energies[k + 1][term] + 0.5 * interval * (forces[k][term] + forces[k + 1][term])
            });
        }
        let entry = |k: usize| {
            let (a, b) = (force_over_distance(k), force_over_distance(k + 1));
            TableEntry { values: a.map(|x| x as f32), increments: [b[0] - a[0], b[1] - a[1]].map(|x| x as f32) }
        };
        // Sums over all molecules have no cut-off.
        let law = if summation == Summation::Cutoff { law } else { PairLaw { cutoff: None, ..law } };
        Self {
            law,
            strength,
            entries: (0..ENTRIES - 1).map(entry).collect(),
            energies: energies.into_iter().map(|pair| pair.map(|x| x as f32)).collect(),
            entries_per_square: (1.0 / step) as f32,
        }
    }

    /// Unit of length if it is not the size of molecules, m.
    pub fn fixed_length(&self) -> Option<Real> {
        match self.strength {
            PairStrength::Modulus(_) => None,
            PairStrength::Masses(length) => Some(length),
        }
    }

    /// Returns true if strengths can be calibrated to a density of zero pressure.
    pub fn has_equilibrium_density(settings: &Molecules) -> bool {
        Self::unit_law(settings).calibrated().is_some()
    }

    /// Scales of length (m) and force (N) of a pair with these sizes and masses.
    #[inline(always)]
    pub fn scales(&self, sizes: [Real; 2], masses: [Real; 2]) -> (Real, Real) {
        match self.strength {
            PairStrength::Modulus(modulus) => {
                let size = 0.5 * (sizes[0] + sizes[1]);
                (size, modulus * size * size)
            }
            PairStrength::Masses(length) => (length, masses[0] * masses[1]),
        }
    }

    /// Interpolates forces and derivatives at a squared distance, for unit strength.
    #[inline(always)]
    pub fn interpolate(&self, square: f32) -> PairForce {
        let position = square * self.entries_per_square;
        let Some(entry) = self.entries.get(position as usize) else { return PairForce::default() };
        let fraction = position - (position as usize) as f32;
        PairForce {
            components: [
                entry.values[0] + entry.increments[0] * fraction,
                entry.values[1] + entry.increments[1] * fraction,
            ],
            slopes: [entry.increments[0] * self.entries_per_square, entry.increments[1] * self.entries_per_square],
        }
    }

    /// Energies of attraction and repulsion at a squared distance, for unit strength and length.
    pub fn energy(&self, square: f32) -> [f32; 2] {
        let energy = self.energies.get((square * self.entries_per_square) as usize).copied().unwrap_or_default();
        [-energy[0], energy[1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_law() {
        let table = PairTable::new(&Molecules::default(), 1e5, 0.1);
        for k in 50..200 {
            let distance = 0.01 * f64::from(k);
            let [attraction, repulsion] = table.law.components(distance);
            let found =
                table.interpolate((distance * distance) as f32).components.map(|term| f64::from(term) * distance);
            // Linear interpolation over h = 0.002 in squared distance: relative error n (n + 2)/4 h^2/(8 d^4)
            // for a power n, 2e-4 at a distance of a half.
            assert!((found[0] - attraction).abs() < 3e-4 * (attraction + 0.01), "{distance}");
            assert!((found[1] - repulsion).abs() < 3e-4 * (repulsion + 0.01), "{distance}");
        }
        assert_eq!(table.interpolate(4.0).components, [0.0; 2]);
        assert_eq!(table.interpolate(81.0).components, [0.0; 2]);
        let force_at_1_2 = table.interpolate(1.44);
        let force = |d: f32| table.interpolate(d * d).net([1.0; 2]) * d;
        let slope = (force(1.205) - force(1.195)) / 0.01;
        let stiffness = slope.abs().max(force_at_1_2.net([1.0; 2]).abs());
        assert!((force_at_1_2.stiffness(1.44, [1.0; 2]) / stiffness - 1.0).abs() < 0.02);
    }

    #[test]
    fn given_strengths_are_the_law_of_tpf89_in_si_units() {
        let settings =
            Molecules { strengths: Some([1.0, 1.0e4]), exponents: [2.0, 4.0], cutoff: 6.0, ..Molecules::default() };
        let table = PairTable::new(&settings, 1e5, 50.0);
        let (length, strength) = table.scales([1.0, 1.0], [2.0, 3.0]);
        assert_eq!((length, strength), (50.0, 6.0));
        let force = |d: f32| {
            let u = d / length;
            strength * table.interpolate(u * u).net([1.0; 2]) * u
        };
        // 6 (-1/d + 1e4/d^3); table entries are 0.018 squared units apart.
        assert!(force(100.0).abs() < 1e-4);
        assert!((force(50.0) - 6.0 * (0.08 - 0.02)).abs() < 2e-4, "{}", force(50.0));
    }

    #[test]
    fn energy_falls_by_the_work_of_the_force() {
        let table = PairTable::new(&Molecules::default(), 1e5, 0.1);
        let total = |d: f32| table.energy(d * d).iter().sum::<f32>();
        let (mut work, steps) = (0.0, 4000);
        for k in 0..steps {
            let d = 0.8 + 1.0 * (k as f32 + 0.5) / steps as f32;
            work += table.interpolate(d * d).net([1.0; 2]) * d * 1.0 / steps as f32;
        }
        // Energies are not interpolated: the error is the force times 0.001 sizes.
        assert!((total(0.8) - total(1.8) - work).abs() < 0.01 * total(0.8).abs().max(1.0), "{work}");
    }
}
