//! Valid files are read, invalid ones are reported: each kind of mistake with its message.

mod continuum;
mod crystal;
mod flow;
mod heating;
mod mass_spring;
mod tetra;

use crate::scene::{
    Action, ClusterPlan, Copies, ExpectedTime, ExpectedValue, ModelDescription, SkinDescription, Subject,
};
use crate::shape::Shape;
use crate::{Scene, SceneErrors};
use glam::Vec3;
use phyxel::commands::{Setting, Target};
use phyxel::material::Sticky;
use phyxel::model::shape_matching::MatchingMode;
use std::path::Path;

pub(super) fn read(text: &str) -> Result<Scene, SceneErrors> {
    Scene::read(text, "scenes/x.toml", Path::new("."))
}

/// The messages of a file that starts with two good lines.
pub(super) fn problems(text: &str) -> Vec<String> {
    let text = format!("version = 1\nduration = 1.0\n{text}");
    match read(&text) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.to_string().lines().map(str::to_string).collect(),
    }
}

/// A good body, to which one line is added as line 9.
pub(super) fn body_problems(line: &str) -> Vec<String> {
    problems(&format!(
        "[[bodies]]\nname = 'goop'\nmodel = 'shape_matching'\nmaterial = 'wax'\nspacing = 0.1\n\
         shape = {{ kind = 'box', size = [1, 1, 1] }}\n{line}\n"
    ))
}

pub(super) fn material_problems(line: &str) -> Vec<String> {
    problems(&format!("[materials.goop]\n{line}\n"))
}

/// The example of the design, with a model that exists.
const EXAMPLE: &str = include_str!("example.toml");

#[test]
fn the_example_is_read_to_the_last_key() {
    let scene = read(EXAMPLE).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!((scene.name.as_str(), scene.title.as_str(), scene.seed), ("x", "Goop to glop", 7));
    assert_eq!((scene.duration, scene.frame_rate, scene.frames()), (14.0, 30.0, 420));
    assert_eq!(scene.gravity, Vec3::new(0.0, -9.81, 0.0));
    assert_eq!(scene.camera.map(|camera| (camera.eye.x, camera.field_of_view)), Some((2.2, 35.0)));
    assert_eq!((scene.step.substeps, scene.step.contact_iterations), (Some(20), Some(6)));

    let goop = &scene.materials[0];
    assert_eq!((goop.name.as_str(), goop.density, goop.strength.as_ref()), ("goop", 1000.0, Some(&2.0e3.into())));
    assert_eq!(goop.young_modulus.points(), [(0.0, 2.0e4), (6.0, 1.0e4), (8.0, 0.0)]);
    assert_eq!(goop.plasticity.as_ref().map(|it| (it.yield_strain.at(0.0), it.creep, it.max)), Some((0.05, 5.0, 0.5)));
    assert_eq!((goop.heat.softening, goop.heat.melting, goop.heat.boiling), (Some(6.0), Some(8.0), Some(30.0)));
    assert_eq!(goop.fluid.viscosity.at(0.0), 0.1);
    assert_eq!(goop.color.map(|channel| (channel * 255.0).round()), [242.0, 209.0, 107.0]);
    // Not said in the file: from the preset.
    assert_eq!(goop.friction.r#static, 0.5);
    assert_eq!(scene.materials.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["goop", "rubber", "lead"]);
}

#[test]
fn the_bodies_of_the_example_are_what_it_says() {
    let scene = read(EXAMPLE).unwrap_or_else(|errors| panic!("{errors}"));
    let goop = &scene.bodies[0];
    assert!(matches!(goop.shape, Some(Shape::Box { size }) if size == Vec3::new(0.4, 0.4, 0.9)));
    assert_eq!((goop.place.turn.z, goop.spacing, goop.held.len()), (20.0, 0.1, 1));
    let ModelDescription::ShapeMatching { clusters, settings } = &goop.model else { panic!("{:?}", goop.model) };
    assert_eq!(*clusters, ClusterPlan::Counts([2, 2, 2]));
    assert_eq!((settings.mode, settings.beta, settings.tau), (MatchingMode::Quadratic, 0.5, None));
    assert!(matches!(goop.skin, SkinDescription::Mesh { mesh: None, cell: Some(cell) } if cell == 0.05));

    let balls = &scene.bodies[1];
    assert!(matches!(balls.copies, Some(Copies::Grid { counts: [2, 1, 3], .. })));
    assert_eq!((balls.count(), balls.name_of(5)), (6, "ball-6".to_string()));
    assert!(balls.makes("ball-6") && !balls.makes("ball-7") && !balls.makes("ball") && !balls.makes("ball-06"));
    let ModelDescription::ShapeMatching { clusters, settings } = &balls.model else { panic!("{:?}", balls.model) };
    assert_eq!((settings.mode, *clusters), (MatchingMode::Rigid, ClusterPlan::Longest(3)));
}

#[test]
fn obstacles_events_and_expectations_of_the_example_are_what_it_says() {
    let scene = read(EXAMPLE).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(scene.obstacles.len(), 3);
    assert_eq!((scene.obstacles[0].friction.r#static, scene.obstacles[0].temperature), (0.8, Some(0.0)));
    assert_eq!(scene.obstacles[2].keyframes.len(), 2);

    let at: Vec<f64> = scene.events.iter().map(|event| event.at).collect();
    assert_eq!(at, [4.0, 5.0, 6.0, 7.0, 7.5, 8.0, 8.5, 9.0, 9.5]);
    let Action::Set(settings) = &scene.events[1].action else { panic!("a setting") };
    // One name, two owners: the body has a beta, its material a stiffness.
    assert_eq!(settings[0], (Target::Body("goop".into()), Setting::Beta(0.25)));
    assert!(matches!(&settings[1], (Target::Material(name), Setting::YoungModulus(_)) if name == "goop"));

    let [end, always, at] = &scene.expectations[..] else { panic!("three expectations") };
    assert_eq!((end.time, &end.subject), (ExpectedTime::End, &Subject::Body("goop".into())));
    assert_eq!((end.path.join("."), end.above, end.below), ("centre.1".to_string(), Some(0.0), Some(2.5)));
    assert_eq!(
        (always.time, &always.subject, always.near),
        (ExpectedTime::Always, &Subject::Totals, Some((150.0, 100.0)))
    );
    assert_eq!((at.time, &at.subject), (ExpectedTime::At(1.0), &Subject::EveryBody));
    assert_eq!(at.equal, Some(ExpectedValue::Number(0.0)));
    assert!(at.line.is_some());
}

#[test]
fn a_message_names_file_line_place_value_and_remedy() {
    assert_eq!(
        body_problems("velocity = [0, 'x', 0]"),
        ["scenes/x.toml:9: bodies[0] \"goop\".velocity[1]: is the text \"x\", but must be a number (m/s)"]
    );
    let negative = EXAMPLE.replace("spacing = 0.1 ", "spacing = -0.1 ");
    let line = EXAMPLE.lines().position(|line| line.starts_with("spacing = 0.1 ")).unwrap() + 1;
    assert_eq!(
        read(&negative).unwrap_err().to_string(),
        format!("scenes/x.toml:{line}: bodies[0] \"goop\".spacing: is -0.1, but must be positive (m)")
    );
}

#[test]
fn a_file_with_eleven_mistakes_reports_eleven() {
    let text = "version = 2\nduration = 0\nframerate = 30\ngravity = [0, 9.81]\n\
                [materials.goop]\ndensity = nan\npoisson_ratio = 0.5\ncolor = 'red'\n\
                [[bodies]]\nname = 'a'\nmodel = 'sprung'\nmaterial = 'gop'\nspacing = 0.1\n\
                shape = { kind = 'box', size = [1, -1, 1] }\n\
                [[events]]\nat = 1\ntarget = 'floor'\nset = { temperature = 1 }\n";
    let errors = read(text).unwrap_err();
    let lines: Vec<usize> = errors.problems.iter().filter_map(|problem| problem.line).collect();
    assert_eq!(lines, [1, 2, 3, 4, 6, 7, 8, 11, 12, 14, 17], "{errors}");
}

#[test]
fn syntax_errors_have_lines() {
    let problems = problems("gravity = [0, 1\n");
    assert!(problems[0].starts_with("scenes/x.toml:3: this is not TOML: "), "{problems:?}");
}

#[test]
fn unknown_keys_name_the_nearest_known_one() {
    assert_eq!(problems("titel = 'x'"), ["scenes/x.toml:3: unknown key \"titel\"; did you mean \"title\"?"]);
    assert_eq!(
        body_problems("temprature = 3"),
        ["scenes/x.toml:9: bodies[0] \"goop\": unknown key \"temprature\"; did you mean \"temperature\"?"]
    );
    assert_eq!(
        body_problems("place = { at = [0, 0, 0], spin = 3 }"),
        ["scenes/x.toml:9: bodies[0] \"goop\".place: unknown key \"spin\"; known keys: at, turn, scale"]
    );
}

#[test]
fn missing_keys_say_what_is_expected() {
    assert_eq!(
        read("version = 1").unwrap_err().to_string(),
        "scenes/x.toml: \"duration\" is missing; it must be a number (s)"
    );
    assert_eq!(
        problems("[[bodies]]\nname = 'a'\nmodel = 'shape_matching'\nmaterial = 'wax'\nshape = { kind = 'sphere' }"),
        [
            "scenes/x.toml:3: bodies[0] \"a\": \"spacing\" is missing; it must be a number (m)",
            "scenes/x.toml:7: bodies[0] \"a\".shape: \"radius\" is missing; it must be a number (m)",
        ]
    );
}

#[test]
fn closed_choices_list_their_words() {
    assert_eq!(
        body_problems("sampler = 'poison'"),
        ["scenes/x.toml:9: bodies[0] \"goop\".sampler: there is no sampler \"poison\"; did you mean \"poisson\"? \
          (known: lattice, ccp, poisson)"]
    );
    let tetra = problems(
        "[[bodies]]\nname = 'a'\nmodel = 'foam'\nmaterial = 'wax'\nspacing = 1\n\
         shape = { kind = 'sphere', radius = 2 }",
    );
    assert_eq!(
        tetra,
        ["scenes/x.toml:5: bodies[0] \"a\".model: there is no model \"foam\" (known: continuum, crystal, fluid, \
          shape_matching, mass_spring, tetra)"]
    );
    assert_eq!(
        body_problems("skin = { kind = 'fur' }"),
        ["scenes/x.toml:9: bodies[0] \"goop\".skin.kind: there is no kind of skin \"fur\" (known: particles, mesh, \
          isosurface, surfels, faces, smooth)"]
    );
    assert_eq!(
        body_problems("held = [{ kind = 'bix', size = [1, 1, 1] }]"),
        ["scenes/x.toml:9: bodies[0] \"goop\".held[0].kind: there is no kind of shape \"bix\"; did you mean \
          \"box\"? (known: box, sphere, ellipsoid, \
          cylinder, cone, capsule, torus, plane, mesh, union, intersection, difference, smooth_union)"]
    );
}

#[test]
fn unknown_names_come_with_the_nearest() {
    let problems = problems(
        "[[bodies]]\nname = 'a'\nmodel = 'shape_matching'\nmaterial = 'rubbr'\nspacing = 1\n\
         shape = { kind = 'sphere', radius = 2 }",
    );
    let start = "scenes/x.toml:6: bodies[0] \"a\".material: there is no material \"rubbr\"; did you mean \"rubber\"? \
        (known: rubber, jelly, ";
    assert!(problems.len() == 1 && problems[0].starts_with(start), "{problems:?}");
    assert_eq!(
        body_problems("[[events]]\nat = 1\ntarget = 'gop'\nset = { temperature = 1 }"),
        ["scenes/x.toml:11: events[0].target: there is no body, obstacle, material, heating, emitter or drain \
          \"gop\"; did you mean \"goop\"? (known: goop, wax, world)"]
    );
    assert_eq!(
        material_problems("preset = 'stele'")[0].split(" (").next(),
        Some("scenes/x.toml:4: materials.goop.preset: there is no preset \"stele\"; did you mean \"steel\"?")
    );
}

#[test]
fn names_are_unique_and_can_stand_in_paths() {
    let floor = "[[obstacles]]\nname = 'goop'\nshape = { kind = 'plane' }";
    assert_eq!(
        body_problems(floor),
        ["scenes/x.toml:9: obstacles[0] \"goop\": has the name of bodies[0] \"goop\"; give each a name of its own"]
    );
    assert_eq!(
        problems("[[obstacles]]\nname = 'a.b'\nshape = { kind = 'plane' }"),
        ["scenes/x.toml:4: obstacles[0] \"a.b\".name: is \"a.b\", but a name must be made of letters, digits, - and _"]
    );
    let copy = "copies = { stack = 3, step = 2.0 }\n[[bodies]]\nname = 'goop-2'\nmodel = 'shape_matching'\n\
        material = 'wax'\nspacing = 0.1\n\
                shape = { kind = 'sphere', radius = 1 }";
    assert_eq!(
        body_problems(copy),
        ["scenes/x.toml:10: bodies[1] \"goop-2\": has the name of a copy of \"goop\"; give it another name"]
    );
}

#[test]
fn what_matter_sticks_to_is_read_by_name() {
    let sticky = |line: &str| {
        let text = format!("version = 1\nduration = 1.0\n[materials.goop]\n{line}\n[materials.glop]\ndensity = 900\n");
        let scene = read(&text).unwrap_or_else(|errors| panic!("{errors}"));
        let goop = scene.materials.iter().find(|material| material.name == "goop").unwrap();
        goop.sticky.clone()
    };
    assert_eq!(sticky("sticky = false"), None);
    assert_eq!(sticky("sticky = ['goop']"), Some(Sticky::to(["goop"])));
    assert_eq!(sticky("sticky = ['glop', 'goop']"), Some(Sticky::to(["glop", "goop"])));
    // A preset that a body may be of without more words.
    assert_eq!(sticky("sticky = ['steel']"), Some(Sticky::to(["steel"])));
    let warm = Sticky { above: Some(40.0), ..Sticky::to(["glop"]) };
    assert_eq!(sticky("sticky = { with = ['glop'], above = 40.0 }"), Some(warm));
    let found = material_problems("sticky = ['goop', 'glop', 'gopo', 3]");
    let messages: Vec<&str> = found.iter().filter_map(|line| line.split("goop.sticky").nth(1)).collect();
    // All mistakes are reported at once.
    assert_eq!(messages.len(), 3, "{found:?}");
    assert!(
        messages[0].starts_with("[1]: there is no material \"glop\"") && messages[2].starts_with("[3]:"),
        "{found:?}"
    );
}

#[test]
fn numbers_out_of_range_are_refused() {
    for (line, message) in [
        ("poisson_ratio = -1.0", "poisson_ratio: is -1, but must be above -1 and below 0.5"),
        ("young_modulus = 0", "young_modulus: is 0, but must be positive (Pa)"),
        ("restitution = 1.1", "restitution: is 1.1, but must be from 0 to 1"),
        ("density = inf", "density: is inf, but must be positive (kg/m3)"),
        ("density = 1e300", "density: is 1e300, but must be smaller than 3.4e38 in size"),
        ("damping = -0.1", "damping: is -0.1, but must be zero or positive"),
        ("strength = true", "strength: is true, but must be a number (Pa)"),
        ("sticky = [\"gopo\"]", "sticky[0]: there is no material \"gopo\"; did you mean \"goop\"? (known: goop)"),
        ("sticky = []", "sticky: is an empty list, but must name what it sticks to: [\"goop\"]"),
        ("sticky = { with = [\"goop\"], above = true }", "sticky.above: is true, but must be a number (temperature)"),
        ("color = '#12345'", "color: is \"#12345\", but must be a colour such as \"#f2d16b\" (red, green, blue)"),
        ("plasticity = { yield = 0.1, creep = 1.0 }", "plasticity: \"max\" is missing; it must be a number"),
    ] {
        assert_eq!(material_problems(line), [format!("scenes/x.toml:4: materials.goop.{message}")]);
    }
    for (line, message) in [
        ("shape_matching = { beta = 1.5 }", "shape_matching.beta: is 1.5, but must be from 0 to 1"),
        ("shape_matching = { overlap = -0.5 }", "shape_matching.overlap: is -0.5, but must be from 0 to 1"),
        (
            "shape_matching = { clusters = [0, 1, 1] }",
            "shape_matching.clusters[0]: is 0, but must be a whole number from 1 to 4294967295",
        ),
        (
            "shape_matching = { clusters = 2000 }",
            "shape_matching.clusters: makes 2000 clusters along one side, but there may be at most 1024",
        ),
        ("radius = 0", "radius: is 0, but must be positive (m)"),
        ("place = { scale = 0 }", "place.scale: is 0, but must be positive"),
        (
            "copies = { stack = 2000000, step = 1 }",
            "copies.stack: makes 2000000 copies, but there may be at most 1000000",
        ),
        ("copies = { step = 1 }", "copies: is missing \"grid\", \"stack\" or \"random\"; say one of them"),
        (
            "copies = { random = 3, in = { kind = 'plane' } }",
            "copies.in: has no end; copies need a region with an end, such as a box",
        ),
    ] {
        assert_eq!(body_problems(line), [format!("scenes/x.toml:9: bodies[0] \"goop\".{message}")]);
    }
    assert_eq!(
        problems("step = { contact_iterations = 1001 }"),
        ["scenes/x.toml:3: step.contact_iterations: is 1001, but must be a whole number from 1 to 1000"]
    );
    assert_eq!(problems("seed = -1"), ["scenes/x.toml:3: seed: is -1, but must be a whole number from 0"]);
    assert_eq!(
        problems("camera = { eye = [0, 0, 0], target = [0, 0, 0] }"),
        ["scenes/x.toml:3: camera: has eye and target at the same position [0, 0, 0]; move one of them"]
    );
}

#[test]
fn matter_that_cannot_be_is_refused() {
    for (line, message) in [
        ("young_modulus = [[0, 1], [0, 2]]", "young_modulus[1]: has temperature 0 after 0, but temperatures must rise"),
        ("young_modulus = [[0, 1], [5]]", "young_modulus[1]: is a list of 1, but must be a point [temperature, Pa]"),
        (
            "young_modulus = [[0, 0]]",
            "young_modulus: is zero at every temperature, but must be positive (Pa) at one of them",
        ),
        (
            "friction = { static = 0.2, kinetic = 0.5 }",
            "friction: has kinetic = 0.5 above static = 0.2; sliding friction cannot be the larger",
        ),
        ("heat = { latent = 5 }", "heat: has latent = 5 without melting; give the temperature at which it melts"),
        (
            "heat = { softening = 9, melting = 8 }",
            "heat: has melting = 8 below softening = 9; matter softens before it melts",
        ),
        ("heat = { melting = 8, boiling = 8 }", "heat: has boiling = 8, but it must be above melting = 8"),
    ] {
        assert_eq!(material_problems(line), [format!("scenes/x.toml:4: materials.goop.{message}")]);
    }
}

#[test]
fn obstacles_and_their_keyframes_are_checked() {
    let obstacle = |line: &str| {
        problems(&format!("[[obstacles]]\nname = 'o'\nshape = {{ kind = 'plane', normal = [0, 0, 0] }}\n{line}"))
    };
    assert_eq!(
        obstacle(""),
        ["scenes/x.toml:5: obstacles[0] \"o\".shape.normal: is [0, 0, 0], but must have a length other than zero"]
    );
    let moving = |line: &str| problems(&format!("[[obstacles]]\nname = 'o'\nshape = {{ kind = 'plane' }}\n{line}"));
    assert_eq!(
        moving("keyframes = [{ time = 1 }, { time = 1, at = [0, 1, 0] }]"),
        ["scenes/x.toml:6: obstacles[0] \"o\".keyframes[1]: has time 1 after 1, but times must rise (s)"]
    );
    assert_eq!(
        moving("place = { at = [0, 0, 0] }\nkeyframes = [{ time = 0 }]"),
        ["scenes/x.toml:6: obstacles[0] \"o\".place: says where the obstacle is, and so does \"keyframes\"; keep \
          one of them (\"scale\" may stay)"]
    );
}

#[test]
fn events_are_checked_against_what_their_target_has() {
    let event = |lines: &str| body_problems(&format!("[[events]]\nat = 1\n{lines}"));
    assert_eq!(
        event("target = 'world'\nset = { gravty = [0, 0, 0] }"),
        ["scenes/x.toml:12: events[0].set: unknown key \"gravty\"; did you mean \"gravity\"?"]
    );
    assert_eq!(
        event("target = 'goop'\nset = { adhesion = 3 }")[0],
        "scenes/x.toml:12: events[0].set: unknown key \"adhesion\"; known keys: temperature, velocity, material, \
         mode, beta, tau, damping_rate, refreeze, flowing, deviatoric, integration"
    );
    assert_eq!(
        event("target = 'goop'\ndo = 'shove'"),
        ["scenes/x.toml:12: events[0].do: there is no action \"shove\" (known: push, warm, hold, release-hold, \
          drag, release, cut, remove)"]
    );
    assert_eq!(
        event("target = 'wax'\ndo = 'push'\nvelocity = [1, 0, 0]"),
        ["scenes/x.toml:11: events[0].target: there is no body \"wax\" (known: goop)"]
    );
    assert_eq!(
        event("target = 'goop'\ndo = 'cut'"),
        ["scenes/x.toml:9: events[0]: \"normal\" is missing; it must be three numbers"]
    );
    assert_eq!(
        event("target = 'goop'\nset = {}"),
        ["scenes/x.toml:12: events[0].set: is empty; say at least one setting and its new value"]
    );
    assert_eq!(
        event("target = 'goop'"),
        ["scenes/x.toml:9: events[0]: says neither \"set\" (settings to change) nor \"do\" (one of push, warm, \
          hold, release-hold, drag, release, cut, remove)"]
    );
    assert_eq!(event("target = 'goop'\nset = { tau = 'material', material = 'lead' }"), [] as [&str; 0]);
}

#[test]
fn expectations_are_checked_against_what_frames_say() {
    let expect = |lines: &str| body_problems(&format!("[[expect]]\n{lines}"));
    assert_eq!(expect("what = 'bodies.*.velocity.1'\nabove = -1"), [] as [&str; 0]);
    for (lines, message) in [
        (
            "what = 'bodies.goop.center.1'\nabove = 1",
            "expect[0].what: there is no quantity \"center\"; did you mean \"centre\"? (known: model, particles, \
             pieces, centre, bounds, velocity, temperature, strain_max, solver_iterations, degenerate, tetrahedra, \
             broken, merged, skin)",
        ),
        (
            "what = 'bodies.gop.centre.1'\nabove = 1",
            "expect[0].what: there is no body \"gop\"; did you mean \"goop\"? (known: goop, *)",
        ),
        ("what = 'bodies.goop.centre.3'\nabove = 1", "expect[0].what: has \"3\" where a number from 0 to 2 must stand"),
        ("what = 'bodies.goop.centre'\nabove = 1", "expect[0].what: ends too early; go on with a number from 0 to 2"),
        ("what = 'totals.mass.x'\nabove = 1", "expect[0].what: goes on with \"x\" where the value is already reached"),
        (
            "what = 'mass'\nabove = 1",
            "expect[0].what: is \"mass\", but must start with \"totals.\" or \"bodies.NAME.\"",
        ),
    ] {
        assert_eq!(expect(lines), [format!("scenes/x.toml:10: {message}")]);
    }
    for (lines, message) in [
        (
            "what = 'totals.mass'",
            "says nothing of the value; give \"above\", \"below\", \"near\" with \"within\", or \"equal\"",
        ),
        ("what = 'totals.mass'\nnear = 1", "needs both \"near\" (the value) and \"within\" (how far it may be off)"),
        ("what = 'totals.mass'\nabove = 2\nbelow = 1", "must be above 2 and below 1, which no number is"),
        ("what = 'totals.mass'\nabove = 2\nat = 1\nalways = true", "says both \"at\" and \"always\"; keep one of them"),
    ] {
        assert_eq!(expect(lines), [format!("scenes/x.toml:9: expect[0]: {message}")]);
    }
}

#[test]
fn shapes_of_all_kinds_are_read() {
    for (shape, volume) in [
        ("{ kind = 'box', size = [1, 2, 3] }", 6.0),
        ("{ kind = 'sphere', radius = 1, scale = 2 }", 33.5103),
        ("{ kind = 'ellipsoid', radii = [1, 2, 3], turn = [0, 45, 0] }", 25.1327),
        ("{ kind = 'cylinder', radius = 1, height = 2 }", std::f64::consts::TAU),
        ("{ kind = 'cone', radius = 1, height = 3 }", std::f64::consts::PI),
        ("{ kind = 'cone', radius = 1, top_radius = 1, height = 3, at = [1, 0, 0] }", 9.42478),
        ("{ kind = 'capsule', radius = 1, height = 3 }", 13.6136),
        ("{ kind = 'torus', radius = 2, tube = 1 }", 39.4784),
        (
            "{ kind = 'union', parts = [{ kind = 'box', size = [1, 1, 1] }, { kind = 'box', size = [1, 1, 1], at = \
             [3, 0, 0] }] }",
            2.0,
        ),
        ("{ kind = 'intersection', parts = [{ kind = 'box', size = [2, 2, 2] }, { kind = 'plane' }] }", 4.0),
        (
            "{ kind = 'difference', base = { kind = 'box', size = [2, 2, 2] }, cuts = [{ kind = 'box', size = [3, 1, \
             3] }] }",
            4.0,
        ),
        ("{ kind = 'smooth_union', blend = 0.0, parts = [{ kind = 'box', size = [1, 1, 1] }] }", 1.0),
    ] {
        let text = format!(
            "version = 1\nduration = 1\n[[bodies]]\nname = 'a'\nmodel = 'shape_matching'\nmaterial = 'wax'\n\
             spacing = 1\nshape = {shape}"
        );
        let scene = read(&text).unwrap_or_else(|errors| panic!("{errors}"));
        // Volumes of combined shapes are measured to about a thousandth.
        let measured = scene.bodies[0].shape.as_ref().map_or(0.0, |shape| shape.volume());
        assert!((measured - volume).abs() < 5.0e-3 * volume, "{shape} has volume {measured}, not {volume}");
    }
}

#[test]
fn shapes_that_make_no_sense_are_refused() {
    assert_eq!(
        body_problems("held = [{ kind = 'torus', radius = 1, tube = 2 }]"),
        ["scenes/x.toml:9: bodies[0] \"goop\".held[0]: the tube of a torus is 2 m, more than its radius of 1 m; \
          make the tube thinner or the ring wider"]
    );
    assert_eq!(
        body_problems("held = [{ kind = 'union', parts = [] }]"),
        ["scenes/x.toml:9: bodies[0] \"goop\".held[0].parts: is empty, but must hold at least one shape"]
    );
    let problems = body_problems("held = [{ kind = 'mesh', path = 'nowhere.obj' }]");
    let start = "scenes/x.toml:9: bodies[0] \"goop\".held[0].path: \"nowhere.obj\"";
    assert!(problems.len() == 1 && problems[0].starts_with(start), "{problems:?}");
}

#[test]
fn deformations_name_an_axis_and_a_product() {
    let text = |deformation: &str| {
        format!(
            "version = 1\nduration = 1\n[[bodies]]\nname = 'a'\nmodel = 'shape_matching'\nmaterial = 'wax'\n\
             spacing = 1\n\
             shape = {{ kind = 'sphere', radius = 2 }}\ndeform = [{deformation}]"
        )
    };
    let scene = read(&text("{ axis = 'y', by = 'zx', amount = -0.5 }")).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(scene.bodies[0].deform, [crate::Deformation { axis: 1, product: 8, amount: -0.5 }]);
    let wrong = read(&text("{ axis = 'y', by = 'xz', amount = 1 }")).unwrap_err().to_string();
    assert!(wrong.contains("xz") && wrong.contains("zx"), "{wrong}");
}

#[test]
fn overrides_are_read_like_the_file_and_blamed_like_it() {
    let read = |path: &str, value: &str| {
        Scene::read_with(EXAMPLE, "x.toml", Path::new("."), &[(path.to_string(), value.to_string())])
    };
    assert_eq!(read("bodies.goop.spacing", "0.05").unwrap().bodies[0].spacing, 0.05);
    assert_eq!(read("bodies.ball.material", "steel").unwrap().bodies[1].material, "steel");
    assert_eq!(read("gravity", "[0, 0, 0]").unwrap().gravity, Vec3::ZERO);
    assert_eq!(read("materials.goop.density", "500").unwrap().materials[0].density, 500.0);
    assert_eq!(
        read("bodies.goop.spacing", "-1").unwrap_err().to_string(),
        "x.toml: bodies[0] \"goop\".spacing: is -1, but must be positive (m)"
    );
    assert_eq!(
        read("bodies.goop.spacin", "1").unwrap_err().to_string(),
        "x.toml: bodies[0] \"goop\": unknown key \"spacin\"; did you mean \"spacing\"?"
    );
    let error = read("bodies.gop.spacing", "1").unwrap_err().to_string();
    assert!(
        error
            .starts_with("x.toml: --set bodies.gop.spacing: there is no \"gop\" in \"bodies\"; did you mean \"goop\"?"),
        "{error}"
    );
}

#[test]
fn no_damage_to_a_file_makes_the_reader_fail() {
    let mut random = crate::sample::SequentialRng::new(3);
    let lines: Vec<&str> = EXAMPLE.lines().collect();
    for end in 0..lines.len() {
        drop(read(&lines[..end].join("\n")));
    }
    let swaps =
        ["-1", "nan", "1e400", "''", "[]", "{}", "true", "[[1, 2]]", "99999999999999999999", "'plane'", "1979-05-27"];
    for _ in 0..2000 {
        let mut damaged = lines.clone();
        let line = random.below(lines.len() as u64) as usize;
        let key = damaged[line].split('=').next().unwrap_or_default();
        let swapped = format!("{key}= {}", swaps[random.below(swaps.len() as u64) as usize]);
        damaged[line] = &swapped;
        drop(read(&damaged.join("\n")));
    }
}

#[test]
fn the_example_of_the_manual_is_read_and_built() {
    let manual = include_str!("../../../../../docs/scene-files.md");
    let example = manual.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
    let scene = read(example).unwrap_or_else(|errors| panic!("{errors}"));
    let built = scene.build(&crate::BuildOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(built.warnings, [] as [&str; 0]);
    assert_eq!(built.world.bodies().len(), 21);
}

#[test]
fn an_event_moves_the_points_of_a_material_and_may_say_never() {
    let event = "[[events]]\nat = 1.0\ntarget = \"goop\"\n\
        set = { melting = 9.0, softening = false, viscosity = [[8.0, 2.0], [20.0, 0.5]], cohesion = 0.5, boiling = \
        40.0 }\n";
    let scene = read(&format!("{EXAMPLE}\n{event}")).unwrap_or_else(|errors| panic!("{errors}"));
    let set = scene.events.iter().find(|event| event.at == 1.0).map(|event| &event.action);
    let Some(Action::Set(settings)) = set else { panic!("a setting") };
    let settings: Vec<&Setting> = settings.iter().map(|(_, setting)| setting).collect();
    assert!(settings.contains(&&Setting::Melting(Some(9.0))) && settings.contains(&&Setting::Softening(None)));
    assert!(settings.contains(&&Setting::Boiling(Some(40.0))) && settings.contains(&&Setting::Cohesion(0.5.into())));
    assert!(settings.iter().any(|setting| matches!(setting, Setting::Viscosity(curve) if curve.at(14.0) == 1.25)));
}
