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
