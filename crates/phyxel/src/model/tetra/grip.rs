//! Friction of nodes in implicit steps.

use crate::Real;
use crate::material::Friction;
use glam::Vec3;
use phyxel_laws::contact::Pace;

/// Part by which a push may change before sliding is looked at anew.
const NEWS: Real = 0.1;

/// What slides slower than this part of the speed at which contacts rest is first tried to be held.
const AT_REST: Real = 0.25;

/// Part of all pushes below which changes are none.
const SMALL: Real = 0.05;

/// What friction does at a touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Grip {
    /// As much as is needed.
    Sticks,
    /// It gives this momentum, kg m/s.
    Slides(Vec3),
}

impl Grip {
    /// To start with, at this speed along the surface, m/s. How hard what slides is pressed is not known yet.
    pub fn new(friction: Friction, speed: Real, pace: &Pace) -> Self {
        if friction.r#static > 0.0 && speed <= AT_REST * pace.resting { Self::Sticks } else { Self::Slides(Vec3::ZERO) }
    }

    /// Whether it gives momentum along the sliding instead of against it.
    pub fn drives(self, sliding: Vec3) -> bool {
        matches!(self, Self::Slides(given) if given.dot(sliding) > 0.0)
    }

    /// How it is after a touch that holds gives this momentum along its normal and across, while what touches slides at this velocity.
    pub fn judge(self, friction: Friction, push: Real, across: Vec3, sliding: Vec3) -> Verdict {
        let most = friction.kinetic * push;
        let next = match self {
            Self::Sticks => Self::Slides(across.normalize_or_zero() * most),
            Self::Slides(_) if self.drives(sliding) => Self::Sticks,
            Self::Slides(_) => Self::Slides(-sliding.normalize_or_zero() * most),
        };
        let is_due = match self {
            Self::Sticks => across.length() > friction.r#static * push,
            Self::Slides(given) => next == Self::Sticks || (given.length() - most).abs() > NEWS * most,
        };
        let given = |grip: Self| if let Self::Slides(given) = grip { given } else { across };
        let change = (given(next) - given(self)).length();
        Verdict { next, is_due, push, sticks: self == Self::Sticks, change }
    }
}

/// What comes next at a touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Verdict {
    /// How it would go on.
    next: Grip,
    /// Whether it has to.
    is_due: bool,
    /// Momentum with which it is pressed, kg m/s.
    push: Real,
    /// Whether it sticks so far.
    sticks: bool,
    /// How much momentum it would give otherwise, kg m/s.
    change: Real,
}

/// The verdicts on all touches, in momentum, kg m/s.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Court {
    /// All pushes.
    pushes: Real,
    /// Pushes of what sticks, and of that what cannot hold.
    stuck: Real,
    too_much: Real,
    /// What changes.
    news: Real,
}

impl Court {
    pub fn hear(&mut self, verdict: &Verdict) {
        self.pushes += verdict.push;
        self.stuck += if verdict.sticks { verdict.push } else { 0.0 };
        self.too_much += if verdict.sticks && verdict.is_due { verdict.push } else { 0.0 };
        self.news += if verdict.is_due { verdict.change } else { 0.0 };
    }

    /// Hears that a touch has ended or begun, which gave or will give so much.
    pub fn hear_of(&mut self, change: Real) {
        self.news += change;
    }

    /// Whether so much changes that velocities have to be looked for again.
    pub fn has_news(&self) -> bool {
        self.news > SMALL * self.pushes
    }

    /// How a touch goes on; nothing if it stays as it is. Where most of what sticks cannot hold, nothing does, and which way all of it slides
    /// has to be seen first: one by one, each would leave its part to the others.
    pub fn decide(&self, verdict: &Verdict) -> Option<Grip> {
        if verdict.sticks && self.too_much > 0.5 * self.stuck {
            return Some(Grip::Slides(Vec3::ZERO));
        }
        verdict.is_due.then_some(verdict.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUGH: Friction = Friction { r#static: 0.6, kinetic: 0.5 };

    /// What becomes of a touch beside others.
    fn next(grip: Grip, push: Real, across: Vec3, sliding: Vec3, others: &[Verdict]) -> Option<Grip> {
        let verdict = grip.judge(ROUGH, push, across, sliding);
        let mut court = Court::default();
        others.iter().chain([&verdict]).for_each(|verdict| court.hear(verdict));
        court.decide(&verdict)
    }

    #[test]
    fn what_sticks_slides_when_it_takes_too_much_and_sticks_again_before_it_turns_around() {
        let pace = Pace { dt: 0.01, resting: 0.2, push_limit: 1.0 };
        assert_eq!(Grip::new(Friction::NONE, 0.0, &pace), Grip::Slides(Vec3::ZERO));
        assert_eq!(Grip::new(ROUGH, 0.1, &pace), Grip::Slides(Vec3::ZERO));
        let grip = Grip::new(ROUGH, 0.01, &pace);
        assert_eq!(grip, Grip::Sticks);
        assert_eq!(next(grip, 10.0, Vec3::X * 5.9, Vec3::ZERO, &[]), None);
        let sliding = Grip::Slides(Vec3::X * 5.0);
        let firm = grip.judge(ROUGH, 20.0, Vec3::X, Vec3::ZERO);
        assert_eq!(next(grip, 10.0, Vec3::X * 6.1, Vec3::ZERO, &[firm]), Some(sliding));
        assert_eq!(next(sliding, 10.5, Vec3::X * 5.0, Vec3::NEG_X, &[]), None);
        assert_eq!(next(sliding, 20.0, Vec3::X * 5.0, Vec3::NEG_X, &[]), Some(Grip::Slides(Vec3::X * 10.0)));
        assert_eq!(next(sliding, 10.0, Vec3::X * 5.0, Vec3::X, &[]), Some(Grip::Sticks));
    }

    #[test]
    fn what_can_hold_breaks_loose_with_the_most() {
        let other = |push: Real, across: Real| Grip::Sticks.judge(ROUGH, push, Vec3::X * across, Vec3::ZERO);
        let slides = Some(Grip::Slides(Vec3::ZERO));
        assert_eq!(next(Grip::Sticks, 10.0, Vec3::X, Vec3::ZERO, &[other(11.0, 7.0)]), slides);
        assert_eq!(next(Grip::Sticks, 10.0, Vec3::X, Vec3::ZERO, &[other(9.0, 7.0)]), None);
    }

    #[test]
    fn small_changes_are_no_news() {
        let mut court = Court::default();
        court.hear(&Grip::Sticks.judge(ROUGH, 100.0, Vec3::X, Vec3::ZERO));
        court.hear_of(4.0);
        assert!(!court.has_news());
        // Five units where friction gives two and a half.
        court.hear(&Grip::Sticks.judge(ROUGH, 5.0, Vec3::X * 5.0, Vec3::ZERO));
        assert!(court.has_news());
    }
}
