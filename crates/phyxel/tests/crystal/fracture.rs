//! Docking and fracture.

use crate::common::determinism::assert_reproducible;
use crate::common::*;
use crate::{crystal_body, packed_body};
use glam::{Quat, Vec3};
use phyxel::World;
use phyxel::body::{NewBody, Pose};
use phyxel::commands::{Setting, Target};
use phyxel::material::{Material, ThermalProperties};
use phyxel::model::CrystalSettings;
use phyxel::model::crystal::{Docking, PhaseChangeSettings};
use phyxel::store::Phase;

/// Material with a strength.
fn brittle_material(young_modulus: f32, strength: f32) -> Material {
    Material { strength: Some(strength.into()), damping: 0.1, ..elastic(young_modulus, 0.0) }
}

/// A bar along x whose left end is fixed.
fn fixed_bar(size: Vec3) -> NewBody {
    let body = crystal_body("bar", size, 0.1);
    let first = body.samples.iter().map(|x| x.x).fold(f32::INFINITY, f32::min);
    body.fixed_where(|x| x.x < first + 0.1)
}

fn pieces_and_broken(world: &World) -> (u32, u64) {
    let report = &world.frame().bodies[0].report;
    (report.pieces, report.broken)
}

#[test]
fn a_hanging_bar_breaks_at_its_strength() {
    for (strength, breaks) in [(1.2, false), (0.8, true)] {
        // Loaded along its axis, so that stress is uniform over a section: rho g L at the last fixed layer,
        // and twice that in the first oscillation, as the load is sudden.
        let (gravity, young_modulus) = (20.0, 2.0e6);
        let body = fixed_bar(Vec3::new(1.5, 0.5, 0.5));
        let xs = || body.samples.iter().map(|x| x.x);
        let (first, last) = (xs().fold(f32::INFINITY, f32::min), xs().fold(f32::NEG_INFINITY, f32::max));
        let load = 2.0 * 1000.0 * gravity * (last - first - 0.07);
        let material = Material { damping: 0.0, ..brittle_material(young_modulus, strength * load) };
        let mut world = world(material, Vec3::new(gravity, 0.0, 0.0)).with_body(body);
        // Its period is 4 L/c = 0.14 s.
        run_frames(&mut world, 8);
        let (pieces, broken) = pieces_and_broken(&world);
        assert_eq!((pieces > 1, broken > 0), (breaks, breaks), "{strength}: {pieces} pieces, {broken} broken");
    }
}

/// Mean position and velocity of the particles beyond a plane of the rest shape.
fn mean_state_beyond(world: &World, x: f32) -> (Vec3, Vec3) {
    let particles = world.particles();
    let free: Vec<usize> = (0..particles.len()).filter(|&i| particles.rest[i].x > x).collect();
    let mean = |column: &[Vec3]| free.iter().map(|&i| column[i]).sum::<Vec3>() / free.len() as f32;
    (mean(&particles.position), mean(&particles.velocity))
}

#[test]
fn a_cantilever_breaks_under_gravity_and_its_pieces_stay_separate_in_contact() {
    // Its bending stress is 3 rho g L^2/h = 38 kPa at the wall, and up to twice that at first.
    let mut world = world(brittle_material(1.0e6, 3.0e4), DOWN).with_body(fixed_bar(Vec3::new(0.9, 0.5, 0.5)));
    // A quarter of a period is 0.07 s; the broken piece falls.
    run_frames(&mut world, 8);
    let (pieces, broken) = pieces_and_broken(&world);
    assert!(pieces >= 2 && broken > 40, "{pieces} pieces, {broken} broken");
    let down = mean_state_beyond(&world, 0.2).1.y;
    assert!(down < -1.0, "falls at {down} m/s");
    set(&mut world, Target::World, Setting::Gravity(Vec3::ZERO));
    // Moved back to its initial height, against the piece at the wall, in three frames.
    let lifted = -mean_state_beyond(&world, 0.2).0.y;
    set_body(&mut world, "bar", Setting::Velocity(Vec3::new(0.0, 10.0 * lifted, 0.0)));
    run_frames(&mut world, 3);
    let touching_pairs = |world: &World| {
        let particles = world.particles();
        let close = |i: usize, j: usize| particles.position[i].distance(particles.position[j]) < 0.12;
        let (mut left, mut right) = (Vec::new(), Vec::new());
        (0..particles.len()).for_each(|i| if particles.rest[i].x > 0.2 { right.push(i) } else { left.push(i) });
        left.iter().map(|&i| right.iter().filter(|&&j| close(i, j)).count()).sum::<usize>()
    };
    set_body(&mut world, "bar", Setting::Velocity(Vec3::new(-1.0, 0.0, 0.0)));
    let mut touching = 0;
    for _ in 0..6 {
        run_frames(&mut world, 1);
        touching = touching.max(touching_pairs(&world));
    }
    // Two layers of half of 7 x 7 particles would have four pairs each.
    assert!(touching > 30, "{touching} pairs touch");
    let after_contact = pieces_and_broken(&world);
    assert!(after_contact.0 >= pieces && after_contact.1 >= broken, "{after_contact:?}");
    // No bond: it keeps the velocity at which it is moved away.
    set_body(&mut world, "bar", Setting::Velocity(Vec3::X));
    run_frames(&mut world, 10);
    let away = mean_state_beyond(&world, 0.2).1.x;
    assert!(away > 0.8, "{away} m/s");
}

/// A vibrating body, perturbed from its lattice, whose pairs dock and break.
fn vibrating_body(docking: Docking, strength: Option<f32>) -> World {
    let mut rng = Lcg(23);
    let strength = strength.map(Into::into);
    let settings = CrystalSettings { docking: Some(docking), ..CrystalSettings::default() };
    let body = packed_body("body", Vec3::new(0.9, 0.5, 0.5), 0.1, settings)
        .deformed(|x| x * Vec3::new(1.1, 0.97, 1.0) + rng.next_vector(0.03));
    world_without_gravity(Material { damping: 0.2, poisson_ratio: 0.3, strength, ..elastic(1.0e5, 0.0) })
        .with_body(NewBody { spin: Vec3::new(1.0, 3.0, 2.0), ..body })
}

#[test]
fn docking_and_fracture_conserve_momenta() {
    for strength in [None, Some(3.0e3)] {
        let mut world = vibrating_body(Docking { rate: 20.0, decay: 100.0 }, strength);
        let (linear, angular) = momenta(&world);
        run_steps(&mut world, 5.0e-4, 1000);
        assert_eq!(pieces_and_broken(&world).1 > 0, strength.is_some());
        let (p, l) = momenta(&world);
        let mass = f64::from(world.particles().mass.iter().sum::<f32>());
        // Rounded velocities of 1 m/s, 1000 steps that each add an error of their own.
        assert!((p - linear).length() < 1e-5 * mass, "{p} of {linear}");
        assert!((l - angular).length() < 1e-3 * angular.length(), "{l} of {angular}");
    }
}

#[test]
fn fracture_is_deterministic_for_any_threads_and_after_resuming() {
    let start = || vibrating_body(Docking::default(), Some(3.0e3));
    assert_reproducible(
        start,
        (6, 1),
        |world, _| run_frames(world, 1),
        |world| {
            assert!(pieces_and_broken(world).1 > 0);
            world.state_hash()
        },
    );
}

/// Least distance between particles of two ranges, m.
fn min_distance(world: &World, a: std::ops::Range<usize>, b: std::ops::Range<usize>) -> f32 {
    let x = &world.particles().position;
    let of = |i: usize| b.clone().map(move |j| x[i].distance(x[j])).fold(f32::INFINITY, f32::min);
    a.map(of).fold(f32::INFINITY, f32::min)
}

#[test]
fn crystals_that_collide_at_5_m_per_s_rebound_without_sticking_or_interpenetrating() {
    for docking in [None, Some(Docking::default())] {
        let mut world = world_without_gravity(Material { damping: 0.02, ..elastic(4.0e6, 0.0) });
        let settings = CrystalSettings { docking, ..CrystalSettings::default() };
        for (name, x, speed) in [("left", -0.4, 2.5), ("right", 0.4, -2.5)] {
            let body = packed_body(name, Vec3::splat(0.5), 0.1, settings.clone());
            let pose = Pose { position: Vec3::new(x, 0.02, 0.01), rotation: Quat::from_rotation_y(0.3 * x) };
            world.add_body(NewBody { pose, velocity: Vec3::new(speed, 0.0, 0.0), ..body }).unwrap();
        }
        let [left, right] = [0, 1].map(|k| world.bodies()[k].range());
        let mut nearest = f32::INFINITY;
        for _ in 0..12 {
            run_frames(&mut world, 1);
            nearest = nearest.min(min_distance(&world, left.clone(), right.clone()));
        }
        let speed = |range: std::ops::Range<usize>| {
            let count = range.len() as f32;
            world.particles().velocity[range].iter().sum::<Vec3>().x / count
        };
        let (a, b) = (speed(left.clone()), speed(right.clone()));
        // They collide with a tenth of the speed of sound: contacts are compressed by as much, and by twice
        // that at corners.
        assert!(nearest > 0.05, "{nearest}");
        // A fraction of the energy goes into vibration.
        assert!(a < -0.5 && b > 0.5, "{a} {b}");
        assert!(min_distance(&world, left, right) > 0.2);
    }
}

#[test]
fn pieces_that_collide_again_at_5_m_per_s_rebound() {
    let mut world =
        world(brittle_material(4.0e6, 3.0e4), Vec3::new(20.0, 0.0, 0.0)).with_body(fixed_bar(Vec3::new(1.5, 0.5, 0.5)));
    run_frames(&mut world, 8);
    let (pieces, broken) = pieces_and_broken(&world);
    assert!(pieces >= 2, "{pieces} pieces, {broken} broken");
    set(&mut world, Target::World, Setting::Gravity(Vec3::ZERO));
    // Strong enough not to shatter.
    set(&mut world, Target::Material("matter".into()), Setting::Strength(Some(1.0e9.into())));
    set_body(&mut world, "bar", Setting::Velocity(Vec3::new(-5.0, 0.0, 0.0)));
    let (first, mut least) = (mean_state_beyond(&world, 0.3).0.x, f32::INFINITY);
    for _ in 0..15 {
        run_frames(&mut world, 1);
        least = least.min(mean_state_beyond(&world, 0.3).0.x);
    }
    let v = mean_state_beyond(&world, 0.3).1;
    assert_eq!(pieces_and_broken(&world), (pieces, broken));
    // The centre of the particles beyond 0.3 was at 0.5 at rest: it cannot be much farther back.
    assert!(least > 0.4 && least < first - 0.02, "from {first} to {least}");
    assert!(v.x > 0.5, "{v}");
}

#[test]
fn melt_that_freezes_between_surfaces_bonds_them() {
    let heat =
        ThermalProperties { melting: Some(10.0), latent: 3.0e4, specific_heat: 2000.0, ..ThermalProperties::default() };
    let mut world = world_without_gravity(Material { heat, ..brittle_material(1.0e5, 1.0e6) });
    let change = PhaseChangeSettings { max_speed: 10.0, ..PhaseChangeSettings::default() };
    let settings = CrystalSettings { docking: Some(Docking::default()), change, ..CrystalSettings::default() };
    let size = Vec3::splat(0.2);
    for (name, phase, x) in
        [("left", Phase::Solid, -0.177), ("right", Phase::Solid, 0.177), ("melt", Phase::Fluid, 0.0)]
    {
        let body = packed_body(name, size, 0.05, CrystalSettings { phase, ..settings.clone() });
        world.add_body(NewBody { temperature: 5.0, ..body.at(Vec3::X * x) }).unwrap();
    }
    let objects = |world: &World| world.models().crystal.object_count(world.particles());
    assert_eq!(objects(&world), 2);
    // Docks of surfaces close within 0.1 s; melt that freezes to them opens them again and bonds both.
    run_frames(&mut world, 60);
    assert_eq!(objects(&world), 1);
    set_body(&mut world, "left", Setting::Velocity(Vec3::ZERO));
    set_body(&mut world, "melt", Setting::Velocity(Vec3::ZERO));
    set_body(&mut world, "right", Setting::Velocity(0.3 * Vec3::X));
    run_frames(&mut world, 30);
    let speeds = [0, 1].map(|k| mean_velocity(&world, k).x);
    // Bonded bodies move together, but for vibration.
    assert!(speeds[0] > 0.03, "{speeds:?}");
}
