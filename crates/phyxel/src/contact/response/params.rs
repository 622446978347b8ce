//! Parameters of the contact response of a particle.

use crate::Real;
use crate::step::StepContext;
use phyxel_laws::contact::ContactParams;

/// Limit of the separation speed of overlapping particles, radii per second, so that an initial overlap
/// does not turn into an explosion.
const SEPARATION_RADII_PER_SECOND: Real = 20.0;

/// Parameters of the contact response of a particle of this radius.
pub(crate) fn contact_params(context: &StepContext, radius: Real) -> ContactParams {
    ContactParams {
        dt: context.dt,
        // Velocity that gravity adds in two steps is rest, not impact.
        rest_speed: 2.0 * context.gravity.length() * context.dt,
        max_separation_speed: SEPARATION_RADII_PER_SECOND * radius,
    }
}
