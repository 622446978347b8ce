//! Coulomb friction in the implicit solve: stick-slip states and their transitions.
//!
//! The slip limit of a contact is a fixed bound within a Newton iteration (Tresca friction); an outer iteration
//! lets it follow the normal impulse (Coulomb friction).

use crate::Real;
use crate::material::Friction;
use phyxel_laws::contact::ContactParams;

/// Relative change of a slip limit below which the limit is kept.
const LIMIT_TOL: Real = 0.03;

/// Contacts slower than this fraction of the rest speed start in stick.
const STICK_SPEED: Real = 0.25;

/// Change of impulses, relative to the sum of normal impulses, below which the active set counts as converged.
pub(in crate::model::tetra) const CHANGE_TOL: Real = 0.02;

/// Friction state of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::model::tetra) enum FrictionState {
    /// The friction impulse is as large as needed.
    Stick,
    /// Tresca friction: the friction impulse is as large as needed up to this fixed bound, kg m/s. The contact
    /// slips where the bound is reached.
    Slip(Real),
}

impl FrictionState {
    /// Initial state at this tangential speed, m/s. The limit of slip is 0 until the normal impulse is known.
    pub fn initial(friction: Friction, speed: Real, params: &ContactParams) -> Self {
        if friction.r#static > 0.0 && speed <= STICK_SPEED * params.rest_speed { Self::Stick } else { Self::Slip(0.0) }
    }

    /// Tests the state against Coulomb's law for these normal and tangential impulses, kg m/s.
    pub fn test(self, friction: Friction, normal: Real, tangential: Real) -> FrictionTransition {
        let limit = friction.kinetic * normal.max(0.0);
        let (is_required, next, change) = match self {
            Self::Stick => (tangential > friction.r#static * normal, Self::Slip(limit), (tangential - limit).abs()),
            Self::Slip(old) if tangential < ((1.0 - LIMIT_TOL) * old).min(friction.r#static * normal) => {
                (true, Self::Stick, 0.0)
            }
            Self::Slip(old) => ((old - limit).abs() > LIMIT_TOL * limit, Self::Slip(limit), (tangential - limit).abs()),
        };
        FrictionTransition { next, is_required, normal_impulse: normal, is_sticking: self == Self::Stick, change }
    }
}

/// Candidate transition of the friction state of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::model::tetra) struct FrictionTransition {
    next: FrictionState,
    /// True if Coulomb's law requires it.
    is_required: bool,
    /// kg m/s.
    normal_impulse: Real,
    /// True if the contact sticks before it.
    is_sticking: bool,
    /// Change of the friction impulse, kg m/s.
    change: Real,
}

/// Sums of impulses over the contacts of a block, kg m/s.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::model::tetra) struct FrictionSums {
    /// Normal impulses of all contacts.
    normal: Real,
    /// Normal impulses of sticking contacts, and of those among them beyond their static limit.
    sticking: Real,
    overloaded: Real,
    /// Changes by required transitions.
    change: Real,
}

impl FrictionSums {
    /// Accumulates a transition.
    pub fn add(&mut self, transition: &FrictionTransition) {
        let FrictionTransition { is_required, normal_impulse, is_sticking, change, .. } = *transition;
        self.normal += normal_impulse;
        self.sticking += if is_sticking { normal_impulse } else { 0.0 };
        self.overloaded += if is_sticking && is_required { normal_impulse } else { 0.0 };
        self.change += if is_required { change } else { 0.0 };
    }

    /// Returns true if the transitions change impulses by more than [`CHANGE_TOL`], so that another Newton
    /// iteration is needed.
    pub fn is_significant(&self) -> bool {
        self.change > CHANGE_TOL * self.normal
    }

    /// Next state of a contact; none if it keeps its state.
    ///
    /// All sticking contacts slip together once those beyond their static limit carry more than half of the
    /// normal impulse that sticks. Released one by one, each would leave its load to the others.
    pub fn next_state(&self, transition: &FrictionTransition) -> Option<FrictionState> {
        let all_slip = transition.is_sticking && self.overloaded > 0.5 * self.sticking;
        (transition.is_required || all_slip).then_some(transition.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUGH: Friction = Friction { r#static: 0.6, kinetic: 0.5 };

    /// Next state of a contact among others.
    fn next(
        state: FrictionState,
        normal: Real,
        tangential: Real,
        others: &[FrictionTransition],
    ) -> Option<FrictionState> {
        let transition = state.test(ROUGH, normal, tangential);
        let mut sums = FrictionSums::default();
        others.iter().chain([&transition]).for_each(|transition| sums.add(transition));
        sums.next_state(&transition)
    }

    #[test]
    fn stick_turns_to_slip_beyond_the_static_limit_and_back_below_it() {
        let params = ContactParams { dt: 0.01, rest_speed: 0.2, max_separation_speed: 1.0 };
        assert_eq!(FrictionState::initial(Friction::NONE, 0.0, &params), FrictionState::Slip(0.0));
        assert_eq!(FrictionState::initial(ROUGH, 0.1, &params), FrictionState::Slip(0.0));
        let stick = FrictionState::initial(ROUGH, 0.01, &params);
        assert_eq!(stick, FrictionState::Stick);
        assert_eq!(next(stick, 10.0, 5.9, &[]), None);
        let firm = stick.test(ROUGH, 20.0, 1.0);
        assert_eq!(next(stick, 10.0, 6.1, &[firm]), Some(FrictionState::Slip(5.0)));
        let slip = FrictionState::Slip(5.0);
        assert_eq!(next(slip, 10.2, 5.0, &[]), None);
        assert_eq!(next(slip, 20.0, 5.0, &[]), Some(FrictionState::Slip(10.0)));
        assert_eq!(next(slip, 10.0, 4.4, &[]), Some(FrictionState::Stick));
        // The old limit was far too large: the contact moves no more, but its impulse is beyond the static
        // limit.
        assert_eq!(next(FrictionState::Slip(500.0), 10.0, 7.0, &[]), Some(FrictionState::Slip(5.0)));
    }

    #[test]
    fn a_contact_within_its_limit_slips_with_the_majority() {
        let other = |normal: Real, tangential: Real| FrictionState::Stick.test(ROUGH, normal, tangential);
        assert_eq!(next(FrictionState::Stick, 10.0, 1.0, &[other(11.0, 7.0)]), Some(FrictionState::Slip(5.0)));
        assert_eq!(next(FrictionState::Stick, 10.0, 1.0, &[other(9.0, 7.0)]), None);
    }

    #[test]
    fn small_changes_are_not_significant() {
        let mut sums = FrictionSums::default();
        sums.add(&FrictionState::Stick.test(ROUGH, 100.0, 1.0));
        // An impulse of 3 where kinetic friction has 1.5.
        sums.add(&FrictionState::Stick.test(ROUGH, 3.0, 3.0));
        assert!(!sums.is_significant());
        sums.add(&FrictionState::Stick.test(ROUGH, 4.0, 4.0));
        assert!(sums.is_significant());
    }
}
