//! Surface tension: neighbours attract each other beyond their usual distance and push below it.
//!
//! The force of a pair is `a (1 - q)^2 (q - q0)` along the way, with `q = r/h`. With the `q0` that is taken, a closest packing is neither
//! drawn together nor apart, so that pressure inside is that of the surface alone. The force keeps momentum and angular momentum
//! and has a potential, so that what is at a surface lacks neighbours and has more energy than what is
//! inside: an amount per area. Pairwise forces for this go back to Tartakovsky and Meakin `[TM05]`; that they change sign, so that
//! particles do not clump, to Akinci et al. `[AAT13]`.

use super::{Crowd, Kernel, visits};
use crate::Real;
use crate::lanes::{Lanes, at_every_level};
use std::f32::consts::{PI, SQRT_2};
use std::ops::Range;

at_every_level! {
    /// Force of neighbours on particles, N.
    ///
    /// The fourth number of a point does not count. `strengths` are those of fluids as [`Attraction::strength`] has them, below 0 for
    /// solids, which draw fluids half as strongly as these draw each other, and solids not at all.
    attract = attract_all [] [] (
        crowd: &Crowd, attraction: &Attraction, range: Range<usize>, strengths: &[Real], pulls: &mut [[Real; 4]]
    )
}

/// How neighbours attract each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attraction {
    /// Distance over the support at which a pair neither pulls nor pushes.
    middle: Real,
    /// Force over surface tension, m.
    scale: Real,
    /// m.
    support: Real,
    /// Particles per volume, 1/m3.
    crowding: Real,
}

/// How strongly walls and solids draw fluids, as a part of how these draw each other: with a half, surfaces meet walls at a right
/// angle (`cos = 2 part - 1`, after Young).
const ADHESION: Real = 0.5;

impl Attraction {
    /// For particles at a distance (m), within the support of a kernel.
    ///
    /// Cutting a packing through a plane of normal `n` costs `1/4 N sum_j u_j |n.x_j|` per area and surface, `N` particles per
    /// volume. The mean over all directions is `1/8 N sum_j u_j r_j`; planes through many particles are up to an eighth less.
    pub fn new(kernel: &Kernel, distance: Real) -> Self {
        let crowding = SQRT_2 / distance.powi(3);
        let plain = Self { middle: 0.0, scale: 1.0, support: kernel.support, crowding };
        // `sum r f` is the middle times the first less the second.
        let (firm, drawn) =
            plain.over_packing(distance, |apart, left| [apart * left * left, apart * left * left * (1.0 - left)]);
        let settled = Self { middle: (drawn / firm) as Real, ..plain };
        let (costs, _) = settled.over_packing(distance, |apart, _| [settled.energy(apart) * apart, 0.0]);
        Self { scale: (8.0 / (f64::from(crowding) * costs)) as Real, ..settled }
    }

    /// Two sums over the neighbours of a particle in a closest packing, of distance and what is left of the support.
    fn over_packing(&self, distance: Real, part: impl Fn(Real, Real) -> [Real; 2]) -> (f64, f64) {
        let reach = (self.support / distance * SQRT_2).ceil() as i32;
        let mut sums = (0.0, 0.0);
        for a in -reach..=reach {
            for b in -reach..=reach {
                for c in (-reach..=reach).filter(|c| (a + b + c) % 2 == 0) {
                    let apart = ((a * a + b * b + c * c) as Real).sqrt() * distance / SQRT_2;
                    let [first, second] = part(apart, (1.0 - apart / self.support).max(0.0));
                    sums = (sums.0 + f64::from(first), sums.1 + f64::from(second));
                }
            }
        }
        sums
    }

    /// What [`attract`] takes for a surface tension (N/m), N.
    pub fn strength(&self, surface_tension: Real) -> Real {
        self.scale * surface_tension
    }

    /// Energy it takes to part a pair of strength 1 at a distance (m), J/N.
    pub fn energy(&self, apart: Real) -> Real {
        // The integral of `l^2 (1 - l - q0)` from 0 to what is left.
        let left = (1.0 - apart / self.support).max(0.0);
        self.support * left.powi(3) * ((1.0 - self.middle) / 3.0 - left / 4.0)
    }

    /// Force of a half-space of matter at a distance (m) on a particle of strength 1, N: `N pi int_d^h f (r^2 - d^2) dr`, towards it.
    pub fn of_wall(&self, distance: Real) -> Real {
        let t = (distance / self.support).clamp(0.0, 1.0);
        let left = 1.0 - t;
        let span = 1.0 - self.middle;
        // `q^2 - t^2 = (1 - t^2) - 2 l + l^2` in what is left `l`.
        let part = |power: i32| left.powi(power) / power as Real;
        let full = 1.0 - t * t;
        let sum = span * full * part(3) - (full + 2.0 * span) * part(4) + (2.0 + span) * part(5) - part(6);
        ADHESION * self.crowding * PI * self.support.powi(3) * sum
    }
}

#[inline(always)]
fn attract_all<L: Lanes>(
    crowd: &Crowd,
    attraction: &Attraction,
    range: Range<usize>,
    strengths: &[Real],
    pulls: &mut [[Real; 4]],
) {
    let span = L::splat(1.0 - attraction.middle);
    // Those that fill up are at no distance, and pull nowhere.
    let closest = L::splat(1e-6 * attraction.support);
    for (i, pull) in range.zip(pulls) {
        let own = visits::all::<L>(&crowd.points[i]);
        let mine = strengths[i];
        let mut sums = [L::zero(); 3];
        for near in crowd.around(i) {
            let (way, _, left) = visits::ways::<L>(&crowd.kernel, crowd.points, &own, near);
            let other = L::load(&near.map(|j| strengths[j as usize]));
            let square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
            let apart = square.sqrt().max(closest);
            let (mine, none) = (L::splat(mine), L::zero());
            let both = (mine.max(none) * other.max(none)).sqrt();
            // One that is below 0: a solid.
            let one = L::splat(ADHESION) * mine.max(other).max(none);
            let solid = (none - mine).max(none - other);
            let strength = solid.where_greater(none, one, both);
            let pulling = (strength * left * left * (span - left)).div(apart);
            for axis in 0..3 {
                sums[axis] = sums[axis] - pulling * way[axis];
            }
        }
        let [x, y, z] = visits::sums(sums);
        *pull = [x, y, z, 0.0];
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Cloud, place};
    use super::*;
    use crate::lanes::Level;
    use glam::Vec3;

    fn pulls(crowd: &Crowd, attraction: &Attraction, strengths: &[Real]) -> Vec<Vec3> {
        let run = |level: Level| {
            let mut pulls = vec![[0.0; 4]; strengths.len()];
            attract(level, crowd, attraction, 0..strengths.len(), strengths, &mut pulls);
            pulls
        };
        let found: Vec<Vec<[Real; 4]>> = Level::available().into_iter().map(run).collect();
        assert!(found.iter().all(|pulls| *pulls == found[0]));
        found[0].iter().map(|[x, y, z, _]| Vec3::new(*x, *y, *z)).collect()
    }

    #[test]
    fn the_force_is_minus_the_derivative_of_the_energy_and_keeps_momenta() {
        let (count, kernel) = (200, Kernel::new(0.35));
        let attraction = Attraction::new(&kernel, 0.2);
        let cloud = Cloud::new(count, 0.35);
        let strengths: Vec<Real> = (0..count).map(|i| [-1.0, 2.0, 3.0][i % 3]).collect();
        let found = pulls(&cloud.crowd(kernel), &attraction, &strengths);
        let size: Real = found.iter().map(|force| force.length()).sum();
        let total: Vec3 = found.iter().sum();
        let torque: Vec3 = (0..count).map(|i| place(&cloud.points, i).cross(found[i])).sum();
        assert!(total.length() < 1e-5 * size && torque.length() < 1e-5 * size, "{total} {torque} of {size}");
        let between = |i: usize, j: usize| match (strengths[i], strengths[j]) {
            (a, b) if a < 0.0 && b < 0.0 => 0.0,
            (a, b) if a < 0.0 || b < 0.0 => 0.5 * a.max(b),
            (a, b) => (a * b).sqrt(),
        };
        for i in [3, 4, 50] {
            let energy = |x: Vec3| -> f64 {
                let others = (0..count).filter(|&j| j != i);
                others.map(|j| f64::from(between(i, j) * attraction.energy(x.distance(place(&cloud.points, j))))).sum()
            };
            for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                let (x, step) = (place(&cloud.points, i), 1e-3);
                let rise = (energy(x + step * axis) - energy(x - step * axis)) / f64::from(2.0 * step);
                let force = f64::from(found[i].dot(axis));
                // The energy of parting grows against the force. Energies of 1 J with seven digits over 2 mm.
                assert!((force - rise).abs() < 1e-3 * (1.0 + rise.abs()), "{i}: {force} {rise}");
            }
        }
    }

    #[test]
    fn a_packing_is_at_rest_and_its_surfaces_cost_what_they_should() {
        let distance = 0.1f32;
        let kernel = Kernel::for_packing(distance, 1.78);
        let attraction = Attraction::new(&kernel, distance);
        let cloud = Cloud::packing(5, distance, kernel.support);
        let strength = attraction.strength(0.07);
        let strong = pulls(&cloud.crowd(kernel), &attraction, &vec![1.0e9; cloud.points.len()]);
        assert!(strong.iter().all(|pull| pull.is_finite()));
        let found = pulls(&cloud.crowd(kernel), &attraction, &vec![strength; cloud.points.len()]);
        assert!(found[cloud.middle()].length() < 1e-5 * strength, "{}", found[cloud.middle()]);
        // Stretched by as much as pressed, it costs as much: the sum of forces times ways is none.
        let all = |factor: Real| -> f64 {
            let apart = |j: usize| factor * place(&cloud.points, j).length();
            (0..cloud.points.len())
                .filter(|&j| j != cloud.middle())
                .map(|j| f64::from(attraction.energy(apart(j))))
                .sum()
        };
        let (rest, slope) = (all(1.0), (all(1.001) - all(0.999)) / 0.002);
        assert!(slope.abs() < 1e-2 * rest, "{slope} of {rest}");
        let middle = place(&cloud.points, cloud.middle());
        let number = 2.0f32.sqrt() / distance.powi(3);
        let cost = |normal: Vec3| {
            let others = (0..cloud.points.len()).filter(|&j| j != cloud.middle());
            let cut = others.map(|j| {
                let way = place(&cloud.points, j) - middle;
                strength * attraction.energy(way.length()) * way.dot(normal.normalize()).abs()
            });
            0.25 * number * cut.sum::<Real>() / 0.07
        };
        // Directions all over, along a spiral.
        let count = 400;
        let costs: Vec<Real> = (0..count)
            .map(|k| {
                let (z, turn) = (1.0 - (2 * k + 1) as Real / count as Real, 2.399_963 * k as Real);
                let side = (1.0 - z * z).sqrt();
                cost(Vec3::new(side * turn.cos(), side * turn.sin(), z))
            })
            .collect();
        // They are even to 1/400.
        assert!((costs.iter().sum::<Real>() / count as Real - 1.0).abs() < 5e-3);
        assert!(costs.iter().all(|cost| (0.8..1.1).contains(cost)), "{costs:?}");
    }

    #[test]
    fn a_wall_pulls_half_as_hard_as_fluid_would() {
        let kernel = Kernel::new(0.2);
        let attraction = Attraction::new(&kernel, 0.11);
        for distance in [0.0f32, 0.03, 0.08, 0.15, 0.19] {
            // Shells of the half-space.
            let (steps, mut sum) = (4000, 0.0f64);
            for k in 0..steps {
                let r = (k as Real + 0.5) * 0.2 / steps as Real;
                if r > distance {
                    let (l, span) = (1.0 - r / 0.2, 1.0 - attraction.middle);
                    sum += f64::from(l * l * (span - l) * (r * r - distance * distance) * 0.2 / steps as Real);
                }
            }
            let expected = 0.5 * std::f64::consts::PI * 2.0f64.sqrt() / 0.11f64.powi(3) * sum;
            let found = f64::from(attraction.of_wall(distance));
            // Seven digits of sums that nearly cancel.
            assert!((found - expected).abs() < 1e-3, "{distance}: {found} {expected}");
        }
    }
}
