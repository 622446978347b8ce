//! Walls: what lies behind a plane fills its part of a neighbourhood.

use super::Kernel;
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
}
