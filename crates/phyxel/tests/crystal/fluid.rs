//! Fluids: hydrostatics, walls, repeatability.

use crate::common::{DOWN, run, space, world};
use crate::{crystal, elastic, fluid, momenta, slope_of};
use glam::{Quat, Vec3};
use phyxel::body::{BodyId, NewBody, Pose};
use phyxel::checkpoint::{decode, encode};
use phyxel::material::Material;
use phyxel::obstacle::{Geometry, Key, Obstacle};
use phyxel::{World, parallel};

/// Floor and walls of a tank around the origin, open above.
pub fn tank(world: &mut World, width: f32, depth: f32) {
    let walls = [
        ("floor", Vec3::Y, Vec3::ZERO),
        ("left", Vec3::X, Vec3::X * (-0.5 * width)),
        ("right", Vec3::NEG_X, Vec3::X * (0.5 * width)),
        ("back", Vec3::Z, Vec3::Z * (-0.5 * depth)),
        ("front", Vec3::NEG_Z, Vec3::Z * (0.5 * depth)),
    ];
    for (name, normal, at) in walls {
        let pose = Pose { at, turn: Quat::IDENTITY };
        world.add_obstacle(Obstacle::new(name, Geometry::HalfSpace { normal }, pose)).unwrap();
    }
}

pub fn placed(body: NewBody, at: Vec3) -> NewBody {
    NewBody { pose: Pose { at, turn: Quat::IDENTITY }, ..body }
}

pub fn frames(world: &mut World, count: usize) {
    for _ in 0..count {
        world.advance_frame().unwrap();
    }
}

/// Water in a tank of its own width.
pub fn pool() -> World {
    let mut world = world(elastic(0.0), DOWN);
    tank(&mut world, 0.6, 0.6);
    world.add_body(placed(fluid("water", Vec3::new(0.54, 0.9, 0.54), 0.05), Vec3::new(0.0, 0.48, 0.0))).unwrap();
    world
}

#[test]
fn a_still_pool_has_its_volume_and_the_pressure_of_its_depth() {
    let mut world = pool();
    let count = world.particles().len();
    let height = count as f32 * 0.05f32.powi(3) / 2.0f32.sqrt() / 0.36;
    frames(&mut world, 90);
    let (frames, mut slope) = (30, 0.0);
    for _ in 0..frames {
        world.advance_frame().unwrap();
        let inside = |x: &Vec3| x.x.abs().max(x.z.abs()) < 0.2 && x.y > 0.15 && x.y < 0.6;
        let pressures = world.pressures(BodyId(0));
        let there = world.particles().position.iter().zip(pressures).filter(|(x, _)| inside(x));
        slope += slope_of(there.map(|(x, p)| (f64::from(x.y), f64::from(p)))) / f64::from(frames);
    }
    let middle = 2.0 * world.particles().position.iter().map(|x| x.y).sum::<f32>() / count as f32;
    let speed = world.particles().velocity.iter().map(|v| v.length()).sum::<f32>() / count as f32;
    assert!((middle / height - 1.0).abs() < 0.02, "{middle} m of {height} m");
    let fall = -slope / (1000.0 * 9.81);
    assert!((fall - 1.0).abs() < 0.02, "pressure falls by {fall} of what it should");
    assert!(speed < 0.05, "{speed}");
}

#[test]
fn a_fluid_in_space_keeps_its_momentum() {
    let mut world = space(elastic(0.0));
    world
        .add_body(NewBody {
            velocity: Vec3::new(1.0, 0.0, 0.0),
            ..placed(fluid("a", Vec3::splat(0.4), 0.05), Vec3::new(-0.3, 0.0, 0.02))
        })
        .unwrap();
    world
        .add_body(NewBody {
            velocity: Vec3::new(-1.0, 0.0, 0.0),
            ..placed(fluid("b", Vec3::splat(0.3), 0.05), Vec3::new(0.3, 0.0, 0.0))
        })
        .unwrap();
    let first = momenta(&world);
    run(&mut world, 0.004, 150);
    let last = momenta(&world);
    let mass = f64::from(world.particles().mass.iter().sum::<f32>());
    // Velocities of 1 m/s with seven digits, 150 steps.
    assert!((last.0 - first.0).length() < 1e-5 * mass, "{} {}", first.0, last.0);
    // Smoothing keeps momentum alone: what it takes from turning is a part of what is there.
    assert!((last.1 - first.1).length() < 0.05 * first.1.length().max(1e-3 * mass), "{} {}", first.1, last.1);
}

#[test]
fn nothing_leaves_a_tank_of_sloshing_water() {
    let mut world = world(elastic(0.0), DOWN);
    tank(&mut world, 1.0, 0.4);
    world.add_body(placed(fluid("water", Vec3::new(0.4, 0.7, 0.34), 0.05), Vec3::new(-0.27, 0.4, 0.0))).unwrap();
    for _ in 0..60 {
        world.advance_frame().unwrap();
        for x in &world.particles().position {
            let [x, y, z] = x.to_array();
            assert!(y > 0.0 && x.abs() < 0.5 && z.abs() < 0.2, "{x} {y} {z} at {}", world.time());
        }
    }
    let widest = world.particles().position.iter().map(|x| x.x).fold(0.0, f32::max);
    assert!(widest > 0.4, "it has run to the other side: {widest}");
}

#[test]
fn light_crystals_float_and_heavy_ones_sink() {
    let mut world = world(elastic(0.0), DOWN);
    world.add_material(Material { name: "cork".into(), density: 300.0, ..elastic(1.0e5) }).unwrap();
    world.add_material(Material { name: "stone".into(), density: 3000.0, ..elastic(1.0e6) }).unwrap();
    tank(&mut world, 0.7, 0.7);
    world.add_body(placed(fluid("water", Vec3::new(0.64, 0.5, 0.64), 0.06), Vec3::new(0.0, 0.3, 0.0))).unwrap();
    for (name, x) in [("cork", -0.15), ("stone", 0.15)] {
        let body = crystal(name, Vec3::splat(0.18), 0.06);
        world.add_body(NewBody { material: name.into(), ..placed(body, Vec3::new(x, 0.8, 0.0)) }).unwrap();
    }
    frames(&mut world, 90);
    let frame = world.frame();
    let height = |k: usize| frame.bodies[k].report.centre[1];
    // The level of the water with three tenths of the cork and all of the stone in it; five layers of the cork are 0.212 m.
    let volume = |k: usize| world.bodies()[k].len() as f64 * 0.06f64.powi(3) / 2.0f64.sqrt();
    let level = (volume(0) + 0.3 * volume(1) + volume(2)) / 0.49;
    let floating = level + (0.5 - 0.3) * 0.212;
    assert!((height(1) - floating).abs() < 0.5 * 0.06, "cork at {} and not at {floating}", height(1));
    assert!(height(2) < 0.2, "stone at {}", height(2));
}

#[test]
fn fluids_and_crystals_are_the_same_on_any_threads_and_after_resuming() {
    let make = || {
        let mut world = world(elastic(1.0e5), DOWN);
        tank(&mut world, 0.8, 0.4);
        world.add_body(placed(fluid("water", Vec3::new(0.3, 0.4, 0.34), 0.05), Vec3::new(-0.2, 0.25, 0.0))).unwrap();
        world.add_body(placed(crystal("cube", Vec3::splat(0.2), 0.05), Vec3::new(0.2, 0.3, 0.0))).unwrap();
        world
    };
    let hash = |threads: usize| {
        parallel::with_threads(Some(threads), || {
            let mut world = make();
            frames(&mut world, 12);
            world.state_hash()
        })
    };
    let alone = hash(1);
    assert_eq!(alone, hash(2));
    let mut world = make();
    for _ in 0..12 {
        world = decode(&encode(&world)).unwrap();
        world.advance_frame().unwrap();
    }
    assert_eq!(alone, world.state_hash());
}

/// A minute of sloshing in a closed box that is shaken about, sideways and turning: only where long tests are asked for.
#[test]
fn nothing_leaves_a_closed_box_in_a_minute_of_shaking() {
    if std::env::var_os("PHYXEL_LONG").is_none() {
        return;
    }
    let mut world = world(elastic(0.0), DOWN);
    // Six walls as one box each, all on the same path: 0.2 m to and fro every second, and a turn about z by 0.3.
    let (half, thick) = (Vec3::new(0.5, 0.3, 0.2), 0.2);
    let pose = |time: f64, offset: Vec3| {
        let phase = (time * std::f64::consts::TAU) as f32;
        let turn = Quat::from_rotation_z(0.3 * (1.3 * phase).sin());
        Pose { at: Vec3::X * (0.2 * phase.sin()) + turn * offset, turn }
    };
    let sides = [Vec3::X, Vec3::Y, Vec3::Z].into_iter().flat_map(|axis| [axis, -axis]);
    for (number, side) in sides.enumerate() {
        let size = 2.0 * half + thick * 2.0 * (Vec3::ONE - side.abs());
        let size = size * (Vec3::ONE - side.abs()) + thick * side.abs();
        let offset = side * (half + 0.5 * thick);
        let keys = (0..=60 * 60).map(|k| f64::from(k) / 60.0).map(|time| Key { time, pose: pose(time, offset) });
        let wall = Obstacle::new(format!("wall-{number}"), Geometry::Box { size }, Pose::default());
        world.add_obstacle(Obstacle { keys: keys.collect(), ..wall }).unwrap();
    }
    world.add_body(placed(fluid("water", Vec3::new(0.9, 0.3, 0.34), 0.05), Vec3::Y * -0.1)).unwrap();
    while world.time() < 59.99 {
        world.advance_frame().unwrap();
        let now = pose(world.time(), Vec3::ZERO);
        for x in &world.particles().position {
            let inside = now.local_point(*x).abs();
            assert!(inside.cmplt(half).all(), "{inside} at {}", world.time());
        }
    }
}
