//! Horizontal bars, with names to the left and values to the right.

use crate::axis::Axis;
use crate::curves::draw_message;
use crate::figure::{Bars, PALETTE};
use crate::svg::{AXIS, Anchor, GRID, HEIGHT, INK, LABEL, Page, TICK, WIDTH};
use crate::text::{fixed, shorten, width};

/// Room for a value behind the longest bar.
const VALUE_WIDTH: f64 = 130.0;
const FOOTER: f64 = 54.0;

/// Draws bars below the head of the page.
pub(crate) fn draw_bars(page: &mut Page, content: &Bars, head: f64) {
    let values = || content.bars.iter().map(|(_, value)| value).filter(|value| value.is_finite());
    let (sum, largest) = (values().sum::<f64>(), values().copied().fold(0.0, f64::max));
    if content.bars.is_empty() {
        return draw_message(page, "the report tells no times yet");
    }
    let names: Vec<String> = content.bars.iter().map(|(name, _)| shorten(name, 32)).collect();
    let left = 28.0 + names.iter().map(|name| width(name, LABEL)).fold(0.0, f64::max);
    let (top, bottom) = (head + 8.0, HEIGHT - FOOTER);
    let end = if largest > 0.0 { largest } else { 1.0 };
    let across = Axis::new(content.quantity, content.unit, Some((0.0, end)), 5, 0.0);
    let room = WIDTH - VALUE_WIDTH - left;
    draw_grid(page, &across, (left, top), (room, bottom - top));
    let row = (bottom - top) / content.bars.len() as f64;
    for (index, ((_, value), name)) in content.bars.iter().zip(&names).enumerate() {
        let middle = top + (index as f64 + 0.5) * row;
        let size = (0.62 * row).min(34.0);
        let value = if value.is_finite() { value.max(0.0) } else { 0.0 };
        let length = across.fraction(value) * room;
        page.text((left - 10.0, middle + 0.34 * LABEL), LABEL, Anchor::End, INK, name);
        page.rectangle((left, middle - size / 2.0), (length, size), PALETTE[0]);
        page.text_on_grid((left + length + 8.0, middle + 0.34 * TICK), &format_time(value, sum));
    }
    page.line((left, top), (left, bottom), (AXIS, "", 1.0));
}

fn draw_grid(page: &mut Page, across: &Axis, corner: (f64, f64), size: (f64, f64)) {
    let bottom = corner.1 + size.1;
    for (value, label) in &across.ticks {
        let x = corner.0 + across.fraction(*value) * size.0;
        page.line((x, corner.1), (x, bottom), (GRID, "", 0.7));
        page.line((x, bottom), (x, bottom + 4.0), (AXIS, "", 1.0));
        page.text((x, bottom + 19.0), TICK, Anchor::Middle, INK, label);
    }
    page.line((corner.0, bottom), (corner.0 + size.0, bottom), (AXIS, "", 1.0));
    page.text((corner.0 + size.0 / 2.0, HEIGHT - 14.0), LABEL, Anchor::Middle, INK, &across.label);
}

/// A time in three digits and its share of the whole.
fn format_time(seconds: f64, sum: f64) -> String {
    let (scaled, unit) = match seconds {
        seconds if seconds >= 1.0 || seconds == 0.0 => (seconds, "s"),
        seconds if seconds >= 1e-3 => (seconds * 1e3, "ms"),
        seconds => (seconds * 1e6, "µs"),
    };
    let digits = if scaled == 0.0 { 0 } else { (2.0 - scaled.log10().floor()).clamp(0.0, 2.0) as usize };
    let share = if sum > 0.0 { 100.0 * seconds / sum } else { 0.0 };
    let share = if share > 0.0 && share < 0.1 { "< 0.1".to_string() } else { fixed(share, 1) };
    format!("{} {unit} ({share} %)", fixed(scaled, digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_three_digits_with_their_share() {
        assert_eq!(format_time(2.5, 10.0), "2.50 s (25.0 %)");
        assert_eq!(format_time(0.0123, 0.1), "12.3 ms (12.3 %)");
        assert_eq!(format_time(1234.0, 1234.0), "1234 s (100.0 %)");
        assert_eq!(format_time(78.4e-6, 1.0), "78.4 µs (< 0.1 %)");
        assert_eq!(format_time(0.0, 0.0), "0 s (0.0 %)");
    }
}
