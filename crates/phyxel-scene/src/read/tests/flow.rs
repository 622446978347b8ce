//! Emitters, drains and bounds: valid ones are read, invalid ones are reported.

use super::problems;
use crate::{BuildOptions, Built, Scene};
use phyxel::commands::{Command, Setting, Target};
use phyxel::emission::Mouth;
use std::path::Path;

const WATER: &str = "\n[[bodies]]\nname = 'water'\nmodel = 'fluid'\nmaterial = 'water'\nspacing = 0.05\n\
    temperature = 12\n[[obstacles]]\nname = 'floor'\nshape = { kind = 'plane' }\n";
const TAP: &str = "[[emitters]]\nname = 'tap'\nbody = 'water'\n";
const REST: &str = "mouth = { kind = 'disc', radius = 0.1 }\nat = [0, 1, 0]\nspeed = 0.5\n";

fn built(text: &str) -> Result<Built, String> {
    let text = format!("version = 1\nduration = 1\n{text}");
    let scene = Scene::read(&text, "x.toml", Path::new(".")).map_err(|error| error.to_string())?;
    scene.build(&BuildOptions { max_particles: 20_000, ..BuildOptions::default() }).map_err(|error| error.to_string())
}

#[test]
fn emitters_drains_and_bounds_are_read() -> Result<(), String> {
    let text = format!(
        "bounds = {{ min = [-1, -1, -1], max = [1, 2, 1] }}\n{WATER}{TAP}{REST}from = 0.2\nuntil = 0.9\n\
         max_particles = 500\nactive = false
        [[emitters]]\nname = 'slit'\nbody = 'water'\nmouth = {{ kind = 'rectangle', size = [0.2, 0.1] }}\n\
        at = [0.5, 0.5, 0]\ndirection = [-2, 0, 0]\nspeed = 1\ntemperature = 40
        [[drains]]\nname = 'sink'\nregion = {{ kind = 'difference', base = {{ kind = 'box', size = [1, 1, 1] }}, cuts \
        = [{{ kind = 'sphere', radius = 0.4 }}], at = [0, 0.2, 0] }}\nbodies = ['water']
        [[events]]\nat = 0.5\ntarget = 'tap'\nset = {{ active = true, speed = 0.7, temperature = 30 }}
        [[events]]\nat = 0.6\ntarget = 'sink'\nset = {{ active = false }}
        [[expect]]\nwhat = 'totals.removed.by.sink.mass'\nabove = 0
        [[expect]]\nwhat = 'totals.emitted.particles'\nabove = 0\n"
    );
    let Built { mut world, warnings } = built(&text)?;
    assert_eq!(warnings, [] as [String; 0]);
    assert_eq!((world.bodies()[0].len(), world.settings().bounds.map(|bounds| bounds.max.y)), (0, Some(2.0)));
    let [tap, slit] = &world.emitters().collect::<Vec<_>>()[..] else { return Err("two emitters".into()) };
    assert_eq!((tap.from, tap.until, tap.max_particles, tap.active), (0.2, Some(0.9), Some(500), false));
    assert_eq!((tap.temperature, tap.direction, slit.temperature), (12.0, -glam::Vec3::Y, 40.0));
    assert_eq!((slit.mouth, slit.direction), (Mouth::Rectangle { size: [0.2, 0.1] }, -glam::Vec3::X));
    assert_eq!(world.drains().map(|drain| drain.bodies.clone()).collect::<Vec<_>>(), [["water"]]);
    for _ in 0..20 {
        world.advance_frame().map_err(|error| error.to_string())?;
    }
    assert!(world.emitters().all(|emitter| emitter.active) && world.drains().all(|drain| !drain.active));
    let emitted = world.frame().totals.emitted;
    assert!(emitted.by["tap"].particles > 0 && emitted.by["slit"].particles > 0, "{emitted:?}");
    let off = Command::Set { target: Target::Emitter("tap".into()), setting: Setting::Active(false) };
    world.apply(off).map_err(|error| error.to_string())
}

#[test]
fn wrong_emitters_and_drains_are_named() {
    assert_eq!(problems(&format!("{WATER}{TAP}{REST}")), Vec::<String>::new());
    let long = "mouth = { kind = 'rectangle', size = [1, 2, 3] }\nat = [0, 1, 0]\nspeed = 1";
    for (lines, expected) in [
        (format!("{TAP}{}", REST.replace("0.5", "0")), "emitters[0] \"tap\".speed: is 0"),
        (format!("{TAP}{REST}max_particles = 0"), "emitters[0] \"tap\".max_particles: is 0"),
        (format!("{TAP}{REST}pressure = 2"), "emitters[0] \"tap\": unknown key \"pressure\""),
        (format!("{TAP}{REST}from = 2\nuntil = 1"), "ends at until = 1 s"),
        (format!("{TAP}{long}"), ".mouth.size: is a list of 3, but must be two sides of a rectangle (m)"),
        (format!("{TAP}{}", REST.replace("disc", "ring")), "there is no kind of mouth \"ring\""),
        (format!("{TAP}{REST}{TAP}{REST}"), "has the name of emitters[0]"),
        (format!("{TAP}{REST}[[drains]]\nname = 'hole'"), "drains[0] \"hole\": \"region\" is missing"),
        (
            format!("{TAP}{REST}[[drains]]\nname = 'hole'\nregion = {{ kind = 'plane' }}\nbodies = ['wine']"),
            "there is no body \"wine\"",
        ),
        (
            format!("{TAP}{REST}[[drains]]\nname = 'hole'\nregion = {{ kind = 'plane' }}\nbodies = []"),
            ".bodies: is empty",
        ),
        (format!("{TAP}{REST}[[events]]\nat = 1\ntarget = 'tap'\nset = {{ speed = -1 }}"), ".set.speed: is -1"),
        (format!("{TAP}{REST}[[events]]\nat = 1\ntarget = 'tap'\nset = {{ flux = 1 }}"), "unknown key \"flux\""),
        (format!("{TAP}{REST}[[expect]]\nwhat = 'totals.removed.by'\nabove = 1"), "ends too early"),
        (String::new(), "bodies[0] \"water\": has no shape, and no emitter pours into it"),
    ] {
        let found = problems(&format!("{WATER}{lines}\n"));
        assert!(found.len() == 1 && found[0].contains(expected), "{lines}: {found:?}");
    }
    let found = problems(&format!("{WATER}{}{REST}", TAP.replace("'water'", "'wine'")));
    assert!(found.iter().any(|problem| problem.contains("there is no body \"wine\"")), "{found:?}");
    let found = problems(&format!("bounds = {{ min = [0, 0, 0], max = [1, 0, 1] }}\n{WATER}{TAP}{REST}"));
    assert!(
        found.len() == 1 && found[0].contains("bounds: goes from") && found[0].contains("min must be below max"),
        "{found:?}"
    );
    let copied = WATER.replace("temperature = 12", "temperature = 12\ncopies = { stack = 2, step = 1 }");
    let found = problems(&format!("{copied}{TAP}{REST}"));
    assert!(found.iter().any(|problem| problem.contains("name one of them, such as \"water-1\"")), "{found:?}");
    let solid = WATER.replace("'fluid'", "'crystal'");
    let found = problems(&format!("{solid}{TAP}{REST}"));
    assert!(found.len() == 1 && found[0].contains("\"shape\" is missing"), "{found:?}");
}

#[test]
fn what_only_a_world_can_check_is_refused_when_it_is_built() {
    let refused = |text: String, words: &[&str]| {
        let error = built(&text).map(|_| ()).expect_err("it makes no sense");
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    };
    refused(format!("{WATER}{TAP}{}", REST.replace("[0, 1, 0]", "[0, 0.01, 0]")), &["tap", "floor", "0.025"]);
    refused(format!("{WATER}{TAP}{}", REST.replace("0.1", "0.01")), &["tap", "0.05", "wider"]);
    // 100 m in layers of 13 particles, 35.36 mm apart.
    refused(format!("{WATER}{TAP}{}", REST.replace("speed = 0.5", "speed = 100")), &["water: 36770", "20000"]);
    let jelly = WATER
        .replace("spacing", "shape = { kind = 'box', size = [0.2, 0.2, 0.2] }\nspacing")
        .replace("'fluid'", "'shape_matching'");
    refused(format!("{jelly}{TAP}{REST}"), &["tap", "water", "fluid"]);
    let outside =
        WATER.replace("spacing", "shape = { kind = 'box', size = [0.2, 0.2, 0.2], at = [0, 1.95, 0] }\nspacing");
    refused(format!("bounds = {{ min = [-1, 0, -1], max = [1, 2, 1] }}\n{outside}"), &["water", "bounds", "wider"]);
}

#[test]
fn a_fluid_that_nothing_stops_is_worth_a_warning() -> Result<(), String> {
    let bare = WATER.split("[[obstacles]]").next().unwrap_or_default();
    let warnings = built(&format!("{bare}{TAP}{REST}"))?.warnings;
    assert!(warnings.len() == 1 && warnings[0].contains("\"water\"") && warnings[0].contains("bounds"), "{warnings:?}");
    assert!(built(&format!("gravity = [0, 0, 0]\n{bare}{TAP}{REST}"))?.warnings.is_empty());
    assert!(
        built(&format!("bounds = {{ min = [-1, 0, -1], max = [1, 2, 1] }}\n{bare}{TAP}{REST}"))?.warnings.is_empty()
    );
    assert!(built(&format!("{WATER}{TAP}{REST}"))?.warnings.is_empty());
    Ok(())
}
