//! Fluids: hydrostatics, walls, buoyancy, determinism.

use crate::common::determinism::assert_reproducible;
use crate::common::*;
use crate::{crystal_body, fitted_slope, fluid_body, liquid};
use glam::{Quat, Vec3};
use phyxel::World;
use phyxel::body::{BodyId, NewBody, Pose};
use phyxel::material::Material;
use phyxel::obstacle::{Geometry, Keyframe, Obstacle};

/// Adds the floor and walls of an open tank around the origin.
pub fn add_tank(world: &mut World, width: f32, depth: f32) {
    let walls = [
        ("floor", Vec3::Y, Vec3::ZERO),
        ("left", Vec3::X, Vec3::X * (-0.5 * width)),
        ("right", Vec3::NEG_X, Vec3::X * (0.5 * width)),
        ("back", Vec3::Z, Vec3::Z * (-0.5 * depth)),
        ("front", Vec3::NEG_Z, Vec3::Z * (0.5 * depth)),
    ];
    for (name, normal, position) in walls {
        world.add_obstacle(Obstacle::new(name, Geometry::HalfSpace { normal }, pose_at(position))).unwrap();
    }
}

/// Water in a tank that it fills to the walls.
pub fn pool() -> World {
    let mut world = world(liquid(), DOWN);
    add_tank(&mut world, 0.6, 0.6);
    world.add_body(fluid_body("water", Vec3::new(0.54, 0.9, 0.54), 0.05).at(Vec3::new(0.0, 0.48, 0.0))).unwrap();
    world
}

#[test]
fn a_pool_at_rest_has_its_volume_and_hydrostatic_pressure() {
    let mut world = pool();
    let count = world.particles().len();
    let height = count as f32 * 0.05f32.powi(3) / 2.0f32.sqrt() / 0.36;
    run_frames(&mut world, 90);
    let (frames, mut slope) = (30, 0.0);
    for _ in 0..frames {
        world.advance_frame().unwrap();
        let inside = |x: &Vec3| x.x.abs().max(x.z.abs()) < 0.2 && x.y > 0.15 && x.y < 0.6;
        let pressures = world.pressures(BodyId(0));
        let core = world.particles().position.iter().zip(pressures).filter(|(x, _)| inside(x));
        slope += fitted_slope(core.map(|(x, p)| (f64::from(x.y), f64::from(p)))) / f64::from(frames);
    }
    let mean_height = 2.0 * world.particles().position.iter().map(|x| x.y).sum::<f32>() / count as f32;
    let speed = world.particles().velocity.iter().map(|v| v.length()).sum::<f32>() / count as f32;
    assert!((mean_height / height - 1.0).abs() < 0.02, "{mean_height} m of {height} m");
    let gradient = -slope / (1000.0 * 9.81);
    assert!((gradient - 1.0).abs() < 0.02, "the pressure gradient is {gradient} of the hydrostatic one");
    assert!(speed < 0.05, "{speed}");
}

#[test]
fn a_fluid_without_gravity_conserves_momentum() {
    let a = fluid_body("a", Vec3::splat(0.4), 0.05).at(Vec3::new(-0.3, 0.0, 0.02));
    let b = fluid_body("b", Vec3::splat(0.3), 0.05).at(Vec3::new(0.3, 0.0, 0.0));
    let mut world = world_without_gravity(liquid())
        .with_body(NewBody { velocity: Vec3::X, ..a })
        .with_body(NewBody { velocity: Vec3::NEG_X, ..b });
    let first = momenta(&world);
    run_steps(&mut world, 0.004, 150);
    let last = momenta(&world);
    let mass = f64::from(world.particles().mass.iter().sum::<f32>());
    // Velocities of 1 m/s with seven digits, 150 steps.
    assert!((last.0 - first.0).length() < 1e-5 * mass, "{} {}", first.0, last.0);
    // Smoothing conserves linear momentum only; it dissipates a fraction of the angular momentum.
    assert!((last.1 - first.1).length() < 0.05 * first.1.length().max(1e-3 * mass), "{} {}", first.1, last.1);
}

#[test]
fn nothing_leaves_a_tank_of_sloshing_water() {
    let mut world = world(liquid(), DOWN);
    add_tank(&mut world, 1.0, 0.4);
    world.add_body(fluid_body("water", Vec3::new(0.4, 0.7, 0.34), 0.05).at(Vec3::new(-0.27, 0.4, 0.0))).unwrap();
    for _ in 0..60 {
        world.advance_frame().unwrap();
        for x in &world.particles().position {
            let [x, y, z] = x.to_array();
            assert!(y > 0.0 && x.abs() < 0.5 && z.abs() < 0.2, "{x} {y} {z} at {}", world.time());
        }
    }
    let widest = world.particles().position.iter().map(|x| x.x).fold(0.0, f32::max);
    assert!(widest > 0.4, "the water reaches the other side: {widest}");
}

#[test]
fn light_crystals_float_and_heavy_ones_sink() {
    let mut world = world(liquid(), DOWN);
    world.add_material(Material { name: "cork".into(), density: 300.0, ..elastic(1.0e5, 0.0) }).unwrap();
    world.add_material(Material { name: "stone".into(), density: 3000.0, ..elastic(1.0e6, 0.0) }).unwrap();
    add_tank(&mut world, 0.7, 0.7);
    world.add_body(fluid_body("water", Vec3::new(0.64, 0.5, 0.64), 0.06).at(Vec3::new(0.0, 0.3, 0.0))).unwrap();
    for (name, x) in [("cork", -0.15), ("stone", 0.15)] {
        let body = crystal_body(name, Vec3::splat(0.18), 0.06);
        world.add_body(NewBody { material: name.into(), ..body.at(Vec3::new(x, 0.8, 0.0)) }).unwrap();
    }
    run_frames(&mut world, 90);
    let frame = world.frame();
    let height = |k: usize| frame.bodies[k].report.centre[1];
    // Water level with three tenths of the cork and all of the stone immersed; five layers of the cork are
    // 0.212 m.
    let volume = |k: usize| world.bodies()[k].len() as f64 * 0.06f64.powi(3) / 2.0f64.sqrt();
    let level = (volume(0) + 0.3 * volume(1) + volume(2)) / 0.49;
    let floating = level + (0.5 - 0.3) * 0.212;
    assert!((height(1) - floating).abs() < 0.5 * 0.06, "cork at {} and not at {floating}", height(1));
    assert!(height(2) < 0.2, "stone at {}", height(2));
}

#[test]
fn fluids_and_crystals_are_deterministic_for_any_threads_and_after_resuming() {
    let start = || {
        let mut world = world(elastic(1.0e5, 0.0), DOWN);
        add_tank(&mut world, 0.8, 0.4);
        world
            .with_body(fluid_body("water", Vec3::new(0.3, 0.4, 0.34), 0.05).at(Vec3::new(-0.2, 0.25, 0.0)))
            .with_body(crystal_body("cube", Vec3::splat(0.2), 0.05).at(Vec3::new(0.2, 0.3, 0.0)))
    };
    assert_reproducible(start, (12, 1), |world, _| run_frames(world, 1), World::state_hash);
}

/// A minute of sloshing in a closed box that is shaken sideways and rotated. Runs only with `PHYXEL_LONG`.
#[test]
fn nothing_leaves_a_closed_box_in_a_minute_of_shaking() {
    if std::env::var_os("PHYXEL_LONG").is_none() {
        return;
    }
    let mut world = world(liquid(), DOWN);
    // Six walls as one box each, on the same path: 0.2 m to and fro every second, and a rotation about z by
    // 0.3.
    let (half, thickness) = (Vec3::new(0.5, 0.3, 0.2), 0.2);
    let pose = |time: f64, offset: Vec3| {
        let phase = (time * std::f64::consts::TAU) as f32;
        let rotation = Quat::from_rotation_z(0.3 * (1.3 * phase).sin());
        Pose { position: Vec3::X * (0.2 * phase.sin()) + rotation * offset, rotation }
    };
    let sides = [Vec3::X, Vec3::Y, Vec3::Z].into_iter().flat_map(|axis| [axis, -axis]);
    for (number, side) in sides.enumerate() {
        let size = 2.0 * half + thickness * 2.0 * (Vec3::ONE - side.abs());
        let size = size * (Vec3::ONE - side.abs()) + thickness * side.abs();
        let offset = side * (half + 0.5 * thickness);
        let keyframes =
            (0..=60 * 60).map(|k| f64::from(k) / 60.0).map(|time| Keyframe { time, pose: pose(time, offset) });
        let wall = Obstacle::new(format!("wall-{number}"), Geometry::Box { size }, Pose::default());
        world.add_obstacle(Obstacle { keyframes: keyframes.collect(), ..wall }).unwrap();
    }
    world.add_body(fluid_body("water", Vec3::new(0.9, 0.3, 0.34), 0.05).at(Vec3::Y * -0.1)).unwrap();
    while world.time() < 59.99 {
        world.advance_frame().unwrap();
        let now = pose(world.time(), Vec3::ZERO);
        for x in &world.particles().position {
            let inside = now.inverse_transform_point(*x).abs();
            assert!(inside.cmplt(half).all(), "{inside} at {}", world.time());
        }
    }
}
