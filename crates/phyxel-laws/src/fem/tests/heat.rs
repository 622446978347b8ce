//! Heat conduction in elements.

use super::*;

/// Net heat flow into each node of a mesh for a temperature field, W.
fn nodal_heat_flows(mesh: &TetMesh, conductivity: &[Real; 6], temperature: impl Fn(Vec3) -> f64) -> Vec<f64> {
    let mut flows = vec![0.0; mesh.nodes.len()];
    for (element, reference) in mesh.elements.iter().zip(mesh.reference_elements()) {
        for ((a, b), conductance) in EDGES.into_iter().zip(edge_conductances(&reference, conductivity)) {
            let [a, b] = [element[a] as usize, element[b] as usize];
            let flow = f64::from(conductance) * (temperature(mesh.nodes[a]) - temperature(mesh.nodes[b]));
            flows[a] -= flow;
            flows[b] += flow;
        }
    }
    flows
}

#[test]
fn a_linear_temperature_field_is_exact_for_any_conductivity_tensor() {
    let mesh = TetMesh::grid([3, 3, 3], 0.5, 0.25);
    // Symmetric positive definite: off-diagonal entries are small.
    let conductivity = [4.0, 1.0, 2.0, 0.2, -0.3, 0.5];
    let gradient = DVec3::new(3.0, -2.0, 1.0);
    let flows = nodal_heat_flows(&mesh, &conductivity, |p| gradient.dot(p.as_dvec3()) + 300.0);
    let largest = flows.iter().fold(0.0, |largest: f64, q| largest.max(q.abs()));
    let mut interior = 0;
    for (p, q) in mesh.nodes.iter().zip(&flows) {
        if p.min_element() > 1e-3 && p.max_element() < 1.5 - 1e-3 {
            interior += 1;
            // Conductances are rounded to 6e-8, some two dozen of them.
            assert!(q.abs() < 1e-5 * largest, "{q} of {largest}");
        }
    }
    assert_eq!(interior, 8);
    // Heat flux k grad T, in at one end and out at the other.
    let flux = -(4.0 * gradient.x + 0.5 * gradient.y - 0.3 * gradient.z);
    let (area, mut moment) = (1.5 * 1.5, 0.0);
    for (p, q) in mesh.nodes.iter().zip(&flows) {
        moment += q * f64::from(p.x) / 1.5;
    }
    // The first moment of the nodal flows, over the length, is the flux through the body times its area.
    assert!((moment - flux * area).abs() < 1e-5 * flux.abs() * area, "{moment} {}", flux * area);
}

#[test]
fn heat_is_conserved_and_the_conductivity_matrix_is_positive_semidefinite() {
    let mesh = TetMesh::grid([2, 2, 2], 0.5, 0.3);
    let mut rng = CounterRng::new(4, 0).sequence();
    let temperatures: Vec<f64> = mesh.nodes.iter().map(|_| f64::from(rng.uniform())).collect();
    let at = |p: Vec3| temperatures[mesh.nodes.iter().position(|q| *q == p).unwrap()];
    let flows = nodal_heat_flows(&mesh, &[1.0, 2.0, 3.0, 0.1, 0.2, 0.3], at);
    assert!(flows.iter().sum::<f64>().abs() < 1e-12);
    let quadratic_form: f64 = flows.iter().zip(&temperatures).map(|(q, t)| q * t).sum();
    assert!(quadratic_form < 0.0);
    let capacity: Real =
        mesh.reference_elements().iter().map(|reference| 4.0 * lumped_capacity(reference, 1000.0, 2.0)).sum();
    assert!((capacity - 2000.0).abs() < 0.01);
}

/// Relaxes a bar between two temperatures to the steady state.
#[test]
fn steady_flow_through_a_bar_is_conductivity_times_area_over_length() {
    let mesh = TetMesh::grid([4, 1, 1], 0.25, 0.0);
    let mut temperatures: Vec<f64> = mesh.nodes.iter().map(|p| if p.x > 0.99 { 100.0 } else { 0.0 }).collect();
    let at = |temperatures: &[f64]| {
        nodal_heat_flows(&mesh, &[2.0, 2.0, 2.0, 0.0, 0.0, 0.0], |p| {
            temperatures[mesh.nodes.iter().position(|q| *q == p).unwrap()]
        })
    };
    // Four cells of a quarter metre equilibrate at a rate of (pi/1 m)^2 2 W/(m K) over 64 J/(m3 K), 0.3/s,
    // in steps of 0.3 s.
    for _ in 0..1000 {
        let flows = at(&temperatures);
        for (k, _) in mesh.nodes.iter().enumerate().filter(|(_, p)| p.x > 0.01 && p.x < 0.99) {
            temperatures[k] += 0.3 * flows[k];
        }
    }
    let flows = at(&temperatures);
    let total_flow: f64 = mesh.nodes.iter().zip(&flows).filter(|(p, _)| p.x < 0.01).map(|(_, q)| q).sum();
    let exact = 2.0 * 0.25 * 0.25 * 100.0;
    assert!((total_flow / exact - 1.0).abs() < 1e-5, "{total_flow} {exact}");
    for (p, t) in mesh.nodes.iter().zip(&temperatures) {
        assert!((t - 100.0 * f64::from(p.x)).abs() < 1e-3);
    }
}
