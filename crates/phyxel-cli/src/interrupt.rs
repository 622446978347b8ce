//! Interrupts (Ctrl-C): the first ends the run after the current frame, the second ends the program.

use crate::failure::INTERRUPTED;
use crate::output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Installs the handler and returns a flag that the first interrupt sets.
///
/// If no handler can be installed, an interrupt ends the program at once; the latest checkpoint stays valid.
pub(crate) fn stop_flag(quiet: bool) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let installed = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED));
        }
        if !quiet {
            output::print_error("\nstopping after this frame; interrupt again to end at once");
        }
    });
    if installed.is_err() && !quiet {
        output::print_error("warning: interrupts cannot be caught here; they end the run without a last checkpoint");
    }
    stop
}
