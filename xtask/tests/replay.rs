//! Seeds of the fuzz targets, and inputs that once made one fail, are read without panic.

#[path = "../../fuzz/src/readers.rs"]
mod readers;
mod support;

use std::fs;
use support::{files_below, root};

fn replay(kind: &str) -> usize {
    let folder = root().join("fuzz").join(kind);
    let files = if folder.is_dir() { files_below(&folder) } else { Vec::new() };
    for path in &files {
        let target = path.parent().and_then(|folder| folder.file_name()).expect("cases lie in folders");
        let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let outcome = std::panic::catch_unwind(|| readers::read(&target.to_string_lossy(), &bytes));
        let known = outcome.unwrap_or_else(|_| panic!("{} makes its reader panic", path.display()));
        assert!(known, "{} lies in a folder that is no fuzz target", path.display());
    }
    files.len()
}

#[test]
fn every_seed_is_read_without_panic() {
    assert!(replay("seeds") > 0);
}

#[test]
fn every_kept_case_is_read_without_panic() {
    replay("cases");
}
