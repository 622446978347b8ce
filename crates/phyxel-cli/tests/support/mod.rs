//! Calls of the program, with its output and files.
// Each test file uses only some of these functions.
#![allow(dead_code)]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A cube that falls on a floor.
pub const CUBE: &str = include_str!("../../../phyxel-run/tests/support/falling_cube.toml");

/// Name of a built-in scene.
pub fn a_builtin_scene() -> &'static str {
    phyxel_scene::builtin::names().next().unwrap()
}

/// Folder in which the program is called.
pub struct TestFolder {
    folder: TempDir,
}

/// Exit code and output of a call.
#[derive(Debug)]
pub struct CallResult {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl TestFolder {
    /// Creates an empty folder.
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// Creates a folder with a scene as `scene.toml`.
    pub fn with_scene(text: &str) -> Self {
        let folder = Self::new();
        folder.write("scene.toml", text);
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    /// Command of the program with arguments separated by spaces, in this folder.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_phyxel"));
        command.args(arguments.split_whitespace()).current_dir(self.folder.path()).stdin(Stdio::null());
        command
    }

    pub fn call(&self, arguments: &str) -> CallResult {
        CallResult::from(self.command(arguments).output().unwrap())
    }

    /// Names of all files and folders in the folder, sorted.
    pub fn content(&self) -> Vec<String> {
        names(self.folder.path())
    }
}

pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

impl From<Output> for CallResult {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl CallResult {
    /// Asserts the exit code, and words on the error stream.
    #[track_caller]
    pub fn expect(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "no {word:?} in {self:?}");
        }
        assert!(!self.err.contains("panicked"), "{self:?}");
    }
}
