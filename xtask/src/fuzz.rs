//! Fuzzing on a stable toolchain: the compiler's coverage pass and libFuzzer, without `cargo-fuzz`.

use crate::{project, tool};
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every target: a binary of the crate in `fuzz/`, and the name of its folders of seeds and cases.
pub const TARGETS: [&str; 9] = ["scene", "obj", "ply", "stl", "gltf", "msh", "vtk", "vtu", "tetgen"];

/// Time for each target, s.
pub const SECONDS: u32 = 60;

/// Instrumentation that libFuzzer needs.
const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1";

/// Lines of a failed target's log that are shown.
const SHOWN_LINES: usize = 40;

/// Folders of one target.
struct FuzzFolders {
    target: &'static str,
    /// Everything that fuzzing writes.
    scratch: PathBuf,
    /// The crate of the targets.
    source: PathBuf,
}

impl FuzzFolders {
    fn of(target: &'static str) -> Result<Self> {
        Ok(Self { target, scratch: project::target()?.join("fuzz"), source: project::root().join("fuzz") })
    }

    /// Inputs that reach new edges; may be removed at any time.
    fn corpus(&self) -> PathBuf {
        self.scratch.join("corpus").join(self.target)
    }

    /// Inputs that fail.
    fn artifacts(&self) -> PathBuf {
        self.scratch.join("artifacts").join(self.target)
    }

    fn log(&self) -> PathBuf {
        self.scratch.join(format!("{}.log", self.target))
    }

    fn program(&self) -> Result<PathBuf> {
        Ok(self.scratch.join(project::host()?).join("release").join(self.target))
    }

    /// Inputs made by hand or kept from failures, if any.
    fn seeds_and_cases(&self) -> impl Iterator<Item = PathBuf> {
        let folders = ["seeds", "cases"].map(|kind| self.source.join(kind).join(self.target));
        folders.into_iter().filter(|folder| folder.is_dir())
    }
}

/// Checks for the compiler that libFuzzer is built with.
pub fn require_tools() -> Result<()> {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    if !tool::is_available(Command::new(&compiler).arg("--version")) {
        let name = compiler.to_string_lossy();
        bail!("the C++ compiler `{name}` does not work, and libFuzzer needs one; install g++ or clang++, or set CXX");
    }
    Ok(())
}

/// Builds all targets, in a separate folder: instrumented builds share nothing with other builds.
pub fn build() -> Result<()> {
    let folders = FuzzFolders::of(TARGETS[0])?;
    // With a target named, the flags do not hold for build scripts and macros, which run here and now.
    let mut command = tool::cargo();
    command.current_dir(&folders.source).args(["build", "--release", "--locked", "--bins", "--target"]);
    command.arg(project::host()?).arg("--target-dir").arg(&folders.scratch);
    command.env_remove("CARGO_ENCODED_RUSTFLAGS").env("RUSTFLAGS", FLAGS);
    tool::run(&mut command)
}

/// Runs one target.
pub fn run(target: &'static str) -> Result<()> {
    let folders = FuzzFolders::of(target)?;
    for folder in [folders.corpus(), folders.artifacts()] {
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let log = File::create(folders.log()).with_context(|| format!("cannot write {}", folders.log().display()))?;
    let mut command = Command::new(folders.program()?);
    command.current_dir(&folders.scratch).arg(folders.corpus()).args(folders.seeds_and_cases());
    command.args(["-rss_limit_mb=2048", "-timeout=40", "-print_final_stats=1"]);
    command.arg(format!("-max_total_time={SECONDS}"));
    command.arg(format!("-artifact_prefix={}/", folders.artifacts().display()));
    let words = folders.source.join("words").join(format!("{target}.dict"));
    if words.is_file() {
        command.arg(format!("-dict={}", words.display()));
    }
    let status = command.stdout(log.try_clone()?).stderr(log).status().context("cannot start the fuzz target")?;
    let text = String::from_utf8_lossy(&fs::read(folders.log())?).into_owned();
    if status.success() {
        println!("{}", summary(&text));
        return Ok(());
    }
    println!("{}", last_lines(&text, SHOWN_LINES));
    bail!(
        "the target found something; the input is in {}\n\
         shrink it:   {} -minimize_crash=1 -runs=10000 FILE\n\
         keep it in:  {}  (the tests replay what is there)",
        folders.artifacts().display(),
        folders.program()?.display(),
        Path::new("fuzz/cases").join(target).display()
    )
}

/// Number of inputs, coverage and memory.
fn summary(log: &str) -> String {
    let value = |key: &str| {
        let line = log.lines().find_map(|line| line.strip_prefix(key));
        line.map_or("?", |rest| rest.trim_start_matches(':').trim()).to_string()
    };
    let covered =
        log.lines().rev().find_map(|line| line.split(" cov: ").nth(1)).and_then(|rest| rest.split(' ').next());
    format!(
        "{} inputs tried, {} edges covered, {} MB at most",
        value("stat::number_of_executed_units"),
        covered.unwrap_or("?"),
        value("stat::peak_rss_mb"),
    )
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_is_a_binary_with_seeds() {
        for target in TARGETS {
            let folders = FuzzFolders::of(target).unwrap();
            assert!(folders.source.join("targets").join(format!("{target}.rs")).is_file(), "{target}");
            assert!(folders.seeds_and_cases().count() > 0, "{target} has no seeds");
        }
    }

    #[test]
    fn a_log_is_summed_up_in_a_line() {
        let log = "#7\tNEW    cov: 12 ft: 3\n#9\tDONE   cov: 34 ft: 5\n\
                   stat::number_of_executed_units: 99\nstat::peak_rss_mb:  41\n";
        assert_eq!(summary(log), "99 inputs tried, 34 edges covered, 41 MB at most");
        assert_eq!(summary(""), "? inputs tried, ? edges covered, ? MB at most");
    }
}
