//! Smooth weights over distance that integrate to 1, 1/m3.

use crate::Real;
use std::f32::consts::PI;

/// `315/(64 pi h^9) (h^2 - r^2)^3` at a squared distance (`[MKN04]` eq. 9).
pub fn bell(square: Real, support: Real) -> Real {
    let ratio = 1.0 - square / (support * support);
    if ratio > 0.0 { 315.0 / (64.0 * PI) * ratio * ratio * ratio / support.powi(3) } else { 0.0 }
}

/// Slope of `15/(pi h^6) (h - r)^3` at a distance, 1/m4: its pull does not fade where points come close `[DC96]`.
pub fn spike_slope(distance: Real, support: Real) -> Real {
    let left = 1.0 - distance / support;
    if left > 0.0 { -45.0 / PI * left * left / support.powi(4) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_integrate_to_one() {
        let (support, steps) = (0.3f32, 3000);
        let width = support / steps as f32;
        let shells = (0..steps).map(|k| (k as f32 + 0.5) * width);
        let bell: f32 = shells.clone().map(|r| bell(r * r, support) * 4.0 * PI * r * r * width).sum();
        // By parts: the integral of W r^2 is minus that of its slope times r^3/3.
        let spike: f32 = shells.map(|r| -spike_slope(r, support) * 4.0 / 3.0 * PI * r * r * r * width).sum();
        assert!((bell - 1.0).abs() < 1e-4, "{bell}");
        assert!((spike - 1.0).abs() < 1e-4, "{spike}");
        assert_eq!((super::bell(0.1, support), spike_slope(0.31, support)), (0.0, 0.0));
    }
}
