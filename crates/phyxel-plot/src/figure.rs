//! What is drawn, before it has a place on the page.

use crate::axis::Unit;
use crate::read::Column;

/// Colours that people who see few colours can tell apart (Okabe and Ito), without the yellow, which is lost on white.
pub(crate) const PALETTE: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f"];

/// Lengths of dashes and gaps, by colour, so that curves differ in grey print too.
pub(crate) const DASHES: [&str; 8] = ["", "9 4", "2.5 3", "9 3 2.5 3", "14 4", "5 3", "14 3 2.5 3 2.5 3", "1.5 2"];

/// How a curve looks, in the order in which curves are drawn over each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LineStyle {
    /// A sum or mean: black and heavier.
    Emphasized,
    /// By its place among the curves.
    Indexed(usize),
}

impl LineStyle {
    /// Colour, dashes and width.
    pub(crate) fn pen(self) -> (&'static str, &'static str, f64) {
        match self {
            Self::Indexed(index) => (PALETTE[index % PALETTE.len()], DASHES[index % DASHES.len()], 1.6),
            Self::Emphasized => ("#000000", "", 2.2),
        }
    }
}

/// A curve over time.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    pub(crate) name: String,
    pub(crate) values: Column,
    pub(crate) style: LineStyle,
}

/// One frame with axes and curves.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// Name of the quantity.
    pub(crate) quantity: &'static str,
    pub(crate) unit: Unit,
    /// Whether the axis starts at zero, for quantities that are never negative.
    pub(crate) from_zero: bool,
    pub(crate) curves: Vec<Curve>,
    /// Indices of two curves between which the ground is shaded.
    pub(crate) band: Option<(usize, usize)>,
}

/// Panels over one time axis.
#[derive(Clone, Debug)]
pub(crate) struct Curves {
    pub(crate) time: Column,
    pub(crate) panels: Vec<Panel>,
}

/// Horizontal bars with a name and a value each.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    pub(crate) quantity: &'static str,
    pub(crate) unit: Unit,
    pub(crate) bars: Vec<(String, f64)>,
}

/// Content of a plot.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Curves(Curves),
    Bars(Bars),
}

/// A plot: one page.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    /// Name of its files.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Of what run it is.
    pub(crate) scene: String,
    /// A remark below the title.
    pub(crate) note: String,
    pub(crate) content: Content,
}

/// Least and largest of all values that are numbers.
pub(crate) fn range<'a>(values: impl IntoIterator<Item = &'a f64>) -> Option<(f64, f64)> {
    let numbers = values.into_iter().copied().filter(|value| value.is_finite());
    numbers.fold(None, |range, value| {
        let (low, high) = range.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

impl Panel {
    /// Least and largest value that is drawn.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        let (low, high) = range(self.curves.iter().flat_map(|curve| &curve.values))?;
        Some(if self.from_zero { (low.min(0.0), high.max(0.0)) } else { (low, high) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_leave_out_what_is_no_number() {
        assert_eq!(range(&[f64::NAN, 2.0, -1.0, f64::INFINITY]), Some((-1.0, 2.0)));
        assert_eq!(range(&[f64::NAN]), None);
        assert_eq!(range(&[]), None);
    }

    #[test]
    fn no_two_curves_look_alike() {
        for one in 0..8 {
            for other in 0..one {
                assert_ne!(PALETTE[one], PALETTE[other]);
                assert_ne!(DASHES[one], DASHES[other]);
            }
        }
    }
}
