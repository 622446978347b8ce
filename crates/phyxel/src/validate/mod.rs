//! Validation of descriptions. Any value that could make a step fail is rejected here, with its name.

mod body;
mod models;

use crate::Real;
use crate::emission::{Bounds, Drain};
use crate::error::WorldError;
use crate::geometry::Collider;
use crate::heating::{Exchange, Heating, Radiation};
use crate::material::{Curve, Friction, HeatFromWork, Material, ThermalProperties};
use crate::obstacle::{Geometry, Obstacle};
use crate::world::Settings;
use glam::Vec3;

/// Maximum initial coordinate, m: beyond it f32 does not resolve millimetres.
const MAX_COORDINATE: Real = 1.0e7;

/// Returns true for a positive, finite number.
fn positive(x: Real) -> bool {
    x.is_finite() && x > 0.0
}

/// Returns true for a number between 0 and 1.
fn in_unit_interval(x: Real) -> bool {
    (0.0..=1.0).contains(&x)
}

/// Returns true for a finite number that is not negative.
fn at_least_zero(x: Real) -> bool {
    x.is_finite() && x >= 0.0
}

/// Checks of the fields of one owner, which error messages name.
struct FieldCheck<'a> {
    owner: &'a dyn Fn() -> String,
}

impl FieldCheck<'_> {
    fn require(
        &self,
        good: bool,
        field: &'static str,
        value: impl std::fmt::Debug,
        requirement: &'static str,
    ) -> Result<(), WorldError> {
        WorldError::require(good, || (self.owner)(), field, value, requirement)
    }

    fn friction(&self, friction: Friction) -> Result<(), WorldError> {
        let good =
            at_least_zero(friction.kinetic) && friction.r#static >= friction.kinetic && friction.r#static.is_finite();
        self.require(good, "friction", friction, "0 <= kinetic <= static")
    }
}

impl Material {
    /// Validates all values.
    pub fn validate(&self) -> Result<(), WorldError> {
        let owner = || format!("material \"{}\"", self.name);
        let check = FieldCheck { owner: &owner };
        check.require(positive(self.density), "density", self.density, "positive")?;
        let good = self.young_modulus.all(at_least_zero);
        check.require(good, "young_modulus", self.young_modulus.points(), "at least 0 at every temperature")?;
        check.require(
            self.poisson_ratio > -1.0 && self.poisson_ratio < 0.5,
            "poisson_ratio",
            self.poisson_ratio,
            "above -1 and below 0.5",
        )?;
        check.require(at_least_zero(self.damping), "damping", self.damping, "at least 0")?;
        let strength = self.strength.as_ref();
        let good = strength.is_none_or(|curve| curve.all(at_least_zero));
        check.require(good, "strength", strength.map(Curve::points), "at least 0 at every temperature")?;
        check.friction(self.friction)?;
        check.require(in_unit_interval(self.restitution), "restitution", self.restitution, "between 0 and 1")?;
        if let Some(law) = &self.plasticity {
            let good = law.yield_strain.all(at_least_zero) && at_least_zero(law.creep) && at_least_zero(law.max);
            check.require(good, "plasticity", law, "made of values that are at least 0")?;
        }
        self.heat.check(&check)?;
        let good = self.fluid.viscosity.all(at_least_zero);
        check.require(good, "fluid.viscosity", self.fluid.viscosity.points(), "at least 0 at every temperature")?;
        let good = self.fluid.cohesion.all(at_least_zero);
        check.require(good, "fluid.cohesion", self.fluid.cohesion.points(), "at least 0 at every temperature")?;
        let bulk = self.fluid.bulk_modulus;
        check.require(bulk.is_none_or(positive), "fluid.bulk_modulus", bulk, "positive")
    }
}

impl ThermalProperties {
    fn check(&self, check: &FieldCheck) -> Result<(), WorldError> {
        check.require(positive(self.specific_heat), "heat.specific_heat", self.specific_heat, "positive")?;
        let good = self.conductivity.to_array().into_iter().all(at_least_zero);
        check.require(good, "heat.conductivity", self.conductivity, "at least 0 along every axis")?;
        check.require(at_least_zero(self.latent), "heat.latent", self.latent, "at least 0")?;
        check.require(self.expansion.is_finite(), "heat.expansion", self.expansion, "finite")?;
        let is_finite = |temperature: Option<Real>| temperature.is_none_or(Real::is_finite);
        check.require(is_finite(self.softening), "heat.softening", self.softening, "finite")?;
        check.require(is_finite(self.melting), "heat.melting", self.melting, "finite")?;
        check.require(is_finite(self.boiling), "heat.boiling", self.boiling, "finite")?;
        let pair = |low: Option<Real>, high: Option<Real>| low.zip(high);
        let good = pair(self.softening, self.melting).is_none_or(|(softening, melting)| softening <= melting);
        check.require(good, "heat.melting", self.melting, "at or above heat.softening")?;
        let good =
            pair(self.melting.or(self.softening), self.boiling).is_none_or(|(melting, boiling)| melting < boiling);
        check.require(good, "heat.boiling", self.boiling, "above heat.melting and heat.softening")?;
        let good = self.latent == 0.0 || self.melting.is_some();
        check.require(good, "heat.latent", self.latent, "0 without heat.melting, the temperature at which it melts")?;
        check.require(in_unit_interval(self.softened), "heat.softened", self.softened, "between 0 and 1")?;
        let HeatFromWork { plastic, friction, damping } = self.from_work;
        let fractions = [plastic, friction, damping];
        let good = fractions.into_iter().all(in_unit_interval);
        check.require(good, "heat.from_work", fractions, "fractions between 0 and 1")
    }
}

impl Heating {
    /// Validates all values.
    pub fn validate(&self, settings: &Settings) -> Result<(), WorldError> {
        let owner = || format!("heating \"{}\"", self.name);
        let check = FieldCheck { owner: &owner };
        check.require(self.facing.is_none_or(Vec3::is_normalized), "facing", self.facing, "a unit vector")?;
        check.require(self.from.is_finite(), "from", self.from, "finite")?;
        check.require(self.until.is_none_or(|until| until > self.from), "until", self.until, "later than from")?;
        check.require(self.temperature.is_none_or(Real::is_finite), "temperature", self.temperature, "finite")?;
        check.require(self.flux.is_finite(), "flux", self.flux, "finite")?;
        check.require(self.power.is_finite(), "power", self.power, "finite")?;
        if let Some(Exchange { coefficient, ambient }) = self.exchange {
            check.require(at_least_zero(coefficient), "exchange.coefficient", coefficient, "at least 0")?;
            check.require(ambient.is_finite(), "exchange.ambient", ambient, "finite")?;
        }
        if let Some(Radiation { emissivity, ambient }) = self.radiation {
            check.require(in_unit_interval(emissivity), "radiation.emissivity", emissivity, "between 0 and 1")?;
            let good = ambient.is_finite() && ambient >= settings.absolute_zero;
            check.require(good, "radiation.ambient", ambient, "at or above the world's absolute_zero")?;
        }
        Ok(())
    }
}

impl Obstacle {
    /// Validates all values.
    pub fn validate(&self) -> Result<(), WorldError> {
        let owner = || format!("obstacle \"{}\"", self.name);
        let check = FieldCheck { owner: &owner };
        self.geometry.check(&check)?;
        check.friction(self.friction)?;
        check.require(in_unit_interval(self.restitution), "restitution", self.restitution, "between 0 and 1")?;
        check.require(at_least_zero(self.adhesion), "adhesion", self.adhesion, "at least 0")?;
        check.require(self.temperature.is_none_or(Real::is_finite), "temperature", self.temperature, "finite")?;
        check.require(self.heat_capacity.is_none_or(positive), "heat_capacity", self.heat_capacity, "positive")?;
        let good = self.heat_capacity.is_none() || self.temperature.is_some();
        check.require(good, "temperature", self.temperature, "given where there is a heat_capacity")?;
        check.require(!self.keyframes.is_empty(), "keyframes", "empty", "at least one keyframe")?;
        let sorted = self.keyframes.windows(2).all(|pair| pair[0].time < pair[1].time);
        check.require(sorted, "keyframes", "out of order", "sorted by time, each time once")?;
        let in_range = |x: Vec3| x.is_finite() && x.abs().max_element() <= MAX_COORDINATE;
        let good = self
            .keyframes
            .iter()
            .all(|k| k.time.is_finite() && in_range(k.pose.position) && k.pose.rotation.is_normalized());
        check.require(good, "keyframes", "bad", "finite positions within 1e7 m and normalised rotations")
    }
}

impl Drain {
    /// Validates all values.
    pub fn validate(&self) -> Result<(), WorldError> {
        let owner = || format!("drain \"{}\"", self.name);
        let check = FieldCheck { owner: &owner };
        check.require(
            self.name != Bounds::NAME,
            "name",
            &self.name,
            "another: particles that leave the world's bounds are counted under it",
        )?;
        self.geometry.check(&check)?;
        let in_range = self.pose.position.is_finite() && self.pose.position.abs().max_element() <= MAX_COORDINATE;
        check.require(in_range, "at", self.pose.position, "finite and within 1e7 m of the origin")?;
        check.require(self.pose.rotation.is_normalized(), "turn", self.pose.rotation, "a normalised rotation")
    }
}

impl Geometry {
    fn check(&self, check: &FieldCheck) -> Result<(), WorldError> {
        let revolved = |radius: Real, height: Real| {
            check.require(positive(radius), "radius", radius, "positive")?;
            check.require(positive(height), "height", height, "positive")
        };
        match self {
            Geometry::HalfSpace { normal } => check.require(normal.is_normalized(), "normal", normal, "a unit vector"),
            Geometry::Box { size } => {
                check.require(size.is_finite() && size.min_element() > 0.0, "size", size, "positive along every axis")
            }
            Geometry::Sphere { radius } => check.require(positive(*radius), "radius", radius, "positive"),
            Geometry::Capsule { radius, height }
            | Geometry::Cylinder { radius, height }
            | Geometry::Cone { radius, height } => revolved(*radius, *height),
            Geometry::Mesh { positions, triangles } => {
                let good = triangles.iter().flatten().all(|&i| (i as usize) < positions.len());
                check.require(good, "mesh", "an index out of range", "made of triangles between its own vertices")?;
                check.require(
                    positions.iter().all(|p| p.is_finite()),
                    "mesh",
                    "a vertex that is not finite",
                    "finite",
                )?;
                let usable = Collider::new(self).is_some();
                check.require(usable, "mesh", "no usable triangle", "a surface with at least one triangle")
            }
            Geometry::Grid(grid) => check.require(
                grid.is_valid(),
                "grid",
                "inconsistent",
                "at least 2 x 2 x 2 finite values in positive cells",
            ),
        }
    }
}
