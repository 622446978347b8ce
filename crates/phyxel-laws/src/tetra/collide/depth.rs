//! How deep points are, and which way is out `[HTKMG04]`.

use super::{Bodies, Cells, Contact, Inside, bounds, geometry::leaves_through, nearest_on_triangle};
use crate::Real;
use crate::tetra::EDGES;
use glam::DVec3;

/// Stands for a node that is not inside anything.
const NONE: u32 = u32::MAX;

/// A way out of a body.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    depth: f64,
    normal: DVec3,
    /// A face near its end.
    face: u32,
    /// Whether it comes from edges that cross the surface.
    is_crossed: bool,
}

/// A mean of ways in the making.
#[derive(Default)]
struct Mean {
    weight: f64,
    depth: f64,
    normal: DVec3,
    /// The heaviest of them.
    heaviest: Option<(f64, Way)>,
}

impl Mean {
    fn add(&mut self, weight: f64, way: Way) {
        self.weight += weight;
        self.depth += weight * way.depth;
        self.normal += weight * way.normal;
        if self.heaviest.is_none_or(|(most, _)| weight > most) {
            self.heaviest = Some((weight, way));
        }
    }

    /// Nothing where there are none. Directions that cancel leave the heaviest.
    fn way(&self) -> Option<Way> {
        let (_, heaviest) = self.heaviest?;
        let normal = self.normal.try_normalize().unwrap_or(heaviest.normal);
        Some(Way { depth: (self.depth / self.weight).max(0.0), normal, ..heaviest })
    }
}

/// Weight of what is known at a distance: one over its square.
fn weight(way: DVec3) -> f64 {
    1.0 / way.length_squared().max(f64::MIN_POSITIVE)
}

/// Finds ways out of bodies, and keeps its room from one step to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Depths {
    faces: Cells,
    /// The bodies that something is inside of, in order.
    bodies: Vec<u32>,
    /// The first of what was found inside that is of each node.
    first: Vec<u32>,
    /// Edges from nodes that are inside something, in order.
    edges: Vec<[u32; 2]>,
    /// What was found for each node and body inside.
    ways: Vec<Option<Way>>,
}

impl Depths {
    /// What was found last, for each node and body inside.
    pub fn ways(&self) -> &[Option<Way>] {
        &self.ways
    }

    /// Makes ready for nodes inside bodies, which are given in the order of nodes, then bodies. `size` is that of elements, m.
    pub fn prepare(&mut self, bodies: &Bodies, inside: &[Inside], size: Real) {
        self.ways.clear();
        if !inside.is_empty() {
            self.find_edges(bodies, inside);
            self.sort_faces(bodies, inside, size);
        }
    }

    /// Takes the ways of those that edges tell, and finds those of others from their neighbours, ring by ring.
    pub fn hand_on(&mut self, bodies: &Bodies, inside: &[Inside], ways: Vec<Option<Way>>) {
        self.ways = ways;
        loop {
            let unknown = inside.iter().enumerate().filter(|(k, _)| self.ways[*k].is_none());
            let fresh = unknown.filter_map(|(k, one)| Some((k, self.way_by_neighbours(bodies, one, inside)?)));
            let fresh: Vec<(usize, Way)> = fresh.collect();
            if fresh.is_empty() {
                return;
            }
            fresh.into_iter().for_each(|(k, way)| self.ways[k] = Some(way));
        }
    }

    fn find_edges(&mut self, bodies: &Bodies, inside: &[Inside]) {
        self.first.clear();
        self.first.resize(bodies.positions.len(), NONE);
        for (k, one) in inside.iter().enumerate().rev() {
            self.first[one.node as usize] = k as u32;
        }
        self.edges.clear();
        for element in bodies.elements {
            if element.iter().all(|node| self.first[*node as usize] == NONE) {
                continue;
            }
            for (a, b) in EDGES {
                for edge in [[element[a], element[b]], [element[b], element[a]]] {
                    if self.first[edge[0] as usize] != NONE {
                        self.edges.push(edge);
                    }
                }
            }
        }
        self.edges.sort_unstable();
        self.edges.dedup();
    }

    /// Sorts the faces of all bodies that something is in.
    fn sort_faces(&mut self, bodies: &Bodies, inside: &[Inside], size: Real) {
        self.bodies.clear();
        self.bodies.extend(inside.iter().map(|one| one.body));
        self.bodies.sort_unstable();
        self.bodies.dedup();
        let wanted = bodies.faces.iter().filter(|face| self.bodies.binary_search(&bodies.body_of_face(**face)).is_ok());
        let boxes = wanted.map(|&face| (face, bounds(bodies.face(face).map(|node| bodies.positions[node as usize]))));
        self.faces.sort_boxes(size, boxes);
    }

    /// Nodes that share an edge with a node that is inside something.
    fn neighbours(&self, node: u32) -> impl Iterator<Item = u32> {
        let start = self.edges.partition_point(|edge| edge[0] < node);
        self.edges[start..].iter().take_while(move |edge| edge[0] == node).map(|edge| edge[1])
    }

    /// Where the record of a node in a body is, if it is there.
    fn record(&self, node: u32, body: u32, inside: &[Inside]) -> Option<usize> {
        let first = self.first[node as usize] as usize;
        let of_node = inside.get(first..)?.iter().take_while(|one| one.node == node);
        of_node.enumerate().find(|(_, one)| one.body == body).map(|(k, _)| first + k)
    }

    /// The way out of a node with neighbours outside: the mean over where edges to these leave the body.
    pub fn way_by_edges(&self, bodies: &Bodies, one: &Inside, inside: &[Inside]) -> Option<Way> {
        let mut mean = Mean::default();
        let from = bodies.place(one.node);
        for other in self.neighbours(one.node).filter(|&other| self.record(other, one.body, inside).is_none()) {
            if let Some((part, normal, face)) = self.crossing(bodies, one, other) {
                let way = part * (bodies.place(other) - from);
                mean.add(weight(way), Way { depth: way.dot(normal), normal, face, is_crossed: true });
            }
        }
        mean.way()
    }

    /// Where the edge from a node inside a body to another first leaves the body: the part of the edge, the normal and the face.
    fn crossing(&self, bodies: &Bodies, one: &Inside, other: u32) -> Option<(f64, DVec3, u32)> {
        let (from, to) = (bodies.place(one.node), bodies.place(other));
        let mut nearest: Option<(f64, DVec3, u32)> = None;
        let range = bounds([one.node, other].map(|node| bodies.positions[node as usize]));
        self.faces.boxes_near(range, |face| {
            let nodes = bodies.face(face);
            if bodies.body_of_face(face) != one.body || nodes.contains(&one.node) || nodes.contains(&other) {
                return;
            }
            let [low, high] = bounds(nodes.map(|node| bodies.positions[node as usize]));
            if !(low.cmple(range[1]) & high.cmpge(range[0])).all() {
                return;
            }
            let Some((part, normal)) = leaves_through(from, to, nodes.map(|node| bodies.place(node))) else { return };
            if nearest.is_none_or(|(least, _, known)| (part, face) < (least, known)) {
                nearest = Some((part, normal, face));
            }
        });
        nearest
    }

    /// The way out of a node whose neighbours know theirs.
    fn way_by_neighbours(&self, bodies: &Bodies, one: &Inside, inside: &[Inside]) -> Option<Way> {
        let mut mean = Mean::default();
        for other in self.neighbours(one.node) {
            let record = self.record(other, one.body, inside);
            let Some(known) = record.and_then(|k| self.ways[k]) else { continue };
            let way = bodies.place(other) - bodies.place(one.node);
            mean.add(weight(way), Way { depth: way.dot(known.normal) + known.depth, is_crossed: false, ..known });
        }
        mean.way()
    }

    /// The contact of a node that knows its way out: with the face nearest to where it ends, of those around.
    pub fn touch(&self, bodies: &Bodies, inside: &Inside, way: &Way) -> Contact {
        let end = bodies.place(inside.node) + way.depth * way.normal;
        let corners = |face: u32| bodies.face(face).map(|node| bodies.place(node));
        let (mut parts, mut least) = nearest_on_triangle(end, corners(way.face));
        let mut nearest = way.face;
        let reach = DVec3::splat(least.sqrt());
        self.faces.boxes_near([(end - reach).as_vec3(), (end + reach).as_vec3()], |face| {
            if bodies.body_of_face(face) != inside.body || bodies.face(face).contains(&inside.node) {
                return;
            }
            let (found, off) = nearest_on_triangle(end, corners(face));
            if (off, face) < (least, nearest) {
                (parts, least, nearest) = (found, off, face);
            }
        });
        Contact {
            node: inside.node,
            body: inside.body,
            element: inside.element,
            depth: way.depth as Real,
            normal: way.normal.as_vec3(),
            face: nearest,
            parts,
            is_crossed: way.is_crossed,
        }
    }
}
