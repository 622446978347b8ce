//! Lists the scene files of the repository, which are built into the program.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    const FOLDER: &str = "../../scenes";
    println!("cargo:rerun-if-changed={FOLDER}");
    println!("cargo:rerun-if-changed=build.rs");
    let mut names: Vec<String> = match fs::read_dir(FOLDER) {
        Ok(entries) => entries.filter_map(|entry| scene_name(&entry.ok()?.path())).collect(),
        Err(_) => Vec::new(),
    };
    names.sort();
    let mut code = String::from("&[\n");
    for name in names {
        let file = format!("/{FOLDER}/{name}.toml");
        let _ = writeln!(code, "    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))),");
    }
    code.push_str("]\n");
    let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&folder).join("scenes.rs"), code)
}

fn scene_name(path: &Path) -> Option<String> {
    let is_scene = path.extension().is_some_and(|ending| ending == "toml");
    is_scene.then(|| path.file_stem()?.to_str().map(str::to_string)).flatten()
}
