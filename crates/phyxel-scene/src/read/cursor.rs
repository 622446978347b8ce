//! Hands out the values of a table and remembers what was asked for, so that whatever else stands there can be
//! reported. Problems are collected; nothing stops at the first one.

use super::quantity::Quantity;
use super::words::{listed, nearest};
use crate::document::{Node, Table, Value};
use crate::error::Problem;
use glam::Vec3;
use std::cell::RefCell;
use std::ops::RangeInclusive;

/// Everything that was found wrong so far.
pub(crate) type Problems = RefCell<Vec<Problem>>;

/// A table being read.
pub(crate) struct Reader<'a> {
    table: &'a Table,
    path: String,
    line: Option<usize>,
    known: Vec<&'static str>,
    missing: Vec<(&'static str, String)>,
    problems: &'a Problems,
}

/// A value being read.
#[derive(Clone)]
pub(crate) struct Field<'a> {
    pub node: &'a Node,
    pub path: String,
    pub line: Option<usize>,
    problems: &'a Problems,
}

impl<'a> Reader<'a> {
    /// Starts at the top of a file.
    pub fn new(table: &'a Table, problems: &'a Problems) -> Self {
        Self { table, path: String::new(), line: None, known: Vec::new(), missing: Vec::new(), problems }
    }

    /// Starts at a table that hangs somewhere below the top.
    pub fn below(table: &'a Table, path: String, line: Option<usize>, problems: &'a Problems) -> Self {
        Self { path, line, ..Self::new(table, problems) }
    }

    /// The value of a key, if it is there.
    pub fn field(&mut self, key: &'static str) -> Option<Field<'a>> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        let entry = self.table.get(key)?;
        let path = if self.path.is_empty() { key.to_string() } else { format!("{}.{key}", self.path) };
        Some(Field { node: &entry.node, path, line: entry.node.line.or(entry.line), problems: self.problems })
    }

    /// The value of a key that has to be there; `what` it should be is said if it is not.
    pub fn need(&mut self, key: &'static str, what: impl FnOnce() -> String) -> Option<Field<'a>> {
        let field = self.field(key);
        if field.is_none() {
            self.missing.push((key, what()));
        }
        field
    }

    /// Whether a key is there; counts as having asked for it.
    pub fn has(&mut self, key: &'static str) -> bool {
        self.field(key).is_some()
    }

    /// A number, if the key is there and good.
    pub fn number(&mut self, key: &'static str, quantity: Quantity) -> Option<f32> {
        self.field(key)?.number(quantity).map(|number| number as f32)
    }

    /// A number in full precision, if the key is there and good.
    pub fn precise(&mut self, key: &'static str, quantity: Quantity) -> Option<f64> {
        self.field(key)?.number(quantity)
    }

    /// A number that has to be there.
    pub fn need_number(&mut self, key: &'static str, quantity: Quantity) -> Option<f32> {
        self.need(key, || quantity.noun())?.number(quantity).map(|number| number as f32)
    }

    /// Three numbers, if the key is there and they are good.
    pub fn vector(&mut self, key: &'static str, quantity: Quantity) -> Option<Vec3> {
        self.field(key)?.vector(quantity)
    }

    /// Three numbers that have to be there.
    pub fn need_vector(&mut self, key: &'static str, quantity: Quantity) -> Option<Vec3> {
        self.need(key, || quantity.plural())?.vector(quantity)
    }

    /// True or false, if the key is there and good.
    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        self.field(key)?.flag()
    }

    /// A whole number not below `least`, if the key is there and good.
    pub fn count(&mut self, key: &'static str, least: u32) -> Option<u32> {
        self.field(key)?.count(least)
    }

    /// The items of a list; none if the key is not there.
    pub fn items(&mut self, key: &'static str) -> Vec<Field<'a>> {
        self.field(key).and_then(|field| field.items()).unwrap_or_default()
    }

    /// Reports a problem of the table as a whole.
    pub fn object(&self, message: impl Into<String>) {
        self.problems.borrow_mut().push(Problem { line: self.line, path: self.path.clone(), message: message.into() });
    }

    /// Ends the reading: reports keys nobody asked for, and keys that are missing.
    ///
    /// A missing key next to a misspelt one is one mistake, reported once.
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
                None => format!("known keys: {}", listed(self.known.iter().copied())),
            };
            let message = format!("unknown key \"{}\"; {hint}", entry.key);
            self.problems.borrow_mut().push(Problem { line: entry.line, path: self.path.clone(), message });
        }
        for (key, what) in self.missing.iter().filter(|(key, _)| !explained.contains(key)) {
            self.object(format!("\"{key}\" is missing; it must be {what}"));
        }
    }
}

impl<'a> Field<'a> {
    /// Reports a problem of this value.
    pub fn object(&self, message: impl Into<String>) {
        let problem = Problem { line: self.line, path: self.path.clone(), message: message.into() };
        self.problems.borrow_mut().push(problem);
    }

    /// Reports a value of the wrong kind.
    fn refuse_kind<T>(&self, must: &str) -> Option<T> {
        self.object(format!("is {}, but must be {must}", self.node.describe()));
        None
    }

    /// A number in full precision.
    pub fn number(&self, quantity: Quantity) -> Option<f64> {
        let number = match self.node.value {
            Value::Integer(number) => number as f64,
            Value::Float(number) => number,
            _ => return self.refuse_kind(&quantity.noun()),
        };
        match quantity.refuse(number) {
            Some(message) => {
                self.object(message);
                None
            }
            None => Some(number),
        }
    }

    /// A whole number not below `least`.
    pub fn count(&self, least: u32) -> Option<u32> {
        self.count_within(least..=u32::MAX)
    }

    /// A whole number in this range.
    pub fn count_within(&self, range: RangeInclusive<u32>) -> Option<u32> {
        let Value::Integer(number) = self.node.value else { return self.refuse_kind("a whole number") };
        match u32::try_from(number).ok().filter(|count| range.contains(count)) {
            Some(count) => Some(count),
            None => {
                let (least, most) = range.into_inner();
                self.object(format!("is {number}, but must be a whole number from {least} to {most}"));
                None
            }
        }
    }

    /// Three numbers.
    pub fn vector(&self, quantity: Quantity) -> Option<Vec3> {
        let items = match &self.node.value {
            Value::List(items) if items.len() == 3 => self.items_of(items),
            _ => return self.refuse_kind(&format!("a list of {}", quantity.plural())),
        };
        let numbers: Vec<f64> = items.iter().filter_map(|item| item.number(quantity)).collect();
        match numbers[..] {
            [x, y, z] => Some(Vec3::new(x as f32, y as f32, z as f32)),
            _ => None,
        }
    }

    /// Three numbers that give a direction.
    pub fn direction(&self) -> Option<Vec3> {
        let vector = self.vector(Quantity::any(""))?;
        if vector.try_normalize().is_none() {
            self.object(format!("is {vector}, but must have a length other than zero"));
        }
        vector.try_normalize()
    }

    /// Three whole numbers not below `least`.
    pub fn counts(&self, least: u32) -> Option<[u32; 3]> {
        let items = match &self.node.value {
            Value::List(items) if items.len() == 3 => self.items_of(items),
            _ => return self.refuse_kind("a list of three whole numbers"),
        };
        let counts: Vec<u32> = items.iter().filter_map(|item| item.count(least)).collect();
        counts.try_into().ok()
    }

    /// True or false.
    pub fn flag(&self) -> Option<bool> {
        match self.node.value {
            Value::Flag(flag) => Some(flag),
            _ => self.refuse_kind("true or false"),
        }
    }

    /// A text.
    pub fn text(&self) -> Option<&'a str> {
        match self.node.text() {
            Some(text) => Some(text),
            None => self.refuse_kind("a text in quotation marks"),
        }
    }

    /// One of a few words.
    pub fn choice<T: Copy>(&self, what: &str, words: &[(&'static str, T)]) -> Option<T> {
        let text = self.text()?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            self.unknown(what, text, words.iter().map(|(word, _)| *word));
        }
        found.map(|(_, value)| *value)
    }

    /// Reports a word or name that nothing has.
    pub fn unknown<'w>(&self, what: &str, word: &str, known: impl Iterator<Item = &'w str> + Clone) {
        let hint = super::words::did_you_mean(word, known.clone());
        self.object(format!("there is no {what} \"{word}\"{hint} (known: {})", listed(known)));
    }

    /// A table.
    pub fn table(&self) -> Option<Reader<'a>> {
        match &self.node.value {
            Value::Table(table) => Some(Reader::below(table, self.path.clone(), self.line, self.problems)),
            _ => self.refuse_kind("a table"),
        }
    }

    /// The value of a key, if this is a table that has it. Does not count as having asked for it.
    pub fn peek(&self, key: &str) -> Option<Field<'a>> {
        let node = self.node.child(key)?;
        let line = node.line.or(self.line);
        Some(Field { node, path: format!("{}.{key}", self.path), line, problems: self.problems })
    }

    /// The items of a list.
    pub fn items(&self) -> Option<Vec<Field<'a>>> {
        match &self.node.value {
            Value::List(items) => Some(self.items_of(items)),
            _ => self.refuse_kind("a list"),
        }
    }

    /// The entries of a table whose keys are names.
    pub fn named(&self) -> Option<Vec<(&'a str, Field<'a>)>> {
        let Value::Table(table) = &self.node.value else { return self.refuse_kind("a table") };
        let field = |entry: &'a crate::document::Entry| Field {
            node: &entry.node,
            path: format!("{}.{}", self.path, entry.key),
            line: entry.node.line.or(entry.line),
            problems: self.problems,
        };
        Some(table.entries.iter().map(|entry| (entry.key.as_str(), field(entry))).collect())
    }

    fn items_of(&self, items: &'a [Node]) -> Vec<Field<'a>> {
        let label = |item: &Node| match item.child("name").and_then(Node::text) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_of(text: &str, read: impl FnOnce(&mut Reader)) -> Vec<String> {
        let table = crate::document::parse(text).unwrap();
        let problems = Problems::default();
        let mut reader = Reader::new(&table, &problems);
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
        let read = |reader: &mut Reader| {
            reader.need_number("spacing", Quantity::positive("m"));
        };
        assert_eq!(problems_of("spacng = 2\n", read), ["1||unknown key \"spacng\"; did you mean \"spacing\"?"]);
        assert_eq!(problems_of("", read), ["||\"spacing\" is missing; it must be a number (m)"]);
    }

    #[test]
    fn values_of_the_wrong_kind_are_named() {
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
