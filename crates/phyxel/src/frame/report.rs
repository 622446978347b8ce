//! Reports: totals of the world, and summaries of bodies and surfaces. Field names are keys of the report files.

use crate::model::ModelKind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of particles by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseCounts {
    /// Solid ones.
    pub solid: u64,
    /// Fluid ones.
    pub fluid: u64,
    /// Gaseous ones.
    pub gas: u64,
}

/// Energies, J.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Strain energy.
    pub elastic: f64,
    /// Gravitational potential energy, relative to the origin.
    pub gravity: f64,
    /// Enthalpy of bodies and of obstacles with a heat capacity, relative to temperature 0.
    pub heat: f64,
}

/// Amount of emitted or removed matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Amount {
    /// Particles.
    pub particles: u64,
    /// kg.
    pub mass: f64,
    /// Enthalpy relative to temperature 0, J.
    pub heat: f64,
}

impl Amount {
    /// Adds a number of particles of equal mass (kg) and specific enthalpy (J/kg).
    pub(crate) fn add(&mut self, particles: u64, mass: f64, enthalpy: f64) {
        let mass = particles as f64 * mass;
        *self =
            Self { particles: self.particles + particles, mass: self.mass + mass, heat: self.heat + mass * enthalpy };
    }
}

/// Emitted or removed matter since the start: total, and by emitter or drain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exchanged {
    /// Particles.
    pub particles: u64,
    /// kg.
    pub mass: f64,
    /// Enthalpy relative to temperature 0, J.
    pub heat: f64,
    /// Amounts by emitter, or by drain and `bounds`.
    pub by: BTreeMap<String, Amount>,
}

impl Exchanged {
    /// Sums named amounts.
    pub(crate) fn from_amounts<'a>(amounts: impl Iterator<Item = (&'a str, Amount)>) -> Self {
        let by: BTreeMap<String, Amount> = amounts.map(|(name, amount)| (name.to_string(), amount)).collect();
        let particles = by.values().map(|amount| amount.particles).sum();
        let (mass, heat) =
            by.values().fold((0.0, 0.0), |(mass, heat), amount| (mass + amount.mass, heat + amount.heat));
        Self { particles, mass, heat, by }
    }
}

/// Totals of the world.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Particles by phase.
    pub particles: PhaseCounts,
    /// Mass, kg.
    pub mass: f64,
    /// Linear momentum, kg m/s.
    pub momentum: [f64; 3],
    /// Angular momentum about the origin, kg m2/s.
    pub angular_momentum: [f64; 3],
    /// Energies, J.
    pub energy: Energy,
    /// Heat supplied through boundaries and by sources since the start, J.
    pub heat_in: f64,
    /// Emitted matter.
    pub emitted: Exchanged,
    /// Matter removed by drains and the bounds.
    pub removed: Exchanged,
    /// Relative error of the heat balance: initial plus supplied minus present heat, over the largest of the three.
    pub balance_error: f64,
}

/// Minimum, mass-weighted mean and maximum of a quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Minimum.
    pub min: f64,
    /// Mass-weighted mean.
    pub mean: f64,
    /// Maximum.
    pub max: f64,
}

/// Report of a body. Without particles, positions, velocities and temperatures are NaN (`null` in files).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BodyReport {
    /// Unique name.
    pub name: String,
    /// The model that moves it.
    pub model: ModelKind,
    /// Particles by phase.
    pub particles: PhaseCounts,
    /// Number of connected components.
    pub pieces: u32,
    /// Centre of mass, m.
    pub centre: [f64; 3],
    /// Bounding box of its particles: smallest and largest coordinates, m.
    pub bounds: [[f64; 3]; 2],
    /// Velocity of the centre of mass, m/s.
    pub velocity: [f64; 3],
    /// Temperature in the scene's scale.
    pub temperature: Span,
    /// Largest strain, without unit.
    pub strain_max: f64,
    /// Bonds broken since the start.
    pub broken: u64,
    /// Bonds formed since the start.
    pub merged: u64,
    /// Mean number of solver iterations per step; for implicit integration.
    pub solver_iterations: Option<f64>,
    /// Phyxels with degenerate (coplanar or too few) neighbours; for bodies of phyxels.
    pub degenerate: Option<u64>,
    /// Mesh of tetrahedra; for bodies of them.
    pub tetrahedra: Option<TetraReport>,
    /// Visible surface.
    pub skin: SkinReport,
}

/// Report of a mesh of tetrahedra.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TetraReport {
    /// Number of tetrahedra.
    pub count: u64,
    /// Smallest dihedral angle at rest, degrees; 70.5 in a regular tetrahedron.
    pub min_dihedral: f64,
    /// Largest dihedral angle at rest, degrees.
    pub max_dihedral: f64,
    /// Number of inverted tetrahedra at present.
    pub inverted: u64,
    /// Fraction of the tetrahedra in the largest connected component.
    #[serde(default)]
    pub largest_fraction: f64,
}

/// Report of a surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SkinReport {
    /// Kind of skin, as in scene files.
    pub kind: String,
    /// Number of vertices.
    pub vertices: u64,
    /// Number of triangles.
    pub triangles: u64,
    /// True if every edge has two faces; `None` without triangles.
    pub closed: Option<bool>,
    /// Number of connected components; `None` without triangles.
    pub pieces: Option<u32>,
    /// Genus, for a closed connected surface.
    pub genus: Option<i64>,
    /// Enclosed volume, m3; `None` without triangles.
    pub volume: Option<f64>,
}
