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
    /// m/s.
    ///
    /// Two walls that meet fill less than the sum of both: what is behind both counts once. `1 - (1 - a)(1 - b)` is near that.
    #[must_use]
    pub fn with(self, kernel: &Kernel, distance: Real, normal: Vec3, velocity: Vec3) -> Self {
        let [part, fall] = behind(distance / kernel.support);
        let [part, fall] = [part * kernel.integral(), fall * kernel.integral() / kernel.support];
        let (here, others) = (normal * fall * (1.0 - self.filled), 1.0 - part);
        Self {
            filled: self.filled + part * (1.0 - self.filled),
            slope: self.slope * others + here,
            carried: self.carried * others + here.dot(velocity),
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
            let wall = Wall::default().with(&kernel, distance, Vec3::Y, Vec3::ZERO);
            // Half a slice is left out or too much at the plane, at most 0.0005 m times 0.5/0.07 m.
            assert!((wall.filled - sum).abs() < 4e-3, "{distance}: {} for {sum}", wall.filled);
            let near = |d: Real| Wall::default().with(&kernel, d, Vec3::Y, Vec3::ZERO).filled;
            let rise = (near(distance + 1e-3) - near(distance - 1e-3)) / 2e-3;
            assert!((wall.slope.y - rise).abs() < 0.05, "{distance}: {} for {rise}", wall.slope.y);
        }
    }

    #[test]
    fn walls_that_meet_do_not_fill_more_than_all() {
        let kernel = Kernel::new(0.2);
        let corner = [Vec3::X, Vec3::Y, Vec3::Z];
        let wall = corner.iter().fold(Wall::default(), |wall, &n| wall.with(&kernel, 0.0, n, n));
        // An eighth is free; eight corners fill space, so this is exact in the corner itself.
        assert!((wall.filled - 0.875).abs() < 1e-6, "{wall:?}");
        assert!(wall.carried < 0.0 && wall.slope.max_element() < 0.0);
        let deep = corner.iter().fold(Wall::default(), |wall, &n| wall.with(&kernel, -9.0, n, Vec3::ZERO));
        assert_eq!((deep.filled, deep.slope), (1.0, Vec3::ZERO));
    }
}
