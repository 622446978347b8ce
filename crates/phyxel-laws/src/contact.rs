//! Laws of touching: reaction, friction, sticking.

use crate::Real;
use glam::Vec3;

/// A touch, or one that is about to happen, between a point and a surface or another point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Unit vector away from the other.
    pub normal: Vec3,
    /// Distance of the surfaces along the normal, m; negative when they overlap.
    pub gap: Real,
    /// Normal velocity at the start of the step, relative to the other, m/s; negative when approaching.
    pub approach: Real,
    /// Tangential speed at the start of the step, relative to the other, m/s.
    pub slide: Real,
}

impl Touch {
    /// A touch of things that had this relative velocity at the start of the step.
    pub fn new(normal: Vec3, gap: Real, velocity_before: Vec3) -> Self {
        let approach = velocity_before.dot(normal);
        Self { normal, gap, approach, slide: (velocity_before - normal * approach).length() }
    }
}

/// Friction, restitution and stickiness of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surface {
    /// Largest tangential over normal impulse at rest.
    pub static_friction: Real,
    /// The same while sliding.
    pub kinetic_friction: Real,
    /// Part of the approach velocity that comes back.
    pub restitution: Real,
    /// Largest change of velocity that sticking takes up in this step, m/s.
    pub hold: Real,
    /// Gap up to which it sticks, m.
    pub film: Real,
}

/// What a step is for contacts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Time step, s.
    pub dt: Real,
    /// Approach below this does not bounce, and sliding below this is rest, m/s.
    pub resting: Real,
    /// Largest velocity at which overlapping things are pushed apart, m/s.
    pub push_limit: Real,
}

/// Time constant of the reaction in steps. At two steps the critically damped `m (P/tau^2 - 2 Q/tau)` of
/// `[TPF89]` eq. 16 takes the whole approach velocity `Q` in one step and a quarter of the depth `P`.
const TAU_STEPS: Real = 2.0;

/// Normal velocity after a touch without sticking, m/s.
///
/// Outside, the surface may be reached but not crossed within the step. Inside, the depth is worked off by the
/// critically damped reaction of `[TPF89]` eq. 16 (as a push out, never a pull). A fast approach comes back
/// with the restitution; taking the velocity at the start of the step makes a free bounce exactly reversible.
pub fn pushed_velocity(normal_velocity: Real, touch: &Touch, restitution: Real, pace: &Pace) -> Real {
    let reach = if touch.gap >= 0.0 {
        -touch.gap / pace.dt
    } else {
        (-touch.gap / (TAU_STEPS * TAU_STEPS * pace.dt)).min(pace.push_limit)
    };
    if normal_velocity >= reach {
        return normal_velocity;
    }
    if restitution > 0.0 && touch.approach < -pace.resting { reach.max(-restitution * touch.approach) } else { reach }
}

/// Velocity of a point after touching something that does not give way; both velocities are relative to it.
///
/// Friction follows Coulomb: static while the point was at rest, kinetic while it was sliding, along the unit
/// tangential velocity and never past rest (`[TPF89]` eq. 18, with the direction normalised).
/// Sticking holds back what wants to leave, up to its limit, and adds to the friction's normal impulse.
pub fn touched_velocity(velocity: Vec3, touch: &Touch, surface: &Surface, pace: &Pace) -> Vec3 {
    let normal_velocity = velocity.dot(touch.normal);
    let pushed = pushed_velocity(normal_velocity, touch, surface.restitution, pace);
    let touching = touch.gap <= surface.film || pushed > normal_velocity;
    let hold = if touching { surface.hold } else { 0.0 };
    let new_normal = pushed - pushed.max(0.0).min(hold);
    let impulse = (pushed - normal_velocity) + hold;
    let sliding = velocity - touch.normal * normal_velocity;
    let at_rest = touch.slide <= pace.resting;
    let friction = if at_rest { surface.static_friction } else { surface.kinetic_friction };
    touch.normal * new_normal + slowed(sliding, friction * impulse)
}

/// Tangential velocity after friction has taken up to `most` of it, m/s.
fn slowed(sliding: Vec3, most: Real) -> Vec3 {
    let speed = sliding.length();
    if speed <= most { Vec3::ZERO } else { sliding * (1.0 - most / speed) }
}

/// Work that friction takes from a relative motion within a step, J.
///
/// `taken` is the momentum that the touch took from the one side, kg m/s; `before` and `after` are its velocities
/// relative to the other at the start and the end of the step, m/s. The part of the momentum along the surface times
/// the mean of both is the work over the way that was slid. What rests on a slope gains and loses velocity in every
/// step without sliding, and makes no heat. Momentum that speeds the sliding up does not count.
pub fn friction_work(taken: Vec3, normal: Vec3, before: Vec3, after: Vec3) -> f64 {
    let along = taken - normal * taken.dot(normal);
    let sliding = (0.5 * (before + after)).as_dvec3();
    along.as_dvec3().dot(sliding).max(0.0)
}

/// Force of a critically damped spring that pulls a particle to a pointer, N.
///
/// The spring is made for the mass `heavy` of the whole body, so that it can lift it, as far as the particle's own
/// `mass` can bear it without overshooting within a step. `tau` is the time it takes, s; `limit` the largest
/// force, N.
pub fn drag_force(way: Vec3, velocity: Vec3, mass: Real, heavy: Real, tau: Real, limit: Real, dt: Real) -> Vec3 {
    let stiffness = (heavy / (tau * tau)).min(0.5 * mass / (dt * dt));
    let damping = (2.0 * heavy / tau).min(mass / dt);
    (way * stiffness - velocity * damping).clamp_length_max(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { dt: 0.01, resting: 0.2, push_limit: 10.0 };
    const ROUGH: Surface =
        Surface { static_friction: 0.8, kinetic_friction: 0.6, restitution: 0.0, hold: 0.0, film: 0.0 };

    fn on_ground(gap: Real, approach: Real) -> Touch {
        Touch { normal: Vec3::Y, gap, approach, slide: 0.0 }
    }

    #[test]
    fn a_fall_ends_on_the_surface() {
        let after = touched_velocity(Vec3::new(0.0, -5.0, 0.0), &on_ground(0.02, -5.0), &ROUGH, &PACE);
        assert!((after.y * PACE.dt + 0.02).abs() < 1e-7);
    }

    #[test]
    fn depth_is_worked_off_without_pulling() {
        let inside = touched_velocity(Vec3::ZERO, &on_ground(-0.01, 0.0), &ROUGH, &PACE);
        assert!((inside.y - 0.25).abs() < 1e-6, "a quarter of the depth in a step");
        let leaving = Vec3::new(0.0, 3.0, 0.0);
        assert_eq!(touched_velocity(leaving, &on_ground(-0.01, 3.0), &ROUGH, &PACE), leaving);
    }

    #[test]
    fn restitution_gives_back_its_part_and_rest_stays_rest() {
        let bouncy = Surface { restitution: 0.5, ..Surface::default() };
        let after = touched_velocity(Vec3::new(0.0, -4.1, 0.0), &on_ground(0.0, -4.0), &bouncy, &PACE);
        assert_eq!(after.y, 2.0);
        let resting = touched_velocity(Vec3::new(0.0, -0.1, 0.0), &on_ground(0.0, 0.0), &bouncy, &PACE);
        assert_eq!(resting.y, 0.0);
    }

    #[test]
    fn friction_holds_what_rests_and_brakes_what_slides_without_reversing_it() {
        let pressed = |x: Real, slide: Real| {
            let touch = Touch { slide, ..on_ground(0.0, 0.0) };
            touched_velocity(Vec3::new(x, -1.0, 0.0), &touch, &ROUGH, &PACE)
        };
        assert_eq!(pressed(0.79, 0.0), Vec3::ZERO, "below the static limit");
        assert!((pressed(1.0, 0.0).x - 0.2).abs() < 1e-6, "above it");
        assert!((pressed(2.0, 2.0).x - 1.4).abs() < 1e-6, "the kinetic one while sliding");
        assert_eq!(pressed(0.5, 2.0).x, 0.0, "never past rest");
    }

    #[test]
    fn friction_works_along_the_way_that_is_slid() {
        let sliding = |before: Real, after: Real, taken: Real| {
            let [before, after, taken] = [before, after, taken].map(|x| Vec3::new(x, -1.0, 0.0));
            friction_work(taken, Vec3::Y, before, after)
        };
        assert_eq!(sliding(3.0, 1.0, 2.0 * 5.0), 0.5 * 5.0 * (9.0 - 1.0), "what 5 kg lose");
        assert_eq!(sliding(0.0, 0.0, 0.1), 0.0, "at rest on a slope");
        assert_eq!(sliding(-1.0, -1.0, 0.1), 0.0, "what drives makes no heat");
    }

    #[test]
    fn a_dragged_particle_comes_to_the_pointer_at_any_step_without_passing_it_far() {
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
    fn sticking_holds_up_to_its_limit() {
        let sticky = Surface { hold: 0.5, film: 0.005, ..ROUGH };
        let leaving = |v: Real| touched_velocity(Vec3::new(0.0, v, 0.0), &on_ground(0.0, 0.0), &sticky, &PACE).y;
        assert_eq!(leaving(0.3), 0.0);
        assert!((leaving(2.0) - 1.5).abs() < 1e-6);
        let above = touched_velocity(Vec3::new(0.0, 0.3, 0.0), &on_ground(0.01, 0.0), &sticky, &PACE);
        assert_eq!(above.y, 0.3, "only what touches sticks");
    }
}
