//! Rates of melting and freezing.

use crate::Real;

/// Rate law of melting and freezing (`[WHP06]` eqs. 15 and 16). Probabilities follow from rates by
/// [`event_probability`](crate::rng::event_probability).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseChange {
    /// Rate of melting per degree above the melting point, 1/(s K).
    pub melting: Real,
    /// K.
    pub melting_point: Real,
    /// Rate of freezing per degree below the freezing point and per solid neighbour beyond `min_neighbours`,
    /// 1/(s K).
    pub freezing: Real,
    /// K.
    pub freezing_point: Real,
    /// Freezing needs more solid neighbours than this; below 0, freezing is spontaneous.
    pub min_neighbours: Real,
    /// Speed relative to the solid above which the rate of freezing falls, m/s.
    pub max_speed: Real,
    /// Force of the lattice above which the rate of freezing falls, N.
    pub max_force: Real,
}

/// Solid neighbours of a particle that may freeze.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolidNeighbours {
    /// Number of solid neighbours.
    pub count: Real,
    /// Speed relative to their mean velocity, m/s; 0 without any.
    pub speed: Real,
    /// Magnitude of the sum of the forces of their lattices on the particle, N.
    pub force: Real,
}

impl PhaseChange {
    /// Rate at which a solid particle melts, 1/s.
    pub fn melting_rate(&self, temperature: Real) -> Real {
        (self.melting * (temperature - self.melting_point)).max(0.0)
    }

    /// Rate at which a fluid particle freezes, 1/s.
    ///
    /// The paper takes the larger of 0 and the product of undercooling and neighbours, which is positive too
    /// where both are missing; here each factor has to be positive.
    pub fn freezing_rate(&self, temperature: Real, neighbours: &SolidNeighbours) -> Real {
        let undercooling = (self.freezing_point - temperature).max(0.0);
        let excess = (neighbours.count - self.min_neighbours).max(0.0);
        let factor = attenuation(self.max_speed, neighbours.speed) * attenuation(self.max_force, neighbours.force);
        (self.freezing * undercooling * excess * factor).max(0.0)
    }
}

/// Returns `min(1, limit/value)`; 0 for NaN.
fn attenuation(limit: Real, value: Real) -> Real {
    if value <= limit { 1.0 } else { (limit / value).max(0.0) }
}

/// Advances the solid fraction, the factor from 0 (fluid) to 1 (solid) of elastic and damping forces. It
/// follows the phase linearly within a fade time (s), at once where that is 0.
pub fn advance_solid_fraction(fraction: Real, is_solid: bool, dt: Real, fade_time: Real) -> Real {
    let step = if fade_time > dt && dt >= 0.0 { dt / fade_time } else { 1.0 };
    (fraction.max(0.0) + if is_solid { step } else { -step }).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATER: PhaseChange = PhaseChange {
        melting: 2.0,
        melting_point: 273.0,
        freezing: 0.5,
        freezing_point: 272.0,
        min_neighbours: 2.0,
        max_speed: 0.1,
        max_force: 3.0,
    };

    #[test]
    fn warm_solids_melt() {
        assert_eq!(WATER.melting_rate(276.0), 6.0);
        assert_eq!(WATER.melting_rate(273.0), 0.0);
        assert_eq!((WATER.melting_rate(100.0), WATER.melting_rate(Real::NAN)), (0.0, 0.0));
    }

    #[test]
    fn cold_slow_fluid_freezes_to_solids() {
        let near = SolidNeighbours { count: 6.0, speed: 0.05, force: 1.0 };
        assert_eq!(WATER.freezing_rate(262.0, &near), 20.0);
        assert_eq!(WATER.freezing_rate(262.0, &SolidNeighbours { speed: 0.4, ..near }), 5.0);
        assert_eq!(WATER.freezing_rate(262.0, &SolidNeighbours { force: 6.0, ..near }), 10.0);
        assert_eq!(WATER.freezing_rate(272.5, &near), 0.0);
        assert_eq!(WATER.freezing_rate(262.0, &SolidNeighbours { count: 2.0, ..near }), 0.0);
        assert_eq!(
            WATER.freezing_rate(300.0, &SolidNeighbours::default()),
            0.0,
            "neither undercooled nor beside a solid"
        );
        let still = PhaseChange { max_speed: 0.0, max_force: 0.0, ..WATER };
        assert_eq!(still.freezing_rate(262.0, &SolidNeighbours { count: 6.0, ..SolidNeighbours::default() }), 20.0);
        assert_eq!(still.freezing_rate(262.0, &near), 0.0);
        for odd in [Real::NAN, Real::INFINITY] {
            assert_eq!(WATER.freezing_rate(262.0, &SolidNeighbours { speed: odd, ..near }), 0.0);
            assert_eq!(WATER.freezing_rate(odd, &near), 0.0);
        }
    }

    #[test]
    fn the_solid_fraction_follows_within_its_time() {
        let mut fraction = 1.0;
        (0..5).for_each(|_| fraction = advance_solid_fraction(fraction, false, 0.01, 0.1));
        assert!((fraction - 0.5).abs() < 1e-6);
        (0..9).for_each(|_| fraction = advance_solid_fraction(fraction, true, 0.01, 0.1));
        assert_eq!(fraction, 1.0);
        assert!((advance_solid_fraction(Real::NAN, true, 0.01, 0.1) - 0.1).abs() < 1e-6);
        assert_eq!(
            (advance_solid_fraction(1.0, false, 0.01, 0.0), advance_solid_fraction(0.0, true, 0.01, 0.005)),
            (0.0, 1.0)
        );
    }
}
