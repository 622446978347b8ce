//! Contact of other models with tetrahedral bodies.

use crate::common::determinism::assert_reproducible;
use crate::common::*;
use crate::{Cut, Mesh, at, explicit, implicit};
use glam::{DMat3, DVec3, Quat, Vec3};
use phyxel::World;
use phyxel::body::{NewBody, Pose};
use phyxel::material::{Friction, Material, ThermalProperties};
use phyxel::model::shape_matching::{MatchingMode, ShapeMatchingSettings};
use phyxel::model::{ContinuumSettings, CrystalSettings, MassSpringSettings, ModelSettings, TetraSettings};
use phyxel::store::Phase;

/// Edge of the tetrahedral cells, and spacing of the particles of other models, five times smaller, m.
const COARSE: f32 = 0.1;
const FINE: f32 = 0.02;
const RADIUS: f32 = 0.5 * FINE;

/// Block of coarse cells whose lowest nodes are fixed.
fn table(counts: [u32; 3], settings: TetraSettings) -> NewBody {
    let low = -0.5 * counts[1] as f32 * COARSE + 0.01;
    at("table", Vec3::ZERO, crate::block(counts, COARSE, settings).fixed_where(|x| x.y < low))
}

/// Body of fine particles of a given model.
fn small(name: &str, model: ModelSettings, samples: Vec<Vec3>, position: Vec3) -> NewBody {
    new_body(name, model, samples, FINE).at(position)
}

fn grain(name: &str, position: Vec3) -> NewBody {
    small(name, ModelSettings::ShapeMatching(ShapeMatchingSettings::default()), vec![Vec3::ZERO], position)
}

fn cube(name: &str, position: Vec3) -> NewBody {
    let model = ModelSettings::ShapeMatching(matching_settings(MatchingMode::Linear, [1, 1, 1]));
    small(name, model, block([3, 3, 3], FINE), position)
}

/// Close-packed sites in a box, as a crystal or a fluid.
fn packed(name: &str, size: Vec3, distance: f32, phase: Phase, position: Vec3) -> NewBody {
    let step = distance / 2.0f32.sqrt();
    let counts = (size / step).floor().as_uvec3() + 1;
    let sites = block(counts.to_array(), step).into_iter().enumerate().filter(|(k, _)| {
        let [x, y] = [counts.x as usize, counts.y as usize];
        (k % x + k / x % y + k / (x * y)) % 2 == 0
    });
    let samples: Vec<Vec3> = sites.map(|(_, x)| x).collect();
    let volume = samples.len() as f64 * f64::from(distance).powi(3) / 2.0f64.sqrt();
    let model = ModelSettings::Crystal(CrystalSettings { phase, ..CrystalSettings::default() });
    NewBody { volume, spacing: distance, ..small(name, model, samples, position) }
}

/// Small cube of each model, centred at a height.
fn cubes(height: f32) -> [NewBody; 4] {
    let positions = [[-0.113, -0.087], [0.094, -0.121], [-0.076, 0.104], [0.131, 0.089]];
    let positions = positions.map(|[x, z]| Vec3::new(x, height, z));
    let spring = spring_block("spring", [2, 2, 2], [FINE; 3], MassSpringSettings::default());
    let continuum = ModelSettings::Continuum(ContinuumSettings::default());
    [
        cube("shape", positions[0]),
        spring.at(positions[1]),
        small("continuum", continuum, block([4, 4, 4], FINE), positions[2]),
        packed("crystal", Vec3::splat(0.06), FINE, Phase::Solid, positions[3]),
    ]
}

/// Corner positions of the elements of a body.
fn elements(world: &World, body: usize, elements: &[[u32; 4]]) -> Vec<[DVec3; 4]> {
    let first = world.bodies()[body].particles.start;
    let corner = |node: u32| world.particles().position[(first + node) as usize].as_dvec3();
    elements.iter().map(|element| element.map(corner)).collect()
}

/// Returns true if a point is in one of these elements.
fn is_inside(elements: &[[DVec3; 4]], point: DVec3) -> bool {
    elements.iter().any(|[a, b, c, d]| {
        let barycentric = DMat3::from_cols(*b - *a, *c - *a, *d - *a).inverse() * (point - *a);
        barycentric.min_element() > 0.0 && barycentric.element_sum() < 1.0
    })
}

/// Mean height of the highest nodes of a table.
fn height(world: &World, body: usize, top: f32) -> f32 {
    let particles = world.particles();
    let nodes = world.bodies()[body].range().filter(|&i| (particles.rest[i].y - top).abs() < 0.01 * COARSE);
    let heights: Vec<f32> = nodes.map(|i| particles.position[i].y).collect();
    heights.iter().sum::<f32>() / heights.len() as f32
}

fn lowest(world: &World, body: usize) -> f32 {
    let range = world.bodies()[body].range();
    world.particles().position[range].iter().map(|x| x.y).fold(f32::INFINITY, f32::min)
}

#[test]
fn small_bodies_of_every_model_rest_on_a_coarse_face() {
    for settings in [explicit(), implicit()] {
        let mut world =
            world(Material { damping: 0.5, ..elastic(1.0e6, 0.3) }, DOWN).with_body(table([4, 2, 4], settings.clone()));
        // Softer, so that steps are longer.
        world.add_material(Material { name: "soft".into(), damping: 0.5, ..elastic(1.0e5, 0.3) }).unwrap();
        for new in cubes(0.19) {
            world.add_body(NewBody { material: "soft".into(), ..new }).unwrap();
        }
        for frame in 0..40 {
            run_frames(&mut world, 1);
            // The table deflects by less than a tenth of a millimetre under cubes of 0.2 kg.
            let top = height(&world, 0, 0.1);
            for body in 1..5 {
                let gap = lowest(&world, body) - top - RADIUS;
                assert!(gap > -0.1 * RADIUS, "{settings:?}, frame {frame}: {body} is {gap} m off");
                if frame == 39 {
                    assert!(gap < 0.1 * RADIUS, "{settings:?}: {body} is {gap} m off");
                    assert!(mean_velocity(&world, body).length() < 1e-2, "{body}: {}", mean_velocity(&world, body));
                }
            }
        }
    }
}

#[test]
fn many_grains_on_one_face_rest_on_it() {
    for settings in [explicit(), implicit()] {
        let mut world =
            world(Material { damping: 0.5, ..elastic(1.0e6, 0.3) }, DOWN).with_body(table([2, 2, 2], settings.clone()));
        let mut random = Lcg(3);
        for (k, x) in block([8, 1, 8], 0.022).into_iter().enumerate() {
            let position = x + Vec3::Y * (0.1 + 1.5 * RADIUS) + random.next_vector(0.0009);
            world.add_body(grain(&format!("grain-{k}"), position)).unwrap();
        }
        run_frames(&mut world, 60);
        let top = height(&world, 0, 0.1);
        for body in 1..65 {
            let gap = lowest(&world, body) - top - RADIUS;
            assert!(gap.abs() < 0.1 * RADIUS, "{settings:?}: {body} is {gap} m off");
        }
    }
}

#[test]
fn collisions_with_a_free_block_conserve_momentum() {
    for settings in [explicit(), implicit()] {
        let mut world = world_without_gravity(elastic(1.0e5, 0.3));
        let block = Mesh::block([3, 3, 3], COARSE, Cut::Six, 0.1).body(COARSE, settings.clone());
        world.add_body(at("block", Vec3::ZERO, block)).unwrap();
        let mut small = cube("cube", Vec3::new(0.033, 0.25, -0.021));
        small.velocity = Vec3::new(0.3, -2.0, 0.1);
        world.add_body(small).unwrap();
        let before = momentum(&world);
        run_frames(&mut world, 30);
        // 0.216 kg at 2 m/s are known to 3e-8, and so are the impulses on single nodes and particles in
        // some hundred steps; forces of elements and of shape matching are 1000 times as large and cancel
        // to 6e-8 each.
        let lost = (momentum(&world) - before).length();
        assert!(lost < 1e-3 * before.length(), "{settings:?}: {lost} of {before}");
        assert!(
            mean_velocity(&world, 1).y > mean_velocity(&world, 0).y,
            "{settings:?}: they separate or stay together"
        );
        assert!(lowest(&world, 1) > 0.15, "{settings:?}: {}", lowest(&world, 1));
    }
}

#[test]
fn a_cube_sticks_to_a_tilted_block_below_the_friction_angle_and_slides_above_it_with_the_textbook_acceleration() {
    let rough = Friction { r#static: 0.8, kinetic: 0.5 };
    let limit = rough.r#static.atan();
    const DT: f32 = 2e-3;
    let on_slope = |angle: f32| {
        let rotation = Quat::from_rotation_z(angle);
        let mut world = world(Material { damping: 0.5, friction: rough, ..elastic(1.0e7, 0.3) }, DOWN);
        let mut slope = table([12, 2, 4], TetraSettings { mass_damping: 50.0, ..implicit() });
        slope.pose.rotation = rotation;
        world.add_body(slope).unwrap();
        // It deflects under its own weight first.
        run_steps(&mut world, DT, 200);
        let particles = world.particles();
        let top = (0..particles.len()).filter(|&i| (particles.rest[i].y - 0.1).abs() < 0.001);
        let heights: Vec<f32> = top.map(|i| particles.position[i].dot(rotation * Vec3::Y)).collect();
        let height = heights.iter().sum::<f32>() / heights.len() as f32;
        // Wide and low, so that its weight is spread over all of its base.
        let model = ModelSettings::ShapeMatching(matching_settings(MatchingMode::Rigid, [1, 1, 1]));
        let mut block = small("block", model, block([8, 2, 8], FINE), Vec3::ZERO);
        block.pose = Pose { position: rotation * Vec3::new(0.4, height + FINE, 0.013), rotation };
        world.add_body(block).unwrap();
        world
    };
    let mut below = on_slope(0.95 * limit);
    let start = mean_position(&below, 1);
    run_steps(&mut below, DT, 500);
    // The slope deflects by 0.01 mm under 1 kg, and oscillates for a while.
    let displacement = (mean_position(&below, 1) - start).length();
    assert!(displacement < 0.1 * RADIUS, "{displacement}");
    assert!(mean_velocity(&below, 1).length() < 2e-3, "{}", mean_velocity(&below, 1));

    let angle = 1.1 * limit;
    let mut above = on_slope(angle);
    let down = -(Quat::from_rotation_z(angle) * Vec3::X);
    run_steps(&mut above, DT, 100);
    let start_speed = mean_velocity(&above, 1).dot(down);
    run_steps(&mut above, DT, 150);
    let acceleration = (mean_velocity(&above, 1).dot(down) - start_speed) / 0.3;
    let textbook = 9.81 * (angle.sin() - rough.kinetic * angle.cos());
    // As on an obstacle, it rattles a little while it slides.
    assert!((acceleration / textbook - 1.0).abs() < 0.02, "{acceleration} {textbook}");
}

/// Plate of tetrahedra 2 mm thick, with all nodes fixed or none.
fn plate(is_fixed: bool) -> NewBody {
    let mut mesh = Mesh::block([4, 1, 4], COARSE, Cut::Six, 0.0);
    mesh.nodes.iter_mut().for_each(|node| node.y *= 0.02);
    let body = mesh.body(COARSE, implicit());
    at("plate", Vec3::ZERO, body.fixed_where(|_| is_fixed))
}

/// Height of a point above the upper side of the plate, and its lateral distance from the nearest node
/// there, m.
fn over_plate(world: &World, x: Vec3) -> [f32; 2] {
    let (p, plate) = (world.particles(), world.bodies()[0].range());
    let distance = |i: &usize| p.position[*i].distance(x);
    let tops = plate.clone().filter(|&i| p.rest[i].y > 0.0);
    let top = tops.min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
    let below = |i: &usize| p.rest[*i].distance(p.rest[top] - Vec3::Y * 0.002);
    let low = plate.min_by(|a, b| below(a).total_cmp(&below(b))).unwrap();
    let up = (p.position[top] - p.position[low]).normalize();
    let offset = x - p.position[top];
    [offset.dot(up), (offset - up * offset.dot(up)).length()]
}

#[test]
fn nothing_goes_through_a_plate_one_element_thick() {
    for (is_fixed, speed) in [(true, 5.0), (true, 50.0), (true, 300.0), (false, 5.0), (false, 50.0)] {
        let mut world = world_without_gravity(elastic(1.0e8, 0.3)).with_body(plate(is_fixed));
        let mut random = Lcg(7);
        for k in 0..30 {
            // Some at nodes and edges, most anywhere.
            let grid = Vec3::new((k % 5) as f32 - 2.0, 0.0, (k / 5) as f32 - 2.0) * 0.5 * COARSE;
            let position = if k < 15 { grid } else { random.next_vector(0.19) * Vec3::new(1.0, 0.0, 1.0) };
            let mut new = grain(&format!("grain-{k}"), position + Vec3::Y * (0.03 + 0.02 * k as f32));
            new.radius = Some(0.004);
            new.velocity = Vec3::NEG_Y * speed + random.next_vector(0.1 * speed);
            world.add_body(new).unwrap();
        }
        let time = 1.0 / speed;
        let count = (time * 60.0).ceil() as usize;
        run_frames(&mut world, count.max(2));
        for body in 1..31 {
            let [above, beside] = over_plate(&world, mean_position(&world, body));
            // Fixed, it stays flat. Free, it bends; but a grain that passed through would be farther away
            // by then.
            let min_height = if is_fixed { 0.9 * 0.004 } else { -0.5 * COARSE };
            assert!(beside > COARSE || above > min_height, "fixed: {is_fixed}, {speed} m/s: {body} is {above} m above");
        }
    }
}

/// Bowl of coarse cells, a block with a cavity of half its width, and its elements.
fn bowl(settings: TetraSettings) -> (NewBody, Vec<[u32; 4]>) {
    let mesh = Mesh::block([8, 4, 8], 0.5 * COARSE, Cut::Six, 0.0);
    let centroid = |element: &[u32; 4]| element.iter().map(|&node| mesh.nodes[node as usize]).sum::<Vec3>() / 4.0;
    let is_hollow = |x: Vec3| x.y > -0.05 && x.x.abs().max(x.z.abs()) < 0.1;
    let kept: Vec<[u32; 4]> = mesh.elements.iter().copied().filter(|element| !is_hollow(centroid(element))).collect();
    let mut new_indices = vec![u32::MAX; mesh.nodes.len()];
    let mut nodes = Vec::new();
    let mut new_index = |node: u32| {
        if new_indices[node as usize] == u32::MAX {
            new_indices[node as usize] = nodes.len() as u32;
            nodes.push(mesh.nodes[node as usize]);
        }
        new_indices[node as usize]
    };
    let elements: Vec<[u32; 4]> = kept.into_iter().map(|element| element.map(&mut new_index)).collect();
    let body = Mesh { nodes, elements: elements.clone() }.body(0.5 * COARSE, settings);
    (at("bowl", Vec3::ZERO, body.fixed_where(|x| x.y < -0.09)), elements)
}

#[test]
fn a_fluid_stays_in_a_bowl_and_out_of_its_sides() {
    for settings in [explicit(), implicit()] {
        let mut world = world(Material { damping: 0.5, ..elastic(1.0e5, 0.3) }, DOWN);
        let (bowl, tetrahedra) = bowl(settings.clone());
        world.add_body(bowl).unwrap();
        let fluid = packed("fluid", Vec3::new(0.16, 0.08, 0.16), FINE, Phase::Fluid, Vec3::Y * 0.01);
        world.add_body(fluid).unwrap();
        for frame in 0..40 {
            run_frames(&mut world, 1);
            let elements = elements(&world, 0, &tetrahedra);
            for &x in &world.particles().position[world.bodies()[1].range()] {
                assert!(!is_inside(&elements, x.as_dvec3()), "{settings:?}, frame {frame}: {x} is inside");
            }
        }
        let fluid = world.bodies()[1].range();
        let p = world.particles();
        let speed = fluid.clone().map(|i| p.velocity[i].length()).sum::<f32>() / fluid.len() as f32;
        let bottom =
            |i: &usize| (p.rest[*i].y + 0.05).abs() < 0.001 && p.rest[*i].x.abs().max(p.rest[*i].z.abs()) < 0.09;
        let bottom: Vec<f32> = world.bodies()[0].range().filter(bottom).map(|i| p.position[i].y).collect();
        let bottom = bottom.iter().sum::<f32>() / bottom.len() as f32;
        // A wave of a tenth of the depth in a bowl 0.2 m wide moves by some cm/s.
        assert!(speed < 0.05, "{settings:?}: {speed}");
        // It lies on the bottom of the bowl, which is flat to some hundredths of a millimetre.
        let gap = lowest(&world, 1) - bottom - RADIUS;
        assert!(gap.abs() < 0.1 * RADIUS, "{settings:?}: {gap}");
        // Its depth is that of its volume in a square of 0.2 m, from the centre of its lowest layer to
        // that of its highest, within half a layer.
        let volume = fluid.len() as f32 * FINE.powi(3) / 2.0f32.sqrt();
        let highest = p.position[fluid].iter().map(|x| x.y).fold(f32::NEG_INFINITY, f32::max);
        let expected = volume / 0.04 - FINE;
        assert!((highest - lowest(&world, 1) - expected).abs() < RADIUS, "{settings:?}: {highest} {expected}");
    }
}

#[test]
fn a_grain_in_a_concave_corner_touches_all_sides_and_rests() {
    let mut world = world(Material { damping: 0.5, ..elastic(1.0e6, 0.3) }, Vec3::new(4.0, -9.0, 5.0))
        .with_body(bowl(explicit()).0.fixed_where(|_| true))
        .with_body(grain("grain", Vec3::new(0.06, 0.0, 0.05)));
    run_frames(&mut world, 45);
    let corner = Vec3::new(0.1 - RADIUS, -0.05 + RADIUS, 0.1 - RADIUS);
    let error = (mean_position(&world, 1) - corner).abs().max_element();
    assert!(error < 0.01 * RADIUS, "{error}");
    assert!(mean_velocity(&world, 1).length() < 1e-4, "{}", mean_velocity(&world, 1));
}

#[test]
fn a_grain_that_starts_inside_leaves_by_the_nearest_face() {
    let mut world = world_without_gravity(elastic(1.0e6, 0.3)).with_body(table([4, 2, 4], explicit()));
    let start = Vec3::new(0.023, 0.07, -0.041);
    world.add_body(grain("grain", start)).unwrap();
    run_frames(&mut world, 30);
    let displacement = mean_position(&world, 1) - start;
    // 20 radii per second take it out within 0.2 s, and there the reaction ends.
    assert!(displacement.x.abs().max(displacement.z.abs()) < 0.1 * RADIUS, "{displacement}");
    assert!(displacement.y > 0.03 + 0.9 * RADIUS, "{displacement}");
}

#[test]
fn a_grain_rebounds_from_a_face_by_its_restitution() {
    let mut world = world(Material { restitution: 0.5, ..elastic(1.0e5, 0.3) }, DOWN)
        .with_body(table([2, 2, 2], explicit()).fixed_where(|_| true))
        .with_body(grain("grain", Vec3::new(0.012, 0.1 + RADIUS + 0.2, 0.031)));
    let (mut bounced, mut highest) = (false, 0.0f32);
    for _ in 0..700 {
        run_steps(&mut world, 5e-4, 1);
        bounced |= mean_velocity(&world, 1).y > 0.0;
        highest = if bounced { highest.max(lowest(&world, 1) - 0.1 - RADIUS) } else { 0.0 };
    }
    // The rebound is up to a step early, 2 m/s times half a millisecond above the face.
    assert!((highest - 0.25 * 0.2).abs() < 0.002, "{highest}");
}

#[test]
fn heat_flows_from_a_particle_into_the_nodes_of_a_face() {
    let heat =
        ThermalProperties { specific_heat: 1000.0, conductivity: Vec3::splat(2.0), ..ThermalProperties::default() };
    let mut world =
        world_without_gravity(Material { heat, ..elastic(1.0e5, 0.3) }).with_body(table([2, 2, 2], explicit()));
    let position = Vec3::new(0.02, 0.1 + RADIUS, 0.013);
    world.add_body(NewBody { temperature: 100.0, ..grain("grain", position) }).unwrap();
    let before = [0, 1].map(|body| heat_of(&world, body));
    run_steps(&mut world, 1e-5, 1);
    let after = [0, 1].map(|body| heat_of(&world, body));
    // Through half of its cell, and the contact conductance.
    let area = f64::from(FINE * FINE);
    let film = 1.0 / (f64::from(world.settings().contact_conductance) * area);
    let conductance = 1.0 / (f64::from(RADIUS) / (2.0 * area) + film);
    let expected = conductance * 100.0 * 1e-5;
    // Conductances and weights in f32; temperatures hardly change in 10 us.
    assert!(((after[0] - before[0]) / expected - 1.0).abs() < 1e-3, "{} of {expected}", after[0] - before[0]);
    assert!(((before[1] - after[1]) / expected - 1.0).abs() < 1e-3, "{} of {expected}", before[1] - after[1]);
}

#[test]
fn contact_with_other_models_is_bitwise_equal_for_any_threads_and_after_resuming() {
    for settings in [explicit(), implicit()] {
        let start = || {
            let mut world = world(Material { damping: 0.1, ..elastic(1.0e5, 0.3) }, DOWN)
                .with_body(bowl(settings.clone()).0)
                .with_body(packed("fluid", Vec3::new(0.16, 0.04, 0.16), FINE, Phase::Fluid, Vec3::Y * -0.015));
            cubes(0.14).into_iter().for_each(|new| _ = world.add_body(new).unwrap());
            world
        };
        assert_reproducible(start, (9, 4), |world, _| run_frames(world, 1), World::state_hash);
    }
}
