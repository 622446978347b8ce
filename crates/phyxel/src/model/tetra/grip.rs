//! Friction of nodes in implicit steps.

use crate::Real;
use crate::material::Friction;
use phyxel_laws::contact::Pace;

/// Part by which a push may change before sliding is looked at anew.
const NEWS: Real = 0.03;

/// What slides slower than this part of the speed at which contacts rest is first tried to be held.
const AT_REST: Real = 0.25;

/// Part of all pushes below which changes are none.
pub(super) const SMALL: Real = 0.02;

/// What friction does at a touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Grip {
    /// As much as is needed.
    Sticks,
    /// As much as is needed, but no more than this momentum, kg m/s.
    Slides(Real),
}

impl Grip {
    /// To start with, at this speed along the surface, m/s. How hard what slides is pressed is not known yet.
    pub fn new(friction: Friction, speed: Real, pace: &Pace) -> Self {
        if friction.r#static > 0.0 && speed <= AT_REST * pace.resting { Self::Sticks } else { Self::Slides(0.0) }
    }

    /// How it is after a touch gives this momentum along its normal and across.
    pub fn judge(self, friction: Friction, push: Real, across: Real) -> Verdict {
        let most = friction.kinetic * push.max(0.0);
        let (is_due, next, change) = match self {
            Self::Sticks => (across > friction.r#static * push, Self::Slides(most), (across - most).abs()),
            Self::Slides(before) if across < ((1.0 - NEWS) * before).min(friction.r#static * push) => {
                (true, Self::Sticks, 0.0)
            }
            Self::Slides(before) => ((before - most).abs() > NEWS * most, Self::Slides(most), (across - most).abs()),
        };
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

    /// Whether so much changes that velocities have to be looked for again.
    pub fn has_news(&self) -> bool {
        self.news > SMALL * self.pushes
    }

    /// How a touch goes on; nothing if it stays as it is. Where most of what sticks cannot hold, nothing does: one by one, each would leave its
    /// part to the others.
    pub fn decide(&self, verdict: &Verdict) -> Option<Grip> {
        let all_slide = verdict.sticks && self.too_much > 0.5 * self.stuck;
        (verdict.is_due || all_slide).then_some(verdict.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUGH: Friction = Friction { r#static: 0.6, kinetic: 0.5 };

    /// What becomes of a touch beside others.
    fn next(grip: Grip, push: Real, across: Real, others: &[Verdict]) -> Option<Grip> {
        let verdict = grip.judge(ROUGH, push, across);
        let mut court = Court::default();
        others.iter().chain([&verdict]).for_each(|verdict| court.hear(verdict));
        court.decide(&verdict)
    }

    #[test]
    fn what_sticks_slides_when_it_takes_too_much_and_sticks_again_when_it_takes_less() {
        let pace = Pace { dt: 0.01, resting: 0.2, push_limit: 1.0 };
        assert_eq!(Grip::new(Friction::NONE, 0.0, &pace), Grip::Slides(0.0));
        assert_eq!(Grip::new(ROUGH, 0.1, &pace), Grip::Slides(0.0));
        let grip = Grip::new(ROUGH, 0.01, &pace);
        assert_eq!(grip, Grip::Sticks);
        assert_eq!(next(grip, 10.0, 5.9, &[]), None);
        let firm = grip.judge(ROUGH, 20.0, 1.0);
        assert_eq!(next(grip, 10.0, 6.1, &[firm]), Some(Grip::Slides(5.0)));
        let sliding = Grip::Slides(5.0);
        assert_eq!(next(sliding, 10.2, 5.0, &[]), None);
        assert_eq!(next(sliding, 20.0, 5.0, &[]), Some(Grip::Slides(10.0)));
        assert_eq!(next(sliding, 10.0, 4.4, &[]), Some(Grip::Sticks));
        // What was given far too much slides no more, but by more than friction can.
        assert_eq!(next(Grip::Slides(500.0), 10.0, 7.0, &[]), Some(Grip::Slides(5.0)));
    }

    #[test]
    fn what_can_hold_breaks_loose_with_the_most() {
        let other = |push: Real, across: Real| Grip::Sticks.judge(ROUGH, push, across);
        assert_eq!(next(Grip::Sticks, 10.0, 1.0, &[other(11.0, 7.0)]), Some(Grip::Slides(5.0)));
        assert_eq!(next(Grip::Sticks, 10.0, 1.0, &[other(9.0, 7.0)]), None);
    }

    #[test]
    fn small_changes_are_no_news() {
        let mut court = Court::default();
        court.hear(&Grip::Sticks.judge(ROUGH, 100.0, 1.0));
        // Three units where friction gives one and a half.
        court.hear(&Grip::Sticks.judge(ROUGH, 3.0, 3.0));
        assert!(!court.has_news());
        court.hear(&Grip::Sticks.judge(ROUGH, 4.0, 4.0));
        assert!(court.has_news());
    }
}
