//! Energy conservation with every boundary condition.

use crate::common::determinism::assert_reproducible;
use crate::common::{balance_error, run_steps};
use crate::experiments::{DENSITY, SPECIFIC, add_block, add_body, ball_cells, plain, profile, radiate, world};
use glam::Vec3;
use phyxel::World;
use phyxel::body::Pose;
use phyxel::commands::{Command, Region, Setting, Target};
use phyxel::heating::{Exchange, Heating};
use phyxel::material::ThermalProperties;
use phyxel::obstacle::{Geometry, Obstacle};

fn melting() -> ThermalProperties {
    ThermalProperties { melting: Some(30.0), latent: 2.0e4, ..plain() }
}

fn pan(temperature: f32, heat_capacity: Option<f32>) -> Obstacle {
    let pan = Obstacle::new("pan", Geometry::HalfSpace { normal: Vec3::Y }, Pose::default());
    Obstacle { temperature: Some(temperature), heat_capacity, ..pan }
}

/// Block of 3 by 3 by 3 with melting point 30, with one of the boundary conditions.
fn heated_block(number: usize) -> (&'static str, World) {
    let mut world = world(melting());
    add_block(&mut world, [3, 3, 3], 0.1, 10.0);
    let low = Region::Box { min: Vec3::ZERO, max: Vec3::new(1.0, 0.1, 1.0) };
    let base = Heating::new("fire", "body");
    let (name, heating) = match number {
        0 => ("prescribed temperature", Heating { region: low, temperature: Some(90.0), ..base }),
        1 => ("flux", Heating { facing: Some(Vec3::NEG_Y), flux: 1.0, ..base }),
        2 => ("exchange", Heating { exchange: Some(Exchange { coefficient: 5.0, ambient: 80.0 }), ..base }),
        3 => ("radiation", radiate(0.9, 200.0)),
        4 => ("power", Heating { region: low, power: 10.0, ..base }),
        5 => (
            "all at once",
            Heating {
                power: 10.0,
                flux: -1.0,
                exchange: Some(Exchange { coefficient: 5.0, ambient: 80.0 }),
                ..radiate(0.9, 20.0)
            },
        ),
        _ => {
            world.add_obstacle(pan(90.0, Some(5000.0))).unwrap();
            return ("a hot pan", world);
        }
    };
    world.add_heating(heating).unwrap();
    (name, world)
}

#[test]
fn heat_is_conserved_over_ten_thousand_steps_with_every_boundary_condition() {
    // Steps below and above the explicit limit, which is about a hundred seconds here.
    for number in 0..7 {
        for dt in [20.0, 1000.0] {
            let (name, mut world) = heated_block(number);
            run_steps(&mut world, dt, 10_000);
            let totals = world.frame().totals;
            assert!(totals.balance_error.abs() < 1e-5, "{name} with {dt}: {}", totals.balance_error);
            let is_closed = number == 6;
            assert_eq!(totals.heat_in == 0.0, is_closed, "{name} with {dt}");
            assert!(profile(&world).iter().all(|(_, t)| t.is_finite() && *t > 9.9), "{name} with {dt}");
        }
    }
}

#[test]
fn a_flux_acts_on_the_area_of_its_faces() {
    // A block of 2 by 3 by 4 cells of 0.1 m has 12 faces of 0.01 m2 towards +x, and 52 in all.
    for (facing, area) in [(Some(Vec3::X), 0.12), (None, 0.52)] {
        let mut world = world(plain());
        add_block(&mut world, [2, 3, 4], 0.1, 0.0);
        world.add_heating(Heating { facing, flux: 100.0, until: Some(25.0), ..Heating::new("sun", "body") }).unwrap();
        run_steps(&mut world, 10.0, 10);
        let totals = world.frame().totals;
        // Areas are 32-bit numbers.
        assert!((totals.heat_in / (100.0 * area * 25.0) - 1.0).abs() < 1e-6, "{facing:?}: {}", totals.heat_in);
        assert!((totals.energy.heat / totals.heat_in - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_power_warms_its_region_at_its_rate() {
    let mut world = world(ThermalProperties { conductivity: Vec3::ZERO, ..plain() });
    add_block(&mut world, [4, 1, 1], 0.1, 0.0);
    let region = Region::Ball { centre: Vec3::new(0.05, 0.05, 0.05), radius: 0.01 };
    world.add_heating(Heating { region, power: 1.0e4, ..Heating::new("coil", "body") }).unwrap();
    run_steps(&mut world, 1.0, 60);
    let found = profile(&world);
    assert!((found[0].1 - 1.0e4 * 60.0 / (DENSITY * SPECIFIC)).abs() < 1e-5, "{}", found[0].1);
    assert!(found[1..].iter().all(|(_, t)| *t == 0.0));
}

#[test]
fn a_prescribed_temperature_overrides_all_other_conditions() {
    for dt in [1.0, 1.0e5] {
        let mut world = world(melting());
        add_block(&mut world, [3, 3, 3], 0.1, 10.0);
        let base = Heating { power: 1.0e6, ..radiate(1.0, 500.0) };
        world.add_heating(Heating { temperature: Some(55.0), until: Some(10.5 * dt), ..base }).unwrap();
        run_steps(&mut world, dt as f32, 10);
        assert!(profile(&world).iter().all(|(_, t)| (*t - 55.0).abs() < 1e-5));
        let expected = 0.027 * DENSITY * (SPECIFIC * 45.0 + 2.0e4);
        let totals = world.frame().totals;
        assert!((totals.heat_in / expected - 1.0).abs() < 1e-6, "{}", totals.heat_in);
        assert!(totals.balance_error.abs() < 1e-9);
    }
}

#[test]
fn a_pan_with_a_heat_capacity_and_what_lies_on_it_reach_their_common_temperature() {
    let mut world = world(plain());
    add_block(&mut world, [3, 3, 3], 0.1, 10.0);
    // The heat capacity of the block: 27 kg of 500 J/(kg K).
    world.add_obstacle(pan(90.0, Some(13_500.0))).unwrap();
    run_steps(&mut world, 600.0, 500);
    let frame = world.frame();
    assert!((frame.obstacles[0].temperature.unwrap() - 50.0).abs() < 1e-3, "{:?}", frame.obstacles[0].temperature);
    assert!(frame.particles.temperature.iter().all(|t| (t - 50.0).abs() < 1e-3));
    assert!((frame.totals.energy.heat / (13_500.0 * 100.0) - 1.0).abs() < 1e-6);
    assert_eq!(frame.totals.heat_in, 0.0);
    assert!(frame.totals.balance_error.abs() < 1e-9);
    // Setting its temperature counts as heat from outside.
    let target = Target::Obstacle("pan".into());
    world.apply(Command::Set { target, setting: Setting::Temperature(150.0) }).unwrap();
    let totals = world.frame().totals;
    assert!((totals.heat_in / (13_500.0 * 100.0) - 1.0).abs() < 1e-4, "{}", totals.heat_in);
    assert!(totals.balance_error.abs() < 1e-9);
}

#[test]
fn a_pan_without_a_heat_capacity_keeps_its_temperature() {
    let mut world = world(plain());
    add_block(&mut world, [3, 3, 3], 0.1, 10.0);
    world.add_obstacle(pan(90.0, None)).unwrap();
    run_steps(&mut world, 3600.0, 500);
    assert_eq!(world.frame().obstacles[0].temperature, Some(90.0));
    assert!(profile(&world).iter().all(|(_, t)| (*t - 90.0).abs() < 1e-3));
}

#[test]
fn a_heating_is_changed_and_switched_by_its_name() {
    let mut world = world(plain());
    add_block(&mut world, [1, 1, 1], 0.1, 0.0);
    world.add_heating(Heating { active: false, flux: 100.0, ..Heating::new("sun", "body") }).unwrap();
    let set = |setting| Command::Set { target: Target::Heating("sun".into()), setting };
    run_steps(&mut world, 1.0, 1);
    assert_eq!(world.frame().totals.heat_in, 0.0);
    world.apply(set(Setting::Active(true))).unwrap();
    world.apply(set(Setting::Flux(50.0))).unwrap();
    run_steps(&mut world, 1.0, 1);
    assert!((world.frame().totals.heat_in - 50.0 * 0.06).abs() < 1e-6);
    world.apply(set(Setting::Temperature(7.0))).unwrap();
    run_steps(&mut world, 1.0, 1);
    assert!((profile(&world)[0].1 - 7.0).abs() < 1e-6);
}

/// Partly molten ball on a pan with heatings of several kinds.
fn busy_world() -> World {
    let mut world = world(melting());
    add_body(&mut world, ball_cells(24).iter().map(|x| *x + Vec3::Y).collect(), 2.0 / 24.0, 4.0, 25.0);
    world.add_obstacle(pan(120.0, Some(1.0e6))).unwrap();
    world.add_heating(Heating { power: 200.0, ..radiate(0.9, 300.0) }).unwrap();
    let region = Region::Ball { centre: Vec3::new(0.0, 2.0, 0.0), radius: 0.5 };
    world.add_heating(Heating { region, temperature: Some(60.0), ..Heating::new("lid", "body") }).unwrap();
    world
}

#[test]
fn heat_is_the_same_on_any_number_of_threads_and_after_a_checkpoint() {
    for dt in [1.0, 5000.0] {
        let advance = |world: &mut World, _| run_steps(world, dt, 1);
        let (_, error) =
            assert_reproducible(busy_world, (8, 8), advance, |world| (world.state_hash(), balance_error(world)));
        assert!(error < 1e-9, "{error}");
    }
}
