//! Backward Euler: velocities at the end of a step, by conjugate gradients.
//!
//! `(M + dt a M + (dt^2 + dt b) K) v' = M v + dt (f + M g)` with the stiffness `K` of the rotations at the start of the step, which is
//! symmetric and positive whatever the stress, and Rayleigh's damping `a`, `b`. Bodies that press on each other are one such system, to
//! which each touch adds a firm resistance.

use super::body::Tetras;
use super::clusters::Guide;
use super::grip::{Court, Grip, Verdict};
use super::holds::Hold;
use super::matrix::Matrix;
use super::net::{GRAIN, Matters, Net};
use super::pattern::Pattern;
use super::walls::{AtWall, Freedom};
use crate::Real;
use crate::model::gradients::{Equations, Search, TOLERANCE, dot};
use crate::parallel;
use crate::particles::Flags;
use glam::{DVec3, Vec3, Vec4};
use phyxel_laws::lanes::WIDTH;
use phyxel_laws::tetra::{Blocks, blocks};
use std::ops::Range;

/// How often velocities are looked for with walls and other bodies at most.
const TRIES: u32 = 6;
/// Part of what there was that may be left while it is not yet known what stops.
const ROUGHLY: f64 = 1e-2;
/// The same where bodies press on each other, of what there was without that.
const TOUCHING: f64 = 1e-3;

/// A body of a system, and what its step starts from.
pub(super) struct Member<'a> {
    pub body: usize,
    pub tetras: &'a Tetras,
    pub matters: Matters<'a>,
    pub velocities: &'a [Vec3],
    /// At the start of the step, without damping, N.
    pub forces: &'a [Vec3],
    pub masses: &'a [Real],
    pub flags: &'a [Flags],
    /// Where nodes are at rest, m.
    pub rest: &'a [Vec3],
    pub gravity: Vec3,
    pub dt: Real,
    /// Damping in proportion to mass, 1/s.
    pub drag: Real,
}

impl Member<'_> {
    fn held(&self, i: usize) -> bool {
        self.flags[i].has(Flags::HELD)
    }

    /// What stiffness is multiplied with, s2.
    fn stiff(&self) -> Real {
        self.dt * (self.dt + self.matters.matter.damping)
    }

    /// What masses are multiplied with.
    fn heavy(&self) -> Real {
        1.0 + self.dt * self.drag
    }

    /// Momentum that is known, kg m/s.
    fn right(&self, i: usize) -> Vec3 {
        self.masses[i] * (self.velocities[i] + self.gravity * self.dt) + self.forces[i] * self.dt
    }
}

/// What a step ends with; nodes are those of all members, one after the other.
pub(super) struct End {
    pub velocities: Vec<Vec3>,
    /// Presses and the momentum that each gave its node, kg m/s.
    pub pushes: Vec<(usize, Vec3)>,
    /// Momentum that walls gave nodes, kg m/s.
    pub stops: Vec<Option<Vec3>>,
    pub rounds: u32,
}

/// What stops nodes.
struct Stops {
    /// By node.
    walls: Vec<Option<AtWall>>,
    freedom: Vec<Freedom>,
    holds: Vec<Hold>,
    /// Nodes that were torn off walls that keep what touches them.
    torn: Vec<usize>,
}

impl Stops {
    fn is_empty(&self) -> bool {
        self.holds.is_empty() && self.walls.iter().all(Option::is_none)
    }

    /// Gives nodes at walls the velocities that these leave them, and the freedom.
    fn stop(&mut self, velocities: &mut [Vec3]) {
        for (i, wall) in self.walls.iter().enumerate().filter_map(|(i, wall)| Some((i, wall.as_ref()?))) {
            velocities[i] = wall.stopped(velocities[i]);
            self.freedom[i] = wall.freedom();
        }
    }

    /// Lets go of what would have to pull, and holds at touches that close; how much momentum that changes, kg m/s.
    fn let_go(&mut self, velocities: &[Vec3], push: &[Vec3]) -> Real {
        let mut change = 0.0;
        for (i, at) in self.walls.iter_mut().enumerate() {
            let Some((pull, wall)) = at.and_then(|wall| Some((wall.pull(push[i])?, wall))) else { continue };
            (*at, self.freedom[i]) = (None, Freedom::Free);
            self.torn.extend(wall.keeps().then_some(i));
            change += pull;
        }
        self.holds.iter_mut().for_each(|hold| change += hold.follow(velocities));
        change
    }

    /// Lets go of what would have to pull and lets slide what would have to hold too much, with the momentum that each wall would have to give
    /// beside friction; whether much of it is new.
    fn follow(&mut self, velocities: &[Vec3], push: &[Vec3]) -> bool {
        let mut court = Court::default();
        court.hear_of(self.let_go(velocities, push));
        let at_wall = |i: usize, wall: &Option<AtWall>| wall.map(|wall| wall.judge(push[i], velocities[i]));
        let at_walls: Vec<Option<Verdict>> = self.walls.iter().enumerate().map(|(i, wall)| at_wall(i, wall)).collect();
        let at_holds: Vec<Option<Verdict>> = self.holds.iter().map(|hold| hold.judge(velocities)).collect();
        at_walls.iter().chain(&at_holds).flatten().for_each(|verdict| court.hear(verdict));
        if !court.has_news() {
            return false;
        }
        let decide = |verdict: Option<Verdict>| verdict.and_then(|verdict| court.decide(&verdict));
        let walls =
            self.walls.iter_mut().zip(at_walls).filter_map(|(wall, verdict)| Some((&mut wall.as_mut()?.grip, verdict)));
        let holds = self.holds.iter_mut().zip(at_holds).map(|(hold, verdict)| (&mut hold.grip, verdict));
        for (grip, next) in walls.chain(holds).filter_map(|(grip, verdict)| Some((grip, decide(verdict)?))) {
            *grip = next;
        }
        true
    }

    /// Lets go of what pulls and holds what friction drives, so that touches never add motion, with the momentum that each wall gives beside
    /// friction; whether there is any.
    fn calm(&mut self, velocities: &[Vec3], push: &[Vec3]) -> bool {
        let mut any = self.let_go(velocities, push) > 0.0;
        let walls = self.walls.iter_mut().zip(velocities).filter_map(|(wall, velocity)| {
            let wall = wall.as_mut()?;
            let sliding = wall.sliding(*velocity);
            Some((&mut wall.grip, sliding))
        });
        let holds = self.holds.iter_mut().map(|hold| {
            let sliding = hold.sliding(velocities);
            (&mut hold.grip, sliding)
        });
        for (grip, _) in walls.chain(holds).filter(|(grip, sliding)| grip.drives(*sliding)) {
            (*grip, any) = (Grip::Sticks, true);
        }
        any
    }

    /// Takes in walls that nodes would go into which are at none; whether there are any.
    fn add(&mut self, walls: Vec<Option<AtWall>>) -> bool {
        let mut any = false;
        for (i, wall) in walls.into_iter().enumerate().filter(|(_, wall)| wall.is_some()) {
            if self.freedom[i] == Freedom::Free && !self.torn.contains(&i) {
                (self.walls[i], any) = (wall, true);
            }
        }
        any
    }
}

/// A system of bodies.
struct System<'a> {
    members: &'a [Member<'a>],
    matrices: Vec<Matrix>,
    /// Nodes of each member among all.
    nodes: Vec<Range<usize>>,
    right: Vec<Vec3>,
}

impl System<'_> {
    fn parts(&self) -> impl Iterator<Item = (&Member<'_>, &Matrix, Range<usize>)> {
        self.members
            .iter()
            .zip(&self.matrices)
            .zip(&self.nodes)
            .map(|((member, matrix), nodes)| (member, matrix, nodes.clone()))
    }

    /// Nodes in the order of rows.
    fn order(&self) -> Vec<u32> {
        let parts = self.parts();
        parts
            .flat_map(|(_, matrix, nodes)| matrix.pattern.order.iter().map(move |&node| nodes.start as u32 + node))
            .collect()
    }

    /// Shifts velocities of bodies that nothing outside holds, so that they have the momentum that they should have: neither elements nor
    /// touches push as a whole, whatever is left of the right side.
    fn keep_momentum(&self, velocities: &mut [Vec3]) {
        let (mut missing, mut mass) = (DVec3::ZERO, 0.0);
        for (member, _, nodes) in self.parts() {
            for (i, node) in nodes.enumerate() {
                let own = f64::from(member.heavy() * member.masses[i]);
                missing += self.right[node].as_dvec3() - velocities[node].as_dvec3() * own;
                mass += own;
            }
        }
        let shift = (missing / mass).as_vec3();
        velocities.iter_mut().for_each(|velocity| *velocity += shift);
    }
}

impl Net {
    /// Velocities at the end of a step from where [`place`](Self::place) has put the nodes; those that are held stay as they are.
    ///
    /// Nodes that are in other members are told by `find_holds`, from the matrices of all; they are pushed out. Nodes that would go into a wall
    /// are told by `find_walls`, with true for velocities at the start of the step. They are stopped, and velocities looked for again, until
    /// all that stops pushes. (Left to contact alone, the lightest nodes would carry the body by going far ahead of it.)
    pub fn solve(
        &mut self,
        members: &[Member],
        find_holds: impl FnOnce(&[Matrix]) -> Vec<Hold>,
        find_walls: impl Fn(&[Vec3], bool) -> Vec<Option<AtWall>>,
    ) -> End {
        let matrices: Vec<Matrix> = members.iter().map(|member| self.take_matrix(member)).collect();
        let mut count = 0;
        let nodes = members.iter().map(|member| {
            let first = count;
            count += member.masses.len();
            first..count
        });
        let nodes = nodes.collect();
        let all = || members.iter().flat_map(|member| (0..member.masses.len()).map(move |i| (member, i)));
        let right = all().map(|(member, i)| member.right(i)).collect();
        let system = System { members, matrices, nodes, right };
        let freedom = all().map(|(member, i)| if member.held(i) { Freedom::Held } else { Freedom::Free });
        let holds = find_holds(&system.matrices);
        let mut stops = Stops { walls: vec![None; count], freedom: freedom.collect(), holds, torn: Vec::new() };
        let start: Vec<Vec3> = all().map(|(member, i)| member.velocities[i]).collect();
        stops.add(find_walls(&start, true));
        // What lies on something does not fall, nor does what is held; a guess that tears at it would have to be solved the better.
        let lies = !stops.is_empty() || stops.freedom.contains(&Freedom::Held);
        let fall =
            members.first().map_or(Vec3::ZERO, |member| if lies { Vec3::ZERO } else { member.gravity * member.dt });
        let mut solution: Vec<Vec3> = start.into_iter().map(|velocity| velocity + fall).collect();
        let (mut rounds, mut before) = (0, 0.0);
        let fine = if stops.holds.is_empty() { TOLERANCE } else { TOUCHING };
        let mut is_rough = true;
        for _ in 0..TRIES {
            // What stops and what does not is seen from rough velocities.
            is_rough = !stops.is_empty();
            let tolerance = if is_rough { ROUGHLY } else { fine };
            let search = self.better(&system, &mut stops, (before, tolerance), &mut solution);
            (rounds, before) = (rounds + search.rounds, search.start.max(before));
            let is_new = search.rounds > 0 && !stops.is_empty() && {
                let push = self.pushes(&system, &stops, &solution);
                stops.follow(&solution, &push)
            };
            if !(stops.add(find_walls(&solution, false)) || is_new) {
                break;
            }
        }
        for _ in 0..if is_rough { TRIES } else { 0 } {
            rounds += self.better(&system, &mut stops, (before, fine), &mut solution).rounds;
            let push = self.pushes(&system, &stops, &solution);
            if !stops.calm(&solution, &push) {
                break;
            }
        }
        self.end(system, stops, solution, rounds)
    }

    /// Tells what touches gave, and keeps the matrices for the next step.
    fn end(&mut self, system: System, stops: Stops, solution: Vec<Vec3>, rounds: u32) -> End {
        let holding = stops.holds.iter().filter(|hold| !hold.is_open);
        let pushes = holding.map(|hold| (hold.press, hold.push(&solution))).collect();
        let mut given = Vec::new();
        if stops.walls.iter().any(Option::is_some) {
            let push = self.pushes(&system, &stops, &solution);
            given = stops.walls.iter().zip(push).map(|(wall, push)| wall.map(|wall| push + wall.friction())).collect();
        }
        for (member, matrix) in system.members.iter().zip(system.matrices) {
            self.matrices[member.body] = Some(matrix);
        }
        End { velocities: solution, pushes, stops: given, rounds }
    }

    /// Betters velocities of nodes that may move so until they solve a system.
    ///
    /// A matrix has no more than the digits of its diagonal, in which the inertia of a very stiff body is lost. Its elements, of which
    /// none pushes it as a whole, are asked there instead; that takes longer.
    fn better(
        &mut self,
        system: &System,
        stops: &mut Stops,
        (before, tolerance): (f64, f64),
        solution: &mut [Vec3],
    ) -> Search {
        stops.stop(solution);
        let order = system.order();
        let freedom: Vec<Freedom> = order.iter().map(|&node| stops.freedom[node as usize]).collect();
        let holds = by_row(&stops.holds, &order);
        let bodies = system.parts().map(|(member, matrix, rows)| {
            let points = self.points_of(member.body);
            let points = matrix.pattern.order.iter().map(|&node| Vec4::from_array(points[node as usize]).truncate());
            (matrix, rows, points.collect())
        });
        let guide = Guide::new(bodies.collect(), &freedom, &holds);
        // Velocities are not known better than by their rounding.
        let energy: f64 = system
            .parts()
            .flat_map(|(member, _, nodes)| member.masses.iter().zip(&solution[nodes]))
            .map(|(mass, velocity)| f64::from(mass * velocity.length_squared()))
            .sum();
        let least = f64::from(Real::EPSILON).powi(2) * energy;
        let missing = self.pushes(system, stops, solution);
        let left: Vec<Vec3> =
            freedom.iter().zip(&order).map(|(freedom, &node)| freedom.of(-missing[node as usize])).collect();
        // Velocities that are wrong at touches, which are firm, leave so much that a small part of it would still be too much.
        let part = (!holds.is_empty()).then(|| {
            let mut left = left.clone();
            for (hold, by_row) in stops.holds.iter().zip(&holds) {
                let given = hold.pushes(solution);
                by_row.nodes.into_iter().zip(given).for_each(|(row, given)| left[row] -= freedom[row].of(given));
            }
            let mut better = vec![Vec3::ZERO; left.len()];
            guide.multiply(&left, &mut better);
            dot(&left, &better)
        });
        let mut change = vec![Vec3::ZERO; order.len()];
        let (mut room, mut by_node) = (Vec::new(), vec![Vec3::ZERO; order.len()]);
        let multiply = |x: &[Vec3], product: &mut [Vec3]| {
            for (member, matrix, rows) in system.parts() {
                let (freedom, x, product) = (&freedom[rows.clone()], &x[rows.clone()], &mut product[rows.clone()]);
                if !matrix.is_rough {
                    matrix.multiply(freedom, x, product, &mut room);
                    continue;
                }
                let (order, by_node) = (&matrix.pattern.order, &mut by_node[rows]);
                order.iter().zip(x).for_each(|(&node, x)| by_node[node as usize] = *x);
                let found = self.multiply(member, by_node);
                for (row, product) in product.iter_mut().enumerate() {
                    *product = freedom[row].of(found[order[row] as usize]);
                }
            }
            for hold in &holds {
                for (row, push) in hold.nodes.into_iter().zip(hold.resists(hold.nodes.map(|row| x[row]))) {
                    product[row] += freedom[row].of(push);
                }
            }
        };
        let guide = |left: &[Vec3], better: &mut [Vec3]| guide.multiply(left, better);
        let search = Equations { multiply, guide, before, part, least, tolerance }.solve(left, &mut change);
        order.iter().zip(&change).for_each(|(&node, change)| solution[node as usize] += *change);
        if freedom.iter().all(|freedom| *freedom == Freedom::Free) {
            system.keep_momentum(solution);
        }
        search
    }

    /// Momentum that is needed for velocities beside what is known and what touches and friction at walls give, kg m/s.
    fn pushes(&mut self, system: &System, stops: &Stops, velocities: &[Vec3]) -> Vec<Vec3> {
        let mut push = Vec::with_capacity(velocities.len());
        for (member, _, nodes) in system.parts() {
            push.append(&mut self.multiply(member, &velocities[nodes]));
        }
        push.iter_mut().zip(&system.right).for_each(|(push, right)| *push -= *right);
        for (push, wall) in push.iter_mut().zip(&stops.walls) {
            *push -= wall.map_or(Vec3::ZERO, |wall| wall.friction());
        }
        for hold in &stops.holds {
            hold.nodes.into_iter().zip(hold.pushes(velocities)).for_each(|(node, given)| push[node] -= given);
        }
        push
    }

    /// The matrix of a body times velocities, element by element.
    fn multiply(&mut self, member: &Member, velocities: &[Vec3]) -> Vec<Vec3> {
        self.set_in_motion(member.body, velocities);
        self.resist(member.body, member.tetras, &member.matters);
        let (first_node, heavy, stiff) = (self.runs[member.body].nodes.start, member.heavy(), member.stiff());
        parallel::map(velocities.len(), GRAIN * WIDTH, |i| {
            heavy * member.masses[i] * velocities[i] + stiff * self.pull_on(first_node + i)
        })
    }

    /// The matrix of a body; its pattern is the same until nodes part or unite.
    fn take_matrix(&mut self, member: &Member) -> Matrix {
        let Member { body, tetras, matters, .. } = member;
        let first = self.runs[*body].particles.start as u32;
        let mut matrix = self.matrices[*body].take().unwrap_or_else(|| {
            let own = |element: &[u32; 4]| element.map(|node| node.wrapping_sub(first));
            let elements: Vec<[u32; 4]> = tetras.elements.iter().map(own).collect();
            Matrix::new(Pattern::new(member.rest, &elements), tetras.rest.len())
        });
        let find = |pack: usize, out: &mut Blocks| {
            let group = self.group(*body, tetras, matters.states, pack);
            blocks(self.level, &group, matters.matter, &tetras.turns[pack], out);
        };
        matrix.fill(find, member.stiff(), |node| member.heavy() * member.masses[node]);
        matrix
    }
}

/// Touches by rows.
fn by_row(holds: &[Hold], order: &[u32]) -> Vec<Hold> {
    let mut row_of = vec![0; if holds.is_empty() { 0 } else { order.len() }];
    order.iter().zip(0..row_of.len()).for_each(|(&node, row)| row_of[node as usize] = row);
    holds.iter().map(|hold| hold.between(hold.nodes.map(|node| row_of[node]))).collect()
}
