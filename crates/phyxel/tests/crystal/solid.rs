//! Crystals: equilibrium, momentum, stiffness, impact.

use crate::common::*;
use crate::{crystal_body, packed_body};
use glam::{Quat, Vec3};
use phyxel::World;
use phyxel::body::{NewBody, Pose};
use phyxel::commands::Setting;
use phyxel::material::{Curve, Friction, Material, ThermalProperties};
use phyxel::model::CrystalSettings;

#[test]
fn an_ideal_crystal_with_a_random_rotation_is_in_equilibrium() {
    let mut rng = Lcg(4);
    for support in [1.5, 1.9] {
        let rotation = Quat::from_scaled_axis(rng.next_vector(2.0));
        let settings = CrystalSettings { support, ..CrystalSettings::default() };
        let body = packed_body("body", Vec3::splat(0.6), 0.1, settings);
        let mut world = world_without_gravity(elastic(1.0e6, 0.0))
            .with_body(NewBody { pose: Pose { position: Vec3::new(0.3, 0.1, -0.2), rotation }, ..body });
        let start = world.particles().position.clone();
        run_steps(&mut world, 2.0e-4, 200);
        let largest_displacement =
            start.iter().zip(&world.particles().position).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        // Positions have seven digits: 3e-8 m, which an oscillation of 40 steps does not amplify.
        assert!(largest_displacement < 1e-6, "{support}: {largest_displacement}");
        assert!(world.frame().bodies[0].report.strain_max < 1e-5);
    }
}

#[test]
fn a_vibrating_and_spinning_crystal_conserves_momenta() {
    let mut rng = Lcg(11);
    let mut world = world_without_gravity(Material { damping: 0.2, poisson_ratio: 0.3, ..elastic(1.0e5, 0.0) });
    let body = crystal_body("body", Vec3::new(0.9, 0.5, 0.5), 0.1);
    let body = body.deformed(|x| x * Vec3::new(1.05, 0.97, 1.0) + rng.next_vector(0.004));
    world.add_body(NewBody { spin: Vec3::new(1.0, 3.0, 2.0), ..body }).unwrap();
    let (linear, angular) = momenta(&world);
    run_steps(&mut world, 5.0e-4, 1000);
    let (p, l) = momenta(&world);
    let mass = f64::from(world.particles().mass.iter().sum::<f32>());
    // Rounded velocities of 1 m/s, 1000 steps that each add an error of their own.
    assert!((p - linear).length() < 1e-5 * mass, "{p} of {linear}");
    assert!((l - angular).length() < 1e-3 * angular.length(), "{l} of {angular}");
}

/// Brings a world to rest by kinetic damping: stops it at every peak of kinetic energy.
fn relax_kinetically(world: &mut World, dt: f32) {
    let energy = |world: &World| {
        let particles = world.particles();
        particles.velocity.iter().zip(&particles.mass).map(|(v, m)| f64::from(m * v.length_squared())).sum::<f64>()
    };
    let (mut last, mut stops) = (0.0, 0);
    for _ in 0..100_000 {
        run_steps(world, dt, 1);
        let now = energy(world);
        if now < last {
            set_body(world, "body", Setting::Velocity(Vec3::ZERO));
            stops += 1;
            last = 0.0;
        } else {
            last = now;
        }
        if stops > 60 {
            return;
        }
    }
    panic!("does not come to rest");
}

/// Elongation of a hanging bar of square cross-section over the closed form.
fn elongation_ratio(width: f32, support: f32) -> f32 {
    elongation_ratio_of(width, support, elastic(1.0e6, 0.0), 0.0)
}

/// The same for a material with a Young's modulus of 1e6 Pa at this temperature.
fn elongation_ratio_of(width: f32, support: f32, material: Material, temperature: f32) -> f32 {
    let settings = CrystalSettings { support, ..CrystalSettings::default() };
    let body = packed_body("body", Vec3::new(2.0, width, width), 0.1, settings).fixed_where(|x| x.x < -0.9);
    let young = 1.0e6;
    let mut world = world(material, Vec3::new(4.0, 0.0, 0.0)).with_body(NewBody { temperature, ..body });
    relax_kinetically(&mut world, 1.0e-3);
    let particles = world.particles();
    // u(x) = rho g/E (L x - x^2/2) from the last fixed layer to the free end, half a layer beyond the last
    // particles.
    let first = particles.rest.iter().map(|x| x.x).filter(|x| *x < -0.9).fold(f32::NEG_INFINITY, f32::max);
    let last = particles.rest.iter().map(|x| x.x).fold(0.0, f32::max);
    let length = last - first + 0.5 * LAYER;
    let mut ratios = Vec::new();
    for (rest, now) in particles.rest.iter().zip(&particles.position).filter(|(rest, _)| rest.x > last - 0.3) {
        let x = rest.x - first;
        ratios.push((now.x - rest.x) / (1000.0 * 4.0 / young * (length * x - 0.5 * x * x)));
    }
    ratios.iter().sum::<f32>() / ratios.len() as f32
}

/// Distance of layers of a closest packing with a spacing of 0.1 m, m.
const LAYER: f32 = 0.1 * std::f32::consts::FRAC_1_SQRT_2;

#[test]
fn a_hanging_bar_is_stretched_by_its_youngs_modulus() {
    for support in [1.5, 1.9] {
        // n layers have n - 1 pairs of neighbours in series: a bar is softer by 1/n.
        let counts = [7.0, 15.0];
        let [narrow, wide] = counts.map(|n| elongation_ratio((n - 0.9) * LAYER, support));
        assert!((wide - 1.0).abs() < 0.1, "{support}: {wide}");
        let extrapolated = (counts[1] / wide - counts[0] / narrow) / (counts[1] - counts[0]);
        // The remaining error is of second order in 1/n, 2 % for the narrow one, and that of the ends.
        assert!((extrapolated - 1.0).abs() < 0.04, "{support}: {extrapolated} from {narrow} and {wide}");
    }
}

#[test]
fn youngs_modulus_follows_temperature() {
    let width = 4.1 * LAYER;
    let cold = elongation_ratio(width, 1.9);
    let curve = Curve::new(vec![(0.0, 3.0e6), (100.0, 1.0e6)]).unwrap();
    let curved = Material { young_modulus: curve, ..elastic(1.0, 0.0) };
    let heat = ThermalProperties {
        softening: Some(50.0),
        melting: Some(150.0),
        softened: 0.2,
        ..ThermalProperties::default()
    };
    // Half way to the melting point 0.6 of the modulus remains.
    let softened = Material { heat, ..elastic(1.0e6 / 0.6, 0.0) };
    for material in [curved, softened] {
        // The same but for the relaxation: strains of 1e-2 in positions of seven digits.
        let warm = elongation_ratio_of(width, 1.9, material, 100.0);
        assert!((warm / cold - 1.0).abs() < 2e-3, "{warm} and {cold}");
    }
}

#[test]
fn a_soft_cube_deforms_plastically_on_a_hard_impact() {
    let mut world = world(Material { damping: 0.3, poisson_ratio: 0.2, ..elastic(3.0e4, 0.0) }, DOWN);
    let body = crystal_body("body", Vec3::splat(0.7), 0.1);
    world.add_body(body.at(2.5 * Vec3::Y)).unwrap();
    world.add_obstacle(floor(Friction::default(), 0.0)).unwrap();
    let first = size(&world);
    run_frames(&mut world, 90);
    let settled = size(&world);
    run_frames(&mut world, 30);
    let last = size(&world);
    // It hits the floor faster than the speed of sound in it and is half as high for a moment. A fraction of
    // that remains, at constant volume: what it loses in height it gains in width.
    let wide = |size: [f64; 3]| size[0] * size[2];
    assert!(last[1] < 0.9 * first[1] && wide(last) > wide(first) / 0.9, "{first:?} {last:?}");
    // A second later it is the same, but for one layer of 0.07 m by which a single particle may settle.
    assert!((0..3).all(|axis| (last[axis] - settled[axis]).abs() < 0.07), "{settled:?} {last:?}");
    assert_eq!(world.frame().bodies[0].report.pieces, 1);
}

#[test]
fn an_elastic_cube_bounces_and_keeps_its_shape() {
    let mut world = world(Material { poisson_ratio: 0.2, ..elastic(1.0e6, 0.0) }, DOWN);
    let body = crystal_body("body", Vec3::splat(0.5), 0.1);
    world.add_body(body.at(0.8 * Vec3::Y)).unwrap();
    world.add_obstacle(floor(Friction::NONE, 0.0)).unwrap();
    let (mut lowest, mut rebound) = (f64::INFINITY, 0.0f64);
    for _ in 0..45 {
        world.advance_frame().unwrap();
        let height = world.frame().bodies[0].report.centre[1];
        lowest = lowest.min(height);
        if height > lowest {
            rebound = rebound.max(height);
        }
    }
    // It falls by half a metre and rebounds by more than half of that. The energy of its vibration is not in
    // the height.
    assert!(lowest < 0.35 && rebound > lowest + 0.3, "down to {lowest}, back to {rebound}");
    let report = world.frame().bodies[0].report.clone();
    // It hits the floor with a tenth of the speed of sound and vibrates from then on.
    assert!(report.strain_max < 0.2 && report.pieces == 1, "{} {}", report.strain_max, report.pieces);
}
