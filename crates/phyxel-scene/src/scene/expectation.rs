//! What a scene says has to come true.

/// Something that has to be true of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Line of the file, counted from 1, for messages.
    pub line: Option<usize>,
    /// When it has to be true.
    pub moment: Moment,
    /// The quantity as the file writes it, for messages: `bodies.goop.centre.1`.
    pub what: String,
    /// Whose quantity it is.
    pub subject: Subject,
    /// The way from there to the quantity, for instance `centre`, `1`.
    pub keys: Vec<String>,
    /// The quantity must be above this.
    pub above: Option<f64>,
    /// The quantity must be below this.
    pub below: Option<f64>,
    /// The quantity must be near the first, not further away than the second.
    pub near: Option<(f64, f64)>,
    /// The quantity must be this.
    pub equal: Option<ExpectedValue>,
}

/// When an expectation has to be true.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment {
    /// In the last frame.
    End,
    /// In the frame nearest to this time, s.
    At(f64),
    /// In every frame.
    Always,
}

/// Whose quantity is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Sums over the world: `totals`.
    Totals,
    /// The body with this name.
    Body(String),
    /// Every body.
    EveryBody,
}

/// A value that a quantity must have.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpectedValue {
    /// A number.
    Number(f64),
    /// True or false.
    Flag(bool),
    /// A word.
    Word(String),
}
