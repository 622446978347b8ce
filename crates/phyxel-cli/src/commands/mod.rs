//! The commands, one module each.

pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod plot;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod scenes;

use crate::output;

/// Prints the warnings of a scene.
fn print_warnings(warnings: &[String]) {
    for warning in warnings {
        output::print_error(&format!("warning: {warning}"));
    }
}
