//! Spring forces: elastic and stiffness-proportional damping forces along the springs.

use super::GRAIN;
use super::spring_graph::{HalfSpring, SpringGraph};
use crate::Real;
use crate::material::Material;
use crate::parallel;
use crate::store::Particles;
use glam::Vec3;
use std::ops::Range;

/// Stiffness and thermal stretch of the springs of a body at its present temperatures.
pub(super) enum Stiffness<'a> {
    /// The same Young's modulus everywhere, Pa.
    Uniform(Real),
    /// Dependent on the enthalpy of the two ends.
    Variable {
        material: &'a Material,
        /// J/kg.
        enthalpy: Vec<f64>,
        /// Temperature at which springs have their rest length.
        rest_temperature: Real,
        /// Enthalpy below which modulus and length are constant, J/kg, and that modulus, Pa.
        constant_below: Option<(f64, Real)>,
    },
}

impl<'a> Stiffness<'a> {
    pub fn new(material: &'a Material, rest_temperature: Real, enthalpy: &[f64]) -> Self {
        let heat = &material.heat;
        let softening = heat.softening.or(heat.melting).unwrap_or(Real::INFINITY);
        let limit = f64::from(heat.specific_heat) * f64::from(softening);
        let is_constant = material.young_modulus.points().len() == 1 && heat.expansion == 0.0;
        let young = material.young_modulus.at(0.0);
        if is_constant && enthalpy.iter().all(|&h| h < limit) {
            return Self::Uniform(young);
        }
        Self::Variable {
            material,
            enthalpy: enthalpy.to_vec(),
            rest_temperature,
            constant_below: is_constant.then_some((limit, young)),
        }
    }

    /// Young's modulus (Pa) and thermal stretch of a spring between two particles, by their mean enthalpy.
    /// Where nothing melts, that is their mean temperature.
    pub fn of_pair(&self, i: usize, j: usize) -> (Real, Real) {
        match self {
            Self::Uniform(young) => (*young, 1.0),
            Self::Variable { material, enthalpy, rest_temperature, constant_below } => {
                let heat = &material.heat;
                let mean = 0.5 * (enthalpy[i] + enthalpy[j]);
                if let Some((_, young)) = constant_below.filter(|(limit, _)| mean < *limit) {
                    return (young, 1.0);
                }
                let temperature = heat.temperature(mean);
                let retained = heat.mixture_stiffness_fraction(temperature, heat.liquid_fraction(mean));
                let young = material.young_modulus.at(temperature) * retained;
                (young, 1.0 + heat.expansion * (temperature - rest_temperature))
            }
        }
    }
}

/// Geometry and stiffness of a spring at present.
pub(super) struct SpringState {
    /// Unit vector from the particle to the other.
    pub direction: Vec3,
    /// Stiffness, N/m.
    pub stiffness: Real,
    /// Extension beyond the natural length, m.
    pub extension: Real,
    /// Natural length: rest length times thermal stretch, m.
    pub natural_length: Real,
}

/// Present state of a spring of particle `i`.
pub(super) fn spring_state(i: usize, half: &HalfSpring, positions: &[Vec3], stiffness: &Stiffness) -> SpringState {
    let offset = positions[half.other as usize] - positions[i];
    let length = offset.length();
    let (young, stretch) = stiffness.of_pair(i, half.other as usize);
    let natural_length = half.rest_length * stretch;
    // Coincident ends have no direction; their other springs separate them.
    let direction = if length > 1e-6 * natural_length { offset / length } else { Vec3::ZERO };
    SpringState { direction, stiffness: young * half.stiffness, extension: length - natural_length, natural_length }
}

/// Adds the forces `K (l - L) + beta K dl/dt` along each spring, with `beta = damping`; returns the largest
/// strain.
pub(super) fn add_forces(
    graph: &SpringGraph,
    range: Range<usize>,
    damping: Real,
    stiffness: &Stiffness,
    particles: &mut Particles,
) -> Real {
    // Decides once, not for every spring.
    match stiffness {
        Stiffness::Uniform(young) => add_forces_with(graph, range, damping, |_, _| (*young, 1.0), particles),
        variable => add_forces_with(graph, range, damping, |i, j| variable.of_pair(i, j), particles),
    }
}

fn add_forces_with(
    graph: &SpringGraph,
    range: Range<usize>,
    damping: Real,
    stiffness_of_pair: impl Fn(usize, usize) -> (Real, Real) + Sync,
    particles: &mut Particles,
) -> Real {
    let positions = &particles.position[range.clone()];
    let velocities = &particles.velocity[range.clone()];
    let max_strains = parallel::map_chunks(&mut particles.force[range], GRAIN, |first, forces| {
        let mut max_strain: Real = 0.0;
        for (k, force) in forces.iter_mut().enumerate() {
            let i = first + k;
            let (position, velocity) = (positions[i], velocities[i]);
            let mut sum = Vec3::ZERO;
            for half in graph.of(i) {
                let other = half.other as usize;
                let offset = positions[other] - position;
                let square = offset.length_squared();
                let (young, stretch) = stiffness_of_pair(i, other);
                // Coincident ends have no direction; their other springs separate them.
                let inverse =
                    if square > 1e-12 * half.rest_length * half.rest_length { 1.0 / square.sqrt() } else { 0.0 };
                let rate = (velocities[other] - velocity).dot(offset) * inverse;
                let extension = square * inverse - half.rest_length * stretch;
                max_strain = max_strain.max(extension.abs() / half.rest_length);
                sum += offset * (inverse * young * half.stiffness * (extension + damping * rate));
            }
            *force += sum;
        }
        max_strain
    });
    max_strains.into_iter().fold(0.0, Real::max)
}

/// Accumulates `dt_fraction` times the dissipated power, half at each end, J; `dt_fraction` is the step times
/// the fraction that becomes heat, s.
pub(super) fn accumulate_damping_heat(
    graph: &SpringGraph,
    range: Range<usize>,
    damping: Real,
    stiffness: &Stiffness,
    particles: &mut Particles,
    dt_fraction: f64,
) {
    let positions = &particles.position[range.clone()];
    let velocities = &particles.velocity[range.clone()];
    let dissipated = parallel::map(range.len(), GRAIN, |i| {
        let mut sum = 0.0;
        for half in graph.of(i) {
            let spring = spring_state(i, half, positions, stiffness);
            let rate = (velocities[half.other as usize] - velocities[i]).dot(spring.direction);
            sum += 0.5 * f64::from(damping * spring.stiffness * rate * rate);
        }
        sum * dt_fraction
    });
    particles.heat_made_mut()[range].iter_mut().zip(dissipated).for_each(|(sum, heat)| *sum += heat);
}
