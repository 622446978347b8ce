//! Contact between tetrahedral bodies, and welding.

use crate::common::determinism::assert_reproducible;
use crate::common::*;
use crate::{CELL, Cut, Mesh, at, block, explicit, implicit, single_element};
use glam::{Quat, Vec3};
use phyxel::World;
use phyxel::body::NewBody;
use phyxel::commands::{Command, Region};
use phyxel::material::{Curve, Friction, Material, Plasticity, Sticky, ThermalProperties};
use phyxel::model::TetraSettings;
use phyxel::model::shape_matching::ShapeMatchingSettings;
use phyxel::obstacle::{Geometry, Obstacle};

/// Extent of a body along an axis.
fn extent(world: &World, body: usize, axis: usize) -> [f32; 2] {
    let range = world.bodies()[body].particles.clone();
    let along = world.particles().position[range.start as usize..range.end as usize].iter().map(|x| x[axis]);
    along.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
}

/// Two blocks in collision, one of them rotated by an angle.
fn crash(material: Material, settings: TetraSettings, angle: f32) -> World {
    let one = at("one", Vec3::new(-0.25, 0.0, 0.0), block([4, 4, 4], CELL, settings.clone()));
    let other = Mesh::block([4, 4, 4], CELL, Cut::Six, 0.1).body(CELL, settings);
    let mut other = NewBody { velocity: -Vec3::X, ..at("other", Vec3::new(0.25, 0.13, 0.04), other) };
    other.pose.rotation = Quat::from_rotation_z(angle);
    world_without_gravity(material).with_body(NewBody { velocity: Vec3::X, ..one }).with_body(other)
}

#[test]
fn colliding_bodies_conserve_momentum_and_do_not_interpenetrate() {
    let mut world = crash(elastic(1.0e5, 0.3), explicit(), 0.3);
    let (linear, angular) = momenta(&world);
    // 64 kg each at 1 m/s.
    assert!(linear.length() < 1e-4, "{linear}");
    run_steps(&mut world, 5e-4, 400);
    // Sums of f32: 6e-8 of what two bodies of 64 kg carry, in each of 400 steps.
    assert!((momentum(&world) - linear).length() < 1e-3, "{}", momentum(&world));
    // An impulse acts at the node, and its reaction at the exit point: up to a depth of some hundredths
    // of a cell away.
    let (torque_impulse, impulse) = (momenta(&world).1 - angular, 64.0);
    assert!(torque_impulse.length() < 0.05 * f64::from(CELL) * impulse, "{torque_impulse}");
    // The elastic collision reverses both.
    assert!(
        mean_velocity(&world, 0).x < -0.3 && mean_velocity(&world, 1).x > 0.3,
        "{} {}",
        mean_velocity(&world, 0),
        mean_velocity(&world, 1)
    );
}

#[test]
fn a_stacked_block_rests_without_a_gap() {
    let mut world =
        world(Material { damping: 0.3, ..elastic(1.0e6, 0.3) }, DOWN).with_obstacle(floor(Friction::NONE, 0.0));
    let damped = TetraSettings { mass_damping: 20.0, ..explicit() };
    world.add_body(at("low", Vec3::Y * 0.204, block([4, 4, 4], CELL, damped.clone()))).unwrap();
    world.add_body(at("high", Vec3::new(0.013, 0.605, 0.007), block([4, 4, 4], CELL, damped))).unwrap();
    run_steps(&mut world, 3e-4, 2500);
    // The radius of a node at obstacles is 0.03 of its spacing.
    let (low, high) = (extent(&world, 0, 1), extent(&world, 1, 1));
    assert!(low[0] > 0.0 && low[0] < 0.05 * CELL, "{low:?}");
    // The weight of a block, 628 N over 0.16 m2, strains it by 0.4 %; faces are flat between nodes.
    assert!((high[0] - low[1]).abs() < 0.1 * CELL, "{low:?} {high:?}");
    for body in 0..2 {
        assert!(mean_velocity(&world, body).length() < 1e-2, "{}", mean_velocity(&world, body));
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
fn stiff_bodies_in_long_steps_conserve_momentum_and_do_not_interpenetrate() {
    // Waves cross a cell in 0.3 ms.
    let mut world = crash(elastic(1.0e8, 0.3), implicit(), 0.0);
    let linear = momentum(&world);
    let mut min_distance = f32::INFINITY;
    let centre = |world: &World, body: usize| extent(world, body, 0).iter().sum::<f32>() / 2.0;
    for _ in 0..60 {
        run_steps(&mut world, 4e-3, 1);
        min_distance = min_distance.min(centre(&world, 1) - centre(&world, 0));
    }
    // As in short steps.
    assert!((momentum(&world) - linear).length() < 1e-3, "{}", momentum(&world));
    // 0.4 m when they touch, and an approach of 2 m/s: 8 mm in a step.
    assert!(min_distance > 0.4 - 0.008, "{min_distance}");
    let separation_speed = mean_velocity(&world, 1).x - mean_velocity(&world, 0).x;
    assert!(separation_speed > -0.1, "{separation_speed}");
}

#[test]
fn a_rigid_fragment_that_hits_a_floor_in_long_steps_comes_to_rest_unstrained() {
    let mut world =
        world(elastic(1.0e9, 0.3), DOWN).with_obstacle(floor(Friction { r#static: 0.5, kinetic: 0.5 }, 0.0));
    let fragment = at("fragment", Vec3::Y * 0.3, single_element(implicit()));
    world.add_body(NewBody { spin: Vec3::new(3.0, 1.0, -2.0), ..fragment }).unwrap();
    run_steps(&mut world, 1.0 / 60.0, 120);
    // It arrives at 2.4 m/s, two fifths of its size in a step, and rotates in the step that stops it; the
    // strain of that relaxes in the following steps.
    let report = world.frame().bodies[0].report.clone();
    assert!(report.strain_max < 0.01, "{}", report.strain_max);
    let (height, speed) =
        (extent(&world, 0, 1), world.particles().velocity.iter().map(|v| v.length()).fold(0.0, f32::max));
    assert!(height[0] > -0.05 * CELL && height[1] < 1.1 * CELL, "{height:?}");
    assert!(speed < 0.02, "{speed}");
}

#[test]
fn a_collision_moves_a_very_stiff_body_rigidly() {
    // Without gravity, a shape-matched cube hits it off centre, one corner first.
    let striker = body("striker", crate::common::block([3, 3, 3], CELL), ShapeMatchingSettings::default());
    let mut world = world_without_gravity(Material { friction: Friction::NONE, ..elastic(1.0e10, 0.3) })
        .with_body(at("struck", Vec3::ZERO, block([3, 3, 3], CELL, implicit())))
        .with_body(NewBody { velocity: Vec3::NEG_Y * 2.0, ..striker.at(Vec3::new(0.12, 0.4, 0.1)) });
    let start = momentum(&world);
    let mut largest_strain = 0.0f64;
    for _ in 0..30 {
        run_steps(&mut world, 1.0 / 60.0, 1);
        largest_strain = largest_strain.max(max_strain(&world, 0));
    }
    assert!(mean_velocity(&world, 0).y < -0.3, "it was struck: {}", mean_velocity(&world, 0));
    // A single node displaced at 0.5 m/s is 8 mm off after a step, 8 % of an edge. The body rotates by up
    // to 0.06 rad in a step along straight node paths, which widens it by half the square of that.
    assert!(largest_strain < 2e-3, "{largest_strain}");
    // Such strains cause nodal forces of 1e5 N, rounded to 6e-8 in each of the 24 corners of 64 nodes and
    // in 30 steps of 1/60 s.
    let lost = (momentum(&world) - start).length();
    assert!(lost < 0.02, "{lost}");
}

#[test]
fn a_stack_in_long_steps_is_compressed_by_its_weight() {
    for young in [1.0e6, 1.0e8] {
        let mut world = world(elastic(young, 0.0), DOWN).with_obstacle(floor(Friction::NONE, 0.0));
        let damped = TetraSettings { mass_damping: 20.0, ..implicit() };
        for (k, name) in ["low", "middle", "high"].into_iter().enumerate() {
            let position = Vec3::new(0.013 * k as f32, 0.203 + 0.4 * k as f32, -0.007 * k as f32);
            world.add_body(at(name, position, block([4, 4, 4], CELL, damped.clone()))).unwrap();
        }
        run_steps(&mut world, 1.0 / 60.0, 60);
        for body in 0..3 {
            // The blocks above load all of it, and its own weight the lower half on average.
            let strain = |height: f32| 9810.0 * height / young;
            let above = 0.4 * (2 - body) as f32;
            let expected = 0.4 * (strain(above) + strain(0.2));
            let found = 0.4 - (height(&world, body, true) - height(&world, body, false));
            // Blocks are offset by 13 and 7 mm of 400, so that the contact area is smaller and the stress
            // larger; elements are not uniform.
            let face = (1.0 - 13.0 / 400.0) * (1.0 - 7.0 / 400.0);
            let is_right = found > 0.98 * expected && found < 1.02 * expected / face;
            assert!(is_right, "{young}, {body}: {found} of {expected}");
            if body > 0 {
                // The contact penalty is three times the stiffness of the material, and a step removes
                // half of the depth.
                let (penetration, depth_over_strain) =
                    (height(&world, body - 1, true) - height(&world, body, false), 2.0 / 3.0 * CELL);
                assert!(
                    penetration > 0.0 && penetration < 1.5 * depth_over_strain * strain(above + 0.4),
                    "{young}, {body}: {penetration}"
                );
            }
        }
    }
}

#[test]
fn stiff_bodies_in_long_steps_stick_or_slide_by_friction() {
    for (friction, slides) in [(0.5, false), (0.1, true)] {
        let friction = Friction { r#static: friction, kinetic: friction };
        let mut world = world(Material { friction, ..elastic(1.0e8, 0.3) }, 9.81 * Vec3::new(0.3, -1.0, 0.0));
        let low = block([12, 2, 4], CELL, implicit()).fixed_where(|x| x.y < -0.09);
        world.add_body(at("low", Vec3::ZERO, low)).unwrap();
        world.add_body(at("high", Vec3::new(-0.3, 0.2999, 0.0), block([3, 4, 3], CELL, implicit()))).unwrap();
        run_steps(&mut world, 1.0 / 120.0, 36);
        let expected = if slides { 9.81 * (0.3 - 0.1) * 0.3 } else { 0.0 };
        let found = mean_velocity(&world, 1).x;
        // While sliding, normal impulses may have changed by a tenth since friction was updated; while
        // sticking, it creeps by F dt over the tangential penalty, 1 mm/s in the first steps.
        assert!((found - expected).abs() < if slides { 0.01 } else { 1e-3 }, "{found} of {expected}");
    }
}

/// Two halves of a plank that lean against each other on rails, with nodes above the inner edges of the
/// rails.
fn leaning(friction: f32) -> World {
    let mut world = world(Material { friction: Friction::NONE, ..elastic(1.0e10, 0.3) }, DOWN);
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        // Nodes stand a tenth of their radius above the rails, and the halves overlap a little.
        let position = Vec3::new(side * 0.4999, 0.103, 0.0);
        world.add_body(at(name, position, block([10, 2, 4], CELL, implicit()))).unwrap();
        let size = Vec3::new(0.1, 0.2, 1.0);
        let mut rail = Obstacle::new(name, Geometry::Box { size }, pose_at(Vec3::new(side * 0.845, -0.1, 0.0)));
        rail.friction = Friction { r#static: friction, kinetic: friction };
        world.add_obstacle(rail).unwrap();
    }
    world
}

#[test]
fn leaning_halves_stand_or_fall_by_the_friction_of_their_supports() {
    // The upper edges of the halves meet, and each half rotates about them while its lower face slides
    // over a rail at `d` of its length. With `w` the speed of these edges, it rotates at `w/d`, and its
    // centre falls at `q w` and moves outwards at `p w`.
    let (d, length, h) = (0.8, 1.0, 0.2);
    let (p, q, inertia) = (0.5 * h / d, 1.0 - 0.5 * length / d, (length * length + h * h) / 12.0);
    let (dt, steps) = (1.0 / 120.0, 8);
    for friction in [0.0, 0.3, 0.6, 1.8] {
        let mut world = leaning(friction);
        let start = mean_position(&world, 0).y;
        run_steps(&mut world, dt as f32, steps);
        let fallen = f64::from(start - mean_position(&world, 0).y);
        // Lever arm of weight against friction. If it is negative they stand, once their nodes have
        // settled within a tenth of the fall of a step.
        let lever = d - 0.5 * length - f64::from(friction) * h;
        if lever < 0.0 {
            assert!(fallen.abs() < 0.1 * 9.81 * dt * dt, "{fallen}");
            assert!(mean_velocity(&world, 0).length() < 0.01, "{}", mean_velocity(&world, 0));
            continue;
        }
        let acceleration = q * 9.81 * lever / (inertia / d + 0.5 * p * h + q * lever);
        // Backward Euler is half a step ahead. Friction is updated when it is off by 3 % at a contact or
        // by 2 % of all impulses; and there is none before the halves are pressed: a fiftieth.
        let expected = acceleration * dt * dt * (steps * (steps + 1) / 2) as f64;
        let tolerance = 0.02 + 0.05 * f64::from(friction) * h / lever;
        assert!((fallen / expected - 1.0).abs() < tolerance, "{friction}: {fallen} of {expected}");
    }
}

#[test]
fn components_of_a_torn_body_collide() {
    let body = block([10, 3, 3], CELL, explicit()).deformed(|x| x + 0.1 * (x.x.clamp(-0.1, 0.1) + 0.1) * Vec3::X);
    let mut world = world_without_gravity(Material { strength: Some(Curve::constant(9.0e4)), ..elastic(1.0e6, 0.0) })
        .with_body(at("bar", Vec3::ZERO, body));
    run_steps(&mut world, 2e-4, 100);
    let frame = world.frame();
    assert!(frame.bodies[0].report.pieces >= 2);
    // Pushed at each other, they stop.
    for (side, speed) in [(-1.0, 1.0), (1.0, -1.0)] {
        let (near, far) = (0.15 * side, side);
        let (min, max) = (Vec3::new(f32::min(near, far), -1.0, -1.0), Vec3::new(f32::max(near, far), 1.0, 1.0));
        let region = Region::Box { min, max };
        world.apply(Command::Push { body: "bar".into(), region, velocity: speed * Vec3::X }).unwrap();
    }
    let mean_x = |world: &World, sign: f32| {
        let particles = world.particles();
        let nodes = (0..particles.len()).filter(|&i| sign * particles.rest[i].x > 0.15);
        let x: Vec<f32> = nodes.map(|i| particles.position[i].x).collect();
        x.iter().sum::<f32>() / x.len() as f32
    };
    let mut min_distance = f32::INFINITY;
    for _ in 0..100 {
        run_steps(&mut world, 2e-4, 10);
        min_distance = min_distance.min(mean_x(&world, 1.0) - mean_x(&world, -1.0));
    }
    // Their centres are 0.65 m apart at rest; an impact of 2 m/s at a speed of sound of 32 m/s compresses
    // each by a sixteenth at its end.
    assert!(min_distance > 0.9 * 0.65, "{min_distance}");
}

/// Sticky to its own material.
fn sticky_to_itself() -> Sticky {
    Sticky::to([MATERIAL])
}

/// Two blocks side by side that overlap by a fraction of a cell, with matching nodes and diagonals of faces.
fn overlapping_blocks(sticky: Option<Sticky>, strength: Option<f32>, overlap: f32) -> World {
    let strength = strength.map(Curve::constant);
    let heat = ThermalProperties { specific_heat: 1000.0, ..ThermalProperties::default() };
    let mut world = world_without_gravity(Material { sticky, strength, heat, ..elastic(1.0e6, 0.0) });
    for (name, x) in [("left", -0.15), ("right", 0.15 - overlap * CELL)] {
        let body = Mesh::block([3, 4, 4], CELL, Cut::Centred, 0.0).body(CELL, explicit());
        world.add_body(NewBody { temperature: 20.0, ..at(name, Vec3::X * x, body) }).unwrap();
    }
    world
}

#[test]
fn sticky_bodies_pressed_together_merge() {
    let mut world = overlapping_blocks(Some(sticky_to_itself()), None, 0.02);
    let first = world.frame();
    let (mass, heat_before, count) =
        (first.totals.mass, heat_of(&world, 0) + heat_of(&world, 1), world.particles().len());
    run_steps(&mut world, 2e-4, 1);
    let frame = world.frame();
    let report = &frame.bodies[0].report;
    // A side has 5 x 5 nodes at corners of cells. Those at its rim only touch, but are beside welded nodes.
    assert_eq!(report.merged, 25);
    assert_eq!(world.particles().len(), count - report.merged as usize);
    assert_eq!((report.pieces, report.skin.closed, report.skin.pieces), (1, Some(true), Some(1)));
    assert_eq!(world.bodies()[1].particles.len(), 0);
    assert_eq!(report.tetrahedra.unwrap().count, 2 * first.bodies[1].report.tetrahedra.unwrap().count);
    // Two roundings for each welded node.
    assert!((frame.totals.mass / mass - 1.0).abs() < 1e-6);
    assert!((heat_of(&world, 0) / heat_before - 1.0).abs() < 1e-6);
    run_steps(&mut world, 2e-4, 300);
    assert_eq!(world.frame().bodies[0].report.skin.closed, Some(true));
    assert!(momentum(&world).length() < 1e-3, "{}", momentum(&world));
}

#[test]
fn bodies_weld_only_if_sticky_and_warm_enough() {
    let merged = |sticky: Option<Sticky>| {
        let mut world = overlapping_blocks(sticky, None, 0.02);
        run_steps(&mut world, 2e-4, 20);
        world.frame().bodies[0].report.merged
    };
    assert_eq!(merged(None), 0);
    assert_eq!(merged(Some(Sticky { above: Some(30.0), ..sticky_to_itself() })), 0);
    assert!(merged(Some(Sticky { above: Some(10.0), ..sticky_to_itself() })) > 0);
}

#[test]
fn a_weld_has_the_strength_of_its_material() {
    // At 1 m/s the halves would be 0.1 m apart in the end; the weld holds them together.
    let after_pulling = |strength: Option<f32>| {
        let mut world = overlapping_blocks(Some(sticky_to_itself()), strength, 0.02);
        run_steps(&mut world, 2e-4, 1);
        let (broken, pieces) = (world.frame().bodies[0].report.broken, world.frame().bodies[0].report.pieces);
        assert_eq!((broken, pieces), (0, 1));
        for (side, min, max) in [(-1.0, -1.0, 0.0), (1.0, 0.0, 1.0)] {
            // The rest frames of both halves are centred at the origin, so nodes are selected by id.
            let range = world.bodies()[0].particles.clone();
            let nodes = (range.start..range.end).filter(|&i| {
                let x = world.particles().position[i as usize].x;
                x > min && x < max
            });
            let samples = nodes.map(|i| world.particles().id[i as usize]).collect();
            let command =
                Command::Push { body: "left".into(), region: Region::Ids(samples), velocity: side * 0.5 * Vec3::X };
            world.apply(command).unwrap();
        }
        run_steps(&mut world, 1e-4, 1000);
        let report = world.frame().bodies[0].report.clone();
        (report.pieces, report.broken)
    };
    // A wave of half of 1 m/s at 1000 kg/m3 and 31.6 m/s has a stress of 15.8 kPa, doubled where waves
    // reflected by the ends meet.
    assert_eq!(after_pulling(None).0, 1);
    assert_eq!(after_pulling(Some(1.0e5)), (1, 0));
    assert!(after_pulling(Some(1.0e4)).0 > 1);
}

#[test]
fn contact_and_welding_are_bitwise_equal_for_any_threads_and_after_resuming() {
    let clay = Material {
        sticky: Some(sticky_to_itself()),
        plasticity: Some(Plasticity { yield_strain: Curve::constant(0.05), creep: 100.0, max: 2.0 }),
        ..elastic(1.0e5, 0.3)
    };
    let (plain, stiff) = (elastic(1.0e5, 0.3), elastic(1.0e8, 0.3));
    let long = (&stiff, implicit(), 4e-3);
    for ((material, settings, dt), sticks) in
        [((&clay, explicit(), 5e-4), true), ((&plain, explicit(), 5e-4), false), (long, false)]
    {
        let start = || crash(material.clone(), settings.clone(), 0.3);
        let advance = |world: &mut World, _| run_steps(world, dt, 1);
        let result = |world: &World| (world.state_hash(), world.frame().bodies[0].report.merged);
        assert_eq!(assert_reproducible(start, (160, 13), advance, result).1 > 0, sticks);
    }
}

#[test]
fn contact_heat_is_proportional_to_the_contact_area() {
    let heat =
        ThermalProperties { specific_heat: 1000.0, conductivity: Vec3::splat(1e-6), ..ThermalProperties::default() };
    let mut world = world_without_gravity(Material { heat, ..elastic(1.0e5, 0.3) });
    let regular_block = |counts: [u32; 3]| Mesh::block(counts, CELL, Cut::Centred, 0.0).body(CELL, explicit());
    world.add_body(at("large", Vec3::ZERO, regular_block([8, 2, 8]))).unwrap();
    let position = Vec3::new(0.03, 0.298, 0.02);
    world.add_body(NewBody { temperature: 100.0, ..at("small", position, regular_block([4, 4, 4])) }).unwrap();
    let total_heat = |world: &World| world.frame().totals.energy.heat;
    let (total, before) = (total_heat(&world), heat_of(&world, 0));
    run_steps(&mut world, 1e-5, 1);
    // 0.4 x 0.4 m2 of the small one, and the 16 nodes of the large one inside it, each of 0.01 m2 on
    // average: half of both.
    let expected = f64::from(world.settings().contact_conductance) * 0.16 * 100.0 * 1e-5;
    // Areas in f32, and a temperature difference that hardly decreases in 10 us.
    let gained = heat_of(&world, 0) - before;
    assert!((gained / expected - 1.0).abs() < 1e-3, "{gained} of {expected}");
    assert!((total_heat(&world) / total - 1.0).abs() < 1e-9);
}
