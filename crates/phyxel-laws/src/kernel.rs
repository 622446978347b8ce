//! Smoothing kernels with compact support, normalised to a unit integral, 1/m3.

use crate::Real;
use std::f32::consts::PI;

/// Poly6 kernel `W(r) = 315/(64 pi h^9) (h^2 - r^2)^3` at a squared distance, 1/m3 (`[MKN04]` eq. 9).
pub fn poly6(distance_squared: Real, support: Real) -> Real {
    let ratio = 1.0 - distance_squared / (support * support);
    if ratio > 0.0 { 315.0 / (64.0 * PI) * ratio * ratio * ratio / support.powi(3) } else { 0.0 }
}

/// Derivative of the spiky kernel `W(r) = 15/(pi h^6) (h - r)^3` at a distance, 1/m4. Unlike that of poly6,
/// it does not vanish as points come close `[DC96]`.
pub fn spiky_derivative(distance: Real, support: Real) -> Real {
    let q = 1.0 - distance / support;
    if q > 0.0 { -45.0 / PI * q * q / support.powi(4) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_integrate_to_one() {
        let (support, steps) = (0.3f32, 3000);
        let width = support / steps as f32;
        let shells = (0..steps).map(|k| (k as f32 + 0.5) * width);
        let poly6_integral: f32 = shells.clone().map(|r| poly6(r * r, support) * 4.0 * PI * r * r * width).sum();
        // Integrated by parts: the integral of W r^2 is minus that of W' r^3/3.
        let spiky_integral: f32 =
            shells.map(|r| -spiky_derivative(r, support) * 4.0 / 3.0 * PI * r * r * r * width).sum();
        assert!((poly6_integral - 1.0).abs() < 1e-4, "{poly6_integral}");
        assert!((spiky_integral - 1.0).abs() < 1e-4, "{spiky_integral}");
        assert_eq!((poly6(0.1, support), spiky_derivative(0.31, support)), (0.0, 0.0));
    }
}
