//! Viscosity and surface tension.

use crate::common::{run, space, world};
use crate::{elastic, fluid, momenta};
use glam::{Quat, Vec3};
use phyxel::World;
use phyxel::body::{BodyId, NewBody, Pose};
use phyxel::material::{Fluid, Friction, Material};
use phyxel::model::{CrystalSettings, ModelSettings};
use phyxel::obstacle::{Geometry, Key, Obstacle};

use phyxel::particles::Phase;

const DISTANCE: f32 = 0.05;

/// Matter that flows, 1000 kg/m3.
fn liquid(viscosity: f32, surface_tension: f32) -> Material {
    let fluid = Fluid { viscosity: viscosity.into(), surface_tension, ..Fluid::default() };
    Material { fluid, ..elastic(0.0) }
}

/// Without smoothing.
fn plain(body: NewBody) -> NewBody {
    let settings = CrystalSettings { phase: Phase::Fluid, smoothing: 0.0, ..CrystalSettings::default() };
    NewBody { model: ModelSettings::Crystal(settings), ..body }
}

fn wall(world: &mut World, name: &str, normal: Vec3, at: Vec3, friction: Friction) {
    let pose = Pose { at, turn: Quat::IDENTITY };
    let obstacle = Obstacle { friction, ..Obstacle::new(name, Geometry::HalfSpace { normal }, pose) };
    world.add_obstacle(obstacle).unwrap();
}

/// Fluid between plates, between walls that it slips along, pushed along x by a piston, against its own weight: so it stays together.
fn channel(viscosity: f32, speed: f32, half: f32, length: f32, weight: f32) -> World {
    let layer = DISTANCE / 2.0f32.sqrt();
    let mut world = world(liquid(viscosity, 0.0), Vec3::NEG_X * weight);
    let side = 3.5 * layer;
    wall(&mut world, "below", Vec3::Y, Vec3::Y * -half, Friction::default());
    wall(&mut world, "above", Vec3::NEG_Y, Vec3::Y * half, Friction::default());
    wall(&mut world, "back", Vec3::Z, Vec3::Z * -side, Friction::NONE);
    wall(&mut world, "front", Vec3::NEG_Z, Vec3::Z * side, Friction::NONE);
    let at = |time: f64| {
        let at = Vec3::X * (-0.5 * length - 0.5 * layer + speed * time as f32);
        Key { time, pose: Pose { at, turn: Quat::IDENTITY } }
    };
    let piston = Obstacle::new("piston", Geometry::HalfSpace { normal: Vec3::X }, Pose::default());
    world.add_obstacle(Obstacle { keys: vec![at(0.0), at(100.0)], friction: Friction::NONE, ..piston }).unwrap();
    let size = Vec3::new(length, 2.0 * half - layer, 2.0 * side - layer);
    world.add_body(plain(fluid("oil", size, DISTANCE))).unwrap();
    world
}

/// Slope of a line through points, by least squares.
fn slope(points: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut n, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (a, b) in points {
        (n, x, y, xx, xy) = (n + 1.0, x + a, y + b, xx + a * a, xy + a * b);
    }
    (n * xy - x * y) / (n * xx - x * x)
}

#[test]
fn fluid_between_plates_flows_as_poiseuille_says() {
    let (viscosity, speed, weight) = (200.0f32, 0.05f32, 0.2f32);
    let half = 7.5 * DISTANCE / 2.0f32.sqrt();
    let mut world = channel(viscosity, speed, half, 1.2, weight);
    // The slowest part of the start fades by exp(-pi^2/4 nu t/d^2), in 0.14 s; that the front rolls over its own width takes longer.
    let dt = 0.002;
    run(&mut world, dt, 1000);
    let (mut fall, rounds) = (0.0, 600);
    // Sums of velocity and of what it should be, and counts, in strips along the plates.
    let mut strips = [[0.0f64; 3]; 20];
    for _ in 0..rounds {
        run(&mut world, dt, 4);
        let (pressures, particles) = (world.pressures(BodyId(0)), world.particles());
        let middle = particles.position.iter().map(|x| x.x).sum::<f32>() / particles.len() as f32;
        let inside = |x: &Vec3| (x.x - middle).abs() < 0.3;
        for (x, v) in particles.position.iter().zip(&particles.velocity).filter(|(x, _)| inside(x)) {
            let expected = 1.5 * speed * (1.0 - (x.y / half).powi(2));
            let strip = &mut strips[((x.y / half + 1.0) * 10.0).clamp(0.0, 19.0) as usize];
            *strip = [strip[0] + f64::from(v.x), strip[1] + f64::from(expected), strip[2] + 1.0];
        }
        let there = particles.position.iter().zip(&pressures).filter(|(x, _)| inside(x) && x.y.abs() < 0.7 * half);
        fall -= slope(there.map(|(x, p)| (f64::from(x.x), f64::from(*p)))) / f64::from(rounds);
    }
    let square: f64 = strips.iter().filter(|s| s[2] > 0.0).map(|s| (s[0] - s[1]).powi(2) / s[2]).sum();
    let off = (square / strips.iter().map(|s| s[2]).sum::<f64>()).sqrt() / f64::from(1.5 * speed);
    assert!(off < 0.03, "velocities are off by {off} of the fastest");
    // What pushes fluid through, beside its weight. Where exactly fluid starts to move along a wall is known to a tenth of a particle
    // distance, which is 3 (0.1 D)/d of it.
    let (pushed, expected) = (fall - f64::from(1000.0 * weight), f64::from(3.0 * viscosity * speed / (half * half)));
    assert!((pushed / expected - 1.0).abs() < 0.3 * f64::from(DISTANCE / half), "{pushed} Pa/m of {expected}");
    let rounds = world.crystal_model().unwrap().viscosity_rounds();
    assert!(rounds > 1, "such a viscosity is implicit: {rounds}");
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
        run(&mut world, dt, 1000);
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
