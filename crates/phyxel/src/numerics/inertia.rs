//! Inertia tensors of point masses.

use glam::{DMat3, DVec3};

/// Regularisation of the inertia tensor, relative to its trace scale: it keeps a line from spinning about
/// itself, as in the kernel of shape-matching clusters.
const REGULARISATION: f64 = 1e-6;

/// Angular velocity of the rigid rotation that fits point masses best, rad/s, from (weight, arm, velocity) of each; 0
/// about an axis without extent.
pub(crate) fn angular_velocity(points: impl Iterator<Item = (f64, DVec3, DVec3)> + Clone) -> DVec3 {
    let momentum: DVec3 = points.clone().map(|(w, arm, v)| w * arm.cross(v)).sum();
    let (inverse, scale) = scaled_inverse_inertia(points.map(|(w, arm, _)| (w, arm)));
    inverse * momentum / scale
}

/// Inverse `A` of the scaled inertia tensor of point masses, and the scale `s`: `I^-1 = A / s`. `A` is 0 where the
/// points span no volume.
pub(crate) fn scaled_inverse_inertia(arms: impl Iterator<Item = (f64, DVec3)>) -> (DMat3, f64) {
    let (mut inertia, mut trace) = (DMat3::ZERO, 0.0);
    for (w, arm) in arms {
        let square = arm.length_squared();
        inertia +=
            w * (DMat3::from_diagonal(DVec3::splat(square)) - DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z));
        trace += w * square;
    }
    let scaled = inertia * (1.0 / trace.max(f64::MIN_POSITIVE)) + DMat3::from_diagonal(DVec3::splat(REGULARISATION));
    if trace > 0.0 && scaled.determinant() > 1e-9 { (scaled.inverse(), trace) } else { (DMat3::ZERO, 1.0) }
}
