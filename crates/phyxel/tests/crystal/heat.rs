//! Heat in crystals: absorption by surfaces, and conduction.

use crate::common::{WorldFixture, elastic, run_steps, world_without_gravity};
use crate::crystal_body;
use glam::Vec3;
use phyxel::commands::{Command, Region};
use phyxel::heating::Heating;
use phyxel::material::{Material, ThermalProperties};
use std::f64::consts::PI;

fn conducting_material(conductivity: f32) -> Material {
    let heat = ThermalProperties {
        conductivity: Vec3::splat(conductivity),
        specific_heat: 1000.0,
        ..ThermalProperties::default()
    };
    // Soft, so that long steps are stable.
    Material { heat, ..elastic(10.0, 0.0) }
}

#[test]
fn a_block_absorbs_heat_through_its_surface_area() {
    let (spacing, size) = (0.02f32, Vec3::new(0.4, 0.3, 0.2));
    let layer = spacing / 2.0f32.sqrt();
    let mut world = world_without_gravity(conducting_material(0.5)).with_body(crystal_body("block", size, spacing));
    world.add_heating(Heating { flux: 100.0, ..Heating::new("sun", "block") }).unwrap();
    run_steps(&mut world, 0.001, 10);
    // The outermost layers represent half a layer more.
    let layers = (size / (2.0 * layer) + 1e-3).floor() * 2.0 + Vec3::ONE;
    let edge = layers * layer;
    let area = f64::from(2.0 * (edge.x * edge.y + edge.y * edge.z + edge.z * edge.x));
    let found = world.frame().totals.heat_in / (100.0 * 0.01);
    // Particles are 0.35 spacings below the surface and round off edges by as much: an area smaller by 0.7
    // spacings.
    let edge_loss = 8.0 * f64::from(edge.x + edge.y + edge.z) * 0.7 * f64::from(spacing);
    assert!(found < 1.01 * area && found > area - edge_loss, "{found} m2 of {area}");
}

#[test]
fn conduction_along_a_bar_agrees_with_the_cosine_series() {
    let (spacing, length) = (0.02f32, 0.6f32);
    let layer = spacing / 2.0f32.sqrt();
    let mut world = world_without_gravity(conducting_material(2000.0));
    world.add_body(crystal_body("bar", Vec3::new(length, 6.1 * layer, 6.1 * layer), spacing)).unwrap();
    let full_length = ((length / (2.0 * layer)).floor() * 2.0 + 1.0) * layer;
    // A cosine over the length decays as exp(-pi^2 k t/L^2).
    let temperature = |x: f32| 10.0 * (f64::from(x / full_length) * PI + 0.5 * PI).cos();
    for i in 0..world.particles().len() as u32 {
        let x = world.particles().position[i as usize].x;
        let region = Region::Ids(vec![i]);
        let warm = Command::Warm { body: "bar".into(), region, temperature: temperature(x) as f32 };
        world.apply(warm).unwrap();
    }
    let diffusivity = 2000.0 / (1000.0 * 1000.0);
    let time = 0.5 * f64::from(full_length).powi(2) / (PI * PI * diffusivity);
    let steps = 400;
    run_steps(&mut world, (time / steps as f64) as f32, steps);
    let particles = world.particles();
    let (mut found, mut expected) = (0.0, 0.0);
    for (x, enthalpy) in particles.position.iter().zip(&particles.enthalpy) {
        let first = temperature(x.x);
        found += enthalpy / 1000.0 * first;
        expected += first * first * (-0.5f64).exp();
    }
    // Inside, the error is of second order in layer over length. Half of these particles are at the surface,
    // where the volume fraction corrects for missing neighbours to a twentieth: half of that times the
    // exponent of a half.
    assert!((found / expected - 1.0).abs() < 0.02, "{}", found / expected);
}
