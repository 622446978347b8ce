//! What matter is made of: constant numbers in SI units, textbook meaning.

use crate::Real;
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// A quantity that depends on temperature: points joined by straight lines, constant outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    points: Vec<(Real, Real)>,
}

impl Curve {
    /// The same value at every temperature.
    pub fn constant(value: Real) -> Self {
        Self { points: vec![(0.0, value)] }
    }

    /// Points (temperature, value); `None` unless there is at least one and temperatures rise strictly.
    pub fn new(points: Vec<(Real, Real)>) -> Option<Self> {
        let rising = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let finite = points.iter().all(|(t, v)| t.is_finite() && v.is_finite());
        (!points.is_empty() && rising && finite).then_some(Self { points })
    }

    /// The value at a temperature.
    pub fn at(&self, temperature: Real) -> Real {
        let above = self.points.partition_point(|(t, _)| *t <= temperature);
        match (above.checked_sub(1).map(|i| self.points[i]), self.points.get(above).copied()) {
            (Some((t0, v0)), Some((t1, v1))) => v0 + (v1 - v0) * ((temperature - t0) / (t1 - t0)),
            (Some((_, v)), None) | (None, Some((_, v))) => v,
            (None, None) => 0.0,
        }
    }

    /// The points, temperatures rising.
    pub fn points(&self) -> &[(Real, Real)] {
        &self.points
    }
}

impl From<Real> for Curve {
    fn from(value: Real) -> Self {
        Self::constant(value)
    }
}

/// When and how fast matter takes a new rest shape (O'Brien et al. 2002, as `[MHTG05]` eq. 15 uses it).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plasticity {
    /// Strain above which it flows, without unit.
    pub yield_strain: Real,
    /// Part of the excess strain that becomes permanent per second, 1/s.
    pub creep: Real,
    /// Largest permanent strain, without unit.
    pub max: Real,
}

/// How matter takes up, conducts and loses heat. Temperatures are in the scene's scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heat {
    /// Along the own axes of a body at rest, W/(m K).
    pub conductivity: Vec3,
    /// J/(kg K).
    pub specific_heat: Real,
    /// Temperature above which it softens, if it does.
    pub softening: Option<Real>,
    /// Temperature at which it melts, if it does.
    pub melting: Option<Real>,
    /// Temperature at which it boils, if it does.
    pub boiling: Option<Real>,
    /// Latent heat of melting, J/kg.
    pub latent: Real,
    /// Linear thermal expansion, 1/K.
    pub expansion: Real,
}

impl Default for Heat {
    /// Close to a plastic: 0.2 W/(m K), 1000 J/(kg K), never melts.
    fn default() -> Self {
        Self {
            conductivity: Vec3::splat(0.2),
            specific_heat: 1000.0,
            softening: None,
            melting: None,
            boiling: None,
            latent: 0.0,
            expansion: 0.0,
        }
    }
}

impl Heat {
    /// Enthalpy at a temperature, J/kg, counted from temperature 0; molten above the melting point.
    pub fn enthalpy(&self, temperature: Real) -> f64 {
        let latent = if self.melting.is_some_and(|melting| temperature > melting) { self.latent } else { 0.0 };
        f64::from(self.specific_heat) * f64::from(temperature) + f64::from(latent)
    }

    /// Mean of the conductivities along the axes, W/(m K).
    pub fn mean_conductivity(&self) -> Real {
        let Vec3 { x, y, z } = self.conductivity;
        if x == y && y == z { x } else { (x + y + z) / 3.0 }
    }

    /// Temperature at an enthalpy: constant at the melting point while latent heat is taken up.
    pub fn temperature(&self, enthalpy: f64) -> Real {
        let specific = f64::from(self.specific_heat);
        let solid = enthalpy / specific;
        let temperature = match self.melting.map(f64::from) {
            Some(melting) if solid > melting => melting.max((enthalpy - f64::from(self.latent)) / specific),
            _ => solid,
        };
        temperature as Real
    }
}

/// How matter flows when it is fluid.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fluid {
    /// Dynamic viscosity, Pa s.
    pub viscosity: Real,
    /// Surface tension, N/m.
    pub surface_tension: Real,
}

/// Dry friction after Coulomb: force along the surface over force into it, without unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Friction {
    /// While at rest.
    pub r#static: Real,
    /// While sliding; not above the static one.
    pub kinetic: Real,
}

impl Friction {
    /// Without friction.
    pub const NONE: Self = Self { r#static: 0.0, kinetic: 0.0 };

    /// Friction between two materials: the geometric mean, so that a slippery one makes the pair slippery.
    pub fn between(a: Self, b: Self) -> Self {
        Self { r#static: (a.r#static * b.r#static).sqrt(), kinetic: (a.kinetic * b.kinetic).sqrt() }
    }
}

impl Default for Friction {
    fn default() -> Self {
        Self { r#static: 0.6, kinetic: 0.5 }
    }
}

/// How light meets matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Finish {
    /// Rough: clay, rubber, stone.
    #[default]
    Matte,
    /// A smooth coat over colour: plastic, glazed, wet.
    Glossy,
    /// Reflects in its own colour: steel, lead, gold.
    Metal,
    /// Light goes in and comes out nearby: wax, skin, milk.
    Wax,
    /// Coloured and let through: jelly, honey.
    Jelly,
    /// Let through: water, glass, ice.
    Clear,
}

impl Finish {
    /// Every finish with its word.
    pub const ALL: [(&'static str, Self); 6] = [
        ("matte", Self::Matte),
        ("glossy", Self::Glossy),
        ("metal", Self::Metal),
        ("wax", Self::Wax),
        ("jelly", Self::Jelly),
        ("clear", Self::Clear),
    ];

    /// Roughness of the surface, 0 (a mirror) to 1.
    pub fn roughness(self) -> Real {
        match self {
            Self::Matte => 0.85,
            Self::Glossy | Self::Wax => 0.35,
            Self::Metal => 0.3,
            Self::Jelly => 0.15,
            Self::Clear => 0.05,
        }
    }

    /// 1 for metals, else 0.
    pub fn metalness(self) -> Real {
        if self == Self::Metal { 1.0 } else { 0.0 }
    }

    /// Part of the light that is let through rather than thrown back, 0 to 1.
    pub fn transmission(self) -> Real {
        match self {
            Self::Matte | Self::Glossy | Self::Metal => 0.0,
            Self::Wax => 0.2,
            Self::Jelly => 0.55,
            Self::Clear => 0.9,
        }
    }
}

/// A kind of matter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Unique name.
    pub name: String,
    /// kg/m3.
    pub density: Real,
    /// Young's modulus, Pa, over temperature.
    pub young_modulus: Curve,
    /// Poisson's ratio, without unit.
    pub poisson_ratio: Real,
    /// Part of critical damping of the slowest elastic motion, without unit (0 rings for ever, 1 creeps back).
    pub damping: Real,
    /// Stress at which it breaks, Pa; `None` never breaks.
    pub strength: Option<Real>,
    /// Permanent deformation; `None` is elastic.
    pub plasticity: Option<Plasticity>,
    /// Friction against other bodies.
    pub friction: Friction,
    /// Part of the approach velocity that comes back after an impact between bodies, 0 to 1.
    pub restitution: Real,
    /// Heat and phase change.
    pub heat: Heat,
    /// Flow once molten.
    pub fluid: Fluid,
    /// Red, green, blue in 0..1, not linearised.
    pub color: [Real; 3],
    /// How light meets it.
    pub finish: Finish,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: "default".into(),
            density: 1000.0,
            young_modulus: Curve::constant(1.0e6),
            poisson_ratio: 0.3,
            damping: 0.05,
            strength: None,
            plasticity: None,
            friction: Friction::default(),
            restitution: 0.0,
            heat: Heat::default(),
            fluid: Fluid { viscosity: 0.1, surface_tension: 0.07 },
            color: [0.72, 0.72, 0.74],
            finish: Finish::Matte,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_linear_between_its_points_and_constant_outside() {
        let curve = Curve::new(vec![(0.0, 2.0), (6.0, 1.0), (8.0, 0.0)]).unwrap();
        assert_eq!([-1.0, 0.0, 3.0, 6.0, 7.0, 8.0, 99.0].map(|t| curve.at(t)), [2.0, 2.0, 1.5, 1.0, 0.5, 0.0, 0.0]);
        assert!(Curve::new(vec![(1.0, 0.0), (1.0, 1.0)]).is_none());
        assert!(Curve::new(vec![]).is_none());
    }

    #[test]
    fn temperature_undoes_enthalpy_away_from_the_melting_point_and_waits_there() {
        let heat = Heat { specific_heat: 2000.0, melting: Some(10.0), latent: 3.0e5, ..Heat::default() };
        for temperature in [-5.0, 0.0, 9.0, 11.0, 50.0] {
            assert!((heat.temperature(heat.enthalpy(temperature)) - temperature).abs() < 1e-4);
        }
        assert_eq!(heat.temperature(2000.0 * 10.0 + 1.5e5), 10.0);
    }
}
