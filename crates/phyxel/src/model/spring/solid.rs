//! Forces of springs.

use super::bonds::{Bond, Bonds};
use super::{GRAIN, Swings};
use crate::Real;
use crate::material::Material;
use crate::parallel;
use crate::particles::Particles;
use glam::{DMat3, Vec3};
use phyxel_laws::symmetric::eigen;
use std::ops::Range;

/// How stiff and how long the springs of a body are at its present temperatures.
pub(super) enum Stiffness<'a> {
    /// All the same: Young's modulus, Pa.
    Even(Real),
    /// By the warmth of the two ends.
    Uneven {
        material: &'a Material,
        /// J/kg.
        enthalpy: Vec<f64>,
        /// Temperature at which springs have their length.
        reference: Real,
        /// Enthalpy up to which all springs have this modulus and keep their length, J/kg and Pa.
        plain: Option<(f64, Real)>,
    },
}

impl<'a> Stiffness<'a> {
    pub fn of(material: &'a Material, reference: Real, enthalpy: &[f64]) -> Self {
        let heat = &material.heat;
        let soft = heat.softening.or(heat.melting).unwrap_or(Real::INFINITY);
        let limit = f64::from(heat.specific_heat) * f64::from(soft);
        let is_even = material.young_modulus.points().len() == 1 && heat.expansion == 0.0;
        let young = material.young_modulus.at(0.0);
        if is_even && enthalpy.iter().all(|&h| h < limit) {
            return Self::Even(young);
        }
        Self::Uneven { material, enthalpy: enthalpy.to_vec(), reference, plain: is_even.then_some((limit, young)) }
    }

    /// Young's modulus (Pa) and thermal stretch of a spring between two particles, by their mean enthalpy: where nothing
    /// melts that is their mean temperature.
    pub fn between(&self, i: usize, j: usize) -> (Real, Real) {
        match self {
            Self::Even(young) => (*young, 1.0),
            Self::Uneven { material, enthalpy, reference, plain } => {
                let heat = &material.heat;
                let mean = 0.5 * (enthalpy[i] + enthalpy[j]);
                if let Some((_, young)) = plain.filter(|(limit, _)| mean < *limit) {
                    return (young, 1.0);
                }
                let temperature = heat.temperature(mean);
                let left = heat.stiffness_of_mix(temperature, heat.molten(mean));
                let young = material.young_modulus.at(temperature) * left;
                (young, 1.0 + heat.expansion * (temperature - reference))
            }
        }
    }
}

/// A spring at this moment.
pub(super) struct Drawn {
    /// From the particle to the other, of length 1.
    pub direction: Vec3,
    /// Stiffness, N/m.
    pub stiffness: Real,
    /// Length less the length without force, m.
    pub extension: Real,
    /// Length without force, m.
    pub natural: Real,
}

/// The spring of a particle at this moment.
pub(super) fn draw(i: usize, bond: &Bond, positions: &[Vec3], stiffness: &Stiffness) -> Drawn {
    let between = positions[bond.other as usize] - positions[i];
    let length = between.length();
    let (young, stretch) = stiffness.between(i, bond.other as usize);
    let natural = bond.rest * stretch;
    // Ends at one place have no direction to be pushed apart in; others around them will.
    let direction = if length > 1e-6 * natural { between / length } else { Vec3::ZERO };
    Drawn { direction, stiffness: young * bond.stiffness, extension: length - natural, natural }
}

/// Adds `K (length - L)` along each spring, and `damping K` times the rate at which it gets longer; the largest strain.
pub(super) fn add_forces(
    bonds: &Bonds,
    range: Range<usize>,
    damping: Real,
    stiffness: &Stiffness,
    particles: &mut Particles,
) -> Real {
    // The choice is made once, not for every spring.
    match stiffness {
        Stiffness::Even(young) => add_forces_by(bonds, range, damping, |_, _| (*young, 1.0), particles),
        uneven => add_forces_by(bonds, range, damping, |i, j| uneven.between(i, j), particles),
    }
}

fn add_forces_by(
    bonds: &Bonds,
    range: Range<usize>,
    damping: Real,
    between: impl Fn(usize, usize) -> (Real, Real) + Sync,
    particles: &mut Particles,
) -> Real {
    let positions = &particles.position[range.clone()];
    let velocities = &particles.velocity[range.clone()];
    let drawn = parallel::map_chunks(&mut particles.force[range], GRAIN, |first, forces| {
        let mut largest: Real = 0.0;
        for (k, force) in forces.iter_mut().enumerate() {
            let i = first + k;
            let (position, velocity) = (positions[i], velocities[i]);
            let mut sum = Vec3::ZERO;
            for bond in bonds.of(i) {
                let other = bond.other as usize;
                let way = positions[other] - position;
                let square = way.length_squared();
                let (young, stretch) = between(i, other);
                // Ends at one place have no direction to be pushed apart in; others around them will.
                let inverse = if square > 1e-12 * bond.rest * bond.rest { 1.0 / square.sqrt() } else { 0.0 };
                let rate = (velocities[other] - velocity).dot(way) * inverse;
                let extension = square * inverse - bond.rest * stretch;
                largest = largest.max(extension.abs() / bond.rest);
                sum += way * (inverse * young * bond.stiffness * (extension + damping * rate));
            }
            *force += sum;
        }
        largest
    });
    drawn.into_iter().fold(0.0, Real::max)
}

/// Notes `part` of the power that damping takes, half for each end, J (`part` holds the step).
pub(super) fn note_heat(
    bonds: &Bonds,
    range: Range<usize>,
    damping: Real,
    stiffness: &Stiffness,
    particles: &mut Particles,
    part: f64,
) {
    let positions = &particles.position[range.clone()];
    let velocities = &particles.velocity[range.clone()];
    let made = parallel::map(range.len(), GRAIN, |i| {
        let mut sum = 0.0;
        for bond in bonds.of(i) {
            let spring = draw(i, bond, positions, stiffness);
            let rate = (velocities[bond.other as usize] - velocities[i]).dot(spring.direction);
            sum += 0.5 * f64::from(damping * spring.stiffness * rate * rate);
        }
        sum * part
    });
    particles.make_heat()[range].iter_mut().zip(made).for_each(|(heat, made)| *heat += made);
}

/// Bounds on the squares of the fastest swings, for a Young's modulus of 1 Pa, 1/s2.
///
/// The energy of springs is at most `sum 2 k ((n.u_i)^2 + (n.u_j)^2) / 2`, so no swing is faster than twice the largest
/// eigenvalue of `sum k n n^T / m` of any particle. In a cubic lattice that is just the fastest one. Whatever the directions
/// are, the eigenvalue is at most `sum k / m`.
pub(super) fn fastest_swings(bonds: &Bonds, rest: &[Vec3], masses: &[Real]) -> Swings {
    let parts = parallel::map_ranges(bonds.len(), GRAIN, |range| {
        range.fold(Swings::default(), |fastest, i| {
            let sum = bonds.of(i).iter().fold(DMat3::ZERO, |sum, bond| {
                let n = (rest[bond.other as usize] - rest[i]).as_dvec3().normalize_or_zero();
                sum + DMat3::from_cols(n * n.x, n * n.y, n * n.z) * f64::from(bond.stiffness)
            });
            let rows: [[f64; 3]; 3] = std::array::from_fn(|r| std::array::from_fn(|c| sum.col(c)[r]));
            let all: f64 = bonds.of(i).iter().map(|bond| f64::from(bond.stiffness)).sum();
            let mass = f64::from(masses[i]);
            let ordered = 2.0 * eigen(rows).0.into_iter().fold(0.0, f64::max) / mass;
            Swings { ordered: fastest.ordered.max(ordered), wild: fastest.wild.max(2.0 * all / mass) }
        })
    });
    parts
        .into_iter()
        .fold(Swings::default(), |a, b| Swings { ordered: a.ordered.max(b.ordered), wild: a.wild.max(b.wild) })
}
