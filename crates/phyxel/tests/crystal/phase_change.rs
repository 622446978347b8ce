//! Melting and freezing.

use crate::common::determinism::assert_reproducible;
use crate::common::{BodyFixture, WorldFixture, elastic, momenta, run_frames, world_without_gravity};
use crate::packed_body;
use glam::Vec3;
use phyxel::World;
use phyxel::body::NewBody;
use phyxel::material::{Material, ThermalProperties};
use phyxel::model::CrystalSettings;
use phyxel::model::crystal::PhaseChangeSettings;
use phyxel::store::Phase;

/// Material that melts at 10 degrees with latent heat.
fn ice() -> Material {
    let heat =
        ThermalProperties { melting: Some(10.0), latent: 3.0e4, specific_heat: 2000.0, ..ThermalProperties::default() };
    Material { heat, damping: 0.3, ..elastic(1.0e5, 0.0) }
}

fn icy_body(name: &str, phase: Phase, temperature: f32, size: Vec3, position: Vec3) -> NewBody {
    let body = packed_body(name, size, 0.05, CrystalSettings { phase, ..CrystalSettings::default() });
    NewBody { temperature, ..body.at(position) }
}

fn solid_count(world: &World) -> usize {
    world.particles().phase.iter().filter(|&&phase| phase == Phase::Solid).count()
}

#[test]
fn warm_crystals_melt_and_conserve_mass_momentum_and_heat() {
    let mut world = world_without_gravity(ice());
    let velocity = Vec3::new(0.3, 0.1, -0.2);
    world.add_body(NewBody { velocity, ..icy_body("warm", Phase::Solid, 14.0, Vec3::splat(0.3), Vec3::ZERO) }).unwrap();
    let count = world.particles().len();
    let (heat, first) = (world.frame().totals.energy.heat, momenta(&world).0);
    // 4 degrees above the melting point at 20/(s K): all but exp(-80 t).
    run_frames(&mut world, 15);
    assert_eq!(solid_count(&world), 0);
    let frame = world.frame();
    assert!((frame.totals.energy.heat / heat - 1.0).abs() < 1e-12 && frame.totals.balance_error.abs() < 1e-9);
    let mass: f64 = world.particles().mass.iter().map(|&m| f64::from(m)).sum();
    assert!((momenta(&world).0 - first).length() < 1e-5 * mass, "{} of {first}", momenta(&world).0);
    assert_eq!(world.particles().len(), count);
}

#[test]
fn two_crystals_merge_when_the_melt_between_them_freezes() {
    let mut world = world_without_gravity(ice());
    let size = Vec3::new(0.2, 0.2, 0.2);
    world.add_body(icy_body("left", Phase::Solid, 5.0, size, Vec3::new(-0.177, 0.0, 0.0))).unwrap();
    world.add_body(icy_body("right", Phase::Solid, 5.0, size, Vec3::new(0.177, 0.0, 0.0))).unwrap();
    // 5 degrees below the freezing point, its latent heat released.
    world.add_body(icy_body("melt", Phase::Fluid, 5.0, size, Vec3::ZERO)).unwrap();
    let objects = |world: &World| world.models().crystal.object_count(world.particles());
    assert_eq!(objects(&world), 2);
    let (before, heat) = (solid_count(&world), world.frame().totals.energy.heat);
    run_frames(&mut world, 60);
    let particles = world.particles();
    let frozen = solid_count(&world) - before;
    assert!(frozen > 20, "{frozen} of {} have frozen", particles.len() - before);
    assert_eq!(objects(&world), 1);
    assert!((world.frame().totals.energy.heat / heat - 1.0).abs() < 1e-12);
}

#[test]
fn melt_below_the_melting_point_stays_fluid_until_it_is_below_the_freezing_point() {
    let change =
        PhaseChangeSettings { freezing_point: Some(0.0), min_neighbours: -1.0, ..PhaseChangeSettings::default() };
    let settings = CrystalSettings { phase: Phase::Fluid, change, ..CrystalSettings::default() };
    for (temperature, freezes) in [(5.0, false), (-5.0, true)] {
        let mut world = world_without_gravity(ice());
        let water = packed_body("water", Vec3::splat(0.2), 0.05, settings.clone());
        world.add_body(NewBody { temperature, ..water }).unwrap();
        run_frames(&mut world, 10);
        assert_eq!(solid_count(&world) > 0, freezes, "{temperature}");
    }
}

#[test]
fn melting_and_freezing_are_deterministic_after_resuming() {
    let start = || {
        world_without_gravity(ice())
            .with_body(icy_body("warm", Phase::Solid, 10.5, Vec3::splat(0.2), Vec3::ZERO))
            .with_body(icy_body("cold", Phase::Solid, -30.0, Vec3::splat(0.2), Vec3::new(0.25, 0.0, 0.0)))
    };
    assert_reproducible(
        start,
        (6, 1),
        |world, _| run_frames(world, 1),
        |world| {
            assert!(solid_count(world) < world.particles().len());
            world.state_hash()
        },
    );
}
