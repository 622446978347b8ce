//! `phyxel bench`.

use crate::failure::{BAD_INPUT, Failure};
use crate::output;
use phyxel_run::bench::{self, Row};
use std::process::ExitCode;

/// Measures, and prints a table or JSON.
pub(crate) fn bench(name: Option<&str>, json: bool) -> Result<ExitCode, Failure> {
    let mut rows: Vec<Row> = Vec::new();
    if !json {
        output::print(&header());
    }
    let measured = bench::run(name, &mut |row| {
        if !json {
            output::print(&line(&row));
        }
        rows.push(row);
    });
    measured.map_err(|error| Failure::new(BAD_INPUT, anyhow::Error::from(error)))?;
    if json {
        output::print(&serde_json::to_string_pretty(&rows).unwrap_or_default());
    } else {
        output::print(&published_figures(&rows));
    }
    Ok(ExitCode::SUCCESS)
}

fn header() -> String {
    format!(
        "{:<22} {:<33} {:>7} {:>9} {:>12} {:>12} {:>11}  {}",
        "benchmark", "measured", "threads", "elements", "median ms", "minimum ms", "ns/element", "state"
    )
}

fn line(row: &Row) -> String {
    format!(
        "{:<22} {:<33} {:>7} {:>9} {:>12.4} {:>12.4} {:>11.2}  {}",
        row.name,
        row.measured,
        row.threads,
        row.elements,
        row.median * 1e3,
        row.minimum * 1e3,
        row.per_element * 1e9,
        &row.state_hash[..row.state_hash.len().min(12)]
    )
}

/// Published figures and notes; those of shape matching once per benchmark.
fn published_figures(rows: &[Row]) -> String {
    let mut notes: Vec<String> = Vec::new();
    for row in rows {
        if let Some(published) = &row.published {
            let note = format!("{}, {}, {} threads: {published}", row.name, row.measured, row.threads);
            let is_known = row.measured.starts_with("shape matching")
                && notes.iter().any(|other| other.starts_with(&format!("{}, shape matching", row.name)));
            if !is_known {
                notes.push(note);
            }
        }
    }
    notes.join("\n")
}
