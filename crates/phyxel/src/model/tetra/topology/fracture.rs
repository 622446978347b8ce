//! Fracture by node splitting `[Gis07]`.
//!
//! Nodes are tested right after the internal forces are evaluated, and split at the end of the step, all
//! at once.

use crate::Real;
use crate::body::Body;
use crate::material::Material;
use crate::model::BodyModel;
use crate::model::CutPlane;
use crate::model::tetra::assembly::ElementArrays;
use crate::model::tetra::body::TetBody;
use crate::model::tetra::{TetraCache, TetraModel};
use crate::parallel;
use crate::store::{Flags, Particle, Particles};
use glam::{Mat3, Vec3};
use phyxel_laws::fem::{CornerLoad, ResponsePack, split_corners};
use phyxel_laws::linalg::eigen::symmetric_eigen;
use phyxel_laws::simd::WIDTH;
use phyxel_laws::tet_topology::{TetComplex, TopologyChange};
use std::ops::Range;

/// Nodes per task.
const GRAIN: usize = 512;

/// Split of a node.
#[derive(Clone, Debug)]
pub(in crate::model::tetra) struct NodeSplit {
    /// Index in the body.
    node: u32,
    /// Group of each of its corners, in the order of elements.
    groups: Vec<u32>,
    /// Load over strength: largest constraint force or tension.
    load_ratio: Real,
}

/// Fracture test of a body.
pub(in crate::model::tetra) struct FractureTest<'a> {
    pub body: usize,
    pub arrays: &'a ElementArrays,
    pub tet_body: &'a TetBody,
    pub material: &'a Material,
    pub particles: &'a Particles,
    /// Element responses of this step.
    pub responses: &'a [ResponsePack],
    /// Bound of stress over strain, Pa.
    pub stiffness_bound: Real,
}

/// Corner of an element at a node.
#[derive(Clone, Copy)]
struct Corner {
    element: usize,
    /// Internal force of its element, N.
    force: Vec3,
    /// Constraint force from the other corners, by which it moves with the node, N.
    constraint: Vec3,
}

impl TetBody {
    /// Returns true if its material has a strength.
    pub fn can_fracture(&self, material: &Material) -> bool {
        self.settings.strength_force.is_some() || material.strength.is_some()
    }

    /// Builds the connectivity, by node index in the body, whose particles are `range`.
    ///
    /// `World::add_body` has validated the elements, and all changes of topology keep them valid.
    pub fn build_complex(&self, range: Range<usize>) -> TetComplex {
        let first = range.start as u32;
        let elements = self.elements.iter().map(|nodes| nodes.map(|node| node - first)).collect();
        TetComplex::new(elements, range.len()).unwrap_or_default()
    }

    /// Finds the splits that separate elements on different sides of a plane, by their centroids at rest.
    fn find_cut_splits(&mut self, range: Range<usize>, particles: &Particles, plane: CutPlane) -> Vec<NodeSplit> {
        let is_beyond = |element: &[u32; 4]| {
            let centroid = 0.25 * element.iter().map(|&node| particles.rest[node as usize]).sum::<Vec3>();
            u32::from(plane.is_above(centroid))
        };
        let sides: Vec<u32> = self.elements.iter().map(is_beyond).collect();
        self.ensure_surface(range);
        let Some(complex) = &self.complex else { return Vec::new() };
        let splits = (0..complex.node_count() as u32).map(|node| {
            let groups = complex.corners(node).iter().map(|&corner| sides[corner as usize / 4]).collect();
            NodeSplit { node, groups, load_ratio: 0.0 }
        });
        splits.filter(|split| split.groups.iter().any(|side| *side != split.groups[0])).collect()
    }

    /// Splits nodes. Returns the parent of each new node.
    fn split_nodes(&mut self, range: Range<usize>, splits: &[NodeSplit]) -> Vec<u32> {
        let count = range.len() as u32;
        self.ensure_surface(range);
        let Some(complex) = &mut self.complex else { return Vec::new() };
        let mut parents = Vec::new();
        let mut changes = TopologyChange::default();
        for NodeSplit { node, groups, .. } in splits {
            // The groups match the corners of the node, so this succeeds.
            let Ok(mut change) = complex.split(*node, groups) else { continue };
            parents.resize(parents.len() + change.new_nodes.len(), *node);
            changes.exposed.append(&mut change.exposed);
        }
        changes.exposed.sort_unstable();
        for (node, new_nodes) in complex.split_exposed_nodes(&changes) {
            let parent = if node < count { node } else { parents[(node - count) as usize] };
            parents.resize(parents.len() + new_nodes.len(), parent);
        }
        self.boundary = None;
        self.broken += parents.len() as u64;
        parents
    }
}

impl FractureTest<'_> {
    /// Finds the nodes to split. Of neighbours only the most loaded one splits: it unloads the others,
    /// which takes a step.
    pub fn find_splits(&self) -> Vec<NodeSplit> {
        let count = self.arrays.ranges[self.body].particles.len();
        let overstressed = self.find_overstressed();
        if self.tet_body.settings.strength_force.is_none() && !overstressed.contains(&true) {
            return Vec::new();
        }
        let test = |node: usize| match self.tet_body.settings.strength_force {
            Some(force) => self.split_by_force(node, force),
            None => self.split_by_stress(node, &overstressed),
        };
        let splits = parallel::map_ranges(count, GRAIN, |nodes| nodes.filter_map(test).collect::<Vec<NodeSplit>>());
        let mut splits = splits.concat();
        if splits.is_empty() {
            return splits;
        }
        let mut load_ratios = vec![0.0; count];
        splits.iter().for_each(|split| load_ratios[split.node as usize] = split.load_ratio);
        let first = self.arrays.ranges[self.body].particles.start as u32;
        splits.retain(|split| {
            let rank = (split.load_ratio, std::cmp::Reverse(split.node));
            let elements =
                self.corner_forces_at(split.node as usize).map(|(element, _)| self.tet_body.elements[element]);
            let near = elements.flat_map(|nodes| nodes.map(|node| node - first));
            let mut neighbours = near.filter(|&node| node != split.node);
            neighbours.all(|node| (load_ratios[node as usize], std::cmp::Reverse(node)) < rank)
        });
        splits
    }

    /// Marks the elements whose stress exceeds the smallest strength of the material.
    fn find_overstressed(&self) -> Vec<bool> {
        let strengths = self.material.strength.iter().flat_map(|strength| strength.points());
        let min_strength = strengths.map(|&(_, strength)| strength).fold(Real::INFINITY, Real::min);
        // Principal stresses are bounded by the Frobenius norm of the stress, and that by the strain.
        let bound = min_strength / self.stiffness_bound;
        let may_exceed = |pack: usize| -> [bool; WIDTH] {
            let square = |lane: usize| -> Real {
                let strain = self.responses[pack].elastic_strain.map(|e| e[lane]);
                (0..6).map(|k| strain[k] * strain[k] * if k < 3 { 1.0 } else { 2.0 }).sum()
            };
            std::array::from_fn(|lane| square(lane) > bound * bound)
        };
        let exceeds = |element: usize| {
            let (stress, limit) = (self.stress_times_volume(element), min_strength * self.rest_volume(element));
            let square: Real = stress.to_cols_array().iter().map(|s| s * s).sum();
            square > limit * limit
        };
        let count = if self.tet_body.settings.strength_force.is_some() { 0 } else { self.tet_body.elements.len() };
        let by_pack = |packs: Range<usize>| -> Vec<bool> {
            let flags = packs.flat_map(|pack| (WIDTH * pack..).zip(may_exceed(pack)));
            flags.filter(|(element, _)| *element < count).map(|(element, may)| may && exceeds(element)).collect()
        };
        parallel::map_ranges(count.div_ceil(WIDTH), GRAIN / WIDTH, by_pack).concat()
    }

    /// Kirchhoff stress of an element times its volume at rest, J: the virial of its corner forces.
    fn stress_times_volume(&self, element: usize) -> Mat3 {
        let nodes = self.tet_body.elements[element].map(|node| self.particles.position[node as usize]);
        let pack = self.arrays.ranges[self.body].packs.start + element / WIDTH;
        let corner_force =
            |corner: usize| self.arrays.corner_force((32 * pack + WIDTH * corner + element % WIDTH) as u32);
        let [b, c, d] = [1, 2, 3].map(|k| {
            let (force, arm) = (-corner_force(k), nodes[k] - nodes[0]);
            Mat3::from_cols(force * arm.x, force * arm.y, force * arm.z)
        });
        let sum = b + c + d;
        0.5 * (sum + sum.transpose())
    }

    /// Elements around a node, with their internal force on it.
    fn corner_forces_at(&self, node: usize) -> impl Iterator<Item = (usize, Vec3)> {
        let ranges = &self.arrays.ranges[self.body];
        self.arrays.corners_of_node(ranges.nodes.start + node).iter().map(|&corner| {
            let (pack, lane) = (corner as usize / 32, corner as usize % WIDTH);
            (WIDTH * (pack - ranges.packs.start) + lane, self.arrays.corner_force(corner))
        })
    }

    /// Corners of a node with their constraint forces; none for a fixed node, which does not split.
    ///
    /// External forces are divided by mass, so they accelerate all corners equally and need no constraint
    /// force.
    fn corners_at(&self, node: usize) -> Vec<Corner> {
        if self.particles.flags[self.arrays.ranges[self.body].particles.start + node].has(Flags::FIXED) {
            return Vec::new();
        }
        let (mut total, mut volume) = (Vec3::ZERO, 0.0);
        for (element, force) in self.corner_forces_at(node) {
            total += force;
            volume += self.rest_volume(element);
        }
        let corner = |(element, force): (usize, Vec3)| {
            let constraint = total * (self.rest_volume(element) / volume) - force;
            Corner { element, force, constraint }
        };
        self.corner_forces_at(node).map(corner).collect()
    }

    /// Volume of an element at rest, m3.
    fn rest_volume(&self, element: usize) -> Real {
        self.tet_body.rest[element / WIDTH].volume[element % WIDTH]
    }

    /// Splits a node by constraint forces of any direction, as `[Gis07]` does.
    fn split_by_force(&self, node: usize, force: Real) -> Option<NodeSplit> {
        let corners = self.corners_at(node);
        let max_force = corners.iter().map(|corner| corner.constraint.length()).fold(0.0, Real::max);
        if max_force <= force {
            return None;
        }
        // Only ratios of masses count, so volumes serve.
        let load = |corner: &Corner| CornerLoad {
            mass: self.rest_volume(corner.element),
            force: corner.force,
            strength: force,
            outward: None,
        };
        let loads: Vec<CornerLoad> = corners.iter().map(load).collect();
        let mut groups = vec![0; loads.len()];
        let load_ratio = max_force / force.max(Real::MIN_POSITIVE);
        (split_corners(&loads, &mut groups) > 1).then_some(NodeSplit { node: node as u32, groups, load_ratio })
    }

    /// Splits a node across the direction of the largest principal stress, by the Rankine criterion.
    ///
    /// The constraint force of a corner over its area is the traction on the opposite face of its
    /// element, and faces have any direction: for tension along an edge of the lattice it is 0.7 of the
    /// stress. So the largest principal value of the mean stress at the node decides about fracture, and
    /// the positions of elements decide the side of the crack. Constraint forces do not: they almost
    /// vanish for an element with one face in the crack and another at right angles to it, and their
    /// signs would break fragments off there.
    fn split_by_stress(&self, node: usize, overstressed: &[bool]) -> Option<NodeSplit> {
        if !self.corner_forces_at(node).any(|(element, _)| overstressed[element]) {
            return None;
        }
        let particle = self.arrays.ranges[self.body].particles.start + node;
        let temperature = self.material.heat.temperature(self.particles.enthalpy[particle]);
        let strength = self.material.strength.as_ref()?.at(temperature).max(Real::MIN_POSITIVE);
        let (stress, volume) = self
            .corner_forces_at(node)
            .fold((Mat3::ZERO, 0.0), |sum, (e, _)| (sum.0 + self.stress_times_volume(e), sum.1 + self.rest_volume(e)));
        let mean = (stress * (1.0 / volume)).to_cols_array_2d().map(|column| column.map(f64::from));
        let (principal_stresses, axes) = symmetric_eigen(mean);
        let max = (1..3).fold(0, |max, k| if principal_stresses[k] > principal_stresses[max] { k } else { max });
        let load_ratio = principal_stresses[max] as Real / strength;
        if load_ratio <= 1.0 {
            return None;
        }
        let direction = Vec3::from_array(axes.map(|row| row[max] as Real));
        let offset = |node: u32| self.particles.position[node as usize] - self.particles.position[particle];
        let side = |corner: &Corner| {
            let sum: Vec3 = self.tet_body.elements[corner.element].into_iter().map(offset).sum();
            u32::from(sum.dot(direction) > 0.0)
        };
        let groups: Vec<u32> = self.corners_at(node).iter().map(side).collect();
        let is_split = groups.iter().any(|side| *side != groups[0]);
        is_split.then_some(NodeSplit { node: node as u32, groups, load_ratio })
    }
}

impl TetraModel {
    /// Returns true if nodes split or ties fail at the end of this step.
    pub(crate) fn is_fracturing(&self) -> bool {
        self.cache.iter().any(|cache| {
            !cache.failed_ties.is_empty() || cache.bodies.iter().any(|body_cache| !body_cache.splits.is_empty())
        })
    }

    /// Splits nodes and divides their masses. Returns the new nodes, body after body; elements refer to
    /// them after [`update_elements`](Self::update_elements).
    pub(crate) fn split_nodes(&mut self, bodies: &[Body], particles: &mut Particles) -> Vec<Particle> {
        let mut new_nodes = Vec::new();
        let Some(cache) = &mut self.cache else { return new_nodes };
        let TetraCache { bodies: body_caches, .. } = &mut **cache;
        for (tet_body, body_cache) in self.bodies.iter_mut().zip(body_caches) {
            let splits = std::mem::take(&mut body_cache.splits);
            if splits.is_empty() {
                continue;
            }
            let body = &bodies[tet_body.id.0 as usize];
            let parents = tet_body.split_nodes(body.range(), &splits);
            new_nodes.append(&mut tet_body.make_split_nodes(body, &parents, particles));
        }
        new_nodes
    }

    /// Splits the nodes of a body along a plane in its rest frame. Returns new nodes, as
    /// [`split_nodes`](Self::split_nodes) does.
    pub(super) fn split_along(&mut self, body: &Body, particles: &mut Particles, plane: CutPlane) -> Vec<Particle> {
        let of_body = |tet_body: &&mut TetBody| particles.body.get(body.range().start) == Some(&tet_body.id);
        let Some(tet_body) = self.bodies.iter_mut().find(of_body) else { return Vec::new() };
        let splits = tet_body.find_cut_splits(body.range(), particles, plane);
        let parents = tet_body.split_nodes(body.range(), &splits);
        tet_body.make_split_nodes(body, &parents, particles)
    }

    /// Updates the nodes of elements by the connectivity, once new nodes are in the store.
    pub(crate) fn update_elements(&mut self, bodies: &[Body]) {
        for tet_body in &mut self.bodies {
            tet_body.update_elements(bodies[tet_body.id.0 as usize].particles.start);
        }
        self.invalidate();
    }
}

impl TetBody {
    /// Makes the new nodes as particles, with a fraction of the mass of their parents by volume.
    fn make_split_nodes(&self, body: &Body, parents: &[u32], particles: &mut Particles) -> Vec<Particle> {
        let Some(complex) = &self.complex else { return Vec::new() };
        let count = body.len() as u32;
        let volume = |node: u32| -> f64 {
            let corners = complex.corners(node).iter();
            corners.map(|&corner| f64::from(self.element(corner as usize / 4).volume)).sum()
        };
        let mut children: Vec<(u32, u32)> = parents.iter().copied().zip(count..).collect();
        children.sort_unstable();
        let mut masses = vec![0.0; parents.len()];
        for family in children.chunk_by(|a, b| a.0 == b.0) {
            let parent = family[0].0;
            let i = body.range().start + parent as usize;
            let total: f64 = volume(parent) + family.iter().map(|(_, node)| volume(*node)).sum::<f64>();
            // The parent takes the remainder, so that the rounded masses add up.
            let mut remaining = f64::from(particles.mass[i]);
            for &(_, node) in family {
                let mass = (f64::from(particles.mass[i]) * volume(node) / total) as Real;
                masses[(node - count) as usize] = mass;
                remaining -= f64::from(mass);
            }
            particles.mass[i] = remaining as Real;
        }
        let new_nodes = parents.iter().zip(masses).zip(body.next_id..).map(|((&parent, mass), id)| {
            let i = body.range().start + parent as usize;
            Particle { mass, id, ..particles.get(i) }
        });
        new_nodes.collect()
    }
}
