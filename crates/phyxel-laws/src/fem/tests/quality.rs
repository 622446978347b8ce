//! Shape quality of elements, and welding of nodes.

use super::*;

#[test]
fn a_regular_tetrahedron_has_the_known_dihedral_angles_and_ratios_of_one() {
    let shape = regular_tet();
    for angle in dihedral_angles(shape) {
        assert!((angle.to_degrees() - 70.528_78).abs() < 1e-4, "{}", angle.to_degrees());
    }
    assert!((signed_volume(shape) - 1.0 / (6.0 * 2f32.sqrt())).abs() < 1e-6);
    assert!((mean_ratio(shape) - 1.0).abs() < 1e-6 && (aspect_ratio(shape) - 1.0).abs() < 1e-6);
    let inverted = [shape[1], shape[0], shape[2], shape[3]];
    assert!((mean_ratio(inverted) + 1.0).abs() < 1e-6 && signed_volume(inverted) < 0.0);
    // The corner of a cube: three right angles, three of acos(1/sqrt 3).
    let angles = dihedral_angles([Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z]).map(f32::to_degrees);
    assert!(angles[..3].iter().all(|angle| (angle - 90.0).abs() < 1e-4));
    assert!(angles[3..].iter().all(|angle| (angle - 54.735_61).abs() < 1e-4), "{angles:?}");
    // The flatter, the worse; near flat no digits are lost.
    let flat = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(0.3, 0.3, 1e-5)];
    assert!(aspect_ratio(flat) > 1e4 && mean_ratio(flat) < 1e-2);
    assert!((dihedral_angles(flat)[0] / (1e-5 / 0.3) - 1.0).abs() < 1e-4);
    let line = [Vec3::ZERO, Vec3::X, Vec3::X * 2.0, Vec3::X * 3.0];
    assert_eq!((aspect_ratio(line), mean_ratio(line)), (Real::INFINITY, 0.0));
    assert_eq!(mean_ratio([Vec3::ZERO; 4]), 0.0);
}

#[test]
fn a_weld_is_refused_where_an_element_would_be_inverted_or_too_small() {
    // Two elements back to back with a gap between them.
    let nodes = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::new(0.0, 0.0, -0.2), Vec3::X, Vec3::Y, -Vec3::Z];
    let elements = [([0, 1, 2, 3], 1.0 / 6.0), ([4, 6, 5, 7], 0.8 / 6.0)];
    let position = |node: u32| nodes[node as usize];
    let allows = |nodes: [u32; 2], target: Vec3, min_fraction: Real| {
        allows_weld(nodes, target, elements, position, min_fraction)
    };
    assert!(allows([0, 4], Vec3::new(0.0, 0.0, -0.1), 0.5));
    assert!(!allows([0, 4], Vec3::new(0.0, 0.0, 2.0), 0.0), "inverted");
    assert!(!allows([0, 4], Vec3::new(0.0, 0.0, 0.7), 0.5), "shrunk to three tenths");
    assert!(allows([0, 4], Vec3::new(0.0, 0.0, 0.7), 0.2));
    assert!(!allows([0, 1], Vec3::new(0.5, 0.0, 0.0), 0.0), "an element with both would be flat");
}
