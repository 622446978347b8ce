//! Complexes whose nodes split and weld.

use super::*;
use crate::Real;
use crate::fem::EDGES;
use crate::fem::tests::TetMesh;
use crate::rng::{CounterRng, SequentialRng};
use crate::subdivision::tests::SCHEMES;
use crate::subdivision::{IncrementalSubdivision, SubdivisionScheme, refine};
use crate::union_find::UnionFind;
use glam::Vec3;
use std::collections::BTreeSet;

/// Two elements back to back on the face 0 1 2.
const PAIR: [[u32; 4]; 2] = [[0, 1, 2, 3], [0, 2, 1, 4]];

impl TetMesh {
    fn complex(&self) -> TetComplex {
        TetComplex::new(self.elements.clone(), self.nodes.len()).unwrap()
    }
}

/// Euler characteristic `V - E + F - T` of the solid, where elements that only touch in a node or along an
/// edge are separate.
fn euler_characteristic(complex: &TetComplex) -> i64 {
    let elements = complex.elements();
    let mut vertices = UnionFind::new(4 * elements.len());
    let mut edges = UnionFind::new(6 * elements.len());
    let mut faces = 0;
    for face in 0..4 * elements.len() as u32 {
        let Some(opposite) = complex.opposite_face(face).filter(|opposite| face < *opposite) else { continue };
        faces += 1;
        let (e, f) = (face as usize / 4, opposite as usize / 4);
        let corner_in = |node: u32| elements[f].iter().position(|n| *n == node).unwrap();
        for a in FACES[face as usize % 4] {
            vertices.union([4 * e + a, 4 * f + corner_in(elements[e][a])].map(|k| k as u32));
            for b in FACES[face as usize % 4].into_iter().filter(|&b| a < b) {
                let pair = (corner_in(elements[e][a]), corner_in(elements[e][b]));
                let pair = (pair.0.min(pair.1), pair.0.max(pair.1));
                let number = |pair| EDGES.iter().position(|edge| *edge == pair).unwrap();
                edges.union([6 * e + number((a, b)), 6 * f + number(pair)].map(|k| k as u32));
            }
        }
    }
    let count = elements.len() as i64;
    i64::from(vertices.component_count()) - i64::from(edges.component_count()) + (4 * count - faces) - count
}

/// Asserts all invariants after an edit.
fn check(complex: &TetComplex, positions: &[Vec3]) {
    assert_eq!(
        *complex,
        TetComplex::new(complex.elements().to_vec(), complex.node_count()).unwrap(),
        "the same as rebuilt"
    );
    let surface = complex.surface();
    // Half edges are paired and opposite: every sheet is watertight.
    let topology = surface.topology().unwrap();
    assert!(topology.is_valid(), "{topology:?}");
    // The boundary of a solid has twice its Euler characteristic, where elements around a node do not overlap.
    assert_eq!(topology.euler_characteristics.iter().sum::<i64>(), 2 * euler_characteristic(complex));
    // Sums of a few thousand products of order 1 in f64, with cancellation.
    let (inside, all) = (surface.volume(positions), complex.volume(positions));
    assert!((inside - all).abs() < 1e-11 * all.abs().max(1.0), "{inside} {all}");
}

/// Asserts that the reported faces are the difference of the surfaces before and after.
fn check_surface_change(before: &BTreeSet<u32>, complex: &TetComplex, change: &TopologyChange) -> BTreeSet<u32> {
    let now: BTreeSet<u32> = complex.surface_faces().collect();
    assert!(now.difference(before).eq(&change.exposed));
    assert!(before.difference(&now).eq(&change.covered));
    now
}

/// Random splits and welds of a body.
struct RandomEdits {
    complex: TetComplex,
    positions: Vec<Vec3>,
    reference_volumes: Vec<Real>,
    rng: SequentialRng,
}

impl RandomEdits {
    fn new(seed: u64) -> Self {
        let mesh = TetMesh::grid([4, 4, 4], 0.25, 0.2);
        let reference_volumes = mesh.reference_elements().iter().map(|element| element.volume).collect();
        Self {
            complex: mesh.complex(),
            positions: mesh.nodes,
            reference_volumes,
            rng: CounterRng::new(seed, 0).sequence(),
        }
    }

    fn below(&mut self, count: usize) -> usize {
        ((self.rng.uniform() * count as Real) as usize).min(count - 1)
    }

    /// Splits a node along a plane, or at random.
    fn split(&mut self) -> Option<TopologyChange> {
        let node = self.below(self.complex.node_count()) as u32;
        let corners = self.complex.corners(node).to_vec();
        if corners.is_empty() {
            return None;
        }
        let (plane, is_random) = (self.rng.point(), self.rng.uniform() < 0.3);
        let mut groups = Vec::new();
        for corner in corners {
            let shape = self.complex.elements()[corner as usize / 4].map(|node| self.positions[node as usize]);
            let offset = 0.25 * shape.iter().sum::<Vec3>() - self.positions[node as usize];
            groups.push(if is_random { self.below(2) as u32 } else { 7 * u32::from(offset.dot(plane) > 0.0) });
        }
        let change = self.complex.split(node, &groups).unwrap();
        let position = self.positions[node as usize];
        self.positions.resize(self.complex.node_count(), position);
        if self.rng.uniform() < 0.3 {
            for (node, new_nodes) in self.complex.split_exposed_nodes(&change) {
                self.positions.resize(self.positions.len() + new_nodes.len(), self.positions[node as usize]);
            }
        }
        Some(change).filter(|change| !change.is_empty())
    }

    /// Welds a surface node to one at the same position, or to one nearby.
    fn weld(&mut self) -> Option<Result<(TopologyChange, bool), EditRejected>> {
        let nodes: Vec<u32> =
            (0..self.complex.node_count() as u32).filter(|&node| self.complex.is_on_surface(node)).collect();
        let a = nodes[self.below(nodes.len())];
        let radius = if self.rng.uniform() < 0.7 { 0.0 } else { 0.3 };
        let position_a = self.positions[a as usize];
        let nearby = |b: &&u32| **b != a && self.positions[**b as usize].distance(position_a) <= radius;
        let nearby: Vec<u32> = nodes.iter().filter(nearby).copied().collect();
        if nearby.is_empty() {
            return None;
        }
        let b = nearby[self.below(nearby.len())];
        let position_b = self.positions[b as usize];
        let position = 0.5 * (position_a + position_b);
        if let Err(rejection) =
            self.complex.check_weld([a, b], position, &self.positions, |element| self.reference_volumes[element], 0.05)
        {
            return Some(Err(rejection));
        }
        let change = self.complex.weld(a, b).unwrap();
        assert!(self.complex.corners(b).is_empty() && change.removed_node == Some(b));
        self.positions[a as usize] = position;
        Some(Ok((change, position_a == position_b)))
    }
}

#[test]
fn a_thousand_random_edits_keep_the_surface_valid_and_the_same_as_a_rebuilt_one() {
    let mut edits = RandomEdits::new(21);
    let mut faces: BTreeSet<u32> = edits.complex.surface_faces().collect();
    let (mut splits, mut welds, mut moved_welds, mut closed) = (0, 0, 0, 0);
    let mut refused = [0; 3];
    while splits + welds < 1000 {
        let volume = edits.complex.volume(&edits.positions);
        let change = if edits.rng.uniform() < 0.1 {
            let Some(change) = edits.split() else { continue };
            splits += 1;
            // New nodes are at the old position: not a digit changes.
            assert_eq!(edits.complex.volume(&edits.positions), volume);
            change
        } else {
            match edits.weld() {
                None => continue,
                Some(Err(rejection)) => {
                    match rejection {
                        EditRejected::RepeatedNode { .. } => refused[0] += 1,
                        EditRejected::VolumeTooSmall { .. } => refused[1] += 1,
                        _ => refused[2] += 1,
                    }
                    continue;
                }
                Some(Ok((change, is_same_position))) => {
                    welds += 1;
                    if is_same_position {
                        assert_eq!(edits.complex.volume(&edits.positions), volume);
                    } else {
                        moved_welds += 1;
                    }
                    closed += usize::from(!change.covered.is_empty());
                    change
                }
            }
        };
        faces = check_surface_change(&faces, &edits.complex, &change);
        check(&edits.complex, &edits.positions);
        assert_eq!(edits.complex.elements().len(), 384);
    }
    // All kinds of edits and of rejections occurred.
    assert!(splits > 50 && welds > 500 && moved_welds > 50 && closed > 100, "{splits} {welds} {moved_welds} {closed}");
    assert!(refused.iter().all(|count| *count > 0), "{refused:?}");
}

#[test]
fn a_complex_that_is_split_and_welded_back_is_unchanged() {
    let mesh = TetMesh::grid([3, 3, 3], 1.0, 0.0);
    let (start, mut complex) = (mesh.complex(), mesh.complex());
    let mut rng = CounterRng::new(5, 0).sequence();
    // Some nodes of the middle, then all others: the body falls to pieces.
    for node in [21, 22, 25, 26, 37, 38, 41, 42, 0, 63].into_iter().chain(0..64) {
        let groups: Vec<u32> = complex.corners(node).iter().map(|_| u32::from(rng.uniform() < 0.5)).collect();
        let change = complex.split(node, &groups).unwrap();
        let mut new_nodes = change.new_nodes.clone();
        let mut exposed = change.exposed.len();
        // All but a few are welded back at once, and their faces covered.
        if node % 5 != 0 {
            while let Some(last) = new_nodes.pop() {
                exposed -= complex.weld(node, last).unwrap().covered.len();
            }
            assert_eq!(exposed, 0);
        }
    }
    assert_ne!(complex, start);
    let mut number_of: Vec<u32> = (0..64).collect();
    number_of.resize(complex.node_count(), u32::MAX);
    for (element, first) in mesh.elements.iter().zip(complex.elements().to_vec()) {
        (0..4).for_each(|k| number_of[first[k] as usize] = element[k]);
    }
    for new_node in 64..complex.node_count() as u32 {
        if !complex.corners(new_node).is_empty() {
            complex.weld(number_of[new_node as usize], new_node).unwrap();
        }
    }
    assert_eq!(complex.elements(), start.elements());
    let numbers: Vec<u32> = (0..64).collect();
    complex.renumber(&numbers, 64).unwrap();
    assert_eq!(complex, start);
}

#[test]
fn coinciding_faces_leave_the_surface_and_a_third_is_refused() {
    // Three separate elements; the first two are welded at three nodes, one after the other.
    let mut complex = TetComplex::new(vec![[0, 1, 2, 3], [4, 6, 5, 7], [8, 10, 9, 11]], 12).unwrap();
    let all = complex.surface_faces().count();
    assert_eq!(all, 12);
    assert!(complex.weld(0, 4).unwrap().covered.is_empty());
    assert_eq!(complex.surface().topology().unwrap().euler_characteristics, [2, 2, 2], "touching in a node");
    assert!(complex.weld(1, 5).unwrap().covered.is_empty());
    assert_eq!(complex.surface().topology().unwrap().euler_characteristics, [2, 2, 2], "touching along an edge");
    let change = complex.weld(2, 6).unwrap();
    // The faces 0 1 2 of both, opposite to corner 3.
    assert_eq!(change.covered, [0, 4]);
    assert_eq!(complex.surface().topology().unwrap().euler_characteristics, [2, 2]);
    assert_eq!(
        (complex.opposite_face(0), complex.opposite_face(4), complex.opposite_face(8)),
        (Some(4), Some(0), None)
    );
    complex.weld(0, 8).unwrap();
    complex.weld(1, 9).unwrap();
    let before = complex.clone();
    assert!(matches!(complex.weld(2, 10), Err(EditRejected::NonManifold { .. })));
    assert_eq!(complex, before, "nothing changed");
    assert_eq!(complex, TetComplex::new(complex.elements().to_vec(), 12).unwrap());
    // Two on the same side of a face, and two with the same four nodes.
    let mut complex = TetComplex::new(vec![[0, 1, 2, 3], [4, 1, 2, 5]], 6).unwrap();
    assert_eq!(complex.weld(0, 4), Err(EditRejected::Overlap { elements: [0, 1] }));
    let mut complex = TetComplex::new(PAIR.to_vec(), 5).unwrap();
    assert_eq!(complex.weld(3, 4), Err(EditRejected::Overlap { elements: [0, 1] }));
    assert_eq!(complex.weld(0, 1), Err(EditRejected::RepeatedNode { element: 0 }));
    assert_eq!(complex.weld(0, 0), Err(EditRejected::RepeatedNode { element: 0 }));
    assert_eq!(complex.weld(0, 9), Err(EditRejected::NoCorners { node: 9 }));
    assert_eq!(complex.split(9, &[]), Err(EditRejected::NoCorners { node: 9 }));
    assert_eq!(complex.split(0, &[1]), Err(EditRejected::GroupCount { node: 0, corners: 2, groups: 1 }));
}

#[test]
fn components_of_a_node_that_share_no_face_are_split() {
    // Four elements in a row around the edge 0 1. The middle two leave node 0: the remaining ones share no
    // face there.
    let elements = vec![[0, 1, 2, 3], [0, 1, 3, 4], [0, 1, 4, 5], [0, 1, 5, 6]];
    let mut complex = TetComplex::new(elements, 7).unwrap();
    let change = complex.split(0, &[3, 9, 9, 3]).unwrap();
    assert_eq!(
        change,
        TopologyChange { new_nodes: vec![7, 8], removed_node: None, exposed: vec![1, 4, 9, 12], covered: vec![] }
    );
    assert_eq!(complex.elements(), [[0, 1, 2, 3], [7, 1, 3, 4], [7, 1, 4, 5], [8, 1, 5, 6]]);
    assert_eq!((complex.corners(0), complex.corners(7), complex.corners(8)), (&[0][..], &[4, 8][..], &[12][..]));
    // All still share node 1, in three components, and nodes 3 and 5, in two.
    assert_eq!(complex.surface().topology().unwrap().euler_characteristics, [2, 2, 2]);
    let faces: Vec<u32> = complex.surface_faces().collect();
    assert_eq!(complex.split_exposed_nodes(&change), [(1, vec![9, 10]), (3, vec![11]), (5, vec![12])]);
    assert!(complex.surface_faces().eq(faces));
    assert_eq!(complex.elements(), [[0, 1, 2, 3], [7, 9, 11, 4], [7, 9, 4, 5], [8, 10, 12, 6]]);
    assert_eq!(complex.split_exposed_nodes(&change), []);
    // A connected group stays.
    let before = complex.clone();
    assert!(complex.split(7, &[4, 4]).unwrap().is_empty());
    assert_eq!(complex, before);
}

#[test]
fn invalid_meshes_are_reported_with_their_elements() {
    let error_of = |elements: &[[u32; 4]]| TetComplex::new(elements.to_vec(), 8).unwrap_err();
    assert_eq!(error_of(&[[0, 1, 2, 8]]), InvalidMesh::NodeOutOfRange { element: 0, node: 8, nodes: 8 });
    assert_eq!(error_of(&[[0, 1, 2, 3], [4, 5, 6, 5]]), InvalidMesh::RepeatedNode { element: 1, node: 5 });
    assert_eq!(error_of(&[[0, 1, 2, 3], [0, 1, 2, 4]]), InvalidMesh::Overlap { nodes: [0, 1, 2], elements: [0, 1] });
    let three = error_of(&[[0, 1, 2, 3], [0, 2, 1, 4], [0, 1, 2, 5]]);
    assert_eq!(three, InvalidMesh::NonManifold { nodes: [0, 1, 2], count: 3 });
    assert!(three.to_string().contains("nodes 0, 1 and 2"));
    assert!(matches!(error_of(&[[0, 1, 2, 3], [0, 2, 1, 3]]), InvalidMesh::Overlap { .. }), "a reflected copy");
    assert_eq!(TetComplex::new(vec![], 3).unwrap().surface(), BoundarySurface::default());
}

#[test]
fn renumbering_nodes_changes_nothing_else() {
    let mut complex = TetComplex::new(PAIR.to_vec(), 5).unwrap();
    complex.split(0, &[0, 1]).unwrap();
    complex.weld(1, 2).unwrap_err();
    let before = complex.surface();
    complex.renumber(&[4, 3, 2, 1, 0, 9], 10).unwrap();
    assert_eq!(complex.elements(), [[4, 3, 2, 1], [9, 2, 3, 0]]);
    assert_eq!(complex, TetComplex::new(complex.elements().to_vec(), 10).unwrap());
    assert_eq!((complex.surface().faces, complex.surface().twins), (before.faces, before.twins));
    let now = complex.clone();
    assert_eq!(complex.renumber(&[0; 10], 10), Err(InvalidMesh::DuplicateNumber { number: 0 }));
    assert_eq!(complex.renumber(&[0, 1, 2, 3, 4], 10), Err(InvalidMesh::Unnumbered { node: 9 }));
    assert!(matches!(complex.renumber(&[7; 10], 7), Err(InvalidMesh::NodeOutOfRange { node: 7, nodes: 7, .. })));
    assert_eq!(complex, now);
}

#[test]
fn incrementally_refined_surfaces_equal_rebuilt_ones() {
    let mut edits = RandomEdits::new(22);
    let mut subdivisions: Vec<(SubdivisionScheme, u32, IncrementalSubdivision)> = SCHEMES
        .into_iter()
        .flat_map(|scheme| (0..3).map(move |levels| (scheme, levels, IncrementalSubdivision::new(scheme, levels))))
        .collect();
    let mut rebuilt = [0; 2];
    for iteration in 0..120 {
        // Sometimes several edits at once.
        for _ in 0..1 + iteration % 3 {
            if edits.rng.uniform() < 0.1 || edits.weld().is_none() {
                edits.split();
            }
        }
        if iteration % 40 == 39 {
            // Renumber nodes in between, in reverse, without removed ones.
            let mut numbers = vec![u32::MAX; edits.complex.node_count()];
            let mut count = 0;
            for node in (0..numbers.len()).rev().filter(|node| !edits.complex.corners(*node as u32).is_empty()) {
                numbers[node] = count;
                count += 1;
            }
            let mut positions = vec![Vec3::ZERO; count as usize];
            for (node, number) in numbers.iter().enumerate().filter(|(_, number)| **number != u32::MAX) {
                positions[*number as usize] = edits.positions[node];
            }
            edits.positions = positions;
            edits.complex.renumber(&numbers, count as usize).unwrap();
            subdivisions.iter_mut().for_each(|(_, _, subdivision)| subdivision.renumber(&numbers));
        }
        let surface = edits.complex.surface();
        let mesh = surface.half_edge_mesh().unwrap();
        for (scheme, levels, subdivision) in &mut subdivisions {
            let rebuilt_count = subdivision.update(mesh.clone(), &surface.faces);
            let fine = refine(&mesh, *scheme, *levels);
            assert_eq!((subdivision.triangles(), subdivision.weights()), (&fine.triangles[..], &fine.weights));
            if iteration > 0 && *levels == 2 {
                rebuilt[0] += rebuilt_count;
                rebuilt[1] += fine.weights.len();
            }
        }
    }
    assert!(2 * rebuilt[0] < rebuilt[1], "most vertices are reused: {rebuilt:?}");
}

#[test]
fn an_edit_rebuilds_as_many_vertices_in_a_large_body_as_in_a_small_one() {
    let rebuilt_count = |count: [u32; 3], scheme: SubdivisionScheme| {
        let mesh = TetMesh::grid(count, 1.0, 0.0);
        let (mut complex, mut subdivision) = (mesh.complex(), IncrementalSubdivision::new(scheme, 2));
        let all = subdivision.update(complex.surface().half_edge_mesh().unwrap(), &complex.surface().faces);
        assert_eq!(all, subdivision.weights().len());
        assert_eq!(
            subdivision.update(complex.surface().half_edge_mesh().unwrap(), &complex.surface().faces),
            0,
            "nothing changed"
        );
        // In the middle of the lower side, farther from its edges than the support of the masks.
        let node = mesh.nodes.iter().position(|p| *p == Vec3::new(6.0, 6.0, 0.0)).unwrap() as u32;
        let groups: Vec<u32> = complex
            .corners(node)
            .iter()
            .map(|&corner| u32::from(mesh.nodes[mesh.elements[corner as usize / 4][3] as usize].x > 6.0))
            .collect();
        assert!(!complex.split(node, &groups).unwrap().exposed.is_empty());
        subdivision.update(complex.surface().half_edge_mesh().unwrap(), &complex.surface().faces)
    };
    for scheme in SCHEMES {
        let (small, large) = (rebuilt_count([12, 12, 2], scheme), rebuilt_count([24, 24, 4], scheme));
        assert_eq!(small, large);
        assert!(small > 50);
    }
}
