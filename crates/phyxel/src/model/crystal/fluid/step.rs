//! Advance of velocities: forces, surface tension, viscosity, then pressure with walls.
//!
//! All arrays here are in sorted order, with index `s`.

use super::pressure::PressureSystem;
use super::viscosity::ViscositySystem;
use crate::Real;
use crate::contact::ContactContext;
use crate::material::Friction;
use crate::model::crystal::{CrystalConstants, CrystalModel, Derived, GRAIN, KERNEL_SUPPORT};
use crate::numerics::Aabb;
use crate::parallel;
use crate::step::StepContext;
use crate::store::{Flags, Particles, Phase};
use glam::Vec3;
use phyxel_laws::simd::SimdLevel;
use phyxel_laws::sph::{BoundaryFraction, BoundaryShear, NeighbourLists, cohesion_forces, volume_fractions};

/// Distance from walls at which particles rest, in particle spacings: half of that between layers of a
/// closest packing.
const WALL_OFFSET: Real = 0.4;
/// Distance from walls below which their drag grows no further, in particle spacings.
const MIN_WALL_DISTANCE: Real = 0.2;
/// Particles per query of nearby obstacles.
const QUERY_BLOCK: usize = 32;
/// Decay rate of the velocity of a single particle among its neighbours and at a wall, over the kinematic
/// viscosity and the inverse square of the spacing.
const MAX_DIFFUSION_RATE: Real = 20.0;
/// Fraction of a velocity that viscosity may remove in an explicit step.
const EXPLICIT_LIMIT: Real = 0.2;
/// Viscosity that stands for solids, Pa s: negative, as solids do not shear each other, and larger than any
/// fluid has.
const SOLID_VISCOSITY: Real = -1.0e12;
/// Rate of smoothing times the square of the spacing over the kinematic viscosity that is equivalent to it.
const SMOOTHING_FACTOR: Real = 10.0;

/// Volume fractions of particles and sums of kernel gradients.
pub(in crate::model::crystal) struct VolumeFractions {
    /// Gradient of the volume fraction, 1/m, and the volume fraction.
    pub fractions: Vec<[Real; 4]>,
    /// Sum of squared gradients, and of gradients over distances, 1/m2.
    pub gradient_sums: Vec<[Real; 2]>,
}

/// Maps from sorted indices to particles and their bodies.
#[derive(Clone, Copy)]
struct SortedView<'a> {
    derived: &'a Derived,
    particles: &'a Particles,
}

impl<'a> SortedView<'a> {
    fn len(&self) -> usize {
        self.derived.table.order.len()
    }

    /// Index of a particle in the world.
    fn index(&self, s: usize) -> usize {
        self.derived.indices[self.derived.table.order[s] as usize] as usize
    }

    /// Constants of the body of a particle.
    fn constants(&self, s: usize) -> &'a CrystalConstants {
        &self.derived.constants[self.derived.body_of[self.derived.table.order[s] as usize] as usize]
    }

    fn is_solid(&self, s: usize) -> bool {
        self.particles.phase[self.index(s)] == Phase::Solid
    }
}

impl CrystalModel {
    /// Advances velocities: `v += dt (g + f/m)` with surface tension in `f`, then viscosity, then pressure.
    pub(in crate::model::crystal) fn advance_fluid(
        &mut self,
        particles: &mut Particles,
        before: &[Vec3],
        walls: &ContactContext,
        context: &StepContext,
    ) {
        let Some(derived) = self.derived.take() else { return };
        let order = &derived.table.order;
        let view = SortedView { derived: &derived, particles };
        let points: Vec<[Real; 4]> = parallel::map(order.len(), GRAIN, |s| {
            particles.position[view.index(s)].extend(view.constants(s).volume).to_array()
        });
        let (boundary_fractions, boundary_shears) = sample_walls(walls, &points, &derived);
        let VolumeFractions { fractions, gradient_sums } = compute_fractions(&derived, &points);
        let tension = self.tension_forces(view, &points, &boundary_shears);
        let mut velocities = apply_forces(view, before, &tension, context);
        let compressibility = parallel::map(order.len(), GRAIN, |s| {
            if view.is_solid(s) { view.constants(s).solid.compressibility } else { 0.0 }
        });
        let specific_volume = parallel::map(order.len(), GRAIN, |s| {
            let i = view.index(s);
            if particles.is_kinematic(i) { 0.0 } else { points[s][3] / particles.mass[i] }
        });
        let mut pressures: Vec<Real> = parallel::map(order.len(), GRAIN, |s| self.pressures[order[s] as usize]);
        let system = PressureSystem {
            kernel: derived.kernel,
            table: &derived.table,
            points: &points,
            fractions: &fractions,
            gradient_sums: &gradient_sums,
            specific_volume: &specific_volume,
            compressibility: &compressibility,
            boundary: &boundary_fractions,
            hydrostatic_scale: context.gravity.length() * derived.kernel.support / KERNEL_SUPPORT,
            dt: context.dt,
        };
        let workspace = system.warm_start(&mut pressures, &mut velocities);
        self.apply_viscosity(view, (&points, &boundary_shears), &mut velocities, context.dt);
        self.pressure_iterations = system.solve(workspace, &mut pressures, &mut velocities);
        self.write_back(&derived, particles, &velocities, &pressures);
        self.derived = Some(derived);
    }

    /// Writes velocities and pressures back from sorted order.
    fn write_back(
        &mut self,
        derived: &Derived,
        particles: &mut Particles,
        velocities: &[[Real; 4]],
        pressures: &[Real],
    ) {
        parallel::for_each_chunk(&mut self.pressures, GRAIN, |first, stored| {
            (first..).zip(stored).for_each(|(k, stored)| *stored = pressures[derived.sorted_index[k] as usize]);
        });
        self.max_speed = 0.0;
        for (first, body) in derived.bodies() {
            let stored = &mut particles.velocity[body.range.clone()];
            let max_squares = parallel::map_chunks(stored, GRAIN, |from, stored| {
                (first + from..).zip(stored).fold(0.0, |max: Real, (k, velocity)| {
                    let [x, y, z, _] = velocities[derived.sorted_index[k] as usize];
                    *velocity = Vec3::new(x, y, z);
                    max.max(velocity.length_squared())
                })
            });
            self.max_speed = max_squares.into_iter().fold(self.max_speed, |max, square| max.max(square.sqrt()));
        }
    }

    /// Forces of surface tension, N; empty without surface tension.
    fn tension_forces(&self, view: SortedView, points: &[[Real; 4]], boundary: &[BoundaryShear]) -> Vec<[Real; 4]> {
        let derived = view.derived;
        if derived.constants.iter().all(|body| body.surface_tension == 0.0) {
            return Vec::new();
        }
        let strengths: Vec<Real> = parallel::map(view.len(), GRAIN, |s| {
            let surface_tension = view.constants(s).surface_tension;
            if view.is_solid(s) { -1.0 } else { derived.cohesion.strength(surface_tension) }
        });
        let (level, lists) = (SimdLevel::detect(), neighbour_lists(derived, points));
        let mut forces = vec![[0.0; 4]; view.len()];
        parallel::for_each_chunk(&mut forces, GRAIN, |first, forces| {
            cohesion_forces(level, &lists, &derived.cohesion, first..first + forces.len(), &strengths, forces);
            for (s, force) in (first..).zip(forces) {
                let adhesion = boundary[s].adhesion * strengths[s].max(0.0);
                (0..3).for_each(|axis| force[axis] += adhesion[axis]);
            }
        });
        forces
    }

    /// Applies viscosity. The smoothing of velocities is added to it as an equivalent viscosity.
    fn apply_viscosity(
        &mut self,
        view: SortedView,
        (points, boundary): (&[[Real; 4]], &[BoundaryShear]),
        velocities: &mut [[Real; 4]],
        dt: Real,
    ) {
        let particles = view.particles;
        let wall_viscosity = parallel::map(view.len(), GRAIN, |s| {
            let enthalpy = particles.enthalpy[view.index(s)];
            if view.is_solid(s) { 0.0 } else { view.constants(s).viscosity(enthalpy) * points[s][3] }
        });
        // Kinematic viscosity over the square of the spacing.
        let diffusion_rates = parallel::map_chunks(velocities, GRAIN, |first, rows| {
            let mut largest: Real = 0.0;
            for (s, row) in (first..).zip(rows) {
                let (constants, is_fluid) = (view.constants(s), !view.is_solid(s));
                let scale = constants.density * constants.solid.spacing.powi(2);
                let viscosity = wall_viscosity[s] / points[s][3] + constants.smoothing * scale / SMOOTHING_FACTOR;
                row[3] = if is_fluid { viscosity } else { SOLID_VISCOSITY };
                largest = largest.max(if is_fluid { viscosity / scale } else { 0.0 });
            }
            largest
        });
        let diffusion_rate = diffusion_rates.into_iter().fold(0.0, Real::max);
        if diffusion_rate == 0.0 {
            self.viscosity_iterations = 0;
            return;
        }
        let masses = parallel::map(view.len(), GRAIN, |s| {
            let i = view.index(s);
            if particles.is_kinematic(i) { 0.0 } else { particles.mass[i] }
        });
        let system = ViscositySystem {
            kernel: view.derived.kernel,
            table: &view.derived.table,
            points,
            masses: &masses,
            boundary,
            wall_viscosity: &wall_viscosity,
            dt,
        };
        let is_explicit = MAX_DIFFUSION_RATE * diffusion_rate * dt < EXPLICIT_LIMIT;
        self.viscosity_iterations = system.solve(velocities, is_explicit);
    }
}

/// Velocities after all explicit forces, m/s.
fn apply_forces(view: SortedView, before: &[Vec3], tension: &[[Real; 4]], context: &StepContext) -> Vec<[Real; 4]> {
    let particles = view.particles;
    parallel::map(view.len(), GRAIN, |s| {
        let i = view.index(s);
        let tension = tension.get(s).map_or(Vec3::ZERO, |[x, y, z, _]| Vec3::new(*x, *y, *z));
        let force = particles.force[i] + tension;
        let free = before[i] + (context.gravity + force / particles.mass[i]) * context.dt;
        let kinematic = if particles.flags[i].has(Flags::FIXED) { Vec3::ZERO } else { before[i] };
        (if particles.is_kinematic(i) { kinematic } else { free }).extend(0.0).to_array()
    })
}

fn neighbour_lists<'a>(derived: &'a Derived, points: &'a [[Real; 4]]) -> NeighbourLists<'a> {
    NeighbourLists { kernel: derived.kernel, points, offsets: &derived.table.offsets, blocks: &derived.table.blocks }
}

/// Computes volume fractions without walls.
pub(in crate::model::crystal) fn compute_fractions(derived: &Derived, points: &[[Real; 4]]) -> VolumeFractions {
    let (mut fractions, mut gradient_sums) = (vec![[0.0; 4]; points.len()], vec![[0.0; 2]; points.len()]);
    let (level, lists) = (SimdLevel::detect(), neighbour_lists(derived, points));
    let chunks = fractions.chunks_mut(GRAIN).zip(gradient_sums.chunks_mut(GRAIN));
    let tasks: Vec<_> = (0..).step_by(GRAIN).zip(chunks).collect();
    parallel::for_each_item(tasks, |(first, (fractions, gradient_sums))| {
        volume_fractions(level, &lists, first..first + fractions.len(), fractions, gradient_sums);
    });
    VolumeFractions { fractions, gradient_sums }
}

/// Samples the volume fraction, drag and adhesion of walls at each particle.
fn sample_walls(
    walls: &ContactContext,
    points: &[[Real; 4]],
    derived: &Derived,
) -> (Vec<BoundaryFraction>, Vec<BoundaryShear>) {
    let radius = derived.kernel.support;
    let (layer, closest) = (WALL_OFFSET / KERNEL_SUPPORT * radius, MIN_WALL_DISTANCE / KERNEL_SUPPORT * radius);
    let mut fractions = vec![BoundaryFraction::default(); points.len()];
    let mut shears = vec![BoundaryShear::default(); points.len()];
    let chunks = fractions.chunks_mut(QUERY_BLOCK).zip(shears.chunks_mut(QUERY_BLOCK)).zip(points.chunks(QUERY_BLOCK));
    parallel::for_each_item(chunks.collect(), |((fractions, shears), points)| {
        let positions = || points.iter().map(|[x, y, z, _]| Vec3::new(*x, *y, *z));
        let near = walls.near(&Aabb::from_points(positions()), radius);
        for ((fraction, shear), x) in fractions.iter_mut().zip(shears).zip(positions()) {
            near.visit(x, radius, |at, velocity, obstacle| {
                let slips = obstacle.friction == Friction::NONE;
                *fraction = fraction.with(&derived.kernel, layer, at.distance, at.normal, velocity);
                let plane = (at.distance, at.normal);
                *shear = shear.with(&derived.kernel, &derived.cohesion, closest, plane, velocity, slips);
            });
        }
    });
    (fractions, shears)
}
