//! Settings of phyxels: valid ones are read, invalid ones are reported.

use super::problems;
use crate::{BuildOptions, Scene};
use std::path::Path;

/// A body of phyxels with more lines.
fn scene(top: &str, lines: &str) -> String {
    format!(
        "{top}\n[materials.m]\nyoung_modulus = 1e5\n[[bodies]]\nname = \"a\"\nmodel = \"continuum\"\n\
         material = \"m\"\nshape = {{ kind = \"box\", size = [0.4, 0.4, 0.4] }}\nspacing = 0.1\n{lines}\n"
    )
}

fn warnings(text: &str) -> Vec<String> {
    let scene = Scene::read(&format!("version = 1\nduration = 1\n{text}"), "x.toml", Path::new(".")).unwrap();
    scene.build(&BuildOptions::default()).unwrap().warnings
}

#[test]
fn wrong_settings_of_phyxels_are_named() {
    let identity = "[[1e4,0,0,0,0,0],[0,1e4,0,0,0,0],[0,0,1e4,0,0,0],[0,0,0,1e4,0,0],[0,0,0,0,1e4,0],[0,0,0,0,0,1e4]]";
    let good = scene(
        "",
        &format!("continuum = {{ stiffness = {identity}, integration = \"implicit\", volume_penalty = 0.5 }}"),
    );
    assert_eq!(problems(&good), Vec::<String>::new());
    let uneven = identity.replacen("[1e4,0", "[1e4,5e3", 1);
    for (lines, expected) in [
        ("continuum = { support = 1.0 }".to_string(), ".continuum.support: is 1"),
        ("continuum = { hourglass = -0.1 }".into(), ".continuum.hourglass: is -0.1"),
        (
            "continuum = { integration = \"leap\" }".into(),
            "there is no integration scheme \"leap\" (known: auto, explicit, implicit)",
        ),
        ("continuum = { stiffness = [1, 2] }".into(), ".continuum.stiffness: is a list of 2, but must be six rows"),
        (format!("continuum = {{ stiffness = {uneven} }}"), "is not symmetric positive definite"),
        (
            "shape_matching = {}".into(),
            ".shape_matching: holds settings of the model \"shape_matching\", which this body does not use",
        ),
        ("continuum = { flow = true }".into(), "unknown key \"flow\""),
        ("skin = { kind = \"surfels\", spacing = 0 }".into(), ".skin.spacing: is 0, but must be positive (m)"),
        ("skin = { kind = \"surfels\", spacing = -0.1 }".into(), ".skin.spacing: is -0.1, but must be positive (m)"),
        ("skin = { kind = \"surfels\", cell = 0.1 }".into(), "unknown key \"cell\""),
        ("skin = { kind = \"surfels\", path = \"gone.ply\" }".into(), "there is no mesh file"),
    ] {
        let found = problems(&scene("", &lines));
        assert!(found.len() == 1 && found[0].contains(expected), "{lines}: {found:?}");
    }
}

#[test]
fn only_phyxels_carry_surfels() {
    let skin = "skin = { kind = \"surfels\", spacing = 0.02 }";
    assert_eq!(problems(&scene("", skin)), Vec::<String>::new());
    for (model, remedy) in [("shape_matching", "use \"mesh\" or \"isosurface\""), ("mass_spring", "use \"isosurface\"")]
    {
        let found = problems(&scene("", skin).replace("continuum", model));
        let expected = format!(
            ".skin: is \"surfels\", which only the model \"continuum\" carries, and this body has \"{model}\"; {remedy}"
        );
        assert!(found.len() == 1 && found[0].ends_with(&expected), "{found:?}");
    }
}

#[test]
fn what_is_held_altogether_and_steps_that_are_too_long_are_warned_of() {
    let held = warnings(&scene("", "held = [{ kind = \"box\", size = [1, 1, 1] }]"));
    assert!(
        held[0].starts_with("body \"a\": all of its particles lie in its held regions and are never let go"),
        "{held:?}"
    );
    let long = warnings(&scene("[step]\nsubsteps = 2", "continuum = { integration = \"explicit\" }"));
    assert!(
        long[0].starts_with("step.substeps = 2 makes steps of 1.67e-2 s, but the longest stable one is"),
        "{long:?}"
    );
    let short = warnings(&scene("[step]\nsubsteps = 100", "continuum = { integration = \"explicit\" }"));
    assert!(short.is_empty(), "{short:?}");
}
