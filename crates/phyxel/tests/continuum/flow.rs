//! Plastic flow, melting, merging, splitting and freezing.

use crate::common::determinism::resumed;
use crate::common::*;
use crate::{block, cloud};
use glam::Vec3;
use phyxel::World;
use phyxel::commands::{Command, Region, Setting};
use phyxel::material::{FluidProperties, Friction, Material, Plasticity, ThermalProperties};
use phyxel::model::ContinuumSettings;

fn plastic(yield_strain: f32, creep: f32, max: f32) -> Material {
    let plasticity = Some(Plasticity { yield_strain: yield_strain.into(), creep, max });
    Material { plasticity, damping: 0.2, ..elastic(1.0e5, 0.3) }
}

/// Stretches a block, holds it for a second, and releases it.
fn stretched_and_released(material: Material, deviatoric: bool) -> World {
    let settings = ContinuumSettings { deviatoric, ..ContinuumSettings::default() };
    let body = block([8, 4, 4], 0.1, 0.0, settings);
    let stretched = body.deformed(|x| x * Vec3::new(1.3, 1.0, 1.0)).fixed_where(|x| x.x.abs() > 0.3);
    let mut world = world_without_gravity(material).with_body(stretched);
    run_steps(&mut world, 5e-4, 2000);
    world.apply(Command::Hold { body: "body".into(), region: Region::All, on: false }).unwrap();
    run_steps(&mut world, 5e-4, 2000);
    world
}

#[test]
fn what_yields_stays_long_and_what_does_not_comes_back() {
    // 0.7 m between the first and the last phyxel at rest.
    let back = size(&stretched_and_released(plastic(1.0, 10.0, 1.0), false))[0];
    assert!((back - 0.7).abs() < 0.005, "{back}");
    // A strain of (1.69 - 1)/2 = 0.345 less the yield strain of 0.05 stays: sqrt(1 + 2 0.295) = 1.26.
    let long = size(&stretched_and_released(plastic(0.05, 10.0, 1.0), false))[0];
    assert!(long > 0.7 * 1.2 && long < 0.7 * 1.3, "{long}");
    // No more than a plastic strain of 0.1: sqrt(1.2) = 1.095.
    let bounded = size(&stretched_and_released(plastic(0.05, 10.0, 0.1), false))[0];
    assert!((bounded / 0.7 - 1.095).abs() < 0.03, "{bounded}");
    let isochoric = stretched_and_released(plastic(0.05, 10.0, 1.0), true);
    assert!(size(&isochoric)[0] > 0.7 * 1.15, "{}", size(&isochoric)[0]);
}

#[test]
fn two_parts_that_flow_into_each_other_become_one_and_one_that_is_pulled_apart_two() {
    let settings = ContinuumSettings { flowing: true, ..ContinuumSettings::default() };
    let mut samples = crate::common::block([4, 4, 4], 0.1);
    let other: Vec<Vec3> = samples.iter().map(|x| *x + Vec3::new(0.6, 0.0, 0.0)).collect();
    samples.extend(other);
    let mut world = world_without_gravity(Material { damping: 0.3, ..plastic(0.0, 20.0, 10.0) })
        .with_body(cloud(samples, 0.1, settings));
    let pieces = |world: &World| world.frame().bodies[0].report.pieces;
    run_steps(&mut world, 1e-4, 1);
    assert_eq!(pieces(&world), 2);
    let push = |world: &mut World, from: u32, speed: f32| {
        let region = Region::Ids((from..from + 64).collect());
        let velocity = Vec3::new(speed, 0.0, 0.0);
        world.apply(Command::Push { body: "body".into(), region, velocity }).unwrap();
    };
    push(&mut world, 0, 0.5);
    push(&mut world, 64, -0.5);
    run_frames(&mut world, 15);
    assert_eq!(pieces(&world), 1);
    // Fast: a material that yields at any strain still resists, as a viscosity of E over the creep rate.
    push(&mut world, 0, -12.0);
    push(&mut world, 64, 12.0);
    run_frames(&mut world, 20);
    assert!(pieces(&world) >= 2, "{}", pieces(&world));
}

#[test]
fn a_block_that_melts_spreads_keeps_its_volume_and_is_elastic_again_when_cold() {
    let heat = ThermalProperties {
        conductivity: Vec3::ZERO,
        specific_heat: 100.0,
        softening: Some(40.0),
        melting: Some(50.0),
        ..ThermalProperties::default()
    };
    let fluid = FluidProperties { viscosity: 20.0.into(), ..FluidProperties::default() };
    let material = Material { heat, fluid, damping: 0.1, ..elastic(1.0e5, 0.3) };
    let mut body = block([6, 6, 6], 0.1, 0.0, ContinuumSettings::default());
    body.pose.position = Vec3::new(0.0, 0.301, 0.0);
    let mut world = world(material, DOWN).with_body(body).with_obstacle(floor(Friction::default(), 0.0));
    let height = |world: &World| world.frame().bodies[0].report.bounds[1][1];
    run_frames(&mut world, 10);
    let first = height(&world);
    assert!(first > 0.5, "it stands: {first}");
    set_body(&mut world, "body", Setting::Temperature(60.0));
    run_frames(&mut world, 60);
    let flat = height(&world);
    assert!(flat < 0.6 * first, "it spreads: {flat}");
    assert_eq!(world.frame().bodies[0].report.particles.solid, 0);
    set_body(&mut world, "body", Setting::Temperature(20.0));
    run_frames(&mut world, 10);
    let report = world.frame().bodies[0].report.clone();
    assert_eq!((report.particles.fluid, report.pieces), (0, 1));
    // Cold, it stands as it is, and bounces as a whole.
    let frozen = height(&world);
    run_frames(&mut world, 30);
    assert!((height(&world) - frozen).abs() < 0.1 * frozen, "{frozen} became {}", height(&world));
    assert!(world.frame().bodies[0].report.strain_max < 0.2, "{}", world.frame().bodies[0].report.strain_max);
}

#[test]
fn a_soft_block_that_flows_and_lands_hard_never_gains_energy() {
    // It lands with 3.2 m/s, its speed of sound: it is crushed, but must not gain energy.
    for deviatoric in [false, true] {
        let settings = ContinuumSettings { flowing: true, deviatoric, ..ContinuumSettings::default() };
        let mut body = block([8, 7, 8], 0.03, 0.0, settings);
        (body.pose.position, body.velocity) = (Vec3::new(0.0, 0.3, 0.0), Vec3::new(0.0, -2.5, 0.0));
        let fluid = FluidProperties { bulk_modulus: Some(2.0e4), ..FluidProperties::default() };
        let plasticity = Some(Plasticity { yield_strain: 0.0.into(), creep: 50.0, max: 10.0 });
        let mut world = world(Material { plasticity, fluid, damping: 0.005, ..elastic(1.0e4, 0.4) }, DOWN)
            .with_body(body)
            .with_obstacle(floor(Friction::default(), 0.0));
        let first = mechanical_energy(&world);
        for frame in 0..15 {
            run_frames(&mut world, 1);
            assert!(
                mechanical_energy(&world) < 1.02 * first,
                "{deviatoric}, frame {frame}: {} of {first}",
                mechanical_energy(&world)
            );
        }
        assert!(mechanical_energy(&world) < 0.6 * first, "{} of {first}", mechanical_energy(&world));
    }
}

#[test]
fn a_damped_body_that_flows_is_the_same_when_resumed() {
    // So much damping that the highest mode bounds it, which is estimated for every reference configuration.
    let settings = ContinuumSettings { flowing: true, ..ContinuumSettings::default() };
    let mut body = block([5, 5, 5], 0.05, 0.0, settings);
    body.pose.position = Vec3::new(0.0, 0.2, 0.0);
    let mut whole = world(Material { damping: 1.0, ..plastic(0.0, 20.0, 10.0) }, DOWN)
        .with_body(body)
        .with_obstacle(floor(Friction::default(), 0.0));
    run_frames(&mut whole, 12);
    let mut resumed = resumed(&whole);
    run_frames(&mut whole, 4);
    run_frames(&mut resumed, 4);
    assert_eq!(whole.state_hash(), resumed.state_hash());
}
