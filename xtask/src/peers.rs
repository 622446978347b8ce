//! Comparison with peers: the crate in `peers/`, outside of the workspace.

use crate::{project, tool};
use anyhow::Result;

/// Builds and runs the comparison, in a folder of its own: it shares nothing with other builds.
pub fn compare() -> Result<()> {
    let mut command = tool::cargo();
    command.current_dir(project::root().join("peers")).args(["run", "--release", "--locked", "--target-dir"]);
    command.arg(project::target()?.join("peers"));
    tool::run(&mut command)
}
