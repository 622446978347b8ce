//! Motion: implicit steps, drops, momentum, skins, resuming.

use crate::common::{DOWN, Lcg, floor, mean_position, run_steps, world, world_without_gravity};
use crate::{block, elastic};
use glam::{DVec3, Quat, Vec3};
use phyxel::body::{NewBody, Pose};
use phyxel::checkpoint::{decode, encode};
use phyxel::commands::{Command, Drag, Region};
use phyxel::material::{Friction, Material};
use phyxel::model::ContinuumSettings;
use phyxel::model::continuum::Integration;
use phyxel::skin::{Skin, SkinMesh};
use phyxel::step::{StageTimes, step};
use phyxel::{Settings, StepError, World, parallel};
use std::sync::Arc;

fn settings_with(integration: Integration) -> ContinuumSettings {
    ContinuumSettings { integration, ..ContinuumSettings::default() }
}

fn energy(world: &World) -> f64 {
    let energy = world.frame().totals.energy;
    energy.kinetic + energy.elastic + energy.gravity
}

/// Block that is stretched by a tenth and released.
fn stretched_block(integration: Integration) -> World {
    let mut body = block([8, 4, 4], 0.1, 0.0, settings_with(integration));
    body.start = Some(body.samples.iter().map(|x| *x * Vec3::new(1.1, 1.0, 1.0)).collect());
    let mut world = world_without_gravity(elastic(1.0e5, 0.3));
    world.add_body(body).unwrap();
    world
}

fn length(world: &World) -> f64 {
    let [low, high] = world.frame().bodies[0].report.bounds;
    high[0] - low[0]
}

#[test]
fn explicit_and_implicit_steps_agree_when_they_are_short() {
    let [mut explicit, mut implicit] = [Integration::Explicit, Integration::Implicit].map(stretched_block);
    let period = 2.0 * 0.8 / (1.0e5f64 / 1000.0).sqrt();
    let steps = 3200;
    let dt = (0.5 * period / f64::from(steps)) as f32;
    let (mut amplitude, mut difference) = (0.0f64, 0.0f64);
    for k in 0..steps {
        run_steps(&mut explicit, dt, 1);
        run_steps(&mut implicit, dt, 1);
        if k % 100 == 0 {
            let [a, b] = [&explicit, &implicit].map(length);
            amplitude = amplitude.max((a - 0.7).abs());
            difference = difference.max((a - b).abs());
        }
    }
    // Backward Euler damps an oscillation by exp(-w^2 dt t/2): w dt = pi/3200, over half a period 0.15 %,
    // and higher modes by more; the amplitude is 0.07 m.
    assert!(amplitude > 0.06 && difference < 0.03 * 0.07, "{amplitude} and {difference}");
}

#[test]
fn explicit_motion_keeps_its_energy_and_implicit_motion_loses_it() {
    let [mut explicit, mut implicit] = [Integration::Explicit, Integration::Implicit].map(stretched_block);
    let first = energy(&explicit);
    // Velocities are half a step behind positions: the sum of their energies oscillates by a fraction of w
    // dt/2, up to 0.08 for the shortest waves and much less for most.
    let dt = (0.1 * explicit.stable_step()) as f32;
    for _ in 0..40 {
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
fn free_motion_keeps_momentum_and_angular_momentum() {
    for integration in [Integration::Explicit, Integration::Implicit] {
        let mut body = block([5, 4, 3], 0.1, 0.2, settings_with(integration));
        (body.velocity, body.spin) = (Vec3::new(1.0, -2.0, 0.5), Vec3::new(3.0, 1.0, -2.0));
        let mut world = world_without_gravity(Material { damping: 0.1, ..elastic(1.0e5, 0.3) });
        world.add_body(body).unwrap();
        let first = world.frame().totals;
        run_steps(&mut world, 5e-4, 400);
        let last = world.frame().totals;
        let relative_error =
            |a: [f64; 3], b: [f64; 3]| (DVec3::from(a) - DVec3::from(b)).length() / DVec3::from(a).length();
        // 400 steps of round-off, 6e-8 of a velocity each; conjugate gradients end at a relative residual
        // of 1e-4, and the residual has no resultant force.
        assert!(relative_error(first.momentum, last.momentum) < 1e-5, "{integration:?}");
        let tolerance = if integration == Integration::Explicit { 1e-4 } else { 0.05 };
        // Backward Euler dissipates the angular momentum of motion that it does not resolve: a rotation by
        // w dt = 1.9e-3 per step loses half its square, 400 times, about 1e-3, and the elastic response of
        // the ends takes more.
        let error = relative_error(first.angular_momentum, last.angular_momentum);
        assert!(error < tolerance, "{integration:?}: {error}");
    }
}

#[test]
fn stiff_matter_is_dropped_with_steps_of_a_hundredth_of_a_second() {
    let mut body = block([6, 6, 6], 0.1, 0.0, settings_with(Integration::Implicit));
    body.pose =
        Pose { position: Vec3::new(0.0, 1.0, 0.0), rotation: Quat::from_rotation_x(0.3) * Quat::from_rotation_z(0.5) };
    let mut world = world(elastic(1.0e8, 0.3), DOWN);
    world.add_body(body).unwrap();
    world.add_obstacle(floor(Friction::default(), 0.0)).unwrap();
    for _ in 0..1000 {
        run_steps(&mut world, 0.01, 1);
        let report = &world.frame().bodies[0].report;
        assert!(report.bounds[0][1] > -0.1 && report.bounds[1][1] < 2.0, "{:?}", report.bounds);
    }
    let report = world.frame().bodies[0].report.clone();
    // Contact follows the solve: in a step all but the lowest of six layers fall by g dt^2 = 1e-3 m before
    // the floor acts on them, so that it sags by six times that over the spacing of 0.1 m. Its weight alone
    // strains it by 1e-4.
    assert!(report.strain_max < 0.08, "{}", report.strain_max);
    assert!(report.velocity.iter().all(|v| v.abs() < 0.05), "{:?}", report.velocity);
    let iterations = report.solver_iterations.unwrap();
    assert!(iterations > 1.0 && iterations < 400.0, "{iterations}");
}

#[test]
fn automatic_steps_are_explicit_for_soft_and_implicit_for_stiff_matter() {
    for (young, implicit) in [(1.0e5, false), (1.0e10, true)] {
        let mut world = world_without_gravity(elastic(young, 0.3));
        world.add_body(block([4, 4, 4], 0.1, 0.0, ContinuumSettings::default())).unwrap();
        run_steps(&mut world, 1e-4, 1);
        assert_eq!(world.frame().bodies[0].report.solver_iterations.is_some(), implicit, "{young}");
    }
}

/// Drops a warm block that yields and melts, on so many threads, and returns the hash of its state.
fn melting_block_hash(threads: usize, resumed: bool) -> String {
    let heat = phyxel::material::ThermalProperties {
        conductivity: Vec3::splat(5.0),
        specific_heat: 100.0,
        softening: Some(5.0),
        melting: Some(20.0),
        expansion: 1e-3,
        ..phyxel::material::ThermalProperties::default()
    };
    let material = Material { heat, damping: 0.1, ..elastic(2.0e4, 0.3) };
    let mut body = block([6, 6, 6], 0.1, 0.1, ContinuumSettings::default());
    (body.pose.position, body.temperature) = (Vec3::new(0.0, 0.45, 0.0), 10.0);
    let mut hot = floor(Friction::default(), 0.0);
    hot.temperature = Some(60.0);
    parallel::with_threads(Some(threads), || {
        let mut world = world(material, DOWN);
        world.add_body(body).unwrap();
        world.add_obstacle(hot).unwrap();
        let region = Region::Ids((0..72).collect());
        world.apply(Command::Warm { body: "body".into(), region, temperature: 30.0 }).unwrap();
        for k in 0..12 {
            if resumed && k % 4 == 2 {
                world = decode(&encode(&world)).unwrap();
            }
            world.advance_frame().unwrap();
        }
        let phases = world.frame().bodies[0].report.particles;
        assert!(phases.fluid > 0 && phases.solid > 0, "{phases:?}");
        world.state_hash()
    })
}

#[test]
fn threads_and_resuming_change_no_bit() {
    let alone = melting_block_hash(1, false);
    assert_eq!(alone, melting_block_hash(2, false));
    assert_eq!(alone, melting_block_hash(7, false));
    assert_eq!(alone, melting_block_hash(2, true));
}

#[test]
fn a_mesh_follows_an_affine_motion_exactly() {
    let mut random = Lcg(21);
    let vertices: Vec<Vec3> = (0..300).map(|_| random.next_vector(0.32)).collect();
    let triangles = (0..100).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    let body = block([6, 6, 6], 0.1, 0.3, ContinuumSettings::default());
    let map = |x: Vec3| Vec3::new(1.2 * x.x + 0.3 * x.y, 0.8 * x.y - 0.1 * x.z, 0.2 * x.x + 1.1 * x.z);
    let start = Some(body.samples.iter().map(|&x| map(x)).collect());
    let skin = Skin::Mesh(Arc::new(SkinMesh { positions: vertices.clone(), triangles }));
    let pose = Pose { position: Vec3::new(0.4, 0.1, -0.2), rotation: Quat::from_rotation_y(1.0) };
    let mut world = world_without_gravity(elastic(1.0e5, 0.3));
    world.add_body(NewBody { start, skin, pose, ..body }).unwrap();
    let frame = world.frame();
    let shown = frame.bodies[0].skin.as_ref().unwrap();
    for (x, found) in vertices.iter().zip(&shown.positions) {
        let off = found.distance(pose.transform_point(map(*x)));
        // Deformation gradients have six digits and act over 0.2 m.
        assert!(off < 1e-5, "{off}");
    }
}

#[test]
fn steps_that_are_too_long_are_refused_with_the_one_that_is_stable() {
    let mut world = world_without_gravity(elastic(1.0e6, 0.3));
    world.add_body(block([4, 4, 4], 0.1, 0.0, settings_with(Integration::Explicit))).unwrap();
    let stable = world.stable_step();
    // Waves of sqrt(1.35e6/1000) = 37 m/s take 2.7 ms from one phyxel to the next.
    assert!(stable > 5e-4 && stable < 5e-3, "{stable}");
    step(&mut world, stable as f32, &mut StageTimes::default()).unwrap();
    let mut fixed = World::new(Settings { substeps: Some(2), ..Settings::default() }).unwrap();
    fixed.add_material(elastic(1.0e6, 0.3)).unwrap();
    fixed.add_body(block([4, 4, 4], 0.1, 0.0, settings_with(Integration::Explicit))).unwrap();
    match fixed.advance_frame() {
        Err(StepError::TooStiff { stable: reported, allowed, needed, .. }) => {
            assert!((reported / stable - 1.0).abs() < 1e-6 && allowed == 2, "{reported} of {stable}, {allowed}");
            assert!(f64::from(needed) >= 1.0 / (30.0 * stable), "{needed}");
        }
        other => panic!("steps of 17 ms are too long, but {other:?}"),
    }
}

#[test]
fn a_dragged_body_hangs_from_the_pointer_and_falls_when_released() {
    for integration in [Integration::Explicit, Integration::Implicit] {
        let mut world = world(Material { damping: 20.0, ..elastic(1.0e6, 0.3) }, DOWN);
        world.add_body(block([3, 3, 3], 0.1, 0.0, settings_with(integration))).unwrap();
        // The middle of the upper face; 27 kg on a spring of 27 kg/(0.1 s)^2 hang g (0.1 s)^2 below the
        // pointer.
        let (sample, tau) = (16, 0.1);
        let to = Vec3::new(0.0, 0.5, 0.0);
        world
            .apply(Command::Drag(Drag { body: "body".into(), particle: sample, target: to, tau, max_force: 1.0e4 }))
            .unwrap();
        let dt = (0.5 * world.stable_step()).min(0.002) as f32;
        let steps = (3.0 / dt) as usize;
        run_steps(&mut world, dt, steps);
        let found = world.particles().position[sample as usize];
        let expected = to + DOWN * tau * tau;
        // After thirty times tau the oscillation is below round-off; positions have seven digits.
        assert!(found.distance(expected) < 1e-4, "{integration:?}: {found}, {expected} expected");
        world.apply(Command::Release { body: "body".into() }).unwrap();
        let (before, steps) = (mean_position(&world, 0), (0.2 / dt) as usize);
        run_steps(&mut world, dt, steps);
        // Semi-implicit steps update velocities first: dt t g/2 more than t^2 g/2.
        let time = steps as f32 * dt;
        let fallen = before.y - mean_position(&world, 0).y;
        assert!((fallen / (0.5 * 9.81 * time * (time + dt)) - 1.0).abs() < 1e-3, "{integration:?}: {fallen}");
    }
}
