//! The surface as spheres meet it.

use super::*;
use crate::tetra::collide::{Points, Shell};

const COUNT: [u32; 3] = [4, 3, 5];
const CELL: Real = 0.25;

/// A box that begins at the origin, and the corners of its outer faces.
fn chest() -> (Mesh, Vec<[Vec3; 3]>) {
    let mesh = Mesh::cells(COUNT, CELL, 0.2);
    let net = Net::new(mesh.elements.clone(), mesh.nodes.len()).unwrap();
    let faces = net.surface_faces().map(|face| net.face(face).map(|node| mesh.nodes[node as usize])).collect();
    (mesh, faces)
}

fn size() -> Vec3 {
    Vec3::from_array(COUNT.map(|count| count as Real * CELL))
}

/// How far a point is outside of the box, and how far inside, m.
fn distances(x: Vec3) -> [Real; 2] {
    let beyond = (-x).max(x - size());
    [beyond.max(Vec3::ZERO).length(), -beyond.max_element()]
}

/// Points in the box and around it.
fn points(count: usize) -> Vec<Vec3> {
    let mut random = Stream::new(9);
    (0..count).map(|_| (0.5 + 0.9 * random.point()) * size()).collect()
}

#[test]
fn the_nearest_place_of_a_box_is_as_far_as_the_box() {
    let (_, faces) = chest();
    let shell = Shell::new(faces, 0.1);
    for x in points(2000) {
        let [out, inside] = distances(x);
        let foot = shell.nearest(x, |_| true).unwrap();
        let expected = if out > 0.0 { out } else { inside };
        // Parts of a face are known to 6e-8 of its edges, 0.35 m.
        assert!((foot.way.length() as Real - expected).abs() < 1e-6, "{x}: {} of {expected}", foot.way.length());
        let along = foot.way.dot(shell.normal(foot.face));
        assert!(if inside > 1e-6 { along < 0.0 } else { along > -1e-6 }, "{x}: the face looks away");
    }
}

#[test]
fn every_face_within_reach_is_seen_and_none_beyond() {
    let (_, faces) = chest();
    let shell = Shell::new(faces.clone(), 0.05);
    let alone: Vec<Shell> = faces.iter().map(|face| Shell::new(vec![*face], 0.05)).collect();
    for x in points(200) {
        for reach in [0.03, 0.2, 0.7] {
            let mut seen = Vec::new();
            shell.visit(x, reach, |foot| seen.push(foot.face));
            seen.sort_unstable();
            seen.dedup();
            let is_near = |face: &u32| {
                let foot = alone[*face as usize].nearest(x, |_| true).unwrap();
                foot.way.length() <= f64::from(reach)
            };
            let expected: Vec<u32> = (0..faces.len() as u32).filter(is_near).collect();
            assert_eq!(seen, expected, "{x} within {reach}");
        }
    }
}

#[test]
fn what_is_not_wanted_is_not_near() {
    let (_, faces) = chest();
    let shell = Shell::new(faces, 0.05);
    let x = Vec3::new(0.5, 0.4, 0.01);
    let up = |face: u32| shell.normal(face).y > 0.9;
    let foot = shell.nearest(x, up).unwrap();
    assert!(up(foot.face) && (foot.way.length() - 0.35).abs() < 1e-6);
    assert_eq!(shell.nearest(x, |_| false), None);
}

#[test]
fn points_are_in_elements_if_they_are_in_the_box() {
    let (mesh, _) = chest();
    let points = points(2000);
    let sorted = Points::new(CELL, (0..).zip(points.iter().copied()));
    let mut is_in = vec![false; points.len()];
    for element in &mesh.elements {
        sorted.visit_inside(element.map(|node| mesh.nodes[node as usize]), |k| is_in[k as usize] = true);
    }
    for (x, is_in) in points.iter().zip(is_in) {
        let inside = distances(*x)[1];
        assert!(inside.abs() < 1e-6 || is_in == (inside > 0.0), "{x}");
    }
}

#[test]
fn places_that_are_no_numbers_are_nowhere() {
    let (mesh, mut faces) = chest();
    faces[0][1].x = Real::NAN;
    let shell = Shell::new(faces, 0.1);
    shell.visit(Vec3::splat(Real::NAN), 0.1, |foot| panic!("{foot:?}"));
    assert!(shell.nearest(Vec3::splat(0.1), |_| true).is_some());
    let points = Points::new(CELL, [(0, Vec3::splat(Real::NAN))].into_iter());
    points.visit_inside(mesh.elements[0].map(|node| mesh.nodes[node as usize]), |_| panic!("inside"));
    assert_eq!(Shell::new(Vec::new(), 0.1).nearest(Vec3::ZERO, |_| true), None);
}
