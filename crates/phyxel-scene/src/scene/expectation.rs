//! Expectations: conditions on the results of a run.

/// Condition on a reported quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Line of the file, from 1, for messages.
    pub line: Option<usize>,
    /// Time at which it must hold.
    pub time: ExpectedTime,
    /// Quantity as the file writes it, for messages: `bodies.goop.centre.1`.
    pub what: String,
    /// Subject of the quantity.
    pub subject: Subject,
    /// Path of the quantity below the subject, for instance `centre`, `1`.
    pub path: Vec<String>,
    /// Exclusive lower bound.
    pub above: Option<f64>,
    /// Exclusive upper bound.
    pub below: Option<f64>,
    /// Expected value and tolerance.
    pub near: Option<(f64, f64)>,
    /// Exact value.
    pub equal: Option<ExpectedValue>,
}

/// Time at which an expectation must hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExpectedTime {
    /// In the last frame.
    End,
    /// In the frame nearest to this time, s.
    At(f64),
    /// In every frame.
    Always,
}

/// Subject of a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Totals of the world: `totals`.
    Totals,
    /// Body with this name.
    Body(String),
    /// Every body.
    EveryBody,
}

/// Exact value of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpectedValue {
    /// A number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A word.
    Word(String),
}
