//! Experiments of motion that every model with explicit and implicit integration passes.
//!
//! They take blocks of cells of 0.1 m by their integration, and the numbers in which the models differ.

use super::*;
use glam::Quat;
use phyxel::StepError;
use phyxel::commands::Drag;
use phyxel::model::continuum::Integration;
use phyxel::skin::{Skin, SkinMesh};

pub const BOTH: [Integration; 2] = [Integration::Explicit, Integration::Implicit];

/// The block, strained by a tenth along x.
fn strained(body: NewBody) -> NewBody {
    body.deformed(|x| x * Vec3::new(1.1, 1.0, 1.0))
}

/// Worlds of a block that is released from a strain of a tenth, explicit and implicit.
fn released(block: impl Fn(Integration) -> NewBody) -> [World; 2] {
    BOTH.map(|integration| world_without_gravity(elastic(1.0e5, 0.3)).with_body(strained(block(integration))))
}

/// A released block moves for half its period, in so many steps, alike with either integration; its length is that of
/// its cells, m.
pub fn assert_integrations_agree(block: impl Fn(Integration) -> NewBody, length: f64, steps: u32) {
    let [mut explicit, mut implicit] = released(block);
    let rest_length = size(&explicit)[0] / 1.1;
    let period = 2.0 * length / (1.0e5f64 / 1000.0).sqrt();
    let dt = (0.5 * period / f64::from(steps)) as f32;
    let (mut amplitude, mut difference) = (0.0f64, 0.0f64);
    for k in 0..steps {
        run_steps(&mut explicit, dt, 1);
        run_steps(&mut implicit, dt, 1);
        if k % 100 == 0 {
            let [a, b] = [&explicit, &implicit].map(|world| size(world)[0]);
            amplitude = amplitude.max((a - rest_length).abs());
            difference = difference.max((a - b).abs());
        }
    }
    // Backward Euler damps an oscillation by exp(-w^2 dt t/2): with w dt = pi/steps by (pi^2/2)/steps over half a
    // period, and higher frequencies by more; the amplitude is a tenth of the length.
    let expected = 0.1 * rest_length;
    assert!(amplitude > 0.86 * expected && difference < 0.03 * expected, "{amplitude} and {difference} of {expected}");
}

/// A released block conserves its energy in so many times 500 explicit steps, and loses it in implicit ones.
pub fn assert_energy_is_conserved_or_dissipated(block: impl Fn(Integration) -> NewBody, count: u32) {
    let [mut explicit, mut implicit] = released(block);
    let first = mechanical_energy(&explicit);
    // Velocities are staggered by half a step: the sum of the energies oscillates by a fraction w dt/2, up to 0.08 for
    // the shortest waves and much less for most.
    let dt = (0.1 * explicit.stable_step()) as f32;
    for _ in 0..count {
        run_steps(&mut explicit, dt, 500);
        let energy = mechanical_energy(&explicit);
        assert!((energy / first - 1.0).abs() < 0.03, "{energy} of {first}");
    }
    let mut before = first;
    for _ in 0..10 {
        run_steps(&mut implicit, 0.01, 10);
        assert!(mechanical_energy(&implicit) < before * (1.0 + 1e-4));
        before = mechanical_energy(&implicit);
    }
    assert!(before < 0.1 * first);
}

/// A moving and spinning block conserves momentum, and angular momentum but for what backward Euler dissipates.
pub fn assert_free_motion_conserves_momenta(block: impl Fn(Integration) -> NewBody) {
    for integration in BOTH {
        let (velocity, spin) = (Vec3::new(1.0, -2.0, 0.5), Vec3::new(3.0, 1.0, -2.0));
        let mut world = world_without_gravity(Material { damping: 0.1, ..elastic(1.0e5, 0.3) });
        world.add_body(NewBody { velocity, spin, ..block(integration) }).unwrap();
        let (linear, angular) = momenta(&world);
        run_steps(&mut world, 5e-4, 400);
        let (last_linear, last_angular) = momenta(&world);
        let error = |before: DVec3, after: DVec3| (after - before).length() / before.length();
        // 400 steps of rounding, 6e-8 of a velocity each; conjugate gradients stop at 1e-4 of the right-hand side,
        // with a residual that has no resultant.
        assert!(error(linear, last_linear) < 1e-5, "{integration:?}");
        let tolerance = if integration == Integration::Explicit { 1e-4 } else { 0.05 };
        // Backward Euler dissipates the angular momentum of motion that it does not resolve: a rotation by w dt =
        // 1.9e-3 in a step contracts by half its square, 400 times, about 1e-3, and the relaxation of the ends reduces
        // the spin.
        let change = error(angular, last_angular);
        assert!(change < tolerance, "{integration:?}: {change}");
    }
}

/// A stiff block falls on a floor and rests after so many steps of a hundredth of a second, with a strain and a speed
/// (m/s) below bounds.
pub fn assert_rests_after_fall(implicit_block: NewBody, steps: usize, max_strain: f64, max_speed: f64) {
    let rotation = Quat::from_rotation_x(0.3) * Quat::from_rotation_z(0.5);
    let pose = Pose { position: Vec3::Y, rotation };
    let mut world = world(elastic(1.0e8, 0.3), DOWN)
        .with_body(NewBody { pose, ..implicit_block })
        .with_obstacle(floor(Friction::default(), 0.0));
    for _ in 0..steps {
        run_steps(&mut world, 0.01, 1);
        let report = &world.frame().bodies[0].report;
        assert!(report.bounds[0][1] > -0.1 && report.bounds[1][1] < 2.0, "{:?}", report.bounds);
    }
    let report = world.frame().bodies[0].report.clone();
    assert!(report.strain_max < max_strain, "{}", report.strain_max);
    assert!(report.velocity.iter().all(|v| v.abs() < max_speed), "{:?}", report.velocity);
    let iterations = report.solver_iterations.unwrap();
    assert!(iterations > 1.0 && iterations < 400.0, "{iterations}");
}

/// A body of automatic integration is explicit if soft, and implicit if stiff.
pub fn assert_integration_follows_stiffness(automatic_block: &NewBody) {
    for (young, implicit) in [(1.0e5, false), (1.0e10, true)] {
        let mut world = world_without_gravity(elastic(young, 0.3)).with_body(automatic_block.clone());
        run_steps(&mut world, 1e-4, 1);
        assert_eq!(world.frame().bodies[0].report.solver_iterations.is_some(), implicit, "{young}");
    }
}

/// Two steps to a frame are refused with the stable step, which is in a range, s.
pub fn assert_unstable_steps_are_refused(explicit_block: &NewBody, range: [f64; 2]) {
    let mut world = world_without_gravity(elastic(1.0e6, 0.3)).with_body(explicit_block.clone());
    let stable = world.stable_step();
    assert!(stable > range[0] && stable < range[1], "{stable}");
    run_steps(&mut world, stable as f32, 1);
    let mut fixed = World::new(Settings { substeps: Some(2), ..Settings::default() }).unwrap();
    fixed.add_material(elastic(1.0e6, 0.3)).unwrap();
    fixed.add_body(explicit_block.clone()).unwrap();
    match fixed.advance_frame() {
        Err(StepError::TooStiff { stable: reported, allowed, needed, .. }) => {
            assert!((reported / stable - 1.0).abs() < 1e-6 && allowed == 2, "{reported} of {stable}, {allowed}");
            assert!(f64::from(needed) >= 1.0 / (30.0 * stable), "{needed}");
        }
        other => panic!("steps of 17 ms are too long, but {other:?}"),
    }
}

/// A block, 0.1 m high above its middle, that is dragged by the middle of its upper face hangs from the target, and
/// falls when released.
pub fn assert_hangs_from_drag(block: impl Fn(Integration) -> NewBody) {
    for integration in BOTH {
        let body = block(integration);
        let (tau, target) = (0.1, Vec3::new(0.0, 0.5, 0.0));
        let middle = |x: &Vec3| x.distance(0.1 * Vec3::Y) < 1e-3;
        let particle = body.samples.iter().position(middle).unwrap() as u32;
        let mut world = world(Material { damping: 20.0, ..elastic(1.0e6, 0.3) }, DOWN).with_body(body);
        let drag = Drag { body: "body".into(), particle, target, tau, max_force: 1.0e4 };
        world.apply(Command::Drag(drag)).unwrap();
        let dt = (0.5 * world.stable_step()).min(0.002) as f32;
        run_steps(&mut world, dt, (3.0 / dt) as usize);
        let found = world.particles().position[particle as usize];
        // On a spring of its mass over (0.1 s)^2 the body hangs g (0.1 s)^2 below the target. After thirty times tau
        // the oscillation is below rounding; positions have seven digits.
        let expected = target + DOWN * tau * tau;
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

/// Affine map with a shear along every axis.
pub fn affine(x: Vec3) -> Vec3 {
    Vec3::new(1.2 * x.x + 0.3 * x.y, 0.8 * x.y - 0.1 * x.z, 0.2 * x.x + 1.1 * x.z)
}

/// A mesh of random vertices in a cube of this half edge follows an affine motion of its body to a tolerance, m.
pub fn assert_mesh_follows_affine_motion(body: NewBody, half: f32, tolerance: f32) {
    let mut random = Lcg(21);
    let vertices: Vec<Vec3> = (0..300).map(|_| random.next_vector(half)).collect();
    let triangles = (0..100).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    let skin = Skin::Mesh(Arc::new(SkinMesh { positions: vertices.clone(), triangles }));
    let pose = Pose { position: Vec3::new(0.4, 0.1, -0.2), rotation: Quat::from_rotation_y(1.0) };
    let world = world_without_gravity(elastic(1.0e5, 0.3)).with_body(NewBody { skin, pose, ..body.deformed(affine) });
    let frame = world.frame();
    let skin = frame.bodies[0].skin.as_ref().unwrap();
    for (x, found) in vertices.iter().zip(&skin.positions) {
        let error = found.distance(pose.transform_point(affine(*x)));
        assert!(error < tolerance, "{error}");
    }
}
