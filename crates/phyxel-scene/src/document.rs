//! TOML document as a tree of values with their line numbers.
//!
//! Knows TOML and nothing of scenes.

use crate::error::Problem;
use toml::de::{DeTable, DeValue};

/// Value with the line it starts on; values of overrides have no line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub line: Option<usize>,
    pub value: Value,
}

/// Value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Flag(bool),
    Date(String),
    List(Vec<Node>),
    Table(Table),
}

/// Keys and values in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    pub entries: Vec<Entry>,
}

/// Key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub key: String,
    pub line: Option<usize>,
    pub node: Node,
}

impl Table {
    /// Returns the entry with a key.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// Returns the value with a key, mutable.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node)
    }

    /// All keys.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.key.as_str())
    }
}

impl Node {
    /// Returns the string, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value with this key, if this is a table that has it.
    pub fn child(&self, key: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(table) => table.get(key).map(|entry| &entry.node),
            _ => None,
        }
    }

    /// Returns the string with this key, if this is a table that has it.
    pub fn child_text(&self, key: &str) -> Option<&str> {
        self.child(key).and_then(Self::text)
    }

    /// Describes the value for messages: `the text "abc"`.
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Text(text) => format!("the text {:?}", abbreviate(text)),
            Value::Integer(number) => format!("the number {number}"),
            Value::Float(number) => format!("the number {number}"),
            Value::Flag(flag) => format!("{flag}"),
            Value::Date(date) => format!("the date {date}"),
            Value::List(list) => format!("a list of {}", list.len()),
            Value::Table(_) => "a table".to_string(),
        }
    }
}

fn abbreviate(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

/// Parses a file; every syntax error becomes a problem, at most one per line.
pub(crate) fn parse(text: &str) -> Result<Table, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let lines = LineIndex::of(text);
    if errors.is_empty() {
        return Ok(convert_table(table.get_ref(), Some(&lines)));
    }
    let mut problems: Vec<Problem> = errors
        .iter()
        .map(|error| Problem {
            line: error.span().map(|span| lines.at(span.start)),
            path: String::new(),
            message: format!("this is not TOML: {}", error.message()),
        })
        .collect();
    problems.sort_by_key(|problem| problem.line);
    problems.dedup_by_key(|problem| problem.line);
    Err(problems)
}

/// Parses a value, without lines; what is not a TOML value is a string.
pub(crate) fn parse_value(text: &str) -> Node {
    match DeValue::parse(text.trim()) {
        Ok(value) => convert(value.get_ref(), None, None),
        Err(_) => Node { line: None, value: Value::Text(text.to_string()) },
    }
}

fn convert_table(table: &DeTable<'_>, lines: Option<&LineIndex>) -> Table {
    let mut entries: Vec<(usize, Entry)> = table
        .iter()
        .map(|(key, value)| {
            let line = lines.map(|lines| lines.at(key.span().start));
            let value_line = lines.map(|lines| lines.at(value.span().start));
            let node = convert(value.get_ref(), value_line, lines);
            (key.span().start, Entry { key: key.get_ref().to_string(), line, node })
        })
        .collect();
    entries.sort_by_key(|(start, _)| *start);
    Table { entries: entries.into_iter().map(|(_, entry)| entry).collect() }
}

fn convert(value: &DeValue<'_>, line: Option<usize>, lines: Option<&LineIndex>) -> Node {
    let value = match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Integer(number),
            // Beyond 64 bits only the magnitude matters; the range checks reject it.
            Err(_) => Value::Float(number.as_str().parse().unwrap_or(f64::INFINITY)),
        },
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(date) => Value::Date(date.to_string()),
        DeValue::Array(list) => {
            let line_of = |start: usize| lines.map(|lines| lines.at(start));
            Value::List(list.iter().map(|item| convert(item.get_ref(), line_of(item.span().start), lines)).collect())
        }
        DeValue::Table(table) => Value::Table(convert_table(table, lines)),
    };
    Node { line, value }
}

/// Byte offsets of the lines of a text.
struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    fn of(text: &str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    /// Line number, from 1, of a byte.
    fn at(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_remember_their_lines_and_keep_the_order_of_the_file() {
        let table = parse("zebra = 1\napple = [1,\n 2]\n[[bodies]]\nname = 'x'\n").unwrap();
        assert_eq!(table.keys().collect::<Vec<_>>(), ["zebra", "apple", "bodies"]);
        let Value::List(list) = &table.get("apple").unwrap().node.value else { panic!("a list") };
        assert_eq!(list.iter().map(|node| node.line).collect::<Vec<_>>(), [Some(2), Some(3)]);
        assert_eq!(table.get("bodies").unwrap().line, Some(4));
    }

    #[test]
    fn syntax_errors_are_reported_with_their_lines() {
        let problems = parse("a = = 1\nb = 2\nb = 3\n").unwrap_err();
        assert_eq!(problems.iter().map(|problem| problem.line).collect::<Vec<_>>(), [Some(1), Some(3)]);
        assert!(problems[1].message.contains("duplicate key"), "{}", problems[1].message);
    }

    #[test]
    fn a_value_that_is_not_toml_is_a_text() {
        assert_eq!(parse_value("0.25").value, Value::Float(0.25));
        assert_eq!(parse_value("rubber").value, Value::Text("rubber".into()));
        assert!(matches!(parse_value("[1, 2, 3]").value, Value::List(_)));
        assert!(matches!(parse_value("{ kind = \"box\" }").value, Value::Table(_)));
    }

    #[test]
    fn a_number_beyond_all_bounds_is_still_a_number() {
        assert_eq!(parse_value("99999999999999999999").value, Value::Float(1.0e20));
    }
}
