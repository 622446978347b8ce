//! Where the project and its build outputs are.

use crate::tool;
use anyhow::{Context, Result};
use std::path::PathBuf;

/// The folder of the workspace.
pub fn root() -> PathBuf {
    // Cargo tells it to what it runs; a binary started by hand knows where it was built.
    let own = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let mut folder = PathBuf::from(own);
    folder.pop();
    folder
}

/// The folder of build outputs, wherever the environment puts it.
pub fn target() -> Result<PathBuf> {
    let text = tool::output(tool::cargo().args(["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&text).context("cannot understand `cargo metadata`")?;
    let folder = metadata["target_directory"].as_str().context("`cargo metadata` tells no target directory")?;
    Ok(folder.into())
}

/// The machine that programs are built for when nothing else is said.
pub fn host() -> Result<String> {
    let text = tool::output(tool::rustc().arg("-vV"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(line.context("`rustc -vV` tells no host")?.trim().to_string())
}
