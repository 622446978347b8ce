//! Interpolation of particle attributes at surface points, by normalised kernel weights (Shepard 1968).

use crate::Real;
use crate::frame::FrameSkin;
use crate::neighbours::RadiusSearch;
use crate::parallel;
use glam::Vec3;
use std::ops::{Add, Mul};

/// Support radius of the kernel, in spacings.
const SUPPORT_RADIUS: Real = 2.0;
/// Points per task.
const GRAIN: usize = 512;

/// Particles of a body with the attributes of a surface.
pub(crate) struct PointSamples<'a> {
    /// m.
    pub positions: &'a [Vec3],
    /// m/s.
    pub velocities: &'a [Vec3],
    /// In the scene's scale.
    pub temperatures: &'a [Real],
    /// Without unit.
    pub strains: &'a [Real],
    /// Particle spacing at rest, m.
    pub spacing: Real,
}

impl PointSamples<'_> {
    /// Adds interpolated temperatures and strains to a surface.
    pub fn add_attributes(&self, skin: FrameSkin) -> FrameSkin {
        // Uniform values need no interpolation.
        let [temperatures, strains] = [self.temperatures, self.strains].map(|values| {
            let (first, rest) = values.split_first()?;
            rest.iter().all(|value| value == first).then(|| vec![*first; skin.positions.len()])
        });
        if let (Some(temperatures), Some(strains)) = (&temperatures, &strains) {
            return FrameSkin { temperatures: temperatures.clone(), strains: strains.clone(), ..skin };
        }
        let interpolated: Vec<(Real, Real)> = self.interpolate(&skin.positions, |weights| {
            let mean = |values: &[Real]| weighted_sum(weights, |i| values[i as usize]);
            (mean(self.temperatures), mean(self.strains))
        });
        let (varying_temperatures, varying_strains) = interpolated.into_iter().unzip();
        FrameSkin {
            temperatures: temperatures.unwrap_or(varying_temperatures),
            strains: strains.unwrap_or(varying_strains),
            ..skin
        }
    }

    /// Interpolated velocities at points, m/s.
    pub fn velocities_at(&self, points: &[Vec3]) -> Vec<Vec3> {
        self.interpolate(points, |weights| weighted_sum(weights, |i| self.velocities[i as usize]))
    }

    /// Evaluates `value` with the kernel weights at each point.
    fn interpolate<T: Send>(&self, points: &[Vec3], value: impl Fn(&[(u32, Real)]) -> T + Sync) -> Vec<T> {
        let radius = SUPPORT_RADIUS * self.spacing;
        let search = RadiusSearch::new(self.positions, radius);
        parallel::map(points.len(), GRAIN, |k| value(&kernel_weights(&search, points[k], radius)))
    }
}

/// Particles around a point with normalised weights: those within the radius, or else the nearest one.
fn kernel_weights(search: &RadiusSearch, point: Vec3, radius: Real) -> Vec<(u32, Real)> {
    let mut weights = Vec::new();
    search.visit(point, |particle, squared| {
        // Poly6 kernel.
        let w = 1.0 - squared / (radius * radius);
        if w > 0.0 {
            weights.push((particle, w * w * w));
        }
    });
    let total: Real = weights.iter().map(|(_, weight)| weight).sum();
    if total > 0.0 {
        weights.iter_mut().for_each(|(_, weight)| *weight /= total);
        return weights;
    }
    search.nearest(point).map(|particle| (particle, 1.0)).into_iter().collect()
}

/// Weighted sum of values.
fn weighted_sum<T>(weights: &[(u32, Real)], value: impl Fn(u32) -> T) -> T
where
    T: Default + Add<Output = T> + Mul<Real, Output = T>,
{
    weights.iter().fold(T::default(), |sum, &(particle, weight)| sum + value(particle) * weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_and_linear_fields_are_reproduced_inside_a_lattice() {
        let positions: Vec<Vec3> =
            (0..1000).map(|i| Vec3::new((i % 10) as Real, (i / 10 % 10) as Real, (i / 100) as Real)).collect();
        let search = RadiusSearch::new(&positions, 2.0);
        for point in [Vec3::splat(4.5), Vec3::new(4.0, 5.0, 4.0), Vec3::new(4.5, 4.0, 5.0)] {
            let weights = kernel_weights(&search, point, 2.0);
            assert!((weighted_sum(&weights, |_| 3.0) - 3.0).abs() < 1e-5);
            let found: Vec3 = weighted_sum(&weights, |i| positions[i as usize]);
            assert!(found.distance(point) < 1e-4, "{found}");
        }
    }

    #[test]
    fn a_point_without_particles_in_range_takes_the_nearest_value() {
        let positions = [Vec3::ZERO, Vec3::X];
        assert_eq!(kernel_weights(&RadiusSearch::new(&positions, 0.1), Vec3::new(7.0, 1.0, 0.0), 0.1), [(1, 1.0)]);
        assert!(kernel_weights(&RadiusSearch::new(&[], 0.1), Vec3::ZERO, 0.1).is_empty());
    }
}
