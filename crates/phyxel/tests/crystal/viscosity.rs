//! Viscosity and surface tension.

use crate::common::{BodyFixture, momenta, run_steps, world_without_gravity};
use crate::{fluid_body, liquid};
use glam::Vec3;
use phyxel::World;
use phyxel::body::{BodyId, NewBody};
use phyxel::material::{FluidProperties, Material};
use phyxel::model::{CrystalSettings, ModelSettings};
use phyxel::store::Phase;

pub const SPACING: f32 = 0.05;

/// Fluid of 1000 kg/m3.
pub fn fluid_material(viscosity: f32, surface_tension: f32) -> Material {
    let fluid = FluidProperties { viscosity: viscosity.into(), surface_tension, ..FluidProperties::default() };
    Material { fluid, ..liquid() }
}

/// The same body as a fluid without velocity smoothing.
pub fn without_smoothing(body: NewBody) -> NewBody {
    let settings = CrystalSettings { phase: Phase::Fluid, smoothing: 0.0, ..CrystalSettings::default() };
    NewBody { model: ModelSettings::Crystal(settings), ..body }
}

#[test]
fn explicit_and_implicit_viscosity_conserve_momenta() {
    for (viscosity, dt) in [(0.2, 0.004), (50.0, 0.004)] {
        let mut world = world_without_gravity(fluid_material(viscosity, 0.0));
        let spinning = NewBody {
            spin: Vec3::new(0.0, 0.0, 3.0),
            ..without_smoothing(fluid_body("ball", Vec3::splat(0.3), SPACING))
        };
        world.add_body(spinning).unwrap();
        let impacting = NewBody {
            velocity: Vec3::new(-1.0, 0.2, 0.0),
            ..without_smoothing(fluid_body("drop", Vec3::splat(0.15), SPACING)).at(Vec3::new(0.4, 0.05, 0.0))
        };
        world.add_body(impacting).unwrap();
        let first = momenta(&world);
        run_steps(&mut world, dt, 100);
        let (last, is_implicit) = (momenta(&world), world.models().crystal.viscosity_iterations() > 1);
        assert_eq!(is_implicit, viscosity > 1.0);
        let mass = f64::from(world.particles().mass.iter().sum::<f32>());
        // A hundred steps of some ten iterations, each rounded to seven digits at 1 m/s and 0.3 m, with some
        // bias.
        assert!((last.0 - first.0).length() < 2e-5 * mass, "{} {}", first.0, last.0);
        assert!((last.1 - first.1).length() < 1e-5 * mass, "{} {}", first.1, last.1);
    }
}

/// Extent of a body along x over that across, from second moments about the centre.
fn aspect_ratio(world: &World) -> f32 {
    let positions = &world.particles().position;
    let centre = positions.iter().sum::<Vec3>() / positions.len() as f32;
    let squares = positions.iter().map(|x| (*x - centre) * (*x - centre)).sum::<Vec3>();
    (2.0 * squares.x / (squares.y + squares.z)).sqrt()
}

#[test]
fn a_drop_contracts_and_has_the_laplace_pressure() {
    let (surface_tension, spacing) = (0.07f32, 0.002f32);
    let mut world = world_without_gravity(fluid_material(0.02, surface_tension));
    world.add_body(fluid_body("drop", Vec3::new(0.02, 0.012, 0.012), spacing)).unwrap();
    let count = world.particles().len() as f32;
    let radius = (count * spacing.powi(3) / 2.0f32.sqrt() * 0.75 / std::f32::consts::PI).cbrt();
    let (initial_ratio, first) = (aspect_ratio(&world), momenta(&world));
    // It oscillates with a period of 2 pi sqrt(rho R^3/(8 sigma)), 0.2 s, and comes to rest.
    run_steps(&mut world, 0.0005, 1000);
    let mut mean = 0.0;
    for _ in 0..20 {
        run_steps(&mut world, 0.0005, 10);
        let (positions, pressures) = (&world.particles().position, world.pressures(BodyId(0)));
        let centre = positions.iter().sum::<Vec3>() / count;
        let inside = positions.iter().zip(&pressures).filter(|(x, _)| x.distance(centre) < 0.5 * radius);
        let (sum, number) = inside.fold((0.0, 0), |(sum, number), (_, p)| (sum + p, number + 1));
        mean += sum / number as f32 / 20.0;
    }
    // Densely packed planes have up to an eighth less surface energy than the mean, and the surface of so few
    // particles is known to half a layer, a fourteenth of the radius.
    let expected = 2.0 * surface_tension / radius;
    assert!((mean / expected - 1.0).abs() < 0.2, "{mean} Pa of {expected}");
    let final_ratio = aspect_ratio(&world);
    // Athermal particles pack, and flow stops where surface tension is little more than the yield stress of
    // the packing.
    assert!(initial_ratio > 1.6 && final_ratio < 1.0 + 0.6 * (initial_ratio - 1.0), "{initial_ratio} to {final_ratio}");
    assert!((momenta(&world).0 - first.0).length() < 1e-8, "{}", momenta(&world).0);
}

#[test]
fn touching_drops_coalesce() {
    let mut world = world_without_gravity(fluid_material(0.02, 0.07));
    for (name, x) in [("left", -0.0055), ("right", 0.0055)] {
        let drop = fluid_body(name, Vec3::splat(0.009), 0.002);
        world.add_body(drop.at(Vec3::X * x)).unwrap();
    }
    let before = aspect_ratio(&world);
    run_steps(&mut world, 0.0005, 600);
    // Nothing else attracts them: without surface tension they would stay apart.
    assert!(aspect_ratio(&world) < 0.9 * before, "{before} to {}", aspect_ratio(&world));
    assert!(world.particles().position.iter().all(|x| x.length() < 0.02));
}
