//! Forces against the gradient of the energy in double precision.

use super::ContinuumSettings;
use super::assembly::PhyxelArrays;
use super::cloud::{Cloud, mean_distances};
use crate::Real;
use crate::body::NewBody;
use crate::material::Material;
use crate::model::{ModelSettings, ViewMut};
use crate::world::{Settings, World};
use glam::{DMat3, DVec3, Mat3, Quat, Vec3};
use phyxel_laws::material::hooke::{Hooke, VOIGT};
use phyxel_laws::meshless::PhyxelMaterial;
use phyxel_laws::rng::SequentialRng;
use phyxel_laws::simd::SimdLevel;

/// Jittered lattice with its volumes.
fn jittered_lattice(counts: [u32; 3], jitter: Real) -> (Vec<Vec3>, Vec<Real>) {
    let mut random = random_vectors(7);
    let mut points = Vec::new();
    for z in 0..counts[2] {
        for y in 0..counts[1] {
            for x in 0..counts[0] {
                let offset = random() * jitter;
                points.push(0.1 * (Vec3::new(x as Real, y as Real, z as Real) + offset));
            }
        }
    }
    let volumes = super::phyxel_volumes(&points, 0.1, points.len() as f64 * 1e-3);
    (points, volumes.into_iter().map(|v| v as Real).collect())
}

/// Uniform vectors in the cube [-1/2, 1/2)^3.
fn random_vectors(seed: u64) -> impl FnMut() -> Vec3 {
    let mut rng = SequentialRng::new(seed);
    move || rng.uniform_vec3() - 0.5
}

const MATERIAL: PhyxelMaterial = PhyxelMaterial {
    hooke: Hooke::Isotropic { lambda: 4.0e4, mu: 3.0e4 },
    volume_penalty: 2.0e4,
    hourglass: 1.0e4,
    damping: 0.0,
};

fn phyxel_arrays(points: &[Vec3], volumes: &[Real], material: PhyxelMaterial) -> PhyxelArrays {
    let supports: Vec<Real> = mean_distances(points, 0.1).into_iter().map(|r| 1.6 * r).collect();
    PhyxelArrays::new(Cloud::new(points, &supports, volumes), material)
}

fn forces(phyxels: &mut PhyxelArrays, positions: &[Vec3], velocities: &[Vec3]) -> Vec<Vec3> {
    let mut forces = vec![Vec3::ZERO; positions.len()];
    phyxels.load_positions(positions);
    phyxels.internal_forces(phyxels.is_damped().then_some(velocities), &mut forces);
    forces
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Energy by the corrected formulas of `[MKN04]`, J.
fn energy(phyxels: &PhyxelArrays, volumes: &[Real], x: &[DVec3]) -> f64 {
    let PhyxelMaterial { hooke, volume_penalty, hourglass, .. } = phyxels.material;
    (0..x.len())
        .map(|i| {
            let neighbours: Vec<(usize, f64, DVec3)> = phyxels
                .cloud
                .neighbours(i)
                .map(|(j, w, offset)| (j as usize, f64::from(w), offset.as_dvec3()))
                .collect();
            let a: DMat3 =
                neighbours.iter().map(|&(_, w, offset)| outer(offset, offset) * w).fold(DMat3::ZERO, |a, b| a + b);
            let x_ij = |j: usize| x[j] - x[i];
            let m = neighbours.iter().map(|&(j, w, offset)| outer(x_ij(j), offset) * w).fold(DMat3::ZERO, |a, b| a + b);
            let j = m * a.inverse();
            let strain = (j.transpose() * j - DMat3::IDENTITY) * 0.5;
            let entry = |m: &DMat3, k: usize| m.col(VOIGT[k].1)[VOIGT[k].0];
            let elastic = match hooke {
                Hooke::Isotropic { lambda, mu } => {
                    let trace: f64 = (0..3).map(|k| entry(&strain, k)).sum();
                    let square: f64 = strain.to_cols_array().iter().map(|e| e * e).sum();
                    0.5 * f64::from(lambda) * trace * trace + f64::from(mu) * square
                }
                Hooke::Anisotropic(c) => {
                    let e: [f64; 6] = std::array::from_fn(|k| entry(&strain, k) * if k < 3 { 1.0 } else { 2.0 });
                    let stress = |r: usize| (0..6).map(|k| f64::from(c[r][k]) * e[k]).sum::<f64>();
                    0.5 * (0..6).map(|r| e[r] * stress(r)).sum::<f64>()
                }
            };
            let volume = 0.5 * f64::from(volume_penalty) * (j.determinant() - 1.0).powi(2);
            let trace = a.x_axis.x + a.y_axis.y + a.z_axis.z;
            let non_affine: f64 =
                neighbours.iter().map(|&(k, w, offset)| w * (x_ij(k) - j * offset).length_squared()).sum();
            f64::from(volumes[i]) * (elastic + volume + 0.5 * f64::from(hourglass) * non_affine / trace)
        })
        .sum()
}

/// Configuration far from rest: rotated, sheared, and perturbed.
fn deformed(points: &[Vec3], noise: Real) -> Vec<Vec3> {
    let mut random = random_vectors(3);
    let map = Mat3::from_quat(Quat::from_rotation_x(0.8))
        * Mat3::from_cols(Vec3::new(1.1, 0.05, 0.0), Vec3::new(0.1, 0.9, 0.02), Vec3::new(0.0, 0.04, 1.05));
    points.iter().map(|&x| map * x + noise * random()).collect()
}

fn anisotropic() -> Hooke {
    // Like wood: stiff along x; any symmetric positive definite matrix will do.
    let mut c = [[0.0; 6]; 6];
    let diagonal = [9.0e4, 2.0e4, 3.0e4, 0.8e4, 1.5e4, 1.2e4];
    (0..6).for_each(|k| c[k][k] = diagonal[k]);
    for (i, j, value) in [(0, 1, 0.8e4), (0, 2, 0.9e4), (1, 2, 0.5e4), (0, 3, 0.1e4), (1, 5, -0.2e4)] {
        (c[i][j], c[j][i]) = (value, value);
    }
    Hooke::Anisotropic(c)
}

#[test]
fn forces_are_minus_the_gradient_of_the_energy() {
    let (points, volumes) = jittered_lattice([5, 4, 4], 0.3);
    for hooke in [MATERIAL.hooke, anisotropic()] {
        let mut phyxels = phyxel_arrays(&points, &volumes, PhyxelMaterial { hooke, ..MATERIAL });
        assert_eq!(phyxels.cloud.degenerate, 0);
        let x = deformed(&points, 0.02);
        let found = forces(&mut phyxels, &x, &[]);
        let exact: Vec<DVec3> = x.iter().map(|x| x.as_dvec3()).collect();
        let largest = found.iter().map(|f| f.length()).fold(0.0, Real::max);
        for i in [0, 17, 41, 79] {
            let gradient = DVec3::from_array(std::array::from_fn(|axis| {
                let at = |step: f64| {
                    let mut moved = exact.clone();
                    moved[i][axis] += step;
                    energy(&phyxels, &volumes, &moved)
                };
                // Central differences: error of the third derivative times 1e-10, round-off of the energy
                // over 1e-5.
                (at(1e-5) - at(-1e-5)) / 2e-5
            }));
            // Forces are sums of 25 products of single precision.
            let error = (found[i].as_dvec3() + gradient).length();
            assert!(error < 2e-5 * f64::from(largest), "{i}: {} and {gradient}", found[i]);
        }
    }
}

#[test]
fn forces_conserve_momentum_and_angular_momentum() {
    let (points, volumes) = jittered_lattice([6, 5, 4], 0.4);
    let mut random = random_vectors(11);
    let velocities: Vec<Vec3> = points.iter().map(|_| random()).collect();
    for damping in [0.0, 300.0] {
        let mut phyxels = phyxel_arrays(&points, &volumes, PhyxelMaterial { damping, ..MATERIAL });
        for noise in [0.0, 0.01, 0.05] {
            let x = deformed(&points, noise);
            let f = forces(&mut phyxels, &x, &velocities);
            let sum: DVec3 = f.iter().map(|f| f.as_dvec3()).sum();
            let moment: DVec3 = x.iter().zip(&f).map(|(x, f)| x.as_dvec3().cross(f.as_dvec3())).sum();
            let size: f64 = f.iter().map(|f| f64::from(f.length())).sum();
            // Each force is rounded to a part in 1e7 of terms that are up to ten times as large.
            assert!(sum.length() < 1e-6 * size, "{sum} of {size}");
            assert!(moment.length() < 1e-6 * size, "{moment} of {size}, arms up to 0.7 m");
            assert!(damping == 0.0 || phyxels.dissipation().all(|dissipated| dissipated >= 0.0));
        }
    }
}

#[test]
fn rigid_motion_takes_no_force() {
    let (points, volumes) = jittered_lattice([5, 5, 5], 0.3);
    let mut phyxels = phyxel_arrays(&points, &volumes, PhyxelMaterial { damping: 300.0, ..MATERIAL });
    let rotation = Quat::from_rotation_y(2.0) * Quat::from_rotation_z(-0.7);
    let x: Vec<Vec3> = points.iter().map(|&x| rotation * x + Vec3::new(0.3, -0.2, 0.5)).collect();
    let angular_velocity = Vec3::new(1.0, -2.0, 0.5);
    let velocities: Vec<Vec3> = x.iter().map(|&x| angular_velocity.cross(x) + Vec3::ONE).collect();
    let found = forces(&mut phyxels, &x, &velocities);
    // Rates of 1e-3/s at most, from velocities with seven digits at 0.1 m, and squared.
    assert!(phyxels.dissipation().zip(&volumes).all(|(dissipated, volume)| dissipated < 300.0 * volume * 1e-5));
    let strained = forces(&mut phyxels, &deformed(&points, 0.0), &velocities);
    let largest = |f: &[Vec3]| f.iter().map(|f| f.length()).fold(0.0, Real::max);
    // Strains of round-off, 1e-7 of a metre over 0.1 m, against those of a tenth.
    assert!(largest(&found) < 1e-4 * largest(&strained), "{} and {}", largest(&found), largest(&strained));
}

#[test]
fn an_affine_motion_of_an_irregular_cloud_has_the_exact_deformation_everywhere() {
    let (points, volumes) = jittered_lattice([6, 6, 6], 0.6);
    let map = Mat3::from_cols(Vec3::new(1.3, 0.2, -0.1), Vec3::new(0.4, 0.7, 0.3), Vec3::new(-0.2, 0.1, 1.1));
    let x: Vec<Vec3> = points.iter().map(|&x| map * x + Vec3::Y).collect();
    let mut phyxels = phyxel_arrays(&points, &volumes, MATERIAL);
    phyxels.load_positions(&x);
    for (i, found) in phyxels.deformation_gradients().into_iter().enumerate() {
        let error = (found - map).to_cols_array().into_iter().map(Real::abs).fold(0.0, Real::max);
        // Positions have seven digits, of a metre; neighbours are a tenth of it apart.
        assert!(error < 2e-5, "{i}: {found}");
    }
}

#[test]
fn every_simd_level_gives_the_same_bits() {
    let (points, volumes) = jittered_lattice([5, 5, 3], 0.5);
    let x = deformed(&points, 0.02);
    let mut phyxels = phyxel_arrays(&points, &volumes, PhyxelMaterial { damping: 100.0, ..MATERIAL });
    let all = SimdLevel::available().into_iter().map(|level| {
        phyxels.level = level;
        forces(&mut phyxels, &x, &points)
    });
    let all: Vec<Vec<Vec3>> = all.collect();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn phyxels_whose_neighbours_do_not_span_space_are_counted_and_stay_finite() {
    // A sheet, a rod and a lone phyxel.
    let mut points: Vec<Vec3> = (0..16).map(|i| 0.1 * Vec3::new((i % 4) as Real, (i / 4) as Real, 0.0)).collect();
    points.extend((0..5).map(|i| Vec3::new(5.0 + 0.1 * i as Real, 0.0, 0.0)));
    points.push(Vec3::new(-9.0, 0.0, 0.0));
    let (supports, volumes) = (vec![0.19; points.len()], vec![1e-3; points.len()]);
    let mut phyxels = PhyxelArrays::new(Cloud::new(&points, &supports, &volumes), MATERIAL);
    assert_eq!(phyxels.cloud.degenerate as usize, points.len());
    let stretched: Vec<Vec3> = points.iter().map(|&x| x * Vec3::new(1.1, 1.0, 1.0)).collect();
    let found = forces(&mut phyxels, &stretched, &[]);
    assert!(found.iter().all(|f| f.is_finite()) && found[0].length() > 1.0);
    assert_eq!(found[points.len() - 1], Vec3::ZERO);
    phyxels.load_positions(&points);
    let error = |j: Mat3| (j - Mat3::IDENTITY).to_cols_array().into_iter().map(Real::abs).fold(0.0, Real::max);
    assert!(phyxels.deformation_gradients().into_iter().all(|j| error(j) < 1e-5), "no deformation in the null space");
}

#[test]
fn a_rotating_blob_that_flows_keeps_its_stress_in_its_own_frame() {
    let (points, _) = jittered_lattice([6, 6, 6], 0.0);
    let middle = points.iter().sum::<Vec3>() / points.len() as Real;
    let mut world = World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() }).unwrap();
    world.add_material(Material { young_modulus: 1.0e5.into(), poisson_ratio: 0.0, ..Material::default() }).unwrap();
    let settings = ContinuumSettings { flowing: true, ..ContinuumSettings::default() };
    let start = points.iter().map(|&x| middle + (x - middle) * Vec3::new(1.05, 1.0, 1.0)).collect();
    let blob = NewBody::new("blob", ModelSettings::Continuum(settings), points, 0.1);
    world.add_body(NewBody { start: Some(start), ..blob }).unwrap();
    world.stable_step();
    let elastic = |world: &World| world.frame().totals.energy.elastic;
    // 1/2 E e^2 V with Green's strain (1.05^2 - 1)/2.
    let expected = 0.5 * 1.0e5 * 0.05125f64.powi(2) * 0.216;
    assert!((elastic(&world) / expected - 1.0).abs() < 1e-3, "{}", elastic(&world));
    let rotation = Quat::from_rotation_z(2.0f32.to_radians());
    let (mut updates, mut after_first) = (0, 0.0);
    for _ in 0..180 {
        world.particles.position.iter_mut().for_each(|x| *x = middle + rotation * (*x - middle));
        let model = &mut world.models.continuum;
        let before = model.bodies[0].reference.clone();
        let (bodies, materials, particles) = (&world.bodies, &world.materials, &mut world.particles);
        model.change_phases(&mut ViewMut { bodies, materials, particles });
        updates += u32::from(model.bodies[0].reference != before);
        if updates == 1 && after_first == 0.0 {
            after_first = elastic(&world);
            assert!((after_first / expected - 1.0).abs() < 1e-3, "{after_first} for {expected}");
        }
    }
    assert!(updates > 20, "{updates} updates of the reference");
    // Every reference rounds strains, of 0.05, to 1e-6.
    assert!((elastic(&world) / after_first - 1.0).abs() < 1e-3, "{} for {after_first}", elastic(&world));
}
