//! Architecture: dependencies between crates, complete documents, nothing unfinished.

mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use support::{files_below, root, texts};

/// Crate, and the crates of the workspace that it may depend on. A crate that is not here fails the test.
const MAY_KNOW: [(&str, &[&str]); 9] = [
    ("phyxel-laws", &[]),
    ("phyxel", &["phyxel-laws"]),
    ("phyxel-scene", &["phyxel", "phyxel-laws"]),
    // Scenes in its tests only.
    ("phyxel-render", &["phyxel", "phyxel-scene"]),
    ("phyxel-video", &[]),
    ("phyxel-plot", &[]),
    ("phyxel-run", &["phyxel", "phyxel-scene", "phyxel-render", "phyxel-video"]),
    ("phyxel-cli", &["phyxel", "phyxel-scene", "phyxel-run", "phyxel-render", "phyxel-plot"]),
    ("xtask", &["phyxel", "phyxel-scene"]),
];

/// Dependencies that the laws may have.
const MATHS: [&str; 2] = ["glam", "libm"];

/// Largest size of all documentation, bytes.
const DOCS_LIMIT: u64 = 8_000_000;

/// Largest size of a film in a document, bytes.
const FILM_LIMIT: u64 = 3_000_000;

fn packages() -> Vec<serde_json::Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

fn name(value: &serde_json::Value) -> &str {
    value["name"].as_str().expect("a name")
}

fn dependencies(package: &serde_json::Value) -> &[serde_json::Value] {
    package["dependencies"].as_array().expect("dependencies")
}

#[test]
fn dependencies_point_one_way() {
    let packages = packages();
    let members: BTreeSet<&str> = packages.iter().map(name).collect();
    for package in &packages {
        let known = MAY_KNOW.iter().find(|(member, _)| *member == name(package));
        let (member, allowed) = known.unwrap_or_else(|| panic!("{} has no line in MAY_KNOW", name(package)));
        let arrows = dependencies(package).iter().map(name).filter(|dependency| members.contains(dependency));
        let wrong: Vec<&str> = arrows.filter(|dependency| !allowed.contains(dependency)).collect();
        assert!(wrong.is_empty(), "{member} may know {allowed:?} of this workspace, but depends on {wrong:?}");
    }
}

#[test]
fn the_laws_are_built_on_maths_alone() {
    let packages = packages();
    let laws = packages.iter().find(|package| name(package) == "phyxel-laws").expect("the laws");
    let lasting = dependencies(laws).iter().filter(|dependency| dependency["kind"].is_null()).map(name);
    let other: Vec<&str> = lasting.filter(|dependency| !MATHS.contains(dependency)).collect();
    assert!(other.is_empty(), "phyxel-laws depends on {other:?}");
}

#[test]
fn no_code_is_left_unfinished() {
    // Put together here, so that this file does not find itself.
    let marks = ["todo", "unimplemented"].map(|word| format!("{word}!("));
    for (path, text) in texts(&["rs"]) {
        for (number, line) in text.lines().enumerate() {
            let found = marks.iter().find(|mark| line.contains(*mark));
            assert!(found.is_none(), "{}:{}: {}", path.display(), number + 1, line.trim());
        }
    }
}

#[test]
fn the_documentation_stays_small() {
    let size = |path: &std::path::PathBuf| path.metadata().map_or(0, |metadata| metadata.len());
    let total: u64 = files_below(&root().join("docs")).iter().map(size).sum();
    assert!(total < DOCS_LIMIT, "docs/ has {total} bytes, more than {DOCS_LIMIT}");
}

/// Keys in square brackets, such as `[MHTG05]`: letters, one of them large, then two digits.
fn cited_keys(line: &str) -> impl Iterator<Item = &str> {
    let inner = line.split('[').skip(1).filter_map(|rest| rest.split_once(']').map(|(inner, _)| inner));
    inner.filter(|word| {
        let letters = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let digits = word.len() - letters.len();
        let lettered = letters.len() >= 2 && letters.chars().all(|letter| letter.is_ascii_alphabetic());
        digits == 2 && lettered && letters.chars().any(|letter| letter.is_ascii_uppercase())
    })
}

#[test]
fn keys_are_told_from_types() {
    let line = "/// `[MHTG05]` eq. 7, [vOS83], but not [f32], [u8; 3], [Self::X], [A4] or [`Real`]";
    assert_eq!(cited_keys(line).collect::<Vec<_>>(), ["MHTG05", "vOS83"]);
}

#[test]
fn every_cited_source_is_in_the_bibliography() {
    let bibliography = std::fs::read_to_string(root().join("docs/references.bib")).expect("docs/references.bib");
    let entries = bibliography.lines().filter_map(|line| line.strip_prefix('@')?.split_once('{'));
    let known: BTreeSet<&str> = entries.map(|(_, rest)| rest.trim_end_matches(',').trim()).collect();
    for (path, text) in texts(&["rs", "md"]) {
        let code = path.extension().is_some_and(|ending| ending == "rs");
        for (number, line) in text.lines().enumerate() {
            // In code, only comments cite.
            let line = if code { line.split_once("//").map_or("", |(_, comment)| comment) } else { line };
            for key in cited_keys(line).filter(|_| !path.ends_with("xtask/tests/architecture.rs")) {
                assert!(
                    known.contains(key),
                    "{}:{}: [{key}] is not in docs/references.bib",
                    path.display(),
                    number + 1
                );
            }
        }
    }
}

#[test]
fn links_between_documents_lead_somewhere() {
    for (path, text) in texts(&["md"]) {
        let folder = path.parent().expect("a file lies in a folder");
        let mut fenced = false;
        for line in text.lines() {
            fenced ^= line.trim_start().starts_with("```");
            let links = line.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(link, _)| link));
            for link in links.filter(|link| !fenced && !link.contains("://") && !link.starts_with('#')) {
                let file = link.split('#').next().unwrap_or(link);
                assert!(folder.join(Path::new(file)).exists(), "{}: \"{link}\" leads nowhere", path.display());
            }
        }
    }
}

#[test]
fn every_scene_has_its_picture_in_the_gallery() {
    let gallery = std::fs::read_to_string(root().join("docs/gallery.md")).expect("there is a gallery");
    for scene in files_below(&root().join("scenes")) {
        let name = scene.file_stem().expect("a scene has a name").to_string_lossy();
        let entry = format!("(pictures/{name}.jpg)");
        assert!(gallery.contains(&entry), "docs/gallery.md does not show {name}; make it with `cargo xtask gallery`");
    }
}

#[test]
fn pictures_in_documents_are_small() {
    for picture in files_below(&root().join("docs/pictures")) {
        let bytes = std::fs::metadata(&picture).expect("it is there").len();
        let limit = if picture.extension().is_some_and(|ending| ending == "gif") { FILM_LIMIT } else { 300_000 };
        assert!(bytes <= limit, "{} has {bytes} bytes, more than {limit}", picture.display());
    }
}
