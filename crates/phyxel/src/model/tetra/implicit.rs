//! Backward Euler: velocities at the end of a step, by conjugate gradients.
//!
//! `(M + dt a M + (dt^2 + dt b) K) v' = M v + dt (f + M g)` with the stiffness `K` of the rotations at the start of the step, which is
//! symmetric and positive whatever the stress, and Rayleigh's damping `a`, `b`. No matrix is put together.

use super::body::Tetras;
use super::net::{GRAIN, Matters, Net};
use super::walls::AtWall;
use crate::Real;
use crate::model::gradients::Equations;
use crate::parallel;
use glam::{Mat3, Vec3};
use phyxel_laws::lanes::WIDTH;
use phyxel_laws::tetra::{Blocks, blocks};

/// How often velocities are looked for with walls at most.
const TRIES: u32 = 4;

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
    /// Farthest that a node may be meant to go into a wall, m.
    pub far: Real,
}

/// What a step ends with.
pub(super) struct End {
    pub velocities: Vec<Vec3>,
    pub rounds: u32,
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
    /// Velocities at the end of a step from where [`place`](Self::place) has put the nodes; those that are held stay as they are.
    ///
    /// Nodes that would go into a wall are told by `find_walls`. They are stopped, and velocities looked for again, until every wall
    /// pushes. What walls do is put on the velocities of these nodes alone, into the wall: so contact finds it there, takes just
    /// that away and has the right friction. (Left to contact alone, the lightest nodes would carry the body by going far
    /// ahead of it.)
    pub fn solve(
        &mut self,
        (body, tetras): (usize, &Tetras),
        matters: &Matters,
        start: &Start,
        held: impl Fn(usize) -> bool + Sync,
        find_walls: impl FnOnce(&[Vec3]) -> Vec<Option<AtWall>>,
    ) -> End {
        let count = start.masses.len();
        let stiff = start.dt * (start.dt + matters.matter.damping);
        let system = System { body, tetras, matters, start, stiff, heavy: 1.0 + start.dt * start.drag };
        let guide = self.find_guide(&system);
        let fall = start.gravity * start.dt;
        let fallen = |i: usize| if held(i) { start.velocities[i] } else { start.velocities[i] + fall };
        let right = |i: usize| start.masses[i] * (start.velocities[i] + fall) + start.forces[i] * start.dt;
        let mut solution: Vec<Vec3> = (0..count).map(fallen).collect();
        let right: Vec<Vec3> = (0..count).map(right).collect();
        let free = |i: usize, x: Vec3| if held(i) { Vec3::ZERO } else { x };
        let equations = Equations { right: &right, guide: &guide, free, before: 0.0 };
        let (mut rounds, before) = equations.solve(&mut solution, |x, product| self.multiply(&system, x, product));
        let mut walls = find_walls(&solution);
        walls.iter_mut().enumerate().filter(|(i, _)| held(*i)).for_each(|(_, wall)| *wall = None);
        for _ in 0..TRIES {
            if walls.iter().all(Option::is_none) {
                break;
            }
            rounds += self.solve_at_walls(&system, (&right, &guide, before), &held, &walls, &mut solution);
            let push = self.pushes(&system, &right, &solution);
            let pulled = |i: &usize| walls[*i].is_some_and(|wall| wall.pulls(push[*i]));
            let pulled: Vec<usize> = (0..walls.len()).filter(pulled).collect();
            if pulled.is_empty() {
                break;
            }
            pulled.into_iter().for_each(|i| walls[i] = None);
        }
        if walls.iter().any(Option::is_some) {
            let push = self.pushes(&system, &right, &solution);
            for (i, wall) in walls.iter().enumerate() {
                let push = push[i] / start.masses[i];
                solution[i] = wall.map_or(solution[i], |wall| wall.pressed(solution[i], push, start.far / start.dt));
            }
        }
        End { velocities: solution, rounds }
    }

    /// Betters velocities of which some are as walls let them be; the rounds that took.
    fn solve_at_walls(
        &mut self,
        system: &System,
        (right, guide, before): (&[Vec3], &[Mat3], f64),
        held: &(impl Fn(usize) -> bool + Sync),
        walls: &[Option<AtWall>],
        solution: &mut [Vec3],
    ) -> u32 {
        for (x, wall) in solution.iter_mut().zip(walls) {
            *x = wall.map_or(*x, |wall| wall.stopped(*x));
        }
        let along = |i: usize, x: Vec3| walls[i].map_or(x, |wall| wall.along(x));
        let free = |i: usize, x: Vec3| if held(i) { Vec3::ZERO } else { along(i, x) };
        let equations = Equations { right, guide, free, before };
        equations.solve(solution, |x, product| self.multiply(system, x, product)).0
    }

    /// Momentum that is needed for velocities beside what is known, kg m/s.
    fn pushes(&mut self, system: &System, right: &[Vec3], velocities: &[Vec3]) -> Vec<Vec3> {
        let mut push = vec![Vec3::ZERO; right.len()];
        self.multiply(system, velocities, &mut push);
        push.iter_mut().zip(right).for_each(|(push, right)| *push -= *right);
        push
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
    fn find_guide(&self, system: &System) -> Vec<Mat3> {
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
