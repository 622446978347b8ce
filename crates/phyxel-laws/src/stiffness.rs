//! How strongly a shape is pulled to its goal in one step.

use crate::Real;

/// Pull of one step, between 0 (none) and 1 (all the way), for a deformation that swings freely with time
/// constant `tau` (period 2 pi tau), s.
///
/// `[MHTG05]` eq. 11 has eigenvalues on the unit circle with `cos(phase) = 1 - alpha/2`. Asking for the phase
/// `dt/tau` gives `alpha = 4 sin^2(dt / 2 tau)`: the swing has the same period at any step. Where that would
/// pass 1 the body is as stiff as the step allows. (The source's `alpha = dt/tau`, and `1 - exp(-dt/tau)`
/// alike, make the period grow with the square root of the step.)
pub fn pull(dt: f64, tau: f64) -> f64 {
    let half = 0.5 * dt / tau;
    // alpha reaches 1 at a phase of 60 degrees; NaN and infinity (tau = 0) land here too.
    if half < std::f64::consts::PI / 6.0 { 4.0 * libm::sin(half) * libm::sin(half) } else { 1.0 }
}

/// Phase that the swing of eq. 11 passes in one step, rad.
pub fn phase(pull: f64) -> f64 {
    2.0 * libm::asin((0.5 * pull.max(0.0).sqrt()).min(1.0))
}

/// Time constant of the slowest stretching motion of a free bar of this length, s.
///
/// Half a wave of speed `sqrt(E/rho)` fits the bar: `omega = (pi/L) sqrt(E/rho)`.
pub fn bar_time_constant(length: Real, young_modulus: Real, density: Real) -> Real {
    if young_modulus > 0.0 { length / std::f32::consts::PI * (density / young_modulus).sqrt() } else { Real::INFINITY }
}

/// Part of the motion that damping takes away in one step, 0 to 1.
pub fn damped_part(rate: f64, dt: f64) -> f64 {
    -libm::expm1(-rate.max(0.0) * dt)
}

/// Part of the motion that a material takes away in one step, 0 to 1, if its damping is the given part of
/// critical damping.
///
/// A swing that the step resolves loses `exp(-damping phase)` of its amplitude. A stiffer one, whose pull is at
/// its largest, could only be shown as a rattle at the pace of the steps: the faster it is, the more of it is
/// taken away, and a rigid body (tau = 0) does not rattle at all.
pub fn material_damping(damping: f64, dt: f64, tau: f64) -> f64 {
    let phase = phase(pull(dt, tau));
    let resolved = ((std::f64::consts::PI / 3.0) * tau / dt).clamp(0.0, 1.0);
    let kept = libm::exp(-2.0 * damping * phase) * if resolved < 1.0 { resolved } else { 1.0 };
    1.0 - kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pull_is_between_nothing_and_everything() {
        for dt in [1e-8, 1e-5, 1e-3, 0.1, 1.0, 1e3] {
            for tau in [0.0, 1e-9, 1e-3, 1.0, 1e6, f64::INFINITY] {
                let pull = pull(dt, tau);
                assert!((0.0..=1.0).contains(&pull), "dt {dt}, tau {tau}: {pull}");
            }
        }
        assert_eq!(pull(0.01, 0.0), 1.0);
        assert_eq!(pull(0.01, f64::INFINITY), 0.0);
    }

    /// Both eigenvalues of `[[1, -a/h], [h, 1 - a]]`, [MHTG05] eq. 11, have modulus 1.
    #[test]
    fn the_scheme_neither_grows_nor_damps_for_any_pull() {
        for step in 1..=1000 {
            let alpha = step as f64 / 1000.0;
            let (trace, determinant) = (2.0 - alpha, (1.0 - alpha) + alpha);
            let discriminant = trace * trace / 4.0 - determinant;
            assert!(discriminant < 0.0, "a complex pair");
            let modulus = (trace * trace / 4.0 - discriminant).sqrt();
            assert!((modulus - 1.0).abs() < 1e-12);
            assert!((phase(alpha).cos() - trace / 2.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_swing_has_the_same_period_at_any_step_and_does_not_with_the_handbook_s_exponential() {
        let tau = 0.1;
        let period = |dt: f64, alpha: f64| 2.0 * std::f64::consts::PI * dt / phase(alpha);
        let exact = 2.0 * std::f64::consts::PI * tau;
        for dt in [0.05, 0.01, 0.001, 1e-5] {
            assert!((period(dt, pull(dt, tau)) / exact - 1.0).abs() < 1e-6);
        }
        let exponential = |dt: f64| period(dt, 1.0 - (-dt / tau).exp());
        assert!(exponential(0.01) / exponential(0.0001) > 9.0, "its period falls with the square root of the step");
    }

    #[test]
    fn a_soft_body_is_damped_as_asked_and_a_rigid_one_does_not_rattle() {
        assert!((material_damping(0.05, 1e-3, 0.1) - 0.001).abs() < 1e-5, "2 zeta dt/tau for a resolved swing");
        assert_eq!(material_damping(0.0, 1e-3, 0.1), 0.0);
        assert_eq!(material_damping(0.0, 1e-3, 0.0), 1.0);
        let half = material_damping(0.0, 1.0, 0.5 * 3.0 / std::f64::consts::PI);
        assert!((half - 0.5).abs() < 1e-9);
    }
}
