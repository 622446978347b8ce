//! Contact: friction on slopes, restitution, collisions, all kinds of obstacles, no tunnelling.

mod common;

use common::*;
use glam::{Quat, Vec3};
use phyxel::body::Pose;
use phyxel::material::{Curve, Friction, Material};
use phyxel::model::shape_matching::{MatchingMode, ShapeMatchingSettings};
use phyxel::obstacle::{DistanceGrid, Geometry, Keyframe, Obstacle};
use phyxel::world::MAX_CONTACT_ITERATIONS;
use phyxel::{Settings, World};
use std::sync::Arc;

const ROUGH: Friction = Friction { r#static: 0.8, kinetic: 0.5 };

/// Stiff block at rest on a slope of this angle.
fn block_on_slope(angle: f32) -> World {
    let rotation = Quat::from_rotation_z(angle);
    let mut slope = floor(ROUGH, 0.0);
    slope.geometry = Geometry::HalfSpace { normal: rotation * Vec3::Y };
    // Well damped: a vibrating block is sometimes pressed by less than its weight, and slips.
    let mut world = world(Material { damping: 0.5, ..default_material() }, DOWN).with_obstacle(slope);
    // Wide and low, so that its weight is spread over all of its base.
    let mut new = body("block", block([10, 2, 10], SPACING), matching_settings(MatchingMode::Rigid, [1, 1, 1]));
    new.pose = Pose { position: rotation * Vec3::new(0.0, SPACING, 0.0), rotation };
    world.add_body(new).unwrap();
    world
}

#[test]
fn a_block_sticks_below_the_friction_angle_and_slides_above_it_with_the_textbook_acceleration() {
    let limit = ROUGH.r#static.atan();
    let mut below = block_on_slope(0.95 * limit);
    run_steps(&mut below, 0.002, 1000);
    // Settling moves it by a fraction of the 0.1 mm of its deflection by self-weight.
    assert!(mean_position(&below, 0).length() < SPACING + 0.005, "{}", mean_position(&below, 0));
    assert!(mean_velocity(&below, 0).length() < 1e-3, "{}", mean_velocity(&below, 0));

    let angle = 1.1 * limit;
    let mut above = block_on_slope(angle);
    let down = -(Quat::from_rotation_z(angle) * Vec3::X);
    run_steps(&mut above, 0.002, 200);
    let start_speed = mean_velocity(&above, 0).dot(down);
    run_steps(&mut above, 0.002, 500);
    let acceleration = mean_velocity(&above, 0).dot(down) - start_speed;
    let textbook = 9.81 * (angle.sin() - ROUGH.kinetic * angle.cos());
    // The block vibrates a little while it slides; a tenth of that is missing friction.
    assert!((acceleration / textbook - 1.0).abs() < 0.02, "{acceleration} {textbook}");
}

#[test]
fn a_ball_rebounds_to_the_square_of_the_restitution_times_its_height() {
    for restitution in [0.0, 0.5, 0.8, 1.0] {
        let mut world = world(default_material(), DOWN).with_obstacle(floor(Friction::NONE, restitution));
        let mut new = body("ball", vec![Vec3::ZERO], ShapeMatchingSettings::default());
        new.pose.position = Vec3::Y;
        world.add_body(new).unwrap();
        let (dt, drop) = (0.001, 1.0 - 0.5 * SPACING);
        let mut bounced = false;
        let mut highest = 0.0;
        for _ in 0..1500 {
            run_steps(&mut world, dt, 1);
            bounced |=
                mean_velocity(&world, 0).y > 0.0 || (restitution == 0.0 && mean_velocity(&world, 0).y.abs() < 1e-6);
            if bounced {
                highest = mean_position(&world, 0).y.max(highest);
            }
        }
        let height = highest - 0.5 * SPACING;
        // The rebound is up to a step early, 4.4 m/s times a millisecond above the ground.
        assert!((height - restitution * restitution * drop).abs() < 0.006, "{restitution}: {height}");
    }
}

#[test]
fn an_elastic_rebound_conserves_energy() {
    let mut world = world(default_material(), DOWN).with_obstacle(floor(Friction::NONE, 1.0));
    let mut new = body("ball", vec![Vec3::ZERO], ShapeMatchingSettings::default());
    new.pose.position = Vec3::Y;
    world.add_body(new).unwrap();
    let before = mechanical_energy(&world);
    run_steps(&mut world, 0.001, 10_000);
    // The symplectic scheme conserves m v^2/2 + m g x up to m g v dt/2; no rebound may add to that.
    let after = mechanical_energy(&world);
    assert!((after - before).abs() < 9.81 * 4.5 * 0.001, "{before} -> {after}");
}

#[test]
fn two_colliding_bodies_conserve_momentum_and_separate() {
    for (mode, restitution) in [(MatchingMode::Rigid, 0.0), (MatchingMode::Linear, 0.5), (MatchingMode::Quadratic, 0.0)]
    {
        let mut world = world_without_gravity(Material { restitution, ..default_material() });
        for (name, at, velocity) in [
            ("left", Vec3::new(-0.3, 0.02, 0.01), Vec3::new(2.0, 0.0, 0.0)),
            ("right", Vec3::new(0.3, 0.0, 0.0), Vec3::new(-1.0, 0.2, 0.0)),
        ] {
            let mut new = body(name, block([4, 4, 4], SPACING), matching_settings(mode, [1, 1, 1]));
            (new.pose.position, new.velocity) = (at, velocity);
            world.add_body(new).unwrap();
        }
        let before = momentum(&world);
        run_steps(&mut world, 0.002, 300);
        // Positions of 0.5 m are rounded by 3e-8 m, over 2 ms a velocity noise of 1.5e-5 m/s by shape
        // matching for each of 128 particles of 1 kg in each of 300 steps, with random signs: 3e-3 kg
        // m/s.
        assert!((momentum(&world) - before).length() < 0.01, "{mode:?}: {before} {}", momentum(&world));
        assert!(mean_velocity(&world, 0).x < mean_velocity(&world, 1).x, "{mode:?}: they separate or stay together");
        assert!(
            mean_position(&world, 1).x - mean_position(&world, 0).x > 0.38,
            "{mode:?}: neither is inside the other"
        );
    }
}

fn shot(geometry: Geometry, at: Vec3, speed: f32, substeps: Option<u32>) -> World {
    let mut world = World::new(Settings { gravity: Vec3::ZERO, substeps, ..Settings::default() }).unwrap();
    world.add_material(default_material()).unwrap();
    world.add_obstacle(Obstacle::new("plate", geometry, pose_at(at))).unwrap();
    let mut new = body("bullet", block([3, 3, 3], SPACING), matching_settings(MatchingMode::Rigid, [1, 1, 1]));
    (new.pose.position, new.velocity) = (Vec3::new(-2.0, 0.0, 0.0), Vec3::X * speed);
    world.add_body(new).unwrap();
    run_frames(&mut world, 20);
    world
}

#[test]
fn nothing_passes_through_a_thin_plate_at_any_speed() {
    for speed in [1.0, 30.0, 300.0, 3000.0] {
        for substeps in [None, Some(1), Some(4)] {
            let world = shot(Geometry::Box { size: Vec3::new(0.002, 4.0, 4.0) }, Vec3::ZERO, speed, substeps);
            let farthest = world.particles().position.iter().map(|x| x.x).fold(f32::MIN, f32::max);
            assert!(farthest < 0.0, "speed {speed}, {substeps:?}: {farthest}");
        }
    }
}

#[test]
fn a_moving_obstacle_shortens_steps_only_for_bodies_it_may_hit() {
    let steps = |gap: f32, body_speed: f32| {
        let world_settings = Settings { gravity: Vec3::ZERO, max_step: 1.0, frame_rate: 50.0, ..Settings::default() };
        let mut world = World::new(world_settings).unwrap();
        world.add_material(default_material()).unwrap();
        let mut new = body("block", block([3, 3, 3], SPACING), matching_settings(MatchingMode::Rigid, [1, 1, 1]));
        new.velocity = Vec3::X * body_speed;
        world.add_body(new).unwrap();
        // Its face is at this gap from the outermost particles, and it moves 0.2 m in a frame.
        let pose = |x: f32| pose_at(Vec3::X * (x - 0.5 - gap - 1.5 * SPACING));
        let mut pusher = Obstacle::new("pusher", Geometry::Box { size: Vec3::ONE }, pose(0.0));
        pusher.keyframes = vec![Keyframe { time: 0.0, pose: pose(0.0) }, Keyframe { time: 1.0, pose: pose(10.0) }];
        world.add_obstacle(pusher).unwrap();
        world.advance_frame().unwrap().steps
    };
    // A quarter of its path is the radius of a particle. It reaches the block after half of the path, and
    // then carries it.
    assert!(steps(0.1, 0.0) > 2, "it comes to the block within the frame");
    assert!(steps(0.1, -5.0) > 1, "the block comes to it, too");
    assert_eq!(steps(1.0, 0.0), 1, "it is too far away");
    assert_eq!(steps(0.0, 10.0), 1, "the block moves along with it");
}

#[test]
fn a_body_does_not_pass_through_a_thin_body() {
    for speed in [5.0, 50.0] {
        let mut world = world_without_gravity(default_material());
        let sheet = block([1, 9, 9], SPACING);
        let mut plate = body("plate", sheet.clone(), matching_settings(MatchingMode::Linear, [1, 1, 1]));
        plate.held = (0..sheet.len() as u32).collect();
        world.add_body(plate).unwrap();
        let mut bullet = body("bullet", block([3, 3, 3], SPACING), matching_settings(MatchingMode::Rigid, [1, 1, 1]));
        (bullet.pose.position, bullet.velocity) = (Vec3::new(-1.0, 0.013, 0.0), Vec3::X * speed);
        world.add_body(bullet).unwrap();
        run_frames(&mut world, 30);
        let bullet = world.bodies()[1].range();
        assert!(world.particles().position[bullet].iter().all(|x| x.x < 0.0), "speed {speed}");
    }
}

/// Signed distances of a hollow cone (a funnel) on a grid.
fn funnel() -> Geometry {
    let (counts, cell, origin) = ([41, 31, 41], 0.05, Vec3::new(-1.0, -0.2, -1.0));
    let distance = |x: Vec3| {
        let across = Vec3::new(x.x, 0.0, x.z).length();
        ((across - 0.15 - x.y) * std::f32::consts::FRAC_1_SQRT_2).abs() - 0.08
    };
    let at = |i: u32| Vec3::new((i % 41) as f32, (i / 41 % 31) as f32, (i / (41 * 31)) as f32) * cell + origin;
    let values = (0..41 * 31 * 41).map(|i| distance(at(i))).collect();
    Geometry::Grid(Arc::new(DistanceGrid { origin, cell, counts, values }))
}

/// Closed box of triangles.
fn mesh_box(size: f32) -> Geometry {
    let corners = block([2, 2, 2], size);
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    Geometry::Mesh { positions: Arc::new(corners), triangles: Arc::new(triangles) }
}

#[test]
fn a_body_comes_to_rest_on_every_kind_of_obstacle() {
    let kinds = [
        ("half-space", Geometry::HalfSpace { normal: Vec3::Y }, Vec3::ZERO, 0.0),
        ("box", Geometry::Box { size: Vec3::new(2.0, 0.5, 2.0) }, Vec3::ZERO, 0.25),
        ("sphere", Geometry::Sphere { radius: 20.0 }, Vec3::new(0.0, -20.0, 0.0), 0.0),
        ("cylinder", Geometry::Cylinder { radius: 1.0, height: 0.5 }, Vec3::ZERO, 0.25),
        ("mesh", mesh_box(1.5), Vec3::ZERO, 0.75),
    ];
    for (name, geometry, at, top) in kinds {
        let mut world = world(Material { damping: 0.5, ..default_material() }, DOWN);
        world.add_obstacle(Obstacle::new("ground", geometry, pose_at(at))).unwrap();
        let mut new = body("cube", block([3, 3, 3], SPACING), matching_settings(MatchingMode::Linear, [1, 1, 1]));
        new.pose.position = Vec3::new(0.05, top + 0.3, 0.02);
        world.add_body(new).unwrap();
        run_steps(&mut world, 0.004, 800);
        let p = world.particles();
        let lowest = p.position.iter().map(|x| x.y).fold(f32::MAX, f32::min);
        // The sphere falls away by 0.3 mm over the width of the cube.
        assert!((lowest - top - 0.5 * SPACING).abs() < 0.002, "{name}: lowest at {lowest}");
        assert!(mean_velocity(&world, 0).length() < 1e-3, "{name}: {}", mean_velocity(&world, 0));
    }
}

#[test]
fn round_and_hollow_obstacles_keep_bodies_out() {
    let horizontal = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
    let kinds = [
        ("capsule", Geometry::Capsule { radius: 0.4, height: 3.0 }, horizontal),
        ("cone", Geometry::Cone { radius: 1.0, height: 1.0 }, Quat::IDENTITY),
        ("funnel", funnel(), Quat::IDENTITY),
    ];
    for (name, geometry, rotation) in kinds {
        let mut world = world(default_material(), DOWN);
        world.add_obstacle(Obstacle::new("thing", geometry, Pose { position: Vec3::ZERO, rotation })).unwrap();
        let mut new = body("ball", block([4, 4, 4], SPACING), matching_settings(MatchingMode::Linear, [1, 1, 1]));
        new.pose.position = Vec3::new(0.1, 1.2, 0.0);
        world.add_body(new).unwrap();
        for frame in 0..60 {
            world.advance_frame().unwrap();
            for &x in &world.particles().position {
                let across = Vec3::new(x.x, 0.0, x.z).length();
                let depth = match name {
                    "capsule" => 0.45 - Vec3::new(x.x, x.y, 0.0).length(),
                    // Distance from the flank, whose slope is 1 across to 1 down.
                    "cone" if x.y > -0.4 && x.y < 0.4 => {
                        0.05 - (across - (0.5 - x.y)) * std::f32::consts::FRAC_1_SQRT_2
                    }
                    "funnel" if x.y > 0.0 && x.y < 1.0 && across < 0.9 => {
                        0.05 - (((across - 0.15 - x.y) * std::f32::consts::FRAC_1_SQRT_2).abs() - 0.08)
                    }
                    _ => continue,
                };
                assert!(depth < 0.1 * SPACING, "{name} frame {frame}: {x} is {depth} m inside");
            }
        }
        let x = mean_position(&world, 0);
        match name {
            "funnel" => assert!((0.1..0.6).contains(&x.y), "{name}: caught at {x}"),
            _ => assert!(x.y < 0.0, "{name}: slid off to {x}"),
        }
    }
}

#[test]
fn a_keyframed_table_lifts_and_carries_a_body() {
    let mut world = world(Material { damping: 0.3, ..default_material() }, DOWN);
    let mut table = Obstacle::new("table", Geometry::Box { size: Vec3::new(2.0, 0.2, 2.0) }, Pose::default());
    table.friction = Friction { r#static: 1.0, kinetic: 0.9 };
    let key = |time: f64, x: f32, y: f32| Keyframe { time, pose: pose_at(Vec3::new(x, y, 0.0)) };
    table.keyframes = vec![key(0.0, 0.0, 0.0), key(0.5, 0.0, 0.0), key(1.5, 0.0, 0.5), key(2.5, 1.0, 0.5)];
    world.add_obstacle(table).unwrap();
    let mut new = body("cube", block([3, 3, 3], SPACING), matching_settings(MatchingMode::Linear, [1, 1, 1]));
    new.pose.position = Vec3::new(0.0, 0.26, 0.0);
    world.add_body(new).unwrap();
    run_frames(&mut world, 90);
    let x = mean_position(&world, 0);
    assert!((x.y - 0.75).abs() < 0.02, "lifted: {x}");
    assert!((x.x - 1.0).abs() < 0.1, "carried: {x}");
}

#[test]
fn a_ceiling_holds_a_body_up_to_its_adhesion() {
    // 27 kg hang from 9 contact areas of pi r^2: 265 N over 0.0707 m2 is 3.75 kPa.
    for (adhesion, holds) in [(8.0e3, true), (1.0e3, false)] {
        let mut world = world(default_material(), DOWN);
        let mut ceiling = floor(ROUGH, 0.0);
        ceiling.geometry = Geometry::HalfSpace { normal: Vec3::NEG_Y };
        ceiling.adhesion = adhesion;
        world.add_obstacle(ceiling).unwrap();
        let mut new = body("cube", block([3, 3, 3], SPACING), matching_settings(MatchingMode::Linear, [1, 1, 1]));
        new.pose.position = Vec3::new(0.0, -1.5 * SPACING, 0.0);
        world.add_body(new).unwrap();
        run_steps(&mut world, 0.004, 250);
        let fallen = -1.5 * SPACING - mean_position(&world, 0).y;
        assert_eq!(fallen < 0.05, holds, "adhesion {adhesion}: fell {fallen}");
    }
}

#[test]
fn a_pile_comes_to_rest_without_interpenetration() {
    let mut world = world(Material { damping: 0.3, young_modulus: Curve::constant(5.0e6), ..default_material() }, DOWN)
        .with_obstacle(floor(ROUGH, 0.0));
    let mut random = Lcg(5);
    for i in 0..20 {
        let mode = [MatchingMode::Rigid, MatchingMode::Linear, MatchingMode::Quadratic][i % 3];
        let mut new = body(&format!("body-{i}"), block([4, 3, 3], SPACING), matching_settings(mode, [1, 1, 1]));
        let position = Vec3::new((i % 2) as f32 * 0.35, 0.4 + (i / 2) as f32 * 0.5, 0.0);
        new.pose = Pose {
            position: position + random.next_vector(0.02),
            rotation: Quat::from_scaled_axis(random.next_vector(0.6)),
        };
        world.add_body(new).unwrap();
    }
    run_frames(&mut world, 240);
    let p = world.particles();
    let mut deepest: f32 = 0.0;
    for i in 0..p.len() {
        for j in (0..i).filter(|&j| p.body[j] != p.body[i]) {
            deepest = deepest.max(p.radius[i] + p.radius[j] - p.position[i].distance(p.position[j]));
        }
    }
    assert!(deepest < 0.1 * 0.5 * SPACING, "deepest {deepest}");
    let kinetic = world.frame().totals.energy.kinetic;
    // 720 kg at rest: less than a tenth of a millimetre per frame each.
    assert!(kinetic < 0.5 * 720.0 * 0.003 * 0.003, "kinetic {kinetic}");
}

#[test]
fn distant_regions_of_a_body_collide_if_it_has_self_contact() {
    // Two blocks in one body, a metre apart at rest; at the start one is above the other, which is fixed.
    let one = block([3, 3, 3], SPACING);
    let samples: Vec<Vec3> = one.iter().copied().chain(one.iter().map(|&x| x + Vec3::X)).collect();
    let height = |self_contact: bool| {
        let mut settings = matching_settings(MatchingMode::Linear, [2, 1, 1]);
        settings.overlap = 0.0;
        let mut new = body("blocks", samples.clone(), settings);
        new.start = Some(one.iter().copied().chain(one.iter().map(|&x| x + Vec3::Y * 0.5)).collect());
        new.held = (0..27).collect();
        new.self_contact = self_contact;
        let mut world = world(Material { damping: 0.5, ..default_material() }, DOWN).with_body(new);
        run_frames(&mut world, 60);
        world.particles().position[27..].iter().map(|x| x.y).fold(f32::MAX, f32::min)
    };
    assert!((height(true) - 0.2).abs() < 0.01, "rests on the other block: {}", height(true));
    assert!(height(false) < -1.0, "falls through it: {}", height(false));
}

#[test]
fn excessive_contact_iterations_are_refused() {
    let world = |contact_iterations| World::new(Settings { contact_iterations, ..Settings::default() });
    assert!(world(MAX_CONTACT_ITERATIONS).is_ok());
    let error = world(u32::MAX).unwrap_err().to_string();
    assert!(error.contains("contact_iterations") && error.contains("4294967295") && error.contains("1000"), "{error}");
}
