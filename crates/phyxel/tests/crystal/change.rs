//! Melting and freezing.

use crate::common::space;
use crate::{elastic, momenta, packed};
use glam::{Quat, Vec3};
use phyxel::World;
use phyxel::body::{NewBody, Pose};
use phyxel::checkpoint::{decode, encode};
use phyxel::material::{Heat, Material};
use phyxel::model::CrystalSettings;
use phyxel::model::crystal::Change;
use phyxel::particles::Phase;

/// Matter that melts at 10 degrees with latent heat.
fn ice() -> Material {
    let heat = Heat { melting: Some(10.0), latent: 3.0e4, specific_heat: 2000.0, ..Heat::default() };
    Material { heat, damping: 0.3, ..elastic(1.0e5) }
}

fn body(name: &str, phase: Phase, temperature: f32, size: Vec3, at: Vec3) -> NewBody {
    let body = packed(name, size, 0.05, CrystalSettings { phase, ..CrystalSettings::default() });
    NewBody { temperature, pose: Pose { at, turn: Quat::IDENTITY }, ..body }
}

fn solid(world: &World) -> usize {
    world.particles().phase.iter().filter(|&&phase| phase == Phase::Solid).count()
}

fn advance(world: &mut World, frames: usize) {
    for _ in 0..frames {
        world.advance_frame().unwrap();
    }
}

#[test]
fn warm_crystals_melt_and_cold_melt_freezes_to_them_and_nothing_is_lost() {
    let mut world = space(ice());
    let moving = Vec3::new(0.3, 0.1, -0.2);
    world
        .add_body(NewBody { velocity: moving, ..body("warm", Phase::Solid, 14.0, Vec3::splat(0.3), Vec3::ZERO) })
        .unwrap();
    let count = world.particles().len();
    let (heat, first) = (world.frame().totals.energy.heat, momenta(&world).0);
    // 4 degrees above the melting point at 20/(s K): all but exp(-80 t).
    advance(&mut world, 15);
    assert_eq!(solid(&world), 0);
    let frame = world.frame();
    assert!((frame.totals.energy.heat / heat - 1.0).abs() < 1e-12 && frame.totals.balance_error.abs() < 1e-9);
    let mass: f64 = world.particles().mass.iter().map(|&m| f64::from(m)).sum();
    assert!((momenta(&world).0 - first).length() < 1e-5 * mass, "{} of {first}", momenta(&world).0);
    assert_eq!(world.particles().len(), count);
}

#[test]
fn two_crystals_freeze_together_over_the_melt_between_them() {
    let mut world = space(ice());
    let size = Vec3::new(0.2, 0.2, 0.2);
    world.add_body(body("left", Phase::Solid, 5.0, size, Vec3::new(-0.177, 0.0, 0.0))).unwrap();
    world.add_body(body("right", Phase::Solid, 5.0, size, Vec3::new(0.177, 0.0, 0.0))).unwrap();
    // 5 degrees below the freezing point, its latent heat given off.
    world.add_body(body("melt", Phase::Fluid, 5.0, size, Vec3::ZERO)).unwrap();
    let objects = |world: &World| world.crystal_model().unwrap().object_count(world.particles());
    assert_eq!(objects(&world), 2);
    let (before, heat) = (solid(&world), world.frame().totals.energy.heat);
    advance(&mut world, 60);
    let particles = world.particles();
    let frozen = solid(&world) - before;
    assert!(frozen > 20, "{frozen} of {} have frozen", particles.len() - before);
    assert_eq!(objects(&world), 1);
    assert!((world.frame().totals.energy.heat / heat - 1.0).abs() < 1e-12);
}

#[test]
fn melt_below_the_melting_point_stays_fluid_until_it_is_below_the_freezing_point() {
    let change = Change { freezing_point: Some(0.0), fewest: -1.0, ..Change::default() };
    let settings = CrystalSettings { phase: Phase::Fluid, change, ..CrystalSettings::default() };
    for (temperature, freezes) in [(5.0, false), (-5.0, true)] {
        let mut world = space(ice());
        let water = packed("water", Vec3::splat(0.2), 0.05, settings.clone());
        world.add_body(NewBody { temperature, ..water }).unwrap();
        advance(&mut world, 10);
        assert_eq!(solid(&world) > 0, freezes, "{temperature}");
    }
}

#[test]
fn melting_and_freezing_are_the_same_after_resuming() {
    let make = || {
        let mut world = space(ice());
        world.add_body(body("warm", Phase::Solid, 10.5, Vec3::splat(0.2), Vec3::ZERO)).unwrap();
        world.add_body(body("cold", Phase::Solid, -30.0, Vec3::splat(0.2), Vec3::new(0.25, 0.0, 0.0))).unwrap();
        world
    };
    let mut straight = make();
    advance(&mut straight, 6);
    let mut resumed = make();
    for _ in 0..6 {
        resumed = decode(&encode(&resumed)).unwrap();
        advance(&mut resumed, 1);
    }
    assert!(solid(&straight) < straight.particles().len());
    assert_eq!(straight.state_hash(), resumed.state_hash());
}
