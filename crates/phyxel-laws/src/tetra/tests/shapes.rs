//! Heat, and the shapes of elements.

use super::*;

/// Conductances of a mesh between nodes, and heat that each node gets at these temperatures, W.
fn flows(mesh: &Mesh, conductivity: &[Real; 6], temperature: impl Fn(Vec3) -> f64) -> Vec<f64> {
    let mut gained = vec![0.0; mesh.nodes.len()];
    for (element, rest) in mesh.elements.iter().zip(mesh.rest()) {
        for ((a, b), conductance) in EDGES.into_iter().zip(conductances(&rest, conductivity)) {
            let [a, b] = [element[a] as usize, element[b] as usize];
            let flow = f64::from(conductance) * (temperature(mesh.nodes[a]) - temperature(mesh.nodes[b]));
            gained[a] -= flow;
            gained[b] += flow;
        }
    }
    gained
}

#[test]
fn a_linear_temperature_is_exact_whatever_the_directions() {
    let mesh = Mesh::cells([3, 3, 3], 0.5, 0.25);
    // Symmetric with positive eigenvalues: all but those on the diagonal are small.
    let conductivity = [4.0, 1.0, 2.0, 0.2, -0.3, 0.5];
    let slope = DVec3::new(3.0, -2.0, 1.0);
    let gained = flows(&mesh, &conductivity, |p| slope.dot(p.as_dvec3()) + 300.0);
    let most = gained.iter().fold(0.0, |most: f64, q| most.max(q.abs()));
    let mut inner = 0;
    for (p, q) in mesh.nodes.iter().zip(&gained) {
        if p.min_element() > 1e-3 && p.max_element() < 1.5 - 1e-3 {
            inner += 1;
            // Conductances are rounded to 6e-8, some two dozen of them.
            assert!(q.abs() < 1e-5 * most, "{q} of {most}");
        }
    }
    assert_eq!(inner, 8);
    // What goes through: k grad T times area, out at one end and in at the other.
    let through = -(4.0 * slope.x + 0.5 * slope.y - 0.3 * slope.z);
    let (area, mut right) = (1.5 * 1.5, 0.0);
    for (p, q) in mesh.nodes.iter().zip(&gained) {
        right += q * f64::from(p.x) / 1.5;
    }
    // The moment of what nodes get is the flux through the body times its volume over its length.
    assert!((right - through * area).abs() < 1e-5 * through.abs() * area, "{right} {}", through * area);
}

#[test]
fn heat_is_kept_and_never_flows_from_cold_to_warm_on_the_whole() {
    let mesh = Mesh::cells([2, 2, 2], 0.5, 0.3);
    let mut random = Stream::new(4);
    let temperatures: Vec<f64> = mesh.nodes.iter().map(|_| f64::from(random.unit())).collect();
    let at = |p: Vec3| temperatures[mesh.nodes.iter().position(|q| *q == p).unwrap()];
    let gained = flows(&mesh, &[1.0, 2.0, 3.0, 0.1, 0.2, 0.3], at);
    assert!(gained.iter().sum::<f64>().abs() < 1e-12);
    let order: f64 = gained.iter().zip(&temperatures).map(|(q, t)| q * t).sum();
    assert!(order < 0.0);
    let capacity: Real = mesh.rest().iter().map(|rest| 4.0 * capacity_share(rest, 1000.0, 2.0)).sum();
    assert!((capacity - 2000.0).abs() < 0.01);
}

/// A bar between two temperatures, warmed by steps until nothing changes.
#[test]
fn steady_flow_through_a_bar_is_conductivity_times_area_over_length() {
    let mesh = Mesh::cells([4, 1, 1], 0.25, 0.0);
    let mut temperatures: Vec<f64> = mesh.nodes.iter().map(|p| if p.x > 0.99 { 100.0 } else { 0.0 }).collect();
    let at = |temperatures: &[f64]| {
        flows(&mesh, &[2.0, 2.0, 2.0, 0.0, 0.0, 0.0], |p| {
            temperatures[mesh.nodes.iter().position(|q| *q == p).unwrap()]
        })
    };
    // Four cells of a quarter metre even out at a rate of (pi/1 m)^2 2 W/(m K) over 64 J/(m3 K), 0.3/s, in steps of 0.3 s.
    for _ in 0..1000 {
        let gained = at(&temperatures);
        for (k, _) in mesh.nodes.iter().enumerate().filter(|(_, p)| p.x > 0.01 && p.x < 0.99) {
            temperatures[k] += 0.3 * gained[k];
        }
    }
    let gained = at(&temperatures);
    let through: f64 = mesh.nodes.iter().zip(&gained).filter(|(p, _)| p.x < 0.01).map(|(_, q)| q).sum();
    let exact = 2.0 * 0.25 * 0.25 * 100.0;
    assert!((through / exact - 1.0).abs() < 1e-5, "{through} {exact}");
    for (p, t) in mesh.nodes.iter().zip(&temperatures) {
        assert!((t - 100.0 * f64::from(p.x)).abs() < 1e-3);
    }
}

#[test]
fn a_regular_element_has_the_angles_of_textbooks_and_ratios_of_one() {
    let shape = regular();
    for angle in dihedral_angles(shape) {
        assert!((angle.to_degrees() - 70.528_78).abs() < 1e-4, "{}", angle.to_degrees());
    }
    assert!((volume(shape) - 1.0 / (6.0 * 2f32.sqrt())).abs() < 1e-6);
    assert!((mean_ratio(shape) - 1.0).abs() < 1e-6 && (aspect_ratio(shape) - 1.0).abs() < 1e-6);
    let mirrored = [shape[1], shape[0], shape[2], shape[3]];
    assert!((mean_ratio(mirrored) + 1.0).abs() < 1e-6 && volume(mirrored) < 0.0);
    // The corner of a cube: three right angles, three of acos(1/sqrt 3).
    let angles = dihedral_angles([Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z]).map(f32::to_degrees);
    assert!(angles[..3].iter().all(|angle| (angle - 90.0).abs() < 1e-4));
    assert!(angles[3..].iter().all(|angle| (angle - 54.735_61).abs() < 1e-4), "{angles:?}");
    // The smaller it is in one direction, the worse; nothing is lost near flat.
    let flat = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(0.3, 0.3, 1e-5)];
    assert!(aspect_ratio(flat) > 1e4 && mean_ratio(flat) < 1e-2);
    assert!((dihedral_angles(flat)[0] / (1e-5 / 0.3) - 1.0).abs() < 1e-4);
    let line = [Vec3::ZERO, Vec3::X, Vec3::X * 2.0, Vec3::X * 3.0];
    assert_eq!((aspect_ratio(line), mean_ratio(line)), (Real::INFINITY, 0.0));
    assert_eq!(mean_ratio([Vec3::ZERO; 4]), 0.0);
}

#[test]
fn nodes_may_unite_unless_an_element_is_mirrored_or_shrinks() {
    // Two elements back to back, a gap between them.
    let nodes = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::new(0.0, 0.0, -0.2), Vec3::X, Vec3::Y, -Vec3::Z];
    let elements = [([0, 1, 2, 3], 1.0 / 6.0), ([4, 6, 5, 7], 0.8 / 6.0)];
    let position = |node: u32| nodes[node as usize];
    let may = |nodes: [u32; 2], place: Vec3, least: Real| allows_uniting(nodes, place, elements, position, least);
    assert!(may([0, 4], Vec3::new(0.0, 0.0, -0.1), 0.5));
    assert!(!may([0, 4], Vec3::new(0.0, 0.0, 2.0), 0.0), "mirrored");
    assert!(!may([0, 4], Vec3::new(0.0, 0.0, 0.7), 0.5), "shrunk to three tenths");
    assert!(may([0, 4], Vec3::new(0.0, 0.0, 0.7), 0.2));
    assert!(!may([0, 1], Vec3::new(0.5, 0.0, 0.0), 0.0), "an element with both would be flat");
}
