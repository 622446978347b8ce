//! Worlds for heat experiments. The material has density 1000, specific heat 500 and conductivity 2, in SI
//! units.

use crate::closed_forms;
use crate::common::{self, MATERIAL, run_steps};
use glam::Vec3;
use phyxel::World;
use phyxel::body::NewBody;
use phyxel::heating::{Exchange, Heating, Radiation};
use phyxel::material::{Material, ThermalProperties};
use phyxel::model::shape_matching::{MatchingMode, ShapeMatchingSettings};
use std::f64::consts::PI;

pub const DENSITY: f64 = 1000.0;
pub const SPECIFIC: f64 = 500.0;
pub const CONDUCTIVITY: f64 = 2.0;
pub const DIFFUSIVITY: f64 = CONDUCTIVITY / (DENSITY * SPECIFIC);

/// Heat transfer coefficient that amounts to a Dirichlet condition: the film is as thick as a ten-thousandth
/// of the smallest cell used here.
const DIRICHLET: f32 = 1.0e9;

pub fn plain() -> ThermalProperties {
    ThermalProperties {
        conductivity: Vec3::splat(CONDUCTIVITY as f32),
        specific_heat: SPECIFIC as f32,
        ..ThermalProperties::default()
    }
}

pub fn world(heat: ThermalProperties) -> World {
    let (name, density) = (MATERIAL.into(), DENSITY as f32);
    common::world_without_gravity(Material { name, density, heat, ..Material::default() })
}

/// Cell centres of a block whose lowest corner is the origin.
pub fn cells(counts: [u32; 3], spacing: f32) -> Vec<Vec3> {
    let [nx, ny, nz] = counts;
    let cell_centre = |i: u32| Vec3::new((i % nx) as f32, (i / nx % ny) as f32, (i / (nx * ny)) as f32) + 0.5;
    (0..nx * ny * nz).map(|i| cell_centre(i) * spacing).collect()
}

/// Centres of the cells of a ball of radius 1 around the origin, `across` along its diameter.
pub fn ball_cells(across: u32) -> Vec<Vec3> {
    let spacing = 2.0 / across as f32;
    cells([across; 3], spacing).into_iter().map(|x| x - 1.0).filter(|x| x.length() < 1.0).collect()
}

pub fn add_body(world: &mut World, samples: Vec<Vec3>, spacing: f32, volume: f64, temperature: f32) {
    let rigid = ShapeMatchingSettings { mode: MatchingMode::Rigid, ..ShapeMatchingSettings::default() };
    let body = common::body("body", samples, rigid);
    world.add_body(NewBody { spacing, volume, temperature, ..body }).unwrap();
}

pub fn add_block(world: &mut World, counts: [u32; 3], spacing: f32, temperature: f32) {
    let volume = f64::from(counts.iter().product::<u32>()) * f64::from(spacing).powi(3);
    add_body(world, cells(counts, spacing), spacing, volume, temperature);
}

/// Prescribes the temperature of the faces in a direction, or of all.
pub fn fix_faces(name: &str, facing: Option<Vec3>, ambient: f32) -> Heating {
    let exchange = Some(Exchange { coefficient: DIRICHLET, ambient });
    Heating { facing, exchange, ..Heating::new(name, "body") }
}

pub fn radiate(emissivity: f32, ambient: f32) -> Heating {
    Heating { radiation: Some(Radiation { emissivity, ambient }), ..Heating::new("glow", "body") }
}

/// Rest positions and temperatures.
pub fn profile(world: &World) -> Vec<(Vec3, f64)> {
    let found = world.frame().particles.temperature;
    world.particles().rest.iter().copied().zip(found.into_iter().map(f64::from)).collect()
}

pub fn largest(errors: impl Iterator<Item = f64>) -> f64 {
    errors.map(f64::abs).fold(0.0, f64::max)
}

/// Advances by explicit steps of a twentieth of the squared spacing over the diffusivity, whose error is of
/// the order of the spatial one.
pub fn run_to(world: &mut World, fourier: f64, length: f64, spacing: f64) {
    let time = fourier * length * length / DIFFUSIVITY;
    let steps = (time * DIFFUSIVITY / (0.05 * spacing * spacing)).ceil();
    run_steps(world, (time / steps) as f32, steps as usize);
}

/// Adds a block at temperature 0 with these counts of cells, of a spacing, whose lowest corner is the origin.
pub type AddCells = fn(&mut World, [u32; 3], f64);

/// Cells of shape matching.
pub const CUBES: AddCells = |world, counts, spacing| add_block(world, counts, spacing as f32, 0.0);

/// Slab with faces at 1: largest error at Fourier number 0.1.
pub fn slab_error(add_cells: AddCells, count: u32) -> f64 {
    let spacing = 1.0 / f64::from(count);
    let mut world = world(plain());
    add_cells(&mut world, [1, count, 1], spacing);
    world.add_heating(fix_faces("low", Some(Vec3::NEG_Y), 1.0)).unwrap();
    world.add_heating(fix_faces("high", Some(Vec3::Y), 1.0)).unwrap();
    run_to(&mut world, 0.1, 1.0, spacing);
    largest(profile(&world).iter().map(|(x, t)| t - closed_forms::slab(x.y.into(), 0.1)))
}

/// Ball with its surface at 1: error of the mean temperature at Fourier number 0.05.
pub fn ball_error(across: u32) -> f64 {
    let mut world = world(plain());
    let spacing = 2.0 / f64::from(across);
    add_body(&mut world, ball_cells(across), spacing as f32, 4.0 / 3.0 * PI, 0.0);
    world.add_heating(fix_faces("surface", None, 1.0)).unwrap();
    run_to(&mut world, 0.05, 1.0, spacing);
    let found = profile(&world);
    found.iter().map(|(_, t)| t).sum::<f64>() / found.len() as f64 - ball_mean(0.05)
}

/// Mean temperature of a ball by the series.
pub fn ball_mean(time: f64) -> f64 {
    let terms = (1..200).map(|n| f64::from(n * n)).map(|n| (-n * PI * PI * time).exp() / n);
    1.0 - 6.0 / (PI * PI) * terms.sum::<f64>()
}

/// Plate of 1 by 1 with four times the conductivity along x as along y and its edges at 1, against the
/// product of two series: largest error at Fourier number 0.05 along y.
pub fn plate_error(add_cells: AddCells, count: u32) -> f64 {
    let spacing = 1.0 / f64::from(count);
    let mut world = world(ThermalProperties { conductivity: Vec3::new(8.0, 2.0, 1.0), ..plain() });
    add_cells(&mut world, [count, count, 1], spacing);
    for (name, facing) in [("left", Vec3::NEG_X), ("right", Vec3::X), ("low", Vec3::NEG_Y), ("high", Vec3::Y)] {
        world.add_heating(fix_faces(name, Some(facing), 1.0)).unwrap();
    }
    // Four times as many steps as along y alone.
    run_to(&mut world, 0.05, 1.0, 0.5 * spacing);
    largest(profile(&world).iter().map(|(x, t)| {
        let [along, across] = [closed_forms::slab(x.x.into(), 0.2), closed_forms::slab(x.y.into(), 0.05)];
        t - (1.0 - (1.0 - along) * (1.0 - across))
    }))
}

/// Stefan problem: a column at its melting point, melted from below by a wall 80 degrees hotter, Stefan
/// number 0.4. Relative error of the front at half height after `steps` steps.
pub fn stefan_error(count: u32, steps: u32) -> f64 {
    let spacing = 1.0 / f64::from(count);
    let latent = 1.0e5;
    let mut world = world(ThermalProperties { melting: Some(20.0), latent: latent as f32, ..plain() });
    add_block(&mut world, [1, count, 1], spacing as f32, 20.0);
    world.add_heating(fix_faces("wall", Some(Vec3::NEG_Y), 100.0)).unwrap();
    let lambda = closed_forms::stefan(SPECIFIC * 80.0 / latent);
    let time = (0.25 / lambda).powi(2) / DIFFUSIVITY;
    run_steps(&mut world, (time / f64::from(steps)) as f32, steps as usize);
    let molten = |enthalpy: &f64| ((enthalpy - SPECIFIC * 20.0) / latent).clamp(0.0, 1.0);
    let front = world.particles().enthalpy.iter().map(molten).sum::<f64>() * spacing;
    front / 0.5 - 1.0
}

/// Slab at 100 below, in air of 20 above with a coefficient of 30: largest error of the steady state, over 80.
pub fn film_error(count: u32) -> f64 {
    let spacing = 0.1 / f64::from(count);
    let mut world = world(plain());
    add_block(&mut world, [2, count, 2], spacing as f32, 0.0);
    world.add_heating(fix_faces("wall", Some(Vec3::NEG_Y), 100.0)).unwrap();
    let exchange = Some(Exchange { coefficient: 30.0, ambient: 20.0 });
    world.add_heating(Heating { facing: Some(Vec3::Y), exchange, ..Heating::new("air", "body") }).unwrap();
    run_steps(&mut world, 1.0e6, 20);
    // Conduction over 0.1 m and the film in series.
    let flux = 80.0 / (0.1 / CONDUCTIVITY + 1.0 / 30.0);
    largest(profile(&world).iter().map(|(x, t)| t - (100.0 - flux * f64::from(x.y) / CONDUCTIVITY))) / 80.0
}

/// Cube of 0.1 m with a volumetric source of 1e5 W/m3 that radiates to 20 degrees with emissivity 0.8:
/// relative error of its absolute temperature after `steps` steps of a day.
pub fn glow_error(steps: u32) -> f64 {
    let mut world = world(plain());
    add_block(&mut world, [1, 1, 1], 0.1, 20.0);
    world.add_heating(Heating { power: 1.0e5, ..radiate(0.8, 20.0) }).unwrap();
    run_steps(&mut world, 86_400.0, steps as usize);
    let flux = 1.0e5 * 0.1f64.powi(3) / 0.06;
    let surface = (293.15f64.powi(4) + flux / (0.8 * 5.670_374_419e-8)).powf(0.25);
    let middle = surface + flux * 0.05 / CONDUCTIVITY;
    (profile(&world)[0].1 + 273.15) / middle - 1.0
}
