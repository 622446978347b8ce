//! Radiation from a surface that lies a little outside the place whose temperature is known.

use super::network::Inflow;

/// Stefan's and Boltzmann's constant, W/(m2 K4).
const SIGMA: f64 = 5.670_374_419e-8;
/// Most rounds of looking for the temperature of a surface. Each round from above takes at least a quarter off what is
/// too much, and squares the error once that is small.
const ROUNDS: usize = 60;

/// A surface that radiates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Radiator {
    pub place: u32,
    /// m2, less the part of the step in which it does nothing.
    pub area: f64,
    /// Emissivity times Stefan's and Boltzmann's constant, W/(m2 K4).
    pub strength: f64,
    /// From the place to its surface, m2 K/W.
    pub resistance: f64,
    /// Temperature of the surroundings, and absolute zero, in the scene's scale.
    pub ambient: f64,
    pub zero: f64,
}

/// Strength of a surface of an emissivity, W/(m2 K4).
pub(super) fn strength(emissivity: f64) -> f64 {
    emissivity * SIGMA
}

impl Radiator {
    /// What comes in at temperatures near `t` of the place: the tangent of the law there.
    pub fn near(&self, t: f64) -> Inflow {
        let surface = self.surface(t - self.zero);
        let ambient = self.ambient - self.zero;
        let slope = 4.0 * self.strength * cube(surface);
        let conductance = self.area * slope / (1.0 + self.resistance * slope);
        let out = self.area * self.strength * (fourth(surface) - fourth(ambient));
        Inflow { place: self.place, conductance, supply: conductance * t - out }
    }

    /// Temperature of the surface, K: what it radiates comes through the resistance, `(T - T_s)/R = e sigma (T_s^4 -
    /// T_a^4)`. The left side less the right one falls and is concave in `T_s`, so Newton's method from the larger of
    /// both ends comes down to the root and never passes it.
    fn surface(&self, place: f64) -> f64 {
        let weight = self.resistance * self.strength;
        let ambient = self.ambient - self.zero;
        if weight == 0.0 {
            return place;
        }
        let mut surface = place.max(ambient);
        for _ in 0..ROUNDS {
            let excess = surface + weight * (fourth(surface) - fourth(ambient)) - place;
            let next = surface - excess / (1.0 + 4.0 * weight * cube(surface));
            if next >= surface {
                break;
            }
            surface = next;
        }
        surface
    }
}

/// Nothing radiates below absolute zero.
fn fourth(t: f64) -> f64 {
    t.max(0.0).powi(4)
}

fn cube(t: f64) -> f64 {
    t.max(0.0).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BALL: Radiator =
        Radiator { place: 3, area: 2.0, strength: 0.8 * SIGMA, resistance: 0.01, ambient: 20.0, zero: -273.15 };

    fn inflow(radiator: &Radiator, t: f64) -> f64 {
        let inflow = radiator.near(t);
        inflow.supply - inflow.conductance * t
    }

    #[test]
    fn a_black_surface_radiates_as_stefan_says() {
        let bare = Radiator { resistance: 0.0, ..BALL };
        let expected = 2.0 * 0.8 * SIGMA * (293.15f64.powi(4) - 773.15f64.powi(4));
        assert!((inflow(&bare, 500.0) / expected - 1.0).abs() < 1e-12);
        assert!(inflow(&bare, 20.0).abs() < 1e-9);
    }

    #[test]
    fn what_a_surface_radiates_comes_through_its_resistance() {
        for t in [-500.0, -273.15, 0.0, 20.0, 500.0, 5000.0] {
            let surface = BALL.surface(t + 273.15);
            let through = 2.0 * (surface - (t + 273.15)) / 0.01;
            let flow = inflow(&BALL, t);
            assert!((through - flow).abs() < 1e-9 * (1.0 + flow.abs()), "{t}: {through} and {flow}");
        }
    }

    #[test]
    fn the_conductance_is_the_slope_of_the_law() {
        for radiator in [BALL, Radiator { resistance: 0.0, ..BALL }] {
            let slope = (inflow(&radiator, 400.5) - inflow(&radiator, 399.5)).abs();
            // The law is smooth: differences over 1 K are off by the square of 1/670.
            assert!((radiator.near(400.0).conductance / slope - 1.0).abs() < 1e-5);
        }
    }
}
