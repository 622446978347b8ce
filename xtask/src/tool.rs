//! Calls of other programs.

use crate::project;
use anyhow::{Context, Result, bail};
use std::process::{Command, Stdio};

/// Cargo, in the folder of the workspace.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(project::root());
    command
}

/// The compiler.
pub fn rustc() -> Command {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.current_dir(project::root());
    command
}

/// Runs a program; its output goes to the terminal.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {}", shown(command)))?;
    if !status.success() {
        bail!("{} failed ({status})", shown(command));
    }
    Ok(())
}

/// Standard output of a program.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {}", shown(command)))?;
    if !output.status.success() {
        bail!("{} failed: {}", shown(command), String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("{} printed something that is not UTF-8", shown(command)))
}

/// Returns true if a program is installed and starts.
pub fn is_available(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// A command as it would be typed.
pub fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_stem().unwrap_or(command.get_program());
    let words = std::iter::once(name).chain(command.get_args()).map(|word| word.to_string_lossy());
    format!("`{}`", words.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_it_is_typed() {
        assert_eq!(shown(Command::new("/usr/bin/cargo").args(["fmt", "--all"])), "`cargo fmt --all`");
    }

    #[test]
    fn a_program_that_is_not_there_does_not_work() {
        assert!(!is_available(&mut Command::new("no-such-program-anywhere")));
        assert!(run(&mut Command::new("no-such-program-anywhere")).unwrap_err().to_string().contains("cannot start"));
    }
}
