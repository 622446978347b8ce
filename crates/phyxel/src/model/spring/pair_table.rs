//! The pair law of a body, made ready for many questions.

use super::settings::{Molecules, Summation};
use crate::Real;
use phyxel_laws::molecular::PairLaw;

/// Entries of the table.
const ENTRIES: usize = 2048;
/// Part of the cut-off at which forces begin to fade.
const FADING: f64 = 0.7;

/// How the strength of a pair follows from its two molecules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Strength {
    /// Bulk modulus (Pa) times the square of the mean size; distances count in that size.
    Modulus(Real),
    /// Product of the masses, as the source has it; distances count in this length, m.
    Masses(Real),
}

/// Attraction and repulsion over distance.
#[derive(Clone, Debug)]
pub(super) struct PairTable {
    /// The law, distances in sizes.
    pub law: PairLaw,
    pub strength: Strength,
    /// Forces at even distances up to the cut-off: attraction and repulsion.
    forces: Vec<[f32; 2]>,
    /// Energies there, both counted from the cut-off.
    energies: Vec<[f32; 2]>,
    /// Entries per size.
    density: f32,
}

/// Attraction, repulsion and their slopes at a distance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pull {
    pub force: [f32; 2],
    pub slope: [f32; 2],
}

impl PairTable {
    /// The law of a body whose melt has this bulk modulus (Pa) and whose particles are so far apart (m).
    pub fn new(settings: &Molecules, bulk_modulus: Real, spacing: Real) -> Self {
        let cutoff = f64::from(settings.cutoff);
        let fading = PairLaw {
            attraction: 1.0,
            repulsion: 1.0,
            exponents: settings.exponents.map(f64::from),
            bluntness: settings.bluntness.into(),
            radius: 1.0,
            collision: settings.collision.into(),
            cutoff: Some([FADING * cutoff, cutoff]),
        };
        let (law, strength) = match settings.strengths {
            // In units of the spacing: d = s u, so alpha d/(d + zeta)^a = alpha s^(1 - a) u/(u + zeta/s)^a.
            Some([alpha, beta]) => {
                let scale = |strength: Real, exponent: Real| {
                    f64::from(strength) * libm::pow(spacing.into(), 1.0 - f64::from(exponent))
                };
                let attraction = scale(alpha, settings.exponents[0]);
                let repulsion = scale(beta, settings.exponents[1]);
                (PairLaw { attraction, repulsion, ..fading }, Strength::Masses(spacing))
            }
            None => (fading.balanced().unwrap_or(fading), Strength::Modulus(bulk_modulus)),
        };
        Self::tabulate(law, strength, cutoff, settings.summation)
    }

    fn tabulate(law: PairLaw, strength: Strength, cutoff: f64, summation: Summation) -> Self {
        let step = cutoff / (ENTRIES - 1) as f64;
        let forces: Vec<[f64; 2]> = (0..ENTRIES).map(|k| law.parts(step * k as f64)).collect();
        let mut energies = vec![[0.0; 2]; ENTRIES];
        for k in (0..ENTRIES - 1).rev() {
            energies[k] = std::array::from_fn(|part| {
                energies[k + 1][part] + 0.5 * step * (forces[k][part] + forces[k + 1][part])
            });
        }
        let narrow = |values: Vec<[f64; 2]>| values.into_iter().map(|pair| pair.map(|x| x as f32)).collect();
        // Sums over all molecules know no cut-off.
        let law = if summation == Summation::Cutoff { law } else { PairLaw { cutoff: None, ..law } };
        Self { law, strength, forces: narrow(forces), energies: narrow(energies), density: (1.0 / step) as f32 }
    }

    /// Unit of length (m) and strength (N) of a pair with these sizes and masses.
    pub fn units(&self, sizes: [Real; 2], masses: [Real; 2]) -> (Real, Real) {
        match self.strength {
            Strength::Modulus(modulus) => {
                let size = 0.5 * (sizes[0] + sizes[1]);
                (size, modulus * size * size)
            }
            Strength::Masses(length) => (length, masses[0] * masses[1]),
        }
    }

    /// Forces and slopes at a distance in sizes, for a strength of 1.
    pub fn at(&self, distance: f32) -> Pull {
        let place = distance * self.density;
        let entry = place as usize;
        if entry + 1 >= self.forces.len() {
            return Pull::default();
        }
        let part = place - entry as f32;
        let (a, b) = (self.forces[entry], self.forces[entry + 1]);
        let rise = [b[0] - a[0], b[1] - a[1]];
        Pull {
            force: [a[0] + rise[0] * part, a[1] + rise[1] * part],
            slope: [rise[0] * self.density, rise[1] * self.density],
        }
    }

    /// Energy at a distance in sizes, for a strength of 1 and a size of 1: attraction and repulsion.
    pub fn energy(&self, distance: f32) -> [f32; 2] {
        let entry = (distance * self.density) as usize;
        let energy = self.energies.get(entry).copied().unwrap_or_default();
        [-energy[0], energy[1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_the_law() {
        let table = PairTable::new(&Molecules::default(), 1e5, 0.1);
        for k in 26..250 {
            let distance = 0.01 * f64::from(k);
            let [pull, push] = table.law.parts(distance);
            let found = table.at(distance as f32).force;
            // Linear between entries h = 0.0012 sizes apart: off by n (n + 1) h^2/(8 d^2) of a power n, 2e-4 at the most.
            assert!((f64::from(found[0]) - pull).abs() < 2e-4 * (pull + 0.01), "{distance}");
            assert!((f64::from(found[1]) - push).abs() < 2e-4 * (push + 0.01), "{distance}");
        }
        assert_eq!(table.at(2.5).force, [0.0; 2]);
        assert_eq!(table.at(9.0).force, [0.0; 2]);
    }

    #[test]
    fn given_strengths_are_the_source_s_law_in_its_own_units() {
        let settings =
            Molecules { strengths: Some([1.0, 1.0e4]), exponents: [2.0, 4.0], cutoff: 6.0, ..Molecules::default() };
        let table = PairTable::new(&settings, 1e5, 50.0);
        let (length, strength) = table.units([1.0, 1.0], [2.0, 3.0]);
        assert_eq!((length, strength), (50.0, 6.0));
        let force = |d: f32| {
            let parts = table.at(d / length).force;
            strength * (parts[1] - parts[0])
        };
        // 6 (-1/d + 1e4/d^3).
        assert!(force(100.0).abs() < 1e-4);
        assert!((force(50.0) - 6.0 * (0.08 - 0.02)).abs() < 1e-4, "{}", force(50.0));
    }

    #[test]
    fn energy_falls_by_the_work_of_the_force() {
        let table = PairTable::new(&Molecules::default(), 1e5, 0.1);
        let total = |d: f32| table.energy(d)[0] + table.energy(d)[1];
        let (mut work, steps) = (0.0, 4000);
        for k in 0..steps {
            let d = 0.8 + 1.2 * (k as f32 + 0.5) / steps as f32;
            let force = table.at(d).force;
            work += (force[1] - force[0]) * 1.2 / steps as f32;
        }
        assert!((total(0.8) - total(2.0) - work).abs() < 3e-3 * total(0.8).abs().max(1.0), "{work}");
    }
}
