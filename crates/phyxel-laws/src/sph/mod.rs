//! Smoothed particles: how much room they fill, how fast it changes, and how pressure pushes them.
//!
//! A particle `j` of volume `V_j` spreads over its surroundings by the kernel `W`; places are full where
//! `C_i = sum_j V_j W_ij` is 1, whatever the densities of the matter (after Solenthaler and Pajarola `[SP08]`). Pressure
//! works against filling: from the energy `sum_i p_i V_i C_i` follows the force
//!
//! `f_i = -V_i sum_j V_j (p_i + p_j) grad W_ij`,
//!
//! which keeps momentum and angular momentum, and takes `sum_i p_i V_i dC_i/dt` of power.

mod rub;
mod tension;
mod visits;
mod wall;

pub use rub::{Brace, brace, loosen, rub, swirl};
pub use tension::{Attraction, attract};
pub use visits::{fill, press, spread_rate};
pub use wall::{Rim, Wall};

use crate::Real;
use crate::lanes::WIDTH;
use std::f32::consts::PI;

/// The smooth weight of Wendland `[W95]`, `21/(2 pi h^3) (1 - q)^4 (1 + 4 q)` with `q = r/h`: particles under it do not pair up,
/// and its gradient, `-210/(pi h^5) (1 - q)^3` times the way, needs no division.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kernel {
    /// Distance at which it is gone, m.
    pub support: Real,
    /// At no distance, 1/m3.
    top: Real,
    /// Of the gradient over the way at no distance, 1/m5; negative.
    steep: Real,
    inverse: Real,
    /// `sum V |grad W|/r x^2` over a closest packing, or the integral for a plain kernel: without unit, near 1. Second derivatives
    /// are sums over it.
    moment: Real,
}

impl Kernel {
    /// With a support, m. Its integral is 1.
    pub fn new(support: Real) -> Self {
        Self::scaled(support, 1.0)
    }

    /// With an integral other than 1.
    pub fn scaled(support: Real, integral: Real) -> Self {
        let top = integral * 21.0 / (2.0 * PI * support.powi(3));
        Self { support, top, steep: -20.0 * top / (support * support), inverse: 1.0 / support, moment: integral }
    }

    /// Which finds closest packing of spheres exactly full: `distance` is that of their middles, `support` that of the kernel
    /// in such distances. A sum over particles is not an integral.
    pub fn for_packing(distance: Real, support: Real) -> Self {
        let plain = Self::new(support * distance);
        let (volume, step) = (distance.powi(3) / std::f32::consts::SQRT_2, distance / std::f32::consts::SQRT_2);
        let reach = (support * std::f32::consts::SQRT_2).ceil() as i32;
        let (mut sum, mut squares) = (0.0f64, 0.0f64);
        for a in -reach..=reach {
            for b in -reach..=reach {
                for c in (-reach..=reach).filter(|c| (a + b + c) % 2 == 0) {
                    let square = (a * a + b * b + c * c) as Real;
                    let apart = square.sqrt() * step;
                    sum += f64::from(volume * plain.weight(apart));
                    squares -= f64::from(volume * plain.slope(apart) * apart * apart);
                }
            }
        }
        Self { moment: (squares / (3.0 * sum)) as Real, ..Self::scaled(plain.support, (1.0 / sum) as Real) }
    }

    /// At a distance, 1/m3.
    pub fn weight(&self, distance: Real) -> Real {
        let q = distance * self.inverse;
        let left = (1.0 - q).max(0.0);
        self.top * (left * left) * (left * left) * (1.0 + 4.0 * q)
    }

    /// Gradient over the way, at a distance, 1/m5: `grad W = slope x`.
    pub fn slope(&self, distance: Real) -> Real {
        let left = (1.0 - distance * self.inverse).max(0.0);
        self.steep * left * left * left
    }

    /// `sum V |grad W|/r x^2` over a closest packing, without unit: what second derivatives are sums over.
    pub fn moment(&self) -> Real {
        self.moment
    }

    /// Integral over all space, without unit.
    pub fn integral(&self) -> Real {
        self.top * 2.0 * PI * self.support.powi(3) / 21.0
    }
}

/// Eight neighbours of a particle. One that has no more has itself, whose way is none.
pub type Near = [u32; WIDTH];

/// Particles with their neighbours.
#[derive(Clone, Copy, Debug)]
pub struct Crowd<'a> {
    /// The smooth weight of all.
    pub kernel: Kernel,
    /// Place and volume of each, m and m3.
    pub points: &'a [[Real; 4]],
    /// First of each particle's eights in `near`, and the end of the last.
    pub start: &'a [u32],
    /// Neighbours, eight at a time.
    pub near: &'a [Near],
}

impl<'a> Crowd<'a> {
    /// Neighbours of a particle, eight at a time.
    #[inline(always)]
    pub fn around(&self, i: usize) -> &'a [Near] {
        &self.near[self.start[i] as usize..self.start[i + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    /// A cloud with all neighbours.
    pub(super) struct Cloud {
        pub points: Vec<[Real; 4]>,
        start: Vec<u32>,
        near: Vec<Near>,
    }

    impl Cloud {
        /// Without order.
        pub fn new(count: usize, reach: Real) -> Self {
            let mut state = 3u64;
            let mut unit = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 40) as Real / (1u64 << 24) as Real
            };
            Self::of((0..count).map(|_| [unit(), unit(), unit(), 0.5 + unit()]).collect(), reach)
        }

        /// A closest packing around the origin, so many sites to each side.
        pub fn packing(sites: i32, distance: Real, reach: Real) -> Self {
            let (step, volume) = (distance / 2.0f32.sqrt(), distance.powi(3) / 2.0f32.sqrt());
            let mut points = Vec::new();
            for a in -sites..=sites {
                for b in -sites..=sites {
                    for c in (-sites..=sites).filter(|c| (a + b + c) % 2 == 0) {
                        points.push([a as Real * step, b as Real * step, c as Real * step, volume]);
                    }
                }
            }
            Self::of(points, reach)
        }

        pub fn of(points: Vec<[Real; 4]>, reach: Real) -> Self {
            let (mut start, mut near) = (vec![0], Vec::new());
            let count = points.len();
            for i in 0..count {
                let close =
                    |j: &u32| *j as usize != i && place(&points, *j as usize).distance(place(&points, i)) < reach;
                let mut list: Vec<u32> = (0..count as u32).filter(close).collect();
                list.resize(list.len().next_multiple_of(WIDTH), i as u32);
                near.extend(list.chunks_exact(WIDTH).map(|eight| -> Near { std::array::from_fn(|k| eight[k]) }));
                start.push(near.len() as u32);
            }
            Self { points, start, near }
        }

        /// Number of the particle at the origin.
        pub fn middle(&self) -> usize {
            (0..self.points.len())
                .min_by(|&a, &b| place(&self.points, a).length().total_cmp(&place(&self.points, b).length()))
                .unwrap_or(0)
        }

        pub fn crowd(&self, kernel: Kernel) -> Crowd<'_> {
            Crowd { kernel, points: &self.points, start: &self.start, near: &self.near }
        }
    }

    pub(super) fn place(points: &[[Real; 4]], i: usize) -> Vec3 {
        Vec3::new(points[i][0], points[i][1], points[i][2])
    }

    #[test]
    fn the_kernel_integrates_to_one_and_its_slope_is_its_derivative() {
        let kernel = Kernel::new(0.3);
        let (steps, mut sum) = (3000, 0.0);
        for k in 0..steps {
            let r = (k as Real + 0.5) * 0.3 / steps as Real;
            sum += kernel.weight(r) * 4.0 * PI * r * r * 0.3 / steps as Real;
            let step = 1e-3;
            if r > step {
                let rise = (kernel.weight(r + step) - kernel.weight(r - step)) / (2.0 * step);
                // Differences bend by the third derivative, below 300 top/h^3, times a sixth of the square of the step.
                assert!((rise - kernel.slope(r) * r).abs() < 1e-3 * kernel.top / 0.3, "{r}: {rise}");
            }
        }
        assert!((sum - 1.0).abs() < 1e-4 && (kernel.integral() - 1.0).abs() < 1e-6, "{sum}");
        assert_eq!((kernel.weight(0.31), kernel.slope(0.31)), (0.0, 0.0));
    }

    #[test]
    fn a_kernel_for_packing_finds_it_full_and_is_near_the_plain_one() {
        for support in [1.6, 1.78, 1.9, 2.1] {
            let kernel = Kernel::for_packing(0.05, support);
            // Twelve neighbours at the distance, six at sqrt(2), 24 at sqrt(3), twelve at 2.
            let shells = [(1.0, 0.0), (12.0, 1.0), (6.0, 2.0f32.sqrt()), (24.0, 3.0f32.sqrt()), (12.0, 2.0)];
            let sum: Real = shells.iter().map(|(n, r)| n * kernel.weight(r * 0.05)).sum();
            let full = sum * 0.05f32.powi(3) / 2.0f32.sqrt();
            assert!((full - 1.0).abs() < 1e-5, "{support}: {full}");
            // Its own part weighs more than the volume around it: a twelfth at 1.5, less with more neighbours.
            assert!((kernel.integral() - 1.0).abs() < 0.06, "{support}: {}", kernel.integral());
        }
    }
}
