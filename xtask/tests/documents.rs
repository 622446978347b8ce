//! What the documents show is true: scenes read and build, code compiles and runs.

mod support;

/// The example of the readme.
mod example {
    include!("readme/example.rs");

    pub fn run() -> Result<(), Box<dyn std::error::Error>> {
        main()
    }
}

use phyxel_scene::{BuildOptions, Scene};
use std::fs;
use support::{blocks, root, texts};

#[test]
fn the_code_in_the_readme_is_the_code_that_is_tested_here() {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let shown = blocks(&readme, "rust");
    assert!(
        shown.contains(&include_str!("readme/example.rs")),
        "README.md does not show xtask/tests/readme/example.rs"
    );
}

#[test]
fn the_code_in_the_readme_runs() {
    example::run().expect("the example runs");
}

#[test]
fn every_whole_scene_in_a_document_reads_and_builds() {
    let mut count = 0;
    for (path, text) in texts(&["md"]) {
        for block in blocks(&text, "toml").into_iter().filter(|block| block.contains("version = 1\n")) {
            let scene = Scene::read(block, "document.toml", &root());
            let scene = scene.unwrap_or_else(|errors| panic!("{}:\n{errors}", path.display()));
            scene.build(&BuildOptions::default()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            count += 1;
        }
    }
    assert!(count > 0, "no document shows a scene");
}

/// The words in backticks of a table cell.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn every_place_in_the_glossary_is_in_the_code() {
    let glossary = fs::read_to_string(root().join("docs/glossary.md")).expect("docs/glossary.md");
    let sources = texts(&["rs"]);
    let paths: Vec<String> = sources.iter().map(|(path, _)| format!("/{}", path.display())).collect();
    let has_path = |name: &str| paths.iter().any(|path| path.contains(&format!("/{name}")));
    let has_word = |word: &str| sources.iter().any(|(_, text)| text.contains(word));
    let mut missing = Vec::new();
    for row in glossary.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        for place in cells.last().into_iter().flat_map(|cell| quoted(cell)) {
            let is_path = place.contains('/') || place.ends_with(".rs");
            // `a/{b, c}.rs` names two files.
            let (head, tail) = place.split_once('{').unwrap_or((place, ""));
            let found = if is_path {
                tail.split_once('}').map_or(has_path(place), |(names, end)| {
                    names.split(',').all(|name| has_path(&format!("{head}{}{end}", name.trim())))
                })
            } else {
                place.split(|letter: char| !letter.is_alphanumeric() && letter != '_').all(has_word)
            };
            if !found {
                missing.push(format!("{}: `{place}`", cells[0].trim()));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
