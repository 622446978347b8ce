//! Tetrahedra in files: valid ones are read and built, invalid ones are reported.

use super::problems;
use crate::{BuildOptions, Built, Scene};
use phyxel::model::ModelKind;
use std::path::Path;

/// A body of tetrahedra with more lines.
fn scene(lines: &str) -> String {
    format!(
        "[materials.m]\nyoung_modulus = 1e5\n[[bodies]]\nname = \"a\"\nmodel = \"tetra\"\nmaterial = \"m\"\n{lines}\n"
    )
}

const BOX: &str = "shape = { kind = \"box\", size = [0.4, 0.4, 0.4] }\nspacing = 0.1\n";

fn read(text: &str, folder: &Path) -> Scene {
    Scene::read(&format!("version = 1\nduration = 1\n{text}"), "x.toml", folder)
        .unwrap_or_else(|errors| panic!("{errors}"))
}

fn build(text: &str, folder: &Path) -> Built {
    read(text, folder).build(&BuildOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_shape_is_cut_into_tetrahedra() {
    let lines =
        format!("{BOX}skin = {{ kind = \"faces\" }}\ntetra = {{ integration = \"implicit\", mass_damping = 0.5 }}");
    let built = build(&scene(&lines), Path::new("."));
    assert_eq!(built.warnings, Vec::<String>::new());
    let frame = built.world.frame();
    let report = &frame.bodies[0].report;
    assert_eq!(report.model, ModelKind::Tetra);
    let tetrahedra = report.tetrahedra.unwrap();
    // About 12 for each of 64 cells; angles are those that the mesher keeps to.
    assert!((600..1200).contains(&tetrahedra.count), "{tetrahedra:?}");
    assert!(tetrahedra.min_dihedral > 10.0 && tetrahedra.max_dihedral < 165.0, "{tetrahedra:?}");
    // Edges and tips of the box are cut off a little.
    assert!((frame.totals.mass / 64.0 - 1.0).abs() < 0.05, "{}", frame.totals.mass);
    assert_eq!((report.skin.kind.as_str(), report.skin.closed), ("faces", Some(true)));
    let volume = report.skin.volume.unwrap();
    // Faces enclose just what elements fill; sums of f32.
    assert!((frame.totals.mass / (1000.0 * volume) - 1.0).abs() < 1e-5, "{volume}");
}

#[test]
fn wrong_settings_of_tetrahedra_are_named() {
    let with = |lines: &str| problems(&scene(&format!("{BOX}{lines}")));
    assert_eq!(
        with("tetra = { deviatoric = true, stiffness_damping = 1e-3, strength_force = 2.0 }"),
        Vec::<String>::new()
    );
    assert_eq!(with("skin = { kind = \"mesh\" }"), Vec::<String>::new());
    assert_eq!(with("skin = { kind = \"smooth\" }"), Vec::<String>::new());
    assert_eq!(with("skin = { kind = \"smooth\", scheme = \"butterfly\", levels = 3 }"), Vec::<String>::new());
    for (lines, expected) in [
        ("tetra = { mass_damping = -1 }", ".tetra.mass_damping: is -1, but must be"),
        ("tetra = { stiffness_damping = -1 }", ".tetra.stiffness_damping: is -1, but must be"),
        ("skin = { kind = \"smooth\", levels = 4 }", "levels: is 4, but must be a whole number from 1 to 3"),
        ("skin = { kind = \"smooth\", levels = 0 }", ".skin.levels: is 0, but must be a whole number from 1"),
        ("skin = { kind = \"smooth\", scheme = \"bee\" }", "there is no scheme of a smooth skin \"bee\""),
        ("tetra = { strength_force = -1 }", ".tetra.strength_force: is -1, but must be"),
        ("tetra = { strength_force = 0 }", ".tetra.strength_force: is 0, but must be"),
        ("tetra = { stiffness = [1, 2] }", ".tetra.stiffness: is a list of 2, but must be six rows"),
        ("tetra = { integration = \"leap\" }", "there is no integration scheme \"leap\""),
        ("tetra = { strenght = 3 }", "unknown key \"strenght\""),
        ("sampler = \"ccp\"", ".sampler: is given, but tetrahedra fill a shape by their own mesher"),
        ("skin = { kind = \"surfels\" }", "and this body has \"tetra\"; use \"mesh\" or \"faces\""),
        (
            "shape_matching = {}",
            ".shape_matching: holds settings of the model \"shape_matching\", which this body does not use",
        ),
    ] {
        let found = with(lines);
        assert!(found.len() == 1 && found[0].contains(expected), "{lines}: {found:?}");
    }
    let found =
        problems(&scene(&format!("{BOX}skin = {{ kind = \"faces\" }}")).replace("\"tetra\"", "\"shape_matching\""));
    assert!(
        found.len() == 1 && found[0].contains("only the model \"tetra\" has, and this body has \"shape_matching\""),
        "{found:?}"
    );
    assert!(problems(&scene("spacing = 0.1"))[0].contains("shape"), "a shape is missing");
}

#[test]
fn a_file_of_tetrahedra_that_cannot_be_read_is_all_that_is_said() {
    for (name, expected) in [
        ("gone.msh", "there is no file of tetrahedra `./gone.msh`"),
        ("gone.doc", "does not end like a file of tetrahedra"),
    ] {
        for lines in ["", "skin = { kind = \"faces\" }", "spacing = 0.1"] {
            let found = problems(&scene(&format!("tetra = {{ path = \"{name}\" }}\n{lines}")));
            assert!(found.len() == 1 && found[0].contains(expected), "{name}, {lines}: {found:?}");
        }
    }
}

#[test]
fn a_spacing_that_is_too_coarse_is_answered_with_the_largest_that_works() {
    let text = scene("shape = { kind = \"box\", size = [0.4, 0.4, 0.01] }\nspacing = 0.1");
    let error = read(&text, Path::new(".")).build(&BuildOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("body \"a\": at a spacing of 0.1 m nothing of the shape is left"), "{error}");
    let largest: f32 = error.split(' ').rev().nth(1).unwrap().parse().unwrap();
    build(&text.replace("spacing = 0.1", &format!("spacing = {largest}")), Path::new("."));
}

#[test]
fn open_meshes_are_filled_with_a_warning_that_counts_their_holes() {
    let folder = tempfile::tempdir().unwrap();
    let mut cube = String::new();
    for k in 0..8 {
        cube += &format!("v {} {} {}\n", k & 1, k >> 1 & 1, k >> 2);
    }
    // The face at the top is missing.
    for [a, b, c, d] in [[1, 3, 4, 2], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]] {
        cube += &format!("f {a} {b} {c}\nf {a} {c} {d}\n");
    }
    std::fs::write(folder.path().join("open.obj"), cube).unwrap();
    let text = scene("shape = { kind = \"mesh\", path = \"open.obj\" }\nspacing = 0.2");
    let warnings = build(&text, folder.path()).warnings;
    assert!(warnings.iter().any(|warning| warning.starts_with("body \"a\": its mesh has a hole (1)")), "{warnings:?}");
}

const NODES: &str = "6 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n6 9 9 9\n";

#[test]
fn tetrahedra_of_a_file_are_taken_as_they_are_and_repaired_where_they_can_be() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("two.node"), NODES).unwrap();
    std::fs::write(folder.path().join("two.ele"), "2 4 0\n1 1 2 3 4\n2 2 3 5 4\n").unwrap();
    let text = scene("tetra = { path = \"two.ele\" }\nplace = { scale = 0.5 }\nskin = { kind = \"faces\" }");
    let built = build(&text, folder.path());
    let warnings = built.warnings.join("\n");
    assert!(warnings.contains("body \"a\": 1 of its tetrahedra were inverted; two corners of each were swapped"));
    assert!(warnings.contains("body \"a\": 1 node of its file left out"), "{warnings}");
    let frame = built.world.frame();
    let report = &frame.bodies[0].report;
    assert_eq!((report.particles.solid, report.tetrahedra.unwrap().count), (5, 2));
    // A sixth and a third of a cubic metre, each length halved.
    assert!((frame.totals.mass - 62.5).abs() < 1e-3, "{}", frame.totals.mass);
    // Nine edges, of which those between the two count twice: six of 1 and six of the root of 2, halved.
    let spacing = f64::from(built.world.bodies()[0].spacing);
    assert!((spacing / (0.5 * (3.0 + 9.0 * 2f64.sqrt()) / 12.0) - 1.0).abs() < 1e-5, "{spacing}");
    let found =
        |lines: &str| match Scene::read(&format!("version = 1\nduration = 1\n{}", scene(lines)), "x", folder.path()) {
            Ok(_) => String::new(),
            Err(errors) => errors.to_string(),
        };
    assert!(
        found(&format!("{BOX}tetra = {{ path = \"two.ele\" }}")).contains("has both a shape and tetrahedra of a file")
    );
    let bare = found("tetra = { path = \"two.node\" }\nskin = { kind = \"mesh\" }");
    assert!(bare.contains("use \"faces\", or give a path"), "{bare}");
    std::fs::write(folder.path().join("two.ele"), "2 4 0\n1 1 2 3 4\n7 1 2 3 3\n").unwrap();
    let flat = found("tetra = { path = \"two.ele\" }");
    assert!(flat.contains("element 7 is flat"), "{flat}");
}

#[test]
fn tetrahedra_melt_into_fluids_of_their_own_kind_and_size() {
    let pool = |model: &str, lines: &str| {
        format!("[[bodies]]\nname = \"pool\"\nmodel = \"{model}\"\nmaterial = \"m\"\n{lines}\n")
    };
    let solid = scene(&format!("{BOX}tetra = {{ melts_into = \"pool\" }}"));
    let built = build(&format!("{solid}{}", pool("fluid", "spacing = 0.08")), Path::new("."));
    assert_eq!(built.world.frame().bodies[1].report.particles.fluid, 0);
    for (lines, expected) in [
        (format!("{solid}{}", pool("crystal", BOX)), "is \"pool\", which is no fluid"),
        (format!("{solid}{}", pool("fluid", "spacing = 0.02")), "need one from 0.056 to 0.112 (m)"),
        (solid.replace("pool", "pond"), "there is no fluid \"pond\""),
        (
            format!("[materials.n]\n{solid}{}", pool("fluid", "spacing = 0.08").replace("\"m\"", "\"n\"")),
            "of \"n\", but must be of \"m\"",
        ),
    ] {
        let found = problems(&lines);
        assert!(found.len() == 1 && found[0].contains(expected), "{lines}: {found:?}");
    }
}
