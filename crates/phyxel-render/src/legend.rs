//! The colour scale with its numbers, in a corner of the picture.

use crate::colour::{Range, scale, to_bytes};
use crate::picture::Picture;
use crate::view::Colouring;
use ab_glyph::{Font, FontRef, PxScale, ScaleFont, point};

/// Values written beside the scale.
const TICKS: u32 = 5;
/// Colour of the text.
const INK: [u8; 3] = [34, 36, 40];

/// Draws the scale of a colouring into the lower left corner. Pictures too small for it stay as they are.
pub(crate) fn draw(picture: &mut Picture, colouring: Colouring, range: Range) {
    // Everything grows with the picture; at 720 rows letters are 17 pixels tall.
    let unit = picture.height as f32 / 720.0;
    let text = 17.0 * unit;
    let (width, bar) = (330.0 * unit, 14.0 * unit);
    let (left, bottom) = (24.0 * unit, picture.height as f32 - 22.0 * unit);
    let Ok(font) = FontRef::try_from_slice(epaint_default_fonts::UBUNTU_LIGHT) else { return };
    if text < 6.0 || left + width > picture.width as f32 {
        return;
    }
    let pad = 12.0 * unit;
    let top = bottom - 2.6 * text - bar - pad;
    panel(picture, [left - pad, top - 0.3 * pad, left + width + 1.6 * pad, bottom + 0.8 * pad]);
    let mut pen = Pen { picture, font, size: text };
    let name = if colouring.unit().is_empty() {
        colouring.name().to_string()
    } else {
        format!("{} ({})", colouring.name(), colouring.unit())
    };
    pen.write(&name, left, top + text, 0.0);
    let bar_top = top + 1.45 * text;
    for x in 0..width as u32 {
        let colour = to_bytes(scale(colouring, x as f32 / width));
        for y in 0..bar as u32 {
            pen.dot(left as i64 + i64::from(x), bar_top as i64 + i64::from(y), colour, 1.0);
        }
    }
    for (number, label) in labels(range).iter().enumerate() {
        let place = number as f32 / (TICKS - 1) as f32;
        for y in 0..(0.3 * text) as i64 {
            pen.dot((left + place * (width - 1.0)) as i64, (bar_top + bar) as i64 + y, INK, 0.8);
        }
        pen.write(label, left + place * width, bar_top + bar + 1.25 * text, place);
    }
}

/// The numbers of a scale, with as many digits as tell them apart.
fn labels(range: Range) -> Vec<String> {
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

/// Lightens a part of the picture, so that dark letters can be read on it.
fn panel(picture: &mut Picture, [left, top, right, bottom]: [f32; 4]) {
    let (width, height) = (picture.width as usize, picture.height as usize);
    for y in top.max(0.0) as usize..(bottom as usize).min(height) {
        for x in left.max(0.0) as usize..(right as usize).min(width) {
            let first = 3 * (y * width + x);
            picture.rgb[first..first + 3].iter_mut().for_each(|part| *part = 255 - (255 - *part) / 4);
        }
    }
}

struct Pen<'a> {
    picture: &'a mut Picture,
    font: FontRef<'static>,
    size: f32,
}

impl Pen<'_> {
    /// Writes a line; `anchor` is the part of it that lies left of `x`, `y` the line it stands on.
    fn write(&mut self, text: &str, x: f32, y: f32, anchor: f32) {
        let scaled = self.font.as_scaled(PxScale::from(self.size));
        let advance = |letter: char| scaled.h_advance(scaled.glyph_id(letter));
        let mut at = x - anchor * text.chars().map(advance).sum::<f32>();
        let mut outlines = Vec::new();
        for letter in text.chars() {
            let glyph = scaled.glyph_id(letter).with_scale_and_position(self.size, point(at, y));
            outlines.extend(self.font.outline_glyph(glyph));
            at += advance(letter);
        }
        for outline in outlines {
            let corner = outline.px_bounds().min;
            outline.draw(|u, v, cover| {
                // Thin strokes look too light beside the picture.
                let cover = (1.35 * cover).min(1.0);
                self.dot(corner.x as i64 + i64::from(u), corner.y as i64 + i64::from(v), INK, cover);
            });
        }
    }

    fn dot(&mut self, x: i64, y: i64, colour: [u8; 3], cover: f32) {
        let inside = |at: i64, count: u32| (0..i64::from(count)).contains(&at);
        if inside(x, self.picture.width) && inside(y, self.picture.height) {
            let first = 3 * (y as usize * self.picture.width as usize + x as usize);
            for (part, ink) in self.picture.rgb[first..first + 3].iter_mut().zip(colour) {
                *part = (f32::from(*part) + (f32::from(ink) - f32::from(*part)) * cover).round() as u8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_they_need() {
        assert_eq!(labels(Range { low: 0.0, high: 100.0 }), ["0", "25", "50", "75", "100"]);
        assert_eq!(labels(Range { low: 0.0, high: 0.2 }), ["0.000", "0.050", "0.100", "0.150", "0.200"]);
        assert_eq!(labels(Range { low: 2.0, high: 2.0 })[0], "2.0e0");
        assert_eq!(labels(Range { low: 0.0, high: 3.0e7 })[4], "3.0e7");
    }

    #[test]
    fn the_scale_is_drawn_where_there_is_room() {
        for (width, height, drawn) in [(640, 360, true), (40, 40, false)] {
            let blank = Picture { width, height, rgb: vec![120; 3 * (width * height) as usize] };
            let mut picture = blank.clone();
            draw(&mut picture, Colouring::Speed, Range { low: 0.0, high: 4.0 });
            assert_eq!(picture != blank, drawn);
        }
    }
}
