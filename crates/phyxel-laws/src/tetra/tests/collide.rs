//! Points in elements.

use super::*;
use crate::tetra::collide::{ANYWHERE, Bodies, Collider, Contact, Inside};
use glam::{Affine3A, DMat3};

/// Bodies of meshes.
#[derive(Default)]
struct Pile {
    positions: Vec<Vec3>,
    elements: Vec<[u32; 4]>,
    bodies: Vec<u32>,
    points: Vec<u32>,
    homes: Vec<u32>,
}

impl Pile {
    fn with(mut self, mesh: &Mesh, place: Affine3A, body: u32) -> Self {
        let first = self.positions.len() as u32;
        self.positions.extend(mesh.nodes.iter().map(|node| place.transform_point3(*node)));
        self.elements.extend(mesh.elements.iter().map(|element| element.map(|node| node + first)));
        self.bodies.resize(self.elements.len(), body);
        self.points = (0..self.positions.len() as u32).collect();
        self.homes.resize(self.positions.len(), ANYWHERE);
        self
    }

    fn faces(&self) -> Vec<u32> {
        Net::new(self.elements.clone(), self.positions.len()).unwrap().surface_faces().collect()
    }

    fn bodies<'a>(&'a self, faces: &'a [u32]) -> Bodies<'a> {
        let Self { positions, elements, bodies, points, homes } = self;
        Bodies { positions, elements, bodies, faces, points, homes }
    }

    fn find(&self) -> Vec<Contact> {
        Collider::default().find(&self.bodies(&self.faces()))
    }

    /// Where a contact touches, m.
    fn touched(&self, contact: &Contact) -> Vec3 {
        let element = self.elements[contact.face as usize / 4];
        let nodes = FACES[contact.face as usize % 4].map(|corner| self.positions[element[corner] as usize]);
        (0..3).map(|k| contact.parts[k] * nodes[k]).sum()
    }
}

fn shift(x: Real, y: Real, z: Real) -> Affine3A {
    Affine3A::from_translation(Vec3::new(x, y, z))
}

/// A block of 2 m, and a bar that is `depth` deep in the middle of its upper side; and how all is turned.
fn pressed(depth: Real, bodies: [u32; 2], cells: u32) -> (Pile, Affine3A) {
    let turned = Affine3A::from_quat(Stream::new(3).turn()) * shift(0.5, -0.7, 0.1);
    let bar = Mesh::cells([3, 3, 8], 0.2, 0.2);
    let block = Mesh::cells([cells; 3], 2.0 / cells as Real, 0.0);
    let pile = Pile::default().with(&bar, turned * shift(0.7, 0.7, 2.0 - depth), bodies[0]);
    (pile.with(&block, turned, bodies[1]), turned)
}

#[test]
fn a_bar_in_a_block_is_as_deep_as_it_was_put() {
    // From just below the surface to beyond the middle, where the lower side is nearer; the lowest nodes have a way out only by
    // others, in up to five rounds.
    for (depth, layers) in [(0.05, 1), (0.3, 2), (0.5, 3), (1.25, 7)] {
        for bodies in [[4, 9], [4, 4]] {
            let (pile, turned) = pressed(depth, bodies, 1);
            let back = turned.inverse();
            let up = turned.transform_vector3(Vec3::Z);
            let contacts = pile.find();
            assert_eq!(contacts.len(), 16 * layers, "{depth}");
            for contact in &contacts {
                let place = pile.positions[contact.node as usize];
                let exact = 2.0 - back.transform_point3(place).z;
                // Positions of up to 4 m are rounded to 2.4e-7 m in each of three directions, and so is the frame.
                assert!((contact.depth - exact).abs() < 2e-6, "{} {exact}", contact.depth);
                // Normals come from faces of 2 m in f64: only corners are rounded.
                assert!((contact.normal - up).length() < 2e-6);
                assert!(pile.touched(contact).distance(place + exact * up) < 4e-6);
                assert_eq!(contact.body, bodies[1]);
                let sum: Real = contact.parts.iter().sum();
                assert!((sum - 1.0).abs() < 1e-6 && contact.parts.iter().all(|part| (0.0..=1.0).contains(part)));
                assert!(!pile.elements[contact.element as usize].contains(&contact.node));
                // Edges lead from layer to layer: only those of the uppermost one inside cross the surface.
                assert_eq!(contact.is_crossed, contact.node as usize / 16 + 1 == layers);
                let unites = pile.positions[pile.bodies(&[]).nearest_node(contact) as usize];
                let element = pile.elements[contact.face as usize / 4];
                let corners = FACES[contact.face as usize % 4].map(|k| pile.positions[element[k] as usize]);
                assert!(
                    corners.contains(&unites) && corners.iter().all(|p| p.distance(place) >= unites.distance(place))
                );
            }
            assert!(contacts.is_sorted_by_key(|contact| (contact.node, contact.body)));
        }
    }
}

/// Points in elements by the inverse of each, and by nothing else.
fn by_force(pile: &Pile) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for (e, element) in pile.elements.iter().enumerate() {
        let [a, b, c, d] = element.map(|node| pile.positions[node as usize].as_dvec3());
        let inverse = DMat3::from_cols(b - a, c - a, d - a).inverse();
        for &node in pile.points.iter().filter(|node| !element.contains(node)) {
            let parts = inverse * (pile.positions[node as usize].as_dvec3() - a);
            if parts.min_element() >= 0.0 && parts.element_sum() <= 1.0 {
                pairs.push((node, e as u32));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Three boxes at random in each other.
fn heap(seed: u64) -> Pile {
    let mut random = Stream::new(seed);
    let mut pile = Pile::default();
    for (body, count) in [[4, 3, 3], [2, 2, 5], [3, 6, 1]].into_iter().enumerate() {
        let place = Affine3A::from_rotation_translation(random.turn(), 0.2 * random.point());
        let middle = -0.125 * Vec3::from_array(count.map(|n| n as Real));
        let place = place * Affine3A::from_translation(middle);
        pile = pile.with(&Mesh::cells(count, 0.25, 0.25), place, body as u32);
    }
    pile
}

#[test]
fn points_found_by_cells_are_those_found_by_force() {
    let mut total = 0;
    for seed in 0..20 {
        let pile = heap(seed);
        let faces = pile.faces();
        let (mut collider, mut found) = (Collider::default(), Vec::new());
        collider.sort_points(&pile.bodies(&faces));
        collider.find_inside(&pile.bodies(&faces), 0..pile.elements.len(), &mut found);
        let mut pairs: Vec<(u32, u32)> = found.iter().map(|inside| (inside.node, inside.element)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs, by_force(&pile));
        total += pairs.len();
        // A body that is far larger than its elements' mean finds the same.
        let mut pile = pile;
        let long = pile.positions.len() as u32;
        pile.positions.extend([Vec3::ZERO, Vec3::X * 50.0, Vec3::Y * 50.0, Vec3::Z * 50.0]);
        pile.elements.push([long, long + 1, long + 2, long + 3]);
        pile.bodies.push(7);
        found.clear();
        collider.sort_points(&pile.bodies(&faces));
        collider.find_inside(&pile.bodies(&faces), 0..pile.elements.len(), &mut found);
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), by_force(&pile).len());
    }
    assert!(total > 500, "{total}");
}

#[test]
fn contacts_do_not_depend_on_the_order_in_which_things_are_looked_at() {
    for seed in 0..20 {
        let mut pile = heap(seed);
        let faces = pile.faces();
        let mut collider = Collider::default();
        let contacts = collider.find(&pile.bodies(&faces));
        let lost: Vec<Inside> = collider.lost().copied().collect();
        assert!(contacts.len() > 5 && contacts.is_sorted_by_key(|contact| (contact.node, contact.body)));
        assert!(contacts.iter().all(|contact| contact.depth >= 0.0 && (contact.normal.length() - 1.0).abs() < 1e-6));
        pile.points.reverse();
        // The same room again, and elements in parts, the last first.
        let mut found = Vec::new();
        collider.sort_points(&pile.bodies(&faces));
        for start in (0..pile.elements.len()).step_by(50).rev() {
            let end = (start + 50).min(pile.elements.len());
            collider.find_inside(&pile.bodies(&faces), start..end, &mut found);
        }
        let count = collider.take(&pile.bodies(&faces), found);
        let halves = [0..count / 2, count / 2..count];
        let ways = halves.each_ref().map(|half| collider.find_ways(&pile.bodies(&faces), half.clone()));
        collider.hand_on(&pile.bodies(&faces), ways.concat());
        let found = halves.map(|half| collider.find_contacts(&pile.bodies(&faces), half));
        assert_eq!(found.concat(), contacts);
        assert_eq!(collider.lost().copied().collect::<Vec<Inside>>(), lost);
    }
}

#[test]
fn nodes_are_not_looked_for_at_home() {
    let (mut pile, _) = pressed(0.3, [4, 9], 1);
    let found = pile.find();
    let bar = 4 * 4 * 9;
    pile.homes = (0..pile.positions.len()).map(|node| if node < bar { 4 } else { 9 }).collect();
    assert_eq!(pile.find(), found);
    pile.homes[..bar].fill(9);
    assert!(!found.is_empty() && pile.find().is_empty());
}

#[test]
fn depths_follow_a_bar_that_sinks_through_the_middle_of_a_block() {
    // The nearest face would flip from the upper side to the lower one; and nodes pass from element to element of the block.
    let mut last: Vec<Contact> = Vec::new();
    for step in 0..100 {
        let contacts = pressed(0.9 + 0.002 * step as Real, [0, 1], 3).0.find();
        for (old, new) in last.iter().filter_map(|old| Some((old, contacts.iter().find(|c| c.node == old.node)?))) {
            // Two depths, each as exact as positions of up to 4 m in three directions.
            assert!((new.depth - old.depth - 0.002).abs() < 4e-6, "{} to {}", old.depth, new.depth);
            assert!((new.normal - old.normal).length() < 4e-6);
        }
        assert!(contacts.len() >= last.len());
        last = contacts;
    }
    assert_eq!(last.len(), 6 * 16);
}

#[test]
fn a_body_at_rest_and_one_that_has_just_cracked_do_not_collide() {
    let mesh = Mesh::cells([4, 4, 4], 0.3, 0.2);
    let mut net = Net::new(mesh.elements.clone(), mesh.nodes.len()).unwrap();
    let mut pile = Pile::default().with(&mesh, shift(5.0, 3.0, -2.0), 0);
    assert_eq!(pile.find(), []);
    // All nodes in the middle part; the halves touch in a plane of the same nodes.
    for node in (0..125).filter(|node| node % 5 == 2) {
        let right = |corner: &u32| mesh.elements[*corner as usize / 4].iter().any(|node| node % 5 > 2);
        let groups: Vec<u32> = net.corners(node).iter().map(|corner| u32::from(right(corner))).collect();
        let place = pile.positions[node as usize];
        assert_eq!(net.split(node, &groups).unwrap().born.len(), 1);
        pile.positions.push(place);
        pile.homes.push(ANYWHERE);
    }
    pile.elements = net.elements().to_vec();
    pile.points = (0..150).collect();
    assert_eq!(pile.find(), []);
    // One half moves into the other by a third of a cell: both find it.
    let mut right: Vec<u32> = (0..pile.elements.len())
        .filter(|e| mesh.elements[*e].iter().any(|node| node % 5 > 2))
        .flat_map(|e| pile.elements[e])
        .collect();
    right.sort_unstable();
    right.dedup();
    right.iter().for_each(|node| pile.positions[*node as usize].x -= 0.1);
    let contacts = pile.find();
    let count = |normal: Vec3| contacts.iter().filter(|contact| contact.normal.dot(normal) > 0.9).count();
    // Nine on each side that are not on the rim, which slides along the surface.
    assert!(count(Vec3::X) >= 9 && count(Vec3::NEG_X) >= 9, "{contacts:?}");
}

#[test]
fn what_has_no_way_out_is_told_and_what_is_no_number_is_nowhere() {
    let small = Mesh::cells([1, 1, 1], 0.2, 0.0);
    let large = Mesh::cells([1, 1, 1], 2.0, 0.0);
    let mut pile = Pile::default().with(&small, shift(0.9, 0.7, 0.8), 1).with(&large, Affine3A::IDENTITY, 2);
    let faces = pile.faces();
    let mut collider = Collider::default();
    assert_eq!(collider.find(&pile.bodies(&faces)), []);
    let lost: Vec<u32> = collider.lost().map(|inside| inside.node).collect();
    assert_eq!(lost, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert!(collider.lost().all(|inside| inside.body == 2));
    pile.positions[0] = Vec3::NAN;
    pile.positions[3] = Vec3::new(Real::INFINITY, 0.5, 0.5);
    assert_eq!(collider.find(&pile.bodies(&faces)), []);
    assert_eq!(collider.lost().count(), 6);
    let nothing = Pile::default();
    assert_eq!(collider.find(&nothing.bodies(&[])), []);
    assert_eq!(collider.lost().count(), 0);
}

#[test]
fn a_node_in_two_bodies_has_a_depth_in_each() {
    let needle = Mesh::cells([1, 1, 4], 0.25, 0.0);
    let large = Mesh::cells([1, 1, 1], 2.0, 0.0);
    let pile = Pile::default().with(&needle, shift(0.9, 0.8, -0.4), 0);
    // Upper sides at 0 m and at 0.3 m.
    let pile = pile.with(&large, shift(0.0, 0.1, -2.0), 1).with(&large, shift(-0.1, 0.0, -1.7), 2);
    let contacts = pile.find();
    for contact in contacts.iter().filter(|contact| contact.node < 20) {
        let top = if contact.body == 1 { 0.0 } else { 0.3 };
        let exact = top - pile.positions[contact.node as usize].z;
        assert!((contact.depth - exact).abs() < 1e-6, "{contact:?}");
    }
    let of = |body: u32| contacts.iter().filter(|contact| contact.node < 20 && contact.body == body).count();
    assert_eq!((of(1), of(2)), (8, 12));
}

#[test]
fn an_edge_that_leaves_a_body_twice_counts_where_it_first_does() {
    let plate = |z: Real| shift(0.0, 0.0, z) * Affine3A::from_scale(Vec3::new(1.0, 1.0, 0.1));
    let (large, cube) = (Mesh::cells([1, 1, 1], 3.0, 0.0), Mesh::cells([1, 1, 1], 1.0, 0.0));
    // Two plates of one body, 0.3 m thick: the cube reaches through the upper one and 0.05 m into the lower one.
    for heights in [[-0.25, 0.4], [0.4, -0.25]] {
        let pile = Pile::default().with(&cube, shift(1.1, 0.9, 0.0), 0);
        let pile = pile.with(&large, plate(heights[0]), 1).with(&large, plate(heights[1]), 1);
        let contacts = pile.find();
        assert_eq!(contacts.iter().map(|contact| contact.node).collect::<Vec<_>>(), [0, 1, 2, 3]);
        // Heights of order 1 are rounded to 6e-8.
        assert!(contacts.iter().all(|contact| (contact.depth - 0.05).abs() < 1e-6 && contact.normal.z > 0.999));
    }
}

#[test]
fn flat_mirrored_and_endless_elements_do_no_harm() {
    let mut random = Stream::new(8);
    let mut total = 0;
    for seed in 0..50 {
        let mut pile = heap(seed);
        let faces = pile.faces();
        for _ in 0..60 {
            let [a, b] = [random.unit(), random.unit()].map(|part| (part * 100.0) as usize);
            pile.positions[a] = match (random.unit() * 8.0) as u32 {
                0 => Vec3::NAN,
                1 => 1e30 * random.point(),
                2..5 => pile.positions[b],
                _ => pile.positions[a] + 0.5 * random.point(),
            };
        }
        let mut collider = Collider::default();
        for contact in collider.find(&pile.bodies(&faces)) {
            assert!(contact.depth >= 0.0 && contact.depth.is_finite());
            assert!((contact.normal.length() - 1.0).abs() < 1e-6);
            assert!(contact.parts.iter().all(|part| (0.0..=1.0).contains(part)), "{contact:?}");
            total += 1;
        }
    }
    assert!(total > 500, "{total}");
}

#[test]
fn two_cubes_that_stick_become_one() {
    // The upper one is 0.02 m inside the lower one, and a little to the side, so that nodes lie on no face.
    let cube = Mesh::cells([2, 2, 2], 0.5, 0.0);
    let mut pile = Pile::default().with(&cube, Affine3A::IDENTITY, 0).with(&cube, shift(0.03, 0.02, 0.98), 1);
    let mut net = Net::new(pile.elements.clone(), pile.positions.len()).unwrap();
    assert_eq!(net.surface().census().unwrap().sheets, [2, 2]);
    let rest = vec![volume([Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z]) / 8.0; pile.elements.len()];
    let contacts = pile.find();
    let (mut joined, mut covered) = (0, 0);
    for contact in contacts.iter().filter(|contact| contact.is_crossed) {
        let [a, b] = [contact.node, pile.bodies(&[]).nearest_node(contact)];
        let place = 0.5 * (pile.positions[a as usize] + pile.positions[b as usize]);
        if net.allows_join([a, b], place, &pile.positions, |element| rest[element], 0.5).is_ok() {
            covered += net.join(a, b).unwrap().covered.len();
            pile.positions[a as usize] = place;
            joined += 1;
        }
    }
    // Of nine pairs, two at corners are beside each other, not inside. Each has one of the eight faces.
    assert_eq!((joined, covered), (7, 12));
    assert_eq!(net.surface().census().unwrap().sheets, [2]);
    let (inside, all) = (net.surface().volume(&pile.positions), net.volume(&pile.positions));
    assert!((inside - all).abs() < 1e-12 && (all - 2.0).abs() < 0.05, "{inside} {all}");
    // What is one body now does not collide with itself.
    pile.elements = net.elements().to_vec();
    pile.points = (0..pile.positions.len() as u32).filter(|&node| !net.corners(node).is_empty()).collect();
    assert_eq!(pile.find(), []);
}
