//! Heat from dissipated work: damping, plastic flow and friction.

mod common;

use common::determinism::assert_reproducible;
use common::*;
use glam::Vec3;
use phyxel::World;
use phyxel::material::{Curve, Friction, HeatFromWork, Material, Plasticity, ThermalProperties};
use phyxel::model::shape_matching::{MatchingMode, ShapeMatchingSettings};

const LINEAR: MatchingMode = MatchingMode::Linear;

const NO_WORK: HeatFromWork = HeatFromWork { plastic: 0.0, friction: 0.0, damping: 0.0 };

/// Oscillating bar, released from a stretched state.
fn oscillating_bar(material: Material, settings: ShapeMatchingSettings) -> World {
    let mut new = body("bar", block([8, 3, 3], SPACING), settings).deformed(|x| x * Vec3::new(1.05, 0.99, 0.98));
    (new.velocity, new.spin) = (Vec3::new(0.05, 0.0, 0.0), Vec3::new(0.0, 0.5, 0.0));
    world_without_gravity(material).with_body(new)
}

#[test]
fn a_damped_oscillation_becomes_heat() {
    let from_work = HeatFromWork { damping: 1.0, ..NO_WORK };
    let heat = ThermalProperties { from_work, ..ThermalProperties::default() };
    for clusters in [[1, 1, 1], [3, 1, 1]] {
        for mode in [LINEAR, MatchingMode::Quadratic] {
            let material = Material { young_modulus: Curve::constant(1.0e5), damping: 0.1, heat, ..default_material() };
            let mut world = oscillating_bar(
                material,
                ShapeMatchingSettings { keep_volume: false, ..matching_settings(mode, clusters) },
            );
            run_steps(&mut world, 1e-3, 1);
            let before = mechanical_energy(&world);
            let first = world.frame().totals.heat_in;
            run_steps(&mut world, 1e-3, 3000);
            let (lost, heat) = (before - mechanical_energy(&world), world.frame().totals.heat_in - first);
            // A step is a tenth of tau at most, so damping removes 2 % of the velocity per step. Its product with the
            // correction of the step is neglected: an error of half of that.
            assert!(lost > 0.1 && (heat / lost - 1.0).abs() < 0.02, "{clusters:?} {mode:?}: lost {lost}, heat {heat}");
            assert!(balance_error(&world) < 1e-9);
            let min = world.particles().enthalpy.iter().copied().fold(f64::MAX, f64::min);
            assert!(min > 0.0, "no particle is cooled: {min}");
        }
    }
}

#[test]
fn plastic_work_becomes_heat() {
    let from_work = HeatFromWork { plastic: 1.0, ..NO_WORK };
    let plasticity = Some(Plasticity { yield_strain: 0.002.into(), creep: 5.0, max: 0.5 });
    for (mode, clusters) in [(MatchingMode::Rigid, [1, 1, 1]), (LINEAR, [1, 1, 1]), (LINEAR, [3, 1, 1])] {
        let heat = ThermalProperties { from_work, ..ThermalProperties::default() };
        let material = Material {
            young_modulus: Curve::constant(1.0e5),
            damping: 0.0,
            plasticity: plasticity.clone(),
            heat,
            ..default_material()
        };
        let free =
            ShapeMatchingSettings { damping_rate: Some(0.0), keep_volume: false, ..matching_settings(mode, clusters) };
        let mut world = oscillating_bar(material, free);
        run_steps(&mut world, 1e-3, 1);
        let (before, first) = (mechanical_energy(&world), world.frame().totals.heat_in);
        run_steps(&mut world, 1e-3, 2000);
        let (lost, heat) = (before - mechanical_energy(&world), world.frame().totals.heat_in - first);
        // Plastic flow uses the strain at the start of the step. With a phase angle of 1/20 per step it
        // changes by up to that fraction until the end, with either sign.
        assert!(lost > 0.1 && (heat / lost - 1.0).abs() < 0.05, "{clusters:?} {mode:?}: lost {lost}, heat {heat}");
        assert!(balance_error(&world) < 1e-9);
    }
}

#[test]
fn a_block_that_slides_to_rest_converts_its_kinetic_energy_into_heat() {
    for fraction in [1.0, 0.5] {
        let from_work = HeatFromWork { friction: fraction, ..NO_WORK };
        let heat = ThermalProperties { from_work, ..ThermalProperties::default() };
        let mut new = body("block", block([4, 2, 4], SPACING), matching_settings(MatchingMode::Rigid, [1, 1, 1]));
        (new.pose.position, new.velocity) = (Vec3::new(0.0, 0.1, 0.0), Vec3::new(2.0, 0.0, 0.0));
        let mut world = world(Material { heat, ..default_material() }, DOWN)
            .with_obstacle(floor(Friction { r#static: 0.3, kinetic: 0.3 }, 0.0))
            .with_body(new);
        let before = world.frame().totals.energy.kinetic;
        run_steps(&mut world, 1e-3, 1500);
        assert!(mean_velocity(&world, 0).length() < 1e-3);
        // Friction slows the lower of two layers, which shape matching accelerates again: in a step of 1 ms
        // it takes 6 mm/s from a layer that slides at 2 m/s; half of that is dissipated inside, not at the
        // floor, twice as much at the end.
        let heat = world.frame().totals.heat_in;
        assert!((heat / (f64::from(fraction) * before) - 1.0).abs() < 0.02, "{heat} of {before}");
        assert!(balance_error(&world) < 1e-9);
        let at_rest = world.frame().totals.heat_in;
        run_steps(&mut world, 1e-3, 500);
        assert!(world.frame().totals.heat_in - at_rest < 1e-6 * heat, "a body at rest generates no heat");
    }
}

#[test]
fn friction_between_blocks_heats_both_equally() {
    let heat =
        ThermalProperties { from_work: HeatFromWork { friction: 1.0, ..NO_WORK }, ..ThermalProperties::default() };
    let mut low = body("low", block([12, 2, 4], SPACING), matching_settings(MatchingMode::Rigid, [1, 1, 1]));
    low.held = (0..low.samples.len() as u32).collect();
    let mut high = body("high", block([4, 2, 4], SPACING), matching_settings(MatchingMode::Rigid, [1, 1, 1]));
    (high.pose.position, high.velocity) = (Vec3::new(-0.35, 0.2, 0.0), Vec3::new(1.0, 0.0, 0.0));
    let mut world = world(Material { heat, ..default_material() }, DOWN).with_body(low).with_body(high);
    let before = mechanical_energy(&world);
    run_steps(&mut world, 1e-3, 1500);
    let (lost, heat) = (before - mechanical_energy(&world), world.frame().totals.heat_in);
    // Roughness of the layers stops some of the motion by normal impacts, which is not friction.
    assert!(heat > 0.2 * lost && heat < 1.001 * lost, "lost {lost} heat {heat}");
    let [low, high] = [0, 1].map(|body| heat_of(&world, body));
    assert!((low / high - 1.0).abs() < 1e-6, "equal materials: {low} and {high}");
    assert!(balance_error(&world) < 1e-9);
}

/// Hot bars with all effects at once: expansion, sagging, plastic flow and friction.
fn hot_bars() -> World {
    let from_work = HeatFromWork { plastic: 0.9, friction: 1.0, damping: 0.5 };
    let heat = ThermalProperties {
        expansion: 1e-4,
        from_work,
        latent: 1.0e4,
        softening: Some(40.0),
        melting: Some(60.0),
        softened: 0.1,
        ..ThermalProperties::default()
    };
    let mut world = world(Material { young_modulus: Curve::constant(2.0e5), heat, ..default_material() }, DOWN)
        .with_obstacle(floor(Friction::default(), 0.2));
    for (i, temperature) in [20.0, 58.0, 70.0].into_iter().enumerate() {
        let mut new = body(&format!("bar-{i}"), block([8, 3, 3], SPACING), matching_settings(LINEAR, [3, 1, 1]));
        (new.temperature, new.velocity) = (temperature, Vec3::new(1.0, 0.0, 0.3));
        new.pose.position = Vec3::new(0.05 * i as f32, 0.2 + 0.32 * i as f32, 0.0);
        world.add_body(new).unwrap();
    }
    world
}

#[test]
fn hot_matter_gives_the_same_bits_on_any_number_of_threads_and_after_a_checkpoint() {
    let advance = |world: &mut World, _| _ = world.advance_frame().unwrap();
    assert_reproducible(hot_bars, (30, 4), advance, |world| {
        assert!(world.frame().totals.heat_in > 1.0 && balance_error(world) < 1e-9);
        world.state_hash()
    });
}
