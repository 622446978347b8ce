//! Curves over time from the folder of a run: energy, momentum, temperature, phases, strain, and the times of the stages.
//!
//! Each is drawn as SVG, with text as text, and the same drawing as a PNG of 1600 x 1000 pixels. The crate reads
//! `frames.jsonl` and `report.json` and knows nothing else of a simulation, so it can also draw runs of other versions as long
//! as the names of their values are the same.

#![forbid(unsafe_code)]

mod axis;
mod bars;
mod curves;
mod error;
mod figure;
mod plots;
mod raster;
mod read;
mod svg;
mod text;

pub use error::PlotError;

use std::fs;
use std::path::{Path, PathBuf};

/// Draws all plots of the run in `folder` to the folder `out`, which is made if it is not there.
///
/// Returns the files written: `energy`, `momentum`, `temperature`, `phases`, `strain` and `stages`, each as `.svg` and `.png`.
/// All are drawn for every run; a plot for which the run has no values says so in its middle. A last line that was torn off
/// is left out, so a run that is still going can be drawn. A value that is no number (`null`) is a gap in its curve.
pub fn draw(folder: &Path, out: &Path) -> Result<Vec<PathBuf>, PlotError> {
    let run = read::read_run(folder)?;
    fs::create_dir_all(out).map_err(|source| PlotError::file("create", out, source))?;
    let mut painter = raster::Rasterizer::new();
    let mut written = Vec::new();
    for plot in plots::all(&run) {
        let svg = plot.svg();
        let (vector, bitmap) = (out.join(format!("{}.svg", plot.name())), out.join(format!("{}.png", plot.name())));
        let png = painter.rasterize(&svg).map_err(|what| PlotError::Rasterize { path: bitmap.clone(), what })?;
        raster::replace_file(&vector, svg.as_bytes())?;
        raster::replace_file(&bitmap, &png)?;
        written.extend([vector, bitmap]);
    }
    Ok(written)
}
