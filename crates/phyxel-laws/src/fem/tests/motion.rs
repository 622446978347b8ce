//! Bodies of many elements.

use super::*;

/// Body with a density of 1 under explicit time integration.
struct ExplicitBody {
    mesh: TetMesh,
    packs: Vec<(PackCorners, ReferencePack)>,
    rotations: Vec<[F32x8; 4]>,
    velocities: Vec<Vec3>,
    masses: Vec<f64>,
    law: ViscoelasticLaw,
    /// Bound on the angular frequencies, rad/s.
    max_frequency: f64,
}

impl ExplicitBody {
    fn new(mesh: TetMesh, law: ViscoelasticLaw) -> Self {
        let (packs, masses) = (mesh.packs(), mesh.masses());
        let (rotations, velocities) = (vec![IDENTITY; packs.len()], vec![Vec3::ZERO; mesh.nodes.len()]);
        let root = law.hooke.mandel_sqrt();
        let max_frequency =
            mesh.reference_elements().iter().map(|element| element.max_eigenvalue(&root)).fold(0.0, f64::max).sqrt();
        Self { mesh, packs, rotations, velocities, masses, law, max_frequency }
    }

    fn forces(&mut self) -> Vec<DVec3> {
        let (nodes, velocities) = (rows(&self.mesh.nodes), rows(&self.velocities));
        let mut forces = Vec::new();
        for ((corners, reference), rotation) in self.packs.iter().zip(&mut self.rotations) {
            let view = PackView { corners, reference, state: None };
            let mut out = PackForces::default();
            pack_internal_forces::<true>(
                SimdLevel::detect(),
                &view,
                &self.law,
                [&nodes, &velocities],
                rotation,
                &mut out,
            );
            forces.push(out.forces);
        }
        self.mesh.assemble(&forces)
    }

    fn stiffness_product(&self, displacements: &[DVec3]) -> Vec<DVec3> {
        let displacements: Vec<[f32; 4]> =
            displacements.iter().map(|u| [u.x as f32, u.y as f32, u.z as f32, 0.0]).collect();
        let mut corners = Vec::new();
        for ((nodes, reference), rotation) in self.packs.iter().zip(&self.rotations) {
            let view = PackView { corners: nodes, reference, state: None };
            let mut out = [[[0.0; 4]; 8]; 4];
            stiffness_product(SimdLevel::detect(), &view, &self.law, rotation, &displacements, &mut out);
            corners.push(out);
        }
        self.mesh.assemble(&corners)
    }

    fn step(&mut self, dt: f64) {
        let forces = self.forces();
        for node in 0..forces.len() {
            self.velocities[node] += (forces[node] * (dt / self.masses[node])).as_vec3();
            self.mesh.nodes[node] += self.velocities[node] * dt as f32;
        }
    }

    /// Smallest ratio of an element's volume to its reference volume.
    fn min_volume_ratio(&self) -> Real {
        let reference = self.packs.iter().flat_map(|(_, reference)| reference.volume);
        (0..self.mesh.elements.len())
            .zip(reference)
            .map(|(k, reference)| signed_volume(self.mesh.corners(k)) / reference)
            .fold(9.0, Real::min)
    }
}

fn isotropic_law(damping: Real) -> ViscoelasticLaw {
    ViscoelasticLaw { hooke: Hooke::isotropic(1.0, 0.3), damping_time: damping }
}

/// Steps well below the stability limit, 2 over the largest frequency, which stiffness-proportional damping
/// lowers.
fn advance(body: &mut ExplicitBody, steps: usize) {
    let dt = 0.3 / body.max_frequency;
    (0..steps).for_each(|_| body.step(dt));
}

#[test]
fn an_inverted_element_recovers() {
    let mesh = TetMesh { nodes: regular_tet().to_vec(), elements: vec![[0, 1, 2, 3]] };
    for flip in
        [Vec3::new(1.0, 1.0, -1.0), Vec3::new(1.0, 1.0, -0.3), Vec3::new(0.7, -1.3, 1.0), Vec3::new(-1.0, -1.0, -1.0)]
    {
        let mut body = ExplicitBody::new(
            TetMesh { nodes: mesh.nodes.clone(), elements: mesh.elements.clone() },
            isotropic_law(0.3),
        );
        body.mesh.nodes.iter_mut().for_each(|p| *p *= flip);
        // Perturbed, as an exactly reflected element may stay on the ridge.
        body.mesh.nodes[0] += Vec3::new(0.01, 0.02, -0.015);
        let before = signed_volume(body.mesh.corners(0));
        assert!(before < 0.0);
        body.step(1e-3 / body.max_frequency);
        assert!(signed_volume(body.mesh.corners(0)) > before, "{flip}");
        advance(&mut body, 3000);
        // Damped out, but for rounding.
        assert!((body.min_volume_ratio() - 1.0).abs() < 1e-3, "{flip}: {}", body.min_volume_ratio());
        for (a, b) in EDGES {
            let length = body.mesh.nodes[a].distance(body.mesh.nodes[b]);
            assert!((length - 1.0).abs() < 1e-3, "{flip}: {length}");
        }
    }
}

#[test]
fn an_inverted_flattened_or_scrambled_body_recovers() {
    let inverted = [Vec3::new(1.0, 1.0, -1.0), Vec3::new(-1.0, 1.0, 1.0), Vec3::NEG_ONE].map(Some);
    let shrunk = [Vec3::new(1.0, 1.0, 0.0), Vec3::X, Vec3::ZERO].map(Some);
    for map in inverted.into_iter().chain(shrunk).chain([None]) {
        let mut body = ExplicitBody::new(TetMesh::grid([2, 2, 2], 0.5, 0.1), isotropic_law(0.2));
        let mut rng = CounterRng::new(2, 0).sequence();
        for p in &mut body.mesh.nodes {
            *p = map.map_or(rng.point(), |map| *p * map + 0.01 * rng.point());
        }
        assert!(body.min_volume_ratio() < 0.1, "{map:?}: {}", body.min_volume_ratio());
        advance(&mut body, 8000);
        // The lowest mode, pi sqrt(E/rho), is damped by 1 - exp(-0.2 pi^2 t/2) in the 8000 steps, more than
        // 50 s.
        assert!((body.min_volume_ratio() - 1.0).abs() < 1e-3, "{map:?}: {}", body.min_volume_ratio());
    }
}

#[test]
fn free_motion_conserves_momenta_and_no_frequency_exceeds_the_bound() {
    let mut body = ExplicitBody::new(TetMesh::grid([2, 2, 3], 0.5, 0.2), isotropic_law(0.0));
    let mut rng = CounterRng::new(6, 0).sequence();
    body.mesh.nodes.iter_mut().for_each(|p| *p = Mat3::from_rotation_x(0.4) * *p + 0.02 * rng.point());
    body.velocities.iter_mut().for_each(|v| *v = rng.point());
    let momenta = |body: &ExplicitBody| -> (DVec3, DVec3) {
        let each = body.masses.iter().zip(&body.velocities).map(|(m, v)| *m * v.as_dvec3());
        let spins = each.clone().zip(&body.mesh.nodes).map(|(p, x)| x.as_dvec3().cross(p));
        (each.sum(), spins.sum())
    };
    let before = momenta(&body);
    advance(&mut body, 500);
    let after = momenta(&body);
    // 500 steps that round velocities of 1 m/s to 6e-8 at random: 500^(1/2) 6e-8 times the mass, 3/8 kg.
    // The change of angular momentum in a step is taken at the old position, which is exact for forces
    // without torque.
    assert!((before.0 - after.0).length() < 1e-5, "{before:?} {after:?}");
    assert!((before.1 - after.1).length() < 1e-5, "{before:?} {after:?}");
    // Power iteration for the largest eigenvalue of M^-1 K.
    let mut displacements: Vec<DVec3> = body.mesh.nodes.iter().map(|_| rng.point().as_dvec3()).collect();
    let mut largest = 0.0;
    for _ in 0..200 {
        let products = body.stiffness_product(&displacements);
        displacements = products.iter().zip(&body.masses).map(|(f, m)| *f / *m).collect();
        largest = displacements.iter().map(|u| u.length_squared()).sum::<f64>().sqrt();
        displacements.iter_mut().for_each(|u| *u /= largest);
    }
    let bound = body.max_frequency * body.max_frequency;
    assert!(largest <= bound && largest > 0.2 * bound, "{largest} {bound}: a bound, and not a loose one");
}

#[test]
fn the_largest_eigenvalue_of_a_single_element_is_exact() {
    let mut rng = CounterRng::new(12, 0).sequence();
    for hooke in
        [Hooke::isotropic(1.0, 0.0), Hooke::isotropic(1.0, 0.3), Hooke::isotropic(1.0, 0.49), anisotropic_hooke()]
    {
        let corners = regular_tet().map(|p| p + 0.4 * rng.point());
        let Some(element) = Element::new(corners) else { continue };
        let (reference, law) = (ReferencePack::new(&[element]), ViscoelasticLaw { hooke, damping_time: 0.0 });
        let view = PackView { corners: &[[0; 8], [1; 8], [2; 8], [3; 8]], reference: &reference, state: None };
        let mut displacements: Vec<[f32; 4]> = (0..4).map(|_| rng.point().extend(0.0).to_array()).collect();
        let mut largest = 0.0;
        for _ in 0..400 {
            let mut out = [[[0.0; 4]; 8]; 4];
            stiffness_product(SimdLevel::detect(), &view, &law, &IDENTITY, &displacements, &mut out);
            let products: Vec<DVec3> = (0..4).map(|k| dvec3(out[k][0]) * f64::from(4.0 / element.volume)).collect();
            largest = products.iter().map(|f| f.length_squared()).sum::<f64>().sqrt();
            let scaled = products.iter().map(|f| (*f / largest).as_vec3().extend(0.0).to_array());
            displacements = scaled.collect();
        }
        // Power iteration converges to the digits of f32, unless two eigenvalues are close, which is as
        // accurate.
        let expected = element.max_eigenvalue(&hooke.mandel_sqrt());
        assert!((largest / expected - 1.0).abs() < 1e-3, "{hooke:?}: {largest} of {expected}");
    }
}

/// Irons' patch test: a linear displacement field causes no force on interior nodes of any mesh.
#[test]
fn the_patch_test_is_passed() {
    let mut body = ExplicitBody::new(TetMesh::grid([3, 3, 3], 0.4, 0.25), isotropic_law(0.0));
    let map = Mat3::from_rotation_y(0.8) * Mat3::from_cols_array(&[1.1, 0.05, 0.0, -0.1, 0.9, 0.2, 0.0, 0.1, 1.2]);
    let reference = body.mesh.nodes.clone();
    body.mesh.nodes.iter_mut().for_each(|p| *p = map * *p);
    let forces = body.forces();
    let largest = forces.iter().map(|f| f.length()).fold(0.0, f64::max);
    let mut interior = 0;
    for (node, force) in forces.iter().enumerate() {
        let p = reference[node];
        if p.min_element() > 1e-3 && p.max_element() < 1.2 - 1e-3 {
            interior += 1;
            // 24 corner forces, rounded to 1e-6 of those at the surface.
            assert!(force.length() < 3e-5 * largest, "{force} of {largest}");
        }
    }
    assert_eq!(interior, 8);
}

/// Conjugate gradients in f64 with products in f32.
fn conjugate_gradients(body: &ExplicitBody, load: &[DVec3]) -> Vec<DVec3> {
    let dot = |a: &[DVec3], b: &[DVec3]| -> f64 { a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum() };
    let mut u = vec![DVec3::ZERO; load.len()];
    let (mut r, mut p) = (load.to_vec(), load.to_vec());
    let (mut rr, start) = (dot(load, load), dot(load, load));
    for _ in 0..500 {
        let ap = body.stiffness_product(&p);
        let alpha = rr / dot(&p, &ap);
        for k in 0..load.len() {
            u[k] += alpha * p[k];
            r[k] -= alpha * ap[k];
        }
        let rr_next = dot(&r, &r);
        if rr_next < 1e-12 * start {
            break;
        }
        (0..load.len()).for_each(|k| p[k] = r[k] + (rr_next / rr) * p[k]);
        rr = rr_next;
    }
    u
}

#[test]
fn a_cube_in_tension_has_young_s_modulus_and_poisson_s_ratio() {
    let (young, poisson) = (2.0, 0.35);
    let law = ViscoelasticLaw { hooke: Hooke::isotropic(young, poisson), damping_time: 0.0 };
    let body = ExplicitBody::new(TetMesh::grid([3, 3, 3], 1.0 / 3.0, 0.2), law);
    // Uniform tension of 0.01 Pa on both ends: each triangle loads each of its nodes with a third.
    let mut load = vec![DVec3::ZERO; body.mesh.nodes.len()];
    for element in &body.mesh.elements {
        for skipped in 0..4 {
            let face: Vec<u32> = (0..4).filter(|k| *k != skipped).map(|k| element[k]).collect();
            let at = |x: f32| face.iter().all(|node| (body.mesh.nodes[*node as usize].x - x).abs() < 1e-5);
            let [a, b, c] = [0, 1, 2].map(|k| body.mesh.nodes[face[k] as usize].as_dvec3());
            let area = 0.5 * (b - a).cross(c - a).length();
            let direction = f64::from(u8::from(at(1.0))) - f64::from(u8::from(at(0.0)));
            face.iter().for_each(|node| load[*node as usize].x += 0.01 * direction * area / 3.0);
        }
    }
    let total: f64 = load.iter().map(|f| f.x.max(0.0)).sum();
    assert!((total - 0.01).abs() < 1e-8, "{total}");
    let displacements = conjugate_gradients(&body, &load);
    let (axial, lateral) = (0.01 / f64::from(young), -0.01 * f64::from(poisson) / f64::from(young));
    for (element, reference) in body.mesh.elements.iter().zip(body.mesh.reference_elements()) {
        let mut gradient = [[0.0; 3]; 3];
        for corner in 0..4 {
            let (u, g) = (displacements[element[corner] as usize], reference.gradient(corner).as_dvec3());
            (0..3).for_each(|i| (0..3).for_each(|j| gradient[i][j] += u[i] * g[j]));
        }
        // The residual is 1e-6 of the load, and the error of products in f32 is as small.
        for (i, j) in crate::material::hooke::VOIGT {
            let expected = if i != j { 0.0 } else { [axial, lateral, lateral][i] };
            let strain = 0.5 * (gradient[i][j] + gradient[j][i]);
            assert!((strain - expected).abs() < 1e-4 * axial, "{i} {j}: {strain} {expected}");
        }
    }
}
