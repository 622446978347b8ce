//! Walls as half-spaces: their volume fraction, viscous drag and adhesion.

use super::{Cohesion, Kernel};
use crate::Real;
use glam::Vec3;

/// Contribution of walls to the volume fraction of a particle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BoundaryFraction {
    /// Volume fraction of walls, without unit.
    pub fraction: Real,
    /// Its gradient, 1/m.
    pub gradient: Vec3,
    /// Reduction of the rate of `C` by moving walls, 1/s: gradients times wall velocities.
    pub rate: Real,
}

/// Fraction of a kernel of integral 1 behind a plane, and its derivative with respect to the distance times
/// the support, for a distance over the support.
///
/// `2 pi int_d^h W r (r - d) dr` in closed form; for a position behind the plane by symmetry.
fn half_space_fraction(ratio: Real) -> [Real; 2] {
    let t = ratio.abs().min(1.0);
    let s = 1.0 - t;
    let fifth = s * s * s * s * s;
    let first = fifth * (1.0 + s * (-1.5 + s * (4.0 / 7.0)));
    let second = fifth * (1.0 + s * (-7.0 / 3.0 + s * (13.0 / 7.0 - 0.5 * s)));
    let fraction = 21.0 * (second - t * first);
    [if ratio < 0.0 { 1.0 - fraction } else { fraction }, -21.0 * first]
}

impl BoundaryFraction {
    /// Adds the half-space behind a plane at a distance (m), with its normal out of the wall and the velocity
    /// of the wall there (m/s). `layer` is the distance at which particles rest along walls, m.
    ///
    /// The material of a wall has a pressure too, that of the particle in front of it, so its force is twice
    /// that of a filled volume without pressure. With the fraction `l` behind the plane, `l^2/l(layer)`
    /// equals the fraction of the half-space where particles rest, has twice its gradient there, and is a
    /// potential, so that walls neither add nor remove energy.
    #[must_use]
    pub fn with(self, kernel: &Kernel, layer: Real, distance: Real, normal: Vec3, velocity: Vec3) -> Self {
        let [fraction, derivative] = half_space_fraction(distance / kernel.support);
        let scale = kernel.integral() * fraction / half_space_fraction(layer / kernel.support)[0];
        let gradient = normal * (2.0 * scale * derivative / kernel.support);
        Self {
            fraction: self.fraction + scale * fraction,
            gradient: self.gradient + gradient,
            rate: self.rate + gradient.dot(velocity),
        }
    }
}

/// Tangential and attractive action of walls on a fluid particle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BoundaryShear {
    /// Attraction by walls, over the strength of the cohesion between particles.
    pub adhesion: Vec3,
    /// Drag coefficient over viscosity and volume, 1/m2.
    pub drag: Real,
    /// The same times the velocities of walls, 1/(m s).
    pub drag_velocity: Vec3,
}

impl BoundaryShear {
    /// Adds the half-space behind a plane, as [`BoundaryFraction::with`] does. There is no slip at it unless
    /// it `slips`. The drag coefficient grows no further below the distance `closest` (m).
    ///
    /// Velocities are extrapolated linearly into the wall and equal its velocity at its surface:
    /// `v_i - (v_i - v_wall) z/d` at the distance `z` from a particle at the distance `d`. The viscous force
    /// of that half-space is `-2 mu V (v_i - v_wall) P(d)/d`, where `P` is the integral of the kernel over
    /// the plane.
    #[must_use]
    pub fn with(
        self,
        kernel: &Kernel,
        cohesion: &Cohesion,
        closest: Real,
        (distance, normal): (Real, Vec3),
        velocity: Vec3,
        slips: bool,
    ) -> Self {
        let plane = -half_space_fraction(distance / kernel.support)[1] / kernel.support;
        let drag = if slips { 0.0 } else { 2.0 * plane / distance.max(closest) };
        Self {
            adhesion: self.adhesion - normal * cohesion.half_space_force(distance),
            drag: self.drag + drag,
            drag_velocity: self.drag_velocity + velocity * drag,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::PI;

    #[test]
    fn the_fraction_of_a_half_space_is_the_integral_of_the_kernel_behind_its_plane() {
        let kernel = Kernel::new(0.2);
        for distance in [-0.21, -0.1, 0.0, 0.03, 0.1, 0.19, 0.25] {
            let steps = 20000;
            // Integral over slices parallel to the plane, by rings.
            let width = 0.4 / 400.0;
            let mut sum = 0.0;
            for k in 0..400 {
                let z = (k as Real + 0.5) * width - 0.2;
                if z > distance {
                    let rings = steps / 100;
                    let step = 0.2 / rings as Real;
                    let ring = |m: i32| {
                        let r = (m as Real + 0.5) * step;
                        kernel.weight((r * r + z * z).sqrt()) * 2.0 * PI * r * step
                    };
                    sum += (0..rings).map(ring).sum::<Real>() * width;
                }
            }
            let [fraction, slope] = half_space_fraction(distance / kernel.support);
            // The plane cuts a slice: an error of at most half of it, 0.0005 m times 0.5/0.07 m.
            assert!((fraction - sum).abs() < 4e-3, "{distance}: {fraction} for {sum}");
            let at = |d: Real| half_space_fraction(d / kernel.support)[0];
            let derivative = (at(distance + 1e-3) - at(distance - 1e-3)) / 2e-3;
            assert!((slope / kernel.support - derivative).abs() < 0.05, "{distance}: {slope} for {derivative}");
        }
    }

    #[test]
    fn at_the_first_layer_a_wall_has_the_fraction_of_its_half_space_and_twice_its_gradient() {
        let kernel = Kernel::new(0.2);
        let wall = |distance: Real| BoundaryFraction::default().with(&kernel, 0.05, distance, Vec3::Y, 2.0 * Vec3::Y);
        let [fraction, slope] = half_space_fraction(0.25);
        assert!((wall(0.05).fraction - fraction).abs() < 1e-6);
        assert!((wall(0.05).gradient.y - 2.0 * slope / 0.2).abs() < 1e-4);
        for distance in [-0.1, 0.0, 0.03, 0.1, 0.19] {
            let derivative = (wall(distance + 1e-3).fraction - wall(distance - 1e-3).fraction) / 2e-3;
            // The second derivative is below 2 (slope^2 + l slope')/l0, 2000/m2, and changes by as much in 1
            // cm.
            let error = wall(distance).gradient.y - derivative;
            assert!(error.abs() < 0.05 * (1.0 + derivative.abs()), "{distance}: {derivative}");
            assert!((wall(distance).rate - 2.0 * wall(distance).gradient.y).abs() < 1e-5);
        }
        assert_eq!(wall(0.21), BoundaryFraction::default().with(&kernel, 0.05, 9.0, Vec3::Y, Vec3::ZERO));
    }

    #[test]
    fn the_drag_of_a_wall_is_that_of_a_shear_flow() {
        let kernel = Kernel::new(0.2);
        let cohesion = Cohesion::new(&kernel, 0.11);
        let shear = |distance: Real, slips: bool| {
            BoundaryShear::default().with(&kernel, &cohesion, 1e-5, (distance, Vec3::Y), Vec3::X, slips)
        };
        // In a shear flow, layers move in proportion to their distance: the sum of their drag is the viscosity.
        let (count, mut sum) = (1000, 0.0);
        for k in 0..count {
            let distance = (k as Real + 0.5) * 0.2 / count as Real;
            sum += shear(distance, false).drag * distance * 0.2 / count as Real;
        }
        assert!((sum - 1.0).abs() < 1e-4, "{sum}");
        assert_eq!(shear(0.05, false).drag_velocity, Vec3::X * shear(0.05, false).drag);
        assert_eq!(shear(0.05, false).adhesion, Vec3::Y * -cohesion.half_space_force(0.05));
        assert_eq!(
            (shear(0.05, true).drag, shear(0.2, false)),
            (0.0, BoundaryShear { adhesion: Vec3::NEG_Y * 0.0, ..BoundaryShear::default() })
        );
    }
}
