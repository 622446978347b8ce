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

/// Attraction and repulsion at the squares of even steps, each over the distance, and what they rise by to the next entry.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    parts: [f32; 2],
    rise: [f32; 2],
}

/// Attraction and repulsion over the square of the distance: neither roots nor powers are needed.
#[derive(Clone, Debug)]
pub(super) struct PairTable {
    /// The law, distances in sizes.
    pub law: PairLaw,
    pub strength: Strength,
    entries: Vec<Entry>,
    /// Energies at the entries, both counted from the cut-off.
    energies: Vec<[f32; 2]>,
    /// Entries per square of a size.
    density: f32,
}

/// Attraction and repulsion over the distance, and their slopes by the square of the distance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pull {
    pub parts: [f32; 2],
    pub slopes: [f32; 2],
}

impl Pull {
    /// Force that pushes apart, over the distance, with factors on attraction and repulsion.
    pub fn push(&self, factors: [f32; 2]) -> f32 {
        self.parts[1] * factors[1] - self.parts[0] * factors[0]
    }

    /// How fast the force changes, along the line of a pair or across it, whichever is more; `square` is that of the
    /// distance.
    pub fn stiffness(&self, square: f32, factors: [f32; 2]) -> f32 {
        let across = self.push(factors);
        let along = across + 2.0 * square * (self.slopes[1] * factors[1] - self.slopes[0] * factors[0]);
        along.abs().max(across.abs())
    }
}

impl PairTable {
    /// The law of a body whose melt has this bulk modulus (Pa) and whose particles are so far apart (m).
    pub fn new(settings: &Molecules, bulk_modulus: Real, spacing: Real) -> Self {
        let cutoff = f64::from(settings.cutoff);
        let fading = Self::fading(settings);
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

    /// The law with strengths of 1.
    fn fading(settings: &Molecules) -> PairLaw {
        let cutoff = f64::from(settings.cutoff);
        PairLaw {
            attraction: 1.0,
            repulsion: 1.0,
            exponents: settings.exponents.map(f64::from),
            bluntness: settings.bluntness.into(),
            radius: 1.0,
            collision: settings.collision.into(),
            cutoff: Some([FADING * cutoff, cutoff]),
        }
    }

    fn tabulate(law: PairLaw, strength: Strength, cutoff: f64, summation: Summation) -> Self {
        let step = cutoff * cutoff / (ENTRIES - 1) as f64;
        // The first entry is never reached from outside: distances have a least value.
        let distance = |k: usize| (step * (k as f64).max(0.5)).sqrt();
        let forces: Vec<[f64; 2]> = (0..ENTRIES).map(|k| law.parts(distance(k))).collect();
        let over = |k: usize| forces[k].map(|force| force / distance(k));
        let mut energies = vec![[0.0; 2]; ENTRIES];
        for k in (0..ENTRIES - 1).rev() {
            let way = distance(k + 1) - distance(k);
            energies[k] =
                std::array::from_fn(|part| energies[k + 1][part] + 0.5 * way * (forces[k][part] + forces[k + 1][part]));
        }
        let entry = |k: usize| {
            let (a, b) = (over(k), over(k + 1));
            Entry { parts: a.map(|x| x as f32), rise: [b[0] - a[0], b[1] - a[1]].map(|x| x as f32) }
        };
        // Sums over all molecules know no cut-off.
        let law = if summation == Summation::Cutoff { law } else { PairLaw { cutoff: None, ..law } };
        Self {
            law,
            strength,
            entries: (0..ENTRIES - 1).map(entry).collect(),
            energies: energies.into_iter().map(|pair| pair.map(|x| x as f32)).collect(),
            density: (1.0 / step) as f32,
        }
    }

    /// The length that distances count in, if it is not the size of molecules, m.
    pub fn own_length(&self) -> Option<Real> {
        match self.strength {
            Strength::Modulus(_) => None,
            Strength::Masses(length) => Some(length),
        }
    }

    /// Whether strengths can be found for which a melt rests without pressure.
    pub fn can_balance(settings: &Molecules) -> bool {
        Self::fading(settings).balanced().is_some()
    }

    /// Unit of length (m) and strength (N) of a pair with these sizes and masses.
    #[inline(always)]
    pub fn units(&self, sizes: [Real; 2], masses: [Real; 2]) -> (Real, Real) {
        match self.strength {
            Strength::Modulus(modulus) => {
                let size = 0.5 * (sizes[0] + sizes[1]);
                (size, modulus * size * size)
            }
            Strength::Masses(length) => (length, masses[0] * masses[1]),
        }
    }

    /// Forces and slopes at a squared distance in sizes, for a strength of 1.
    #[inline(always)]
    pub fn at(&self, square: f32) -> Pull {
        let place = square * self.density;
        let Some(entry) = self.entries.get(place as usize) else { return Pull::default() };
        let part = place - (place as usize) as f32;
        Pull {
            parts: [entry.parts[0] + entry.rise[0] * part, entry.parts[1] + entry.rise[1] * part],
            slopes: [entry.rise[0] * self.density, entry.rise[1] * self.density],
        }
    }

    /// Energy at a squared distance in sizes, for a strength of 1 and a size of 1: attraction and repulsion.
    pub fn energy(&self, square: f32) -> [f32; 2] {
        let energy = self.energies.get((square * self.density) as usize).copied().unwrap_or_default();
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
            let [pull, push] = table.law.parts(distance);
            let found = table.at((distance * distance) as f32).parts.map(|part| f64::from(part) * distance);
            // Linear between entries h = 0.002 squares apart: off by n (n + 2)/4 h^2/(8 d^4) of a power n, 2e-4 at a
            // distance of a half.
            assert!((found[0] - pull).abs() < 3e-4 * (pull + 0.01), "{distance}");
            assert!((found[1] - push).abs() < 3e-4 * (push + 0.01), "{distance}");
        }
        assert_eq!(table.at(4.0).parts, [0.0; 2]);
        assert_eq!(table.at(81.0).parts, [0.0; 2]);
        let wide = table.at(1.44);
        let force = |d: f32| table.at(d * d).push([1.0; 2]) * d;
        let slope = (force(1.205) - force(1.195)) / 0.01;
        let stiffness = slope.abs().max(wide.push([1.0; 2]).abs());
        assert!((wide.stiffness(1.44, [1.0; 2]) / stiffness - 1.0).abs() < 0.02);
    }

    #[test]
    fn given_strengths_are_the_source_s_law_in_its_own_units() {
        let settings =
            Molecules { strengths: Some([1.0, 1.0e4]), exponents: [2.0, 4.0], cutoff: 6.0, ..Molecules::default() };
        let table = PairTable::new(&settings, 1e5, 50.0);
        let (length, strength) = table.units([1.0, 1.0], [2.0, 3.0]);
        assert_eq!((length, strength), (50.0, 6.0));
        let force = |d: f32| {
            let u = d / length;
            strength * table.at(u * u).push([1.0; 2]) * u
        };
        // 6 (-1/d + 1e4/d^3); the table has entries 0.018 squares of 50 apart.
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
            work += table.at(d * d).push([1.0; 2]) * d * 1.0 / steps as f32;
        }
        // Energies are those of the entry below: off by the force over 0.001 sizes.
        assert!((total(0.8) - total(1.8) - work).abs() < 0.01 * total(0.8).abs().max(1.0), "{work}");
    }
}
