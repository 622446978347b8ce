//! `phyxel plot`.

use crate::failure::{BAD_INPUT, Failure};
use crate::say;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// Draws the curves of a run.
pub(crate) fn plot(run: &Path, folder: Option<&Path>, json: bool) -> Result<ExitCode, Failure> {
    let usual = run.join("plots");
    let folder = folder.unwrap_or(&usual);
    let files = phyxel_plot::draw(run, folder).map_err(|error| Failure::new(BAD_INPUT, error))?;
    if json {
        say::to_stdout(&format!("{:#}", json!({ "files": files })));
    } else {
        files.iter().for_each(|file| say::to_stdout(&file.display().to_string()));
    }
    Ok(ExitCode::SUCCESS)
}
