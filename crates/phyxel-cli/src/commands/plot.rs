//! `phyxel plot`.

use crate::failure::{BAD_INPUT, Failure};
use crate::output;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// Plots the curves of a run.
pub(crate) fn plot(run: &Path, folder: Option<&Path>, json: bool) -> Result<ExitCode, Failure> {
    let default_folder = run.join("plots");
    let folder = folder.unwrap_or(&default_folder);
    let files = phyxel_plot::draw(run, folder).map_err(|error| Failure::new(BAD_INPUT, error))?;
    if json {
        output::print(&format!("{:#}", json!({ "files": files })));
    } else {
        files.iter().for_each(|file| output::print(&file.display().to_string()));
    }
    Ok(ExitCode::SUCCESS)
}
