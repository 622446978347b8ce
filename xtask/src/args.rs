//! The command line of the tasks.

use crate::fuzz;
use anyhow::{Context, Result, bail};

/// Text of `cargo xtask help`.
pub const HELP: &str = "\
The project's tasks.

cargo xtask test           every check: formatting, lints, tests, scenes, documentation, exported files
cargo xtask test --quick   without doctests, documentation and other programs
cargo xtask test --long    with long tests (PHYXEL_LONG=1), Blender, and a minute of fuzzing for each reader of files
cargo xtask clients        only the exported files in other programs; --long with Blender
cargo xtask fuzz [TARGET]  only the fuzzing; targets: scene, obj, ply, stl, gltf, msh, vtk, vtu, tetgen
cargo xtask peers          the same tetrahedral mesh in this engine and in Rapier: cost of a step, deflection of a beam
cargo xtask gallery        a picture of every built-in scene, the page that shows them, and the film of the readme
cargo xtask help           this text";

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The help text.
    Help,
    /// The checks.
    Test(Scope),
    /// Exported files in other programs; in large ones too if true.
    Clients(bool),
    /// One fuzz target, or all.
    Fuzz(Option<&'static str>),
    /// Comparison with other engines.
    Peers,
    /// Pictures of the scenes and the film of the readme.
    Gallery,
}

/// Extent of the checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// What a change needs while it is being made.
    Quick,
    /// What a change needs before it is committed.
    #[default]
    Usual,
    /// What a release needs.
    Long,
}

/// Reads the words after `cargo xtask`.
pub fn read(words: &[String]) -> Result<Request> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(match words.as_slice() {
        [] | ["help" | "--help" | "-h"] => Request::Help,
        ["test"] => Request::Test(Scope::Usual),
        ["test", "--quick"] => Request::Test(Scope::Quick),
        ["test", "--long"] => Request::Test(Scope::Long),
        ["test", "--help" | "-h"] => Request::Help,
        ["test", "--quick", "--long"] | ["test", "--long", "--quick"] => bail!("--quick and --long exclude each other"),
        ["clients"] => Request::Clients(false),
        ["clients", "--long"] => Request::Clients(true),
        ["peers"] => Request::Peers,
        ["gallery"] => Request::Gallery,
        ["fuzz"] => Request::Fuzz(None),
        ["fuzz", target] => {
            let known = fuzz::TARGETS.into_iter().find(|known| known == target);
            let known = known
                .with_context(|| format!("there is no fuzz target \"{target}\"; known: {}", fuzz::TARGETS.join(", ")));
            Request::Fuzz(Some(known?))
        }
        other => bail!("\"{}\" is not a task\n\n{HELP}", other.join(" ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Result<Request> {
        read(&line.split_whitespace().map(str::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn the_test_task_has_three_scopes() {
        let scopes = ["test --quick", "test", "test --long"].map(|line| asked(line).unwrap());
        assert_eq!(scopes, [Scope::Quick, Scope::Usual, Scope::Long].map(Request::Test));
    }

    #[test]
    fn other_programs_are_large_only_when_asked_for() {
        assert_eq!(asked("clients").unwrap(), Request::Clients(false));
        assert_eq!(asked("clients --long").unwrap(), Request::Clients(true));
    }

    #[test]
    fn one_fuzz_target_or_all_can_be_asked_for() {
        assert_eq!(asked("fuzz").unwrap(), Request::Fuzz(None));
        assert_eq!(asked("fuzz ply").unwrap(), Request::Fuzz(Some("ply")));
        assert!(asked("fuzz gif").unwrap_err().to_string().contains("known: scene, obj"));
        assert!(fuzz::TARGETS.iter().all(|target| HELP.contains(target)));
    }

    #[test]
    fn unknown_words_are_answered_with_the_help() {
        assert!(asked("tset").unwrap_err().to_string().contains("cargo xtask test"));
        assert!(asked("test --quick --long").is_err());
    }
}
