//! Interoperability checks: films and exported files are opened by FFmpeg's libraries, OpenUSD, VTK, meshio,
//! splashsurf, the Khronos validator and Blender.
//!
//! The programs are installed into the folder of build outputs and stay there until the lists of them change. Where
//! they cannot be installed, one line says so and the check passes: a test must not depend on a server.

use crate::{project, tool};
use anyhow::{Context, Result, anyhow};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Checks with the readers of `requirements.txt`.
const CHECKS: [&str; 6] = ["film", "usd", "vtk", "ply", "glb", "bgeo"];
/// Checks with those of `requirements-long.txt`, which are large.
const LONG_CHECKS: [&str; 1] = ["blender"];

/// The example that makes sample files.
const SAMPLES: &str = "export_sample";

/// Folders of the checks.
struct ClientFolders {
    /// Installed programs and sample files.
    scratch: PathBuf,
    /// The checks and the lists of their requirements.
    source: PathBuf,
}

/// Makes sample files and opens them; with `long`, in large programs too.
pub fn check(long: bool) -> Result<()> {
    let folders = ClientFolders {
        scratch: project::target()?.join("clients"),
        source: project::root().join("validation").join("clients"),
    };
    create(&folders.scratch)?;
    let python = folders.python("python", "requirements.txt");
    let blender = if long { Some(folders.python("blender", "requirements-long.txt")) } else { None };
    let node = folders.node();
    if python.is_ok() || node.is_ok() || matches!(blender, Some(Ok(_))) {
        folders.make_samples()?;
    }
    folders.run_checks("FFmpeg's libraries, OpenUSD, VTK, meshio and splashsurf", python, &CHECKS)?;
    folders.validate(node)?;
    blender.map_or(Ok(()), |blender| folders.run_checks("Blender", blender, &LONG_CHECKS))
}

impl ClientFolders {
    fn samples(&self) -> PathBuf {
        self.scratch.join("samples")
    }

    /// Builds the example as part of the workspace, as the tests were built: for one package alone, cargo would unify
    /// features differently and build all dependencies again.
    fn make_samples(&self) -> Result<()> {
        let words = ["build", "--quiet", "--workspace", "--example", SAMPLES, "--message-format", "json"];
        let built = tool::output(tool::cargo().args(words))?;
        let program = executable(&built).with_context(|| format!("cargo does not report where it built {SAMPLES}"))?;
        tool::run(Command::new(program).arg(self.samples()))
    }

    /// Python with the packages of a list.
    fn python(&self, name: &str, list: &str) -> Result<PathBuf> {
        let version =
            tool::output(Command::new("python3").arg("--version")).map_err(|_| anyhow!("python3 is not installed"))?;
        let folder = self.scratch.join(name);
        let program = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
        let packages = self.source.join(list);
        let wanted = format!("{version}{}", read(&packages)?);
        prepare(&folder, &wanted, || {
            tool::output(Command::new("python3").args(["-m", "venv"]).arg(&folder))?;
            let mut command = Command::new(&program);
            command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
            command.args(["--retries", "2", "--timeout", "30", "--requirement"]).arg(&packages);
            tool::output(&mut command)
        })?;
        Ok(program)
    }

    /// The folder of packages for node.
    fn node(&self) -> Result<PathBuf> {
        for program in ["node", "npm"] {
            if !tool::is_available(Command::new(program).arg("--version")) {
                return Err(anyhow!("{program} is not installed"));
            }
        }
        let folder = self.scratch.join("node");
        let wanted = read(&self.source.join("package.json"))?;
        prepare(&folder, &wanted, || {
            create(&folder)?;
            fs::write(folder.join("package.json"), &wanted)?;
            let mut command = Command::new("npm");
            command.current_dir(&folder).args([
                "install",
                "--loglevel=error",
                "--logs-max=0",
                "--no-audit",
                "--no-fund",
            ]);
            tool::output(command.args(["--fetch-retries=1", "--fetch-timeout=30000"]))
        })?;
        Ok(folder.join("node_modules"))
    }

    fn run_checks(&self, readers: &str, python: Result<PathBuf>, checks: &[&str]) -> Result<()> {
        let python = match python {
            Ok(python) => python,
            Err(error) => {
                report_skipped(readers, &error);
                return Ok(());
            }
        };
        for check in checks {
            let mut command = Command::new(&python);
            command.arg(self.source.join(format!("check_{check}.py"))).arg(self.samples());
            tool::run(command.env("PYTHONDONTWRITEBYTECODE", "1"))?;
        }
        Ok(())
    }

    fn validate(&self, packages: Result<PathBuf>) -> Result<()> {
        let packages = match packages {
            Ok(packages) => packages,
            Err(error) => {
                report_skipped("gltf-validator", &error);
                return Ok(());
            }
        };
        let mut command = Command::new("node");
        command.arg(self.source.join("validate_glb.js")).arg(self.samples());
        tool::run(command.env("NODE_PATH", packages))
    }
}

/// Path of the last executable in the JSON messages of cargo.
fn executable(lines: &str) -> Option<PathBuf> {
    let messages = lines.lines().rev().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    messages.into_iter().find_map(|message| Some(PathBuf::from(message["executable"].as_str()?)))
}

/// Prints which check was skipped, and why.
fn report_skipped(readers: &str, error: &anyhow::Error) {
    println!("SKIPPED: exported files were not opened with {readers}: {}", reason(&format!("{error:#}")));
}

/// The first line that speaks of an error, after the command that made it; else the first of all.
fn reason(text: &str) -> &str {
    let said = text.split_once("failed: ").map_or(text, |(_, said)| said);
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.clone().find(|line| line.to_ascii_lowercase().contains("error")).or(lines.next()).unwrap_or(text)
}

/// Fills a folder again unless a file in it records that it holds what is wanted.
fn prepare(folder: &Path, wanted: &str, fill: impl FnOnce() -> Result<String>) -> Result<()> {
    let note = folder.join("contents.txt");
    if fs::read_to_string(&note).is_ok_and(|held| held == wanted) {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    fill()?;
    fs::write(&note, wanted).with_context(|| format!("cannot write {}", note.display()))
}

fn create(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_there_is_is_run() {
        let folder = project::root().join("validation").join("clients");
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut found: Vec<String> =
            names.filter_map(|name| Some(name.strip_prefix("check_")?.strip_suffix(".py")?.to_string())).collect();
        found.sort();
        let mut run = [&CHECKS[..], &LONG_CHECKS].concat();
        run.sort_unstable();
        assert_eq!(found, run);
    }

    #[test]
    fn a_folder_is_filled_only_when_something_else_is_wanted() {
        let folder = std::env::temp_dir().join(format!("xtask-clients-{}", std::process::id()));
        let mut fillings = 0;
        for wanted in ["a==1", "a==1", "a==2"] {
            prepare(&folder, wanted, || {
                fillings += 1;
                create(&folder).map(|()| String::new())
            })
            .unwrap();
        }
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(fillings, 2);
    }

    #[test]
    fn a_program_that_was_built_is_found_in_the_messages_of_cargo() {
        let lines = r#"{"reason":"compiler-artifact","executable":null}
{"reason":"compiler-artifact","executable":"/build/examples/sample"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(executable(lines), Some("/build/examples/sample".into()));
        assert_eq!(executable("{}"), None);
    }

    #[test]
    fn the_reason_of_a_skipped_check_is_the_first_error() {
        assert_eq!(reason("`pip` failed: trying\nERROR: no network\nERROR: no package\n"), "ERROR: no network");
        assert_eq!(reason("`npm --loglevel=error` failed: npm error code 7"), "npm error code 7");
        assert_eq!(reason("node is not installed"), "node is not installed");
    }
}
