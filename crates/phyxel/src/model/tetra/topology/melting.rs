//! Melting of elements into particles of a fluid.

use crate::Real;
use crate::body::{Body, BodyId};
use crate::material::Material;
use crate::model::BodyModel;
use crate::model::tetra::TetraModel;
use crate::model::tetra::body::TetBody;
use crate::store::{Flags, Particle, Particles, Phase};
use glam::{DVec3, Vec3};

/// Changes of the particle store by melting.
#[derive(Default)]
pub(crate) struct Melted {
    /// Removed particles, ascending within a body.
    pub removed: Vec<u32>,
    /// Fluid particles that replace them, body after body.
    pub fluid_particles: Vec<Particle>,
}

/// Mass, momentum and heat on their way from nodes into fluid particles.
#[derive(Clone, Copy, Debug, Default)]
struct Reservoir {
    /// Mass, kg.
    mass: f64,
    /// Momentum, kg m/s.
    momentum: DVec3,
    /// Heat, J.
    heat: f64,
}

impl Reservoir {
    /// Adds a particle.
    fn add(&mut self, particles: &Particles, i: usize) {
        let mass = f64::from(particles.mass[i]);
        self.mass += mass;
        self.momentum += mass * particles.velocity[i].as_dvec3();
        self.heat += mass * particles.enthalpy[i];
    }

    /// Removes this mass, kg, with its fraction of momentum and heat.
    fn take(&mut self, mass: f64) -> Self {
        let fraction = if self.mass > 0.0 { (mass / self.mass).min(1.0) } else { 0.0 };
        let taken = Self { mass: fraction * self.mass, momentum: fraction * self.momentum, heat: fraction * self.heat };
        self.mass -= taken.mass;
        self.momentum -= taken.momentum;
        self.heat -= taken.heat;
        taken
    }

    /// Makes a fluid particle of all of it.
    fn into_fluid_particle(self, position: Vec3, fluid: &Body, id: BodyId) -> Particle {
        Particle {
            position,
            velocity: (self.momentum / self.mass).as_vec3(),
            rest: position,
            mass: self.mass as Real,
            radius: fluid.template.radius,
            enthalpy: self.heat / self.mass,
            phase: Phase::Fluid,
            body: id,
            id: 0,
            flags: Flags::default(),
        }
    }
}

impl TetraModel {
    /// Removes the elements whose nodes are all molten, in bodies that melt into a fluid. Nodes without
    /// elements become fluid particles.
    ///
    /// These have the mass of the fluid's particles. The remainder of a node goes to the next, and in the
    /// end to the nearest node that stays, so mass, momentum and heat are conserved.
    pub(crate) fn melt(&mut self, bodies: &mut [Body], materials: &[Material], particles: &mut Particles) -> Melted {
        let (mut melted, mut has_melted) = (Melted::default(), false);
        for tet_body in &mut self.bodies {
            let body = &bodies[tet_body.id.0 as usize];
            let Some(fluid) = tet_body.target_fluid(bodies) else { continue };
            let heat = &materials[body.material.0 as usize].heat;
            let is_molten = |node: u32| heat.liquid_fraction(particles.enthalpy[node as usize]) >= 1.0;
            let is_solid = |nodes: &[u32; 4]| !nodes.iter().all(|&node| is_molten(node));
            let kept: Vec<usize> = (0..tet_body.elements.len()).filter(|&i| is_solid(&tet_body.elements[i])).collect();
            if kept.len() < tet_body.elements.len() {
                has_melted = true;
                tet_body.keep_elements(&kept);
                tet_body.release_fluid(body, (fluid, &bodies[fluid.0 as usize]), particles, &mut melted);
            }
        }
        if has_melted {
            self.bodies.retain(|tet_body| !tet_body.elements.is_empty());
            self.invalidate();
        }
        melted.fluid_particles.sort_by_key(|particle| particle.body);
        for particle in &mut melted.fluid_particles {
            let fluid = &mut bodies[particle.body.0 as usize];
            particle.id = fluid.next_id;
            fluid.next_id += 1;
        }
        melted
    }

    /// Returns true if any body melts into a fluid.
    pub(crate) fn can_melt(&self) -> bool {
        self.bodies.iter().any(|tet_body| tet_body.settings.melts_into.is_some())
    }
}

impl TetBody {
    /// Fluid that it melts into, if any.
    fn target_fluid(&self, bodies: &[Body]) -> Option<BodyId> {
        let name = self.settings.melts_into.as_ref()?;
        let index = bodies.iter().position(|body| !body.removed && body.name == *name)?;
        Some(BodyId(index as u32))
    }

    /// Makes fluid particles of the nodes without elements.
    fn release_fluid(&self, body: &Body, (id, fluid): (BodyId, &Body), particles: &mut Particles, melted: &mut Melted) {
        let first = body.range().start;
        let mut is_used = vec![false; body.len()];
        self.elements.iter().flatten().for_each(|&node| is_used[node as usize - first] = true);
        let particle_mass = f64::from(fluid.template.mass);
        let (mut reservoir, mut last) = (Reservoir::default(), None);
        for i in body.range().filter(|i| !is_used[i - first]) {
            reservoir.add(particles, i);
            melted.removed.push(i as u32);
            last = Some(i);
            let position = particles.position[i];
            let mut count = 0;
            // A fluid particle may be short by rounding.
            while reservoir.mass >= 0.999_999 * particle_mass {
                let particle_position = position + 0.5 * fluid.spacing * particle_offset(count);
                melted.fluid_particles.push(reservoir.take(particle_mass).into_fluid_particle(
                    particle_position,
                    fluid,
                    id,
                ));
                count += 1;
            }
        }
        let Some(last) = last.filter(|_| reservoir.mass > 0.0) else { return };
        let position = particles.position[last];
        let distance = |i: &usize| particles.position[*i].distance_squared(position);
        let nearest = body.range().filter(|i| is_used[i - first]).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        match nearest {
            Some(node) => {
                reservoir.add(particles, node);
                particles.mass[node] = reservoir.mass as Real;
                particles.velocity[node] = (reservoir.momentum / reservoir.mass).as_vec3();
                particles.enthalpy[node] = reservoir.heat / reservoir.mass;
            }
            // Nothing remains of the body: the last fluid particle has another mass.
            None => melted.fluid_particles.push(reservoir.into_fluid_particle(position, fluid, id)),
        }
    }
}

/// Direction from a node to its fluid particles, by their number; the first is at the node.
fn particle_offset(count: usize) -> Vec3 {
    const DIRECTIONS: [Vec3; 7] = [Vec3::ZERO, Vec3::Y, Vec3::X, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Z, Vec3::NEG_Y];
    DIRECTIONS[count % DIRECTIONS.len()]
}
