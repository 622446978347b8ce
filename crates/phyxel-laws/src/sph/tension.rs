//! Surface tension by pairwise cohesion: neighbours attract each other beyond a neutral distance and repel
//! below it.
//!
//! The force of a pair is `a (1 - q)^2 (q - q0)` along its axis, with `q = r/h`. The `q0` is that at which a
//! closest packing neither contracts nor expands, so that the pressure inside is that of the surface alone.
//! The force conserves momentum and angular momentum and has a potential. Particles at a surface lack
//! neighbours and have more energy than those inside: an energy per area. Pairwise forces for surface tension
//! go back to Tartakovsky and Meakin `[TM05]`; that they change sign, so that particles do not clump, to
//! Akinci et al. `[AAT13]`.

use super::sums::{horizontal_sums, pair_geometry, splat_row};
use super::{Kernel, NeighbourLists};
use crate::Real;
use crate::simd::{SimdF32x8, dispatch};
use std::f32::consts::{PI, SQRT_2};
use std::ops::Range;

dispatch! {
    /// Cohesion forces on particles, N.
    ///
    /// The fourth number of a point is ignored. `strengths` are those of [`Cohesion::strength`] for fluids
    /// and below 0 for solids, which attract fluids half as strongly as these attract each other, and do not
    /// attract solids.
    cohesion_forces = cohesion_forces_of [] [] (
        lists: &NeighbourLists, cohesion: &Cohesion, range: Range<usize>, strengths: &[Real], forces: &mut [[Real; 4]]
    )
}

/// Cohesion between neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cohesion {
    /// Distance over the support, `q0`, at which the force of a pair is 0.
    neutral_ratio: Real,
    /// Force over surface tension, m.
    scale: Real,
    /// m.
    support: Real,
    /// Particles per volume, 1/m3.
    number_density: Real,
}

/// Attraction of fluids by walls and solids over their cohesion. A half gives a contact angle of 90 degrees
/// (`cos = 2 ADHESION - 1`, after Young).
const ADHESION: Real = 0.5;

impl Cohesion {
    /// Cohesion of particles at a spacing (m), within the support of a kernel.
    ///
    /// Cutting a packing through a plane of normal `n` costs `1/4 N sum_j u_j |n.x_j|` per area and surface,
    /// with `N` particles per volume and the energy `u_j` of a pair. The mean over all directions is
    /// `1/8 N sum_j u_j r_j`; densely packed planes cost up to an eighth less.
    pub fn new(kernel: &Kernel, spacing: Real) -> Self {
        let number_density = SQRT_2 / spacing.powi(3);
        let plain = Self { neutral_ratio: 0.0, scale: 1.0, support: kernel.support, number_density };
        // `sum r f` is `q0` times the first sum minus the second.
        let (repulsion, attraction) =
            plain.sum_over_packing(spacing, |distance, l| [distance * l * l, distance * l * l * (1.0 - l)]);
        let neutral = Self { neutral_ratio: (attraction / repulsion) as Real, ..plain };
        let (cost, _) = neutral.sum_over_packing(spacing, |distance, _| [neutral.energy(distance) * distance, 0.0]);
        Self { scale: (8.0 / (f64::from(number_density) * cost)) as Real, ..neutral }
    }

    /// Two sums over the neighbours of a particle in a closest packing, of functions of the distance and of
    /// `l = 1 - r/h`.
    fn sum_over_packing(&self, spacing: Real, terms: impl Fn(Real, Real) -> [Real; 2]) -> (f64, f64) {
        let extent = (self.support / spacing * SQRT_2).ceil() as i32;
        let mut sums = (0.0, 0.0);
        for a in -extent..=extent {
            for b in -extent..=extent {
                for c in (-extent..=extent).filter(|c| (a + b + c) % 2 == 0) {
                    let distance = ((a * a + b * b + c * c) as Real).sqrt() * spacing / SQRT_2;
                    let [first, second] = terms(distance, (1.0 - distance / self.support).max(0.0));
                    sums = (sums.0 + f64::from(first), sums.1 + f64::from(second));
                }
            }
        }
        sums
    }

    /// Strength of [`cohesion_forces`] for a surface tension (N/m), N.
    pub fn strength(&self, surface_tension: Real) -> Real {
        self.scale * surface_tension
    }

    /// Energy that separates a pair of strength 1 from a distance (m), J/N.
    pub fn energy(&self, distance: Real) -> Real {
        // The integral of `l^2 (1 - l - q0)` from 0 to `l`.
        let l = (1.0 - distance / self.support).max(0.0);
        self.support * l.powi(3) * ((1.0 - self.neutral_ratio) / 3.0 - l / 4.0)
    }

    /// Force of a half-space at a distance (m) on a particle of strength 1, N:
    /// `N pi int_d^h f (r^2 - d^2) dr`, towards it.
    pub fn half_space_force(&self, distance: Real) -> Real {
        let t = (distance / self.support).clamp(0.0, 1.0);
        let l = 1.0 - t;
        let span = 1.0 - self.neutral_ratio;
        // `q^2 - t^2 = (1 - t^2) - 2 l + l^2`.
        let integral = |power: i32| l.powi(power) / power as Real;
        let full = 1.0 - t * t;
        let sum =
            span * full * integral(3) - (full + 2.0 * span) * integral(4) + (2.0 + span) * integral(5) - integral(6);
        ADHESION * self.number_density * PI * self.support.powi(3) * sum
    }
}

#[inline(always)]
fn cohesion_forces_of<L: SimdF32x8>(
    lists: &NeighbourLists,
    cohesion: &Cohesion,
    range: Range<usize>,
    strengths: &[Real],
    forces: &mut [[Real; 4]],
) {
    let span = L::splat(1.0 - cohesion.neutral_ratio);
    // Free lanes are at distance 0, and their force is 0.
    let least_distance = L::splat(1e-6 * cohesion.support);
    for (i, force) in range.zip(forces) {
        let own = splat_row::<L>(&lists.points[i]);
        let s_i = strengths[i];
        let mut sums = [L::zero(); 3];
        for block in lists.blocks(i) {
            let (x_ij, _, l) = pair_geometry::<L>(&lists.kernel, lists.points, &own, block);
            let s_j = L::load(&block.map(|j| strengths[j as usize]));
            let square = x_ij[0] * x_ij[0] + x_ij[1] * x_ij[1] + x_ij[2] * x_ij[2];
            let distance = square.sqrt().max(least_distance);
            let (s_i, zero) = (L::splat(s_i), L::zero());
            let fluids = (s_i.max(zero) * s_j.max(zero)).sqrt();
            // A strength below 0 is that of a solid.
            let fluid_and_solid = L::splat(ADHESION) * s_i.max(s_j).max(zero);
            let is_solid = (zero - s_i).max(zero - s_j);
            let strength = is_solid.select_gt(zero, fluid_and_solid, fluids);
            let force_over_distance = (strength * l * l * (span - l)).div(distance);
            for axis in 0..3 {
                sums[axis] = sums[axis] - force_over_distance * x_ij[axis];
            }
        }
        let [x, y, z] = horizontal_sums(sums);
        *force = [x, y, z, 0.0];
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{TestCloud, position};
    use super::*;
    use crate::simd::SimdLevel;
    use glam::Vec3;

    fn forces(lists: &NeighbourLists, cohesion: &Cohesion, strengths: &[Real]) -> Vec<Vec3> {
        let run = |level: SimdLevel| {
            let mut forces = vec![[0.0; 4]; strengths.len()];
            cohesion_forces(level, lists, cohesion, 0..strengths.len(), strengths, &mut forces);
            forces
        };
        let by_level: Vec<Vec<[Real; 4]>> = SimdLevel::available().into_iter().map(run).collect();
        assert!(by_level.iter().all(|forces| *forces == by_level[0]));
        by_level[0].iter().map(|[x, y, z, _]| Vec3::new(*x, *y, *z)).collect()
    }

    #[test]
    fn the_force_is_minus_the_gradient_of_the_energy_and_conserves_momenta() {
        let (count, kernel) = (200, Kernel::new(0.35));
        let cohesion = Cohesion::new(&kernel, 0.2);
        let cloud = TestCloud::random(count, 0.35);
        let strengths: Vec<Real> = (0..count).map(|i| [-1.0, 2.0, 3.0][i % 3]).collect();
        let on_particles = forces(&cloud.lists(kernel), &cohesion, &strengths);
        let size: Real = on_particles.iter().map(|force| force.length()).sum();
        let total: Vec3 = on_particles.iter().sum();
        let torque: Vec3 = (0..count).map(|i| position(&cloud.points, i).cross(on_particles[i])).sum();
        assert!(total.length() < 1e-5 * size && torque.length() < 1e-5 * size, "{total} {torque} of {size}");
        let between = |i: usize, j: usize| match (strengths[i], strengths[j]) {
            (a, b) if a < 0.0 && b < 0.0 => 0.0,
            (a, b) if a < 0.0 || b < 0.0 => 0.5 * a.max(b),
            (a, b) => (a * b).sqrt(),
        };
        for i in [3, 4, 50] {
            let energy = |x: Vec3| -> f64 {
                let others = (0..count).filter(|&j| j != i);
                others.map(|j| f64::from(between(i, j) * cohesion.energy(x.distance(position(&cloud.points, j))))).sum()
            };
            for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                let (x, step) = (position(&cloud.points, i), 1e-3);
                let derivative = (energy(x + step * axis) - energy(x - step * axis)) / f64::from(2.0 * step);
                let force = f64::from(on_particles[i].dot(axis));
                // The energy of separation has the opposite sign. Energies of 1 J with seven digits over 2 mm.
                assert!((force - derivative).abs() < 1e-3 * (1.0 + derivative.abs()), "{i}: {force} {derivative}");
            }
        }
    }

    #[test]
    fn a_packing_is_in_equilibrium_and_its_surfaces_have_the_surface_energy() {
        let spacing = 0.1f32;
        let kernel = Kernel::for_packing(spacing, 1.78);
        let cohesion = Cohesion::new(&kernel, spacing);
        let cloud = TestCloud::packing(5, spacing, kernel.support);
        let strength = cohesion.strength(0.07);
        let strong = forces(&cloud.lists(kernel), &cohesion, &vec![1.0e9; cloud.points.len()]);
        assert!(strong.iter().all(|force| force.is_finite()));
        let on_particles = forces(&cloud.lists(kernel), &cohesion, &vec![strength; cloud.points.len()]);
        assert!(on_particles[cloud.central()].length() < 1e-5 * strength, "{}", on_particles[cloud.central()]);
        // Stretching costs as much as compressing: the virial is 0.
        let total_energy = |factor: Real| -> f64 {
            let distance = |j: usize| factor * position(&cloud.points, j).length();
            (0..cloud.points.len())
                .filter(|&j| j != cloud.central())
                .map(|j| f64::from(cohesion.energy(distance(j))))
                .sum()
        };
        let (energy, slope) = (total_energy(1.0), (total_energy(1.001) - total_energy(0.999)) / 0.002);
        assert!(slope.abs() < 1e-2 * energy, "{slope} of {energy}");
        let middle = position(&cloud.points, cloud.central());
        let number_density = 2.0f32.sqrt() / spacing.powi(3);
        let cost = |normal: Vec3| {
            let others = (0..cloud.points.len()).filter(|&j| j != cloud.central());
            let cut = others.map(|j| {
                let offset = position(&cloud.points, j) - middle;
                strength * cohesion.energy(offset.length()) * offset.dot(normal.normalize()).abs()
            });
            0.25 * number_density * cut.sum::<Real>() / 0.07
        };
        // Directions along a Fibonacci spiral.
        let count = 400;
        let costs: Vec<Real> = (0..count)
            .map(|k| {
                let (z, angle) = (1.0 - (2 * k + 1) as Real / count as Real, 2.399_963 * k as Real);
                let side = (1.0 - z * z).sqrt();
                cost(Vec3::new(side * angle.cos(), side * angle.sin(), z))
            })
            .collect();
        // They are uniform to 1/400.
        assert!((costs.iter().sum::<Real>() / count as Real - 1.0).abs() < 5e-3);
        assert!(costs.iter().all(|cost| (0.8..1.1).contains(cost)), "{costs:?}");
    }

    #[test]
    fn a_wall_attracts_half_as_strongly_as_fluid_would() {
        let kernel = Kernel::new(0.2);
        let cohesion = Cohesion::new(&kernel, 0.11);
        for distance in [0.0f32, 0.03, 0.08, 0.15, 0.19] {
            // Shells of the half-space.
            let (steps, mut sum) = (4000, 0.0f64);
            for k in 0..steps {
                let r = (k as Real + 0.5) * 0.2 / steps as Real;
                if r > distance {
                    let (l, span) = (1.0 - r / 0.2, 1.0 - cohesion.neutral_ratio);
                    sum += f64::from(l * l * (span - l) * (r * r - distance * distance) * 0.2 / steps as Real);
                }
            }
            let expected = 0.5 * std::f64::consts::PI * 2.0f64.sqrt() / 0.11f64.powi(3) * sum;
            let found = f64::from(cohesion.half_space_force(distance));
            // Sums with seven digits that nearly cancel.
            assert!((found - expected).abs() < 1e-3, "{distance}: {found} {expected}");
        }
    }
}
