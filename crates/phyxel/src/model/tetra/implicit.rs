//! Backward Euler: velocities at the end of a step, by conjugate gradients.
//!
//! `(M + dt a M + (dt^2 + dt b) K) v' = M v + dt (f + M g)` with the stiffness `K` of the rotations at the start of the step, which is
//! symmetric and positive whatever the stress, and Rayleigh's damping `a`, `b`. Bodies that press on each other are one such system, to
//! which each touch adds a firm resistance.

use super::clusters::{Guide, Layout, Seeing, Small, parts_of};
use super::couples::Couples;
use super::crumbs::Crumb;
use super::holds::{By, Hold, weights};
use super::matrix::Matrix;
use super::net::{GRAIN, Net};
use super::pattern::Pattern;
use super::stops::Stops;
use super::system::{Member, System, find_groups};
use super::touches::Touches;
use super::walls::{Freedom, Surroundings};
use crate::Real;
use crate::model::gradients::{Equations, Groups, Solved, TOLERANCE};
use crate::parallel;
use glam::{Vec3, Vec4};
use phyxel_laws::lanes::WIDTH;
use phyxel_laws::tetra::{CornerVectors, Modes, corner_vectors};
use std::ops::Range;

/// How often velocities are looked for with walls and other bodies at most.
const TRIES: u32 = 40;
/// Part of what there was that may be left while it is not yet known what stops.
const ROUGHLY: f64 = 0.1;
/// Part of what there was that may be left where bodies press on each other.
const TOUCHING: f64 = 1e-3;
/// Part of how energy falls at the start of a way by which it may rise or fall at its end.
const ENOUGH: f64 = 0.1;
/// Part of the most that there was, below which it does not matter that energy is other than foreseen.
const LITTLE: f64 = 1e-3;
/// Rows of matrices per task.
const ROWS: usize = 512;
/// Touches per task.
const TOUCHES: usize = 256;
/// How often a way is halved to find where energy is least.
const HALVES: u32 = 12;

/// What a step ends with; nodes are those of all members, one after the other.
pub(super) struct End {
    pub velocities: Vec<Vec3>,
    /// Presses and the momentum that each gave its node, kg m/s.
    pub pushes: Vec<(usize, Vec3)>,
    /// Nodes at walls and the momentum that each was given, kg m/s.
    pub stops: Vec<(usize, Vec3)>,
    pub rounds: u32,
}

impl Net {
    /// Velocities at the end of a step from where [`place`](Self::place) has put the nodes; those that are held stay as they are.
    ///
    /// Nodes that are in other members are told by `find_holds`, from how much nodes resist changes of their velocities, kg; they are pushed
    /// out. So are those that would go into a wall. (Left to contact alone, the lightest nodes would carry the body by going far ahead of it.)
    ///
    /// What is held has an energy with one least value, whatever touches and whatever does not, to which each search comes nearer. First, walls
    /// push as firmly as bodies do, which shows fast what touches; last, they are hard.
    pub fn solve(
        &mut self,
        members: &[Member],
        find_holds: impl FnOnce(&[Real]) -> Vec<Hold>,
        around: &mut Surroundings,
    ) -> End {
        let matrices: Vec<Matrix> = members.iter().map(|member| self.take_matrix(member)).collect();
        let layouts = members.iter().zip(&matrices).map(|(member, matrix)| {
            let points = self.points_of(member.body);
            let points = matrix.pattern.order.iter().map(|&node| Vec4::from_array(points[node as usize]).truncate());
            Layout::new(matrix, &points.collect::<Vec<Vec3>>())
        });
        let layouts = layouts.collect();
        let mut count = 0;
        let nodes = members.iter().map(|member| {
            let first = count;
            count += member.masses.len();
            first..count
        });
        let nodes: Vec<Range<usize>> = nodes.collect();
        let all = || members.iter().flat_map(|member| (0..member.masses.len()).map(move |i| (member, i)));
        let mut start: Vec<Vec3> = all().map(|(member, i)| member.velocities[i]).collect();
        let order = matrices
            .iter()
            .zip(&nodes)
            .flat_map(|(matrix, nodes)| matrix.pattern.order.iter().map(move |&node| nodes.start as u32 + node));
        let mut system = System {
            members,
            order: order.collect(),
            weights: matrices.iter().flat_map(weights).collect(),
            masses: all().map(|(member, i)| member.heavy() * member.masses[i]).collect(),
            right: all().map(|(member, i)| member.right(i)).collect(),
            first: Vec::new(),
            first_left: Vec::new(),
            pieces: Vec::new(),
            groups: Groups::ONE,
            tolerance: TOLERANCE,
            layouts,
            matrices,
            nodes,
        };
        let mut is_held: Vec<bool> = all().map(|(member, i)| member.held(i)).collect();
        let any_held = is_held.contains(&true);
        let mut holds = find_holds(&system.weights);
        // Crumbs are known before the others are solved for.
        let crumbs = self.move_crumbs(system.parts(), &start, around);
        let mut is_crumb = vec![false; count];
        let of_crumbs = || crumbs.iter().flat_map(Crumb::velocities);
        of_crumbs().for_each(|(node, _)| (is_held[node], is_crumb[node]) = (true, true));
        let (piece_of, pieces) = system.find_pieces();
        holds.retain(|hold| {
            let [node, face] = [hold.nodes[0], hold.nodes[1]];
            !hold.nodes.iter().any(|&node| is_crumb[node])
                && (piece_of[node] != piece_of[face])
                && system.may_press([node, face])
        });
        system.groups = find_groups(&holds, piece_of, pieces);
        let couples = Couples::new(&holds, &system.masses);
        couples.hold(&mut is_held);
        couples.average(&mut start);
        let mut stops = Stops { holds, walls: vec![None; count], is_held, are_hard: false };
        system.tolerance = if stops.any_touches() { TOUCHING } else { TOLERANCE };
        stops.add(around.find_walls(&start, true), |node| system.resistance(node));
        // What lies on something does not fall, nor does what is held; a guess that tears at it would have to be solved the better.
        let lies = any_held || stops.any_touches();
        let fall =
            members.first().map_or(Vec3::ZERO, |member| if lies { Vec3::ZERO } else { member.gravity * member.dt });
        let mut solution: Vec<Vec3> = start.into_iter().map(|velocity| velocity + fall).collect();
        of_crumbs().for_each(|(node, velocity)| solution[node] = velocity);
        let product = self.product(&system, &solution);
        let left: Vec<Vec3> = system.right.iter().zip(product).map(|(right, product)| *right - product).collect();
        (system.first, system.first_left) = (system.in_rows(&solution), system.in_rows(&left));
        system.pieces = self.pieces_of(system.parts());
        let mut search = Search { stops, seeing: None, most: Vec::new(), is_off: false };
        let mut rounds = self.settle(&system, &mut search, around, &mut solution);
        if search.stops.any_touches() {
            search.stops.harden();
            rounds += self.settle(&system, &mut search, around, &mut solution);
        }
        let mut end = self.end(system, &search.stops, solution, rounds);
        end.stops.extend(crumbs.iter().flat_map(Crumb::given));
        end
    }

    /// Betters velocities until they change nothing of what stops; how many rounds that takes.
    fn settle(
        &mut self,
        system: &System,
        search: &mut Search,
        around: &mut Surroundings,
        solution: &mut [Vec3],
    ) -> u32 {
        let mut rounds = 0;
        for _ in 0..TRIES {
            rounds += self.better(system, search, solution);
            let stops = &mut search.stops;
            let is_new = stops.let_go(solution, &system.groups);
            let slides = stops.slide(solution, &system.groups);
            let is_stopped = stops.add(around.find_walls(solution, false), |node| system.resistance(node));
            if !(search.is_off || is_new || is_stopped || slides) {
                break;
            }
        }
        rounds
    }

    /// Tells what touches gave, and keeps the matrices for the next step.
    fn end(&mut self, system: System, stops: &Stops, solution: Vec<Vec3>, rounds: u32) -> End {
        let (mut pushes, mut given) = (Vec::new(), Vec::new());
        for hold in stops.holds.iter().filter(|hold| !hold.is_open) {
            let push = hold.push(&solution);
            match hold.by {
                By::Press(press) => pushes.push((press, push)),
                By::Wall => given.push((hold.nodes[0], push)),
                By::Tie => (),
            }
        }
        for (member, matrix) in system.members.iter().zip(system.matrices) {
            self.matrices[member.body] = Some(matrix);
        }
        End { velocities: solution, pushes, stops: given, rounds }
    }

    /// Betters velocities of nodes that may move so until they solve a system, as far as what holds stays as it is.
    fn better(&mut self, system: &System, search: &mut Search, solution: &mut [Vec3]) -> u32 {
        // What stops and what does not is seen from rough velocities.
        let is_rough = !search.stops.are_hard && search.stops.any_touches();
        let tolerance = if is_rough { ROUGHLY } else { system.tolerance };
        let Search { stops, seeing, most, is_off } = search;
        stops.holds.iter_mut().for_each(|hold| hold.linearise(solution, *is_off));
        let order = &system.order;
        let free = |node: usize| if stops.is_held[node] { Freedom::Held } else { Freedom::Free };
        let freedom: Vec<Freedom> = order.iter().map(|&node| free(node as usize)).collect();
        let holds = by_row(&stops.holds, order);
        let touches = Touches::new(holds.iter().filter(|hold| !hold.is_open).copied().collect(), order.len());
        let bodies = system.parts().zip(&system.layouts).map(|((_, matrix, rows), layout)| (matrix, rows, layout));
        let bodies = parts_of(bodies);
        let at_wall = |node: usize| stops.walls[node].map(|k| stops.holds[k].freedom()).filter(|_| stops.are_hard);
        let rigid = freedom.iter().zip(order).map(|(free, &node)| at_wall(node as usize).unwrap_or(*free));
        let groups = system.groups.in_order(order);
        let start = system.in_rows(solution);
        // Much of the small system is for one thread alone.
        let (small, (mut left, work)) = parallel::both(
            || Small::new(&bodies, rigid.collect(), &touches, seeing),
            || self.find_left(system, (&freedom, &touches), &start),
        );
        let guide = Guide::new(&bodies, &small, &freedom, &touches);
        let couples = Couples::new(&touches.holds, &system.in_rows(&system.weights));
        couples.even(&mut left);
        let first = left.clone();
        let mut change = vec![Vec3::ZERO; order.len()];
        let mut room = Room::default();
        let multiply = |x: &[Vec3], product: &mut [Vec3]| {
            self.multiply_all(system, (&freedom, Some(&touches)), x, product, &mut room);
            couples.even(product);
        };
        let guide = |left: &[Vec3], better: &mut [Vec3]| couples.guide(left, better, |l, b| guide.multiply(l, b));
        // All searches with hard walls come to the same measure, those too that have little left to do.
        let before = if stops.are_hard { larger(&work, most) } else { work };
        let least = system.rounding(solution);
        let equations = Equations { multiply, guide, groups: groups.clone(), before, least, tolerance };
        let Solved { rounds, most: there_was } = equations.solve(left, &mut change);
        *most = if stops.are_hard { there_was } else { Vec::new() };
        let mut ways = vec![Way { part: 1.0, is_off: false }; groups.count()];
        if !holds.is_empty() {
            let mut product = vec![Vec3::ZERO; order.len()];
            self.multiply_all(system, (&freedom, None), &change, &mut product, &mut room);
            let (starts, mores) = (groups.dots(&first, &change), groups.dots(&change, &product));
            ways = how_far(&holds, (&start, &change), &groups, [&starts, &mores]);
            let matters = |group: usize| starts[group] > LITTLE * most.get(group).copied().unwrap_or(0.0);
            *is_off = (0..).zip(&ways).any(|(group, way)| way.is_off && matters(group));
        }
        for (row, (&node, change)) in order.iter().zip(&change).enumerate() {
            solution[node as usize] += *change * ways[groups.of(row)].part;
        }
        system.keep_momentum(stops, solution);
        rounds
    }

    /// What is left of the right side at these velocities, by rows, for nodes that are free so far, and the work of what has changed since the first, by
    /// group, J.
    fn find_left(
        &mut self,
        system: &System,
        (freedom, touches): (&[Freedom], &Touches),
        velocities: &[Vec3],
    ) -> (Vec<Vec3>, Vec<f64>) {
        let done: Vec<Vec3> = velocities.iter().zip(&system.first).map(|(now, first)| *now - *first).collect();
        let mut product = vec![Vec3::ZERO; done.len()];
        self.multiply_all(system, (freedom, None), &done, &mut product, &mut Room::default());
        let pushes = touches.pushes(velocities);
        let left = parallel::map(done.len(), ROWS, |row| {
            freedom[row].of(system.first_left[row] + touches.felt_by(row, &pushes) - product[row])
        });
        (left, system.groups.in_order(&system.order).dots(&done, &product))
    }

    /// The matrices of all bodies times velocities, element by element.
    fn product(&mut self, system: &System, velocities: &[Vec3]) -> Vec<Vec3> {
        system
            .parts()
            .flat_map(|(member, matrix, nodes)| self.multiply((member, matrix.is_rough), &velocities[nodes]))
            .collect()
    }

    /// The matrices of all bodies times moves of nodes that are free so far, by rows, and what touches resist these moves with.
    ///
    /// A matrix has no more than the digits of its diagonal, in which the inertia of a very stiff body is lost. Its elements, of which
    /// none pushes it as a whole, are asked there instead; that takes longer.
    fn multiply_all(
        &mut self,
        system: &System,
        (freedom, touches): (&[Freedom], Option<&Touches>),
        moves: &[Vec3],
        product: &mut [Vec3],
        room: &mut Room,
    ) {
        let level = self.level;
        let smooth = || system.parts().filter(|(_, matrix, _)| !matrix.is_rough);
        room.sums.resize(smooth().map(|(_, matrix, _)| matrix.sums()).sum(), [0.0; 4]);
        let (mut tasks, mut rest) = (Vec::new(), &mut room.sums[..]);
        for (_, matrix, rows) in smooth() {
            let own;
            (own, rest) = std::mem::take(&mut rest).split_at_mut(matrix.sums());
            tasks.extend(matrix.tasks(&moves[rows], own));
        }
        parallel::for_each_item(tasks, |task| task.run(level));
        let resist = touches.map(|touches| (touches, touches.resist(moves)));
        let felt_by = |row: usize| resist.as_ref().map_or(Vec3::ZERO, |(touches, given)| touches.felt_by(row, given));
        let (mut tasks, mut rest, mut sums) = (Vec::new(), &mut *product, &room.sums[..]);
        for (_, matrix, rows) in system.parts() {
            let (own, own_sums);
            (own, rest) = std::mem::take(&mut rest).split_at_mut(rows.len());
            if !matrix.is_rough {
                (own_sums, sums) = sums.split_at(matrix.sums());
                let chunks = own.chunks_mut(ROWS).enumerate();
                tasks.extend(chunks.map(|(k, product)| (matrix, rows.clone(), own_sums, ROWS * k, product)));
            }
        }
        parallel::for_each_item(tasks, |(matrix, rows, sums, first, product)| {
            for (row, product) in (first..).zip(product) {
                let of_body = matrix.gather(row, &moves[rows.clone()], sums);
                let row = rows.start + row;
                *product = freedom[row].of(of_body + felt_by(row));
            }
        });
        for (member, matrix, rows) in system.parts().filter(|(_, matrix, _)| matrix.is_rough) {
            let order = &matrix.pattern.order;
            room.by_node.resize(order.len(), Vec3::ZERO);
            order.iter().zip(&moves[rows.clone()]).for_each(|(&node, x)| room.by_node[node as usize] = *x);
            let found = self.multiply((member, true), &room.by_node);
            for (row, &node) in rows.zip(order) {
                product[row] = freedom[row].of(found[node as usize] + felt_by(row));
            }
        }
    }

    /// The matrix of a body times velocities, element by element; where it is rough, by how stretches change.
    fn multiply(&mut self, (member, is_rough): (&Member, bool), velocities: &[Vec3]) -> Vec<Vec3> {
        self.set_in_motion(member.body, velocities);
        self.resist(member.body, member.tetras, &member.matters, is_rough);
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
            Matrix::new(Pattern::new(member.rest, &elements))
        });
        let modes = Modes::new(&matters.matter.hooke);
        let find = |[mode, pack]: [usize; 2], out: &mut CornerVectors| {
            let group = self.group(*body, tetras, matters.states, pack);
            corner_vectors(self.level, &group, &modes, mode, &tetras.turns[pack], out);
        };
        matrix.fill((&modes, tetras.rest.len()), find, member.stiff(), |node| member.heavy() * member.masses[node]);
        matrix
    }
}

/// Room for copies.
#[derive(Default)]
struct Room {
    sums: Vec<[f32; 4]>,
    by_node: Vec<Vec3>,
}

/// What searches of a step hand on to each other.
struct Search {
    stops: Stops,
    seeing: Option<Seeing>,
    /// The most that was left of the right side when any of them began that knew hard walls, by group: what may be left at last is a part of it.
    most: Vec<f64>,
    /// Whether energy was other than foreseen on the way that the last of them found: touches began or ended on it, or slid another way.
    is_off: bool,
}

/// The larger ones, where there are others.
fn larger(these: &[f64], others: &[f64]) -> Vec<f64> {
    let other = |k: usize| others.get(k).copied().unwrap_or(0.0);
    these.iter().enumerate().map(|(k, one)| one.max(other(k))).collect()
}

/// What is gone of a way.
#[derive(Clone, Copy, Debug)]
struct Way {
    part: Real,
    /// Whether energy was other than foreseen there.
    is_off: bool,
}

/// Which part of a way each group has to go, so that energy falls all along it: it falls by the first of these for each part at first, and
/// by the second less for each part after that, beside what touches that begin and end add, J.
fn how_far(holds: &[Hold], way: (&[Vec3], &[Vec3]), groups: &Groups, [falls, mores]: [&[f64]; 2]) -> Vec<Way> {
    let mut by_group: Vec<Vec<&Hold>> = vec![Vec::new(); groups.count()];
    holds.iter().for_each(|hold| by_group[groups.of(hold.nodes[0])].push(hold));
    let part = |(group, holds): (usize, Vec<&Hold>)| {
        let slope = |part: Real| {
            let touches: f64 =
                parallel::map(holds.len(), TOUCHES, |k| f64::from(holds[k].slope(way, part))).iter().sum();
            f64::from(part) * mores[group] - falls[group] + touches
        };
        // What is not yet held as it should be says nothing of energy.
        let (end, enough) = (slope(1.0), ENOUGH * falls[group]);
        if end <= enough || !holds.iter().all(|hold| hold.is_right(way.0)) {
            return Way { part: 1.0, is_off: end.abs() > enough };
        }
        let mut part = [0.0, 1.0];
        for _ in 0..HALVES {
            let middle = 0.5 * (part[0] + part[1]);
            part[usize::from(slope(middle) > 0.0)] = middle;
        }
        Way { part: part[1], is_off: true }
    };
    by_group.into_iter().enumerate().map(part).collect()
}

/// Touches by rows.
fn by_row(holds: &[Hold], order: &[u32]) -> Vec<Hold> {
    let mut row_of = vec![0; if holds.is_empty() { 0 } else { order.len() }];
    order.iter().zip(0..row_of.len()).for_each(|(&node, row)| row_of[node as usize] = row);
    holds.iter().map(|hold| hold.between(hold.nodes.map(|node| row_of[node]))).collect()
}
