//! Chances of melting and freezing.

use crate::Real;

/// How readily matter melts and freezes (`[WHP06]` eqs. 15 and 16). Chances follow from rates by
/// [`chance`](crate::random::chance).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseChange {
    /// Rate of melting per degree above the melting point, 1/(s K).
    pub melting: Real,
    /// K.
    pub melting_point: Real,
    /// Rate of freezing per degree below the freezing point and per solid neighbour beyond the fewest, 1/(s K).
    pub freezing: Real,
    /// K.
    pub freezing_point: Real,
    /// Freezing needs more solid neighbours than this; below 0, matter freezes by itself.
    pub fewest: Real,
    /// Difference in speed to the solid from which on freezing becomes rare, m/s.
    pub fastest: Real,
    /// Force of the lattice from which on freezing becomes rare, N.
    pub strongest: Real,
}

/// What is around a particle that may freeze.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Around {
    /// Number of solid neighbours.
    pub solid: Real,
    /// Speed relative to the mean velocity of those, m/s; 0 without any.
    pub speed: Real,
    /// Size of the sum of the forces that their lattices would have on it, N.
    pub force: Real,
}

impl PhaseChange {
    /// Rate at which a solid particle melts, 1/s.
    pub fn melting_rate(&self, temperature: Real) -> Real {
        (self.melting * (temperature - self.melting_point)).max(0.0)
    }

    /// Rate at which a fluid particle freezes, 1/s.
    ///
    /// The source takes the larger of 0 and the product of cold and neighbours, which is positive too where it is both warm
    /// and lonely; here each has to be positive.
    pub fn freezing_rate(&self, temperature: Real, around: &Around) -> Real {
        let cold = (self.freezing_point - temperature).max(0.0);
        let neighbours = (around.solid - self.fewest).max(0.0);
        let calm = ratio(self.fastest, around.speed) * ratio(self.strongest, around.force);
        (self.freezing * cold * neighbours * calm).max(0.0)
    }
}

/// `min(1, limit/value)`; 0 for what is no number.
fn ratio(limit: Real, value: Real) -> Real {
    if value <= limit { 1.0 } else { (limit / value).max(0.0) }
}

/// Part of the elastic and damping forces after a step, from 0 (fluid) to 1 (solid): it follows the phase evenly within
/// a time (s), at once where that is 0.
pub fn faded(share: Real, is_solid: bool, dt: Real, time: Real) -> Real {
    let step = if time > dt && dt >= 0.0 { dt / time } else { 1.0 };
    (share.max(0.0) + if is_solid { step } else { -step }).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATER: PhaseChange = PhaseChange {
        melting: 2.0,
        melting_point: 273.0,
        freezing: 0.5,
        freezing_point: 272.0,
        fewest: 2.0,
        fastest: 0.1,
        strongest: 3.0,
    };

    #[test]
    fn warm_solids_melt() {
        assert_eq!(WATER.melting_rate(276.0), 6.0);
        assert_eq!(WATER.melting_rate(273.0), 0.0);
        assert_eq!((WATER.melting_rate(100.0), WATER.melting_rate(Real::NAN)), (0.0, 0.0));
    }

    #[test]
    fn cold_calm_fluid_freezes_to_solids() {
        let near = Around { solid: 6.0, speed: 0.05, force: 1.0 };
        assert_eq!(WATER.freezing_rate(262.0, &near), 20.0);
        assert_eq!(WATER.freezing_rate(262.0, &Around { speed: 0.4, ..near }), 5.0);
        assert_eq!(WATER.freezing_rate(262.0, &Around { force: 6.0, ..near }), 10.0);
        assert_eq!(WATER.freezing_rate(272.5, &near), 0.0);
        assert_eq!(WATER.freezing_rate(262.0, &Around { solid: 2.0, ..near }), 0.0);
        assert_eq!(WATER.freezing_rate(300.0, &Around::default()), 0.0, "neither cold nor near anything solid");
        let still = PhaseChange { fastest: 0.0, strongest: 0.0, ..WATER };
        assert_eq!(still.freezing_rate(262.0, &Around { solid: 6.0, ..Around::default() }), 20.0);
        assert_eq!(still.freezing_rate(262.0, &near), 0.0);
        for odd in [Real::NAN, Real::INFINITY] {
            assert_eq!(WATER.freezing_rate(262.0, &Around { speed: odd, ..near }), 0.0);
            assert_eq!(WATER.freezing_rate(odd, &near), 0.0);
        }
    }

    #[test]
    fn forces_fade_within_their_time() {
        let mut share = 1.0;
        (0..5).for_each(|_| share = faded(share, false, 0.01, 0.1));
        assert!((share - 0.5).abs() < 1e-6);
        (0..9).for_each(|_| share = faded(share, true, 0.01, 0.1));
        assert_eq!(share, 1.0);
        assert!((faded(Real::NAN, true, 0.01, 0.1) - 0.1).abs() < 1e-6);
        assert_eq!((faded(1.0, false, 0.01, 0.0), faded(0.0, true, 0.01, 0.005)), (0.0, 1.0));
    }
}
