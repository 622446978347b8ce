//! From forces to velocities: surface tension, viscosity, and pressure with walls.

use super::pressure::Pressed;
use super::rub::Rubbed;
use super::{CrystalModel, Derived, GRAIN, SMOOTH};
use crate::Real;
use crate::contact::Walls;
use crate::material::Friction;
use crate::parallel;
use crate::particles::{Flags, Particles, Phase};
use crate::step::StepContext;
use glam::Vec3;
use phyxel_laws::lanes::Level;
use phyxel_laws::sph::{Crowd, Rim, Wall, attract, fill};

/// Distance from walls at which particles lie, in particle distances: half of that between layers of a closest packing.
const LAYER: Real = 0.4;
/// Nearer than this, in particle distances, walls hold no more firmly.
const CLOSEST: Real = 0.2;
/// Particles that are asked together whether an obstacle is near.
const BLOCK: usize = 32;
/// How fast a particle that alone moves slows down, in viscosities over density and squares of distances: neighbours and a wall.
const FASTEST_RUB: Real = 20.0;
/// Part of a velocity that viscosity may take in a step as it is at its start.
const WEAK: Real = 0.2;
/// Viscosity of solids, Pa s, negative as they do not rub with each other: more than any fluid has.
const FIRM: Real = -1.0e12;
/// Rate of smoothing times the square of the particle distance over the viscosity (by density) that it acts as.
const SMOOTHED: Real = 10.0;

/// How full places are.
pub(super) struct Fullness {
    /// Sum of gradients, 1/m, and fullness.
    pub filled: Vec<[Real; 4]>,
    /// Sums of squares of gradients, and of gradients over distances, 1/m2.
    pub stiff: Vec<[Real; 2]>,
}

impl CrystalModel {
    /// `v += dt (g + f/m)` with surface tension in `f`, then viscosity, then pressure.
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
        let matter = |place: usize| &derived.matter[derived.owners[order[place] as usize] as usize];
        let is_solid = |place: usize| particles.phase[index(place)] == Phase::Solid;
        let held = |i: usize| particles.flags[i].has(Flags::HELD);
        let points: Vec<[Real; 4]> = parallel::map(order.len(), GRAIN, |place| {
            particles.position[index(place)].extend(matter(place).volume).to_array()
        });
        let (found, rims) = near_walls(walls, &points, &derived);
        let fullness = measure(&derived, &points);
        let tension = self.attract(&derived, particles, &points, &rims);
        let mut velocities: Vec<[Real; 4]> = parallel::map(order.len(), GRAIN, |place| {
            let i = index(place);
            let pull = tension.get(place).map_or(Vec3::ZERO, |[x, y, z, _]| Vec3::new(*x, *y, *z));
            let force = particles.force[i] + pull;
            let pushed = before[i] + (context.gravity + force / particles.mass[i]) * context.dt;
            let led = if held(i) { Vec3::ZERO } else { before[i] };
            (if particles.is_led(i) { led } else { pushed }).extend(0.0).to_array()
        });
        let softness =
            parallel::map(order.len(), GRAIN, |place| if is_solid(place) { matter(place).solid.softness } else { 0.0 });
        let lightness = parallel::map(order.len(), GRAIN, |place| {
            let i = index(place);
            if particles.is_led(i) { 0.0 } else { points[place][3] / particles.mass[i] }
        });
        let mut pressures: Vec<Real> = parallel::map(order.len(), GRAIN, |place| self.pressures[order[place] as usize]);
        let pressed = Pressed {
            kernel: derived.kernel,
            around: &derived.around,
            points: &points,
            filled: &fullness.filled,
            stiff: &fullness.stiff,
            lightness: &lightness,
            softness: &softness,
            walls: &found,
            layer: context.gravity.length() * derived.kernel.support / SMOOTH,
            dt: context.dt,
        };
        let work = pressed.begin(&mut pressures, &mut velocities);
        self.rub(&derived, particles, (&points, &rims), &mut velocities, context.dt);
        self.rounds = pressed.solve(work, &mut pressures, &mut velocities);
        self.keep(&derived, particles, &velocities, &pressures);
        self.derived = Some(derived);
    }

    /// Writes velocities and pressures back, from places to particles.
    fn keep(&mut self, derived: &Derived, particles: &mut Particles, velocities: &[[Real; 4]], pressures: &[Real]) {
        parallel::for_each_chunk(&mut self.pressures, GRAIN, |first, kept| {
            (first..).zip(kept).for_each(|(k, kept)| *kept = pressures[derived.places[k] as usize]);
        });
        self.fastest = 0.0;
        for (first, matter) in derived.bodies() {
            let own = &mut particles.velocity[matter.range.clone()];
            let speeds = parallel::map_chunks(own, GRAIN, |from, own| {
                (first + from..).zip(own).fold(0.0, |fastest: Real, (k, velocity)| {
                    let [x, y, z, _] = velocities[derived.places[k] as usize];
                    *velocity = Vec3::new(x, y, z);
                    fastest.max(velocity.length_squared())
                })
            });
            self.fastest = speeds.into_iter().fold(self.fastest, |fastest, square| fastest.max(square.sqrt()));
        }
    }

    /// Force of surface tension by place, N; empty if there is none.
    fn attract(&self, derived: &Derived, particles: &Particles, points: &[[Real; 4]], rims: &[Rim]) -> Vec<[Real; 4]> {
        if derived.matter.iter().all(|matter| matter.tension == 0.0) {
            return Vec::new();
        }
        let order = &derived.around.order;
        let strengths: Vec<Real> = parallel::map(order.len(), GRAIN, |place| {
            let k = order[place] as usize;
            let fluid = particles.phase[derived.indices[k] as usize] != Phase::Solid;
            let tension = derived.matter[derived.owners[k] as usize].tension;
            if fluid { derived.attraction.strength(tension) } else { -1.0 }
        });
        let (level, crowd) = (Level::detect(), crowd(derived, points));
        let mut pulls = vec![[0.0; 4]; order.len()];
        parallel::for_each_chunk(&mut pulls, GRAIN, |first, pulls| {
            attract(level, &crowd, &derived.attraction, first..first + pulls.len(), &strengths, pulls);
            for (i, pull) in (first..).zip(pulls) {
                let drawn = rims[i].drawn * strengths[i].max(0.0);
                (0..3).for_each(|axis| pull[axis] += drawn[axis]);
            }
        });
        pulls
    }

    /// Viscosity, with the smoothing of velocities as some more of it.
    fn rub(
        &mut self,
        derived: &Derived,
        particles: &Particles,
        (points, rims): (&[[Real; 4]], &[Rim]),
        velocities: &mut [[Real; 4]],
        dt: Real,
    ) {
        let order = &derived.around.order;
        let index = |place: usize| derived.indices[order[place] as usize] as usize;
        let matter = |place: usize| &derived.matter[derived.owners[order[place] as usize] as usize];
        let sticky = parallel::map(order.len(), GRAIN, |place| {
            let i = index(place);
            let fluid = particles.phase[i] != Phase::Solid;
            if fluid { matter(place).viscosity(particles.enthalpy[i]) * points[place][3] } else { 0.0 }
        });
        let strengths = parallel::map_chunks(velocities, GRAIN, |first, rows| {
            let mut strongest: Real = 0.0;
            for (place, row) in (first..).zip(rows) {
                let (matter, fluid) = (matter(place), particles.phase[index(place)] != Phase::Solid);
                let heavy = matter.density * matter.solid.distance.powi(2);
                let viscosity = sticky[place] / points[place][3] + matter.smoothing * heavy / SMOOTHED;
                row[3] = if fluid { viscosity } else { FIRM };
                strongest = strongest.max(if fluid { viscosity / heavy } else { 0.0 });
            }
            strongest
        });
        let strongest = strengths.into_iter().fold(0.0, Real::max);
        if strongest == 0.0 {
            self.rubs = 0;
            return;
        }
        let masses = parallel::map(order.len(), GRAIN, |place| {
            let i = index(place);
            if particles.is_led(i) { 0.0 } else { particles.mass[i] }
        });
        let (kernel, around) = (derived.kernel, &derived.around);
        let rubbed = Rubbed { kernel, around, points, masses: &masses, rims, sticky: &sticky, dt };
        self.rubs = rubbed.apply(velocities, FASTEST_RUB * strongest * dt < WEAK);
    }
}

fn crowd<'a>(derived: &'a Derived, points: &'a [[Real; 4]]) -> Crowd<'a> {
    Crowd { kernel: derived.kernel, points, start: &derived.around.start, near: &derived.around.near }
}

pub(super) fn measure(derived: &Derived, points: &[[Real; 4]]) -> Fullness {
    let (mut filled, mut stiff) = (vec![[0.0; 4]; points.len()], vec![[0.0; 2]; points.len()]);
    let (level, crowd) = (Level::detect(), crowd(derived, points));
    let tasks: Vec<_> = (0..).step_by(GRAIN).zip(filled.chunks_mut(GRAIN).zip(stiff.chunks_mut(GRAIN))).collect();
    parallel::for_each_item(tasks, |(first, (filled, stiff))| {
        fill(level, &crowd, first..first + filled.len(), filled, stiff);
    });
    Fullness { filled, stiff }
}

/// What obstacles fill around each particle, and how they hold it.
fn near_walls(walls: &Walls, points: &[[Real; 4]], derived: &Derived) -> (Vec<Wall>, Vec<Rim>) {
    let reach = derived.kernel.support;
    let (layer, closest) = (LAYER / SMOOTH * reach, CLOSEST / SMOOTH * reach);
    let (mut found, mut rims) = (vec![Wall::default(); points.len()], vec![Rim::default(); points.len()]);
    let blocks = found.chunks_mut(BLOCK).zip(rims.chunks_mut(BLOCK)).zip(points.chunks(BLOCK));
    parallel::for_each_item(blocks.collect(), |((walls_here, rims_here), points)| {
        let places = || points.iter().map(|[x, y, z, _]| Vec3::new(*x, *y, *z));
        let corners = places().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let near = walls.near(corners.0, corners.1, reach);
        for ((wall, rim), x) in walls_here.iter_mut().zip(rims_here).zip(places()) {
            near.visit(x, reach, |at, velocity, obstacle| {
                let slips = obstacle.friction == Friction::NONE;
                *wall = wall.with(&derived.kernel, layer, at.distance, at.normal, velocity);
                let plane = (at.distance, at.normal);
                *rim = rim.with(&derived.kernel, &derived.attraction, closest, plane, velocity, slips);
            });
        }
    });
    (found, rims)
}
