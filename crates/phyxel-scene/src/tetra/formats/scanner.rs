//! Sequential scanner of the lines, words and raw bytes of a file.

use super::super::TetraError;
use super::{TetraFormat, scalar::VtkScalar};
use std::str::FromStr;

/// Rest of a file.
pub(super) struct Scanner<'a> {
    pub format: TetraFormat,
    bytes: &'a [u8],
    line: usize,
}

/// Rest of a line.
pub(super) struct LineScanner<'a> {
    format: TetraFormat,
    /// Line number, from 1.
    number: usize,
    whole: &'a [u8],
    rest: &'a [u8],
}

fn quoted(word: &[u8]) -> String {
    const SHOWN: usize = 40;
    let cut = if word.len() > SHOWN { ".." } else { "" };
    format!("`{}{cut}`", String::from_utf8_lossy(&word[..word.len().min(SHOWN)]))
}

impl<'a> Scanner<'a> {
    pub fn new(format: TetraFormat, bytes: &'a [u8]) -> Self {
        Self { format, bytes, line: 0 }
    }

    /// The next line, which may be empty. What follows `#` is a comment in the files of TetGen.
    pub fn any_line(&mut self) -> Option<LineScanner<'a>> {
        if self.bytes.is_empty() {
            return None;
        }
        let end = self.bytes.iter().position(|byte| *byte == b'\n').unwrap_or(self.bytes.len());
        let mut rest = &self.bytes[..end];
        self.bytes = self.bytes.get(end + 1..).unwrap_or(&[]);
        self.line += 1;
        if matches!(self.format, TetraFormat::Node | TetraFormat::Ele) {
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
    pub fn expect_line(&mut self, within: &str) -> Result<LineScanner<'a>, TetraError> {
        self.line().ok_or_else(|| self.truncated(within))
    }

    /// Reads numbers, as words or as big-endian binary.
    pub fn numbers(
        &mut self,
        count: usize,
        kind: VtkScalar,
        binary: bool,
        within: &str,
    ) -> Result<Vec<f64>, TetraError> {
        let min_size = if binary { kind.size() } else { 2 };
        // The last word of a text needs no separator behind it.
        if count.saturating_mul(min_size) > self.bytes.len() + usize::from(!binary) {
            return Err(self.truncated(within));
        }
        if binary {
            let (data, rest) = self.bytes.split_at(count * kind.size());
            self.bytes = rest;
            return Ok(data.chunks_exact(kind.size()).map(|bytes| kind.decode(bytes, true)).collect());
        }
        (0..count).map(|_| self.word(within)).collect()
    }

    fn word(&mut self, within: &str) -> Result<f64, TetraError> {
        let start = self.bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(self.bytes.len());
        self.line += self.bytes[..start].iter().filter(|byte| **byte == b'\n').count();
        let text = &self.bytes[start..];
        let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.bytes = rest;
        if word.is_empty() {
            return Err(self.truncated(within));
        }
        parse(word).ok_or_else(|| TetraError::Line {
            format: self.format,
            line: self.line + 1,
            what: format!("{} in {within} is not a number", quoted(word)),
        })
    }

    pub fn truncated(&self, within: &str) -> TetraError {
        TetraError::Truncated { format: self.format, within: within.into() }
    }
}

fn parse<T: FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

impl<'a> LineScanner<'a> {
    /// The next word, empty at the end of the line.
    pub fn word(&mut self) -> &'a [u8] {
        let text = self.rest.trim_ascii_start();
        let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        self.rest = &text[end..];
        &text[..end]
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
    pub fn number<T: FromStr>(&mut self, what: &str) -> Result<T, TetraError> {
        let word = self.word();
        parse(word).ok_or_else(|| {
            self.error(match word {
                [] => format!("{what} is missing"),
                word => format!("{what} is {}, which is not a number that fits", quoted(word)),
            })
        })
    }

    /// Reads three coordinates.
    pub fn point(&mut self) -> Result<[f64; 3], TetraError> {
        Ok([self.number("x of a node")?, self.number("y of a node")?, self.number("z of a node")?])
    }

    /// Reads the node numbers of four corners.
    pub fn corners(&mut self) -> Result<[u64; 4], TetraError> {
        let mut corners = [0; 4];
        for corner in &mut corners {
            *corner = self.number("a corner of an element")?;
        }
        Ok(corners)
    }

    pub fn error(&self, what: String) -> TetraError {
        TetraError::Line { format: self.format, line: self.number, what }
    }

    /// Error for an unexpected line.
    pub fn unexpected(&self, expected: &str) -> TetraError {
        self.error(format!("{} is out of place; {expected} should be here", quoted(self.whole)))
    }
}
