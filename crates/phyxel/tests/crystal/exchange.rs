//! Emitters, drains and bounds: flow rates, books, refusals.

use crate::common::{DOWN, body, floor, frames, run, space, world};
use crate::{crystal, elastic, fluid};
use glam::{Quat, Vec3};
use phyxel::body::{NewBody, Pose};
use phyxel::checkpoint::{decode, encode};
use phyxel::command::{Command, Drag, Region, Setting, Target};
use phyxel::drain::{Bounds, Drain};
use phyxel::emitter::{Emitter, Mouth};
use phyxel::material::{Friction, Material};
use phyxel::model::shape::ShapeSettings;
use phyxel::obstacle::{Geometry, Obstacle};
use phyxel::particles::Flags;
use phyxel::skin::{Isosurface, Skin};
use phyxel::{Settings, StepError, World, parallel};

const SPACING: f32 = 0.05;

/// A fluid that has no particles of its own.
fn empty(name: &str) -> NewBody {
    NewBody { samples: vec![], volume: 0.0, ..fluid(name, Vec3::splat(0.2), SPACING) }
}

/// Down from a metre above the origin, 0.4 m/s, 21 particles a layer.
fn tap() -> Emitter {
    Emitter::new("tap", "water", 0.13, Vec3::Y, Vec3::new(0.0, -0.4, 0.0))
}

/// Takes away what is in a box.
fn sink(size: Vec3, at: Vec3) -> Drain {
    Drain::new("sink", Geometry::Box { size }, Pose { at, turn: Quat::IDENTITY })
}

fn set(world: &mut World, target: Target, setting: Setting) {
    world.apply(Command::Set { target, setting }).unwrap();
}

fn tap_setting(world: &mut World, setting: Setting) {
    set(world, Target::Emitter("tap".into()), setting);
}

/// Particles that are there, those that are not there any more, and the exact sum of masses.
fn assert_mass_closes(world: &World, first: f64) {
    let totals = world.frame().totals;
    // All particles have one mass, and sums of up to 2^29 numbers of 24 digits have no rounding in 53.
    assert_eq!(first + totals.emitted.mass - totals.removed.mass, totals.mass);
    assert!(totals.balance_error.abs() < 1e-12, "{}", totals.balance_error);
}

/// A tap above a floor with a drain in it, and a jelly that stands aside.
fn kitchen() -> World {
    let mut world = world(elastic(1.0e5), DOWN);
    world.add_obstacle(floor(Friction::NONE, 0.0)).unwrap();
    world.add_body(empty("water")).unwrap();
    let jelly = body("jelly", crate::common::block([3, 3, 3], 0.1), ShapeSettings::default());
    world.add_body(NewBody { pose: Pose { at: Vec3::new(2.0, 0.5, 0.0), turn: Quat::IDENTITY }, ..jelly }).unwrap();
    let ice = crystal("ice", Vec3::splat(0.2), SPACING);
    world.add_body(NewBody { pose: Pose { at: Vec3::new(-2.0, 0.2, 0.0), turn: Quat::IDENTITY }, ..ice }).unwrap();
    world.add_emitter(Emitter { temperature: 60.0, at: 0.6 * Vec3::Y, ..tap() }).unwrap();
    world.add_drain(sink(Vec3::new(0.4, 0.2, 0.4), Vec3::new(0.3, 0.0, 0.0))).unwrap();
    world
}

#[test]
fn the_flow_is_the_area_of_a_layer_times_the_speed() {
    for frames_per_second in [30.0, 60.0, 7.0] {
        let settings = Settings { gravity: Vec3::ZERO, frame_rate: frames_per_second, ..Settings::default() };
        let mut world = World::new(settings).unwrap();
        world.add_material(elastic(0.0)).unwrap();
        world.add_body(empty("water")).unwrap();
        world.add_emitter(Emitter { from: 0.1, ..tap() }).unwrap();
        while world.time() < 0.9 {
            world.advance_frame().unwrap();
        }
        let gap = f64::from(SPACING) / 2.0f64.sqrt();
        let moved = f64::from(0.4f32) * (world.time() - 0.1);
        let layers = (moved / gap).floor();
        let poured = &world.frame().totals.emitted.by["tap"];
        assert_eq!(poured.particles as f64, 21.0 * layers);
        assert_eq!(poured.particles as usize, world.particles().len());
        let density = f64::from(elastic(0.0).density);
        let exact = density * 21.0 * f64::from(SPACING).powi(2) * gap * layers;
        // The mass of a particle has 24 digits.
        assert!((poured.mass / exact - 1.0).abs() < 1e-7, "{} {exact}", poured.mass);
        // The last layer is where the stream has it, to rounding of heights of 1 m in 24 digits.
        let last = &world.particles().position[world.particles().len() - 21..];
        let way = moved - layers * gap;
        assert!(last.iter().all(|x| (f64::from(1.0 - x.y) - way).abs() < 2e-6), "{} {way}", last[0]);
    }
}

#[test]
fn a_stream_follows_its_settings() {
    let mut world = space(elastic(0.0));
    world.add_body(empty("water")).unwrap();
    world.add_emitter(Emitter { until: Some(2.0), most: Some(200), ..tap() }).unwrap();
    frames(&mut world, 15);
    let count = world.particles().len();
    assert_eq!(count, 21 * 5);
    tap_setting(&mut world, Setting::Active(false));
    frames(&mut world, 10);
    assert_eq!(world.particles().len(), count, "nothing comes while it is off");
    assert!(world.particles().flags.iter().all(|flags| !flags.has(Flags::GUIDED)), "and nothing is guided");
    tap_setting(&mut world, Setting::Active(true));
    tap_setting(&mut world, Setting::Speed(0.8));
    tap_setting(&mut world, Setting::Temperature(30.0));
    frames(&mut world, 3);
    let last = world.particles().len() - 1;
    assert!((world.particles().velocity[last].y + 0.8).abs() < 1e-6);
    let report = world.frame().bodies[0].report.clone();
    assert!((report.temperature.max - 30.0).abs() < 1e-4, "{:?}", report.temperature);
    frames(&mut world, 60);
    assert_eq!(world.particles().len(), 200, "no more than the most");
    // One in its place, of the same name: what it pours is counted with the rest, and it may pour as much again.
    let wide = Mouth::Rectangle { size: [0.2, 0.1] };
    world.apply(Command::Emit(Emitter { mouth: wide, most: Some(20), ..tap() })).unwrap();
    frames(&mut world, 60);
    assert_eq!(world.particles().len(), 220);
    assert_eq!(world.frame().totals.emitted.by["tap"].particles, 220);
    assert_eq!(world.emitters().count(), 1);
    // What is removed takes no more, nor does another of its name.
    world.apply(Command::Emit(tap())).unwrap();
    world.apply(Command::Remove { body: "water".into() }).unwrap();
    frames(&mut world, 10);
    world.add_body(fluid("water", Vec3::splat(0.2), SPACING)).unwrap();
    let count = world.particles().len();
    frames(&mut world, 10);
    assert_eq!((world.particles().len(), world.frame().totals.emitted.particles), (count, 220));
}

#[test]
fn what_drains_and_bounds_take_is_counted_and_mass_and_heat_close() {
    let bounds = Some(Bounds { min: Vec3::new(-3.0, -1.0, -1.0), max: Vec3::new(3.0, 2.0, 0.35) });
    let mut world = World::new(Settings { bounds, ..Settings::default() }).unwrap();
    world.add_material(elastic(0.0)).unwrap();
    world.add_obstacle(floor(Friction::NONE, 0.0)).unwrap();
    let pool = fluid("water", Vec3::new(0.3, 0.2, 0.3), SPACING);
    world
        .add_body(NewBody { pose: Pose { at: 0.13 * Vec3::Y, turn: Quat::IDENTITY }, temperature: 10.0, ..pool })
        .unwrap();
    world.add_emitter(Emitter { temperature: 60.0, ..tap() }).unwrap();
    let first = world.frame().totals.mass;
    frames(&mut world, 20);
    assert_mass_closes(&world, first);
    world.apply(Command::Drain(sink(Vec3::new(0.6, 0.4, 4.0), Vec3::new(0.45, 0.0, 0.0)))).unwrap();
    frames(&mut world, 25);
    assert_mass_closes(&world, first);
    let removed = world.frame().totals.removed;
    assert!(removed.by["sink"].particles > 20 && removed.by["bounds"].particles > 20, "{removed:?}");
    assert_eq!(removed.particles, removed.by["sink"].particles + removed.by["bounds"].particles);
    assert!(removed.heat > 0.0);
    let inside = |x: &Vec3| x.x > 0.15 && x.x < 0.75 && x.y < 0.2;
    assert!(!world.particles().position.iter().any(|x| inside(x) || x.z > 0.35), "what is to go is gone");
    set(&mut world, Target::Drain("sink".into()), Setting::Active(false));
    frames(&mut world, 15);
    assert_eq!(world.frame().totals.removed.by["sink"], removed.by["sink"]);
    assert_mass_closes(&world, first);
}

#[test]
fn a_drain_takes_from_the_bodies_that_it_names() {
    let mut world = space(elastic(1.0e5));
    for (name, x) in [("a", -0.3), ("b", 0.3)] {
        let pose = Pose { at: Vec3::X * x, turn: Quat::IDENTITY };
        world.add_body(NewBody { pose, ..crystal(name, Vec3::splat(0.2), SPACING) }).unwrap();
    }
    let half = world.bodies()[0].len();
    world.add_drain(Drain { bodies: vec!["b".into()], ..sink(Vec3::splat(2.0), Vec3::ZERO) }).unwrap();
    run(&mut world, 1e-3, 1);
    assert_eq!((world.bodies()[0].len(), world.bodies()[1].len()), (half, 0));
    assert_eq!(world.frame().bodies[1].report.particles.solid, 0, "an empty body is still told of");
    run(&mut world, 1e-3, 2);
}

#[test]
fn every_thread_count_and_a_resumed_run_give_the_same_bits() {
    let run = |threads, resumed: bool| {
        parallel::with_threads(Some(threads), || {
            let mut world = kitchen();
            for frame in 0..40 {
                world.advance_frame().unwrap();
                if resumed && frame == 17 {
                    assert!(world.particles().flags.iter().any(|flags| flags.has(Flags::GUIDED)));
                    world = decode(&encode(&world)).unwrap();
                }
            }
            assert!(world.frame().totals.removed.particles > 0 && world.frame().totals.emitted.particles > 200);
            (world.state_hash(), encode(&world))
        })
    };
    let first = run(1, false);
    for (threads, resumed) in [(2, false), (8, false), (1, true)] {
        let other = run(threads, resumed);
        assert_eq!(first.0, other.0);
        assert!(first.1 == other.1, "{threads} threads");
    }
}

#[test]
fn growth_in_the_middle_of_the_store_leaves_other_bodies_alone() {
    let run = |pours: bool| {
        let mut world = kitchen();
        tap_setting(&mut world, Setting::Active(pours));
        let push = Command::Push { body: "jelly".into(), region: Region::Samples(vec![0, 1]), velocity: Vec3::X };
        let pull = Drag { body: "jelly".into(), sample: 3, to: Vec3::new(2.0, 1.0, 0.0), tau: 0.3, limit: 50.0 };
        (0..400).for_each(|step| {
            if step == 300 {
                world.apply(push.clone()).unwrap();
                world.apply(Command::Drag(pull.clone())).unwrap();
            }
            run(&mut world, 1e-3, 1);
        });
        let of = |body: usize| world.particles().position[world.bodies()[body].range()].to_vec();
        (world.bodies()[0].len(), of(1), of(2))
    };
    let (dry, wet) = (run(false), run(true));
    assert!(dry.0 == 0 && wet.0 > 50, "{}", wet.0);
    assert!(dry.1 == wet.1, "the jelly after it");
    // Pressures of the whole model are found together, each step to 1e-4 of the room of a particle.
    let apart = dry.2.iter().zip(&wet.2).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(apart < 0.01 * SPACING, "and the ice of the same model: {apart}");
}

#[test]
fn a_mouth_under_water_pours_what_it_should() {
    let mut world = world(elastic(0.0), DOWN);
    let walls = [(Vec3::Y, 0.0), (Vec3::X, 0.2), (Vec3::NEG_X, 0.2), (Vec3::Z, 0.2), (Vec3::NEG_Z, 0.2)];
    for (number, (normal, away)) in walls.into_iter().enumerate() {
        let pose = Pose { at: -away * normal, turn: Quat::IDENTITY };
        world.add_obstacle(Obstacle::new(format!("{number}"), Geometry::HalfSpace { normal }, pose)).unwrap();
    }
    let pool = fluid("water", Vec3::new(0.36, 0.4, 0.36), SPACING);
    world.add_body(NewBody { pose: Pose { at: 0.22 * Vec3::Y, turn: Quat::IDENTITY }, ..pool }).unwrap();
    frames(&mut world, 20);
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
        for i in (0..particles.len()).filter(|&i| particles.flags[i].has(Flags::GUIDED)) {
            assert_eq!(particles.velocity[i], Vec3::new(0.0, 0.3, 0.0));
        }
    }
    let poured = world.particles().len() - count;
    let volume = f64::from(SPACING).powi(3) / 2.0f64.sqrt();
    let rises = poured as f64 * volume / 0.16;
    assert!(poured > 90 && poured.is_multiple_of(8), "{poured}");
    // The jet heaves the surface; of the water that came, all must be there to a fifth.
    let risen = f64::from(surface(&world) - before);
    assert!((risen / rises - 1.0).abs() < 0.2, "{risen} {rises}");
}

#[test]
fn a_body_that_is_empty_at_first_can_be_seen_at_any_time() {
    let mut world = space(Material { name: "matter".into(), ..elastic(0.0) });
    let skin = Skin::Isosurface(Isosurface::for_spacing(SPACING));
    world.add_body(NewBody { skin, ..empty("water") }).unwrap();
    world.add_emitter(Emitter { from: 0.1, until: Some(0.4), ..tap() }).unwrap();
    let frame = world.frame();
    assert!(frame.bodies[0].skin.is_none() && frame.bodies[0].report.centre[0].is_nan());
    assert_eq!((frame.bodies[0].report.particles.fluid, frame.totals.mass), (0, 0.0));
    frames(&mut world, 15);
    let frame = world.frame();
    assert!(frame.bodies[0].skin.is_some() && frame.bodies[0].report.skin.volume > Some(0.0));
    world.add_drain(sink(Vec3::splat(9.0), Vec3::ZERO)).unwrap();
    frames(&mut world, 1);
    let frame = world.frame();
    assert!(frame.bodies[0].skin.is_none() && frame.particles.position.is_empty());
    assert_mass_closes(&world, 0.0);
}

fn refusal(result: Result<(), phyxel::WorldError>, words: &[&str]) {
    let error = result.expect_err("it makes no sense").to_string();
    assert!(words.iter().all(|word| error.contains(word)), "{error}: {words:?}");
}

#[test]
fn emitters_that_make_no_sense_are_refused_by_name() {
    let mut world = kitchen();
    let tried = |world: &mut World, emitter: Emitter, words: &[&str]| {
        let emitter = Emitter { name: "hose".into(), ..emitter };
        refusal(world.add_emitter(emitter), &[&["hose"], words].concat());
    };
    let good = tap();
    tried(&mut world, Emitter { at: 0.01 * Vec3::Y, ..good.clone() }, &["floor", "0.01", "0.025", "move"]);
    tried(&mut world, Emitter { at: -Vec3::Y, ..good.clone() }, &["floor", "-1"]);
    let tilted = Emitter { at: 0.1 * Vec3::Y, direction: Vec3::X, ..good.clone() };
    tried(&mut world, tilted, &["floor", "narrower"]);
    let wine = Emitter { name: "hose".into(), body: "wine".into(), ..good.clone() };
    refusal(world.add_emitter(wine), &["wine", "water", "ice"]);
    tried(&mut world, Emitter { body: "ice".into(), ..good.clone() }, &["ice", "fluid"]);
    tried(&mut world, Emitter { body: "jelly".into(), ..good.clone() }, &["jelly", "fluid"]);
    tried(&mut world, Emitter { mouth: Mouth::Disc { radius: 0.01 }, ..good.clone() }, &["0.05", "wider"]);
    let slit = Mouth::Rectangle { size: [1.0, 0.02] };
    tried(&mut world, Emitter { mouth: slit, ..good.clone() }, &["0.05", "wider"]);
    tried(&mut world, Emitter { mouth: Mouth::Disc { radius: 1e9 }, ..good.clone() }, &["mouth", "smaller"]);
    tried(&mut world, Emitter { mouth: Mouth::Disc { radius: f32::NAN }, ..good.clone() }, &["wider"]);
    tried(&mut world, Emitter { speed: 0.0, ..good.clone() }, &["speed", "0.0", "positive"]);
    tried(&mut world, Emitter { speed: -2.0, ..good.clone() }, &["speed", "-2"]);
    tried(&mut world, Emitter { most: Some(0), ..good.clone() }, &["most", "0"]);
    tried(&mut world, Emitter { until: Some(-1.0), ..good.clone() }, &["until", "-1", "from"]);
    tried(&mut world, Emitter { temperature: f32::NAN, ..good.clone() }, &["temperature"]);
    refusal(world.add_emitter(good), &["tap", "name"]);
    let set = |target, setting| Command::Set { target, setting };
    let tap = || Target::Emitter("tap".into());
    refusal(world.apply(set(tap(), Setting::Speed(-1.0))), &["tap", "speed", "-1"]);
    refusal(world.apply(set(tap(), Setting::Flux(1.0))), &["tap", "flux"]);
    refusal(world.apply(set(Target::Emitter("tip".into()), Setting::Active(true))), &["tip", "tap"]);
    refusal(world.apply(set(Target::Drain("tap".into()), Setting::Active(true))), &["tap", "sink"]);
    let fast = phyxel::step::step(&mut kitchen(), 10.0, &mut phyxel::StageTimes::default());
    assert!(matches!(&fast, Err(StepError::TooFast { emitter, .. }) if emitter == "tap"), "{fast:?}");
}

#[test]
fn drains_and_bounds_that_make_no_sense_are_refused_by_name() {
    let mut world = kitchen();
    let good = Drain { name: "hole".into(), ..sink(Vec3::ONE, Vec3::ZERO) };
    refusal(world.add_drain(sink(Vec3::ONE, Vec3::ZERO)), &["sink", "name"]);
    refusal(world.add_drain(Drain { bodies: vec!["wine".into()], ..good.clone() }), &["wine", "water"]);
    refusal(world.add_drain(Drain { bodies: vec!["jelly".into()], ..good.clone() }), &["hole", "jelly", "crystal"]);
    refusal(world.add_drain(Drain { name: "bounds".into(), ..good.clone() }), &["bounds"]);
    refusal(world.add_drain(Drain { geometry: Geometry::Sphere { radius: -1.0 }, ..good }), &["hole", "radius", "-1"]);
    let bounded =
        |min: Vec3, max: Vec3| World::new(Settings { bounds: Some(Bounds { min, max }), ..Settings::default() });
    for (min, max) in [(Vec3::ONE, Vec3::ONE), (Vec3::X, Vec3::ONE), (Vec3::NAN, Vec3::ONE)] {
        refusal(bounded(min, max).map(drop), &["bounds", "min below max"]);
    }
    let mut small = bounded(Vec3::splat(-0.1), Vec3::splat(0.15)).unwrap();
    small.add_material(elastic(1.0e5)).unwrap();
    refusal(small.add_body(crystal("ice", Vec3::splat(0.22), SPACING)).map(drop), &["ice", "bounds", "wider"]);
    assert!(small.particles().is_empty());
    small.add_body(empty("water")).unwrap();
    refusal(small.add_emitter(tap()), &["tap", "at", "bounds"]);
}

#[test]
fn a_fluid_that_nothing_stops_is_told_of() {
    let mut world = world(elastic(0.0), DOWN);
    world.add_body(fluid("water", Vec3::splat(0.2), SPACING)).unwrap();
    let warnings = world.warnings();
    assert!(warnings.len() == 1 && warnings[0].contains("water") && warnings[0].contains("bounds"), "{warnings:?}");
    assert_eq!(world.losses(), [] as [String; 0]);
    frames(&mut world, 40);
    let losses = world.losses();
    assert!(losses.len() == 1 && losses[0].contains("bounds"), "{losses:?}");
    assert!(losses[0].contains(&format!("{0} of its {0}", world.particles().len())), "{losses:?}");
    let beside = Pose { at: Vec3::new(5.0, -2.0, 0.0), turn: Quat::IDENTITY };
    let shelf = |name: &str, pose| Obstacle::new(name, Geometry::Box { size: Vec3::new(1.0, 0.1, 1.0) }, pose);
    let mut stands = crate::common::world(elastic(0.0), DOWN);
    stands.add_body(fluid("water", Vec3::splat(0.2), SPACING)).unwrap();
    stands.add_obstacle(shelf("beside", beside)).unwrap();
    assert_eq!(stands.warnings().len(), 1, "a shelf beside it does not help");
    stands.add_obstacle(shelf("below", Pose { at: -Vec3::Y, turn: Quat::IDENTITY })).unwrap();
    assert_eq!(stands.warnings(), [] as [String; 0]);
}
