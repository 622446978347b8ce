//! Typed access to the values of a table, with all problems collected.
//!
//! A reader records the requested keys, so that unknown ones can be reported.

use super::quantity::Quantity;
use super::wording::{list, nearest};
use crate::document::{Node, Table, Value};
use crate::error::Problem;
use glam::Vec3;
use std::cell::RefCell;
use std::ops::RangeInclusive;

/// Problems found so far.
pub(crate) type Problems = RefCell<Vec<Problem>>;

/// Reader of a table.
pub(crate) struct TableReader<'a> {
    table: &'a Table,
    path: String,
    line: Option<usize>,
    known: Vec<&'static str>,
    missing: Vec<(&'static str, String)>,
    problems: &'a Problems,
}

/// Value being read, with its path and line.
#[derive(Clone)]
pub(crate) struct Field<'a> {
    pub node: &'a Node,
    pub path: String,
    pub line: Option<usize>,
    problems: &'a Problems,
}

impl<'a> TableReader<'a> {
    /// Reader of the top-level table of a file.
    pub fn new(table: &'a Table, problems: &'a Problems) -> Self {
        Self { table, path: String::new(), line: None, known: Vec::new(), missing: Vec::new(), problems }
    }

    /// Reader of a nested table.
    pub fn nested(table: &'a Table, path: String, line: Option<usize>, problems: &'a Problems) -> Self {
        Self { path, line, ..Self::new(table, problems) }
    }

    /// Returns the value of a key, if present.
    pub fn field(&mut self, key: &'static str) -> Option<Field<'a>> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        let entry = self.table.get(key)?;
        let path = if self.path.is_empty() { key.to_string() } else { format!("{}.{key}", self.path) };
        Some(Field { node: &entry.node, path, line: entry.node.line.or(entry.line), problems: self.problems })
    }

    /// Returns the value of a required key; `what` describes it in the message if it is missing.
    pub fn require(&mut self, key: &'static str, what: impl Into<String>) -> Option<Field<'a>> {
        let field = self.field(key);
        if field.is_none() {
            self.missing.push((key, what.into()));
        }
        field
    }

    /// Reads an optional value; `None` if the key is absent or its value invalid.
    pub fn read<T>(&mut self, key: &'static str, read: impl FnOnce(&Field<'a>) -> Option<T>) -> Option<T> {
        read(&self.field(key)?)
    }

    /// Reads an optional value; `Some(None)` if the key is absent, `None` if its value is invalid.
    pub fn read_valid<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Field<'a>) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.field(key) {
            Some(field) => read(&field).map(Some),
            None => Some(None),
        }
    }

    /// Reads a required value; `what` describes it in the message if it is missing.
    pub fn read_required<T>(
        &mut self,
        key: &'static str,
        what: impl Into<String>,
        read: impl FnOnce(&Field<'a>) -> Option<T>,
    ) -> Option<T> {
        read(&self.require(key, what)?)
    }

    /// Returns true if a key is present; counts as a request of the key.
    pub fn has(&mut self, key: &'static str) -> bool {
        self.field(key).is_some()
    }

    /// Reads an optional number.
    pub fn number(&mut self, key: &'static str, quantity: Quantity) -> Option<f32> {
        self.field(key)?.number(quantity)
    }

    /// Reads an optional number in double precision.
    pub fn number_f64(&mut self, key: &'static str, quantity: Quantity) -> Option<f64> {
        self.field(key)?.number_f64(quantity)
    }

    /// Reads a required number.
    pub fn require_number(&mut self, key: &'static str, quantity: Quantity) -> Option<f32> {
        self.require(key, quantity.noun())?.number(quantity)
    }

    /// Reads a required number in double precision.
    pub fn require_number_f64(&mut self, key: &'static str, quantity: Quantity) -> Option<f64> {
        self.require(key, quantity.noun())?.number_f64(quantity)
    }

    /// Reads an optional vector.
    pub fn vector(&mut self, key: &'static str, quantity: Quantity) -> Option<Vec3> {
        self.field(key)?.vector(quantity)
    }

    /// Reads a required vector.
    pub fn require_vector(&mut self, key: &'static str, quantity: Quantity) -> Option<Vec3> {
        self.require(key, quantity.plural())?.vector(quantity)
    }

    /// Reads an optional boolean.
    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        self.field(key)?.flag()
    }

    /// Reads an optional integer not below `min`.
    pub fn count(&mut self, key: &'static str, min: u32) -> Option<u32> {
        self.field(key)?.count(min)
    }

    /// Returns the items of a list; none if the key is absent.
    pub fn items(&mut self, key: &'static str) -> Vec<Field<'a>> {
        self.field(key).and_then(|field| field.items()).unwrap_or_default()
    }

    /// Reports a problem of the table as a whole.
    pub fn reject(&self, message: impl Into<String>) {
        self.problems.borrow_mut().push(Problem { line: self.line, path: self.path.clone(), message: message.into() });
    }

    /// Reports unknown and missing keys.
    ///
    /// A missing key beside a misspelt one is reported once.
    pub fn finish(self) {
        let mut explained = Vec::new();
        for entry in &self.table.entries {
            if self.known.contains(&entry.key.as_str()) {
                continue;
            }
            let absent = self.known.iter().copied().filter(|key| self.table.get(key).is_none());
            let near = nearest(&entry.key, absent).or_else(|| nearest(&entry.key, self.known.iter().copied()));
            let hint = match near {
                Some(near) => {
                    explained.push(near);
                    format!("did you mean \"{near}\"?")
                }
                None => format!("known keys: {}", list(self.known.iter().copied())),
            };
            let message = format!("unknown key \"{}\"; {hint}", entry.key);
            self.problems.borrow_mut().push(Problem { line: entry.line, path: self.path.clone(), message });
        }
        for (key, what) in self.missing.iter().filter(|(key, _)| !explained.contains(key)) {
            self.reject(format!("\"{key}\" is missing; it must be {what}"));
        }
    }
}

impl<'a> Field<'a> {
    /// Reports a problem of this value.
    pub fn reject(&self, message: impl Into<String>) {
        let problem = Problem { line: self.line, path: self.path.clone(), message: message.into() };
        self.problems.borrow_mut().push(problem);
    }

    /// Reports a value of the wrong type.
    fn wrong_type<T>(&self, must: &str) -> Option<T> {
        self.reject(format!("is {}, but must be {must}", self.node.describe()));
        None
    }

    /// Reads a number.
    pub fn number(&self, quantity: Quantity) -> Option<f32> {
        self.number_f64(quantity).map(|number| number as f32)
    }

    /// Reads a number in double precision.
    pub fn number_f64(&self, quantity: Quantity) -> Option<f64> {
        let number = match self.node.value {
            Value::Integer(number) => number as f64,
            Value::Float(number) => number,
            _ => return self.wrong_type(&quantity.noun()),
        };
        match quantity.violation(number) {
            Some(message) => {
                self.reject(message);
                None
            }
            None => Some(number),
        }
    }

    /// Reads an integer not below `min`.
    pub fn count(&self, min: u32) -> Option<u32> {
        self.count_within(min..=u32::MAX)
    }

    /// Reads an integer in a range.
    pub fn count_within(&self, range: RangeInclusive<u32>) -> Option<u32> {
        let Value::Integer(number) = self.node.value else { return self.wrong_type("a whole number") };
        match u32::try_from(number).ok().filter(|count| range.contains(count)) {
            Some(count) => Some(count),
            None => {
                let (min, max) = range.into_inner();
                self.reject(format!("is {number}, but must be a whole number from {min} to {max}"));
                None
            }
        }
    }

    /// Reads a vector.
    pub fn vector(&self, quantity: Quantity) -> Option<Vec3> {
        let items: [_; 3] = self.array(&format!("a list of {}", quantity.plural()))?;
        let [x, y, z] = items.map(|item| item.number(quantity));
        Some(Vec3::new(x?, y?, z?))
    }

    /// Reads a direction and normalises it.
    pub fn direction(&self) -> Option<Vec3> {
        let vector = self.vector(Quantity::any(""))?;
        if vector.try_normalize().is_none() {
            self.reject(format!("is {vector}, but must have a length other than zero"));
        }
        vector.try_normalize()
    }

    /// Reads three integers not below `min`.
    pub fn counts(&self, min: u32) -> Option<[u32; 3]> {
        let items: [_; 3] = self.array("a list of three whole numbers")?;
        let [x, y, z] = items.map(|item| item.count(min));
        Some([x?, y?, z?])
    }

    /// Reads a boolean.
    pub fn flag(&self) -> Option<bool> {
        match self.node.value {
            Value::Flag(flag) => Some(flag),
            _ => self.wrong_type("true or false"),
        }
    }

    /// Reads a string.
    pub fn text(&self) -> Option<&'a str> {
        match self.node.text() {
            Some(text) => Some(text),
            None => self.wrong_type("a text in quotation marks"),
        }
    }

    /// Reads one of a closed set of words.
    pub fn choice<T: Copy>(&self, what: &str, words: &[(&'static str, T)]) -> Option<T> {
        let text = self.text()?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            self.unknown_name(what, text, words.iter().map(|(word, _)| *word));
        }
        found.map(|(_, value)| *value)
    }

    /// Reports an unknown word or name.
    pub fn unknown_name<'w>(&self, what: &str, word: &str, known: impl Iterator<Item = &'w str> + Clone) {
        let hint = super::wording::did_you_mean(word, known.clone());
        self.reject(format!("there is no {what} \"{word}\"{hint} (known: {})", list(known)));
    }

    /// Reads a table.
    pub fn table(&self) -> Option<TableReader<'a>> {
        match &self.node.value {
            Value::Table(table) => Some(TableReader::nested(table, self.path.clone(), self.line, self.problems)),
            _ => self.wrong_type("a table"),
        }
    }

    /// Returns the value of a key, if this is a table that has it. Does not count as a request of the key.
    pub fn peek(&self, key: &str) -> Option<Field<'a>> {
        let node = self.node.child(key)?;
        let line = node.line.or(self.line);
        Some(Field { node, path: format!("{}.{key}", self.path), line, problems: self.problems })
    }

    /// Returns the items of a list.
    pub fn items(&self) -> Option<Vec<Field<'a>>> {
        match &self.node.value {
            Value::List(items) => Some(self.items_of(items)),
            _ => self.wrong_type("a list"),
        }
    }

    /// Returns the items of a list of fixed length; `must` describes it in the message if this is none.
    pub fn array<const N: usize>(&self, must: &str) -> Option<[Field<'a>; N]> {
        match &self.node.value {
            Value::List(items) if items.len() == N => self.items_of(items).try_into().ok(),
            _ => self.wrong_type(must),
        }
    }

    /// Reads a value, or `false` for none.
    pub fn unless_false<T>(&self, read: impl FnOnce(&Self) -> Option<T>) -> Option<Option<T>> {
        match self.node.value {
            Value::Flag(false) => Some(None),
            _ => read(self).map(Some),
        }
    }

    /// Returns the entries of a table whose keys are names.
    pub fn entries(&self) -> Option<Vec<(&'a str, Field<'a>)>> {
        let Value::Table(table) = &self.node.value else { return self.wrong_type("a table") };
        let field = |entry: &'a crate::document::Entry| Field {
            node: &entry.node,
            path: format!("{}.{}", self.path, entry.key),
            line: entry.node.line.or(entry.line),
            problems: self.problems,
        };
        Some(table.entries.iter().map(|entry| (entry.key.as_str(), field(entry))).collect())
    }

    fn items_of(&self, items: &'a [Node]) -> Vec<Field<'a>> {
        let label = |item: &Node| match item.child_text("name") {
            Some(name) => format!(" {name:?}"),
            None => String::new(),
        };
        let field = |(index, item): (usize, &'a Node)| Field {
            node: item,
            path: format!("{}[{index}]{}", self.path, label(item)),
            line: item.line.or(self.line),
            problems: self.problems,
        };
        items.iter().enumerate().map(field).collect()
    }
}

/// Reads all items, so that all problems are found; `None` if one of them is invalid.
pub(crate) fn read_all<'a, T>(items: &[Field<'a>], read: impl FnMut(&Field<'a>) -> Option<T>) -> Option<Vec<T>> {
    let values: Vec<Option<T>> = items.iter().map(read).collect();
    values.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_of(text: &str, read: impl FnOnce(&mut TableReader)) -> Vec<String> {
        let table = crate::document::parse(text).unwrap();
        let problems = Problems::default();
        let mut reader = TableReader::new(&table, &problems);
        read(&mut reader);
        reader.finish();
        let line = |problem: &Problem| problem.line.map(|line| line.to_string()).unwrap_or_default();
        problems.take().iter().map(|it| format!("{}|{}|{}", line(it), it.path, it.message)).collect()
    }

    #[test]
    fn unknown_keys_are_reported_with_line_and_nearest_key() {
        let problems = problems_of("size = 1\nsparcing = 2\nqqq = 3\n", |reader| {
            reader.number("size", Quantity::any(""));
            reader.number("spacing", Quantity::any(""));
        });
        assert_eq!(
            problems,
            [
                "2||unknown key \"sparcing\"; did you mean \"spacing\"?",
                "3||unknown key \"qqq\"; known keys: size, spacing"
            ]
        );
    }

    #[test]
    fn a_missing_key_beside_a_misspelt_one_is_one_problem() {
        let read = |reader: &mut TableReader| {
            reader.require_number("spacing", Quantity::positive("m"));
        };
        assert_eq!(problems_of("spacng = 2\n", read), ["1||unknown key \"spacng\"; did you mean \"spacing\"?"]);
        assert_eq!(problems_of("", read), ["||\"spacing\" is missing; it must be a number (m)"]);
    }

    #[test]
    fn values_of_the_wrong_type_are_named() {
        let problems = problems_of("a = 'x'\nb = 1\nc = [1, 2]\nd = [1, 'y', 3]\ne = -1\nf = 2.5\n", |reader| {
            reader.number("a", Quantity::positive("m"));
            reader.flag("b");
            reader.vector("c", Quantity::any("m/s"));
            reader.vector("d", Quantity::any("m/s"));
            reader.count("e", 1);
            reader.count("f", 1);
        });
        assert_eq!(
            problems,
            [
                "1|a|is the text \"x\", but must be a number (m)",
                "2|b|is the number 1, but must be true or false",
                "3|c|is a list of 2, but must be a list of three numbers (m/s)",
                "4|d[1]|is the text \"y\", but must be a number (m/s)",
                "5|e|is -1, but must be a whole number from 1 to 4294967295",
                "6|f|is the number 2.5, but must be a whole number",
            ]
        );
    }

    #[test]
    fn unknown_words_come_with_the_known_ones() {
        let problems = problems_of("kind = 'bocks'\n", |reader| {
            let words = [("box", 1), ("sphere", 2)];
            reader.field("kind").and_then(|field| field.choice("shape", &words));
        });
        assert_eq!(problems, ["1|kind|there is no shape \"bocks\" (known: box, sphere)"]);
    }
}
