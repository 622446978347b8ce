//! Contact: slopes, bounces, collisions, obstacles of every kind, nothing passes through anything.

mod common;

use common::*;
use glam::{Quat, Vec3};
use phyxel::body::Pose;
use phyxel::material::{Curve, Friction, Material};
use phyxel::model::shape::{ShapeMode, ShapeSettings};
use phyxel::obstacle::{DistanceGrid, Geometry, Key, Obstacle};
use phyxel::world::MOST_CONTACT_ROUNDS;
use phyxel::{Settings, World};
use std::sync::Arc;

const ROUGH: Friction = Friction { r#static: 0.8, kinetic: 0.5 };

/// A stiff block that lies on a slope of this angle, let go at rest.
fn block_on_slope(angle: f32) -> World {
    let turn = Quat::from_rotation_z(angle);
    let mut slope = floor(ROUGH, 0.0);
    slope.geometry = Geometry::HalfSpace { normal: turn * Vec3::Y };
    // Well damped: a block that rings is pressed less than its weight now and then, and lets go.
    let mut world = world(Material { damping: 0.5, ..matter() }, DOWN);
    world.add_obstacle(slope).unwrap();
    // Wide and low, so that its weight is spread over all of its base.
    let mut new = body("block", block([10, 2, 10], SPACING), settings(ShapeMode::Rigid, [1, 1, 1]));
    new.pose = Pose { at: turn * Vec3::new(0.0, SPACING, 0.0), turn };
    world.add_body(new).unwrap();
    world
}

#[test]
fn a_block_sticks_below_the_friction_angle_and_slides_above_it_with_the_textbook_acceleration() {
    let limit = ROUGH.r#static.atan();
    let mut below = block_on_slope(0.95 * limit);
    run(&mut below, 0.002, 1000);
    // Settling moves it by some of the 0.1 mm that its own weight bends it.
    assert!(position(&below, 0).length() < SPACING + 0.005, "{}", position(&below, 0));
    assert!(velocity(&below, 0).length() < 1e-3, "{}", velocity(&below, 0));

    let angle = 1.1 * limit;
    let mut above = block_on_slope(angle);
    let down = -(Quat::from_rotation_z(angle) * Vec3::X);
    run(&mut above, 0.002, 200);
    let early = velocity(&above, 0).dot(down);
    run(&mut above, 0.002, 500);
    let acceleration = velocity(&above, 0).dot(down) - early;
    let textbook = 9.81 * (angle.sin() - ROUGH.kinetic * angle.cos());
    // The block rattles a little while it slides; a tenth of that is friction that is not there.
    assert!((acceleration / textbook - 1.0).abs() < 0.02, "{acceleration} {textbook}");
}

#[test]
fn a_ball_comes_back_to_the_square_of_the_restitution_times_its_height() {
    for restitution in [0.0, 0.5, 0.8, 1.0] {
        let mut world = world(matter(), DOWN);
        world.add_obstacle(floor(Friction::NONE, restitution)).unwrap();
        let mut new = body("ball", vec![Vec3::ZERO], ShapeSettings::default());
        new.pose.at = Vec3::Y;
        world.add_body(new).unwrap();
        let (dt, drop) = (0.001, 1.0 - 0.5 * SPACING);
        let mut bounced = false;
        let mut highest = 0.0;
        for _ in 0..1500 {
            run(&mut world, dt, 1);
            bounced |= velocity(&world, 0).y > 0.0 || (restitution == 0.0 && velocity(&world, 0).y.abs() < 1e-6);
            if bounced {
                highest = position(&world, 0).y.max(highest);
            }
        }
        let height = highest - 0.5 * SPACING;
        // The bounce happens up to a step early, at 4.4 m/s times a millisecond above the ground.
        assert!((height - restitution * restitution * drop).abs() < 0.006, "{restitution}: {height}");
    }
}

#[test]
fn a_bounce_without_loss_stays_without_loss() {
    let mut world = world(matter(), DOWN);
    world.add_obstacle(floor(Friction::NONE, 1.0)).unwrap();
    let mut new = body("ball", vec![Vec3::ZERO], ShapeSettings::default());
    new.pose.at = Vec3::Y;
    world.add_body(new).unwrap();
    let energy = |world: &World| {
        let energy = world.frame().totals.energy;
        energy.kinetic + energy.gravity
    };
    let before = energy(&world);
    run(&mut world, 0.001, 10_000);
    // The symplectic scheme keeps m v^2/2 + m g x up to m g v dt/2; no bounce may add to that.
    assert!((energy(&world) - before).abs() < 9.81 * 4.5 * 0.001, "{before} -> {}", energy(&world));
}

#[test]
fn two_bodies_that_collide_keep_their_momentum_and_part() {
    for (mode, restitution) in [(ShapeMode::Rigid, 0.0), (ShapeMode::Linear, 0.5), (ShapeMode::Quadratic, 0.0)] {
        let mut world = space(Material { restitution, ..matter() });
        for (name, at, velocity) in [
            ("left", Vec3::new(-0.3, 0.02, 0.01), Vec3::new(2.0, 0.0, 0.0)),
            ("right", Vec3::new(0.3, 0.0, 0.0), Vec3::new(-1.0, 0.2, 0.0)),
        ] {
            let mut new = body(name, block([4, 4, 4], SPACING), settings(mode, [1, 1, 1]));
            (new.pose.at, new.velocity) = (at, velocity);
            world.add_body(new).unwrap();
        }
        let momentum = |world: &World| Vec3::from_array(world.frame().totals.momentum.map(|p| p as f32));
        let before = momentum(&world);
        run(&mut world, 0.002, 300);
        // Positions of 0.5 m are rounded by 3e-8 m, goals pull with that over 2 ms: 1.5e-5 m/s of noise for each of
        // 128 particles of 1 kg in each of 300 steps, with random signs: 3e-3 kg m/s.
        assert!((momentum(&world) - before).length() < 0.01, "{mode:?}: {before} {}", momentum(&world));
        assert!(velocity(&world, 0).x < velocity(&world, 1).x, "{mode:?}: they part or stay together");
        assert!(position(&world, 1).x - position(&world, 0).x > 0.38, "{mode:?}: neither is inside the other");
    }
}

fn shot(geometry: Geometry, at: Vec3, speed: f32, substeps: Option<u32>) -> World {
    let mut world = World::new(Settings { gravity: Vec3::ZERO, substeps, ..Settings::default() }).unwrap();
    world.add_material(matter()).unwrap();
    world.add_obstacle(Obstacle::new("plate", geometry, Pose { at, ..Pose::default() })).unwrap();
    let mut new = body("bullet", block([3, 3, 3], SPACING), settings(ShapeMode::Rigid, [1, 1, 1]));
    (new.pose.at, new.velocity) = (Vec3::new(-2.0, 0.0, 0.0), Vec3::X * speed);
    world.add_body(new).unwrap();
    for _ in 0..20 {
        world.advance_frame().unwrap();
    }
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
fn a_moving_obstacle_makes_steps_short_only_for_what_it_may_touch_and_does_not_carry() {
    let steps = |gap: f32, own: f32| {
        let around = Settings { gravity: Vec3::ZERO, max_step: 1.0, frame_rate: 50.0, ..Settings::default() };
        let mut world = World::new(around).unwrap();
        world.add_material(matter()).unwrap();
        let mut new = body("block", block([3, 3, 3], SPACING), settings(ShapeMode::Rigid, [1, 1, 1]));
        new.velocity = Vec3::X * own;
        world.add_body(new).unwrap();
        // Its face is this far from the outermost particles, and it goes 0.2 m in a frame.
        let pose = |x: f32| Pose { at: Vec3::X * (x - 0.5 - gap - 1.5 * SPACING), ..Pose::default() };
        let mut pusher = Obstacle::new("pusher", Geometry::Box { size: Vec3::ONE }, pose(0.0));
        pusher.keys = vec![Key { time: 0.0, pose: pose(0.0) }, Key { time: 1.0, pose: pose(10.0) }];
        world.add_obstacle(pusher).unwrap();
        world.advance_frame().unwrap().steps
    };
    // A quarter of its way is the radius of a particle. It comes to the block after half of it, which it carries from then on.
    assert!(steps(0.1, 0.0) > 2, "it comes to the block within the frame");
    assert!(steps(0.1, -5.0) > 1, "the block comes to it, too");
    assert_eq!(steps(1.0, 0.0), 1, "it is too far away");
    assert_eq!(steps(0.0, 10.0), 1, "the block moves along with it");
}

#[test]
fn a_body_does_not_pass_through_a_thin_body() {
    for speed in [5.0, 50.0] {
        let mut world = space(matter());
        let sheet = block([1, 9, 9], SPACING);
        let mut plate = body("plate", sheet.clone(), settings(ShapeMode::Linear, [1, 1, 1]));
        plate.held = (0..sheet.len() as u32).collect();
        world.add_body(plate).unwrap();
        let mut bullet = body("bullet", block([3, 3, 3], SPACING), settings(ShapeMode::Rigid, [1, 1, 1]));
        (bullet.pose.at, bullet.velocity) = (Vec3::new(-1.0, 0.013, 0.0), Vec3::X * speed);
        world.add_body(bullet).unwrap();
        for _ in 0..30 {
            world.advance_frame().unwrap();
        }
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

/// A closed box of triangles.
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
        let mut world = world(Material { damping: 0.5, ..matter() }, DOWN);
        world.add_obstacle(Obstacle::new("ground", geometry, Pose { at, ..Pose::default() })).unwrap();
        let mut new = body("cube", block([3, 3, 3], SPACING), settings(ShapeMode::Linear, [1, 1, 1]));
        new.pose.at = Vec3::new(0.05, top + 0.3, 0.02);
        world.add_body(new).unwrap();
        run(&mut world, 0.004, 800);
        let p = world.particles();
        let lowest = p.position.iter().map(|x| x.y).fold(f32::MAX, f32::min);
        // The sphere falls away by 0.3 mm over the width of the cube.
        assert!((lowest - top - 0.5 * SPACING).abs() < 0.002, "{name}: lowest at {lowest}");
        assert!(velocity(&world, 0).length() < 1e-3, "{name}: {}", velocity(&world, 0));
    }
}

#[test]
fn round_and_hollow_obstacles_keep_bodies_out() {
    let lying = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
    let kinds = [
        ("capsule", Geometry::Capsule { radius: 0.4, height: 3.0 }, lying),
        ("cone", Geometry::Cone { radius: 1.0, height: 1.0 }, Quat::IDENTITY),
        ("funnel", funnel(), Quat::IDENTITY),
    ];
    for (name, geometry, turn) in kinds {
        let mut world = world(matter(), DOWN);
        world.add_obstacle(Obstacle::new("thing", geometry, Pose { at: Vec3::ZERO, turn })).unwrap();
        let mut new = body("ball", block([4, 4, 4], SPACING), settings(ShapeMode::Linear, [1, 1, 1]));
        new.pose.at = Vec3::new(0.1, 1.2, 0.0);
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
        let x = position(&world, 0);
        match name {
            "funnel" => assert!((0.1..0.6).contains(&x.y), "{name}: caught at {x}"),
            _ => assert!(x.y < 0.0, "{name}: slid off to {x}"),
        }
    }
}

#[test]
fn a_key_framed_table_lifts_and_carries_what_lies_on_it() {
    let mut world = world(Material { damping: 0.3, ..matter() }, DOWN);
    let mut table = Obstacle::new("table", Geometry::Box { size: Vec3::new(2.0, 0.2, 2.0) }, Pose::default());
    table.friction = Friction { r#static: 1.0, kinetic: 0.9 };
    let key = |time: f64, x: f32, y: f32| Key { time, pose: Pose { at: Vec3::new(x, y, 0.0), ..Pose::default() } };
    table.keys = vec![key(0.0, 0.0, 0.0), key(0.5, 0.0, 0.0), key(1.5, 0.0, 0.5), key(2.5, 1.0, 0.5)];
    world.add_obstacle(table).unwrap();
    let mut new = body("cube", block([3, 3, 3], SPACING), settings(ShapeMode::Linear, [1, 1, 1]));
    new.pose.at = Vec3::new(0.0, 0.26, 0.0);
    world.add_body(new).unwrap();
    for _ in 0..90 {
        world.advance_frame().unwrap();
    }
    let x = position(&world, 0);
    assert!((x.y - 0.75).abs() < 0.02, "lifted: {x}");
    assert!((x.x - 1.0).abs() < 0.1, "carried: {x}");
}

#[test]
fn a_sticky_ceiling_holds_what_its_stickiness_can_hold() {
    // 27 kg hang from 9 contact areas of pi r^2: 265 N over 0.0707 m2 is 3.75 kPa.
    for (stickiness, holds) in [(8.0e3, true), (1.0e3, false)] {
        let mut world = world(matter(), DOWN);
        let mut ceiling = floor(ROUGH, 0.0);
        ceiling.geometry = Geometry::HalfSpace { normal: Vec3::NEG_Y };
        ceiling.stickiness = stickiness;
        world.add_obstacle(ceiling).unwrap();
        let mut new = body("cube", block([3, 3, 3], SPACING), settings(ShapeMode::Linear, [1, 1, 1]));
        new.pose.at = Vec3::new(0.0, -1.5 * SPACING, 0.0);
        world.add_body(new).unwrap();
        run(&mut world, 0.004, 250);
        let fallen = -1.5 * SPACING - position(&world, 0).y;
        assert_eq!(fallen < 0.05, holds, "stickiness {stickiness}: fell {fallen}");
    }
}

#[test]
fn a_pile_comes_to_rest_without_bodies_in_each_other() {
    let mut world = world(Material { damping: 0.3, young_modulus: Curve::constant(5.0e6), ..matter() }, DOWN);
    world.add_obstacle(floor(ROUGH, 0.0)).unwrap();
    let mut random = Random(5);
    for i in 0..20 {
        let mode = [ShapeMode::Rigid, ShapeMode::Linear, ShapeMode::Quadratic][i % 3];
        let mut new = body(&format!("body-{i}"), block([4, 3, 3], SPACING), settings(mode, [1, 1, 1]));
        let place = Vec3::new((i % 2) as f32 * 0.35, 0.4 + (i / 2) as f32 * 0.5, 0.0);
        new.pose = Pose { at: place + random.vector(0.02), turn: Quat::from_scaled_axis(random.vector(0.6)) };
        world.add_body(new).unwrap();
    }
    for _ in 0..240 {
        world.advance_frame().unwrap();
    }
    let p = world.particles();
    let mut deepest: f32 = 0.0;
    for i in 0..p.len() {
        for j in (0..i).filter(|&j| p.body[j] != p.body[i]) {
            deepest = deepest.max(p.radius[i] + p.radius[j] - p.position[i].distance(p.position[j]));
        }
    }
    assert!(deepest < 0.1 * 0.5 * SPACING, "deepest {deepest}");
    let kinetic = world.frame().totals.energy.kinetic;
    // 720 kg at rest: below a tenth of a millimetre a frame each.
    assert!(kinetic < 0.5 * 720.0 * 0.003 * 0.003, "kinetic {kinetic}");
}

#[test]
fn parts_of_a_body_that_are_far_at_rest_collide_if_it_has_self_contact() {
    // Two blocks in one body, a metre apart at rest; at the start one is above the other, which is held.
    let one = block([3, 3, 3], SPACING);
    let samples: Vec<Vec3> = one.iter().copied().chain(one.iter().map(|&x| x + Vec3::X)).collect();
    let height = |self_contact: bool| {
        let mut settings = settings(ShapeMode::Linear, [2, 1, 1]);
        settings.overlap = 0.0;
        let mut new = body("blocks", samples.clone(), settings);
        new.start = Some(one.iter().copied().chain(one.iter().map(|&x| x + Vec3::Y * 0.5)).collect());
        new.held = (0..27).collect();
        new.self_contact = self_contact;
        let mut world = world(Material { damping: 0.5, ..matter() }, DOWN);
        world.add_body(new).unwrap();
        for _ in 0..60 {
            world.advance_frame().unwrap();
        }
        world.particles().position[27..].iter().map(|x| x.y).fold(f32::MAX, f32::min)
    };
    assert!((height(true) - 0.2).abs() < 0.01, "rests on the other block: {}", height(true));
    assert!(height(false) < -1.0, "falls through it: {}", height(false));
}

#[test]
fn rounds_without_end_are_refused() {
    let world = |contact_rounds| World::new(Settings { contact_rounds, ..Settings::default() });
    assert!(world(MOST_CONTACT_ROUNDS).is_ok());
    let error = world(u32::MAX).unwrap_err().to_string();
    assert!(error.contains("contact_rounds") && error.contains("4294967295") && error.contains("1000"), "{error}");
}
