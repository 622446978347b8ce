//! Collision detection between tetrahedral meshes: vertices inside tetrahedra, with consistent penetration
//! depths.
//!
//! Vertices are stored in a spatial hash, and every tetrahedron queries the cells that it overlaps
//! `[THMPG03]`. For penetrating vertices, `[HTKMG04]` gives depths and directions that are consistent
//! between neighbours: vertices with a neighbour outside take them from the intersections of the edges
//! between with the surface, and propagate them inwards, ring by ring. Both change smoothly as bodies move,
//! unlike the direction to the closest face, which flips in the middle of a body.
//!
//! Departures from these sources: cells are sorted, not marked with time stamps, so the order is always the
//! same; a vertex that only touches a surface does not penetrate; a vertex inside two bodies has a depth in
//! each. Penetrating vertices without an exit path, as of a body wholly within another, have no depth and
//! are reported as unresolved.
//!
//! Lengths are of the order of elements: the cell size is the mean size of their bounding boxes. Non-finite
//! positions are in no element.

mod depth;
mod geometry;
mod spatial_hash;
mod surface_grid;
#[cfg(test)]
mod tests;

pub use depth::ExitPath;
pub use surface_grid::{ClosestPoint, PointGrid, SurfaceGrid};

use crate::Real;
use crate::geometry::Aabb;
use crate::tet_topology::FACES;
use depth::DepthSolver;
use geometry::BarycentricMap;
use glam::{DVec3, Vec3};
use spatial_hash::SpatialHash;
use std::ops::Range;

/// Meshes to test for collisions.
#[derive(Clone, Copy, Debug)]
pub struct CollisionMeshes<'a> {
    /// Positions of all nodes, m.
    pub positions: &'a [Vec3],
    /// Nodes of each element.
    pub elements: &'a [[u32; 4]],
    /// Body of each element.
    pub element_bodies: &'a [u32],
    /// Surface faces, in order: face `k` of element `e` is `4 e + k`, as in [`FACES`].
    pub faces: &'a [u32],
    /// Nodes to test, each once. Depths are propagated inwards along edges between them.
    pub query_nodes: &'a [u32],
    /// Body in which each node is not searched; [`NO_EXCLUSION`] for nodes that are tested against all.
    pub excluded_bodies: &'a [u32],
}

/// Marks a node that is also tested against its own body.
pub const NO_EXCLUSION: u32 = u32::MAX;

impl CollisionMeshes<'_> {
    /// Node of the contact face that is closest to the penetrating node: the candidate for a weld of sticky
    /// bodies.
    pub fn closest_node(&self, penetration: &Penetration) -> u32 {
        let position = self.position(penetration.node);
        let [first, rest @ ..] = self.face(penetration.face);
        let distance_squared = |node: u32| self.position(node).distance_squared(position);
        rest.into_iter().fold(
            first,
            |closest, node| if distance_squared(node) < distance_squared(closest) { node } else { closest },
        )
    }

    #[inline]
    fn tet(&self, element: usize) -> [Vec3; 4] {
        self.elements[element].map(|node| self.positions[node as usize])
    }

    #[inline]
    fn aabb<const N: usize>(&self, nodes: [u32; N]) -> Aabb {
        Aabb::from_points(nodes.map(|node| self.positions[node as usize]))
    }

    #[inline]
    fn position(&self, node: u32) -> DVec3 {
        self.positions[node as usize].as_dvec3()
    }

    /// Nodes of a face, counter-clockwise seen from outside.
    fn face(&self, face: u32) -> [u32; 3] {
        FACES[face as usize % 4].map(|corner| self.elements[face as usize / 4][corner])
    }

    fn body_of_face(&self, face: u32) -> u32 {
        self.element_bodies[face as usize / 4]
    }
}

/// Node inside an element that it does not belong to, or on its boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PointInTet {
    /// Node.
    pub node: u32,
    /// Body that it is in.
    pub body: u32,
    /// Element that it is in.
    pub element: u32,
    /// True if it is on the surface within tolerance, and so only touches.
    pub is_on_surface: bool,
}

/// Penetration of a node into a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Penetration {
    /// Node.
    pub node: u32,
    /// Body that it is in.
    pub body: u32,
    /// Element that it is in; the one with the lowest number where it is on the boundary of several.
    pub element: u32,
    /// Penetration depth: distance to the surface along the normal, m.
    pub depth: Real,
    /// Unit direction out of the body.
    pub normal: Vec3,
    /// Surface face closest to the end of the exit path.
    pub face: u32,
    /// Barycentric weights of the closest point on the face: from 0 to 1, with sum 1.
    pub barycentric: [Real; 3],
    /// True if an edge of the node crosses the surface. Only such nodes are welded to the body `[Gis07]`.
    pub crosses_surface: bool,
}

/// Finds penetrations, with buffers that are reused from step to step.
#[derive(Clone, Debug, Default)]
pub struct CollisionDetector {
    point_hash: SpatialHash,
    is_surface: Vec<bool>,
    /// In the order of nodes, then bodies, each pair once.
    points_in_tets: Vec<PointInTet>,
    depths: DepthSolver,
}

impl CollisionDetector {
    /// Finds all penetrations, in the order of nodes, then bodies.
    pub fn detect(&mut self, meshes: &CollisionMeshes) -> Vec<Penetration> {
        self.sort_points(meshes);
        let mut found = Vec::new();
        self.find_points_in_tets(meshes, 0..meshes.elements.len(), &mut found);
        let count = self.set_points_in_tets(meshes, found);
        let paths = self.find_exit_paths(meshes, 0..count);
        self.propagate(meshes, paths);
        self.find_penetrations(meshes, 0..count)
    }

    /// Penetrating nodes of the last search without an exit path along edges.
    pub fn unresolved(&self) -> impl Iterator<Item = &PointInTet> {
        self.points_in_tets
            .iter()
            .zip(self.depths.exit_paths())
            .filter(|(_, path)| path.is_none())
            .map(|(point, _)| point)
    }

    /// First stage of [`CollisionDetector::detect`]: sorts query nodes into cells.
    pub fn sort_points(&mut self, meshes: &CollisionMeshes) {
        self.is_surface.clear();
        self.is_surface.resize(4 * meshes.elements.len(), false);
        meshes.faces.iter().for_each(|&face| self.is_surface[face as usize] = true);
        let points = meshes.query_nodes.iter().map(|&node| (node, meshes.positions[node as usize]));
        self.point_hash.sort_points(mean_size(meshes), points);
    }

    /// Second stage, for a range of elements: appends the nodes inside them, some of them twice. Ranges may
    /// be processed in parallel.
    pub fn find_points_in_tets(&self, meshes: &CollisionMeshes, elements: Range<usize>, found: &mut Vec<PointInTet>) {
        for element in elements {
            let corners = meshes.tet(element);
            let aabb = Aabb::from_points(corners);
            if !aabb.is_finite() {
                continue;
            }
            let (mut map, body) = (None, meshes.element_bodies[element]);
            self.point_hash.points_in(aabb, |node, position| {
                if meshes.excluded_bodies[node as usize] == body || meshes.elements[element].contains(&node) {
                    return;
                }
                let map = map.get_or_insert_with(|| BarycentricMap::new(corners));
                let Some(barycentric) = map.barycentric_inside(position) else { return };
                // Face k is opposite to corner 3 - k.
                let is_on = |k: usize| barycentric[3 - k] <= geometry::TOUCH_TOL && self.is_surface[4 * element + k];
                let is_on_surface = (0..4).any(is_on);
                found.push(PointInTet { node, body, element: element as u32, is_on_surface });
            });
        }
    }

    /// Third stage: takes all points found, in any order; returns the number of pairs of a node and a body
    /// that it is in.
    pub fn set_points_in_tets(&mut self, meshes: &CollisionMeshes, mut found: Vec<PointInTet>) -> usize {
        deduplicate(&mut found);
        self.points_in_tets = found;
        self.depths.prepare(meshes, &self.points_in_tets, self.point_hash.size());
        self.points_in_tets.len()
    }

    /// Fourth stage, for a range of these pairs: exit paths where edges cross the surface. Ranges may be
    /// processed in parallel.
    pub fn find_exit_paths(&self, meshes: &CollisionMeshes, range: Range<usize>) -> Vec<Option<ExitPath>> {
        let points = &self.points_in_tets;
        points[range].iter().map(|point| self.depths.exit_by_edges(meshes, point, points)).collect()
    }

    /// Fifth stage: takes the exit paths of all pairs, in order, and propagates them inwards.
    pub fn propagate(&mut self, meshes: &CollisionMeshes, paths: Vec<Option<ExitPath>>) {
        self.depths.propagate(meshes, &self.points_in_tets, paths);
    }

    /// Last stage, for a range: penetrations of pairs with an exit path. Ranges may be processed in parallel.
    pub fn find_penetrations(&self, meshes: &CollisionMeshes, range: Range<usize>) -> Vec<Penetration> {
        let pairs = self.points_in_tets[range.clone()].iter().zip(&self.depths.exit_paths()[range]);
        pairs.filter_map(|(point, path)| Some(self.depths.penetration(meshes, point, path.as_ref()?))).collect()
    }
}

/// Keeps the first element for each pair of node and body, and none where the node only touches the body.
fn deduplicate(found: &mut Vec<PointInTet>) {
    found.sort_unstable();
    let mut kept = 0;
    let mut start = 0;
    while start < found.len() {
        let first = found[start];
        let count = found[start..].iter().take_while(|next| (next.node, next.body) == (first.node, first.body)).count();
        if !found[start..start + count].iter().any(|point| point.is_on_surface) {
            found[kept] = first;
            kept += 1;
        }
        start += count;
    }
    found.truncate(kept);
}

/// Mean of the longest sides of the elements' bounding boxes, m.
fn mean_size(meshes: &CollisionMeshes) -> Real {
    let size = |element| f64::from(Aabb::from_points(meshes.tet(element)).extent().max_element());
    let sizes = (0..meshes.elements.len()).map(size);
    let (sum, count) =
        sizes.filter(|size| size.is_finite()).fold((0.0, 0), |(sum, count), size| (sum + size, count + 1));
    let mean = (sum / f64::from(count.max(1))) as Real;
    if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
}
