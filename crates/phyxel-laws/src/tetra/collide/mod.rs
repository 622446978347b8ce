//! Points in elements: where bodies are in each other or in themselves, how deep, and which way is out.
//!
//! Points are hashed by the cell of a grid they are in, and every element looks at those in the cells around it `[THMPG03]`. For
//! points that are inside, `[HTKMG04]` gives a depth and a direction that do not jump from point to point: those with a neighbour
//! outside take them from where the edges between cross the surface, and hand them on inwards, from ring to ring. Both change
//! smoothly as bodies move, other than the way to the nearest face, which flips in the middle of a body.
//!
//! Where the code departs from these: cells are kept sorted, not marked with times, so the order is always the same; a point that
//! only touches a surface is not inside; a point that is inside two bodies has a depth in each. What is inside and has no way out,
//! such as a body that is wholly within another, has no depth and is given back as it is.
//!
//! Lengths are of the order of elements: the grid has cells of the mean size of their boxes. Positions that are no numbers are in no
//! element.

mod cells;
mod depth;
mod geometry;
mod shell;

pub use depth::Way;
pub use shell::{Foot, Points, Shell};

use crate::Real;
use cells::Cells;
use depth::Depths;
use geometry::{Shape, nearest_on_triangle};
use glam::{DVec3, Vec3};
use std::ops::Range;

/// What may collide.
#[derive(Clone, Copy, Debug)]
pub struct Bodies<'a> {
    /// Of all nodes, m.
    pub positions: &'a [Vec3],
    /// The nodes of each element.
    pub elements: &'a [[u32; 4]],
    /// The body of each element.
    pub bodies: &'a [u32],
    /// The faces on the surface, in order: face `k` of element `e` is `4 e + k`, as in [`FACES`](super::FACES).
    pub faces: &'a [u32],
    /// The nodes that are looked at, each once. Depths are handed on inwards along edges between them.
    pub points: &'a [u32],
    /// The body of each node, in which it is not looked for; [`ANYWHERE`] for one that is looked for in all.
    pub homes: &'a [u32],
}

/// Stands for the body of a node that may also be inside of its own.
pub const ANYWHERE: u32 = u32::MAX;

impl Bodies<'_> {
    /// The node of the touched face that is nearest to the node of a contact: what this unites with where bodies are sticky.
    pub fn nearest_node(&self, contact: &Contact) -> u32 {
        let here = self.place(contact.node);
        let [first, rest @ ..] = self.face(contact.face);
        let off = |node: u32| self.place(node).distance_squared(here);
        rest.into_iter().fold(first, |nearest, node| if off(node) < off(nearest) { node } else { nearest })
    }

    fn shape(&self, element: usize) -> [Vec3; 4] {
        self.elements[element].map(|node| self.positions[node as usize])
    }

    fn place(&self, node: u32) -> DVec3 {
        self.positions[node as usize].as_dvec3()
    }

    /// The nodes of a face, counter-clockwise seen from outside.
    fn face(&self, face: u32) -> [u32; 3] {
        super::FACES[face as usize % 4].map(|corner| self.elements[face as usize / 4][corner])
    }

    fn body_of_face(&self, face: u32) -> u32 {
        self.bodies[face as usize / 4]
    }
}

/// A node inside an element that it does not belong to, or on its border.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inside {
    /// Which node.
    pub node: u32,
    /// The body that it is in.
    pub body: u32,
    /// The element that it is in.
    pub element: u32,
    /// Whether it is on the surface, and so only touches.
    pub is_touching: bool,
}

/// A node that is inside a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Which node.
    pub node: u32,
    /// The body that it is in.
    pub body: u32,
    /// The element that it is in; that with the lowest number where it is between several.
    pub element: u32,
    /// How far the surface is along the normal, m.
    pub depth: Real,
    /// The way out, of length 1.
    pub normal: Vec3,
    /// The face of the surface that is nearest to where the way out ends.
    pub face: u32,
    /// Parts of the face's three nodes in the place of it that is nearest: from 0 to 1, with sum 1.
    pub parts: [Real; 3],
    /// Whether an edge of the node crosses the surface. Only such a node unites with one of the body `[Gis07]`.
    pub is_crossed: bool,
}

/// Finds contacts, and keeps its room from one step to the next.
#[derive(Clone, Debug, Default)]
pub struct Collider {
    points: Cells,
    is_surface: Vec<bool>,
    /// In the order of nodes, then of bodies, each pair once.
    inside: Vec<Inside>,
    depths: Depths,
}

impl Collider {
    /// Finds all contacts. They are in the order of their nodes, then of their bodies.
    pub fn find(&mut self, bodies: &Bodies) -> Vec<Contact> {
        self.sort_points(bodies);
        let mut found = Vec::new();
        self.find_inside(bodies, 0..bodies.elements.len(), &mut found);
        let count = self.take(bodies, found);
        let ways = self.find_ways(bodies, 0..count);
        self.hand_on(bodies, ways);
        self.find_contacts(bodies, 0..count)
    }

    /// Nodes that were found inside a body last, without a way out along edges.
    pub fn lost(&self) -> impl Iterator<Item = &Inside> {
        self.inside.iter().zip(self.depths.ways()).filter(|(_, way)| way.is_none()).map(|(inside, _)| inside)
    }

    /// First of the parts of [`Collider::find`]: sorts points into cells.
    pub fn sort_points(&mut self, bodies: &Bodies) {
        self.is_surface.clear();
        self.is_surface.resize(4 * bodies.elements.len(), false);
        bodies.faces.iter().for_each(|&face| self.is_surface[face as usize] = true);
        let points = bodies.points.iter().map(|&node| (node, bodies.positions[node as usize]));
        self.points.sort_points(mean_size(bodies), points);
    }

    /// Second part, for some of the elements: appends points that are in them, some of them twice. Any parts of the elements may be
    /// looked at side by side.
    pub fn find_inside(&self, bodies: &Bodies, elements: Range<usize>, found: &mut Vec<Inside>) {
        for element in elements {
            let corners = bodies.shape(element);
            let [low, high] = bounds(corners);
            if !(low.is_finite() && high.is_finite()) {
                continue;
            }
            let (mut shape, body) = (None, bodies.bodies[element]);
            self.points.points_in([low, high], |node, place| {
                if bodies.homes[node as usize] == body || bodies.elements[element].contains(&node) {
                    return;
                }
                let shape = shape.get_or_insert_with(|| Shape::new(corners));
                let Some(parts) = shape.parts_inside(place) else { return };
                // Face k lies across from corner 3 - k.
                let is_on = |k: usize| parts[3 - k] <= geometry::TOUCH && self.is_surface[4 * element + k];
                let is_touching = (0..4).any(is_on);
                found.push(Inside { node, body, element: element as u32, is_touching });
            });
        }
    }

    /// Third part: takes all that was found, in any order; how many nodes are inside of bodies, each once for each body.
    pub fn take(&mut self, bodies: &Bodies, mut found: Vec<Inside>) -> usize {
        keep_one_each(&mut found);
        self.inside = found;
        self.depths.prepare(bodies, &self.inside, self.points.size());
        self.inside.len()
    }

    /// Fourth part, for some of these, by their numbers: their ways out where edges cross the surface. Any may be looked at side by side.
    pub fn find_ways(&self, bodies: &Bodies, numbers: Range<usize>) -> Vec<Option<Way>> {
        let inside = &self.inside;
        inside[numbers].iter().map(|one| self.depths.way_by_edges(bodies, one, inside)).collect()
    }

    /// Fifth part: takes the ways of all, in order, and hands them on inwards.
    pub fn hand_on(&mut self, bodies: &Bodies, ways: Vec<Option<Way>>) {
        self.depths.hand_on(bodies, &self.inside, ways);
    }

    /// Last part, for some: contacts of those that have a way out. Any may be looked at side by side.
    pub fn find_contacts(&self, bodies: &Bodies, numbers: Range<usize>) -> Vec<Contact> {
        let known = self.inside[numbers.clone()].iter().zip(&self.depths.ways()[numbers]);
        known.filter_map(|(inside, way)| Some(self.depths.touch(bodies, inside, way.as_ref()?))).collect()
    }
}

/// Leaves the first element for each node and body, and none where the node only touches the body.
fn keep_one_each(found: &mut Vec<Inside>) {
    found.sort_unstable();
    let mut kept = 0;
    let mut start = 0;
    while start < found.len() {
        let first = found[start];
        let count = found[start..].iter().take_while(|next| (next.node, next.body) == (first.node, first.body)).count();
        if !found[start..start + count].iter().any(|inside| inside.is_touching) {
            found[kept] = first;
            kept += 1;
        }
        start += count;
    }
    found.truncate(kept);
}

/// The lowest and the highest corner of the box around some points.
fn bounds<const N: usize>(points: [Vec3; N]) -> [Vec3; 2] {
    points.iter().fold([Vec3::INFINITY, Vec3::NEG_INFINITY], |[low, high], p| [low.min(*p), high.max(*p)])
}

/// Mean of the longest sides of the boxes around elements, m.
fn mean_size(bodies: &Bodies) -> Real {
    let sizes = (0..bodies.elements.len()).map(|element| {
        let [low, high] = bounds(bodies.shape(element));
        f64::from((high - low).max_element())
    });
    let (sum, count) =
        sizes.filter(|size| size.is_finite()).fold((0.0, 0), |(sum, count), size| (sum + size, count + 1));
    let mean = (sum / f64::from(count.max(1))) as Real;
    if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
}
