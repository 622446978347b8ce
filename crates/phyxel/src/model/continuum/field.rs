//! Deformation, stress and force of all phyxels of a body.

use super::cloud::Cloud;
use crate::Real;
use crate::parallel;
use glam::{Mat3, Vec3};
use phyxel_laws::elastic::Hooke;
use phyxel_laws::lanes::{Eight, Level, WIDTH};
use phyxel_laws::phyxels::{Deformation, Line, Matter, SHEAR, State, change, deform, measure, pull};
use phyxel_laws::symmetric::largest_of_tridiagonal;
use std::ops::Range;

/// Packs of eight phyxels per task.
pub(super) const GRAIN: usize = 64;
/// Phyxels that the first visit goes ahead at a time.
const WAVE: usize = 1 << 13;

/// A cloud of phyxels with what they are made of, and room for a step.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub cloud: Cloud,
    pub matter: Matter,
    /// By pack; none where all phyxels are as the body.
    pub states: Vec<State>,
    pub level: Level,
    /// Whether elastic strains are noted.
    pub notes: bool,
    /// Elastic strain by pack.
    pub elastic: Vec<[Eight; 6]>,
    pub points: Vec<[f32; 4]>,
    pub velocities: Vec<[f32; 4]>,
    pub lines: Vec<Line>,
    lost: Vec<Eight>,
}

impl Field {
    pub fn new(cloud: Cloud, matter: Matter) -> Self {
        let padded = cloud.padded();
        Self {
            matter,
            states: Vec::new(),
            level: Level::detect(),
            notes: false,
            elastic: Vec::new(),
            points: vec![[0.0; 4]; padded],
            velocities: Vec::new(),
            lines: vec![Line::default(); padded],
            lost: vec![[0.0; WIDTH]; cloud.packs.len()],
            cloud,
        }
    }

    /// Whether motion inside is braked.
    pub fn is_damped(&self) -> bool {
        self.matter.damping > 0.0 || self.states.iter().any(|state| state.viscosity.iter().any(|&v| v > 0.0))
    }

    /// Takes over where the phyxels are.
    pub fn place(&mut self, positions: &[Vec3]) {
        spread(&mut self.points, positions, 1.0);
    }

    /// Adds the forces, with those of damping if there are velocities. Returns by how much, as a root, the stiffest
    /// phyxel is stiffer than at rest.
    ///
    /// Both visits to the neighbours go through the body together, one behind the other, so that what the first has
    /// read is still at hand for the second.
    pub fn exert(&mut self, velocities: Option<&[Vec3]>, forces: &mut [Vec3]) -> Real {
        if let Some(velocities) = velocities {
            self.velocities.resize(self.cloud.padded(), [0.0; 4]);
            spread(&mut self.velocities, velocities, 1.0);
        }
        if self.notes {
            self.elastic.resize(self.cloud.packs.len(), [[0.0; WIDTH]; 6]);
        }
        let (count, lag) = (self.cloud.padded(), self.cloud.width.next_multiple_of(WIDTH));
        let (mut deformed, mut pulled, mut stretch) = (0, 0, 0.0);
        while pulled < count {
            let next = count.min(deformed + WAVE);
            stretch = Real::max(stretch, self.deform(deformed..next));
            deformed = next;
            let next = if deformed == count { count } else { deformed.saturating_sub(lag).max(pulled) };
            self.pull(pulled..next, velocities.is_some(), false, forces);
            pulled = next;
        }
        stretch.max(1.0).sqrt()
    }

    /// Finds what neighbours need to know of phyxels. Returns how much stiffer than at rest any is.
    fn deform(&mut self, range: Range<usize>) -> Real {
        let (cloud, states, matter, points) = (&self.cloud, &self.states, &self.matter, &self.points);
        let level = self.level;
        let lines = self.lines[range.clone()].chunks_mut(GRAIN * WIDTH);
        let mut notes: Vec<&mut [[Eight; 6]]> =
            if self.notes { self.elastic[range.start / WIDTH..].chunks_mut(GRAIN).collect() } else { Vec::new() };
        let mut notes = notes.drain(..);
        let tasks =
            (range.start..).step_by(GRAIN * WIDTH).zip(lines).map(|(first, lines)| (first, lines, notes.next()));
        let parts = parallel::map_items(tasks.collect(), |(first, lines, mut notes)| {
            let mut most = [0.0f32; WIDTH];
            for (k, lines) in lines.chunks_mut(WIDTH).enumerate() {
                let pack = first / WIDTH + k;
                let (mut elastic, mut stretch) = ([[0.0; WIDTH]; 6], [0.0; WIDTH]);
                let group = cloud.group(pack, states);
                deform(level, &group, matter, points, lines, &mut elastic, &mut stretch);
                (0..WIDTH).for_each(|lane| most[lane] = most[lane].max(stretch[lane]));
                if let Some(notes) = &mut notes {
                    notes[k] = elastic;
                }
            }
            most.into_iter().fold(0.0, Real::max)
        });
        parts.into_iter().fold(0.0, Real::max)
    }

    /// Adds the forces on phyxels; `moves` if lines are of moves, not of positions.
    pub fn pull(&mut self, range: Range<usize>, damped: bool, moves: bool, forces: &mut [Vec3]) {
        let (cloud, lines, level) = (&self.cloud, &self.lines, self.level);
        let (points, velocities) = (&self.points, &self.velocities);
        let end = range.end.min(forces.len());
        let forces = forces[range.start..end].chunks_mut(GRAIN * WIDTH);
        let lost = self.lost[range.start / WIDTH..].chunks_mut(GRAIN);
        let tasks: Vec<_> = (range.start / WIDTH..).step_by(GRAIN).zip(forces.zip(lost)).collect();
        parallel::for_each_item(tasks, |(first, (forces, lost))| {
            for (k, (forces, lost)) in forces.chunks_mut(WIDTH).zip(lost).enumerate() {
                let pack = first + k;
                let (group, mut force) = (cloud.group(pack, &[]), [[0.0; 4]; WIDTH]);
                match (damped, moves) {
                    (false, _) => pull::<false, false>(level, &group, lines, &[], &[], &mut force, lost),
                    (true, false) => pull::<true, false>(level, &group, lines, velocities, &[], &mut force, lost),
                    (true, true) => pull::<true, true>(level, &group, lines, velocities, points, &mut force, lost),
                }
                for (sum, force) in forces.iter_mut().zip(force) {
                    *sum += Vec3::new(force[0], force[1], force[2]);
                }
            }
        });
    }

    /// Deformation of each phyxel where [`place`](Self::place) has put them.
    pub fn deformations(&self) -> Vec<Mat3> {
        self.deformations_of(&self.points)
    }

    /// Deformation of each phyxel with these positions.
    pub fn deformations_at(&self, positions: &[Vec3]) -> Vec<Mat3> {
        let mut points = vec![[0.0; 4]; self.cloud.padded()];
        spread(&mut points, positions, 1.0);
        self.deformations_of(&points)
    }

    fn deformations_of(&self, points: &[[f32; 4]]) -> Vec<Mat3> {
        let parts = parallel::map_ranges(self.cloud.packs.len(), GRAIN, |packs| {
            let mut found = Vec::new();
            for pack in packs {
                let mut j: Deformation = [[[0.0; WIDTH]; 3]; 3];
                measure(self.level, &self.cloud.group(pack, &[]), points, &mut j);
                let column = |c: usize, lane: usize| Vec3::new(j[0][c][lane], j[1][c][lane], j[2][c][lane]);
                let lanes = 0..self.cloud.members(pack).len();
                found.extend(lanes.map(|lane| Mat3::from_cols(column(0, lane), column(1, lane), column(2, lane))));
            }
            found
        });
        parts.concat()
    }

    /// Power that damping took from each phyxel, W.
    pub fn lost(&self) -> impl Iterator<Item = Real> + '_ {
        self.lost.iter().flatten().copied().take(self.cloud.len())
    }

    /// Square of the fastest swing about the reference shape, 1/s2.
    pub fn fastest_swing(&mut self, masses: &[Real], rounds: usize) -> f64 {
        self.largest(masses, rounds, |field, moves, forces| {
            spread(&mut field.points, moves, 1.0);
            let points = std::mem::take(&mut field.points);
            field.change(&|_| (&STILL, &NO_STRESS), &points);
            field.points = points;
            field.pull(0..field.cloud.padded(), false, false, forces);
        })
    }

    /// Writes lines of how forces change with moves, about deformations and stresses by pack.
    pub fn change<'a>(
        &mut self,
        about: &(dyn Fn(usize) -> (&'a Deformation, &'a [Eight; 6]) + Sync),
        moves: &[[f32; 4]],
    ) {
        let (cloud, states, matter, level) = (&self.cloud, &self.states, &self.matter, self.level);
        parallel::for_each_chunk(&mut self.lines, GRAIN * WIDTH, |first, lines| {
            for (k, lines) in lines.chunks_mut(WIDTH).enumerate() {
                let pack = first / WIDTH + k;
                let (shape, stress) = about(pack);
                change(level, &cloud.group(pack, states), matter, shape, stress, moves, lines);
            }
        });
    }

    /// Fastest decay by damping in a shape, 1/s.
    pub fn fastest_decay(&mut self, positions: &[Vec3], masses: &[Real], rounds: usize) -> f64 {
        if !self.is_damped() {
            return 0.0;
        }
        let matter = self.matter;
        // Without elasticity only the dampers are left.
        self.matter = Matter { hooke: Hooke::isotropic(0.0, 0.0), bulk: 0.0, hourglass: 0.0, ..matter };
        let states = std::mem::take(&mut self.states);
        self.place(positions);
        let fastest = self.largest(masses, rounds, |field, moves, forces| {
            field.exert(Some(moves), forces);
        });
        (self.matter, self.states) = (matter, states);
        fastest
    }

    /// Fastest decay by a viscosity of 1 Pa s in a shape, 1/(Pa s2).
    pub fn thinness(&mut self, positions: &[Vec3], masses: &[Real], rounds: usize) -> f64 {
        let damping = std::mem::replace(&mut self.matter.damping, SHEAR);
        let found = self.fastest_decay(positions, masses, rounds);
        self.matter.damping = damping;
        found
    }

    /// Finds what damping takes away at these velocities. Lines must be those of a step.
    pub fn brake(&mut self, velocities: &[Vec3]) {
        self.velocities.resize(self.cloud.padded(), [0.0; 4]);
        spread(&mut self.velocities, velocities, 1.0);
        let mut forces = vec![Vec3::ZERO; velocities.len()];
        self.pull(0..self.cloud.padded(), true, true, &mut forces);
    }

    /// Largest factor between a motion and the deceleration that answers it, by Lanczos' rounds from a rough one: extreme
    /// motions show after few of them, also those of a single corner.
    fn largest(&mut self, masses: &[Real], rounds: usize, answer: impl Fn(&mut Self, &[Vec3], &mut [Vec3])) -> f64 {
        let count = masses.len();
        let size = |v: &[Vec3]| v.iter().map(|v| v.as_dvec3().length_squared()).sum::<f64>().sqrt();
        // In the measure in which motions are at right angles, sqrt(m) u.
        let roots: Vec<Real> = masses.iter().map(|mass| mass.sqrt()).collect();
        let mut now: Vec<Vec3> = (0..count as u32).map(rough).collect();
        let scale = (1.0 / size(&now).max(1e-30)) as Real;
        now.iter_mut().for_each(|v| *v *= scale);
        let (mut before, mut forces) = (vec![Vec3::ZERO; count], vec![Vec3::ZERO; count]);
        let (mut diagonal, mut beside): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for round in 0..rounds.min(3 * count) {
            let moves: Vec<Vec3> = now.iter().zip(&roots).map(|(v, root)| *v / *root).collect();
            forces.fill(Vec3::ZERO);
            answer(self, &moves, &mut forces);
            let mut next: Vec<Vec3> = forces.iter().zip(&roots).map(|(f, root)| -*f / *root).collect();
            let part: f64 = next.iter().zip(&now).map(|(a, b)| a.as_dvec3().dot(b.as_dvec3())).sum();
            let last = if round > 0 { beside[round - 1] } else { 0.0 };
            for i in 0..count {
                next[i] -= now[i] * part as Real + before[i] * last as Real;
            }
            let left = size(&next);
            diagonal.push(part);
            if !left.is_finite() || left <= 1e-5 * part.abs() {
                break;
            }
            beside.push(left);
            next.iter_mut().for_each(|v| *v *= (1.0 / left) as Real);
            before = std::mem::replace(&mut now, next);
        }
        largest_of_tridiagonal(&diagonal, &beside).max(0.0)
    }
}

/// A motion in which neighbours go different ways.
fn rough(i: u32) -> Vec3 {
    let mut state = u64::from(i).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as Real / (1u64 << 24) as Real - 0.5
    };
    Vec3::new(next(), next(), next())
}

/// A body that is not deformed, and not stressed.
static STILL: Deformation = {
    let (one, zero) = ([1.0; WIDTH], [0.0; WIDTH]);
    [[one, zero, zero], [zero, one, zero], [zero, zero, one]]
};
static NO_STRESS: [Eight; 6] = [[0.0; WIDTH]; 6];

/// Vectors times a factor in rows of four; the last one fills up.
pub(super) fn spread(to: &mut [[f32; 4]], from: &[Vec3], factor: Real) {
    let last = from.last().copied().unwrap_or_default();
    parallel::for_each_chunk(to, GRAIN * WIDTH, |first, to| {
        for (k, to) in to.iter_mut().enumerate() {
            let Vec3 { x, y, z } = from.get(first + k).copied().unwrap_or(last) * factor;
            *to = [x, y, z, 0.0];
        }
    });
}
