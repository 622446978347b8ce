//! What a place does with heat: the curve of temperature over enthalpy, and where on it a place stands.

use crate::material::Heat;

/// The curve of temperature over enthalpy of a material, in numbers that cost little to use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matter {
    /// J/(kg K).
    specific: f64,
    /// Temperature while it melts, in the scene's scale; endless for what never does.
    melting: f64,
    /// Enthalpies at which melting begins and ends, J/kg.
    begin: f64,
    end: f64,
    /// J/kg.
    latent: f64,
}

/// Where a place stands on its curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    Solid,
    Melting,
    Molten,
}

impl Matter {
    pub fn new(heat: &Heat) -> Self {
        let specific = f64::from(heat.specific_heat);
        let latent = f64::from(heat.latent);
        // Without latent heat the curve is one straight line.
        let melting = heat.melting.filter(|_| latent > 0.0).map_or(f64::INFINITY, f64::from);
        let begin = specific * melting;
        Self { specific, melting, begin, end: begin + latent, latent }
    }

    /// What has a heat capacity and nothing else; enthalpy is temperature.
    pub fn plain() -> Self {
        Self { specific: 1.0, melting: f64::INFINITY, begin: f64::INFINITY, end: f64::INFINITY, latent: 0.0 }
    }

    /// Heat capacity where nothing melts, J/(kg K).
    pub fn specific(&self) -> f64 {
        self.specific
    }

    pub fn stand(&self, enthalpy: f64) -> Stand {
        if enthalpy <= self.begin {
            Stand::Solid
        } else if enthalpy < self.end {
            Stand::Melting
        } else {
            Stand::Molten
        }
    }

    pub fn temperature(&self, enthalpy: f64) -> f64 {
        self.straight(self.stand(enthalpy), enthalpy)
    }

    /// The temperature at an enthalpy on a straight piece of the curve, or on its extension.
    pub fn straight(&self, stand: Stand, enthalpy: f64) -> f64 {
        match stand {
            Stand::Solid => enthalpy / self.specific,
            Stand::Melting => self.melting,
            Stand::Molten => (enthalpy - self.latent) / self.specific,
        }
    }

    /// Heat capacity on a straight piece of the curve, J/(kg K).
    pub fn capacity(&self, stand: Stand) -> f64 {
        if stand == Stand::Melting { f64::INFINITY } else { self.specific }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_is_that_of_the_material() {
        let ice = Heat { specific_heat: 2000.0, melting: Some(-5.0), latent: 3.0e5, ..Heat::default() };
        for heat in [ice, Heat { latent: 0.0, ..ice }, Heat { melting: None, latent: 0.0, ..ice }] {
            let matter = Matter::new(&heat);
            for enthalpy in [-5.0e4, -1.0e4, 0.0, 1.0e5, 2.9e5, 4.0e5] {
                assert_eq!(matter.temperature(enthalpy) as f32, heat.temperature(enthalpy), "{heat:?} at {enthalpy}");
            }
        }
    }
}
