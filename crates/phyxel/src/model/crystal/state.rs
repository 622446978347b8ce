//! What the model tells of its bodies.

use super::fracture::TOGETHER;
use super::solid::turn_around;
use super::{CrystalModel, Derived, reach};
use crate::Real;
use crate::body::{Body, BodyId};
use crate::material::Material;
use crate::model::{BodyState, Parts};
use crate::parallel;
use crate::particles::{Particles, Phase};
use glam::{Mat3, Vec3};
use phyxel_laws::crystal::{Site, match_lattice, strain};
use phyxel_laws::lanes::{Level, WIDTH};
use phyxel_laws::plasticity::symmetric_norm;

/// Particles per task.
const GRAIN: usize = 512;

impl CrystalModel {
    /// Pressure that particles of a body pass on to each other, Pa: `sum_j (p_i + p_j)/2 V_j r |grad W|/3`, the mean of the forces
    /// of the last step over the faces of a particle. Forces of walls are not in it.
    pub(crate) fn pressures(
        &self,
        id: BodyId,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
    ) -> Vec<Real> {
        let derived = self.derive_around(bodies, materials, particles);
        let (order, kernel) = (&derived.around.order, &derived.kernel);
        let passed = parallel::map(order.len(), GRAIN, |place| {
            let k = order[place] as usize;
            let mut sum = 0.0;
            for &other in derived.around.of(place).iter().flatten().filter(|&&other| other as usize != place) {
                let j = order[other as usize] as usize;
                let at = |k: usize| particles.position[derived.indices[k] as usize];
                let square = at(k).distance_squared(at(j));
                let volume = derived.matter[derived.owners[j] as usize].volume;
                sum -= (self.pressures[k] + self.pressures[j]) * volume * square * kernel.slope(square.sqrt());
            }
            sum / 6.0
        });
        let mut by_particle = vec![0.0; order.len()];
        order.iter().zip(passed).for_each(|(&k, passed)| by_particle[k as usize] = passed);
        let Some(place) = self.bodies.iter().position(|own| own.id == id) else { return Vec::new() };
        let first: usize = self.bodies[..place].iter().map(|own| own.count).sum();
        by_particle.drain(first..first + self.bodies[place].count).collect()
    }

    /// What follows from the present, with neighbours.
    fn derive_around(&self, bodies: &[Body], materials: &[Material], particles: &Particles) -> Derived {
        let mut derived = self.derive(bodies, materials, particles);
        let points: Vec<Vec3> = derived.indices.iter().map(|&i| particles.position[i as usize]).collect();
        let far = reach(&self.bodies, &derived);
        derived.around.find(&points, far);
        derived
    }

    /// Solid objects: those whose particles are matched with each other.
    pub fn object_count(&self, particles: &Particles) -> usize {
        let Some(derived) = &self.derived else { return self.count_at_first() };
        let solid = |k: &usize| particles.phase[derived.indices[*k] as usize] == Phase::Solid;
        let mut objects: Vec<u32> = (0..self.objects.len()).filter(solid).map(|k| self.objects[k]).collect();
        objects.sort_unstable();
        objects.dedup();
        objects.len()
    }

    /// Solid bodies, before the first step.
    fn count_at_first(&self) -> usize {
        self.bodies.iter().filter(|own| own.settings.phase == Phase::Solid).count()
    }

    /// Neighbours of a particle in the last step, on the mean.
    pub fn mean_neighbours(&self) -> f64 {
        let Some(derived) = &self.derived else { return 0.0 };
        let around = &derived.around;
        let of = |place: usize| around.of(place).iter().flatten().filter(|&&other| other as usize != place).count();
        let sum: usize = (0..around.order.len()).map(of).sum();
        sum as f64 / around.order.len().max(1) as f64
    }

    /// Products with the matrix that the last pressure took.
    pub fn pressure_rounds(&self) -> u32 {
        self.rounds
    }

    /// Products with the matrix that the last viscosity took.
    pub fn viscosity_rounds(&self) -> u32 {
        self.rubs
    }

    pub(crate) fn states(
        &self,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
        strains: &mut [Real],
    ) -> Vec<(BodyId, BodyState)> {
        let derived = self.derive_around(bodies, materials, particles);
        let (refusals, mut back) = (self.find_refusals(&derived, particles), Vec::new());
        if !refusals.is_empty() {
            turn_around(&derived.around, &mut back);
        }
        let parted = |entry: usize| back.get(entry).is_some_and(|&back| refusals[entry] || refusals[back as usize]);
        let look = |place: usize| self.look(&derived, particles, place, parted);
        let found = parallel::map(derived.around.order.len(), GRAIN, look);
        let mut states = vec![BodyState::default(); self.bodies.len()];
        let mut parts: Vec<Parts> = self.bodies.iter().map(|own| Parts::new(own.count)).collect();
        for (place, (energy, strain)) in found.into_iter().enumerate() {
            let k = derived.around.order[place] as usize;
            let owner = derived.owners[k] as usize;
            let (i, first) = (derived.indices[k] as usize, derived.matter[owner].range.start);
            strains[i] = strain;
            states[owner].elastic += energy;
            states[owner].strain_max = states[owner].strain_max.max(strain.into());
            let near = TOGETHER * derived.matter[owner].solid.distance;
            for &other in derived.around.of(place).iter().flatten().filter(|&&other| other as usize > place) {
                let k = derived.around.order[other as usize] as usize;
                let j = derived.indices[k] as usize;
                let both = [i, j].map(|i| particles.phase[i]) == [Phase::Solid; 2];
                let apart = both && self.objects[k] != self.objects[derived.around.order[place] as usize];
                let close = particles.position[i].distance(particles.position[j]) < near;
                if derived.owners[k] as usize == owner && close && !apart {
                    parts[owner].unite([i, j].map(|i| (i - first) as u32));
                }
            }
        }
        let rounds = f64::from(self.rounds);
        let told = self.bodies.iter().zip(states).zip(parts);
        told.map(|((own, state), parts)| {
            (own.id, BodyState { pieces: parts.count(), broken: own.broken, solver_rounds: Some(rounds), ..state })
        })
        .collect()
    }

    /// Energy and strain of a solid particle's neighbourhood, without neighbours that are parted from it.
    fn look(
        &self,
        derived: &Derived,
        particles: &Particles,
        place: usize,
        parted: impl Fn(usize) -> bool,
    ) -> (f64, Real) {
        let around = &derived.around;
        let k = around.order[place] as usize;
        let (i, owner) = (derived.indices[k] as usize, derived.owners[k]);
        if particles.phase[i] != Phase::Solid {
            return (0.0, 0.0);
        }
        let (solid, mine) = (&derived.matter[owner as usize].solid, self.objects[k]);
        let (mut ways, mut pushed) = (Vec::new(), 0.0);
        let first = WIDTH * around.start[place] as usize;
        for (entry, &other) in (first..).zip(around.of(place).iter().flatten()) {
            let k = around.order[other as usize] as usize;
            let j = derived.indices[k] as usize;
            if other as usize == place || particles.phase[j] != Phase::Solid {
                continue;
            }
            let way = particles.position[j] - particles.position[i];
            if self.objects[k] == mine && !parted(entry) {
                ways.push(way);
            } else {
                pushed += f64::from(solid.push_energy(derived.solid(k), way));
            }
        }
        let mut sites: Vec<Option<Site>> = vec![None; ways.len()];
        let open = solid.lattice.inside();
        let found = match_lattice(Level::detect(), &solid.lattice, &self.poses[k].into(), &ways, open, &mut sites);
        let rotation = Mat3::from_quat(found.pose.rotation);
        let taken = ways.iter().zip(&sites).filter_map(|(way, site)| site.map(|site| (*way, site)));
        let stiffness = solid.part_left(particles.enthalpy[i]) * solid.stiffness;
        let energy: f64 =
            taken.map(|(way, site)| f64::from(solid.lattice.energy(stiffness, &rotation, site, way))).sum();
        (energy + pushed, symmetric_norm(&strain(found.pose.shape)))
    }
}
