//! Curves over time: where panels, axes, legends and lines go on the page.

use crate::axis::{Axis, Unit};
use crate::bars;
use crate::figure::{Content, Curve, Curves, Panel, Plot, range};
use crate::svg::{AXIS, Anchor, FAINT_INK, GRID, HEIGHT, INK, LABEL, Page, TICK, TITLE, WIDTH};
use crate::text::{shorten, width};

/// Free room at the edges of the page, and around the parts of a panel.
const MARGIN: f64 = 16.0;
const LEFT: f64 = 90.0;
const HEADER: f64 = 44.0;
const FOOTER: f64 = 52.0;
const LEGEND_ROW: f64 = 22.0;
const PANEL_GAP: f64 = 24.0;

/// Length of the sample of a line in a legend: long enough to show any dashes twice.
const LEGEND_LINE: f64 = 44.0;

/// Points per curve beyond which neighbours are put together: four for each pixel of the PNG.
const MAX_POINTS: usize = 5600;

/// A rectangle on the page.
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
    /// Name of its files.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The page as SVG.
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

/// Says in the middle of the page why there is nothing else on it.
pub(crate) fn draw_message(page: &mut Page, reason: &str) {
    page.text((WIDTH / 2.0, HEIGHT / 2.0), LABEL, Anchor::Middle, FAINT_INK, reason);
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
        let frame = PlotArea { left: LEFT, top: top + legend.height, width: WIDTH - LEFT - MARGIN - 8.0, height };
        let last = index + 1 == curves.panels.len();
        draw_panel(page, frame, panel, &curves.time, &time, last);
        top = frame.bottom() + PANEL_GAP;
    }
    if curves.time.is_empty() {
        draw_message(page, "the run has no frames yet");
    }
}

/// A run of one frame has its value at the start of a second.
fn time_range(time: &[f64]) -> Option<(f64, f64)> {
    range(time).map(|(low, high)| (low, if high > low { high } else { low + 1.0 }))
}

/// Curves of a panel by name, above it, in as many rows as they need.
struct Legend<'a> {
    entries: Vec<(&'a Curve, String, f64, f64)>,
    height: f64,
}

impl<'a> Legend<'a> {
    fn new(panel: &'a Panel) -> Self {
        let (mut across, mut row) = (LEFT, 0.0);
        let mut entries = Vec::new();
        for curve in &panel.curves {
            let name = shorten(&curve.name, 40);
            let room = LEGEND_LINE + 8.0 + width(&name, LABEL) + 26.0;
            if across > LEFT && across + room > WIDTH - MARGIN {
                (across, row) = (LEFT, row + 1.0);
            }
            entries.push((curve, name, across, row));
            across += room;
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
        for (curve, name, across, row) in &self.entries {
            let middle = top + (row + 0.5) * LEGEND_ROW;
            page.line((*across, middle), (across + LEGEND_LINE, middle), curve.style.pen());
            page.text((across + LEGEND_LINE + 8.0, middle + 0.33 * LABEL), LABEL, Anchor::Start, INK, name);
        }
    }
}

fn draw_panel(page: &mut Page, frame: PlotArea, panel: &Panel, time: &[f64], across: &Axis, last: bool) {
    let ticks = (frame.height / 42.0).round().max(4.0) as usize;
    let up = Axis::new(panel.quantity, panel.unit, panel.range(), ticks, 0.05);
    draw_axes(page, frame, across, &up, last);
    let place = |index: usize, value: f64| {
        let moment = time.get(index).copied().filter(|moment| moment.is_finite() && value.is_finite())?;
        Some((frame.left + across.fraction(moment) * frame.width, frame.bottom() - up.fraction(value) * frame.height))
    };
    let lines: Vec<Vec<Option<(f64, f64)>>> = panel
        .curves
        .iter()
        .map(|curve| decimate(curve.values.iter().enumerate().map(|(index, value)| place(index, *value)).collect()))
        .collect();
    if let Some((above, below)) = panel.band {
        draw_band(page, &lines[above], &lines[below]);
    }
    // Dashed curves over solid ones, so that curves that run together are all seen.
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

fn draw_axes(page: &mut Page, frame: PlotArea, across: &Axis, up: &Axis, last: bool) {
    let grid = (GRID, "", 0.7);
    let axis = (AXIS, "", 1.0);
    for (value, label) in &across.ticks {
        let x = frame.left + across.fraction(*value) * frame.width;
        page.line((x, frame.top), (x, frame.bottom()), grid);
        page.line((x, frame.bottom()), (x, frame.bottom() + 4.0), axis);
        if last {
            page.text((x, frame.bottom() + 19.0), TICK, Anchor::Middle, INK, label);
        }
    }
    for (value, label) in &up.ticks {
        let y = frame.bottom() - up.fraction(*value) * frame.height;
        page.line((frame.left, y), (frame.right(), y), grid);
        page.line((frame.left - 4.0, y), (frame.left, y), axis);
        page.text((frame.left - 8.0, y + 0.34 * TICK), TICK, Anchor::End, INK, label);
    }
    if up.low < 0.0 && up.high > 0.0 {
        let y = frame.bottom() - up.fraction(0.0) * frame.height;
        page.line((frame.left, y), (frame.right(), y), ("#9a9a9a", "", 0.8));
    }
    page.line((frame.left, frame.top), (frame.left, frame.bottom()), axis);
    page.line((frame.left, frame.bottom()), (frame.right(), frame.bottom()), axis);
    page.text_upward((MARGIN + 8.0, frame.top + frame.height / 2.0), frame.height + 20.0, &up.label);
    if last {
        let middle = frame.left + frame.width / 2.0;
        page.text((middle, HEIGHT - 12.0), LABEL, Anchor::Middle, INK, &across.label);
    }
}

/// Shades between two curves, stretch by stretch where both are there.
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

/// Of many points, the lowest and the highest of each stretch, so that no peak is lost.
fn decimate(points: Vec<Option<(f64, f64)>>) -> Vec<Option<(f64, f64)>> {
    if points.len() <= MAX_POINTS {
        return points;
    }
    let stretch = (2 * points.len()).div_ceil(MAX_POINTS);
    let mut thinned = Vec::with_capacity(MAX_POINTS + 2);
    for points in points.chunks(stretch) {
        let height = |index: &usize| points[*index].map(|(_, y)| y);
        let known = || (0..points.len()).filter(|index| points[*index].is_some());
        let lowest =
            known().min_by(|one, other| height(one).partial_cmp(&height(other)).unwrap_or(std::cmp::Ordering::Equal));
        let highest =
            known().max_by(|one, other| height(one).partial_cmp(&height(other)).unwrap_or(std::cmp::Ordering::Equal));
        let pair = lowest.zip(highest).map(|(one, other)| [one.min(other), one.max(other)]);
        thinned.extend(pair.map_or([None; 2], |pair| pair.map(|index| points[index])));
    }
    thinned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_peaks_and_gaps() {
        let count = 100_000;
        let mut points: Vec<Option<(f64, f64)>> = (0..count).map(|index| Some((f64::from(index), 0.0))).collect();
        points[77_777] = Some((77_777.0, 9.0));
        points[33_333] = Some((33_333.0, -9.0));
        points[50_000..60_000].fill(None);
        let thinned = decimate(points);
        assert!(thinned.len() <= MAX_POINTS + 2);
        assert!(thinned.contains(&Some((77_777.0, 9.0))) && thinned.contains(&Some((33_333.0, -9.0))));
        assert!(thinned.contains(&None));
        let places: Vec<f64> = thinned.iter().flatten().map(|point| point.0).collect();
        assert!(places.is_sorted());
    }

    #[test]
    fn a_run_of_one_frame_has_a_time_axis() {
        assert_eq!(time_range(&[2.0]), Some((2.0, 3.0)));
        assert_eq!(time_range(&[]), None);
    }
}
