//! What the model tells of its bodies.

use super::melt::{Kind, Neighbours, Pairs};
use super::solid::{Stiffness, draw};
use super::{Derived, GRAIN, SpringModel, gather_candidates, phase};
use crate::Real;
use crate::body::{Body, BodyId};
use crate::command::Setting;
use crate::material::Material;
use crate::model::{BodyState, Parts};
use crate::parallel;
use crate::particles::Particles;
use glam::Vec3;

/// Molecules nearer than this hang together, in sizes.
const TOGETHER: Real = 1.6;

impl SpringModel {
    /// Number of springs of all bodies.
    pub fn spring_count(&self) -> u64 {
        self.bodies.iter().map(|body| body.bonds.springs().count() as u64).sum()
    }

    pub(crate) fn set(&mut self, id: BodyId, setting: &Setting) -> bool {
        let Some(spring) = self.bodies.iter_mut().find(|spring| spring.id == id) else { return false };
        match *setting {
            Setting::Refreeze(on) => spring.settings.refreeze = on,
            _ => return false,
        }
        true
    }

    pub(crate) fn cut(&mut self, id: BodyId, point: Vec3, normal: Vec3, bodies: &[Body], particles: &Particles) {
        let Some(spring) = self.bodies.iter_mut().find(|spring| spring.id == id) else { return };
        let rest = &particles.rest[bodies[id.0 as usize].range()];
        spring.broken += phase::cut(spring, rest, point, normal);
        self.refresh();
    }

    pub(crate) fn states(
        &self,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
        strains: &mut [Real],
    ) -> Vec<(BodyId, BodyState)> {
        let mut derived = self.derive(bodies, materials, particles);
        derived.kinds = self.tell_kinds(&derived, bodies, materials, particles);
        if derived.kinds.contains(&Kind::Molecule) {
            let candidates = gather_candidates(&derived.matter, &derived.kinds, particles);
            derived.neighbours = Neighbours::find(&candidates, self.longest_reach());
        }
        let mut states: Vec<(BodyId, BodyState)> = (0..self.bodies.len())
            .map(|place| self.state(place, &derived, bodies, materials, particles, strains))
            .collect();
        // Energy of molecules belongs to all bodies of the model; the first one tells it.
        if let Some((_, first)) = states.first_mut() {
            let members = self.gather_members(&derived, bodies, materials, particles);
            let laws = self.laws(&derived.matter);
            first.elastic += Pairs { neighbours: &derived.neighbours, members: &members, laws: &laws }.energy();
        }
        states
    }

    fn state(
        &self,
        place: usize,
        derived: &Derived,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
        strains: &mut [Real],
    ) -> (BodyId, BodyState) {
        let (spring, matter) = (&self.bodies[place], &derived.matter[place]);
        let range = matter.range.clone();
        let body = &bodies[spring.id.0 as usize];
        let material = &materials[body.material.0 as usize];
        let stiffness = Stiffness::of(material, body.rest_temperature, &particles.enthalpy[range.clone()]);
        let positions = &particles.position[range.clone()];
        let drawn: Vec<(Real, f64)> = parallel::map(range.len(), GRAIN, |i| {
            spring.bonds.of(i).iter().fold((0.0, 0.0), |(strain, energy): (Real, f64), bond| {
                let drawn = draw(i, bond, positions, &stiffness);
                // Half of the energy belongs to the other end.
                let half = 0.25 * f64::from(drawn.stiffness) * f64::from(drawn.extension).powi(2);
                (strain.max(drawn.extension.abs() / drawn.natural), energy + half)
            })
        });
        strains[range].iter_mut().zip(&drawn).for_each(|(strain, (found, _))| *strain = *found);
        let state = BodyState {
            elastic: drawn.iter().map(|(_, energy)| energy).sum(),
            strain_max: f64::from(drawn.iter().map(|(strain, _)| *strain).fold(0.0, Real::max)),
            pieces: self.count_pieces(place, derived, particles),
            broken: spring.broken,
            merged: spring.merged,
            ..BodyState::default()
        };
        (spring.id, state)
    }

    /// Parts of a body that hang together by springs or, where molten, by nearness.
    fn count_pieces(&self, place: usize, derived: &Derived, particles: &Particles) -> u32 {
        let (spring, matter) = (&self.bodies[place], &derived.matter[place]);
        let start = matter.range.start;
        let mut parts = Parts::new(matter.range.len());
        spring.bonds.springs().for_each(|one| parts.unite(one.pair));
        let neighbours = &derived.neighbours;
        for (k, &i) in neighbours.members.iter().enumerate().filter(|(_, i)| matter.range.contains(&(**i as usize))) {
            for &other in neighbours.of(k).iter().filter(|&&other| other as usize > k) {
                let j = neighbours.members[other as usize];
                if matter.range.contains(&(j as usize)) {
                    let [a, b] = [i, j].map(|i| i as usize - start);
                    let near = TOGETHER * 0.5 * (matter.sizes[a] + matter.sizes[b]);
                    let apart = particles.position[i as usize].distance(particles.position[j as usize]);
                    if apart < near {
                        parts.unite([a as u32, b as u32]);
                    }
                }
            }
        }
        parts.count()
    }
}
