//! Wendland's kernel.

use crate::Real;
use std::f32::consts::{PI, SQRT_2};

/// Wendland's C2 kernel `[W95]`, `21/(2 pi h^3) (1 - q)^4 (1 + 4 q)` with `q = r/h`. Particles do not pair
/// under it, and its gradient, `-210/(pi h^5) (1 - q)^3 x`, needs no division.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kernel {
    /// Support radius `h`, m.
    pub support: Real,
    /// Value at the origin, 1/m3.
    pub(super) peak: Real,
    /// Slope at the origin, 1/m5; negative.
    pub(super) peak_slope: Real,
    pub(super) inverse_support: Real,
    /// `sum V |grad W|/r x^2` over a closest packing, or the integral for a plain kernel: without unit, near
    /// 1. It normalises second derivatives.
    pub(super) moment: Real,
}

impl Kernel {
    /// Kernel of a support radius (m), with integral 1.
    pub fn new(support: Real) -> Self {
        Self::scaled(support, 1.0)
    }

    /// Kernel with another integral than 1.
    pub fn scaled(support: Real, integral: Real) -> Self {
        let peak = integral * 21.0 / (2.0 * PI * support.powi(3));
        let peak_slope = -20.0 * peak / (support * support);
        Self { support, peak, peak_slope, inverse_support: 1.0 / support, moment: integral }
    }

    /// Kernel under which a closest packing of a spacing (m) has volume fraction 1; `support` is in spacings.
    ///
    /// A sum over particles is not an integral, so its integral differs from 1.
    pub fn for_packing(spacing: Real, support: Real) -> Self {
        let plain = Self::new(support * spacing);
        let (volume, step) = (spacing.powi(3) / SQRT_2, spacing / SQRT_2);
        let extent = (support * SQRT_2).ceil() as i32;
        let (mut sum, mut squares) = (0.0f64, 0.0f64);
        for a in -extent..=extent {
            for b in -extent..=extent {
                for c in (-extent..=extent).filter(|c| (a + b + c) % 2 == 0) {
                    let square = (a * a + b * b + c * c) as Real;
                    let distance = square.sqrt() * step;
                    sum += f64::from(volume * plain.weight(distance));
                    squares -= f64::from(volume * plain.slope(distance) * distance * distance);
                }
            }
        }
        Self { moment: (squares / (3.0 * sum)) as Real, ..Self::scaled(plain.support, (1.0 / sum) as Real) }
    }

    /// Value at a distance, 1/m3.
    pub fn weight(&self, distance: Real) -> Real {
        let q = distance * self.inverse_support;
        let l = (1.0 - q).max(0.0);
        self.peak * (l * l) * (l * l) * (1.0 + 4.0 * q)
    }

    /// Slope at a distance, 1/m5: `grad W = slope x`.
    pub fn slope(&self, distance: Real) -> Real {
        let l = (1.0 - distance * self.inverse_support).max(0.0);
        self.peak_slope * l * l * l
    }

    /// `sum V |grad W|/r x^2` over a closest packing, without unit: normalises second derivatives.
    pub fn moment(&self) -> Real {
        self.moment
    }

    /// Integral over space, without unit.
    pub fn integral(&self) -> Real {
        self.peak * 2.0 * PI * self.support.powi(3) / 21.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_integrates_to_one_and_its_slope_is_its_derivative() {
        let kernel = Kernel::new(0.3);
        let (steps, mut sum) = (3000, 0.0);
        for k in 0..steps {
            let r = (k as Real + 0.5) * 0.3 / steps as Real;
            sum += kernel.weight(r) * 4.0 * PI * r * r * 0.3 / steps as Real;
            let step = 1e-3;
            if r > step {
                let derivative = (kernel.weight(r + step) - kernel.weight(r - step)) / (2.0 * step);
                // The error is the third derivative, below 300 peak/h^3, times a sixth of the squared step.
                let error = derivative - kernel.slope(r) * r;
                assert!(error.abs() < 1e-3 * kernel.peak / 0.3, "{r}: {derivative}");
            }
        }
        assert!((sum - 1.0).abs() < 1e-4 && (kernel.integral() - 1.0).abs() < 1e-6, "{sum}");
        assert_eq!((kernel.weight(0.31), kernel.slope(0.31)), (0.0, 0.0));
    }

    #[test]
    fn a_packing_has_volume_fraction_one_under_its_kernel() {
        for support in [1.6, 1.78, 1.9, 2.1] {
            let kernel = Kernel::for_packing(0.05, support);
            // Twelve neighbours at one spacing, six at sqrt(2), 24 at sqrt(3), twelve at 2.
            let shells = [(1.0, 0.0), (12.0, 1.0), (6.0, 2.0f32.sqrt()), (24.0, 3.0f32.sqrt()), (12.0, 2.0)];
            let sum: Real = shells.iter().map(|(n, r)| n * kernel.weight(r * 0.05)).sum();
            let fraction = sum * 0.05f32.powi(3) / 2.0f32.sqrt();
            assert!((fraction - 1.0).abs() < 1e-5, "{support}: {fraction}");
            // The self term weighs more than the volume around it: a twelfth at 1.5, less with more neighbours.
            assert!((kernel.integral() - 1.0).abs() < 0.06, "{support}: {}", kernel.integral());
        }
    }
}
