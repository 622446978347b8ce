//! Gain and damping of a shape-matching step.

use crate::Real;

/// Gain `alpha` of a step, 0 to 1, for a deformation that oscillates with time constant `tau` (s), period
/// `2 pi tau`.
///
/// The scheme of `[MHTG05]` eq. 11 has eigenvalues on the unit circle with `cos(phase) = 1 - alpha/2`. The
/// phase `dt/tau` gives `alpha = 4 sin^2(dt / 2 tau)`: the period does not depend on the step. Where that
/// would exceed 1 the body is as stiff as the step allows. (With `alpha = dt/tau` of the paper, or
/// `1 - exp(-dt/tau)`, the period would grow with the square root of the step.)
pub fn alpha(dt: f64, tau: f64) -> f64 {
    let half = 0.5 * dt / tau;
    // alpha reaches 1 at a phase of 60 degrees; NaN and infinity (tau = 0) land here too.
    if half < std::f64::consts::PI / 6.0 { 4.0 * libm::sin(half) * libm::sin(half) } else { 1.0 }
}

/// Phase of the oscillation of `[MHTG05]` eq. 11 per step, rad.
pub fn phase_per_step(alpha: f64) -> f64 {
    2.0 * libm::asin((0.5 * alpha.max(0.0).sqrt()).min(1.0))
}

/// Time constant of the lowest longitudinal mode of a free bar of this length (m), s.
///
/// Half a wave of speed `sqrt(E/rho)` fits the bar: `omega = (pi/L) sqrt(E/rho)`.
pub fn bar_time_constant(length: Real, young_modulus: Real, density: Real) -> Real {
    if young_modulus > 0.0 { length / std::f32::consts::PI * (density / young_modulus).sqrt() } else { Real::INFINITY }
}

/// Fraction of the motion that damping of this rate (1/s) removes in a step, 0 to 1.
pub fn damping_from_rate(rate: f64, dt: f64) -> f64 {
    -libm::expm1(-rate.max(0.0) * dt)
}

/// Fraction of the motion that a damping ratio (over critical damping) removes in a step, 0 to 1.
///
/// An oscillation that the step resolves decays by `exp(-damping_ratio phase)` in amplitude. A stiffer one,
/// whose gain is at its largest, would appear as an oscillation at the period of the steps: the faster it
/// is, the more of it is removed, and all of it for a rigid body (`tau` = 0).
pub fn damping_from_ratio(damping_ratio: f64, dt: f64, tau: f64) -> f64 {
    let phase = phase_per_step(alpha(dt, tau));
    let resolved = ((std::f64::consts::PI / 3.0) * tau / dt).clamp(0.0, 1.0);
    let remaining = libm::exp(-2.0 * damping_ratio * phase) * if resolved < 1.0 { resolved } else { 1.0 };
    1.0 - remaining
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gain_is_between_0_and_1() {
        for dt in [1e-8, 1e-5, 1e-3, 0.1, 1.0, 1e3] {
            for tau in [0.0, 1e-9, 1e-3, 1.0, 1e6, f64::INFINITY] {
                let alpha = alpha(dt, tau);
                assert!((0.0..=1.0).contains(&alpha), "dt {dt}, tau {tau}: {alpha}");
            }
        }
        assert_eq!(alpha(0.01, 0.0), 1.0);
        assert_eq!(alpha(0.01, f64::INFINITY), 0.0);
    }

    /// Both eigenvalues of `[[1, -a/h], [h, 1 - a]]`, [MHTG05] eq. 11, have modulus 1.
    #[test]
    fn the_scheme_neither_grows_nor_damps_for_any_gain() {
        for step in 1..=1000 {
            let alpha = step as f64 / 1000.0;
            let (trace, determinant) = (2.0 - alpha, (1.0 - alpha) + alpha);
            let discriminant = trace * trace / 4.0 - determinant;
            assert!(discriminant < 0.0, "a complex pair");
            let modulus = (trace * trace / 4.0 - discriminant).sqrt();
            assert!((modulus - 1.0).abs() < 1e-12);
            assert!((phase_per_step(alpha).cos() - trace / 2.0).abs() < 1e-12);
        }
    }

    #[test]
    fn an_oscillation_has_the_same_period_at_any_step_and_does_not_with_the_handbook_s_exponential() {
        let tau = 0.1;
        let period = |dt: f64, alpha: f64| 2.0 * std::f64::consts::PI * dt / phase_per_step(alpha);
        let exact = 2.0 * std::f64::consts::PI * tau;
        for dt in [0.05, 0.01, 0.001, 1e-5] {
            assert!((period(dt, alpha(dt, tau)) / exact - 1.0).abs() < 1e-6);
        }
        let exponential = |dt: f64| period(dt, 1.0 - (-dt / tau).exp());
        assert!(exponential(0.01) / exponential(0.0001) > 9.0, "its period falls with the square root of the step");
    }

    #[test]
    fn a_soft_body_is_damped_as_asked_and_a_rigid_one_does_not_oscillate() {
        assert!((damping_from_ratio(0.05, 1e-3, 0.1) - 0.001).abs() < 1e-5, "2 zeta dt/tau for a resolved oscillation");
        assert_eq!(damping_from_ratio(0.0, 1e-3, 0.1), 0.0);
        assert_eq!(damping_from_ratio(0.0, 1e-3, 0.0), 1.0);
        let half = damping_from_ratio(0.0, 1.0, 0.5 * 3.0 / std::f64::consts::PI);
        assert!((half - 0.5).abs() < 1e-9);
    }
}
