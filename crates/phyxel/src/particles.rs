//! The particle store: one structure of arrays for the whole world.
//!
//! Every array with a value per particle is a column, and columns change length or order only through
//! [`Particles::rearrange`] and [`Particles::append`]. This module knows nothing of bodies' models.

use crate::Real;
use crate::body::BodyId;
use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// State of aggregation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[repr(u8)]
pub enum Phase {
    /// Keeps its shape.
    #[default]
    Solid,
    /// Keeps its volume.
    Fluid,
    /// Keeps neither.
    Gas,
}

/// Marks on a particle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Flags(u8);

impl Flags {
    /// Does not move.
    pub const HELD: Self = Self(1);
    /// Comes out of an emitter and keeps the velocity it was given, whatever pushes it.
    pub const GUIDED: Self = Self(2);

    /// Whether all marks of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// With the marks of `other` set or cleared.
    #[must_use]
    pub fn with(self, other: Self, on: bool) -> Self {
        Self(if on { self.0 | other.0 } else { self.0 & !other.0 })
    }

    /// As a number, for files and hashes.
    pub fn bits(self) -> u8 {
        self.0
    }
}

/// One particle, as it is born.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Particle {
    /// m.
    pub position: Vec3,
    /// m/s.
    pub velocity: Vec3,
    /// Position in the body's own frame at rest, m.
    pub rest: Vec3,
    /// kg.
    pub mass: Real,
    /// Radius of the sphere it touches others with, m.
    pub radius: Real,
    /// J/kg.
    pub enthalpy: f64,
    /// State of aggregation.
    pub phase: Phase,
    /// The body it belongs to.
    pub body: BodyId,
    /// Its number within the body, given at birth. Numbers of particles that are gone are not used again.
    pub sample: u32,
    /// Marks.
    pub flags: Flags,
}

/// Particles that join the store in the middle of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Join {
    /// The particle of the old order that comes after them, or the number of all.
    pub before: usize,
    /// How many join.
    pub count: usize,
}

/// Where each particle of the new order was before: `sources[new] = old`. What is not named is gone, and some are new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rearrangement {
    sources: Vec<Option<u32>>,
    targets: Vec<Option<u32>>,
}

impl Rearrangement {
    /// Keeps the particles for which `keep` is true, in their order, and makes room for those that join, whose places rise.
    pub fn new(count: usize, keep: impl Fn(usize) -> bool, joins: &[Join]) -> Self {
        let mut sources = Vec::with_capacity(count);
        let mut from = 0;
        for join in joins {
            sources.extend((from..join.before).filter(|&i| keep(i)).map(|i| Some(i as u32)));
            sources.resize(sources.len() + join.count, None);
            from = join.before;
        }
        sources.extend((from..count).filter(|&i| keep(i)).map(|i| Some(i as u32)));
        Self::from_sources(count, sources)
    }

    /// From where each particle was among `count`; `None` is new.
    pub fn from_sources(count: usize, sources: Vec<Option<u32>>) -> Self {
        let mut targets = vec![None; count];
        for (new, old) in sources.iter().enumerate() {
            if let Some(old) = old {
                targets[*old as usize] = Some(new as u32);
            }
        }
        Self { sources, targets }
    }

    /// Number of particles afterwards.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The new place of a particle, `None` if it is gone.
    pub fn target(&self, old: u32) -> Option<u32> {
        self.targets[old as usize]
    }

    /// Where a particle was before, `None` if it is new.
    pub fn source(&self, new: usize) -> Option<u32> {
        self.sources[new]
    }

    /// Moves a column; what joins has the values of `newborn`, one for each.
    pub fn apply<T: Copy>(&self, column: &mut Vec<T>, newborn: impl IntoIterator<Item = T>) {
        let mut newborn = newborn.into_iter();
        let moved = self.sources.iter().filter_map(|old| match old {
            Some(old) => Some(column[*old as usize]),
            None => newborn.next(),
        });
        *column = moved.collect();
    }
}

/// All particles of the world, by column. All columns have the same length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Particles {
    /// m.
    pub position: Vec<Vec3>,
    /// m/s.
    pub velocity: Vec<Vec3>,
    /// Position in the body's own frame at rest, m.
    pub rest: Vec<Vec3>,
    /// kg.
    pub mass: Vec<Real>,
    /// m.
    pub radius: Vec<Real>,
    /// J/kg. What flows in a step is small beside what is there, so it has more digits than other columns.
    pub enthalpy: Vec<f64>,
    /// State of aggregation.
    pub phase: Vec<Phase>,
    /// The body each belongs to.
    pub body: Vec<BodyId>,
    /// Number of each within its body, given at birth; rising along the body's run.
    pub sample: Vec<u32>,
    /// Marks.
    pub flags: Vec<Flags>,
    /// Force of the present step beside gravity, N; empty if there is none.
    #[serde(skip)]
    pub force: Vec<Vec3>,
    /// Heat that work made in the present step, J; empty if there is none.
    #[serde(skip)]
    pub heat_made: Vec<f64>,
}

impl Particles {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Adds particles at the end.
    pub fn append(&mut self, newborn: impl IntoIterator<Item = Particle>) {
        for particle in newborn {
            self.position.push(particle.position);
            self.velocity.push(particle.velocity);
            self.rest.push(particle.rest);
            self.mass.push(particle.mass);
            self.radius.push(particle.radius);
            self.enthalpy.push(particle.enthalpy);
            self.phase.push(particle.phase);
            self.body.push(particle.body);
            self.sample.push(particle.sample);
            self.flags.push(particle.flags);
        }
    }

    /// All that is known of a particle.
    pub fn get(&self, index: usize) -> Particle {
        Particle {
            position: self.position[index],
            velocity: self.velocity[index],
            rest: self.rest[index],
            mass: self.mass[index],
            radius: self.radius[index],
            enthalpy: self.enthalpy[index],
            phase: self.phase[index],
            body: self.body[index],
            sample: self.sample[index],
            flags: self.flags[index],
        }
    }

    /// Removes and reorders particles and lets others join; models do the same to their own columns.
    pub fn rearrange(&mut self, order: &Rearrangement, newborn: &[Particle]) {
        order.apply(&mut self.position, newborn.iter().map(|particle| particle.position));
        order.apply(&mut self.velocity, newborn.iter().map(|particle| particle.velocity));
        order.apply(&mut self.rest, newborn.iter().map(|particle| particle.rest));
        order.apply(&mut self.mass, newborn.iter().map(|particle| particle.mass));
        order.apply(&mut self.radius, newborn.iter().map(|particle| particle.radius));
        order.apply(&mut self.enthalpy, newborn.iter().map(|particle| particle.enthalpy));
        order.apply(&mut self.phase, newborn.iter().map(|particle| particle.phase));
        order.apply(&mut self.body, newborn.iter().map(|particle| particle.body));
        order.apply(&mut self.sample, newborn.iter().map(|particle| particle.sample));
        order.apply(&mut self.flags, newborn.iter().map(|particle| particle.flags));
        self.force.clear();
        self.heat_made.clear();
    }

    /// The particle of a body's run that was given a number at birth, if it is still there.
    pub fn find(&self, run: Range<usize>, sample: u32) -> Option<usize> {
        self.sample[run.clone()].binary_search(&sample).ok().map(|place| run.start + place)
    }

    /// The column of heat that work made, ready to be added to.
    pub(crate) fn make_heat(&mut self) -> &mut [f64] {
        self.heat_made.resize(self.mass.len(), 0.0);
        &mut self.heat_made
    }

    /// Whether a particle is held in place.
    pub fn is_held(&self, index: usize) -> bool {
        self.flags[index].has(Flags::HELD)
    }

    /// Whether a particle moves as it is given, held or guided, and not as it is pushed.
    pub fn is_led(&self, index: usize) -> bool {
        self.flags[index].has(Flags::HELD) || self.flags[index].has(Flags::GUIDED)
    }

    /// Whether all columns have one length, as they must.
    pub fn is_consistent(&self) -> bool {
        let n = self.len();
        [
            self.velocity.len(),
            self.rest.len(),
            self.mass.len(),
            self.radius.len(),
            self.enthalpy.len(),
            self.phase.len(),
            self.body.len(),
            self.sample.len(),
            self.flags.len(),
        ]
        .iter()
        .all(|&len| len == n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(count: usize) -> Particles {
        let mut particles = Particles::default();
        particles.append((0..count).map(|i| Particle {
            position: Vec3::splat(i as Real),
            velocity: Vec3::ZERO,
            rest: Vec3::ZERO,
            mass: i as Real,
            radius: 0.1,
            enthalpy: 0.0,
            phase: Phase::Solid,
            body: BodyId(0),
            sample: i as u32,
            flags: Flags::default(),
        }));
        particles
    }

    #[test]
    fn every_column_follows_a_removal() {
        let mut particles = numbered(10);
        let order = Rearrangement::new(10, |i| i % 3 != 0, &[]);
        particles.rearrange(&order, &[]);
        assert!(particles.is_consistent());
        assert_eq!(particles.mass, vec![1.0, 2.0, 4.0, 5.0, 7.0, 8.0]);
        assert_eq!(particles.position[3], Vec3::splat(5.0));
        assert_eq!((order.target(3), order.target(7)), (None, Some(4)));
    }

    #[test]
    fn particles_join_where_they_are_told_to_while_others_leave() {
        let mut particles = numbered(6);
        let fresh = |mass: Real| Particle { mass, sample: 100, ..particles.get(0) };
        let newborn = [fresh(20.0), fresh(21.0), fresh(22.0)];
        let joins = [Join { before: 2, count: 2 }, Join { before: 6, count: 1 }];
        let order = Rearrangement::new(6, |i| i != 1 && i != 5, &joins);
        particles.rearrange(&order, &newborn);
        assert!(particles.is_consistent());
        assert_eq!(particles.mass, vec![0.0, 20.0, 21.0, 2.0, 3.0, 4.0, 22.0]);
        assert_eq!(
            (order.target(2), order.source(3), order.source(1), order.target(5)),
            (Some(3), Some(2), None, None)
        );
        assert_eq!((particles.find(3..6, 4), particles.find(3..6, 5)), (Some(5), None));
    }

    #[test]
    fn marks_are_set_and_cleared_alone() {
        let flags = Flags::default().with(Flags::HELD, true);
        assert!(flags.has(Flags::HELD));
        assert!(!flags.with(Flags::HELD, false).has(Flags::HELD));
    }
}
