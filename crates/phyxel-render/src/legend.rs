//! Legend: the colour map with its values, in a corner of the picture.

use crate::colour::{ColourRange, colour_map, linear_to_srgb};
use crate::picture::Picture;
use crate::settings::Colouring;
use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};

/// Number of labelled values.
const TICKS: u32 = 5;
/// Colour of the text.
const TEXT_COLOUR: [u8; 3] = [34, 36, 40];

/// Draws the legend of a colouring into the lower left corner. Pictures too small for it remain unchanged.
pub(crate) fn draw(picture: &mut Picture, colouring: Colouring, range: ColourRange) {
    // The legend scales with the picture; at 720 rows letters are 17 pixels tall.
    let unit = picture.height as f32 / 720.0;
    let text_size = 17.0 * unit;
    let (width, bar_height) = (330.0 * unit, 14.0 * unit);
    let (left, bottom) = (24.0 * unit, picture.height as f32 - 22.0 * unit);
    let Ok(font) = FontRef::try_from_slice(epaint_default_fonts::UBUNTU_LIGHT) else { return };
    if text_size < 6.0 || left + width > picture.width as f32 {
        return;
    }
    let padding = 12.0 * unit;
    let top = bottom - 2.6 * text_size - bar_height - padding;
    lighten_rectangle(
        picture,
        [left - padding, top - 0.3 * padding, left + width + 1.6 * padding, bottom + 0.8 * padding],
    );
    let mut painter = TextPainter { picture, font, size: text_size };
    let title = if colouring.unit().is_empty() {
        colouring.name().to_string()
    } else {
        format!("{} ({})", colouring.name(), colouring.unit())
    };
    painter.draw_line(&title, left, top + text_size, 0.0);
    let bar_top = top + 1.45 * text_size;
    for x in 0..width as u32 {
        let colour = linear_to_srgb(colour_map(colouring, x as f32 / width));
        for y in 0..bar_height as u32 {
            painter.blend_pixel(left as i64 + i64::from(x), bar_top as i64 + i64::from(y), colour, 1.0);
        }
    }
    for (index, label) in tick_labels(range).iter().enumerate() {
        let fraction = index as f32 / (TICKS - 1) as f32;
        for y in 0..(0.3 * text_size) as i64 {
            painter.blend_pixel(
                (left + fraction * (width - 1.0)) as i64,
                (bar_top + bar_height) as i64 + y,
                TEXT_COLOUR,
                0.8,
            );
        }
        painter.draw_line(label, left + fraction * width, bar_top + bar_height + 1.25 * text_size, fraction);
    }
}

/// Labels of the values, with as many digits as distinguish them.
fn tick_labels(range: ColourRange) -> Vec<String> {
    let values: Vec<f32> =
        (0..TICKS).map(|k| range.low + (range.high - range.low) * k as f32 / (TICKS - 1) as f32).collect();
    let largest = range.low.abs().max(range.high.abs());
    if range.high <= range.low || !(1e-3..1e5).contains(&largest) {
        return values.iter().map(|value| format!("{value:.1e}")).collect();
    }
    let step = (range.high - range.low) / (TICKS - 1) as f32;
    let digits = (1.0 - libm::log10f(step).floor()).clamp(0.0, 6.0) as usize;
    values.iter().map(|value| format!("{value:.digits$}")).collect()
}

/// Lightens a rectangle of the picture as the background of dark text.
fn lighten_rectangle(picture: &mut Picture, [left, top, right, bottom]: [f32; 4]) {
    let (width, height) = (picture.width as usize, picture.height as usize);
    for y in top.max(0.0) as usize..(bottom as usize).min(height) {
        for x in left.max(0.0) as usize..(right as usize).min(width) {
            let first = 3 * (y * width + x);
            picture.rgb[first..first + 3].iter_mut().for_each(|channel| *channel = 255 - (255 - *channel) / 4);
        }
    }
}

/// Draws text into a picture.
struct TextPainter<'a> {
    picture: &'a mut Picture,
    font: FontRef<'static>,
    size: f32,
}

impl TextPainter<'_> {
    /// Draws a line of text on the baseline `y`; `anchor` is the fraction of its width to the left of `x`.
    fn draw_line(&mut self, text: &str, x: f32, y: f32, anchor: f32) {
        let scaled = self.font.as_scaled(PxScale::from(self.size));
        let advance = |letter: char| scaled.h_advance(scaled.glyph_id(letter));
        let mut pen_x = x - anchor * text.chars().map(advance).sum::<f32>();
        let mut outlines = Vec::new();
        for letter in text.chars() {
            let glyph = scaled.glyph_id(letter).with_scale_and_position(self.size, point(pen_x, y));
            outlines.extend(self.font.outline_glyph(glyph));
            pen_x += advance(letter);
        }
        for outline in outlines {
            let corner = outline.px_bounds().min;
            outline.draw(|u, v, coverage| {
                // Thin strokes look too light next to the picture.
                let coverage = (1.35 * coverage).min(1.0);
                self.blend_pixel(corner.x as i64 + i64::from(u), corner.y as i64 + i64::from(v), TEXT_COLOUR, coverage);
            });
        }
    }

    /// Blends a colour into a pixel by its coverage.
    fn blend_pixel(&mut self, x: i64, y: i64, colour: [u8; 3], coverage: f32) {
        let inside = |at: i64, count: u32| (0..i64::from(count)).contains(&at);
        if inside(x, self.picture.width) && inside(y, self.picture.height) {
            let first = 3 * (y as usize * self.picture.width as usize + x as usize);
            for (channel, target) in self.picture.rgb[first..first + 3].iter_mut().zip(colour) {
                *channel = (f32::from(*channel) + (f32::from(target) - f32::from(*channel)) * coverage).round() as u8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_the_digits_they_need() {
        assert_eq!(tick_labels(ColourRange { low: 0.0, high: 100.0 }), ["0", "25", "50", "75", "100"]);
        assert_eq!(tick_labels(ColourRange { low: 0.0, high: 0.2 }), ["0.000", "0.050", "0.100", "0.150", "0.200"]);
        assert_eq!(tick_labels(ColourRange { low: 2.0, high: 2.0 })[0], "2.0e0");
        assert_eq!(tick_labels(ColourRange { low: 0.0, high: 3.0e7 })[4], "3.0e7");
    }

    #[test]
    fn the_legend_is_drawn_where_there_is_room() {
        for (width, height, drawn) in [(640, 360, true), (40, 40, false)] {
            let blank = Picture { width, height, rgb: vec![120; 3 * (width * height) as usize] };
            let mut picture = blank.clone();
            draw(&mut picture, Colouring::Speed, ColourRange { low: 0.0, high: 4.0 });
            assert_eq!(picture != blank, drawn);
        }
    }
}
