//! The commands, one module each.

pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod plot;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod scenes;

use crate::say;

/// Tells the warnings of a scene.
fn warn(warnings: &[String]) {
    for warning in warnings {
        say::to_stderr(&format!("warning: {warning}"));
    }
}
