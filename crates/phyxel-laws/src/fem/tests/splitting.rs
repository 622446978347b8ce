//! Splitting of nodes by constraint forces.

use super::*;

fn corner_load(force: Vec3, strength: Real) -> CornerLoad {
    CornerLoad { mass: 0.25, force, strength, outward: None }
}

#[test]
fn constraint_forces_give_all_corners_one_acceleration_and_sum_to_zero() {
    let mut rng = CounterRng::new(9, 0).sequence();
    let corners: Vec<CornerLoad> =
        (0..24).map(|_| CornerLoad { mass: 0.1 + rng.uniform(), ..corner_load(rng.point(), 1.0) }).collect();
    let constraints: Vec<Vec3> = (0..24).map(|k| constraint_force(&corners, k)).collect();
    let total: Vec3 = constraints.iter().sum();
    assert!(total.length() < 1e-5);
    let acceleration = |k: usize| (corners[k].force + constraints[k]) / corners[k].mass;
    // Accelerations of order 1, over masses from 0.1, are rounded a few times.
    (1..24).for_each(|k| assert!((acceleration(k) - acceleration(0)).length() < 1e-5));
    // The source's eq. 15 for a Verlet step from the same position: m/h^2 (centre of mass - position).
    let (h, mass): (f64, f64) = (0.01, corners.iter().map(|c| f64::from(c.mass)).sum());
    let position = |k: usize| corners[k].force.as_dvec3() * (h * h / f64::from(corners[k].mass));
    let centre = (0..24).map(|k| f64::from(corners[k].mass) * position(k)).sum::<DVec3>() / mass;
    for k in 0..24 {
        let source = (centre - position(k)) * (f64::from(corners[k].mass) / (h * h));
        assert!((source - constraints[k].as_dvec3()).length() < 1e-6);
    }
}

#[test]
fn two_corners_split_just_above_their_strength_and_not_just_below() {
    let mut group = [9, 9];
    for (tension, count) in [(0.999, 1), (1.001, 2), (100.0, 2)] {
        let corners = [corner_load(Vec3::X * tension, 1.0), corner_load(Vec3::X * -tension, 1.0)];
        assert_eq!(split_corners(&corners, &mut group), count, "{tension}");
        assert_eq!(group, if count == 1 { [0, 0] } else { [0, 1] });
    }
    // Equal forces on both split neither.
    assert_eq!(split_corners(&[corner_load(Vec3::X * 9.0, 1.0), corner_load(Vec3::X * 9.0, 1.0)], &mut group), 1);
    assert_eq!(
        split_corners(
            &[corner_load(Vec3::X * 9.0, Real::INFINITY), corner_load(Vec3::X * -9.0, Real::INFINITY)],
            &mut group
        ),
        1
    );
    assert_eq!(split_corners(&[], &mut []), 0);
}

#[test]
fn a_node_splits_as_in_the_source_s_figure() {
    // Two are pulled up, two down: two stable groups.
    let (up, down) = (corner_load(Vec3::Y * 2.0, 1.5), corner_load(Vec3::Y * -2.0, 1.5));
    let mut group = [0; 4];
    assert_eq!(split_corners(&[up, down, up, down], &mut group), 2);
    assert_eq!(group, [0, 1, 0, 1]);
    // One weak corner leaves a strong group, which is stable.
    let strong = corner_load(Vec3::Y * -1.0, 10.0);
    assert_eq!(split_corners(&[strong, corner_load(Vec3::Y * 3.0, 1.0), strong, strong], &mut group), 2);
    assert_eq!(group, [0, 1, 0, 0]);
}

#[test]
fn the_resulting_groups_are_stable_for_any_forces() {
    let mut rng = CounterRng::new(10, 0).sequence();
    for trial in 0..500 {
        let count = 1 + trial % 30;
        let corners: Vec<CornerLoad> = (0..count)
            .map(|_| CornerLoad {
                mass: rng.uniform(),
                outward: (trial % 3 == 0).then(|| rng.point()),
                ..corner_load(rng.point() * 10.0 * rng.uniform(), 3.0 * rng.uniform())
            })
            .collect();
        let mut group = vec![0; count];
        let group_count = split_corners(&corners, &mut group);
        for number in 0..group_count as u32 {
            let members: Vec<CornerLoad> = (0..count).filter(|&k| group[k] == number).map(|k| corners[k]).collect();
            assert!(!members.is_empty());
            assert_eq!(split_corners(&members, &mut vec![0; members.len()]), 1, "trial {trial}");
        }
        assert!(group.iter().all(|group| (*group as usize) < group_count));
    }
    let mut group = [0; 2];
    assert_eq!(
        split_corners(&[corner_load(Vec3::NAN, 1.0), corner_load(Vec3::X, 1.0)], &mut group),
        1,
        "NaN splits nothing"
    );
    assert!(
        split_corners(&[corner_load(Vec3::INFINITY, 1.0), corner_load(Vec3::X, 1.0)], &mut group) <= 2,
        "and the recursion ends"
    );
}

#[test]
fn compression_splits_only_where_tension_is_not_required() {
    let mut group = [0; 2];
    // Corners of an element on the left and one on the right of a node, in compression.
    let compressed = |outward: bool| {
        let corner =
            |x: Real| CornerLoad { outward: outward.then_some(Vec3::X * x), ..corner_load(Vec3::X * 5.0 * x, 1.0) };
        [corner(1.0), corner(-1.0)]
    };
    assert_eq!(split_corners(&compressed(false), &mut group), 2);
    assert_eq!(split_corners(&compressed(true), &mut group), 1);
    let stretched = compressed(true).map(|corner| CornerLoad { force: -corner.force, ..corner });
    assert_eq!(split_corners(&stretched, &mut group), 2);
}

/// An interior node of a uniformly stressed body splits at the same stress for any element size.
#[test]
fn strength_as_a_stress_is_independent_of_resolution_and_as_a_force_is_not() {
    let tension = 2.0;
    let splits = |cell: Real, strength: Strength| {
        let mesh = TetMesh::grid([2, 2, 2], cell, 0.0);
        let corners: Vec<CornerLoad> = (0..mesh.elements.len())
            .filter_map(|k| {
                let corner = mesh.elements[k].iter().position(|&node| node == 13)?;
                let reference = Element::new(mesh.corners(k)).unwrap();
                let force = -reference.volume * reference.gradient(corner) * Vec3::new(tension, 0.0, 0.0);
                Some(CornerLoad { strength: strength.corner_strength(&reference, corner), ..corner_load(force, 0.0) })
            })
            .collect();
        assert_eq!(corners.len(), 24);
        split_corners(&corners, &mut [0; 24]) > 1
    };
    for cell in [1.0, 0.1, 0.01] {
        // Faces perpendicular to the load carry all of it, and no face more.
        assert!(splits(cell, Strength::Stress(0.999 * tension)));
        assert!(!splits(cell, Strength::Stress(1.001 * tension)));
    }
    assert!(splits(1.0, Strength::Force(0.1)) && !splits(0.1, Strength::Force(0.1)));
}

#[test]
fn elements_that_share_no_face_become_separate() {
    // Two elements that share a face, two that share only an edge with these, one that shares only the node.
    let others = [[1, 2, 3], [3, 2, 4], [3, 5, 6], [5, 6, 7], [8, 9, 10]];
    let mut group = [0; 5];
    assert_eq!(split_by_faces(&others, &mut group), 3);
    assert_eq!(group, [0, 0, 1, 1, 2]);
    // Separate groups stay separate.
    let mut group = [0, 1, 1, 1, 0];
    assert_eq!(split_by_faces(&others, &mut group), 4);
    assert_eq!(group, [0, 1, 2, 2, 3]);
    // A ring of elements is connected, in any order.
    let ring: Vec<[u32; 3]> = [0, 3, 1, 4, 2, 5].iter().map(|k| [*k, (k + 1) % 6, 9]).collect();
    let mut group = [0; 6];
    assert_eq!(split_by_faces(&ring, &mut group), 1);
    assert_eq!(split_by_faces(&[], &mut []), 0);
}
