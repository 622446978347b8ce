//! Material properties, in SI units.

use crate::Real;
use glam::Vec3;
use phyxel_laws::material::plasticity::YieldLaw;
use serde::{Deserialize, Serialize};

/// Temperature-dependent property: piecewise linear, constant outside its points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    points: Vec<(Real, Real)>,
}

impl Curve {
    /// Constant property.
    pub fn constant(value: Real) -> Self {
        Self { points: vec![(0.0, value)] }
    }

    /// From points (temperature, value); `None` unless there is at least one and temperatures increase strictly.
    pub fn new(points: Vec<(Real, Real)>) -> Option<Self> {
        let rising = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let finite = points.iter().all(|(t, v)| t.is_finite() && v.is_finite());
        (!points.is_empty() && rising && finite).then_some(Self { points })
    }

    /// Value at a temperature.
    pub fn at(&self, temperature: Real) -> Real {
        let above = self.points.partition_point(|(t, _)| *t <= temperature);
        match (above.checked_sub(1).map(|i| self.points[i]), self.points.get(above).copied()) {
            (Some((t0, v0)), Some((t1, v1))) => v0 + (v1 - v0) * ((temperature - t0) / (t1 - t0)),
            (Some((_, v)), None) | (None, Some((_, v))) => v,
            (None, None) => 0.0,
        }
    }

    /// Points in order of temperature.
    pub fn points(&self) -> &[(Real, Real)] {
        &self.points
    }

    /// Returns true if all values satisfy a condition.
    pub fn all(&self, condition: impl Fn(Real) -> bool) -> bool {
        self.points.iter().all(|&(_, value)| condition(value))
    }
}

impl From<Real> for Curve {
    fn from(value: Real) -> Self {
        Self::constant(value)
    }
}

/// Yield criterion and creep rate of plastic flow (O'Brien et al. 2002, as in `[MHTG05]` eq. 15, `[MKN04]`
/// section 4.1 and `[Gis07]` section 3.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plasticity {
    /// Yield strain, without unit, over temperature.
    pub yield_strain: Curve,
    /// Creep rate: fraction of the elastic strain (mass-spring: of the excess over the yield strain) that
    /// becomes plastic per second, 1/s.
    pub creep: Real,
    /// Maximum plastic strain, without unit.
    pub max: Real,
}

/// Materials to which a material welds or ties on contact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sticky {
    /// Names of materials. Bodies of a material that names itself are welded; bodies of different materials
    /// are tied if either names the other.
    pub with: Vec<String>,
    /// Temperature from which it is sticky; any temperature if `None`.
    pub above: Option<Real>,
}

impl Sticky {
    /// Sticky to these materials at any temperature.
    pub fn to<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self { with: names.into_iter().map(Into::into).collect(), above: None }
    }
}

/// Thermal properties. Temperatures are in the scene's scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThermalProperties {
    /// Thermal conductivity along the axes of the rest frame, W/(m K).
    pub conductivity: Vec3,
    /// Specific heat, J/(kg K).
    pub specific_heat: Real,
    /// Softening temperature.
    pub softening: Option<Real>,
    /// Melting temperature.
    pub melting: Option<Real>,
    /// Boiling temperature.
    pub boiling: Option<Real>,
    /// Latent heat of fusion, J/kg.
    pub latent: Real,
    /// Coefficient of linear thermal expansion, 1/K.
    pub expansion: Real,
    /// Fraction of the stiffness just below the melting point, where softening is complete, 0 to 1.
    pub softened: Real,
    /// Conversion of dissipated work into heat.
    pub from_work: HeatFromWork,
}

/// Fractions of dissipated work that become heat of the material, 0 to 1 each; the rest is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeatFromWork {
    /// Fraction of plastic work (Taylor-Quinney coefficient).
    pub plastic: Real,
    /// Fraction of the work of friction against bodies and obstacles.
    pub friction: Real,
    /// Fraction of the work of internal damping and viscosity.
    pub damping: Real,
}

impl HeatFromWork {
    /// Returns true if any work becomes heat.
    pub fn generates_heat(&self) -> bool {
        *self != Self::default()
    }
}

impl Default for ThermalProperties {
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
            softened: 0.0,
            from_work: HeatFromWork::default(),
        }
    }
}

impl ThermalProperties {
    /// Specific enthalpy at a temperature, relative to temperature 0, J/kg; liquid above the melting point.
    pub fn enthalpy(&self, temperature: Real) -> f64 {
        let latent = if self.melting.is_some_and(|melting| temperature > melting) { self.latent } else { 0.0 };
        f64::from(self.specific_heat) * f64::from(temperature) + f64::from(latent)
    }

    /// Specific enthalpy of a solid-liquid mixture, J/kg. The liquid fraction counts at the melting point only.
    pub fn mixture_enthalpy(&self, temperature: Real, liquid_fraction: Real) -> f64 {
        let latent =
            if self.melting == Some(temperature) { f64::from(liquid_fraction) * f64::from(self.latent) } else { 0.0 };
        self.enthalpy(temperature) + latent
    }

    /// Returns true if both have the same enthalpy-temperature curve.
    pub fn has_same_enthalpy_curve(&self, other: &Self) -> bool {
        (self.specific_heat, self.melting, self.latent) == (other.specific_heat, other.melting, other.latent)
    }

    /// Mean conductivity over the axes, W/(m K).
    pub fn mean_conductivity(&self) -> Real {
        let Vec3 { x, y, z } = self.conductivity;
        if x == y && y == z { x } else { (x + y + z) / 3.0 }
    }

    /// Temperature at a specific enthalpy; constant at the melting point while latent heat is absorbed.
    pub fn temperature(&self, enthalpy: f64) -> Real {
        let specific = f64::from(self.specific_heat);
        let solid = enthalpy / specific;
        let temperature = match self.melting.map(f64::from) {
            Some(melting) if solid > melting => melting.max((enthalpy - f64::from(self.latent)) / specific),
            _ => solid,
        };
        temperature as Real
    }

    /// Stiffness at a temperature relative to that of the cold solid, 0 to 1 (`[TPF89]` eq. 10): 1 up to the
    /// softening point, linear down to [`softened`](Self::softened) at the melting point, 0 beyond.
    ///
    /// A material with a softening point and no melting point keeps its stiffness, as the slope is unknown;
    /// give a curve of Young's modulus instead.
    pub fn stiffness_fraction(&self, temperature: Real) -> Real {
        let is_molten = self.melting.is_some_and(|melting| temperature >= melting);
        self.mixture_stiffness_fraction(temperature, if is_molten { 1.0 } else { 0.0 })
    }

    /// Relative stiffness of a solid-liquid mixture: the solid fraction at the melting point still carries load.
    pub fn mixture_stiffness_fraction(&self, temperature: Real, liquid_fraction: Real) -> Real {
        (1.0 - (1.0 - self.softened) * self.softening_progress(temperature)) * (1.0 - liquid_fraction)
    }

    /// Softness, 0 (cold solid) to 1 (liquid), from the progress of softening and the liquid fraction.
    pub fn softness(&self, temperature: Real, liquid_fraction: Real) -> Real {
        1.0 - (1.0 - self.softening_progress(temperature)) * (1.0 - liquid_fraction)
    }

    /// Position of a temperature between softening and melting point, 0 to 1; 0 if either is missing.
    fn softening_progress(&self, temperature: Real) -> Real {
        match (self.softening, self.melting) {
            (Some(softening), Some(melting)) if temperature > softening => {
                if temperature < melting {
                    (temperature - softening) / (melting - softening)
                } else {
                    1.0
                }
            }
            _ => 0.0,
        }
    }

    /// Liquid fraction at a specific enthalpy, 0 to 1: the absorbed fraction of the latent heat.
    pub fn liquid_fraction(&self, enthalpy: f64) -> Real {
        let Some(melting) = self.melting else { return 0.0 };
        let excess = enthalpy - f64::from(self.specific_heat) * f64::from(melting);
        if self.latent > 0.0 {
            (excess / f64::from(self.latent)).clamp(0.0, 1.0) as Real
        } else if excess >= 0.0 {
            1.0
        } else {
            0.0
        }
    }
}

/// Properties of the liquid phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FluidProperties {
    /// Dynamic viscosity, Pa s, over temperature.
    pub viscosity: Curve,
    /// Surface tension, N/m.
    pub surface_tension: Real,
    /// Cohesion over temperature, relative to the default, without unit.
    pub cohesion: Curve,
    /// Bulk modulus, Pa; a tenth of that of the cold solid if `None`.
    pub bulk_modulus: Option<Real>,
}

impl Default for FluidProperties {
    /// Thin oil.
    fn default() -> Self {
        Self { viscosity: 0.1.into(), surface_tension: 0.07, cohesion: 1.0.into(), bulk_modulus: None }
    }
}

/// Coulomb friction: coefficients of tangential over normal force, without unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Friction {
    /// Coefficient of static friction.
    pub r#static: Real,
    /// Coefficient of kinetic friction; at most the static one.
    pub kinetic: Real,
}

impl Friction {
    /// Without friction.
    pub const NONE: Self = Self { r#static: 0.0, kinetic: 0.0 };

    /// Friction of a pair of materials: the geometric mean, so that a slippery one makes the pair slippery.
    pub fn between(a: Self, b: Self) -> Self {
        Self { r#static: (a.r#static * b.r#static).sqrt(), kinetic: (a.kinetic * b.kinetic).sqrt() }
    }
}

impl Default for Friction {
    fn default() -> Self {
        Self { r#static: 0.6, kinetic: 0.5 }
    }
}

/// Optical appearance of a material.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Finish {
    /// Rough: clay, rubber, stone.
    #[default]
    Matte,
    /// Smooth clear coat over a diffuse base: plastic, glaze, wet surfaces.
    Glossy,
    /// Metallic reflection in its own colour: steel, lead, gold.
    Metal,
    /// Subsurface scattering: wax, skin, milk.
    Wax,
    /// Translucent and coloured: jelly, honey.
    Jelly,
    /// Transparent: water, glass, ice.
    Clear,
}

impl Finish {
    /// All finishes, with their names in scene files.
    pub const ALL: [(&'static str, Self); 6] = [
        ("matte", Self::Matte),
        ("glossy", Self::Glossy),
        ("metal", Self::Metal),
        ("wax", Self::Wax),
        ("jelly", Self::Jelly),
        ("clear", Self::Clear),
    ];

    /// Surface roughness, 0 (mirror) to 1.
    pub fn roughness(self) -> Real {
        match self {
            Self::Matte => 0.85,
            Self::Glossy | Self::Wax => 0.35,
            Self::Metal => 0.3,
            Self::Jelly => 0.15,
            Self::Clear => 0.05,
        }
    }

    /// Metalness: 1 for metals, else 0.
    pub fn metalness(self) -> Real {
        if self == Self::Metal { 1.0 } else { 0.0 }
    }

    /// Fraction of the diffuse light that is transmitted instead of reflected, 0 to 1.
    pub fn transmission(self) -> Real {
        match self {
            Self::Matte | Self::Glossy | Self::Metal => 0.0,
            Self::Wax => 0.2,
            Self::Jelly => 0.55,
            Self::Clear => 0.9,
        }
    }
}

/// Default bulk modulus of a melt relative to that of its solid.
///
/// A melt as stiff as its solid would be realistic, but also as cohesive, and would burst when it melts
/// faster than it flows.
const MELT_BULK_RATIO: Real = 0.1;

/// Material: mechanical, thermal and optical properties.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Material {
    /// Unique name.
    pub name: String,
    /// Density, kg/m3.
    pub density: Real,
    /// Young's modulus, Pa, over temperature.
    pub young_modulus: Curve,
    /// Poisson's ratio, without unit.
    pub poisson_ratio: Real,
    /// Damping ratio of the lowest elastic mode, without unit: 0 is undamped, 1 critically damped.
    pub damping: Real,
    /// Tensile strength, Pa, over temperature; `None` never breaks.
    pub strength: Option<Curve>,
    /// Materials to which it sticks; `None` is none.
    pub sticky: Option<Sticky>,
    /// Plastic flow; `None` is elastic.
    pub plasticity: Option<Plasticity>,
    /// Friction against other bodies.
    pub friction: Friction,
    /// Coefficient of restitution between bodies, 0 to 1.
    pub restitution: Real,
    /// Thermal properties and phase change.
    pub heat: ThermalProperties,
    /// Properties of the liquid phase.
    pub fluid: FluidProperties,
    /// sRGB colour, each component in 0..1.
    pub color: [Real; 3],
    /// Optical appearance.
    pub finish: Finish,
}

impl Material {
    /// Maximum Young's modulus over temperature, Pa.
    pub fn max_young_modulus(&self) -> Real {
        self.young_modulus.points().iter().map(|&(_, young)| young).fold(0.0, Real::max)
    }

    /// Returns true if it is declared sticky to another material, or itself.
    pub fn names_as_sticky(&self, other: &Self) -> bool {
        self.sticky.as_ref().is_some_and(|sticky| sticky.with.contains(&other.name))
    }

    /// Returns true if it sticks to another material, or itself, at this specific enthalpy, J/kg.
    pub fn sticks_to(&self, other: &Self, enthalpy: f64) -> bool {
        let above = self.sticky.as_ref().and_then(|sticky| sticky.above);
        self.names_as_sticky(other) && above.is_none_or(|above| self.heat.temperature(enthalpy) >= above)
    }

    /// Bulk modulus of the melt, Pa: the given one, or a fraction of that of the solid with this Poisson's ratio.
    pub fn melt_bulk_modulus(&self, poisson_ratio: Real) -> Real {
        let default = || MELT_BULK_RATIO * self.max_young_modulus() / (3.0 * (1.0 - 2.0 * poisson_ratio));
        self.fluid.bulk_modulus.unwrap_or_else(default)
    }

    /// Young's modulus at a temperature, including softening, Pa.
    pub fn effective_young_modulus(&self, temperature: Real) -> Real {
        self.young_modulus.at(temperature) * self.heat.stiffness_fraction(temperature)
    }

    /// Thermal effusivity, W s^0.5/(m2 K).
    pub fn effusivity(&self) -> Real {
        (self.heat.mean_conductivity() * self.density * self.heat.specific_heat).sqrt()
    }

    /// Yield law at a temperature and liquid fraction; `None` if the material is elastic there.
    ///
    /// A material with a softening point is plastic above it, even without `plasticity`.
    pub fn yield_law(&self, temperature: Real, liquid_fraction: Real) -> Option<YieldLaw> {
        let plastic = self.plasticity.as_ref().map(|law| YieldLaw {
            yield_strain: law.yield_strain.at(temperature),
            creep_rate: law.creep,
            max_strain: law.max,
        });
        let softened = YieldLaw::softened(self.heat.softness(temperature, liquid_fraction));
        match (plastic, softened) {
            (Some(plastic), Some(softened)) => Some(plastic.combined(softened)),
            (plastic, softened) => plastic.or(softened),
        }
    }
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
            sticky: None,
            plasticity: None,
            friction: Friction::default(),
            restitution: 0.0,
            heat: ThermalProperties::default(),
            fluid: FluidProperties::default(),
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
        let heat = ThermalProperties {
            specific_heat: 2000.0,
            melting: Some(10.0),
            latent: 3.0e5,
            ..ThermalProperties::default()
        };
        for temperature in [-5.0, 0.0, 9.0, 11.0, 50.0] {
            assert!((heat.temperature(heat.enthalpy(temperature)) - temperature).abs() < 1e-4);
        }
        assert_eq!(heat.temperature(2000.0 * 10.0 + 1.5e5), 10.0);
        assert_eq!([0.0, 2.0e4, 1.7e5, 3.2e5, 1.0e6].map(|h| heat.liquid_fraction(h)), [0.0, 0.0, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn stiffness_is_whole_up_to_the_softening_point_falls_evenly_and_is_gone_at_the_melting_point() {
        let heat = ThermalProperties { softening: Some(6.0), melting: Some(8.0), ..ThermalProperties::default() };
        assert_eq!(
            [-9.0, 6.0, 6.5, 7.0, 8.0, 99.0].map(|t| heat.stiffness_fraction(t)),
            [1.0, 1.0, 0.75, 0.5, 0.0, 0.0]
        );
        let tough = ThermalProperties { softened: 0.5, ..heat };
        assert_eq!([6.0, 7.0, 7.999, 8.0].map(|t| (4.0 * tough.stiffness_fraction(t)).round()), [4.0, 3.0, 2.0, 0.0]);
        let glass = ThermalProperties { melting: None, ..heat };
        assert_eq!(glass.stiffness_fraction(99.0), 1.0);
        let ice = ThermalProperties { softening: None, ..heat };
        assert_eq!([7.9, 8.0].map(|t| ice.stiffness_fraction(t)), [1.0, 0.0]);
    }
}
