//! What numbers may be.

use super::words::written;

/// The values a number may take.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    Finite,
    Positive,
    NotNegative,
    /// From the first to the second, both included.
    Within(f64, f64),
    /// Between the first and the second, both excluded.
    Between(f64, f64),
}

/// The values a number may take, and its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quantity {
    bound: Bound,
    unit: &'static str,
}

impl Quantity {
    /// Any finite number.
    pub const fn any(unit: &'static str) -> Self {
        Self { bound: Bound::Finite, unit }
    }

    /// Above zero.
    pub const fn positive(unit: &'static str) -> Self {
        Self { bound: Bound::Positive, unit }
    }

    /// Zero or above.
    pub const fn not_negative(unit: &'static str) -> Self {
        Self { bound: Bound::NotNegative, unit }
    }

    /// From 0 to 1.
    pub const fn part() -> Self {
        Self { bound: Bound::Within(0.0, 1.0), unit: "" }
    }

    /// Between two numbers that are themselves excluded.
    pub const fn between(low: f64, high: f64, unit: &'static str) -> Self {
        Self { bound: Bound::Between(low, high), unit }
    }

    /// What a number must be: `positive (m)`.
    pub fn must(&self) -> String {
        let what = match self.bound {
            Bound::Finite => "finite".to_string(),
            Bound::Positive => "positive".to_string(),
            Bound::NotNegative => "zero or positive".to_string(),
            Bound::Within(low, high) => format!("from {low} to {high}"),
            Bound::Between(low, high) => format!("above {low} and below {high}"),
        };
        if self.unit.is_empty() { what } else { format!("{what} ({})", self.unit) }
    }

    /// What belongs there: `a number (m)`.
    pub fn noun(&self) -> String {
        if self.unit.is_empty() { "a number".to_string() } else { format!("a number ({})", self.unit) }
    }

    /// What belongs there three times over: `three numbers (m)`.
    pub fn plural(&self) -> String {
        if self.unit.is_empty() { "three numbers".into() } else { format!("three numbers ({})", self.unit) }
    }

    /// The message for a number that may not stand here, if it may not.
    pub fn refuse(&self, number: f64) -> Option<String> {
        // The engine counts in 32 bits: what overflows or vanishes there is refused here.
        let narrow = f64::from(number as f32);
        let good = match self.bound {
            Bound::Finite => true,
            Bound::Positive => narrow > 0.0,
            Bound::NotNegative => narrow >= 0.0,
            Bound::Within(low, high) => (low..=high).contains(&number),
            Bound::Between(low, high) => number > low && number < high,
        };
        let value = written(number);
        if !number.is_finite() || !good {
            return Some(if self.bound == Bound::Positive && number > 0.0 && number.is_finite() {
                format!("is {value}, which is too small to count with; it must be {}", self.must())
            } else {
                format!("is {value}, but must be {}", self.must())
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
        assert_eq!(Quantity::positive("m").refuse(0.1), None);
        assert_eq!(Quantity::positive("m").refuse(-0.1).as_deref(), Some("is -0.1, but must be positive (m)"));
        assert_eq!(Quantity::any("").refuse(f64::NAN).as_deref(), Some("is NaN, but must be finite"));
        assert_eq!(Quantity::part().refuse(1.5).as_deref(), Some("is 1.5, but must be from 0 to 1"));
        let poisson = Quantity::between(-1.0, 0.5, "");
        assert_eq!(poisson.refuse(0.5).as_deref(), Some("is 0.5, but must be above -1 and below 0.5"));
    }

    #[test]
    fn numbers_that_32_bits_cannot_hold_are_refused() {
        assert!(Quantity::any("m").refuse(1.0e300).is_some_and(|message| message.contains("3.4e38")));
        assert!(Quantity::positive("m").refuse(1.0e-60).is_some_and(|message| message.contains("too small")));
    }
}
