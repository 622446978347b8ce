//! Worlds through the public interface: commands, checkpoints, errors, determinism for any number of threads.

mod common;

use common::determinism::{assert_reproducible, resumed};
use common::*;
use glam::{Quat, Vec3};
use phyxel::body::Pose;
use phyxel::checkpoint::{FORMAT, decode, encode};
use phyxel::commands::{Command, Drag, Region, Setting, Target};
use phyxel::material::{Friction, Material, Plasticity};
use phyxel::model::shape_matching::{MatchingMode, ShapeMatchingSettings};
use phyxel::model::{ContinuumSettings, ModelSettings};
use phyxel::obstacle::{Geometry, Obstacle};
use phyxel::{CheckpointError, StepError, World, WorldError};

/// Bodies of all deformation modes that fall on each other and on a floor, with scheduled commands.
fn busy_world() -> World {
    let material = Material {
        plasticity: Some(Plasticity { yield_strain: 0.05.into(), creep: 5.0, max: 0.4 }),
        ..default_material()
    };
    let mut world = world(material, DOWN).with_obstacle(floor(Friction::default(), 0.2));
    for i in 0..12 {
        let mode = [MatchingMode::Rigid, MatchingMode::Linear, MatchingMode::Quadratic][i % 3];
        let counts = [3 + i as u32 % 3, 4, 3];
        let mut new =
            body(&format!("body-{i}"), block(counts, SPACING), matching_settings(mode, [1 + i as u32 % 2, 1, 1]));
        let at = Vec3::new(0.1 * (i % 3) as f32, 0.4 + 0.5 * i as f32, 0.0);
        new.pose = Pose { position: at, rotation: Quat::from_rotation_x(i as f32) };
        world.add_body(new).unwrap();
    }
    world.schedule(
        0.3,
        Command::Push { body: "body-3".into(), region: Region::All, velocity: Vec3::new(1.0, 2.0, 0.5) },
    );
    world.schedule(0.5, Command::Remove { body: "body-5".into() });
    world.schedule(0.6, Command::Cut { body: "body-7".into(), point: Vec3::ZERO, normal: Vec3::X });
    world
}

#[test]
fn one_two_and_eight_threads_give_the_same_bits() {
    let advance = |world: &mut World, _| run_frames(world, 1);
    assert_reproducible(busy_world, (30, 4), advance, |world| {
        (world.state_hash(), format!("{:?}", world.frame().totals))
    });
}

#[test]
fn a_world_that_was_written_and_read_goes_on_with_the_same_bits() {
    let mut uninterrupted = busy_world();
    let mut interrupted = busy_world();
    for frame in 0..30 {
        uninterrupted.advance_frame().unwrap();
        interrupted.advance_frame().unwrap();
        if frame % 4 == 1 {
            interrupted = resumed(&interrupted);
        }
        assert_eq!(uninterrupted.state_hash(), interrupted.state_hash(), "frame {frame}");
    }
}

#[test]
fn damaged_and_foreign_checkpoints_are_refused() {
    let mut world = busy_world();
    world.advance_frame().unwrap();
    let bytes = encode(&world);
    assert_eq!(decode(b"something else entirely").unwrap_err(), CheckpointError::Foreign);
    assert_eq!(decode(&[]).unwrap_err(), CheckpointError::Foreign);
    for cut in [9, 20, 35, 36, bytes.len() / 2, bytes.len() - 1] {
        assert!(matches!(decode(&bytes[..cut]), Err(CheckpointError::Damaged { .. })), "cut at {cut}");
    }
    for offset in (12..bytes.len()).step_by(997) {
        let mut changed = bytes.clone();
        changed[offset] ^= 1;
        assert!(decode(&changed).is_err(), "bit flipped at {offset}");
    }
    let mut newer = bytes;
    newer[8] = 99;
    assert_eq!(decode(&newer).unwrap_err(), CheckpointError::Version { found: 99, known: FORMAT });
}

fn one_body() -> World {
    let mut world = world(default_material(), DOWN).with_obstacle(floor(Friction::default(), 0.0));
    let mut new = body("cube", block([4, 4, 4], SPACING), matching_settings(MatchingMode::Linear, [2, 1, 1]));
    new.pose.position = Vec3::Y;
    world.add_body(new).unwrap();
    world
}

fn set(target: Target, setting: Setting) -> Command {
    Command::Set { target, setting }
}

#[test]
fn settings_change_when_their_time_comes() {
    let mut world = one_body();
    world.schedule(0.1, set(Target::World, Setting::Gravity(Vec3::ZERO)));
    run_frames(&mut world, 15);
    // Falls for a tenth of a second, then drifts.
    assert!((mean_velocity(&world, 0).y + 0.981).abs() < 0.05, "{}", mean_velocity(&world, 0));
    world.apply(set(Target::Body("cube".into()), Setting::Velocity(Vec3::X))).unwrap();
    assert_eq!(mean_velocity(&world, 0), Vec3::X);
    world.apply(set(Target::Body("cube".into()), Setting::Temperature(30.0))).unwrap();
    let report = world.frame().bodies[0].report.clone();
    assert!((report.temperature.mean - 30.0).abs() < 1e-4 && (report.temperature.max - 30.0).abs() < 1e-4);
    world.apply(set(Target::Obstacle("floor".into()), Setting::Active(false))).unwrap();
    world.apply(set(Target::Material("matter".into()), Setting::Damping(0.5))).unwrap();
    assert_eq!(world.materials()[0].damping, 0.5);
    assert!(world.frame().obstacles.is_empty());
}

#[test]
fn bad_commands_are_refused_by_name_and_change_nothing() {
    let mut world = one_body();
    let before = world.state_hash();
    let wrong = [
        Command::Push { body: "cub".into(), region: Region::All, velocity: Vec3::X },
        Command::Push { body: "cube".into(), region: Region::All, velocity: Vec3::NAN },
        set(Target::Body("cube".into()), Setting::Active(false)),
        set(Target::Body("cube".into()), Setting::Beta(2.0)),
        set(Target::Obstacle("floor".into()), Setting::Restitution(1.5)),
        set(Target::Material("matter".into()), Setting::PoissonRatio(0.5)),
        set(Target::World, Setting::Beta(0.5)),
        Command::Drag(Drag { body: "cube".into(), particle: 999, target: Vec3::ZERO, tau: 0.1, max_force: 1.0 }),
        Command::Cut { body: "cube".into(), point: Vec3::ZERO, normal: Vec3::ZERO },
        Command::Remove { body: "nobody".into() },
    ];
    for command in wrong {
        let refused = world.apply(command.clone());
        assert!(refused.is_err(), "{command:?}");
        assert_eq!(world.state_hash(), before, "{command:?}");
    }
    let refused = world.apply(Command::Remove { body: "cub".into() }).unwrap_err();
    assert_eq!(refused.to_string(), "there is no body named \"cub\"; known: cube");
    world.command(Command::Remove { body: "cub".into() });
    assert!(matches!(world.advance_frame(), Err(StepError::Command { .. })));
}

#[test]
fn holding_letting_go_and_dragging_move_what_they_should() {
    let mut world = one_body();
    let top = Region::Box { min: Vec3::new(-1.0, 0.1, -1.0), max: Vec3::ONE };
    world.apply(Command::Hold { body: "cube".into(), region: top.clone(), on: true }).unwrap();
    run_frames(&mut world, 30);
    assert!((mean_position(&world, 0).y - 1.0).abs() < 0.02, "hangs from what is held: {}", mean_position(&world, 0));
    world.apply(Command::Hold { body: "cube".into(), region: top, on: false }).unwrap();
    run_frames(&mut world, 60);
    assert!((mean_position(&world, 0).y - 0.2).abs() < 0.02, "lies on the floor: {}", mean_position(&world, 0));
    let drag = Drag { body: "cube".into(), particle: 63, target: Vec3::new(1.0, 1.5, 0.0), tau: 0.1, max_force: 1.0e4 };
    world.apply(Command::Drag(drag.clone())).unwrap();
    run_frames(&mut world, 60);
    let dragged = world.particles().position[63];
    assert!((dragged - drag.target).length() < 0.15, "hangs from the pointer: {dragged}");
    world.apply(Command::Release { body: "cube".into() }).unwrap();
    run_frames(&mut world, 60);
    // It hung at 1.2 m, and may still hop.
    assert!(mean_position(&world, 0).y < 0.6, "falls again: {}", mean_position(&world, 0));
}

#[test]
fn the_force_of_a_drag_is_limited() {
    let mut world = one_body();
    // 64 kg weigh 628 N.
    for (max_force, lifts) in [(500.0, false), (800.0, true)] {
        let drag = Drag { body: "cube".into(), particle: 63, target: Vec3::new(0.1, 3.0, 0.0), tau: 0.1, max_force };
        world.apply(Command::Drag(drag)).unwrap();
        run_frames(&mut world, 90);
        assert_eq!(mean_position(&world, 0).y > 1.0, lifts, "limit {max_force}: {}", mean_position(&world, 0));
    }
}

#[test]
fn a_cut_body_falls_into_two_connected_pieces() {
    let mut world = one_body();
    assert_eq!(world.frame().bodies[0].report.pieces, 1);
    world.apply(Command::Cut { body: "cube".into(), point: Vec3::ZERO, normal: Vec3::X }).unwrap();
    let report = world.frame().bodies[0].report.clone();
    assert_eq!(report.pieces, 2);
    assert!(report.broken > 0);
    let half = Region::Box { min: Vec3::splat(-1.0), max: Vec3::new(0.0, 1.0, 1.0) };
    world.apply(Command::Hold { body: "cube".into(), region: half, on: true }).unwrap();
    run_frames(&mut world, 60);
    let p = world.particles();
    for i in 0..p.len() {
        assert_eq!(p.position[i].y > 0.6, p.rest[i].x < 0.0, "{} {}", p.rest[i], p.position[i]);
    }
}

#[test]
fn bodies_are_added_and_removed_without_disturbing_others() {
    let mut world = one_body();
    let mut other = body("other", block([3, 3, 3], SPACING), ShapeMatchingSettings::default());
    other.pose.position = Vec3::new(3.0, 1.0, 0.0);
    world.command(Command::Add(Box::new(other)));
    world.schedule(0.5, Command::Remove { body: "cube".into() });
    run_frames(&mut world, 60);
    assert!(world.particles().is_consistent());
    assert_eq!(world.particles().len(), 27);
    assert_eq!(world.frame().bodies.len(), 1);
    assert!((mean_position(&world, 1).y - 0.15).abs() < 0.01, "{}", mean_position(&world, 1));
    assert!(matches!(world.body_named("cube"), Err(WorldError::Unknown { .. })));
}

#[test]
fn a_value_that_is_not_finite_is_reported_and_the_last_valid_state_is_kept() {
    let mut world = one_body();
    run_frames(&mut world, 5);
    let good = world.particles().position.clone();
    for _ in 0..2 {
        world
            .apply(Command::Push { body: "cube".into(), region: Region::All, velocity: Vec3::new(f32::MAX, 0.0, 0.0) })
            .unwrap();
    }
    let message = world.advance_frame().unwrap_err().to_string();
    assert!(message.contains("cube") && message.contains("smaller steps"), "{message}");
    assert!(world.particles().position.iter().all(|x| x.is_finite()));
    assert_eq!(world.particles().position, good);
}

#[test]
fn an_invalid_obstacle_is_refused_by_name() {
    let mut world = one_body();
    let wrong = [
        (Geometry::Sphere { radius: -1.0 }, "radius"),
        (Geometry::HalfSpace { normal: Vec3::new(0.0, 2.0, 0.0) }, "normal"),
        (Geometry::Box { size: Vec3::new(1.0, 0.0, 1.0) }, "size"),
        (Geometry::Mesh { positions: Default::default(), triangles: Default::default() }, "mesh"),
    ];
    for (geometry, field) in wrong {
        let refused = world.add_obstacle(Obstacle::new("wall", geometry, Pose::default())).unwrap_err().to_string();
        assert!(refused.contains("wall") && refused.contains(field), "{refused}");
    }
    let again = world.add_obstacle(floor(Friction::default(), 0.0)).unwrap_err();
    assert_eq!(again.to_string(), "there are two obstacles named \"floor\"; give each a name of its own");
}

#[test]
fn shape_matching_changes_only_its_own_bodies() {
    // A strained block of another model lies in the store between two small bodies of shape matching.
    let continuum = ModelSettings::Continuum(ContinuumSettings::default());
    let samples = block([4, 4, 4], SPACING);
    let strained = || new_body("strained", continuum.clone(), samples.clone(), SPACING).deformed(|x| 1.1 * x);
    let at = |name: &str, x: f32| {
        let mut new = body(name, block([3, 3, 3], SPACING), matching_settings(MatchingMode::Linear, [1, 1, 1]));
        new.pose = pose_at(Vec3::new(x, 0.0, 0.0));
        new
    };
    let material = || Material { young_modulus: 1.0e4.into(), ..default_material() };
    let mut alone = world_without_gravity(material()).with_body(strained());
    let mut between = world_without_gravity(material())
        .with_body(at("left", -50.0))
        .with_body(strained())
        .with_body(at("right", 50.0));
    for world in [&mut alone, &mut between] {
        run_steps(world, 1e-4, 20);
    }
    let velocities = |world: &World, body: usize| world.particles().velocity[world.bodies()[body].range()].to_vec();
    assert!(velocities(&alone, 0).iter().any(|v| v.length() > 1e-3), "it moves");
    assert_eq!(velocities(&alone, 0), velocities(&between, 1));
}
