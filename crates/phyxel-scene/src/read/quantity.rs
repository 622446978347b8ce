//! Ranges and units of numbers.

use super::wording::format_number;

/// Range of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ValueRange {
    Finite,
    Positive,
    NotNegative,
    /// Closed interval.
    Within(f64, f64),
    /// Open interval.
    Between(f64, f64),
}

/// Range and unit of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quantity {
    range: ValueRange,
    unit: &'static str,
}

impl Quantity {
    /// Any finite number.
    pub const fn any(unit: &'static str) -> Self {
        Self { range: ValueRange::Finite, unit }
    }

    /// Above zero.
    pub const fn positive(unit: &'static str) -> Self {
        Self { range: ValueRange::Positive, unit }
    }

    /// Zero or above.
    pub const fn not_negative(unit: &'static str) -> Self {
        Self { range: ValueRange::NotNegative, unit }
    }

    /// From 0 to 1.
    pub const fn fraction() -> Self {
        Self { range: ValueRange::Within(0.0, 1.0), unit: "" }
    }

    /// Between two numbers that are themselves excluded.
    pub const fn between(low: f64, high: f64, unit: &'static str) -> Self {
        Self { range: ValueRange::Between(low, high), unit }
    }

    /// Requirement for messages: `positive (m)`.
    pub fn requirement(&self) -> String {
        let what = match self.range {
            ValueRange::Finite => "finite".to_string(),
            ValueRange::Positive => "positive".to_string(),
            ValueRange::NotNegative => "zero or positive".to_string(),
            ValueRange::Within(low, high) => format!("from {low} to {high}"),
            ValueRange::Between(low, high) => format!("above {low} and below {high}"),
        };
        if self.unit.is_empty() { what } else { format!("{what} ({})", self.unit) }
    }

    /// Description for messages: `a number (m)`.
    pub fn noun(&self) -> String {
        if self.unit.is_empty() { "a number".to_string() } else { format!("a number ({})", self.unit) }
    }

    /// Description of a vector for messages: `three numbers (m)`.
    pub fn plural(&self) -> String {
        if self.unit.is_empty() { "three numbers".into() } else { format!("three numbers ({})", self.unit) }
    }

    /// Returns the message for a number out of range.
    pub fn violation(&self, number: f64) -> Option<String> {
        // The engine uses single precision: what overflows or underflows there is rejected here.
        let narrow = f64::from(number as f32);
        let good = match self.range {
            ValueRange::Finite => true,
            ValueRange::Positive => narrow > 0.0,
            ValueRange::NotNegative => narrow >= 0.0,
            ValueRange::Within(low, high) => (low..=high).contains(&number),
            ValueRange::Between(low, high) => number > low && number < high,
        };
        let value = format_number(number);
        if !number.is_finite() || !good {
            return Some(if self.range == ValueRange::Positive && number > 0.0 && number.is_finite() {
                format!("is {value}, which is too small to represent; it must be {}", self.requirement())
            } else {
                format!("is {value}, but must be {}", self.requirement())
            });
        }
        (!narrow.is_finite()).then(|| format!("is {value}, but must be smaller than 3.4e38 in size"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_kept_and_explained() {
        assert_eq!(Quantity::positive("m").violation(0.1), None);
        assert_eq!(Quantity::positive("m").violation(-0.1).as_deref(), Some("is -0.1, but must be positive (m)"));
        assert_eq!(Quantity::any("").violation(f64::NAN).as_deref(), Some("is NaN, but must be finite"));
        assert_eq!(Quantity::fraction().violation(1.5).as_deref(), Some("is 1.5, but must be from 0 to 1"));
        let poisson = Quantity::between(-1.0, 0.5, "");
        assert_eq!(poisson.violation(0.5).as_deref(), Some("is 0.5, but must be above -1 and below 0.5"));
    }

    #[test]
    fn numbers_that_32_bits_cannot_hold_are_refused() {
        assert!(Quantity::any("m").violation(1.0e300).is_some_and(|message| message.contains("3.4e38")));
        assert!(Quantity::positive("m").violation(1.0e-60).is_some_and(|message| message.contains("too small")));
    }
}
