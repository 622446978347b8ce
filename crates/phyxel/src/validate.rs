//! What a world accepts. Everything that could make a step fail later is refused here, by name.

use crate::Real;
use crate::body::NewBody;
use crate::collider::Collider;
use crate::drain::{Bounds, Drain};
use crate::error::WorldError;
use crate::heating::{Exchange, Heating, Radiation};
use crate::material::{Curve, Friction, Heat, HeatFromWork, Material};
use crate::model::crystal::{Change, Docking};
use crate::model::shape::{Clusters, ShapeSettings};
use crate::model::spring::{Cell, Gas, Molecules, SpringSettings, Summation};
use crate::model::{ContinuumSettings, CrystalSettings, ModelSettings, TetraSettings};
use crate::obstacle::{Geometry, Obstacle};
use crate::particles::Phase;
use crate::skin::{Skin, Smooth, Surfels};
use crate::world::Settings;
use glam::Vec3;
use phyxel_laws::elastic::is_stable;
use phyxel_laws::spring::isotropic_springs;
use phyxel_laws::tetra::{Element, Net};

/// Farthest from the origin that anything may start, m: beyond it f32 has no millimetres left.
const FARTHEST: Real = 1.0e7;

fn positive(x: Real) -> bool {
    x.is_finite() && x > 0.0
}

fn unit(x: Real) -> bool {
    (0.0..=1.0).contains(&x)
}

fn at_least_zero(x: Real) -> bool {
    x.is_finite() && x >= 0.0
}

/// Checks fields of one owner.
struct Check<'a> {
    owner: &'a dyn Fn() -> String,
}

impl Check<'_> {
    fn that(
        &self,
        good: bool,
        field: &'static str,
        value: impl std::fmt::Debug,
        must: &'static str,
    ) -> Result<(), WorldError> {
        WorldError::require(good, || (self.owner)(), field, value, must)
    }

    fn friction(&self, friction: Friction) -> Result<(), WorldError> {
        let good =
            at_least_zero(friction.kinetic) && friction.r#static >= friction.kinetic && friction.r#static.is_finite();
        self.that(good, "friction", friction, "0 <= kinetic <= static")
    }
}

impl Material {
    /// Whether its numbers make sense.
    pub fn validate(&self) -> Result<(), WorldError> {
        let owner = || format!("material \"{}\"", self.name);
        let check = Check { owner: &owner };
        check.that(positive(self.density), "density", self.density, "positive")?;
        let young = self.young_modulus.points().iter().all(|&(_, value)| at_least_zero(value));
        check.that(young, "young_modulus", self.young_modulus.points(), "at least 0 at every temperature")?;
        check.that(
            self.poisson_ratio > -1.0 && self.poisson_ratio < 0.5,
            "poisson_ratio",
            self.poisson_ratio,
            "above -1 and below 0.5",
        )?;
        check.that(at_least_zero(self.damping), "damping", self.damping, "at least 0")?;
        let strength = self.strength.as_ref();
        let strong = strength.is_none_or(|curve| curve.all(at_least_zero));
        check.that(strong, "strength", strength.map(Curve::points), "at least 0 at every temperature")?;
        check.friction(self.friction)?;
        check.that(unit(self.restitution), "restitution", self.restitution, "between 0 and 1")?;
        if let Some(law) = &self.plasticity {
            let good = law.yield_strain.all(at_least_zero) && at_least_zero(law.creep) && at_least_zero(law.max);
            check.that(good, "plasticity", law, "made of numbers that are at least 0")?;
        }
        self.heat.check(&check)?;
        let thick = self.fluid.viscosity.all(at_least_zero);
        check.that(thick, "fluid.viscosity", self.fluid.viscosity.points(), "at least 0 at every temperature")?;
        let sticky = self.fluid.cohesion.all(at_least_zero);
        check.that(sticky, "fluid.cohesion", self.fluid.cohesion.points(), "at least 0 at every temperature")?;
        let bulk = self.fluid.bulk_modulus;
        check.that(bulk.is_none_or(positive), "fluid.bulk_modulus", bulk, "positive")
    }
}

impl Heat {
    fn check(&self, check: &Check) -> Result<(), WorldError> {
        check.that(positive(self.specific_heat), "heat.specific_heat", self.specific_heat, "positive")?;
        let conducts = self.conductivity.to_array().into_iter().all(at_least_zero);
        check.that(conducts, "heat.conductivity", self.conductivity, "at least 0 along every axis")?;
        check.that(at_least_zero(self.latent), "heat.latent", self.latent, "at least 0")?;
        check.that(self.expansion.is_finite(), "heat.expansion", self.expansion, "finite")?;
        let known = |temperature: Option<Real>| temperature.is_none_or(Real::is_finite);
        check.that(known(self.softening), "heat.softening", self.softening, "finite")?;
        check.that(known(self.melting), "heat.melting", self.melting, "finite")?;
        check.that(known(self.boiling), "heat.boiling", self.boiling, "finite")?;
        let pair = |low: Option<Real>, high: Option<Real>| low.zip(high);
        let softens = pair(self.softening, self.melting).is_none_or(|(softening, melting)| softening <= melting);
        check.that(softens, "heat.melting", self.melting, "at or above heat.softening")?;
        let boils =
            pair(self.melting.or(self.softening), self.boiling).is_none_or(|(melting, boiling)| melting < boiling);
        check.that(boils, "heat.boiling", self.boiling, "above heat.melting and heat.softening")?;
        let melts = self.latent == 0.0 || self.melting.is_some();
        check.that(melts, "heat.latent", self.latent, "0 without heat.melting, the temperature at which it melts")?;
        check.that(unit(self.softened), "heat.softened", self.softened, "between 0 and 1")?;
        let HeatFromWork { plastic, friction, damping } = self.from_work;
        let parts = [plastic, friction, damping];
        check.that(parts.into_iter().all(unit), "heat.from_work", parts, "made of parts between 0 and 1")
    }
}

impl Heating {
    /// Whether its numbers make sense.
    pub fn validate(&self, settings: &Settings) -> Result<(), WorldError> {
        let owner = || format!("heating \"{}\"", self.name);
        let check = Check { owner: &owner };
        check.that(self.facing.is_none_or(Vec3::is_normalized), "facing", self.facing, "a unit vector")?;
        check.that(self.from.is_finite(), "from", self.from, "finite")?;
        check.that(self.until.is_none_or(|until| until > self.from), "until", self.until, "later than from")?;
        check.that(self.temperature.is_none_or(Real::is_finite), "temperature", self.temperature, "finite")?;
        check.that(self.flux.is_finite(), "flux", self.flux, "finite")?;
        check.that(self.power.is_finite(), "power", self.power, "finite")?;
        if let Some(Exchange { coefficient, ambient }) = self.exchange {
            check.that(at_least_zero(coefficient), "exchange.coefficient", coefficient, "at least 0")?;
            check.that(ambient.is_finite(), "exchange.ambient", ambient, "finite")?;
        }
        if let Some(Radiation { emissivity, ambient }) = self.radiation {
            check.that(unit(emissivity), "radiation.emissivity", emissivity, "between 0 and 1")?;
            let good = ambient.is_finite() && ambient >= settings.absolute_zero;
            check.that(good, "radiation.ambient", ambient, "at or above the world's absolute_zero")?;
        }
        Ok(())
    }
}

impl Obstacle {
    /// Whether its numbers make sense.
    pub fn validate(&self) -> Result<(), WorldError> {
        let owner = || format!("obstacle \"{}\"", self.name);
        let check = Check { owner: &owner };
        self.geometry.check(&check)?;
        check.friction(self.friction)?;
        check.that(unit(self.restitution), "restitution", self.restitution, "between 0 and 1")?;
        check.that(at_least_zero(self.stickiness), "stickiness", self.stickiness, "at least 0")?;
        check.that(self.temperature.is_none_or(Real::is_finite), "temperature", self.temperature, "finite")?;
        check.that(self.heat_capacity.is_none_or(positive), "heat_capacity", self.heat_capacity, "positive")?;
        let warm = self.heat_capacity.is_none() || self.temperature.is_some();
        check.that(warm, "temperature", self.temperature, "given where there is a heat_capacity")?;
        check.that(!self.keys.is_empty(), "keys", "empty", "at least one place")?;
        let rising = self.keys.windows(2).all(|pair| pair[0].time < pair[1].time);
        check.that(rising, "keys", "out of order", "sorted by time, each time once")?;
        let placed = |at: Vec3| at.is_finite() && at.abs().max_element() <= FARTHEST;
        let good =
            self.keys.iter().all(|key| key.time.is_finite() && placed(key.pose.at) && key.pose.turn.is_normalized());
        check.that(good, "keys", "bad", "finite places within 1e7 m and normalised turns")
    }
}

impl Drain {
    /// Whether its numbers make sense.
    pub fn validate(&self) -> Result<(), WorldError> {
        let owner = || format!("drain \"{}\"", self.name);
        let check = Check { owner: &owner };
        check.that(
            self.name != Bounds::NAME,
            "name",
            &self.name,
            "another: what leaves the world's bounds is counted under it",
        )?;
        self.geometry.check(&check)?;
        let placed = self.pose.at.is_finite() && self.pose.at.abs().max_element() <= FARTHEST;
        check.that(placed, "at", self.pose.at, "finite and within 1e7 m of the origin")?;
        check.that(self.pose.turn.is_normalized(), "turn", self.pose.turn, "a normalised turn")
    }
}

impl Geometry {
    fn check(&self, check: &Check) -> Result<(), WorldError> {
        let round = |radius: Real, height: Real| {
            check.that(positive(radius), "radius", radius, "positive")?;
            check.that(positive(height), "height", height, "positive")
        };
        match self {
            Geometry::HalfSpace { normal } => check.that(normal.is_normalized(), "normal", normal, "a unit vector"),
            Geometry::Box { size } => {
                check.that(size.is_finite() && size.min_element() > 0.0, "size", size, "positive along every axis")
            }
            Geometry::Sphere { radius } => check.that(positive(*radius), "radius", radius, "positive"),
            Geometry::Capsule { radius, height }
            | Geometry::Cylinder { radius, height }
            | Geometry::Cone { radius, height } => round(*radius, *height),
            Geometry::Mesh { positions, triangles } => {
                let inside = triangles.iter().flatten().all(|&i| (i as usize) < positions.len());
                check.that(inside, "mesh", "an index out of range", "made of triangles between its own vertices")?;
                check.that(positions.iter().all(|p| p.is_finite()), "mesh", "a vertex that is not finite", "finite")?;
                let usable = Collider::new(self).is_some();
                check.that(usable, "mesh", "no usable triangle", "a surface with at least one triangle")
            }
            Geometry::Grid(grid) => check.that(
                grid.is_valid(),
                "grid",
                "inconsistent",
                "at least 2 x 2 x 2 finite values in positive cells",
            ),
        }
    }
}

impl NewBody {
    /// Whether its numbers make sense.
    pub fn validate(&self) -> Result<(), WorldError> {
        let grows = matches!(&self.model, ModelSettings::Crystal(settings) if settings.phase == Phase::Fluid);
        if self.samples.is_empty() && !grows {
            return Err(WorldError::EmptyBody { body: self.name.clone() });
        }
        let owner = || format!("body \"{}\"", self.name);
        let check = Check { owner: &owner };
        let filled = self.volume.is_finite() && (self.volume > 0.0 || self.samples.is_empty());
        check.that(filled, "volume", self.volume, "positive")?;
        check.that(positive(self.spacing), "spacing", self.spacing, "positive")?;
        check.that(self.radius.is_none_or(positive), "radius", self.radius, "positive")?;
        let placed = |x: Vec3| x.is_finite() && x.abs().max_element() <= FARTHEST;
        check.that(placed(self.pose.at), "place.at", self.pose.at, "finite and within 1e7 m of the origin")?;
        check.that(self.pose.turn.is_normalized(), "place.turn", self.pose.turn, "a normalised turn")?;
        let lost = self.samples.iter().find(|&&x| !placed(x));
        check.that(lost.is_none(), "samples", lost, "finite and within 1e7 m of the body's origin")?;
        if let Some(start) = &self.start {
            check.that(start.len() == self.samples.len(), "start", start.len(), "one position for each sample")?;
            let lost = start.iter().find(|&&x| !placed(x));
            check.that(lost.is_none(), "start", lost, "finite and within 1e7 m of the body's origin")?;
        }
        check.that(placed(self.velocity), "velocity", self.velocity, "finite and below 1e7 m/s")?;
        check.that(placed(self.spin), "spin", self.spin, "finite and below 1e7 rad/s")?;
        check.that(self.temperature.is_finite(), "temperature", self.temperature, "finite")?;
        let wrong = self.held.iter().find(|&&sample| sample as usize >= self.samples.len());
        check.that(wrong.is_none(), "held", wrong, "numbers of the body's own samples")?;
        let is_tetra = matches!(&self.model, ModelSettings::Tetra(_));
        let faces = !matches!(self.skin, Skin::Faces | Skin::Smooth(_)) || is_tetra;
        check.that(faces, "skin", self.skin.name(), "of another kind, as only bodies of tetrahedra have faces")?;
        if let Skin::Smooth(smooth) = &self.skin {
            let levels = (1..=Smooth::MOST_LEVELS).contains(&smooth.levels);
            check.that(levels, "skin.levels", smooth.levels, "1, 2 or 3")?;
        }
        match &self.model {
            ModelSettings::Continuum(settings) => {
                if let Skin::Surfels(surfels) = &self.skin {
                    surfels.check(&check)?;
                }
                settings.check(&check)
            }
            ModelSettings::Crystal(settings) => {
                let carried = !matches!(self.skin, Skin::Mesh(_) | Skin::Surfels(_));
                let rule = "particles or isosurface, as crystals change their neighbours";
                check.that(carried, "skin", self.skin.name(), rule)?;
                settings.check(&check)
            }
            ModelSettings::Shape(settings) => {
                let carried = !matches!(self.skin, Skin::Surfels(_));
                let rule = "particles, mesh or isosurface, as only phyxels carry surfels";
                check.that(carried, "skin", self.skin.name(), rule)?;
                settings.check(&check, &self.samples)
            }
            ModelSettings::Spring(settings) => {
                let carried = !matches!(self.skin, Skin::Mesh(_) | Skin::Surfels(_));
                let rule = "particles or isosurface, as a body of springs may melt";
                check.that(carried, "skin", self.skin.name(), rule)?;
                settings.check(&check, &self.samples)
            }
            ModelSettings::Tetra(settings) => {
                let carried = !matches!(self.skin, Skin::Surfels(_));
                let rule = "particles, faces, smooth, mesh or isosurface, as only phyxels carry surfels";
                check.that(carried, "skin", self.skin.name(), rule)?;
                settings.check(&check, &self.samples)
            }
        }
    }
}

impl TetraSettings {
    fn check(&self, check: &Check, samples: &[Vec3]) -> Result<(), WorldError> {
        check.that(!self.elements.is_empty(), "tetra.elements", "none", "at least one")?;
        let known = |element: &[u32; 4]| element.iter().all(|&node| (node as usize) < samples.len());
        let wrong = self.elements.iter().position(|element| !known(element));
        check.that(wrong.is_none(), "tetra.elements", wrong, "made of the body's own samples")?;
        let mut used = vec![false; samples.len()];
        self.elements.iter().flatten().for_each(|&node| used[node as usize] = true);
        let lone = used.iter().position(|used| !used);
        check.that(lone.is_none(), "samples", lone, "all corners of tetrahedra")?;
        let is_sound = |element: &[u32; 4]| Element::new(element.map(|node| samples[node as usize])).is_some();
        let flat = self.elements.iter().position(|element| !is_sound(element));
        let rule = "neither flat nor inside out: the fourth corner sees the others run counter-clockwise";
        check.that(flat.is_none(), "tetra.elements", flat, rule)?;
        let net = Net::new(self.elements.to_vec(), samples.len());
        let tangle = net.as_ref().err().map(ToString::to_string);
        check.that(tangle.is_none(), "tetra.elements", &tangle, "tetrahedra that share faces, two at most on each")?;
        let force = self.strength_force;
        check.that(force.is_none_or(positive), "tetra.strength_force", force, "positive")?;
        let stiffness = self.stiffness.as_deref();
        let stable = stiffness.is_none_or(is_stable);
        check.that(stable, "tetra.stiffness", stiffness, "symmetric, with positive eigenvalues only")?;
        let (mass, ahead) = (self.mass_damping, self.stiffness_damping);
        check.that(at_least_zero(mass), "tetra.mass_damping", mass, "at least 0")?;
        check.that(ahead.is_none_or(at_least_zero), "tetra.stiffness_damping", ahead, "at least 0")
    }
}

impl Surfels {
    fn check(&self, check: &Check) -> Result<(), WorldError> {
        let (points, discs) = (self.positions.len(), self.axes.len());
        check.that(points == discs, "skin.axes", discs, "as many as there are positions of surfels")?;
        let placed = |x: &Vec3| x.is_finite() && x.abs().max_element() <= FARTHEST;
        let lost = self.positions.iter().find(|x| !placed(x));
        check.that(lost.is_none(), "skin.positions", lost, "finite and within 1e7 m of the body's origin")?;
        let lost = self.axes.iter().find(|axes| !axes.iter().all(placed));
        check.that(lost.is_none(), "skin.axes", lost, "finite and within 1e7 m")
    }
}

impl CrystalSettings {
    fn check(&self, check: &Check) -> Result<(), WorldError> {
        let condensed = self.phase != Phase::Gas;
        check.that(condensed, "crystal.phase", "gas", "solid or fluid")?;
        let supported = (1.3..=2.1).contains(&self.support);
        check.that(supported, "crystal.support", self.support, "between 1.3 and 2.1 particle distances")?;
        check.that(at_least_zero(self.smoothing), "crystal.smoothing", self.smoothing, "at least 0")?;
        let Change { melting, freezing, freezing_point, fewest, fastest, fading } = self.change;
        check.that(at_least_zero(melting), "crystal.change.melting", melting, "at least 0")?;
        check.that(at_least_zero(freezing), "crystal.change.freezing", freezing, "at least 0")?;
        let finite = freezing_point.is_none_or(Real::is_finite);
        check.that(finite, "crystal.change.freezing_point", freezing_point, "finite")?;
        check.that(fewest.is_finite(), "crystal.change.fewest", fewest, "finite")?;
        check.that(positive(fastest), "crystal.change.fastest", fastest, "positive")?;
        check.that(at_least_zero(fading), "crystal.change.fading", fading, "at least 0")?;
        let Docking { rate, change } = self.docking.unwrap_or_default();
        check.that(positive(rate), "crystal.docking.rate", rate, "positive")?;
        check.that(at_least_zero(change), "crystal.docking.change", change, "at least 0")
    }
}

impl ContinuumSettings {
    fn check(&self, check: &Check) -> Result<(), WorldError> {
        let supported = (1.2..=4.0).contains(&self.support);
        check.that(supported, "continuum.support", self.support, "between 1.2 and 4 mean distances of neighbours")?;
        check.that(at_least_zero(self.hourglass), "continuum.hourglass", self.hourglass, "at least 0")?;
        check.that(at_least_zero(self.volume), "continuum.volume", self.volume, "at least 0")?;
        let stiffness = self.stiffness.as_deref();
        let stable = stiffness.is_none_or(is_stable);
        check.that(stable, "continuum.stiffness", stiffness, "symmetric, with positive eigenvalues only")
    }
}

impl SpringSettings {
    fn check(&self, check: &Check, samples: &[Vec3]) -> Result<(), WorldError> {
        check.that(!self.cells.is_empty(), "spring.cells", "none", "at least one cell")?;
        let known = |cell: &Cell| cell.iter().all(|&corner| (corner as usize) < samples.len());
        check.that(
            self.cells.iter().all(known),
            "spring.cells",
            "an unknown corner",
            "made of the body's own samples",
        )?;
        let mut used = vec![false; samples.len()];
        self.cells.iter().flatten().for_each(|&corner| used[corner as usize] = true);
        let lone = used.iter().position(|used| !used);
        check.that(lone.is_none(), "samples", lone, "all corners of cells")?;
        let size = |cell: &Cell| {
            let corner = |k: usize| samples[cell[k] as usize];
            [1, 2, 4].map(|k| corner(0).distance(corner(k)))
        };
        let first = size(&self.cells[0]);
        let alike = |cell: &Cell| size(cell).iter().zip(&first).all(|(a, b)| (a - b).abs() <= 0.01 * b);
        check.that(self.cells.iter().all(alike), "spring.cells", "of different sizes", "boxes of one size")?;
        check.that(
            isotropic_springs(first).is_some(),
            "spring.cells",
            first,
            "nearer to cubes: with edges a, b, c of a cell, a2/b2 + a2/c2 must be below 3 for each",
        )?;
        check.that(
            self.weights.into_iter().all(positive),
            "spring.weights",
            self.weights,
            "positive along every axis",
        )?;
        let diagonals = self.diagonal_conductivity;
        check.that(at_least_zero(diagonals), "spring.diagonal_conductivity", diagonals, "at least 0")?;
        self.molecules.check(check)?;
        let Gas { repulsion, lift, drag } = self.gas;
        check.that(positive(repulsion), "spring.gas.repulsion", repulsion, "positive")?;
        check.that(lift.is_finite(), "spring.gas.lift", lift, "finite")?;
        check.that(at_least_zero(drag), "spring.gas.drag", drag, "at least 0")
    }
}

impl Molecules {
    fn check(&self, check: &Check) -> Result<(), WorldError> {
        let [a, b] = self.exponents;
        let good = at_least_zero(a) && b.is_finite() && b > a && b <= 32.0;
        check.that(good, "spring.molecules.exponents", self.exponents, "0 <= a < b <= 32")?;
        check.that(at_least_zero(self.bluntness), "spring.molecules.bluntness", self.bluntness, "at least 0")?;
        let collision = self.collision;
        check.that(unit(collision / 32.0), "spring.molecules.collision", collision, "between 0 and 32")?;
        let good = self.strengths.is_none_or(|[pull, push]| at_least_zero(pull) && positive(push));
        check.that(good, "spring.molecules.strengths", self.strengths, "at least 0 for pull, positive for push")?;
        let cutoff = (1.5..=8.0).contains(&self.cutoff);
        check.that(cutoff, "spring.molecules.cutoff", self.cutoff, "between 1.5 and 8 sizes of a molecule")?;
        check.that(
            self.strengths.is_some() || self.can_balance(),
            "spring.molecules",
            (self.exponents, self.cutoff),
            "exponents and a cut-off with which a melt can rest; or give attraction and repulsion",
        )?;
        let opening = match self.summation {
            Summation::Tree { opening } => opening,
            Summation::Cutoff | Summation::Exact => 0.0,
        };
        check.that(unit(opening), "spring.molecules.opening", opening, "between 0 and 1")
    }
}

/// Most regions that a body may be divided into.
const MOST_REGIONS: f64 = (1 << 20) as f64;

fn all_regions(counts: [f64; 3]) -> f64 {
    counts.iter().map(|n| n.max(1.0)).product()
}

impl ShapeSettings {
    fn check(&self, check: &Check, samples: &[Vec3]) -> Result<(), WorldError> {
        check.that(unit(self.beta), "shape.beta", self.beta, "between 0 and 1")?;
        check.that(unit(self.overlap), "shape.overlap", self.overlap, "between 0 and 1")?;
        check.that(self.tau.is_none_or(at_least_zero), "shape.tau", self.tau, "at least 0")?;
        check.that(
            self.damping_rate.is_none_or(at_least_zero),
            "shape.damping_rate",
            self.damping_rate,
            "at least 0",
        )?;
        match &self.clusters {
            Clusters::Counts(counts) => {
                let good =
                    counts.iter().all(|n| (1..=1024).contains(n)) && all_regions(counts.map(f64::from)) <= MOST_REGIONS;
                check.that(good, "shape.clusters", counts, "between 1 and 1024 along each axis, a million in all")
            }
            Clusters::Size(size) => {
                check.that(positive(*size), "shape.clusters.size", size, "positive")?;
                let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
                let (min, max) = samples.iter().fold(start, |(min, max), &x| (min.min(x), max.max(x)));
                let counts = (max - min).to_array().map(|length| f64::from(length) / f64::from(*size));
                let good = all_regions(counts) <= MOST_REGIONS && counts.iter().all(|&n| n <= 1024.0);
                check.that(
                    good,
                    "shape.clusters.size",
                    size,
                    "large enough for a million regions in all, 1024 along an axis",
                )
            }
            Clusters::Groups(_) => Ok(()),
        }
    }
}
