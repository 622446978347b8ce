//! Nodes that part where matter is pulled harder than it bears `[Gis07]`.
//!
//! What holds a corner is known when elements have exerted their forces; nodes part at the end of the step, all at once.

use super::body::Tetras;
use super::net::Net;
use super::{Derived, TetraModel};
use crate::Real;
use crate::body::Body;
use crate::material::Material;
use crate::parallel;
use crate::particles::{Flags, Particle, Particles};
use glam::{Mat3, Vec3};
use phyxel_laws::lanes::WIDTH;
use phyxel_laws::symmetric::eigen;
use phyxel_laws::tetra::{Change, Held, Net as Ties, Note, part};
use std::ops::Range;

/// Nodes per task.
const GRAIN: usize = 512;

/// A node that parts.
#[derive(Clone, Debug)]
pub(super) struct Parting {
    /// Its number in the body.
    node: u32,
    /// The group of each of its corners, in the order of elements.
    groups: Vec<u32>,
    /// Constraint force over strength of the corner that is pulled hardest.
    excess: Real,
}

/// What elements of a body feel.
pub(super) struct Loads<'a> {
    pub body: usize,
    pub net: &'a Net,
    pub tetras: &'a Tetras,
    pub material: &'a Material,
    pub particles: &'a Particles,
    /// What elements noted of the step.
    pub notes: &'a [Note],
    /// No stress is larger than this times the strain, Pa.
    pub stiffest: Real,
}

/// A corner with its element, in its body.
#[derive(Clone, Copy)]
struct Corner {
    element: usize,
    /// What it feels of its element, N.
    pull: Vec3,
    /// What it gets from the others so that it moves as the node does, N.
    constraint: Vec3,
}

impl Tetras {
    /// Whether its matter breaks at all.
    pub fn may_break(&self, material: &Material) -> bool {
        self.settings.strength_force.is_some() || material.strength.is_some()
    }

    /// Which corners are tied at which node, by the numbers of nodes in the body, whose particles are `run`.
    ///
    /// Whoever added the body has seen that its elements make a net, and all changes leave it one.
    pub fn find_ties(&self, run: Range<usize>) -> Ties {
        let first = run.start as u32;
        let elements = self.elements.iter().map(|nodes| nodes.map(|node| node - first)).collect();
        Ties::new(elements, run.len()).unwrap_or_default()
    }

    /// Nodes that part if elements on different sides of a plane do, by their middles at rest.
    fn find_cut(&mut self, run: Range<usize>, particles: &Particles, [point, normal]: [Vec3; 2]) -> Vec<Parting> {
        let is_beyond = |element: &[u32; 4]| {
            let middle = 0.25 * element.iter().map(|&node| particles.rest[node as usize]).sum::<Vec3>();
            u32::from((middle - point).dot(normal) > 0.0)
        };
        let sides: Vec<u32> = self.elements.iter().map(is_beyond).collect();
        self.know_surface(run);
        let Some(ties) = &self.ties else { return Vec::new() };
        let partings = (0..ties.nodes() as u32).map(|node| {
            let groups = ties.corners(node).iter().map(|&corner| sides[corner as usize / 4]).collect();
            Parting { node, groups, excess: 0.0 }
        });
        partings.filter(|parting| parting.groups.iter().any(|side| *side != parting.groups[0])).collect()
    }

    /// Parts nodes. Returns the node that each new one comes from.
    fn part_nodes(&mut self, run: Range<usize>, partings: &[Parting]) -> Vec<u32> {
        let count = run.len() as u32;
        self.know_surface(run);
        let Some(ties) = &mut self.ties else { return Vec::new() };
        let mut parents = Vec::new();
        let mut all = Change::default();
        for Parting { node, groups, .. } in partings {
            // Groups are those of the corners that the node has.
            let Ok(mut change) = ties.split(*node, groups) else { continue };
            parents.resize(parents.len() + change.born.len(), *node);
            all.bared.append(&mut change.bared);
        }
        all.bared.sort_unstable();
        for (node, born) in ties.part_beside(&all) {
            let parent = if node < count { node } else { parents[(node - count) as usize] };
            parents.resize(parents.len() + born.len(), parent);
        }
        self.outside = None;
        self.broken += parents.len() as u64;
        parents
    }
}

impl Loads<'_> {
    /// Finds nodes that part. Of neighbours only the one that is pulled hardest does: what it lets go of unloads the others, and
    /// they need a step to learn of it.
    pub fn find_partings(&self) -> Vec<Parting> {
        let count = self.net.runs[self.body].particles.len();
        let strained = self.find_strained();
        if self.tetras.settings.strength_force.is_none() && !strained.contains(&true) {
            return Vec::new();
        }
        let find = |node: usize| match self.tetras.settings.strength_force {
            Some(force) => self.part_by_force(node, force),
            None => self.part_by_stress(node, &strained),
        };
        let found = parallel::map_ranges(count, GRAIN, |nodes| nodes.filter_map(find).collect::<Vec<Parting>>());
        let mut found = found.concat();
        if found.is_empty() {
            return found;
        }
        let mut excess = vec![0.0; count];
        found.iter().for_each(|parting| excess[parting.node as usize] = parting.excess);
        let first = self.net.runs[self.body].particles.start as u32;
        found.retain(|parting| {
            let mine = (parting.excess, std::cmp::Reverse(parting.node));
            let elements = self.places(parting.node as usize).map(|(element, _)| self.tetras.elements[element]);
            let near = elements.flat_map(|nodes| nodes.map(|node| node - first));
            let mut rivals = near.filter(|&node| node != parting.node);
            rivals.all(|node| (excess[node as usize], std::cmp::Reverse(node)) < mine)
        });
        found
    }

    /// Elements that feel more than the least stress that their matter may break at.
    fn find_strained(&self) -> Vec<bool> {
        let strengths = self.material.strength.iter().flat_map(|strength| strength.points());
        let least = strengths.map(|&(_, strength)| strength).fold(Real::INFINITY, Real::min);
        // No tension is larger than the norm of the stress, and none of these than the strain allows.
        let bound = least / self.stiffest;
        let may_feel = |pack: usize| -> [bool; WIDTH] {
            let square = |lane: usize| -> Real {
                let strain = self.notes[pack].elastic.map(|e| e[lane]);
                (0..6).map(|k| strain[k] * strain[k] * if k < 3 { 1.0 } else { 2.0 }).sum()
            };
            std::array::from_fn(|lane| square(lane) > bound * bound)
        };
        let feels = |element: usize| {
            let (stress, least) = (self.stress(element), least * self.volume(element));
            let square: Real = stress.to_cols_array().iter().map(|s| s * s).sum();
            square > least * least
        };
        let count = if self.tetras.settings.strength_force.is_some() { 0 } else { self.tetras.elements.len() };
        let by_pack = |packs: Range<usize>| -> Vec<bool> {
            let flags = packs.flat_map(|pack| (WIDTH * pack..).zip(may_feel(pack)));
            flags.filter(|(element, _)| *element < count).map(|(element, may)| may && feels(element)).collect()
        };
        parallel::map_ranges(count.div_ceil(WIDTH), GRAIN / WIDTH, by_pack).concat()
    }

    /// Stress of an element times its volume, J.
    fn stress(&self, element: usize) -> Mat3 {
        let nodes = self.tetras.elements[element].map(|node| self.particles.position[node as usize]);
        let pack = self.net.runs[self.body].packs.start + element / WIDTH;
        let pull = |corner: usize| self.net.pull_at((32 * pack + WIDTH * corner + element % WIDTH) as u32);
        let [b, c, d] = [1, 2, 3].map(|k| {
            let (pull, arm) = (-pull(k), nodes[k] - nodes[0]);
            Mat3::from_cols(pull * arm.x, pull * arm.y, pull * arm.z)
        });
        let sum = b + c + d;
        0.5 * (sum + sum.transpose())
    }

    /// Elements around a node, with what their corners feel.
    fn places(&self, node: usize) -> impl Iterator<Item = (usize, Vec3)> {
        let run = &self.net.runs[self.body];
        self.net.corners_of(run.nodes.start + node).iter().map(|&place| {
            let (pack, lane) = (place as usize / 32, place as usize % WIDTH);
            (WIDTH * (pack - run.packs.start) + lane, self.net.pull_at(place))
        })
    }

    /// Corners of a node. Those of one that is held stay as they are, and are none here.
    ///
    /// Forces from outside are shared by mass, so they move all corners alike and none away from the others.
    fn corners(&self, node: usize) -> Vec<Corner> {
        if self.particles.flags[self.net.runs[self.body].particles.start + node].has(Flags::HELD) {
            return Vec::new();
        }
        let (mut pulls, mut volume) = (Vec3::ZERO, 0.0);
        for (element, pull) in self.places(node) {
            pulls += pull;
            volume += self.volume(element);
        }
        let corner = |(element, pull): (usize, Vec3)| {
            let constraint = pulls * (self.volume(element) / volume) - pull;
            Corner { element, pull, constraint }
        };
        self.places(node).map(corner).collect()
    }

    fn volume(&self, element: usize) -> Real {
        self.tetras.rest[element / WIDTH].volume[element % WIDTH]
    }

    /// A force parts corners whichever way it goes, as in the source.
    fn part_by_force(&self, node: usize, force: Real) -> Option<Parting> {
        let corners = self.corners(node);
        let hardest = corners.iter().map(|at| at.constraint.length()).fold(0.0, Real::max);
        if hardest <= force {
            return None;
        }
        // Of masses only the parts of the node's count.
        let held = |at: &Corner| Held { mass: self.volume(at.element), force: at.pull, strength: force, outward: None };
        let held: Vec<Held> = corners.iter().map(held).collect();
        let mut groups = vec![0; held.len()];
        let excess = hardest / force.max(Real::MIN_POSITIVE);
        (part(&held, &mut groups) > 1).then_some(Parting { node: node as u32, groups, excess })
    }

    /// Stress parts them across the way in which it pulls most.
    ///
    /// What a corner gets over its share of area is the stress across a face of its element, and faces lie as they lie: of a pull along an
    /// edge of the lattice they see 0.7. So the largest tension of the node's mean stress says whether it breaks, and where
    /// elements lie says on which side of the crack their corners are. Constraint forces do not: they all but vanish for an element that has
    /// a face in the crack and another at right angles to it, and their signs would make crumbs of such ones.
    fn part_by_stress(&self, node: usize, strained: &[bool]) -> Option<Parting> {
        if !self.places(node).any(|(element, _)| strained[element]) {
            return None;
        }
        let particle = self.net.runs[self.body].particles.start + node;
        let temperature = self.material.heat.temperature(self.particles.enthalpy[particle]);
        let strength = self.material.strength.as_ref()?.at(temperature).max(Real::MIN_POSITIVE);
        let (stress, volume) =
            self.places(node).fold((Mat3::ZERO, 0.0), |sum, (e, _)| (sum.0 + self.stress(e), sum.1 + self.volume(e)));
        let mean = (stress * (1.0 / volume)).to_cols_array_2d().map(|column| column.map(f64::from));
        let (tensions, axes) = eigen(mean);
        let most = (1..3).fold(0, |most, k| if tensions[k] > tensions[most] { k } else { most });
        let excess = tensions[most] as Real / strength;
        if excess <= 1.0 {
            return None;
        }
        let along = Vec3::from_array(axes.map(|row| row[most] as Real));
        let place = |node: u32| self.particles.position[node as usize] - self.particles.position[particle];
        let side = |at: &Corner| {
            let way: Vec3 = self.tetras.elements[at.element].into_iter().map(place).sum();
            u32::from(way.dot(along) > 0.0)
        };
        let groups: Vec<u32> = self.corners(node).iter().map(side).collect();
        let is_parted = groups.iter().any(|side| *side != groups[0]);
        is_parted.then_some(Parting { node: node as u32, groups, excess })
    }
}

impl TetraModel {
    /// Whether nodes or ties part at the end of this step.
    pub(crate) fn is_breaking(&self) -> bool {
        let mut derived = self.derived.iter();
        derived.any(|derived| !derived.untied.is_empty() || derived.parts.iter().any(|part| !part.partings.is_empty()))
    }

    /// Parts nodes, which share out their masses. Returns the new ones, body after body; the elements have them after
    /// [`retie`](Self::retie).
    pub(crate) fn part_nodes(&mut self, bodies: &[Body], particles: &mut Particles) -> Vec<Particle> {
        let mut newborn = Vec::new();
        let Some(derived) = &mut self.derived else { return newborn };
        let Derived { parts, .. } = &mut **derived;
        for (tetras, part) in self.bodies.iter_mut().zip(parts) {
            let partings = std::mem::take(&mut part.partings);
            if partings.is_empty() {
                continue;
            }
            let body = &bodies[tetras.id.0 as usize];
            let parents = tetras.part_nodes(body.range(), &partings);
            newborn.append(&mut tetras.share_out(body, &parents, particles));
        }
        newborn
    }

    /// Parts a body along a plane through a point, across a direction, in its own frame at rest. Returns new nodes, as
    /// [`part_nodes`](Self::part_nodes) does.
    pub(crate) fn cut(&mut self, body: &Body, particles: &mut Particles, plane: [Vec3; 2]) -> Vec<Particle> {
        let of_body = |tetras: &&mut Tetras| particles.body.get(body.range().start) == Some(&tetras.id);
        let Some(tetras) = self.bodies.iter_mut().find(of_body) else { return Vec::new() };
        let partings = tetras.find_cut(body.range(), particles, plane);
        let parents = tetras.part_nodes(body.range(), &partings);
        tetras.share_out(body, &parents, particles)
    }

    /// Lets elements have the nodes that they are tied to, once new ones are in the store.
    pub(crate) fn retie(&mut self, bodies: &[Body]) {
        for tetras in &mut self.bodies {
            tetras.follow_ties(bodies[tetras.id.0 as usize].particles.start);
        }
        self.refresh();
    }
}

impl Tetras {
    /// New nodes as particles, with their parts of the masses of those they come from.
    fn share_out(&self, body: &Body, parents: &[u32], particles: &mut Particles) -> Vec<Particle> {
        let Some(ties) = &self.ties else { return Vec::new() };
        let count = body.len() as u32;
        let volume = |node: u32| -> f64 {
            let corners = ties.corners(node).iter();
            corners.map(|&corner| f64::from(self.element(corner as usize / 4).volume)).sum()
        };
        let mut born: Vec<(u32, u32)> = parents.iter().copied().zip(count..).collect();
        born.sort_unstable();
        let mut masses = vec![0.0; parents.len()];
        for family in born.chunk_by(|a, b| a.0 == b.0) {
            let parent = family[0].0;
            let i = body.range().start + parent as usize;
            let whole: f64 = volume(parent) + family.iter().map(|(_, node)| volume(*node)).sum::<f64>();
            // What rounding takes from one it gives to the other.
            let mut left = f64::from(particles.mass[i]);
            for &(_, node) in family {
                let mass = (f64::from(particles.mass[i]) * volume(node) / whole) as Real;
                masses[(node - count) as usize] = mass;
                left -= f64::from(mass);
            }
            particles.mass[i] = left as Real;
        }
        let newborn = parents.iter().zip(masses).zip(body.born..).map(|((&parent, mass), sample)| {
            let i = body.range().start + parent as usize;
            Particle { mass, sample, ..particles.get(i) }
        });
        newborn.collect()
    }
}
