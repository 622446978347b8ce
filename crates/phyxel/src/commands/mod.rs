//! Commands: the only interface through which a running world is changed.

mod apply;
mod command;

pub(crate) use apply::apply_commands;
pub use command::{Command, Drag, Region, Setting, Target};
