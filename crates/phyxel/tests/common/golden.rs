//! Golden documents: files in `validation` whose words and numbers a test finds again.
//!
//! With `PHYXEL_BLESS=1` they are rewritten; otherwise the results must agree with them.

use std::path::{Path, PathBuf};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation").join(name)
}

/// Rewrites a file if that is asked for; returns true if so.
pub fn bless(name: &str, content: &str) -> bool {
    let is_asked = std::env::var_os("PHYXEL_BLESS").is_some();
    if is_asked {
        std::fs::write(path(name), content).unwrap();
    }
    is_asked
}

/// Asserts that a document has these words, in whatever lines, with numbers that agree; or rewrites it.
pub fn assert_agrees(name: &str, found: &str, agree: impl Fn(f64, f64) -> bool) {
    if bless(name, found) {
        return;
    }
    let recorded = std::fs::read_to_string(path(name))
        .unwrap_or_else(|error| panic!("validation/{name}: {error}; write it with PHYXEL_BLESS=1"));
    let words_agree = |a: &str, b: &str| match (a.parse(), b.parse()) {
        (Ok(a), Ok(b)) => agree(a, b),
        _ => a == b,
    };
    let [found, recorded] = [found, &recorded].map(|text| text.split_whitespace().collect::<Vec<_>>());
    let same = |k: usize| match (found.get(k), recorded.get(k)) {
        (Some(a), Some(b)) => words_agree(a, b),
        _ => false,
    };
    if let Some(k) = (0..found.len().max(recorded.len())).find(|&k| !same(k)) {
        let [found, recorded] = [found, recorded]
            .map(|text| text.into_iter().skip(k.saturating_sub(20)).take(40).collect::<Vec<_>>().join(" "));
        panic!("validation/{name} says\n{recorded}\nwhere the result is\n{found}\nrewrite it with PHYXEL_BLESS=1");
    }
}

/// Agreement to an absolute tolerance.
pub fn within(tolerance: f64) -> impl Fn(f64, f64) -> bool {
    move |a, b| (a - b).abs() <= tolerance
}
