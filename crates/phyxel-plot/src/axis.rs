//! Axes: ticks at round numbers, and units with prefixes or powers of ten.

use crate::text::{fixed, power_of_ten};

/// Relative width below which a range counts as a single value.
const RELATIVE_RESOLUTION: f64 = 1e-12;

/// Ratio of the largest value to the tick spacing above which labels show differences from a round number.
const MAX_LABEL_RATIO: f64 = 2e4;

/// Unit of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Unit with prefixes: J, s.
    Prefixed(&'static str),
    /// Unit without prefixes, such as kg m/s; scaled by powers of ten.
    Compound(&'static str),
    /// Dimensionless.
    One,
}

/// Prefixes from 10^-15 to 10^15, in steps of 10^3.
const PREFIXES: [&str; 11] = ["f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P"];

impl Unit {
    /// Power of ten, a multiple of three, by which values of a size are divided.
    fn exponent(self, size: f64) -> i32 {
        if size <= 0.0 {
            return 0;
        }
        let thousands = (size.log10() / 3.0 + 1e-9).floor() as i32 * 3;
        match self {
            // 0.05 and 5000 are readable unscaled.
            Self::Compound(_) | Self::One if (0.01..1e4).contains(&size) => 0,
            _ => thousands,
        }
    }

    /// Label of the unit scaled by a power of ten; empty for unscaled dimensionless numbers.
    fn label(self, exponent: i32) -> String {
        let prefix = usize::try_from(exponent / 3 + 5).ok().and_then(|index| PREFIXES.get(index));
        match (self, prefix) {
            (Self::Prefixed(unit), Some(prefix)) => format!("{prefix}{unit}"),
            (Self::Prefixed(unit) | Self::Compound(unit), _) if exponent == 0 => unit.to_string(),
            (Self::Prefixed(unit) | Self::Compound(unit), _) => format!("{} {unit}", power_of_ten(exponent)),
            (Self::One, _) if exponent == 0 => String::new(),
            (Self::One, _) => power_of_ten(exponent),
        }
    }
}

/// Axis with its ticks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    /// Smallest value.
    pub(crate) low: f64,
    /// Largest value.
    pub(crate) high: f64,
    /// Values and labels of the ticks.
    pub(crate) ticks: Vec<(f64, String)>,
    /// Name and unit.
    pub(crate) label: String,
}

impl Axis {
    /// Axis over a range with about `count` ticks, and a `margin` beyond the values as a fraction of the range. An end
    /// at zero has no margin.
    pub(crate) fn new(name: &str, unit: Unit, range: Option<(f64, f64)>, count: usize, margin: f64) -> Self {
        let (low, high) = drawable_range(range);
        let padding = margin * (high - low);
        let low = if low == 0.0 { 0.0 } else { low - padding };
        let high = if high == 0.0 { 0.0 } else { high + padding };
        let spacing = tick_step((high - low) / count.max(1) as f64);
        let size = low.abs().max(high.abs());
        // Values with many common leading digits: labels show the difference from a round number.
        let base = if size / spacing > MAX_LABEL_RATIO { (low / spacing).round() * spacing } else { 0.0 };
        let exponent = unit.exponent((low - base).abs().max((high - base).abs()));
        let scale = 10_f64.powi(exponent);
        let decimals = decimals_of(spacing / scale);
        let first = (low / spacing - 1e-6).ceil();
        let positions = (0..)
            .map(|index| (first + f64::from(index)) * spacing)
            .take_while(|position| *position <= high + 1e-6 * spacing);
        let ticks =
            positions.take(100).map(|position| (position, fixed((position - base) / scale, decimals))).collect();
        Self { low, high, ticks, label: label(name, unit, exponent, base) }
    }

    /// Position of a value on the axis, from 0 at the low end to 1 at the high end.
    pub(crate) fn fraction(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

fn label(name: &str, unit: Unit, exponent: i32, base: f64) -> String {
    let unit_label = match unit.label(exponent) {
        unit if unit.is_empty() => String::new(),
        unit => format!(" [{unit}]"),
    };
    if base == 0.0 {
        return format!("{name}{unit_label}");
    }
    // In the unscaled unit, with all significant digits.
    let (unscaled_unit, sign) = (unit.label(0), if base < 0.0 { '+' } else { '−' });
    let base = format!("{:.9e}", base.abs());
    let (mantissa, power) = base.split_once('e').unwrap_or((&base, "0"));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    let power = power_of_ten(power.parse().unwrap_or(0));
    format!("{name} {sign} {mantissa} · {power} {unscaled_unit}{unit_label}").replace("  ", " ")
}

/// Extends a range to a positive width; a default without values.
fn drawable_range(range: Option<(f64, f64)>) -> (f64, f64) {
    let (low, high) = range.unwrap_or((0.0, 1.0));
    let size = low.abs().max(high.abs());
    if size < 1e-290 {
        return (-1.0, 1.0);
    }
    if high - low > RELATIVE_RESOLUTION * size {
        return (low, high);
    }
    (low - 0.1 * size, high + 0.1 * size)
}

/// Smallest of 1, 2, 5, 10, .. that is not below `least`.
fn tick_step(least: f64) -> f64 {
    let power = 10_f64.powi(least.log10().floor() as i32);
    let spacing = [1.0, 2.0, 5.0].into_iter().find(|spacing| spacing * power >= least * (1.0 - 1e-9));
    spacing.unwrap_or(10.0) * power
}

/// Number of decimals that distinguish multiples of a spacing of 1, 2 or 5 times a power of ten.
fn decimals_of(spacing: f64) -> usize {
    (-(spacing.log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        let axis = Axis::new("time", Unit::Prefixed("s"), Some((0.0, 7.0)), 8, 0.0);
        assert_eq!(labels(&axis), ["0", "1", "2", "3", "4", "5", "6", "7"]);
        assert_eq!((axis.low, axis.high, axis.label.as_str()), (0.0, 7.0, "time [s]"));
        let axis = Axis::new("p", Unit::Compound("kg m/s"), Some((-0.43, 1.1)), 5, 0.05);
        assert_eq!(labels(&axis), ["−0.5", "0.0", "0.5", "1.0"]);
        let axis = Axis::new("p", Unit::One, Some((0.0, 10.0)), 5, 0.05);
        assert_eq!((axis.low, axis.high), (0.0, 10.5));
    }

    #[test]
    fn units_take_prefixes_or_powers_of_ten() {
        let label = |unit, high| Axis::new("x", unit, Some((0.0, high)), 5, 0.0).label;
        assert_eq!(label(Unit::Prefixed("J"), 2.5e4), "x [kJ]");
        assert_eq!(label(Unit::Prefixed("J"), 0.02), "x [mJ]");
        assert_eq!(label(Unit::Prefixed("J"), 1e-30), "x [10⁻³⁰ J]");
        assert_eq!(label(Unit::Compound("kg m/s"), 500.0), "x [kg m/s]");
        assert_eq!(label(Unit::Compound("kg m/s"), 5e7), "x [10⁶ kg m/s]");
        assert_eq!(label(Unit::One, 0.5), "x");
        assert_eq!(label(Unit::One, 2e-7), "x [10⁻⁹]");
    }

    #[test]
    fn any_range_has_a_few_distinct_ticks() {
        let sizes: [f64; 8] = [1e-280, 1e-30, 3e-7, 1.0, 77.0, 1e9, 1e120, 9e299];
        let offsets = [0.0, 1.0, -1.0, 1e3, -1e6, 1e9];
        for (size, offset) in sizes.iter().flat_map(|size| offsets.map(|offset| (*size, offset))) {
            let range = (offset * size, (offset + 1.0) * size);
            if !range.1.is_finite() || range.1.abs() > 1e300 {
                continue;
            }
            for margin in [0.0, 0.05] {
                let axis = Axis::new("x", Unit::One, Some(range), 5, margin);
                let mut found = labels(&axis);
                assert!((2..=12).contains(&found.len()), "{range:?}: {found:?}");
                assert!(found.iter().all(|label| label.chars().count() < 9), "{range:?}: {found:?}");
                found.dedup();
                assert_eq!(found.len(), axis.ticks.len(), "{range:?}: {found:?}");
                assert!(axis.low < axis.high && axis.label.chars().count() < 40, "{axis:?}");
            }
        }
    }

    #[test]
    fn a_constant_is_centred() {
        for value in [0.0, 300.0, -1e-9, 1e200] {
            let axis = Axis::new("x", Unit::One, Some((value, value)), 5, 0.0);
            assert!((0.2..0.8).contains(&axis.fraction(value)), "{axis:?}");
        }
        assert_eq!(Axis::new("x", Unit::One, None, 5, 0.0).ticks.len(), 6);
    }

    #[test]
    fn values_with_common_leading_digits_are_labelled_by_differences() {
        let axis = Axis::new("heat", Unit::Prefixed("J"), Some((1234567.0, 1234568.0)), 5, 0.0);
        assert_eq!(axis.label, "heat − 1.234567 · 10⁶ J [J]");
        assert_eq!(labels(&axis), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    }
}
