//! Report of the model: energy, strain and connected pieces of its bodies; settings and cuts.

use super::pair_interactions::PairInteractions;
use super::spring_forces::{Stiffness, spring_state};
use super::verlet_list::{Role, VerletList};
use super::{GRAIN, MassSpringCache, MassSpringModel, gather_candidates, phase_change};
use crate::Real;
use crate::body::BodyId;
use crate::commands::Setting;
use crate::model::BodyModel;
use crate::model::BodyState;
use crate::model::CutPlane;
use crate::model::View;
use crate::numerics::UnionFind;
use crate::parallel;
use crate::store::Particles;

/// Distance below which molecules count as connected, sizes.
const PIECE_DISTANCE: Real = 1.6;

impl MassSpringModel {
    /// Number of springs of all bodies.
    pub fn spring_count(&self) -> u64 {
        self.bodies.iter().map(|body| body.graph.springs().count() as u64).sum()
    }

    pub(super) fn change_setting(&mut self, id: BodyId, setting: &Setting) -> bool {
        let Some(lattice) = self.bodies.iter_mut().find(|lattice| lattice.id == id) else { return false };
        match *setting {
            Setting::Refreeze(on) => lattice.settings.refreeze = on,
            _ => return false,
        }
        true
    }

    pub(super) fn cut_springs(&mut self, id: BodyId, plane: CutPlane, view: &View) {
        let Some(lattice) = self.bodies.iter_mut().find(|lattice| lattice.id == id) else { return };
        let rest = &view.particles.rest[view.range(id)];
        lattice.broken += phase_change::cut(lattice, rest, plane);
        self.invalidate();
    }

    pub(super) fn summarise(&self, view: &View, strains: &mut [Real]) -> Vec<(BodyId, BodyState)> {
        let mut cache = self.build_cache(view);
        cache.roles = self.find_roles(&cache, view);
        if cache.roles.contains(&Role::Molecule) {
            let candidates = gather_candidates(&cache.constants, &cache.roles, view.particles);
            cache.list = VerletList::build(&candidates, self.max_cutoff());
        }
        let mut states: Vec<(BodyId, BodyState)> =
            (0..self.bodies.len()).map(|slot| self.state(slot, &cache, view, strains)).collect();
        // The pair energy belongs to all bodies of the model; the first one reports it.
        if let Some((_, first)) = states.first_mut() {
            let pair_particles = self.gather_pair_particles(&cache, view);
            let laws = self.pair_laws(&cache.constants);
            first.elastic_energy +=
                PairInteractions { list: &cache.list, particles: &pair_particles, laws: &laws }.energy();
        }
        states
    }

    fn state(&self, slot: usize, cache: &MassSpringCache, view: &View, strains: &mut [Real]) -> (BodyId, BodyState) {
        let (lattice, constants) = (&self.bodies[slot], &cache.constants[slot]);
        let range = constants.range.clone();
        let body = view.body(lattice.id);
        let material = view.material(lattice.id);
        let stiffness = Stiffness::new(material, body.rest_temperature, &view.particles.enthalpy[range.clone()]);
        let positions = &view.particles.position[range.clone()];
        let strains_and_energies: Vec<(Real, f64)> = parallel::map(range.len(), GRAIN, |i| {
            lattice.graph.of(i).iter().fold((0.0, 0.0), |(strain, energy): (Real, f64), half| {
                let state = spring_state(i, half, positions, &stiffness);
                // The other end has the other half of the energy.
                let half_energy = 0.25 * f64::from(state.stiffness) * f64::from(state.extension).powi(2);
                (strain.max(state.extension.abs() / state.natural_length), energy + half_energy)
            })
        });
        strains[range].iter_mut().zip(&strains_and_energies).for_each(|(strain, (found, _))| *strain = *found);
        let state = BodyState {
            elastic_energy: strains_and_energies.iter().map(|(_, energy)| energy).sum(),
            strain_max: f64::from(strains_and_energies.iter().map(|(strain, _)| *strain).fold(0.0, Real::max)),
            pieces: self.count_pieces(slot, cache, view.particles),
            broken: lattice.broken,
            merged: lattice.merged,
            ..BodyState::default()
        };
        (lattice.id, state)
    }

    /// Counts the components of a body connected by springs or, where molten, by distance.
    fn count_pieces(&self, slot: usize, cache: &MassSpringCache, particles: &Particles) -> u32 {
        let (lattice, constants) = (&self.bodies[slot], &cache.constants[slot]);
        let start = constants.range.start;
        let mut components = UnionFind::new(constants.range.len());
        lattice.graph.springs().for_each(|spring| components.union(spring.pair));
        let list = &cache.list;
        for (k, &i) in list.particles.iter().enumerate().filter(|(_, i)| constants.range.contains(&(**i as usize))) {
            for &other in list.of(k).iter().filter(|&&other| other as usize > k) {
                let j = list.particles[other as usize];
                if constants.range.contains(&(j as usize)) {
                    let [a, b] = [i, j].map(|i| i as usize - start);
                    let limit = PIECE_DISTANCE * 0.5 * (constants.sizes[a] + constants.sizes[b]);
                    let distance = particles.position[i as usize].distance(particles.position[j as usize]);
                    if distance < limit {
                        components.union([a as u32, b as u32]);
                    }
                }
            }
        }
        components.component_count()
    }
}
