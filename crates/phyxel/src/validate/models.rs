//! Validation of model settings.

use super::{FieldCheck, at_least_zero, in_unit_interval, positive};
use crate::Real;
use crate::error::WorldError;
use crate::model::crystal::{Docking, PhaseChangeSettings};
use crate::model::mass_spring::{Cell, Gas, MassSpringSettings, Molecules, Summation};
use crate::model::shape_matching::{Clusters, ShapeMatchingSettings};
use crate::model::{ContinuumSettings, CrystalSettings, TetraSettings};
use crate::numerics::Aabb;
use crate::store::Phase;
use glam::Vec3;
use phyxel_laws::fem::Element;
use phyxel_laws::mass_spring::lattice::isotropic_springs;
use phyxel_laws::material::hooke::is_positive_definite;
use phyxel_laws::tet_topology::TetComplex;

impl TetraSettings {
    pub(super) fn check(&self, check: &FieldCheck, samples: &[Vec3]) -> Result<(), WorldError> {
        check.require(!self.elements.is_empty(), "tetra.elements", "none", "at least one")?;
        let is_known = |element: &[u32; 4]| element.iter().all(|&node| (node as usize) < samples.len());
        let unknown = self.elements.iter().position(|element| !is_known(element));
        check.require(unknown.is_none(), "tetra.elements", unknown, "made of the body's own samples")?;
        let mut used = vec![false; samples.len()];
        self.elements.iter().flatten().for_each(|&node| used[node as usize] = true);
        let isolated = used.iter().position(|used| !used);
        check.require(isolated.is_none(), "samples", isolated, "all corners of tetrahedra")?;
        let is_valid = |element: &[u32; 4]| Element::new(element.map(|node| samples[node as usize])).is_some();
        let degenerate = self.elements.iter().position(|element| !is_valid(element));
        let rule = "neither flat nor inside out: the fourth corner sees the others run counter-clockwise";
        check.require(degenerate.is_none(), "tetra.elements", degenerate, rule)?;
        let complex = TetComplex::new(self.elements.to_vec(), samples.len());
        let error = complex.as_ref().err().map(ToString::to_string);
        check.require(error.is_none(), "tetra.elements", &error, "tetrahedra that share faces, two at most on each")?;
        let force = self.strength_force;
        check.require(force.is_none_or(positive), "tetra.strength_force", force, "positive")?;
        let stiffness = self.stiffness.as_deref();
        let is_stable = stiffness.is_none_or(is_positive_definite);
        check.require(is_stable, "tetra.stiffness", stiffness, "symmetric, with positive eigenvalues only")?;
        let (mass, stiffness) = (self.mass_damping, self.stiffness_damping);
        check.require(at_least_zero(mass), "tetra.mass_damping", mass, "at least 0")?;
        check.require(stiffness.is_none_or(at_least_zero), "tetra.stiffness_damping", stiffness, "at least 0")
    }
}

impl CrystalSettings {
    pub(super) fn check(&self, check: &FieldCheck) -> Result<(), WorldError> {
        let is_condensed = self.phase != Phase::Gas;
        check.require(is_condensed, "crystal.phase", "gas", "solid or fluid")?;
        let in_range = (1.3..=2.1).contains(&self.support);
        check.require(in_range, "crystal.support", self.support, "between 1.3 and 2.1 spacings")?;
        check.require(at_least_zero(self.smoothing), "crystal.smoothing", self.smoothing, "at least 0")?;
        let PhaseChangeSettings { melting, freezing, freezing_point, min_neighbours, max_speed, fade_time } =
            self.change;
        check.require(at_least_zero(melting), "crystal.change.melting", melting, "at least 0")?;
        check.require(at_least_zero(freezing), "crystal.change.freezing", freezing, "at least 0")?;
        let is_finite = freezing_point.is_none_or(Real::is_finite);
        check.require(is_finite, "crystal.change.freezing_point", freezing_point, "finite")?;
        check.require(min_neighbours.is_finite(), "crystal.change.min_neighbours", min_neighbours, "finite")?;
        check.require(positive(max_speed), "crystal.change.max_speed", max_speed, "positive")?;
        check.require(at_least_zero(fade_time), "crystal.change.fade_time", fade_time, "at least 0")?;
        let Docking { rate, decay } = self.docking.unwrap_or_default();
        check.require(positive(rate), "crystal.docking.rate", rate, "positive")?;
        check.require(at_least_zero(decay), "crystal.docking.decay", decay, "at least 0")
    }
}

impl ContinuumSettings {
    pub(super) fn check(&self, check: &FieldCheck) -> Result<(), WorldError> {
        let in_range = (1.2..=4.0).contains(&self.support);
        check.require(in_range, "continuum.support", self.support, "between 1.2 and 4 mean distances of neighbours")?;
        check.require(at_least_zero(self.hourglass), "continuum.hourglass", self.hourglass, "at least 0")?;
        check.require(
            at_least_zero(self.volume_penalty),
            "continuum.volume_penalty",
            self.volume_penalty,
            "at least 0",
        )?;
        let stiffness = self.stiffness.as_deref();
        let is_stable = stiffness.is_none_or(is_positive_definite);
        check.require(is_stable, "continuum.stiffness", stiffness, "symmetric, with positive eigenvalues only")
    }
}

impl MassSpringSettings {
    pub(super) fn check(&self, check: &FieldCheck, samples: &[Vec3]) -> Result<(), WorldError> {
        check.require(!self.cells.is_empty(), "mass_spring.cells", "none", "at least one cell")?;
        let is_known = |cell: &Cell| cell.iter().all(|&corner| (corner as usize) < samples.len());
        check.require(
            self.cells.iter().all(is_known),
            "mass_spring.cells",
            "an unknown corner",
            "made of the body's own samples",
        )?;
        let mut used = vec![false; samples.len()];
        self.cells.iter().flatten().for_each(|&corner| used[corner as usize] = true);
        let isolated = used.iter().position(|used| !used);
        check.require(isolated.is_none(), "samples", isolated, "all corners of cells")?;
        let size = |cell: &Cell| {
            let corner = |k: usize| samples[cell[k] as usize];
            [1, 2, 4].map(|k| corner(0).distance(corner(k)))
        };
        let first = size(&self.cells[0]);
        let is_congruent = |cell: &Cell| size(cell).iter().zip(&first).all(|(a, b)| (a - b).abs() <= 0.01 * b);
        check.require(
            self.cells.iter().all(is_congruent),
            "mass_spring.cells",
            "of different sizes",
            "boxes of one size",
        )?;
        check.require(
            isotropic_springs(first).is_some(),
            "mass_spring.cells",
            first,
            "nearer to cubes: with edges a, b, c of a cell, a2/b2 + a2/c2 must be below 3 for each",
        )?;
        check.require(
            self.weights.into_iter().all(positive),
            "mass_spring.weights",
            self.weights,
            "positive along every axis",
        )?;
        let diagonals = self.diagonal_conductivity;
        check.require(at_least_zero(diagonals), "mass_spring.diagonal_conductivity", diagonals, "at least 0")?;
        self.molecules.check(check)?;
        let Gas { repulsion, lift, drag } = self.gas;
        check.require(positive(repulsion), "mass_spring.gas.repulsion", repulsion, "positive")?;
        check.require(lift.is_finite(), "mass_spring.gas.lift", lift, "finite")?;
        check.require(at_least_zero(drag), "mass_spring.gas.drag", drag, "at least 0")
    }
}

impl Molecules {
    pub(super) fn check(&self, check: &FieldCheck) -> Result<(), WorldError> {
        let [a, b] = self.exponents;
        let good = at_least_zero(a) && b.is_finite() && b > a && b <= 32.0;
        check.require(good, "mass_spring.molecules.exponents", self.exponents, "0 <= a < b <= 32")?;
        check.require(
            at_least_zero(self.softening),
            "mass_spring.molecules.softening",
            self.softening,
            "at least 0",
        )?;
        let collision = self.collision;
        check.require(
            in_unit_interval(collision / 32.0),
            "mass_spring.molecules.collision",
            collision,
            "between 0 and 32",
        )?;
        let good =
            self.strengths.is_none_or(|[attraction, repulsion]| at_least_zero(attraction) && positive(repulsion));
        check.require(
            good,
            "mass_spring.molecules.strengths",
            self.strengths,
            "at least 0 for attraction, positive for repulsion",
        )?;
        let cutoff = (1.5..=8.0).contains(&self.cutoff);
        check.require(cutoff, "mass_spring.molecules.cutoff", self.cutoff, "between 1.5 and 8 molecule sizes")?;
        check.require(
            self.strengths.is_some() || self.has_equilibrium_density(),
            "mass_spring.molecules",
            (self.exponents, self.cutoff),
            "exponents and a cut-off for which a melt has an equilibrium; or give attraction and repulsion",
        )?;
        let opening_angle = match self.summation {
            Summation::Tree { opening_angle } => opening_angle,
            Summation::Cutoff | Summation::Exact => 0.0,
        };
        check.require(
            in_unit_interval(opening_angle),
            "mass_spring.molecules.opening_angle",
            opening_angle,
            "between 0 and 1",
        )
    }
}

/// Maximum number of shape-matching clusters of a body.
const MAX_CLUSTERS: f64 = (1 << 20) as f64;

/// Number of clusters of a grid with these counts along the axes.
fn cluster_count(counts: [f64; 3]) -> f64 {
    counts.iter().map(|n| n.max(1.0)).product()
}

impl ShapeMatchingSettings {
    pub(super) fn check(&self, check: &FieldCheck, samples: &[Vec3]) -> Result<(), WorldError> {
        check.require(in_unit_interval(self.beta), "shape_matching.beta", self.beta, "between 0 and 1")?;
        check.require(in_unit_interval(self.overlap), "shape_matching.overlap", self.overlap, "between 0 and 1")?;
        check.require(self.tau.is_none_or(at_least_zero), "shape_matching.tau", self.tau, "at least 0")?;
        check.require(
            self.damping_rate.is_none_or(at_least_zero),
            "shape_matching.damping_rate",
            self.damping_rate,
            "at least 0",
        )?;
        match &self.clusters {
            Clusters::Counts(counts) => {
                let good = counts.iter().all(|n| (1..=1024).contains(n))
                    && cluster_count(counts.map(f64::from)) <= MAX_CLUSTERS;
                check.require(
                    good,
                    "shape_matching.clusters",
                    counts,
                    "between 1 and 1024 along each axis, a million in all",
                )
            }
            Clusters::Size(size) => {
                check.require(positive(*size), "shape_matching.clusters.size", size, "positive")?;
                let extent = Aabb::from_points(samples.iter().copied()).extent();
                let counts = extent.to_array().map(|length| f64::from(length) / f64::from(*size));
                let good = cluster_count(counts) <= MAX_CLUSTERS && counts.iter().all(|&n| n <= 1024.0);
                check.require(
                    good,
                    "shape_matching.clusters.size",
                    size,
                    "large enough for a million clusters in all, 1024 along an axis",
                )
            }
            Clusters::Groups(_) => Ok(()),
        }
    }
}
