//! Experiments with temperature that the models of solids share.

use super::*;
use phyxel::commands::Region;
use phyxel::material::ThermalProperties;

/// Sets the temperature of samples of the body "body".
fn warm(world: &mut World, samples: Vec<u32>, temperature: f32) {
    let region = Region::Ids(samples);
    world.apply(Command::Warm { body: "body".into(), region, temperature }).unwrap();
}

/// A free block, heated by 50 degrees, grows by its expansion of 1e-3 per degree to a tolerance, relative to its size,
/// and comes to rest in so many steps with a strain below a bound.
pub fn assert_free_expansion(block: NewBody, dt: f32, steps: usize, tolerance: f64, strain: f64) {
    let heat = ThermalProperties { expansion: 1e-3, ..ThermalProperties::default() };
    let mut world = world_without_gravity(Material { heat, damping: 0.5, ..elastic(1.0e5, 0.3) }).with_body(block);
    let first = size(&world)[0];
    set_body(&mut world, "body", Setting::Temperature(50.0));
    run_steps(&mut world, dt, steps);
    assert!((size(&world)[0] / first - 1.05).abs() < tolerance, "{} of {first}", size(&world)[0]);
    assert!(max_strain(&world, 0) < strain, "{}", max_strain(&world, 0));
}

/// Ratio of the strains of the warm and the cold half of a bar along x, whose halves differ by a factor of two in
/// stiffness, after a time, s. It is stretched by a twentieth between ends that are fixed beyond `end`; strains are
/// measured between two layers of samples on either side, at distances from its middle, m.
pub fn strain_ratio_of_halves(bar: NewBody, end: f32, [near, far]: [f32; 2], dt: f32, steps: usize) -> f64 {
    let young_modulus = Curve::new(vec![(0.0, 2.0e5), (100.0, 1.0e5)]).unwrap();
    let heat = ThermalProperties { conductivity: Vec3::ZERO, ..ThermalProperties::default() };
    let material = Material { young_modulus, heat, damping: 0.5, ..elastic(1.0, 0.0) };
    let bar = bar.deformed(|x| x * Vec3::new(1.05, 1.0, 1.0)).fixed_where(|x| x.x.abs() > end);
    let samples = bar.samples.clone();
    let mut world = world_without_gravity(material).with_body(bar);
    warm(&mut world, select(&samples, |x| x.x > 0.01), 100.0);
    run_steps(&mut world, dt, steps);
    let mean = |layer: f32| {
        let there = select(&samples, |x| (x.x - layer).abs() < 0.01);
        let sum = there.iter().map(|&i| f64::from(world.particles().position[i as usize].x)).sum::<f64>();
        sum / there.len() as f64
    };
    let strain = |a: f32, b: f32| (mean(b) - mean(a)) / f64::from(b - a) - 1.0;
    strain(near, far) / strain(-far, -near)
}

/// Difference of the mean temperatures of two halves of a bar at a Fourier number, after one was 1 and the other 0.
fn difference_of_halves(fourier: f64) -> f64 {
    let odd = (0..50).map(|k| f64::from(2 * k + 1));
    let pi = std::f64::consts::PI;
    odd.map(|n| 8.0 / (n * pi).powi(2) * (-(n * pi).powi(2) * fourier).exp()).sum()
}

/// The difference of the mean temperatures of two halves of a bar of 1 m along x agrees with the Fourier series to a
/// tolerance, after 8000 s in 160 steps, and heat is conserved.
pub fn assert_conduction_follows_series(bar: NewBody, tolerance: f64) {
    let heat =
        ThermalProperties { conductivity: Vec3::splat(2.0), specific_heat: 500.0, ..ThermalProperties::default() };
    let samples = bar.samples.clone();
    let mut world = world_without_gravity(Material { heat, ..elastic(1.0e5, 0.3) }).with_body(bar);
    // Samples in the middle plane belong to both halves: half as warm.
    let in_middle = |x: Vec3| x.x.abs() <= 0.001;
    warm(&mut world, select(&samples, |x| !in_middle(x) && x.x < 0.0), 100.0);
    warm(&mut world, select(&samples, in_middle), 50.0);
    let seconds = 8000.0;
    run_steps(&mut world, seconds / 160.0, 160);
    let (temperature, particles) = (&world.frame().particles.temperature, world.particles());
    let mean = |side: f32| {
        let (mut sum, mut mass) = (0.0, 0.0);
        for (i, &x) in samples.iter().enumerate() {
            let fraction = if in_middle(x) { 0.5 } else { f64::from(u8::from(x.x * side > 0.0)) };
            let m = fraction * f64::from(particles.mass[i]);
            (sum, mass) = (sum + m * f64::from(temperature[i]), mass + m);
        }
        sum / mass
    };
    let (found, exact) = (0.01 * (mean(-1.0) - mean(1.0)), difference_of_halves(4e-6 * f64::from(seconds)));
    assert!((found / exact - 1.0).abs() < tolerance, "{found} for {exact}");
    assert!(balance_error(&world) < 1e-6);
}
