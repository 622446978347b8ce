//! Sequential scanner of the lines, words and numbers of a file.

use super::{ImportError, scalar::Scalar};
use glam::Vec3;
use std::str::FromStr;

/// Encoding of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Encoding {
    Text,
    LittleEndian,
    BigEndian,
}

impl Encoding {
    /// Smallest size of a number and its separator, bytes.
    pub fn min_size(self, kind: Scalar) -> usize {
        if self == Self::Text { 2 } else { kind.size() }
    }
}

/// Rest of a file.
pub(super) struct Scanner<'a> {
    /// Name of the format, for messages.
    format: &'static str,
    has_comments: bool,
    bytes: &'a [u8],
    line: usize,
}

/// Rest of a line.
pub(super) struct LineScanner<'a> {
    format: &'static str,
    /// Line number, from 1.
    number: usize,
    whole: &'a [u8],
    rest: &'a [u8],
}

/// Quotes a word for messages; a long one is cut.
pub(super) fn quoted(word: &[u8]) -> String {
    const SHOWN: usize = 40;
    let cut = if word.len() > SHOWN { ".." } else { "" };
    format!("`{}{cut}`", String::from_utf8_lossy(&word[..word.len().min(SHOWN)]))
}

impl<'a> Scanner<'a> {
    pub fn new(format: &'static str, bytes: &'a [u8]) -> Self {
        Self { format, has_comments: false, bytes, line: 0 }
    }

    /// Scanner of a file in which `#` starts a comment.
    pub fn with_comments(format: &'static str, bytes: &'a [u8]) -> Self {
        Self { has_comments: true, ..Self::new(format, bytes) }
    }

    /// Number of bytes left.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The next line without its comment, which may be empty.
    pub fn any_line(&mut self) -> Option<LineScanner<'a>> {
        if self.bytes.is_empty() {
            return None;
        }
        let end = self.bytes.iter().position(|byte| *byte == b'\n').unwrap_or(self.bytes.len());
        let mut rest = &self.bytes[..end];
        self.bytes = self.bytes.get(end + 1..).unwrap_or(&[]);
        self.line += 1;
        if self.has_comments {
            rest = rest.split(|byte| *byte == b'#').next().unwrap_or(&[]);
        }
        let whole = rest.trim_ascii();
        Some(LineScanner { format: self.format, number: self.line, whole, rest: whole })
    }

    /// The next line that is not empty.
    pub fn line(&mut self) -> Option<LineScanner<'a>> {
        loop {
            let line = self.any_line()?;
            if !line.rest.is_empty() {
                return Some(line);
            }
        }
    }

    /// The next line that is not empty, which has to be there.
    pub fn expect_line(&mut self, within: &str) -> Result<LineScanner<'a>, ImportError> {
        self.line().ok_or_else(|| self.truncated(within))
    }

    /// Returns an error unless there may be `count` items of `min_size` bytes.
    pub fn expect_size(&self, count: usize, min_size: usize, within: &str) -> Result<(), ImportError> {
        // The last word of a text needs no separator behind it.
        let fits = count.saturating_mul(min_size) <= self.bytes.len() + 1;
        if fits { Ok(()) } else { Err(self.truncated(within)) }
    }

    /// Reads numbers.
    pub fn numbers(
        &mut self,
        count: usize,
        kind: Scalar,
        encoding: Encoding,
        within: &str,
    ) -> Result<Vec<f64>, ImportError> {
        self.expect_size(count, encoding.min_size(kind), within)?;
        (0..count).map(|_| self.number(kind, encoding, within)).collect()
    }

    /// Reads a number.
    pub fn number(&mut self, kind: Scalar, encoding: Encoding, within: &str) -> Result<f64, ImportError> {
        if encoding == Encoding::Text {
            return self.word(within);
        }
        let (number, rest) = self.bytes.split_at_checked(kind.size()).ok_or_else(|| self.truncated(within))?;
        self.bytes = rest;
        Ok(kind.decode(number, encoding == Encoding::BigEndian))
    }

    /// Reads a number of a text.
    fn word(&mut self, within: &str) -> Result<f64, ImportError> {
        let start = self.bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(self.bytes.len());
        self.line += self.bytes[..start].iter().filter(|byte| **byte == b'\n').count();
        let (word, rest) = split_word(&self.bytes[start..]);
        self.bytes = rest;
        if word.is_empty() {
            return Err(self.truncated(within));
        }
        parse(word).ok_or_else(|| ImportError::Line {
            format: self.format,
            line: self.line + 1,
            what: format!("{} in {within} is not a number", quoted(word)),
        })
    }

    pub fn truncated(&self, within: &str) -> ImportError {
        ImportError::Truncated { format: self.format, within: within.into() }
    }
}

fn parse<T: FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// Splits a text before its first white space.
fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len()))
}

impl<'a> LineScanner<'a> {
    /// The next word, empty at the end of the line.
    pub fn word(&mut self) -> &'a [u8] {
        let word;
        (word, self.rest) = split_word(self.rest.trim_ascii_start());
        word
    }

    /// The next word in capitals; bytes that are not text become something that is no keyword.
    pub fn keyword(&mut self) -> String {
        String::from_utf8_lossy(self.word()).to_ascii_uppercase()
    }

    /// The whole line.
    pub fn text(&self) -> &'a [u8] {
        self.whole
    }

    /// The next word as a number; `what` names it.
    pub fn number<T: FromStr>(&mut self, what: &str) -> Result<T, ImportError> {
        let word = self.word();
        parse(word).ok_or_else(|| {
            self.error(match word {
                [] => format!("{what} is missing"),
                word => format!("{what} is {}, which is not a number that fits", quoted(word)),
            })
        })
    }

    /// Reads the coordinates of a vertex.
    pub fn vertex(&mut self) -> Result<Vec3, ImportError> {
        let mut vertex = Vec3::ZERO;
        for axis in 0..3 {
            let word = self.word();
            vertex[axis] = parse(word).ok_or_else(|| {
                self.error(format!("a vertex needs three numbers, but one of them is {}", quoted(word)))
            })?;
        }
        Ok(vertex)
    }

    /// Reads the coordinates of a node.
    pub fn node(&mut self) -> Result<[f64; 3], ImportError> {
        Ok([self.number("x of a node")?, self.number("y of a node")?, self.number("z of a node")?])
    }

    /// Reads the node numbers of four corners.
    pub fn corners(&mut self) -> Result<[u64; 4], ImportError> {
        let mut corners = [0; 4];
        for corner in &mut corners {
            *corner = self.number("a corner of an element")?;
        }
        Ok(corners)
    }

    pub fn error(&self, what: String) -> ImportError {
        ImportError::Line { format: self.format, line: self.number, what }
    }

    /// Error for an unexpected line.
    pub fn unexpected(&self, expected: &str) -> ImportError {
        self.error(format!("{} is out of place; {expected} should be here", quoted(self.whole)))
    }
}
