//! Thermal effects: expansion, softening, conduction, heat of damping.

use crate::common::{run_steps, world_without_gravity};
use crate::{Cut, Mesh, block, elastic};
use glam::Vec3;
use phyxel::World;
use phyxel::commands::{Command, Region, Setting, Target};
use phyxel::heating::{Exchange, Heating};
use phyxel::material::{Curve, HeatFromWork, Material, ThermalProperties};
use phyxel::model::TetraSettings;
use phyxel::model::continuum::Integration;

/// Implicit integration, whose numerical damping stops oscillations soon.
fn implicit() -> TetraSettings {
    TetraSettings { integration: Integration::Implicit, ..TetraSettings::default() }
}

#[test]
fn a_free_block_expands_without_stress() {
    let heat = ThermalProperties { expansion: 1e-3, ..ThermalProperties::default() };
    let mut world = world_without_gravity(Material { heat, damping: 0.5, ..elastic(1.0e5, 0.3) });
    world.add_body(block([4, 4, 4], 0.1, implicit())).unwrap();
    let size = |world: &World| {
        let [low, high] = world.frame().bodies[0].report.bounds;
        high[0] - low[0]
    };
    let target = Target::Body("body".into());
    world.apply(Command::Set { target, setting: Setting::Temperature(50.0) }).unwrap();
    run_steps(&mut world, 5e-3, 400);
    // Damped out but for rounding, which is worth a strain of 1e-6. The residual of the first step, 1e-4
    // of the right-hand side, rotates it a little, and its bounding box grows with that.
    assert!((size(&world) / 0.4 - 1.05).abs() < 2e-4, "{}", size(&world));
    assert!(world.frame().bodies[0].report.strain_max < 1e-5);
}

#[test]
fn a_temperature_dependent_modulus_acts_element_by_element() {
    // One half is cold; the other is warm, with half the stiffness: under the same force its strain is
    // twice as large.
    let curve = Curve::new(vec![(0.0, 2.0e5), (100.0, 1.0e5)]).unwrap();
    let heat = ThermalProperties { conductivity: Vec3::ZERO, ..ThermalProperties::default() };
    let material = Material { young_modulus: curve, heat, damping: 0.5, ..elastic(1.0, 0.0) };
    let mut body = Mesh::block([16, 3, 3], 0.1, Cut::Centred, 0.0).body(0.1, implicit());
    body.start = Some(body.samples.iter().map(|x| *x * Vec3::new(1.05, 1.0, 1.0)).collect());
    body.held = (0..body.samples.len() as u32).filter(|i| body.samples[*i as usize].x.abs() > 0.79).collect();
    let samples = body.samples.clone();
    let mut world = world_without_gravity(material);
    world.add_body(body).unwrap();
    let warm = (0..samples.len() as u32).filter(|i| samples[*i as usize].x > 0.01).collect();
    let region = Region::Ids(warm);
    world.apply(Command::Warm { body: "body".into(), region, temperature: 100.0 }).unwrap();
    run_steps(&mut world, 1e-2, 400);
    let mean = |x: f32| {
        let nodes = (0..samples.len()).filter(|&i| (samples[i].x - x).abs() < 0.01);
        let values: Vec<f64> = nodes.map(|i| f64::from(world.particles().position[i].x)).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let stretch = |a: f32, b: f32| (mean(b) - mean(a)) / f64::from(b - a) - 1.0;
    let ratio = stretch(0.3, 0.6) / stretch(-0.6, -0.3);
    // Strain is linear in stretch, and without Poisson's ratio nothing depends on the sides; rounding of
    // 1e-7 m in 0.01 m.
    assert!((ratio / 2.0 - 1.0).abs() < 1e-3, "{ratio}");
}

/// Difference of the mean temperatures of two halves of a bar of 1 m, a time after one was 1 and the other 0.
fn difference(fourier: f64) -> f64 {
    let odd = (0..50).map(|k| f64::from(2 * k + 1));
    let pi = std::f64::consts::PI;
    odd.map(|n| 8.0 / (n * pi).powi(2) * (-(n * pi).powi(2) * fourier).exp()).sum()
}

#[test]
fn heat_conduction_agrees_with_the_fourier_series_and_conserves_heat() {
    let heat =
        ThermalProperties { conductivity: Vec3::splat(2.0), specific_heat: 500.0, ..ThermalProperties::default() };
    for (cut, jitter) in [(Cut::Six, 0.0), (Cut::Centred, 0.0), (Cut::Centred, 0.15)] {
        let mut world = world_without_gravity(Material { heat, ..elastic(1.0e5, 0.3) });
        let body = Mesh::block([20, 3, 3], 0.05, cut, jitter).body(0.05, implicit());
        let samples = body.samples.clone();
        world.add_body(body).unwrap();
        // Nodes in the middle plane belong to both halves: half as warm.
        let chosen = |low: f32, high: f32| {
            (0..samples.len() as u32).filter(|&i| (low..high).contains(&samples[i as usize].x)).collect()
        };
        for (low, high, temperature) in [(-1.0, -0.001, 100.0), (-0.001, 0.001, 50.0)] {
            let region = Region::Ids(chosen(low, high));
            world.apply(Command::Warm { body: "body".into(), region, temperature }).unwrap();
        }
        let seconds = 8000.0;
        run_steps(&mut world, seconds / 160.0, 160);
        let (temperature, particles) = (&world.frame().particles.temperature, world.particles());
        let mean = |sign: f32| {
            let (mut sum, mut mass) = (0.0, 0.0);
            for i in 0..samples.len() {
                let fraction = match samples[i].x * sign {
                    x if x > 0.001 => 1.0,
                    x if x > -0.001 => 0.5,
                    _ => 0.0,
                };
                let m = fraction * f64::from(particles.mass[i]);
                (sum, mass) = (sum + m * f64::from(temperature[i]), mass + m);
            }
            sum / mass
        };
        let (found, exact) = (0.01 * (mean(-1.0) - mean(1.0)), difference(4e-6 * f64::from(seconds)));
        // Twenty cells and 160 steps of first order; on irregular cells a few hundredths, also of the
        // initial heat.
        assert!(
            (found / exact - 1.0).abs() < if jitter > 0.0 { 0.03 } else { 0.01 },
            "{cut:?}, {jitter}: {found} for {exact}"
        );
        assert!(world.frame().totals.balance_error.abs() < 1e-6);
    }
}

#[test]
fn nodal_areas_add_up_to_the_surface() {
    // A box of 0.4 x 0.3 x 0.2 m, with a surface of 0.52 m2, loses heat by Newton's law of cooling.
    let heat =
        ThermalProperties { conductivity: Vec3::splat(1.0e3), specific_heat: 500.0, ..ThermalProperties::default() };
    let mut world = world_without_gravity(Material { heat, ..elastic(1.0e5, 0.3) });
    let mut body = block([4, 3, 2], 0.1, TetraSettings::default());
    body.temperature = 100.0;
    world.add_body(body).unwrap();
    let exchange = Some(Exchange { coefficient: 10.0, ambient: 0.0 });
    world.add_heating(Heating { exchange, ..Heating::new("air", "body") }).unwrap();
    let before = world.frame().totals.energy.heat;
    run_steps(&mut world, 1e-3, 1);
    let lost = (before - world.frame().totals.energy.heat) / 1e-3;
    // 10 W/(m2 K) x 0.52 m2 x 100 K; areas of f32.
    assert!((lost / 520.0 - 1.0).abs() < 1e-4, "{lost}");
}

#[test]
fn dissipated_energy_becomes_heat() {
    for integration in [Integration::Explicit, Integration::Implicit] {
        let heat = ThermalProperties {
            from_work: HeatFromWork { damping: 1.0, ..HeatFromWork::default() },
            ..ThermalProperties::default()
        };
        let mut world = world_without_gravity(Material { heat, damping: 0.3, ..elastic(1.0e5, 0.3) });
        let settings = TetraSettings { integration, ..TetraSettings::default() };
        let mut body = block([4, 2, 2], 0.1, settings);
        body.start = Some(body.samples.iter().map(|x| *x * Vec3::new(1.1, 1.0, 1.0)).collect());
        world.add_body(body).unwrap();
        let first = world.frame().totals.energy.elastic;
        run_steps(&mut world, 1e-4, 5000);
        let totals = world.frame().totals;
        let remaining = totals.energy.elastic + totals.energy.kinetic;
        let heat_made = totals.energy.heat;
        // Steps are of first order: of oscillations with w dt = 0.01 to 0.1, the scheme loses or gains
        // about a hundredth.
        let error = ((remaining + heat_made) / first - 1.0).abs();
        assert!(
            remaining < 0.1 * first && error < 0.05,
            "{integration:?}: {first} J became {remaining} J and {heat_made} J of heat"
        );
    }
}
