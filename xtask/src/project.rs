//! Folders of the project and of its build outputs.

use crate::tool;
use anyhow::{Context, Result};
use std::path::PathBuf;

/// The folder of the workspace.
pub fn root() -> PathBuf {
    // Cargo sets the variable for what it runs; a binary started by hand falls back to where it was built.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let mut folder = PathBuf::from(manifest);
    folder.pop();
    folder
}

/// The folder of build outputs, as the environment sets it.
pub fn target() -> Result<PathBuf> {
    let text = tool::output(tool::cargo().args(["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&text).context("cannot understand `cargo metadata`")?;
    let folder = metadata["target_directory"].as_str().context("`cargo metadata` reports no target directory")?;
    Ok(folder.into())
}

/// Target triple of this machine.
pub fn host() -> Result<String> {
    let text = tool::output(tool::rustc().arg("-vV"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(line.context("`rustc -vV` reports no host")?.trim().to_string())
}
