//! Backward Euler: velocities at the end of a step, by conjugate gradients.
//!
//! `(M + dt a M + (dt^2 + dt b) K) v' = M v + dt (f + M g)` with the stiffness `K` of the rotations at the start of the step, which is
//! symmetric and positive whatever the stress, and Rayleigh's damping `a`, `b`.

use super::body::Tetras;
use super::clusters::Guide;
use super::matrix::Matrix;
use super::net::{GRAIN, Matters, Net};
use super::pattern::Pattern;
use super::walls::{AtWall, Freedom};
use crate::Real;
use crate::model::gradients::{Equations, Search};
use crate::parallel;
use glam::{DVec3, Vec3, Vec4};
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
    /// Where nodes are at rest, m.
    pub rest: &'a [Vec3],
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

impl System<'_> {
    /// Shifts velocities of a body that nothing holds, so that it has the momentum that it should have: elements push none as a whole,
    /// whatever is left of the right side.
    fn keep_momentum(&self, right: &[Vec3], velocities: &mut [Vec3]) {
        let (mut missing, mut mass) = (DVec3::ZERO, 0.0);
        for (i, right) in right.iter().enumerate() {
            let own = f64::from(self.heavy * self.start.masses[i]);
            missing += right.as_dvec3() - velocities[i].as_dvec3() * own;
            mass += own;
        }
        let shift = (missing / mass).as_vec3();
        velocities.iter_mut().for_each(|velocity| *velocity += shift);
    }
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
        let matrix = self.take_matrix(&system);
        let fall = start.gravity * start.dt;
        // What is held hardly falls, and a guess that tears at it would have to be solved the better.
        let guess = if (0..count).any(&held) { Vec3::ZERO } else { fall };
        let right = |i: usize| start.masses[i] * (start.velocities[i] + fall) + start.forces[i] * start.dt;
        let mut solution: Vec<Vec3> = start.velocities.iter().map(|velocity| *velocity + guess).collect();
        let right: Vec<Vec3> = (0..count).map(right).collect();
        let mut freedom: Vec<Freedom> =
            (0..count).map(|i| if held(i) { Freedom::Held } else { Freedom::Free }).collect();
        let Search { mut rounds, start: before } =
            self.better(&system, &matrix, &freedom, (&right, 0.0), &mut solution);
        let mut walls = find_walls(&solution);
        walls.iter_mut().enumerate().filter(|(i, _)| held(*i)).for_each(|(_, wall)| *wall = None);
        if walls.iter().any(Option::is_some) {
            solution.copy_from_slice(start.velocities);
        }
        for _ in 0..TRIES {
            if walls.iter().all(Option::is_none) {
                break;
            }
            for (i, wall) in walls.iter().enumerate().filter_map(|(i, wall)| Some((i, wall.as_ref()?))) {
                solution[i] = wall.stopped(solution[i]);
                freedom[i] = Freedom::at(wall);
            }
            rounds += self.better(&system, &matrix, &freedom, (&right, before), &mut solution).rounds;
            let push = self.pushes(&system, &right, &solution);
            let pulled = |i: &usize| walls[*i].is_some_and(|wall| wall.pulls(push[*i]));
            let pulled: Vec<usize> = (0..walls.len()).filter(pulled).collect();
            if pulled.is_empty() {
                break;
            }
            pulled.into_iter().for_each(|i| (walls[i], freedom[i]) = (None, Freedom::Free));
        }
        if walls.iter().any(Option::is_some) {
            let push = self.pushes(&system, &right, &solution);
            for (i, wall) in walls.iter().enumerate() {
                let push = push[i] / start.masses[i];
                solution[i] = wall.map_or(solution[i], |wall| wall.pressed(solution[i], push, start.far / start.dt));
            }
        }
        self.matrices[body] = Some(matrix);
        End { velocities: solution, rounds }
    }

    /// Betters velocities of nodes that may move so until they solve a system.
    ///
    /// The matrix has no more than the digits of its diagonal, in which the inertia of a very stiff body is lost. Its elements, of which
    /// none pushes it as a whole, are asked there instead; that takes longer.
    fn better(
        &mut self,
        system: &System,
        matrix: &Matrix,
        freedom: &[Freedom],
        (right, before): (&[Vec3], f64),
        solution: &mut [Vec3],
    ) -> Search {
        let order = &matrix.pattern.order;
        let freedom: Vec<Freedom> = order.iter().map(|&node| freedom[node as usize]).collect();
        let points = self.points_of(system.body);
        let points = order.iter().map(|&node| Vec4::from_array(points[node as usize]).truncate());
        let guide = Guide::new(matrix, &freedom, &points.collect::<Vec<_>>());
        // Velocities are not known better than by their rounding.
        let energy = |i: usize| f64::from(system.start.masses[i] * solution[i].length_squared());
        let least = f64::from(Real::EPSILON).powi(2) * (0..solution.len()).map(energy).sum::<f64>();
        let product = self.multiply(system, solution);
        let left = (0..).zip(order).map(|(row, &node): (usize, _)| {
            let node = node as usize;
            freedom[row].of(right[node] - product[node])
        });
        let (left, mut change) = (left.collect(), vec![Vec3::ZERO; order.len()]);
        let (mut room, mut by_node) = (Vec::new(), vec![Vec3::ZERO; order.len()]);
        let multiply = |x: &[Vec3], product: &mut [Vec3]| {
            if !matrix.is_rough {
                return matrix.multiply(&freedom, x, product, &mut room);
            }
            order.iter().zip(x).for_each(|(&node, x)| by_node[node as usize] = *x);
            let found = self.multiply(system, &by_node);
            for (row, product) in product.iter_mut().enumerate() {
                *product = freedom[row].of(found[order[row] as usize]);
            }
        };
        let guide = |left: &[Vec3], better: &mut [Vec3]| guide.multiply(left, better);
        let search = Equations { multiply, guide, before, least }.solve(left, &mut change);
        order.iter().zip(&change).for_each(|(&node, change)| solution[node as usize] += *change);
        if freedom.iter().all(|freedom| *freedom == Freedom::Free) {
            system.keep_momentum(right, solution);
        }
        search
    }

    /// Momentum that is needed for velocities beside what is known, kg m/s.
    fn pushes(&mut self, system: &System, right: &[Vec3], velocities: &[Vec3]) -> Vec<Vec3> {
        let mut push = self.multiply(system, velocities);
        push.iter_mut().zip(right).for_each(|(push, right)| *push -= *right);
        push
    }

    /// The matrix of a system times velocities, element by element.
    fn multiply(&mut self, system: &System, velocities: &[Vec3]) -> Vec<Vec3> {
        self.set_in_motion(system.body, velocities);
        self.resist(system.body, system.tetras, system.matters);
        let first_node = self.runs[system.body].nodes.start;
        parallel::map(velocities.len(), GRAIN * WIDTH, |i| {
            let inert = system.heavy * system.start.masses[i] * velocities[i];
            inert + system.stiff * self.pull_on(first_node + i)
        })
    }

    /// The matrix of a system; its pattern is the same until nodes part or unite.
    fn take_matrix(&mut self, system: &System) -> Matrix {
        let System { body, tetras, matters, .. } = *system;
        let first = self.runs[body].particles.start as u32;
        let mut matrix = self.matrices[body].take().unwrap_or_else(|| {
            let own = |element: &[u32; 4]| element.map(|node| node.wrapping_sub(first));
            let elements: Vec<[u32; 4]> = tetras.elements.iter().map(own).collect();
            Matrix::new(Pattern::new(system.start.rest, &elements), tetras.rest.len())
        });
        let find = |pack: usize, out: &mut Blocks| {
            let group = self.group(body, tetras, matters.states, pack);
            blocks(self.level, &group, matters.matter, &tetras.turns[pack], out);
        };
        matrix.fill(find, system.stiff, |node| system.heavy * system.start.masses[node]);
        matrix
    }
}
