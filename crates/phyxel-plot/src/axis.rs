//! Axes: round numbers for ticks, and units with prefixes or powers of ten.

use crate::text::{fixed, power_of_ten};

/// Range below which values count as one and the same, relative to their size: less than the numbers themselves resolve.
const RELATIVE_RESOLUTION: f64 = 1e-12;

/// Ticks from which labels would have too many digits, as the largest value over the step.
const MAX_LABEL_RATIO: f64 = 2e4;

/// What a quantity is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// One that takes prefixes: J, s.
    Prefixed(&'static str),
    /// One that does not: kg m/s. Powers of ten go before it.
    Compound(&'static str),
    /// A mere number.
    One,
}

/// Prefixes from 10^-15 to 10^15 in steps of three.
const PREFIXES: [&str; 11] = ["f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P"];

impl Unit {
    /// The power of ten, a multiple of three, by which values of this size are divided.
    fn exponent(self, size: f64) -> i32 {
        if size <= 0.0 {
            return 0;
        }
        let thousands = (size.log10() / 3.0 + 1e-9).floor() as i32 * 3;
        match self {
            // 0.05 and 5000 are still easily read.
            Self::Compound(_) | Self::One if (0.01..1e4).contains(&size) => 0,
            _ => thousands,
        }
    }

    /// What stands behind the name of a quantity that is divided by a power of ten; empty for mere numbers.
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

/// An axis with its ticks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    /// Least value.
    pub(crate) low: f64,
    /// Largest value.
    pub(crate) high: f64,
    /// Places of the ticks, and what stands there.
    pub(crate) ticks: Vec<(f64, String)>,
    /// Name and unit.
    pub(crate) label: String,
}

impl Axis {
    /// An axis over a range with about `count` ticks and `free` room beyond the values, as a share of the range. An end at
    /// zero stays there.
    pub(crate) fn new(name: &str, unit: Unit, range: Option<(f64, f64)>, count: usize, free: f64) -> Self {
        let (low, high) = drawable_range(range);
        let room = free * (high - low);
        let low = if low == 0.0 { 0.0 } else { low - room };
        let high = if high == 0.0 { 0.0 } else { high + room };
        let step = tick_step((high - low) / count.max(1) as f64);
        let size = low.abs().max(high.abs());
        // Numbers with a long beginning in common: labels tell the difference to a round number.
        let base = if size / step > MAX_LABEL_RATIO { (low / step).round() * step } else { 0.0 };
        let exponent = unit.exponent((low - base).abs().max((high - base).abs()));
        let scale = 10_f64.powi(exponent);
        let digits = digits_of(step / scale);
        let first = (low / step - 1e-6).ceil();
        let places =
            (0..).map(|index| (first + f64::from(index)) * step).take_while(|place| *place <= high + 1e-6 * step);
        let ticks = places.take(100).map(|place| (place, fixed((place - base) / scale, digits))).collect();
        Self { low, high, ticks, label: label(name, unit, exponent, base) }
    }

    /// Where a value lies, 0 at the low end and 1 at the high one.
    pub(crate) fn fraction(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

fn label(name: &str, unit: Unit, exponent: i32, base: f64) -> String {
    let shown = match unit.label(exponent) {
        unit if unit.is_empty() => String::new(),
        unit => format!(" [{unit}]"),
    };
    if base == 0.0 {
        return format!("{name}{shown}");
    }
    // In the unit without a prefix, with all digits that count.
    let (plain, sign) = (unit.label(0), if base < 0.0 { '+' } else { '−' });
    let base = format!("{:.9e}", base.abs());
    let (digits, power) = base.split_once('e').unwrap_or((&base, "0"));
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    let power = power_of_ten(power.parse().unwrap_or(0));
    format!("{name} {sign} {digits} · {power} {plain}{shown}").replace("  ", " ")
}

/// A range that can be drawn: never without width, and with values where there are none.
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

/// The nearest of 1, 2, 5, 10, .. that is not smaller.
fn tick_step(least: f64) -> f64 {
    let power = 10_f64.powi(least.log10().floor() as i32);
    let step = [1.0, 2.0, 5.0].into_iter().find(|step| step * power >= least * (1.0 - 1e-9));
    step.unwrap_or(10.0) * power
}

/// Digits behind the point that tell multiples of a step of 1, 2 or 5 times a power of ten apart.
fn digits_of(step: f64) -> usize {
    (-(step.log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize
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
            for free in [0.0, 0.05] {
                let axis = Axis::new("x", Unit::One, Some(range), 5, free);
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
    fn a_constant_lies_in_the_middle() {
        for value in [0.0, 300.0, -1e-9, 1e200] {
            let axis = Axis::new("x", Unit::One, Some((value, value)), 5, 0.0);
            assert!((0.2..0.8).contains(&axis.fraction(value)), "{axis:?}");
        }
        assert_eq!(Axis::new("x", Unit::One, None, 5, 0.0).ticks.len(), 6);
    }

    #[test]
    fn numbers_with_a_long_beginning_in_common_are_told_by_their_difference() {
        let axis = Axis::new("heat", Unit::Prefixed("J"), Some((1234567.0, 1234568.0)), 5, 0.0);
        assert_eq!(axis.label, "heat − 1.234567 · 10⁶ J [J]");
        assert_eq!(labels(&axis), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    }
}
