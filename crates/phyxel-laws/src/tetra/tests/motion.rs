//! Many elements together.

use super::*;

/// A body with a density of 1 that moves by explicit steps.
struct Body {
    mesh: Mesh,
    groups: Vec<(Corners, Rest)>,
    turns: Vec<[Eight; 4]>,
    velocities: Vec<Vec3>,
    masses: Vec<f64>,
    matter: Matter,
    /// Bound of the angular frequencies, rad/s.
    fastest: f64,
}

impl Body {
    fn new(mesh: Mesh, matter: Matter) -> Self {
        let (groups, masses) = (mesh.groups(), mesh.masses());
        let (turns, velocities) = (vec![STILL; groups.len()], vec![Vec3::ZERO; mesh.nodes.len()]);
        let root = matter.hooke.root();
        let fastest = mesh.rest().iter().map(|element| element.swiftness(&root)).fold(0.0, f64::max).sqrt();
        Self { mesh, groups, turns, velocities, masses, matter, fastest }
    }

    fn forces(&mut self) -> Vec<DVec3> {
        let (nodes, velocities) = (points(&self.mesh.nodes), points(&self.velocities));
        let mut corners = Vec::new();
        for ((nodes_of, rest), turn) in self.groups.iter().zip(&mut self.turns) {
            let group = Group { corners: nodes_of, rest, state: None };
            let mut out = Exerted::default();
            exert_one::<true>(Level::detect(), &group, &self.matter, [&nodes, &velocities], turn, &mut out);
            corners.push(out.forces);
        }
        self.mesh.gather(&corners)
    }

    fn product(&self, moves: &[DVec3]) -> Vec<DVec3> {
        let moves: Vec<[f32; 4]> = moves.iter().map(|u| [u.x as f32, u.y as f32, u.z as f32, 0.0]).collect();
        let mut corners = Vec::new();
        for ((nodes, rest), turn) in self.groups.iter().zip(&self.turns) {
            let group = Group { corners: nodes, rest, state: None };
            let mut out = [[[0.0; 4]; 8]; 4];
            product(Level::detect(), &group, &self.matter, turn, &moves, &mut out);
            corners.push(out);
        }
        self.mesh.gather(&corners)
    }

    fn step(&mut self, dt: f64) {
        let forces = self.forces();
        for node in 0..forces.len() {
            self.velocities[node] += (forces[node] * (dt / self.masses[node])).as_vec3();
            self.mesh.nodes[node] += self.velocities[node] * dt as f32;
        }
    }

    /// Least part of its volume at rest that an element has.
    fn least_volume(&self) -> Real {
        let rest = self.groups.iter().flat_map(|(_, rest)| rest.volume);
        (0..self.mesh.elements.len()).zip(rest).map(|(k, rest)| volume(self.mesh.shape(k)) / rest).fold(9.0, Real::min)
    }
}

fn soft(damping: Real) -> Matter {
    Matter { hooke: Hooke::isotropic(1.0, 0.3), damping }
}

/// Steps well below the limit of stability, 2 over the fastest frequency, which damping in proportion to stiffness lowers.
fn settle(body: &mut Body, steps: usize) {
    let dt = 0.3 / body.fastest;
    (0..steps).for_each(|_| body.step(dt));
}

#[test]
fn a_mirrored_element_pushes_back_and_recovers() {
    let mesh = Mesh { nodes: regular().to_vec(), elements: vec![[0, 1, 2, 3]] };
    for flip in
        [Vec3::new(1.0, 1.0, -1.0), Vec3::new(1.0, 1.0, -0.3), Vec3::new(0.7, -1.3, 1.0), Vec3::new(-1.0, -1.0, -1.0)]
    {
        let mut body = Body::new(Mesh { nodes: mesh.nodes.clone(), elements: mesh.elements.clone() }, soft(0.3));
        body.mesh.nodes.iter_mut().for_each(|p| *p *= flip);
        // A little off, as one that is mirrored to the bit may stay on the ridge.
        body.mesh.nodes[0] += Vec3::new(0.01, 0.02, -0.015);
        let before = volume(body.mesh.shape(0));
        assert!(before < 0.0);
        body.step(1e-3 / body.fastest);
        assert!(volume(body.mesh.shape(0)) > before, "{flip}");
        settle(&mut body, 3000);
        // Damped out, but for rounding.
        assert!((body.least_volume() - 1.0).abs() < 1e-3, "{flip}: {}", body.least_volume());
        for (a, b) in EDGES {
            let length = body.mesh.nodes[a].distance(body.mesh.nodes[b]);
            assert!((length - 1.0).abs() < 1e-3, "{flip}: {length}");
        }
    }
}

#[test]
fn a_body_that_is_mirrored_flattened_or_scrambled_recovers() {
    let mirrored = [Vec3::new(1.0, 1.0, -1.0), Vec3::new(-1.0, 1.0, 1.0), Vec3::NEG_ONE].map(Some);
    let shrunk = [Vec3::new(1.0, 1.0, 0.0), Vec3::X, Vec3::ZERO].map(Some);
    for map in mirrored.into_iter().chain(shrunk).chain([None]) {
        let mut body = Body::new(Mesh::cells([2, 2, 2], 0.5, 0.1), soft(0.2));
        let mut random = Stream::new(2);
        for p in &mut body.mesh.nodes {
            *p = map.map_or(random.point(), |map| *p * map + 0.01 * random.point());
        }
        assert!(body.least_volume() < 0.1, "{map:?}: {}", body.least_volume());
        settle(&mut body, 8000);
        // The slowest swing, pi sqrt(E/rho), is damped by 1 - exp(-0.2 pi^2 t/2) in the 8000 steps, which are more than 50 s.
        assert!((body.least_volume() - 1.0).abs() < 1e-3, "{map:?}: {}", body.least_volume());
    }
}

#[test]
fn free_motion_keeps_momenta_and_no_swing_is_faster_than_the_bound() {
    let mut body = Body::new(Mesh::cells([2, 2, 3], 0.5, 0.2), soft(0.0));
    let mut random = Stream::new(6);
    body.mesh.nodes.iter_mut().for_each(|p| *p = Mat3::from_rotation_x(0.4) * *p + 0.02 * random.point());
    body.velocities.iter_mut().for_each(|v| *v = random.point());
    let momenta = |body: &Body| -> (DVec3, DVec3) {
        let each = body.masses.iter().zip(&body.velocities).map(|(m, v)| *m * v.as_dvec3());
        let spins = each.clone().zip(&body.mesh.nodes).map(|(p, x)| x.as_dvec3().cross(p));
        (each.sum(), spins.sum())
    };
    let before = momenta(&body);
    settle(&mut body, 500);
    let after = momenta(&body);
    // 500 steps that round velocities of 1 m/s to 6e-8 at random: 500^(1/2) 6e-8 times the mass, 3/8 kg. The old place stands in
    // the angular momentum of a step, which is exact for forces without torque.
    assert!((before.0 - after.0).length() < 1e-5, "{before:?} {after:?}");
    assert!((before.1 - after.1).length() < 1e-5, "{before:?} {after:?}");
    // Power iteration for the largest eigenvalue of M^-1 K.
    let mut moves: Vec<DVec3> = body.mesh.nodes.iter().map(|_| random.point().as_dvec3()).collect();
    let mut fastest = 0.0;
    for _ in 0..200 {
        let pulled = body.product(&moves);
        moves = pulled.iter().zip(&body.masses).map(|(f, m)| *f / *m).collect();
        fastest = moves.iter().map(|u| u.length_squared()).sum::<f64>().sqrt();
        moves.iter_mut().for_each(|u| *u /= fastest);
    }
    let bound = body.fastest * body.fastest;
    assert!(fastest <= bound && fastest > 0.2 * bound, "{fastest} {bound}: a bound, and not a wild one");
}

#[test]
fn a_lone_element_swings_just_as_fast_as_it_says() {
    let mut random = Stream::new(12);
    for hooke in [Hooke::isotropic(1.0, 0.0), Hooke::isotropic(1.0, 0.3), Hooke::isotropic(1.0, 0.49), crooked()] {
        let corners = regular().map(|p| p + 0.4 * random.point());
        let Some(element) = Element::new(corners) else { continue };
        let (rest, matter) = (Rest::new(&[element]), Matter { hooke, damping: 0.0 });
        let group = Group { corners: &[[0; 8], [1; 8], [2; 8], [3; 8]], rest: &rest, state: None };
        let mut moves: Vec<[f32; 4]> = (0..4).map(|_| random.point().extend(0.0).to_array()).collect();
        let mut fastest = 0.0;
        for _ in 0..400 {
            let mut out = [[[0.0; 4]; 8]; 4];
            product(Level::detect(), &group, &matter, &STILL, &moves, &mut out);
            let pulled: Vec<DVec3> = (0..4).map(|k| vector(out[k][0]) * f64::from(4.0 / element.volume)).collect();
            fastest = pulled.iter().map(|f| f.length_squared()).sum::<f64>().sqrt();
            let scaled = pulled.iter().map(|f| (*f / fastest).as_vec3().extend(0.0).to_array());
            moves = scaled.collect();
        }
        // Rounds of power find it to the digits of f32 unless two are nearly as fast, which still is as near.
        let told = element.swiftness(&hooke.root());
        assert!((fastest / told - 1.0).abs() < 1e-3, "{hooke:?}: {fastest} of {told}");
    }
}

/// Irons' patch test: inner nodes of any mesh feel nothing of a linear field.
#[test]
fn a_linear_field_is_exact() {
    let mut body = Body::new(Mesh::cells([3, 3, 3], 0.4, 0.25), soft(0.0));
    let map = Mat3::from_rotation_y(0.8) * Mat3::from_cols_array(&[1.1, 0.05, 0.0, -0.1, 0.9, 0.2, 0.0, 0.1, 1.2]);
    let rest = body.mesh.nodes.clone();
    body.mesh.nodes.iter_mut().for_each(|p| *p = map * *p);
    let forces = body.forces();
    let largest = forces.iter().map(|f| f.length()).fold(0.0, f64::max);
    let mut inner = 0;
    for (node, force) in forces.iter().enumerate() {
        let p = rest[node];
        if p.min_element() > 1e-3 && p.max_element() < 1.2 - 1e-3 {
            inner += 1;
            // 24 corner forces that are rounded to 1e-6 of those at the surface.
            assert!(force.length() < 3e-5 * largest, "{force} of {largest}");
        }
    }
    assert_eq!(inner, 8);
}

/// Conjugate gradients in f64 around the products of f32.
fn solve(body: &Body, load: &[DVec3]) -> Vec<DVec3> {
    let dot = |a: &[DVec3], b: &[DVec3]| -> f64 { a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum() };
    let mut moves = vec![DVec3::ZERO; load.len()];
    let (mut left, mut along) = (load.to_vec(), load.to_vec());
    let (mut square, start) = (dot(load, load), dot(load, load));
    for _ in 0..500 {
        let pulled = body.product(&along);
        let step = square / dot(&along, &pulled);
        for k in 0..load.len() {
            moves[k] += step * along[k];
            left[k] -= step * pulled[k];
        }
        let now = dot(&left, &left);
        if now < 1e-12 * start {
            break;
        }
        (0..load.len()).for_each(|k| along[k] = left[k] + (now / square) * along[k]);
        square = now;
    }
    moves
}

#[test]
fn a_cube_that_is_pulled_has_young_s_modulus_and_poisson_s_ratio() {
    let (young, poisson) = (2.0, 0.35);
    let matter = Matter { hooke: Hooke::isotropic(young, poisson), damping: 0.0 };
    let body = Body::new(Mesh::cells([3, 3, 3], 1.0 / 3.0, 0.2), matter);
    // Even tension of 0.01 Pa on both ends: each triangle gives a third to each of its nodes.
    let mut load = vec![DVec3::ZERO; body.mesh.nodes.len()];
    for element in &body.mesh.elements {
        for skipped in 0..4 {
            let face: Vec<u32> = (0..4).filter(|k| *k != skipped).map(|k| element[k]).collect();
            let at = |x: f32| face.iter().all(|node| (body.mesh.nodes[*node as usize].x - x).abs() < 1e-5);
            let [a, b, c] = [0, 1, 2].map(|k| body.mesh.nodes[face[k] as usize].as_dvec3());
            let area = 0.5 * (b - a).cross(c - a).length();
            let pull = f64::from(u8::from(at(1.0))) - f64::from(u8::from(at(0.0)));
            face.iter().for_each(|node| load[*node as usize].x += 0.01 * pull * area / 3.0);
        }
    }
    let total: f64 = load.iter().map(|f| f.x.max(0.0)).sum();
    assert!((total - 0.01).abs() < 1e-8, "{total}");
    let moves = solve(&body, &load);
    let (along, across) = (0.01 / f64::from(young), -0.01 * f64::from(poisson) / f64::from(young));
    for (element, rest) in body.mesh.elements.iter().zip(body.mesh.rest()) {
        let mut slope = [[0.0; 3]; 3];
        for corner in 0..4 {
            let (u, g) = (moves[element[corner] as usize], rest.gradient(corner).as_dvec3());
            (0..3).for_each(|i| (0..3).for_each(|j| slope[i][j] += u[i] * g[j]));
        }
        // The residual is 1e-6 of the load, and products in f32 are as good.
        for (i, j) in crate::elastic::VOIGT {
            let expected = if i != j { 0.0 } else { [along, across, across][i] };
            let strain = 0.5 * (slope[i][j] + slope[j][i]);
            assert!((strain - expected).abs() < 1e-4 * along, "{i} {j}: {strain} {expected}");
        }
    }
}
