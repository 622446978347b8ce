//! Invalid input: exit code 2, a message that names the cause, and no files.

mod support;

use support::{CUBE, TestFolder, a_builtin_scene};

/// Asserts that a scene is refused.
#[track_caller]
fn refuse(scene: &str, words: &[&str]) {
    let folder = TestFolder::with_scene(scene);
    for command in ["check scene.toml", "run scene.toml -o out"] {
        folder.call(command).expect(2, words);
    }
    assert_eq!(folder.content(), ["scene.toml"], "something was written");
}

#[test]
fn a_missing_scene_is_named_with_the_built_in_ones() {
    let folder = TestFolder::new();
    folder.call("run nowhere.toml").expect(2, &["nowhere.toml", a_builtin_scene()]);
    assert!(folder.content().is_empty());
}

#[test]
fn invalid_toml_is_reported_with_its_line() {
    refuse("version = 1\nduration = = 2\n", &["scene.toml:2"]);
}

#[test]
fn an_unknown_key_is_reported_with_the_nearest_known_one() {
    refuse(&CUBE.replace("spacing =", "spaccing ="), &["spaccing", "spacing", "scene.toml:12"]);
}

#[test]
fn an_unknown_material_is_reported_with_the_nearest_known_one() {
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
fn nan_is_refused() {
    refuse(&CUBE.replace("at = [0.0, 0.5, 0.0]", "at = [0.0, nan, 0.0]"), &["NaN"]);
}

#[test]
fn several_problems_are_reported_at_once() {
    let scene = CUBE.replace("spacing = 0.1", "spacing = -0.1").replace("duration = 0.5", "duration = 0.0");
    refuse(&scene, &["2 problems", "duration", "spacing"]);
}

#[test]
fn too_many_particles_are_refused_before_any_is_created() {
    refuse(&CUBE.replace("spacing = 0.1", "spacing = 0.00001"), &["particles", "spacing"]);
    let folder = TestFolder::with_scene(CUBE);
    folder.call("run scene.toml -o out --max-particles 5").expect(2, &["particles", "5 allowed"]);
}

#[test]
fn an_empty_shape_is_refused() {
    let empty =
        r#"{ kind = "difference", of = [{ kind = "sphere", radius = 0.1 }, { kind = "sphere", radius = 0.2 }] }"#;
    refuse(&CUBE.replace(r#"{ kind = "box", size = [0.3, 0.3, 0.3] }"#, empty), &["cube"]);
}

#[test]
fn a_mesh_without_triangles_is_refused() {
    let folder = TestFolder::with_scene(
        &CUBE.replace(r#"{ kind = "box", size = [0.3, 0.3, 0.3] }"#, r#"{ kind = "mesh", path = "m.obj" }"#),
    );
    folder.write("m.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    folder.call("run scene.toml -o out").expect(2, &["m.obj", "triangle"]);
    assert_eq!(folder.content(), ["m.obj", "scene.toml"]);
}

#[test]
fn overlapping_bodies_are_a_warning_and_no_error() {
    let second =
        CUBE[CUBE.find("[[bodies]]").unwrap()..CUBE.find("[[obstacles]]").unwrap()].replace("\"cube\"", "\"dice\"");
    let folder = TestFolder::with_scene(&format!("{CUBE}\n{second}"));
    folder.call("check scene.toml").expect(0, &["warning", "cube", "dice", "overlap"]);
    folder.call("run scene.toml -o out --frames 1").expect(0, &["warning", "overlap"]);
    assert!(folder.json("out/report.json")["warnings"][0].as_str().unwrap().contains("overlap"));
}

#[test]
fn a_folder_that_cannot_be_created_is_refused() {
    let folder = TestFolder::with_scene(CUBE);
    folder.write("file", "");
    folder.call("run scene.toml -o file").expect(2, &["\"file\" is a file"]);
    folder.call("run scene.toml -o file/out").expect(2, &["file/out"]);
    folder.call("run scene.toml -o out --report no/report.json").expect(2, &["no/report.json", "--report"]);
    assert_eq!(folder.content(), ["file", "scene.toml"]);
}

#[test]
fn a_folder_with_foreign_files_is_refused_even_with_force() {
    let folder = TestFolder::with_scene(CUBE);
    std::fs::create_dir(folder.path("photos")).unwrap();
    folder.write("photos/cat.jpg", "");
    folder.call("run scene.toml -o photos").expect(2, &["photos", "cat.jpg"]);
    folder.call("run scene.toml -o photos --force").expect(2, &["photos", "cat.jpg"]);
    assert_eq!(support::names(&folder.path("photos")), ["cat.jpg"]);
}

#[test]
fn invalid_options_are_refused_with_the_valid_ones() {
    let folder = TestFolder::with_scene(CUBE);
    folder.call("run scene.toml --export ply,gif").expect(2, &["gif", "ply, obj"]);
    folder.call("run scene.toml --set spacing").expect(2, &["PATH=VALUE"]);
    folder.call("run scene.toml --threads 0").expect(2, &["--threads"]);
    folder.call("run scene.toml --set bodies.cubee.spacing=1").expect(2, &["cubee"]);
    folder.call("scenes no-such-scene").expect(2, &["no-such-scene", a_builtin_scene()]);
    assert_eq!(folder.content(), ["scene.toml"]);
}

#[test]
fn errors_are_json_on_request() {
    let folder = TestFolder::with_scene(&CUBE.replace("spacing = 0.1", "spacing = -0.1"));
    let result = folder.call("run scene.toml --json");
    let error: serde_json::Value = serde_json::from_str(&result.err).unwrap();
    assert_eq!((result.code, &error["error"]["code"]), (Some(2), &2.into()));
    assert_eq!(error["error"]["problems"][0]["line"], 12);
    let result = folder.call("run --json");
    assert!(serde_json::from_str::<serde_json::Value>(&result.err).is_ok(), "{result:?}");
    assert_eq!(result.code, Some(2));
}
