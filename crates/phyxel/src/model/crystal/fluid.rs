//! From forces to velocities: smoothing, and pressure with walls.

use super::pressure::Pressed;
use super::{CrystalModel, Derived, GRAIN, SMOOTH};
use crate::Real;
use crate::contact::Walls;
use crate::parallel;
use crate::particles::{Flags, Particles, Phase};
use crate::step::StepContext;
use glam::Vec3;
use phyxel_laws::lanes::Level;
use phyxel_laws::sph::{Crowd, Wall, smooth};

/// Distance from walls at which particles lie, in particle distances: half of that between layers of a closest packing.
const LAYER: Real = 0.4;
/// Particles that are asked together whether an obstacle is near.
const BLOCK: usize = 32;

impl CrystalModel {
    /// `v += dt (g + f/m)`, then what evens out the velocities of fluids, then pressure.
    pub(crate) fn advance_velocities(
        &mut self,
        particles: &mut Particles,
        before: &[Vec3],
        walls: &Walls,
        context: &StepContext,
    ) {
        let Some(derived) = self.derived.take() else { return };
        let order = &derived.around.order;
        let index = |place: usize| derived.indices[order[place] as usize] as usize;
        let held = |i: usize| particles.flags[i].has(Flags::HELD);
        let mut velocities: Vec<[Real; 4]> = parallel::map(order.len(), GRAIN, |place| {
            let i = index(place);
            let pushed = before[i] + (context.gravity + particles.force[i] / particles.mass[i]) * context.dt;
            (if held(i) { Vec3::ZERO } else { pushed }).extend(0.0).to_array()
        });
        self.smooth(&derived, particles, &mut velocities, context.dt);
        let volume = |place: usize| derived.matter[derived.owners[order[place] as usize] as usize].volume;
        let points: Vec<[Real; 4]> = parallel::map(order.len(), GRAIN, |place| {
            particles.position[index(place)].extend(volume(place)).to_array()
        });
        let found = near_walls(walls, &points, &derived);
        let is_solid = |place: usize| particles.phase[index(place)] == Phase::Solid;
        let softness = parallel::map(order.len(), GRAIN, |place| {
            let solid = &derived.matter[derived.owners[order[place] as usize] as usize].solid;
            if is_solid(place) { solid.softness } else { 0.0 }
        });
        let lightness = parallel::map(order.len(), GRAIN, |place| {
            let i = index(place);
            if held(i) { 0.0 } else { volume(place) / particles.mass[i] }
        });
        let mut pressures: Vec<Real> = order.iter().map(|&k| self.pressures[k as usize]).collect();
        let pressed = Pressed {
            kernel: derived.kernel,
            around: &derived.around,
            points: &points,
            lightness: &lightness,
            softness: &softness,
            walls: &found,
            dt: context.dt,
        };
        self.rounds = pressed.solve(&mut pressures, &mut velocities);
        self.fastest = 0.0;
        for (place, [x, y, z, _]) in velocities.into_iter().enumerate() {
            let velocity = Vec3::new(x, y, z);
            self.pressures[order[place] as usize] = pressures[place];
            self.fastest = self.fastest.max(velocity.length());
            particles.velocity[index(place)] = velocity;
        }
        self.derived = Some(derived);
    }

    /// Fluid particles take on the velocity of their neighbours, who get back what they give.
    fn smooth(&self, derived: &Derived, particles: &Particles, velocities: &mut [[Real; 4]], dt: Real) {
        let rates: Vec<Real> = self.bodies.iter().map(|body| 1.0 - libm::expf(-body.settings.smoothing * dt)).collect();
        if rates.iter().all(|&rate| rate == 0.0) || !particles.phase.contains(&Phase::Fluid) {
            return;
        }
        let order = &derived.around.order;
        let points: Vec<[Real; 4]> = parallel::map(order.len(), GRAIN, |place| {
            let i = derived.indices[order[place] as usize] as usize;
            // Solids take nothing from each other.
            let mass = if particles.phase[i] == Phase::Solid { -particles.mass[i] } else { particles.mass[i] };
            particles.position[i].extend(mass).to_array()
        });
        for (row, &k) in velocities.iter_mut().zip(order) {
            let owner = derived.owners[k as usize] as usize;
            row[3] = rates[owner] * derived.matter[owner].volume;
        }
        let (level, now) = (Level::detect(), &*velocities);
        let around = &derived.around;
        let crowd = Crowd { kernel: derived.kernel, points: &points, start: &around.start, near: &around.near };
        let mut changes = vec![[0.0; 4]; order.len()];
        parallel::for_each_chunk(&mut changes, GRAIN, |first, changes| {
            smooth(level, &crowd, first..first + changes.len(), now, changes);
        });
        for ((row, change), &k) in velocities.iter_mut().zip(changes).zip(order) {
            if !particles.flags[derived.indices[k as usize] as usize].has(Flags::HELD) {
                (0..3).for_each(|axis| row[axis] += change[axis]);
            }
        }
    }
}

/// What obstacles fill around each particle.
fn near_walls(walls: &Walls, points: &[[Real; 4]], derived: &Derived) -> Vec<Wall> {
    let reach = derived.kernel.support;
    let layer = LAYER / SMOOTH * reach;
    let parts = parallel::map_ranges(points.len(), BLOCK, |range| {
        let places = || points[range.clone()].iter().map(|[x, y, z, _]| Vec3::new(*x, *y, *z));
        let corners = places().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let near = walls.near(corners.0, corners.1, reach);
        let around = |x: Vec3| {
            let mut wall = Wall::default();
            near.visit(x, reach, |distance, normal, velocity| {
                wall = wall.with(&derived.kernel, layer, distance, normal, velocity);
            });
            wall
        };
        places().map(around).collect::<Vec<Wall>>()
    });
    parts.concat()
}
