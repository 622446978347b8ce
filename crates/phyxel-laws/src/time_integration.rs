//! Time integration: the stability limit of symplectic (semi-implicit) Euler, the scheme of explicit steps.

/// Stable step of symplectic (semi-implicit) Euler times `safety`, s, for the largest squared angular frequency
/// `omega_squared` (1/s2) and the largest damping rate `damping_rate` (1/s).
///
/// The scheme `v += dt (-omega^2 x - gamma v)`, `x += dt v` is stable while `omega^2 dt^2 + 2 gamma dt < 4`.
pub fn stable_step(omega_squared: f64, damping_rate: f64, safety: f64) -> f64 {
    let root = damping_rate + (damping_rate * damping_rate + 4.0 * omega_squared).sqrt();
    if root > 0.0 { safety * 4.0 / root } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stable_step_is_where_the_scheme_stops_to_decay() {
        let grows = |omega_squared: f64, damping_rate: f64, dt: f64| {
            let (mut x, mut v) = (1.0, 0.0);
            for _ in 0..2000 {
                v += dt * (-omega_squared * x - damping_rate * v);
                x += dt * v;
            }
            !x.is_finite() || f64::abs(x) > 1e3
        };
        for (omega_squared, damping_rate) in [(1e4, 0.0), (1e4, 10.0), (1e4, 500.0), (4.0, 8.0), (1e-3, 100.0)] {
            assert!(!grows(omega_squared, damping_rate, stable_step(omega_squared, damping_rate, 0.99)));
            assert!(grows(omega_squared, damping_rate, stable_step(omega_squared, damping_rate, 1.01)));
        }
        assert_eq!(stable_step(0.0, 0.0, 0.5), f64::INFINITY);
        assert_eq!(stable_step(0.0, 4.0, 0.5), 0.25);
    }
}
