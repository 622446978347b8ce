//! What matter is made of: constant numbers in SI units, textbook meaning.

use crate::Real;
use glam::Vec3;
use phyxel_laws::plasticity::Yielding;
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

impl Curve {
    /// Whether all its values satisfy a condition.
    pub fn all(&self, good: impl Fn(Real) -> bool) -> bool {
        self.points.iter().all(|&(_, value)| good(value))
    }
}

impl From<Real> for Curve {
    fn from(value: Real) -> Self {
        Self::constant(value)
    }
}

/// When and how fast matter takes a new rest shape (O'Brien et al. 2002, as `[MHTG05]` eq. 15 uses it).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plasticity {
    /// Strain above which it flows, without unit, over temperature.
    pub yield_strain: Curve,
    /// Part of the excess strain that becomes permanent per second, 1/s.
    pub creep: Real,
    /// Largest permanent strain, without unit.
    pub max: Real,
}

/// What matter holds on to where it is pressed into it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sticky {
    /// Names of materials. Bodies of one that names itself become one; those of different ones are tied, if either names the other.
    pub with: Vec<String>,
    /// Own temperature from which on it does; at any if `None`.
    pub above: Option<Real>,
}

impl Sticky {
    /// To materials of these names, at any temperature.
    pub fn to<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self { with: names.into_iter().map(Into::into).collect(), above: None }
    }
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
    /// Part of the stiffness that is left just below the melting point, where it has softened most, 0 to 1.
    pub softened: Real,
    /// What becomes of work that is lost.
    pub from_work: HeatFromWork,
}

/// Parts of lost work that turn into heat of the matter, 0 to 1 each; the rest is not followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeatFromWork {
    /// Of permanent deformation.
    pub plastic: Real,
    /// Of friction against bodies and obstacles.
    pub friction: Real,
    /// Of damping inside, viscosity included.
    pub damping: Real,
}

impl HeatFromWork {
    /// Whether any work turns into heat.
    pub fn is_any(&self) -> bool {
        *self != Self::default()
    }
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
            softened: 0.0,
            from_work: HeatFromWork::default(),
        }
    }
}

impl Heat {
    /// Enthalpy at a temperature, J/kg, counted from temperature 0; molten above the melting point.
    pub fn enthalpy(&self, temperature: Real) -> f64 {
        let latent = if self.melting.is_some_and(|melting| temperature > melting) { self.latent } else { 0.0 };
        f64::from(self.specific_heat) * f64::from(temperature) + f64::from(latent)
    }

    /// Enthalpy at a temperature with a part molten, J/kg, which counts at the melting point only.
    pub fn enthalpy_of_mix(&self, temperature: Real, molten: Real) -> f64 {
        let between = if self.melting == Some(temperature) { f64::from(molten) * f64::from(self.latent) } else { 0.0 };
        self.enthalpy(temperature) + between
    }

    /// Whether the same enthalpy means the same temperature.
    pub fn counts_like(&self, other: &Self) -> bool {
        (self.specific_heat, self.melting, self.latent) == (other.specific_heat, other.melting, other.latent)
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

    /// Part of the stiffness that is left at a temperature, 0 to 1 (`[TPF89]` eq. 10): all of it up to the softening
    /// point, falling evenly to [`softened`](Self::softened) at the melting point, nothing beyond.
    ///
    /// Matter that softens and never melts keeps its stiffness: how fast it falls is unknown. A curve of Young's modulus
    /// says more.
    pub fn stiffness_left(&self, temperature: Real) -> Real {
        let is_molten = self.melting.is_some_and(|melting| temperature >= melting);
        self.stiffness_of_mix(temperature, if is_molten { 1.0 } else { 0.0 })
    }

    /// The same for matter of which a part is molten: what is solid at the melting point still bears.
    pub fn stiffness_of_mix(&self, temperature: Real, molten: Real) -> Real {
        (1.0 - (1.0 - self.softened) * self.softening_done(temperature)) * (1.0 - molten)
    }

    /// How soft matter is, 0 (as when cold) to 1 (molten): how far it is from the softening point to the melting
    /// point, and how much of it has melted.
    pub fn softness(&self, temperature: Real, molten: Real) -> Real {
        1.0 - (1.0 - self.softening_done(temperature)) * (1.0 - molten)
    }

    /// Part of the way from the softening point to the melting point; 0 without either.
    fn softening_done(&self, temperature: Real) -> Real {
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

    /// How molten matter of this enthalpy is, 0 to 1: the part of the latent heat it has taken up.
    pub fn molten(&self, enthalpy: f64) -> Real {
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

/// How matter flows when it is fluid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fluid {
    /// Dynamic viscosity, Pa s, over temperature.
    pub viscosity: Curve,
    /// Surface tension, N/m.
    pub surface_tension: Real,
    /// How strongly it holds together over temperature, as a part of the usual, without unit.
    pub cohesion: Curve,
    /// Bulk modulus, Pa; a tenth of that of the cold solid if `None`.
    pub bulk_modulus: Option<Real>,
}

impl Default for Fluid {
    /// Thin oil.
    fn default() -> Self {
        Self { viscosity: 0.1.into(), surface_tension: 0.07, cohesion: 1.0.into(), bulk_modulus: None }
    }
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

/// Bulk modulus of a melt over that of its solid, if the material says nothing. A melt as stiff as its solid would be real,
/// but also held together as strongly, and would burst when it melts faster than it can flow.
const MELT_STIFFNESS: Real = 0.1;

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
    /// Stress at which it breaks, Pa, over temperature; `None` never breaks.
    pub strength: Option<Curve>,
    /// What it holds on to where it is pressed into it; `None` is nothing.
    pub sticky: Option<Sticky>,
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

impl Material {
    /// Largest Young's modulus at any temperature, Pa.
    pub fn stiffest(&self) -> Real {
        self.young_modulus.points().iter().map(|&(_, young)| young).fold(0.0, Real::max)
    }

    /// Whether it names another material, or itself, as one that it sticks to.
    pub fn names(&self, other: &Self) -> bool {
        self.sticky.as_ref().is_some_and(|sticky| sticky.with.contains(&other.name))
    }

    /// Whether it names another material, or itself, and is as warm as it has to be at this enthalpy of its own, J/kg.
    pub fn sticks_to(&self, other: &Self, enthalpy: f64) -> bool {
        let above = self.sticky.as_ref().and_then(|sticky| sticky.above);
        self.names(other) && above.is_none_or(|above| self.heat.temperature(enthalpy) >= above)
    }

    /// Bulk modulus of the melt, Pa: as it is given, or a part of that of the solid with this Poisson's ratio.
    pub fn melt_modulus(&self, poisson_ratio: Real) -> Real {
        let of_solid = || MELT_STIFFNESS * self.stiffest() / (3.0 * (1.0 - 2.0 * poisson_ratio));
        self.fluid.bulk_modulus.unwrap_or_else(of_solid)
    }

    /// Young's modulus at a temperature, softening included, Pa.
    pub fn stiffness(&self, temperature: Real) -> Real {
        self.young_modulus.at(temperature) * self.heat.stiffness_left(temperature)
    }

    /// How readily it takes up heat where something warmer touches it, W s^0.5/(m2 K).
    pub fn effusivity(&self) -> Real {
        (self.heat.mean_conductivity() * self.density * self.heat.specific_heat).sqrt()
    }

    /// How it yields at a temperature, with a part of it molten; `None` if it is elastic there.
    ///
    /// Matter that softens is plastic above its softening point, whether it has plasticity of its own or not.
    pub fn yielding(&self, temperature: Real, molten: Real) -> Option<Yielding> {
        let own = self.plasticity.as_ref().map(|law| Yielding {
            strain: law.yield_strain.at(temperature),
            creep: law.creep,
            max: law.max,
        });
        let softened = Yielding::softened(self.heat.softness(temperature, molten));
        match (own, softened) {
            (Some(own), Some(softened)) => Some(own.joined(softened)),
            (own, softened) => own.or(softened),
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
            heat: Heat::default(),
            fluid: Fluid::default(),
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
        assert_eq!([0.0, 2.0e4, 1.7e5, 3.2e5, 1.0e6].map(|h| heat.molten(h)), [0.0, 0.0, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn stiffness_is_whole_up_to_the_softening_point_falls_evenly_and_is_gone_at_the_melting_point() {
        let heat = Heat { softening: Some(6.0), melting: Some(8.0), ..Heat::default() };
        assert_eq!([-9.0, 6.0, 6.5, 7.0, 8.0, 99.0].map(|t| heat.stiffness_left(t)), [1.0, 1.0, 0.75, 0.5, 0.0, 0.0]);
        let tough = Heat { softened: 0.5, ..heat };
        assert_eq!([6.0, 7.0, 7.999, 8.0].map(|t| (4.0 * tough.stiffness_left(t)).round()), [4.0, 3.0, 2.0, 0.0]);
        let glass = Heat { melting: None, ..heat };
        assert_eq!(glass.stiffness_left(99.0), 1.0);
        let ice = Heat { softening: None, ..heat };
        assert_eq!([7.9, 8.0].map(|t| ice.stiffness_left(t)), [1.0, 0.0]);
    }
}
