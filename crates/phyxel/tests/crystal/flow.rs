//! Viscosity and surface tension.

use crate::common::{run, space};
use crate::{elastic, fluid, momenta};
use glam::{Quat, Vec3};
use phyxel::World;
use phyxel::body::{BodyId, NewBody, Pose};
use phyxel::material::{Fluid, Material};
use phyxel::model::{CrystalSettings, ModelSettings};
use phyxel::particles::Phase;

pub const DISTANCE: f32 = 0.05;

/// Matter that flows, 1000 kg/m3.
pub fn liquid(viscosity: f32, surface_tension: f32) -> Material {
    let fluid = Fluid { viscosity: viscosity.into(), surface_tension, ..Fluid::default() };
    Material { fluid, ..elastic(0.0) }
}

/// Without smoothing.
pub fn plain(body: NewBody) -> NewBody {
    let settings = CrystalSettings { phase: Phase::Fluid, smoothing: 0.0, ..CrystalSettings::default() };
    NewBody { model: ModelSettings::Crystal(settings), ..body }
}

#[test]
fn honey_and_oil_keep_momenta_with_and_without_implicit_viscosity() {
    for (viscosity, dt) in [(0.2, 0.004), (50.0, 0.004)] {
        let mut world = space(liquid(viscosity, 0.0));
        let spinning = NewBody { spin: Vec3::new(0.0, 0.0, 3.0), ..plain(fluid("ball", Vec3::splat(0.3), DISTANCE)) };
        world.add_body(spinning).unwrap();
        let hit = NewBody {
            velocity: Vec3::new(-1.0, 0.2, 0.0),
            pose: Pose { at: Vec3::new(0.4, 0.05, 0.0), turn: Quat::IDENTITY },
            ..plain(fluid("drop", Vec3::splat(0.15), DISTANCE))
        };
        world.add_body(hit).unwrap();
        let first = momenta(&world);
        run(&mut world, dt, 100);
        let (last, implicit) = (momenta(&world), world.crystal_model().unwrap().viscosity_rounds() > 1);
        assert_eq!(implicit, viscosity > 1.0);
        let mass = f64::from(world.particles().mass.iter().sum::<f32>());
        // A hundred steps of some ten rounds, each rounded to seven digits at 1 m/s and 0.3 m, some the same way.
        assert!((last.0 - first.0).length() < 2e-5 * mass, "{} {}", first.0, last.0);
        assert!((last.1 - first.1).length() < 1e-5 * mass, "{} {}", first.1, last.1);
    }
}

/// Extent of a body along its longest axis over that along its shortest, from second moments about the middle, for one that lies along x.
fn slenderness(world: &World) -> f32 {
    let places = &world.particles().position;
    let middle = places.iter().sum::<Vec3>() / places.len() as f32;
    let squares = places.iter().map(|x| (*x - middle) * (*x - middle)).sum::<Vec3>();
    (2.0 * squares.x / (squares.y + squares.z)).sqrt()
}

#[test]
fn a_drop_draws_together_and_has_the_pressure_of_its_tension() {
    let (tension, distance) = (0.07f32, 0.002f32);
    let mut world = space(liquid(0.02, tension));
    world.add_body(fluid("drop", Vec3::new(0.02, 0.012, 0.012), distance)).unwrap();
    let count = world.particles().len() as f32;
    let radius = (count * distance.powi(3) / 2.0f32.sqrt() * 0.75 / std::f32::consts::PI).cbrt();
    let (slender, first) = (slenderness(&world), momenta(&world));
    // It swings in 2 pi sqrt(rho R^3/(8 sigma)), 0.2 s, and comes to rest.
    run(&mut world, 0.0005, 1000);
    let mut mean = 0.0;
    for _ in 0..20 {
        run(&mut world, 0.0005, 10);
        let (places, pressures) = (&world.particles().position, world.pressures(BodyId(0)));
        let middle = places.iter().sum::<Vec3>() / count;
        let inside = places.iter().zip(&pressures).filter(|(x, _)| x.distance(middle) < 0.5 * radius);
        let (sum, number) = inside.fold((0.0, 0), |(sum, number), (_, p)| (sum + p, number + 1));
        mean += sum / number as f32 / 20.0;
    }
    // Planes of a packing cost up to an eighth less than the mean, and the surface of so few particles is known to half a layer, a
    // fourteenth of the radius.
    let expected = 2.0 * tension / radius;
    assert!((mean / expected - 1.0).abs() < 0.2, "{mean} Pa of {expected}");
    let round = slenderness(&world);
    // Particles without heat of their own pack, and do not flow on where the tension is little more than what holds them.
    assert!(slender > 1.6 && round < 1.0 + 0.6 * (slender - 1.0), "{slender} to {round}");
    assert!((momenta(&world).0 - first.0).length() < 1e-8, "{}", momenta(&world).0);
}

#[test]
fn drops_that_touch_become_one() {
    let mut world = space(liquid(0.02, 0.07));
    for (name, x) in [("left", -0.0055), ("right", 0.0055)] {
        let drop = fluid(name, Vec3::splat(0.009), 0.002);
        world.add_body(NewBody { pose: Pose { at: Vec3::X * x, turn: Quat::IDENTITY }, ..drop }).unwrap();
    }
    let before = slenderness(&world);
    run(&mut world, 0.0005, 600);
    // Nothing else draws them: without tension they would stay where they are.
    assert!(slenderness(&world) < 0.9 * before, "{before} to {}", slenderness(&world));
    assert!(world.particles().position.iter().all(|x| x.length() < 0.02));
}
