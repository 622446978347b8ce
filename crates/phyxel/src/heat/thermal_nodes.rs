//! Nodes of the thermal network: particles, then obstacles with a heat capacity.

use super::enthalpy_curve::EnthalpyCurve;
use crate::world::World;

/// Thermal nodes: all particles, then the obstacles with a heat capacity.
pub(super) struct ThermalNodes<'a> {
    pub world: &'a World,
    /// Enthalpy curve of each body.
    curves: Vec<EnthalpyCurve>,
    /// Indices of the obstacles.
    obstacles: Vec<usize>,
}

impl<'a> ThermalNodes<'a> {
    pub fn new(world: &'a World) -> Self {
        let curves =
            world.bodies.iter().map(|body| EnthalpyCurve::new(&world.materials[body.material.0 as usize].heat));
        let obstacles = (0..world.obstacles.len()).filter(|&i| world.obstacles[i].heat_capacity.is_some());
        Self { world, curves: curves.collect(), obstacles: obstacles.collect() }
    }

    pub fn particle_count(&self) -> usize {
        self.world.particles.len()
    }

    pub fn len(&self) -> usize {
        self.particle_count() + self.obstacles.len()
    }

    /// Node of an obstacle, if it has a heat capacity.
    pub fn obstacle_node(&self, obstacle: u32) -> Option<u32> {
        let index = self.obstacles.binary_search(&(obstacle as usize)).ok()?;
        Some((self.particle_count() + index) as u32)
    }

    /// Enthalpy curve of a node.
    pub fn curve(&self, node: usize) -> EnthalpyCurve {
        match self.world.particles.body.get(node) {
            Some(body) => self.curves[body.0 as usize],
            None => EnthalpyCurve::linear(),
        }
    }

    /// Smallest specific heat of all bodies, J/(kg K).
    pub fn min_specific_heat(&self) -> f64 {
        self.curves.iter().map(EnthalpyCurve::specific_heat).fold(f64::INFINITY, f64::min)
    }

    /// Mass of a node, kg; heat capacity of an obstacle, J/K, whose enthalpy is its temperature.
    pub fn mass(&self, node: usize) -> f64 {
        match self.world.particles.mass.get(node) {
            Some(mass) => f64::from(*mass),
            None => {
                let capacity = self.world.obstacles[self.obstacles[node - self.particle_count()]].heat_capacity;
                capacity.map_or(f64::INFINITY, f64::from)
            }
        }
    }

    /// Enthalpy of a node, J/kg.
    pub fn enthalpy(&self, node: usize) -> f64 {
        match self.world.particles.enthalpy.get(node) {
            Some(enthalpy) => *enthalpy,
            None => self.world.obstacle_temperature[self.obstacles[node - self.particle_count()]],
        }
    }

    /// Heat capacity of a node outside melting, J/K.
    pub fn heat_capacity(&self, node: usize) -> f64 {
        self.mass(node) * self.curve(node).specific_heat()
    }
}
