//! Output to the standard streams. A closed pipe, as in `phyxel scenes | head`, is not an error.

use std::io::{self, Write};

/// Writes lines to the standard output.
pub(crate) fn print(text: &str) {
    let mut stream = io::stdout().lock();
    let _ = writeln!(stream, "{text}").and_then(|()| stream.flush());
}

/// Writes lines to the error stream.
pub(crate) fn print_error(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
