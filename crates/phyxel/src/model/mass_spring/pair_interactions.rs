//! Pair interactions of molecules: conservative forces, viscosity and conduction over the Verlet list.

use super::pair_table::{PairStrength, PairTable};
use super::settings::Summation;
use super::verlet_list::{DPD_CUTOFF, Role, VerletList};
use crate::Real;
use crate::heat::Link;
use crate::parallel;
use glam::Vec3;
use phyxel_laws::mass_spring::molecular::{conductance_for_conductivity, damping_for_viscosity, dpd_weight};

/// Particles per task.
const GRAIN: usize = 512;
/// Core distance of soft solid particles, below which they repel each other, sizes.
pub(super) const CORE: Real = 0.75;
/// Distance below which the core repulsion is constant, sizes.
const CORE_FLOOR: Real = 0.6;
/// State of a row of the Verlet list during a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairParticle {
    pub position: Vec3,
    pub velocity: Vec3,
    /// Mass, kg.
    pub mass: Real,
    /// Size, m.
    pub size: Real,
    pub role: Role,
    /// Slot of its body in the model.
    pub body: u32,
    /// Square roots of the factors on attraction and repulsion.
    pub factors: [Real; 2],
    /// Viscosity, Pa s.
    pub viscosity: Real,
    /// Conductivity, W/(m K).
    pub conductivity: Real,
}

/// Data that every pair needs, compact in memory.
#[derive(Clone, Copy, Debug)]
struct PackedParticle {
    position: Vec3,
    size: Real,
    velocity: Vec3,
    viscosity: Real,
}

impl PackedParticle {
    fn of(particle: &PairParticle) -> Self {
        let &PairParticle { position, size, velocity, viscosity, .. } = particle;
        Self { position, size, velocity, viscosity }
    }
}

/// Sums over the neighbours of a particle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PairSums {
    /// Force, N.
    pub force: Vec3,
    /// Sum of pair stiffnesses, N/m.
    pub stiffness: Real,
    /// Sum of pair damping coefficients, N s/m.
    pub damping: Real,
    /// Half of the viscous dissipation of its pairs, W.
    pub dissipation: Real,
    /// Largest rate of approach of a neighbour, sizes per second.
    pub approach_rate: Real,
}

/// Verlet list with the state of its particles and their pair laws.
pub(super) struct PairInteractions<'a> {
    pub list: &'a VerletList,
    pub particles: &'a [PairParticle],
    /// Pair law and summation of each body.
    pub laws: &'a [(&'a PairTable, Summation)],
}

impl PairInteractions<'_> {
    /// Sums the interactions of every particle.
    pub fn sums(&self) -> Vec<PairSums> {
        let packed = parallel::map(self.particles.len(), GRAIN, |row| PackedParticle::of(&self.particles[row]));
        // Most melts are uniform; the packed data then suffice.
        if self.is_uniform() { self.sums_of::<true>(&packed) } else { self.sums_of::<false>(&packed) }
    }

    /// Returns true if all particles are molecules of one body with unit factors, calibrated strengths and a
    /// cut-off.
    fn is_uniform(&self) -> bool {
        let Some(first) = self.particles.first() else { return true };
        let (table, summation) = self.laws[first.body as usize];
        let is_same = |m: &PairParticle| m.body == first.body && m.role == Role::Molecule && m.factors == [1.0; 2];
        let is_calibrated = matches!(table.strength, PairStrength::Modulus(_)) && summation == Summation::Cutoff;
        is_calibrated && self.particles.iter().all(is_same)
    }

    fn sums_of<const UNIFORM: bool>(&self, packed: &[PackedParticle]) -> Vec<PairSums> {
        let coefficient = damping_for_viscosity(DPD_CUTOFF.into()) as Real;
        parallel::map(packed.len(), GRAIN, |row| {
            let mut sums = PairSums::default();
            for &other in self.list.of(row) {
                self.add_pair::<UNIFORM>(packed, [row, other as usize], coefficient, &mut sums);
            }
            sums
        })
    }

    /// Adds the interaction with a neighbour. Coincident particles separate vertically, by their order.
    #[inline(always)]
    fn add_pair<const UNIFORM: bool>(
        &self,
        packed: &[PackedParticle],
        pair: [usize; 2],
        coefficient: Real,
        sums: &mut PairSums,
    ) {
        let (a, b) = (&packed[pair[0]], &packed[pair[1]]);
        let size = 0.5 * (a.size + b.size);
        let mut offset = a.position - b.position;
        let mut square = offset.length_squared();
        if square < 1e-12 * size * size {
            let up = if pair[1] < pair[0] { Vec3::Y } else { Vec3::NEG_Y };
            offset = up * (1e-6 * size);
            square = 1e-12 * size * size;
        }
        let [full_a, full_b] = pair.map(|row| &self.particles[if UNIFORM { 0 } else { row }]);
        let has_molecule = UNIFORM || full_a.role == Role::Molecule || full_b.role == Role::Molecule;
        let (force, stiffness) = if UNIFORM {
            let (table, _) = self.laws[full_a.body as usize];
            let (length, strength) = table.scales([a.size, b.size], [0.0; 2]);
            let square = square / (length * length);
            let table_force = table.interpolate(square);
            let scale = strength / length;
            (scale * table_force.net([1.0; 2]), scale * table_force.stiffness(square, [1.0; 2]))
        } else {
            self.pair_force(full_a, full_b, square, has_molecule)
        };
        sums.force += offset * force;
        sums.stiffness += stiffness;
        let range = DPD_CUTOFF * size;
        if square < range * range {
            let distance = square.sqrt();
            let approach = -(a.velocity - b.velocity).dot(offset) / distance;
            sums.approach_rate = sums.approach_rate.max(approach / size);
            if has_molecule {
                let viscosity =
                    if UNIFORM { 0.5 * (a.viscosity + b.viscosity) } else { pair_viscosity(full_a, full_b) };
                let damping = coefficient * size * viscosity * dpd_weight(distance / range);
                sums.force += offset * (damping * approach / distance);
                sums.damping += damping;
                sums.dissipation += 0.5 * damping * approach * approach;
            }
        }
    }

    /// Repulsive force over distance (N/m) and stiffness (N/m) of a pair; between bodies the mean of both laws.
    #[inline(always)]
    fn pair_force(&self, a: &PairParticle, b: &PairParticle, square: Real, has_molecule: bool) -> (Real, Real) {
        let of_a = self.pair_force_by(a.body, a, b, square, has_molecule);
        if a.body == b.body {
            return of_a;
        }
        let of_b = self.pair_force_by(b.body, a, b, square, has_molecule);
        (0.5 * (of_a.0 + of_b.0), 0.5 * (of_a.1 + of_b.1))
    }

    #[inline(always)]
    fn pair_force_by(
        &self,
        body: u32,
        a: &PairParticle,
        b: &PairParticle,
        square: Real,
        has_molecule: bool,
    ) -> (Real, Real) {
        let (table, summation) = self.laws[body as usize];
        let (length, strength) = table.scales([a.size, b.size], [a.mass, b.mass]);
        let square = square / (length * length);
        let scale = strength / length;
        if !has_molecule {
            return core_repulsion(table, square, scale);
        }
        let table_force = table.interpolate(square);
        let factors = [a.factors[0] * b.factors[0], a.factors[1] * b.factors[1]];
        let are_molecules = a.role == Role::Molecule && b.role == Role::Molecule;
        let is_summed_elsewhere = summation != Summation::Cutoff && are_molecules && a.body == b.body;
        let force = if is_summed_elsewhere { 0.0 } else { scale * table_force.net(factors) };
        (force, scale * table_force.stiffness(square, factors))
    }

    /// Conduction links of pairs with a molecule.
    pub fn conduction_links(&self) -> Vec<Link> {
        let coefficient = conductance_for_conductivity(DPD_CUTOFF.into()) as Real;
        let chunks = parallel::map_ranges(self.particles.len(), GRAIN, |range| {
            let mut links = Vec::new();
            for row in range {
                let a = &self.particles[row];
                let later = self.list.of(row).iter().filter(|&&other| other as usize > row);
                for &other in later {
                    let b = &self.particles[other as usize];
                    let size = 0.5 * (a.size + b.size);
                    let square = a.position.distance_squared(b.position);
                    let has_molecule = a.role == Role::Molecule || b.role == Role::Molecule;
                    let sum = a.conductivity + b.conductivity;
                    if has_molecule && square < DPD_CUTOFF * DPD_CUTOFF * size * size && sum > 0.0 {
                        let distance = square.sqrt();
                        let conductivity = 2.0 * a.conductivity * b.conductivity / sum;
                        let conductance =
                            coefficient * conductivity * size * dpd_weight(distance / (DPD_CUTOFF * size));
                        let nodes = [row, other as usize].map(|row| self.list.particles[row]);
                        links.push(Link { nodes, conductance });
                    }
                }
            }
            links
        });
        chunks.concat()
    }

    /// Potential energy of all pairs with a molecule, J.
    pub fn energy(&self) -> f64 {
        let chunks = parallel::map_ranges(self.particles.len(), GRAIN, |range| {
            let mut sum = 0.0;
            for row in range {
                let a = &self.particles[row];
                for &other in self.list.of(row) {
                    let b = &self.particles[other as usize];
                    if a.role == Role::Molecule || b.role == Role::Molecule {
                        sum += 0.5 * f64::from(self.pair_energy(a, b));
                    }
                }
            }
            sum
        });
        chunks.iter().sum()
    }

    fn pair_energy(&self, a: &PairParticle, b: &PairParticle) -> Real {
        let of_law = |body: u32| {
            let (table, _) = self.laws[body as usize];
            let (length, strength) = table.scales([a.size, b.size], [a.mass, b.mass]);
            let [attraction, repulsion] = table.energy(a.position.distance_squared(b.position) / (length * length));
            strength * length * (attraction * a.factors[0] * b.factors[0] + repulsion * a.factors[1] * b.factors[1])
        };
        if a.body == b.body { of_law(a.body) } else { 0.5 * (of_law(a.body) + of_law(b.body)) }
    }
}

/// Core repulsion of soft solid particles: force over distance (N/m) and stiffness (N/m).
///
/// It is constant below [`CORE_FLOOR`]. Springs may have let particles come closer before they softened, and
/// they must not explode then.
fn core_repulsion(table: &PairTable, square: Real, scale: Real) -> (Real, Real) {
    if square >= CORE * CORE {
        return (0.0, 0.0);
    }
    let repulsion = [0.0, 1.0];
    let floor = square.max(CORE_FLOOR * CORE_FLOOR);
    let (inner, rim) = (table.interpolate(floor), table.interpolate(CORE * CORE));
    let force = inner.net(repulsion) * floor.sqrt() - rim.net(repulsion) * CORE;
    (scale * force / square.sqrt().max(0.1), scale * inner.stiffness(floor, repulsion))
}

/// Viscosity of a pair: the mean of two molecules, else that of the molecule.
fn pair_viscosity(a: &PairParticle, b: &PairParticle) -> Real {
    match (a.role, b.role) {
        (Role::Molecule, Role::Molecule) => 0.5 * (a.viscosity + b.viscosity),
        (Role::Molecule, _) => a.viscosity,
        _ => b.viscosity,
    }
}
