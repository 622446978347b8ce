//! Layout of curves over time: panels, axes, legends and lines.

use crate::axis::{Axis, Unit};
use crate::bars;
use crate::figure::{Content, Curve, Curves, Panel, Plot, range};
use crate::svg::{AXIS, Anchor, FAINT_INK, GRID, HEIGHT, INK, LABEL, Page, TICK, TITLE, WIDTH};
use crate::text::{shorten, width};

/// Margins of the page and of panels.
const MARGIN: f64 = 16.0;
const LEFT: f64 = 90.0;
const HEADER: f64 = 44.0;
const FOOTER: f64 = 52.0;
const LEGEND_ROW: f64 = 22.0;
const PANEL_GAP: f64 = 24.0;

/// Length of a line in the legend: shows every dash pattern at least twice.
const LEGEND_LINE: f64 = 44.0;

/// Number of points per curve above which it is decimated: four per pixel column of the PNG.
const MAX_POINTS: usize = 5600;

/// Plot area: a rectangle on the page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlotArea {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl PlotArea {
    fn bottom(self) -> f64 {
        self.top + self.height
    }

    fn right(self) -> f64 {
        self.left + self.width
    }
}

impl Plot {
    /// Name of the files.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Draws the page as SVG.
    pub(crate) fn svg(&self) -> String {
        let mut page = Page::new(&format!("{} {}", self.title, self.scene));
        page.text((MARGIN, 30.0), TITLE, Anchor::Start, INK, self.title);
        let scene = shorten(&self.scene, 50);
        page.text((WIDTH - MARGIN, 30.0), LABEL, Anchor::End, FAINT_INK, &scene);
        let after_title = MARGIN + width(self.title, TITLE) + 24.0;
        page.text((after_title, 30.0), TICK, Anchor::Start, FAINT_INK, &self.note);
        match &self.content {
            Content::Curves(curves) => draw_curves(&mut page, curves),
            Content::Bars(content) => bars::draw_bars(&mut page, content, HEADER),
        }
        page.finish()
    }
}

/// Draws a message in the middle of the page.
pub(crate) fn draw_message(page: &mut Page, message: &str) {
    page.text((WIDTH / 2.0, HEIGHT / 2.0), LABEL, Anchor::Middle, FAINT_INK, message);
}

fn draw_curves(page: &mut Page, curves: &Curves) {
    let mut legends: Vec<Legend> = curves.panels.iter().map(Legend::new).collect();
    for index in (1..legends.len()).rev() {
        if legends[index].has_same_entries(&legends[index - 1]) {
            legends[index] = Legend { entries: Vec::new(), height: 0.0 };
        }
    }
    let legend_heights: f64 = legends.iter().map(|legend| legend.height).sum();
    let count = curves.panels.len() as f64;
    let height = (HEIGHT - HEADER - FOOTER - legend_heights - PANEL_GAP * (count - 1.0)) / count;
    let time = Axis::new("time", Unit::Prefixed("s"), time_range(&curves.time), 8, 0.0);
    let mut top = HEADER;
    for (index, (panel, legend)) in curves.panels.iter().zip(&legends).enumerate() {
        legend.draw(page, top);
        let area = PlotArea { left: LEFT, top: top + legend.height, width: WIDTH - LEFT - MARGIN - 8.0, height };
        let is_last = index + 1 == curves.panels.len();
        draw_panel(page, area, panel, &curves.time, &time, is_last);
        top = area.bottom() + PANEL_GAP;
    }
    if curves.time.is_empty() {
        draw_message(page, "the run has no frames yet");
    }
}

/// Range of the time axis; one second for a run of one frame.
fn time_range(time: &[f64]) -> Option<(f64, f64)> {
    range(time).map(|(low, high)| (low, if high > low { high } else { low + 1.0 }))
}

/// Legend above a panel, in as many rows as needed.
struct Legend<'a> {
    entries: Vec<(&'a Curve, String, f64, f64)>,
    height: f64,
}

impl<'a> Legend<'a> {
    fn new(panel: &'a Panel) -> Self {
        let (mut x, mut row) = (LEFT, 0.0);
        let mut entries = Vec::new();
        for curve in &panel.curves {
            let name = shorten(&curve.name, 40);
            let entry_width = LEGEND_LINE + 8.0 + width(&name, LABEL) + 26.0;
            if x > LEFT && x + entry_width > WIDTH - MARGIN {
                (x, row) = (LEFT, row + 1.0);
            }
            entries.push((curve, name, x, row));
            x += entry_width;
        }
        Self { entries, height: (row + 1.0) * LEGEND_ROW + 6.0 }
    }

    fn has_same_entries(&self, other: &Self) -> bool {
        let entries = |legend: &Self| -> Vec<_> {
            legend.entries.iter().map(|(curve, name, _, _)| (name.clone(), curve.style)).collect()
        };
        entries(self) == entries(other)
    }

    fn draw(&self, page: &mut Page, top: f64) {
        for (curve, name, x, row) in &self.entries {
            let middle = top + (row + 0.5) * LEGEND_ROW;
            page.line((*x, middle), (x + LEGEND_LINE, middle), curve.style.pen());
            page.text((x + LEGEND_LINE + 8.0, middle + 0.33 * LABEL), LABEL, Anchor::Start, INK, name);
        }
    }
}

fn draw_panel(page: &mut Page, area: PlotArea, panel: &Panel, time: &[f64], time_axis: &Axis, is_last: bool) {
    let ticks = (area.height / 42.0).round().max(4.0) as usize;
    let value_axis = Axis::new(panel.quantity, panel.unit, panel.range(), ticks, 0.05);
    draw_axes(page, area, time_axis, &value_axis, is_last);
    let to_page = |index: usize, value: f64| {
        let instant = time.get(index).copied().filter(|instant| instant.is_finite() && value.is_finite())?;
        Some((
            area.left + time_axis.fraction(instant) * area.width,
            area.bottom() - value_axis.fraction(value) * area.height,
        ))
    };
    let lines: Vec<Vec<Option<(f64, f64)>>> = panel
        .curves
        .iter()
        .map(|curve| decimate(curve.values.iter().enumerate().map(|(index, value)| to_page(index, *value)).collect()))
        .collect();
    if let Some((above, below)) = panel.band {
        draw_band(page, &lines[above], &lines[below]);
    }
    // Dashed curves over solid ones, so that coincident curves stay visible.
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|index| panel.curves[*index].style);
    for index in order {
        let (curve, line) = (&panel.curves[index], &lines[index]);
        page.curve(&curve.name, line, curve.style.pen());
        if let [point] = line.iter().flatten().collect::<Vec<_>>()[..] {
            page.dot(*point, curve.style.pen().0);
        }
    }
}

fn draw_axes(page: &mut Page, area: PlotArea, time_axis: &Axis, value_axis: &Axis, is_last: bool) {
    let grid = (GRID, "", 0.7);
    let axis = (AXIS, "", 1.0);
    for (value, label) in &time_axis.ticks {
        let x = area.left + time_axis.fraction(*value) * area.width;
        page.line((x, area.top), (x, area.bottom()), grid);
        page.line((x, area.bottom()), (x, area.bottom() + 4.0), axis);
        if is_last {
            page.text((x, area.bottom() + 19.0), TICK, Anchor::Middle, INK, label);
        }
    }
    for (value, label) in &value_axis.ticks {
        let y = area.bottom() - value_axis.fraction(*value) * area.height;
        page.line((area.left, y), (area.right(), y), grid);
        page.line((area.left - 4.0, y), (area.left, y), axis);
        page.text((area.left - 8.0, y + 0.34 * TICK), TICK, Anchor::End, INK, label);
    }
    if value_axis.low < 0.0 && value_axis.high > 0.0 {
        let y = area.bottom() - value_axis.fraction(0.0) * area.height;
        page.line((area.left, y), (area.right(), y), ("#9a9a9a", "", 0.8));
    }
    page.line((area.left, area.top), (area.left, area.bottom()), axis);
    page.line((area.left, area.bottom()), (area.right(), area.bottom()), axis);
    page.text_upward((MARGIN + 8.0, area.top + area.height / 2.0), area.height + 20.0, &value_axis.label);
    if is_last {
        let middle = area.left + area.width / 2.0;
        page.text((middle, HEIGHT - 12.0), LABEL, Anchor::Middle, INK, &time_axis.label);
    }
}

/// Shades the area between two curves, where both have values.
fn draw_band(page: &mut Page, above: &[Option<(f64, f64)>], below: &[Option<(f64, f64)>]) {
    let (mut upper, mut lower) = (Vec::new(), Vec::new());
    let pairs = above.iter().zip(below).map(|(above, below)| above.zip(*below)).chain([None]);
    for pair in pairs {
        if let Some((above, below)) = pair {
            upper.push(above);
            lower.push(below);
        } else if upper.len() > 1 {
            upper.extend(lower.drain(..).rev());
            page.area(&upper, "#000000");
            upper.clear();
        }
    }
}

/// Min-max decimation: keeps the lowest and the highest of several points, so that no peak is lost.
fn decimate(points: Vec<Option<(f64, f64)>>) -> Vec<Option<(f64, f64)>> {
    if points.len() <= MAX_POINTS {
        return points;
    }
    let bin = (2 * points.len()).div_ceil(MAX_POINTS);
    let mut decimated = Vec::with_capacity(MAX_POINTS + 2);
    for points in points.chunks(bin) {
        let height = |index: &usize| points[*index].map(|(_, y)| y);
        let defined = || (0..points.len()).filter(|index| points[*index].is_some());
        let lowest =
            defined().min_by(|one, other| height(one).partial_cmp(&height(other)).unwrap_or(std::cmp::Ordering::Equal));
        let highest =
            defined().max_by(|one, other| height(one).partial_cmp(&height(other)).unwrap_or(std::cmp::Ordering::Equal));
        let pair = lowest.zip(highest).map(|(one, other)| [one.min(other), one.max(other)]);
        decimated.extend(pair.map_or([None; 2], |pair| pair.map(|index| points[index])));
    }
    decimated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimation_keeps_peaks_and_gaps() {
        let count = 100_000;
        let mut points: Vec<Option<(f64, f64)>> = (0..count).map(|index| Some((f64::from(index), 0.0))).collect();
        points[77_777] = Some((77_777.0, 9.0));
        points[33_333] = Some((33_333.0, -9.0));
        points[50_000..60_000].fill(None);
        let decimated = decimate(points);
        assert!(decimated.len() <= MAX_POINTS + 2);
        assert!(decimated.contains(&Some((77_777.0, 9.0))) && decimated.contains(&Some((33_333.0, -9.0))));
        assert!(decimated.contains(&None));
        let abscissae: Vec<f64> = decimated.iter().flatten().map(|point| point.0).collect();
        assert!(abscissae.is_sorted());
    }

    #[test]
    fn a_run_of_one_frame_has_a_time_axis() {
        assert_eq!(time_range(&[2.0]), Some((2.0, 3.0)));
        assert_eq!(time_range(&[]), None);
    }
}
