//! Everything that has a temperature, numbered.

use super::matter::Matter;
use crate::world::World;

/// Everything that has a temperature: the particles, then the obstacles that have a heat capacity.
pub(super) struct Places<'a> {
    pub world: &'a World,
    /// By body.
    matter: Vec<Matter>,
    /// Numbers of the obstacles.
    obstacles: Vec<usize>,
}

impl<'a> Places<'a> {
    pub fn new(world: &'a World) -> Self {
        let matter = world.bodies.iter().map(|body| Matter::new(&world.materials[body.material.0 as usize].heat));
        let obstacles = (0..world.obstacles.len()).filter(|&i| world.obstacles[i].heat_capacity.is_some());
        Self { world, matter: matter.collect(), obstacles: obstacles.collect() }
    }

    pub fn particles(&self) -> usize {
        self.world.particles.len()
    }

    pub fn len(&self) -> usize {
        self.particles() + self.obstacles.len()
    }

    /// The place of an obstacle, if it has a heat capacity.
    pub fn of_obstacle(&self, number: u32) -> Option<u32> {
        let place = self.obstacles.binary_search(&(number as usize)).ok()?;
        Some((self.particles() + place) as u32)
    }

    pub fn matter(&self, place: usize) -> Matter {
        match self.world.particles.body.get(place) {
            Some(body) => self.matter[body.0 as usize],
            None => Matter::plain(),
        }
    }

    /// The smallest specific heat of all bodies, J/(kg K).
    pub fn least_specific(&self) -> f64 {
        self.matter.iter().map(Matter::specific).fold(f64::INFINITY, f64::min)
    }

    /// kg; J/K for an obstacle, whose enthalpy is its temperature.
    pub fn mass(&self, place: usize) -> f64 {
        match self.world.particles.mass.get(place) {
            Some(mass) => f64::from(*mass),
            None => {
                let capacity = self.world.obstacles[self.obstacles[place - self.particles()]].heat_capacity;
                capacity.map_or(f64::INFINITY, f64::from)
            }
        }
    }

    /// J/kg.
    pub fn enthalpy(&self, place: usize) -> f64 {
        match self.world.particles.enthalpy.get(place) {
            Some(enthalpy) => *enthalpy,
            None => self.world.obstacle_warmth[self.obstacles[place - self.particles()]],
        }
    }

    /// Heat capacity where nothing melts, J/K.
    pub fn capacity(&self, place: usize) -> f64 {
        self.mass(place) * self.matter(place).specific()
    }
}
