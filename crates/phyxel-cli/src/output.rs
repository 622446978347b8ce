//! Writing to the standard streams. A reader that has gone away, as in `phyxel scenes | head`, is no error.

use std::io::{self, Write};

/// Writes a line, or several, to the standard output.
pub(crate) fn print(text: &str) {
    let mut stream = io::stdout().lock();
    let _ = writeln!(stream, "{text}").and_then(|()| stream.flush());
}

/// Writes a line, or several, to the error stream.
pub(crate) fn print_error(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
