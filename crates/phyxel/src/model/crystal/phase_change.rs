//! Melting and freezing as random events, at rates that depend on temperature and neighbours.
//!
//! A phase change leaves the enthalpy of a particle unchanged: latent heat is absorbed before it is warmer
//! than the melting point, and released before it is colder. So heat is conserved to rounding.

use super::{CrystalModel, Derived, GRAIN, StoredDocks};
use crate::Real;
use crate::body::Body;
use crate::material::Material;
use crate::model::View;
use crate::model::ViewMut;
use crate::parallel;
use crate::step::StepContext;
use crate::store::{Particles, Phase};
use glam::Vec3;
use phyxel_laws::lattice::{Docks, LatticeFrame, PhaseChange, SolidNeighbours, advance_solid_fraction};
use phyxel_laws::rng::{CounterRng, event_probability};

/// Distance within which solid neighbours count, in particle spacings.
const CONTACT_RADIUS: Real = 1.3;

/// Phase transition of a particle.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PhaseTransition {
    Melts,
    /// Joins the object of the nearest solid particle, given by its index in the model.
    Freezes(u32),
}

impl CrystalModel {
    /// Melts and freezes particles, and updates solid fractions.
    pub(super) fn change_phases(&mut self, view: &mut ViewMut, context: &StepContext) {
        let Some(mut derived) = self.derived.take() else { return };
        self.steps += 1;
        let laws = self.phase_change_laws(view.bodies, view.materials);
        if laws.iter().any(Option::is_some) {
            let transitions = self.find_transitions(&derived, &laws, &view.view(), context.dt);
            for (k, transition) in transitions {
                self.apply_transition(&derived, view.particles, k, transition);
            }
        }
        derived.constants.iter_mut().for_each(|body| body.is_solid = false);
        for (k, fraction) in self.solid_fractions.iter_mut().enumerate() {
            let fade_time = self.bodies[derived.body_of[k] as usize].settings.change.fade_time;
            let is_solid = view.particles.phase[derived.indices[k] as usize] == Phase::Solid;
            *fraction = advance_solid_fraction(*fraction, is_solid, context.dt, fade_time);
            derived.constants[derived.body_of[k] as usize].is_solid |= *fraction > 0.0;
        }
        self.derived = Some(derived);
    }

    /// Rate law of each body; `None` for those without a melting point.
    fn phase_change_laws(&self, bodies: &[Body], materials: &[Material]) -> Vec<Option<PhaseChange>> {
        let law = |own: &super::CrystalBody| {
            let melting_point = materials[bodies[own.id.0 as usize].material.0 as usize].heat.melting?;
            let change = own.settings.change;
            Some(PhaseChange {
                melting: change.melting,
                melting_point,
                freezing: change.freezing,
                freezing_point: change.freezing_point.unwrap_or(melting_point),
                min_neighbours: change.min_neighbours,
                max_speed: change.max_speed,
                max_force: Real::INFINITY,
            })
        };
        self.bodies.iter().map(law).collect()
    }

    fn find_transitions(
        &self,
        derived: &Derived,
        laws: &[Option<PhaseChange>],
        view: &View,
        dt: Real,
    ) -> Vec<(usize, PhaseTransition)> {
        let rng = CounterRng::new(0, self.steps);
        let heats: Vec<_> = self.bodies.iter().map(|own| view.material(own.id).heat).collect();
        let order = &derived.table.order;
        let transitions = parallel::map_ranges(order.len(), GRAIN, |range| {
            let mut transitions = Vec::new();
            for s in range {
                let k = order[s] as usize;
                let body = derived.body_of[k] as usize;
                let Some(law) = &laws[body] else { continue };
                let i = derived.indices[k] as usize;
                let temperature = heats[body].temperature(view.particles.enthalpy[i]);
                let (probability, transition) = match view.particles.phase[i] {
                    Phase::Solid => (event_probability(law.melting_rate(temperature), dt), PhaseTransition::Melts),
                    Phase::Fluid | Phase::Gas if temperature < law.freezing_point => {
                        let (neighbours, nearest) = summarise_solid_neighbours(derived, view.particles, s);
                        let rate = law.freezing_rate(temperature, &neighbours);
                        (event_probability(rate, dt), PhaseTransition::Freezes(nearest.unwrap_or(k as u32)))
                    }
                    Phase::Fluid | Phase::Gas => continue,
                };
                if probability > 0.0 && rng.uniform(k as u32, 0) < probability {
                    transitions.push((k, transition));
                }
            }
            transitions
        });
        let mut transitions = transitions.concat();
        transitions.sort_unstable_by_key(|(k, _)| *k);
        transitions
    }

    fn apply_transition(
        &mut self,
        derived: &Derived,
        particles: &mut Particles,
        k: usize,
        transition: PhaseTransition,
    ) {
        let i = derived.indices[k] as usize;
        match transition {
            // Melt has no cracks.
            PhaseTransition::Melts => {
                particles.phase[i] = Phase::Fluid;
                self.docks[k] = self.vacant_docks(derived, k);
            }
            PhaseTransition::Freezes(nearest) => {
                particles.phase[i] = Phase::Solid;
                self.docks[k] = self.vacant_docks(derived, k);
                let rotation = self.lattice_frames[nearest as usize].rotation;
                self.lattice_frames[k] = LatticeFrame::rotated(rotation).into();
                let is_alone = nearest as usize == k;
                self.objects[k] = if is_alone { self.new_object() } else { self.objects[nearest as usize] };
                self.merge_objects(derived, particles, k);
                self.heal_neighbours(derived, particles, k);
            }
        }
    }

    /// Docks of a particle that has just become solid.
    fn vacant_docks(&self, derived: &Derived, k: usize) -> StoredDocks {
        let settings = &self.bodies[derived.body_of[k] as usize].settings;
        Docks::all_vacant(&settings.docking.unwrap_or_default().into()).into()
    }

    /// Heals cracks and surfaces of the solid neighbours of a frozen particle, so that they dock it and what
    /// freezes beside it.
    fn heal_neighbours(&mut self, derived: &Derived, particles: &Particles, k: usize) {
        let Some(&s) = derived.sorted_index.get(k) else { return };
        for other in solid_neighbours(derived, particles, s as usize) {
            let other = other as usize;
            if let Some(law) = derived.docking(other).filter(|_| other != k) {
                self.docks[other].modify(|docks| docks.heal(law));
            }
        }
    }

    /// Merges the objects of the solid neighbours of a frozen particle with its own.
    fn merge_objects(&mut self, derived: &Derived, particles: &Particles, k: usize) {
        let Some(&s) = derived.sorted_index.get(k) else { return };
        let own = self.objects[k];
        let neighbours = solid_neighbours(derived, particles, s as usize);
        let mut others: Vec<u32> =
            neighbours.map(|other| self.objects[other as usize]).filter(|&other| other != own).collect();
        others.sort_unstable();
        others.dedup();
        if others.is_empty() {
            return;
        }
        let merged = others.iter().copied().fold(own, u32::min);
        for object in self.objects.iter_mut().filter(|object| **object == own || others.binary_search(object).is_ok()) {
            *object = merged;
        }
    }
}

/// Solid neighbours of the particle with a sorted index, as indices in the model.
fn solid_neighbours<'a>(derived: &'a Derived, particles: &'a Particles, s: usize) -> impl Iterator<Item = u32> + 'a {
    let order = &derived.table.order;
    let k = order[s] as usize;
    let x = particles.position[derived.indices[k] as usize];
    let radius = CONTACT_RADIUS * derived.constants[derived.body_of[k] as usize].solid.spacing;
    let others = derived.table.neighbours(s).iter().flatten().filter(move |&&t| t as usize != s);
    others.map(|&t| order[t as usize]).filter(move |&other| {
        let j = derived.indices[other as usize] as usize;
        particles.phase[j] == Phase::Solid && particles.position[j].distance_squared(x) < radius * radius
    })
}

/// Number and relative speed of the solid neighbours of a fluid particle, and the nearest of them.
fn summarise_solid_neighbours(derived: &Derived, particles: &Particles, s: usize) -> (SolidNeighbours, Option<u32>) {
    let i = derived.indices[derived.table.order[s] as usize] as usize;
    let (mut count, mut velocity, mut nearest) = (0, Vec3::ZERO, (Real::INFINITY, None));
    for k in solid_neighbours(derived, particles, s) {
        let j = derived.indices[k as usize] as usize;
        (count, velocity) = (count + 1, velocity + particles.velocity[j]);
        let square = particles.position[j].distance_squared(particles.position[i]);
        if square < nearest.0 {
            nearest = (square, Some(k));
        }
    }
    let speed = if count > 0 { (particles.velocity[i] - velocity / count as Real).length() } else { 0.0 };
    (SolidNeighbours { count: count as Real, speed, force: 0.0 }, nearest.1)
}
