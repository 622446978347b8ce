//! A finished picture.

/// Eight bits each of red, green and blue (sRGB), row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `3 width height` bytes.
    pub rgb: Vec<u8>,
}

impl Picture {
    /// The colour of a pixel, counted from the upper left corner.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let first = 3 * (y as usize * self.width as usize + x as usize);
        [self.rgb[first], self.rgb[first + 1], self.rgb[first + 2]]
    }
}
