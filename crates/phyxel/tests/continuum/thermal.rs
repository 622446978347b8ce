//! Temperature: expansion, softening, conduction.

use crate::common::{run_steps, world_without_gravity};
use crate::{block, elastic};
use glam::Vec3;
use phyxel::commands::{Command, Region, Setting, Target};
use phyxel::material::{Curve, Material, ThermalProperties};
use phyxel::model::ContinuumSettings;
use phyxel::model::continuum::Integration;

#[test]
fn a_free_block_grows_by_its_expansion_without_strain() {
    let heat = ThermalProperties { expansion: 1e-3, ..ThermalProperties::default() };
    let mut world = world_without_gravity(Material { heat, damping: 0.5, ..elastic(1.0e5, 0.3) });
    world.add_body(block([5, 5, 5], 0.1, 0.2, ContinuumSettings::default())).unwrap();
    let size = |world: &phyxel::World| {
        let [low, high] = world.frame().bodies[0].report.bounds;
        high[0] - low[0]
    };
    run_steps(&mut world, 5e-4, 1);
    let first = size(&world);
    let target = Target::Body("body".into());
    world.apply(Command::Set { target, setting: Setting::Temperature(50.0) }).unwrap();
    run_steps(&mut world, 5e-4, 6000);
    assert!((size(&world) / first - 1.05).abs() < 1e-3, "{} of {first}", size(&world));
    assert!(world.frame().bodies[0].report.strain_max < 1e-3);
}

#[test]
fn a_curve_of_young_s_modulus_applies_phyxel_by_phyxel() {
    // Cold at one end, warm and half as stiff at the other: under the same force the warm half stretches
    // twice as far.
    let curve = Curve::new(vec![(0.0, 2.0e5), (100.0, 1.0e5)]).unwrap();
    let heat = ThermalProperties { conductivity: Vec3::ZERO, ..ThermalProperties::default() };
    let material = Material { young_modulus: curve, heat, damping: 0.5, ..elastic(1.0, 0.0) };
    let mut body = block([16, 4, 4], 0.1, 0.0, ContinuumSettings::default());
    body.start = Some(body.samples.iter().map(|x| *x * Vec3::new(1.05, 1.0, 1.0)).collect());
    body.held = (0..body.samples.len() as u32).filter(|i| body.samples[*i as usize].x.abs() > 0.7).collect();
    let samples = body.samples.clone();
    let mut world = world_without_gravity(material);
    world.add_body(body).unwrap();
    let warm = (0..samples.len() as u32).filter(|i| samples[*i as usize].x > 0.0).collect();
    let region = Region::Ids(warm);
    world.apply(Command::Warm { body: "body".into(), region, temperature: 100.0 }).unwrap();
    run_steps(&mut world, 3e-4, 8000);
    let mean = |low: f32, high: f32| {
        let there = (0..samples.len()).filter(|&i| samples[i].x > low && samples[i].x < high);
        let values: Vec<f64> = there.map(|i| f64::from(world.particles().position[i].x)).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    // Layers at 0.25 and 0.45 m, well inside each half.
    let stretch = |a: f32, b: f32| (mean(b - 0.01, b + 0.01) - mean(a - 0.01, a + 0.01)) / f64::from(b - a) - 1.0;
    let ratio = stretch(0.25, 0.55) / stretch(-0.55, -0.25);
    // Strains of 3 and 7 %: Green's strain is not linear, which is worth some hundredths.
    assert!((ratio / 2.0 - 1.0).abs() < 0.06, "{ratio}");
}

/// Difference of the mean temperatures of the halves of a bar of 1 m at a Fourier number, after one was 1
/// and the other 0.
fn series_difference(fourier: f64) -> f64 {
    let odd = (0..50).map(|k| f64::from(2 * k + 1));
    let pi = std::f64::consts::PI;
    odd.map(|n| 8.0 / (n * pi).powi(2) * (-(n * pi).powi(2) * fourier).exp()).sum()
}

#[test]
fn heat_flows_between_neighbours_as_the_series_says_and_none_is_lost() {
    let heat =
        ThermalProperties { conductivity: Vec3::splat(2.0), specific_heat: 500.0, ..ThermalProperties::default() };
    for jitter in [0.0, 0.15] {
        let mut world = world_without_gravity(Material { heat, ..elastic(1.0e5, 0.3) });
        let settings = ContinuumSettings { integration: Integration::Implicit, ..ContinuumSettings::default() };
        let body = block([20, 3, 3], 0.05, jitter, settings);
        let hot: Vec<u32> = (0..180).filter(|i| i % 20 < 10).collect();
        world.add_body(body).unwrap();
        let region = Region::Ids(hot.clone());
        world.apply(Command::Warm { body: "body".into(), region, temperature: 100.0 }).unwrap();
        let seconds = 8000.0;
        run_steps(&mut world, seconds / 160.0, 160);
        let temperature = &world.frame().particles.temperature;
        let mean = |warm: bool| {
            let there = (0..180u32).filter(|i| hot.contains(i) == warm).map(|i| f64::from(temperature[i as usize]));
            there.sum::<f64>() / 90.0
        };
        let (found, exact) = (0.01 * (mean(true) - mean(false)), series_difference(4e-6 * f64::from(seconds)));
        // Twenty cells and 160 first-order steps; irregular cells add a few hundredths.
        assert!((found / exact - 1.0).abs() < if jitter > 0.0 { 0.05 } else { 0.01 }, "{jitter}: {found} for {exact}");
        assert!(world.frame().totals.balance_error.abs() < 1e-6);
    }
}
