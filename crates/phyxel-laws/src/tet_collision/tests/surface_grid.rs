//! Closest points on a surface, and points inside elements.

use crate::Real;
use crate::fem::tests::TetMesh;
use crate::rng::CounterRng;
use crate::tet_collision::{PointGrid, SurfaceGrid};
use crate::tet_topology::TetComplex;
use glam::Vec3;

const COUNT: [u32; 3] = [4, 3, 5];
const CELL: Real = 0.25;

/// Box with a corner at the origin, and the corners of its surface faces.
fn box_mesh() -> (TetMesh, Vec<[Vec3; 3]>) {
    let mesh = TetMesh::grid(COUNT, CELL, 0.2);
    let complex = TetComplex::new(mesh.elements.clone(), mesh.nodes.len()).unwrap();
    let faces = complex.surface_faces().map(|face| complex.face(face).map(|node| mesh.nodes[node as usize])).collect();
    (mesh, faces)
}

fn box_size() -> Vec3 {
    Vec3::from_array(COUNT.map(|count| count as Real * CELL))
}

/// Distances of a point to the box from outside and from inside, m.
fn distances(x: Vec3) -> [Real; 2] {
    let beyond = (-x).max(x - box_size());
    [beyond.max(Vec3::ZERO).length(), -beyond.max_element()]
}

/// Random points in and around the box.
fn random_points(count: usize) -> Vec<Vec3> {
    let mut random = CounterRng::new(9, 0).sequence();
    (0..count).map(|_| (0.5 + 0.9 * random.point()) * box_size()).collect()
}

#[test]
fn the_closest_point_has_the_distance_of_the_box() {
    let (_, faces) = box_mesh();
    let grid = SurfaceGrid::new(faces, 0.1);
    for x in random_points(2000) {
        let [outside, inside] = distances(x);
        let closest = grid.closest(x, |_| true).unwrap();
        let expected = if outside > 0.0 { outside } else { inside };
        // Barycentric weights are rounded to 6e-8 of the edges, 0.35 m.
        assert!(
            (closest.offset.length() as Real - expected).abs() < 1e-6,
            "{x}: {} of {expected}",
            closest.offset.length()
        );
        let height = closest.offset.dot(grid.normal(closest.face));
        assert!(if inside > 1e-6 { height < 0.0 } else { height > -1e-6 }, "{x}: the face points away");
    }
}

#[test]
fn every_face_within_the_radius_is_visited_and_none_beyond() {
    let (_, faces) = box_mesh();
    let grid = SurfaceGrid::new(faces.clone(), 0.05);
    let single_faces: Vec<SurfaceGrid> = faces.iter().map(|face| SurfaceGrid::new(vec![*face], 0.05)).collect();
    for x in random_points(200) {
        for radius in [0.03, 0.2, 0.7] {
            let mut visited = Vec::new();
            grid.visit(x, radius, |closest| visited.push(closest.face));
            visited.sort_unstable();
            visited.dedup();
            let is_within = |face: &u32| {
                let closest = single_faces[*face as usize].closest(x, |_| true).unwrap();
                closest.offset.length() <= f64::from(radius)
            };
            let expected: Vec<u32> = (0..faces.len() as u32).filter(is_within).collect();
            assert_eq!(visited, expected, "{x} within {radius}");
        }
    }
}

#[test]
fn faces_that_are_not_selected_are_skipped() {
    let (_, faces) = box_mesh();
    let grid = SurfaceGrid::new(faces, 0.05);
    let x = Vec3::new(0.5, 0.4, 0.01);
    let up = |face: u32| grid.normal(face).y > 0.9;
    let closest = grid.closest(x, up).unwrap();
    assert!(up(closest.face) && (closest.offset.length() - 0.35).abs() < 1e-6);
    assert_eq!(grid.closest(x, |_| false), None);
}

#[test]
fn points_are_inside_elements_if_and_only_if_they_are_inside_the_box() {
    let (mesh, _) = box_mesh();
    let points = random_points(2000);
    let grid = PointGrid::new(CELL, (0..).zip(points.iter().copied()));
    let mut is_in = vec![false; points.len()];
    for element in &mesh.elements {
        grid.visit_inside(element.map(|node| mesh.nodes[node as usize]), |k| is_in[k as usize] = true);
    }
    for (x, is_in) in points.iter().zip(is_in) {
        let inside = distances(*x)[1];
        assert!(inside.abs() < 1e-6 || is_in == (inside > 0.0), "{x}");
    }
}

#[test]
fn non_finite_positions_are_nowhere() {
    let (mesh, mut faces) = box_mesh();
    faces[0][1].x = Real::NAN;
    let grid = SurfaceGrid::new(faces, 0.1);
    grid.visit(Vec3::splat(Real::NAN), 0.1, |closest| panic!("{closest:?}"));
    assert!(grid.closest(Vec3::splat(0.1), |_| true).is_some());
    let points = PointGrid::new(CELL, [(0, Vec3::splat(Real::NAN))].into_iter());
    points.visit_inside(mesh.elements[0].map(|node| mesh.nodes[node as usize]), |_| panic!("inside"));
    assert_eq!(SurfaceGrid::new(Vec::new(), 0.1).closest(Vec3::ZERO, |_| true), None);
}
