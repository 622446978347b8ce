//! Content of plots, before layout.

use crate::axis::Unit;
use crate::read::Column;

/// Palette of Okabe and Ito for colour-blind readers, without yellow, which is faint on white.
pub(crate) const PALETTE: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f"];

/// Dash patterns by colour, so that curves differ in grey too.
pub(crate) const DASHES: [&str; 8] = ["", "9 4", "2.5 3", "9 3 2.5 3", "14 4", "5 3", "14 3 2.5 3 2.5 3", "1.5 2"];

/// Line style of a curve; the order is that of drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LineStyle {
    /// Black and thicker, for sums and means.
    Emphasized,
    /// Style by index.
    Indexed(usize),
}

impl LineStyle {
    /// Colour, dash pattern and width.
    pub(crate) fn pen(self) -> (&'static str, &'static str, f64) {
        match self {
            Self::Indexed(index) => (PALETTE[index % PALETTE.len()], DASHES[index % DASHES.len()], 1.6),
            Self::Emphasized => ("#000000", "", 2.2),
        }
    }
}

/// Curve over time.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub(crate) name: String,
    pub(crate) values: Column,
    pub(crate) style: LineStyle,
}

/// Plot area with axes and curves.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// Name of the quantity.
    pub(crate) quantity: &'static str,
    pub(crate) unit: Unit,
    /// True if the axis includes zero, for non-negative quantities.
    pub(crate) from_zero: bool,
    pub(crate) curves: Vec<Curve>,
    /// Indices of two curves between which the area is shaded.
    pub(crate) band: Option<(usize, usize)>,
}

/// Panels with a common time axis.
#[derive(Clone, Debug)]
pub(crate) struct Curves {
    pub(crate) time: Column,
    pub(crate) panels: Vec<Panel>,
}

/// Horizontal bars, each with a name and a value.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    pub(crate) quantity: &'static str,
    pub(crate) unit: Unit,
    pub(crate) bars: Vec<(String, f64)>,
}

/// Kind of plot.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Curves(Curves),
    Bars(Bars),
}

/// Plot of one page.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    /// Name of the files.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Name of the scene.
    pub(crate) scene: String,
    /// Remark beside the title.
    pub(crate) note: String,
    pub(crate) content: Content,
}

/// Smallest and largest finite value.
pub(crate) fn range<'a>(values: impl IntoIterator<Item = &'a f64>) -> Option<(f64, f64)> {
    let numbers = values.into_iter().copied().filter(|value| value.is_finite());
    numbers.fold(None, |range, value| {
        let (low, high) = range.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

impl Panel {
    /// Range of all values of the panel.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        let (low, high) = range(self.curves.iter().flat_map(|curve| &curve.values))?;
        Some(if self.from_zero { (low.min(0.0), high.max(0.0)) } else { (low, high) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_ignore_nan_and_infinity() {
        assert_eq!(range(&[f64::NAN, 2.0, -1.0, f64::INFINITY]), Some((-1.0, 2.0)));
        assert_eq!(range(&[f64::NAN]), None);
        assert_eq!(range(&[]), None);
    }

    #[test]
    fn all_line_styles_differ() {
        for one in 0..8 {
            for other in 0..one {
                assert_ne!(PALETTE[one], PALETTE[other]);
                assert_ne!(DASHES[one], DASHES[other]);
            }
        }
    }
}
