//! Page of SVG: primitives with one style, independent of the plots.

use crate::text::{escape, markup, width};
use std::fmt::Write;

/// Width of the page; its unit is that of all lengths here.
pub(crate) const WIDTH: f64 = 800.0;
/// Height of the page.
pub(crate) const HEIGHT: f64 = 500.0;

/// Font sizes of titles, of labels and legends, and of ticks.
pub(crate) const TITLE: f64 = 18.0;
pub(crate) const LABEL: f64 = 15.0;
pub(crate) const TICK: f64 = 14.0;

/// Font families of similar widths; the last always exists.
const FAMILIES: &str = "Ubuntu, 'Noto Sans', 'DejaVu Sans', Helvetica, Arial, sans-serif";

/// Colours of text, of axes and of the grid.
pub(crate) const INK: &str = "#1a1a1a";
pub(crate) const FAINT_INK: &str = "#666666";
pub(crate) const AXIS: &str = "#404040";
pub(crate) const GRID: &str = "#dcdcdc";

/// Alignment of a text to its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Page under construction.
#[derive(Clone, Debug)]
pub(crate) struct Page(String);

impl Page {
    /// Creates a white page.
    pub(crate) fn new(title: &str) -> Self {
        let mut page = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"{FAMILIES}\" fill=\"{INK}\">\n<title>{}</title>\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>",
            escape(title)
        );
        Self(page)
    }

    /// Completes the drawing.
    pub(crate) fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }

    /// Draws a text with its baseline at `at`.
    pub(crate) fn text(&mut self, at: (f64, f64), size: f64, anchor: Anchor, color: &str, text: &str) {
        let anchor = anchor_name(anchor);
        let (x, y) = at;
        let text = markup(text, size);
        let _ = writeln!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" \
             fill=\"{color}\">{text}</text>"
        );
    }

    /// Draws a text that starts at `at`, with a white outline over grid lines.
    pub(crate) fn text_on_grid(&mut self, at: (f64, f64), text: &str) {
        let ((x, y), text) = (at, markup(text, TICK));
        let _ = writeln!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{TICK}\" fill=\"{INK}\" stroke=\"#ffffff\" stroke-width=\"5\" \
             paint-order=\"stroke\">{text}</text>"
        );
    }

    /// Draws a vertical text centred at `at`, scaled down if longer than `length`.
    pub(crate) fn text_upward(&mut self, at: (f64, f64), length: f64, text: &str) {
        let size = LABEL * (length / width(text, LABEL)).clamp(0.6, 1.0);
        let (x, y) = at;
        let text = markup(text, size);
        let _ = writeln!(
            self.0,
            "<text transform=\"translate({x:.1} {y:.1}) rotate(-90)\" font-size=\"{size:.1}\" \
             text-anchor=\"middle\">{text}</text>"
        );
    }

    /// Draws a line.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), pen: (&str, &str, f64)) {
        let (color, dashes, width) = pen;
        let dashes = dash_attribute(dashes);
        let _ = writeln!(
            self.0,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{color}\" \
             stroke-width=\"{width}\"{dashes}/>",
            from.0, from.1, to.0, to.1
        );
    }

    /// Draws a filled rectangle.
    pub(crate) fn rectangle(&mut self, corner: (f64, f64), size: (f64, f64), color: &str) {
        let _ = writeln!(
            self.0,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.2}\" height=\"{:.1}\" fill=\"{color}\"/>",
            corner.0, corner.1, size.0, size.1
        );
    }

    /// Draws a named curve as a path, with gaps where `points` are `None`.
    pub(crate) fn curve(&mut self, name: &str, points: &[Option<(f64, f64)>], pen: (&str, &str, f64)) {
        let (color, dashes, width) = pen;
        let (path, dashes, name) = (path_of(points), dash_attribute(dashes), escape(name));
        let _ = writeln!(
            self.0,
            "<path class=\"curve\" d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\" stroke-linecap=\"butt\"{dashes}><title>{name}</title></path>"
        );
    }

    /// Draws a dot, for curves of one point.
    pub(crate) fn dot(&mut self, at: (f64, f64), color: &str) {
        let _ = writeln!(self.0, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{color}\"/>", at.0, at.1);
    }

    /// Draws a translucent polygon.
    pub(crate) fn area(&mut self, points: &[(f64, f64)], color: &str) {
        let corners: Vec<String> = points.iter().map(|(x, y)| format!("{x:.2},{y:.2}")).collect();
        let _ = writeln!(self.0, "<polygon points=\"{}\" fill=\"{color}\" fill-opacity=\"0.12\"/>", corners.join(" "));
    }
}

fn anchor_name(anchor: Anchor) -> &'static str {
    match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    }
}

fn dash_attribute(dashes: &str) -> String {
    if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") }
}

/// Path data of a curve. A curve without values has a single move.
fn path_of(points: &[Option<(f64, f64)>]) -> String {
    let mut path = String::new();
    let mut drawing = false;
    for point in points {
        if let Some((x, y)) = point {
            let _ = write!(path, "{}{x:.2} {y:.2}", if drawing { 'L' } else { 'M' });
        }
        drawing = point.is_some();
    }
    if path.is_empty() { "M0 0".to_string() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_break_the_path() {
        let points = [Some((1.0, 2.0)), Some((2.0, 2.5)), None, Some((4.0, 1.0))];
        assert_eq!(path_of(&points), "M1.00 2.00L2.00 2.50M4.00 1.00");
        assert_eq!(path_of(&[None]), "M0 0");
    }
}
