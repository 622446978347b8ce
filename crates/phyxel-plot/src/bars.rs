//! Horizontal bar charts.

use crate::axis::Axis;
use crate::curves::draw_message;
use crate::figure::{Bars, PALETTE};
use crate::svg::{AXIS, Anchor, GRID, HEIGHT, INK, LABEL, Page, TICK, WIDTH};
use crate::text::{fixed, shorten, width};

/// Width of the value beside the longest bar.
const VALUE_WIDTH: f64 = 130.0;
const FOOTER: f64 = 54.0;

/// Draws bars below the header of the page.
pub(crate) fn draw_bars(page: &mut Page, content: &Bars, header: f64) {
    let values = || content.bars.iter().map(|(_, value)| value).filter(|value| value.is_finite());
    let (sum, largest) = (values().sum::<f64>(), values().copied().fold(0.0, f64::max));
    if content.bars.is_empty() {
        return draw_message(page, "the report has no stage times yet");
    }
    let names: Vec<String> = content.bars.iter().map(|(name, _)| shorten(name, 32)).collect();
    let left = 28.0 + names.iter().map(|name| width(name, LABEL)).fold(0.0, f64::max);
    let (top, bottom) = (header + 8.0, HEIGHT - FOOTER);
    let end = if largest > 0.0 { largest } else { 1.0 };
    let axis = Axis::new(content.quantity, content.unit, Some((0.0, end)), 5, 0.0);
    let full_length = WIDTH - VALUE_WIDTH - left;
    draw_grid(page, &axis, (left, top), (full_length, bottom - top));
    let row = (bottom - top) / content.bars.len() as f64;
    for (index, ((_, value), name)) in content.bars.iter().zip(&names).enumerate() {
        let middle = top + (index as f64 + 0.5) * row;
        let thickness = (0.62 * row).min(34.0);
        let value = if value.is_finite() { value.max(0.0) } else { 0.0 };
        let length = axis.fraction(value) * full_length;
        page.text((left - 10.0, middle + 0.34 * LABEL), LABEL, Anchor::End, INK, name);
        page.rectangle((left, middle - thickness / 2.0), (length, thickness), PALETTE[0]);
        page.text_on_grid((left + length + 8.0, middle + 0.34 * TICK), &format_time(value, sum));
    }
    page.line((left, top), (left, bottom), (AXIS, "", 1.0));
}

fn draw_grid(page: &mut Page, axis: &Axis, corner: (f64, f64), size: (f64, f64)) {
    let bottom = corner.1 + size.1;
    for (value, label) in &axis.ticks {
        let x = corner.0 + axis.fraction(*value) * size.0;
        page.line((x, corner.1), (x, bottom), (GRID, "", 0.7));
        page.line((x, bottom), (x, bottom + 4.0), (AXIS, "", 1.0));
        page.text((x, bottom + 19.0), TICK, Anchor::Middle, INK, label);
    }
    page.line((corner.0, bottom), (corner.0 + size.0, bottom), (AXIS, "", 1.0));
    page.text((corner.0 + size.0 / 2.0, HEIGHT - 14.0), LABEL, Anchor::Middle, INK, &axis.label);
}

/// Formats a time with three significant digits and its percentage of the sum.
fn format_time(seconds: f64, sum: f64) -> String {
    let (scaled, unit) = match seconds {
        seconds if seconds >= 1.0 || seconds == 0.0 => (seconds, "s"),
        seconds if seconds >= 1e-3 => (seconds * 1e3, "ms"),
        seconds => (seconds * 1e6, "µs"),
    };
    let digits = if scaled == 0.0 { 0 } else { (2.0 - scaled.log10().floor()).clamp(0.0, 2.0) as usize };
    let percentage = if sum > 0.0 { 100.0 * seconds / sum } else { 0.0 };
    let percentage = if percentage > 0.0 && percentage < 0.1 { "< 0.1".to_string() } else { fixed(percentage, 1) };
    format!("{} {unit} ({percentage} %)", fixed(scaled, digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_a_percentage() {
        assert_eq!(format_time(2.5, 10.0), "2.50 s (25.0 %)");
        assert_eq!(format_time(0.0123, 0.1), "12.3 ms (12.3 %)");
        assert_eq!(format_time(1234.0, 1234.0), "1234 s (100.0 %)");
        assert_eq!(format_time(78.4e-6, 1.0), "78.4 µs (< 0.1 %)");
        assert_eq!(format_time(0.0, 0.0), "0 s (0.0 %)");
    }
}
