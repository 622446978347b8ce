//! Changes of material properties while bodies are warm.

mod common;

use common::*;
use phyxel::World;
use phyxel::commands::{Command, Setting, Target};
use phyxel::material::{Material, ThermalProperties};
use phyxel::model::shape_matching::MatchingMode;

const LINEAR: MatchingMode = MatchingMode::Linear;

/// Softens at 40 and melts at 60.
fn melting_material() -> ThermalProperties {
    ThermalProperties { softening: Some(40.0), melting: Some(60.0), latent: 1.0e4, ..ThermalProperties::default() }
}

/// Temperatures of all particles.
fn temperatures(world: &World) -> Vec<f32> {
    world.frame().particles.temperature
}

#[test]
fn a_change_of_material_keeps_the_temperature_and_its_heat_is_counted() {
    let mut world = world_without_gravity(Material { heat: melting_material(), ..default_material() });
    let other =
        ThermalProperties { specific_heat: 300.0, melting: Some(10.0), latent: 2.0e4, ..ThermalProperties::default() };
    world.add_material(Material { name: "other".into(), heat: other, ..default_material() }).unwrap();
    let mut new = body("lump", block([3, 3, 3], SPACING), matching_settings(LINEAR, [1, 1, 1]));
    new.temperature = 30.0;
    world.add_body(new).unwrap();
    let target = Target::Body("lump".into());
    world.apply(Command::Set { target, setting: Setting::Material("other".into()) }).unwrap();
    assert!(temperatures(&world).iter().all(|t| (t - 30.0).abs() < 1e-4));
    // 27 kg with 30 kJ/kg now have 9 kJ/kg and the latent heat of the other material, which is molten at 30.
    assert!((world.frame().totals.heat_in - 27.0 * (9.0e3 + 2.0e4 - 3.0e4)).abs() < 1.0);
    assert!(balance_error(&world) < 1e-9);
}

#[test]
fn softening_melting_and_boiling_points_may_change_and_temperatures_stay() {
    let mut world = world_without_gravity(Material { heat: melting_material(), ..default_material() });
    let mut new = body("lump", block([3, 3, 3], SPACING), matching_settings(LINEAR, [1, 1, 1]));
    new.temperature = 70.0;
    world.add_body(new).unwrap();
    let mut set = |setting: Setting| {
        world.apply(Command::Set { target: Target::Material("matter".into()), setting }).map(|()| {
            assert!(temperatures(&world).iter().all(|t| (t - 70.0).abs() < 1e-4));
            assert!(balance_error(&world) < 1e-9);
            world.frame().totals.heat_in
        })
    };
    assert_eq!(set(Setting::Softening(Some(50.0))).unwrap(), 0.0, "changes no heat");
    assert_eq!(set(Setting::Boiling(Some(200.0))).unwrap(), 0.0);
    let frozen = set(Setting::Melting(Some(90.0))).unwrap();
    assert!((frozen + 27.0 * 1.0e4).abs() < 1.0, "its latent heat is released: {frozen}");
    assert!(set(Setting::Melting(Some(40.0))).is_err(), "below the softening point");
    assert!(set(Setting::Melting(None)).is_err(), "latent heat without a melting point");
    assert_eq!(set(Setting::Viscosity(3.0.into())).unwrap(), frozen);
    assert_eq!(set(Setting::Cohesion(0.5.into())).unwrap(), frozen);
    assert!(set(Setting::Viscosity((-1.0).into())).is_err());
}
