//! Emitters, drains and bounds: flow rates, balances, invalid settings.

use crate::common::determinism::assert_reproducible;
use crate::common::*;
use crate::{crystal_body, fluid_body, liquid};
use glam::Vec3;
use phyxel::body::NewBody;
use phyxel::checkpoint::encode;
use phyxel::commands::{Command, Drag, Region, Setting, Target};
use phyxel::emission::{Bounds, Drain, Emitter, Mouth};
use phyxel::material::Friction;
use phyxel::model::shape_matching::ShapeMatchingSettings;
use phyxel::obstacle::{Geometry, Obstacle};
use phyxel::skin::{Isosurface, Skin};
use phyxel::store::Flags;
use phyxel::{Settings, StepError, World};

const SPACING: f32 = 0.05;

/// Emits downwards from a metre above the origin, at 0.4 m/s, 21 particles per layer.
fn tap() -> Emitter {
    Emitter::new("tap", "water", 0.13, Vec3::Y, Vec3::new(0.0, -0.4, 0.0))
}

/// Removes particles inside a box.
fn sink(size: Vec3, position: Vec3) -> Drain {
    Drain::new("sink", Geometry::Box { size }, pose_at(position))
}

fn tap_setting(world: &mut World, setting: Setting) {
    set(world, Target::Emitter("tap".into()), setting);
}

/// Asserts that the balance of emitted, removed and present mass is exact.
fn assert_mass_balance(world: &World, first: f64) {
    let totals = world.frame().totals;
    // All particles have one mass, and sums of up to 2^29 numbers of 24 digits have no rounding in 53.
    assert_eq!(first + totals.emitted.mass - totals.removed.mass, totals.mass);
    assert!(totals.balance_error.abs() < 1e-12, "{}", totals.balance_error);
}

/// A tap above a floor with a drain, and a jelly and an ice cube beside it.
fn tap_and_sink_world() -> World {
    let mut world = world(elastic(1.0e5, 0.0), DOWN)
        .with_obstacle(floor(Friction::NONE, 0.0))
        .with_body(empty_fluid("water", SPACING));
    let jelly = body("jelly", block([3, 3, 3], 0.1), ShapeMatchingSettings::default());
    world.add_body(jelly.at(Vec3::new(2.0, 0.5, 0.0))).unwrap();
    let ice = crystal_body("ice", Vec3::splat(0.2), SPACING);
    world.add_body(ice.at(Vec3::new(-2.0, 0.2, 0.0))).unwrap();
    world.add_emitter(Emitter { temperature: 60.0, position: 0.6 * Vec3::Y, ..tap() }).unwrap();
    world.add_drain(sink(Vec3::new(0.4, 0.2, 0.4), Vec3::new(0.3, 0.0, 0.0))).unwrap();
    world
}

#[test]
fn the_flow_rate_is_the_area_of_a_layer_times_the_speed() {
    for frames_per_second in [30.0, 60.0, 7.0] {
        let settings = Settings { gravity: Vec3::ZERO, frame_rate: frames_per_second, ..Settings::default() };
        let mut world = World::new(settings).unwrap();
        world.add_material(liquid()).unwrap();
        world.add_body(empty_fluid("water", SPACING)).unwrap();
        world.add_emitter(Emitter { from: 0.1, ..tap() }).unwrap();
        while world.time() < 0.9 {
            world.advance_frame().unwrap();
        }
        let layer_distance = f64::from(SPACING) / 2.0f64.sqrt();
        let travelled = f64::from(0.4f32) * (world.time() - 0.1);
        let layers = (travelled / layer_distance).floor();
        let emitted = &world.frame().totals.emitted.by["tap"];
        assert_eq!(emitted.particles as f64, 21.0 * layers);
        assert_eq!(emitted.particles as usize, world.particles().len());
        let density = f64::from(liquid().density);
        let exact = density * 21.0 * f64::from(SPACING).powi(2) * layer_distance * layers;
        // The mass of a particle has 24 digits.
        assert!((emitted.mass / exact - 1.0).abs() < 1e-7, "{} {exact}", emitted.mass);
        // The last layer has its exact position, to rounding of heights of 1 m in 24 digits.
        let last = &world.particles().position[world.particles().len() - 21..];
        let distance = travelled - layers * layer_distance;
        assert!(last.iter().all(|x| (f64::from(1.0 - x.y) - distance).abs() < 2e-6), "{} {distance}", last[0]);
    }
}

#[test]
fn a_stream_follows_its_settings() {
    let mut world = world_without_gravity(liquid()).with_body(empty_fluid("water", SPACING));
    world.add_emitter(Emitter { until: Some(2.0), max_particles: Some(200), ..tap() }).unwrap();
    run_frames(&mut world, 15);
    let count = world.particles().len();
    assert_eq!(count, 21 * 5);
    tap_setting(&mut world, Setting::Active(false));
    run_frames(&mut world, 10);
    assert_eq!(world.particles().len(), count, "nothing is emitted while it is off");
    assert!(world.particles().flags.iter().all(|flags| !flags.has(Flags::DRIVEN)), "and no particle is driven");
    tap_setting(&mut world, Setting::Active(true));
    tap_setting(&mut world, Setting::Speed(0.8));
    tap_setting(&mut world, Setting::Temperature(30.0));
    run_frames(&mut world, 3);
    let last = world.particles().len() - 1;
    assert!((world.particles().velocity[last].y + 0.8).abs() < 1e-6);
    let report = world.frame().bodies[0].report.clone();
    assert!((report.temperature.max - 30.0).abs() < 1e-4, "{:?}", report.temperature);
    run_frames(&mut world, 60);
    assert_eq!(world.particles().len(), 200, "no more than max_particles");
    // An emitter of the same name replaces it: totals continue, and its own limit starts again.
    let wide = Mouth::Rectangle { size: [0.2, 0.1] };
    world.apply(Command::Emit(Emitter { mouth: wide, max_particles: Some(20), ..tap() })).unwrap();
    run_frames(&mut world, 60);
    assert_eq!(world.particles().len(), 220);
    assert_eq!(world.frame().totals.emitted.by["tap"].particles, 220);
    assert_eq!(world.emitters().count(), 1);
    // A removed body receives no more particles, nor does a new one of its name.
    world.apply(Command::Emit(tap())).unwrap();
    world.apply(Command::Remove { body: "water".into() }).unwrap();
    run_frames(&mut world, 10);
    world.add_body(fluid_body("water", Vec3::splat(0.2), SPACING)).unwrap();
    let count = world.particles().len();
    run_frames(&mut world, 10);
    assert_eq!((world.particles().len(), world.frame().totals.emitted.particles), (count, 220));
}

#[test]
fn particles_removed_by_drains_and_bounds_are_counted_and_balances_close() {
    let bounds = Some(Bounds { min: Vec3::new(-3.0, -1.0, -1.0), max: Vec3::new(3.0, 2.0, 0.35) });
    let mut world = World::new(Settings { bounds, ..Settings::default() }).unwrap();
    world.add_material(liquid()).unwrap();
    world.add_obstacle(floor(Friction::NONE, 0.0)).unwrap();
    let pool = fluid_body("water", Vec3::new(0.3, 0.2, 0.3), SPACING);
    world.add_body(NewBody { temperature: 10.0, ..pool.at(0.13 * Vec3::Y) }).unwrap();
    world.add_emitter(Emitter { temperature: 60.0, ..tap() }).unwrap();
    let first = world.frame().totals.mass;
    run_frames(&mut world, 20);
    assert_mass_balance(&world, first);
    world.apply(Command::Drain(sink(Vec3::new(0.6, 0.4, 4.0), Vec3::new(0.45, 0.0, 0.0)))).unwrap();
    run_frames(&mut world, 25);
    assert_mass_balance(&world, first);
    let removed = world.frame().totals.removed;
    assert!(removed.by["sink"].particles > 20 && removed.by["bounds"].particles > 20, "{removed:?}");
    assert_eq!(removed.particles, removed.by["sink"].particles + removed.by["bounds"].particles);
    assert!(removed.heat > 0.0);
    let inside = |x: &Vec3| x.x > 0.15 && x.x < 0.75 && x.y < 0.2;
    assert!(!world.particles().position.iter().any(|x| inside(x) || x.z > 0.35), "no particles are left in the drain");
    set(&mut world, Target::Drain("sink".into()), Setting::Active(false));
    run_frames(&mut world, 15);
    assert_eq!(world.frame().totals.removed.by["sink"], removed.by["sink"]);
    assert_mass_balance(&world, first);
}

#[test]
fn a_drain_removes_particles_of_the_bodies_that_it_names() {
    let mut world = world_without_gravity(elastic(1.0e5, 0.0));
    for (name, x) in [("a", -0.3), ("b", 0.3)] {
        world.add_body(crystal_body(name, Vec3::splat(0.2), SPACING).at(Vec3::X * x)).unwrap();
    }
    let half = world.bodies()[0].len();
    world.add_drain(Drain { bodies: vec!["b".into()], ..sink(Vec3::splat(2.0), Vec3::ZERO) }).unwrap();
    run_steps(&mut world, 1e-3, 1);
    assert_eq!((world.bodies()[0].len(), world.bodies()[1].len()), (half, 0));
    assert_eq!(world.frame().bodies[1].report.particles.solid, 0, "an empty body is still reported");
    run_steps(&mut world, 1e-3, 2);
}

#[test]
fn every_thread_count_and_a_resumed_run_give_the_same_bits() {
    let advance = |world: &mut World, frame| {
        world.advance_frame().unwrap();
        // It is resumed after this frame.
        assert!(frame != 17 || world.particles().flags.iter().any(|flags| flags.has(Flags::DRIVEN)));
    };
    assert_reproducible(tap_and_sink_world, (40, 36), advance, |world| {
        assert!(world.frame().totals.removed.particles > 0 && world.frame().totals.emitted.particles > 200);
        (world.state_hash(), encode(world))
    });
}

#[test]
fn insertion_in_the_middle_of_the_store_leaves_other_bodies_unchanged() {
    let run = |pours: bool| {
        let mut world = tap_and_sink_world();
        tap_setting(&mut world, Setting::Active(pours));
        let push = Command::Push { body: "jelly".into(), region: Region::Ids(vec![0, 1]), velocity: Vec3::X };
        let pull =
            Drag { body: "jelly".into(), particle: 3, target: Vec3::new(2.0, 1.0, 0.0), tau: 0.3, max_force: 50.0 };
        (0..400).for_each(|step| {
            if step == 300 {
                world.apply(push.clone()).unwrap();
                world.apply(Command::Drag(pull.clone())).unwrap();
            }
            run_steps(&mut world, 1e-3, 1);
        });
        let of = |body: usize| world.particles().position[world.bodies()[body].range()].to_vec();
        (world.bodies()[0].len(), of(1), of(2))
    };
    let (dry, wet) = (run(false), run(true));
    assert!(dry.0 == 0 && wet.0 > 50, "{}", wet.0);
    assert!(dry.1 == wet.1, "the jelly after it");
    // Pressures of the whole model are solved together, in each step to 1e-4 of the volume of a particle.
    let deviation = dry.2.iter().zip(&wet.2).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(deviation < 0.01 * SPACING, "and the ice of the same model: {deviation}");
}

#[test]
fn a_submerged_mouth_emits_its_flow_rate() {
    let mut world = world(liquid(), DOWN);
    let walls = [(Vec3::Y, 0.0), (Vec3::X, 0.2), (Vec3::NEG_X, 0.2), (Vec3::Z, 0.2), (Vec3::NEG_Z, 0.2)];
    for (number, (normal, away)) in walls.into_iter().enumerate() {
        let pose = pose_at(-away * normal);
        world.add_obstacle(Obstacle::new(format!("{number}"), Geometry::HalfSpace { normal }, pose)).unwrap();
    }
    let pool = fluid_body("water", Vec3::new(0.36, 0.4, 0.36), SPACING);
    world.add_body(pool.at(0.22 * Vec3::Y)).unwrap();
    run_frames(&mut world, 20);
    let surface = |world: &World| {
        let mut heights: Vec<f32> = world.particles().position.iter().map(|x| x.y).collect();
        heights.sort_by(f32::total_cmp);
        2.0 * heights.iter().sum::<f32>() / heights.len() as f32
    };
    let (before, count) = (surface(&world), world.particles().len());
    let up = Emitter::new("tap", "water", 0.08, 0.08 * Vec3::Y, Vec3::new(0.0, 0.3, 0.0));
    world.apply(Command::Emit(up)).unwrap();
    for _ in 0..45 {
        world.advance_frame().unwrap();
        let particles = world.particles();
        for i in (0..particles.len()).filter(|&i| particles.flags[i].has(Flags::DRIVEN)) {
            assert_eq!(particles.velocity[i], Vec3::new(0.0, 0.3, 0.0));
        }
    }
    let emitted = world.particles().len() - count;
    let volume = f64::from(SPACING).powi(3) / 2.0f64.sqrt();
    let expected_rise = emitted as f64 * volume / 0.16;
    assert!(emitted > 90 && emitted.is_multiple_of(8), "{emitted}");
    // The jet heaves the surface: the rise agrees to a fifth.
    let rise = f64::from(surface(&world) - before);
    assert!((rise / expected_rise - 1.0).abs() < 0.2, "{rise} {expected_rise}");
}

#[test]
fn an_initially_empty_body_has_a_skin_once_it_has_particles() {
    let mut world = world_without_gravity(liquid());
    let skin = Skin::Isosurface(Isosurface::for_spacing(SPACING));
    world.add_body(NewBody { skin, ..empty_fluid("water", SPACING) }).unwrap();
    world.add_emitter(Emitter { from: 0.1, until: Some(0.4), ..tap() }).unwrap();
    let frame = world.frame();
    assert!(frame.bodies[0].skin.is_none() && frame.bodies[0].report.centre[0].is_nan());
    assert_eq!((frame.bodies[0].report.particles.fluid, frame.totals.mass), (0, 0.0));
    run_frames(&mut world, 15);
    let frame = world.frame();
    assert!(frame.bodies[0].skin.is_some() && frame.bodies[0].report.skin.volume > Some(0.0));
    world.add_drain(sink(Vec3::splat(9.0), Vec3::ZERO)).unwrap();
    run_frames(&mut world, 1);
    let frame = world.frame();
    assert!(frame.bodies[0].skin.is_none() && frame.particles.position.is_empty());
    assert_mass_balance(&world, 0.0);
}

fn assert_error_mentions(result: Result<(), phyxel::WorldError>, words: &[&str]) {
    let error = result.expect_err("it is invalid").to_string();
    assert!(words.iter().all(|word| error.contains(word)), "{error}: {words:?}");
}

#[test]
fn invalid_emitters_are_rejected_by_name() {
    let mut world = tap_and_sink_world();
    let assert_rejected = |world: &mut World, emitter: Emitter, words: &[&str]| {
        let emitter = Emitter { name: "hose".into(), ..emitter };
        assert_error_mentions(world.add_emitter(emitter), &[&["hose"], words].concat());
    };
    let good = tap();
    assert_rejected(
        &mut world,
        Emitter { position: 0.01 * Vec3::Y, ..good.clone() },
        &["floor", "0.01", "0.025", "move"],
    );
    assert_rejected(&mut world, Emitter { position: -Vec3::Y, ..good.clone() }, &["floor", "-1"]);
    let tilted = Emitter { position: 0.1 * Vec3::Y, direction: Vec3::X, ..good.clone() };
    assert_rejected(&mut world, tilted, &["floor", "narrower"]);
    let wine = Emitter { name: "hose".into(), body: "wine".into(), ..good.clone() };
    assert_error_mentions(world.add_emitter(wine), &["wine", "water", "ice"]);
    assert_rejected(&mut world, Emitter { body: "ice".into(), ..good.clone() }, &["ice", "fluid"]);
    assert_rejected(&mut world, Emitter { body: "jelly".into(), ..good.clone() }, &["jelly", "fluid"]);
    assert_rejected(&mut world, Emitter { mouth: Mouth::Disc { radius: 0.01 }, ..good.clone() }, &["0.05", "wider"]);
    let slit = Mouth::Rectangle { size: [1.0, 0.02] };
    assert_rejected(&mut world, Emitter { mouth: slit, ..good.clone() }, &["0.05", "wider"]);
    assert_rejected(&mut world, Emitter { mouth: Mouth::Disc { radius: 1e9 }, ..good.clone() }, &["mouth", "smaller"]);
    assert_rejected(&mut world, Emitter { mouth: Mouth::Disc { radius: f32::NAN }, ..good.clone() }, &["wider"]);
    assert_rejected(&mut world, Emitter { speed: 0.0, ..good.clone() }, &["speed", "0.0", "positive"]);
    assert_rejected(&mut world, Emitter { speed: -2.0, ..good.clone() }, &["speed", "-2"]);
    assert_rejected(&mut world, Emitter { max_particles: Some(0), ..good.clone() }, &["max_particles", "0"]);
    assert_rejected(&mut world, Emitter { until: Some(-1.0), ..good.clone() }, &["until", "-1", "from"]);
    assert_rejected(&mut world, Emitter { temperature: f32::NAN, ..good.clone() }, &["temperature"]);
    assert_error_mentions(world.add_emitter(good), &["tap", "name"]);
    let set = |target, setting| Command::Set { target, setting };
    let tap = || Target::Emitter("tap".into());
    assert_error_mentions(world.apply(set(tap(), Setting::Speed(-1.0))), &["tap", "speed", "-1"]);
    assert_error_mentions(world.apply(set(tap(), Setting::Flux(1.0))), &["tap", "flux"]);
    assert_error_mentions(world.apply(set(Target::Emitter("tip".into()), Setting::Active(true))), &["tip", "tap"]);
    assert_error_mentions(world.apply(set(Target::Drain("tap".into()), Setting::Active(true))), &["tap", "sink"]);
    let fast = phyxel::step::step(&mut tap_and_sink_world(), 10.0, &mut phyxel::StageTimes::default());
    assert!(matches!(&fast, Err(StepError::EmitterTooFast { emitter, .. }) if emitter == "tap"), "{fast:?}");
}

#[test]
fn invalid_drains_and_bounds_are_rejected_by_name() {
    let mut world = tap_and_sink_world();
    let good = Drain { name: "hole".into(), ..sink(Vec3::ONE, Vec3::ZERO) };
    assert_error_mentions(world.add_drain(sink(Vec3::ONE, Vec3::ZERO)), &["sink", "name"]);
    assert_error_mentions(world.add_drain(Drain { bodies: vec!["wine".into()], ..good.clone() }), &["wine", "water"]);
    assert_error_mentions(
        world.add_drain(Drain { bodies: vec!["jelly".into()], ..good.clone() }),
        &["hole", "jelly", "crystal"],
    );
    assert_error_mentions(world.add_drain(Drain { name: "bounds".into(), ..good.clone() }), &["bounds"]);
    assert_error_mentions(
        world.add_drain(Drain { geometry: Geometry::Sphere { radius: -1.0 }, ..good }),
        &["hole", "radius", "-1"],
    );
    let bounded =
        |min: Vec3, max: Vec3| World::new(Settings { bounds: Some(Bounds { min, max }), ..Settings::default() });
    for (min, max) in [(Vec3::ONE, Vec3::ONE), (Vec3::X, Vec3::ONE), (Vec3::NAN, Vec3::ONE)] {
        assert_error_mentions(bounded(min, max).map(drop), &["bounds", "min below max"]);
    }
    let mut small = bounded(Vec3::splat(-0.1), Vec3::splat(0.15)).unwrap();
    small.add_material(elastic(1.0e5, 0.0)).unwrap();
    assert_error_mentions(
        small.add_body(crystal_body("ice", Vec3::splat(0.22), SPACING)).map(drop),
        &["ice", "bounds", "wider"],
    );
    assert!(small.particles().is_empty());
    small.add_body(empty_fluid("water", SPACING)).unwrap();
    assert_error_mentions(small.add_emitter(tap()), &["tap", "at", "bounds"]);
}

#[test]
fn a_fluid_in_free_fall_is_reported() {
    let mut world = world(liquid(), DOWN).with_body(fluid_body("water", Vec3::splat(0.2), SPACING));
    let warnings = world.free_fall_warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("water") && warnings[0].contains("bounds"), "{warnings:?}");
    assert_eq!(world.lost_matter_warnings(), [] as [String; 0]);
    run_frames(&mut world, 40);
    let losses = world.lost_matter_warnings();
    assert!(losses.len() == 1 && losses[0].contains("bounds"), "{losses:?}");
    assert!(losses[0].contains(&format!("{0} of its {0}", world.particles().len())), "{losses:?}");
    let beside = pose_at(Vec3::new(5.0, -2.0, 0.0));
    let shelf = |name: &str, pose| Obstacle::new(name, Geometry::Box { size: Vec3::new(1.0, 0.1, 1.0) }, pose);
    let mut supported = crate::common::world(liquid(), DOWN)
        .with_body(fluid_body("water", Vec3::splat(0.2), SPACING))
        .with_obstacle(shelf("beside", beside));
    assert_eq!(supported.free_fall_warnings().len(), 1, "a shelf beside it does not help");
    supported.add_obstacle(shelf("below", pose_at(-Vec3::Y))).unwrap();
    assert_eq!(supported.free_fall_warnings(), [] as [String; 0]);
}
