//! Heat in crystals: what surfaces take up, and how it spreads.

use crate::common::{run, space};
use crate::{crystal, elastic};
use glam::Vec3;
use phyxel::command::{Command, Region};
use phyxel::heating::Heating;
use phyxel::material::{Heat, Material};
use std::f64::consts::PI;

fn matter(conductivity: f32) -> Material {
    let heat = Heat { conductivity: Vec3::splat(conductivity), specific_heat: 1000.0, ..Heat::default() };
    // Soft, so that long steps are stable.
    Material { heat, ..elastic(10.0) }
}

#[test]
fn a_block_takes_up_heat_through_its_area() {
    let (distance, size) = (0.02f32, Vec3::new(0.4, 0.3, 0.2));
    let layer = distance / 2.0f32.sqrt();
    let mut world = space(matter(0.5));
    world.add_body(crystal("block", size, distance)).unwrap();
    world.add_heating(Heating { flux: 100.0, ..Heating::new("sun", "block") }).unwrap();
    run(&mut world, 0.001, 10);
    // The outermost layers stand for half a layer more.
    let layers = (size / (2.0 * layer) + 1e-3).floor() * 2.0 + Vec3::ONE;
    let edge = layers * layer;
    let area = f64::from(2.0 * (edge.x * edge.y + edge.y * edge.z + edge.z * edge.x));
    let found = world.frame().totals.heat_in / (100.0 * 0.01);
    // Particles lie 0.35 spacings inside, and what they see of edges is as round as that: an area deeper by 0.7 spacings.
    let deeper = 8.0 * f64::from(edge.x + edge.y + edge.z) * 0.7 * f64::from(distance);
    assert!(found < 1.01 * area && found > area - deeper, "{found} m2 of {area}");
}

#[test]
fn heat_spreads_along_a_bar_as_the_series_says() {
    let (distance, length) = (0.02f32, 0.6f32);
    let layer = distance / 2.0f32.sqrt();
    let mut world = space(matter(2000.0));
    world.add_body(crystal("bar", Vec3::new(length, 6.1 * layer, 6.1 * layer), distance)).unwrap();
    let long = ((length / (2.0 * layer)).floor() * 2.0 + 1.0) * layer;
    // A cosine over the length fades by exp(-pi^2 k t/L^2).
    let temperature = |x: f32| 10.0 * (f64::from(x / long) * PI + 0.5 * PI).cos();
    for i in 0..world.particles().len() as u32 {
        let x = world.particles().position[i as usize].x;
        let region = Region::Samples(vec![i]);
        let warm = Command::Warm { body: "bar".into(), region, temperature: temperature(x) as f32 };
        world.apply(warm).unwrap();
    }
    let diffusivity = 2000.0 / (1000.0 * 1000.0);
    let time = 0.5 * f64::from(long).powi(2) / (PI * PI * diffusivity);
    let steps = 400;
    run(&mut world, (time / steps as f64) as f32, steps);
    let particles = world.particles();
    let (mut found, mut expected) = (0.0, 0.0);
    for (x, enthalpy) in particles.position.iter().zip(&particles.enthalpy) {
        let first = temperature(x.x);
        found += enthalpy / 1000.0 * first;
        expected += first * first * (-0.5f64).exp();
    }
    // Inside it is exact to the square of a layer over the length. Half of these particles are at the surface, where fullness
    // makes up for neighbours that lack but for a twentieth: half of that of an exponent of a half.
    assert!((found / expected - 1.0).abs() < 0.02, "{}", found / expected);
}
