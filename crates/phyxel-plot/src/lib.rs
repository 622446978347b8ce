//! Plots of a run over time: energy, momentum, temperature, phases, strain, and the time of each stage.
//!
//! Each plot is written as SVG, with text as text, and as a PNG of 1600 x 1000 pixels. The crate reads `frames.jsonl`
//! and `report.json` and does not depend on the engine, so that it can plot runs of other versions with the same keys.

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

/// Draws all plots of the run in `folder` into the folder `out`, which is created if missing.
///
/// Returns the files written: `energy`, `momentum`, `temperature`, `phases`, `strain` and `stages`, each as `.svg` and
/// `.png`. A plot without values has a message instead. An incomplete last line is ignored, so that a run in progress
/// can be plotted. A value that is `null` (NaN or infinite) is a gap in its curve.
pub fn draw(folder: &Path, out: &Path) -> Result<Vec<PathBuf>, PlotError> {
    let run = read::read_run(folder)?;
    fs::create_dir_all(out).map_err(|source| PlotError::file("create", out, source))?;
    let mut rasterizer = raster::Rasterizer::new();
    let mut written = Vec::new();
    for plot in plots::all(&run) {
        let svg = plot.svg();
        let (vector, bitmap) = (out.join(format!("{}.svg", plot.name())), out.join(format!("{}.png", plot.name())));
        let png = rasterizer.rasterize(&svg).map_err(|reason| PlotError::Rasterize { path: bitmap.clone(), reason })?;
        raster::replace_file(&vector, svg.as_bytes())?;
        raster::replace_file(&bitmap, &png)?;
        written.extend([vector, bitmap]);
    }
    Ok(written)
}
