//! Jacobi iterations for contact impulses, with momentum-conserving scaling.

use super::friction_heat::{friction_heats_any, material_of, split_friction_heat};
use crate::Real;
use crate::numerics::Csr;
use crate::parallel;
use crate::world::World;
use glam::Vec3;
use phyxel_laws::contact::{ContactParams, ContactPoint, SurfaceProperties, contact_response, friction_work};

/// Constraints per task.
const GRAIN: usize = 1024;

/// Contact constraint between a particle and a weighted combination of others.
#[derive(Clone, Copy, Debug)]
pub(in crate::contact) struct ContactConstraint<const N: usize> {
    particles: [u32; N],
    /// Jacobian of the relative velocity: weights of the particles' velocities, with sum zero.
    weights: [Real; N],
    /// Indices into the solver's particles.
    slots: [u32; N],
    point: ContactPoint,
    surface: SurfaceProperties,
    params: ContactParams,
    /// Inverse masses, 1/kg; zero for fixed particles.
    inverse_masses: [Real; N],
    /// Effective mass `1 / sum(w^2 / m)`, kg.
    effective_mass: Real,
    /// Impulse on the first particle in the implicit solution, kg m/s.
    solved_impulse: Vec3,
}

impl<const N: usize> ContactConstraint<N> {
    pub fn new(
        world: &World,
        particles: [u32; N],
        weights: [Real; N],
        point: ContactPoint,
        surface: SurfaceProperties,
        params: ContactParams,
    ) -> Self {
        let store = &world.particles;
        let term = |k: usize| {
            let i = particles[k] as usize;
            if store.is_fixed(i) { 0.0 } else { weights[k] * weights[k] / store.mass[i] }
        };
        let sum: Real = (0..N).map(term).sum();
        let effective_mass = if sum > 0.0 { 1.0 / sum } else { 0.0 };
        let inverse_masses =
            particles.map(|i| if store.is_fixed(i as usize) { 0.0 } else { 1.0 / store.mass[i as usize] });
        Self {
            particles,
            weights,
            slots: [0; N],
            point,
            surface,
            params,
            inverse_masses,
            effective_mass,
            solved_impulse: Vec3::ZERO,
        }
    }

    /// Continues from an implicit solution with this impulse on the first particle, friction included, kg
    /// m/s.
    pub fn with_solved_impulse(self, impulse: Vec3) -> Self {
        Self { solved_impulse: impulse, surface: SurfaceProperties::default(), ..self }
    }

    /// Velocity of the first particle relative to the others, m/s.
    fn relative_velocity(&self, velocity: &[Vec3]) -> Vec3 {
        (1..N).fold(velocity[self.particles[0] as usize] * self.weights[0], |sum, k| {
            sum + velocity[self.particles[k] as usize] * self.weights[k]
        })
    }
}

/// Scaling of impulses where a particle takes part in several active constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ImpulseScaling {
    /// Divide by the largest number of active constraints of any of its particles.
    ByContactCount,
    /// Mass splitting: each particle divides its mass among its constraints by weight. So light particles
    /// are resolved in one iteration, however many share the heavy ones.
    ByMassSplitting,
}

/// Jacobi solver: all constraints exchange momentum at once in each iteration.
pub(in crate::contact) struct JacobiSolver<const N: usize> {
    constraints: Vec<ContactConstraint<N>>,
    /// Particles in constraints, ascending.
    particles: Vec<u32>,
    /// Constraints of each particle, with the side: `N constraint + side`.
    entries: Csr<u32>,
    /// Accumulated impulse on the first particle of each constraint, kg m/s; empty where no material
    /// takes frictional heat.
    impulses: Vec<Vec3>,
    scaling: ImpulseScaling,
}

impl<const N: usize> JacobiSolver<N> {
    pub fn new(world: &World, count: usize, make_constraint: impl Fn(usize) -> ContactConstraint<N> + Sync) -> Self {
        let mut constraints = parallel::map(count, GRAIN, make_constraint);
        let mut counts = vec![0u32; if count == 0 { 0 } else { world.particles.len() }];
        constraints.iter().flat_map(|constraint| constraint.particles).for_each(|i| counts[i as usize] += 1);
        let solved = constraints.iter().map(|constraint| constraint.solved_impulse);
        let impulses = if friction_heats_any(world) { solved.collect() } else { Vec::new() };
        let (mut particles, mut lengths) = (Vec::new(), Vec::new());
        // From here on `counts` has the slot of each particle.
        for (i, count) in counts.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
            lengths.push(*count);
            *count = particles.len() as u32;
            particles.push(i as u32);
        }
        for constraint in &mut constraints {
            constraint.slots = constraint.particles.map(|i| counts[i as usize]);
        }
        let entries = Csr::with_lengths(lengths, constraints.iter().flat_map(|constraint| constraint.slots).zip(0..));
        Self { constraints, particles, entries, impulses, scaling: ImpulseScaling::ByContactCount }
    }

    /// The same solver with mass splitting.
    pub fn with_mass_splitting(self) -> Self {
        Self { scaling: ImpulseScaling::ByMassSplitting, ..self }
    }

    /// Returns true if a particle takes part in a constraint.
    pub fn involves(&self, particle: u32) -> bool {
        self.particles.binary_search(&particle).is_ok()
    }

    /// Performs one iteration: each active constraint applies a scaled impulse.
    ///
    /// A particle in several active constraints would overshoot if each applied its whole impulse. The
    /// scale of a constraint is the same for all of its particles, so momentum is conserved.
    pub fn iterate(&mut self, world: &mut World) {
        if self.constraints.is_empty() {
            return;
        }
        let velocity = &world.particles.velocity;
        let requested = parallel::map(self.constraints.len(), GRAIN, |k| {
            let constraint = &self.constraints[k];
            let relative = constraint.relative_velocity(velocity);
            (contact_response(relative, &constraint.point, &constraint.surface, &constraint.params) - relative)
                * constraint.effective_mass
        });
        let load = parallel::map(self.particles.len(), GRAIN, |slot| {
            let active = self.entries.row(slot).iter().filter(|&&entry| requested[entry as usize / N] != Vec3::ZERO);
            match self.scaling {
                ImpulseScaling::ByContactCount => active.count() as Real,
                ImpulseScaling::ByMassSplitting => active.map(|&entry| self.weight(entry).abs()).sum(),
            }
        });
        let scales = parallel::map(self.constraints.len(), GRAIN, |k| self.scale(&self.constraints[k], &load));
        for ((impulse, requested), scale) in self.impulses.iter_mut().zip(&requested).zip(&scales) {
            *impulse += *requested * *scale;
        }
        let changes = parallel::map(self.particles.len(), GRAIN, |slot| {
            let mut impulse = Vec3::ZERO;
            for &entry in self.entries.row(slot) {
                impulse += requested[entry as usize / N] * (scales[entry as usize / N] * self.weight(entry));
            }
            impulse
        });
        for (&i, impulse) in self.particles.iter().zip(changes) {
            if !world.particles.is_fixed(i as usize) {
                world.particles.velocity[i as usize] += impulse / world.particles.mass[i as usize];
            }
        }
    }

    /// Weight of a particle in a constraint.
    fn weight(&self, entry: u32) -> Real {
        self.constraints[entry as usize / N].weights[entry as usize % N]
    }

    /// Scale of the impulse of a constraint, from the load of each particle by active constraints.
    fn scale(&self, constraint: &ContactConstraint<N>, load: &[Real]) -> Real {
        let load = constraint.slots.map(|slot| load[slot as usize]);
        match self.scaling {
            ImpulseScaling::ByContactCount => 1.0 / load.into_iter().fold(1.0, Real::max),
            ImpulseScaling::ByMassSplitting => {
                // Inverse effective mass where each particle contributes the fraction `w / load` of its mass.
                let inverse: Real =
                    (0..N).map(|k| constraint.weights[k].abs() * load[k] * constraint.inverse_masses[k]).sum();
                if inverse > 0.0 { 1.0 / (inverse * constraint.effective_mass) } else { 0.0 }
            }
        }
    }

    /// Records the frictional heat of all iterations.
    pub fn add_friction_heat(&self, world: &mut World) {
        if self.impulses.is_empty() {
            return;
        }
        let heats = parallel::map(self.constraints.len(), GRAIN, |k| {
            let constraint = &self.constraints[k];
            let start = constraint.relative_velocity(&world.scratch.previous_velocity);
            let end = constraint.relative_velocity(&world.particles.velocity);
            let work = friction_work(-self.impulses[k], constraint.point.normal, start, end);
            split_friction_heat([0, 1].map(|side| material_of(world, constraint.particles[side])), work)
        });
        let made = world.particles.heat_made_mut();
        for (constraint, [first, others]) in self.constraints.iter().zip(heats) {
            made[constraint.particles[0] as usize] += first;
            for k in 1..N {
                made[constraint.particles[k] as usize] -= others * f64::from(constraint.weights[k]);
            }
        }
    }
}
