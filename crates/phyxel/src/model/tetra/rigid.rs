//! How pieces move as a whole.

use crate::Real;
use crate::model::{angular_velocity, turning_ease};
use glam::{DMat3, DVec3};

/// The most that a piece turns in a step, rad: nodes that go straight then widen it by an eighth.
const TURN: f64 = 0.5;
/// The most that a node moves beside its piece in a step, in parts of how far that reaches.
const CHANGE: f64 = 0.25;

/// A node of a piece: its number among all, its inertia, kg, and where it is, m.
pub(super) struct Own {
    pub node: usize,
    pub weight: f64,
    pub place: DVec3,
}

/// The motion of nodes as a whole.
#[derive(Clone, Copy)]
pub(super) struct Rigid {
    pub middle: DVec3,
    pub shift: DVec3,
    pub spin: DVec3,
}

impl Rigid {
    /// Of nodes with these velocities, m/s.
    pub fn new(owns: &[Own], velocities: &[DVec3]) -> Self {
        let mass = owns.iter().map(|own| own.weight).sum::<f64>().max(f64::MIN_POSITIVE);
        let shift = owns.iter().zip(velocities).map(|(own, velocity)| own.weight * *velocity).sum::<DVec3>() / mass;
        let middle = owns.iter().map(|own| own.weight * own.place).sum::<DVec3>() / mass;
        let moved = owns.iter().zip(velocities);
        let spin = angular_velocity(moved.map(|(own, velocity)| (own.weight, own.place - middle, *velocity - shift)));
        Self { middle, shift, spin }
    }

    pub fn at(&self, place: DVec3) -> DVec3 {
        self.shift + self.spin.cross(place - self.middle)
    }

    /// The inverse of the inertia of turns of nodes, 1/(kg m2).
    pub fn ease(&self, owns: &[Own]) -> DMat3 {
        let (ease, size) = turning_ease(owns.iter().map(|own| (own.weight, own.place - self.middle)));
        ease * (1.0 / size)
    }
}

/// Lets a piece turn and change its shape no more in a step than nodes that go straight can; whether it had to.
pub(super) fn slow_down(owns: &[Own], dt: Real, velocities: &mut [DVec3]) -> bool {
    let rigid = Rigid::new(owns, velocities);
    let turn = rigid.spin.length() * f64::from(dt);
    let [mut reach, mut fastest] = [0.0f64; 2];
    for (own, velocity) in owns.iter().zip(&*velocities) {
        reach = reach.max((own.place - rigid.middle).length_squared());
        fastest = fastest.max((*velocity - rigid.at(own.place)).length_squared());
    }
    let change = fastest.sqrt() * f64::from(dt) / reach.sqrt().max(f64::MIN_POSITIVE);
    if turn <= TURN && change <= CHANGE {
        return false;
    }
    let slower = Rigid { spin: rigid.spin * (TURN / turn).min(1.0), ..rigid };
    let part = (CHANGE / change).min(1.0);
    for (own, velocity) in owns.iter().zip(velocities) {
        *velocity = slower.at(own.place) + part * (*velocity - rigid.at(own.place));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four corners of different weight.
    fn piece() -> Vec<Own> {
        let places = [DVec3::ZERO, DVec3::X, 2.0 * DVec3::Y, DVec3::new(0.3, 0.4, 1.5)];
        (0..4).map(|node| Own { node, weight: 1.0 + node as f64, place: places[node] }).collect()
    }

    /// Momentum and spin of nodes that move so.
    fn momenta(owns: &[Own], velocities: &[DVec3]) -> [DVec3; 2] {
        let sum = |of: &dyn Fn(&Own, DVec3) -> DVec3| owns.iter().zip(velocities).map(|(own, &v)| of(own, v)).sum();
        [sum(&|own, v| own.weight * v), sum(&|own, v| own.weight * own.place.cross(v))]
    }

    #[test]
    fn a_piece_as_a_whole_has_the_momentum_and_the_spin_of_its_nodes() {
        let owns = piece();
        let velocities = [DVec3::X, DVec3::new(0.2, -1.0, 3.0), DVec3::Z, DVec3::new(-2.0, 0.5, 0.1)];
        let rigid = Rigid::new(&owns, &velocities);
        let whole: Vec<DVec3> = owns.iter().map(|own| rigid.at(own.place)).collect();
        for (a, b) in momenta(&owns, &velocities).into_iter().zip(momenta(&owns, &whole)) {
            // Inertia is a millionth larger, so that lines do not spin about themselves.
            assert!((a - b).length() < 1e-4 * a.length(), "{a} and {b}");
        }
        // What is turned by angular momentum turns by that much.
        let twist = DVec3::new(0.1, 2.0, -1.0);
        let turned = Rigid { shift: DVec3::ZERO, spin: rigid.ease(&owns) * twist, ..rigid };
        let turned: Vec<DVec3> = owns.iter().map(|own| turned.at(own.place)).collect();
        let [push, spin] = momenta(&owns, &turned);
        assert!(push.length() < 1e-12 && (spin - twist).length() < 1e-4, "{push} and {spin}");
    }

    #[test]
    fn a_piece_that_is_too_fast_is_slowed_but_goes_where_it_goes() {
        let owns = piece();
        let spun = |spin: f64| -> Vec<DVec3> {
            owns.iter().map(|own| 40.0 * DVec3::X + DVec3::new(0.0, 0.0, spin).cross(own.place)).collect()
        };
        // A tenth of a second at 4 rad/s is not too much, at 9 rad/s it is.
        let mut slow = spun(4.0);
        assert!(!slow_down(&owns, 0.1, &mut slow));
        assert_eq!(slow, spun(4.0));
        let mut fast = spun(9.0);
        assert!(slow_down(&owns, 0.1, &mut fast));
        let (was, is) = (Rigid::new(&owns, &spun(9.0)), Rigid::new(&owns, &fast));
        assert!((is.shift - was.shift).length() < 1e-12 * was.shift.length(), "{}", is.shift);
        // As above, a millionth is lost.
        assert!((is.spin - DVec3::new(0.0, 0.0, TURN / 0.1)).length() < 1e-4, "{}", is.spin);

        let mut torn = spun(0.0);
        torn[0].y = 300.0;
        let (before, middle) = (Rigid::new(&owns, &torn), torn.clone());
        assert!(slow_down(&owns, 0.1, &mut torn));
        let reach = owns.iter().map(|own| (own.place - before.middle).length()).fold(0.0, f64::max);
        let after = Rigid::new(&owns, &torn);
        let change = |velocities: &[DVec3], rigid: &Rigid| {
            owns.iter().zip(velocities).map(|(own, v)| (*v - rigid.at(own.place)).length()).fold(0.0, f64::max)
        };
        assert!(change(&middle, &before) * 0.1 > CHANGE * reach);
        assert!(change(&torn, &after) * 0.1 < (CHANGE + 1e-4) * reach);
    }
}
