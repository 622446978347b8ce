//! This engine beside others: the crate in `rivals/`, which nothing else needs.

use crate::{project, tool};
use anyhow::Result;

/// Builds and runs the comparison, in a folder of its own: it shares nothing with other builds.
pub fn compare() -> Result<()> {
    let mut command = tool::cargo();
    command.current_dir(project::root().join("rivals")).args(["run", "--release", "--locked", "--target-dir"]);
    command.arg(project::target()?.join("rivals"));
    tool::run(&mut command)
}
