//! Bodies that implicit steps solve for together, and what is known of them before that.

use super::body::Tetras;
use super::clusters::Layout;
use super::holds::{By, Hold};
use super::matrix::Matrix;
use super::net::{Matters, Net};
use super::rigid::{Own, Rigid, slow_down};
use super::stops::Stops;
use crate::Real;
use crate::model::Parts;
use crate::model::gradients::Groups;
use crate::particles::Flags;
use glam::{DVec3, Vec3, Vec4};
use std::ops::Range;

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
    pub fn held(&self, i: usize) -> bool {
        self.flags[i].has(Flags::HELD)
    }

    /// What stiffness is multiplied with, s2.
    pub fn stiff(&self) -> Real {
        self.dt * (self.dt + self.matters.matter.damping)
    }

    /// What masses are multiplied with.
    pub fn heavy(&self) -> Real {
        1.0 + self.dt * self.drag
    }

    /// Nodes of a piece with places, which are all of the body, m; the first of the body has this number.
    pub fn owns(&self, piece: &[u32], places: &[[f32; 4]], first: usize) -> impl Iterator<Item = Own> {
        piece.iter().map(move |&i| {
            let weight = f64::from(self.heavy() * self.masses[i as usize]);
            let place = Vec4::from_array(places[i as usize]).truncate().as_dvec3();
            Own { node: first + i as usize, weight, place }
        })
    }

    /// Momentum that is known, kg m/s.
    pub fn right(&self, i: usize) -> Vec3 {
        self.masses[i] * (self.velocities[i] + self.gravity * self.dt) + self.forces[i] * self.dt
    }
}

/// A system of bodies.
pub(super) struct System<'a> {
    pub members: &'a [Member<'a>],
    pub matrices: Vec<Matrix>,
    pub layouts: Vec<Layout>,
    /// Nodes of each member among all.
    pub nodes: Vec<Range<usize>>,
    /// Nodes in the order of rows.
    pub order: Vec<u32>,
    /// How nodes resist changes of their velocities, with what they are part of and alone, kg.
    pub weights: Vec<Real>,
    pub masses: Vec<Real>,
    pub right: Vec<Vec3>,
    /// Velocities that the search begins with, and what is left of the right side then, by row.
    pub first: Vec<Vec3>,
    pub first_left: Vec<Vec3>,
    /// Those that are no crumbs.
    pub pieces: Vec<Piece>,
    /// Nodes of pieces that do not touch each other.
    pub groups: Groups,
    /// Part of what there was that may be left at last.
    pub tolerance: f64,
}

impl System<'_> {
    pub fn parts(&self) -> impl Iterator<Item = (&Member<'_>, &Matrix, Range<usize>)> {
        self.members
            .iter()
            .zip(&self.matrices)
            .zip(&self.nodes)
            .map(|((member, matrix), nodes)| (member, matrix, nodes.clone()))
    }

    /// How a node resists changes of its velocity, with what it is part of and alone, kg.
    pub fn resistance(&self, node: usize) -> [Real; 2] {
        [self.weights[node], self.masses[node]]
    }

    /// What nodes have, by row.
    pub fn in_rows<T: Copy>(&self, of: &[T]) -> Vec<T> {
        self.order.iter().map(|&node| of[node as usize]).collect()
    }

    /// Velocities are not known better than by their rounding; what that takes, J.
    pub fn rounding(&self, velocities: &[Vec3]) -> Vec<f64> {
        let momentum: Vec<Vec3> =
            self.masses.iter().zip(velocities).map(|(mass, velocity)| *velocity * *mass).collect();
        let energy = self.groups.dots(&momentum, velocities);
        energy.into_iter().map(|energy| f64::from(Real::EPSILON).powi(2) * energy).collect()
    }

    /// The piece that each node is of, and how many there are.
    pub fn find_pieces(&self) -> (Vec<u32>, usize) {
        let mut piece_of = vec![0u32; self.right.len()];
        let mut count = 0;
        for (_, matrix, nodes) in self.parts() {
            for piece in &matrix.pattern.pieces {
                piece.iter().for_each(|&i| piece_of[nodes.start + i as usize] = count);
                count += 1;
            }
        }
        (piece_of, count as usize)
    }

    /// Whether nodes of two pieces push each other in the solution. Pieces of one body do so only if it is very stiff; others do so after it:
    /// where a crack has just opened, which way is out is not known well enough.
    pub fn may_press(&self, nodes: [usize; 2]) -> bool {
        let [a, b] = nodes.map(|node| self.nodes.partition_point(|own| own.end <= node));
        a != b || self.matrices[a].is_rough
    }

    /// Lets pieces that nothing holds have the momentum and the spin that they should have, and all that touch each other together the
    /// momentum, unless walls hold them: neither elements nor touches push as a whole, whatever is left of the right side. (What is left is
    /// little beside the work of the whole body; a crumb of it may be far lighter.)
    ///
    /// Nodes go straight during a step. A piece that would turn by more than half a radian would be torn wide by that, and a crumb that is struck may
    /// be faster than its own size in a step; they are slowed.
    pub fn keep_momentum(&self, stops: &Stops, velocities: &mut [Vec3]) {
        let mut is_held = stops.is_held.clone();
        let mut touches = is_held.clone();
        for hold in stops.holds.iter().filter(|hold| !hold.is_open) {
            hold.nodes.iter().for_each(|&node| touches[node] = true);
            is_held[hold.nodes[0]] |= hold.by == By::Wall;
        }
        let missing = |own: &Own, velocity: DVec3| self.right[own.node].as_dvec3() / own.weight - velocity;
        let mut touching = Vec::new();
        for Piece { owns, dt, is_held } in &self.pieces {
            let is_free = !owns.iter().any(|own| touches[own.node]);
            let mut own_velocities: Vec<DVec3> = owns.iter().map(|own| velocities[own.node].as_dvec3()).collect();
            if is_free {
                let missing = owns.iter().zip(&own_velocities).map(|(own, velocity)| missing(own, *velocity));
                let rigid = Rigid::new(owns, &missing.collect::<Vec<DVec3>>());
                owns.iter().zip(&mut own_velocities).for_each(|(own, velocity)| *velocity += rigid.at(own.place));
            }
            let is_slowed = !is_held && slow_down(owns, *dt, &mut own_velocities);
            if is_free || is_slowed {
                owns.iter().zip(own_velocities).for_each(|(own, velocity)| velocities[own.node] = velocity.as_vec3());
            }
            if is_slowed {
                // Walls take it as a whole then.
                for hold in owns.iter().filter_map(|own| Some(&stops.holds[stops.walls[own.node]?])) {
                    let shift = hold.shortfall(velocities);
                    owns.iter().for_each(|own| velocities[own.node] += shift);
                }
            }
            if !is_free {
                touching.extend(owns);
            }
        }
        if !touching.iter().any(|own| is_held[own.node]) {
            let given = touching.iter().map(|own| own.weight * missing(own, velocities[own.node].as_dvec3()));
            let weight = touching.iter().map(|own| own.weight).sum::<f64>().max(f64::MIN_POSITIVE);
            let shift = (given.sum::<DVec3>() / weight).as_vec3();
            touching.iter().for_each(|own| velocities[own.node] += shift);
        }
    }
}

/// Nodes of a body that hang together.
pub(super) struct Piece {
    owns: Vec<Own>,
    /// Length of the step, s.
    dt: Real,
    /// Whether any of them may not move.
    is_held: bool,
}

/// Finds which nodes know nothing of each other: those of pieces that nothing holds together.
pub(super) fn find_groups(holds: &[Hold], piece_of: Vec<u32>, count: usize) -> Groups {
    let mut parts = Parts::new(count);
    for hold in holds.iter().filter(|hold| hold.by != By::Wall) {
        hold.nodes.iter().for_each(|&node| parts.unite([piece_of[hold.nodes[0]], piece_of[node]]));
    }
    let roots: Vec<u32> = (0..count as u32).map(|piece| parts.root(piece)).collect();
    let mut numbers = vec![0; count];
    let own = roots.iter().enumerate().filter(|(piece, root)| **root as usize == *piece);
    let groups = own.zip(0..).map(|((piece, _), number)| numbers[piece] = number).count();
    Groups::new(piece_of.into_iter().map(|piece| numbers[roots[piece as usize] as usize]).collect(), groups)
}

impl Net {
    /// Pieces of bodies that are no crumbs.
    pub fn pieces_of<'a>(&self, parts: impl Iterator<Item = (&'a Member<'a>, &'a Matrix, Range<usize>)>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (member, matrix, nodes) in parts {
            let points = self.points_of(member.body);
            let own = matrix.pattern.pieces.iter().filter(|piece| !member.is_crumb(matrix, piece));
            pieces.extend(own.map(|piece| Piece {
                owns: member.owns(piece, points, nodes.start).collect(),
                dt: member.dt,
                is_held: piece.iter().any(|&i| member.held(i as usize)),
            }));
        }
        pieces
    }
}
