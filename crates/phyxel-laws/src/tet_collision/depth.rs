//! Consistent penetration depths and directions `[HTKMG04]`.

use super::{CollisionMeshes, Penetration, PointInTet, SpatialHash, geometry::segment_exit};
use crate::Real;
use crate::fem::EDGES;
use crate::geometry::{Aabb, project_on_triangle};
use glam::DVec3;

/// Marks a node that is not inside any body.
const NONE: u32 = u32::MAX;

/// Exit path from a penetrating node to the surface: depth and direction.
#[derive(Clone, Copy, Debug)]
pub struct ExitPath {
    depth: f64,
    normal: DVec3,
    /// Face near its end.
    face: u32,
    /// True if it comes from edges that cross the surface.
    crosses_surface: bool,
}

/// Accumulated weighted mean of exit paths.
#[derive(Default)]
struct WeightedMean {
    weight: f64,
    depth: f64,
    normal: DVec3,
    /// Path of the largest weight.
    heaviest: Option<(f64, ExitPath)>,
}

impl WeightedMean {
    fn add(&mut self, weight: f64, path: ExitPath) {
        self.weight += weight;
        self.depth += weight * path.depth;
        self.normal += weight * path.normal;
        if self.heaviest.is_none_or(|(largest, _)| weight > largest) {
            self.heaviest = Some((weight, path));
        }
    }

    /// `None` without any path. Where directions cancel, that of the largest weight is taken.
    fn mean(&self) -> Option<ExitPath> {
        let (_, heaviest) = self.heaviest?;
        let normal = self.normal.try_normalize().unwrap_or(heaviest.normal);
        Some(ExitPath { depth: (self.depth / self.weight).max(0.0), normal, ..heaviest })
    }
}

/// Weight of a sample at an offset: the inverse squared distance.
fn inverse_square_weight(offset: DVec3) -> f64 {
    1.0 / offset.length_squared().max(f64::MIN_POSITIVE)
}

/// Computes exit paths, with buffers that are reused from step to step.
#[derive(Clone, Debug, Default)]
pub(super) struct DepthSolver {
    face_hash: SpatialHash,
    /// Bodies with penetrating nodes, in order.
    penetrated_bodies: Vec<u32>,
    /// Index of the first record of each node.
    first_record: Vec<u32>,
    /// Edges from penetrating nodes, in order.
    edges: Vec<[u32; 2]>,
    /// Exit path of each record.
    exit_paths: Vec<Option<ExitPath>>,
}

impl DepthSolver {
    /// Exit paths of the last search, by record.
    pub fn exit_paths(&self) -> &[Option<ExitPath>] {
        &self.exit_paths
    }

    /// Prepares for the records of nodes inside bodies, in the order of nodes, then bodies. `size` is the
    /// element size, m.
    pub fn prepare(&mut self, meshes: &CollisionMeshes, points: &[PointInTet], size: Real) {
        self.exit_paths.clear();
        if !points.is_empty() {
            self.find_edges(meshes, points);
            self.sort_faces(meshes, points, size);
        }
    }

    /// Takes the exit paths found by edges, and propagates them to all other nodes, ring by ring.
    pub fn propagate(&mut self, meshes: &CollisionMeshes, points: &[PointInTet], paths: Vec<Option<ExitPath>>) {
        self.exit_paths = paths;
        loop {
            let missing = points.iter().enumerate().filter(|(k, _)| self.exit_paths[*k].is_none());
            let found = missing.filter_map(|(k, point)| Some((k, self.exit_by_neighbours(meshes, point, points)?)));
            let found: Vec<(usize, ExitPath)> = found.collect();
            if found.is_empty() {
                return;
            }
            found.into_iter().for_each(|(k, path)| self.exit_paths[k] = Some(path));
        }
    }

    fn find_edges(&mut self, meshes: &CollisionMeshes, points: &[PointInTet]) {
        self.first_record.clear();
        self.first_record.resize(meshes.positions.len(), NONE);
        for (k, point) in points.iter().enumerate().rev() {
            self.first_record[point.node as usize] = k as u32;
        }
        self.edges.clear();
        for element in meshes.elements {
            if element.iter().all(|node| self.first_record[*node as usize] == NONE) {
                continue;
            }
            for (a, b) in EDGES {
                for edge in [[element[a], element[b]], [element[b], element[a]]] {
                    if self.first_record[edge[0] as usize] != NONE {
                        self.edges.push(edge);
                    }
                }
            }
        }
        self.edges.sort_unstable();
        self.edges.dedup();
    }

    /// Hashes the faces of all bodies with penetrating nodes.
    fn sort_faces(&mut self, meshes: &CollisionMeshes, points: &[PointInTet], size: Real) {
        self.penetrated_bodies.clear();
        self.penetrated_bodies.extend(points.iter().map(|point| point.body));
        self.penetrated_bodies.sort_unstable();
        self.penetrated_bodies.dedup();
        let selected = meshes
            .faces
            .iter()
            .filter(|face| self.penetrated_bodies.binary_search(&meshes.body_of_face(**face)).is_ok());
        let boxes = selected.map(|&face| (face, meshes.aabb(meshes.face(face))));
        self.face_hash.sort_boxes(size, boxes);
    }

    /// Nodes that share an edge with a penetrating node.
    fn neighbours(&self, node: u32) -> impl Iterator<Item = u32> {
        let start = self.edges.partition_point(|edge| edge[0] < node);
        self.edges[start..].iter().take_while(move |edge| edge[0] == node).map(|edge| edge[1])
    }

    /// Index of the record of a node in a body, if there is one.
    fn record(&self, node: u32, body: u32, points: &[PointInTet]) -> Option<usize> {
        let first = self.first_record[node as usize] as usize;
        let records = points.get(first..)?.iter().take_while(|point| point.node == node);
        records.enumerate().find(|(_, point)| point.body == body).map(|(k, _)| first + k)
    }

    /// Exit path of a node with neighbours outside: the mean over the points where edges to these leave the
    /// body.
    pub fn exit_by_edges(
        &self,
        meshes: &CollisionMeshes,
        point: &PointInTet,
        points: &[PointInTet],
    ) -> Option<ExitPath> {
        let mut mean = WeightedMean::default();
        let from = meshes.position(point.node);
        for other in self.neighbours(point.node).filter(|&other| self.record(other, point.body, points).is_none()) {
            if let Some((fraction, normal, face)) = self.first_crossing(meshes, point, other) {
                let offset = fraction * (meshes.position(other) - from);
                mean.add(
                    inverse_square_weight(offset),
                    ExitPath { depth: offset.dot(normal), normal, face, crosses_surface: true },
                );
            }
        }
        mean.mean()
    }

    /// First point where the edge from a node inside a body leaves the body: the fraction of the edge, the
    /// normal and the face.
    fn first_crossing(&self, meshes: &CollisionMeshes, point: &PointInTet, other: u32) -> Option<(f64, DVec3, u32)> {
        let (from, to) = (meshes.position(point.node), meshes.position(other));
        let mut first: Option<(f64, DVec3, u32)> = None;
        let range = meshes.aabb([point.node, other]);
        self.face_hash.boxes_near(range, |face| {
            let nodes = meshes.face(face);
            if meshes.body_of_face(face) != point.body || nodes.contains(&point.node) || nodes.contains(&other) {
                return;
            }
            if !meshes.aabb(nodes).overlaps(&range) {
                return;
            }
            let Some((fraction, normal)) = segment_exit(from, to, nodes.map(|node| meshes.position(node))) else {
                return;
            };
            if first.is_none_or(|(least, _, known)| (fraction, face) < (least, known)) {
                first = Some((fraction, normal, face));
            }
        });
        first
    }

    /// Exit path of a node from those of its neighbours.
    fn exit_by_neighbours(
        &self,
        meshes: &CollisionMeshes,
        point: &PointInTet,
        points: &[PointInTet],
    ) -> Option<ExitPath> {
        let mut mean = WeightedMean::default();
        for other in self.neighbours(point.node) {
            let record = self.record(other, point.body, points);
            let Some(known) = record.and_then(|k| self.exit_paths[k]) else { continue };
            let offset = meshes.position(other) - meshes.position(point.node);
            mean.add(
                inverse_square_weight(offset),
                ExitPath { depth: offset.dot(known.normal) + known.depth, crosses_surface: false, ..known },
            );
        }
        mean.mean()
    }

    /// Penetration of a node with an exit path: with the face closest to its end, of those around.
    pub fn penetration(&self, meshes: &CollisionMeshes, point: &PointInTet, path: &ExitPath) -> Penetration {
        let end = meshes.position(point.node) + path.depth * path.normal;
        let corners = |face: u32| meshes.face(face).map(|node| meshes.position(node));
        let (mut barycentric, mut distance_squared) = project_on_triangle(end, corners(path.face));
        let mut closest = path.face;
        let radius = DVec3::splat(distance_squared.sqrt());
        let around = Aabb { min: (end - radius).as_vec3(), max: (end + radius).as_vec3() };
        self.face_hash.boxes_near(around, |face| {
            if meshes.body_of_face(face) != point.body || meshes.face(face).contains(&point.node) {
                return;
            }
            let (found_barycentric, found_squared) = project_on_triangle(end, corners(face));
            if (found_squared, face) < (distance_squared, closest) {
                (barycentric, distance_squared, closest) = (found_barycentric, found_squared, face);
            }
        });
        Penetration {
            node: point.node,
            body: point.body,
            element: point.element,
            depth: path.depth as Real,
            normal: path.normal.as_vec3(),
            face: closest,
            barycentric,
            crosses_surface: path.crosses_surface,
        }
    }
}
