//! Radiation from a surface behind a thermal resistance (Stefan-Boltzmann law).

use super::network::RobinTerm;

/// Stefan-Boltzmann constant, W/(m2 K4).
const SIGMA: f64 = 5.670_374_419e-8;
/// Newton iterations for the surface temperature. From above, each removes at least a quarter of the excess,
/// and converges quadratically once that is small.
const MAX_ITERATIONS: usize = 60;

/// Radiating surface of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Radiator {
    pub node: u32,
    /// Area times the active fraction of the step, m2.
    pub area: f64,
    /// Emissivity times the Stefan-Boltzmann constant, W/(m2 K4).
    pub coefficient: f64,
    /// Resistance between the node and its surface, m2 K/W.
    pub resistance: f64,
    /// Temperature of the surroundings, in the scene's scale.
    pub ambient: f64,
    /// Absolute zero in the scene's scale.
    pub absolute_zero: f64,
}

/// Radiation coefficient of an emissivity, W/(m2 K4).
pub(super) fn radiation_coefficient(emissivity: f64) -> f64 {
    emissivity * SIGMA
}

impl Radiator {
    /// Robin term that is tangent to the radiation law at the node temperature `t`.
    pub fn linearise(&self, t: f64) -> RobinTerm {
        let surface = self.surface_temperature(t - self.absolute_zero);
        let ambient = self.ambient - self.absolute_zero;
        let slope = 4.0 * self.coefficient * cube(surface);
        let conductance = self.area * slope / (1.0 + self.resistance * slope);
        let outflow = self.area * self.coefficient * (fourth(surface) - fourth(ambient));
        RobinTerm { node: self.node, conductance, source: conductance * t - outflow }
    }

    /// Surface temperature `T_s`, K, from the balance `(T - T_s)/R = e sigma (T_s^4 - T_a^4)`.
    ///
    /// Left minus right side is decreasing and concave in `T_s`, so Newton's method from the larger of `T`
    /// and `T_a` converges monotonically from above.
    fn surface_temperature(&self, temperature: f64) -> f64 {
        let resistance_coefficient = self.resistance * self.coefficient;
        let ambient = self.ambient - self.absolute_zero;
        if resistance_coefficient == 0.0 {
            return temperature;
        }
        let mut surface = temperature.max(ambient);
        for _ in 0..MAX_ITERATIONS {
            let residual = surface + resistance_coefficient * (fourth(surface) - fourth(ambient)) - temperature;
            let next = surface - residual / (1.0 + 4.0 * resistance_coefficient * cube(surface));
            if next >= surface {
                break;
            }
            surface = next;
        }
        surface
    }
}

/// `t^4`, zero below absolute zero.
fn fourth(t: f64) -> f64 {
    t.max(0.0).powi(4)
}

fn cube(t: f64) -> f64 {
    t.max(0.0).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BALL: Radiator = Radiator {
        node: 3,
        area: 2.0,
        coefficient: 0.8 * SIGMA,
        resistance: 0.01,
        ambient: 20.0,
        absolute_zero: -273.15,
    };

    fn heat_flow(radiator: &Radiator, t: f64) -> f64 {
        let term = radiator.linearise(t);
        term.source - term.conductance * t
    }

    #[test]
    fn a_bare_surface_follows_the_stefan_boltzmann_law() {
        let bare = Radiator { resistance: 0.0, ..BALL };
        let expected = 2.0 * 0.8 * SIGMA * (293.15f64.powi(4) - 773.15f64.powi(4));
        assert!((heat_flow(&bare, 500.0) / expected - 1.0).abs() < 1e-12);
        assert!(heat_flow(&bare, 20.0).abs() < 1e-9);
    }

    #[test]
    fn the_radiated_heat_flows_through_the_resistance() {
        for t in [-500.0, -273.15, 0.0, 20.0, 500.0, 5000.0] {
            let surface = BALL.surface_temperature(t + 273.15);
            let conducted = 2.0 * (surface - (t + 273.15)) / 0.01;
            let flow = heat_flow(&BALL, t);
            assert!((conducted - flow).abs() < 1e-9 * (1.0 + flow.abs()), "{t}: {conducted} and {flow}");
        }
    }

    #[test]
    fn the_conductance_is_the_derivative_of_the_law() {
        for radiator in [BALL, Radiator { resistance: 0.0, ..BALL }] {
            let slope = (heat_flow(&radiator, 400.5) - heat_flow(&radiator, 399.5)).abs();
            // Central differences over 1 K have an error of the order (1/670)^2.
            assert!((radiator.linearise(400.0).conductance / slope - 1.0).abs() < 1e-5);
        }
    }
}
