//! Bad input ends with code 2, a message that names the thing, and nothing written.

mod support;

use support::{CUBE, Desk, a_builtin_scene};

/// Runs a scene that must be refused.
#[track_caller]
fn refuse(scene: &str, words: &[&str]) {
    let desk = Desk::with_scene(scene);
    for command in ["check scene.toml", "run scene.toml -o out"] {
        desk.call(command).must(2, words);
    }
    assert_eq!(desk.content(), ["scene.toml"], "something was written");
}

#[test]
fn a_missing_scene_is_named_with_the_ones_there_are() {
    let desk = Desk::new();
    desk.call("run nowhere.toml").must(2, &["nowhere.toml", a_builtin_scene()]);
    assert!(desk.content().is_empty());
}

#[test]
fn what_is_not_toml_is_told_with_its_line() {
    refuse("version = 1\nduration = = 2\n", &["scene.toml:2"]);
}

#[test]
fn an_unknown_key_is_told_with_the_nearest_known_one() {
    refuse(&CUBE.replace("spacing =", "spaccing ="), &["spaccing", "spacing", "scene.toml:12"]);
}

#[test]
fn an_unknown_material_is_told_with_the_nearest_known_one() {
    refuse(&CUBE.replace("\"rubber\"", "\"ruber\""), &["ruber", "rubber"]);
}

#[test]
fn a_negative_spacing_is_refused() {
    refuse(&CUBE.replace("spacing = 0.1", "spacing = -0.1"), &["spacing", "-0.1", "positive"]);
}

#[test]
fn a_negative_density_is_refused() {
    let material = "[materials.foam]\npreset = \"rubber\"\ndensity = -5.0\n[[bodies]]";
    refuse(
        &CUBE.replace("[[bodies]]", material).replace("= \"rubber\"\nshape", "= \"foam\"\nshape"),
        &["density", "-5"],
    );
}

#[test]
fn a_value_that_is_no_number_is_refused() {
    refuse(&CUBE.replace("at = [0.0, 0.5, 0.0]", "at = [0.0, nan, 0.0]"), &["NaN"]);
}

#[test]
fn several_problems_are_told_at_once() {
    let scene = CUBE.replace("spacing = 0.1", "spacing = -0.1").replace("duration = 0.5", "duration = 0.0");
    refuse(&scene, &["2 problems", "duration", "spacing"]);
}

#[test]
fn too_many_particles_are_refused_before_any_is_made() {
    refuse(&CUBE.replace("spacing = 0.1", "spacing = 0.00001"), &["particles", "spacing"]);
    let desk = Desk::with_scene(CUBE);
    desk.call("run scene.toml -o out --max-particles 5").must(2, &["particles", "5 allowed"]);
}

#[test]
fn a_shape_without_content_is_refused() {
    let empty =
        r#"{ kind = "difference", of = [{ kind = "sphere", radius = 0.1 }, { kind = "sphere", radius = 0.2 }] }"#;
    refuse(&CUBE.replace(r#"{ kind = "box", size = [0.3, 0.3, 0.3] }"#, empty), &["cube"]);
}

#[test]
fn a_mesh_without_triangles_is_refused() {
    let desk = Desk::with_scene(
        &CUBE.replace(r#"{ kind = "box", size = [0.3, 0.3, 0.3] }"#, r#"{ kind = "mesh", path = "m.obj" }"#),
    );
    desk.write("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    desk.call("run scene.toml -o out").must(2, &["m.obj", "triangle"]);
    assert_eq!(desk.content(), ["m.obj", "scene.toml"]);
}

#[test]
fn bodies_that_overlap_are_a_warning_and_no_error() {
    let second =
        CUBE[CUBE.find("[[bodies]]").unwrap()..CUBE.find("[[obstacles]]").unwrap()].replace("\"cube\"", "\"dice\"");
    let desk = Desk::with_scene(&format!("{CUBE}\n{second}"));
    desk.call("check scene.toml").must(0, &["warning", "cube", "dice", "overlap"]);
    desk.call("run scene.toml -o out --frames 1").must(0, &["warning", "overlap"]);
    assert!(desk.json("out/report.json")["warnings"][0].as_str().unwrap().contains("overlap"));
}

#[test]
fn a_folder_that_cannot_be_is_refused() {
    let desk = Desk::with_scene(CUBE);
    desk.write("file", "");
    desk.call("run scene.toml -o file").must(2, &["\"file\" is a file"]);
    desk.call("run scene.toml -o file/out").must(2, &["file/out"]);
    desk.call("run scene.toml -o out --report no/report.json").must(2, &["no/report.json", "--report"]);
    assert_eq!(desk.content(), ["file", "scene.toml"]);
}

#[test]
fn a_folder_with_other_things_in_it_is_refused_even_by_force() {
    let desk = Desk::with_scene(CUBE);
    std::fs::create_dir(desk.path("photos")).unwrap();
    desk.write("photos/cat.jpg", "");
    desk.call("run scene.toml -o photos").must(2, &["photos", "cat.jpg"]);
    desk.call("run scene.toml -o photos --force").must(2, &["photos", "cat.jpg"]);
    assert_eq!(support::names(&desk.path("photos")), ["cat.jpg"]);
}

#[test]
fn wrong_options_are_refused_with_the_right_ones() {
    let desk = Desk::with_scene(CUBE);
    desk.call("run scene.toml --export ply,gif").must(2, &["gif", "ply, obj"]);
    desk.call("run scene.toml --set spacing").must(2, &["PATH=VALUE"]);
    desk.call("run scene.toml --threads 0").must(2, &["--threads"]);
    desk.call("run scene.toml --set bodies.cubee.spacing=1").must(2, &["cubee"]);
    desk.call("scenes no-such-scene").must(2, &["no-such-scene", a_builtin_scene()]);
    assert_eq!(desk.content(), ["scene.toml"]);
}

#[test]
fn errors_are_json_where_json_is_asked_for() {
    let desk = Desk::with_scene(&CUBE.replace("spacing = 0.1", "spacing = -0.1"));
    let said = desk.call("run scene.toml --json");
    let error: serde_json::Value = serde_json::from_str(&said.err).unwrap();
    assert_eq!((said.code, &error["error"]["code"]), (Some(2), &2.into()));
    assert_eq!(error["error"]["problems"][0]["line"], 12);
    let said = desk.call("run --json");
    assert!(serde_json::from_str::<serde_json::Value>(&said.err).is_ok(), "{said:?}");
    assert_eq!(said.code, Some(2));
}
