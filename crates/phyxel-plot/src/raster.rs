//! Rasterization of SVG, and output of files.

use crate::error::PlotError;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// Size of the PNG, pixels.
pub(crate) const PIXELS: (u32, u32) = (1600, 1000);

/// Rasterizer with an embedded font and no system fonts, for equal pixels on all machines.
pub(crate) struct Rasterizer {
    options: Options<'static>,
}

impl Rasterizer {
    /// Loads the font.
    pub(crate) fn new() -> Self {
        let mut options = Options::default();
        let fonts = Arc::make_mut(&mut options.fontdb);
        fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
        let family = fonts.faces().next().and_then(|face| face.families.first().map(|(name, _)| name.clone()));
        if let Some(family) = family {
            fonts.set_sans_serif_family(family);
        }
        Self { options }
    }

    /// Renders SVG to the bytes of a PNG file.
    pub(crate) fn rasterize(&mut self, svg: &str) -> Result<Vec<u8>, String> {
        let tree = Tree::from_str(svg, &self.options).map_err(|error| error.to_string())?;
        let mut pixels = Pixmap::new(PIXELS.0, PIXELS.1).ok_or("not enough memory for the picture")?;
        let size = tree.size();
        let scale = Transform::from_scale(PIXELS.0 as f32 / size.width(), PIXELS.1 as f32 / size.height());
        resvg::render(&tree, scale, &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| error.to_string())
    }
}

/// Replaces a file atomically: a reader sees the old or the new content.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), PlotError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.partial"));
    let replaced = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    replaced.map_err(|source| {
        let _ = fs::remove_file(&temporary);
        PlotError::file("write", path, source)
    })
}
