//! Finished pictures.

/// Picture in sRGB, eight bits each of red, green and blue, row by row from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// `3 width height` bytes.
    pub rgb: Vec<u8>,
}

impl Picture {
    /// Colour of a pixel, counted from the upper left corner.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let first = 3 * (y as usize * self.width as usize + x as usize);
        [self.rgb[first], self.rgb[first + 1], self.rgb[first + 2]]
    }
}
