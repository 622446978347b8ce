//! Forces, stiffness and plasticity of single elements.

use super::*;
use crate::linalg::rotation::nearest_rotation;
use crate::material::hooke::VOIGT;
use crate::material::plasticity::YieldLaw;
use glam::DMat3;

fn isotropic_law() -> ViscoelasticLaw {
    ViscoelasticLaw { hooke: Hooke::isotropic(1.0, 0.3), damping_time: 0.0 }
}

fn all_laws() -> [ViscoelasticLaw; 3] {
    [
        isotropic_law(),
        ViscoelasticLaw { hooke: anisotropic_hooke(), damping_time: 0.0 },
        ViscoelasticLaw { hooke: anisotropic_hooke(), damping_time: 0.3 },
    ]
}

/// Stress of a Hooke law in f64.
fn stress(hooke: &Hooke, e: &[f64; 6]) -> [f64; 6] {
    match hooke {
        Hooke::Isotropic { lambda, mu } => {
            let pressure = f64::from(*lambda) * (e[0] + e[1] + e[2]);
            std::array::from_fn(|k| 2.0 * f64::from(*mu) * e[k] + if k < 3 { pressure } else { 0.0 })
        }
        Hooke::Anisotropic(c) => {
            std::array::from_fn(|row| (0..6).map(|k| f64::from(c[row][k]) * e[k] * if k < 3 { 1.0 } else { 2.0 }).sum())
        }
    }
}

#[test]
fn every_simd_level_gives_the_same_bits() {
    for seed in 0..20 {
        let pack = RandomPack::new(seed, if seed % 2 == 0 { 0.3 } else { 2.0 });
        let (nodes, velocities) = (rows(&pack.nodes), rows(&pack.velocities));
        for (law, with_state) in all_laws().iter().flat_map(|law| [(law, false), (law, true)]) {
            let view = pack.view(with_state);
            let mut results = Vec::new();
            for level in SimdLevel::available() {
                let (mut out, mut rotation, mut work) = (PackForces::default(), IDENTITY, [0.0; 8]);
                pack_internal_forces::<true>(level, &view, law, [&nodes, &velocities], &mut rotation, &mut out);
                elastic_energy(level, &view, law, &nodes, &rotation, &mut work);
                let (mut moved, factors) = (out.forces, ElasticityFactors::new(&law.hooke));
                let mut vectors = vec![[[[0.0; 4]; 8]; 4]; factors.count()];
                stiffness_product(level, &view, law, &rotation, &velocities, &mut moved);
                (0..)
                    .zip(&mut vectors)
                    .for_each(|(index, out)| corner_factors(level, &view, &factors, index, &rotation, out));
                // Bits, so that NaN compares as itself.
                let bits = |x: f32| {
                    assert!(x.is_finite());
                    x.to_bits()
                };
                let mut all: Vec<u32> =
                    rotation.iter().chain(&out.response.elastic_strain).flatten().map(|x| bits(*x)).collect();
                all.extend(out.response.dissipated_power.iter().chain(&work).map(|x| bits(*x)));
                all.extend(out.forces.iter().chain(&moved).flatten().flatten().map(|x| bits(*x)));
                all.extend(vectors.as_flattened().as_flattened().as_flattened().iter().map(|x| bits(*x)));
                results.push(all);
            }
            assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "seed {seed}");
        }
    }
}

/// The source's eq. 4, `R K (R^-1 q - p)` with `K = V B^T C B`, twelve by twelve.
#[test]
fn forces_are_those_of_the_source_s_matrices() {
    let pack = RandomPack::new(1, 0.4);
    let law = isotropic_law();
    let (out, rotation) = pack.internal_forces(&law, false);
    for lane in 0..8 {
        let reference = Element::new(pack.reference_corners[lane]).unwrap();
        let r = Mat3::from_quat(Quat::from_array(rotation.map(|q| q[lane]))).as_dmat3();
        // Strain-displacement matrix, with engineering shears.
        let mut b = [[0.0; 12]; 6];
        for corner in 0..4 {
            let g = reference.gradient(corner).as_dvec3();
            for (k, (i, j)) in VOIGT.into_iter().enumerate() {
                b[k][3 * corner + i] += g[j];
                if i != j {
                    b[k][3 * corner + j] += g[i];
                }
            }
        }
        let rotated: Vec<f64> = (0..4)
            .flat_map(|corner| {
                let q = pack.nodes[4 * lane + corner].as_dvec3();
                (r.transpose() * q - pack.reference_corners[lane][corner].as_dvec3()).to_array()
            })
            .collect();
        let engineering: [f64; 6] = std::array::from_fn(|k| (0..12).map(|i| b[k][i] * rotated[i]).sum());
        let e = std::array::from_fn(|k| if k < 3 { engineering[k] } else { 0.5 * engineering[k] });
        let s = stress(&law.hooke, &e);
        for corner in 0..4 {
            let corotated: [f64; 3] = std::array::from_fn(|axis| {
                f64::from(reference.volume) * (0..6).map(|k| b[k][3 * corner + axis] * s[k]).sum::<f64>()
            });
            let expected = -(r * DVec3::from(corotated));
            // Strains are rounded to some 1e-7 of 1, positions 3 m from the origin to 2e-7 m.
            let error = (dvec3(out.forces[corner][lane]) - expected).length();
            assert!(error < 1e-5 * force_scale(&out, lane).max(0.1), "{error}");
        }
    }
}

/// The nearest rotation maximises `tr(R^T F)`, as the decomposition with a corrected sign does.
#[test]
fn rotations_are_proper_and_nearest_even_for_inverted_and_flat_elements() {
    let mut inverted = 0;
    for seed in 0..200 {
        let mut pack = RandomPack::new(seed, 2.0);
        if seed % 4 == 0 {
            // Flat: the fourth corner in the plane of the others.
            (0..8).for_each(|lane| pack.nodes[4 * lane + 3] = pack.nodes[4 * lane].lerp(pack.nodes[4 * lane + 2], 0.4));
        }
        let (_, rotation) = pack.internal_forces(&isotropic_law(), false);
        for lane in 0..8 {
            let reference = Element::new(pack.reference_corners[lane]).unwrap();
            let f = deformation_gradient(&reference, &std::array::from_fn(|k| pack.nodes[4 * lane + k].as_dvec3()));
            inverted += usize::from(f.determinant() < 0.0);
            let found = Quat::from_array(rotation.map(|q| q[lane]));
            assert!(found.is_normalized());
            let trace = |q: Quat| (DMat3::from_quat(q.as_dquat().normalize()).transpose() * f).to_cols_array();
            let trace = |q: Quat| [0, 4, 8].map(|k| trace(q)[k]).iter().sum::<f64>();
            let (attained, best) = (trace(found), trace(nearest_rotation(f, Quat::IDENTITY)));
            // The maximum is flat: an error of 1e-3 rad, the most that rounding gives at the limit of
            // Newton's method, costs 1e-6.
            let size = f.to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!(attained > best - 3e-6 * size, "seed {seed}, lane {lane}: {attained} {best}");
        }
    }
    assert!(inverted > 100);
}

#[test]
fn rotations_follow_small_rotations_to_the_precision_of_f32() {
    for (seed, angle) in (0..40).zip([1e-5f32, 1e-4, 5e-4, 2e-3, 4e-3, 6e-3, 1e-2, 3e-2, 1e-1].into_iter().cycle()) {
        let mut pack = RandomPack::new(seed, 0.01 * seed as Real);
        // Near the origin, where positions keep their digits.
        pack.nodes.iter_mut().for_each(|node| *node -= 3.0);
        let (mut out, mut rotation) = (PackForces::default(), IDENTITY);
        let mut follow = |pack: &RandomPack, rotation: &mut [F32x8; 4]| {
            let nodes = rows(&pack.nodes);
            pack_internal_forces::<false>(
                SimdLevel::detect(),
                &pack.view(false),
                &isotropic_law(),
                [&nodes, &nodes],
                rotation,
                &mut out,
            );
        };
        follow(&pack, &mut rotation);
        let mut rng = CounterRng::new(1000 + seed, 0).sequence();
        for node in &mut pack.nodes {
            *node = Quat::from_scaled_axis(angle * Vec3::new(0.6, -0.64, 0.48)) * *node + 0.1 * angle * rng.point();
        }
        follow(&pack, &mut rotation);
        for lane in 0..8 {
            let reference = Element::new(pack.reference_corners[lane]).unwrap();
            let f = deformation_gradient(&reference, &std::array::from_fn(|k| pack.nodes[4 * lane + k].as_dvec3()));
            let found = Quat::from_array(rotation.map(|q| q[lane])).as_dquat();
            let best = nearest_rotation(f, Quat::IDENTITY).as_dquat();
            let error = 2.0 * (found.conjugate() * best).xyz().length();
            // Positions of order 1 are rounded by 6e-8, several of which enter each entry of `F`, and so
            // its rotation.
            let tolerance = 2e-6;
            assert!(error < tolerance && (found.length() - 1.0).abs() < 3e-7, "seed {seed}, lane {lane}: {error}");
        }
    }
}

#[test]
fn packs_in_one_batch_give_the_same_bits_at_every_simd_level_and_the_forces_of_single_packs() {
    let all: Vec<RandomPack> = (0..3).map(|seed| RandomPack::new(seed, 0.3)).collect();
    let node_rows = |pack: &RandomPack| [&pack.nodes, &pack.velocities].map(|of| rows(of));
    let mut nodes: [Vec<[f32; 4]>; 2] = Default::default();
    let mut corners = Vec::new();
    for pack in &all {
        let first = nodes[0].len() as u32;
        corners.push(pack.corners.map(|lanes| lanes.map(|node| node + first)));
        nodes.iter_mut().zip(node_rows(pack)).for_each(|(all, mut single)| all.append(&mut single));
    }
    for (law, with_state) in all_laws().iter().flat_map(|law| [(law, false), (law, true)]) {
        let packs: Vec<PackView> = all
            .iter()
            .zip(&corners)
            .map(|(pack, corners)| PackView {
                corners,
                reference: &pack.reference,
                state: with_state.then_some(&pack.state),
            })
            .collect();
        let results: Vec<Vec<CornerVectors>> = SimdLevel::available()
            .into_iter()
            .map(|level| {
                let (mut rotations, mut responses, mut forces) =
                    ([IDENTITY; 3], [ResponsePack::default(); 3], vec![[[[0.0; 4]; 8]; 4]; 3]);
                let packs = ForceBatch {
                    packs: &packs,
                    rotations: &mut rotations,
                    forces: &mut forces,
                    responses: &mut responses,
                };
                internal_forces(level, packs, law, &nodes[0], Some(&nodes[1]));
                forces
            })
            .collect();
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
        for (k, pack) in all.iter().enumerate() {
            let (mut out, mut rotation) = (PackForces::default(), IDENTITY);
            let [nodes, velocities] = node_rows(pack);
            pack_internal_forces::<true>(
                SimdLevel::detect(),
                &pack.view(with_state),
                law,
                [&nodes, &velocities],
                &mut rotation,
                &mut out,
            );
            for (corner, lane) in (0..4).flat_map(|corner| (0..8).map(move |lane| (corner, lane))) {
                // A pack that waits for the other normalises its quaternions once more: their last bits.
                let error = dvec3(results[0][k][corner][lane]) - dvec3(out.forces[corner][lane]);
                assert!(
                    error.length() < 1e-5 * force_scale(&out, lane).max(1.0),
                    "pack {k}, corner {corner}, lane {lane}"
                );
            }
        }
    }
}

/// Deformation gradient in f64.
fn deformation_gradient(reference: &Element, x: &[DVec3; 4]) -> DMat3 {
    let term = |k: usize| {
        let (edge, g) = (x[k] - x[0], reference.gradient(k).as_dvec3());
        DMat3::from_cols(edge * g.x, edge * g.y, edge * g.z)
    };
    term(1) + term(2) + term(3)
}

#[test]
fn rigid_motion_causes_no_force_and_forces_are_frame_indifferent() {
    let mut rng = CounterRng::new(5, 0).sequence();
    for seed in 0..10 {
        let mut pack = RandomPack::new(seed, 0.0);
        for law in all_laws().into_iter().take(2) {
            let (out, _) = pack.internal_forces(&law, false);
            // Rounding of positions 3 m from the origin, 2e-7 m, times stiffness, 1 Pa, times size, 1 m.
            (0..8).for_each(|lane| assert!(force_scale(&out, lane) < 2e-5, "{}", force_scale(&out, lane)));
        }
        let rotation = rng.rotation();
        pack = RandomPack::new(seed, 0.5);
        for law in all_laws() {
            let (before, _) = pack.internal_forces(&law, true);
            let mut rotated = RandomPack::new(seed, 0.5);
            for values in [&mut rotated.nodes, &mut rotated.velocities] {
                values.iter_mut().for_each(|p| *p = rotation * *p);
            }
            let (after, _) = rotated.internal_forces(&law, true);
            for (corner, lane) in (0..4).flat_map(|corner| (0..8).map(move |lane| (corner, lane))) {
                let expected = rotation.as_dquat() * dvec3(before.forces[corner][lane]);
                let error = (dvec3(after.forces[corner][lane]) - expected).length();
                assert!(
                    error < 3e-5 * force_scale(&before, lane).max(0.1),
                    "{error} of {}",
                    force_scale(&before, lane)
                );
            }
        }
    }
}

#[test]
fn forces_conserve_both_momenta_for_any_law_and_state() {
    for seed in 0..20 {
        let pack = RandomPack::new(seed, 0.5);
        for law in all_laws() {
            let (out, _) = pack.internal_forces(&law, true);
            for lane in 0..8 {
                let force: DVec3 = (0..4).map(|corner| dvec3(out.forces[corner][lane])).sum();
                let middle = pack.nodes[4 * lane].as_dvec3();
                let torque: DVec3 = (0..4)
                    .map(|k| (pack.nodes[4 * lane + k].as_dvec3() - middle).cross(dvec3(out.forces[k][lane])))
                    .sum();
                // Rounding of sums of a few terms in f32; lengths are 1 m or so.
                assert!(force.length() < 1e-6 * force_scale(&out, lane), "{force}");
                assert!(torque.length() < 1e-5 * force_scale(&out, lane), "{torque} {}", force_scale(&out, lane));
            }
        }
    }
}

/// Central differences of a quadratic function are exact, so a large step keeps the digits of f32.
#[test]
fn forces_are_the_negative_energy_gradient_at_fixed_rotations() {
    let mut pack = RandomPack::new(11, 0.3);
    let law = isotropic_law();
    let (out, rotation) = pack.internal_forces(&law, false);
    for (corner, axis) in (0..4).flat_map(|corner| (0..3).map(move |axis| (corner, axis))) {
        let mut at = |step: Real| {
            (0..8).for_each(|lane| pack.nodes[4 * lane + corner][axis] += step);
            let mut work = [0.0; 8];
            elastic_energy(SimdLevel::detect(), &pack.view(false), &law, &rows(&pack.nodes), &rotation, &mut work);
            (0..8).for_each(|lane| pack.nodes[4 * lane + corner][axis] -= step);
            work
        };
        let (more, less) = (at(0.25), at(-0.25));
        for lane in 0..8 {
            let derivative = (more[lane] - less[lane]) / 0.5;
            let error = (out.forces[corner][lane][axis] + derivative).abs();
            // Energies are of the order of 1 J, and rounded to 1e-7 of it a few times.
            assert!(error < 1e-5, "corner {corner}, lane {lane}: {error}");
        }
    }
}

/// With plastic strain and any law the force still derives from an energy, as rotations follow.
#[test]
fn forces_are_the_negative_energy_gradient_as_rotations_follow() {
    let pack = RandomPack::new(12, 0.3);
    let law = ViscoelasticLaw { hooke: anisotropic_hooke(), damping_time: 0.0 };
    let (out, rotation) = pack.internal_forces(&law, true);
    let (mut max_error, mut largest) = (0.0f64, 0.0f64);
    for lane in 0..8 {
        let reference = Element::new(pack.reference_corners[lane]).unwrap();
        let plastic: [f64; 6] = std::array::from_fn(|k| {
            f64::from(pack.state.plastic_strain[k][lane])
                + if k < 3 { f64::from(pack.state.thermal_strain[lane]) } else { 0.0 }
        });
        let energy = |x: &[DVec3; 4]| {
            let f = deformation_gradient(&reference, x);
            let previous = Quat::from_array(rotation.map(|q| q[lane]));
            let s = (DMat3::from_quat(nearest_rotation(f, previous).as_dquat().normalize()).transpose() * f)
                .to_cols_array_2d();
            let e: [f64; 6] = std::array::from_fn(|k| {
                let (i, j) = VOIGT[k];
                0.5 * (s[i][j] + s[j][i]) - plastic[k] - if k < 3 { 1.0 } else { 0.0 }
            });
            let stress = stress(&law.hooke, &e);
            let twice: f64 = (0..6).map(|k| e[k] * stress[k] * if k < 3 { 1.0 } else { 2.0 }).sum();
            0.5 * f64::from(reference.volume) * f64::from(pack.state.stiffness_scale[lane]) * twice
        };
        let x: [DVec3; 4] = std::array::from_fn(|k| pack.nodes[4 * lane + k].as_dvec3());
        for (corner, axis) in (0..4).flat_map(|corner| (0..3).map(move |axis| (corner, axis))) {
            let at = |step: f64| {
                let mut moved = x;
                moved[corner][axis] += step;
                energy(&moved)
            };
            let step = 5e-3;
            let derivative = (at(step) - at(-step)) / (2.0 * step);
            let error = (f64::from(out.forces[corner][lane][axis]) + derivative).abs();
            // The reference rotation is rounded to 6e-8, over the step: 1e-5. Third derivatives add the
            // step squared.
            assert!(error < 1e-4, "corner {corner}, lane {lane}: {error}");
            largest = largest.max(derivative.abs());
            max_error = max_error.max(error);
        }
    }
    assert!(largest > 1e3 * max_error, "forces of {largest} do not exceed errors of {max_error}");
}

#[test]
fn damping_dissipates_the_reported_power_and_none_in_rigid_rotation() {
    let mut pack = RandomPack::new(4, 0.4);
    let damped = ViscoelasticLaw { hooke: Hooke::isotropic(1.0, 0.3), damping_time: 0.2 };
    let power = |pack: &RandomPack, out: &PackForces, lane: usize| -> f64 {
        (0..4).map(|k| dvec3(out.forces[k][lane]).dot(pack.velocities[4 * lane + k].as_dvec3())).sum()
    };
    let (with, _) = pack.internal_forces(&damped, false);
    let (without, _) = pack.internal_forces(&isotropic_law(), false);
    for lane in 0..8 {
        let taken = power(&pack, &without, lane) - power(&pack, &with, lane);
        let lost = f64::from(with.response.dissipated_power[lane]);
        // Both are differences of a few products of order 1 in f32.
        assert!(lost > 1e-3 && (taken - lost).abs() < 1e-5 + 1e-5 * lost, "{taken} {lost}");
    }
    let spin = Vec3::new(0.3, -1.0, 0.7);
    pack.velocities = pack.nodes.iter().map(|p| spin.cross(*p) + Vec3::Y).collect();
    let (turning, _) = pack.internal_forces(&damped, false);
    for (corner, lane) in (0..4).flat_map(|corner| (0..8).map(move |lane| (corner, lane))) {
        let error = (dvec3(turning.forces[corner][lane]) - dvec3(without.forces[corner][lane])).length();
        // Velocities of 5 m/s are rounded to 5e-7.
        assert!(error < 1e-5, "{error}");
    }
}

#[test]
fn the_stiffness_product_is_the_change_of_forces_and_consists_of_its_blocks() {
    let mut pack = RandomPack::new(21, 0.3);
    for law in all_laws().into_iter().take(2) {
        let (_, rotation) = pack.internal_forces(&law, true);
        let view = pack.view(true);
        let factors = ElasticityFactors::new(&law.hooke);
        let mut vectors = vec![[[[0.0; 4]; 8]; 4]; factors.count()];
        for (index, out) in vectors.iter_mut().enumerate() {
            corner_factors(SimdLevel::detect(), &view, &factors, index, &rotation, out);
        }
        // Force on the first corner per displacement of the second.
        let block = |[first, second]: [usize; 2], lane: usize| {
            let vector_of = |factor: &CornerVectors, corner: usize| Vec3A::from_slice(&factor[corner][lane][..3]);
            let product = |a: Vec3A, b: Vec3A| Mat3A::from_cols(a * b.x, a * b.y, a * b.z);
            factors
                .block(&vectors.iter().map(|factor| product(vector_of(factor, first), vector_of(factor, second))).sum())
        };
        for corner in 0..4 {
            for axis in 0..3 {
                let mut displacements = vec![[0.0; 4]; 32];
                (0..8).for_each(|lane| displacements[4 * lane + corner][axis] = 1.0);
                let mut column = [[[0.0; 4]; 8]; 4];
                stiffness_product(SimdLevel::detect(), &view, &law, &rotation, &displacements, &mut column);
                for (first, lane) in (0..4).flat_map(|first| (0..8).map(move |lane| (first, lane))) {
                    let expected = block([first, corner], lane).col(axis);
                    // Sums of a few products of order 1 in f32.
                    let error = (Vec3A::from_slice(&column[first][lane][..3]) - expected).length();
                    assert!(error < 2e-6, "{error}");
                }
            }
        }
        // For small strains the product is the change of forces: rotations contribute in second order only.
        let mut rng = CounterRng::new(8, 0).sequence();
        pack = RandomPack::new(22, 0.0);
        let displacements: Vec<Vec3> = (0..32).map(|_| rng.point() * 1e-3).collect();
        let (before, rotation) = pack.internal_forces(&law, false);
        let mut change = [[[0.0; 4]; 8]; 4];
        stiffness_product(SimdLevel::detect(), &pack.view(false), &law, &rotation, &rows(&displacements), &mut change);
        pack.nodes.iter_mut().zip(&displacements).for_each(|(node, by)| *node += *by);
        let (after, _) = pack.internal_forces(&law, false);
        for (corner, lane) in (0..4).flat_map(|corner| (0..8).map(move |lane| (corner, lane))) {
            let found = dvec3(before.forces[corner][lane]) - dvec3(after.forces[corner][lane]);
            // Second order: the squared displacement; rounding of positions: 3e-7 m.
            assert!((found - dvec3(change[corner][lane])).length() < 1e-5, "{found}");
        }
    }
}

#[test]
fn thermal_expansion_causes_no_force_and_unused_lanes_no_force() {
    let shape = regular_tet();
    let reference = ReferencePack::new(&[Element::new(shape).unwrap()]);
    let corners: PackCorners = [[0; 8], [1; 8], [2; 8], [3; 8]];
    let state = StatePack { thermal_strain: [0.03; 8], ..StatePack::default() };
    let view = PackView { corners: &corners, reference: &reference, state: Some(&state) };
    let mut out = PackForces::default();
    let grown = rows(&shape.map(|p| 1.03 * p));
    pack_internal_forces::<false>(
        SimdLevel::detect(),
        &view,
        &isotropic_law(),
        [&grown, &grown],
        &mut IDENTITY.clone(),
        &mut out,
    );
    assert!(force_scale(&out, 0) < 1e-5);
    let cold = PackView { state: None, ..view };
    pack_internal_forces::<false>(
        SimdLevel::detect(),
        &cold,
        &isotropic_law(),
        [&grown, &grown],
        &mut IDENTITY.clone(),
        &mut out,
    );
    assert!(force_scale(&out, 0) > 0.01);
    assert!((1..8).all(|lane| force_scale(&out, lane) == 0.0));
    assert_eq!(ReferencePack::new(&[]), ReferencePack::default());
    assert_eq!(Element::new([shape[0], shape[2], shape[1], shape[3]]), None, "inverted");
    assert_eq!(Element::new([shape[0], shape[1], shape[2], shape[1]]), None, "flat");
    assert_eq!(Element::new([shape[0], shape[1], shape[2], Vec3::NAN]), None);
}

#[test]
fn elements_yield_creep_to_their_bound_and_recover_elastic_strain() {
    let reference = ReferencePack::new(&[Element::new(regular_tet()).unwrap()]);
    let hooke = Hooke::isotropic(1.0, 0.3);
    let law = |_: usize| Some(YieldLaw { yield_strain: 0.05, creep_rate: 10.0, max_strain: 0.2 });
    let mut state = StatePack::default();
    let total = [0.1, 0.0, 0.0, 0.0, 0.0, 0.02];
    let load = |state: &StatePack, total: [Real; 6]| -> [F32x8; 6] {
        std::array::from_fn(|k| std::array::from_fn(|lane| total[k] - state.plastic_strain[k][lane]))
    };
    // Below the yield strain nothing flows: all strain is elastic.
    let mut below = load(&state, total.map(|e| 0.45 * e));
    assert_eq!(plastic_flow(&reference, &hooke, (law, 0.01), false, &mut below, &mut state), [0.0; 8]);
    assert_eq!(state, StatePack::default());
    // Beyond it, dt creep of the elastic strain, until the remaining one is at the yield strain.
    let mut elastic = load(&state, total);
    let work = plastic_flow(&reference, &hooke, (law, 0.01), false, &mut elastic, &mut state);
    assert!((state.plastic_strain[0][0] - 0.01).abs() < 1e-6 && (elastic[0][0] - 0.09).abs() < 1e-6);
    assert!(work[0] > 0.0 && work[1..] == [0.0; 7], "no work in unused lanes");
    for _ in 0..200 {
        let mut elastic = load(&state, total);
        plastic_flow(&reference, &hooke, (law, 0.01), false, &mut elastic, &mut state);
    }
    let remaining = load(&state, total).map(|e| e[0]);
    let norm = crate::material::plasticity::spectral_norm_symmetric(&remaining);
    // Each step takes a tenth, so the last flow ends above 0.9 of the yield strain.
    assert!(norm <= 0.05 && norm > 0.045, "{norm}");
    // A far larger load stops at the bound, and a falling bound lets the shape recover.
    for _ in 0..200 {
        let mut elastic = load(&state, total.map(|e| 9.0 * e));
        plastic_flow(&reference, &hooke, (law, 0.01), false, &mut elastic, &mut state);
    }
    let plastic =
        |state: &StatePack| crate::material::plasticity::spectral_norm_symmetric(&state.plastic_strain.map(|e| e[0]));
    assert!((plastic(&state) - 0.2).abs() < 1e-5);
    let mut unloaded = [[0.0; 8]; 6];
    plastic_flow(
        &reference,
        &hooke,
        (|_| Some(YieldLaw { yield_strain: 0.05, creep_rate: 10.0, max_strain: 0.1 }), 0.01),
        false,
        &mut unloaded,
        &mut state,
    );
    assert!((plastic(&state) - 0.1).abs() < 1e-5);
    assert!(unloaded[0][0] > 0.0, "plastic strain has become elastic");
    let mut volumetric = load(&StatePack::default(), [0.3, 0.3, 0.3, 0.0, 0.0, 0.0]);
    let mut unchanged = StatePack::default();
    plastic_flow(&reference, &hooke, (law, 0.01), true, &mut volumetric, &mut unchanged);
    assert_eq!(unchanged, StatePack::default(), "volumetric strain does not flow");
}

#[test]
fn rayleigh_damping_has_its_ratio_at_both_frequencies_and_less_between() {
    let law = RayleighDamping::between(0.05, 10.0, 1000.0);
    assert!((law.damping_ratio(10.0) - 0.05).abs() < 1e-12 && (law.damping_ratio(1000.0) - 0.05).abs() < 1e-12);
    assert!(law.damping_ratio(100.0) < 0.05 && law.damping_ratio(1.0) > 0.05 && law.damping_ratio(1e4) > 0.05);
}
