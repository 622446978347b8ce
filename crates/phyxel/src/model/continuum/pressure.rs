//! Pressure of a flowing body: a linear equation of state on SPH densities.

use super::GRAIN;
use super::derived::DerivedContinuum;
use crate::Real;
use crate::material::Material;
use crate::neighbours::RadiusSearch;
use crate::parallel;
use crate::store::Particles;
use glam::Vec3;
use phyxel_laws::kernel::{poly6, spiky_derivative};

/// Equation of state `p = K (rho/rho_0 - 1)`, where the density exceeds that at rest.
#[derive(Clone, Debug)]
pub(super) struct SphPressure {
    /// Support radius of the kernel, m.
    support: Real,
    /// Rest density over the kernel density inside the body at rest.
    density_scale: Real,
    /// Rest density, kg/m3.
    rest_density: Real,
    /// Bulk modulus of the melt, Pa.
    bulk_modulus: Real,
    /// Square of the largest angular frequency it excites, 1/s2.
    pub omega_squared: f64,
}

impl SphPressure {
    /// Calibrates the kernel density to a rest shape.
    ///
    /// Near the surface the kernel is truncated and its density too low. The third quartile counts as rest
    /// density, so that a small body has no pressure at rest.
    pub fn new(rest: &[Vec3], supports: &[Real], masses: &[Real], material: &Material) -> Self {
        let support = supports.iter().sum::<Real>() / supports.len().max(1) as Real;
        let mut densities = kernel_densities(&RadiusSearch::new(rest, support), rest, masses, support);
        densities.sort_unstable_by(Real::total_cmp);
        let inside = densities.get(densities.len() * 3 / 4).copied().unwrap_or(material.density);
        let bulk_modulus = material.melt_bulk_modulus(material.poisson_ratio);
        let sound_speed = f64::from(bulk_modulus / material.density).sqrt();
        // Neighbours in antiphase are the shortest wave, four to a support radius.
        let omega_squared = (4.0 * sound_speed / f64::from(support)).powi(2);
        let density_scale = material.density / inside;
        Self { support, density_scale, rest_density: material.density, bulk_modulus, omega_squared }
    }
}

/// SPH densities, kg/m3.
fn kernel_densities(search: &RadiusSearch, points: &[Vec3], masses: &[Real], support: Real) -> Vec<Real> {
    parallel::map(points.len(), GRAIN, |i| {
        let mut sum = 0.0;
        search.visit(points[i], |j, square| sum += masses[j as usize] * poly6(square, support));
        sum
    })
}

impl DerivedContinuum {
    /// Adds the pressure forces `-m_i m_j (p_i/rho_i^2 + p_j/rho_j^2) grad W`. Pressure is never negative:
    /// surfaces are free.
    pub(super) fn add_pressure_forces(&self, particles: &mut Particles) {
        let Some(pressure) = &self.pressure else { return };
        let points = &particles.position[self.range.clone()];
        let masses = &particles.mass[self.range.clone()];
        let search = RadiusSearch::new(points, pressure.support);
        let densities = kernel_densities(&search, points, masses, pressure.support);
        let over_density_squared = |i: usize| {
            let density = densities[i] * pressure.density_scale;
            let excess = (density / pressure.rest_density - 1.0).max(0.0);
            pressure.bulk_modulus * excess / (density * density)
        };
        let pressures = parallel::map(points.len(), GRAIN, over_density_squared);
        let forces = parallel::map(points.len(), GRAIN, |i| {
            let mut sum = Vec3::ZERO;
            search.visit(points[i], |j, square| {
                let j = j as usize;
                let strength = pressures[i] + pressures[j];
                if j != i && strength > 0.0 && square > 0.0 {
                    let distance = square.sqrt();
                    let slope = spiky_derivative(distance, pressure.support);
                    sum -= (points[i] - points[j]) * (masses[i] * masses[j] * strength * slope / distance);
                }
            });
            sum
        });
        particles.force[self.range.clone()].iter_mut().zip(forces).for_each(|(sum, force)| *sum += force);
    }
}
