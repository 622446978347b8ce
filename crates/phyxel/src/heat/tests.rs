//! Heat conduction against closed forms.

use crate::body::{NewBody, Pose};
use crate::material::{HeatFromWork, Material, ThermalProperties};
use crate::model::ModelSettings;
use crate::model::shape_matching::ShapeMatchingSettings;
use crate::obstacle::{Geometry, Obstacle};
use crate::step::{StageTimes, step};
use crate::{Real, Settings, World};
use glam::Vec3;
use phyxel_laws::rng::SequentialRng;
use std::f64::consts::PI;

fn material(name: &str, heat: ThermalProperties) -> Material {
    Material { name: name.into(), density: 1000.0, heat, ..Material::default() }
}

const PLAIN: ThermalProperties = ThermalProperties {
    conductivity: Vec3::splat(2.0),
    specific_heat: 500.0,
    softening: None,
    melting: None,
    boiling: None,
    latent: 0.0,
    expansion: 0.0,
    softened: 0.0,
    from_work: HeatFromWork { plastic: 0.0, friction: 0.0, damping: 0.0 },
};

fn empty_world() -> World {
    World::new(Settings { gravity: Vec3::ZERO, ..Settings::default() }).unwrap()
}

/// Cell centres of a block whose lowest corner is the origin.
fn cells(counts: [u32; 3], spacing: Real) -> Vec<Vec3> {
    let [nx, ny, nz] = counts;
    let cell_centre = |i: u32| Vec3::new((i % nx) as Real, (i / nx % ny) as Real, (i / (nx * ny)) as Real) + 0.5;
    (0..nx * ny * nz).map(|i| cell_centre(i) * spacing).collect()
}

/// Adds a cubic lattice whose lowest corner is at `corner`.
fn add_block(world: &mut World, name: &str, material: &str, counts: [u32; 3], spacing: Real, corner: Vec3, t: Real) {
    add_samples(world, name, material, cells(counts, spacing), spacing, corner, t);
}

fn add_samples(
    world: &mut World,
    name: &str,
    material: &str,
    samples: Vec<Vec3>,
    spacing: Real,
    corner: Vec3,
    t: Real,
) {
    let model = ModelSettings::ShapeMatching(ShapeMatchingSettings::default());
    let pose = Pose { position: corner, ..Pose::default() };
    let body = NewBody::new(name, model, samples, spacing);
    world.add_body(NewBody { material: material.into(), pose, temperature: t, ..body }).unwrap();
}

fn advance(world: &mut World, dt: Real, steps: u32) {
    for _ in 0..steps {
        step(world, dt, &mut StageTimes::default()).unwrap();
    }
}

/// A bar of unit length whose temperature is a cosine along it; the largest error when it should have halved,
/// relative to its height.
fn cosine_error(count: u32, steps: u32) -> f64 {
    let mut world = empty_world();
    world.add_material(material("plain", PLAIN)).unwrap();
    let spacing = 1.0 / count as Real;
    add_block(&mut world, "bar", "plain", [count, 2, 2], spacing, Vec3::ZERO, 0.0);
    let shape = |x: f64| 100.0 * (PI * x).cos();
    for i in 0..world.particles.len() {
        world.particles.enthalpy[i] = 500.0 * shape(world.particles.rest[i].x.into());
    }
    let diffusivity = 2.0 / (1000.0 * 500.0);
    let time = 2.0f64.ln() / (diffusivity * PI * PI);
    advance(&mut world, (time / f64::from(steps)) as Real, steps);
    let found = world.temperatures();
    let errors = (0..found.len()).map(|i| {
        let x = f64::from(world.particles.rest[i].x);
        (f64::from(found[i]) - 0.5 * shape(x)).abs()
    });
    errors.fold(0.0, f64::max) / 100.0
}

#[test]
fn a_cosine_decays_at_its_rate_with_second_order_error_in_the_spacing() {
    // So many steps that the error in time is small: backward Euler adds ln(2)^2/4 of the amplitude over the
    // step count.
    let [coarse, fine] = [8, 16].map(|count| cosine_error(count, 4000));
    assert!(coarse < 0.01, "{coarse}");
    let order = (coarse / fine).log2();
    assert!((order - 2.0).abs() < 0.2, "errors {coarse} and {fine}, order {order}");
}

#[test]
fn a_few_long_steps_are_stable_and_first_order() {
    let [few, many] = [20, 40].map(|steps| cosine_error(32, steps));
    assert!(few < 0.01, "{few}");
    let order = (few / many).log2();
    assert!((order - 1.0).abs() < 0.25, "errors {few} and {many}, order {order}");
    assert!(cosine_error(32, 1) < 0.2, "one step of any length is stable");
}

#[test]
fn the_steady_profile_of_a_slab_between_two_plates_is_linear() {
    let mut world =
        World::new(Settings { gravity: Vec3::ZERO, contact_conductance: 1e9, ..Settings::default() }).unwrap();
    world.add_material(material("plain", PLAIN)).unwrap();
    add_block(&mut world, "slab", "plain", [3, 10, 3], 0.1, Vec3::ZERO, 20.0);
    for (name, normal, y, t) in [("cold", Vec3::Y, 0.0, 0.0), ("hot", Vec3::NEG_Y, 1.0, 100.0)] {
        let pose = Pose { position: Vec3::new(0.0, y, 0.0), ..Pose::default() };
        let plate = Obstacle { temperature: Some(t), ..Obstacle::new(name, Geometry::HalfSpace { normal }, pose) };
        world.add_obstacle(plate).unwrap();
    }
    advance(&mut world, 20_000.0, 100);
    let found = world.temperatures();
    for (i, t) in found.iter().enumerate() {
        let expected = 100.0 * world.particles.rest[i].y;
        assert!((t - expected).abs() < 0.05, "{} instead of {expected}", t);
    }
    assert!(world.frame().totals.heat_in > 0.0);
    assert!(world.frame().totals.balance_error.abs() < 1e-9, "{}", world.frame().totals.balance_error);
}

#[test]
fn bodies_in_contact_reach_their_common_temperature() {
    let mut world = empty_world();
    world.add_material(material("plain", PLAIN)).unwrap();
    world
        .add_material(material(
            "heavy",
            ThermalProperties { specific_heat: 1500.0, conductivity: Vec3::splat(20.0), ..PLAIN },
        ))
        .unwrap();
    add_block(&mut world, "cool", "plain", [3, 3, 3], 0.1, Vec3::ZERO, 10.0);
    add_block(&mut world, "warm", "heavy", [3, 3, 3], 0.1, Vec3::new(0.0, 0.3, 0.0), 50.0);
    advance(&mut world, 3600.0, 200);
    for t in world.temperatures() {
        assert!((t - 40.0).abs() < 0.01, "{t}");
    }
    assert!(world.frame().totals.balance_error.abs() < 1e-9);
    assert_eq!(world.frame().totals.heat_in, 0.0);
}

#[test]
fn heat_is_conserved_over_ten_thousand_steps() {
    let mut world = empty_world();
    world.add_material(material("plain", ThermalProperties { melting: Some(30.0), latent: 2.0e4, ..PLAIN })).unwrap();
    add_block(&mut world, "cool", "plain", [3, 3, 3], 0.1, Vec3::ZERO, 10.0);
    add_block(&mut world, "warm", "plain", [3, 3, 3], 0.1, Vec3::new(0.0, 0.3, 0.0), 90.0);
    advance(&mut world, 0.5, 10_000);
    let totals = world.frame().totals;
    assert!(totals.balance_error.abs() < 1e-5, "{}", totals.balance_error);
    let found = world.temperatures();
    let (low, high) = found.iter().fold((Real::MAX, Real::MIN), |(low, high), &t| (low.min(t), high.max(t)));
    assert!(low > 10.5 && high < 89.0 && low >= 10.0 - 1e-3, "{low} {high}");
}

#[test]
fn melting_takes_up_the_latent_heat_at_constant_temperature() {
    let mut world =
        World::new(Settings { gravity: Vec3::ZERO, contact_conductance: 100.0, ..Settings::default() }).unwrap();
    let heat = ThermalProperties { conductivity: Vec3::splat(1000.0), melting: Some(50.0), latent: 1.0e5, ..PLAIN };
    world.add_material(material("wax", heat)).unwrap();
    add_block(&mut world, "crumb", "wax", [1, 1, 1], 0.1, Vec3::ZERO, 0.0);
    let plate = Obstacle::new("plate", Geometry::HalfSpace { normal: Vec3::Y }, Pose::default());
    world.add_obstacle(Obstacle { temperature: Some(100.0), ..plate }).unwrap();
    // A film of 100 W/(m2 K) on 0.01 m2 under 1 kg of 500 J/K: up to the melting point it takes 500 ln 2 s,
    // then 1e5 J at 50 W, then the same curve again.
    let mut melting = 0;
    let mut first = None;
    for second in 0..6000 {
        advance(&mut world, 1.0, 1);
        let t = world.temperatures()[0];
        if (t - 50.0).abs() < 1e-3 {
            melting += 1;
            first.get_or_insert(second);
        }
    }
    let (begin, last) = (f64::from(first.unwrap()), f64::from(melting));
    // The error: the resistance of the particle itself, a twentieth of a percent, and steps of a second.
    assert!((begin - 500.0 * 2.0f64.ln()).abs() < 6.0, "{begin}");
    assert!((last / 2000.0 - 1.0).abs() < 0.01, "{last}");
    assert!(world.temperatures()[0] > 99.0);
}

/// Decay rate of a cosine along an axis in a cube of irregular samples with conductivities 8, 2 and 2, over
/// the exact rate.
fn irregular_decay_rate(axis: usize, count: u32) -> f64 {
    let mut world = empty_world();
    let conductivity = Vec3::new(8.0, 2.0, 2.0);
    world.add_material(material("grain", ThermalProperties { conductivity, ..PLAIN })).unwrap();
    let (spacing, mut rng) = (1.0 / count as Real, SequentialRng::new(7));
    let jittered = |x: Vec3| x + 0.3 * spacing * (2.0 * rng.uniform_vec3() - 1.0);
    let samples: Vec<Vec3> = cells([count; 3], spacing).into_iter().map(jittered).collect();
    add_samples(&mut world, "cube", "grain", samples, spacing, Vec3::ZERO, 0.0);
    let shape = |world: &World, i: usize| (PI * f64::from(world.particles.rest[i][axis])).cos();
    let amplitude = |world: &World| -> f64 {
        (0..world.particles.len()).map(|i| shape(world, i) * world.particles.enthalpy[i]).sum()
    };
    for i in 0..world.particles.len() {
        world.particles.enthalpy[i] = 500.0 * shape(&world, i);
    }
    let before = amplitude(&world);
    let rate = f64::from(conductivity[axis]) / (1000.0 * 500.0) * PI * PI;
    advance(&mut world, (0.5 / rate / 400.0) as Real, 400);
    (before / amplitude(&world)).ln() / 0.5
}

#[test]
fn irregular_samples_have_the_conductivity_of_each_axis() {
    // A third of the particles of a cube of 16 by 16 by 16 is at its surface. Links from there inward have
    // the mean of two weights with a ratio of about two: an error of a third. Together that is a ninth.
    for axis in 0..3 {
        let rate = irregular_decay_rate(axis, 16);
        assert!((rate - 1.0).abs() < 0.11, "axis {axis}: {rate} of its rate");
    }
}
