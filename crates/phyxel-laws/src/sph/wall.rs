//! Walls: what lies behind a plane fills its part of a neighbourhood.

use super::{Attraction, Kernel};
use crate::Real;
use glam::Vec3;

/// What the matter of walls adds to a place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wall {
    /// Part of the neighbourhood behind walls, without unit: of `C`.
    pub filled: Real,
    /// Its gradient, 1/m.
    pub slope: Vec3,
    /// What moving walls take from the rate of `C`, 1/s: slopes times their velocities.
    pub carried: Real,
}

/// `[part behind a plane, its derivative by the distance times the support]` for a distance over the support.
///
/// `2 pi int_d^h W r (r - d) dr` in closed form; for a place behind the plane by symmetry.
fn behind(ratio: Real) -> [Real; 2] {
    let t = ratio.abs().min(1.0);
    let s = 1.0 - t;
    let fifth = s * s * s * s * s;
    let first = fifth * (1.0 + s * (-1.5 + s * (4.0 / 7.0)));
    let second = fifth * (1.0 + s * (-7.0 / 3.0 + s * (13.0 / 7.0 - 0.5 * s)));
    let part = 21.0 * (second - t * first);
    [if ratio < 0.0 { 1.0 - part } else { part }, -21.0 * first]
}

impl Wall {
    /// Adds the half-space below a plane at a distance (m), with its normal out of the wall, and the velocity of the wall there,
    /// m/s. `layer` is the distance at which particles lie along walls, m.
    ///
    /// The matter of a wall has a pressure too, that of the particle in front of it, and pushes twice as hard as a place alone that
    /// is filled. With the part `l` that is behind the plane, `l^2/l(layer)` fills what the half-space would where particles
    /// lie, has twice its slope there, and is a potential, so that walls take and give no energy.
    #[must_use]
    pub fn with(self, kernel: &Kernel, layer: Real, distance: Real, normal: Vec3, velocity: Vec3) -> Self {
        let [part, fall] = behind(distance / kernel.support);
        let scale = kernel.integral() * part / behind(layer / kernel.support)[0];
        let here = normal * (2.0 * scale * fall / kernel.support);
        Self {
            filled: self.filled + scale * part,
            slope: self.slope + here,
            carried: self.carried + here.dot(velocity),
        }
    }
}

/// What walls do to the fluid along them, beside pressure.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rim {
    /// Attraction by walls, over the strength of that between particles.
    pub drawn: Vec3,
    /// How firmly walls hold, over viscosity and volume, 1/m2.
    pub hold: Real,
    /// The same times the velocities of walls, 1/(m s).
    pub carried: Vec3,
}

impl Rim {
    /// Adds the half-space below a plane, as [`Wall::with`] has it, with its attraction. Fluid sticks to it unless it `slips`. Nearer
    /// than `closest` (m) it is held no more firmly.
    ///
    /// Behind the wall velocities go on as a straight line that is the wall's at its surface: `v_i - (v_i - v_wall) z/d` at the
    /// distance `z` from a particle that is at `d`. Rubbing with all of that is the force `-2 mu V (v_i - v_wall) P(d)/d`, where
    /// `P` is what the kernel has on the plane.
    #[must_use]
    pub fn with(
        self,
        kernel: &Kernel,
        attraction: &Attraction,
        closest: Real,
        (distance, normal): (Real, Vec3),
        velocity: Vec3,
        slips: bool,
    ) -> Self {
        let plane = -behind(distance / kernel.support)[1] / kernel.support;
        let hold = if slips { 0.0 } else { 2.0 * plane / distance.max(closest) };
        Self {
            drawn: self.drawn - normal * attraction.of_wall(distance),
            hold: self.hold + hold,
            carried: self.carried + velocity * hold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::PI;

    #[test]
    fn a_plane_fills_what_the_kernel_has_behind_it() {
        let kernel = Kernel::new(0.2);
        for distance in [-0.21, -0.1, 0.0, 0.03, 0.1, 0.19, 0.25] {
            let steps = 20000;
            // Slices parallel to the plane: what the kernel has in each, by rings.
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
            let [part, fall] = behind(distance / kernel.support);
            // Half a slice is left out or too much at the plane, at most 0.0005 m times 0.5/0.07 m.
            assert!((part - sum).abs() < 4e-3, "{distance}: {part} for {sum}");
            let near = |d: Real| behind(d / kernel.support)[0];
            let rise = (near(distance + 1e-3) - near(distance - 1e-3)) / 2e-3;
            assert!((fall / kernel.support - rise).abs() < 0.05, "{distance}: {fall} for {rise}");
        }
    }

    #[test]
    fn where_particles_lie_a_wall_fills_its_part_and_pushes_twice_as_hard() {
        let kernel = Kernel::new(0.2);
        let wall = |distance: Real| Wall::default().with(&kernel, 0.05, distance, Vec3::Y, 2.0 * Vec3::Y);
        let [part, fall] = behind(0.25);
        assert!((wall(0.05).filled - part).abs() < 1e-6 && (wall(0.05).slope.y - 2.0 * fall / 0.2).abs() < 1e-4);
        for distance in [-0.1, 0.0, 0.03, 0.1, 0.19] {
            let rise = (wall(distance + 1e-3).filled - wall(distance - 1e-3).filled) / 2e-3;
            // The second derivative is below 2 (slope^2 + l slope')/l0, 2000/m2, and changes by as much in 1 cm.
            assert!((wall(distance).slope.y - rise).abs() < 0.05 * (1.0 + rise.abs()), "{distance}: {rise}");
            assert!((wall(distance).carried - 2.0 * wall(distance).slope.y).abs() < 1e-5);
        }
        assert_eq!(wall(0.21), Wall::default().with(&kernel, 0.05, 9.0, Vec3::Y, Vec3::ZERO));
    }

    #[test]
    fn a_rim_holds_with_the_force_of_a_shear_flow_and_draws() {
        let kernel = Kernel::new(0.2);
        let attraction = Attraction::new(&kernel, 0.11);
        let rim = |distance: Real, slips: bool| {
            Rim::default().with(&kernel, &attraction, 1e-5, (distance, Vec3::Y), Vec3::X, slips)
        };
        // Layers that move as fast as they are far from the wall: what holds them is the viscosity.
        let (count, mut sum) = (1000, 0.0);
        for k in 0..count {
            let distance = (k as Real + 0.5) * 0.2 / count as Real;
            sum += rim(distance, false).hold * distance * 0.2 / count as Real;
        }
        assert!((sum - 1.0).abs() < 1e-4, "{sum}");
        assert_eq!(rim(0.05, false).carried, Vec3::X * rim(0.05, false).hold);
        assert_eq!(rim(0.05, false).drawn, Vec3::Y * -attraction.of_wall(0.05));
        assert_eq!((rim(0.05, true).hold, rim(0.2, false)), (0.0, Rim { drawn: Vec3::NEG_Y * 0.0, ..Rim::default() }));
    }
}
