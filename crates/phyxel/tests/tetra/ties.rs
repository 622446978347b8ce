//! Ties between bodies of different materials.

use crate::common::determinism::assert_reproducible;
use crate::common::{
    BodyFixture, elastic, empty_fluid, momentum, pose_at, run_steps, select, set_body, world_without_gravity,
};
use crate::{CELL, Cut, Mesh, block, with_integration};
use glam::{Quat, Vec3};
use phyxel::World;
use phyxel::body::{NewBody, Pose};
use phyxel::commands::{Command, Region, Setting};
use phyxel::heating::Heating;
use phyxel::material::{Curve, Material, Sticky, ThermalProperties};
use phyxel::model::TetraSettings;
use phyxel::model::continuum::Integration;
use std::collections::BTreeMap;

/// Length of each of two blocks, m.
const LENGTH: f32 = 0.3;
/// Nodes of a side: 5 x 5 at the corners of cells.
const SIDE: u64 = 25;

/// Elastic material with zero Poisson's ratio and no heat conduction.
fn material(name: &str, young: f32) -> Material {
    let heat = ThermalProperties { specific_heat: 1000.0, conductivity: Vec3::ZERO, ..ThermalProperties::default() };
    Material { name: name.into(), heat, ..elastic(young, 0.0) }
}

/// Rubber that sticks to felt, which is four times as stiff.
fn rubber_and_felt(young: f32) -> [Material; 2] {
    let rubber = Material { sticky: Some(Sticky::to(["felt"])), ..material("rubber", young) };
    [rubber, material("felt", 4.0 * young)]
}

/// Two blocks side by side along x with matching nodes, an overlap (m) and strains along x. Their far
/// ends may be fixed.
fn pair(
    materials: &[Material; 2],
    settings: [TetraSettings; 2],
    overlap: f32,
    stretch: [f32; 2],
    is_fixed: bool,
) -> World {
    let mut world = world_without_gravity(materials[0].clone());
    world.add_material(materials[1].clone()).unwrap();
    let positions = [-0.5 * LENGTH * (1.0 + stretch[0]), 0.5 * LENGTH * (1.0 + stretch[1]) - overlap];
    for (k, (name, settings)) in ["left", "right"].into_iter().zip(settings).enumerate() {
        let block = Mesh::block([3, 4, 4], CELL, Cut::Centred, 0.0).body(CELL, settings);
        let side = [-1.0, 1.0][k];
        let block = block
            .fixed_where(|x| is_fixed && side * x.x > 0.49 * LENGTH)
            .deformed(|x| x * Vec3::new(1.0 + stretch[k], 1.0, 1.0))
            .at(positions[k] * Vec3::X);
        let (name, material) = (name.into(), materials[k].name.clone());
        world.add_body(NewBody { name, material, temperature: 20.0, ..block }).unwrap();
    }
    world
}

/// Nodes of a block that face the other one: `side` is 1 for the left block.
fn facing(side: f32) -> Region {
    let samples = Mesh::block([3, 4, 4], CELL, Cut::Centred, 0.0).nodes;
    Region::Ids(select(&samples, |x| side * x.x > 0.49 * LENGTH))
}

/// Pairs of particles of different bodies with bitwise equal positions and velocities.
fn coincident(world: &World) -> Vec<[usize; 2]> {
    let (particles, mut found, mut pairs) = (world.particles(), BTreeMap::new(), Vec::new());
    for i in 0..particles.len() {
        let bits = |v: Vec3| v.to_array().map(f32::to_bits);
        let key = (bits(particles.position[i]), bits(particles.velocity[i]));
        if let Some(other) = found.insert(key, i) {
            assert_ne!(particles.body[i], particles.body[other]);
            pairs.push([other, i]);
        }
    }
    pairs
}

fn counts(world: &World) -> (u64, u64) {
    let report = &world.frame().bodies[0].report;
    (report.merged, report.broken)
}

const EXPLICIT: Integration = Integration::Explicit;
const IMPLICIT: Integration = Integration::Implicit;

#[test]
fn different_materials_pressed_together_are_tied_and_stay_two_bodies() {
    for schemes in [[EXPLICIT, EXPLICIT], [IMPLICIT, IMPLICIT], [IMPLICIT, EXPLICIT]] {
        let mut world = pair(&rubber_and_felt(1.0e6), schemes.map(with_integration), 0.002, [0.0; 2], false);
        let count = world.particles().len();
        run_steps(&mut world, 1e-4, 1);
        // Nodes at the rim only touch, but are beside tied ones.
        assert_eq!(counts(&world), (SIDE, 0));
        assert_eq!((coincident(&world).len() as u64, world.particles().len()), (SIDE, count));
        run_steps(&mut world, 1e-4, 500);
        assert_eq!(counts(&world), (SIDE, 0));
        assert_eq!(coincident(&world).len() as u64, SIDE);
        // The overlap caused contact impulses, and the tie balanced them: 6e-8 of some kg m/s in 500 steps.
        assert!(momentum(&world).length() < 1e-3, "{}", momentum(&world));
    }
}

#[test]
fn bodies_are_tied_if_either_material_names_the_other_and_is_warm_enough() {
    let tied = |sticky: [Option<Sticky>; 2], temperatures: [f32; 2]| {
        let mut materials = [material("rubber", 1.0e6), material("felt", 1.0e6)];
        materials.iter_mut().zip(sticky).for_each(|(material, sticky)| material.sticky = sticky);
        let mut world = pair(&materials, [EXPLICIT; 2].map(with_integration), 0.002, [0.0; 2], false);
        for (body, temperature) in ["left", "right"].into_iter().zip(temperatures) {
            world.apply(Command::Warm { body: body.into(), region: Region::All, temperature }).unwrap();
        }
        run_steps(&mut world, 1e-4, 10);
        counts(&world).0
    };
    let to = |name: &str, above: Option<f32>| Some(Sticky { above, ..Sticky::to([name]) });
    assert_eq!(tied([None, None], [20.0; 2]), 0);
    // To itself, and to a material that does not exist.
    assert_eq!(tied([to("rubber", None), to("glass", None)], [20.0; 2]), 0);
    assert_eq!(tied([to("felt", None), None], [20.0; 2]), SIDE);
    assert_eq!(tied([None, to("rubber", None)], [20.0; 2]), SIDE);
    assert_eq!(tied([to("felt", Some(50.0)), None], [20.0, 80.0]), 0);
    assert_eq!(tied([to("felt", Some(50.0)), None], [80.0, 20.0]), SIDE);
}

/// Stress of two blocks in series with these moduli, Pa, at a total elongation, m, and the elongation of
/// the first.
fn in_series(young: [f64; 2], elongation: f64) -> (f64, f64) {
    let compliances = young.map(|young| f64::from(LENGTH) / young);
    let stress = elongation / (compliances[0] + compliances[1]);
    (stress, stress * compliances[0])
}

#[test]
fn a_joint_carries_load_like_two_springs_in_series() {
    // Soft in steps of 10 ms, and as stiff as a polymer in steps of a frame.
    for (young, dt) in [(1.0e6, 1e-2), (1.0e9, 1.0 / 60.0)] {
        let materials = rubber_and_felt(young).map(|material| Material { damping: 0.5, ..material });
        let overlap = 1e-4;
        let mut world = pair(&materials, [IMPLICIT; 2].map(with_integration), overlap, [0.02; 2], true);
        run_steps(&mut world, 1e-6, 1);
        assert_eq!(counts(&world), (SIDE, 0));
        run_steps(&mut world, dt, 400);
        let elongation = f64::from(0.02 * 2.0 * LENGTH - overlap);
        let young = f64::from(young);
        let (_, first) = in_series([young, 4.0 * young], elongation);
        let end = f64::from(-LENGTH * 1.02);
        let joint = coincident(&world);
        assert_eq!(joint.len() as u64, SIDE);
        for [i, _] in joint {
            let found = f64::from(world.particles().position[i].x) - end - f64::from(LENGTH);
            // Uniform strain is exact, so the error is the residual of the first step, 1e-4, which later
            // steps reduce.
            assert!((found / first - 1.0).abs() < 2e-4, "{found} for {first} at {young} Pa");
        }
    }
}

/// Blocks strained along x between fixed ends, of which one is weak at the joint, with this strength, Pa;
/// the rest is much stronger.
fn weak_joint(integration: Integration, young: f32, stretch: [f32; 2], (side, strength): (usize, f32)) -> World {
    let mut materials = rubber_and_felt(young);
    // Only nodes at the joint are warm and weak.
    materials[side].strength = Curve::new(vec![(20.0, 1e3 * strength), (100.0, strength)]);
    let mut world = pair(&materials, [integration; 2].map(with_integration), OVERLAP, stretch, true);
    let body = ["left", "right"][side].to_string();
    let region = facing([1.0, -1.0][side]);
    world.apply(Command::Warm { body, region, temperature: 100.0 }).unwrap();
    run_steps(&mut world, 1e-6, 1);
    assert_eq!(counts(&world), (SIDE, 0));
    // Before they are tied, the overlap is separated at up to 0.6 m/s in so short a step: not part of the
    // experiment.
    for body in ["left", "right"] {
        set_body(&mut world, body, Setting::Velocity(Vec3::ZERO));
    }
    world
}

/// Overlap of blocks that are tied at once, m: 1e-4 of their elongation.
const OVERLAP: f32 = 2e-6;

/// The second is four times as stiff and strained by a fourth, so the stress is equal.
const BALANCED: [f32; 2] = [0.016, 0.004];

#[test]
fn a_joint_fails_just_above_the_strength_of_the_weaker_side_and_holds_just_below() {
    // Long steps are of a frame, in a material as stiff as a polymer.
    for (integration, young, dt) in [(EXPLICIT, 1.0e6, 1e-4), (IMPLICIT, 1.0e9, 1.0 / 60.0)] {
        let elongation = f64::from(LENGTH * (BALANCED[0] + BALANCED[1]) - OVERLAP);
        let (stress, _) = in_series([young, 4.0 * young].map(f64::from), elongation);
        for (factor, side) in [(1.02, 0), (0.98, 0), (1.02, 1), (0.98, 1)] {
            let mut world = weak_joint(integration, young, BALANCED, (side, factor * stress as f32));
            run_steps(&mut world, dt, 60);
            // A joint that may fail is made stress-free, and uniform strain is exact. Areas are those of
            // the deformed shape, which equal those at rest with zero Poisson's ratio. In the first step,
            // before they are tied, the blocks relax for 1e-6 s of an oscillation of some ms.
            let failed = if factor < 1.0 { SIDE } else { 0 };
            assert_eq!(counts(&world), (SIDE, failed), "{integration:?}, {factor} of the stress on side {side}");
            assert_eq!(coincident(&world).len() as u64, SIDE - failed);
        }
    }
}

#[test]
fn compression_fails_no_joint() {
    // 16 kPa where 1 kPa of tension would do.
    let mut world = weak_joint(EXPLICIT, 1.0e6, BALANCED.map(|strain| -strain), (0, 1.0e3));
    run_steps(&mut world, 1e-4, 60);
    assert_eq!(counts(&world), (SIDE, 0));
}

#[test]
fn a_failed_joint_is_tied_again_when_pressed_together_again() {
    let mut world = weak_joint(EXPLICIT, 1.0e6, BALANCED, (0, 1.0e4));
    run_steps(&mut world, 1e-4, 60);
    let (merged, broken) = counts(&world);
    assert_eq!((merged, broken), (SIDE, SIDE));
    // Unstressed they are 6 mm apart; the second then comes back at 1 m/s.
    world.apply(Command::Hold { body: "right".into(), region: Region::All, on: false }).unwrap();
    set_body(&mut world, "right", Setting::Velocity(-Vec3::X));
    run_steps(&mut world, 1e-4, 200);
    assert!(counts(&world).0 >= 2 * SIDE, "{:?}", counts(&world));
}

#[test]
fn heat_flows_through_a_joint_as_through_two_slabs() {
    let heat = |conductivity: f32| ThermalProperties {
        specific_heat: 10.0,
        conductivity: Vec3::splat(conductivity),
        ..ThermalProperties::default()
    };
    let [mut rubber, mut felt] = rubber_and_felt(1.0e6);
    (rubber.heat, felt.heat) = (heat(1.0), heat(0.25));
    let mut world = pair(&[rubber, felt], [EXPLICIT; 2].map(with_integration), 2e-5, [0.0; 2], false);
    for (body, side, temperature) in [("left", -1.0, 100.0), ("right", 1.0, 0.0)] {
        let heating = Heating { region: facing(side), temperature: Some(temperature), ..Heating::new(body, body) };
        world.add_heating(heating).unwrap();
    }
    run_steps(&mut world, 1e-6, 1);
    // All nodes are fixed from here on, for ten times the diffusion time of the worse conductor: 1e4
    // J/(m3 K) x (0.3 m)2 / 0.25 W/(m K).
    for body in ["left", "right"] {
        world.apply(Command::Hold { body: body.into(), region: Region::All, on: true }).unwrap();
    }
    run_steps(&mut world, 200.0, 400);
    let temperature = world.frame().particles.temperature.clone();
    for [i, j] in coincident(&world) {
        // Four fifths of the temperature drop are in the second. Linear temperatures are exact but for
        // the tie, which has a hundredth of the resistance of a cell of each side: 0.01 + 0.04 of 3 x 1 +
        // 3 x 4, 0.33 % of the drop.
        assert!(
            (temperature[i] - 80.0).abs() < 0.2 && (temperature[j] - 80.0).abs() < 0.4,
            "{} {}",
            temperature[i],
            temperature[j]
        );
        assert!((temperature[i] - temperature[j] - 0.33).abs() < 0.05);
    }
    assert!(world.frame().totals.balance_error.abs() < 1e-6);
}

/// Two blocks of different materials in collision, one of them rotated.
fn crash(materials: [Material; 2], settings: [TetraSettings; 2]) -> World {
    let [one, other] = settings;
    let blocks = [block([4, 4, 4], CELL, one), Mesh::block([4, 4, 4], CELL, Cut::Six, 0.1).body(CELL, other)];
    let mut world = world_without_gravity(materials[0].clone());
    world.add_material(materials[1].clone()).unwrap();
    for (k, block) in blocks.into_iter().enumerate() {
        let side = [1.0, -1.0][k];
        let at = [Vec3::new(-0.25, 0.0, 0.0), Vec3::new(0.25, 0.13, 0.04)][k];
        let pose = Pose { position: at, rotation: Quat::from_rotation_z(0.3 * k as f32) };
        let (name, material) = (["one", "other"][k].into(), materials[k].name.clone());
        world.add_body(NewBody { name, material, pose, velocity: side * Vec3::X, ..block }).unwrap();
    }
    world
}

/// Two materials of which the first sticks to the second, with a strength.
fn sticky(young: f32, strength: Option<f32>) -> [Material; 2] {
    let strength = strength.map(Curve::constant);
    rubber_and_felt(young).map(|material| Material {
        strength: strength.clone(),
        damping: 0.1,
        poisson_ratio: 0.3,
        ..material
    })
}

#[test]
fn colliding_bodies_that_tie_conserve_momentum() {
    for (schemes, young, dt, steps) in [
        ([EXPLICIT, EXPLICIT], 1.0e5, 5e-4, 400),
        ([IMPLICIT, IMPLICIT], 1.0e8, 4e-3, 100),
        ([IMPLICIT, EXPLICIT], 1.0e5, 5e-4, 400),
    ] {
        let mut world = crash(sticky(young, None), schemes.map(with_integration));
        let before = momentum(&world);
        run_steps(&mut world, dt, steps);
        let (merged, broken) = counts(&world);
        // Their meshes do not match, so only some nodes are tied.
        assert!(merged > 4 && broken == 0, "{schemes:?}: {merged}");
        assert_eq!(coincident(&world).len() as u64, merged);
        // Sums of f32: 6e-8 of what two bodies of 64 kg carry at 1 m/s, in each of 400 steps.
        let change = (momentum(&world) - before).length();
        assert!(change < 1.5e-3, "{schemes:?}: {change}");
    }
}

#[test]
fn ties_are_bitwise_equal_for_any_threads_and_after_resuming() {
    for (scheme, young, strength, dt) in [(EXPLICIT, 1.0e5, 2.0e3, 5e-4), (IMPLICIT, 1.0e8, 1.0e5, 4e-3)] {
        let start = || crash(sticky(young, Some(strength)), [scheme; 2].map(with_integration));
        let advance = |world: &mut World, _| run_steps(world, dt, 1);
        let (_, (merged, broken)) =
            assert_reproducible(start, (160, 13), advance, |world| (world.state_hash(), counts(world)));
        assert!(merged > 0 && broken > 0, "{scheme:?}: {merged}, {broken}");
    }
}

#[test]
fn removing_one_body_removes_its_ties() {
    let mut world = pair(&rubber_and_felt(1.0e6), [EXPLICIT; 2].map(with_integration), 0.002, [0.0; 2], false);
    run_steps(&mut world, 1e-4, 10);
    assert_eq!(counts(&world), (SIDE, 0));
    world.apply(Command::Remove { body: "left".into() }).unwrap();
    let before = momentum(&world);
    run_steps(&mut world, 1e-4, 100);
    assert!(coincident(&world).is_empty());
    assert!((momentum(&world) - before).length() < 1e-3);
}

#[test]
fn melting_one_body_removes_its_ties() {
    let [rubber, mut wax] = rubber_and_felt(1.0e5);
    wax.heat = ThermalProperties { melting: Some(50.0), latent: 1.0e4, conductivity: Vec3::ZERO, ..wax.heat };
    let melts = TetraSettings { melts_into: Some("pool".into()), ..with_integration(EXPLICIT) };
    let mut world = pair(&[rubber, wax.clone()], [with_integration(EXPLICIT), melts], 0.002, [0.0; 2], false);
    world.add_body(NewBody { material: wax.name, ..empty_fluid("pool", 0.08) }).unwrap();
    run_steps(&mut world, 1e-4, 10);
    assert_eq!(coincident(&world).len() as u64, SIDE);
    world.apply(Command::Warm { body: "right".into(), region: Region::All, temperature: 60.0 }).unwrap();
    run_steps(&mut world, 1e-4, 10);
    assert_eq!(world.bodies()[1].particles.len(), 0);
    assert!(coincident(&world).is_empty());
    assert_eq!(world.bodies()[0].particles.len(), Mesh::block([3, 4, 4], CELL, Cut::Centred, 0.0).nodes.len());
}

#[test]
fn a_merging_body_keeps_its_ties() {
    // Two blocks of one material on top of each other merge, both tied to a third beside them.
    let mut clay = material("clay", 1.0e6);
    clay.sticky = Some(Sticky::to(["clay", "felt"]));
    let mut world = world_without_gravity(material("felt", 1.0e6));
    world.add_material(clay).unwrap();
    let new_block = |name: &str, material: &str, at: Vec3, counts: [u32; 3]| NewBody {
        name: name.into(),
        material: material.into(),
        pose: pose_at(at),
        ..Mesh::block(counts, CELL, Cut::Centred, 0.0).body(CELL, with_integration(EXPLICIT))
    };
    world.add_body(new_block("low", "clay", Vec3::new(0.0, -0.2, 0.0), [3, 4, 4])).unwrap();
    world.add_body(new_block("side", "felt", Vec3::new(0.298, 0.0, 0.0), [3, 8, 4])).unwrap();
    world.add_body(new_block("high", "clay", Vec3::new(0.0, 0.198, 0.0), [3, 4, 4])).unwrap();
    run_steps(&mut world, 1e-4, 20);
    let frame = world.frame();
    assert_eq!((frame.bodies[0].report.pieces, world.bodies()[2].particles.len()), (1, 0));
    let joint = coincident(&world);
    // 5 x 9 nodes face each other; some may be unmatched where the two have merged.
    assert!(joint.len() > 40, "{}", joint.len());
    let heights = joint.iter().map(|[i, _]| world.particles().position[*i].y);
    let [low, high] = heights.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], y| [low.min(y), high.max(y)]);
    assert!(low < -0.35 && high > 0.35, "{low} to {high}");
    run_steps(&mut world, 1e-4, 200);
    assert_eq!(coincident(&world), joint);
}
