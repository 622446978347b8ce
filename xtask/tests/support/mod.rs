//! The project's own files, for tests that read them.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_path_buf()
}

/// All files below a folder, sorted; without build outputs, results of runs and hidden folders.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort();
    files
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries.map(|entry| entry.expect("a readable folder")) {
        let (path, kind) = (entry.path(), entry.file_type().expect("a file type"));
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() && !is_left_out(&path, &name) {
            collect(&path, files);
        } else if kind.is_file() {
            files.push(path);
        }
    }
}

/// Cargo marks its build outputs as a cache.
fn is_left_out(path: &Path, name: &str) -> bool {
    name.starts_with('.') || name == "target" || name == "runs" || path.join("CACHEDIR.TAG").exists()
}

/// All files with one of these endings, with their texts.
#[allow(dead_code, reason = "not every test that includes this file reads texts")]
pub fn texts(endings: &[&str]) -> Vec<(PathBuf, String)> {
    let wanted = |path: &PathBuf| endings.iter().any(|ending| path.extension().is_some_and(|it| it == *ending));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, text)
    };
    files_below(&root()).into_iter().filter(wanted).map(read).collect()
}

/// The fenced blocks of a language in a Markdown text.
#[allow(dead_code, reason = "not every test that includes this file reads Markdown")]
pub fn blocks<'a>(markdown: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    let mut blocks = Vec::new();
    let mut rest = markdown;
    while let Some(start) = rest.find(&fence) {
        rest = &rest[start + fence.len()..];
        let end = rest.find("```").unwrap_or(rest.len());
        blocks.push(&rest[..end]);
        rest = &rest[end..];
    }
    blocks
}
