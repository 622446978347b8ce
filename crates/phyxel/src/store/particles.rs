//! The particle store: one structure of arrays for all bodies.
//!
//! An array with one value per particle is a column. Columns change length or order only through
//! [`Particles::append`] and [`Particles::rearrange`]. The store knows nothing of models.

use super::Rearrangement;
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

/// Boundary conditions of a particle, as bit flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Flags(u8);

impl Flags {
    /// Fixed: zero velocity.
    pub const FIXED: Self = Self(1);
    /// Driven by an emitter: keeps the prescribed velocity, whatever forces act.
    pub const DRIVEN: Self = Self(2);

    /// Returns true if all flags of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Copy with the flags of `other` set or cleared.
    #[must_use]
    pub fn with(self, other: Self, on: bool) -> Self {
        Self(if on { self.0 | other.0 } else { self.0 & !other.0 })
    }

    /// Bit mask, for files and hashes.
    pub fn bits(self) -> u8 {
        self.0
    }
}

/// One particle: a row of the store.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Particle {
    /// m.
    pub position: Vec3,
    /// m/s.
    pub velocity: Vec3,
    /// Rest position in the body frame, m.
    pub rest: Vec3,
    /// kg.
    pub mass: Real,
    /// Radius of the contact sphere, m.
    pub radius: Real,
    /// Specific enthalpy, J/kg.
    pub enthalpy: f64,
    /// State of aggregation.
    pub phase: Phase,
    /// The body it belongs to.
    pub body: BodyId,
    /// Stable id within the body. Ids of removed particles are not reused.
    pub id: u32,
    /// Boundary conditions.
    pub flags: Flags,
}

/// All particles of the world, as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Particles {
    /// m.
    pub position: Vec<Vec3>,
    /// m/s.
    pub velocity: Vec<Vec3>,
    /// Rest position in the body frame, m.
    pub rest: Vec<Vec3>,
    /// kg.
    pub mass: Vec<Real>,
    /// m.
    pub radius: Vec<Real>,
    /// Specific enthalpy, J/kg. In double precision: the flow in a step is small compared to the total.
    pub enthalpy: Vec<f64>,
    /// State of aggregation.
    pub phase: Vec<Phase>,
    /// The body it belongs to.
    pub body: Vec<BodyId>,
    /// Stable id within the body; strictly increasing along the body's range.
    pub id: Vec<u32>,
    /// Boundary conditions.
    pub flags: Vec<Flags>,
    /// Force in the present step except gravity, N; empty if there is none.
    #[serde(skip)]
    pub force: Vec<Vec3>,
    /// Heat dissipated by mechanical work in the present step, J; empty if there is none.
    #[serde(skip)]
    pub dissipated_heat: Vec<f64>,
}

impl Particles {
    /// Number of particles.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Returns true if there are no particles.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Adds particles at the end.
    pub fn append(&mut self, added: impl IntoIterator<Item = Particle>) {
        for particle in added {
            self.position.push(particle.position);
            self.velocity.push(particle.velocity);
            self.rest.push(particle.rest);
            self.mass.push(particle.mass);
            self.radius.push(particle.radius);
            self.enthalpy.push(particle.enthalpy);
            self.phase.push(particle.phase);
            self.body.push(particle.body);
            self.id.push(particle.id);
            self.flags.push(particle.flags);
        }
    }

    /// Row of the store.
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
            id: self.id[index],
            flags: self.flags[index],
        }
    }

    /// Removes, reorders and inserts particles. Models apply the same permutation to their own columns.
    pub fn rearrange(&mut self, order: &Rearrangement, inserted: &[Particle]) {
        order.apply(&mut self.position, inserted.iter().map(|particle| particle.position));
        order.apply(&mut self.velocity, inserted.iter().map(|particle| particle.velocity));
        order.apply(&mut self.rest, inserted.iter().map(|particle| particle.rest));
        order.apply(&mut self.mass, inserted.iter().map(|particle| particle.mass));
        order.apply(&mut self.radius, inserted.iter().map(|particle| particle.radius));
        order.apply(&mut self.enthalpy, inserted.iter().map(|particle| particle.enthalpy));
        order.apply(&mut self.phase, inserted.iter().map(|particle| particle.phase));
        order.apply(&mut self.body, inserted.iter().map(|particle| particle.body));
        order.apply(&mut self.id, inserted.iter().map(|particle| particle.id));
        order.apply(&mut self.flags, inserted.iter().map(|particle| particle.flags));
        self.force.clear();
        self.dissipated_heat.clear();
    }

    /// Index of the particle with this id in a body's range, if it still exists.
    pub fn find(&self, range: Range<usize>, id: u32) -> Option<usize> {
        self.id[range.clone()].binary_search(&id).ok().map(|offset| range.start + offset)
    }

    /// Column of dissipated heat, allocated.
    pub(crate) fn heat_made_mut(&mut self) -> &mut [f64] {
        self.dissipated_heat.resize(self.mass.len(), 0.0);
        &mut self.dissipated_heat
    }

    /// Returns true if a particle is fixed.
    pub fn is_fixed(&self, index: usize) -> bool {
        self.flags[index].has(Flags::FIXED)
    }

    /// Returns true if the velocity of a particle is prescribed (fixed or driven) and forces do not change it.
    pub fn is_kinematic(&self, index: usize) -> bool {
        self.flags[index].has(Flags::FIXED) || self.flags[index].has(Flags::DRIVEN)
    }

    /// Returns true if all columns have the same length, as they must.
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
            self.id.len(),
            self.flags.len(),
        ]
        .iter()
        .all(|&len| len == n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Insertion;

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
            id: i as u32,
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
    fn particles_are_inserted_at_their_positions_while_others_are_removed() {
        let mut particles = numbered(6);
        let fresh = |mass: Real| Particle { mass, id: 100, ..particles.get(0) };
        let inserted = [fresh(20.0), fresh(21.0), fresh(22.0)];
        let insertions = [Insertion { before: 2, count: 2 }, Insertion { before: 6, count: 1 }];
        let order = Rearrangement::new(6, |i| i != 1 && i != 5, &insertions);
        particles.rearrange(&order, &inserted);
        assert!(particles.is_consistent());
        assert_eq!(particles.mass, vec![0.0, 20.0, 21.0, 2.0, 3.0, 4.0, 22.0]);
        assert_eq!(
            (order.target(2), order.source(3), order.source(1), order.target(5)),
            (Some(3), Some(2), None, None)
        );
        assert_eq!((particles.find(3..6, 4), particles.find(3..6, 5)), (Some(5), None));
    }

    #[test]
    fn flags_are_set_and_cleared_independently() {
        let flags = Flags::default().with(Flags::FIXED, true);
        assert!(flags.has(Flags::FIXED));
        assert!(!flags.with(Flags::FIXED, false).has(Flags::FIXED));
    }
}
