//! Nodes that part.

use super::*;

fn held(force: Vec3, strength: Real) -> Held {
    Held { mass: 0.25, force, strength, outward: None }
}

#[test]
fn constraint_forces_make_all_corners_move_alike_and_add_up_to_nothing() {
    let mut random = Stream::new(9);
    let corners: Vec<Held> = (0..24).map(|_| Held { mass: 0.1 + random.unit(), ..held(random.point(), 1.0) }).collect();
    let constraints: Vec<Vec3> = (0..24).map(|k| constraint_force(&corners, k)).collect();
    let total: Vec3 = constraints.iter().sum();
    assert!(total.length() < 1e-5);
    let push = |k: usize| (corners[k].force + constraints[k]) / corners[k].mass;
    // Accelerations are of order 1 and rounded a few times, over masses from 0.1.
    (1..24).for_each(|k| assert!((push(k) - push(0)).length() < 1e-5));
    // The source's eq. 15 for a step of Verlet from the same place: m/h^2 (centre of mass - place).
    let (h, mass): (f64, f64) = (0.01, corners.iter().map(|c| f64::from(c.mass)).sum());
    let place = |k: usize| corners[k].force.as_dvec3() * (h * h / f64::from(corners[k].mass));
    let centre = (0..24).map(|k| f64::from(corners[k].mass) * place(k)).sum::<DVec3>() / mass;
    for k in 0..24 {
        let source = (centre - place(k)) * (f64::from(corners[k].mass) / (h * h));
        assert!((source - constraints[k].as_dvec3()).length() < 1e-6);
    }
}

#[test]
fn two_corners_part_just_above_their_strength_and_not_just_below() {
    let mut group = [9, 9];
    for (pull, parts) in [(0.999, 1), (1.001, 2), (100.0, 2)] {
        let corners = [held(Vec3::X * pull, 1.0), held(Vec3::X * -pull, 1.0)];
        assert_eq!(part(&corners, &mut group), parts, "{pull}");
        assert_eq!(group, if parts == 1 { [0, 0] } else { [0, 1] });
    }
    // What pulls both alike parts neither.
    assert_eq!(part(&[held(Vec3::X * 9.0, 1.0), held(Vec3::X * 9.0, 1.0)], &mut group), 1);
    assert_eq!(part(&[held(Vec3::X * 9.0, Real::INFINITY), held(Vec3::X * -9.0, Real::INFINITY)], &mut group), 1);
    assert_eq!(part(&[], &mut []), 0);
}

#[test]
fn a_node_parts_as_in_the_source_s_figure() {
    // Two above are pulled up, two below down: two groups that each hold.
    let (up, down) = (held(Vec3::Y * 2.0, 1.5), held(Vec3::Y * -2.0, 1.5));
    let mut group = [0; 4];
    assert_eq!(part(&[up, down, up, down], &mut group), 2);
    assert_eq!(group, [0, 1, 0, 1]);
    // One weak corner leaves a strong group, which holds.
    let strong = held(Vec3::Y * -1.0, 10.0);
    assert_eq!(part(&[strong, held(Vec3::Y * 3.0, 1.0), strong, strong], &mut group), 2);
    assert_eq!(group, [0, 1, 0, 0]);
}

#[test]
fn what_is_left_holds_whatever_the_forces_are() {
    let mut random = Stream::new(10);
    for round in 0..500 {
        let count = 1 + round % 30;
        let corners: Vec<Held> = (0..count)
            .map(|_| Held {
                mass: random.unit(),
                outward: (round % 3 == 0).then(|| random.point()),
                ..held(random.point() * 10.0 * random.unit(), 3.0 * random.unit())
            })
            .collect();
        let mut group = vec![0; count];
        let parts = part(&corners, &mut group);
        for now in 0..parts as u32 {
            let own: Vec<Held> = (0..count).filter(|&k| group[k] == now).map(|k| corners[k]).collect();
            assert!(!own.is_empty());
            assert_eq!(part(&own, &mut vec![0; own.len()]), 1, "round {round}");
        }
        assert!(group.iter().all(|group| (*group as usize) < parts));
    }
    let mut group = [0; 2];
    assert_eq!(part(&[held(Vec3::NAN, 1.0), held(Vec3::X, 1.0)], &mut group), 1, "no number breaks nothing");
    assert!(part(&[held(Vec3::INFINITY, 1.0), held(Vec3::X, 1.0)], &mut group) <= 2, "and it ends");
}

#[test]
fn pressure_parts_only_where_tension_is_not_asked_for() {
    let mut group = [0; 2];
    // The corners of an element on the left and one on the right of a node, pushed together.
    let pushed = |outward: bool| {
        let corner = |x: Real| Held { outward: outward.then_some(Vec3::X * x), ..held(Vec3::X * 5.0 * x, 1.0) };
        [corner(1.0), corner(-1.0)]
    };
    assert_eq!(part(&pushed(false), &mut group), 2);
    assert_eq!(part(&pushed(true), &mut group), 1);
    let pulled = pushed(true).map(|corner| Held { force: -corner.force, ..corner });
    assert_eq!(part(&pulled, &mut group), 2);
}

/// An inner node of a body under an even stress parts at the same stress at any size of elements.
#[test]
fn strength_as_a_stress_does_not_change_with_resolution_and_as_a_force_does() {
    let tension = 2.0;
    let parts_at = |cell: Real, strength: Strength| {
        let mesh = Mesh::cells([2, 2, 2], cell, 0.0);
        let corners: Vec<Held> = (0..mesh.elements.len())
            .filter_map(|k| {
                let corner = mesh.elements[k].iter().position(|&node| node == 13)?;
                let rest = Element::new(mesh.shape(k)).unwrap();
                let force = -rest.volume * rest.gradient(corner) * Vec3::new(tension, 0.0, 0.0);
                Some(Held { strength: strength.of_corner(&rest, corner), ..held(force, 0.0) })
            })
            .collect();
        assert_eq!(corners.len(), 24);
        part(&corners, &mut [0; 24]) > 1
    };
    for cell in [1.0, 0.1, 0.01] {
        // Faces across the load carry all of it, and no face more.
        assert!(parts_at(cell, Strength::Stress(0.999 * tension)));
        assert!(!parts_at(cell, Strength::Stress(1.001 * tension)));
    }
    assert!(parts_at(1.0, Strength::Force(0.1)) && !parts_at(0.1, Strength::Force(0.1)));
}

#[test]
fn what_shares_no_face_becomes_separate() {
    // Two elements that share a face, two that share only an edge with these, one that shares nothing but the node.
    let others = [[1, 2, 3], [3, 2, 4], [3, 5, 6], [5, 6, 7], [8, 9, 10]];
    let mut group = [0; 5];
    assert_eq!(part_by_faces(&others, &mut group), 3);
    assert_eq!(group, [0, 0, 1, 1, 2]);
    // Groups that already are apart stay so.
    let mut group = [0, 1, 1, 1, 0];
    assert_eq!(part_by_faces(&others, &mut group), 4);
    assert_eq!(group, [0, 1, 2, 2, 3]);
    // A ring of elements hangs together from either side, in whatever order.
    let ring: Vec<[u32; 3]> = [0, 3, 1, 4, 2, 5].iter().map(|k| [*k, (k + 1) % 6, 9]).collect();
    let mut group = [0; 6];
    assert_eq!(part_by_faces(&ring, &mut group), 1);
    assert_eq!(part_by_faces(&[], &mut []), 0);
}
