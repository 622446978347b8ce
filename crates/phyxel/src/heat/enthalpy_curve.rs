//! Enthalpy-temperature curve of a thermal node, and its three linear branches.

use crate::material::ThermalProperties;

/// Enthalpy-temperature curve of a material in `f64`: `T = H/c` for the solid, constant while melting, slope
/// `1/c` again for the melt.
#[derive(Clone, Copy, Debug)]
pub(super) struct EnthalpyCurve {
    /// Specific heat, J/(kg K).
    specific_heat: f64,
    /// Melting point, in the scene's scale; infinite for materials that never melt.
    melting: f64,
    /// Enthalpies at the start and the end of melting, J/kg.
    melting_start: f64,
    melting_end: f64,
    /// Latent heat, J/kg.
    latent_heat: f64,
}

/// Branch of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Branch {
    Solid,
    Melting,
    Molten,
}

impl EnthalpyCurve {
    pub fn new(heat: &ThermalProperties) -> Self {
        let specific_heat = f64::from(heat.specific_heat);
        let latent_heat = f64::from(heat.latent);
        // Without latent heat, the curve is a straight line.
        let melting = heat.melting.filter(|_| latent_heat > 0.0).map_or(f64::INFINITY, f64::from);
        let melting_start = specific_heat * melting;
        Self { specific_heat, melting, melting_start, melting_end: melting_start + latent_heat, latent_heat }
    }

    /// Curve of a node with a constant heat capacity, whose enthalpy is its temperature.
    pub fn linear() -> Self {
        Self {
            specific_heat: 1.0,
            melting: f64::INFINITY,
            melting_start: f64::INFINITY,
            melting_end: f64::INFINITY,
            latent_heat: 0.0,
        }
    }

    /// Specific heat outside melting, J/(kg K).
    pub fn specific_heat(&self) -> f64 {
        self.specific_heat
    }

    /// Branch at an enthalpy, J/kg.
    pub fn branch(&self, enthalpy: f64) -> Branch {
        if enthalpy <= self.melting_start {
            Branch::Solid
        } else if enthalpy < self.melting_end {
            Branch::Melting
        } else {
            Branch::Molten
        }
    }

    /// Temperature at an enthalpy, J/kg.
    pub fn temperature(&self, enthalpy: f64) -> f64 {
        self.temperature_on(self.branch(enthalpy), enthalpy)
    }

    /// Temperature at an enthalpy on a branch or its linear extension.
    pub fn temperature_on(&self, branch: Branch, enthalpy: f64) -> f64 {
        match branch {
            Branch::Solid => enthalpy / self.specific_heat,
            Branch::Melting => self.melting,
            Branch::Molten => (enthalpy - self.latent_heat) / self.specific_heat,
        }
    }

    /// Specific heat on a branch, J/(kg K); infinite while melting.
    pub fn capacity(&self, branch: Branch) -> f64 {
        if branch == Branch::Melting { f64::INFINITY } else { self.specific_heat }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_is_that_of_the_material() {
        let ice = ThermalProperties {
            specific_heat: 2000.0,
            melting: Some(-5.0),
            latent: 3.0e5,
            ..ThermalProperties::default()
        };
        for heat in
            [ice, ThermalProperties { latent: 0.0, ..ice }, ThermalProperties { melting: None, latent: 0.0, ..ice }]
        {
            let curve = EnthalpyCurve::new(&heat);
            for enthalpy in [-5.0e4, -1.0e4, 0.0, 1.0e5, 2.9e5, 4.0e5] {
                assert_eq!(curve.temperature(enthalpy) as f32, heat.temperature(enthalpy), "{heat:?} at {enthalpy}");
            }
        }
    }
}
