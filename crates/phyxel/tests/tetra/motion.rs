//! Dynamics: forces, integration schemes, conservation, inverted starts, resuming.

use crate::common::{DOWN, Lcg, floor, mean_position, run_steps, world, world_without_gravity};
use crate::{block, elastic};
use glam::{DVec3, Quat, Vec3};
use phyxel::body::Pose;
use phyxel::checkpoint::{decode, encode};
use phyxel::commands::{Command, Drag, Region};
use phyxel::material::{Friction, HeatFromWork, Material, Plasticity, ThermalProperties};
use phyxel::model::TetraSettings;
use phyxel::model::continuum::Integration;
use phyxel::step::{StageTimes, step};
use phyxel::{Settings, StepError, World, parallel};

fn with_integration(integration: Integration) -> TetraSettings {
    TetraSettings { integration, ..TetraSettings::default() }
}

const BOTH: [Integration; 2] = [Integration::Explicit, Integration::Implicit];

fn energy(world: &World) -> f64 {
    let energy = world.frame().totals.energy;
    energy.kinetic + energy.elastic + energy.gravity
}

/// Block that is released from a strain of a tenth.
fn released_block(integration: Integration) -> World {
    let mut body = block([6, 3, 3], 0.1, with_integration(integration));
    body.start = Some(body.samples.iter().map(|x| *x * Vec3::new(1.1, 1.0, 1.0)).collect());
    let mut world = world_without_gravity(elastic(1.0e5, 0.3));
    world.add_body(body).unwrap();
    world
}

fn momentum(world: &World) -> DVec3 {
    world.frame().totals.momentum.into()
}

fn length(world: &World) -> f64 {
    let [low, high] = world.frame().bodies[0].report.bounds;
    high[0] - low[0]
}

#[test]
fn nodal_masses_are_lumped_from_elements() {
    let mut world = world_without_gravity(elastic(1.0e5, 0.3));
    world.add_body(block([3, 2, 2], 0.1, TetraSettings::default())).unwrap();
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
    let mut body = block([2, 2, 1], 0.5, with_integration(Integration::Explicit));
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
    let mut body = block([3, 3, 3], 0.1, with_integration(Integration::Explicit));
    body.pose =
        Pose { position: Vec3::new(0.3, -0.2, 0.5), rotation: Quat::from_rotation_z(2.5) * Quat::from_rotation_x(1.0) };
    let mut world = world_without_gravity(elastic(1.0e5, 0.3));
    world.add_body(body).unwrap();
    let dt = world.stable_step() as f32;
    run_steps(&mut world, dt, 1);
    // Positions of 1 m are rounded to 6e-8, a strain of 1e-6: in a step a hundredth of it becomes
    // velocity, 1e-6 of 10 m/s.
    assert!(world.particles().velocity.iter().all(|v| v.length() < 3e-5));
    assert!(world.frame().bodies[0].report.strain_max < 1e-5);
}

#[test]
fn explicit_and_implicit_steps_agree_when_they_are_short() {
    let [mut explicit, mut implicit] = BOTH.map(released_block);
    let period = 2.0 * 0.6 / (1.0e5f64 / 1000.0).sqrt();
    let steps = 1600;
    let dt = (0.5 * period / f64::from(steps)) as f32;
    let (mut amplitude, mut difference) = (0.0f64, 0.0f64);
    for k in 0..steps {
        run_steps(&mut explicit, dt, 1);
        run_steps(&mut implicit, dt, 1);
        if k % 100 == 0 {
            let [a, b] = [&explicit, &implicit].map(length);
            amplitude = amplitude.max((a - 0.6).abs());
            difference = difference.max((a - b).abs());
        }
    }
    // Backward Euler damps an oscillation by exp(-w^2 dt t/2): with w dt = pi/1600 by 0.3 % over half a
    // period, and higher frequencies by more; the amplitude is 0.06 m.
    assert!(amplitude > 0.05 && difference < 0.03 * 0.06, "{amplitude} and {difference}");
}

#[test]
fn explicit_motion_conserves_energy_and_implicit_motion_dissipates_it() {
    let [mut explicit, mut implicit] = BOTH.map(released_block);
    let first = energy(&explicit);
    // Velocities are staggered by half a step: the sum of the energies oscillates by a fraction w dt/2,
    // up to 0.08 for the shortest waves and much less for most.
    let dt = (0.1 * explicit.stable_step()) as f32;
    for _ in 0..20 {
        run_steps(&mut explicit, dt, 500);
        assert!((energy(&explicit) / first - 1.0).abs() < 0.03, "{} of {first}", energy(&explicit));
    }
    let mut before = first;
    for _ in 0..10 {
        run_steps(&mut implicit, 0.01, 10);
        assert!(energy(&implicit) < before * (1.0 + 1e-4));
        before = energy(&implicit);
    }
    assert!(before < 0.1 * first);
}

#[test]
fn free_motion_conserves_momentum_and_angular_momentum() {
    for integration in BOTH {
        let mut body = block([4, 3, 2], 0.1, with_integration(integration));
        (body.velocity, body.spin) = (Vec3::new(1.0, -2.0, 0.5), Vec3::new(3.0, 1.0, -2.0));
        let mut world = world_without_gravity(Material { damping: 0.1, ..elastic(1.0e5, 0.3) });
        world.add_body(body).unwrap();
        let first = world.frame().totals;
        run_steps(&mut world, 5e-4, 400);
        let last = world.frame().totals;
        let error = |a: [f64; 3], b: [f64; 3]| (DVec3::from(a) - DVec3::from(b)).length() / DVec3::from(a).length();
        // 400 steps of rounding, 6e-8 of a velocity each; conjugate gradients stop at 1e-4 of the
        // right-hand side, with a residual that has no resultant.
        assert!(error(first.momentum, last.momentum) < 1e-5, "{integration:?}");
        let tolerance = if integration == Integration::Explicit { 1e-4 } else { 0.05 };
        // Backward Euler dissipates the angular momentum of motion that it does not resolve: a rotation
        // by w dt = 1.9e-3 in a step contracts by half its square, 400 times, about 1e-3, and the
        // relaxation of the ends reduces the spin.
        let change = error(first.angular_momentum, last.angular_momentum);
        assert!(change < tolerance, "{integration:?}: {change}");
    }
}

#[test]
fn iterations_do_not_grow_with_stiffness_and_momentum_is_conserved() {
    for young in [1.0e5, 1.0e8, 2.0e11] {
        let mut body = block([16, 6, 6], 0.05, with_integration(Integration::Implicit));
        (body.velocity, body.spin) = (Vec3::new(2.0, 0.0, -1.0), Vec3::new(0.3, 1.0, 3.0));
        let mut world = world_without_gravity(elastic(young, 0.3));
        world.add_body(body).unwrap();
        let before = momentum(&world);
        for _ in 0..10 {
            step(&mut world, 1.0 / 60.0, &mut StageTimes::default()).unwrap();
        }
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
    let nodes = vec![Vec3::ZERO, 0.1 * Vec3::X, 0.1 * Vec3::Y, 0.1 * Vec3::Z];
    let mut body =
        crate::Mesh { nodes, elements: vec![[0, 1, 2, 3]] }.body(0.1, with_integration(Integration::Implicit));
    (body.velocity, body.spin) = (Vec3::new(0.5, 0.0, -0.2), Vec3::new(9.0, -8.0, 9.0));
    let mut world = world_without_gravity(elastic(1.0e5, 0.3));
    world.add_body(body).unwrap();
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
    let strain = world.frame().bodies[0].report.strain_max;
    assert!(strain < 0.05, "{strain}");
}

#[test]
fn the_stable_step_is_stable_and_twice_of_it_is_not() {
    // A single element attains the bound: nothing around it constrains it.
    let single_element = || {
        let nodes = vec![Vec3::ZERO, 0.1 * Vec3::X, 0.1 * Vec3::Y, 0.1 * Vec3::Z];
        let mesh = crate::Mesh { nodes, elements: vec![[0, 1, 2, 3]] };
        let mut body = mesh.body(0.1, with_integration(Integration::Explicit));
        body.start = Some(body.samples.iter().map(|x| *x * 1.001).collect());
        let mut world = world_without_gravity(elastic(1.0e5, 0.4));
        world.add_body(body).unwrap();
        world
    };
    let mut world = single_element();
    let dt = world.stable_step() as f32;
    run_steps(&mut world, dt, 2000);
    assert!(world.frame().bodies[0].report.strain_max < 0.01, "{}", world.frame().bodies[0].report.strain_max);
    // The limit is 1/0.8 of it.
    let mut world = single_element();
    // A mode with w dt = 3.2 grows eightfold in every step.
    run_steps(&mut world, 2.0 * dt, 6);
    assert!(world.frame().bodies[0].report.strain_max > 0.1);
}

#[test]
fn an_inverted_body_recovers() {
    for integration in BOTH {
        let mut random = Lcg(8);
        let mut body = block([3, 2, 2], 0.1, with_integration(integration));
        let inverted = body.samples.iter().map(|x| *x * Vec3::new(1.0, 1.0, -1.0) + random.next_vector(0.002));
        body.start = Some(inverted.collect());
        let mut world = world_without_gravity(Material { damping: 0.3, ..elastic(1.0e5, 0.3) });
        world.add_body(body).unwrap();
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
    let mut body = block([5, 5, 5], 0.1, with_integration(Integration::Implicit));
    body.pose =
        Pose { position: Vec3::new(0.0, 1.0, 0.0), rotation: Quat::from_rotation_x(0.3) * Quat::from_rotation_z(0.5) };
    let mut world = world(elastic(1.0e8, 0.3), DOWN);
    world.add_body(body).unwrap();
    world.add_obstacle(floor(Friction::default(), 0.0)).unwrap();
    for _ in 0..500 {
        run_steps(&mut world, 0.01, 1);
        let report = &world.frame().bodies[0].report;
        assert!(report.bounds[0][1] > -0.1 && report.bounds[1][1] < 2.0, "{:?}", report.bounds);
    }
    let report = world.frame().bodies[0].report.clone();
    // The floor is part of the solution. Otherwise the lowest nodes, a twentieth of the mass, would carry
    // the body by moving 20 g dt^2 = 0.02 m ahead of the centres of cells, 0.05 m above: a strain of 0.4.
    // Friction may hold nodes that should slide until strains vanish: up to 0.6 of that, the friction
    // coefficient.
    assert!(report.strain_max < 0.24, "{}", report.strain_max);
    assert!(report.velocity.iter().all(|v| v.abs() < 0.01), "{:?}", report.velocity);
    let iterations = report.solver_iterations.unwrap();
    assert!(iterations > 1.0 && iterations < 400.0, "{iterations}");
}

#[test]
fn friction_holds_a_stiff_block_on_a_slope_and_lets_it_slide_on_a_steeper_one() {
    // A floor, and inclined gravity: tan 20 degrees is 0.36, tan 40 degrees 0.84.
    for (degrees, slides) in [(20.0f32, false), (40.0, true)] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let mut body = block([3, 3, 3], 0.1, with_integration(Integration::Implicit));
        body.pose.position = Vec3::new(0.0, 0.153, 0.0);
        let mut world = world(elastic(1.0e7, 0.3), Vec3::new(9.81 * sin, -9.81 * cos, 0.0));
        world.add_body(body).unwrap();
        world.add_obstacle(floor(Friction { r#static: 0.6, kinetic: 0.6 }, 0.0)).unwrap();
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
    for (young, implicit) in [(1.0e5, false), (1.0e10, true)] {
        let mut world = world_without_gravity(elastic(young, 0.3));
        world.add_body(block([3, 3, 3], 0.1, TetraSettings::default())).unwrap();
        run_steps(&mut world, 1e-4, 1);
        assert_eq!(world.frame().bodies[0].report.solver_iterations.is_some(), implicit, "{young}");
    }
}

#[test]
fn mass_damping_slows_a_body_at_its_rate() {
    for integration in BOTH {
        let mut body = block([2, 2, 2], 0.1, TetraSettings { mass_damping: 2.0, ..with_integration(integration) });
        body.velocity = Vec3::X;
        let mut world = world_without_gravity(elastic(1.0e5, 0.3));
        world.add_body(body).unwrap();
        run_steps(&mut world, 1e-3, 500);
        let speed = crate::common::mean_velocity(&world, 0).x;
        // exp(-1); backward Euler has (1 + 0.002)^-500, a thousandth more.
        assert!((speed / (-1.0f32).exp() - 1.0).abs() < 2e-3, "{integration:?}: {speed}");
    }
}

#[test]
fn a_bar_stretched_beyond_yield_stays_longer() {
    for integration in BOTH {
        let law = Plasticity { yield_strain: 0.05.into(), creep: 20.0, max: 1.0 };
        let mut body = block([4, 2, 2], 0.1, with_integration(integration));
        let samples = body.samples.clone();
        body.start = Some(samples.iter().map(|x| *x * Vec3::new(1.2, 1.0, 1.0)).collect());
        let ends: Vec<u32> = (0..samples.len() as u32).filter(|i| samples[*i as usize].x.abs() > 0.19).collect();
        body.held = ends.clone();
        let from_work = HeatFromWork { plastic: 1.0, ..HeatFromWork::default() };
        let heat = ThermalProperties { from_work, ..ThermalProperties::default() };
        let mut world =
            world_without_gravity(Material { plasticity: Some(law), heat, damping: 0.3, ..elastic(1.0e5, 0.0) });
        world.add_body(body).unwrap();
        run_steps(&mut world, 5e-4, 1000);
        world.apply(Command::Hold { body: "body".into(), region: Region::Ids(ends), on: false }).unwrap();
        run_steps(&mut world, 5e-4, 2000);
        // Of a strain of 0.2 the excess over 0.05 has flowed, and a hundredth more, as every step takes
        // the same fraction of the remainder.
        let stretch = length(&world) / 0.4 - 1.0;
        assert!((0.14..0.165).contains(&stretch), "{integration:?}: {stretch}");
        let totals = world.frame().totals;
        // Stress falls from 0.2 to 0.05 of Young's modulus while 0.15 flows: 0.125 x 0.15 x 1e5 Pa x
        // 0.016 m3 = 30 J.
        assert!((25.0..35.0).contains(&totals.energy.heat), "{integration:?}: {} J", totals.energy.heat);
    }
}

/// State hash of a run with fall, yield and heat, for a number of threads.
fn busy_run_hash(threads: usize, resumed: bool, integration: Integration) -> String {
    let heat = ThermalProperties {
        conductivity: Vec3::splat(5.0),
        specific_heat: 100.0,
        softening: Some(5.0),
        melting: Some(100.0),
        expansion: 1e-3,
        from_work: HeatFromWork { plastic: 0.5, friction: 0.5, damping: 0.5 },
        ..ThermalProperties::default()
    };
    let material = Material { heat, damping: 0.1, ..elastic(2.0e4, 0.3) };
    let mut hot_floor = floor(Friction::default(), 0.0);
    hot_floor.temperature = Some(60.0);
    parallel::with_threads(Some(threads), || {
        let mut world = world(material, DOWN);
        for (name, height) in [("body", 0.45), ("other", 1.2)] {
            let mut body = block([6, 6, 6], 0.1, with_integration(integration));
            (body.name, body.pose.position, body.temperature) = (name.into(), Vec3::new(0.0, height, 0.0), 10.0);
            world.add_body(body).unwrap();
        }
        world.add_obstacle(hot_floor).unwrap();
        let region = Region::Ids((0..72).collect());
        world.apply(Command::Warm { body: "body".into(), region, temperature: 30.0 }).unwrap();
        for k in 0..8 {
            if resumed && k % 4 == 2 {
                world = decode(&encode(&world)).unwrap();
            }
            world.advance_frame().unwrap();
        }
        world.state_hash()
    })
}

#[test]
fn results_are_bitwise_equal_for_any_threads_and_after_resuming() {
    for integration in BOTH {
        let serial = busy_run_hash(1, false, integration);
        assert_eq!(serial, busy_run_hash(2, false, integration));
        assert_eq!(serial, busy_run_hash(8, false, integration));
        assert_eq!(serial, busy_run_hash(2, true, integration));
    }
}

#[test]
fn unstable_steps_are_refused_with_the_stable_one() {
    let mut world = world_without_gravity(elastic(1.0e6, 0.3));
    world.add_body(block([4, 4, 4], 0.1, with_integration(Integration::Explicit))).unwrap();
    let stable = world.stable_step();
    // Waves of sqrt(1.35e6/1000) = 37 m/s take 1.4 ms from the centre of a cell to the next corner.
    assert!(stable > 2e-4 && stable < 3e-3, "{stable}");
    step(&mut world, stable as f32, &mut StageTimes::default()).unwrap();
    let mut fixed = World::new(Settings { substeps: Some(2), ..Settings::default() }).unwrap();
    fixed.add_material(elastic(1.0e6, 0.3)).unwrap();
    fixed.add_body(block([4, 4, 4], 0.1, with_integration(Integration::Explicit))).unwrap();
    match fixed.advance_frame() {
        Err(StepError::TooStiff { stable: reported, allowed, needed, .. }) => {
            assert!((reported / stable - 1.0).abs() < 1e-6 && allowed == 2, "{reported} of {stable}, {allowed}");
            assert!(f64::from(needed) >= 1.0 / (30.0 * stable), "{needed}");
        }
        other => panic!("steps of 17 ms are too long, but {other:?}"),
    }
}

#[test]
fn a_dragged_body_hangs_from_its_target_and_falls_when_released() {
    for integration in BOTH {
        let mut world = world(Material { damping: 20.0, ..elastic(1.0e6, 0.3) }, DOWN);
        let body = block([2, 2, 2], 0.1, with_integration(integration));
        // The centre of the upper face; on a spring of its mass over (0.1 s)^2 the body hangs g (0.1 s)^2
        // below the target.
        let (tau, to) = (0.1, Vec3::new(0.0, 0.5, 0.0));
        let sample = body.samples.iter().position(|x| x.distance(Vec3::new(0.0, 0.1, 0.0)) < 1e-3).unwrap() as u32;
        world.add_body(body).unwrap();
        world
            .apply(Command::Drag(Drag { body: "body".into(), particle: sample, target: to, tau, max_force: 1.0e4 }))
            .unwrap();
        let dt = (0.5 * world.stable_step()).min(0.002) as f32;
        let steps = (3.0 / dt) as usize;
        run_steps(&mut world, dt, steps);
        let found = world.particles().position[sample as usize];
        let expected = to + DOWN * tau * tau;
        // After thirty times tau the oscillation is below rounding; positions have seven digits.
        assert!(found.distance(expected) < 1e-4, "{integration:?}: {found}, {expected} expected");
        world.apply(Command::Release { body: "body".into() }).unwrap();
        let (before, steps) = (mean_position(&world, 0), (0.2 / dt) as usize);
        run_steps(&mut world, dt, steps);
        // Symplectic Euler advances velocity first: dt t g/2 more than t^2 g/2.
        let time = steps as f32 * dt;
        let fallen = before.y - mean_position(&world, 0).y;
        assert!((fallen / (0.5 * 9.81 * time * (time + dt)) - 1.0).abs() < 1e-3, "{integration:?}: {fallen}");
    }
}

#[test]
fn bodies_continue_when_an_earlier_one_is_removed() {
    let mut world = world_without_gravity(elastic(1.0e5, 0.3));
    for (name, at) in [("first", -1.0), ("body", 1.0)] {
        let mut body = block([3, 2, 2], 0.1, with_integration(Integration::Explicit));
        body.start = Some(body.samples.iter().map(|x| *x * Vec3::new(1.1, 1.0, 1.0)).collect());
        (body.name, body.pose.position.x) = (name.into(), at);
        world.add_body(body).unwrap();
    }
    let mut serial = world.clone();
    run_steps(&mut serial, 5e-4, 20);
    world.apply(Command::Remove { body: "first".into() }).unwrap();
    run_steps(&mut world, 5e-4, 20);
    let range = serial.bodies()[1].range();
    assert_eq!(&serial.particles().position[range], &world.particles().position[..]);
}
