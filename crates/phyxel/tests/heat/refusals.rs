//! Rejection of invalid thermal input.

use crate::experiments::{add_block, plain, world};
use glam::Vec3;
use phyxel::body::Pose;
use phyxel::commands::{Command, Setting, Target};
use phyxel::heating::{Exchange, Heating, Radiation};
use phyxel::material::{Material, ThermalProperties};
use phyxel::obstacle::{Geometry, Obstacle};
use phyxel::step::{StageTimes, step};

#[test]
fn invalid_thermal_properties_are_rejected() {
    let rejection = |heat: ThermalProperties| {
        let material = Material { name: "goo".into(), heat, ..Material::default() };
        material.validate().err().map(|error| error.to_string()).unwrap_or_default()
    };
    for (heat, message) in [
        (ThermalProperties { specific_heat: 0.0, ..plain() }, "heat.specific_heat is 0.0, but it must be positive"),
        (ThermalProperties { specific_heat: -1.0, ..plain() }, "heat.specific_heat is -1.0, but it must be positive"),
        (
            ThermalProperties { conductivity: Vec3::new(1.0, -2.0, 1.0), ..plain() },
            "heat.conductivity is Vec3(1.0, -2.0, 1.0), but it must be at least 0 along every axis",
        ),
        (
            ThermalProperties { softening: Some(9.0), melting: Some(8.0), ..plain() },
            "heat.melting is Some(8.0), but it must be at or above heat.softening",
        ),
        (
            ThermalProperties { melting: Some(8.0), boiling: Some(8.0), ..plain() },
            "heat.boiling is Some(8.0), but it must be above heat.melting and heat.softening",
        ),
        (
            ThermalProperties { latent: 5.0, ..plain() },
            "heat.latent is 5.0, but it must be 0 without heat.melting, the temperature at which it melts",
        ),
        (ThermalProperties { latent: f32::NAN, ..plain() }, "heat.latent is NaN, but it must be at least 0"),
        (
            ThermalProperties { melting: Some(f32::INFINITY), ..plain() },
            "heat.melting is Some(inf), but it must be finite",
        ),
    ] {
        assert_eq!(rejection(heat), format!("material \"goo\": {message}"));
    }
    assert!(phyxel::material::Curve::new(vec![(5.0, 1.0), (4.0, 2.0)]).is_none(), "temperatures must rise");
}

#[test]
fn invalid_heatings_are_rejected() {
    let mut world = world(plain());
    add_block(&mut world, [1, 1, 1], 0.1, 0.0);
    let base = Heating::new("sun", "body");
    let exchange = |coefficient, ambient| Some(Exchange { coefficient, ambient });
    let radiation = |emissivity, ambient| Some(Radiation { emissivity, ambient });
    for (heating, message) in [
        (Heating::new("sun", "moon"), "there is no body named \"moon\"; known: body"),
        (
            Heating { until: Some(0.0), ..base.clone() },
            "heating \"sun\": until is Some(0.0), but it must be later than from",
        ),
        (Heating { flux: f32::NAN, ..base.clone() }, "heating \"sun\": flux is NaN, but it must be finite"),
        (
            Heating { facing: Some(Vec3::ZERO), ..base.clone() },
            "heating \"sun\": facing is Some(Vec3(0.0, 0.0, 0.0)), but it must be a unit vector",
        ),
        (
            Heating { exchange: exchange(-1.0, 0.0), ..base.clone() },
            "heating \"sun\": exchange.coefficient is -1.0, but it must be at least 0",
        ),
        (
            Heating { radiation: radiation(1.5, 0.0), ..base.clone() },
            "heating \"sun\": radiation.emissivity is 1.5, but it must be between 0 and 1",
        ),
        (
            Heating { radiation: radiation(0.5, -300.0), ..base.clone() },
            "heating \"sun\": radiation.ambient is -300.0, but it must be at or above the world's absolute_zero",
        ),
    ] {
        assert_eq!(world.add_heating(heating).unwrap_err().to_string(), message);
    }
    world.add_heating(base.clone()).unwrap();
    assert_eq!(
        world.add_heating(base).unwrap_err().to_string(),
        "there are two heatings named \"sun\"; give each a name of its own"
    );
    let set = |name: &str, setting| Command::Set { target: Target::Heating(name.into()), setting };
    assert_eq!(
        world.apply(set("moon", Setting::Flux(1.0))).unwrap_err().to_string(),
        "there is no heating named \"moon\"; known: sun"
    );
    assert_eq!(
        world.apply(set("sun", Setting::Beta(1.0))).unwrap_err().to_string(),
        "heating \"sun\" has no setting \"beta\" that may change while running"
    );
    assert!(world.apply(set("sun", Setting::Power(f32::INFINITY))).is_err());
    assert_eq!(world.heatings()[0].power, 0.0, "a rejected change has no effect");
}

#[test]
fn an_overflowing_temperature_is_reported_and_the_last_valid_state_is_kept() {
    let mut world = world(plain());
    add_block(&mut world, [2, 1, 1], 0.1, 0.0);
    world.add_heating(Heating { power: 1.0e38, ..Heating::new("sun", "body") }).unwrap();
    let before = world.particles().clone();
    let error = step(&mut world, 1.0e20, &mut StageTimes::default()).unwrap_err().to_string();
    let start = "the temperature of body \"body\" (particle 0) became ";
    let end = " at 0.000000 s; give it less heat or a larger specific heat";
    assert!(error.starts_with(start) && error.ends_with(end), "{error}");
    assert_eq!(world.particles(), &before);
    assert_eq!(world.frame().totals.heat_in, 0.0);
}

#[test]
fn obstacles_with_a_heat_capacity_need_a_temperature() {
    let pan = Obstacle::new("pan", Geometry::HalfSpace { normal: Vec3::Y }, Pose::default());
    let rejection = |temperature, heat_capacity| {
        Obstacle { temperature, heat_capacity, ..pan.clone() }.validate().err().map(|error| error.to_string())
    };
    assert_eq!(
        rejection(None, Some(5.0)).as_deref(),
        Some("obstacle \"pan\": temperature is None, but it must be given where there is a heat_capacity")
    );
    assert_eq!(
        rejection(Some(1.0), Some(0.0)).as_deref(),
        Some("obstacle \"pan\": heat_capacity is Some(0.0), but it must be positive")
    );
    assert_eq!(rejection(Some(1.0), Some(5.0)), None);
}
