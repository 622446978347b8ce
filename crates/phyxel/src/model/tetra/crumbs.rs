//! Crumbs of very stiff bodies, for implicit steps.
//!
//! A crumb resists changes of its shape millions of times as much as it resists being moved, and what little the large solution leaves
//! of the one is much of the other. In the limit of such stiffness a backward Euler step has a simple end, which is taken instead: the
//! crumb moves as a whole, and is as it would be without stress.

use super::body::Tetras;
use super::matrix::Matrix;
use super::net::Net;
use super::rigid::{Own, Rigid, slow_down};
use super::system::Member;
use super::walls::{Surroundings, Wall};
use crate::particles::Particles;
use glam::{DMat3, DQuat, DVec3, Vec3, Vec4};
use phyxel_laws::elastic::VOIGT;
use phyxel_laws::lanes::WIDTH;
use phyxel_laws::tetra::Element;
use std::ops::Range;

/// Most nodes of a crumb: a ball of two elements across has as many.
const CRUMB: usize = 32;
/// How often walls are looked for: at first, and where a crumb turns to others.
const LOOKS: u32 = 3;
/// How often the walls at a crumb are asked in turn. Each leaves about half of what the others undo.
const SWEEPS: u32 = 16;

impl Member<'_> {
    /// Whether a piece is too small and stiff to be solved for.
    pub fn is_crumb(&self, matrix: &Matrix, piece: &[u32]) -> bool {
        matrix.is_rough && piece.len() <= CRUMB && !piece.iter().any(|&i| self.held(i as usize))
    }
}

impl Tetras {
    /// Whether a node, by its number in the body, is of a crumb.
    pub fn is_of_crumb(&self, node: u32) -> bool {
        let Some(ties) = self.ties.as_ref().filter(|_| self.is_rough) else { return false };
        let mut piece = vec![node];
        let mut seen = 0;
        while seen < piece.len() && piece.len() <= CRUMB {
            let elements = ties.corners(piece[seen]).iter().map(|&corner| ties.elements()[corner as usize / 4]);
            for node in elements.flatten() {
                if !piece.contains(&node) {
                    piece.push(node);
                }
            }
            seen += 1;
        }
        piece.len() <= CRUMB
    }
}

/// A crumb in a step.
pub(super) struct Crumb {
    owns: Vec<Own>,
    dt: f32,
    /// Inertia, kg, and the inverse of that of turns, 1/(kg m2).
    weight: f64,
    ease: DMat3,
    whole: Rigid,
    /// How nodes go to where there is no stress, m/s.
    back: Vec<DVec3>,
    /// What stops nodes, and the momentum that they were given, kg m/s.
    stops: Vec<Option<(Wall, DVec3)>>,
    /// Of nodes, m/s.
    velocities: Vec<DVec3>,
}

impl Crumb {
    /// Nodes among all that are solved for, and their velocities at the end of the step, m/s.
    pub fn velocities(&self) -> impl Iterator<Item = (usize, Vec3)> {
        self.owns.iter().zip(&self.velocities).map(|(own, velocity)| (own.node, velocity.as_vec3()))
    }

    /// Nodes at walls and the momentum that each was given, kg m/s.
    pub fn given(&self) -> impl Iterator<Item = (usize, Vec3)> {
        let stops = self.owns.iter().zip(&self.stops);
        stops.filter_map(|(own, stop)| stop.map(|(_, given)| (own.node, given.as_vec3())))
    }

    /// Takes in walls, by node, that nodes would go into which are at none; whether there are any.
    fn add(&mut self, walls: &[(usize, Wall)]) -> bool {
        let wall_of = |node: usize| Some(walls[walls.binary_search_by_key(&node, |(node, _)| *node).ok()?].1);
        let mut any = false;
        for (own, stop) in self.owns.iter().zip(&mut self.stops).filter(|(_, stop)| stop.is_none()) {
            *stop = wall_of(own.node).map(|wall| (wall, DVec3::ZERO));
            any |= stop.is_some();
        }
        any
    }

    /// Lets walls push, each until its node does as it should, in turn.
    fn stop(&mut self) {
        let count = self.owns.len();
        for k in (0..SWEEPS).flat_map(|_| 0..count) {
            let Some((wall, before)) = self.stops[k] else { continue };
            let normal = wall.normal.as_dvec3();
            let missing = f64::from(wall.speed) - self.beside(k, &wall).dot(normal);
            let along = (before.dot(normal) + missing * self.resistance(k, normal)).max(-f64::from(wall.kept));
            let across = before - normal * before.dot(normal);
            self.push(k, normal * along + across - before);
            let slide = self.beside(k, &wall);
            let slide = slide - normal * slide.dot(normal);
            let most = f64::from(wall.friction.kinetic) * (along + f64::from(wall.kept)).max(0.0);
            let rubbed = across - slide * self.resistance(k, slide.normalize_or_zero());
            let rubbed = rubbed.clamp_length_max(most);
            self.push(k, rubbed - across);
            self.stops[k] = Some((wall, normal * along + rubbed));
        }
        self.settle();
    }

    /// A node relative to its wall, m/s.
    fn beside(&self, k: usize, wall: &Wall) -> DVec3 {
        self.whole.at(self.owns[k].place) + self.back[k] - wall.carried.as_dvec3()
    }

    /// Momentum for each m/s that a node gains along a direction, kg.
    fn resistance(&self, k: usize, along: DVec3) -> f64 {
        let twist = (self.owns[k].place - self.whole.middle).cross(along);
        1.0 / (1.0 / self.weight + twist.dot(self.ease * twist))
    }

    /// Gives momentum at a node, kg m/s.
    fn push(&mut self, k: usize, given: DVec3) {
        self.whole.shift += given / self.weight;
        self.whole.spin += self.ease * (self.owns[k].place - self.whole.middle).cross(given);
    }

    /// Finds the velocities of nodes. One that had to be slowed down is taken off its walls as a whole.
    fn settle(&mut self) {
        let velocity = |(own, back): (&Own, &DVec3)| self.whole.at(own.place) + *back;
        self.velocities = self.owns.iter().zip(&self.back).map(velocity).collect();
        if !slow_down(&self.owns, self.dt, &mut self.velocities) {
            return;
        }
        for (k, stop) in self.stops.iter_mut().enumerate() {
            let Some((wall, given)) = stop else { continue };
            let normal = wall.normal.as_dvec3();
            let missing = f64::from(wall.speed) - (self.velocities[k] - wall.carried.as_dvec3()).dot(normal);
            let shift = normal * missing.max(0.0);
            self.velocities.iter_mut().for_each(|velocity| *velocity += shift);
            *given += self.weight * shift;
        }
    }
}

impl Net {
    /// Finds how the crumbs of bodies end a step, from the velocities of all nodes at its start, m/s.
    pub fn move_crumbs<'a>(
        &self,
        parts: impl Iterator<Item = (&'a Member<'a>, &'a Matrix, Range<usize>)>,
        start: &[Vec3],
        around: &mut Surroundings,
    ) -> Vec<Crumb> {
        let mut crumbs = Vec::new();
        for (member, matrix, nodes) in parts {
            let pieces = matrix.pattern.pieces.iter().filter(|piece| member.is_crumb(matrix, piece));
            crumbs.extend(pieces.map(|piece| self.take_crumb(member, piece, nodes.start)));
        }
        let mut velocities = start.to_vec();
        for _ in 0..if crumbs.is_empty() { 0 } else { LOOKS } {
            let of_crumbs = crumbs.iter().flat_map(Crumb::velocities);
            of_crumbs.for_each(|(node, velocity)| velocities[node] = velocity);
            let walls = around.find_walls(&velocities, false);
            let mut is_done = true;
            for crumb in &mut crumbs {
                if crumb.add(&walls) {
                    crumb.stop();
                    is_done = false;
                }
            }
            if is_done {
                break;
            }
        }
        crumbs
    }

    /// Lets pieces of a very stiff body take as a whole what contacts have given their nodes after the solution, m/s.
    pub fn follow_contacts(&self, body: usize, solved: &[Vec3], particles: &mut Particles) {
        let Some(matrix) = self.matrices[body].as_ref().filter(|matrix| matrix.is_rough) else { return };
        let first = self.runs[body].particles.start;
        let is_changed = |&i: &u32| particles.velocity[first + i as usize] != solved[i as usize];
        let is_held = |&i: &u32| particles.is_held(first + i as usize);
        let pieces = matrix.pattern.pieces.iter();
        let changed = pieces.filter(|piece| piece.iter().any(is_changed) && !piece.iter().any(is_held));
        for piece in changed.collect::<Vec<_>>() {
            let own = |&i: &u32| {
                let node = first + i as usize;
                let (weight, place) = (f64::from(particles.mass[node]), particles.position[node].as_dvec3());
                Own { node, weight, place }
            };
            let owns: Vec<Own> = piece.iter().map(own).collect();
            let given = |(own, &i): (&Own, &u32)| (particles.velocity[own.node] - solved[i as usize]).as_dvec3();
            let given: Vec<DVec3> = owns.iter().zip(piece).map(given).collect();
            let whole = Rigid::new(&owns, &given);
            for (own, &i) in owns.iter().zip(piece) {
                particles.velocity[own.node] = solved[i as usize] + whole.at(own.place).as_vec3();
            }
        }
    }

    /// A crumb before it meets walls.
    fn take_crumb(&self, member: &Member, piece: &[u32], first: usize) -> Crumb {
        let places = self.points_of(member.body);
        let owns: Vec<Own> = member.owns(piece, places, first).collect();
        // Elements neither push it as a whole nor turn it, but for rounding.
        let own_pull = |i: usize| self.pull_on(self.runs[member.body].nodes.start + i);
        let right = |i: usize| (member.right(i) - own_pull(i) * member.dt).as_dvec3();
        let free: Vec<DVec3> = piece.iter().zip(&owns).map(|(&i, own)| right(i as usize) / own.weight).collect();
        let whole = Rigid::new(&owns, &free);
        // Nor is it turned on its way back.
        let ways: Vec<DVec3> = piece.iter().map(|&i| self.way_back(member, i as usize)).collect();
        let turned = Rigid::new(&owns, &ways);
        let back = owns.iter().zip(&ways).map(|(own, way)| (*way - turned.at(own.place)) / f64::from(member.dt));
        let mut back: Vec<DVec3> = back.collect();
        slow_down(&owns, member.dt, &mut back);
        let mut crumb = Crumb {
            weight: owns.iter().map(|own| own.weight).sum(),
            ease: whole.ease(&owns),
            stops: vec![None; owns.len()],
            velocities: Vec::new(),
            dt: member.dt,
            owns,
            whole,
            back,
        };
        crumb.settle();
        crumb
    }

    /// How far a node is from where its elements would have it, m, the mean by volume: each would be without stress about its middle.
    fn way_back(&self, member: &Member, node: usize) -> DVec3 {
        let run = &self.runs[member.body];
        let (mut sum, mut volumes) = (DVec3::ZERO, 0.0);
        for &place in self.corners_of(run.nodes.start + node) {
            let (pack, corner, lane) =
                (place as usize / 32 - run.packs.start, place as usize / WIDTH % 4, place as usize % WIDTH);
            let element = WIDTH * pack + lane;
            let rest = member.tetras.element(element);
            let [b, c, d] = rest.gradients.map(Vec3::as_dvec3);
            let edges = DMat3::from_cols(b, c, d).transpose().inverse();
            let corners = [DVec3::ZERO, edges.x_axis, edges.y_axis, edges.z_axis];
            let middle = 0.25 * corners.iter().sum::<DVec3>();
            let volume = f64::from(rest.volume);
            sum -= volume * (self.strain(member, element, &rest) * (corners[corner] - middle));
            volumes += volume;
        }
        sum / volumes.max(f64::MIN_POSITIVE)
    }

    /// How an element is strained elastically: from moves at rest to moves as it lies.
    fn strain(&self, member: &Member, element: usize, rest: &Element) -> DMat3 {
        let (pack, lane) = (element / WIDTH, element % WIDTH);
        let points = self.points_of(member.body);
        let first = self.runs[member.body].particles.start;
        let corners = member.tetras.elements[element]
            .map(|node| Vec4::from_array(points[node as usize - first]).truncate().as_dvec3());
        let slope = rest.deformation(corners);
        let [x, y, z, w] = member.tetras.turns[pack].map(|part| f64::from(part[lane]));
        let turn = DMat3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize());
        let stretch = turn.transpose() * slope;
        let mut elastic = 0.5 * (stretch + stretch.transpose()) - DMat3::IDENTITY;
        if let Some(state) = member.matters.states.get(pack) {
            elastic -= DMat3::from_diagonal(DVec3::splat(state.swelling[lane].into()));
            for (plastic, (i, j)) in state.plastic.iter().zip(VOIGT) {
                let plastic = f64::from(plastic[lane]);
                elastic.col_mut(i)[j] -= plastic;
                elastic.col_mut(j)[i] -= if i == j { 0.0 } else { plastic };
            }
        }
        turn * elastic
    }
}
