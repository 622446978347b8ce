//! Reports of bodies: pressures, energies, strains and pieces.

use super::solid::{BOND_RADIUS, transpose_lists};
use super::{CrystalModel, Derived, GRAIN, search_radius};
use crate::Real;
use crate::body::BodyId;
use crate::model::BodyState;
use crate::model::View;
use crate::numerics::UnionFind;
use crate::parallel;
use crate::store::{Particles, Phase};
use glam::{Mat3, Vec3};
use phyxel_laws::lattice::{Site, green_strain, match_lattice};
use phyxel_laws::material::plasticity::spectral_norm_symmetric;
use phyxel_laws::simd::{SimdLevel, WIDTH};

impl CrystalModel {
    /// Pressure transmitted between the particles of a body, Pa: `sum_j (p_i + p_j)/2 V_j r |grad W|/3`, the
    /// mean of the forces of the last step over the faces of a particle. It excludes the forces of walls.
    pub(crate) fn pressures(&self, id: BodyId, view: &View) -> Vec<Real> {
        let derived = self.derive_with_neighbours(view);
        let (order, kernel) = (&derived.table.order, &derived.kernel);
        let sorted = parallel::map(order.len(), GRAIN, |s| {
            let k = order[s] as usize;
            let mut sum = 0.0;
            for &t in derived.table.neighbours(s).iter().flatten().filter(|&&t| t as usize != s) {
                let other = order[t as usize] as usize;
                let at = |k: usize| view.particles.position[derived.indices[k] as usize];
                let square = at(k).distance_squared(at(other));
                let volume = derived.constants[derived.body_of[other] as usize].volume;
                sum -= (self.pressures[k] + self.pressures[other]) * volume * square * kernel.slope(square.sqrt());
            }
            sum / 6.0
        });
        let mut pressures = vec![0.0; order.len()];
        order.iter().zip(sorted).for_each(|(&k, pressure)| pressures[k as usize] = pressure);
        let Some(slot) = self.bodies.iter().position(|own| own.id == id) else { return Vec::new() };
        let first: usize = self.bodies[..slot].iter().map(|own| own.count).sum();
        pressures.drain(first..first + self.bodies[slot].count).collect()
    }

    /// Derived data of the present state, with neighbours.
    fn derive_with_neighbours(&self, view: &View) -> Derived {
        let mut derived = self.derive(view);
        let points: Vec<Vec3> = derived.indices.iter().map(|&i| view.particles.position[i as usize]).collect();
        let radius = search_radius(&self.bodies, &derived);
        derived.table.update(&points, radius);
        derived
    }

    /// Number of solid objects: sets of particles that are matched with each other.
    pub fn object_count(&self, particles: &Particles) -> usize {
        let Some(derived) = &self.derived else { return self.initial_object_count() };
        let is_solid = |k: &usize| particles.phase[derived.indices[*k] as usize] == Phase::Solid;
        let mut objects: Vec<u32> = (0..self.objects.len()).filter(is_solid).map(|k| self.objects[k]).collect();
        objects.sort_unstable();
        objects.dedup();
        objects.len()
    }

    /// Number of solid bodies, before the first step.
    fn initial_object_count(&self) -> usize {
        self.bodies.iter().filter(|own| own.settings.phase == Phase::Solid).count()
    }

    /// Mean number of neighbours of a particle in the last step.
    pub fn mean_neighbours(&self) -> f64 {
        let Some(derived) = &self.derived else { return 0.0 };
        let table = &derived.table;
        let count = |s: usize| table.neighbours(s).iter().flatten().filter(|&&t| t as usize != s).count();
        let sum: usize = (0..table.order.len()).map(count).sum();
        sum as f64 / table.order.len().max(1) as f64
    }

    /// Iterations (products with the matrix) of the pressure solver in the last step.
    pub fn pressure_iterations(&self) -> u32 {
        self.pressure_iterations
    }

    /// Iterations (products with the matrix) of the viscosity solver in the last step.
    pub fn viscosity_iterations(&self) -> u32 {
        self.viscosity_iterations
    }

    pub(super) fn summarise(&self, view: &View, strains: &mut [Real]) -> Vec<(BodyId, BodyState)> {
        let derived = self.derive_with_neighbours(view);
        let (cracked, mut reverse) = (self.cracked_entries(&derived, view.particles), Vec::new());
        if !cracked.is_empty() {
            transpose_lists(&derived.table, &mut reverse);
        }
        let is_cracked =
            |entry: usize| reverse.get(entry).is_some_and(|&reverse| cracked[entry] || cracked[reverse as usize]);
        let energies_and_strains = parallel::map(derived.table.order.len(), GRAIN, |s| {
            self.energy_and_strain(&derived, view.particles, s, is_cracked)
        });
        let mut states = vec![BodyState::default(); self.bodies.len()];
        for (&k, (energy, strain)) in derived.table.order.iter().zip(energies_and_strains) {
            strains[derived.indices[k as usize] as usize] = strain;
            let state = &mut states[derived.body_of[k as usize] as usize];
            state.elastic_energy += energy;
            state.strain_max = state.strain_max.max(strain.into());
        }
        let solver_iterations = Some(f64::from(self.pressure_iterations));
        let reports = self.bodies.iter().zip(states).zip(self.pieces(&derived, view.particles));
        reports
            .map(|((own, state), pieces)| {
                (own.id, BodyState { pieces, broken: own.broken, solver_iterations, ..state })
            })
            .collect()
    }

    /// Number of connected pieces of each body. Solid particles of different objects are not connected.
    fn pieces(&self, derived: &Derived, particles: &Particles) -> Vec<u32> {
        let (table, order) = (&derived.table, &derived.table.order);
        let mut components: Vec<UnionFind> = self.bodies.iter().map(|own| UnionFind::new(own.count)).collect();
        for s in 0..order.len() {
            let k = order[s] as usize;
            let body = derived.body_of[k] as usize;
            let (i, first) = (derived.indices[k] as usize, derived.constants[body].range.start);
            let radius = BOND_RADIUS * derived.constants[body].solid.spacing;
            for &t in table.neighbours(s).iter().flatten().filter(|&&t| t as usize > s) {
                let other = order[t as usize] as usize;
                let j = derived.indices[other] as usize;
                let both_solid = [i, j].map(|i| particles.phase[i]) == [Phase::Solid; 2];
                let separate = both_solid && self.objects[other] != self.objects[k];
                let close = particles.position[i].distance(particles.position[j]) < radius;
                if derived.body_of[other] as usize == body && close && !separate {
                    components[body].union([i, j].map(|i| (i - first) as u32));
                }
            }
        }
        components.into_iter().map(|components| components.component_count()).collect()
    }

    /// Energy and strain of a solid particle's neighbourhood. Neighbours across cracks count as contacts.
    fn energy_and_strain(
        &self,
        derived: &Derived,
        particles: &Particles,
        s: usize,
        is_cracked: impl Fn(usize) -> bool,
    ) -> (f64, Real) {
        let table = &derived.table;
        let k = table.order[s] as usize;
        let (i, body) = (derived.indices[k] as usize, derived.body_of[k]);
        if particles.phase[i] != Phase::Solid {
            return (0.0, 0.0);
        }
        let (solid, object) = (&derived.constants[body as usize].solid, self.objects[k]);
        let (mut offsets, mut contact_energy) = (Vec::new(), 0.0);
        let first = WIDTH * table.offsets[s] as usize;
        for (entry, &t) in (first..).zip(table.neighbours(s).iter().flatten()) {
            let other = table.order[t as usize] as usize;
            let j = derived.indices[other] as usize;
            if t as usize == s || particles.phase[j] != Phase::Solid {
                continue;
            }
            let offset = particles.position[j] - particles.position[i];
            if self.objects[other] == object && !is_cracked(entry) {
                offsets.push(offset);
            } else {
                contact_energy += f64::from(solid.contact_energy(derived.solid(other), offset));
            }
        }
        let mut sites: Vec<Option<Site>> = vec![None; offsets.len()];
        let (lattice, frame) = (&solid.lattice, self.lattice_frames[k].into());
        let open = lattice.weighted_sites();
        let matched = match_lattice(SimdLevel::detect(), lattice, &frame, &offsets, open, &mut sites);
        let rotation = Mat3::from_quat(matched.frame.rotation);
        let pairs = offsets.iter().zip(&sites).filter_map(|(offset, site)| site.map(|site| (*offset, site)));
        let stiffness = solid.stiffness_ratio(particles.enthalpy[i]) * solid.stiffness;
        let energy: f64 =
            pairs.map(|(offset, site)| f64::from(lattice.energy(stiffness, &rotation, site, offset))).sum();
        (energy + contact_energy, spectral_norm_symmetric(&green_strain(matched.frame.deformation)))
    }
}
