//! Penetration depths between tetrahedral meshes.

use crate::Real;
use crate::fem::signed_volume;
use crate::fem::tests::TetMesh;
use crate::rng::CounterRng;
use crate::tet_collision::{CollisionDetector, CollisionMeshes, NO_EXCLUSION, Penetration, PointInTet};
use crate::tet_topology::{FACES, TetComplex};
use glam::{Affine3A, DMat3, Vec3};

/// Several meshes in one set of arrays.
#[derive(Default)]
struct Meshes {
    positions: Vec<Vec3>,
    elements: Vec<[u32; 4]>,
    element_bodies: Vec<u32>,
    query_nodes: Vec<u32>,
    excluded_bodies: Vec<u32>,
}

impl Meshes {
    fn with(mut self, mesh: &TetMesh, placement: Affine3A, body: u32) -> Self {
        let first = self.positions.len() as u32;
        self.positions.extend(mesh.nodes.iter().map(|node| placement.transform_point3(*node)));
        self.elements.extend(mesh.elements.iter().map(|element| element.map(|node| node + first)));
        self.element_bodies.resize(self.elements.len(), body);
        self.query_nodes = (0..self.positions.len() as u32).collect();
        self.excluded_bodies.resize(self.positions.len(), NO_EXCLUSION);
        self
    }

    fn faces(&self) -> Vec<u32> {
        TetComplex::new(self.elements.clone(), self.positions.len()).unwrap().surface_faces().collect()
    }

    fn view<'a>(&'a self, faces: &'a [u32]) -> CollisionMeshes<'a> {
        let Self { positions, elements, element_bodies, query_nodes, excluded_bodies } = self;
        CollisionMeshes { positions, elements, element_bodies, faces, query_nodes, excluded_bodies }
    }

    fn detect(&self) -> Vec<Penetration> {
        CollisionDetector::default().detect(&self.view(&self.faces()))
    }

    /// Contact point on the surface face, m.
    fn contact_point(&self, penetration: &Penetration) -> Vec3 {
        let element = self.elements[penetration.face as usize / 4];
        let nodes = FACES[penetration.face as usize % 4].map(|corner| self.positions[element[corner] as usize]);
        (0..3).map(|k| penetration.barycentric[k] * nodes[k]).sum()
    }
}

fn translation(x: Real, y: Real, z: Real) -> Affine3A {
    Affine3A::from_translation(Vec3::new(x, y, z))
}

/// Block of 2 m, and a bar that penetrates the middle of its upper side by `depth`, with the placement of both.
fn bar_in_block(depth: Real, bodies: [u32; 2], cells: u32) -> (Meshes, Affine3A) {
    let placement = Affine3A::from_quat(CounterRng::new(3, 0).sequence().rotation()) * translation(0.5, -0.7, 0.1);
    let bar = TetMesh::grid([3, 3, 8], 0.2, 0.2);
    let block = TetMesh::grid([cells; 3], 2.0 / cells as Real, 0.0);
    let meshes = Meshes::default().with(&bar, placement * translation(0.7, 0.7, 2.0 - depth), bodies[0]);
    (meshes.with(&block, placement, bodies[1]), placement)
}

#[test]
fn a_bar_in_a_block_has_its_exact_depth() {
    // From just below the surface to beyond the middle, where the lower side is closer; the lowest nodes
    // have an exit path only by propagation, in up to five rings.
    for (depth, layers) in [(0.05, 1), (0.3, 2), (0.5, 3), (1.25, 7)] {
        for bodies in [[4, 9], [4, 4]] {
            let (meshes, placement) = bar_in_block(depth, bodies, 1);
            let back = placement.inverse();
            let up = placement.transform_vector3(Vec3::Z);
            let penetrations = meshes.detect();
            assert_eq!(penetrations.len(), 16 * layers, "{depth}");
            for penetration in &penetrations {
                let position = meshes.positions[penetration.node as usize];
                let exact = 2.0 - back.transform_point3(position).z;
                // Positions of up to 4 m are rounded to 2.4e-7 m in each direction, and so is the placement.
                assert!((penetration.depth - exact).abs() < 2e-6, "{} {exact}", penetration.depth);
                // Normals are computed from faces of 2 m in f64: only corners are rounded.
                assert!((penetration.normal - up).length() < 2e-6);
                assert!(meshes.contact_point(penetration).distance(position + exact * up) < 4e-6);
                assert_eq!(penetration.body, bodies[1]);
                let sum: Real = penetration.barycentric.iter().sum();
                assert!(
                    (sum - 1.0).abs() < 1e-6
                        && penetration.barycentric.iter().all(|weight| (0.0..=1.0).contains(weight))
                );
                assert!(!meshes.elements[penetration.element as usize].contains(&penetration.node));
                // Edges connect adjacent layers: only those of the uppermost layer inside cross the surface.
                assert_eq!(penetration.crosses_surface, penetration.node as usize / 16 + 1 == layers);
                let weld_target = meshes.positions[meshes.view(&[]).closest_node(penetration) as usize];
                let element = meshes.elements[penetration.face as usize / 4];
                let corners = FACES[penetration.face as usize % 4].map(|k| meshes.positions[element[k] as usize]);
                assert!(
                    corners.contains(&weld_target)
                        && corners.iter().all(|p| p.distance(position) >= weld_target.distance(position))
                );
            }
            assert!(penetrations.is_sorted_by_key(|penetration| (penetration.node, penetration.body)));
        }
    }
}

/// Points in elements by brute force, with the inverse of each element's map.
fn brute_force_points_in_tets(meshes: &Meshes) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for (e, element) in meshes.elements.iter().enumerate() {
        let [a, b, c, d] = element.map(|node| meshes.positions[node as usize].as_dvec3());
        let inverse = DMat3::from_cols(b - a, c - a, d - a).inverse();
        for &node in meshes.query_nodes.iter().filter(|node| !element.contains(node)) {
            let barycentric = inverse * (meshes.positions[node as usize].as_dvec3() - a);
            if barycentric.min_element() >= 0.0 && barycentric.element_sum() <= 1.0 {
                pairs.push((node, e as u32));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Three boxes that overlap at random.
fn random_boxes(seed: u64) -> Meshes {
    let mut rng = CounterRng::new(seed, 0).sequence();
    let mut meshes = Meshes::default();
    for (body, count) in [[4, 3, 3], [2, 2, 5], [3, 6, 1]].into_iter().enumerate() {
        let position = Affine3A::from_rotation_translation(rng.rotation(), 0.2 * rng.point());
        let middle = -0.125 * Vec3::from_array(count.map(|n| n as Real));
        let position = position * Affine3A::from_translation(middle);
        meshes = meshes.with(&TetMesh::grid(count, 0.25, 0.25), position, body as u32);
    }
    meshes
}

#[test]
fn the_spatial_hash_finds_the_same_points_as_brute_force() {
    let mut total = 0;
    for seed in 0..20 {
        let meshes = random_boxes(seed);
        let faces = meshes.faces();
        let (mut detector, mut found) = (CollisionDetector::default(), Vec::new());
        detector.sort_points(&meshes.view(&faces));
        detector.find_points_in_tets(&meshes.view(&faces), 0..meshes.elements.len(), &mut found);
        let mut pairs: Vec<(u32, u32)> = found.iter().map(|point| (point.node, point.element)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs, brute_force_points_in_tets(&meshes));
        total += pairs.len();
        // An element far larger than the mean finds the same.
        let mut meshes = meshes;
        let long = meshes.positions.len() as u32;
        meshes.positions.extend([Vec3::ZERO, Vec3::X * 50.0, Vec3::Y * 50.0, Vec3::Z * 50.0]);
        meshes.elements.push([long, long + 1, long + 2, long + 3]);
        meshes.element_bodies.push(7);
        found.clear();
        detector.sort_points(&meshes.view(&faces));
        detector.find_points_in_tets(&meshes.view(&faces), 0..meshes.elements.len(), &mut found);
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), brute_force_points_in_tets(&meshes).len());
    }
    assert!(total > 500, "{total}");
}

#[test]
fn penetrations_do_not_depend_on_the_order_of_processing() {
    for seed in 0..20 {
        let mut meshes = random_boxes(seed);
        let faces = meshes.faces();
        let mut detector = CollisionDetector::default();
        let penetrations = detector.detect(&meshes.view(&faces));
        let unresolved: Vec<PointInTet> = detector.unresolved().copied().collect();
        assert!(
            penetrations.len() > 5 && penetrations.is_sorted_by_key(|penetration| (penetration.node, penetration.body))
        );
        assert!(
            penetrations
                .iter()
                .all(|penetration| penetration.depth >= 0.0 && (penetration.normal.length() - 1.0).abs() < 1e-6)
        );
        meshes.query_nodes.reverse();
        // The same buffers again, and ranges of elements in reverse order.
        let mut found = Vec::new();
        detector.sort_points(&meshes.view(&faces));
        for start in (0..meshes.elements.len()).step_by(50).rev() {
            let end = (start + 50).min(meshes.elements.len());
            detector.find_points_in_tets(&meshes.view(&faces), start..end, &mut found);
        }
        let count = detector.set_points_in_tets(&meshes.view(&faces), found);
        let halves = [0..count / 2, count / 2..count];
        let paths = halves.each_ref().map(|half| detector.find_exit_paths(&meshes.view(&faces), half.clone()));
        detector.propagate(&meshes.view(&faces), paths.concat());
        let found = halves.map(|half| detector.find_penetrations(&meshes.view(&faces), half));
        assert_eq!(found.concat(), penetrations);
        assert_eq!(detector.unresolved().copied().collect::<Vec<PointInTet>>(), unresolved);
    }
}

#[test]
fn nodes_are_not_tested_against_excluded_bodies() {
    let (mut meshes, _) = bar_in_block(0.3, [4, 9], 1);
    let found = meshes.detect();
    let bar = 4 * 4 * 9;
    meshes.excluded_bodies = (0..meshes.positions.len()).map(|node| if node < bar { 4 } else { 9 }).collect();
    assert_eq!(meshes.detect(), found);
    meshes.excluded_bodies[..bar].fill(9);
    assert!(!found.is_empty() && meshes.detect().is_empty());
}

#[test]
fn depths_are_continuous_for_a_bar_that_sinks_through_the_middle_of_a_block() {
    // The closest face would flip from the upper side to the lower one; and nodes pass from element to
    // element of the block.
    let mut last: Vec<Penetration> = Vec::new();
    for step in 0..100 {
        let penetrations = bar_in_block(0.9 + 0.002 * step as Real, [0, 1], 3).0.detect();
        for (old, new) in last.iter().filter_map(|old| Some((old, penetrations.iter().find(|c| c.node == old.node)?))) {
            // Two depths, each with the rounding of positions of up to 4 m in three directions.
            assert!((new.depth - old.depth - 0.002).abs() < 4e-6, "{} to {}", old.depth, new.depth);
            assert!((new.normal - old.normal).length() < 4e-6);
        }
        assert!(penetrations.len() >= last.len());
        last = penetrations;
    }
    assert_eq!(last.len(), 6 * 16);
}

#[test]
fn an_undeformed_body_and_one_that_has_just_fractured_do_not_self_collide() {
    let mesh = TetMesh::grid([4, 4, 4], 0.3, 0.2);
    let mut complex = TetComplex::new(mesh.elements.clone(), mesh.nodes.len()).unwrap();
    let mut meshes = Meshes::default().with(&mesh, translation(5.0, 3.0, -2.0), 0);
    assert_eq!(meshes.detect(), []);
    // All nodes in the middle plane are split; the halves touch in that plane.
    for node in (0..125).filter(|node| node % 5 == 2) {
        let right = |corner: &u32| mesh.elements[*corner as usize / 4].iter().any(|node| node % 5 > 2);
        let groups: Vec<u32> = complex.corners(node).iter().map(|corner| u32::from(right(corner))).collect();
        let position = meshes.positions[node as usize];
        assert_eq!(complex.split(node, &groups).unwrap().new_nodes.len(), 1);
        meshes.positions.push(position);
        meshes.excluded_bodies.push(NO_EXCLUSION);
    }
    meshes.elements = complex.elements().to_vec();
    meshes.query_nodes = (0..150).collect();
    assert_eq!(meshes.detect(), []);
    // One half moves into the other by a third of a cell: both detect it.
    let mut right: Vec<u32> = (0..meshes.elements.len())
        .filter(|e| mesh.elements[*e].iter().any(|node| node % 5 > 2))
        .flat_map(|e| meshes.elements[e])
        .collect();
    right.sort_unstable();
    right.dedup();
    right.iter().for_each(|node| meshes.positions[*node as usize].x -= 0.1);
    let penetrations = meshes.detect();
    let count = |normal: Vec3| penetrations.iter().filter(|penetration| penetration.normal.dot(normal) > 0.9).count();
    // Nine on each side that are not on the edge, which slides along the surface.
    assert!(count(Vec3::X) >= 9 && count(Vec3::NEG_X) >= 9, "{penetrations:?}");
}

#[test]
fn nodes_without_exit_path_are_unresolved_and_non_finite_ones_are_ignored() {
    let small = TetMesh::grid([1, 1, 1], 0.2, 0.0);
    let large = TetMesh::grid([1, 1, 1], 2.0, 0.0);
    let mut meshes = Meshes::default().with(&small, translation(0.9, 0.7, 0.8), 1).with(&large, Affine3A::IDENTITY, 2);
    let faces = meshes.faces();
    let mut detector = CollisionDetector::default();
    assert_eq!(detector.detect(&meshes.view(&faces)), []);
    let unresolved: Vec<u32> = detector.unresolved().map(|point| point.node).collect();
    assert_eq!(unresolved, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert!(detector.unresolved().all(|point| point.body == 2));
    meshes.positions[0] = Vec3::NAN;
    meshes.positions[3] = Vec3::new(Real::INFINITY, 0.5, 0.5);
    assert_eq!(detector.detect(&meshes.view(&faces)), []);
    assert_eq!(detector.unresolved().count(), 6);
    let nothing = Meshes::default();
    assert_eq!(detector.detect(&nothing.view(&[])), []);
    assert_eq!(detector.unresolved().count(), 0);
}

#[test]
fn a_node_in_two_bodies_has_a_depth_in_each() {
    let needle = TetMesh::grid([1, 1, 4], 0.25, 0.0);
    let large = TetMesh::grid([1, 1, 1], 2.0, 0.0);
    let meshes = Meshes::default().with(&needle, translation(0.9, 0.8, -0.4), 0);
    // Upper sides at 0 m and at 0.3 m.
    let meshes = meshes.with(&large, translation(0.0, 0.1, -2.0), 1).with(&large, translation(-0.1, 0.0, -1.7), 2);
    let penetrations = meshes.detect();
    for penetration in penetrations.iter().filter(|penetration| penetration.node < 20) {
        let top = if penetration.body == 1 { 0.0 } else { 0.3 };
        let exact = top - meshes.positions[penetration.node as usize].z;
        assert!((penetration.depth - exact).abs() < 1e-6, "{penetration:?}");
    }
    let of =
        |body: u32| penetrations.iter().filter(|penetration| penetration.node < 20 && penetration.body == body).count();
    assert_eq!((of(1), of(2)), (8, 12));
}

#[test]
fn an_edge_that_leaves_a_body_twice_counts_at_its_first_exit() {
    let plate = |z: Real| translation(0.0, 0.0, z) * Affine3A::from_scale(Vec3::new(1.0, 1.0, 0.1));
    let (large, cube) = (TetMesh::grid([1, 1, 1], 3.0, 0.0), TetMesh::grid([1, 1, 1], 1.0, 0.0));
    // Two plates of one body, 0.3 m thick: the cube extends through the upper one and 0.05 m into the lower
    // one.
    for heights in [[-0.25, 0.4], [0.4, -0.25]] {
        let meshes = Meshes::default().with(&cube, translation(1.1, 0.9, 0.0), 0);
        let meshes = meshes.with(&large, plate(heights[0]), 1).with(&large, plate(heights[1]), 1);
        let penetrations = meshes.detect();
        assert_eq!(penetrations.iter().map(|penetration| penetration.node).collect::<Vec<_>>(), [0, 1, 2, 3]);
        // Heights of order 1 are rounded to 6e-8.
        assert!(
            penetrations
                .iter()
                .all(|penetration| (penetration.depth - 0.05).abs() < 1e-6 && penetration.normal.z > 0.999)
        );
    }
}

#[test]
fn flat_inverted_and_infinite_elements_give_finite_results() {
    let mut rng = CounterRng::new(8, 0).sequence();
    let mut total = 0;
    for seed in 0..50 {
        let mut meshes = random_boxes(seed);
        let faces = meshes.faces();
        for _ in 0..60 {
            let [a, b] = [rng.uniform(), rng.uniform()].map(|x| (x * 100.0) as usize);
            meshes.positions[a] = match (rng.uniform() * 8.0) as u32 {
                0 => Vec3::NAN,
                1 => 1e30 * rng.point(),
                2..5 => meshes.positions[b],
                _ => meshes.positions[a] + 0.5 * rng.point(),
            };
        }
        let mut detector = CollisionDetector::default();
        for penetration in detector.detect(&meshes.view(&faces)) {
            assert!(penetration.depth >= 0.0 && penetration.depth.is_finite());
            assert!((penetration.normal.length() - 1.0).abs() < 1e-6);
            assert!(penetration.barycentric.iter().all(|weight| (0.0..=1.0).contains(weight)), "{penetration:?}");
            total += 1;
        }
    }
    assert!(total > 500, "{total}");
}

#[test]
fn two_sticky_cubes_are_welded() {
    // The upper one is 0.02 m inside the lower one, and a little to the side, so that nodes lie on no face.
    let cube = TetMesh::grid([2, 2, 2], 0.5, 0.0);
    let mut meshes = Meshes::default().with(&cube, Affine3A::IDENTITY, 0).with(&cube, translation(0.03, 0.02, 0.98), 1);
    let mut complex = TetComplex::new(meshes.elements.clone(), meshes.positions.len()).unwrap();
    assert_eq!(complex.surface().topology().unwrap().euler_characteristics, [2, 2]);
    let reference_volumes = vec![signed_volume([Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z]) / 8.0; meshes.elements.len()];
    let penetrations = meshes.detect();
    let (mut welded, mut covered) = (0, 0);
    for penetration in penetrations.iter().filter(|penetration| penetration.crosses_surface) {
        let [a, b] = [penetration.node, meshes.view(&[]).closest_node(penetration)];
        let position = 0.5 * (meshes.positions[a as usize] + meshes.positions[b as usize]);
        if complex.check_weld([a, b], position, &meshes.positions, |element| reference_volumes[element], 0.5).is_ok() {
            covered += complex.weld(a, b).unwrap().covered.len();
            meshes.positions[a as usize] = position;
            welded += 1;
        }
    }
    // Of nine pairs, two at corners are beside each other, not inside. Each has one of the eight faces.
    assert_eq!((welded, covered), (7, 12));
    assert_eq!(complex.surface().topology().unwrap().euler_characteristics, [2]);
    let (inside, all) = (complex.surface().volume(&meshes.positions), complex.volume(&meshes.positions));
    assert!((inside - all).abs() < 1e-12 && (all - 2.0).abs() < 0.05, "{inside} {all}");
    // The welded body does not collide with itself.
    meshes.elements = complex.elements().to_vec();
    meshes.query_nodes = (0..meshes.positions.len() as u32).filter(|&node| !complex.corners(node).is_empty()).collect();
    assert_eq!(meshes.detect(), []);
}
