//! Dynamics: forces, integration schemes, conservation, inverted starts, resuming.

use crate::common::determinism::assert_reproducible;
use crate::common::motion::*;
use crate::common::{
    BodyFixture, DOWN, Lcg, WorldFixture, elastic, floor, max_strain, mean_position, mean_velocity, momentum,
    run_steps, select, size, world, world_without_gravity,
};
use crate::{block, explicit, implicit, single_element, with_integration};
use glam::{DVec3, Quat, Vec3};
use phyxel::World;
use phyxel::body::{NewBody, Pose};
use phyxel::commands::{Command, Region};
use phyxel::material::{Friction, HeatFromWork, Material, Plasticity, ThermalProperties};
use phyxel::model::TetraSettings;
use phyxel::model::continuum::Integration;

/// Blocks of these counts of cells, by their integration.
fn blocks(counts: [u32; 3]) -> impl Fn(Integration) -> NewBody {
    move |integration| block(counts, 0.1, with_integration(integration))
}

#[test]
fn nodal_masses_are_lumped_from_elements() {
    let world = world_without_gravity(elastic(1.0e5, 0.3)).with_body(block([3, 2, 2], 0.1, TetraSettings::default()));
    let frame = world.frame();
    // 12 litres of density 1000; jitter displaces inner nodes only. Sums of f32.
    assert!((frame.totals.mass - 12.0).abs() < 1e-4, "{}", frame.totals.mass);
    let report = frame.bodies[0].report.tetrahedra.unwrap();
    // Four for each of 20 inner faces, two for each of 32 outer ones.
    assert_eq!((report.count, report.inverted), (144, 0));
    assert!(report.min_dihedral > 20.0 && report.max_dihedral < 150.0, "{report:?}");
    assert_eq!(frame.bodies[0].report.pieces, 1);
}

#[test]
fn forces_are_the_negative_energy_gradient() {
    // Lcg starts about a rotated rest shape; finite differences of energy against velocities after a
    // tiny step.
    let mut random = Lcg(3);
    let mut body = block([2, 2, 1], 0.5, explicit());
    body.pose.rotation = Quat::from_rotation_y(1.0) * Quat::from_rotation_x(-0.4);
    let start: Vec<Vec3> = body.samples.iter().map(|x| *x + random.next_vector(0.08)).collect();
    let at = |start: Vec<Vec3>| {
        let mut world = world_without_gravity(elastic(1.0e3, 0.3));
        let mut body = body.clone();
        body.start = Some(start);
        world.add_body(body).unwrap();
        world
    };
    let mut stepped = at(start.clone());
    let dt = 1e-5;
    run_steps(&mut stepped, dt, 1);
    let particles = stepped.particles();
    let force = |i: usize| particles.velocity[i].as_dvec3() * f64::from(particles.mass[i]) / f64::from(dt);
    let largest = (0..start.len()).map(|i| force(i).length()).fold(0.0, f64::max);
    for i in (0..start.len()).step_by(3) {
        for axis in Vec3::AXES {
            let direction = body.pose.rotation * axis;
            let energy = |side: f32| {
                let mut displaced = start.clone();
                displaced[i] += side * 0.004 * axis;
                at(displaced).frame().totals.energy.elastic
            };
            let gradient = (energy(1.0) - energy(-1.0)) / 0.008;
            // Energies of 10 J have six digits, over 0.008 m: 1e-3 N. The third derivative, by rotation,
            // adds about (0.004/0.5)^2.
            let found = force(i).dot(direction.as_dvec3());
            assert!((found + gradient).abs() < 2e-3 * largest, "node {i}: {found} and {gradient} of {largest}");
        }
    }
}

#[test]
fn rigid_body_motion_causes_no_force() {
    let mut body = block([3, 3, 3], 0.1, explicit());
    body.pose =
        Pose { position: Vec3::new(0.3, -0.2, 0.5), rotation: Quat::from_rotation_z(2.5) * Quat::from_rotation_x(1.0) };
    let mut world = world_without_gravity(elastic(1.0e5, 0.3)).with_body(body);
    let dt = world.stable_step() as f32;
    run_steps(&mut world, dt, 1);
    // Positions of 1 m are rounded to 6e-8, a strain of 1e-6: in a step a hundredth of it becomes
    // velocity, 1e-6 of 10 m/s.
    assert!(world.particles().velocity.iter().all(|v| v.length() < 3e-5));
    assert!(max_strain(&world, 0) < 1e-5);
}

#[test]
fn explicit_and_implicit_steps_agree_when_they_are_short() {
    assert_integrations_agree(blocks([6, 3, 3]), 0.6, 1600);
}

#[test]
fn explicit_motion_conserves_energy_and_implicit_motion_dissipates_it() {
    assert_energy_is_conserved_or_dissipated(blocks([6, 3, 3]), 20);
}

#[test]
fn free_motion_conserves_momentum_and_angular_momentum() {
    assert_free_motion_conserves_momenta(blocks([4, 3, 2]));
}

#[test]
fn iterations_do_not_grow_with_stiffness_and_momentum_is_conserved() {
    for young in [1.0e5, 1.0e8, 2.0e11] {
        let mut body = block([16, 6, 6], 0.05, implicit());
        (body.velocity, body.spin) = (Vec3::new(2.0, 0.0, -1.0), Vec3::new(0.3, 1.0, 3.0));
        let mut world = world_without_gravity(elastic(young, 0.3)).with_body(body);
        let before = momentum(&world);
        run_steps(&mut world, 1.0 / 60.0, 10);
        // Block Jacobi alone takes from 50 iterations to hundreds.
        let iterations = world.frame().bodies[0].report.solver_iterations.unwrap();
        assert!(iterations < 40.0, "{young}: {iterations}");
        // Ten steps round velocities by up to 6e-8. They also round forces: a rotation by 0.05 strains
        // elements by half its square, which causes nodal forces of 3e-6 young N, rounded to 2e-13 young;
        // times dt, for 1000 nodes of ten corners, ten times, at random, over a momentum of 160 kg m/s.
        let rounding = 6e-7 + 6e-15 * f64::from(young);
        let error = (momentum(&world) - before).length() / before.length();
        assert!(error < rounding, "{young}: {error}");
    }
}

#[test]
fn a_single_element_keeps_its_spin_in_long_steps() {
    let mut body = single_element(implicit());
    (body.velocity, body.spin) = (Vec3::new(0.5, 0.0, -0.2), Vec3::new(9.0, -8.0, 9.0));
    let mut world = world_without_gravity(elastic(1.0e5, 0.3)).with_body(body);
    let spin = |world: &World| -> DVec3 {
        let particles = world.particles();
        let nodes = || {
            (0..particles.len()).map(|i| (f64::from(particles.mass[i]), particles.position[i], particles.velocity[i]))
        };
        let mass: f64 = nodes().map(|(m, ..)| m).sum();
        let centre = nodes().map(|(m, x, _)| m * x.as_dvec3()).sum::<DVec3>() / mass;
        nodes().map(|(m, x, v)| m * (x.as_dvec3() - centre).cross(v.as_dvec3())).sum()
    };
    let before = spin(&world);
    run_steps(&mut world, 1.0 / 60.0, 200);
    // A step rotates the element by a quarter of a radian, which strains it by half the square. The
    // forces of that are rounded to 1e-7, a torque of up to a millionth of its spin in a step.
    let error = (spin(&world) - before).length() / before.length();
    assert!(error < 2e-4, "{error}");
    assert!(max_strain(&world, 0) < 0.05, "{}", max_strain(&world, 0));
}

#[test]
fn the_stable_step_is_stable_and_twice_of_it_is_not() {
    // A single element attains the bound: nothing around it constrains it.
    let strained_element =
        || world_without_gravity(elastic(1.0e5, 0.4)).with_body(single_element(explicit()).deformed(|x| x * 1.001));
    let mut world = strained_element();
    let dt = world.stable_step() as f32;
    run_steps(&mut world, dt, 2000);
    assert!(max_strain(&world, 0) < 0.01, "{}", max_strain(&world, 0));
    // The limit is 1/0.8 of it.
    let mut world = strained_element();
    // A mode with w dt = 3.2 grows eightfold in every step.
    run_steps(&mut world, 2.0 * dt, 6);
    assert!(max_strain(&world, 0) > 0.1);
}

#[test]
fn an_inverted_body_recovers() {
    for integration in BOTH {
        let mut random = Lcg(8);
        let inverted =
            blocks([3, 2, 2])(integration).deformed(|x| x * Vec3::new(1.0, 1.0, -1.0) + random.next_vector(0.002));
        let mut world = world_without_gravity(Material { damping: 0.3, ..elastic(1.0e5, 0.3) }).with_body(inverted);
        assert_eq!(world.frame().bodies[0].report.tetrahedra.unwrap().inverted, 144);
        let dt = if integration == Integration::Implicit { 2e-3 } else { world.stable_step() as f32 };
        let steps = (6.0 / dt) as usize;
        run_steps(&mut world, dt, steps);
        let report = world.frame().bodies[0].report.clone();
        assert_eq!(report.tetrahedra.unwrap().inverted, 0, "{integration:?}");
        // Many times the longest period, 0.06 s, damped by 0.3 of critical: only rounding remains.
        assert!(report.strain_max < 1e-3, "{integration:?}: {}", report.strain_max);
    }
}

#[test]
fn a_stiff_body_falls_and_rests_with_steps_of_a_hundredth_of_a_second() {
    // The floor is part of the solution. Otherwise the lowest nodes, a twentieth of the mass, would carry
    // the body by moving 20 g dt^2 = 0.02 m ahead of the centres of cells, 0.05 m above: a strain of 0.4.
    // Friction may hold nodes that should slide until strains vanish: up to 0.6 of that, the friction
    // coefficient.
    assert_rests_after_fall(block([5, 5, 5], 0.1, implicit()), 500, 0.24, 0.01);
}

#[test]
fn friction_holds_a_stiff_block_on_a_slope_and_lets_it_slide_on_a_steeper_one() {
    // A floor, and inclined gravity: tan 20 degrees is 0.36, tan 40 degrees 0.84.
    for (degrees, slides) in [(20.0f32, false), (40.0, true)] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let mut world = world(elastic(1.0e7, 0.3), Vec3::new(9.81 * sin, -9.81 * cos, 0.0))
            .with_body(block([3, 3, 3], 0.1, implicit()).at(0.153 * Vec3::Y))
            .with_obstacle(floor(Friction { r#static: 0.6, kinetic: 0.6 }, 0.0));
        run_steps(&mut world, 0.001, 1000);
        let travelled = mean_position(&world, 0).x;
        // Down the slope with g (sin - 0.6 cos) for a second.
        let expected = if slides { 0.5 * 9.81 * (sin - 0.6 * cos) } else { 0.0 };
        // At rest it creeps by less than a millimetre; while it slides, friction is updated when it is
        // off by a twentieth of the impulses, up or down, which is 0.11 m in a second at worst.
        assert!(
            (travelled - expected).abs() < if slides { 0.05 } else { 0.01 },
            "{degrees} degrees: {travelled} m, {expected} m expected"
        );
    }
}

#[test]
fn automatic_integration_is_explicit_for_soft_and_implicit_for_stiff_bodies() {
    assert_integration_follows_stiffness(&block([3, 3, 3], 0.1, TetraSettings::default()));
}

#[test]
fn mass_damping_slows_a_body_at_its_rate() {
    for integration in BOTH {
        let mut body = block([2, 2, 2], 0.1, TetraSettings { mass_damping: 2.0, ..with_integration(integration) });
        body.velocity = Vec3::X;
        let mut world = world_without_gravity(elastic(1.0e5, 0.3)).with_body(body);
        run_steps(&mut world, 1e-3, 500);
        let speed = mean_velocity(&world, 0).x;
        // exp(-1); backward Euler has (1 + 0.002)^-500, a thousandth more.
        assert!((speed / (-1.0f32).exp() - 1.0).abs() < 2e-3, "{integration:?}: {speed}");
    }
}

#[test]
fn a_bar_stretched_beyond_yield_stays_longer() {
    for integration in BOTH {
        let law = Plasticity { yield_strain: 0.05.into(), creep: 20.0, max: 1.0 };
        let bar = blocks([4, 2, 2])(integration).deformed(|x| x * Vec3::new(1.2, 1.0, 1.0));
        let ends = select(&bar.samples, |x| x.x.abs() > 0.19);
        let from_work = HeatFromWork { plastic: 1.0, ..HeatFromWork::default() };
        let heat = ThermalProperties { from_work, ..ThermalProperties::default() };
        let material = Material { plasticity: Some(law), heat, damping: 0.3, ..elastic(1.0e5, 0.0) };
        let mut world = world_without_gravity(material).with_body(NewBody { held: ends.clone(), ..bar });
        run_steps(&mut world, 5e-4, 1000);
        world.apply(Command::Hold { body: "body".into(), region: Region::Ids(ends), on: false }).unwrap();
        run_steps(&mut world, 5e-4, 2000);
        // Of a strain of 0.2 the excess over 0.05 has flowed, and a hundredth more, as every step takes
        // the same fraction of the remainder.
        let stretch = size(&world)[0] / 0.4 - 1.0;
        assert!((0.14..0.165).contains(&stretch), "{integration:?}: {stretch}");
        let totals = world.frame().totals;
        // Stress falls from 0.2 to 0.05 of Young's modulus while 0.15 flows: 0.125 x 0.15 x 1e5 Pa x
        // 0.016 m3 = 30 J.
        assert!((25.0..35.0).contains(&totals.energy.heat), "{integration:?}: {} J", totals.energy.heat);
    }
}

/// Two blocks that fall, yield and are heated.
fn busy_world(integration: Integration) -> World {
    let heat = ThermalProperties {
        conductivity: Vec3::splat(5.0),
        specific_heat: 100.0,
        softening: Some(5.0),
        melting: Some(100.0),
        expansion: 1e-3,
        from_work: HeatFromWork { plastic: 0.5, friction: 0.5, damping: 0.5 },
        ..ThermalProperties::default()
    };
    let mut hot_floor = floor(Friction::default(), 0.0);
    hot_floor.temperature = Some(60.0);
    let mut world = world(Material { heat, damping: 0.1, ..elastic(2.0e4, 0.3) }, DOWN).with_obstacle(hot_floor);
    for (name, height) in [("body", 0.45), ("other", 1.2)] {
        let body = blocks([6, 6, 6])(integration).at(height * Vec3::Y);
        world.add_body(NewBody { name: name.into(), temperature: 10.0, ..body }).unwrap();
    }
    let region = Region::Ids((0..72).collect());
    world.apply(Command::Warm { body: "body".into(), region, temperature: 30.0 }).unwrap();
    world
}

#[test]
fn results_are_bitwise_equal_for_any_threads_and_after_resuming() {
    for integration in BOTH {
        let advance = |world: &mut World, _| _ = world.advance_frame().unwrap();
        assert_reproducible(|| busy_world(integration), (8, 4), advance, World::state_hash);
    }
}

#[test]
fn unstable_steps_are_refused_with_the_stable_one() {
    // Waves of sqrt(1.35e6/1000) = 37 m/s take 1.4 ms from the centre of a cell to the next corner.
    assert_unstable_steps_are_refused(&block([4, 4, 4], 0.1, explicit()), [2e-4, 3e-3]);
}

#[test]
fn a_dragged_body_hangs_from_its_target_and_falls_when_released() {
    assert_hangs_from_drag(blocks([2, 2, 2]));
}

#[test]
fn bodies_continue_when_an_earlier_one_is_removed() {
    let mut world = world_without_gravity(elastic(1.0e5, 0.3));
    for (name, at) in [("first", -1.0), ("body", 1.0)] {
        let body = block([3, 2, 2], 0.1, explicit()).deformed(|x| x * Vec3::new(1.1, 1.0, 1.0)).at(at * Vec3::X);
        world.add_body(NewBody { name: name.into(), ..body }).unwrap();
    }
    let mut serial = world.clone();
    run_steps(&mut serial, 5e-4, 20);
    world.apply(Command::Remove { body: "first".into() }).unwrap();
    run_steps(&mut world, 5e-4, 20);
    let range = serial.bodies()[1].range();
    assert_eq!(&serial.particles().position[range], &world.particles().position[..]);
}
