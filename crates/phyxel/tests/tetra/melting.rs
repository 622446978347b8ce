//! Melting of elements into a fluid.

use crate::common::determinism::assert_reproducible;
use crate::common::{WorldFixture, elastic, empty_fluid, run_steps, world_without_gravity};
use crate::{CELL, Cut, Mesh};
use glam::{DVec3, Vec3};
use phyxel::World;
use phyxel::body::NewBody;
use phyxel::commands::{Command, Region};
use phyxel::material::{Material, ThermalProperties};
use phyxel::model::TetraSettings;
use phyxel::skin::Skin;
use phyxel::store::Phase;

/// Block of wax with an empty fluid body.
fn wax() -> World {
    let heat = ThermalProperties {
        specific_heat: 1000.0,
        softening: Some(40.0),
        melting: Some(50.0),
        latent: 1.0e4,
        conductivity: Vec3::splat(1.0),
        ..ThermalProperties::default()
    };
    let settings = TetraSettings { melts_into: Some("pool".into()), ..TetraSettings::default() };
    let block = Mesh::block([4, 3, 3], CELL, Cut::Centred, 0.0).body(CELL, settings);
    world_without_gravity(Material { heat, ..elastic(1.0e5, 0.3) })
        .with_body(NewBody { velocity: Vec3::new(0.2, 0.1, 0.0), temperature: 20.0, skin: Skin::Faces, ..block })
        .with_body(empty_fluid("pool", 0.08))
}

/// Total mass, momentum and heat.
fn sums(world: &World) -> (f64, DVec3, f64) {
    let particles = world.particles();
    (0..particles.len()).fold((0.0, DVec3::ZERO, 0.0), |(mass, momentum, heat), i| {
        let m = f64::from(particles.mass[i]);
        (mass + m, momentum + m * particles.velocity[i].as_dvec3(), heat + m * particles.enthalpy[i])
    })
}

fn warm(world: &mut World, region: Region) {
    world.apply(Command::Warm { body: "body".into(), region, temperature: 60.0 }).unwrap();
}

#[test]
fn a_molten_end_becomes_drops_and_mass_momentum_and_heat_are_conserved() {
    let mut world = wax();
    warm(&mut world, Region::Box { min: Vec3::new(-0.01, -1.0, -1.0), max: Vec3::ONE });
    let (before, first) = (sums(&world), world.frame().bodies[0].report.clone());
    run_steps(&mut world, 1e-4, 1);
    let (after, frame) = (sums(&world), world.frame());
    let (solid, pool) = (&frame.bodies[0].report, &frame.bodies[1].report);
    // Half of the elements are removed, with the nodes that had no others.
    let [before_count, after_count] = [&first, solid].map(|report| report.tetrahedra.unwrap().count);
    assert!(after_count > before_count / 3 && after_count < 2 * before_count / 3, "{after_count} of {before_count}");
    assert!(pool.particles.fluid > 20, "{:?}", pool.particles);
    assert_eq!((solid.pieces, solid.skin.closed), (1, Some(true)));
    // All drops have the mass of the fluid's particles; the remainder went to a node that stays.
    let grain = world.bodies()[1].template.mass;
    let range = world.bodies()[1].particles.clone();
    for i in range {
        assert!((world.particles().mass[i as usize] / grain - 1.0).abs() < 1e-6);
        assert_eq!(world.particles().phase[i as usize], Phase::Fluid);
    }
    // Each drop and the last node are rounded once, to 6e-8; the pressure of a step of 0.1 ms acts
    // between drops.
    assert!((after.0 / before.0 - 1.0).abs() < 1e-6, "{} {}", after.0, before.0);
    assert!((after.2 / before.2 - 1.0).abs() < 1e-6, "{} {}", after.2, before.2);
    assert!((after.1 - before.1).length() < 1e-5 * before.1.length(), "{} {}", after.1, before.1);
    // The next steps conserve mass, too.
    run_steps(&mut world, 1e-4, 20);
    assert!((sums(&world).0 / before.0 - 1.0).abs() < 1e-6);
}

#[test]
fn a_completely_molten_body_is_empty() {
    let mut world = wax();
    warm(&mut world, Region::All);
    let before = sums(&world);
    run_steps(&mut world, 1e-4, 3);
    let after = sums(&world);
    assert_eq!(world.bodies()[0].particles.len(), 0);
    assert!((after.0 / before.0 - 1.0).abs() < 1e-6 && (after.2 / before.2 - 1.0).abs() < 1e-6);
    let frame = world.frame();
    // 36 kg in particles of 0.512 kg over the root of two, of which the last is lighter.
    assert_eq!(frame.bodies[1].report.particles.fluid, 100);
}

#[test]
fn melting_is_bitwise_equal_for_any_threads_and_after_resuming() {
    let start = || {
        let mut world = wax();
        warm(&mut world, Region::Box { min: Vec3::new(0.05, -1.0, -1.0), max: Vec3::ONE });
        world
    };
    let advance = |world: &mut World, k| {
        if k == 10 {
            warm(world, Region::Box { min: Vec3::new(-0.05, -1.0, -1.0), max: Vec3::ONE });
        }
        run_steps(world, 5e-4, 1);
    };
    assert_reproducible(start, (40, 9), advance, World::state_hash);
}
