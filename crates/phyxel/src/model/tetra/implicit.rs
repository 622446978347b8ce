//! Backward Euler: velocities at the end of a step, by conjugate gradients.
//!
//! `(M + dt a M + (dt^2 + dt b) K) v' = M v + dt (f + M g)` with the stiffness `K` of the rotations at the start of the step, which is
//! symmetric and positive whatever the stress, and Rayleigh's damping `a`, `b`. No matrix is put together.

use super::body::Tetras;
use super::net::{GRAIN, Matters, Net};
use crate::Real;
use crate::model::gradients::Equations;
use crate::parallel;
use glam::{Mat3, Vec3};
use phyxel_laws::lanes::WIDTH;
use phyxel_laws::tetra::{Blocks, blocks};

/// What a step starts from.
pub(super) struct Start<'a> {
    pub velocities: &'a [Vec3],
    /// At the start of the step, without damping, N.
    pub forces: &'a [Vec3],
    pub masses: &'a [Real],
    pub gravity: Vec3,
    pub dt: Real,
    /// Damping in proportion to mass, 1/s.
    pub drag: Real,
}

/// The system of a body.
struct System<'a> {
    body: usize,
    tetras: &'a Tetras,
    matters: &'a Matters<'a>,
    start: &'a Start<'a>,
    /// What stiffness is multiplied with, s2.
    stiff: Real,
    /// What masses are multiplied with.
    heavy: Real,
}

impl Net {
    /// Velocities at the end of a step from where [`place`](Self::place) has put the nodes, and the rounds it took; those that are
    /// held stay as they are.
    pub fn solve(
        &mut self,
        body: usize,
        tetras: &Tetras,
        matters: &Matters,
        start: &Start,
        held: impl Fn(usize) -> bool + Sync,
    ) -> (Vec<Vec3>, u32) {
        let count = start.masses.len();
        let stiff = start.dt * (start.dt + matters.matter.damping);
        let system = System { body, tetras, matters, start, stiff, heavy: 1.0 + start.dt * start.drag };
        let guide = self.find_guide(&system, &held);
        let fall = start.gravity * start.dt;
        let fallen = |i: usize| if held(i) { start.velocities[i] } else { start.velocities[i] + fall };
        let right = |i: usize| start.masses[i] * (start.velocities[i] + fall) + start.forces[i] * start.dt;
        let mut solution: Vec<Vec3> = (0..count).map(fallen).collect();
        let right: Vec<Vec3> = (0..count).map(right).collect();
        let equations = Equations { right: &right, guide: &guide, held };
        let rounds = equations.solve(&mut solution, |x, product| self.multiply(&system, x, product));
        (solution, rounds)
    }

    /// The matrix of the system times velocities.
    fn multiply(&mut self, system: &System, velocities: &[Vec3], product: &mut [Vec3]) {
        self.set_in_motion(system.body, velocities);
        self.resist(system.body, system.tetras, system.matters);
        let first_node = self.runs[system.body].nodes.start;
        parallel::for_each_chunk(product, GRAIN * WIDTH, |first, product| {
            for (i, x) in (first..).zip(product) {
                let inert = system.heavy * system.start.masses[i] * velocities[i];
                *x = inert + system.stiff * self.pull_on(first_node + i);
            }
        });
    }

    /// Inverses of the blocks on the diagonal.
    fn find_guide(&self, system: &System, held: &(impl Fn(usize) -> bool + Sync)) -> Vec<Mat3> {
        let System { body, tetras, matters, .. } = *system;
        let run = &self.runs[body];
        let found: Vec<Blocks> = parallel::map(tetras.rest.len(), GRAIN, |pack| {
            let mut out = [[[0.0; 6]; WIDTH]; 4];
            let group = self.group(body, tetras, matters.states, pack);
            blocks(self.level, &group, matters.matter, &tetras.turns[pack], &mut out);
            out
        });
        let rows = found.as_flattened().as_flattened();
        let first = 4 * WIDTH * run.packs.start;
        parallel::map(run.nodes.len(), GRAIN * WIDTH, |i| {
            if held(i) {
                return Mat3::ZERO;
            }
            let mut sum = [0.0; 6];
            for &place in self.corners_of(run.nodes.start + i) {
                let block = &rows[place as usize - first];
                (0..6).for_each(|k| sum[k] += block[k]);
            }
            let [xx, yy, zz, yz, xz, xy] = sum.map(|x| system.stiff * x);
            let inert = Mat3::from_diagonal(Vec3::splat(system.heavy * system.start.masses[i]));
            let block = Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz));
            (inert + block).inverse()
        })
    }
}
