//! Values at particles, spread to the surface.

use crate::Real;
use crate::frame::FrameSkin;
use crate::grid::Neighbourhood;
use crate::parallel;
use glam::Vec3;
use std::ops::{Add, Mul};

/// Particles lend their values to points this many spacings away.
const REACH: Real = 2.0;
/// Points per task.
const GRAIN: usize = 512;

/// The particles of one body.
pub(crate) struct Matter<'a> {
    /// m.
    pub positions: &'a [Vec3],
    /// m/s.
    pub velocities: &'a [Vec3],
    /// In the scene's scale.
    pub temperatures: &'a [Real],
    /// Without unit.
    pub strains: &'a [Real],
    /// Distance of the particles at rest, m.
    pub spacing: Real,
}

impl Matter<'_> {
    /// Fills in temperatures and strains of a surface.
    pub fn colour(&self, skin: FrameSkin) -> FrameSkin {
        let [temperatures, strains] = [self.temperatures, self.strains].map(|values| {
            let (first, rest) = values.split_first()?;
            rest.iter().all(|value| value == first).then(|| vec![*first; skin.positions.len()])
        });
        if let (Some(temperatures), Some(strains)) = (&temperatures, &strains) {
            return FrameSkin { temperatures: temperatures.clone(), strains: strains.clone(), ..skin };
        }
        let both: Vec<(Real, Real)> = self.spread(&skin.positions, |weights| {
            let spread = |values: &[Real]| mean(weights, |i| values[i as usize]);
            (spread(self.temperatures), spread(self.strains))
        });
        let (spread_temperatures, spread_strains) = both.into_iter().unzip();
        FrameSkin {
            temperatures: temperatures.unwrap_or(spread_temperatures),
            strains: strains.unwrap_or(spread_strains),
            ..skin
        }
    }

    /// Velocities of the matter at points, m/s.
    pub fn velocities_at(&self, points: &[Vec3]) -> Vec<Vec3> {
        self.spread(points, |weights| mean(weights, |i| self.velocities[i as usize]))
    }

    fn spread<T: Send>(&self, points: &[Vec3], value: impl Fn(&[(u32, Real)]) -> T + Sync) -> Vec<T> {
        let reach = REACH * self.spacing;
        let near = Neighbourhood::new(self.positions, reach);
        parallel::map(points.len(), GRAIN, |k| value(&weights(&near, points[k], reach)))
    }
}

/// Particles around a point with weights that add up to 1: those within reach, or else the nearest one.
fn weights(near: &Neighbourhood, point: Vec3, reach: Real) -> Vec<(u32, Real)> {
    let mut weights = Vec::new();
    near.visit(point, |particle, squared| {
        let closeness = 1.0 - squared / (reach * reach);
        if closeness > 0.0 {
            weights.push((particle, closeness * closeness * closeness));
        }
    });
    let total: Real = weights.iter().map(|(_, weight)| weight).sum();
    if total > 0.0 {
        weights.iter_mut().for_each(|(_, weight)| *weight /= total);
        return weights;
    }
    near.nearest(point).map(|particle| (particle, 1.0)).into_iter().collect()
}

/// The mean of values with weights.
fn mean<T>(weights: &[(u32, Real)], value: impl Fn(u32) -> T) -> T
where
    T: Default + Add<Output = T> + Mul<Real, Output = T>,
{
    weights.iter().fold(T::default(), |sum, &(particle, weight)| sum + value(particle) * weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_values_stay_and_linear_ones_are_kept_inside_a_lattice() {
        let positions: Vec<Vec3> =
            (0..1000).map(|i| Vec3::new((i % 10) as Real, (i / 10 % 10) as Real, (i / 100) as Real)).collect();
        let near = Neighbourhood::new(&positions, 2.0);
        for point in [Vec3::splat(4.5), Vec3::new(4.0, 5.0, 4.0), Vec3::new(4.5, 4.0, 5.0)] {
            let weights = weights(&near, point, 2.0);
            assert!((mean(&weights, |_| 3.0) - 3.0).abs() < 1e-5);
            let found: Vec3 = mean(&weights, |i| positions[i as usize]);
            assert!(found.distance(point) < 1e-4, "{found}");
        }
    }

    #[test]
    fn a_point_out_of_reach_takes_the_nearest_value() {
        let positions = [Vec3::ZERO, Vec3::X];
        assert_eq!(weights(&Neighbourhood::new(&positions, 0.1), Vec3::new(7.0, 1.0, 0.0), 0.1), [(1, 1.0)]);
        assert!(weights(&Neighbourhood::new(&[], 0.1), Vec3::ZERO, 0.1).is_empty());
    }
}
