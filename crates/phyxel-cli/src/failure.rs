//! Failures: messages or JSON on the error stream, and exit codes.

use crate::output;
use phyxel_run::RunError;
use phyxel_scene::{LoadError, Problem, SceneErrors};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Exit code: an expectation was not met, and `--expect` was given.
pub(crate) const EXPECTATION_FAILED: u8 = 1;
/// Exit code: the input was invalid and nothing was written.
pub(crate) const BAD_INPUT: u8 = 2;
/// Exit code: the simulation failed, or its files could not be written.
pub(crate) const FAILED: u8 = 3;
/// Exit code: interrupted; the run can be resumed.
pub(crate) const INTERRUPTED: u8 = 130;

/// Failure of a command.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    error: anyhow::Error,
}

impl Failure {
    /// Failure with an exit code.
    pub fn new(code: u8, error: impl Into<anyhow::Error>) -> Self {
        Self { code, error: error.into() }
    }

    /// Failure of parsing the command line.
    pub fn usage(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let message = text.trim().strip_prefix("error: ").unwrap_or(text.trim()).to_string();
        Self { code: BAD_INPUT, error: anyhow::Error::msg(message) }
    }

    /// Prints the failure and returns its exit code.
    pub fn report(&self, json: bool) -> ExitCode {
        if json {
            output::print_error(&self.as_json().to_string());
        } else {
            output::print_error(&format!("error: {}", self.message()));
        }
        ExitCode::from(self.code)
    }

    fn message(&self) -> String {
        let text = self.error.to_string();
        // Every problem of a scene has its own line; the count comes first.
        match self.scene_errors() {
            Some(errors) if errors.problems.len() > 1 => {
                format!("{} problems in {}\n{text}", errors.problems.len(), errors.file)
            }
            _ => text,
        }
    }

    fn as_json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.error.to_string() });
        if let Some(errors) = self.scene_errors() {
            let problem = |problem: &Problem| {
                let (line, path, message) = (problem.line, &problem.path, &problem.message);
                json!({ "line": line, "path": path, "message": message })
            };
            error["file"] = json!(errors.file);
            error["problems"] = errors.problems.iter().map(problem).collect();
        }
        json!({ "error": error })
    }

    fn scene_errors(&self) -> Option<&SceneErrors> {
        match self.error.downcast_ref::<LoadError>() {
            Some(LoadError::Invalid(errors)) => Some(errors),
            _ => None,
        }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Self::new(BAD_INPUT, error)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::new(if error.is_refusal() { BAD_INPUT } else { FAILED }, error)
    }
}
