//! Bodies that touch, and such that stick.

use crate::common::{self, body, floor, position, run, space, velocity, world};
use crate::{Cut, Mesh, block, elastic};
use glam::{DVec3, Vec3};
use phyxel::body::{NewBody, Pose};
use phyxel::checkpoint::{decode, encode};
use phyxel::command::{Command, Region};
use phyxel::material::{Curve, Friction, Heat, Material, Plasticity, Sticky};
use phyxel::model::TetraSettings;
use phyxel::model::continuum::Integration;
use phyxel::model::shape::ShapeSettings;
use phyxel::obstacle::{Geometry, Obstacle};
use phyxel::skin::Skin;
use phyxel::{World, parallel};

const CELL: f32 = 0.1;

pub fn explicit() -> TetraSettings {
    TetraSettings { integration: Integration::Explicit, ..TetraSettings::default() }
}

pub fn at(name: &str, at: Vec3, body: NewBody) -> NewBody {
    NewBody { name: name.into(), pose: Pose { at, ..Pose::default() }, skin: Skin::Faces, ..body }
}

pub fn momentum(world: &World) -> DVec3 {
    let particles = world.particles();
    particles.velocity.iter().zip(&particles.mass).map(|(v, m)| v.as_dvec3() * f64::from(*m)).sum()
}

fn angular_momentum(world: &World) -> DVec3 {
    let particles = world.particles();
    (0..particles.len())
        .map(|i| {
            let (x, v) = (particles.position[i].as_dvec3(), particles.velocity[i].as_dvec3());
            x.cross(v) * f64::from(particles.mass[i])
        })
        .sum()
}

/// Lowest and highest of a body along an axis.
fn extent(world: &World, body: usize, axis: usize) -> [f32; 2] {
    let range = world.bodies()[body].particles.clone();
    let along = world.particles().position[range.start as usize..range.end as usize].iter().map(|x| x[axis]);
    along.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
}

pub fn implicit() -> TetraSettings {
    TetraSettings { integration: Integration::Implicit, ..TetraSettings::default() }
}

/// Two blocks, one of them turned so far, that fly at each other.
fn crash(material: Material, settings: TetraSettings, turn: f32) -> World {
    let mut world = space(material);
    let one = block([4, 4, 4], CELL, settings.clone());
    let other = Mesh::block([4, 4, 4], CELL, Cut::Six, 0.1).body(CELL, settings);
    world.add_body(NewBody { velocity: Vec3::X, ..at("one", Vec3::new(-0.25, 0.0, 0.0), one) }).unwrap();
    let mut other = NewBody { velocity: -Vec3::X, ..at("other", Vec3::new(0.25, 0.13, 0.04), other) };
    other.pose.turn = glam::Quat::from_rotation_z(turn);
    world.add_body(other).unwrap();
    world
}

#[test]
fn bodies_that_meet_exchange_momentum_and_stay_outside_of_each_other() {
    let mut world = crash(elastic(1.0e5, 0.3), explicit(), 0.3);
    let (linear, angular) = (momentum(&world), angular_momentum(&world));
    // 64 kg each at 1 m/s.
    assert!(linear.length() < 1e-4, "{linear}");
    run(&mut world, 5e-4, 400);
    // Sums of f32: 6e-8 of what two bodies of 64 kg carry, in each of 400 steps.
    assert!((momentum(&world) - linear).length() < 1e-3, "{}", momentum(&world));
    // A push acts where the node is, and the counter-push where it would come out: up to a depth of some hundredths of a cell beside it.
    let (turning, push) = (angular_momentum(&world) - angular, 64.0);
    assert!(turning.length() < 0.05 * f64::from(CELL) * push, "{turning}");
    // The elastic blow turns both around.
    assert!(
        velocity(&world, 0).x < -0.3 && velocity(&world, 1).x > 0.3,
        "{} {}",
        velocity(&world, 0),
        velocity(&world, 1)
    );
}

#[test]
fn a_block_rests_on_a_block_without_a_gap() {
    let mut world = world(Material { damping: 0.3, ..elastic(1.0e6, 0.3) }, Vec3::NEG_Y * 9.81);
    world.add_obstacle(floor(Friction::NONE, 0.0)).unwrap();
    let braked = TetraSettings { mass_damping: 20.0, ..explicit() };
    world.add_body(at("low", Vec3::Y * 0.204, block([4, 4, 4], CELL, braked.clone()))).unwrap();
    world.add_body(at("high", Vec3::new(0.013, 0.605, 0.007), block([4, 4, 4], CELL, braked))).unwrap();
    run(&mut world, 3e-4, 2500);
    // The radius of a node at obstacles is 0.03 of its spacing.
    let (low, high) = (extent(&world, 0, 1), extent(&world, 1, 1));
    assert!(low[0] > 0.0 && low[0] < 0.05 * CELL, "{low:?}");
    // The weight of a block, 628 N over 0.16 m2, strains it by 0.4 %; faces are straight between nodes.
    assert!((high[0] - low[1]).abs() < 0.1 * CELL, "{low:?} {high:?}");
    for body in 0..2 {
        assert!(velocity(&world, body).length() < 1e-2, "{}", velocity(&world, body));
    }
}

/// Mean height of the nodes that are highest at rest, or lowest.
fn height(world: &World, body: usize, is_top: bool) -> f32 {
    let particles = world.particles();
    let range = world.bodies()[body].particles.clone();
    let end = if is_top { 0.2 } else { -0.2 };
    let nodes = range.map(|i| i as usize).filter(|&i| (particles.rest[i].y - end).abs() < 0.1 * CELL);
    let heights: Vec<f32> = nodes.map(|i| particles.position[i].y).collect();
    heights.iter().sum::<f32>() / heights.len() as f32
}

#[test]
fn stiff_bodies_that_meet_in_long_steps_exchange_momentum_and_stay_outside_of_each_other() {
    // News cross a cell in 0.3 ms.
    let mut world = crash(elastic(1.0e8, 0.3), implicit(), 0.0);
    let linear = momentum(&world);
    let mut nearest = f32::INFINITY;
    let middle = |world: &World, body: usize| extent(world, body, 0).iter().sum::<f32>() / 2.0;
    for _ in 0..60 {
        run(&mut world, 4e-3, 1);
        nearest = nearest.min(middle(&world, 1) - middle(&world, 0));
    }
    // As in short steps.
    assert!((momentum(&world) - linear).length() < 1e-3, "{}", momentum(&world));
    // 0.4 m when they touch, and a blow of 2 m/s: a way of 8 mm in a step.
    assert!(nearest > 0.4 - 0.008, "{nearest}");
    let apart = velocity(&world, 1).x - velocity(&world, 0).x;
    assert!(apart > -0.1, "{apart}");
}

#[test]
fn a_crumb_that_strikes_a_floor_in_long_steps_comes_to_rest_whole() {
    let mut world = world(elastic(1.0e9, 0.3), Vec3::NEG_Y * 9.81);
    world.add_obstacle(floor(Friction { r#static: 0.5, kinetic: 0.5 }, 0.0)).unwrap();
    let nodes = vec![Vec3::ZERO, CELL * Vec3::X, CELL * Vec3::Y, CELL * Vec3::Z];
    let mut body = crate::Mesh { nodes, elements: vec![[0, 1, 2, 3]] }.body(CELL, implicit());
    body.spin = Vec3::new(3.0, 1.0, -2.0);
    world.add_body(at("crumb", Vec3::Y * 0.3, body)).unwrap();
    run(&mut world, 1.0 / 60.0, 120);
    // It comes with 2.4 m/s, two fifths of its size in a step, and turns in the step that stops it; what is left of that goes in the steps after.
    let report = world.frame().bodies[0].report.clone();
    assert!(report.strain_max < 0.01, "{}", report.strain_max);
    let (height, speed) =
        (extent(&world, 0, 1), world.particles().velocity.iter().map(|v| v.length()).fold(0.0, f32::max));
    assert!(height[0] > -0.05 * CELL && height[1] < 1.1 * CELL, "{height:?}");
    assert!(speed < 0.02, "{speed}");
}

#[test]
fn what_strikes_a_very_stiff_body_moves_it_as_a_whole() {
    // In space, a cube of matched shape comes beside the middle, so that it touches one corner first.
    let mut world = space(Material { friction: Friction::NONE, ..elastic(1.0e10, 0.3) });
    world.add_body(at("struck", Vec3::ZERO, block([3, 3, 3], CELL, implicit()))).unwrap();
    let striker = body("striker", common::block([3, 3, 3], CELL), ShapeSettings::default());
    let pose = Pose { at: Vec3::new(0.12, 0.4, 0.1), ..Pose::default() };
    world.add_body(NewBody { velocity: Vec3::NEG_Y * 2.0, pose, ..striker }).unwrap();
    let start = momentum(&world);
    let mut strained = 0.0f64;
    for _ in 0..30 {
        run(&mut world, 1.0 / 60.0, 1);
        strained = strained.max(world.frame().bodies[0].report.strain_max);
    }
    assert!(velocity(&world, 0).y < -0.3, "it was struck: {}", velocity(&world, 0));
    // A node that is pushed alone by 0.5 m/s is 8 mm off after a step, 8 % of an edge. The body turns by up to 0.06 rad in a step, and nodes go
    // straight: it is wider by half of the square of that.
    assert!(strained < 2e-3, "{strained}");
    // Such strains pull with 1e5 N on nodes, known to 6e-8 of that in each of the 24 corners of 64 nodes and in 30 steps of 1/60 s.
    let lost = (momentum(&world) - start).length();
    assert!(lost < 0.02, "{lost}");
}

#[test]
fn a_stack_in_long_steps_is_shorter_by_what_its_weight_makes_it() {
    for young in [1.0e6, 1.0e8] {
        let mut world = world(elastic(young, 0.0), Vec3::NEG_Y * 9.81);
        world.add_obstacle(floor(Friction::NONE, 0.0)).unwrap();
        let braked = TetraSettings { mass_damping: 20.0, ..implicit() };
        for (k, name) in ["low", "middle", "high"].into_iter().enumerate() {
            let place = Vec3::new(0.013 * k as f32, 0.203 + 0.4 * k as f32, -0.007 * k as f32);
            world.add_body(at(name, place, block([4, 4, 4], CELL, braked.clone()))).unwrap();
        }
        run(&mut world, 1.0 / 60.0, 60);
        for body in 0..3 {
            // What is above weighs on the whole of it, and its own weight on what is below.
            let strain = |height: f32| 9810.0 * height / young;
            let above = 0.4 * (2 - body) as f32;
            let expected = 0.4 * (strain(above) + strain(0.2));
            let found = 0.4 - (height(&world, body, true) - height(&world, body, false));
            // Blocks stand beside each other by 13 and 7 mm of 400. What is pressed there is a smaller face, which bears more, and elements are
            // not all alike.
            let face = (1.0 - 13.0 / 400.0) * (1.0 - 7.0 / 400.0);
            let is_right = found > 0.98 * expected && found < 1.02 * expected / face;
            assert!(is_right, "{young}, {body}: {found} of {expected}");
            if body > 0 {
                // Pushes are three times as firm as matter and work off half of the depth in a step.
                let (inside, most) = (height(&world, body - 1, true) - height(&world, body, false), 2.0 / 3.0 * CELL);
                assert!(inside > 0.0 && inside < 1.5 * most * strain(above + 0.4), "{young}, {body}: {inside}");
            }
        }
    }
}

#[test]
fn stiff_matter_in_long_steps_sticks_or_slides_by_its_friction() {
    for (friction, slides) in [(0.5, false), (0.1, true)] {
        let friction = Friction { r#static: friction, kinetic: friction };
        let mut world = world(Material { friction, ..elastic(1.0e8, 0.3) }, 9.81 * Vec3::new(0.3, -1.0, 0.0));
        let low = block([12, 2, 4], CELL, implicit());
        let held = (0..low.samples.len() as u32).filter(|&i| low.samples[i as usize].y < -0.09).collect();
        world.add_body(NewBody { held, ..at("low", Vec3::ZERO, low) }).unwrap();
        world.add_body(at("high", Vec3::new(-0.3, 0.2999, 0.0), block([3, 4, 3], CELL, implicit()))).unwrap();
        run(&mut world, 1.0 / 120.0, 36);
        let expected = if slides { 9.81 * (0.3 - 0.1) * 0.3 } else { 0.0 };
        let found = velocity(&world, 1).x;
        // Where most slides, a push may have changed by a tenth since friction was found for it; what sticks creeps by F dt over 3 times
        // what it resists with, which is 1 mm/s in the first steps.
        assert!((found - expected).abs() < if slides { 0.01 } else { 1e-3 }, "{found} of {expected}");
    }
}

/// Two halves of a plank lean against each other over rails, with nodes over their inner edges.
fn leaning(friction: f32) -> World {
    let mut world = world(Material { friction: Friction::NONE, ..elastic(1.0e10, 0.3) }, Vec3::NEG_Y * 9.81);
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        // Nodes stand a tenth of their radius over rails, and the halves are a little in each other.
        let place = Vec3::new(side * 0.4999, 0.103, 0.0);
        world.add_body(at(name, place, block([10, 2, 4], CELL, implicit()))).unwrap();
        let size = Vec3::new(0.1, 0.2, 1.0);
        let at = Vec3::new(side * 0.845, -0.1, 0.0);
        let mut rail = Obstacle::new(name, Geometry::Box { size }, Pose { at, ..Pose::default() });
        rail.friction = Friction { r#static: friction, kinetic: friction };
        world.add_obstacle(rail).unwrap();
    }
    world
}

#[test]
fn halves_that_lean_against_each_other_stand_or_fall_by_the_friction_under_them() {
    // The upper edges of the halves meet, and each turns about them while its lower face slides over a rail, which is at `d` of its length. With `w` the
    // speed of these edges, it turns by `w/d`, and its middle falls with `q w` and goes out with `p w`.
    let (d, length, h) = (0.8, 1.0, 0.2);
    let (p, q, inertia) = (0.5 * h / d, 1.0 - 0.5 * length / d, (length * length + h * h) / 12.0);
    let (dt, steps) = (1.0 / 120.0, 8);
    for friction in [0.0, 0.3, 0.6, 1.8] {
        let mut world = leaning(friction);
        let start = position(&world, 0).y;
        run(&mut world, dt as f32, steps);
        let fallen = f64::from(start - position(&world, 0).y);
        // The lever that weight has against friction. Where there is none they stand, once their nodes have settled within a tenth of the way that they
        // would have fallen in a step.
        let lever = d - 0.5 * length - f64::from(friction) * h;
        if lever < 0.0 {
            assert!(fallen.abs() < 0.1 * 9.81 * dt * dt, "{fallen}");
            assert!(velocity(&world, 0).length() < 0.01, "{}", velocity(&world, 0));
            continue;
        }
        let speeding_up = q * 9.81 * lever / (inertia / d + 0.5 * p * h + q * lever);
        // Backward Euler is half a step ahead. Friction is looked for anew when it is off by 3 % at a touch or by 2 % of all pushes; and before halves
        // are pressed, there is none: a fiftieth.
        let expected = speeding_up * dt * dt * (steps * (steps + 1) / 2) as f64;
        let off = 0.02 + 0.05 * f64::from(friction) * h / lever;
        assert!((fallen / expected - 1.0).abs() < off, "{friction}: {fallen} of {expected}");
    }
}

#[test]
fn pieces_of_a_torn_body_do_not_go_through_each_other() {
    let mut world = space(Material { strength: Some(Curve::constant(9.0e4)), ..elastic(1.0e6, 0.0) });
    let body = Mesh::block([10, 3, 3], CELL, Cut::Centred, 0.1).body(CELL, explicit());
    let start = body.samples.iter().map(|x| *x + 0.1 * (x.x.clamp(-0.1, 0.1) + 0.1) * Vec3::X).collect();
    world.add_body(NewBody { start: Some(start), ..at("bar", Vec3::ZERO, body) }).unwrap();
    run(&mut world, 2e-4, 100);
    let frame = world.frame();
    assert!(frame.bodies[0].report.pieces >= 2);
    // Thrown at each other, they stop.
    for (side, speed) in [(-1.0, 1.0), (1.0, -1.0)] {
        let (near, far) = (0.15 * side, side);
        let (min, max) = (Vec3::new(f32::min(near, far), -1.0, -1.0), Vec3::new(f32::max(near, far), 1.0, 1.0));
        let region = Region::Box { min, max };
        world.apply(Command::Push { body: "bar".into(), region, velocity: speed * Vec3::X }).unwrap();
    }
    let half = |world: &World, sign: f32| {
        let particles = world.particles();
        let there = (0..particles.len()).filter(|&i| sign * particles.rest[i].x > 0.15);
        let at: Vec<f32> = there.map(|i| particles.position[i].x).collect();
        at.iter().sum::<f32>() / at.len() as f32
    };
    let mut least = f32::INFINITY;
    for _ in 0..100 {
        run(&mut world, 2e-4, 10);
        least = least.min(half(&world, 1.0) - half(&world, -1.0));
    }
    // Their middles are 0.65 m apart at rest; a blow of 2 m/s at a speed of sound of 32 m/s squeezes each by a sixteenth at its end.
    assert!(least > 0.9 * 0.65, "{least}");
}

/// What sticks to its own kind.
fn own() -> Sticky {
    Sticky::to([common::matter().name])
}

/// Two blocks of sticky matter, one above the other, overlapping by a part of a cell, nodes and diagonals of faces before each other.
fn stuck(sticky: Option<Sticky>, strength: Option<f32>, overlap: f32) -> World {
    let strength = strength.map(Curve::constant);
    let heat = Heat { specific_heat: 1000.0, ..Heat::default() };
    let mut world = space(Material { sticky, strength, heat, ..elastic(1.0e6, 0.0) });
    for (name, x) in [("left", -0.15), ("right", 0.15 - overlap * CELL)] {
        let body = Mesh::block([3, 4, 4], CELL, Cut::Centred, 0.0).body(CELL, explicit());
        world.add_body(NewBody { temperature: 20.0, ..at(name, Vec3::X * x, body) }).unwrap();
    }
    world
}

#[test]
fn sticky_matter_that_is_pressed_together_is_one_body() {
    let mut world = stuck(Some(own()), None, 0.02);
    let first = world.frame();
    let heat = |world: &World| -> f64 {
        let particles = world.particles();
        particles.mass.iter().zip(&particles.enthalpy).map(|(m, h)| f64::from(*m) * h).sum()
    };
    let (mass, warmth, count) = (first.totals.mass, heat(&world), world.particles().len());
    run(&mut world, 2e-4, 1);
    let frame = world.frame();
    let report = &frame.bodies[0].report;
    // A side has 5 x 5 nodes at corners of cells. Those at its rim only touch, but are beside others that have united.
    assert_eq!(report.merged, 25);
    assert_eq!(world.particles().len(), count - report.merged as usize);
    assert_eq!((report.pieces, report.skin.closed, report.skin.pieces), (1, Some(true), Some(1)));
    assert_eq!(world.bodies()[1].particles.len(), 0);
    assert_eq!(report.tetrahedra.unwrap().count, 2 * first.bodies[1].report.tetrahedra.unwrap().count);
    // Two roundings for each of some united nodes.
    assert!((frame.totals.mass / mass - 1.0).abs() < 1e-6);
    assert!((heat(&world) / warmth - 1.0).abs() < 1e-6);
    run(&mut world, 2e-4, 300);
    assert_eq!(world.frame().bodies[0].report.skin.closed, Some(true));
    assert!(momentum(&world).length() < 1e-3, "{}", momentum(&world));
}

#[test]
fn matter_sticks_only_if_it_is_said_to_and_warm_enough() {
    let merged = |sticky: Option<Sticky>| {
        let mut world = stuck(sticky, None, 0.02);
        run(&mut world, 2e-4, 20);
        world.frame().bodies[0].report.merged
    };
    assert_eq!(merged(None), 0);
    assert_eq!(merged(Some(Sticky { above: Some(30.0), ..own() })), 0);
    assert!(merged(Some(Sticky { above: Some(10.0), ..own() })) > 0);
}

#[test]
fn a_joint_bears_what_its_matter_bears() {
    // Pulled at 1 m/s the halves would be 0.1 m apart in the end; the joint pulls them together.
    let pulled = |strength: Option<f32>| {
        let mut world = stuck(Some(own()), strength, 0.02);
        run(&mut world, 2e-4, 1);
        let (parted, whole) = (world.frame().bodies[0].report.broken, world.frame().bodies[0].report.pieces);
        assert_eq!((parted, whole), (0, 1));
        for (side, min, max) in [(-1.0, -1.0, 0.0), (1.0, 0.0, 1.0)] {
            // Both halves have their middles at the origin of their own frame at rest: they are told apart by number.
            let range = world.bodies()[0].particles.clone();
            let there = (range.start..range.end).filter(|&i| {
                let x = world.particles().position[i as usize].x;
                x > min && x < max
            });
            let samples = there.map(|i| world.particles().sample[i as usize]).collect();
            let push =
                Command::Push { body: "left".into(), region: Region::Samples(samples), velocity: side * 0.5 * Vec3::X };
            world.apply(push).unwrap();
        }
        run(&mut world, 1e-4, 1000);
        let report = world.frame().bodies[0].report.clone();
        (report.pieces, report.broken)
    };
    // A wave of half of 1 m/s in matter of 1000 kg/m3 and 31.6 m/s pulls with 15.8 kPa, and the ends double it where waves meet.
    assert_eq!(pulled(None).0, 1);
    assert_eq!(pulled(Some(1.0e5)), (1, 0));
    assert!(pulled(Some(1.0e4)).0 > 1);
}

#[test]
fn threads_and_resuming_change_no_bit_of_what_touches_and_sticks() {
    let clay = Material {
        sticky: Some(own()),
        plasticity: Some(Plasticity { yield_strain: Curve::constant(0.05), creep: 100.0, max: 2.0 }),
        ..elastic(1.0e5, 0.3)
    };
    let end = |threads: usize, resumed: bool, (material, settings, dt): (&Material, TetraSettings, f32)| {
        parallel::with_threads(Some(threads), || {
            let mut world = crash(material.clone(), settings.clone(), 0.3);
            for k in 0..160 {
                if resumed && k % 13 == 5 {
                    world = decode(&encode(&world)).unwrap();
                }
                run(&mut world, dt, 1);
            }
            (world.state_hash(), world.frame().bodies[0].report.merged)
        })
    };
    let (plain, stiff) = (elastic(1.0e5, 0.3), elastic(1.0e8, 0.3));
    let long = (&stiff, implicit(), 4e-3);
    for (case, sticks) in [((&clay, explicit(), 5e-4), true), ((&plain, explicit(), 5e-4), false), (long, false)] {
        let alone = end(1, false, case.clone());
        assert_eq!(alone.1 > 0, sticks);
        assert_eq!(alone, end(2, false, case.clone()));
        assert_eq!(alone, end(8, false, case.clone()));
        assert_eq!(alone, end(2, true, case));
    }
}

#[test]
fn heat_passes_by_the_area_in_which_bodies_touch() {
    let heat = Heat { specific_heat: 1000.0, conductivity: Vec3::splat(1e-6), ..Heat::default() };
    let mut world = space(Material { heat, ..elastic(1.0e5, 0.3) });
    let even = |counts: [u32; 3]| Mesh::block(counts, CELL, Cut::Centred, 0.0).body(CELL, explicit());
    world.add_body(at("large", Vec3::ZERO, even([8, 2, 8]))).unwrap();
    let place = Vec3::new(0.03, 0.298, 0.02);
    world.add_body(NewBody { temperature: 100.0, ..at("small", place, even([4, 4, 4])) }).unwrap();
    let warmth = |world: &World| world.frame().totals.energy.heat;
    let of_large = |world: &World| -> f64 {
        let range = world.bodies()[0].particles.clone();
        range.map(|i| f64::from(world.particles().mass[i as usize]) * world.particles().enthalpy[i as usize]).sum()
    };
    let (all, before) = (warmth(&world), of_large(&world));
    run(&mut world, 1e-5, 1);
    // 0.4 x 0.4 m2 of the small one, and the 16 nodes of the large one that are in it, each of 0.01 m2 on the mean: half of both.
    let expected = f64::from(world.settings().contact_conductance) * 0.16 * 100.0 * 1e-5;
    // Areas in f32, and a gap of temperature that hardly falls in 10 us.
    assert!(((of_large(&world) - before) / expected - 1.0).abs() < 1e-3, "{} of {expected}", of_large(&world) - before);
    assert!((warmth(&world) / all - 1.0).abs() < 1e-9);
}
