//! Contact response of a point: unilateral constraint, restitution, Coulomb friction, adhesion.

use crate::Real;
use glam::Vec3;

/// Contact point, touching or about to touch, between a particle and a surface or another particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPoint {
    /// Contact normal, a unit vector away from the other side.
    pub normal: Vec3,
    /// Signed gap along the normal, m; negative where the sides overlap.
    pub gap: Real,
    /// Normal component of the relative velocity at the start of the step, m/s; negative when approaching.
    pub initial_normal_velocity: Real,
    /// Tangential speed at the start of the step, m/s.
    pub initial_tangential_speed: Real,
}

impl ContactPoint {
    /// Contact point of two sides with this relative velocity at the start of the step, m/s.
    pub fn new(normal: Vec3, gap: Real, initial_velocity: Vec3) -> Self {
        let normal_velocity = initial_velocity.dot(normal);
        Self {
            normal,
            gap,
            initial_normal_velocity: normal_velocity,
            initial_tangential_speed: (initial_velocity - normal * normal_velocity).length(),
        }
    }
}

/// Friction, restitution and adhesion of a pair of surfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SurfaceProperties {
    /// Coefficient of static friction.
    pub static_friction: Real,
    /// Coefficient of kinetic friction.
    pub kinetic_friction: Real,
    /// Coefficient of restitution: rebound over approach velocity.
    pub restitution: Real,
    /// Largest velocity change by adhesion within this step, m/s.
    pub adhesion_velocity: Real,
    /// Gap up to which adhesion acts, m.
    pub adhesion_range: Real,
}

/// Parameters of the contact response within a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactParams {
    /// Time step, s.
    pub dt: Real,
    /// Threshold of rest, m/s: slower approach does not rebound, slower sliding counts as static.
    pub rest_speed: Real,
    /// Largest velocity at which penetration is resolved, m/s.
    pub max_separation_speed: Real,
}

/// Time constant `tau` of the reaction in steps. At two steps the critically damped `m (P/tau^2 - 2
/// Q/tau)` of `[TPF89]` eq. 16 removes the whole approach velocity `Q` in one step and a quarter of the
/// penetration depth `P`.
const TAU_STEPS: Real = 2.0;

/// Normal velocity after contact without adhesion, m/s.
///
/// Outside, the point may reach the surface within the step but not cross it. Inside, the critically
/// damped reaction of `[TPF89]` eq. 16 reduces the penetration depth; it only repels. A fast approach
/// rebounds with the coefficient of restitution; using the velocity at the start of the step makes a free
/// rebound exactly reversible.
pub fn normal_response(normal_velocity: Real, point: &ContactPoint, restitution: Real, params: &ContactParams) -> Real {
    let target = if point.gap >= 0.0 {
        -point.gap / params.dt
    } else {
        (-point.gap / (TAU_STEPS * TAU_STEPS * params.dt)).min(params.max_separation_speed)
    };
    if normal_velocity >= target {
        return normal_velocity;
    }
    if restitution > 0.0 && point.initial_normal_velocity < -params.rest_speed {
        target.max(-restitution * point.initial_normal_velocity)
    } else {
        target
    }
}

/// Velocity of a point after contact with an immovable surface, m/s; both velocities are relative to the
/// surface.
///
/// Coulomb friction: static if the point was at rest at the start of the step, kinetic if it was sliding,
/// against the unit tangential velocity and never past rest (`[TPF89]` eq. 18, with the direction
/// normalised). Adhesion opposes separation up to its limit and adds to the normal impulse of friction.
pub fn contact_response(
    velocity: Vec3,
    point: &ContactPoint,
    surface: &SurfaceProperties,
    params: &ContactParams,
) -> Vec3 {
    let normal_velocity = velocity.dot(point.normal);
    let repelled = normal_response(normal_velocity, point, surface.restitution, params);
    let in_contact = point.gap <= surface.adhesion_range || repelled > normal_velocity;
    let adhesion = if in_contact { surface.adhesion_velocity } else { 0.0 };
    let new_normal = repelled - repelled.max(0.0).min(adhesion);
    let impulse = (repelled - normal_velocity) + adhesion;
    let tangential = velocity - point.normal * normal_velocity;
    let is_static = point.initial_tangential_speed <= params.rest_speed;
    let friction = if is_static { surface.static_friction } else { surface.kinetic_friction };
    point.normal * new_normal + apply_friction(tangential, friction * impulse)
}

/// Tangential velocity after friction has reduced it by at most `max_change`, m/s.
fn apply_friction(tangential: Vec3, max_change: Real) -> Vec3 {
    let speed = tangential.length();
    if speed <= max_change { Vec3::ZERO } else { tangential * (1.0 - max_change / speed) }
}

/// Work of friction dissipated within a step, J.
///
/// `impulse` is the impulse that one side lost to the other, kg m/s; `before` and `after` are its
/// velocities relative to the other side at the start and the end of the step, m/s. The work over the
/// sliding distance is the tangential impulse times the mean of both. A body at rest on a slope gains and
/// loses velocity in every step without sliding, and makes no heat. Impulses that accelerate the sliding
/// do not count.
pub fn friction_work(impulse: Vec3, normal: Vec3, before: Vec3, after: Vec3) -> f64 {
    let tangential = impulse - normal * impulse.dot(normal);
    let mean_velocity = (0.5 * (before + after)).as_dvec3();
    tangential.as_dvec3().dot(mean_velocity).max(0.0)
}

/// Force of a critically damped spring that drags a particle to a target at `offset` from it, N.
///
/// The spring has the stiffness for the mass `body_mass` of the whole body, so that it can lift the body,
/// limited so that the particle of mass `mass` does not overshoot within a step. `tau` is the time
/// constant, s; `limit` the largest force, N.
pub fn drag_force(offset: Vec3, velocity: Vec3, mass: Real, body_mass: Real, tau: Real, limit: Real, dt: Real) -> Vec3 {
    let stiffness = (body_mass / (tau * tau)).min(0.5 * mass / (dt * dt));
    let damping = (2.0 * body_mass / tau).min(mass / dt);
    (offset * stiffness - velocity * damping).clamp_length_max(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: ContactParams = ContactParams { dt: 0.01, rest_speed: 0.2, max_separation_speed: 10.0 };
    const ROUGH: SurfaceProperties = SurfaceProperties {
        static_friction: 0.8,
        kinetic_friction: 0.6,
        restitution: 0.0,
        adhesion_velocity: 0.0,
        adhesion_range: 0.0,
    };

    fn on_ground(gap: Real, initial_normal_velocity: Real) -> ContactPoint {
        ContactPoint { normal: Vec3::Y, gap, initial_normal_velocity, initial_tangential_speed: 0.0 }
    }

    #[test]
    fn a_fall_ends_on_the_surface() {
        let after = contact_response(Vec3::new(0.0, -5.0, 0.0), &on_ground(0.02, -5.0), &ROUGH, &PARAMS);
        assert!((after.y * PARAMS.dt + 0.02).abs() < 1e-7);
    }

    #[test]
    fn penetration_is_resolved_without_attraction() {
        let inside = contact_response(Vec3::ZERO, &on_ground(-0.01, 0.0), &ROUGH, &PARAMS);
        assert!((inside.y - 0.25).abs() < 1e-6, "a quarter of the depth in a step");
        let leaving = Vec3::new(0.0, 3.0, 0.0);
        assert_eq!(contact_response(leaving, &on_ground(-0.01, 3.0), &ROUGH, &PARAMS), leaving);
    }

    #[test]
    fn restitution_scales_the_rebound_and_rest_stays_rest() {
        let bouncy = SurfaceProperties { restitution: 0.5, ..SurfaceProperties::default() };
        let after = contact_response(Vec3::new(0.0, -4.1, 0.0), &on_ground(0.0, -4.0), &bouncy, &PARAMS);
        assert_eq!(after.y, 2.0);
        let resting = contact_response(Vec3::new(0.0, -0.1, 0.0), &on_ground(0.0, 0.0), &bouncy, &PARAMS);
        assert_eq!(resting.y, 0.0);
    }

    #[test]
    fn static_friction_holds_and_kinetic_friction_never_reverses_sliding() {
        let respond = |x: Real, sliding_speed: Real| {
            let point = ContactPoint { initial_tangential_speed: sliding_speed, ..on_ground(0.0, 0.0) };
            contact_response(Vec3::new(x, -1.0, 0.0), &point, &ROUGH, &PARAMS)
        };
        assert_eq!(respond(0.79, 0.0), Vec3::ZERO, "below the limit of static friction");
        assert!((respond(1.0, 0.0).x - 0.2).abs() < 1e-6, "above it");
        assert!((respond(2.0, 2.0).x - 1.4).abs() < 1e-6, "the kinetic one while sliding");
        assert_eq!(respond(0.5, 2.0).x, 0.0, "never past rest");
    }

    #[test]
    fn friction_work_is_tangential_impulse_times_mean_sliding_velocity() {
        let work = |before: Real, after: Real, impulse: Real| {
            let [before, after, impulse] = [before, after, impulse].map(|x| Vec3::new(x, -1.0, 0.0));
            friction_work(impulse, Vec3::Y, before, after)
        };
        assert_eq!(work(3.0, 1.0, 2.0 * 5.0), 0.5 * 5.0 * (9.0 - 1.0), "kinetic energy lost by 5 kg");
        assert_eq!(work(0.0, 0.0, 0.1), 0.0, "at rest on a slope");
        assert_eq!(work(-1.0, -1.0, 0.1), 0.0, "driving impulses make no heat");
    }

    #[test]
    fn a_dragged_particle_converges_to_the_target_at_any_step_with_little_overshoot() {
        for dt in [1e-4, 1e-2, 1.0] {
            let (mut x, mut v) = (0.0, Vec3::ZERO);
            for _ in 0..(3.0 / dt) as usize + 60 {
                v += drag_force(Vec3::X * (1.0 - x), v, 0.01, 0.01, 0.1, Real::INFINITY, dt) * (dt / 0.01);
                x += dt * v.x;
                assert!(x < 1.1);
            }
            assert!((x - 1.0).abs() < 1e-3, "dt {dt}: {x}");
        }
        assert_eq!(drag_force(Vec3::X, Vec3::ZERO, 1.0, 1.0, 1e-3, 5.0, 1e-3).length(), 5.0);
    }

    #[test]
    fn adhesion_holds_up_to_its_limit() {
        let sticky = SurfaceProperties { adhesion_velocity: 0.5, adhesion_range: 0.005, ..ROUGH };
        let leaving = |v: Real| contact_response(Vec3::new(0.0, v, 0.0), &on_ground(0.0, 0.0), &sticky, &PARAMS).y;
        assert_eq!(leaving(0.3), 0.0);
        assert!((leaving(2.0) - 1.5).abs() < 1e-6);
        let above = contact_response(Vec3::new(0.0, 0.3, 0.0), &on_ground(0.01, 0.0), &sticky, &PARAMS);
        assert_eq!(above.y, 0.3, "no adhesion beyond its range");
    }
}
