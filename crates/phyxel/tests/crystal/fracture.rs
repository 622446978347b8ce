//! Docking and cracks.

use crate::common::{DOWN, Random, run, space, world};
use crate::{crystal, elastic, momenta, packed};
use glam::{Quat, Vec3};
use phyxel::World;
use phyxel::body::{NewBody, Pose};
use phyxel::checkpoint::{decode, encode};
use phyxel::command::{Command, Setting, Target};
use phyxel::material::{Heat, Material};
use phyxel::model::CrystalSettings;
use phyxel::model::crystal::{Change, Docking};
use phyxel::parallel::with_threads;

/// Matter that breaks.
fn brittle(young: f32, strength: f32) -> Material {
    Material { strength: Some(strength.into()), damping: 0.1, ..elastic(young) }
}

/// A bar along x whose left end is held.
fn bar(size: Vec3) -> NewBody {
    let mut body = crystal("bar", size, 0.1);
    let first = body.samples.iter().map(|x| x.x).fold(f32::INFINITY, f32::min);
    body.held = (0..body.samples.len() as u32).filter(|&i| body.samples[i as usize].x < first + 0.1).collect();
    body
}

fn report(world: &World) -> (u32, u64) {
    let report = &world.frame().bodies[0].report;
    (report.pieces, report.broken)
}

fn advance(world: &mut World, frames: usize) {
    for _ in 0..frames {
        world.advance_frame().unwrap();
    }
}

#[test]
fn a_hanging_bar_breaks_at_its_strength() {
    for (strength, breaks) in [(1.2, false), (0.8, true)] {
        // Along its axis, so that all of a section bears the same: rho g L at the last held layer, and twice that in the first
        // swing, as the load comes at once.
        let (gravity, young) = (20.0, 2.0e6);
        let body = bar(Vec3::new(1.5, 0.5, 0.5));
        let xs = || body.samples.iter().map(|x| x.x);
        let (first, last) = (xs().fold(f32::INFINITY, f32::min), xs().fold(f32::NEG_INFINITY, f32::max));
        let load = 2.0 * 1000.0 * gravity * (last - first - 0.07);
        let material = Material { damping: 0.0, ..brittle(young, strength * load) };
        let mut world = world(material, Vec3::new(gravity, 0.0, 0.0));
        world.add_body(body).unwrap();
        // Its swing takes 4 L/c = 0.14 s.
        advance(&mut world, 8);
        let (pieces, broken) = report(&world);
        assert_eq!((pieces > 1, broken > 0), (breaks, breaks), "{strength}: {pieces} pieces, {broken} broken");
    }
}

/// Mean place and velocity of those particles that were beyond a place at rest.
fn beyond(world: &World, x: f32) -> (Vec3, Vec3) {
    let particles = world.particles();
    let free: Vec<usize> = (0..particles.len()).filter(|&i| particles.rest[i].x > x).collect();
    let mean = |column: &[Vec3]| free.iter().map(|&i| column[i]).sum::<Vec3>() / free.len() as f32;
    (mean(&particles.position), mean(&particles.velocity))
}

#[test]
fn a_cube_at_a_wall_breaks_under_gravity_and_its_halves_stay_apart_when_pushed_together() {
    // Bent by its weight it bears 3 rho g L^2/h = 38 kPa at the wall, and up to twice that at first.
    let mut world = world(brittle(1.0e6, 3.0e4), DOWN);
    world.add_body(bar(Vec3::new(0.9, 0.5, 0.5))).unwrap();
    // A quarter of a swing takes 0.07 s; what has come off falls.
    advance(&mut world, 8);
    let (pieces, broken) = report(&world);
    assert!(pieces >= 2 && broken > 40, "{pieces} pieces, {broken} broken");
    let down = beyond(&world, 0.2).1.y;
    assert!(down < -1.0, "falls at {down} m/s");
    let set = |world: &mut World, target, setting| world.apply(Command::Set { target, setting }).unwrap();
    set(&mut world, Target::World, Setting::Gravity(Vec3::ZERO));
    // Back to where it came from, into the half at the wall, which is there for three frames.
    let lifted = -beyond(&world, 0.2).0.y;
    set(&mut world, Target::Body("bar".into()), Setting::Velocity(Vec3::new(0.0, 10.0 * lifted, 0.0)));
    advance(&mut world, 3);
    let near = |world: &World| {
        let particles = world.particles();
        let close = |i: usize, j: usize| particles.position[i].distance(particles.position[j]) < 0.12;
        let (mut left, mut right) = (Vec::new(), Vec::new());
        (0..particles.len()).for_each(|i| if particles.rest[i].x > 0.2 { right.push(i) } else { left.push(i) });
        left.iter().map(|&i| right.iter().filter(|&&j| close(i, j)).count()).sum::<usize>()
    };
    set(&mut world, Target::Body("bar".into()), Setting::Velocity(Vec3::new(-1.0, 0.0, 0.0)));
    let mut closest = 0;
    for _ in 0..6 {
        advance(&mut world, 1);
        closest = closest.max(near(&world));
    }
    // Two layers of half of 7 x 7 particles would have four neighbours each.
    assert!(closest > 30, "{closest} pairs touch");
    let joined = report(&world);
    assert!(joined.0 >= pieces && joined.1 >= broken, "{joined:?}");
    // Nothing holds it: what it is pulled away with it keeps.
    set(&mut world, Target::Body("bar".into()), Setting::Velocity(Vec3::X));
    advance(&mut world, 10);
    let away = beyond(&world, 0.2).1.x;
    assert!(away > 0.8, "{away} m/s");
}

/// A swinging cloud near a lattice, whose pairs dock and part.
fn cloud(docking: Docking, strength: Option<f32>) -> World {
    let mut random = Random(23);
    let strength = strength.map(Into::into);
    let mut world = space(Material { damping: 0.2, poisson_ratio: 0.3, strength, ..elastic(1.0e5) });
    let settings = CrystalSettings { docking: Some(docking), ..CrystalSettings::default() };
    let body = packed("body", Vec3::new(0.9, 0.5, 0.5), 0.1, settings);
    let start = body.samples.iter().map(|&x| x * Vec3::new(1.1, 0.97, 1.0) + random.vector(0.03)).collect();
    world.add_body(NewBody { start: Some(start), spin: Vec3::new(1.0, 3.0, 2.0), ..body }).unwrap();
    world
}

#[test]
fn a_cloud_that_docks_and_cracks_keeps_its_momenta() {
    for strength in [None, Some(3.0e3)] {
        let mut world = cloud(Docking { rate: 20.0, change: 100.0 }, strength);
        let (linear, angular) = momenta(&world);
        run(&mut world, 5.0e-4, 1000);
        assert_eq!(report(&world).1 > 0, strength.is_some());
        let (p, l) = momenta(&world);
        let mass = f64::from(world.particles().mass.iter().sum::<f32>());
        // Rounded velocities of 1 m/s, 1000 steps that each add an error of their own.
        assert!((p - linear).length() < 1e-5 * mass, "{p} of {linear}");
        assert!((l - angular).length() < 1e-3 * angular.length(), "{l} of {angular}");
    }
}

#[test]
fn fracture_repeats_with_any_number_of_threads_and_after_resuming() {
    let advanced = |threads| {
        with_threads(Some(threads), || {
            let mut world = cloud(Docking::default(), Some(3.0e3));
            advance(&mut world, 6);
            assert!(report(&world).1 > 0);
            world.state_hash()
        })
    };
    let first = advanced(1);
    assert_eq!(advanced(2), first);
    let mut resumed = cloud(Docking::default(), Some(3.0e3));
    for _ in 0..6 {
        resumed = decode(&encode(&resumed)).unwrap();
        advance(&mut resumed, 1);
    }
    assert_eq!(resumed.state_hash(), first);
}

/// Least distance of particles of the two, m.
fn gap(world: &World, a: std::ops::Range<usize>, b: std::ops::Range<usize>) -> f32 {
    let x = &world.particles().position;
    let of = |i: usize| b.clone().map(move |j| x[i].distance(x[j])).fold(f32::INFINITY, f32::min);
    a.map(of).fold(f32::INFINITY, f32::min)
}

#[test]
fn crystals_that_meet_at_5_m_per_s_bounce_off_and_neither_stick_nor_go_through_each_other() {
    for docking in [None, Some(Docking::default())] {
        let mut world = space(Material { damping: 0.02, ..elastic(4.0e6) });
        let settings = CrystalSettings { docking, ..CrystalSettings::default() };
        for (name, at, speed) in [("left", -0.4, 2.5), ("right", 0.4, -2.5)] {
            let body = packed(name, Vec3::splat(0.5), 0.1, settings.clone());
            let pose = Pose { at: Vec3::new(at, 0.02, 0.01), turn: Quat::from_rotation_y(0.3 * at) };
            world.add_body(NewBody { pose, velocity: Vec3::new(speed, 0.0, 0.0), ..body }).unwrap();
        }
        let [left, right] = [0, 1].map(|k| world.bodies()[k].range());
        let mut nearest = f32::INFINITY;
        for _ in 0..12 {
            advance(&mut world, 1);
            nearest = nearest.min(gap(&world, left.clone(), right.clone()));
        }
        let speed = |range: std::ops::Range<usize>| {
            let count = range.len() as f32;
            world.particles().velocity[range].iter().sum::<Vec3>().x / count
        };
        let (a, b) = (speed(left.clone()), speed(right.clone()));
        // They meet with a tenth of the speed of sound: what is nearest is pressed by as much, and by twice that where corners meet.
        assert!(nearest > 0.05, "{nearest}");
        // Part of what they had goes into swinging.
        assert!(a < -0.5 && b > 0.5, "{a} {b}");
        assert!(gap(&world, left, right) > 0.2);
    }
}

#[test]
fn pieces_that_meet_again_at_5_m_per_s_bounce_off() {
    let mut world = world(brittle(4.0e6, 3.0e4), Vec3::new(20.0, 0.0, 0.0));
    world.add_body(bar(Vec3::new(1.5, 0.5, 0.5))).unwrap();
    advance(&mut world, 8);
    let (pieces, broken) = report(&world);
    assert!(pieces >= 2, "{pieces} pieces, {broken} broken");
    let set = |world: &mut World, target, setting| world.apply(Command::Set { target, setting }).unwrap();
    set(&mut world, Target::World, Setting::Gravity(Vec3::ZERO));
    // So strong that it does not shatter.
    set(&mut world, Target::Material("matter".into()), Setting::Strength(Some(1.0e9.into())));
    set(&mut world, Target::Body("bar".into()), Setting::Velocity(Vec3::new(-5.0, 0.0, 0.0)));
    let (first, mut least) = (beyond(&world, 0.3).0.x, f32::INFINITY);
    for _ in 0..15 {
        advance(&mut world, 1);
        least = least.min(beyond(&world, 0.3).0.x);
    }
    let v = beyond(&world, 0.3).1;
    assert_eq!(report(&world), (pieces, broken));
    // The middle of what is beyond 0.3 was at 0.5 at rest: it cannot be much farther back.
    assert!(least > 0.4 && least < first - 0.02, "from {first} to {least}");
    assert!(v.x > 0.5, "{v}");
}

#[test]
fn melt_that_freezes_in_a_crack_heals_it() {
    let heat = Heat { melting: Some(10.0), latent: 3.0e4, specific_heat: 2000.0, ..Heat::default() };
    let mut world = space(Material { heat, ..brittle(1.0e5, 1.0e6) });
    let change = Change { fastest: 10.0, ..Change::default() };
    let settings = CrystalSettings { docking: Some(Docking::default()), change, ..CrystalSettings::default() };
    let size = Vec3::splat(0.2);
    for (name, phase, x) in [
        ("left", phyxel::particles::Phase::Solid, -0.177),
        ("right", phyxel::particles::Phase::Solid, 0.177),
        ("melt", phyxel::particles::Phase::Fluid, 0.0),
    ] {
        let body = packed(name, size, 0.05, CrystalSettings { phase, ..settings.clone() });
        let pose = Pose { at: Vec3::new(x, 0.0, 0.0), turn: Quat::IDENTITY };
        world.add_body(NewBody { temperature: 5.0, pose, ..body }).unwrap();
    }
    let objects = |world: &World| world.crystal_model().unwrap().object_count(world.particles());
    assert_eq!(objects(&world), 2);
    // Surfaces close within 0.1 s; melt freezes to them all the same, and holds both.
    advance(&mut world, 60);
    assert_eq!(objects(&world), 1);
    let set = |world: &mut World, name: &str, velocity| {
        let (target, setting) = (Target::Body(name.into()), Setting::Velocity(velocity));
        world.apply(Command::Set { target, setting }).unwrap();
    };
    set(&mut world, "left", Vec3::ZERO);
    set(&mut world, "melt", Vec3::ZERO);
    set(&mut world, "right", Vec3::new(0.3, 0.0, 0.0));
    advance(&mut world, 30);
    let speeds = [0, 1].map(|k| crate::common::velocity(&world, k).x);
    // What holds together moves together, but for swinging.
    assert!(speeds[0] > 0.03, "{speeds:?}");
}
