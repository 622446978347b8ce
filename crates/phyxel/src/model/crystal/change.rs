//! Melting and freezing: by chance, at rates that temperature and neighbours set.
//!
//! Enthalpy is what a particle keeps, whatever its phase: latent heat is taken up before it is warmer than the melting point, and
//! given off before it is colder. So heat is kept to rounding.

use super::{CrystalModel, Derived, Dock, GRAIN, Lie};
use crate::Real;
use crate::body::Body;
use crate::material::Material;
use crate::parallel;
use crate::particles::{Particles, Phase};
use crate::step::StepContext;
use glam::Vec3;
use phyxel_laws::crystal::{Around, Docks, PhaseChange, Pose, faded};
use phyxel_laws::random::{Dice, chance};

/// Solid neighbours count that are nearer than this, in particle distances.
const NEAR: Real = 1.3;

/// What becomes of a particle in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Turn {
    Melts,
    /// To the solid particle with this number.
    Freezes(u32),
}

impl CrystalModel {
    /// Melts and freezes particles, and lets forces of solids come and go.
    pub(crate) fn change_phase(
        &mut self,
        bodies: &[Body],
        materials: &[Material],
        particles: &mut Particles,
        context: &StepContext,
    ) {
        let Some(mut derived) = self.derived.take() else { return };
        self.steps += 1;
        let laws = self.laws(bodies, materials);
        if laws.iter().any(Option::is_some) {
            let turns = self.find_turns(&derived, &laws, bodies, materials, particles, context.dt);
            for (k, turn) in turns {
                self.take_turn(&derived, particles, k, turn);
            }
        }
        derived.matter.iter_mut().for_each(|matter| matter.is_solid = false);
        for (k, share) in self.shares.iter_mut().enumerate() {
            let fading = self.bodies[derived.owners[k] as usize].settings.change.fading;
            let solid = particles.phase[derived.indices[k] as usize] == Phase::Solid;
            *share = faded(*share, solid, context.dt, fading);
            derived.matter[derived.owners[k] as usize].is_solid |= *share > 0.0;
        }
        self.derived = Some(derived);
    }

    /// How each body melts and freezes; `None` for those that do not.
    fn laws(&self, bodies: &[Body], materials: &[Material]) -> Vec<Option<PhaseChange>> {
        let law = |own: &super::CrystalBody| {
            let melting_point = materials[bodies[own.id.0 as usize].material.0 as usize].heat.melting?;
            let change = own.settings.change;
            Some(PhaseChange {
                melting: change.melting,
                melting_point,
                freezing: change.freezing,
                freezing_point: change.freezing_point.unwrap_or(melting_point),
                fewest: change.fewest,
                fastest: change.fastest,
                strongest: Real::INFINITY,
            })
        };
        self.bodies.iter().map(law).collect()
    }

    fn find_turns(
        &self,
        derived: &Derived,
        laws: &[Option<PhaseChange>],
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
        dt: Real,
    ) -> Vec<(usize, Turn)> {
        let dice = Dice::new(0, self.steps);
        let heats: Vec<_> =
            self.bodies.iter().map(|own| materials[bodies[own.id.0 as usize].material.0 as usize].heat).collect();
        let order = &derived.around.order;
        let found = parallel::map_ranges(order.len(), GRAIN, |range| {
            let mut turns = Vec::new();
            for place in range {
                let k = order[place] as usize;
                let owner = derived.owners[k] as usize;
                let Some(law) = &laws[owner] else { continue };
                let i = derived.indices[k] as usize;
                let temperature = heats[owner].temperature(particles.enthalpy[i]);
                let turn = match particles.phase[i] {
                    Phase::Solid => (chance(law.melting_rate(temperature), dt), Turn::Melts),
                    Phase::Fluid | Phase::Gas if temperature < law.freezing_point => {
                        let (around, nearest) = look_around(derived, particles, place);
                        let rate = law.freezing_rate(temperature, &around);
                        (chance(rate, dt), Turn::Freezes(nearest.unwrap_or(k as u32)))
                    }
                    Phase::Fluid | Phase::Gas => continue,
                };
                if turn.0 > 0.0 && dice.unit(k as u32, 0) < turn.0 {
                    turns.push((k, turn.1));
                }
            }
            turns
        });
        let mut turns = found.concat();
        turns.sort_unstable_by_key(|(k, _)| *k);
        turns
    }

    fn take_turn(&mut self, derived: &Derived, particles: &mut Particles, k: usize, turn: Turn) {
        let i = derived.indices[k] as usize;
        match turn {
            // Melt has no cracks.
            Turn::Melts => {
                particles.phase[i] = Phase::Fluid;
                self.docks[k] = self.fresh_docks(derived, k);
            }
            Turn::Freezes(nearest) => {
                particles.phase[i] = Phase::Solid;
                self.docks[k] = self.fresh_docks(derived, k);
                let near = &self.poses[nearest as usize];
                let pose: Lie = Pose::turned(near.rotation).into();
                self.poses[k] = pose;
                let alone = nearest as usize == k;
                self.objects[k] = if alone { self.new_object() } else { self.objects[nearest as usize] };
                self.grow_together(derived, particles, k);
                self.heal_docks(derived, particles, k);
            }
        }
    }

    /// Docks of a particle that has just become solid.
    fn fresh_docks(&self, derived: &Derived, k: usize) -> Dock {
        let settings = &self.bodies[derived.owners[k] as usize].settings;
        Docks::frozen(&settings.docking.unwrap_or_default().into()).into()
    }

    /// Lets the solid neighbours of a frozen particle take it and those that freeze beside it, wherever they have a crack or a surface.
    fn heal_docks(&mut self, derived: &Derived, particles: &Particles, k: usize) {
        let Some(&place) = derived.places.get(k) else { return };
        for other in solid_neighbours(derived, particles, place as usize) {
            let other = other as usize;
            if let Some(law) = derived.docking(other).filter(|_| other != k) {
                self.docks[other].change(|docks| docks.heal(law));
            }
        }
    }

    /// Objects whose particles a frozen one has for neighbours are one from now on.
    fn grow_together(&mut self, derived: &Derived, particles: &Particles, k: usize) {
        let Some(place) = derived.places.get(k).map(|&place| place as usize) else { return };
        let mine = self.objects[k];
        let near = solid_neighbours(derived, particles, place);
        let mut others: Vec<u32> =
            near.map(|other| self.objects[other as usize]).filter(|&other| other != mine).collect();
        others.sort_unstable();
        others.dedup();
        if others.is_empty() {
            return;
        }
        let least = others.iter().copied().fold(mine, u32::min);
        for object in self.objects.iter_mut().filter(|object| **object == mine || others.binary_search(object).is_ok())
        {
            *object = least;
        }
    }
}

/// Numbers of the solid particles beside a place.
fn solid_neighbours<'a>(
    derived: &'a Derived,
    particles: &'a Particles,
    place: usize,
) -> impl Iterator<Item = u32> + 'a {
    let order = &derived.around.order;
    let k = order[place] as usize;
    let x = particles.position[derived.indices[k] as usize];
    let near = NEAR * derived.matter[derived.owners[k] as usize].solid.distance;
    let others = derived.around.of(place).iter().flatten().filter(move |&&other| other as usize != place);
    others.map(|&other| order[other as usize]).filter(move |&other| {
        let j = derived.indices[other as usize] as usize;
        particles.phase[j] == Phase::Solid && particles.position[j].distance_squared(x) < near * near
    })
}

/// Solid neighbours of a fluid particle, and the nearest of them.
fn look_around(derived: &Derived, particles: &Particles, place: usize) -> (Around, Option<u32>) {
    let i = derived.indices[derived.around.order[place] as usize] as usize;
    let (mut count, mut velocity, mut nearest) = (0, Vec3::ZERO, (Real::INFINITY, None));
    for k in solid_neighbours(derived, particles, place) {
        let j = derived.indices[k as usize] as usize;
        (count, velocity) = (count + 1, velocity + particles.velocity[j]);
        let square = particles.position[j].distance_squared(particles.position[i]);
        if square < nearest.0 {
            nearest = (square, Some(k));
        }
    }
    let speed = if count > 0 { (particles.velocity[i] - velocity / count as Real).length() } else { 0.0 };
    (Around { solid: count as Real, speed, force: 0.0 }, nearest.1)
}
