//! The checks, in order. The first that fails ends the task.

use crate::args::Scope;
use crate::{clients, fuzz, tool};
use anyhow::{Context, Result, bail};
use std::process::Command;
use std::time::{Duration, Instant};

/// A check.
struct Check {
    name: String,
    work: Box<dyn FnOnce() -> Result<()>>,
}

impl Check {
    fn new(name: impl Into<String>, work: impl FnOnce() -> Result<()> + 'static) -> Self {
        Self { name: name.into(), work: Box::new(work) }
    }

    /// A single command.
    fn command(name: &str, mut command: Command) -> Self {
        Self::new(format!("{name}: {}", tool::shown(&command).replace('`', "")), move || tool::run(&mut command))
    }
}

/// Runs all checks of a scope.
pub fn test(scope: Scope) -> Result<()> {
    require_tools(scope)?;
    run(steps(scope))
}

/// Runs one fuzz target, or all.
pub fn fuzz(target: Option<&'static str>) -> Result<()> {
    fuzz::require_tools()?;
    run(fuzz_steps(target.map_or(fuzz::TARGETS.to_vec(), |target| vec![target])))
}

fn run(steps: Vec<Check>) -> Result<()> {
    let (count, began) = (steps.len(), Instant::now());
    for (number, step) in (1..).zip(steps) {
        println!("\n== {number}/{count} {}", step.name);
        let start = Instant::now();
        (step.work)().with_context(|| format!("step {number}/{count} failed ({})", step.name))?;
        println!("== {number}/{count} passed in {}", seconds(start.elapsed()));
    }
    println!("\nall {count} steps passed in {}", seconds(began.elapsed()));
    Ok(())
}

fn steps(scope: Scope) -> Vec<Check> {
    let mut steps = vec![
        Check::command("formatting", cargo(&["fmt", "--all", "--", "--check"])),
        Check::command("lints", cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])),
        Check::command("tests, every built-in scene's expectations among them", tests(scope)),
    ];
    if scope != Scope::Quick {
        steps.push(Check::command("doctests", cargo(&["test", "--workspace", "--doc"])));
        let mut documentation = cargo(&["doc", "--workspace", "--no-deps"]);
        documentation.env("RUSTDOCFLAGS", "-D warnings");
        steps.push(Check::command("documentation", documentation));
        let long = scope == Scope::Long;
        steps.push(Check::new("exported files, opened by other programs", move || clients::check(long)));
    }
    if scope == Scope::Long {
        steps.extend(fuzz_steps(fuzz::TARGETS.to_vec()));
    }
    steps
}

fn fuzz_steps(targets: Vec<&'static str>) -> Vec<Check> {
    let mut steps = vec![Check::new("fuzz targets, built", fuzz::build)];
    for target in targets {
        steps.push(Check::new(format!("fuzz target {target}, {} s", fuzz::SECONDS), move || fuzz::run(target)));
    }
    steps
}

/// All tests but doctests, with nextest if it is there. Long tests look at `PHYXEL_LONG`.
fn tests(scope: Scope) -> Command {
    let long = scope == Scope::Long;
    let mut command = if tool::is_available(&mut cargo(&["nextest", "--version"])) {
        let mut command = cargo(&["nextest", "run", "--workspace", "--no-fail-fast"]);
        command.args(if long { &["--run-ignored", "all"][..] } else { &[] });
        command
    } else {
        let mut command = cargo(&["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"]);
        command.args(if long { &["--", "--include-ignored"][..] } else { &[] });
        command
    };
    if long {
        command.env("PHYXEL_LONG", "1");
    }
    command
}

fn cargo(words: &[&str]) -> Command {
    let mut command = tool::cargo();
    command.args(words);
    command
}

/// Looks for what the steps need before the first one starts.
fn require_tools(scope: Scope) -> Result<()> {
    for (tool, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if !tool::is_available(&mut cargo(&[tool, "--version"])) {
            bail!("{component} is missing; get it with `rustup component add {component}`");
        }
    }
    if !tool::is_available(&mut cargo(&["nextest", "--version"])) {
        println!("cargo-nextest is not installed: tests run with `cargo test`, which takes longer");
        println!("(get it with `cargo install cargo-nextest --locked`)");
    }
    if scope == Scope::Long { fuzz::require_tools() } else { Ok(()) }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(scope: Scope) -> Vec<String> {
        steps(scope).into_iter().map(|step| step.name).collect()
    }

    #[test]
    fn every_scope_formats_lints_and_tests() {
        for scope in [Scope::Quick, Scope::Usual, Scope::Long] {
            let names = names(scope);
            assert!(names[0].contains("cargo fmt") && names[1].contains("cargo clippy"), "{names:?}");
            assert!(names[2].contains("scene"), "{names:?}");
        }
    }

    #[test]
    fn all_but_the_quick_scope_open_exported_files() {
        let opened = |scope| names(scope).iter().any(|name| name.contains("exported files"));
        assert_eq!([Scope::Quick, Scope::Usual, Scope::Long].map(opened), [false, true, true]);
    }

    #[test]
    fn only_the_long_scope_fuzzes() {
        let fuzzed = |scope| names(scope).iter().filter(|name| name.contains("fuzz")).count();
        assert_eq!([Scope::Quick, Scope::Usual, Scope::Long].map(fuzzed), [0, 0, 1 + fuzz::TARGETS.len()]);
    }
}
